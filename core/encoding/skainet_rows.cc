// The rows of SKaiNET's encodings; sources: Q4_0Quantizer.kt.
#include <array>

#include "core/encoding/q4_0.h"
#include "core/encoding/rows.h"

namespace packcheck {
namespace {

constexpr BlockRules kSkainetQ4{
    .code = CodeRounding::half_up, .overflow = CodeOverflow::saturate, .scale = ScaleRule::skainet_private};

constexpr std::array<ScaleField, 1> kHalf0{{{ScaleFormat::f16, 0, 2}}};

// clang-format off
constexpr std::array<Encoding, 1> kRows{{
    {"q4_0", "skainet", 32, 18, true, kSkainetQ4, q4_0_quantize_block, q4_0_dequantize_block, kHalf0, q4_0_bound_block},
}};
// clang-format on

}  // namespace

std::span<const Encoding> skainet_rows() { return kRows; }

}  // namespace packcheck
