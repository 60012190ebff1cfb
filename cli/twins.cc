// packcheck twins: the mutation score of the laws.
#include "cli/twins.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/jobs.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Of this process and the children it has waited for.
double processor_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    sum += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return sum;
}

Catch caught_by(Engine engine, const Law& law, Subject& subject, RunOptions options) {
  const auto index = static_cast<std::size_t>(engine);
  Catch result;
  if (!options.engines[index]) return result;
  options.most_findings = 1;
  options.engines.fill(false);
  options.engines[index] = true;
  const LawResult found = run_law(law, subject, CorpusStore(), options);
  const Tally& tally = found.tallies[index];
  result.caught = found.ruling == Ruling::broken;
  result.cases = result.caught ? tally.first_broken : tally.cases;
  if (found.findings.empty()) return result;
  result.place = found.findings[0].breach.place;
  result.case_json = found.findings[0].case_json;
  if (const Result<Case> c = law.case_type->from_json(result.case_json))
    result.payload_bytes = law.case_type->payload_bytes(*c);
  return result;
}

std::string judge_twin(const TwinsPlan& plan, const Twin& twin) {
  const auto law = std::find_if(plan.laws.begin(), plan.laws.end(), [&](const Law* l) { return l->id == twin.law; });
  const std::unique_ptr<Subject> subject = make_twin(twin.name);
  json catches = json::array();
  for (std::size_t i = 0; i < kEngineCount; ++i) {
    const Catch c = law == plan.laws.end() || subject == nullptr
                        ? Catch{}
                        : caught_by(static_cast<Engine>(i), **law, *subject, plan.run);
    catches.push_back({c.caught, c.cases, c.payload_bytes, c.case_json, c.place});
  }
  return catches.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::size_t TwinRow::engines() const {
  return static_cast<std::size_t>(
      std::count_if(catches.begin(), catches.end(), [](const Catch& c) { return c.caught; }));
}

const Catch* TwinRow::smallest() const {
  const Catch* best = nullptr;
  for (const Catch& c : catches)
    if (c.caught && (best == nullptr || c.payload_bytes < best->payload_bytes)) best = &c;
  return best;
}

double TwinTable::score() const {
  const auto caught = std::count_if(rows.begin(), rows.end(), [](const TwinRow& row) { return row.engines() > 0; });
  return rows.empty() ? 0.0 : static_cast<double>(caught) / static_cast<double>(rows.size());
}

std::uint64_t TwinTable::median_payload_bytes() const {
  std::vector<std::uint64_t> sizes;
  for (const TwinRow& row : rows)
    if (const Catch* smallest = row.smallest()) sizes.push_back(smallest->payload_bytes);
  std::sort(sizes.begin(), sizes.end());
  return sizes.empty() ? 0 : sizes[sizes.size() / 2];
}

TwinsPlan plan_of_all_twins() {
  TwinsPlan plan;
  for (const Twin& twin : all_twins()) plan.twins.push_back(&twin);
  for (const Law& law : all_laws()) plan.laws.push_back(&law);
  return plan;
}

Result<TwinTable> judge_twins(const TwinsPlan& plan) {
  const double before = processor_seconds();
  const bool terminal = plan.progress && ::isatty(STDERR_FILENO) != 0;
  std::size_t done = 0;
  const auto on_done = [&](std::size_t i) {
    ++done;
    if (terminal)
      std::fprintf(stderr, "\r\033[K%zu of %zu: %s", done, plan.twins.size(), std::string(plan.twins[i]->name).c_str());
  };
  const auto task = [&](std::size_t i) { return judge_twin(plan, *plan.twins[i]); };
  const Result<std::vector<std::string>> texts =
      run_jobs(plan.twins.size(), plan.jobs == 0 ? default_jobs() : plan.jobs, task, on_done);
  if (terminal) std::fprintf(stderr, "\r\033[K");
  if (!texts) return tl::unexpected(texts.error());
  TwinTable table{plan.profile, plan.run.seed, 0, {}};
  for (std::size_t i = 0; i < texts->size(); ++i) {
    TwinRow row{plan.twins[i], {}};
    const json catches = json::parse((*texts)[i]);
    for (std::size_t e = 0; e < kEngineCount; ++e) {
      const json& c = catches.at(e);
      row.catches[e] = {c.at(0), c.at(1), c.at(2), c.at(3), c.at(4)};
    }
    table.rows.push_back(std::move(row));
  }
  table.processor_seconds = processor_seconds() - before;
  return table;
}

}  // namespace packcheck
