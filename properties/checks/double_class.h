// properties/checks/double_class.h: the class of a double by the C library, not by bits: for checks and tests of
// core/params/analysis.h. Proved by tests/core/layout_analysis_test.cc.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/params/analysis.h"

namespace packcheck {

[[nodiscard]] inline DoubleClass observed_class(std::uint64_t bits) {
  switch (std::fpclassify(std::bit_cast<double>(bits))) {
    case FP_ZERO: return DoubleClass::zero;
    case FP_SUBNORMAL: return DoubleClass::subnormal;
    case FP_INFINITE: return DoubleClass::infinity;
    case FP_NAN: return DoubleClass::nan;
    default: return DoubleClass::normal;
  }
}

}  // namespace packcheck
