// packcheck verify: every law put to every subject by every engine, spread over job processes.
#include "cli/verify.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/expected.h"
#include "cli/history.h"
#include "cli/jobs.h"
#include "cli/open_subject.h"
#include "cli/paths.h"
#include "cli/rapidcheck_parameters.h"
#include "cli/report.h"
#include "cli/report_merge.h"
#include "cli/twins.h"
#include "subjects/reference/version.h"

namespace packcheck {
namespace {

using Clock = std::chrono::steady_clock;

/// One law for one subject: what a job process does at a time.
struct Task {
  std::size_t subject;
  const Law* law;
};

/// Keeps the last subject open: neighbouring tasks are of the same one.
class OpenSubject {
 public:
  explicit OpenSubject(const CallLimits& limits) : limits_(limits) {}
  Result<Subject*> get(const std::string& spec) {
    if (subject_ == nullptr || spec_ != spec) {
      subject_.reset();
      Result<std::unique_ptr<Subject>> opened = open_subject(spec, limits_);
      if (!opened) return tl::unexpected(opened.error());
      subject_ = std::move(*opened);
      spec_ = spec;
    }
    return subject_.get();
  }

 private:
  CallLimits limits_;
  std::string spec_;
  std::unique_ptr<Subject> subject_;
};

/// The file of the case that this process is judging; made when it is first asked for, behind the fork.
class KeptCase {
 public:
  explicit KeptCase(std::filesystem::path folder) : folder_(std::move(folder)) {}
  RunningCase* file() {
    if (file_ == nullptr && !folder_.empty() && !tried_) {
      tried_ = true;
      Result<std::unique_ptr<RunningCase>> opened =
          RunningCase::open(folder_ / ("job-" + std::to_string(::getpid()) + ".json"));
      if (opened) file_ = std::move(*opened);
    }
    return file_.get();
  }
  /// Every job is done: nothing was lost.
  void remove_folder() {
    file_.reset();
    if (folder_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    std::filesystem::remove(folder_.parent_path(), ignored);  // only if it is empty
  }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<RunningCase> file_;
  bool tried_ = false;
};

Result<std::vector<const Law*>> laws_of(const std::vector<std::string>& globs) {
  std::vector<const Law*> laws;
  for (const std::string& glob : globs) {
    Result<std::vector<const Law*>> matching = laws_matching(glob);
    if (!matching) return tl::unexpected(Error{matching.error().what, "--law", matching.error().right});
    for (const Law* law : *matching)
      if (std::find(laws.begin(), laws.end(), law) == laws.end()) laws.push_back(law);
  }
  return laws;
}

/// Opens every subject once: names and versions, and whether it is there at all.
Result<std::vector<SubjectResult>> probe(const std::vector<std::string>& specs, const CallLimits& limits) {
  std::vector<SubjectResult> subjects;
  for (const std::string& spec : specs) {
    Result<std::unique_ptr<Subject>> opened = open_subject(spec, limits);
    if (opened) {
      subjects.push_back({spec, (*opened)->info().name, (*opened)->info().version, {}, false, {}, {}});
    } else if (is_third_party(spec)) {
      subjects.push_back({spec, spec, {}, opened.error().text(), false, {}, {}});
    } else {
      return tl::unexpected(Error{opened.error().text(), "subject " + spec, {}});
    }
  }
  return subjects;
}

std::vector<Task> tasks_of(const std::vector<SubjectResult>& subjects, const std::vector<const Law*>& laws,
                           const ShardOption& shard) {
  std::vector<Task> tasks;
  std::uint64_t number = 0;
  for (std::size_t s = 0; s < subjects.size(); ++s)
    for (const Law* law : laws)
      if (subjects[s].absent.empty() && number++ % shard.of == shard.index) tasks.push_back({s, law});
  return tasks;
}

/// A law result for a subject that could not be opened again in a job.
LawResult unopened(const Law& law, const std::string& name, const Error& error) {
  LawResult result{law.id, name, Ruling::skipped, error.text(), {}, {}, {}};
  return result;
}

/// Between the name of a profile and what RC_PARAMS changed in it.
constexpr std::string_view kWithParameters = " with ";

/// The line that repeats what this run did with one law of one subject.
std::string search_command(const VerifyPlan& plan, const Law& law, const RunOptions& options) {
  std::string line = "packcheck verify --subject " + shell_word(options.subject_spec);
  const std::size_t with = plan.profile.find(kWithParameters);
  if (with != std::string::npos)
    line.insert(0, "RC_PARAMS=" + plan.profile.substr(with + kWithParameters.size()) + " ");
  line.append(" --law ").append(law.id).append(" --profile ").append(plan.profile.substr(0, with));
  line.append(" --seed ").append(std::to_string(options.seed));
  return plan.corpus_option.empty() ? line : line.append(" --corpus ").append(shell_word(plan.corpus_option));
}

/// A run without a comparison and without a finding, though a subject was there: no law holds by that.
bool judged_nothing(const VerifyResult& result) {
  bool present = false;
  for (const SubjectResult& subject : result.subjects) {
    present = present || subject.absent.empty();
    for (const LawResult& law : subject.laws) {
      if (!law.findings.empty()) return false;
      for (const Tally& tally : law.tallies)
        if (tally.checked > 0) return false;
    }
  }
  return present;
}

}  // namespace

Result<VerifyResult> verify(const VerifyPlan& plan) {
  Result<std::vector<SubjectResult>> subjects = probe(plan.subjects, plan.limits);
  if (!subjects) return tl::unexpected(subjects.error());
  const std::vector<Task> tasks = tasks_of(*subjects, plan.laws, {plan.shard.index, plan.shard.of});
  const Clock::time_point start = Clock::now();
  const unsigned jobs = plan.jobs == 0 ? default_jobs() : plan.jobs;
  OpenSubject open(plan.limits);
  KeptCase kept(plan.running_folder);
  const auto run_task = [&](std::size_t i) {
    const Task& task = tasks[i];
    RunOptions options = plan.run;
    if (plan.time_milliseconds > 0) {
      // Each task may use its share of what is left to this job.
      const auto left = start + std::chrono::milliseconds(plan.time_milliseconds) - Clock::now();
      const auto to_do = static_cast<std::int64_t>((tasks.size() - i + jobs - 1) / jobs);
      options.until = Clock::now() + left / to_do;
    }
    options.subject_spec = (*subjects)[task.subject].spec;
    options.running = kept.file();
    const Result<Subject*> subject = open.get((*subjects)[task.subject].spec);
    if (!subject) return law_result_to_json(unopened(*task.law, (*subjects)[task.subject].name, subject.error()));
    LawResult result = run_law(*task.law, **subject, plan.corpus, options);
    mark_history(result, *task.law, options.subject_spec, plan.limits, search_command(plan, *task.law, options));
    return law_result_to_json(result);
  };
  std::size_t done = 0;
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const auto on_done = [&](std::size_t i) {
    ++done;
    if (terminal && plan.progress)
      std::fprintf(stderr, "\r\033[K%zu of %zu: %s, %s", done, tasks.size(), (*subjects)[tasks[i].subject].spec.c_str(),
                   tasks[i].law->id.c_str());
  };
  const Result<std::vector<std::string>> texts = run_jobs(tasks.size(), jobs, run_task, on_done);
  if (terminal && plan.progress) std::fprintf(stderr, "\r\033[K");
  if (!texts && !plan.running_folder.empty())
    return refuse(texts.error().what, "packcheck",
                  "`packcheck repro` with the case in " + plan.running_folder.string());
  if (!texts) return tl::unexpected(texts.error());
  kept.remove_folder();
  VerifyResult result{kVersion, plan.profile, plan.run.seed, false, std::move(*subjects)};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Result<LawResult> law = law_result_from_json((*texts)[i]);
    if (!law) return tl::unexpected(law.error());
    result.subjects[tasks[i].subject].laws.push_back(std::move(*law));
  }
  for (SubjectResult& subject : result.subjects) cap_findings(subject, plan.run.most_findings);
  return result;
}

void cap_findings(SubjectResult& subject, std::size_t most) {
  std::size_t room = most;
  std::size_t found = 0;
  for (const LawResult& law : subject.laws) found += law.findings.size();
  subject.cut_off = found >= most;
  for (LawResult& law : subject.laws) {
    if (law.findings.size() > room)
      law.findings.erase(law.findings.begin() + static_cast<std::ptrdiff_t>(room), law.findings.end());
    room -= law.findings.size();
  }
}

Result<CorpusStore> open_corpus(const std::string& option) {
  if (option == "none") return CorpusStore();
  const std::filesystem::path folder = option.empty() ? default_corpus() : std::filesystem::path(option);
  if (folder.empty()) return CorpusStore();
  CorpusStore corpus(folder);
  if (!corpus.problems().empty()) return tl::unexpected(corpus.problems().front());
  return corpus;
}

namespace {

/// Which engines run: all, or those that are named.
Result<std::array<bool, kEngineCount>> engines_of(const std::vector<std::string>& names) {
  std::array<bool, kEngineCount> engines{};
  if (names.empty()) engines.fill(true);
  for (const std::string& name : names) {
    const Result<Engine> engine = engine_named(name);
    if (!engine) return tl::unexpected(Error{engine.error().what, "--engine", engine.error().right});
    engines[static_cast<std::size_t>(*engine)] = true;
  }
  return engines;
}

/// Whether a folder is there and writable, or may be made: asked before the work whose report goes there.
bool can_be_written(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::path there = std::filesystem::absolute(folder, ignored);
  while (!std::filesystem::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
  return std::filesystem::is_directory(there, ignored) && ::access(there.c_str(), W_OK | X_OK) == 0;
}

/// Puts the profile's effort, and what RC_PARAMS changes, into the plan.
Result<void> set_effort(VerifyPlan& plan, const std::string& profile, std::uint64_t seed, bool seed_given) {
  const Result<Effort> effort = effort_of_profile(profile);
  if (!effort) return tl::unexpected(Error{effort.error().what, "--profile", effort.error().right});
  const Result<RapidCheckParameters> parameters = rapidcheck_parameters_of_environment();
  if (!parameters) return tl::unexpected(parameters.error());
  if (parameters->seed && seed_given && *parameters->seed != seed)
    return refuse("two seeds", "RC_PARAMS seed", "one of --seed and RC_PARAMS");
  plan.profile = profile;
  plan.run.effort = *effort;
  plan.run.seed = parameters->seed.value_or(seed);
  if (parameters->max_success) {
    plan.run.effort.property_cases = *parameters->max_success;
    plan.profile.append(kWithParameters).append("max_success=").append(std::to_string(*parameters->max_success));
  }
  return {};
}

}  // namespace

int run_verify(const VerifyOptions& options) {
  if (options.report.empty()) return complain({"no folder", "--report", "a folder to write the report into"});
  if (!can_be_written(options.report))
    return complain({"cannot be written", options.report, "a writable folder, or a place for one"});
  VerifyPlan plan;
  plan.subjects = expand_subjects(options.subjects);
  plan.jobs = options.jobs;
  plan.progress = !options.json;
  plan.run.most_findings = options.max_findings;
  plan.running_folder = std::filesystem::path(options.report) / "running" / std::to_string(::getpid());
  const Result<std::vector<const Law*>> laws = laws_of(options.laws);
  if (!laws) return complain(laws.error());
  plan.laws = *laws;
  if (auto ok = set_effort(plan, options.profile, options.seed, options.seed_given); !ok) return complain(ok.error());
  const Result<std::array<bool, kEngineCount>> engines = engines_of(options.engines);
  if (!engines) return complain(engines.error());
  plan.run.engines = *engines;
  const Result<CallLimits> limits = parse_limits(options.call_timeout, options.call_memory);
  if (!limits) return complain(limits.error());
  plan.limits = *limits;
  const Result<ShardOption> shard = parse_shard(options.shard);
  if (!shard) return complain(shard.error());
  plan.shard = {shard->index, shard->of};
  if (!options.time.empty()) {
    const Result<std::uint64_t> time = parse_duration(options.time);
    if (!time) return complain({time.error().what, "--time", time.error().right});
    plan.time_milliseconds = *time;
  }
  Result<CorpusStore> corpus = open_corpus(options.corpus);
  if (!corpus) return complain(corpus.error());
  plan.corpus = std::move(*corpus);
  plan.corpus_option = options.corpus;
  Result<VerifyResult> result = verify(plan);
  if (!result) return complain(result.error());
  if (!options.expected.empty())
    if (auto ok = compare_with_expected(*result, options.expected); !ok) return complain(ok.error());
  // What was found is told even where no report can be written.
  const Result<void> written = write_report(*result, options.report);
  std::fputs((options.json ? report_json(*result) : summary_text(*result)).c_str(), stdout);
  if (!written) return complain(written.error());
  if (shard->of > 1) {
    const std::string text = shard_results_text(*result, shard->index, shard->of, options.max_findings);
    if (auto ok = write_file_atomically(std::filesystem::path(options.report) / "results.json", text); !ok)
      return complain(ok.error());
  }
  if (!options.json)
    std::printf("Report: %s/report.html, .md, .json, .sarif, junit.xml, findings/\n", options.report.c_str());
  if (judged_nothing(*result) && shard->of == 1)
    return complain({"nothing was judged", "verify", "a subject that declares and answers what the chosen laws need"});
  return result->good() ? kHolds : kFindings;
}

int run_twins(const TwinsOptions& options) {
  TwinsPlan plan = plan_of_all_twins();
  VerifyPlan chosen;
  if (auto ok = set_effort(chosen, options.profile, options.seed, options.seed_given); !ok) return complain(ok.error());
  plan.run = chosen.run;
  plan.profile = chosen.profile;
  plan.jobs = options.jobs;
  plan.progress = !options.json;
  const Result<TwinTable> table = judge_twins(plan);
  if (!table) return complain(table.error());
  std::fputs((options.json ? twins_json(*table) : twins_text(*table)).c_str(), stdout);
  return table->score() < 1.0 ? kFindings : kHolds;
}

}  // namespace packcheck
