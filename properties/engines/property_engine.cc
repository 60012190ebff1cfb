// The property engine: RapidCheck over drawn cases. A generated value is a list of choices whose
// shrink tree is packcheck's own bounded shrinker; RapidCheck walks it.
#include <rapidcheck.h>
#include <rapidcheck/detail/Configuration.h>

#include <iostream>
#include <memory>

#include "properties/engines/engines.h"

namespace packcheck {
namespace {

/// What RapidCheck generates.
struct Drawn {
  Choices choices;
};

// Found by RapidCheck through argument-dependent lookup; the case itself is reported by packcheck.
void showValue(const Drawn& drawn, std::ostream& out) { out << drawn.choices.size() << " choices"; }

/// What a run of RapidCheck learns about the first new breach and its shrinks.
struct Search {
  std::string place;  ///< empty until something new broke
  Case c;
  Breach breach;
  std::uint64_t steps = 0;
  unsigned attempts_left = 0;
};

rc::Gen<Drawn> drawn_cases(const Hunt& hunt, const std::shared_ptr<Search>& search) {
  return [&hunt, search](const rc::Random& random, int) {
    rc::Random generator = random;
    RandomSource source(generator.next());
    (void)hunt.law().case_type->draw(source, hunt.variant());
    const auto shrinks = [search](const Drawn& drawn) {
      rc::Seq<Drawn> none;
      if (search->attempts_left == 0) return none;
      std::vector<Drawn> candidates;
      for (Choices& choices : simpler(drawn.choices)) candidates.push_back({std::move(choices)});
      return rc::seq::fromContainer(std::move(candidates));
    };
    return rc::shrinkable::shrinkRecur(Drawn{source.recorded()}, shrinks);
  };
}

/// Judges one drawn case; true when it fails at the place the search is after.
bool fails(Hunt& hunt, Search& search, const Drawn& drawn) {
  const bool shrinking = !search.place.empty();
  if (shrinking && search.attempts_left == 0) return false;
  if (shrinking) --search.attempts_left;
  const Case c = hunt.draw(drawn.choices);
  const Verdict verdict = hunt.check(c);
  if (!shrinking) hunt.count(Engine::property, c, verdict);
  const Breach* found = nullptr;
  if (!shrinking) found = hunt.new_breach(verdict);
  for (const Breach& breach : verdict.breaches)
    if (shrinking && breach.place == search.place) found = &breach;
  if (found == nullptr) return false;
  if (shrinking) ++search.steps;
  search.attempts_left = shrinking ? search.attempts_left : shrink_attempts(*found);
  search.place = found->place;
  search.c = c;
  search.breach = *found;
  return true;
}

/// RapidCheck wants to be told of every case; packcheck counts them itself.
class SilentListener final : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

/// RapidCheck announces the seed of its global configuration, which is not the one in use here.
void silence_global_configuration() {
  static const bool done = [] {
    std::streambuf* const cerr = std::cerr.rdbuf(nullptr);
    (void)rc::detail::configuration();
    std::cerr.rdbuf(cerr);
    std::cerr.clear();
    return true;
  }();
  (void)done;
}

}  // namespace

void run_property(Hunt& hunt, std::uint64_t seed, int cases) {
  silence_global_configuration();
  const std::uint64_t own_seed = derived_seed(seed, "property " + hunt.law().id + " " + hunt.variant());
  // RapidCheck stops at its first failure: go on behind it, with a seed of its own, until the cases are used up.
  for (std::uint64_t round = 0; cases > 0 && !hunt.finished(); ++round) {
    const auto search = std::make_shared<Search>();
    const std::uint64_t before = hunt.tally(Engine::property).cases;
    rc::detail::TestParams params;
    params.seed = own_seed + round;
    params.maxSuccess = cases;
    SilentListener listener;
    const rc::Gen<Drawn> generator = drawn_cases(hunt, search);
    (void)rc::detail::checkTestable(
        [&] { RC_ASSERT(!fails(hunt, *search, *generator) && !(search->place.empty() && hunt.finished())); },
        rc::detail::TestMetadata{hunt.law().id, {}}, params, listener);
    if (!search->place.empty()) hunt.record(Engine::property, seed, search->c, search->breach, search->steps);
    cases -= static_cast<int>(hunt.tally(Engine::property).cases - before);
  }
}

}  // namespace packcheck
