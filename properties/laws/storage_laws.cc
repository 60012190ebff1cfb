// Laws of stored tensors. The oracle is properties/oracles/format_oracle.h.
#include "properties/cases/cases.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/laws/stored_tensor_laws.h"
#include "properties/oracles/format_oracle.h"

namespace packcheck {
namespace {

Verdict check_repack(Subject& subject, const ConversionCase& c) {
  const std::string variant = conversion_variant(c.from, c.to);
  const Declaration* declared = subject.info().find(Operation::repack, variant);
  const bool same_payload = declared != nullptr && declared->option("nan") == "same";
  const Answer<Bytes> answer = call_repack(subject, c.from, c.to, c.elements);
  if (auto verdict = unanswered(answer, variant, std::to_string(c.count()) + " numbers")) return *verdict;
  Judge judge;
  judge.add_checked(c.count());
  for (std::size_t i = 0; i < c.count(); ++i) {
    const std::uint64_t in = load_element(spec(c.from), c.elements, i);
    const std::uint64_t actual = load_element(spec(c.to), answer.value, i);
    const bool nan = oracle::is_nan(c.from, in);
    if (nan && !same_payload && oracle::is_nan(c.to, actual)) continue;
    const std::uint64_t expected =
        nan ? oracle::same_payload_nan(c.from, c.to, in) : oracle::convert(c.from, c.to, in, {});
    if (actual == expected) continue;
    std::string place = variant + " " + conversion_class(c.from, c.to, in, expected);
    if (judge.knows(place)) continue;
    judge.broken({std::move(place), describe(c.from, in), describe(c.to, expected), describe(c.to, actual),
                  "Repacking is lossless: every value stays."});
  }
  return std::move(judge).verdict();
}

}  // namespace

std::vector<Law> storage_laws() {
  std::vector<Law> laws{
      make_law<ConversionCase>("storage.repack_keeps_every_value",
                               "Repacking a dense narrow tensor as f32 keeps every value, -0.0 and NaN included.",
                               {Operation::repack}, conversion_cases, variants_of(Operation::repack), check_repack)};
  for (Law& law : stored_tensor_laws()) laws.push_back(std::move(law));
  return laws;
}

}  // namespace packcheck
