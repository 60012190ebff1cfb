// The rows of NVIDIA's encodings; source: TensorRT Model Optimizer.
#include <array>

#include "core/encoding/nvfp4_tensor.h"
#include "core/encoding/rows.h"

namespace packcheck {
namespace {

constexpr std::array<ScaleField, 2> kScales{{{ScaleFormat::f32, 0, 4}, {ScaleFormat::e4m3fn, 4, 16}}};

// clang-format off
constexpr std::array<Encoding, 1> kRows{{
    {"nvfp4_tensor(256)", "nvidia", 256, 148, true, BlockRules{.code = CodeRounding::half_even},
     nvfp4_tensor_quantize_block, nvfp4_tensor_dequantize_block, kScales, nvfp4_tensor_bound_block, Blocking::tensor},
}};
// clang-format on

}  // namespace

std::span<const Encoding> nvidia_rows() { return kRows; }

}  // namespace packcheck
