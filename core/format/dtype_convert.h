// core/format/dtype_convert.h: a tensor's numbers in another dtype, as a tensor library's `convert` does it.
//
// What SKaiNET's TensorOps.convert gives, which its proposal for mixed precision builds on: a tensor that has
// the dtype already is returned as it is, with the same buffer and no copy; FP32 narrows and widens through
// the codecs of the dialect "skainet"; every other pair is refused by name. The conversion itself is
// convert_array(); only the choice of rules is made here. Proved by tests/core/dtype_convert_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/format/convert.h"

namespace packcheck {

/// A dense array of one dtype: little-endian elements in a buffer that copies of the array share.
struct DenseArray {
  Format dtype = Format::f32;
  std::shared_ptr<const std::vector<std::uint8_t>> bytes;
};

/// What real implementations leave open.
struct DtypeRules {
  /// FP32 to Int8: 300 becomes 127, or 44 with IntegerRule::wrap.
  IntegerRule int8 = IntegerRule::saturate;
};

/// `array` as `to`. Refuses a pair that is not FP32 with one of FP32, FP16, BF16, Int32 and Int8, a missing
/// buffer, and one that does not hold whole elements.
[[nodiscard]] Result<DenseArray> dtype_convert(const DenseArray& array, Format to, const DtypeRules& rules = {});

}  // namespace packcheck
