// packcheck report merge: the shards of one verify as the report of the whole.
//
// A shard writes results.json beside its report: everything that the report is made of. Task k of a run is task k / n
// of shard k % n, so that merging puts every law where the whole run has it, and the merged report is the same bytes.
#include "cli/report_merge.h"

#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/expected.h"
#include "cli/report.h"
#include "cli/verify.h"
#include "properties/corpus_store.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::uint64_t kResultsVersion = 1;

/// One law result of a shard, and whose it is.
struct Done {
  std::size_t subject;
  LawResult law;
};

struct ShardResults {
  std::string where;
  std::uint64_t index = 0;
  std::uint64_t of = 1;
  std::size_t most_findings = 0;
  VerifyResult head;  ///< version, profile, seed and subjects, without laws
  std::vector<Done> done;
};

json subject_json(const SubjectResult& subject) {
  json laws = json::array();
  for (const LawResult& law : subject.laws) laws.push_back(json::parse(law_result_to_json(law)));
  return {{"spec", subject.spec},
          {"name", subject.name},
          {"version", subject.version},
          {"absent", subject.absent},
          {"laws", laws}};
}

Result<ShardResults> shard_from(const json& j, const std::string& where) {
  ShardResults shard;
  shard.where = where;
  try {
    if (j.at("packcheck_results") != kResultsVersion)
      return refuse("format version " + j.at("packcheck_results").dump(), where, "packcheck_results: 1");
    shard.index = j.at("shard").at(0);
    shard.of = j.at("shard").at(1);
    shard.most_findings = j.at("most_findings");
    shard.head.version = j.at("version");
    shard.head.profile = j.at("profile");
    shard.head.seed = j.at("seed");
    for (const json& s : j.at("subjects")) {
      shard.head.subjects.push_back({s.at("spec"), s.at("name"), s.at("version"), s.at("absent"), false, {}, {}});
      for (const json& law : s.at("laws")) {
        Result<LawResult> result = law_result_from_json(law.dump());
        if (!result) return tl::unexpected(result.error());
        shard.done.push_back({shard.head.subjects.size() - 1, std::move(*result)});
      }
    }
  } catch (const json::exception& problem) {
    return refuse(problem.what(), where, "results.json as `packcheck verify --shard` writes it");
  }
  if (shard.of == 0 || shard.index >= shard.of) return refuse("no such shard", where, "an index below the count");
  return shard;
}

Result<ShardResults> read_shard(const fs::path& folder) {
  const fs::path path = folder / "results.json";
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(Error{text.error().what, path.string(), "the report folder of a shard"});
  const json parsed = json::parse(*text, nullptr, false);
  if (parsed.is_discarded()) return refuse("no well-formed JSON", path.string(), "the report folder of a shard");
  return shard_from(parsed, path.string());
}

/// Whether two shards are of one run; what differs if not.
std::string difference(const ShardResults& a, const ShardResults& b) {
  if (a.of != b.of) return "another number of shards";
  if (a.head.version != b.head.version) return "another version of packcheck";
  if (a.head.profile != b.head.profile) return "another profile";
  if (a.head.seed != b.head.seed) return "another seed";
  const auto same = [](const SubjectResult& x, const SubjectResult& y) {
    return x.spec == y.spec && x.name == y.name && x.version == y.version && x.absent == y.absent;
  };
  if (!std::equal(a.head.subjects.begin(), a.head.subjects.end(), b.head.subjects.begin(), b.head.subjects.end(), same))
    return "other subjects, or a subject that is absent in one of them";
  return {};
}

/// The shards in their order, each once.
Result<std::vector<ShardResults>> all_shards(const std::vector<std::string>& folders) {
  std::vector<ShardResults> shards;
  for (const std::string& folder : folders) {
    Result<ShardResults> shard = read_shard(folder);
    if (!shard) return tl::unexpected(shard.error());
    if (!shards.empty())
      if (const std::string what = difference(shards.front(), *shard); !what.empty())
        return refuse(what, shard->where, "the shards of one run; the first is " + shards.front().where);
    shards.push_back(std::move(*shard));
  }
  std::sort(shards.begin(), shards.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (shards[i].index != i || shards.size() != shards[0].of)
      return refuse(std::to_string(shards.size()) + " shards", "report merge",
                    "each of the " + std::to_string(shards[0].of) + " shards once, from 0 to " +
                        std::to_string(shards[0].of - 1));
  return shards;
}

VerifyResult merged(std::vector<ShardResults> shards) {
  VerifyResult whole = shards.front().head;
  std::size_t total = 0;
  for (const ShardResults& shard : shards) total += shard.done.size();
  for (std::size_t k = 0; k < total; ++k) {
    std::vector<Done>& done = shards[k % shards.size()].done;
    if (k / shards.size() >= done.size()) continue;
    Done& next = done[k / shards.size()];
    whole.subjects[next.subject].laws.push_back(std::move(next.law));
  }
  for (SubjectResult& subject : whole.subjects) cap_findings(subject, shards.front().most_findings);
  return whole;
}

}  // namespace

std::string shard_results_text(const VerifyResult& result, std::uint64_t index, std::uint64_t of,
                               std::size_t most_findings) {
  json subjects = json::array();
  for (const SubjectResult& subject : result.subjects) subjects.push_back(subject_json(subject));
  return json{{"packcheck_results", kResultsVersion},
              {"version", result.version},
              {"profile", result.profile},
              {"seed", result.seed},
              {"shard", {index, of}},
              {"most_findings", most_findings},
              {"subjects", subjects}}
             .dump(-1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

int run_report_merge(const MergeOptions& options) {
  if (options.folders.empty()) return complain({"no folders", "report merge", "the report folder of each shard"});
  Result<std::vector<ShardResults>> shards = all_shards(options.folders);
  if (!shards) return complain(shards.error());
  VerifyResult whole = merged(std::move(*shards));
  if (!options.expected.empty())
    if (auto ok = compare_with_expected(whole, options.expected); !ok) return complain(ok.error());
  if (auto ok = write_report(whole, options.report); !ok) return complain(ok.error());
  std::fputs((options.json ? report_json(whole) : summary_text(whole)).c_str(), stdout);
  return whole.good() ? kHolds : kFindings;
}

}  // namespace packcheck
