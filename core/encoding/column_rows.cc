// The rows of GPTQ and AWQ; sources: AutoGPTQ (qlinear_cuda_old.py, v2 of GPTQModel), AutoAWQ (gemm.py,
// packing_utils.py).
#include <array>

#include "core/encoding/packed_columns.h"
#include "core/encoding/rows.h"

namespace packcheck {
namespace {

using enum ScaleFormat;
constexpr std::array<ScaleField, 9> kFields{{{packed_4_bit, 128, 4},
                                             {f16, 132, 2},
                                             {f16, 134, 2},
                                             {f16, 136, 2},
                                             {f16, 138, 2},
                                             {f16, 140, 2},
                                             {f16, 142, 2},
                                             {f16, 144, 2},
                                             {f16, 146, 2}}};
constexpr Planes kPlanes{128, 4, 16};
constexpr BlockRules kOneLess{.zero = ZeroPoint::one_less};
constexpr BlockRules kAwq{.columns = ColumnOrder::even_then_odd};

// clang-format off
constexpr std::array<Encoding, 3> kRows{{
    {"gptq_int4", "v1", 256, 148, false, kOneLess, nullptr, gptq_dequantize_block, kFields, nullptr, Blocking::volume, kPlanes},
    {"gptq_int4", "v2", 256, 148, false, BlockRules{}, nullptr, gptq_dequantize_block, kFields, nullptr, Blocking::volume, kPlanes},
    {"awq_int4", "gemm", 256, 148, false, kAwq, nullptr, awq_dequantize_block, kFields, nullptr, Blocking::volume, kPlanes},
}};
// clang-format on

}  // namespace

std::span<const Encoding> column_rows() { return kRows; }

}  // namespace packcheck
