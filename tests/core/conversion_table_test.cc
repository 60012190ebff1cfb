// The table of conversions says of every pair of encodings what repack_to and requantize_to really do.
#include "core/storage/conversion_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "core/storage/decode.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Whole blocks of both encodings where there are any such, else of the source.
Shape shape_for(const StorageEncoding& source, const StorageEncoding& target) {
  const std::uint64_t unit = source.is_dense() ? 1 : source.row().block_size;
  if (requantizer_of(target) == nullptr || source == target) return {unit == 1 ? 4 : unit};
  const std::uint64_t block = target.row().block_size;
  const bool whole_tensor = !source.is_dense() && source.row().blocking == Blocking::tensor;
  if (requantizer_of(target)->blocks != BlocksBy::whole_row) return {whole_tensor ? unit : std::lcm(unit, block)};
  return {whole_tensor ? unit / block : unit, block};
}

StoragePtr tensor_of(const StorageEncoding& encoding, const Shape& shape, std::uint64_t bits) {
  TensorStorage tensor;
  tensor.shape = shape;
  tensor.dtype = encoding.format();
  tensor.encoding = encoding;
  const auto size = physical_bytes(encoding, shape);
  if (!size) return tensor_of(encoding, {encoding.row().block_size}, bits);
  std::vector<std::uint8_t> bytes(*size);
  if (encoding.is_dense()) {
    const FormatSpec& s = spec(encoding.format());
    for (std::size_t i = 0; i < bytes.size() / s.bytes(); ++i) store_element(s, bytes, i, bits & s.all_bits());
  }
  tensor.buffer = owned(std::move(bytes));
  return std::make_shared<const TensorStorage>(std::move(tensor));
}

/// A code of `from` that does not survive in `to`.
std::uint64_t lost_code(Format from, Format to) {
  std::mt19937_64 random(1);
  while (true) {
    const std::uint64_t bits = random() & spec(from).all_bits();
    std::vector<std::uint8_t> element(spec(from).bytes());
    store_element(spec(from), element, 0, bits);
    if (!move_elements(from, to, element, "test")) return bits;
  }
}

void expect_no_stub(const Error& error) { EXPECT_THAT(error.text(), Not(HasSubstr("not yet"))); }

void check_cell(const StorageEncoding& source, const StorageEncoding& target) {
  const ConversionCell cell = conversion_between(source, target);
  const std::uint64_t one = source.is_dense() ? *move_elements(Format::f32, source.format(),
                                                               std::vector<std::uint8_t>{0, 0, 0x80, 0x3f}, "test")
                                                     .map([&](const std::vector<std::uint8_t>& element) {
                                                       return load_element(spec(source.format()), element, 0);
                                                     })
                                              : 0;
  const StoragePtr tensor = tensor_of(source, shape_for(source, target), one);
  ASSERT_NE(tensor, nullptr);
  const Result<StoragePtr> repacked = repack_to(tensor, target);
  const Result<StoragePtr> requantized = requantize_to(tensor, target);
  EXPECT_EQ(cell.refusal.empty(), repacked.has_value());
  switch (cell.conversion) {
    case Conversion::lossless: ASSERT_TRUE(repacked) << repacked.error().text(); break;
    case Conversion::lossless_if_kept: {
      ASSERT_TRUE(repacked) << repacked.error().text();
      const StoragePtr lost = tensor_of(source, {4}, lost_code(source.format(), target.format()));
      const Result<StoragePtr> refused = repack_to(lost, target);
      ASSERT_FALSE(refused);
      EXPECT_THAT(refused.error().text(), HasSubstr("element 0"));
      EXPECT_THAT(refused.error().text(), HasSubstr("requantize_to"));
      break;
    }
    case Conversion::lossy:
      ASSERT_FALSE(repacked);
      EXPECT_THAT(repacked.error().text(), HasSubstr("requantize_to"));
      ASSERT_TRUE(requantized) << requantized.error().text();
      EXPECT_EQ((*requantized)->encoding, target);
      break;
    case Conversion::refused:
      ASSERT_FALSE(repacked);
      EXPECT_THAT(repacked.error().text(), HasSubstr("requantize_to"));
      ASSERT_FALSE(requantized);
      expect_no_stub(requantized.error());
      break;
  }
  if (repacked) {
    EXPECT_EQ((*repacked)->encoding, target);
    EXPECT_EQ(*repacked == tensor, source == target);
  } else {
    expect_no_stub(repacked.error());
  }
}

TEST(ConversionTable, EveryPairOfEncodingsDoesWhatItsCellSays) {
  const std::vector<StorageEncoding> all = all_storage_encodings();
  for (const StorageEncoding& source : all) {
    for (const StorageEncoding& target : all) {
      SCOPED_TRACE(source.id() + " to " + target.id());
      check_cell(source, target);
      if (HasFailure()) return;
    }
  }
}

TEST(ConversionTable, SaysWhatPeopleAskAbout) {
  const auto between = [](std::string_view source, std::string_view target) {
    return conversion_between(*storage_encoding_named(source), *storage_encoding_named(target)).conversion;
  };
  EXPECT_EQ(between("dense(f16)", "dense(f32)"), Conversion::lossless);
  EXPECT_EQ(between("dense(bf16)", "dense(f32)"), Conversion::lossless);
  EXPECT_EQ(between("dense(bf16)", "dense(f16)"), Conversion::lossless_if_kept);
  EXPECT_EQ(between("dense(f32)", "dense(bf16)"), Conversion::lossless_if_kept);
  EXPECT_EQ(between("dense(i32)", "dense(f64)"), Conversion::lossless);
  EXPECT_EQ(between("dense(i32)", "dense(f32)"), Conversion::lossless_if_kept);
  EXPECT_EQ(between("dense(e8m0)", "dense(f32)"), Conversion::lossless);
  EXPECT_EQ(between("q4_K:ggml", "dense(f32)"), Conversion::lossless);
  EXPECT_EQ(between("q4_K:ggml", "dense(f16)"), Conversion::refused);
  EXPECT_EQ(between("q4_K:ggml", "q8_0:ggml"), Conversion::lossy);
  EXPECT_EQ(between("q4_0:ggml", "q4_0:skainet"), Conversion::lossy);
  EXPECT_EQ(between("dense(f64)", "q8_0:ggml"), Conversion::refused);
  EXPECT_EQ(between("dense(f32)", "q4_K:ggml"), Conversion::refused);
  EXPECT_EQ(between("q4_K:ggml", "q4_K:ggml"), Conversion::lossless);
}

TEST(ConversionTable, EverySixteenBitAndNarrowerFormatIsHeldByF32) {
  for (const FormatSpec& s : all_formats())
    EXPECT_EQ(holds_every_value(s.format, Format::f32), s.width() <= 16 || s.format == Format::f32) << s.name;
}

TEST(ConversionTable, WideFormatsSurviveWhereTheTableSaysSo) {
  std::mt19937_64 random(2);
  for (const Format from : {Format::f32, Format::i32}) {
    std::vector<std::uint8_t> elements(4096);
    for (std::uint8_t& byte : elements) byte = static_cast<std::uint8_t>(random());
    const auto wide = move_elements(from, Format::f64, elements, "test");
    ASSERT_TRUE(wide);
    EXPECT_EQ(*move_elements(Format::f64, from, *wide, "test"), elements);
    EXPECT_TRUE(holds_every_value(from, Format::f64));
  }
}

}  // namespace
}  // namespace packcheck::test
