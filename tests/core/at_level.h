// tests/core/at_level.h: the vector level that fast paths are held at while a test runs.
#pragma once

#include <gtest/gtest.h>

#include "core/simd.h"

namespace packcheck::test {

/// The level while alive; the best one after.
class AtLevel {
 public:
  explicit AtLevel(SimdLevel level) { EXPECT_TRUE(set_simd_level(level)); }
  ~AtLevel() { EXPECT_TRUE(set_simd_level(best_simd_level())); }
  AtLevel(const AtLevel&) = delete;
  AtLevel& operator=(const AtLevel&) = delete;
};

}  // namespace packcheck::test
