// tests/properties/fake_subject.h: small subjects with answers made up by a test.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "subjects/calls.h"
#include "subjects/subject.h"

namespace packcheck::test {

/// Declares what the test says and answers as the test says.
class FakeSubject final : public Subject {
 public:
  using Answering = std::function<Reply(const Request&)>;
  FakeSubject(const std::vector<std::string>& declarations, Answering answering);
  /// Declares exactly what another subject does.
  [[nodiscard]] static FakeSubject like(const SubjectInfo& info, Answering answering);

  Reply call(const Request& request) override { return answering_(request); }

 private:
  Answering answering_;
};

[[nodiscard]] Reply answered(std::string part);
/// An outcome other than an answer, with a message.
[[nodiscard]] Reply outcome(Outcome what);
/// Answers convert and repack requests element by element.
[[nodiscard]] FakeSubject::Answering element_by_element(
    std::function<std::uint64_t(Format from, Format to, std::uint64_t bits)> convert_one);

}  // namespace packcheck::test
