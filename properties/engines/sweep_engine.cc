// The sweep engine: every input of a small domain, or evenly spaced runs of a large one; and drawn
// cases in counting order where a case type has no domain.
#include <algorithm>

#include "properties/engines/engines.h"

namespace packcheck {

std::optional<std::uint64_t> run_sweep(Hunt& hunt, std::uint64_t most_inputs, Shard shard, std::uint64_t first_run,
                                       const Progress& progress) {
  const std::optional<Domain> domain = hunt.law().case_type->domain(hunt.variant());
  if (!domain) return std::nullopt;
  const std::uint64_t runs = domain->total / domain->batch;
  const std::uint64_t wanted = std::clamp<std::uint64_t>(most_inputs / domain->batch, 1, runs);
  const std::uint64_t mine = wanted / shard.of + (shard.index < wanted % shard.of ? 1 : 0);
  std::uint64_t visited = 0;
  for (std::uint64_t i = first_run; i < mine && !hunt.finished(); ++i) {
    const std::uint64_t run = (i * shard.of + shard.index) * runs / wanted;  // evenly spaced, each run once
    hunt.judge(Engine::sweep, 0, domain->make(run * domain->batch, domain->batch));
    visited += domain->batch;
    if (progress) progress(i + 1, mine);
  }
  return visited;
}

void run_patterns(Hunt& hunt) {
  const std::optional<Domain> patterns = hunt.law().case_type->patterns(hunt.variant());
  if (!patterns) return;
  for (std::uint64_t first = 0; first < patterns->total && !hunt.finished(); first += patterns->batch)
    hunt.judge(Engine::sweep, 0, patterns->make(first, patterns->batch));
}

void run_enumeration(Hunt& hunt, std::uint64_t most) {
  const auto make = [&hunt](const Choices& choices) { return hunt.draw(choices); };
  Choices choices;
  for (std::uint64_t i = 0; i < most && !hunt.finished(); ++i) {
    RecordedSource source(choices);
    const Case c = hunt.law().case_type->draw(source, hunt.variant());
    choices = source.recorded();
    const Recipe recipe{choices, make};
    hunt.judge(Engine::sweep, 0, c, &recipe);
    if (!advance(choices)) return;
  }
}

}  // namespace packcheck
