#include "cli/jobs.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

namespace packcheck {
namespace {

bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// A record on a job's pipe: which task, how long, the text.
struct Header {
  std::uint64_t task;
  std::uint64_t size;
};

[[noreturn]] void run_child(int fd, std::size_t first, std::size_t count, unsigned jobs, pid_t parent,
                            const std::function<std::string(std::size_t)>& task) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(3);
  for (std::size_t i = first; i < count; i += jobs) {
    const std::string text = task(i);
    const Header header{i, text.size()};
    if (!write_all(fd, reinterpret_cast<const char*>(&header), sizeof header) ||
        !write_all(fd, text.data(), text.size()))
      ::_exit(3);
  }
  ::_exit(0);
}

/// One job process as its parent sees it.
struct Job {
  int fd = -1;
  pid_t pid = -1;
  std::string buffer;
};

/// Takes complete records out of the buffer.
void take_records(Job& job, std::vector<std::string>& texts, std::vector<bool>& have,
                  const std::function<void(std::size_t)>& on_done) {
  Header header{};
  while (job.buffer.size() >= sizeof header) {
    std::memcpy(&header, job.buffer.data(), sizeof header);
    if (job.buffer.size() < sizeof header + header.size) return;
    texts[header.task] = job.buffer.substr(sizeof header, header.size);
    have[header.task] = true;
    job.buffer.erase(0, sizeof header + header.size);
    if (on_done) on_done(header.task);
  }
}

Result<std::vector<Job>> start(std::size_t count, unsigned jobs, const std::function<std::string(std::size_t)>& task) {
  std::vector<Job> running;
  const pid_t parent = ::getpid();
  std::fflush(nullptr);  // what is buffered must not be printed twice
  for (unsigned j = 0; j < jobs && j < count; ++j) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) return refuse(std::strerror(errno), "starting a job", "a free pipe");
    const pid_t pid = ::fork();
    if (pid < 0) return refuse(std::strerror(errno), "starting a job", "a free process");
    if (pid == 0) {
      ::close(pipe[0]);
      run_child(pipe[1], j, count, jobs, parent, task);
    }
    ::close(pipe[1]);
    running.push_back({pipe[0], pid, {}});
  }
  return running;
}

/// Reads from every job until all have closed their pipes.
void collect(std::vector<Job>& running, std::vector<std::string>& texts, std::vector<bool>& have,
             const std::function<void(std::size_t)>& on_done) {
  std::array<char, 65536> chunk{};
  for (std::size_t open = running.size(); open > 0;) {
    std::vector<pollfd> waiting;
    for (const Job& job : running) waiting.push_back({job.fd, POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    for (std::size_t j = 0; j < running.size(); ++j) {
      if (running[j].fd < 0 || waiting[j].revents == 0) continue;
      const ssize_t got = ::read(running[j].fd, chunk.data(), chunk.size());
      if (got > 0) {
        running[j].buffer.append(chunk.data(), static_cast<std::size_t>(got));
        take_records(running[j], texts, have, on_done);
      } else if (got == 0 || errno != EINTR) {
        ::close(running[j].fd);
        running[j].fd = -1;
        --open;
      }
    }
  }
  for (const Job& job : running) ::waitpid(job.pid, nullptr, 0);
}

}  // namespace

unsigned default_jobs() { return std::max(1U, std::thread::hardware_concurrency()); }

Result<std::vector<std::string>> run_jobs(std::size_t count, unsigned jobs,
                                          const std::function<std::string(std::size_t)>& task,
                                          const std::function<void(std::size_t)>& on_done) {
  std::vector<std::string> texts(count);
  if (jobs <= 1 || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) {
      texts[i] = task(i);
      if (on_done) on_done(i);
    }
    return texts;
  }
  Result<std::vector<Job>> running = start(count, jobs, task);
  if (!running) return tl::unexpected(running.error());
  std::vector<bool> have(count);
  collect(*running, texts, have, on_done);
  const auto missing = std::find(have.begin(), have.end(), false);
  if (missing == have.end()) return texts;
  return refuse("a job died at task " + std::to_string(missing - have.begin()), "packcheck", "a result from every job");
}

}  // namespace packcheck
