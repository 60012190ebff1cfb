// Laws of subjects as programs, whatever they compute.
#include "properties/cases/cases.h"
#include "properties/laws/answers.h"

namespace packcheck {
namespace {

constexpr unsigned kWarmup = 8;
constexpr unsigned kRepeats = 16;
constexpr std::uint64_t kSmallestLeak = 8;  // bytes a call: no allocation is smaller

Verdict check_keeps_no_memory(Subject& subject, const CallCase& c) {
  Request request = c.request;
  if (request.operation == Operation::convert && request.arguments.size() == 4) {
    const std::string variant = request.arguments[0] + "->" + request.arguments[1];
    if (const Declaration* d = subject.info().find(Operation::convert, variant))
      request.arguments[2] = declared_mode(*d);  // the mode this subject offers
  }
  // A subject that misbehaves at once is told so at once: the probe may take many call limits.
  const Reply reply = subject.call(request);
  if (is_fault(reply.outcome)) return *unanswered(reply.outcome, reply.message, c.variant, c.variant);
  // A cache may grow once; a leak grows in every window.
  std::uint64_t least = ~std::uint64_t{0};
  for (int window = 0; window < 3 && least >= kSmallestLeak; ++window) {
    const Result<std::uint64_t> kept = subject.bytes_kept_per_call(request, kWarmup, kRepeats);
    if (!kept && (kept.error().what == kMemoryUnknown || reply.outcome != Outcome::answered))
      return not_applicable(kept.error().text());
    if (!kept) return *unanswered(Outcome::broke_protocol, kept.error().text(), c.variant + " repeated", c.variant);
    least = std::min(least, *kept);
  }
  Judge judge;
  judge.add_checked(1);
  if (least >= kSmallestLeak)
    judge.broken({c.variant, c.variant + ", the same call " + std::to_string(kRepeats) + " times",
                  "0 bytes kept a call", "about " + std::to_string(least) + " bytes kept a call",
                  "Memory grows with every call."});
  return std::move(judge).verdict();
}

/// The first declared variant of each operation: one leak is one finding.
std::vector<std::string> one_of_each_operation(const SubjectInfo& info) {
  std::vector<std::string> variants;
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    const auto operation = static_cast<Operation>(i);
    const std::vector<std::string> declared = declared_variants(info, operation);
    if (!declared.empty()) variants.push_back(std::string(operation_name(operation)) + " " + declared[0]);
  }
  return variants;
}

}  // namespace

std::vector<Law> subject_laws() {
  return {make_law<CallCase>("subject.keeps_no_memory_between_calls",
                             "A call leaves no memory behind when it is answered.", {}, call_cases,
                             one_of_each_operation, check_keeps_no_memory)};
}

}  // namespace packcheck
