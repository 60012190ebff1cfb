#include "subjects/process/native_subject.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "subjects/calls.h"
#include "subjects/process/worker.h"

namespace packcheck {
namespace {

/// A probe repeats one call many times and may take that much longer, within reason.
constexpr std::uint64_t kLongestProbeMilliseconds = 60000;

class NativeSubject : public ProcessSubject {
 public:
  NativeSubject(const std::string& path, const CallLimits& limits, const CallEnvironment& environment)
      : ProcessSubject(
            [path, limits, environment](int input, int output, const Mailbox* mailbox) {
              run_worker(path, limits, environment, input, output, mailbox);
            },
            Speaker::worker, limits, kStartMilliseconds) {}

  Result<std::uint64_t> bytes_kept_per_call(const Request& request, unsigned warmup, unsigned repeats) override {
    if (repeats == 0) return refuse("no repeats", info().name, "at least 1");
    CallLimits longer = limits();
    const std::uint64_t calls = std::uint64_t{warmup} + repeats;
    longer.timeout_milliseconds =
        std::max(longer.timeout_milliseconds, std::min(kLongestProbeMilliseconds, longer.timeout_milliseconds * calls));
    const Exchange answer = exchange(encode_kept_request(request, warmup, repeats), longer);
    if (answer.fault) return refuse(std::string(outcome_name(*answer.fault)) + ": " + answer.text);
    const Result<Reply> reply = decode_reply(answer.text, Speaker::worker);
    if (!reply) return tl::unexpected(reply.error());
    if (is_fault(reply->outcome)) discard();
    if (reply->outcome != Outcome::answered)
      return refuse(std::string(outcome_name(reply->outcome)) + ": " + reply->message);
    return string_to_u64s(reply->parts.at(0)).at(0);
  }
};

}  // namespace

Result<std::unique_ptr<Subject>> open_native_subject(const std::string& path, const CallLimits& limits,
                                                     const CallEnvironment& environment) {
  const std::string where = "lib:" + path;
  if (access(path.c_str(), R_OK) != 0) return refuse("no such file, or not readable", where, "a shared library");
  // Absolute, so that a later start finds the same file and dlopen() does not search for a bare name.
  std::error_code no_directory;
  const std::filesystem::path absolute = std::filesystem::absolute(path, no_directory);
  if (no_directory) return refuse("the working directory is gone", where, "an absolute path");
  auto subject = std::make_unique<NativeSubject>(absolute.string(), limits, environment);
  if (const Result<void> opened = subject->open(); !opened) return refuse(opened.error().text(), where);
  return subject;
}

}  // namespace packcheck
