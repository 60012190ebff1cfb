#include "properties/engines/hunt.h"

#include <algorithm>

#include "properties/near_name.h"

namespace packcheck {
namespace {

constexpr unsigned kMostFaults = 3;  // each may cost a call limit
constexpr std::uint64_t kRedraws = 200;
constexpr std::size_t kMostKeptBytes = 16384;
constexpr std::uint64_t kMostKinds = 16;  // a choice up to here may be one of kind

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

  /// Fewer choices, then smaller ones, until neither helps.
  void by_choices(const Recipe& recipe) {
    Choices choices = recipe.choices;
    for (bool better = true; better && left_ > 0;) {
      better = drop_choices(recipe, choices);
      for (std::size_t i = 0; i < choices.size() && left_ > 0; ++i) better = lower_choice(recipe, choices, i) || better;
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

  /// What helped once is tried again first, so that a number goes down bit by bit in one pass.
  void by_halves() {
    std::vector<Case> halves = best_.c.type->halves(best_.c);
    for (std::size_t at = 0, failed = 0; failed < halves.size() && left_ > 0;) {
      at %= halves.size();
      if (accept(halves[at])) {
        halves = best_.c.type->halves(best_.c);
        failed = 0;
      } else {
        ++at;
        ++failed;
      }
    }
  }

  [[nodiscard]] const Shrunk& best() const { return best_; }

 private:
  /// Leaves out runs of choices, long ones first; what follows a run that went is tried at its place.
  bool drop_choices(const Recipe& recipe, Choices& choices) {
    bool better = false;
    for (std::size_t run = std::max<std::size_t>(choices.size() / 2, 1); run > 0; run /= 2)
      for (std::size_t at = 0; at + run <= choices.size() && left_ > 0;) {
        Choices shorter = choices;
        const auto first = shorter.begin() + static_cast<std::ptrdiff_t>(at);
        shorter.erase(first, first + static_cast<std::ptrdiff_t>(run));
        if (accept(recipe.make(shorter))) {
          choices = std::move(shorter);
          better = true;
        } else {
          at += run;
        }
      }
    return better;
  }

  /// The smallest value of one choice that keeps the place: of a kind, by trying all below it; else by bisection.
  bool lower_choice(const Recipe& recipe, Choices& choices, std::size_t i) {
    const std::uint64_t before = choices[i].value;
    const auto lowered_to = [&](std::uint64_t value) {
      Choices candidate = choices;
      candidate[i].value = value;
      if (!accept(recipe.make(candidate))) return false;
      choices = std::move(candidate);
      return true;
    };
    if (before <= kMostKinds) {
      for (std::uint64_t value = 0; value < before; ++value)
        if (lowered_to(value)) return true;
      return false;
    }
    for (std::uint64_t low = 0; low < choices[i].value && left_ > 0;) {
      const std::uint64_t middle = low + (choices[i].value - low) / 2;
      if (!lowered_to(low == 0 ? 0 : middle)) low = low == 0 ? 1 : middle + 1;
    }
    return choices[i].value < before;
  }

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

Result<Engine> engine_named(std::string_view name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < kEngineCount; ++i) {
    known.emplace_back(engine_name(static_cast<Engine>(i)));
    if (known.back() == name) return static_cast<Engine>(i);
  }
  return refuse("unknown engine '" + std::string(name) + "'", {}, one_of(name, known));
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
    : law_(law), subject_(subject), variant_(std::move(variant)), most_places_(most_places) {
  for (const std::string_view name : law.case_type->classes(variant_)) classes_.push_back({std::string(name), 0, 0});
}

void Hunt::keep_running_case(RunningCase& running, std::string_view spec) {
  running_ = &running;
  running_head_ = RunningCase::head_of(law_.id, spec, law_.case_type->name());
}

const std::string& Hunt::text_of(const Case& c) {
  if (text_case_.value != c.value || text_.empty()) {
    text_ = c.type->to_json(c);
    text_case_ = c;
  }
  return text_;
}

Verdict Hunt::check(const Case& c) {
  if (running_ != nullptr) {
    // The text of a long run of inputs costs more than to judge it; whoever sweeps knows where it is.
    const bool is_run = c.type->payload_bytes(c) > kMostKeptBytes;
    running_->mark(running_head_, is_run ? std::string_view(R"("a run of a sweep")") : text_of(c));
  }
  return law_.check(subject_, c);
}

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
  if (verdict.ruling == Ruling::broken && tally.broken++ == 0) tally.first_broken = tally.cases;
  if (verdict.ruling == Ruling::skipped) skip_reason_ = verdict.reason;
  if (engine != Engine::sweep && !frozen_) tally.digest = mix(tally.digest, text_of(c));
  for (const Breach& breach : verdict.breaches) {
    if (!frozen_) tally.digest = mix(tally.digest, breach.place);
    if (is_fault_place(breach.place)) ++faults_;
  }
  if (engine != Engine::property || classes_.empty()) return;
  const std::uint64_t members = c.type->classes_of(c);
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    ++classes_[i].drawn;
    classes_[i].occurred += members >> i & 1;
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
