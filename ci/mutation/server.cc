// ci/mutation/server.cc: every unit test of the core and every law in one program, which runs them in forked copies of
// itself, each with one mutant. So that a mutant costs what its tests cost, not the start of a program for each.
//
//   mutation_server MUTANTS CORPUS
//
// Prints a line `task NAME` for each test and each variant of each law, `start NUMBER...` with the mutants that were
// evaluated until then, and `ready`. Then it answers lines. `measure T SECONDS` runs the task T with no
// mutant:
//   passed SECONDS NUMBER...     or failed: the mutants that it reaches; or stopped, where it takes more than the limit
// `run M SECONDS T:SECONDS...` chooses the mutant M behind the fork and runs the tasks in that order until one fails:
//   survived SECONDS
//   failed SECONDS T
//   stopped SECONDS T            by a signal, or out of time
// A mutant that is evaluated before `ready` needs a server of its own, started with PACKCHECK_MUTANT. Numbers are told
// where PACKCHECK_MUTANTS_SEEN names a file of so many bytes and two more.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "properties/corpus_store.h"
#include "properties/engines/engines.h"
#include "properties/law.h"
#include "subjects/reference/reference.h"

namespace packcheck_mutants {
extern unsigned chosen;
extern unsigned char* seen;
}  // namespace packcheck_mutants

namespace packcheck {
namespace {

constexpr rlim_t kMostMemory = rlim_t{4} << 30;  // address space of a copy
constexpr unsigned kWallFactor = 40;             // the machine may be busy with others
constexpr int kTaskFailed = 1;

struct Task {
  std::string name;
  std::function<bool()> passes;
};

/// What a copy tells the server, in memory that both have.
struct Shared {
  std::size_t task;
};

Shared* shared = nullptr;

Shared* shared_memory() {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<Shared*>(memory);
}

void add_unit_tests(std::vector<Task>& tasks) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const std::string name = std::string(suite.name()).append(".").append(suite.GetTestInfo(t)->name());
      tasks.push_back({"test " + name, [name] {
                         testing::GTEST_FLAG(filter) = name;
                         return RUN_ALL_TESTS() == 0;
                       }});
    }
  }
}

/// The quick profile of `packcheck verify`, a variant at a time.
void add_laws(std::vector<Task>& tasks, Subject& reference, const CorpusStore& corpus) {
  RunOptions options;
  options.effort = effort_of_profile("quick").value();
  options.most_findings = 1;
  options.subject_spec = "reference";
  for (const Law& law : all_laws())
    for (const std::string& variant : law.variants(reference.info())) {
      Law one = law;
      one.variants = [variant](const SubjectInfo&) { return std::vector<std::string>{variant}; };
      tasks.push_back({"law " + law.id + " " + variant, [one, options, &reference, &corpus] {
                         const LawResult result = run_law(one, reference, corpus, options);
                         return result.ruling != Ruling::broken && result.bad_test.empty();
                       }});
    }
}

/// Seconds of processor time, then as many times more by the clock, and no more.
void limit(double seconds) {
  itimerval time{};
  time.it_value.tv_sec = static_cast<time_t>(seconds);
  time.it_value.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(time.it_value.tv_sec)) * 1e6);
  ::setitimer(ITIMER_PROF, &time, nullptr);
  ::alarm(10 + kWallFactor * static_cast<unsigned>(seconds + 1));
}

double processor_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Ended {
  int status;
  double seconds;
};

/// Runs `body` in a copy, which ends with what it returns.
template <class F>
Ended in_copy(const F& body) {
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    const rlimit memory{kMostMemory, kMostMemory};
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_AS, &memory);
    ::setrlimit(RLIMIT_CORE, &none);
    if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr)
      std::abort();
    ::_exit(body());
  }
  Ended ended{};
  rusage usage{};
  ::wait4(pid, &ended.status, 0, &usage);
  ended.seconds = processor_seconds(usage);
  return ended;
}

void print_seen(std::size_t mutants) {
  for (std::size_t i = 1; packcheck_mutants::seen != nullptr && i <= mutants; ++i)
    if (packcheck_mutants::seen[i] != 0) std::printf(" %zu", i);
  std::printf("\n");
  std::fflush(stdout);
}

void measure(const std::vector<Task>& tasks, std::size_t which, double most_seconds, std::size_t mutants) {
  if (packcheck_mutants::seen != nullptr) std::memset(packcheck_mutants::seen, 0, mutants + 2);
  const Ended ended = in_copy([&] {
    limit(most_seconds);
    return tasks.at(which).passes() ? 0 : kTaskFailed;
  });
  const bool stopped = WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGPROF;
  std::printf("%s %.6f", ended.status == 0 ? "passed" : stopped ? "stopped" : "failed", ended.seconds);
  print_seen(mutants);
}

void run(const std::vector<Task>& tasks, std::istringstream& words) {
  unsigned mutant = 0;
  double most_seconds = 0;
  words >> mutant >> most_seconds;
  std::vector<std::pair<std::size_t, double>> order;
  char colon = 0;
  for (std::size_t task = 0; words >> task >> colon;) {
    double seconds = 0;
    words >> seconds;
    order.emplace_back(task, seconds);
  }
  const Ended ended = in_copy([&] {
    packcheck_mutants::seen = nullptr;
    packcheck_mutants::chosen = mutant;
    for (const auto& [task, seconds] : order) {
      rusage usage{};
      ::getrusage(RUSAGE_SELF, &usage);
      if (processor_seconds(usage) > most_seconds) return 0;
      shared->task = task;
      limit(seconds);
      if (!tasks.at(task).passes()) return kTaskFailed;
    }
    return 0;
  });
  if (ended.status == 0)
    std::printf("survived %.6f\n", ended.seconds);
  else
    std::printf("%s %.6f %zu\n",
                WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == kTaskFailed ? "failed" : "stopped",
                ended.seconds, shared->task);
  std::fflush(stdout);
}

int serve(std::size_t mutants, const char* corpus_folder) {
  shared = shared_memory();
  const CorpusStore corpus{std::filesystem::path(corpus_folder)};
  const std::unique_ptr<Subject> reference = make_reference();
  std::vector<Task> tasks;
  add_unit_tests(tasks);
  add_laws(tasks, *reference, corpus);
  for (const Task& task : tasks) std::printf("task %s\n", task.name.c_str());
  std::printf("start");
  print_seen(mutants);
  std::printf("ready\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what;
    std::size_t which = 0;
    double seconds = 0;
    words >> what;
    if (what == "run")
      run(tasks, words);
    else if (what == "measure" && words >> which >> seconds)
      measure(tasks, which, seconds, mutants);
    else
      return 2;
  }
  return 0;
}

}  // namespace
}  // namespace packcheck

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::GTEST_FLAG(fail_fast) = true;
  testing::GTEST_FLAG(brief) = true;
  if (argc != 3) {
    std::fprintf(stderr, "mutation_server: expected the number of mutants and the corpus\n");
    return 2;
  }
  return packcheck::serve(static_cast<std::size_t>(std::strtoull(argv[1], nullptr, 10)), argv[2]);
}
