#include "properties/corpus_store.h"

#include <sha1.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <map>
#include <system_error>

#include "properties/strict_json.h"
#include "subjects/calls.h"

namespace packcheck {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::uintmax_t kLargestFile = std::uintmax_t{64} << 20;
constexpr std::uint64_t kCaseVersion = 1;
constexpr std::uint64_t kVectorsVersion = 2;  ///< 1 had no answers, and is read

std::vector<std::string> texts(MemberReader& members, std::string_view key, const std::string& where) {
  std::vector<std::string> list;
  const json value = members.value(key);
  for (const json& item : value) {
    if (!value.is_array() || !item.is_string())
      members.fail({"not an array of strings", where + "/" + std::string(key), R"(["…"])"});
    else
      list.push_back(item.get<std::string>());
  }
  return list;
}

VectorAnswers read_answers(MemberReader& members, const std::string& where) {
  VectorAnswers answers;
  if (!members.has("right")) return answers;
  answers.declares = texts(members, "declares", where);
  answers.result = members.text("result");
  answers.right = members.value("right").dump();
  if (members.has("wrong")) answers.wrong = members.value("wrong").dump();
  answers.flags = texts(members, "flags", where);
  return answers;
}

/// The members that a lone case file and a vector share.
Result<CaseFile> read_case(MemberReader& members, const std::string& where, bool vector) {
  CaseFile file;
  const std::string type_name = members.text("type");
  if (!vector || members.has("law")) file.law = members.text("law");
  const json body = members.value("case");
  if (vector) {
    file.id = members.text("id");
    (void)members.text("comment");
    (void)members.text("source");
    file.answers = read_answers(members, where);
  } else {
    file.subject = members.text("subject");
    file.place = members.text("place");
    for (const char* key : {"input", "expected", "actual", "why"}) (void)members.text(key);
  }
  const CaseType* type = case_type_named(type_name);
  if (type == nullptr) {
    std::string known;
    for (const CaseType* t : all_case_types()) known += (known.empty() ? "" : ", ") + std::string(t->name());
    return refuse("unknown case type '" + type_name + "'", where + "/type", known);
  }
  if (!file.law.empty()) {
    const Result<const Law*> law = law_named(file.law);
    if (!law) return tl::unexpected(Error{law.error().what, where + "/law", law.error().right});
    if ((*law)->case_type != type)
      return refuse("case of type '" + type_name + "'", where + "/type",
                    "'" + std::string((*law)->case_type->name()) + "' for law " + file.law);
  }
  Result<Case> c = type->from_json(body.dump());
  if (!c) return tl::unexpected(Error{c.error().what, where + "/case " + c.error().where, c.error().right});
  file.c = *c;
  return file;
}

Result<void> check_version(const json& parsed, MemberReader& members, const std::string& key, std::uint64_t newest,
                           const std::string& where) {
  const std::string right = key + ": " + std::to_string(newest);
  if (!parsed.contains(key)) return refuse("missing", where + "/" + key, right);
  if (!parsed[key].is_number_unsigned()) return refuse("not a non-negative integer", where + "/" + key, right);
  const std::uint64_t version = members.unsigned_integer(key);
  if (version >= 1 && version <= newest) return {};
  return refuse("format version " + std::to_string(version), where, right);
}

Result<std::vector<CaseFile>> read_one(const json& parsed, const std::string& where) {
  MemberReader members(parsed, where);
  if (auto ok = check_version(parsed, members, "packcheck_case", kCaseVersion, where); !ok)
    return tl::unexpected(ok.error());
  Result<CaseFile> file = read_case(members, where, false);
  if (auto ok = members.finish(); !ok) return tl::unexpected(ok.error());
  if (!file) return tl::unexpected(file.error());
  return std::vector<CaseFile>{std::move(*file)};
}

Result<std::vector<CaseFile>> read_vectors_document(const json& parsed, const std::string& where) {
  MemberReader members(parsed, where);
  if (auto ok = check_version(parsed, members, "packcheck_vectors", kVectorsVersion, where); !ok)
    return tl::unexpected(ok.error());
  const json list = members.value("vectors");
  if (auto ok = members.finish(); !ok) return tl::unexpected(ok.error());
  if (!list.is_array()) return refuse("not an array", where + "/vectors", "[{…}, …]");
  std::vector<CaseFile> files;
  std::set<std::string> ids;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string at = where + "/vectors/" + std::to_string(i);
    MemberReader vector(list[i], at);
    Result<CaseFile> file = read_case(vector, at, true);
    if (auto ok = vector.finish(); !ok) return tl::unexpected(ok.error());
    if (!file) return tl::unexpected(file.error());
    if (!ids.insert(file->id).second) return refuse("id '" + file->id + "' is used twice", at, "each id once");
    files.push_back(std::move(*file));
  }
  return files;
}

/// nlohmann_json throws when it writes what is not UTF-8, and only then.
bool is_utf8(const std::string& text) {
  try {
    (void)json(text).dump();
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

std::vector<fs::path> sorted_files(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored) && !is_half_written(entry.path())) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::string case_file_text(const std::string& law, const std::string& subject, const Breach& breach, const Case& c) {
  const json file{{"packcheck_case", kCaseVersion},
                  {"law", law},
                  {"subject", subject},
                  {"place", breach.place},
                  {"type", c.type->name()},
                  {"case", json::parse(c.type->to_json(c))},
                  {"input", breach.input},
                  {"expected", breach.expected},
                  {"actual", breach.actual},
                  {"why", breach.why}};
  // A subject's own message may hold any bytes; they become U+FFFD.
  return file.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<std::string> vectors_text_with(std::string_view old_text, const std::string& where, const NewVector& vector) {
  constexpr std::string_view kIdLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (vector.id.empty() || vector.id.find_first_not_of(kIdLetters) != std::string::npos)
    return refuse("id '" + vector.id + "'", where, "letters, digits, dot, dash and underscore");
  std::vector<std::string> texts{vector.comment, vector.source};
  texts.insert(texts.end(), vector.answers.flags.begin(), vector.answers.flags.end());
  for (const std::string& text : texts)
    if (!is_utf8(text)) return refuse("a comment, source or flag that is not UTF-8", where, "UTF-8 text");
  std::map<std::string, json> by_id;
  if (!old_text.empty()) {
    if (const auto files = parse_case_file(old_text, where); !files) return tl::unexpected(files.error());
    const Result<json> old = parse_strict_json(old_text);
    if (!old->contains("packcheck_vectors")) return refuse("a case file", where, "a file of vectors");
    for (const json& row : (*old)["vectors"]) by_id[row.at("id").get<std::string>()] = row;
  }
  const VectorAnswers& answers = vector.answers;
  const Result<const Law*> law = law_named(vector.law);
  if (!law) return tl::unexpected(law.error());
  if (auto ok = check_answers(**law, vector.c, answers, vector.id); !ok) return tl::unexpected(ok.error());
  json row{{"id", vector.id},
           {"law", vector.law},
           {"type", vector.c.type->name()},
           {"case", json::parse(vector.c.type->to_json(vector.c))},
           {"declares", answers.declares},
           {"result", answers.result},
           {"right", json::parse(answers.right)}};
  if (!answers.wrong.empty()) row["wrong"] = json::parse(answers.wrong);
  row["flags"] = answers.flags;
  row["comment"] = vector.comment;
  row["source"] = vector.source;
  if (!by_id.emplace(vector.id, std::move(row)).second)
    return refuse("id '" + vector.id + "' is there already", where, "a new id");
  json list = json::array();
  for (auto& [id, known] : by_id) list.push_back(std::move(known));
  return json{{"packcheck_vectors", kVectorsVersion}, {"vectors", list}}.dump(2) + "\n";
}

Result<std::vector<CaseFile>> parse_case_file(std::string_view text, const std::string& where) {
  const Result<json> parsed = parse_strict_json(text);
  if (!parsed) return tl::unexpected(Error{parsed.error().what, where, parsed.error().right});
  if (!parsed->is_object())
    return refuse("not an object", where, "{\"packcheck_case\": 1, …} or {\"packcheck_vectors\": 1, …}");
  if (parsed->contains("packcheck_vectors")) return read_vectors_document(*parsed, where);
  return read_one(*parsed, where);
}

Result<std::vector<CaseFile>> read_case_file(const fs::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_case_file(*text, path.string());
}

Result<std::string> read_file(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return refuse("no such file", path.string(), "a readable regular file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > kLargestFile) return refuse("too large", path.string(), "at most 64 MiB");
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) return refuse("cannot be read", path.string(), "a readable regular file");
  return text;
}

Result<void> write_file_atomically(const fs::path& path, std::string_view text) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) return refuse(error.message(), path.parent_path().string(), "a folder that can be created");
  const fs::path temporary = path.string() + std::string(kPartMark) + std::to_string(::getpid());
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) {
      fs::remove(temporary, error);
      return refuse("cannot be written", path.string(), "a writable folder with room in it");
    }
  }
  fs::rename(temporary, path, error);
  if (!error) return {};
  const std::string message = error.message();
  fs::remove(temporary, error);
  return refuse(message, path.string(), "a path that can be replaced");
}

bool is_half_written(const fs::path& path) { return path.filename().string().find(kPartMark) != std::string::npos; }

std::string sha1_of(std::string_view text) {
  std::array<char, SHA1_DIGEST_STRING_LENGTH> digits{};
  SHA1Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), digits.data());
  return digits.data();
}

std::string file_name_of(const std::string& signature, std::string_view text) {
  std::string name;
  for (const char c : signature) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  return name.substr(0, 150) + "-" + sha1_of(text) + ".json";
}

CorpusStore::CorpusStore(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    problems_.push_back({"no such folder", folder.string(), "a corpus folder"});
    return;
  }
  for (const CaseType* type : all_case_types()) read_family(folder, std::string(type->name()));
  read_vectors(folder / "vectors");
}

void CorpusStore::read_family(const fs::path& folder, const std::string& family) {
  for (const fs::path& path : sorted_files(folder / family)) {
    if (path.extension() != ".json") {
      Result<std::string> bytes = read_file(path);
      if (bytes)
        wire_.emplace_back(family, std::move(*bytes));
      else
        problems_.push_back(bytes.error());
      continue;
    }
    Result<std::vector<CaseFile>> files = read_case_file(path);
    if (!files) {
      problems_.push_back(files.error());
      continue;
    }
    for (CaseFile& file : *files) {
      if (file.c.type->name() != family)
        problems_.push_back({"case of type '" + std::string(file.c.type->name()) + "'", path.string(),
                             "a case of the family's type, '" + family + "'"});
      else
        cases_.push_back(std::move(file));
    }
  }
}

void CorpusStore::read_vectors(const fs::path& folder) {
  for (const fs::path& path : sorted_files(folder)) {
    Result<std::vector<CaseFile>> files = read_case_file(path);
    if (!files) {
      problems_.push_back(files.error());
      continue;
    }
    for (CaseFile& file : *files) cases_.push_back(std::move(file));
  }
}

std::vector<Case> CorpusStore::cases_for(const Law& law, std::string_view variant) const {
  std::vector<Case> cases;
  for (const CaseFile& file : cases_)
    if (file.c.type == law.case_type && file.c.type->variant(file.c) == variant) cases.push_back(file.c);
  for (const auto& [family, bytes] : wire_) {
    if (family != law.case_type->name()) continue;
    if (auto c = law.case_type->from_wire(string_to_bytes(bytes), variant)) cases.push_back(*c);
  }
  return cases;
}

std::vector<std::string> CorpusStore::wire_inputs(std::string_view family) const {
  std::vector<std::string> inputs;
  for (const auto& [name, bytes] : wire_)
    if (name == family) inputs.push_back(bytes);
  return inputs;
}

}  // namespace packcheck
