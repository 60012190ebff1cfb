// subjects/process/transport.h: what a library subject and a program subject have in common.
//
// A ProcessSubject keeps one child alive, starts another after every death or fault, and turns
// whatever happens into replies. It gives up, with the same message ever after, once three starts
// in a row have failed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subjects/process/child.h"
#include "subjects/process/mailbox.h"
#include "subjects/process/messages.h"
#include "subjects/subject.h"

namespace packcheck {

/// Time to start and say hello: interpreters need longer than any call.
inline constexpr std::uint64_t kStartMilliseconds = 10000;

class ProcessSubject : public Subject {
 public:
  /// What the forked process does. The mailbox is null for a program.
  using Main = std::function<void(int input, int output, const Mailbox* mailbox)>;

  /// `start_milliseconds` bounds loading and hello; `limits` bounds each call.
  ProcessSubject(Main main, Speaker speaker, const CallLimits& limits, std::uint64_t start_milliseconds);

  /// Starts the child for the first time and learns what the subject offers.
  Result<void> open();

  Reply call(const Request& request) override;
  Reply call_in_place(const RequestView& request) override;
  /// One exchange for many requests. A batch gets the limits of one call; when it fails, its requests
  /// are sent one by one, each with limits of its own, to find which one is to blame.
  std::vector<Reply> call_batch(std::span<const Request> requests) override;

 protected:
  /// Sends one payload to a living child. A fault ends that child.
  Exchange exchange(std::string_view payload, const CallLimits& limits);
  /// The next exchange starts a new child.
  void discard() { child_.reset(); }
  [[nodiscard]] const CallLimits& limits() const { return limits_; }

 private:
  Result<std::string> start();
  std::optional<Exchange> without_child();
  Reply reply_of(const Exchange& answer);
  Result<void> start_again();
  std::vector<Reply> exchange_batch(std::span<const Request> requests);
  std::vector<Reply> one_by_one(std::span<const Request> requests, const Reply& batch_fault);

  Main main_;
  Speaker speaker_;
  CallLimits limits_;
  std::uint64_t start_milliseconds_;
  std::unique_ptr<Mailbox> mailbox_;  ///< of the living child, a worker
  std::unique_ptr<Child> child_;
  std::string hello_;            ///< what the first child said; each later one must say the same
  std::string gave_up_because_;  ///< empty while there is hope
  bool knows_batches_ = true;
};

}  // namespace packcheck
