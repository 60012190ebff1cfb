// cli/sweep_state.h: how far each job of a sweep got, in small files of the report folder, so that
// --resume goes on where a killed sweep stopped. A sweep that found something is not resumed past it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace packcheck {

class SweepState {
 public:
  /// `key` names the sweep: law, variant, subject, shard and number of jobs.
  SweepState(const std::filesystem::path& folder, const std::string& key, bool resume);

  /// Runs of `all` that job `job` had done; 0 unless resuming, and where the state is damaged.
  [[nodiscard]] std::uint64_t runs_done(std::size_t job, std::uint64_t all) const;
  /// Whether one of the jobs left a state to go on from.
  [[nodiscard]] bool has_any(std::size_t jobs) const;
  /// Remembers it; forgets the job once it has found something.
  void save(std::size_t job, std::uint64_t runs, bool nothing_found) const;
  /// The sweep is complete: nothing to resume.
  void clear(std::size_t jobs) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(std::size_t job) const;
  std::filesystem::path stem_;
  bool resume_;
};

}  // namespace packcheck
