// cli/corpus_life.h: how a finding lives in a corpus: a fuzzer's input is imported as a case under crashing/, shrunk,
// one file a signature; a case that holds again is promoted to regression/, which every gate replays.
//
// Every step writes the new file before it removes the old one, and every file appears whole: a run that is killed at
// any point loses nothing, and the same command goes on where it stopped. tests/cli/corpus_life_test.cc proves it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "properties/corpus_store.h"
#include "properties/engines/hunt.h"

namespace packcheck {

/// A case file under crashing/.
struct CrashingFile {
  std::filesystem::path path;
  std::string text;
  CaseFile file;
};
/// All of them, sorted by path; raw files are not among them. A file that does not read is an error.
[[nodiscard]] Result<std::vector<CrashingFile>> crashing_files(const std::filesystem::path& corpus);

/// What findings are told apart by: law, place and subject.
[[nodiscard]] std::string identity_of(const CaseFile& file);

/// The subject of a finding, opened, and laws that judge it without dying themselves.
class Court {
 public:
  /// Opens "reference" for an empty spec.
  [[nodiscard]] static Result<Court> open(const std::string& spec);
  [[nodiscard]] Subject& subject() { return *subject_; }
  [[nodiscard]] const std::string& spec() const { return spec_; }
  /// The law in a process of its own where the subject has none.
  [[nodiscard]] Law law(const Law& law) const;
  /// Whether the case breaks the law at that place.
  [[nodiscard]] bool breaks(const Law& law, const Case& c, const std::string& place) const;

 private:
  std::string spec_;
  std::unique_ptr<Subject> subject_;
};

/// Where a finding goes, and the text that stands there.
struct Placed {
  std::filesystem::path path;
  std::string text;
};
[[nodiscard]] Placed placed(const std::filesystem::path& corpus, const std::string& kind, const std::string& spec,
                            const std::string& law, const Breach& breach, const Case& c);

/// Removes what a killed run left half written; others' running work is left alone.
void remove_left_parts(const std::filesystem::path& corpus);

int import_into(const std::filesystem::path& corpus, const CorpusOptions& options);
int promote_in(const std::filesystem::path& corpus);
int minimise_in(const std::filesystem::path& corpus);
int export_from(const std::filesystem::path& corpus, const CorpusOptions& options);

}  // namespace packcheck
