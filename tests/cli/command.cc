#include "tests/cli/command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace packcheck::test {
namespace {

namespace fs = std::filesystem;

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  list.reserve(strings.size() + 1);
  for (std::string& text : strings) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// This process's environment with the command's folder first on PATH.
std::vector<std::string> environment() {
  std::vector<std::string> variables;
  const char* const path = std::getenv("PATH");
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::strncmp(*variable, "PATH=", 5) != 0) variables.emplace_back(*variable);
  variables.push_back("PATH=" + command_path().parent_path().string() + ":" + (path == nullptr ? "/usr/bin" : path));
  return variables;
}

int ended(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

Json Ran::json() const {
  Json parsed = Json::parse(out, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << "no JSON: " << out << "\nstandard error: " << err;
  return parsed;
}

Running::Running(const fs::path& folder, const std::vector<std::string>& program_and_arguments) {
  std::vector<std::string> words = program_and_arguments;
  std::vector<std::string> variables = environment();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const auto& [fd, name] : {std::pair{STDOUT_FILENO, "out"}, std::pair{STDERR_FILENO, "err"}})
    ::posix_spawn_file_actions_addopen(&actions, fd, (captured_.path() / name).c_str(), O_WRONLY | O_CREAT, 0600);
  const int failed =
      ::posix_spawn(&pid_, words.at(0).c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error(words.at(0) + ": " + std::strerror(failed));
}

Running::~Running() {
  if (pid_ > 0) (void)kill();
}

Ran Running::wait() {
  Ran ran;
  ran.status = ended(pid_);
  pid_ = -1;
  ran.out = text_of(captured_.path() / "out");
  ran.err = text_of(captured_.path() / "err");
  return ran;
}

Ran Running::kill() {
  ::kill(pid_, SIGKILL);
  return wait();
}

fs::path command_path() { return PACKCHECK_COMMAND; }

Ran packcheck(const fs::path& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{command_path().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Running(folder, words).wait();
}

Ran shell(const fs::path& folder, const std::string& line) { return Running(folder, {"/bin/sh", "-c", line}).wait(); }

bool has_subject(const std::string& name) {
  return fs::exists(command_path().parent_path() / "subjects" / (name + ".so"));
}

RenameWatch::RenameWatch(const fs::path& folder) : fd_(::inotify_init1(IN_CLOEXEC)) {
  if (fd_ < 0 || ::inotify_add_watch(fd_, folder.c_str(), IN_MOVED_TO) < 0)
    throw std::runtime_error("cannot watch " + folder.string() + ": " + std::strerror(errno));
}

RenameWatch::~RenameWatch() { ::close(fd_); }

std::string RenameWatch::wait() const {
  pollfd waiting{fd_, POLLIN, 0};
  alignas(inotify_event) std::array<char, 4096> buffer{};
  if (::poll(&waiting, 1, 60'000) != 1 || ::read(fd_, buffer.data(), buffer.size()) <= 0) {
    ADD_FAILURE() << "nothing was renamed";
    return {};
  }
  const char* const name = buffer.data() + offsetof(inotify_event, name);
  return name;
}

}  // namespace packcheck::test
