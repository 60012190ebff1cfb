// packcheck sweep: every input of a small domain, in shards, resumable.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/jobs.h"
#include "cli/open_subject.h"
#include "cli/results.h"
#include "cli/sweep_state.h"
#include "properties/cases/cases.h"
#include "properties/engines/engines.h"
#include "properties/near_name.h"
#include "properties/oracles/narrowing_oracle.h"
#include "properties/strict_json.h"
#include "subjects/hardware/f16c.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// Everything a sweep needs to know, checked.
struct Plan {
  const Law* law = nullptr;
  std::string variant;
  std::string subject;
  Shard shard;
  unsigned jobs = 1;
  CallLimits limits;
  std::uint64_t total = 0;
  std::uint64_t batch = 1;
  bool exhaustive = true;
  bool progress = true;
  bool in_process = false;
};

Result<std::unique_ptr<Subject>> open_planned(const Plan& plan) {
  return plan.in_process ? open_in_process(plan.subject) : open_subject(plan.subject, plan.limits);
}

Result<std::string> variant_of(const SweepOptions& o, const Law& law, const SubjectInfo& info) {
  const std::vector<std::string> variants = law.variants(info);
  const bool pair = !o.from.empty() || !o.to.empty();
  if (pair && (o.from.empty() || o.to.empty())) return refuse("half a pair", "sweep", "both --from and --to");
  if (pair && !o.variant.empty()) return refuse("--variant and --from", "sweep", "one of them");
  const std::string wanted = pair ? o.from + "->" + o.to : o.variant;
  if (variants.empty())
    return refuse(info.name + " offers no variant of this law", "sweep " + law.id, "a subject that does");
  if (wanted.empty() && variants.size() == 1) return variants[0];
  if (std::find(variants.begin(), variants.end(), wanted) != variants.end()) return wanted;
  return refuse(wanted.empty() ? "no variant is named" : "unknown variant '" + wanted + "'", "sweep " + law.id,
                "--from F --to F or --variant V: " + one_of(wanted, variants));
}

Result<Plan> plan_of(const SweepOptions& o) {
  Plan plan;
  const Result<const Law*> law = law_named(o.law);
  if (!law) return tl::unexpected(law.error());
  plan.law = *law;
  plan.subject = o.subject;
  const Result<ShardOption> shard = parse_shard(o.shard);
  if (!shard) return tl::unexpected(shard.error());
  plan.shard = {shard->index, shard->of};
  const Result<CallLimits> limits = parse_limits(o.call_timeout, o.call_memory);
  if (!limits) return tl::unexpected(limits.error());
  plan.limits = *limits;
  plan.in_process = o.in_process;
  const Result<std::unique_ptr<Subject>> subject = open_planned(plan);
  if (!subject) return tl::unexpected(subject.error());
  const Result<std::string> variant = variant_of(o, **law, (*subject)->info());
  if (!variant) return tl::unexpected(variant.error());
  plan.variant = *variant;
  const std::optional<Domain> domain = plan.law->case_type->domain(plan.variant);
  if (!domain)
    return refuse("no small domain of " + plan.variant, "sweep " + plan.law->id,
                  "a variant whose inputs have at most 32 bits; `packcheck verify` samples this one");
  plan.total = domain->total;
  plan.batch = domain->batch;
  plan.exhaustive = domain->exhaustive;
  const std::uint64_t runs = domain->total / domain->batch;
  plan.jobs = static_cast<unsigned>(std::min<std::uint64_t>(o.jobs == 0 ? default_jobs() : o.jobs, runs));
  return plan;
}

/// Counters that all job processes share.
struct Shared {
  std::atomic<std::uint64_t> done;
  std::atomic<std::uint64_t> witnessed;
  std::atomic<std::uint64_t> witness_disagreed;
};

/// A shared page; the counters outlive the jobs.
class SharedCounters {
 public:
  SharedCounters()
      : memory_(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~SharedCounters() {
    if (ok()) ::munmap(memory_, sizeof(Shared));
  }
  SharedCounters(const SharedCounters&) = delete;
  SharedCounters& operator=(const SharedCounters&) = delete;
  [[nodiscard]] bool ok() const { return memory_ != MAP_FAILED; }
  Shared* operator->() { return static_cast<Shared*>(memory_); }

 private:
  void* memory_;
};

/// Asks the processor's own converter about the oracle, over the same inputs.
void witness(SharedCounters& counters, std::uint64_t first, std::uint64_t count) {
  constexpr std::size_t kPart = 2048;  // the parts stay in the first cache
  std::array<std::uint32_t, kPart> in{};
  std::array<std::uint16_t, kPart> by_oracle{};
  std::array<std::uint16_t, kPart> by_processor{};
  for (std::uint64_t at = 0; at < count; at += kPart) {
    const std::size_t some = std::min<std::uint64_t>(kPart, count - at);
    for (std::size_t i = 0; i < some; ++i) in[i] = static_cast<std::uint32_t>(first + at + i);
    oracle::narrow_f32_to_f16(in.data(), by_oracle.data(), some);
    if (!oracle::f16c_narrow(in.data(), by_processor.data(), some)) return;
    counters->witnessed += some;
    if (by_oracle == by_processor) continue;
    for (std::size_t i = 0; i < some; ++i) counters->witness_disagreed += by_oracle[i] == by_processor[i] ? 0U : 1U;
  }
}

/// Prints how far the sweep is: in place on a terminal, else a line every tenth.
class ProgressLine {
 public:
  explicit ProgressLine(std::uint64_t total) : total_(total), start_(Clock::now()) {}
  void show(std::uint64_t done) {
    const std::uint64_t tenth = done * 10 / total_;
    if (!terminal_ && tenth == tenth_) return;
    tenth_ = tenth;
    const double seconds = std::max(std::chrono::duration<double>(Clock::now() - start_).count(), 0.001);
    const double rate = static_cast<double>(done) / seconds;
    std::fprintf(stderr, "%s%3.0f %%  %.1f M inputs/s  %.0f s left%s", terminal_ ? "\r\033[K" : "",
                 100.0 * static_cast<double>(done) / static_cast<double>(total_), rate / 1e6,
                 static_cast<double>(total_ - std::min(done, total_)) / rate, terminal_ ? "" : "\n");
  }

 private:
  std::uint64_t total_;
  Clock::time_point start_;
  std::uint64_t tenth_ = 0;
  bool terminal_ = ::isatty(STDERR_FILENO) != 0;
};

/// Inputs that a shard has in all.
std::uint64_t inputs_of(const Plan& plan) {
  const std::uint64_t runs = plan.total / plan.batch;
  return (runs / plan.shard.of + (plan.shard.index < runs % plan.shard.of ? 1 : 0)) * plan.batch;
}

/// Every case needs the same large arrays again: giving their pages back each time would cost more than the case.
void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 128 << 20);
}

/// One job's part of the sweep, as the JSON of a law result.
std::string sweep_part(const Plan& plan, std::size_t job, const SweepState& state, SharedCounters& counters) {
  keep_freed_memory();  // also that of a worker, which is a copy of this process
  const Result<std::unique_ptr<Subject>> subject = open_planned(plan);
  LawResult result{plan.law->id, plan.subject, Ruling::skipped, {}, {plan.variant}, {}, {}};
  if (!subject) {
    result.reason = subject.error().text();
    return law_result_to_json(result);
  }
  const Shard part{plan.shard.index + plan.shard.of * job, plan.shard.of * plan.jobs};
  // A subject that is the processor is compared with the oracle by the law itself.
  const bool to_f16 =
      plan.law->case_type == &conversion_cases && plan.variant == "f32->f16" && plan.subject != kF16cName;
  Hunt hunt(*plan.law, **subject, plan.variant);
  const std::uint64_t runs = plan.total / plan.batch;
  std::uint64_t run = state.runs_done(job, runs / part.of + (part.index < runs % part.of ? 1 : 0));
  counters->done += run * plan.batch;
  ProgressLine line(inputs_of(plan));
  Clock::time_point saved = Clock::now();
  (void)run_sweep(hunt, plan.total, part, run, [&](std::uint64_t done, std::uint64_t) {
    if (to_f16) witness(counters, ((done - 1) * part.of + part.index) * plan.batch, plan.batch);
    counters->done += plan.batch;
    run = done;
    if (Clock::now() - saved < std::chrono::seconds(1)) return;
    saved = Clock::now();
    state.save(job, run, hunt.findings().empty());
    if (job == 0 && plan.progress) line.show(counters->done);
  });
  state.save(job, run, hunt.findings().empty());
  result.ruling = hunt.findings().empty() ? Ruling::holds : Ruling::broken;
  if (hunt.was_skipped()) result.ruling = Ruling::skipped;
  result.reason = hunt.skip_reason();
  result.findings = hunt.findings();
  return law_result_to_json(result);
}

/// The parts' findings, each signature once.
Result<LawResult> merge(const std::vector<std::string>& texts) {
  LawResult merged;
  std::set<std::string> signatures;
  for (const std::string& text : texts) {
    Result<LawResult> part = law_result_from_json(text);
    if (!part) return part;
    for (Finding& f : part->findings)
      if (signatures.insert(f.signature()).second) merged.findings.push_back(std::move(f));
    merged.law = part->law;
    merged.subject = part->subject;
    if (!part->reason.empty()) merged.reason = part->reason;
  }
  merged.ruling = !merged.reason.empty() ? Ruling::skipped : merged.findings.empty() ? Ruling::holds : Ruling::broken;
  return merged;
}

/// What the sweep says at its end.
struct Summary {
  std::uint64_t visited;
  std::uint64_t witnessed;
  std::uint64_t witness_disagreed;
  double seconds;
};

void print_text(const Plan& plan, const LawResult& result, const Summary& s) {
  for (const Finding& f : result.findings)
    std::printf("%s breaks %s\n    input    %s\n    expected %s\n    actual   %s\n    %s\n", plan.subject.c_str(),
                f.signature().c_str(), f.breach.input.c_str(), f.breach.expected.c_str(), f.breach.actual.c_str(),
                reproduce_command(plan.subject, f).c_str());
  std::printf("%s, %s, %s: visited %llu of %llu %sinputs in %.1f s: %s%s\n", plan.law->id.c_str(), plan.subject.c_str(),
              plan.variant.c_str(), static_cast<unsigned long long>(s.visited),
              static_cast<unsigned long long>(inputs_of(plan)), plan.exhaustive ? "" : "designed ", s.seconds,
              std::string(ruling_name(result.ruling)).c_str(),
              result.reason.empty() ? "" : (": " + result.reason).c_str());
  if (s.witnessed > 0)
    std::printf("the oracle and this processor's F16C agree on %llu of %llu inputs (0 to 2^32-1 as swept)\n",
                static_cast<unsigned long long>(s.witnessed - s.witness_disagreed),
                static_cast<unsigned long long>(s.witnessed));
}

void print_json(const Plan& plan, const LawResult& result, const Summary& s) {
  json findings = json::array();
  for (const Finding& f : result.findings)
    findings.push_back({{"signature", f.signature()},
                        {"input", f.breach.input},
                        {"expected", f.breach.expected},
                        {"actual", f.breach.actual},
                        {"reproduce", reproduce_command(plan.subject, f)}});
  const json out{{"law", plan.law->id},           {"subject", plan.subject},
                 {"variant", plan.variant},       {"verdict", ruling_name(result.ruling)},
                 {"reason", result.reason},       {"inputs", inputs_of(plan)},
                 {"visited", s.visited},          {"exhaustive", plan.exhaustive},
                 {"f16c_witnessed", s.witnessed}, {"f16c_disagreed", s.witness_disagreed},
                 {"findings", findings}};
  std::printf("%s\n", out.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

}  // namespace

int run_sweep_command(const SweepOptions& options) {
  Result<Plan> plan = plan_of(options);
  if (!plan) return complain(plan.error());
  plan->progress = !options.json;
  SharedCounters counters;
  if (!counters.ok()) {
    std::fprintf(stderr, "packcheck: no memory for the counters\n");
    return kFailed;
  }
  const std::string key = plan->law->id + " " + plan->variant + " " + plan->subject + " " + options.shard + " " +
                          std::to_string(plan->jobs);
  const SweepState state(options.report, key, options.resume);
  if (options.resume && !state.has_any(plan->jobs))
    std::fprintf(stderr, "packcheck: no state of this sweep by %u jobs in %s: it starts at the beginning\n", plan->jobs,
                 options.report.c_str());
  const Clock::time_point start = Clock::now();
  const Result<std::vector<std::string>> texts =
      run_jobs(plan->jobs, plan->jobs, [&](std::size_t job) { return sweep_part(*plan, job, state, counters); });
  if (::isatty(STDERR_FILENO) != 0 && plan->progress) std::fprintf(stderr, "\r\033[K");
  const Result<LawResult> result = texts ? merge(*texts) : tl::unexpected(texts.error());
  if (!result) {
    std::fprintf(stderr, "packcheck: %s\n", result.error().text().c_str());
    return kFailed;
  }
  const Summary summary{counters->done, counters->witnessed, counters->witness_disagreed,
                        std::chrono::duration<double>(Clock::now() - start).count()};
  if (summary.visited == inputs_of(*plan)) state.clear(plan->jobs);
  if (options.json)
    print_json(*plan, *result, summary);
  else
    print_text(*plan, *result, summary);
  if (summary.witness_disagreed > 0) return kFailed;  // the oracle itself is wrong
  if (result->ruling == Ruling::skipped) return kBadInput;
  return result->ruling == Ruling::broken ? kFindings : kHolds;
}

}  // namespace packcheck
