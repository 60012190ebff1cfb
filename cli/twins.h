// cli/twins.h: every faulty twin put to the law that it names, by each engine alone: proof that the laws can fail.
//
// `packcheck twins` and the gate run it; a twin that nothing catches is an error. Proved by tests/cli/lists_test.cc
// and, law by law, by tests/cli/vacuous_law_test.cc.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "properties/engines/engines.h"
#include "subjects/reference/twins.h"

namespace packcheck {

/// What one engine, alone and with the corpus empty, made of a twin.
struct Catch {
  bool caught = false;
  std::uint64_t cases = 0;          ///< judged up to the first that broke the law, or in all
  std::uint64_t payload_bytes = 0;  ///< of the shrunk case
  std::string case_json;            ///< the shrunk case
  std::string place;
};

struct TwinRow {
  const Twin* twin = nullptr;
  std::array<Catch, kEngineCount> catches;  ///< in the order of Engine; the corpus is never asked

  [[nodiscard]] std::size_t engines() const;    ///< how many caught it
  [[nodiscard]] const Catch* smallest() const;  ///< the catch with the smallest case; null if not caught
};

struct TwinTable {
  std::string profile;
  std::uint64_t seed = 1;
  double processor_seconds = 0;
  std::vector<TwinRow> rows;

  [[nodiscard]] double score() const;  ///< caught twins of all, 0 to 1
  [[nodiscard]] std::uint64_t median_payload_bytes() const;
};

struct TwinsPlan {
  std::vector<const Twin*> twins;
  std::vector<const Law*> laws;  ///< where the laws that the twins name are looked up
  std::string profile = "quick";
  RunOptions run;     ///< effort, seed, engines; one finding is enough
  unsigned jobs = 0;  ///< 0: one per core
  bool progress = true;
};
/// Every twin, every law of the registry.
[[nodiscard]] TwinsPlan plan_of_all_twins();
[[nodiscard]] Result<TwinTable> judge_twins(const TwinsPlan& plan);

[[nodiscard]] std::string twins_text(const TwinTable& table);
[[nodiscard]] std::string twins_json(const TwinTable& table);

}  // namespace packcheck
