#include "cli/isolated_law.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>

#include "properties/strict_json.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

constexpr int kOutOfMemory = 71;  // exit code of a child, as libFuzzer has it

std::string to_text(const Verdict& verdict) {
  json breaches = json::array();
  for (const Breach& b : verdict.breaches) breaches.push_back({b.place, b.input, b.expected, b.actual, b.why});
  return json{static_cast<int>(verdict.ruling), verdict.reason, verdict.checked, breaches}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

Verdict from_text(const std::string& text) {
  const json j = json::parse(text);
  Verdict verdict{static_cast<Ruling>(j.at(0).get<int>()), {}, j.at(1), j.at(2)};
  for (const json& b : j.at(3)) verdict.breaches.push_back({b.at(0), b.at(1), b.at(2), b.at(3), b.at(4)});
  return verdict;
}

[[noreturn]] void answer(int fd, const Law& law, Subject& subject, const Case& c, unsigned seconds) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::alarm(seconds);
  std::string text;
  try {
    text = to_text(law.check(subject, c));
  } catch (const std::bad_alloc&) {
    ::_exit(kOutOfMemory);
  }
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(fd, text.data() + at, text.size() - at);
    if (written <= 0) ::_exit(1);
    at += static_cast<std::size_t>(written);
  }
  ::_exit(0);
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

/// The breach of a child that gave no verdict.
Verdict fault(const Case& c, int status, unsigned seconds) {
  const bool signalled = WIFSIGNALED(status);
  Outcome outcome = Outcome::crashed;
  std::string actual = signalled ? "signal " + std::to_string(WTERMSIG(status))
                                 : "exit code " + std::to_string(signalled ? 0 : WEXITSTATUS(status));
  if (signalled && WTERMSIG(status) == SIGALRM) {
    outcome = Outcome::hung;
    actual = "nothing within " + std::to_string(seconds) + " s";
  } else if (!signalled && WEXITSTATUS(status) == kOutOfMemory) {
    outcome = Outcome::out_of_memory;
  }
  Verdict verdict{Ruling::broken, {}, {}, 1};
  std::string place = c.type->variant(c);
  place.append(" ").append(outcome_name(outcome));
  std::string input = c.type->to_json(c);
  if (input.size() > 1000) input = input.substr(0, 1000) + "…";
  verdict.breaches.push_back({place, std::move(input), "an answer or a refusal", actual, "The call did not return."});
  return verdict;
}

Verdict check_in_child(const Law& law, Subject& subject, const Case& c, unsigned seconds) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return skipped("no free pipe");
  std::fflush(nullptr);  // what is buffered must not be printed twice
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(pipe[0]);
    answer(pipe[1], law, subject, c, seconds);
  }
  ::close(pipe[1]);
  const std::string text = pid < 0 ? std::string() : read_all(pipe[0]);
  ::close(pipe[0]);
  if (pid < 0) return skipped("no free process");
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return from_text(text);
  return fault(c, status, seconds);
}

}  // namespace

Law isolated(const Law& law, unsigned seconds) {
  Law copy = law;
  copy.check = [law, seconds](Subject& subject, const Case& c) { return check_in_child(law, subject, c, seconds); };
  return copy;
}

}  // namespace packcheck
