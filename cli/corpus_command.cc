// packcheck corpus: the only way files get into a corpus (add; import and promote are in cli/corpus_life.h), and the
// check that they belong.
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/commands.h"
#include "cli/corpus_life.h"
#include "cli/open_subject.h"
#include "cli/paths.h"
#include "properties/corpus_store.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

/// Where one file goes, and what will stand in it.
struct Addition {
  fs::path path;
  std::string text;
};

Result<Addition> as_case(const fs::path& corpus, const std::string& kind, const CaseFile& file,
                         const std::string& text) {
  if (file.law.empty() || !file.id.empty())
    return refuse("a file of vectors", "corpus add", "a case file, as verify writes them into findings/");
  const fs::path folder = corpus / std::string(file.c.type->name()) / kind;
  return Addition{folder / file_name_of(file.law + " " + file.place, text), text};
}

Result<Addition> as_wire(const fs::path& corpus, const CorpusOptions& o, const std::string& bytes) {
  const CaseType* type = case_type_named(o.family);
  if (type == nullptr)
    return refuse(o.family.empty() ? "no case file and no --family" : "unknown family '" + o.family + "'", "corpus add",
                  "--family and one of these, for files in their wire format: " + wire_families());
  if (!type->from_wire({}, {}))
    return refuse("family '" + o.family + "' has no wire format", "corpus add", wire_families());
  return Addition{corpus / o.family / o.kind / sha1_of(bytes), bytes};
}

Result<Addition> addition_of(const fs::path& corpus, const CorpusOptions& o, const std::string& file) {
  const Result<std::string> text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  if (!o.family.empty()) return as_wire(corpus, o, *text);
  const Result<std::vector<CaseFile>> files = parse_case_file(*text, file);
  if (!files) return tl::unexpected(files.error());
  if (files->size() != 1) return refuse(std::to_string(files->size()) + " cases", file, "one case");
  return as_case(corpus, o.kind, files->front(), *text);
}

Result<std::string> answers_of_subject(const std::string& spec, const CorpusOptions& o, const Law& law, const Case& c) {
  const Result<std::unique_ptr<Subject>> subject = open_subject(spec, {});
  if (!subject) return tl::unexpected(subject.error());
  return answers_of(**subject, law, c, o.declares);
}

/// What the options say of a vector's answers; vectors_text_with() checks them.
Result<VectorAnswers> answers_of_options(const CorpusOptions& o, const Law& law, const Case& c) {
  if (!o.wrong.empty() && !o.wrong_from.empty()) return refuse("two wrong answers", "--wrong-from", "one of the two");
  VectorAnswers answers{o.declares, {}, o.right, o.wrong, o.flags};
  if (answers.right.empty()) {
    Result<std::string> right = answers_of_subject("reference", o, law, c);
    if (!right) return tl::unexpected(right.error());
    answers.right = std::move(*right);
  }
  if (!o.wrong_from.empty()) {
    Result<std::string> wrong = answers_of_subject(o.wrong_from, o, law, c);
    if (!wrong) return tl::unexpected(wrong.error());
    answers.wrong = std::move(*wrong);
  }
  answers.result = o.acceptable                                             ? "acceptable"
                   : answers.right.find("\"refused\"") != std::string::npos ? "invalid"
                                                                            : "valid";
  return answers;
}

int add_vector(const fs::path& corpus, const CorpusOptions& o) {
  for (const auto& [value, option] :
       {std::pair{&o.inline_case, "--case"}, std::pair{&o.law, "--law"}, std::pair{&o.id, "--id"},
        std::pair{&o.comment, "--comment"}, std::pair{&o.source, "--source"}})
    if (value->empty())
      return complain({"missing", option, "a vector has a case, a law, an id, a comment and a source"});
  if (o.vectors.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") != std::string::npos)
    return complain({"'" + o.vectors + "'", "--vectors", "a name of a-z, 0-9, - and _"});
  const Result<const Law*> law = law_named(o.law);
  if (!law) return complain(law.error());
  const Result<Case> c = (*law)->case_type->from_json(o.inline_case);
  if (!c) return complain(c.error());
  const fs::path path = corpus / "vectors" / (o.vectors + ".json");
  const std::string old_text = read_file(path).value_or("");
  const Result<VectorAnswers> answers = answers_of_options(o, **law, *c);
  if (!answers) return complain(answers.error());
  const Result<std::string> text =
      vectors_text_with(old_text, path.string(), {o.law, o.id, o.comment, o.source, *c, *answers});
  if (!text) return complain(text.error());
  if (auto ok = write_file_atomically(path, *text); !ok) return complain(ok.error());
  std::printf("added %s#%s\n", path.string().c_str(), o.id.c_str());
  return kHolds;
}

int add(const fs::path& corpus, const CorpusOptions& o) {
  if (!o.vectors.empty()) return add_vector(corpus, o);
  if (o.files.empty()) return complain({"no files", "corpus add", "one or more case files"});
  if (o.kind != "seed" && o.kind != "regression" && o.kind != "crashing")
    return complain({"unknown kind '" + o.kind + "'", "--kind", "seed, regression or crashing"});
  std::vector<Addition> additions;  // all are checked before the first is written
  for (const std::string& file : o.files) {
    Result<Addition> addition = addition_of(corpus, o, file);
    if (!addition) return complain(addition.error());
    additions.push_back(std::move(*addition));
  }
  for (const Addition& addition : additions) {
    std::error_code ignored;
    const bool there = fs::exists(addition.path, ignored);
    if (!there)
      if (auto ok = write_file_atomically(addition.path, addition.text); !ok) return complain(ok.error());
    std::printf("%s %s\n", there ? "already there:" : "added", addition.path.string().c_str());
  }
  return kHolds;
}

/// The folder of inputs that fuzz targets start from, which ci/keep-corpus writes.
constexpr std::string_view kOfTargets = "fuzz";

/// Files that stand where no engine looks.
void find_strays(const fs::path& corpus, std::vector<Error>& problems) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(corpus, ignored)) {
    if (!entry.is_regular_file(ignored) || is_half_written(entry.path())) continue;
    const fs::path relative = fs::relative(entry.path(), corpus, ignored);
    std::vector<std::string> parts;
    for (const fs::path& part : relative) parts.push_back(part.string());
    const bool vector = parts.size() == 2 && parts[0] == "vectors" && relative.extension() == ".json";
    const bool known_kind =
        parts.size() == 3 && (parts[1] == "seed" || parts[1] == "regression" || parts[1] == "crashing");
    const bool of_target = parts.size() == 3 && parts[0] == kOfTargets;
    if (vector || of_target || (known_kind && case_type_named(parts[0]) != nullptr)) continue;
    problems.push_back({"no engine reads this file", entry.path().string(),
                        "vectors/NAME.json, FAMILY/{seed,regression,crashing}/FILE or fuzz/TARGET/FILE"});
  }
}

/// A vector without answers, or with answers that its law does not tell apart.
void check_vectors(const CorpusStore& store, std::vector<Error>& problems) {
  for (const CaseFile& file : store.files()) {
    if (file.id.empty()) continue;
    const Result<const Law*> law = law_named(file.law);
    if (!law || file.answers.right.empty()) {
      problems.push_back({"no answer", "vector " + file.id, "a law, declarations and a right answer"});
      continue;
    }
    if (auto ok = check_answers(**law, file.c, file.answers, "vector " + file.id); !ok) problems.push_back(ok.error());
  }
}

/// A file's name ends in the SHA-1 of its text: a hand edit shows.
void check_names(const fs::path& corpus, std::vector<Error>& problems) {
  std::error_code ignored;
  std::vector<std::string> folders{std::string(kOfTargets)};
  for (const CaseType* type : all_case_types()) folders.emplace_back(type->name());
  for (const std::string& folder : folders)
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(corpus / folder, ignored)) {
      if (!entry.is_regular_file(ignored) || is_half_written(entry.path())) continue;
      const Result<std::string> text = read_file(entry.path());
      if (text && entry.path().stem().string().find(sha1_of(*text)) == std::string::npos)
        problems.push_back({"the name does not hold the SHA-1 of the text", entry.path().string(), sha1_of(*text)});
    }
}

int lint(const fs::path& corpus, bool as_json) {
  std::error_code ignored;
  if (!fs::is_directory(corpus, ignored)) return complain({"no such folder", corpus.string(), "a corpus folder"});
  const CorpusStore store(corpus);
  std::vector<Error> problems = store.problems();
  find_strays(corpus, problems);
  check_names(corpus, problems);
  check_vectors(store, problems);
  if (as_json) {
    json list = json::array();
    for (const Error& problem : problems)
      list.push_back({{"where", problem.where}, {"what", problem.what}, {"right", problem.right}});
    std::printf(
        "%s\n",
        json{{"cases", store.size()}, {"problems", list}}.dump(2, ' ', false, json::error_handler_t::replace).c_str());
  } else {
    for (const Error& problem : problems) std::printf("%s\n", problem.text().c_str());
    std::printf("%zu cases, %zu problems\n", store.size(), problems.size());
  }
  return problems.empty() ? kHolds : kFindings;
}

}  // namespace

std::string wire_families() {
  std::string names;
  for (const CaseType* type : all_case_types())
    if (type->from_wire({}, {})) names.append(names.empty() ? "" : ", ").append(type->name());
  return names;
}

int run_corpus_command(const CorpusOptions& options) {
  const fs::path corpus = options.corpus.empty() ? default_corpus() : fs::path(options.corpus);
  if (corpus.empty()) return complain({"no corpus found", "corpus", "--corpus FOLDER"});
  if (options.action == "add") return add(corpus, options);
  if (options.action == "import") return import_into(corpus, options);
  std::error_code ignored;
  const bool changes = options.action == "promote" || options.action == "minimise";
  if (changes && !fs::is_directory(corpus, ignored))
    return complain({"no such folder", corpus.string(), "a corpus folder"});
  if (options.action == "promote") return promote_in(corpus);
  if (options.action == "minimise") return minimise_in(corpus);
  if (options.action == "export") return export_from(corpus, options);
  return lint(corpus, options.json);
}

}  // namespace packcheck
