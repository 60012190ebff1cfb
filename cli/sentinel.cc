// packcheck sentinel: compiles subjects/sentinel/sentinel.c with somebody's compiler and flags, and runs it.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "cli/commands.h"
#include "cli/sentinel_source.h"
#include "properties/corpus_store.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr unsigned kCompileSeconds = 120;
constexpr unsigned kRunSeconds = 20;

/// A folder that is gone when its owner is.
class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "packcheck_sentinel_XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Ran {
  int status = 0;  ///< as of waitpid
  std::string output;
};

/// Runs `sh -c command`, standard output and error in one; a SIGALRM ends it after `seconds`.
Result<Ran> run_shell(const std::string& command, unsigned seconds) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refuse(std::strerror(errno), "pipe", "a free file descriptor");
  const pid_t child = ::fork();
  if (child < 0) return refuse(std::strerror(errno), "fork", "a process to spare");
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::alarm(seconds);  // is kept across exec
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  Ran ran;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    ran.output.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  ::waitpid(child, &ran.status, 0);
  return ran;
}

std::string first_lines(const std::string& text) {
  std::size_t end = 0;
  for (int line = 0; line < 4 && end != std::string::npos; ++line) end = text.find('\n', end == 0 ? 0 : end + 1);
  return text.substr(0, end);
}

/// How a process ended where it should have exited by itself.
std::string end_of(int status) {
  if (WIFSIGNALED(status)) return std::string("killed by ") + ::strsignal(WTERMSIG(status));
  return "exit " + std::to_string(WEXITSTATUS(status));
}

/// "name<TAB>state<TAB>meaning" lines.
json checks_of(const std::string& output) {
  json checks = json::array();
  std::size_t at = 0;
  while (at < output.size()) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first == std::string::npos ? first : first + 1);
    if (second != std::string::npos)
      checks.push_back({{"check", line.substr(0, first)},
                        {"state", line.substr(first + 1, second - first - 1)},
                        {"meaning", line.substr(second + 1)}});
    at = end + 1;
  }
  return checks;
}

void print_checks(const json& checks, const std::string& compiler, bool broken) {
  for (const json& check : checks)
    std::printf("%-22s %-7s %s\n", check["check"].get<std::string>().c_str(), check["state"].get<std::string>().c_str(),
                check["meaning"].get<std::string>().c_str());
  std::printf("%s: %s\n", compiler.c_str(),
              broken ? "breaks numbers; see the lines above, and try without the flags they name or without "
                       "-march=native (gcc 12: -mno-avxvnni -mno-avx512vnni)"
                     : "keeps numbers in every check");
}

}  // namespace

int run_sentinel(const SentinelOptions& options) {
  if (options.compiler.find_first_not_of(" \t") == std::string::npos)
    return complain({"no compiler", "sentinel", "a compiler and its flags, as in 'gcc -O3 -march=native'"});
  const WorkFolder folder;
  if (folder.path().empty()) return complain({"no temporary folder", "sentinel", "a writable TMPDIR"});
  const fs::path source = folder.path() / "sentinel.c";
  const fs::path program = folder.path() / "sentinel";
  if (auto ok = write_file_atomically(source, kSentinelSource); !ok) return complain(ok.error());
  const std::string files = " '" + source.string() + "' -o '" + program.string() + "'";
  const Result<Ran> built = run_shell(options.compiler + files, kCompileSeconds);
  if (!built) return complain(built.error());
  if (built->status != 0)
    return complain({"'" + options.compiler + "' does not compile the sentinel (" + end_of(built->status) +
                         "): " + first_lines(built->output),
                     "sentinel", "a C or C++ compiler and its flags"});
  const Result<Ran> ran = run_shell("'" + program.string() + "'", kRunSeconds);
  if (!ran) return complain(ran.error());
  const json checks = checks_of(ran->output);
  const bool ended = WIFEXITED(ran->status) && WEXITSTATUS(ran->status) <= 1 && !checks.empty();
  if (!ended)
    return complain({"the compiled sentinel ended by " + end_of(ran->status), "sentinel",
                     "flags whose instructions this processor has"});
  const bool broken = WEXITSTATUS(ran->status) == 1;
  if (options.json)
    std::printf("%s\n", json{{"compiler", options.compiler}, {"good", !broken}, {"checks", checks}}
                            .dump(2, ' ', false, json::error_handler_t::replace)
                            .c_str());
  else
    print_checks(checks, options.compiler, broken);
  return broken ? kFindings : kHolds;
}

}  // namespace packcheck
