// subjects/process/child.h: one forked process that answers frames, watched while it works.
//
// Everything that can go wrong with the process is an Outcome with a message that is the same in
// every run (no process ids, no addresses), because messages become part of finding signatures.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "subjects/subject.h"

namespace packcheck {

/// What came of sending one payload.
struct Exchange {
  std::optional<Outcome> fault;  ///< crashed, hung, out_of_memory or broke_protocol; the child is then of no more use
  std::string text;              ///< the reply's payload, or the fault's message
};

class Child {
 public:
  /// What the forked process does with its two pipes; when it returns, the process ends.
  using Main = std::function<void(int input, int output)>;

  /// Forks. The child leads a process group of its own, has default signal handlers, no core dumps
  /// and no open files but standard ones and its pipes, and dies when this process does.
  static Result<std::unique_ptr<Child>> start(const Main& main);
  /// Kills the whole process group, unless another process started it (a copy made by fork).
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends one frame and waits for one. `limits.memory_bytes` is growth since mark_ready().
  Exchange exchange(std::string_view payload, const CallLimits& limits);
  /// From now on memory growth is counted from what the child has now.
  void mark_ready();
  /// Whether this very process started the child.
  [[nodiscard]] bool is_own() const;

 private:
  Child(pid_t pid, int to_child, int from_child);
  struct Pending;
  [[nodiscard]] std::optional<Exchange> memory_fault(const CallLimits& limits) const;
  [[nodiscard]] std::optional<Exchange> read_some(Pending& pending);
  void write_some(Pending& pending) const;
  [[nodiscard]] std::optional<Exchange> wait_for_events(Pending& pending, const CallLimits& limits);
  [[nodiscard]] Exchange died() const;
  [[nodiscard]] std::optional<std::string> ending() const;
  [[nodiscard]] std::uint64_t resident_bytes() const;

  pid_t pid_;
  pid_t owner_;
  int to_child_;
  int from_child_;
  int memory_file_;
  std::uint64_t resident_when_ready_ = 0;
  bool was_asked_ = false;
};

}  // namespace packcheck
