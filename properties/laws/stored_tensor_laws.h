// properties/laws/stored_tensor_laws.h: the laws of repack_tensor, requantize_tensor and load_tensor, for
// storage_laws.cc, whose table they are part of.
#pragma once

#include <vector>

#include "properties/law.h"

namespace packcheck {

[[nodiscard]] std::vector<Law> stored_tensor_laws();

}  // namespace packcheck
