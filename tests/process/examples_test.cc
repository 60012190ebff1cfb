// The subjects that people copy from, compared with the reference.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "core/affine/groups.h"
#include "core/affine/matmul.h"
#include "core/format/convert.h"
#include "core/storage/repack.h"
#include "core/text/number_text.h"
#include "subjects/process/in_process_subject.h"
#include "subjects/process/native_subject.h"
#include "subjects/process/program_subject.h"
#include "subjects/product_calls.h"
#include "tests/process/requests.h"

namespace packcheck {
namespace {

/// Every 16-bit pattern, little-endian.
Bytes all_halves() {
  Bytes bytes;
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    bytes.push_back(static_cast<std::uint8_t>(bits & 0xFF));
    bytes.push_back(static_cast<std::uint8_t>(bits >> 8));
  }
  return bytes;
}

/// Floats around every 16-bit pattern of `narrow`: itself, the middle to the next, and both sides of it.
Bytes floats_near_each(Format narrow) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0xFFFF; ++bits) {
    const auto wide = [&](std::uint32_t b) { return static_cast<std::uint32_t>(convert(narrow, Format::f32, b)); };
    const std::uint32_t middle = wide(bits) / 2 + wide(bits + 1) / 2;
    for (const std::uint32_t near : {wide(bits), middle - 1, middle, middle + 1})
      values.push_back(std::bit_cast<float>(near));
  }
  return string_to_bytes(floats_to_string(values));
}

void expect_converts_like_the_reference(Subject& subject, Format from, Format to, const Bytes& in, bool compare_nans) {
  const Answer<Bytes> answer = call_convert(subject, from, to, "nearest-even", in);
  ASSERT_TRUE(answer.ok()) << answer.message;
  Bytes expected(answer.value.size());
  ASSERT_TRUE(convert_array(from, to, in, expected));
  for (std::size_t i = 0; i < in.size() / spec(from).bytes(); ++i) {
    const std::uint64_t is = load_element(spec(to), answer.value, i);
    const std::uint64_t right = load_element(spec(to), expected, i);
    if (!compare_nans && is_nan(spec(to), right) && is_nan(spec(to), is)) continue;
    ASSERT_EQ(is, right) << std::hex << load_element(spec(from), in, i);
  }
}

/// Values in range, one past it, and negative.
void expect_packs_like_the_reference(Subject& subject) {
  const Layout& layout = **layout_named("conv2d:gen2");
  for (const std::vector<std::int64_t>& values : {std::vector<std::int64_t>{3, 3, 1, 1, 64},
                                                  {255, 255, 255, 65535, 65535},
                                                  {0, 0, 0, 0, 0},
                                                  {256, 1, 1, 1, 1},
                                                  {1, 1, 1, 1, 65536},
                                                  {1, 1, -1, 1, 1}}) {
    const Result<PackedWords> right = pack(layout, values);
    const Answer<PackedWords> is = call_pack(subject, layout, values);
    ASSERT_EQ(outcome_name(is.outcome), right ? "answered" : "refused") << is.message;
    if (right) {
      EXPECT_EQ(is.value, *right);
    } else {
      EXPECT_NE(is.message, "");
    }
  }
  const PackedWords words{0xFFFFFFFF00030201, 0x123456789ABCDEF0};
  EXPECT_EQ(call_unpack(subject, layout, words).value, unpack(layout, words).values);
}

/// The C example, built with the line in its header.
class CExample : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string subjects = std::string(PACKCHECK_SOURCE_DIRECTORY) + "/subjects";
    library_ = testing::TempDir() + "packcheck_example_" + std::to_string(getpid()) + ".so";
    const std::string line = std::string(PACKCHECK_C_COMPILER) + " -shared -fPIC -I" + subjects + "/include " +
                             subjects + "/examples/example_subject.c -o " + library_;
    ASSERT_EQ(std::system(line.c_str()), 0) << line;
    Result<std::unique_ptr<Subject>> subject = open_native_subject(library_, kPatient);
    ASSERT_TRUE(subject) << subject.error().text();
    subject_ = std::move(*subject);
  }
  void TearDown() override { unlink(library_.c_str()); }

  std::string library_;
  std::unique_ptr<Subject> subject_;
};

TEST_F(CExample, ConvertsLikeTheReference) {
  EXPECT_EQ(subject_->info().name, "example");
  expect_converts_like_the_reference(*subject_, Format::bf16, Format::f32, all_halves(), true);
  expect_converts_like_the_reference(*subject_, Format::f32, Format::bf16, floats_near_each(Format::bf16), true);
}

TEST_F(CExample, WithoutAWorkerConvertsAsInOneAndRefusesAsInOne) {
  const Result<std::unique_ptr<Subject>> in_process = open_in_process_subject(library_);
  ASSERT_TRUE(in_process) << in_process.error().text();
  EXPECT_EQ((*in_process)->info().declarations.size(), subject_->info().declarations.size());
  expect_converts_like_the_reference(**in_process, Format::bf16, Format::f32, all_halves(), true);
  expect_converts_like_the_reference(**in_process, Format::f32, Format::bf16, floats_near_each(Format::bf16), true);
  const Answer<Bytes> one = call_convert(**in_process, Format::f32, Format::bf16, "sideways", Bytes(4));
  const Answer<Bytes> other = call_convert(*subject_, Format::f32, Format::bf16, "sideways", Bytes(4));
  EXPECT_FALSE(one.ok());
  EXPECT_EQ(one.outcome, other.outcome);
  EXPECT_EQ(one.message, other.message);
}

TEST_F(CExample, RepacksLikeTheReference) {
  const Answer<Bytes> answer = call_repack(*subject_, Format::bf16, Format::f32, all_halves());
  ASSERT_TRUE(answer.ok()) << answer.message;
  Bytes expected(answer.value.size());
  ASSERT_TRUE(repack_dense(Format::bf16, Format::f32, all_halves(), expected));
  EXPECT_EQ(answer.value, expected);
  EXPECT_EQ(outcome_name(call_repack(*subject_, Format::f16, Format::f32, all_halves()).outcome), "skipped");
}

TEST_F(CExample, DecodesQ80LikeTheReferenceUnderEveryScale) {
  const Encoding& q8_0 = **encoding_named("q8_0:ggml");
  Bytes blocks;
  for (std::uint32_t scale = 0; scale <= 0xFFFF; ++scale) {
    blocks.push_back(static_cast<std::uint8_t>(scale & 0xFF));
    blocks.push_back(static_cast<std::uint8_t>(scale >> 8));
    for (std::uint32_t i = 0; i < 32; ++i) blocks.push_back(static_cast<std::uint8_t>(scale * 7 + i * 8));
  }
  const Answer<std::vector<float>> answer = call_dequantize(*subject_, q8_0, blocks);
  ASSERT_TRUE(answer.ok()) << answer.message;
  std::vector<float> expected(answer.value.size());
  ASSERT_TRUE(dequantize(q8_0, blocks, expected));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != expected[i] && answer.value[i] != answer.value[i]) continue;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(answer.value[i]), std::bit_cast<std::uint32_t>(expected[i])) << i;
  }
}

TEST_F(CExample, PacksLikeTheReference) { expect_packs_like_the_reference(*subject_); }

class PythonExample : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Subject>> subject =
        open_program_subject(std::string(PACKCHECK_PYTHON) + " -B " + PACKCHECK_SOURCE_DIRECTORY +
                                 "/subjects/adapters/python/python_subject.py",
                             kPatient, kPatient.timeout_milliseconds);
    ASSERT_TRUE(subject) << subject.error().text();
    subject_ = std::move(*subject);
  }
  std::unique_ptr<Subject> subject_;
};

TEST_F(PythonExample, ConvertsLikeTheReferenceButForTheBitsOfNans) {
  expect_converts_like_the_reference(*subject_, Format::f16, Format::f32, all_halves(), false);
  expect_converts_like_the_reference(*subject_, Format::f32, Format::f16, floats_near_each(Format::f16), false);
}

TEST_F(PythonExample, PacksLikeTheReference) { expect_packs_like_the_reference(*subject_); }

TEST_F(PythonExample, WhatItPrintsReadsBackToTheSameBits) {
  std::vector<std::uint64_t> bits{0, 1, 0x0000000000030301, 0x8000000000000000, 0x7FEFFFFFFFFFFFFF, 0x4014000000000000};
  for (std::uint64_t i = 0; i < 500; ++i) bits.push_back(i * 0x9E3779B97F4A7C15);
  for (const std::uint64_t b : bits) {
    const Answer<std::string> text = call_print(*subject_, b);
    const bool finite = print_number(b).has_value();
    ASSERT_EQ(outcome_name(text.outcome), finite ? "answered" : "refused") << b;
    if (!finite) continue;
    EXPECT_EQ(parse_number(text.value).value(), b);
    EXPECT_EQ(call_parse(*subject_, text.value).value, b);
  }
}

TEST_F(PythonExample, RefusesTextThatIsNoNumber) {
  for (const char* text : {"", "NaN", "1e999", "1_0", " 1", "01", "0x1p3", "1.", "\xFF"}) {
    EXPECT_EQ(outcome_name(call_parse(*subject_, text).outcome), "refused") << text;
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

TEST_F(PythonExample, AnswersBatchesAsSingleCalls) {
  std::vector<Request> requests;
  for (std::uint64_t i = 0; i < 2500; ++i) requests.push_back(print_request(i * 0x9E3779B97F4A7C15));
  requests.push_back({Operation::dequantize, {"q8_0:ggml", ""}});
  const std::vector<Reply> replies = subject_->call_batch(requests);
  ASSERT_EQ(replies.size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) ASSERT_EQ(replies[i], subject_->call(requests[i])) << i;
}

/// Two rows of x, three outputs of two groups, whole numbers and powers of two: every order of sums is exact.
ProductRequest exact_product(unsigned bits, std::uint64_t group, Format scales) {
  ProductRequest r;
  r.rows = 2;
  r.in_features = 2 * group;
  r.out_features = 3;
  r.group_size = group;
  r.bits = bits;
  r.scale_format = scales;
  for (std::uint64_t i = 0; i < r.rows * r.in_features; ++i) r.x.push_back(static_cast<float>(i * 7 % 5) - 2.0F);
  for (std::uint64_t matrix = 0; matrix < 2; ++matrix) {
    PackedWeights w;
    for (std::uint64_t i = 0; i < r.out_features * r.in_features / 8 * bits; ++i)
      w.codes.push_back(static_cast<std::uint8_t>((i + matrix) * 0x9D));
    for (std::size_t i = 0; i < 6; ++i) {
      const auto element = [&](float number) {
        return convert(Format::f32, scales, std::bit_cast<std::uint32_t>(number));
      };
      w.scales.resize(6 * spec(scales).bytes());
      w.biases.resize(w.scales.size());
      store_element(spec(scales), w.scales, i, element(std::array{1.0F, -0.5F, 2.0F}[(i + matrix) % 3]));
      store_element(spec(scales), w.biases, i, element(static_cast<float>(i) - 3.0F));
    }
    r.weights.push_back(std::move(w));
  }
  return r;
}

TEST(PythonAffineExample, MultipliesPackedWeightsOfEveryWidthLikeTheReferenceAndRefusesWhatDoesNotFit) {
  const Result<std::unique_ptr<Subject>> opened =
      open_program_subject(std::string(PACKCHECK_PYTHON) + " -B " + PACKCHECK_SOURCE_DIRECTORY +
                               "/subjects/adapters/python/affine_subject.py",
                           kPatient, kPatient.timeout_milliseconds);
  ASSERT_TRUE(opened) << opened.error().text();
  Subject& subject = **opened;
  for (const unsigned bits : kAffineWidths)
    for (const std::uint64_t group : {32U, 64U, 128U})
      for (const Format scales : {Format::f32, Format::f16, Format::bf16}) {
        ProductRequest r = exact_product(bits, group, scales);
        const AffineProduct product{2, 2 * group, 3, group, bits, scales, r.order, r.x};
        std::vector<float> expected(12);
        const std::span<float> both(expected);
        const auto packed = [&](std::size_t i) {
          return PackedMatrix{r.weights[i].codes, r.weights[i].scales, r.weights[i].biases};
        };
        ASSERT_TRUE(affine_gate_up(product, packed(0), packed(1), both.first(6), both.last(6)));
        const Answer<std::vector<float>> fused = call_affine_gate_up(subject, r);
        ASSERT_TRUE(fused.ok()) << fused.message;
        EXPECT_EQ(fused.value, expected) << bits << " bits, groups of " << group << ", " << spec(scales).name;
        const Answer<std::vector<float>> up = call_affine_matmul(subject, r, 1);
        EXPECT_EQ(up.value, std::vector<float>(expected.begin() + 6, expected.end())) << up.message;
        r.weights[0].scales.pop_back();
        EXPECT_EQ(outcome_name(call_affine_matmul(subject, r).outcome), "refused");
      }
}

}  // namespace
}  // namespace packcheck
