// Laws of group-quantized weights. The oracle is properties/oracles/affine_oracle.h.
#include <bit>
#include <cmath>

#include "properties/cases/cases.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/oracles/affine_oracle.h"

namespace packcheck {
namespace {

std::string text_of_shape(const AffineTensor& t) {
  return "weights " + std::to_string(t.out_features) + "x" + std::to_string(t.in_features) + ", " +
         std::to_string(t.scale_columns) + " " + std::string(spec(t.scale_format).name) + " scales per row";
}

Verdict check_affine(Subject& subject, const AffineCase& c) {
  const AffineTensor& t = c.tensor;
  const auto expected =
      oracle::affine_weights({t.out_features, t.in_features, t.scale_columns, t.scale_format, t.codes, t.scales,
                              t.biases, static_cast<int>(t.bits), t.block_rows, t.block_columns});
  if (!expected) return not_applicable("the shapes do not go together");
  const std::string place = t.variant() + " " + std::string(spec(t.scale_format).name);
  const Answer<std::vector<float>> actual = call_affine_dequantize(subject, t);
  if (auto verdict = unanswered(actual, place, text_of_shape(t))) return *verdict;
  Judge judge;
  judge.add_checked(expected->size());
  for (std::size_t i = 0; i < expected->size(); ++i) {
    const float want = (*expected)[i];
    const float got = actual.value[i];
    if (std::bit_cast<std::uint32_t>(want) == std::bit_cast<std::uint32_t>(got)) continue;
    if (std::isnan(want) && std::isnan(got)) continue;
    judge.broken(
        {place, "element " + std::to_string(i) + " of " + text_of_shape(t), describe(want), describe(got),
         "Group size is in_features / scale columns, or the declared block; scales are read in their own dtype, "
         "codes in their own width."});
  }
  return std::move(judge).verdict();
}

}  // namespace

std::vector<Law> affine_laws() {
  return {make_law<AffineCase>("affine.dequantize_reads_scales_in_their_dtype_and_group",
                               "Group-quantized weights are decoded with scales and biases read in their own dtype and "
                               "from the right group.",
                               {Operation::affine_dequantize}, affine_cases, variants_of(Operation::affine_dequantize),
                               check_affine)};
}

}  // namespace packcheck
