// The rows of SKaiNET's encodings; sources: Q4_0Quantizer.kt, TernaryCodec.kt.
#include <array>

#include "core/encoding/q4_0.h"
#include "core/encoding/rows.h"
#include "core/encoding/ternary.h"

namespace packcheck {
namespace {

constexpr BlockRules kSkainetQ4{
    .code = CodeRounding::half_up, .overflow = CodeOverflow::saturate, .scale = ScaleRule::skainet_private};

constexpr BlockRules kHalfEven{.code = CodeRounding::half_even, .overflow = CodeOverflow::saturate};

template <std::size_t N>
using Fields = std::array<ScaleField, N>;
using enum ScaleFormat;

constexpr Fields<1> kHalf0{{{f16, 0, 2}}};
constexpr Fields<1> kTq1{{{f16, 52, 2}}};
constexpr Fields<1> kTq2{{{f16, 64, 2}}};

// clang-format off
constexpr std::array<Encoding, 3> kRows{{
    {"q4_0", "skainet", 32, 18, true, kSkainetQ4, q4_0_quantize_block, q4_0_dequantize_block, kHalf0, q4_0_bound_block},
    {"tq1_0", "skainet", 256, 54, true, kHalfEven, tq1_0_quantize_block, tq1_0_dequantize_block, kTq1, tq_bound_block},
    {"tq2_0", "skainet", 256, 66, true, kHalfEven, tq2_0_quantize_block, tq2_0_dequantize_block, kTq2, tq_bound_block},
}};
// clang-format on

}  // namespace

std::span<const Encoding> skainet_rows() { return kRows; }

}  // namespace packcheck
