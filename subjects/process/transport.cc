#include "subjects/process/transport.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace packcheck {
namespace {

constexpr int kStartAttempts = 3;
/// What a child may use beyond the call limit while it starts.
constexpr std::uint64_t kStartMemory = std::uint64_t{1} << 30;
/// A batch is cut here: small enough for its replies to fit a frame, large enough to be worth it.
constexpr std::size_t kBatchRequests = 1024;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

std::size_t argument_bytes(const Request& request) {
  std::size_t size = 0;
  for (const std::string& argument : request.arguments) size += kLengthBytes + argument.size();
  return size;
}

/// How many of `requests`, at least one, go into the next exchange.
std::size_t batch_size(std::span<const Request> requests) {
  std::size_t bytes = argument_bytes(requests[0]);
  std::size_t count = 1;
  while (count < std::min(requests.size(), kBatchRequests) && bytes < kBatchBytes)
    bytes += argument_bytes(requests[count++]);
  return bytes < kBatchBytes ? count : std::max<std::size_t>(count - 1, 1);
}

Reply fault_reply(Outcome outcome, std::string message) { return {outcome, {}, std::move(message)}; }

}  // namespace

ProcessSubject::ProcessSubject(Main main, Speaker speaker, const CallLimits& limits, std::uint64_t start_milliseconds)
    : main_(std::move(main)), speaker_(speaker), limits_(limits), start_milliseconds_(start_milliseconds) {}

/// A new child's answer to hello.
Result<std::string> ProcessSubject::start() {
  mailbox_ = speaker_ == Speaker::worker ? std::make_unique<Mailbox>() : nullptr;
  Result<std::unique_ptr<Child>> child =
      Child::start([this](int input, int output) { main_(input, output, mailbox_.get()); });
  if (!child) return tl::unexpected(child.error());
  const CallLimits start_limits{start_milliseconds_, limits_.memory_bytes + kStartMemory};
  Exchange hello = (*child)->exchange(encode_hello_request(), start_limits);
  if (hello.fault)
    return refuse(std::string(outcome_name(*hello.fault)) + ": " + hello.text, "while it started",
                  "an answer to hello");
  (*child)->mark_ready();
  child_ = std::move(*child);
  return std::move(hello.text);
}

Result<void> ProcessSubject::open() {
  Result<std::string> hello = start();
  if (!hello) return tl::unexpected(hello.error());
  Result<SubjectInfo> info = decode_hello_reply(*hello);
  if (!info) return tl::unexpected(info.error());
  hello_ = std::move(*hello);
  info_ = std::move(*info);
  return {};
}

Result<void> ProcessSubject::start_again() {
  for (int attempt = 0; attempt < kStartAttempts && gave_up_because_.empty(); ++attempt) {
    const Result<std::string> hello = start();
    if (hello && *hello == hello_) return {};
    discard();
    if (attempt + 1 == kStartAttempts)
      gave_up_because_ =
          "cannot be started again: " + (hello ? "says another hello than before" : hello.error().text());
  }
  return refuse(gave_up_because_);
}

/// Makes sure that a child of this process lives.
std::optional<Exchange> ProcessSubject::without_child() {
  // After a fork, the child belongs to the other copy of this process.
  if (child_ != nullptr && !child_->is_own()) discard();
  if (child_ == nullptr)
    if (const Result<void> started = start_again(); !started) return Exchange{Outcome::crashed, started.error().what};
  return std::nullopt;
}

Exchange ProcessSubject::exchange(std::string_view payload, const CallLimits& limits) {
  if (std::optional<Exchange> dead = without_child()) return std::move(*dead);
  Exchange result = child_->exchange(payload, limits);
  if (result.fault) discard();
  return result;
}

/// The reply to a payload, which may lie in the mailbox.
Reply ProcessSubject::reply_of(const Exchange& answer) {
  if (answer.fault) return fault_reply(*answer.fault, answer.text);
  std::string_view payload = answer.text;
  if (mailbox_ != nullptr)
    if (const std::optional<std::size_t> size = mailbox_->noted(payload)) payload = {mailbox_->reply(), *size};
  Result<Reply> reply = decode_reply(payload, speaker_);
  if (!reply) {
    discard();
    return fault_reply(Outcome::broke_protocol, reply.error().text());
  }
  // The library may have damaged its worker; an adapter that reports an error is whole.
  if (is_fault(reply->outcome) && speaker_ == Speaker::worker) discard();
  return std::move(*reply);
}

Reply ProcessSubject::call(const Request& request) {
  const std::string payload = encode_request(request);
  if (payload.size() > kMaximumPayload) return fault_reply(Outcome::skipped, "the request is larger than a frame");
  return reply_of(exchange(payload, limits_));
}

Reply ProcessSubject::call_in_place(const RequestView& request) {
  const std::string_view word = operation_name(request.operation);
  const std::size_t size = kLengthBytes + word.size() + encoded_size(request.arguments);
  if (mailbox_ == nullptr || !mailbox_->takes(size)) return Subject::call_in_place(request);
  if (std::optional<Exchange> dead = without_child()) return reply_of(*dead);
  char* to = put_part(mailbox_->request(), word);
  for (const std::string_view argument : request.arguments) to = put_part(to, argument);
  return reply_of(exchange(Mailbox::note(size), limits_));
}

std::vector<Reply> ProcessSubject::call_batch(std::span<const Request> requests) {
  std::vector<Reply> replies;
  replies.reserve(requests.size());
  while (replies.size() < requests.size()) {
    const std::span<const Request> rest = requests.subspan(replies.size());
    const std::size_t count = knows_batches_ ? batch_size(rest) : 1;
    if (count == 1) {
      replies.push_back(call(rest[0]));
    } else {
      std::vector<Reply> some = exchange_batch(rest.first(count));
      std::move(some.begin(), some.end(), std::back_inserter(replies));
    }
  }
  return replies;
}

/// Replies to at least the first request.
std::vector<Reply> ProcessSubject::exchange_batch(std::span<const Request> requests) {
  const Exchange answer = exchange(encode_batch_request(requests), limits_);
  if (answer.fault) return one_by_one(requests, fault_reply(*answer.fault, answer.text));
  const Result<Parts> parts = decode_parts(answer.text);
  if (parts && (*parts)[0] == "skipped") {
    knows_batches_ = false;
    return {call(requests[0])};
  }
  Result<std::vector<Reply>> replies =
      parts ? decode_batch_reply(*parts, requests.size(), speaker_) : tl::unexpected(parts.error());
  if (!replies) {
    discard();
    return one_by_one(requests, fault_reply(Outcome::broke_protocol, replies.error().text()));
  }
  if (is_fault(replies->back().outcome) && speaker_ == Speaker::worker) discard();
  return std::move(*replies);
}

/// Replies up to the request that is to blame. When none is, the batch itself was answered wrongly,
/// unless it was only too slow.
std::vector<Reply> ProcessSubject::one_by_one(std::span<const Request> requests, const Reply& batch_fault) {
  std::vector<Reply> replies;
  for (const Request& request : requests) {
    replies.push_back(call(request));
    if (is_fault(replies.back().outcome)) return replies;
  }
  if (batch_fault.outcome != Outcome::hung)
    replies.back() = fault_reply(batch_fault.outcome, batch_fault.message + " (only in a batch of requests)");
  return replies;
}

}  // namespace packcheck
