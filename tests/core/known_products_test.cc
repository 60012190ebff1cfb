// Known answers of the rules of affine weights and of products with them (known_answers.h).
#include <array>
#include <vector>

#include "core/affine/affine.h"
#include "core/affine/matmul_bound.h"
#include "core/affine/nan_trace.h"
#include "tests/core/known_answers.h"
#include "tests/core/packed_samples.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

void dequantize_affine(const AffineRules& rules, bool, Digest& digest) {
  Random random(12);
  const auto bytes = [&](std::size_t size) {
    std::vector<std::uint8_t> all(size);
    for (std::uint8_t& byte : all) byte = static_cast<std::uint8_t>(random.bits());
    return all;
  };
  struct Shape {
    std::size_t out, in, columns, block_rows, block_columns;
  };
  for (const Format format : {Format::bf16, Format::f16, Format::f32})
    for (const unsigned bits : {2U, 3U, 4U, 5U, 6U, 8U})
      for (const Shape& s : {Shape{3, 128, 2, 1, 0}, Shape{2, 64, 1, 1, 0}, Shape{66, 128, 1, 1, 0},
                             Shape{5, 96, 3, 2, 32}, Shape{6, 40, 2, 4, 24}}) {
        const std::size_t scales = (s.out + s.block_rows - 1) / s.block_rows * s.columns * spec(format).bytes();
        const std::vector<std::uint8_t> codes = bytes(s.out * s.in * bits / 8);
        const std::vector<std::uint8_t> scale = bytes(scales);
        const std::vector<std::uint8_t> bias = bytes(scales);
        std::vector<float> out(s.out * s.in);
        const AffineWeights weights{s.out, s.in, s.columns, format,       codes,
                                    scale, bias, bits,      s.block_rows, s.block_columns};
        if (const auto done = affine_dequantize(weights, out, rules); !done) digest.add(done.error());
        digest.add(out);
      }
}

TEST(KnownAnswers, OfEveryRuleOfAffineWeightsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 10> kKnown{{
      {"as they are", 0x120BD71D6AABD9EB},
      {"scales as f32", 0x2380A72990A0CCFC},
      {"group of columns", 0xA022968414810740},
      {"group not passed", 0x8469B037A6889FA0},
      {"group minus one", 0x5FF99EC91FAAC230},
      {"width 4", 0xFF2938B3799024C2},
      {"logical dtype", 0x511701A77932FD0C},
      {"block of the scales' shape", 0x534E2E58BA293A8B},
      {"rows per scale", 0x62C9E7C0055D6A2C},
      {"first row", 0x452B30FD72BBE9D4},
  }};
  static constexpr std::array<ChangedRule<AffineRules>, 9> kChanges{{
      {"scales as f32", [](AffineRules& r) { r.scales = ScaleReading::bytes_as_f32; }},
      {"group of columns", [](AffineRules& r) { r.group = GroupReading::scale_columns; }},
      {"group not passed", [](AffineRules& r) { r.group = GroupReading::not_passed; }},
      {"group minus one", [](AffineRules& r) { r.group = GroupReading::minus_one; }},
      {"width 4", [](AffineRules& r) { r.width = CodeWidth::global_4; }},
      {"logical dtype", [](AffineRules& r) { r.width = CodeWidth::logical_dtype; }},
      {"block of the scales' shape", [](AffineRules& r) { r.block = BlockReading::scale_shape; }},
      {"rows per scale", [](AffineRules& r) { r.block = BlockReading::rows_per_scale; }},
      {"first row", [](AffineRules& r) { r.row = RowReading::first; }},
  }};
  expect_known<AffineRules>(kChanges, kKnown, dequantize_affine);
}

void multiply_all(const ProductRules& rules, bool, Digest& digest) {
  Random random(13);
  for (int i = 0; i < 120; ++i) {
    const PackedSample s = random_sample(random, i % 4 == 3);
    const PackedSample other = random_sample(random, false);
    std::vector<float> y(s.product.rows * s.product.out_features, 7.0F);
    std::vector<float> up = y;
    if (const auto done = affine_matmul(s.arguments(), s.weights.view(), y, rules); !done) digest.add(done.error());
    digest.add(y);
    PackedBytes second = s.weights;
    for (std::uint8_t& code : second.codes) code = static_cast<std::uint8_t>(code * 5 + 1);
    if (const auto done = affine_gate_up(s.arguments(), s.weights.view(), second.view(), y, up, rules); !done)
      digest.add(done.error());
    digest.add(y);
    digest.add(up);
    // Shapes that do not go together.
    if (const auto done = affine_matmul(s.arguments(), other.weights.view(), y, rules); !done) digest.add(done.error());
  }
  // As many outputs as a group that is wrong needs to read past a buffer only in the middle.
  PackedSample large(1, 128, 64, 64, 4, Format::f32, SumOrder::lanes);
  for (std::uint8_t& code : large.weights.codes) code = static_cast<std::uint8_t>(random.bits());
  for (std::size_t o = 0; o < 64; ++o) large.set_scale(o, o % 2, static_cast<float>(o));
  for (float& x : large.x) x = static_cast<float>(random.below(64));
  std::vector<float> sums(64, 7.0F);
  if (const auto done = affine_matmul(large.arguments(), large.weights.view(), sums, rules); !done)
    digest.add(done.error());
  digest.add(sums);
  for (const unsigned bits : {0U, 1U, 4U, 7U, 8U, 9U})
    for (const std::size_t group : {0U, 16U, 32U, 64U}) {
      PackedSample s(1, 64, 3, 32, 8, Format::f16, SumOrder::sequential);
      s.product.bits = bits;
      s.product.group_size = group;
      std::vector<float> y(3);
      if (const auto done = affine_matmul(s.arguments(), s.weights.view(), y, rules); !done) digest.add(done.error());
    }
}

TEST(KnownAnswers, OfEveryRuleOfProductsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 21> kKnown{{
      {"as they are", 0xF7CB0F7095523890},
      {"bytes as f32", 0x119761D0AC18D66E},
      {"half as bfloat", 0x14E4B68850FE4F11},
      {"group of scale columns", 0x807D36F3F4E98F2B},
      {"group out per column", 0xE1F600D96DE4F391},
      {"group not passed", 0x73495B6657398E29},
      {"input not reset", 0x8BFF3328AFADB1C9},
      {"common scale", 0x7DA16296E82F6F47},
      {"features not passed", 0x2B16348D9B8C90D0},
      {"first row", 0xBF673F42A5804B12},
      {"by group", 0x7B9BC05ECC186F6C},
      {"high first", 0xF6A99011AF6CB275},
      {"within word", 0xF62342361F5E56B3},
      {"per word", 0x88AA2DDB92FB254D},
      {"bias dropped", 0x10C899E32CCD38D7},
      {"bias per row", 0x83C5CBF6BB36D3F5},
      {"weights in scale format", 0xA6370EBA87FE2142},
      {"whole steps", 0xA57F62EAD19EC7E5},
      {"whole tiles", 0x0AA6A34527855E95},
      {"sums in half", 0x9A3E042517259CC4},
      {"swapped", 0x7BC9943198EEF40C},
  }};
  using Rules = ProductRules;
  static constexpr std::array<ChangedRule<Rules>, 20> kChanges{{
      {"bytes as f32", [](Rules& r) { r.scales = ProductScales::bytes_as_f32; }},
      {"half as bfloat", [](Rules& r) { r.scales = ProductScales::half_as_bfloat; }},
      {"group of scale columns", [](Rules& r) { r.group = ProductGroup::scale_columns; }},
      {"group out per column", [](Rules& r) { r.group = ProductGroup::out_per_column; }},
      {"group not passed", [](Rules& r) { r.group = ProductGroup::not_passed; }},
      {"input not reset", [](Rules& r) { r.input = ProductInput::not_reset; }},
      {"common scale", [](Rules& r) { r.input = ProductInput::common_scale; }},
      {"features not passed", [](Rules& r) { r.features = ProductFeatures::not_passed; }},
      {"first row", [](Rules& r) { r.row = ProductRow::first; }},
      {"by group", [](Rules& r) { r.layout = ProductLayout::by_group; }},
      {"high first", [](Rules& r) { r.codes = ProductCodes::high_first; }},
      {"within word", [](Rules& r) { r.codes = ProductCodes::within_word; }},
      {"per word", [](Rules& r) { r.codes = ProductCodes::per_word; }},
      {"bias dropped", [](Rules& r) { r.bias = ProductBias::dropped; }},
      {"bias per row", [](Rules& r) { r.bias = ProductBias::per_row; }},
      {"weights in scale format", [](Rules& r) { r.weights = ProductWeights::scale_format; }},
      {"whole steps", [](Rules& r) { r.tail = ProductTail::whole_steps; }},
      {"whole tiles", [](Rules& r) { r.outputs = ProductOutputs::whole_tiles; }},
      {"sums in half", [](Rules& r) { r.sum = ProductSum::half; }},
      {"swapped", [](Rules& r) { r.pair = ProductPair::swapped; }},
  }};
  expect_known<Rules>(kChanges, kKnown, multiply_all);
}

TEST(KnownAnswers, OfEveryRuleOfProductsThatChecksAtTheIndexAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 8> kKnown{{
      {"as they are", 0x3E108FC5A205C981},
      {"at the index", 0x076868027C9B3509},
      {"and bytes as f32", 0x1AC28913F09BE739},
      {"and group of scale columns", 0xA6E482C5CED98874},
      {"and group out per column", 0xA6E482C5CED98874},
      {"and group not passed", 0xA3737A7A03C082C8},
      {"and features not passed", 0x8060707165E24DEC},
      {"and by group", 0x5E2C9A1E9460B6D2},
  }};
  using Rules = ProductRules;
  static constexpr std::array<ChangedRule<Rules>, 7> kChanges{{
      {"at the index", [](Rules& r) { r.checks = ProductChecks::at_the_index; }},
      {"and bytes as f32",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.scales = ProductScales::bytes_as_f32;
       }},
      {"and group of scale columns",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.group = ProductGroup::scale_columns;
       }},
      {"and group out per column",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.group = ProductGroup::out_per_column;
       }},
      {"and group not passed",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.group = ProductGroup::not_passed;
       }},
      {"and features not passed",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.features = ProductFeatures::not_passed;
       }},
      {"and by group",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.layout = ProductLayout::by_group;
       }},
  }};
  expect_known<Rules>(kChanges, kKnown, [](const Rules& rules, bool, Digest& digest) {
    Random random(14);
    for (int i = 0; i < 60; ++i) {
      PackedSample s = random_sample(random, false);
      const std::size_t cut = random.below(3);
      for (std::vector<std::uint8_t>* const bytes : {&s.weights.codes, &s.weights.scales, &s.weights.biases})
        if (random.below(3) == 0 && bytes->size() > cut) bytes->resize(bytes->size() - cut * 2);
      if (random.below(4) == 0 && !s.x.empty()) s.x.pop_back();
      std::vector<float> y(s.product.rows * s.product.out_features, 7.0F);
      if (const auto done = affine_matmul(s.arguments(), s.weights.view(), y, rules); !done) digest.add(done.error());
      digest.add(y);
    }
  });
}

TEST(KnownAnswers, OfTracesAndBoundsOfProductsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x342F1ABBEFF9CB5F},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    Random random(34);
    static constexpr std::array<std::uint32_t, 6> kOdd{0x7FC00000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x7F000000, 0};
    for (int i = 0; i < 120; ++i) {
      PackedSample s = random_sample(random, false);
      const std::size_t groups = s.product.in_features / s.product.group_size;
      if (s.product.in_features > 0 && s.product.out_features > 0) {
        const std::size_t o = random.below(s.product.out_features);
        const std::size_t g = random.below(groups);
        const float odd = std::bit_cast<float>(kOdd[random.below(6)]);
        if (i % 4 == 0) s.set_scale(o, g, odd);
        if (i % 4 == 1) s.set_bias(o, g, odd);
        if (i % 4 == 2 && !s.x.empty()) s.x[random.below(s.x.size())] = odd;
        if (i % 8 == 3 && !s.x.empty()) {
          for (float& x : s.x) x *= 0x1p60F;
          s.set_scale(o, g, 0x1p60F);
        }
      }
      const TracedLayer layer{"layer", s.product, s.weights.view()};
      const Result<std::optional<NanTrace>> trace = trace_nan({&layer, 1}, s.x, s.product.rows);
      if (!trace)
        digest.add(trace.error());
      else
        digest.add(*trace ? (*trace)->text() : std::string("finite"));
      digest.add(std::uint64_t{product_roundings(s.product.order, s.product.in_features, s.product.group_size)});
      for (std::size_t r = 0; r < s.product.rows; ++r)
        for (std::size_t o = 0; o < s.product.out_features; ++o) {
          const std::array<double, 1> bound{product_bound(s.arguments(), s.weights.view(), r, o)};
          digest.add(bound);
        }
    }
  });
}

}  // namespace
}  // namespace packcheck::test
