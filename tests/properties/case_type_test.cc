// Case types: their JSON is lossless, halves and domains cover what they split.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "properties/cases/cases.h"
#include "properties/cases/graphs.h"
#include "properties/cases/networks.h"
#include "properties/cases/operators.h"
#include "properties/cases/products.h"
#include "tests/properties/samples.h"

namespace packcheck::test {
namespace {

bool is_tensor(const CaseType& type) {
  return &type == &repack_tensor_cases || &type == &requantize_tensor_cases || &type == &load_tensor_cases;
}

/// Everything in a case as bytes, straight from its struct: what its JSON must not lose.
std::string content_of(const Case& c) {
  const auto text = [](std::string_view part) { return std::to_string(part.size()) + ":" + std::string(part); };
  if (c.type == &conversion_cases) {
    const auto& v = c.as<ConversionCase>();
    return text(spec(v.from).name) + text(spec(v.to).name) + text(bytes_to_string(v.elements));
  }
  if (c.type == &values_cases)
    return text(c.as<ValuesCase>().encoding->id()) + text(floats_to_string(c.as<ValuesCase>().values));
  if (c.type == &blocks_cases)
    return text(c.as<BlocksCase>().encoding->id()) + text(bytes_to_string(c.as<BlocksCase>().blocks));
  if (c.type == &parameters_cases) {
    std::string all = text(c.as<ParametersCase>().layout->id());
    for (const std::int64_t value : c.as<ParametersCase>().values) all += text(std::to_string(value));
    return all;
  }
  if (c.type == &words_cases)
    return text(c.as<WordsCase>().layout->id()) + text(u64s_to_string(c.as<WordsCase>().words));
  if (c.type == &number_cases) return std::to_string(c.as<NumberCase>().bits);
  if (c.type == &text_cases) return text(c.as<TextCase>().text);
  if (c.type == &affine_cases) {
    const AffineTensor& t = c.as<AffineCase>().tensor;
    return text(u64s_to_string(shape_of(t))) + text(spec(t.scale_format).name) + text(bytes_to_string(t.codes)) +
           text(bytes_to_string(t.scales)) + text(bytes_to_string(t.biases));
  }
  if (c.type == &file_cases)
    return text(file_kind_name(c.as<FileCase>().kind)) + text(bytes_to_string(c.as<FileCase>().bytes));
  if (c.type == &call_cases) {
    std::string all = text(c.as<CallCase>().variant) + text(operation_name(c.as<CallCase>().request.operation));
    for (const std::string& argument : c.as<CallCase>().request.arguments) all += text(argument);
    return all;
  }
  if (is_tensor(*c.type)) return c.as<DescribedTensor>().source + text(write_tensor(c.as<DescribedTensor>()));
  if (c.type == &graph_bytes_cases)
    return text(c.as<GraphBytesCase>().dialect) + text(bytes_to_string(c.as<GraphBytesCase>().ysgp));
  if (c.type == &network_cases) return text(c.as<NetworkCase>().variant) + text(c.as<NetworkCase>().text);
  if (c.type == &graph_text_cases) return text(c.as<GraphTextCase>().dialect) + text(c.as<GraphTextCase>().text);
  if (c.type == &shape_cases || c.type == &node_cases) {
    const bool shape = c.type == &shape_cases;
    std::string all;
    for (const std::string& argument :
         shape ? arguments_of(c.as<ShapeRequest>()) : arguments_of(c.as<NodeRequest>(), true))
      all += text(argument);
    return all;
  }
  if (c.type == &product_cases || c.type == &gate_up_cases || c.type == &unsound_product_cases) {
    const ProductRequest& r = c.as<ProductCase>().request;
    std::string all;
    for (const std::string& argument : product_arguments(r, 0, r.weights.size())) all += text(argument);
    return all;
  }
  ADD_FAILURE() << "no content of a " << c.type->name() << " case";
  return {};
}

class EveryVariant : public testing::TestWithParam<TypeAndVariant> {};

TEST_P(EveryVariant, ReadsBackFromItsJson) {
  const auto& [type, variant] = GetParam();
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Case c = random_case(*type, variant, seed);
    EXPECT_EQ(c.type, type);
    EXPECT_EQ(type->variant(c), variant);
    const std::string json = type->to_json(c);
    const Result<Case> read = type->from_json(json);
    ASSERT_TRUE(read) << read.error().text() << "\n" << json;
    ASSERT_EQ(read->type, type);
    ASSERT_EQ(content_of(*read), content_of(c)) << json;
    ASSERT_EQ(type->to_json(*read), json);
    ASSERT_EQ(type->variant(*read), variant);
    ASSERT_EQ(json.find('\n'), std::string::npos) << "one line";
  }
}

/// The inputs of a case, as the bytes of one after the other.
std::string inputs_of(const Case& c) {
  if (c.type == &conversion_cases) return bytes_to_string(c.as<ConversionCase>().elements);
  if (c.type == &values_cases) return floats_to_string(c.as<ValuesCase>().values);
  if (c.type == &blocks_cases) return bytes_to_string(c.as<BlocksCase>().blocks);
  return {};
}

/// Bytes that cannot be parted.
std::size_t unit_of(const Case& c) {
  if (c.type == &conversion_cases) return spec(c.as<ConversionCase>().from).bytes();
  if (c.type == &values_cases) return sizeof(float) * c.as<ValuesCase>().encoding->block_size;
  if (c.type == &blocks_cases) return c.as<BlocksCase>().encoding->block_bytes;
  return 0;
}

TEST_P(EveryVariant, HalvesComeFirstAndPartTheInputs) {
  const auto& [type, variant] = GetParam();
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Case c = random_case(*type, variant, seed);
    std::vector<Case> halves = type->halves(c);
    const std::size_t unit = unit_of(c);
    if (unit == 0 || inputs_of(c).size() < 2 * unit) continue;
    ASSERT_GE(halves.size(), 2U);
    const std::string one = inputs_of(halves[0]);
    const std::string other = inputs_of(halves[1]);
    EXPECT_TRUE(!one.empty() && !other.empty() && one.size() % unit == 0 && other.size() % unit == 0);
    EXPECT_EQ(one + other, inputs_of(c));
  }
}

TEST_P(EveryVariant, WhatIsNoHalfIsSmaller) {
  const auto& [type, variant] = GetParam();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Case c = random_case(*type, variant, seed);
    const std::string inputs = inputs_of(c);
    for (const Case& simpler : type->halves(c)) {
      EXPECT_EQ(type->variant(simpler), variant);
      // As one little-endian number, which goes down.
      const std::string shorter = inputs_of(simpler);
      EXPECT_TRUE(shorter.size() < inputs.size() ||
                  std::lexicographical_compare(
                      shorter.rbegin(), shorter.rend(), inputs.rbegin(), inputs.rend(),
                      [](char a, char b) { return static_cast<unsigned char>(a) < static_cast<unsigned char>(b); }) ||
                  inputs.empty());
    }
  }
}

TEST_P(EveryVariant, HasADomainExactlyWhereInputsHaveAtMost32BitsOrAreDesigned) {
  const auto& [type, variant] = GetParam();
  const bool designed = type == &parameters_cases || variant.rfind("f64->", 0) == 0 || is_tensor(*type) ||
                        type == &shape_cases || type == &node_cases;
  const bool small = designed || type == &blocks_cases || type == &conversion_cases;
  const std::optional<Domain> domain = type->domain(variant);
  ASSERT_EQ(domain.has_value(), small);
  if (!small) return;
  EXPECT_EQ(domain->exhaustive, !designed);
  EXPECT_GT(domain->batch, 0U);
  EXPECT_EQ(domain->total % domain->batch, 0U);
  EXPECT_EQ(type->variant(domain->make(0, domain->batch)), variant);
}

INSTANTIATE_TEST_SUITE_P(CaseType, EveryVariant, testing::ValuesIn(all_variants()), name_of_variant);

/// Element `index` of a conversion case.
std::uint64_t element(const Case& c, std::size_t index) {
  const auto& conversion = c.as<ConversionCase>();
  return load_element(spec(conversion.from), conversion.elements, index);
}

TEST(Domain, OfASixteenBitFormatHoldsEveryBitPatternOnce) {
  for (const char* variant : {"f16->f32", "f16->bf16", "bf16->f32", "bf16->f64"}) {
    const Domain domain = conversion_cases.domain(variant).value();
    ASSERT_EQ(domain.total, 65536U);
    std::vector<bool> seen(domain.total);
    for (std::uint64_t first = 0; first < domain.total; first += domain.batch) {
      const Case c = domain.make(first, domain.batch);
      ASSERT_EQ(c.as<ConversionCase>().count(), domain.batch);
      for (std::size_t i = 0; i < domain.batch; ++i) {
        ASSERT_FALSE(seen[element(c, i)]);
        seen[element(c, i)] = true;
      }
    }
    EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 65536) << variant;
  }
}

TEST(Domain, OfF32GoesFromTheFirstToTheLastBitPattern) {
  const Domain domain = conversion_cases.domain("f32->f16").value();
  ASSERT_EQ(domain.total, std::uint64_t{1} << 32);
  for (const std::uint64_t first : {std::uint64_t{0}, domain.total - domain.batch}) {
    const Case c = domain.make(first, domain.batch);
    ASSERT_EQ(c.as<ConversionCase>().count(), domain.batch);
    for (std::size_t i = 0; i < domain.batch; ++i) ASSERT_EQ(element(c, i), first + i);
  }
}

/// Whether byte `at` of a block belongs to a scale.
bool holds_scale(const Encoding& e, std::size_t at) {
  return std::any_of(e.scales.begin(), e.scales.end(),
                     [at](const ScaleField& field) { return at >= field.offset && at < field.offset + field.bytes; });
}

/// Each first half, each upper half of a single, or each value of each scale byte where there is neither.
TEST(Domain, OfBlocksHoldsEveryScaleWithEveryCodeByte) {
  for (const Encoding& e : all_encodings()) {
    if (e.rules.affine.bits != 0 && e.rules.affine.bits != 3) continue;  // one width stands for the others
    const auto half = std::find_if(e.scales.begin(), e.scales.end(), [](const ScaleField& field) {
      return field.format == ScaleFormat::f16 || field.format == ScaleFormat::bf16;
    });
    const bool single = !e.scales.empty() && e.scales.front().format == ScaleFormat::f32;
    const std::size_t front = e.scales.empty() ? 0 : e.scales.front().offset;
    const std::size_t offset = half != e.scales.end() ? half->offset : front + (single ? 2 : 0);
    const Domain domain = blocks_cases.domain(e.id()).value();
    constexpr std::size_t kPairs = 16'777'216;  // 65536 scales, 256 code bytes
    std::vector<bool> seen(kPairs);
    for (std::uint64_t first = 0; first < domain.total; first += domain.batch) {
      const Case c = domain.make(first, domain.batch);
      const Bytes& blocks = c.as<BlocksCase>().blocks;
      ASSERT_EQ(blocks.size(), domain.batch * e.block_bytes);
      for (std::size_t at = 0; at < blocks.size(); at += e.block_bytes) {
        std::size_t scale = e.scales.empty() ? 0 : blocks[at + offset];
        if (half != e.scales.end() || single) scale += 256U * blocks[at + offset + 1];
        for (std::size_t i = 0; i < e.block_bytes; ++i)
          if (!holds_scale(e, i)) seen[scale * 256 + blocks[at + i]] = true;
      }
    }
    const std::size_t scales = e.scales.empty() ? 1 : (half != e.scales.end() || single ? 65536 : 256);
    EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), std::size_t{0}), 256 * scales) << e.id();
  }
}

TEST(WireFormat, OfTextIsTheTextAndOfBlocksWholeBlocks) {
  const Bytes bytes{'-', '0', 0x00, 0xFF};
  EXPECT_EQ(text_cases.from_wire(bytes, "json")->as<TextCase>().text, std::string("-0\0\xFF", 4));
  const Encoding& e = *encoding_named("q4_0:ggml").value();
  for (const std::size_t size : {0U, 17U, 18U, 35U, 36U, 40U}) {
    const Bytes blocks(size, 0xA5);
    EXPECT_EQ(blocks_cases.from_wire(blocks, e.id())->as<BlocksCase>().blocks.size(), size / 18 * 18);
  }
}

TEST(WireFormat, EveryFileGivesACaseWhoseJsonReadsBack) {
  for (const CaseType* type : {&text_cases, &blocks_cases})
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      RandomSource random(seed);
      Bytes bytes(random.below(120));
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.bits(8));
      const Case c = type->from_wire(bytes, type == &text_cases ? "json" : "q8_0:ggml").value();
      const Result<Case> read = type->from_json(type->to_json(c));
      ASSERT_TRUE(read) << read.error().text();
      EXPECT_EQ(type->to_json(*read), type->to_json(c));
    }
}

TEST(CaseTypes, AreFoundByNameAndNoOtherNameIs) {
  for (const CaseType* type : all_case_types()) EXPECT_EQ(case_type_named(type->name()), type);
  EXPECT_EQ(case_type_named("graph"), nullptr);
  EXPECT_EQ(case_type_named(""), nullptr);
}

}  // namespace
}  // namespace packcheck::test
