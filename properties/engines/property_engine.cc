// The property engine: RapidCheck over drawn cases. A generated value is a list of choices; the first that breaks the
// law at a new place ends a run of RapidCheck, and packcheck's own bounded shrinker goes on from it.
#include <rapidcheck.h>
#include <rapidcheck/detail/Configuration.h>

#include <cstdlib>
#include <iostream>

#include "properties/engines/engines.h"

namespace packcheck {
namespace {

/// What RapidCheck generates.
struct Drawn {
  Choices choices;
};

// Found by RapidCheck through argument-dependent lookup; the case itself is reported by packcheck.
void showValue(const Drawn& drawn, std::ostream& out) { out << drawn.choices.size() << " choices"; }

/// The first case of a run that broke the law at a new place.
struct Search {
  bool found = false;
  Case c;
  Breach breach;
  Choices choices;
};

/// Drawn cases. They do not shrink: packcheck's own shrinker is bounded, keeps the place and also halves cases.
rc::Gen<Drawn> drawn_cases(const Hunt& hunt) {
  return [&hunt](const rc::Random& random, int) {
    rc::Random generator = random;
    RandomSource source(generator.next());
    (void)hunt.law().case_type->draw(source, hunt.variant());
    return rc::shrinkable::just(Drawn{source.recorded()});
  };
}

/// Judges one drawn case; true when it breaks the law at a new place.
bool fails(Hunt& hunt, Search& search, const Drawn& drawn) {
  const Case c = hunt.draw(drawn.choices);
  const Verdict verdict = hunt.check(c);
  hunt.count(Engine::property, c, verdict);
  const Breach* const breach = hunt.new_breach(verdict);
  if (breach == nullptr) return false;
  search = {true, c, *breach, drawn.choices};
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
    // The command has read RC_PARAMS itself; RapidCheck would end the program where it cannot read it.
    ::unsetenv("RC_PARAMS");
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
    Search search;
    const std::uint64_t before = hunt.tally(Engine::property).cases;
    rc::detail::TestParams params;
    params.seed = own_seed + round;
    params.maxSuccess = cases;
    params.disableShrinking = true;
    SilentListener listener;
    const rc::Gen<Drawn> generator = drawn_cases(hunt);
    (void)rc::detail::checkTestable([&] { RC_ASSERT(!hunt.finished() && !fails(hunt, search, *generator)); },
                                    rc::detail::TestMetadata{hunt.law().id, {}}, params, listener);
    if (search.found) {
      const Recipe recipe{search.choices, [&hunt](const Choices& choices) { return hunt.draw(choices); }};
      const Shrunk shrunk = shrink(hunt, search.c, search.breach, &recipe);
      hunt.record(Engine::property, seed, shrunk.c, shrunk.breach, shrunk.steps);
    }
    cases -= static_cast<int>(hunt.tally(Engine::property).cases - before);
  }
}

}  // namespace packcheck
