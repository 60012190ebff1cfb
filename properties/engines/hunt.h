// properties/engines/hunt.h: one law put to one variant of one subject, by whatever engine.
//
// Engines make cases; the hunt judges them, keeps count, and turns the first case that breaks the
// law at a new place into a finding, shrunk. Findings are told apart by signature (law and place),
// never by value, so a million bad inputs of one bug are one finding.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "properties/engines/running_case.h"
#include "properties/law.h"

namespace packcheck {

enum class Engine : std::uint8_t { corpus, sweep, property, fuzz };
inline constexpr std::size_t kEngineCount = 4;
[[nodiscard]] std::string_view engine_name(Engine engine);
/// Refuses an unknown name and lists the four.
[[nodiscard]] Result<Engine> engine_named(std::string_view name);

/// What an engine did.
struct Tally {
  std::uint64_t cases = 0;           ///< cases judged, shrinking not counted
  std::uint64_t checked = 0;         ///< numbers, blocks or texts compared
  std::uint64_t not_applicable = 0;  ///< cases the law says nothing about
  std::uint64_t broken = 0;          ///< cases that broke the law, known places included
  std::uint64_t first_broken = 0;    ///< which case was the first to break it, from 1 on; 0 if none did
  std::uint64_t digest = 0;          ///< of all cases and rulings, for the determinism check
};

/// How many of the drawn cases were of a class that the case type declares.
struct CaseClass {
  std::string name;
  std::uint64_t drawn = 0;  ///< cases of variants that declare the class
  std::uint64_t occurred = 0;
};

struct Finding {
  std::string law;
  std::string subject;
  Breach breach;
  std::string case_json;
  std::string case_type;
  Engine engine = Engine::corpus;
  std::uint64_t seed = 0;
  std::uint64_t shrinks = 0;  ///< accepted shrinking steps
  std::string search = {};    ///< the command that found it, where the case alone does not show it; else empty

  /// "law place": what findings are deduplicated by and what expected lists hold.
  [[nodiscard]] std::string signature() const { return law + " " + breach.place; }
};

/// How a case was made, so that it can be made simpler: choices, and the case they give.
struct Recipe {
  Choices choices;
  std::function<Case(const Choices&)> make;
};

class Hunt {
 public:
  /// `most_places`: stop after so many findings.
  Hunt(const Law& law, Subject& subject, std::string variant, std::size_t most_places = 16);

  /// Judges a case, counts it and records what is new.
  void judge(Engine engine, std::uint64_t seed, const Case& c, const Recipe* recipe = nullptr);
  /// Judges without recording: what shrinkers and the property engine need.
  [[nodiscard]] Verdict check(const Case& c);
  /// From now on every case is in `running` while it is checked; `spec` is how the subject was named.
  void keep_running_case(RunningCase& running, std::string_view spec);
  /// What is counted from now on depends on the clock: it stays out of the digest.
  void freeze_digest() { frozen_ = true; }
  /// The first breach at a place that is not a finding yet; null if none.
  [[nodiscard]] const Breach* new_breach(const Verdict& verdict) const;
  /// Counts a judged case under an engine.
  void count(Engine engine, const Case& c, const Verdict& verdict);
  /// Records a finding whose case is already shrunk.
  void record(Engine engine, std::uint64_t seed, const Case& c, const Breach& breach, std::uint64_t shrinks);

  /// Enough was found, the subject lacks the variant, or it misbehaved too often to go on.
  [[nodiscard]] bool finished() const;
  [[nodiscard]] const Law& law() const { return law_; }
  [[nodiscard]] const std::string& variant() const { return variant_; }
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] const Tally& tally(Engine engine) const { return tallies_[static_cast<std::size_t>(engine)]; }
  /// Of the property engine's cases.
  [[nodiscard]] const std::vector<CaseClass>& classes() const { return classes_; }
  [[nodiscard]] bool was_skipped() const { return !skip_reason_.empty(); }
  [[nodiscard]] const std::string& skip_reason() const { return skip_reason_; }
  /// A recipe that draws this law's cases from choices.
  [[nodiscard]] Case draw(const Choices& choices) const;

 private:
  /// The case as JSON, made once.
  const std::string& text_of(const Case& c);

  const Law& law_;
  Subject& subject_;
  std::string variant_;
  std::size_t most_places_;
  std::set<std::string> places_;
  std::vector<Finding> findings_;
  std::array<Tally, kEngineCount> tallies_{};
  std::vector<CaseClass> classes_;
  std::string skip_reason_;
  unsigned faults_ = 0;
  bool frozen_ = false;
  RunningCase* running_ = nullptr;
  std::string running_head_;
  Case text_case_;  ///< whose text text_ is
  std::string text_;
};

/// The simplest case that still breaks the law at `place`, found in a bounded number of attempts.
struct Shrunk {
  Case c;
  Breach breach;
  std::uint64_t steps = 0;
};
[[nodiscard]] Shrunk shrink(Hunt& hunt, const Case& c, const Breach& breach, const Recipe* recipe);
/// Attempts a shrinker may make for this breach: few where each costs a dead or hung worker.
[[nodiscard]] unsigned shrink_attempts(const Breach& breach);

}  // namespace packcheck
