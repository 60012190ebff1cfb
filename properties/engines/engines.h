// properties/engines/engines.h: the four engines and the order in which verify runs them.
//
// An engine makes cases for a hunt; it knows the law only as a row of the registry. The property
// engine alone includes RapidCheck.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/corpus_store.h"
#include "properties/engines/hunt.h"

namespace packcheck {

/// How much each engine does for one variant of a law. The random engines do an eighth of it, and 50
/// cases at least, where the sweep has visited every input there is. Designed inputs (CaseType::patterns)
/// are visited in every profile.
struct Effort {
  std::uint64_t sweep_inputs = 0;      ///< a domain up to this size, weighted, is visited whole, a larger one sampled
  std::uint64_t enumerated_cases = 0;  ///< where the case type has no domain
  int property_cases = 0;
  std::uint64_t fuzz_inputs = 0;
};
[[nodiscard]] Result<Effort> effort_of_profile(std::string_view profile);  ///< quick, gate, nightly

/// Judges every corpus case of the law's type and the hunt's variant.
void run_corpus(Hunt& hunt, const CorpusStore& corpus);

/// Part of a sweep: every `of`-th run of inputs, starting at `index`.
struct Shard {
  std::uint64_t index = 0;
  std::uint64_t of = 1;
};
/// Called now and then with inputs done and inputs in all.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;
/// Visits the domain of the variant: whole if `most_inputs` allows, else evenly spaced runs of it.
/// Starts at run `first_run` of the shard. Returns the inputs visited; nothing if there is no domain.
std::optional<std::uint64_t> run_sweep(Hunt& hunt, std::uint64_t most_inputs, Shard shard = {},
                                       std::uint64_t first_run = 0, const Progress& progress = {});
/// Visits the designed inputs of the variant, where its case type has any.
void run_patterns(Hunt& hunt);
/// Visits drawn cases in counting order, the simplest first, up to `most` of them.
void run_enumeration(Hunt& hunt, std::uint64_t most);

/// RapidCheck over drawn cases: `cases` random ones, each failure shrunk.
void run_property(Hunt& hunt, std::uint64_t seed, int cases);

/// Mutated byte strings, read as wire format where the case type has one, as choices elsewhere. This
/// is what the libFuzzer targets do, without coverage feedback and reproducible from the seed.
void run_fuzz(Hunt& hunt, std::uint64_t seed, std::uint64_t inputs, const CorpusStore& corpus);

/// Everything known of one law and one subject.
struct LawResult {
  std::string law;
  std::string subject;
  Ruling ruling = Ruling::skipped;
  std::string reason;  ///< of skipped and not_applicable
  std::vector<std::string> variants;
  std::array<Tally, kEngineCount> tallies{};
  std::vector<Finding> findings;
  std::vector<CaseClass> classes = {};  ///< what the property engine's cases were like
  std::string bad_test = {};            ///< why the law proves nothing here, whatever its ruling; empty if it does
};

struct RunOptions {
  Effort effort;
  std::uint64_t seed = 1;
  std::size_t most_findings = 100;
  std::array<bool, kEngineCount> engines{true, true, true, true};  ///< those that run, in the order of Engine
  RunningCase* running = nullptr;  ///< where every case is kept while it is judged; null for nowhere
  std::string subject_spec;        ///< how the subject was named, for that file
  /// Repeats the random engines with new seeds until then.
  std::optional<std::chrono::steady_clock::time_point> until;
};

/// Puts one law to one subject, with every engine and every variant.
[[nodiscard]] LawResult run_law(const Law& law, Subject& subject, const CorpusStore& corpus, const RunOptions& options);

}  // namespace packcheck
