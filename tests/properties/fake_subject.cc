#include "tests/properties/fake_subject.h"

#include <stdexcept>

namespace packcheck::test {

FakeSubject::FakeSubject(const std::vector<std::string>& declarations, Answering answering)
    : answering_(std::move(answering)) {
  info_.name = "fake";
  info_.version = "1";
  for (const std::string& line : declarations) {
    Result<Declaration> declaration = parse_declaration(line);
    if (!declaration) throw std::runtime_error(declaration.error().text());
    info_.declarations.push_back(std::move(*declaration));
  }
}

FakeSubject FakeSubject::like(const SubjectInfo& info, Answering answering) {
  FakeSubject subject({}, std::move(answering));
  subject.info_.declarations = info.declarations;
  return subject;
}

Reply answered(std::string part) { return {Outcome::answered, {std::move(part)}, {}}; }
Reply outcome(Outcome what) { return {what, {}, "as the test says"}; }

FakeSubject::Answering element_by_element(std::function<std::uint64_t(Format, Format, std::uint64_t)> convert_one) {
  return [convert_one = std::move(convert_one)](const Request& request) {
    const Format from = format_named(request.arguments.at(0)).value();
    const Format to = format_named(request.arguments.at(1)).value();
    const Bytes in = string_to_bytes(request.arguments.back());
    const std::size_t count = in.size() / spec(from).bytes();
    Bytes out(count * spec(to).bytes());
    for (std::size_t i = 0; i < count; ++i)
      store_element(spec(to), out, i, convert_one(from, to, load_element(spec(from), in, i)));
    return answered(bytes_to_string(out));
  };
}

}  // namespace packcheck::test
