// core/encoding/rows.h: the registry's rows, one function per system, each in its own file.
//
// A row is data (encoding.h). Add a file of rows: a function here, and its name in registry.cc.
#pragma once

#include <span>

#include "core/encoding/encoding.h"

namespace packcheck {

[[nodiscard]] std::span<const Encoding> column_rows();   ///< of GPTQ and AWQ
[[nodiscard]] std::span<const Encoding> ggml_rows();     ///< block encodings of ggml 0.21
[[nodiscard]] std::span<const Encoding> mlx_rows();      ///< of MLX
[[nodiscard]] std::span<const Encoding> nvidia_rows();   ///< of TensorRT Model Optimizer
[[nodiscard]] std::span<const Encoding> ocp_rows();      ///< of the OCP Microscaling Formats
[[nodiscard]] std::span<const Encoding> skainet_rows();  ///< of SKaiNET

}  // namespace packcheck
