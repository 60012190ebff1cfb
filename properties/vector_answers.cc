#include "properties/vector_answers.h"

#include <algorithm>
#include <map>

#include "properties/reply_json.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

/// Says each operation's one reply, whatever it is asked.
class ScriptedSubject final : public Subject {
 public:
  ScriptedSubject(std::vector<Declaration> declarations, std::map<Operation, Reply> replies)
      : replies_(std::move(replies)) {
    info_.name = "vector";
    info_.declarations = std::move(declarations);
  }
  Reply call(const Request& request) override {
    const auto found = replies_.find(request.operation);
    return found == replies_.end() ? Reply{Outcome::skipped, {}, "not in the script"} : found->second;
  }

 private:
  std::map<Operation, Reply> replies_;
};

/// A subject under other declarations; keeps the last reply of each operation.
class RecordingSubject final : public Subject {
 public:
  RecordingSubject(Subject& subject, std::vector<Declaration> declarations) : subject_(subject) {
    info_.name = subject.info().name;
    info_.declarations = std::move(declarations);
  }
  Reply call(const Request& request) override { return replies_[request.operation] = subject_.call(request); }
  [[nodiscard]] const std::map<Operation, Reply>& replies() const { return replies_; }

 private:
  Subject& subject_;
  std::map<Operation, Reply> replies_;
};

Result<std::vector<Declaration>> declarations_of(const std::vector<std::string>& lines) {
  if (lines.empty()) return refuse("no declaration", "declares", "a line as in 'convert f32->f16 nan=any'");
  std::vector<Declaration> declarations;
  for (const std::string& line : lines) {
    Result<Declaration> declaration = parse_declaration(line);
    if (!declaration) return tl::unexpected(declaration.error());
    declarations.push_back(std::move(*declaration));
  }
  return declarations;
}

const Declaration* declaration_of(const std::vector<Declaration>& declarations, Operation operation) {
  for (const Declaration& d : declarations)
    if (d.operation == operation) return &d;
  return nullptr;
}

Result<std::map<Operation, Reply>> replies_of(const std::string& text, const std::vector<Declaration>& declarations,
                                              const std::string& where) {
  const Result<json> parsed = parse_strict_json(text);
  if (!parsed) return tl::unexpected(Error{parsed.error().what, where, parsed.error().right});
  if (!parsed->is_object() || parsed->empty()) return refuse("no answers", where, R"({"convert": ["0x7fc0"]})");
  std::map<Operation, Reply> replies;
  for (const auto& [name, value] : parsed->items()) {
    const std::optional<Operation> operation = operation_named(name);
    const Declaration* declaration = operation ? declaration_of(declarations, *operation) : nullptr;
    if (declaration == nullptr)
      return refuse("'" + name + "' is not declared", where, "an operation that `declares` has");
    Result<Reply> reply = reply_from_json(*operation, declaration->variant, value, where + "/" + name);
    if (!reply) return tl::unexpected(reply.error());
    replies[*operation] = std::move(*reply);
  }
  return replies;
}

std::string ruling_of(const Verdict& verdict) {
  std::string text(ruling_name(verdict.ruling));
  if (!verdict.reason.empty()) text.append(": ").append(verdict.reason);
  if (!verdict.breaches.empty())
    text.append(": expected ").append(verdict.breaches[0].expected).append(", got ").append(verdict.breaches[0].actual);
  return text;
}

bool judges(const Law& law, const Case& c, const SubjectInfo& info) {
  const std::vector<std::string> variants = law.variants(info);
  return std::find(variants.begin(), variants.end(), c.type->variant(c)) != variants.end();
}

Result<Verdict> verdict_on(const Law& law, const Case& c, const std::vector<Declaration>& declarations,
                           const std::string& answers, const std::string& where) {
  Result<std::map<Operation, Reply>> replies = replies_of(answers, declarations, where);
  if (!replies) return tl::unexpected(replies.error());
  ScriptedSubject subject(declarations, std::move(*replies));
  if (!judges(law, c, subject.info()))
    return refuse("the law does not judge this case under these declarations", where, "declarations that fit the case");
  return law.check(subject, c);
}

bool refuses(const std::string& answers) { return answers.find("\"refused\"") != std::string::npos; }

}  // namespace

Result<std::string> answers_of(Subject& subject, const Law& law, const Case& c,
                               const std::vector<std::string>& declares) {
  const Result<std::vector<Declaration>> declarations = declarations_of(declares);
  if (!declarations) return tl::unexpected(declarations.error());
  RecordingSubject recording(subject, *declarations);
  if (!judges(law, c, recording.info()))
    return refuse("the law does not judge this case under these declarations", law.id,
                  "declarations that fit the case");
  (void)law.check(recording, c);
  json answers = json::object();
  for (const auto& [operation, reply] : recording.replies()) {
    const Declaration* declaration = declaration_of(*declarations, operation);
    if (declaration == nullptr) continue;
    const Result<json> answer = reply_to_json(operation, declaration->variant, reply);
    if (!answer) return tl::unexpected(answer.error());
    answers[std::string(operation_name(operation))] = *answer;
  }
  return answers.dump();
}

Result<void> check_answers(const Law& law, const Case& c, const VectorAnswers& answers, const std::string& where) {
  const Result<std::vector<Declaration>> declarations = declarations_of(answers.declares);
  if (!declarations) return tl::unexpected(declarations.error());
  if (answers.result != "valid" && answers.result != "invalid" && answers.result != "acceptable")
    return refuse("result '" + answers.result + "'", where, "valid, invalid or acceptable");
  if (answers.result != "acceptable" && refuses(answers.right) != (answers.result == "invalid"))
    return refuse("result '" + answers.result + "' beside the right answer", where,
                  "invalid exactly where the right answer is a refusal");
  const Result<Verdict> right = verdict_on(law, c, *declarations, answers.right, where + "/right");
  if (!right) return tl::unexpected(right.error());
  if (right->ruling != Ruling::holds)
    return refuse("the right answer is " + ruling_of(*right), where + "/right", "an answer that keeps " + law.id);
  if (answers.wrong.empty()) return {};
  const Result<Verdict> wrong = verdict_on(law, c, *declarations, answers.wrong, where + "/wrong");
  if (!wrong) return tl::unexpected(wrong.error());
  if (answers.result != "acceptable" && wrong->ruling != Ruling::broken)
    return refuse("the wrong answer is " + ruling_of(*wrong), where + "/wrong", "an answer that breaks " + law.id);
  return {};
}

}  // namespace packcheck
