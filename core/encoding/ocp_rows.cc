// The rows of the OCP Microscaling Formats 1.0, dialect ocp.
#include <array>

#include "core/encoding/microscaling.h"
#include "core/encoding/rows.h"

namespace packcheck {
namespace {

constexpr std::array<ScaleField, 1> kScale{{{ScaleFormat::e8m0, 0, 1}}};

consteval Encoding row(std::string_view name, std::size_t bytes, ElementShape element) {
  return {name,
          "ocp",
          32,
          bytes,
          true,
          BlockRules{.code = CodeRounding::half_even, .exponent = ScaleExponent::floor, .element = element},
          microscaling_quantize_block,
          microscaling_dequantize_block,
          kScale,
          microscaling_bound_block};
}

constexpr std::array<Encoding, 6> kRows{
    row("mxfp8_e4m3", 33, {Format::e4m3fn}), row("mxfp8_e5m2", 33, {Format::e5m2}),
    row("mxfp6_e3m2", 25, {Format::e3m2}),   row("mxfp6_e2m3", 25, {Format::e2m3}),
    row("mxfp4", 17, {Format::e2m1}),        row("mxint8", 33, {Format::e2m1, true})};

}  // namespace

std::span<const Encoding> ocp_rows() { return kRows; }

}  // namespace packcheck
