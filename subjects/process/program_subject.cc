#include "subjects/process/program_subject.h"

#include <unistd.h>

#include <utility>

namespace packcheck {
namespace {

/// Only returns when /bin/sh is missing.
void run_program(const std::string& command, int input, int output) {
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  const std::string line = "exec " + command;
  execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<Subject>> open_program_subject(const std::string& command, const CallLimits& limits,
                                                      std::uint64_t start_milliseconds) {
  const std::string where = "exec:" + command;
  if (command.find_first_not_of(' ') == std::string::npos) return refuse("no command", where, "exec:COMMAND");
  auto subject = std::make_unique<ProcessSubject>(
      [command](int input, int output, const Mailbox*) { run_program(command, input, output); }, Speaker::program,
      limits, start_milliseconds);
  if (const Result<void> opened = subject->open(); !opened) return refuse(opened.error().text(), where);
  return subject;
}

}  // namespace packcheck
