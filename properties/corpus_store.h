// properties/corpus_store.h: the cases that are remembered, read from a corpus folder.
//
// corpus/<family>/{seed,regression,crashing}/: a family is a case type. Files ending in .json are
// case files; other files are in the family's wire format. corpus/vectors/*.json are lists of named
// cases. Only `packcheck corpus` writes here, atomically.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "properties/law.h"
#include "properties/vector_answers.h"

namespace packcheck {

/// A case together with what is said about it in its file.
struct CaseFile {
  std::string law;      ///< empty: every law of the case type
  std::string subject;  ///< the subject it was found on; empty for vectors
  std::string place;    ///< of the finding
  std::string id;       ///< of a vector
  Case c;
  VectorAnswers answers;  ///< of a vector
};

/// The text of a case file: a finding, or a case to keep.
[[nodiscard]] std::string case_file_text(const std::string& law, const std::string& subject, const Breach& breach,
                                         const Case& c);
/// Reads a case file or a file of vectors. Refuses another format version, unknown members,
/// unknown laws and case types, and cases that do not fit their law.
[[nodiscard]] Result<std::vector<CaseFile>> read_case_file(const std::filesystem::path& path);
[[nodiscard]] Result<std::vector<CaseFile>> parse_case_file(std::string_view text, const std::string& where);

/// A vector to publish: a case with a name and its story.
struct NewVector {
  std::string law;
  std::string id;
  std::string comment;
  std::string source;
  Case c;
  VectorAnswers answers;
};
/// The text of a file of vectors with one more in it, sorted by id. `old_text` may be empty. Refuses an
/// id that is there already, a file that does not read, and answers that do not pass check_answers().
[[nodiscard]] Result<std::string> vectors_text_with(std::string_view old_text, const std::string& where,
                                                    const NewVector& vector);

/// The whole of a regular file of at most 64 MiB.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path);
/// Writes beside and renames, so that no reader ever sees half a file.
[[nodiscard]] Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text);
/// In the name of a file that write_file_atomically() has not finished, before the number of the process that writes
/// it.
inline constexpr std::string_view kPartMark = ".part-";
/// Such a file: no reader takes it for one of the corpus.
[[nodiscard]] bool is_half_written(const std::filesystem::path& path);
/// 40 hex digits.
[[nodiscard]] std::string sha1_of(std::string_view text);
/// A signature as part of a file name: letters, digits, dot, dash and underscore.
[[nodiscard]] std::string file_name_of(const std::string& signature, std::string_view text);

class CorpusStore {
 public:
  CorpusStore() = default;
  /// Reads every file; a file that cannot be read is a problem, not the end.
  explicit CorpusStore(const std::filesystem::path& folder);

  /// Cases for a law: of its case type, and of no other law's.
  [[nodiscard]] std::vector<Case> cases_for(const Law& law, std::string_view variant) const;
  /// Every case with what its file says of it.
  [[nodiscard]] const std::vector<CaseFile>& files() const { return cases_; }
  /// Raw files of a family.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& wire_files() const { return wire_; }
  [[nodiscard]] std::vector<std::string> wire_inputs(std::string_view family) const;
  [[nodiscard]] const std::vector<Error>& problems() const { return problems_; }
  [[nodiscard]] std::size_t size() const { return cases_.size() + wire_.size(); }

 private:
  void read_family(const std::filesystem::path& folder, const std::string& family);
  void read_vectors(const std::filesystem::path& folder);
  std::vector<CaseFile> cases_;
  std::vector<std::pair<std::string, std::string>> wire_;  // family, bytes
  std::vector<Error> problems_;
};

}  // namespace packcheck
