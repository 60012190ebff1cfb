// The proved error bounds: never exceeded and nearly reached, in exact arithmetic.
#include "core/encoding/bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "core/encoding/elements.h"
#include "tests/core/error_meter.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// How the numbers of an encoding's blocks come about.
enum class Kind { symmetric, with_minimum, mean, element, trits_of_mean, planes, single, rotated };
struct Shape {
  std::string_view name;
  Kind kind;
  int largest_code;  ///< A or the range, in steps
  bool clips;
  bool truncates;  ///< whether a truncating quantizer is a rule of the family
};
constexpr std::array<Shape, 23> kShapes{{{"q8_0", Kind::symmetric, 127, false, true},
                                         {"q4_0", Kind::symmetric, 8, true, true},
                                         {"q4_1", Kind::with_minimum, 15, false, true},
                                         {"q5_0", Kind::symmetric, 16, true, true},
                                         {"q5_1", Kind::with_minimum, 31, false, true},
                                         {"q8_1", Kind::symmetric, 127, false, true},
                                         {"tq1_0", Kind::symmetric, 1, false, true},
                                         {"tq2_0", Kind::symmetric, 1, false, true},
                                         {"q1_0", Kind::mean, 1, false, false},
                                         {"q2_0", Kind::symmetric, 1, false, true},
                                         {"mxfp4", Kind::element, 6, false, false},
                                         {"mxfp8_e4m3", Kind::element, 448, false, true},
                                         {"mxfp8_e5m2", Kind::element, 57344, false, true},
                                         {"mxfp6_e3m2", Kind::element, 28, false, true},
                                         {"mxfp6_e2m3", Kind::element, 7, false, true},
                                         {"mxint8", Kind::element, 1, false, true},
                                         {"mxfp8", Kind::element, 448, false, false},
                                         {"nvfp4", Kind::element, 6, false, false},
                                         {"nvfp4_tensor", Kind::element, 6, false, true},
                                         {"bitnet_b1_58", Kind::trits_of_mean, 1, false, true},
                                         {"bitnet_planes", Kind::planes, 2187, false, true},
                                         {"i8_absmax", Kind::single, 127, false, true},
                                         {"turboquant_polar", Kind::rotated, 0, false, false}}};

struct Quantizer {
  const Encoding* encoding;
  Shape shape;
};

/// Affine groups are tested in affine_bounds_test.cc.
bool is_tested_elsewhere(const Encoding& e) { return e.rules.affine.bits != 0; }

/// Every other encoding with a quantizer; one without a shape here fails the first test.
std::vector<Quantizer> quantizers() {
  std::vector<Quantizer> all;
  for (const Encoding& e : all_encodings())
    for (const Shape& shape : kShapes)
      if (e.quantizes && e.name.substr(0, e.name.find('(')) == shape.name) all.push_back({&e, shape});
  return all;
}

TEST(ErrorBound, IsTestedHereForEveryQuantizer) {
  std::size_t count = 0;
  for (const Encoding& e : all_encodings()) count += e.quantizes && !is_tested_elsewhere(e) ? 1 : 0;
  EXPECT_EQ(quantizers().size(), count);
}

float with_exponent(std::uint64_t significand, int exponent) {
  return static_cast<float>(std::ldexp(static_cast<double>(significand), exponent));
}

constexpr int kSmallestLastBit = -24;  // of a half
constexpr int kLargestLastBit = 5;

/// A scale whose half is as far away as halves get: beside the middle of two halves, or, where
/// SKaiNET cuts off, just below the next one. `exponent` is that of the half's last bit.
float difficult_scale(Random& random, int exponent) {
  const std::uint64_t half =
      exponent > -24 || random.coin() ? 1024 + random.below(random.coin() ? 4 : 1024) : random.below(1024);
  const float middle = with_exponent(2 * half + (random.coin() ? 1 : 2), exponent - 1);
  return nudged(random, middle, 3);
}

/// Elements beside the middles between codes of a step close to `d`, the extreme among them.
std::vector<float> symmetric_block(Random& random, std::size_t size, float d, const Shape& shape) {
  std::vector<float> block(size);
  const int largest = shape.largest_code;
  const double scale = static_cast<double>(d);
  for (float& x : block) {
    const int code = static_cast<int>(random.below(static_cast<std::uint64_t>(2 * largest))) - largest;
    // Often the largest codes, where the scale's own error weighs most.
    const int chosen = random.coin() ? code : (random.coin() ? largest - 1 : -largest);
    x = nudged(random, static_cast<float>((chosen + 0.5) * scale), 2);
  }
  const float extreme = static_cast<float>(largest * scale);
  block[0] = random.coin() ? extreme : -extreme;
  if (shape.clips && random.coin()) block[1 + random.below(size - 1)] = -block[0];
  return block;
}

/// The same above a minimum whose half is far away too.
std::vector<float> block_above_minimum(Random& random, std::size_t size, float d, float least, int largest) {
  std::vector<float> block(size);
  const double scale = static_cast<double>(d);
  const double low = static_cast<double>(least);
  for (float& x : block) {
    const int code = static_cast<int>(random.below(static_cast<std::uint64_t>(largest)));
    const int chosen = random.coin() ? code : (random.coin() ? largest - 1 : 0);
    x = std::max(least, nudged(random, static_cast<float>(low + (chosen + 0.5) * scale), 2));
  }
  block[0] = least;
  block[1] = static_cast<float>(low + largest * scale);
  return block;
}

/// Pairs that are as far above `d` as below, so that it is their mean.
std::vector<float> block_around_mean(Random& random, std::size_t size, float d) {
  std::vector<float> block(size);
  for (std::size_t i = 0; i < size; i += 2) {
    const float away = random.coin() ? 0.0F : d * static_cast<float>(random.below(8)) * 0.125F;
    block[i] = random.coin() ? d + away : -(d + away);
    block[i + 1] = random.coin() ? d - away : away - d;
  }
  return block;
}

/// The middles between the numbers of an element, and a few numbers above the largest.
std::vector<double> middles_of(const ElementShape& element) {
  std::vector<double> middles;
  const unsigned finite = element.integer ? 127U : static_cast<unsigned>(spec(element.format).largest_finite());
  for (unsigned code = 0; code < finite; ++code)
    middles.push_back((number_of_element(element, code) + number_of_element(element, code + 1)) / 2);
  const double largest = largest_element(element);
  for (const double above : {1.0625, 1.125, 1.25}) middles.push_back(above * largest);
  return middles;
}

/// Elements beside the middles between codes, under a power of two near `d`.
std::vector<float> element_block(Random& random, const Encoding& e, float d) {
  static std::map<std::string, std::vector<double>> known;
  std::vector<double>& middles = known[e.id()];
  if (middles.empty()) middles = middles_of(e.rules.element);
  const double largest = largest_element(e.rules.element);
  std::vector<float> block(e.block_size);
  const double scale = std::ldexp(1.0, std::ilogb(d) - std::ilogb(largest) + 2);
  for (float& x : block) {
    x = nudged(random, static_cast<float>(middles[random.below(middles.size())] * scale), 3);
    if (random.coin()) x = -x;
  }
  // Where the power of two changes.
  const double end = random.coin() ? largest : std::ldexp(2.0, std::ilogb(largest));
  block[0] = nudged(random, static_cast<float>(end * scale), 2);
  return block;
}

/// Where Kotlin's Random(0).nextBoolean() is true: bit i of word i/64. From a computation of its own.
constexpr std::array<std::uint64_t, 2> kSignsFlipped{0x71A713380239521DU, 0xBAE78ABF6AF3C68EU};

double sign_at(std::size_t i) { return (kSignsFlipped[i / 64] >> i % 64 & 1) != 0 ? -1.0 : 1.0; }
/// An entry of the Walsh-Hadamard matrix.
double walsh(std::size_t i, std::size_t j) { return std::popcount(i & j) % 2 == 0 ? 1.0 : -1.0; }

/// The largest code of "turboquant_polar(BITS,BLOCK)".
int largest_rotated_code(const Encoding& e) { return (1 << (e.name[e.name.find('(') + 1] - '1')) - 1; }

/// Numbers that, rotated, lie just beside the middles between codes of a step `d`, all on the side from which rounding
/// moves one of the numbers the same way. In each group one has the largest code.
std::vector<float> rotated_block(Random& random, const Encoding& e, float d) {
  const std::size_t size = e.block_size;
  const int largest = largest_rotated_code(e);
  const std::size_t moved = random.below(size);
  std::vector<double> steps(size);
  for (std::size_t j = 0; j < size; ++j) {
    const int below = static_cast<int>(random.below(static_cast<std::uint64_t>(2 * largest))) - largest;
    steps[j] = j % 32 == 5 ? largest : below + 0.5 + walsh(moved, j) * 0x1p-7;
  }
  std::vector<float> block(size);
  for (std::size_t i = 0; i < size; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < size; ++j) sum += walsh(i, j) * steps[j];
    block[i] = static_cast<float>(sign_at(i) * sum * static_cast<double>(d) / std::sqrt(static_cast<double>(size)));
  }
  return block;
}

/// A block whose scale is close to one whose half has its last bit at 2^exponent.
std::vector<float> difficult_block(Random& random, const Quantizer& q, int exponent) {
  const std::size_t size = q.encoding->block_size;
  const float d = difficult_scale(random, exponent);
  switch (q.shape.kind) {
    case Kind::symmetric: return symmetric_block(random, size, d, q.shape);
    case Kind::with_minimum: {
      const int away = exponent + static_cast<int>(random.below(6)) - 4;
      const float least = difficult_scale(random, std::min(away, kLargestLastBit));
      return block_above_minimum(random, size, d, random.coin() ? least : -least, q.shape.largest_code);
    }
    case Kind::mean:
    case Kind::trits_of_mean: return block_around_mean(random, size, d);
    case Kind::element: return element_block(random, *q.encoding, d);
    case Kind::planes: return symmetric_block(random, size, d / static_cast<float>(q.shape.largest_code), q.shape);
    case Kind::single: return symmetric_block(random, size, d, q.shape);
    case Kind::rotated: return rotated_block(random, *q.encoding, d);
  }
  return {};
}

/// A search over blocks whose half scale has its last bit at 2^lowest … 2^highest.
Tally search(const Quantizer& q, int lowest, int highest, std::size_t numbers, std::uint64_t seed) {
  Random random(seed);
  Tally tally;
  for (std::size_t i = 0; i < numbers / q.encoding->block_size; ++i) {
    const int exponent = lowest + static_cast<int>(random.below(static_cast<std::uint64_t>(highest - lowest + 1)));
    measure_block(*q.encoding, difficult_block(random, q, exponent), tally);
  }
  return tally;
}

struct Regime {
  const char* name;
  int lowest;
  int highest;
};
TEST(ErrorBound, IsNeverExceededAndNearlyReachedForEveryQuantizer) {
  for (const Quantizer& q : quantizers()) {
    const std::string id = q.encoding->id();
    for (const Regime& regime :
         {Regime{"normal scales", -23, kLargestLastBit}, Regime{"subnormal scales", kSmallestLastBit, kSmallestLastBit},
          Regime{"scales at the overflow of half", kLargestLastBit, kLargestLastBit}}) {
      const Tally tally = search(q, regime.lowest, regime.highest, 128000, 31);
      EXPECT_EQ(tally.exceeded, 0U) << regime.name << ": " << tally.worst;
      EXPECT_GT(tally.nearly_reached, 0U) << id << ", " << regime.name;
      EXPECT_GT(tally.measured, 60000U) << id << ", " << regime.name;
    }
  }
}

TEST(ErrorBound, IsNeverExceededWhereTheScaleBecomesZeroOrItsReciprocalOverflows) {
  for (const Quantizer& q : quantizers()) {
    for (const Regime& regime : {Regime{"scales below every half", -60, -25}, Regime{"overflow of 1/d", -142, -130},
                                 Regime{"subnormal singles", -160, -143}}) {
      const Tally tally = search(q, regime.lowest, regime.highest, 64000, 32);
      EXPECT_EQ(tally.exceeded, 0U) << regime.name << ": " << tally.worst;
      // An exponent byte may be undefined below 2^-125, or wrap.
      if (q.shape.kind == Kind::element && regime.lowest != -60) continue;
      EXPECT_GT(tally.measured, 50000U) << q.encoding->id() << ", " << regime.name;
    }
  }
}

TEST(ErrorBound, HoldsForEveryKindOfBlock) {
  for (const Quantizer& q : quantizers()) {
    Tally tally;
    for (const std::vector<float>& block : sample_blocks(25600 / q.encoding->block_size, 33, q.encoding->block_size))
      measure_block(*q.encoding, block, tally);
    EXPECT_EQ(tally.exceeded, 0U) << tally.worst;
    EXPECT_GT(tally.unbounded, 0U) << q.encoding->id();
    EXPECT_GT(tally.measured, 80000U) << q.encoding->id();
  }
}

/// The number beside ones in a block whose scale is 65520, which is infinite as a half; infinity for a
/// block whose scale is an exponent or a single.
float overflowing_number(const Quantizer& q) {
  switch (q.shape.kind) {
    case Kind::symmetric: return static_cast<float>(q.shape.largest_code) * 65520.0F;
    case Kind::with_minimum: return static_cast<float>(q.shape.largest_code) * 65520.0F + 1.0F;
    case Kind::mean: return static_cast<float>(q.encoding->block_size) * 65520.0F;
    case Kind::planes: return 65520.0F;
    default: return kInfinity;
  }
}

/// The largest number that, beside ones, is promised something. Sums of a rotation overflow before 2^127.
float largest_promised(const Quantizer& q) {
  if (q.shape.kind == Kind::rotated) return 0x1p120F;
  const float limit = overflowing_number(q);
  return std::isinf(limit) ? std::numeric_limits<float>::max() : limit * (1.0F - 0x1p-14F);
}

TEST(ErrorBound, PromisesNothingForNonFiniteBlocksAndOverflowingScales) {
  for (const Quantizer& q : quantizers()) {
    for (const float value : {kInfinity, std::numeric_limits<float>::quiet_NaN(), overflowing_number(q)}) {
      std::vector<float> block(q.encoding->block_size, 1.0F);
      block.back() = value;
      EXPECT_TRUE(std::isinf(error_bound(*q.encoding, block, 0))) << q.encoding->id() << " " << value;
    }
    std::vector<float> block(q.encoding->block_size, 1.0F);
    block.back() = largest_promised(q);
    EXPECT_FALSE(std::isinf(error_bound(*q.encoding, block, 0))) << q.encoding->id();
  }
}

TEST(ErrorBound, PromisesNothingWhereADecodedNumberOrASumMayOverflow) {
  for (const std::string_view id : {"i8_absmax(4):skainet", "turboquant_polar(4,32):skainet"}) {
    const Encoding& encoding = **encoding_named(id);
    const std::vector<float> block(encoding.block_size, std::numeric_limits<float>::max());
    EXPECT_TRUE(std::isinf(error_bound(encoding, block, 0))) << id;
  }
}

TEST(ErrorBound, PromisesNothingForAnEncodingWithoutAQuantizer) {
  const Encoding& q6 = **encoding_named("q6_K:ggml");
  EXPECT_TRUE(std::isinf(error_bound(q6, std::vector<float>(256, 1.0F), 17)));
}

TEST(ErrorBound, ATruncatingQuantizerExceedsItInOrdinaryBlocks) {
  for (const Quantizer& q : quantizers()) {
    if (!q.shape.truncates) continue;
    Encoding encoding = *q.encoding;
    encoding.rules.code = CodeRounding::truncate;
    Random random(35);
    const std::size_t together = std::max<std::size_t>(1, 32 / encoding.block_size);
    for (int i = 0; i < 50; ++i) {
      Tally tally;
      for (std::size_t b = 0; b < together; ++b) {
        std::vector<float> block(encoding.block_size);
        for (float& x : block) x = with_exponent(random.below(1U << 24), -24) - 0.5F;
        measure_block(encoding, block, tally);
      }
      EXPECT_GT(tally.exceeded, 0U) << encoding.id();
      EXPECT_EQ(tally.measured, together * encoding.block_size) << encoding.id();
    }
  }
}

TEST(ErrorBound, IsTheDistanceToZeroWhereEverythingBecomesZero) {
  for (const Quantizer& q : quantizers()) {
    if (q.shape.kind != Kind::symmetric) continue;
    const std::vector<float> block(q.encoding->block_size, 0x1p-140F);
    EXPECT_EQ(error_bound(*q.encoding, block, 3), 0x1p-140) << q.encoding->id();
  }
}

TEST(ErrorBound, OfABlockOfZerosIsZero) {
  for (const Quantizer& q : quantizers())
    EXPECT_EQ(error_bound(*q.encoding, std::vector<float>(q.encoding->block_size, -0.0F), 3), 0.0) << q.encoding->id();
}

}  // namespace
}  // namespace packcheck::test
