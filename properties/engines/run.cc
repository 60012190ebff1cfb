#include <algorithm>
#include <array>

#include "properties/engines/engines.h"
#include "properties/near_name.h"

namespace packcheck {
namespace {

struct Profile {
  std::string_view name;
  Effort effort;
};
constexpr std::uint64_t k2To16 = 65536;
constexpr std::array<Profile, 3> kProfiles{{
    {"quick", {.sweep_inputs = k2To16, .enumerated_cases = 256, .property_cases = 400, .fuzz_inputs = 400}},
    {"gate", {.sweep_inputs = 4 * k2To16, .enumerated_cases = 2048, .property_cases = 2000, .fuzz_inputs = 2000}},
    {"nightly",
     {.sweep_inputs = k2To16 * k2To16, .enumerated_cases = k2To16, .property_cases = 50000, .fuzz_inputs = 50000}},
}};

void add(Tally& sum, const Tally& tally) {
  if (sum.broken == 0 && tally.broken > 0) sum.first_broken = sum.cases + tally.first_broken;
  sum.cases += tally.cases;
  sum.checked += tally.checked;
  sum.not_applicable += tally.not_applicable;
  sum.broken += tally.broken;
  sum.digest ^= tally.digest;
}

void add(std::vector<CaseClass>& sum, const std::vector<CaseClass>& classes) {
  for (const CaseClass& c : classes) {
    auto same = std::find_if(sum.begin(), sum.end(), [&c](const CaseClass& s) { return s.name == c.name; });
    if (same == sum.end()) same = sum.insert(same, {c.name, 0, 0});
    same->drawn += c.drawn;
    same->occurred += c.occurred;
  }
}

/// A class of cases that is missing among so many says that the generator does not go there.
std::string what_never_occurred(const std::vector<CaseClass>& classes) {
  constexpr std::uint64_t kEnough = 400;
  std::string missing;
  for (const CaseClass& c : classes) {
    if (c.drawn < kEnough || c.occurred > 0) continue;
    missing.append(missing.empty() ? "" : "; ");
    missing.append("none of ").append(std::to_string(c.drawn)).append(" drawn cases has ").append(c.name);
  }
  return missing;
}

/// Where the sweep visited every input, random numbers cannot show a new one: only how they lie together.
Effort after_whole_sweep(Effort effort) {
  effort.property_cases = std::max(effort.property_cases / 8, std::min(effort.property_cases, 50));
  effort.fuzz_inputs = std::max<std::uint64_t>(effort.fuzz_inputs / 8, std::min<std::uint64_t>(effort.fuzz_inputs, 50));
  return effort;
}

/// Where many variants come from one rule, each finds what the others would.
Effort shared(Effort effort, std::uint64_t sharers) {
  if (sharers <= 1) return effort;
  effort.sweep_inputs = std::max<std::uint64_t>(effort.sweep_inputs / sharers, 1);
  effort.enumerated_cases = std::max<std::uint64_t>(effort.enumerated_cases / sharers, 1);
  effort.property_cases = std::max(effort.property_cases / static_cast<int>(sharers), 1);
  effort.fuzz_inputs = std::max<std::uint64_t>(effort.fuzz_inputs / sharers, 1);
  return effort;
}

/// The sweep engine's part. Returns whether it visited every input there is.
bool sweep(Hunt& hunt, const Effort& effort) {
  const std::optional<Domain> domain = hunt.law().case_type->domain(hunt.variant());
  if (!domain) {
    run_enumeration(hunt, effort.enumerated_cases);
    return false;
  }
  const std::optional<std::uint64_t> swept = run_sweep(hunt, effort.sweep_inputs / domain->weight);
  const bool whole = swept && *swept >= domain->total;
  if (!whole) run_patterns(hunt);
  return whole && domain->exhaustive;
}

void search(Hunt& hunt, const CorpusStore& corpus, const RunOptions& options) {
  const auto runs = [&options](Engine engine) { return options.engines[static_cast<std::size_t>(engine)]; };
  if (runs(Engine::corpus)) run_corpus(hunt, corpus);
  Effort effort = shared(options.effort, hunt.law().case_type->sharers(hunt.variant()));
  if (runs(Engine::sweep) && sweep(hunt, effort)) effort = after_whole_sweep(effort);
  if (runs(Engine::property)) run_property(hunt, options.seed, effort.property_cases);
  if (runs(Engine::fuzz)) run_fuzz(hunt, options.seed, effort.fuzz_inputs, corpus);
  std::uint64_t seed = options.seed;
  const bool random = runs(Engine::property) || runs(Engine::fuzz);
  hunt.freeze_digest();
  while (random && options.until && std::chrono::steady_clock::now() < *options.until && !hunt.finished()) {
    ++seed;
    if (runs(Engine::property)) run_property(hunt, seed, 1000);
    if (runs(Engine::fuzz)) run_fuzz(hunt, seed, 1000, corpus);
  }
}

}  // namespace

Result<Effort> effort_of_profile(std::string_view profile) {
  for (const Profile& row : kProfiles)
    if (row.name == profile) return row.effort;
  const std::string meant = near_name(profile, {"quick", "gate", "nightly"});
  return refuse("unknown profile '" + std::string(profile) + "'", {},
                (meant.empty() ? meant : "'" + meant + "'? ") + "quick, gate or nightly");
}

void run_corpus(Hunt& hunt, const CorpusStore& corpus) {
  for (const Case& c : corpus.cases_for(hunt.law(), hunt.variant())) {
    if (hunt.finished()) return;
    hunt.judge(Engine::corpus, 0, c);
  }
}

LawResult run_law(const Law& law, Subject& subject, const CorpusStore& corpus, const RunOptions& options) {
  LawResult result{law.id, subject.info().name, Ruling::skipped, {}, law.variants(subject.info()), {}, {}};
  result.reason = "the subject declares no variant of what this law needs";
  std::uint64_t checked = 0;
  bool any_answered = false;
  for (const std::string& variant : result.variants) {
    const std::size_t room = options.most_findings - std::min(options.most_findings, result.findings.size());
    if (room == 0) break;
    Hunt hunt(law, subject, variant, std::min<std::size_t>(room, 16));
    if (options.running != nullptr) hunt.keep_running_case(*options.running, options.subject_spec);
    search(hunt, corpus, options);
    for (std::size_t i = 0; i < kEngineCount; ++i) {
      add(result.tallies[i], hunt.tally(static_cast<Engine>(i)));
      checked += hunt.tally(static_cast<Engine>(i)).checked;
    }
    add(result.classes, hunt.classes());
    result.findings.insert(result.findings.end(), hunt.findings().begin(), hunt.findings().end());
    if (hunt.was_skipped())
      result.reason = hunt.skip_reason();
    else
      any_answered = true;
  }
  if (options.running != nullptr) options.running->clear();
  if (!any_answered) return result;
  result.bad_test = what_never_occurred(result.classes);
  result.reason.clear();
  result.ruling = checked > 0 ? Ruling::holds : Ruling::not_applicable;
  if (!result.findings.empty()) result.ruling = Ruling::broken;
  if (result.ruling == Ruling::not_applicable) result.reason = "no case was one the law speaks about";
  return result;
}

}  // namespace packcheck
