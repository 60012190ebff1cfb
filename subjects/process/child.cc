#include "subjects/process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>

#include "subjects/process/frames.h"

namespace packcheck {
namespace {

using Clock = std::chrono::steady_clock;
/// How often a working child's memory and life are looked at.
constexpr int kLookEveryMilliseconds = 5;
/// How long a child that closed its output may take to end.
constexpr int kGraceMilliseconds = 1000;
constexpr std::uint64_t kLongestTimeout = std::uint64_t{24} * 3600 * 1000;
constexpr int kPipeBytes = 1 << 20;
constexpr std::size_t kReadBytes = std::size_t{1} << 16;
constexpr int kChildInput = 3;
constexpr int kChildOutput = 4;
constexpr int kCannotRun = 127;

/// While alive, writing to a dead child gives EPIPE and nothing else.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigset_t pipe_signal = only_sigpipe();
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before_);
  }
  ~SigpipeBlocked() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const sigset_t pipe_signal = only_sigpipe();
      const timespec no_wait{0, 0};
      while (sigtimedwait(&pipe_signal, nullptr, &no_wait) == -1 && errno == EINTR) continue;
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

 private:
  static sigset_t only_sigpipe() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
  }
  sigset_t before_{};
};

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(number);
}

void use_default_signals() {
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Leaves `input` and `output` as 3 and 4 and nothing behind them: a copy of another child's pipe
/// would keep that child from seeing its end.
void keep_only(int input, int output) {
  const int in = fcntl(input, F_DUPFD, kChildOutput + 1);
  const int out = fcntl(output, F_DUPFD, kChildOutput + 1);
  if (in < 0 || out < 0 || dup2(in, kChildInput) < 0 || dup2(out, kChildOutput) < 0) _exit(kCannotRun);
  close_range(kChildOutput + 1, ~0U, 0);
}

/// noexcept: an exception of the subject must end the child, not wander up the parent's stack.
[[noreturn]] void run_child(int input, int output, pid_t parent, const Child::Main& main) noexcept {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotRun);
  use_default_signals();
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  keep_only(input, output);
  main(kChildInput, kChildOutput);
  _exit(0);
}

void close_both(const std::array<int, 2>& ends) {
  close(ends[0]);
  close(ends[1]);
}

Error system_error(const std::string& what) { return Error{what + ": " + std::strerror(errno), {}, {}}; }

}  // namespace

/// An exchange under way.
struct Child::Pending {
  std::string_view unsent;
  std::string received;
  std::size_t wanted = kLengthBytes;  ///< bytes of the header, then also of the payload
  Clock::time_point deadline;

  [[nodiscard]] bool complete() const { return wanted > kLengthBytes && received.size() == wanted; }
};

Result<std::unique_ptr<Child>> Child::start(const Main& main) {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  if (pipe2(down.data(), O_CLOEXEC) != 0) return tl::unexpected(system_error("no pipe"));
  if (pipe2(up.data(), O_CLOEXEC) != 0) {
    close_both(down);
    return tl::unexpected(system_error("no pipe"));
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) run_child(down[0], up[1], parent, main);
  if (pid < 0) {
    const Error error = system_error("no process");
    close_both(down);
    close_both(up);
    return tl::unexpected(error);
  }
  setpgid(pid, pid);  // also here, so that the group exists whoever runs first
  close(down[0]);
  close(up[1]);
  for (const int end : {down[1], up[0]}) fcntl(end, F_SETPIPE_SZ, kPipeBytes);  // where that is refused, slower
  fcntl(down[1], F_SETFL, O_NONBLOCK);
  fcntl(up[0], F_SETFL, O_NONBLOCK);
  return std::unique_ptr<Child>(new Child(pid, down[1], up[0]));
}

Child::Child(pid_t pid, int to_child, int from_child)
    : pid_(pid),
      owner_(getpid()),
      to_child_(to_child),
      from_child_(from_child),
      memory_file_(open(("/proc/" + std::to_string(pid) + "/statm").c_str(), O_RDONLY | O_CLOEXEC)) {
  mark_ready();
}

Child::~Child() {
  close(to_child_);
  close(from_child_);
  if (memory_file_ >= 0) close(memory_file_);
  if (!is_own()) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) == -1 && errno == EINTR) continue;
}

bool Child::is_own() const { return owner_ == getpid(); }

void Child::mark_ready() { resident_when_ready_ = resident_bytes(); }

std::uint64_t Child::resident_bytes() const {
  std::array<char, 128> text{};
  const ssize_t size = memory_file_ < 0 ? -1 : pread(memory_file_, text.data(), text.size(), 0);
  if (size <= 0) return 0;
  const char* const end = text.data() + size;
  const char* const second = std::find<const char*>(text.data(), end, ' ');
  std::uint64_t pages = 0;
  if (second != end) std::from_chars(second + 1, end, pages);
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// How the process ended; nothing while it lives. Leaves it to be reaped, so that its process group
/// stays ours until it is killed.
std::optional<std::string> Child::ending() const {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
    return std::nullopt;
  if (info.si_code == CLD_EXITED) return "exit status " + std::to_string(info.si_status);
  return signal_name(info.si_status);
}

Exchange Child::died() const {
  for (int waited = 0; waited < kGraceMilliseconds; ++waited) {
    if (const auto how = ending()) return {Outcome::crashed, *how};
    poll(nullptr, 0, 1);
  }
  return {Outcome::broke_protocol, "closed its output without an answer"};
}

std::optional<Exchange> Child::memory_fault(const CallLimits& limits) const {
  const std::uint64_t resident = resident_bytes();
  if (resident > resident_when_ready_ && resident - resident_when_ready_ > limits.memory_bytes)
    return Exchange{Outcome::out_of_memory, "grew past the memory limit"};
  return std::nullopt;
}

void Child::write_some(Pending& pending) const {
  const ssize_t size = write(to_child_, pending.unsent.data(), pending.unsent.size());
  if (size >= 0) {
    pending.unsent.remove_prefix(static_cast<std::size_t>(size));
  } else if (errno != EAGAIN && errno != EINTR) {
    pending.unsent = {};  // it will not read this; what it says or how it ended comes from the other pipe
  }
}

/// Reads no byte past the frame, so that what follows it is noticed before the next exchange.
std::optional<Exchange> Child::read_some(Pending& pending) {
  std::array<char, kReadBytes> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): large
  const std::size_t left = std::min(pending.wanted - pending.received.size(), buffer.size());
  const ssize_t size = read(from_child_, buffer.data(), left);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (size <= 0) {
    Exchange end = died();
    if (!pending.received.empty() && end.fault == Outcome::broke_protocol)
      end.text = "closed its output within a frame";
    return end;
  }
  pending.received.append(buffer.data(), static_cast<std::size_t>(size));
  if (pending.wanted == kLengthBytes && pending.received.size() == kLengthBytes) {
    const Result<std::size_t> length = decode_frame_length(pending.received);
    if (!length) return Exchange{Outcome::broke_protocol, length.error().text()};
    if (*length == 0) return Exchange{Outcome::broke_protocol, "sent an empty frame"};
    pending.wanted += *length;
  }
  return std::nullopt;
}

std::optional<Exchange> Child::wait_for_events(Pending& pending, const CallLimits& limits) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(pending.deadline - Clock::now()).count();
  std::array<pollfd, 2> files{{{from_child_, POLLIN, 0}, {to_child_, POLLOUT, 0}}};
  const nfds_t count = pending.unsent.empty() ? 1 : 2;
  const int wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, kLookEveryMilliseconds));
  const int ready = poll(files.data(), count, wait);
  if (ready < 0) return errno == EINTR ? std::nullopt : std::optional(Exchange{Outcome::crashed, "poll failed"});
  if (ready == 0) {
    // Nothing left to read: a process that is gone will not answer, whoever still holds its pipe.
    if (const auto how = ending()) return Exchange{Outcome::crashed, *how};
    if (left <= 0) return Exchange{Outcome::hung, "no answer within the call limit"};
    return memory_fault(limits);
  }
  if (files[0].revents != 0) return read_some(pending);
  write_some(pending);
  return std::nullopt;
}

Exchange Child::exchange(std::string_view payload, const CallLimits& limits) {
  const SigpipeBlocked blocked;
  pollfd early{from_child_, POLLIN, 0};
  // Before hello it may be starting, and what it says then is read as the answer to hello.
  if (was_asked_ && poll(&early, 1, 0) > 0) {
    if ((early.revents & POLLIN) == 0) return died();
    return {Outcome::broke_protocol, "sent bytes that nobody asked for"};
  }
  was_asked_ = true;
  const std::string frame = encode_frame(payload);
  Pending pending;
  pending.unsent = frame;
  pending.deadline = Clock::now() + std::chrono::milliseconds(std::min(limits.timeout_milliseconds, kLongestTimeout));
  while (!pending.complete())
    if (std::optional<Exchange> fault = wait_for_events(pending, limits)) return std::move(*fault);
  if (std::optional<Exchange> fault = memory_fault(limits)) return std::move(*fault);
  pending.received.erase(0, kLengthBytes);
  return {std::nullopt, std::move(pending.received)};
}

}  // namespace packcheck
