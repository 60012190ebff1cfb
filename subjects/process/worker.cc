#include "subjects/process/worker.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "subjects/calls.h"
#include "subjects/process/library.h"
#include "subjects/process/messages.h"
#include "subjects/process/native_calls.h"

#if defined(__SANITIZE_ADDRESS__)
#define PACKCHECK_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PACKCHECK_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(PACKCHECK_ADDRESS_SANITIZER)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace packcheck {
namespace {

constexpr std::string_view kKept = "kept";
/// Address space above the memory limit: mappings that are never touched are no memory.
constexpr std::uint64_t kAddressSpaceSlack = std::uint64_t{4} << 30;
/// Replies of a batch beyond this go into another exchange.
constexpr std::size_t kBatchReplyBytes = kMaximumPayload / 4;

std::uint64_t heap_bytes_in_use() {
#if defined(PACKCHECK_ADDRESS_SANITIZER)
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

std::uint64_t largest_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::uint64_t address_space_bytes() {
  unsigned long long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// The backstop behind the parent's watch: one allocation far past the limit fails.
void limit_address_space(const CallLimits& limits) {
  const std::uint64_t size = address_space_bytes() + limits.memory_bytes + kAddressSpaceSlack;
  const rlimit limit{size, size};
  setrlimit(RLIMIT_AS, &limit);
}

bool read_exactly(int file, char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t got = read(file, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_exactly(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// The copy of the parent's free heap is no room for the library, and the parent's peak not its own.
void forget_memory_of_parent() {
  malloc_trim(0);
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;  // an old peak then hides smaller ones; the parent still watches
  write_exactly(file, "5");
  close(file);
}

void silence_standard_files() {
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, file);
  if (nowhere > STDERR_FILENO) close(nowhere);
}

/// Exit handlers run last to first: those of the library, then this one, never the parent's.
void leave_at_once(int status, void*) { _exit(status); }

std::optional<std::string> read_payload(int file) {
  std::array<char, kLengthBytes> header{};
  if (!read_exactly(file, header.data(), header.size())) return std::nullopt;
  std::string payload(decode_length({header.data(), header.size()}), '\0');
  if (!read_exactly(file, payload.data(), payload.size())) return std::nullopt;
  return payload;
}

class Worker {
 public:
  Worker(const Library& library, const CallLimits& limits, const CallEnvironment& environment, const Mailbox* mailbox)
      : library_(library),
        calls_(library.table, environment),
        largest_allowed_(largest_resident_bytes() + limits.memory_bytes),
        mailbox_(mailbox) {}

  /// The answer to what came through the pipe, for the pipe.
  std::string answer_mail(std::string_view payload) {
    const std::optional<std::size_t> size = mailbox_ == nullptr ? std::nullopt : mailbox_->noted(payload);
    if (!size) return answer(payload);
    std::string reply = answer({mailbox_->request(), *size});
    if (!mailbox_->takes(reply.size())) return reply;
    std::memcpy(mailbox_->reply(), reply.data(), reply.size());
    return Mailbox::note(reply.size());
  }

 private:
  /// The answer to one payload.
  std::string answer(std::string_view payload) {
    Result<Parts> parts = decode_parts(payload);
    if (!parts) return encode_error_reply(parts.error());
    const std::string& word = (*parts)[0];
    if (word == "hello") return hello(*parts);
    if (word == "batch") return batch(*parts);
    if (word == kKept) return encode_reply(kept(*parts));
    return encode_reply(perform(std::move(*parts)));
  }

  std::string hello(const Parts& parts) const {
    if (parts.size() == 2 && parts[1] == kProtocolVersion) return encode_hello_reply(library_.info);
    return encode_error_reply({"another protocol version", "hello", "version " + std::string(kProtocolVersion)});
  }

  Reply perform(Parts parts) {
    const Result<Request> request = decode_request(std::move(parts));
    if (!request) return {Outcome::skipped, {}, request.error().text()};
    Reply reply = calls_.perform(*request);
    // The parent may look too seldom to see a peak.
    if (!is_fault(reply.outcome) && largest_resident_bytes() > largest_allowed_)
      return {Outcome::out_of_memory, {}, "grew past the memory limit"};
    return reply;
  }

  /// Stops at a fault, after which this process is not to be trusted, and before the reply gets too large.
  std::string batch(const Parts& parts) {
    std::vector<Reply> replies;
    std::size_t bytes = 0;
    for (std::size_t i = 1; i < parts.size() && bytes < kBatchReplyBytes; ++i) {
      Result<Parts> request = decode_parts(parts[i]);
      replies.push_back(request ? perform(std::move(*request)) : Reply{Outcome::skipped, {}, request.error().text()});
      if (is_fault(replies.back().outcome)) break;
      for (const std::string& part : replies.back().parts) bytes += part.size();
    }
    return encode_batch_reply(replies);
  }

  Reply kept(const Parts& parts) {
    const std::vector<std::uint64_t> counts = string_to_u64s(parts.at(1));
    const Parts request = decode_parts(parts.at(2)).value();
    std::uint64_t before = heap_bytes_in_use();
    for (std::uint64_t i = 0; i < counts[0] + counts[1]; ++i) {
      if (i == counts[0]) before = heap_bytes_in_use();
      if (Reply reply = perform(request); is_fault(reply.outcome) || reply.outcome == Outcome::skipped) return reply;
    }
    const std::uint64_t after = heap_bytes_in_use();
    return {Outcome::answered, {u64s_to_string(std::array{after > before ? (after - before) / counts[1] : 0})}, {}};
  }

  const Library& library_;
  NativeCalls calls_;
  std::uint64_t largest_allowed_;
  const Mailbox* mailbox_;
};

}  // namespace

std::string encode_kept_request(const Request& request, unsigned warmup, unsigned repeats) {
  return encode_parts(std::array{std::string(kKept),
                                 u64s_to_string(std::array{std::uint64_t{warmup}, std::uint64_t{repeats}}),
                                 encode_request(request)});
}

void run_worker(const std::string& path, const CallLimits& limits, const CallEnvironment& environment, int input,
                int output, const Mailbox* mailbox) {
  silence_standard_files();
  limit_address_space(limits);
  on_exit(leave_at_once, nullptr);
  const Result<Library> library = load_library(path);
  if (!library) {
    if (read_payload(input)) write_exactly(output, encode_frame(encode_error_reply(library.error())));
    return;
  }
  forget_memory_of_parent();
  Worker worker(*library, limits, environment, mailbox);
  while (const std::optional<std::string> payload = read_payload(input))
    if (!write_exactly(output, encode_frame(worker.answer_mail(*payload)))) return;
}

}  // namespace packcheck
