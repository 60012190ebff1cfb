// packcheck corpus promote and minimise: what becomes of the cases under crashing/.
#include <cstdio>
#include <map>
#include <system_error>

#include "cli/corpus_life.h"
#include "properties/engines/from_bytes.h"

namespace packcheck {
namespace {

namespace fs = std::filesystem;

/// The new file first, then the old one away: killed between the two, both are there.
Result<void> replace(const fs::path& old_path, const Placed& file) {
  if (auto ok = write_file_atomically(file.path, file.text); !ok) return ok;
  std::error_code error;
  if (file.path != old_path) fs::remove(old_path, error);
  if (error) return refuse(error.message(), old_path.string(), "a file that can be removed");
  return {};
}

const Breach* breach_at(const Verdict& verdict, const std::string& place) {
  for (const Breach& breach : verdict.breaches)
    if (breach.place == place) return &breach;
  return nullptr;
}

/// Subjects, each opened once: for shrinking, which asks a thousand times.
class Courts {
 public:
  Result<Court*> at(const std::string& spec) {
    const auto found = courts_.find(spec);
    if (found != courts_.end()) return &found->second;
    Result<Court> court = Court::open(spec);
    if (!court) return tl::unexpected(court.error());
    return &courts_.emplace(spec, std::move(*court)).first->second;
  }

 private:
  std::map<std::string, Court> courts_;
};

/// Whether the case of a file still breaks its law, and where the file now belongs.
/// A subject that was asked nothing before: an answer that depends on the files before this one mends nothing.
Result<bool> promote(const fs::path& corpus, const CrashingFile& crashing) {
  const CaseFile& file = crashing.file;
  Result<Court> court = Court::open(file.subject);
  if (!court) {
    std::printf("not judged: %s: %s\n", crashing.path.c_str(), court.error().text().c_str());
    return true;
  }
  const Law law = court->law(**law_named(file.law));
  const Verdict verdict = law.check(court->subject(), file.c);
  if (verdict.ruling == Ruling::skipped || verdict.ruling == Ruling::not_applicable) {
    std::printf("not judged: %s: %s\n", crashing.path.c_str(), verdict.reason.c_str());
    return true;
  }
  if (breach_at(verdict, file.place) != nullptr) {
    std::printf("still broken: %s\n", crashing.path.c_str());
    return true;
  }
  if (verdict.ruling == Ruling::broken) {  // the same case breaks its law in another way
    const Placed now = placed(corpus, "crashing", court->spec(), law.id, verdict.breaches.front(), file.c);
    if (auto ok = replace(crashing.path, now); !ok) return tl::unexpected(ok.error());
    std::printf("broken elsewhere: %s\n", now.path.c_str());
    return true;
  }
  const Placed fixed{corpus / std::string(file.c.type->name()) / "regression" / crashing.path.filename(),
                     crashing.text};
  if (auto ok = replace(crashing.path, fixed); !ok) return tl::unexpected(ok.error());
  std::printf("promoted: %s\n", fixed.path.c_str());
  return false;
}

/// The simplest case with the same breach, from its bytes where it has some.
Result<Shrunk> simplest(Courts& courts, const CaseFile& file) {
  const Result<Court*> court = courts.at(file.subject);
  if (!court) return tl::unexpected(court.error());
  const Law law = (*court)->law(**law_named(file.law));
  const std::string variant = file.c.type->variant(file.c);
  Hunt hunt(law, (*court)->subject(), variant);
  const Verdict verdict = hunt.check(file.c);
  const Breach* breach = breach_at(verdict, file.place);
  if (breach == nullptr) return refuse("does not break its law", file.law + " " + file.place, "`corpus promote`");
  std::optional<ByteCase> made;
  if (const auto bytes = file.c.type->to_wire(file.c)) made = case_from_bytes(law, variant, *bytes);
  const Shrunk shrunk = shrink(hunt, file.c, *breach, made ? &made->recipe : nullptr);
  const Result<Court> fresh = Court::open(file.subject);
  if (!fresh) return tl::unexpected(fresh.error());
  if (!fresh->breaks(law, shrunk.c, file.place)) return Shrunk{file.c, *breach, 0};  // simpler only after other calls
  return shrunk;
}

}  // namespace

int promote_in(const fs::path& corpus) {
  remove_left_parts(corpus);
  const Result<std::vector<CrashingFile>> files = crashing_files(corpus);
  if (!files) return complain(files.error());
  std::size_t broken = 0;
  for (const CrashingFile& file : *files) {
    const Result<bool> still = promote(corpus, file);
    if (!still) return complain(still.error());
    broken += *still ? 1 : 0;
    std::fflush(stdout);
  }
  std::printf("%zu promoted, %zu still crashing\n", files->size() - broken, broken);
  return broken == 0 ? kHolds : kFindings;
}

int minimise_in(const fs::path& corpus) {
  remove_left_parts(corpus);
  const Result<std::vector<CrashingFile>> files = crashing_files(corpus);
  if (!files) return complain(files.error());
  Courts courts;
  std::map<std::string, fs::path> kept;  // the file of each signature
  for (const CrashingFile& file : *files) {
    const Result<Shrunk> shrunk = simplest(courts, file.file);
    if (!shrunk) {
      std::printf("left: %s: %s\n", file.path.c_str(), shrunk.error().text().c_str());
      continue;
    }
    const std::string subject = file.file.subject.empty() ? "reference" : file.file.subject;
    Placed now = placed(corpus, "crashing", subject, file.file.law, shrunk->breach, shrunk->c);
    if (now.text.size() >= file.text.size()) now = {file.path, file.text};
    const auto [place, first] = kept.emplace(identity_of(file.file), now.path);
    if (!first && fs::file_size(place->second) <= now.text.size()) {  // a simpler one of this signature is there
      std::error_code ignored;
      if (file.path != place->second) fs::remove(file.path, ignored);
      std::printf("removed: %s: %s is simpler\n", file.path.c_str(), place->second.c_str());
      continue;
    }
    if (auto ok = replace(file.path, now); !ok) return complain(ok.error());
    if (!first && place->second != now.path) {
      std::error_code ignored;
      fs::remove(place->second, ignored);
      std::printf("removed: %s: %s is simpler\n", place->second.c_str(), now.path.c_str());
      place->second = now.path;
    }
    std::printf("%s: %s\n", now.path == file.path ? "as it was" : "minimised", now.path.c_str());
    std::fflush(stdout);
  }
  return kHolds;
}

}  // namespace packcheck
