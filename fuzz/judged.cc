#include "fuzz/judged.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "subjects/process/in_process_subject.h"
#include "subjects/process/native_subject.h"
#include "subjects/process/program_subject.h"
#include "subjects/reference/reference.h"
#include "subjects/reference/twins.h"

namespace packcheck {
namespace {

struct Judged {
  std::string spec;  ///< for `packcheck repro --subject`; empty: the reference
  std::unique_ptr<Subject> subject;
  std::unique_ptr<Subject> reference;  ///< beside a subject of another; null else
};

/// What follows `prefix` in `text`, if that is how it begins.
std::optional<std::string> after(std::string_view prefix, std::string_view text) {
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  return std::string(text.substr(prefix.size()));
}

Result<std::unique_ptr<Subject>> open(std::string_view spec) {
  if (const auto path = after("lib:", spec)) return open_native_subject(*path, CallLimits{});
  if (const auto command = after("exec:", spec)) return open_program_subject(*command, CallLimits{});
  if (const auto path = after("in-process:", spec)) return open_in_process_subject(*path);
  return refuse("unknown subject '" + std::string(spec) + "'", "PACKCHECK_SUBJECT",
                "reference, twin:NAME, lib:PATH, exec:COMMAND or in-process:PATH");
}

Judged open_judged() {
  const char* const set = std::getenv("PACKCHECK_SUBJECT");
  const std::string_view spec = set == nullptr || *set == 0 ? "reference" : set;
  if (spec == "reference") return {{}, make_reference(), nullptr};
  if (const auto name = after("twin:", spec)) {
    std::unique_ptr<Subject> twin = make_twin(*name);
    if (twin == nullptr) refuse_to_run("PACKCHECK_SUBJECT: no twin '" + *name + "'; `packcheck twins` lists them");
    return {std::string(spec), std::move(twin), nullptr};
  }
  Result<std::unique_ptr<Subject>> subject = open(spec);
  if (!subject) refuse_to_run(subject.error().text());
  const auto path = after("in-process:", spec);  // the command calls every library in a worker
  return {path ? "lib:" + *path : std::string(spec), std::move(*subject), make_reference()};
}

Judged& judged_subjects() {
  static Judged judged = open_judged();
  return judged;
}

/// `text` as one word of a shell.
std::string quoted(std::string_view text) {
  std::string word = "'";
  for (const char c : text) c == '\'' ? word.append("'\\''") : word.append(1, c);
  return word.append("'");
}

void judge_by(Subject& subject, std::string_view spec, const Law& law, const Case& c) {
  const Verdict verdict = law.check(subject, c);
  if (verdict.ruling != Ruling::broken) return;
  const Breach& breach = verdict.breaches.front();
  const std::string whom = spec.empty() ? "" : " --subject " + quoted(spec);
  std::fprintf(stderr, "subject  %s\ninput    %s\nexpected %s\nactual   %s\n%s\npackcheck repro --law %s --case %s%s\n",
               subject.info().name.c_str(), breach.input.c_str(), breach.expected.c_str(), breach.actual.c_str(),
               breach.why.c_str(), law.id.c_str(), quoted(c.type->to_json(c)).c_str(), whom.c_str());
  stop(std::string(law.id).append(" ").append(breach.place));
}

}  // namespace

const std::vector<JudgedLaw>& judged_laws() {
  static const std::vector<JudgedLaw> judged = [] {
    const Judged& all = judged_subjects();
    std::vector<JudgedLaw> laws;
    for (const Law& law : all_laws()) {
      JudgedLaw row{&law, law.variants(all.subject->info()), {}};
      if (row.variants.empty()) continue;
      if (all.reference != nullptr) row.of_reference = law.variants(all.reference->info());
      std::sort(row.of_reference.begin(), row.of_reference.end());
      laws.push_back(std::move(row));
    }
    return laws;
  }();
  return judged;
}

void judge_case(const JudgedLaw& judged, std::string_view variant, const Case& c) {
  const Judged& all = judged_subjects();
  const bool beside = std::binary_search(judged.of_reference.begin(), judged.of_reference.end(), variant);
  if (beside) judge_by(*all.reference, {}, *judged.law, c);
  judge_by(*all.subject, all.spec, *judged.law, c);
}

void stop(std::string_view signature) {
  std::fprintf(stderr, "packcheck: judged.cc:1: judge_case: Assertion `%.*s' failed.\n",
               static_cast<int>(signature.size()), signature.data());
  std::abort();
}

void refuse_to_run(std::string_view why) {
  std::fprintf(stderr, "packcheck: %.*s\n", static_cast<int>(why.size()), why.data());
  std::_Exit(2);  // libFuzzer makes a finding of std::exit
}

void nothing_to_judge() {
  std::fprintf(stderr, "packcheck: the subject offers nothing that this target judges\n");
  std::_Exit(4);
}

}  // namespace packcheck
