#include "cli/sweep_state.h"

#include <charconv>
#include <system_error>

#include "properties/corpus_store.h"

namespace packcheck {

SweepState::SweepState(const std::filesystem::path& folder, const std::string& key, bool resume)
    : stem_(folder / "sweep" / sha1_of(key)), resume_(resume) {}

std::filesystem::path SweepState::file_of(std::size_t job) const { return stem_.string() + "-" + std::to_string(job); }

std::uint64_t SweepState::runs_done(std::size_t job, std::uint64_t all) const {
  if (!resume_) return 0;
  const Result<std::string> text = read_file(file_of(job));
  if (!text) return 0;
  std::uint64_t runs = 0;
  const char* const last = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), last, runs);
  return error == std::errc{} && end == last && runs <= all ? runs : 0;
}

bool SweepState::has_any(std::size_t jobs) const {
  std::error_code ignored;
  for (std::size_t job = 0; job < jobs; ++job)
    if (std::filesystem::exists(file_of(job), ignored)) return true;
  return false;
}

void SweepState::save(std::size_t job, std::uint64_t runs, bool nothing_found) const {
  std::error_code ignored;
  if (!nothing_found)
    std::filesystem::remove(file_of(job), ignored);
  else
    (void)write_file_atomically(file_of(job), std::to_string(runs));  // a lost state only costs time
}

void SweepState::clear(std::size_t jobs) const {
  std::error_code ignored;
  for (std::size_t job = 0; job < jobs; ++job) std::filesystem::remove(file_of(job), ignored);
}

}  // namespace packcheck
