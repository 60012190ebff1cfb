// repack_to keeps every value or refuses; requantize_to loses what its quantizer loses; the loader does the same.
#include "core/storage/change_encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "core/storage/device_memory.h"
#include "core/storage/mapped_file.h"
#include "core/storage/weight_form.h"
#include "properties/oracles/block_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::HasSubstr;

const StorageEncoding kF32 = StorageEncoding::dense(Format::f32);

StorageEncoding named(std::string_view id) { return *storage_encoding_named(id); }

StoragePtr tensor_of(const StorageEncoding& encoding, Shape shape, BufferHandle buffer) {
  TensorStorage tensor;
  tensor.shape = std::move(shape);
  tensor.dtype = encoding.format();
  tensor.encoding = encoding;
  tensor.buffer = std::move(buffer);
  return std::make_shared<const TensorStorage>(std::move(tensor));
}

const Bytes& bytes_of(const StoragePtr& tensor) { return *std::get<Owned>(tensor->buffer).bytes; }

Bytes random_bytes(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.bits());
  return bytes;
}

Bytes singles_of(std::span<const float> values) {
  Bytes bytes(values.size() * 4);
  for (std::size_t i = 0; i < values.size(); ++i)
    store_little_endian(&bytes[4 * i], std::bit_cast<std::uint32_t>(values[i]));
  return bytes;
}

std::vector<float> small_weights(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 64;
  return values;
}

TEST(RepackTo, GivesWhatTheDialectsDecoderGivesBitForBit) {
  for (const Encoding& row : all_encodings()) {
    const std::size_t blocks = row.blocking == Blocking::tensor ? 1 : 3;
    const Bytes bytes = random_bytes(blocks * row.block_bytes, row.block_size);
    const Shape shape = row.blocking == Blocking::tensor ? Shape{row.block_size} : Shape{blocks, row.block_size};
    std::vector<float> values(blocks * row.block_size);
    ASSERT_TRUE(dequantize(row, bytes, values)) << row.id();
    const auto repacked = repack_to(tensor_of(StorageEncoding::of(row), shape, owned(bytes)), kF32);
    ASSERT_TRUE(repacked) << row.id() << repacked.error().text();
    EXPECT_EQ(bytes_of(*repacked), singles_of(values)) << row.id();
    EXPECT_EQ((*repacked)->dtype, Format::f32);
    EXPECT_EQ((*repacked)->shape, shape);
  }
}

TEST(RepackTo, KeepsTheMinusZerosOfAnEmptyBlock) {
  Bytes block(18, 0x88);
  block[0] = 0x00;
  block[1] = 0x80;
  const auto repacked = repack_to(tensor_of(named("q4_0:skainet"), {32}, owned(block)), kF32);
  for (std::size_t i = 0; i < 32; ++i)
    EXPECT_EQ(load_little_endian<std::uint32_t>(&bytes_of(*repacked)[4 * i]), 0x80000000U);
}

TEST(RepackTo, GivesTheSameObjectForAnEqualEncoding) {
  const StoragePtr tensor = tensor_of(named("q4_0:ggml"), {32}, DeviceResident{"gpu", 0, 18});
  EXPECT_EQ(*repack_to(tensor, named("q4_0:ggml")), tensor);
  EXPECT_EQ(*requantize_to(tensor, named("q4_0:ggml")), tensor);
  EXPECT_FALSE(repack_to(tensor, named("q4_0:skainet")));
}

TEST(RepackTo, GivesTheDtypeOfTheBytesThatItGives) {
  const auto wide = repack_to(tensor_of(StorageEncoding::dense(Format::f16), {1}, owned({0x01, 0x7c})), kF32);
  ASSERT_TRUE(wide);
  EXPECT_EQ((*wide)->dtype, Format::f32);
  EXPECT_EQ(load_little_endian<std::uint32_t>(bytes_of(*wide).data()), 0x7f802000U);  // the payload of the NaN
}

TEST(RepackTo, NarrowsWhatSurvivesAndNamesTheFirstValueThatDoesNot) {
  const StorageEncoding half = StorageEncoding::dense(Format::f16);
  const auto exact = repack_to(tensor_of(kF32, {2}, owned(singles_of(std::vector{1.5F, -0.0F}))), half);
  ASSERT_TRUE(exact) << exact.error().text();
  EXPECT_EQ(bytes_of(*exact), (Bytes{0x00, 0x3e, 0x00, 0x80}));
  EXPECT_EQ((*exact)->dtype, Format::f16);
  const auto lost = repack_to(tensor_of(kF32, {3}, owned(singles_of(std::vector{1.5F, 0.1F, 0.2F}))), half);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().text(), HasSubstr("element 1, 0x3dcccccd"));
  EXPECT_THAT(lost.error().text(), HasSubstr("requantize_to"));
}

TEST(RequantizeTo, WritesWhatTheDialectsQuantizerWrites) {
  const std::vector<float> values = small_weights(256);
  for (const Requantizer& requantizer : supported_requantizers()) {
    const StorageEncoding target = named(requantizer.target);
    const Shape shape{256 / target.row().block_size, target.row().block_size};
    const auto expected = oracle::quantize(requantizer.target, values);
    ASSERT_TRUE(expected);
    const auto blocks = requantize_to(tensor_of(kF32, shape, owned(singles_of(values))), target);
    ASSERT_TRUE(blocks) << blocks.error().text();
    EXPECT_EQ(oracle::block_order(requantizer.target, bytes_of(*blocks)), expected->bytes) << requantizer.target;
    EXPECT_EQ((*blocks)->dtype, Format::f32);
  }
}

TEST(RequantizeTo, DecodesAPackedSourceFirst) {
  const Bytes source = random_bytes(2 * 22, 7);
  Bytes finite = source;
  finite[1] = finite[23] = 0x30;
  const StoragePtr packed = tensor_of(named("q5_0:ggml"), {64}, owned(finite));
  const auto direct = requantize_to(packed, named("q8_0:ggml"));
  const auto through = requantize_to(*repack_to(packed, kF32), named("q8_0:ggml"));
  ASSERT_TRUE(direct);
  EXPECT_EQ(bytes_of(*direct), bytes_of(*through));
}

struct Refusal {
  const char* says;
  StoragePtr tensor;
  const char* target;
};

std::vector<Refusal> requantize_refusals() {
  const BufferHandle file = FileBacked{"/nowhere", 0, 1 << 20};
  const auto f32 = [&](Shape shape) { return tensor_of(kF32, std::move(shape), file); };
  TensorStorage strided = *f32({32, 32});
  strided.strides = Shape{1, 32};
  DeviceMemory device("npu7");
  return {{"requantizing to q4_K:ggml is not supported", f32({32}), "q4_K:ggml"},
          {"requantizing to dense(f16) is not supported", f32({32}), "dense(f16)"},
          {"dense(f64) is no source", tensor_of(named("dense(f64)"), {32}, file), "q8_0:ggml"},
          {"npu7", tensor_of(kF32, {32}, device.upload(Bytes(128))), "q8_0:ggml"},
          {"rank 0", f32({}), "q8_0:ggml"},
          {"shape [0, 32] has no elements", f32({0, 32}), "q8_0:ggml"},
          {"not contiguous", std::make_shared<const TensorStorage>(strided), "q8_0:ggml"},
          {"last dimension 2 of shape [16, 2]", f32({16, 2}), "q4_0:ggml"},
          {"volume 33 of shape [33]", f32({33}), "q4_0:skainet"},
          {"last dimension 64 of shape [2, 64]", f32({2, 64}), "bitnet_planes(32):skainet"},
          {"element", f32({1ULL << 62, 32}), "q8_0:ggml"},
          {"bytes", f32({1 << 19}), "q8_0:ggml"}};
}

TEST(RequantizeTo, IsRefusedBeforeTheBufferIsReadAndInTheLoadersWords) {
  MappedFileResolver mapped;
  CountingResolver resolver(mapped);
  std::size_t in_both_names = 0;
  for (const Refusal& refusal : requantize_refusals()) {
    const auto stored = requantize_to(refusal.tensor, named(refusal.target), &resolver);
    const auto loaded =
        load_weight(*refusal.tensor, {EncodingRequest::requantize_to, named(refusal.target)}, &resolver);
    ASSERT_FALSE(stored) << refusal.says;
    ASSERT_FALSE(loaded) << refusal.says;
    EXPECT_THAT(stored.error().text(), HasSubstr(refusal.says));
    EXPECT_EQ(loaded.error().what, stored.error().what);
    EXPECT_EQ(loaded.error().right, stored.error().right);
    // The loader's prefix is the loader's alone; ranges of a buffer are a matter of the tensor, whoever asks.
    EXPECT_THAT(stored.error().text(), testing::Not(HasSubstr("weightForm")));
    if (stored.error().where == "requantize_to") {
      EXPECT_EQ(loaded.error().where, "weightForm");
      ++in_both_names;
    } else {
      EXPECT_EQ(loaded.error().where, stored.error().where);
    }
  }
  EXPECT_EQ(in_both_names, requantize_refusals().size() - 2) << "all but the range of a buffer and its bytes";
  EXPECT_EQ(resolver.reads(), 0U);
}

TEST(RequantizeTo, ATargetSaysWhichLengthMustDivide) {
  const StoragePtr rows_of_two = tensor_of(kF32, {16, 2}, owned(singles_of(small_weights(32))));
  EXPECT_TRUE(requantize_to(rows_of_two, named("q4_0:skainet")));
  EXPECT_FALSE(requantize_to(rows_of_two, named("q4_0:ggml")));
  const StoragePtr many_rows = tensor_of(kF32, {33, 32}, owned(singles_of(small_weights(33 * 32))));
  EXPECT_TRUE(requantize_to(many_rows, named("q4_0:skainet")));
  EXPECT_TRUE(requantize_to(many_rows, named("q4_0:ggml")));
}

TEST(Requantizers, EveryTargetIsARowThatQuantizes) {
  for (const Requantizer& requantizer : supported_requantizers()) {
    const auto target = storage_encoding_named(requantizer.target);
    ASSERT_TRUE(target);
    EXPECT_TRUE(target->row().quantizes);
    EXPECT_EQ(requantizer_of(*target), &requantizer);
    EXPECT_THAT(supported_names(), HasSubstr(std::string(requantizer.target)));
  }
}

/// A file in memory.
class MemoryResolver final : public BufferResolver {
 public:
  explicit MemoryResolver(Bytes bytes) : bytes_(std::move(bytes)) {}
  Result<ByteView> read(const FileBacked& file, std::uint64_t offset, std::uint64_t size) override {
    return ByteView{std::span<const std::uint8_t>(bytes_).subspan(file.offset + offset, size), nullptr};
  }

 private:
  Bytes bytes_;
};

TEST(LoadWeight, GivesTheBytesThatTheStoragePathGivesPieceByPiece) {
  constexpr std::uint64_t kCount = 40'000;
  const std::vector<float> values = small_weights(kCount);
  MemoryResolver memory(singles_of(values));
  CountingResolver resolver(memory);
  const StoragePtr stored = tensor_of(kF32, {kCount / 32, 32}, FileBacked{"", 0, kCount * 4});
  const auto loaded = load_weight(*stored, {EncodingRequest::requantize_to, named("q8_0:ggml")}, &resolver);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(resolver.reads(), 3U);
  EXPECT_EQ(resolver.bytes(), kCount * 4);
  EXPECT_EQ(bytes_of(*loaded), bytes_of(*requantize_to(stored, named("q8_0:ggml"), &memory)));
  const auto kept = load_weight(**loaded, {EncodingRequest::requantize_to, named("q8_0:ggml")});
  EXPECT_EQ(bytes_of(*kept), bytes_of(*loaded));
  EXPECT_EQ(bytes_of(*load_weight(**loaded, {EncodingRequest::dequantize_to, kF32})),
            bytes_of(*repack_to(*loaded, kF32)));
  EXPECT_EQ(bytes_of(*load_weight(**loaded, {})), bytes_of(*loaded));
}

TEST(LoadWeight, DequantizesToF32Alone) {
  const StoragePtr stored = tensor_of(named("q8_0:ggml"), {32}, owned(Bytes(34)));
  const auto loaded = load_weight(*stored, {EncodingRequest::dequantize_to, named("dense(f16)")});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().text(), HasSubstr("weightForm: dequantizing to dense(f16)"));
}

}  // namespace
}  // namespace packcheck::test
