// packcheck corpus import: a fuzzer's input becomes a case under crashing/, shrunk, one file a signature.
#include <algorithm>
#include <cstdio>
#include <set>

#include "cli/corpus_life.h"
#include "properties/engines/from_bytes.h"
#include "subjects/calls.h"

namespace packcheck {
namespace {

namespace fs = std::filesystem;

/// A way in which an input can be read: a case, and the recipe that shrinks it where it came from bytes.
struct Reading {
  const Law* law;
  std::string variant;
  Case c;
  std::optional<Recipe> recipe;
};

bool wanted(const CorpusOptions& o, const Law& law) {
  return (o.law.empty() || law.id == o.law) && (o.family.empty() || law.case_type->name() == o.family);
}

Reading reading_of(const Law& law, const std::string& variant, std::span<const std::uint8_t> bytes) {
  ByteCase made = case_from_bytes(law, variant, bytes);
  return {&law, variant, std::move(made.c), std::move(made.recipe)};
}

/// Every law of every variant that the options leave, and what laws_fuzzer would have made of the bytes.
std::vector<Reading> readings_of(const CorpusOptions& o, const SubjectInfo& info, const std::string& text) {
  const Bytes bytes = string_to_bytes(text);
  std::vector<Reading> readings;
  for (const Law& law : all_laws()) {
    if (!wanted(o, law)) continue;
    for (const std::string& variant : law.variants(info))
      if (o.variant.empty() || variant == o.variant) readings.push_back(reading_of(law, variant, bytes));
  }
  const std::optional<ChosenBytes> chosen = chosen_by(bytes);
  if (!chosen || !o.variant.empty()) return readings;
  const Law& law = all_laws()[chosen->law % all_laws().size()];
  const std::vector<std::string> variants = law.variants(info);
  if (wanted(o, law) && !variants.empty())
    readings.push_back(reading_of(law, variants[chosen->variant % variants.size()], chosen->rest));
  return readings;
}

/// A case as it stands, for the laws that the options or its file name.
std::vector<Reading> readings_of(const CorpusOptions& o, const std::string& law_id, const Case& c) {
  std::vector<Reading> readings;
  for (const Law& law : all_laws())
    if (law.case_type == c.type && wanted(o, law) && (law_id.empty() || law.id == law_id))
      readings.push_back({&law, c.type->variant(c), c, std::nullopt});
  return readings;
}

/// An input is known by its signature; the same may come a thousand times in a night.
class Known {
 public:
  static Result<Known> of(const fs::path& corpus) {
    const Result<std::vector<CrashingFile>> files = crashing_files(corpus);
    if (!files) return tl::unexpected(files.error());
    Known known;
    for (const CrashingFile& file : *files) known.paths_[identity_of(file.file)] = file.path;
    return known;
  }
  [[nodiscard]] const fs::path* find(const std::string& identity) const {
    const auto found = paths_.find(identity);
    return found == paths_.end() ? nullptr : &found->second;
  }
  void add(const std::string& identity, const fs::path& path) { paths_[identity] = path; }

 private:
  std::map<std::string, fs::path> paths_;
};

/// Puts what a reading breaks into the corpus; how many signatures it breaks, known ones included.
Result<std::size_t> import_reading(const fs::path& corpus, Court& court, const Reading& reading, Known& known) {
  const Law law = court.law(*reading.law);
  Hunt hunt(law, court.subject(), reading.variant);
  const Verdict verdict = hunt.check(reading.c);
  std::set<std::string> done;
  for (const Breach& breach : verdict.breaches) {
    const std::string identity = law.id + " " + breach.place + " " + court.spec();
    if (const fs::path* path = known.find(identity)) {
      if (done.insert(identity).second) std::printf("already there: %s\n", path->c_str());
      continue;
    }
    const Shrunk shrunk = shrink(hunt, reading.c, breach, reading.recipe ? &*reading.recipe : nullptr);
    // What only a subject with a past breaks would be called mended by the first `corpus promote`.
    const Result<Court> fresh = Court::open(court.spec());
    if (!fresh) return tl::unexpected(fresh.error());
    if (!fresh->breaks(law, shrunk.c, breach.place)) {
      std::printf("not imported: breaks %s only after other inputs, not alone: %s\n", identity.c_str(),
                  shrunk.c.type->to_json(shrunk.c).c_str());
      continue;
    }
    const Placed file = placed(corpus, "crashing", court.spec(), law.id, shrunk.breach, shrunk.c);
    if (auto ok = write_file_atomically(file.path, file.text); !ok) return tl::unexpected(ok.error());
    known.add(identity, file.path);
    done.insert(identity);
    std::printf("imported %s\n", file.path.c_str());
    std::fflush(stdout);
  }
  return done.size();
}

/// What there is to read in one argument: a case file, or bytes that a fuzzer wrote.
Result<std::vector<Reading>> readings_in(const CorpusOptions& o, Court& court, const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  if (text->find("\"packcheck_case\"") == std::string::npos) return readings_of(o, court.subject().info(), *text);
  const Result<std::vector<CaseFile>> files = parse_case_file(*text, path);
  // What a fuzzer of case files wrote looks like one and is none: bytes, then.
  if (!files || files->size() != 1) return readings_of(o, court.subject().info(), *text);
  return readings_of(o, files->front().law, files->front().c);
}

Result<bool> import_one(const fs::path& corpus, Court& court, const std::vector<Reading>& readings, Known& known,
                        const std::string& name) {
  std::size_t broken = 0;
  for (const Reading& reading : readings) {
    const Result<std::size_t> some = import_reading(corpus, court, reading, known);
    if (!some) return tl::unexpected(some.error());
    broken += *some;
  }
  if (broken == 0)
    std::printf("not imported: %s breaks none of %zu laws and variants of %s\n", name.c_str(), readings.size(),
                court.spec().c_str());
  return broken > 0;
}

}  // namespace

int import_into(const fs::path& corpus, const CorpusOptions& o) {
  if (o.files.empty() == o.inline_case.empty())
    return complain({o.files.empty() ? "no files" : "files and a case", "corpus import",
                     "inputs that a fuzzer wrote, or --law ID --case JSON"});
  if (!o.family.empty() && case_type_named(o.family) == nullptr)
    return complain({"unknown family '" + o.family + "'", "--family", "a case type, as in corpus/FAMILY"});
  if (!o.law.empty())
    if (const Result<const Law*> law = law_named(o.law); !law) return complain(law.error());
  Result<Court> court = Court::open(o.subject);
  if (!court) return complain(court.error());
  remove_left_parts(corpus);
  Result<Known> known = Known::of(corpus);
  if (!known) return complain(known.error());
  bool all = true;
  const auto take = [&](const Result<std::vector<Reading>>& readings, const std::string& name) -> Result<void> {
    if (!readings) return tl::unexpected(readings.error());
    const Result<bool> imported = import_one(corpus, *court, *readings, *known, name);
    if (!imported) return tl::unexpected(imported.error());
    all = all && *imported;
    return {};
  };
  if (!o.inline_case.empty()) {
    if (o.law.empty()) return complain({"no law is named", "corpus import", "--law ID"});
    const Result<Case> c = (*law_named(o.law))->case_type->from_json(o.inline_case);
    if (!c) return complain({c.error().what, "--case " + c.error().where, c.error().right});
    if (auto ok = take(readings_of(o, o.law, *c), "the case"); !ok) return complain(ok.error());
  }
  for (const std::string& file : o.files)
    if (auto ok = take(readings_in(o, *court, file), file); !ok) return complain(ok.error());
  return all ? kHolds : kFindings;
}

}  // namespace packcheck
