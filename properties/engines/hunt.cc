#include "properties/engines/hunt.h"

#include <algorithm>

namespace packcheck {
namespace {

constexpr unsigned kMostFaults = 3;  // each may cost a call limit
constexpr std::uint64_t kRedraws = 200;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_fault_place(std::string_view place) {
  for (auto outcome = static_cast<int>(Outcome::crashed); outcome <= static_cast<int>(Outcome::broke_protocol);
       ++outcome)
    if (ends_with(place, outcome_name(static_cast<Outcome>(outcome)))) return true;
  return false;
}

const Breach* breach_at(const Verdict& verdict, std::string_view place) {
  for (const Breach& breach : verdict.breaches)
    if (breach.place == place) return &breach;
  return nullptr;
}

/// Greedy descent: the first simpler candidate that keeps the place becomes the new case.
class Shrinker {
 public:
  Shrinker(Hunt& hunt, const Case& c, const Breach& breach)
      : hunt_(hunt), best_{c, breach, 0}, left_(shrink_attempts(breach)) {}

  bool accept(const Case& candidate) {
    if (left_ == 0) return false;
    --left_;
    const Verdict verdict = hunt_.check(candidate);
    const Breach* same = breach_at(verdict, best_.breach.place);
    if (same == nullptr) return false;
    best_ = {candidate, *same, best_.steps + 1};
    return true;
  }

  void by_choices(const Recipe& recipe) {
    Choices choices = recipe.choices;
    for (bool better = true; better && left_ > 0;) {
      better = false;
      for (Choices& candidate : simpler(choices)) {
        if (!accept(recipe.make(candidate))) continue;
        choices = std::move(candidate);
        better = true;
        break;
      }
    }
  }

  /// A case that came without a recipe (a corpus file, a sweep) may have a simpler drawn cousin.
  void by_redrawing() {
    for (std::uint64_t seed = 0; seed < kRedraws && left_ > kRedraws / 2; ++seed) {
      RandomSource source(derived_seed(seed, hunt_.law().id));
      const Case drawn = hunt_.law().case_type->draw(source, hunt_.variant());
      if (!accept(drawn)) continue;
      by_choices({source.recorded(), [this](const Choices& choices) { return hunt_.draw(choices); }});
      return;
    }
  }

  void by_halves() {
    for (bool better = true; better && left_ > 0;) {
      better = false;
      for (const Case& half : best_.c.type->halves(best_.c)) {
        if (!accept(half)) continue;
        better = true;
        break;
      }
    }
  }

  [[nodiscard]] const Shrunk& best() const { return best_; }

 private:
  Hunt& hunt_;
  Shrunk best_;
  unsigned left_;
};

std::uint64_t mix(std::uint64_t digest, std::string_view text) { return derived_seed(digest, text); }

}  // namespace

std::string_view engine_name(Engine engine) {
  constexpr std::array<std::string_view, kEngineCount> kNames{"corpus", "sweep", "property", "fuzz"};
  return kNames[static_cast<std::size_t>(engine)];
}

unsigned shrink_attempts(const Breach& breach) {
  if (ends_with(breach.place, outcome_name(Outcome::hung))) return 3;
  if (ends_with(breach.place, outcome_name(Outcome::out_of_memory))) return 3;
  return is_fault_place(breach.place) ? 60 : 500;
}

Shrunk shrink(Hunt& hunt, const Case& c, const Breach& breach, const Recipe* recipe) {
  Shrinker shrinker(hunt, c, breach);
  if (recipe != nullptr)
    shrinker.by_choices(*recipe);
  else
    shrinker.by_redrawing();
  shrinker.by_halves();
  return shrinker.best();
}

Hunt::Hunt(const Law& law, Subject& subject, std::string variant, std::size_t most_places)
    : law_(law), subject_(subject), variant_(std::move(variant)), most_places_(most_places) {}

Case Hunt::draw(const Choices& choices) const {
  RecordedSource source(choices);
  return law_.case_type->draw(source, variant_);
}

const Breach* Hunt::new_breach(const Verdict& verdict) const {
  for (const Breach& breach : verdict.breaches)
    if (places_.find(breach.place) == places_.end()) return &breach;
  return nullptr;
}

void Hunt::count(Engine engine, const Case& c, const Verdict& verdict) {
  Tally& tally = tallies_[static_cast<std::size_t>(engine)];
  ++tally.cases;
  tally.checked += verdict.checked;
  if (verdict.ruling == Ruling::not_applicable) ++tally.not_applicable;
  if (verdict.ruling == Ruling::broken) ++tally.broken;
  if (verdict.ruling == Ruling::skipped) skip_reason_ = verdict.reason;
  if (engine != Engine::sweep) tally.digest = mix(tally.digest, c.type->to_json(c));
  for (const Breach& breach : verdict.breaches) {
    tally.digest = mix(tally.digest, breach.place);
    if (is_fault_place(breach.place)) ++faults_;
  }
}

void Hunt::record(Engine engine, std::uint64_t seed, const Case& c, const Breach& breach, std::uint64_t shrinks) {
  if (!places_.insert(breach.place).second) return;
  findings_.push_back(
      {law_.id, subject_.info().name, breach, c.type->to_json(c), std::string(c.type->name()), engine, seed, shrinks});
}

void Hunt::judge(Engine engine, std::uint64_t seed, const Case& c, const Recipe* recipe) {
  const Verdict verdict = check(c);
  count(engine, c, verdict);
  while (const Breach* breach = new_breach(verdict)) {
    const Shrunk shrunk = shrink(*this, c, *breach, recipe);
    record(engine, seed, shrunk.c, shrunk.breach, shrunk.steps);
  }
}

bool Hunt::finished() const { return findings_.size() >= most_places_ || faults_ >= kMostFaults || was_skipped(); }

}  // namespace packcheck
