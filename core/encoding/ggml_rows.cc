// The rows of ggml's encodings; sources: ggml-common.h (layouts), ggml-quants.c (the _ref quantizers).
#include <array>

#include "core/encoding/fp4.h"
#include "core/encoding/k_quants.h"
#include "core/encoding/q4_0.h"
#include "core/encoding/q4_1.h"
#include "core/encoding/q5.h"
#include "core/encoding/q8_0.h"
#include "core/encoding/rows.h"
#include "core/encoding/ternary.h"

namespace packcheck {
namespace {

constexpr BlockRules kPlain{};
constexpr BlockRules kHalfUp{.code = CodeRounding::half_up};
template <std::size_t N>
using Fields = std::array<ScaleField, N>;
using enum ScaleFormat;

constexpr Fields<1> kHalf0{{{f16, 0, 2}}};
constexpr Fields<2> kTwoHalves{{{f16, 0, 2}, {f16, 2, 2}}};
constexpr Fields<1> kSingle0{{{f32, 0, 4}}};
constexpr Fields<3> kQ2K{{{packed_4_bit, 0, 16}, {f16, 80, 2}, {f16, 82, 2}}};
constexpr Fields<2> kQ3K{{{packed_6_bit, 96, 12}, {f16, 108, 2}}};
constexpr Fields<3> kQ4K{{{f16, 0, 2}, {f16, 2, 2}, {packed_6_bit, 4, 12}}};
constexpr Fields<2> kQ6K{{{int8, 192, 16}, {f16, 208, 2}}};
constexpr Fields<1> kTq1{{{f16, 52, 2}}};
constexpr Fields<1> kTq2{{{f16, 64, 2}}};
constexpr Fields<2> kIq4Xs{{{f16, 0, 2}, {packed_6_bit, 2, 6}}};
constexpr Fields<1> kMx{{{e8m0, 0, 1}}};
constexpr Fields<1> kNv{{{ue4m3, 0, 4}}};

// clang-format off
constexpr std::array<Encoding, 20> kRows{{
    {"q8_0", "ggml", 32, 34, true, kPlain, q8_0_quantize_block, q8_0_dequantize_block, kHalf0, q8_0_bound_block},
    {"q4_0", "ggml", 32, 18, true, kHalfUp, q4_0_quantize_block, q4_0_dequantize_block, kHalf0, q4_0_bound_block},
    {"q4_1", "ggml", 32, 20, true, kHalfUp, q4_1_quantize_block, q4_1_dequantize_block, kTwoHalves, q4_1_bound_block},
    {"q5_0", "ggml", 32, 22, true, kHalfUp, q5_0_quantize_block, q5_0_dequantize_block, kHalf0, q5_0_bound_block},
    {"q5_1", "ggml", 32, 24, true, kHalfUp, q5_1_quantize_block, q5_1_dequantize_block, kTwoHalves, q5_1_bound_block},
    {"q8_1", "ggml", 32, 36, true, kPlain, q8_1_quantize_block, q8_1_dequantize_block, kTwoHalves, q8_0_bound_block},
    {"q8_K", "ggml", 256, 292, false, kPlain, nullptr, q8_k_dequantize_block, kSingle0, nullptr},
    {"q2_K", "ggml", 256, 84, false, kPlain, nullptr, q2_k_dequantize_block, kQ2K, nullptr},
    {"q3_K", "ggml", 256, 110, false, kPlain, nullptr, q3_k_dequantize_block, kQ3K, nullptr},
    {"q4_K", "ggml", 256, 144, false, kPlain, nullptr, q4_k_dequantize_block, kQ4K, nullptr},
    {"q5_K", "ggml", 256, 176, false, kPlain, nullptr, q5_k_dequantize_block, kQ4K, nullptr},
    {"q6_K", "ggml", 256, 210, false, kPlain, nullptr, q6_k_dequantize_block, kQ6K, nullptr},
    {"tq1_0", "ggml", 256, 54, true, kPlain, tq1_0_quantize_block, tq1_0_dequantize_block, kTq1, tq_bound_block},
    {"tq2_0", "ggml", 256, 66, true, kPlain, tq2_0_quantize_block, tq2_0_dequantize_block, kTq2, tq_bound_block},
    {"q1_0", "ggml", 128, 18, true, kPlain, q1_0_quantize_block, q1_0_dequantize_block, kHalf0, q1_0_bound_block},
    {"q2_0", "ggml", 64, 18, true, kPlain, q2_0_quantize_block, q2_0_dequantize_block, kHalf0, q2_0_bound_block},
    {"iq4_nl", "ggml", 32, 18, false, kPlain, nullptr, iq4_nl_dequantize_block, kHalf0, nullptr},
    {"iq4_xs", "ggml", 256, 136, false, kPlain, nullptr, iq4_xs_dequantize_block, kIq4Xs, nullptr},
    {"mxfp4", "ggml", 32, 17, true, kPlain, mxfp4_quantize_block, mxfp4_dequantize_block, kMx, mxfp4_bound_block},
    {"nvfp4", "ggml", 64, 36, false, kPlain, nullptr, nvfp4_dequantize_block, kNv, nullptr},
}};
// clang-format on

}  // namespace

std::span<const Encoding> ggml_rows() { return kRows; }

}  // namespace packcheck
