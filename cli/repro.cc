// packcheck repro: one case, one law, one subject: what broke, bits side by side.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/open_subject.h"
#include "properties/corpus_store.h"
#include "properties/engines/from_bytes.h"
#include "properties/near_name.h"
#include "properties/strict_json.h"
#include "subjects/calls.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

/// What to reproduce.
struct Target {
  const Law* law = nullptr;
  std::string subject = "reference";
  Case c;
};

Result<const Law*> required_law(const ReproOptions& options) {
  if (options.law.empty()) return refuse("no law is named", "repro", "--law ID");
  return law_named(options.law);
}

Result<Target> from_inline(const ReproOptions& options) {
  const Result<const Law*> law = required_law(options);
  if (!law) return tl::unexpected(law.error());
  Result<Case> c = (*law)->case_type->from_json(options.inline_case);
  if (!c) return tl::unexpected(Error{c.error().what, "--case " + c.error().where, c.error().right});
  return Target{*law, "reference", *c};
}

/// A file that is no case file: bytes that a fuzzer wrote.
Result<Target> from_crash_file(const ReproOptions& options, const std::string& bytes) {
  const Result<const Law*> law = required_law(options);
  if (!law) return tl::unexpected(law.error());
  const std::unique_ptr<Subject> reference = std::move(*open_subject("reference", {}));
  const std::vector<std::string> variants = (*law)->variants(reference->info());
  const std::string variant = options.variant.empty() ? variants.at(0) : options.variant;
  if (std::find(variants.begin(), variants.end(), variant) == variants.end()) {
    return refuse("unknown variant '" + variant + "'", "--variant", one_of(variant, variants));
  }
  return Target{*law, "reference", case_from_bytes(**law, variant, string_to_bytes(bytes)).c};
}

Result<Target> from_case_files(const ReproOptions& options, std::vector<CaseFile> files, const std::string& id) {
  if (!id.empty())
    files.erase(std::remove_if(files.begin(), files.end(), [&](const CaseFile& f) { return f.id != id; }), files.end());
  if (files.empty()) return refuse("no case '" + id + "'", options.file, "the id of a vector in this file");
  if (files.size() > 1)
    return refuse(std::to_string(files.size()) + " cases", options.file, "FILE#ID to name one of them");
  const std::string law_id = options.law.empty() ? files[0].law : options.law;
  if (law_id.empty()) return refuse("the case names no law", options.file, "--law ID");
  const Result<const Law*> law = law_named(law_id);
  if (!law) return tl::unexpected(law.error());
  if ((*law)->case_type != files[0].c.type)
    return refuse("case of type '" + std::string(files[0].c.type->name()) + "'", options.file,
                  "'" + std::string((*law)->case_type->name()) + "' for law " + law_id);
  return Target{*law, files[0].subject.empty() ? "reference" : files[0].subject, files[0].c};
}

Result<Target> target_of(const ReproOptions& options) {
  if (options.file.empty() == options.inline_case.empty())
    return refuse(options.file.empty() ? "no case" : "two cases", "repro", "one file, or --case INLINE");
  if (!options.inline_case.empty()) return from_inline(options);
  std::error_code ignored;
  std::string path = options.file;
  std::string id;
  if (const std::size_t hash = path.rfind('#'); hash != std::string::npos && !std::filesystem::exists(path, ignored)) {
    id = path.substr(hash + 1);
    path.erase(hash);
  }
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  Result<std::vector<CaseFile>> files = parse_case_file(*text, path);
  if (files) return from_case_files(options, std::move(*files), id);
  // A file of ours that is broken is not a crash file.
  const bool ours =
      text->find("\"packcheck_") != std::string::npos || std::filesystem::path(path).extension() == ".json";
  if (ours || options.law.empty()) return tl::unexpected(files.error());
  return from_crash_file(options, *text);
}

std::string verdict_json(const Target& target, const Verdict& verdict) {
  json breaches = json::array();
  for (const Breach& b : verdict.breaches)
    breaches.push_back(
        {{"place", b.place}, {"input", b.input}, {"expected", b.expected}, {"actual", b.actual}, {"why", b.why}});
  const json result{{"law", target.law->id},     {"sentence", target.law->sentence},
                    {"subject", target.subject}, {"verdict", ruling_name(verdict.ruling)},
                    {"reason", verdict.reason},  {"case", json::parse(target.c.type->to_json(target.c))},
                    {"breaches", breaches}};
  return result.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

void print_verdict(const Target& target, const Verdict& verdict) {
  std::printf("law      %s\n         %s\nsubject  %s\ncase     %s\nverdict  %s%s%s\n", target.law->id.c_str(),
              target.law->sentence.c_str(), target.subject.c_str(), target.c.type->to_json(target.c).c_str(),
              std::string(ruling_name(verdict.ruling)).c_str(), verdict.reason.empty() ? "" : ": ",
              verdict.reason.c_str());
  for (const Breach& b : verdict.breaches)
    std::printf("\n  at       %s\n  input    %s\n  expected %s\n  actual   %s\n  %s\n", b.place.c_str(),
                b.input.c_str(), b.expected.c_str(), b.actual.c_str(), b.why.c_str());
}

}  // namespace

int run_repro(const ReproOptions& options) {
  Result<Target> target = target_of(options);
  if (!target) return complain(target.error());
  if (!options.subject.empty()) target->subject = options.subject;
  const Result<CallLimits> limits = parse_limits(options.call_timeout, options.call_memory);
  if (!limits) return complain(limits.error());
  const Result<std::unique_ptr<Subject>> subject = open_subject(target->subject, *limits);
  if (!subject) return complain(subject.error());
  const Verdict verdict = target->law->check(**subject, target->c);
  if (options.json)
    std::fputs(verdict_json(*target, verdict).c_str(), stdout);
  else
    print_verdict(*target, verdict);
  return verdict.ruling == Ruling::broken ? kFindings : kHolds;
}

}  // namespace packcheck
