// A stored tensor is read from its own bytes, whatever handle, offset and strides it has, or it is refused unread.
#include "core/storage/tensor_storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <numeric>

#include "core/storage/device_memory.h"
#include "core/storage/mapped_file.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::ElementsAre;
using testing::HasSubstr;

Bytes counted(std::size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

TensorStorage bytes_tensor(Shape shape, BufferHandle buffer) {
  TensorStorage tensor;
  tensor.shape = std::move(shape);
  tensor.dtype = Format::i8;
  tensor.encoding = StorageEncoding::dense(Format::i8);
  tensor.buffer = std::move(buffer);
  return tensor;
}

const Bytes& bytes_of(const TensorStorage& tensor) { return *std::get<Owned>(tensor.buffer).bytes; }

/// A file of counted bytes, removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::size_t size) {
    const Bytes bytes = counted(size);
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(size));
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "packcheck_tensor_storage_test.bin";
};

TEST(CopyMaterialize, ReadsAViewFromItsOwnBytesAndForgetsOffsetAndStrides) {
  TensorStorage view = bytes_tensor({2, 3}, owned(counted(20)));
  view.byte_offset = 5;
  view.strides = Shape{1, 4};  // column after column of a matrix of four rows
  view.placement = {DeviceKind::gpu, MemoryDomain::unified};
  const auto copy = copy_materialize(view);
  ASSERT_TRUE(copy) << copy.error().text();
  EXPECT_THAT(bytes_of(**copy), ElementsAre(5, 9, 13, 6, 10, 14));
  EXPECT_EQ((*copy)->byte_offset, 0U);
  EXPECT_FALSE((*copy)->strides);
  EXPECT_EQ((*copy)->placement, (Placement{DeviceKind::gpu, MemoryDomain::host_heap}));
  // The copy of a copy is the copy: nothing is applied twice.
  EXPECT_EQ(bytes_of(**copy_materialize(**copy)), bytes_of(**copy));
}

TEST(CopyMaterialize, RepeatsAnElementOfStrideZeroAndTakesNoElementsOfNone) {
  TensorStorage view = bytes_tensor({3, 2}, owned(counted(4)));
  view.strides = Shape{0, 1};
  view.byte_offset = 2;
  EXPECT_THAT(bytes_of(**copy_materialize(view)), ElementsAre(2, 3, 2, 3, 2, 3));
  view.shape = {3, 0};
  EXPECT_TRUE(bytes_of(**copy_materialize(view)).empty());
  EXPECT_EQ(bytes_of(**copy_materialize(bytes_tensor({}, owned(counted(1))))).size(), 1U);
}

TEST(CopyMaterialize, ReadsEveryHandleOfTheHost) {
  const Bytes bytes = counted(16);
  const BufferHandle mine = owned(bytes);
  const BufferHandle alias = *aliased(*aliased(mine, 2, 12), 3, 8);
  TensorStorage tensor = bytes_tensor({4}, alias);
  tensor.byte_offset = 1;
  EXPECT_THAT(bytes_of(**copy_materialize(tensor)), ElementsAre(6, 7, 8, 9));
  tensor.buffer = Borrowed{std::span(bytes).subspan(4)};
  EXPECT_THAT(bytes_of(**copy_materialize(tensor)), ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(ownership_of(alias), Ownership::aliased);
  EXPECT_EQ(ownership_name(ownership_of(tensor.buffer)), "borrowed");
}

TEST(CopyMaterialize, MapsAFileAndReadsIt) {
  const TemporaryFile file(10'000);
  MappedFileResolver mapped;
  CountingResolver resolver(mapped);
  TensorStorage tensor = bytes_tensor({2, 2}, FileBacked{file.path(), 8190, 16});
  tensor.byte_offset = 3;
  tensor.strides = Shape{6, 1};
  const auto copy = copy_materialize(tensor, &resolver);
  ASSERT_TRUE(copy) << copy.error().text();
  EXPECT_THAT(bytes_of(**copy), ElementsAre(8193 % 256, 8194 % 256, 8199 % 256, 8200 % 256));
  EXPECT_EQ(resolver.reads(), 1U);
  EXPECT_EQ(resolver.bytes(), 8U);
  tensor.buffer = *aliased(tensor.buffer, 1, 15);
  EXPECT_EQ(bytes_of(**copy_materialize(tensor, &resolver))[0], 8194 % 256);
}

TEST(MappedFile, BytesPastTheEndAndWhatIsNoFileAreRefused) {
  const TemporaryFile file(100);
  MappedFileResolver resolver;
  EXPECT_THAT(resolver.read({file.path(), 0, 101}, 0, 101).error().text(), HasSubstr("past the end"));
  EXPECT_THAT(resolver.read({file.path(), UINT64_MAX, 2}, 0, 2).error().text(), HasSubstr("past the end"));
  EXPECT_THAT(resolver.read({file.path(), 90, 20}, UINT64_MAX - 3, 20).error().text(), HasSubstr("past the end"));
  EXPECT_THAT(resolver.read({file.path() + ".none", 0, 1}, 0, 1).error().text(), HasSubstr("cannot open"));
  EXPECT_THAT(resolver.read({testing::TempDir(), 0, 1}, 0, 1).error().text(), HasSubstr("no regular file"));
}

TEST(MappedFile, AViewOutlivesEverythingButItself) {
  Result<ByteView> view = ByteView{};
  {
    const TemporaryFile file(5000);
    view = MappedFileResolver().read({file.path(), 0, 5000}, 4000, 1000);
  }
  ASSERT_TRUE(view);
  EXPECT_EQ(view->bytes[0], 4000 % 256);
}

struct Refusal {
  const char* says;
  TensorStorage tensor;
};

TEST(CheckStorage, RefusesWhatDoesNotFitWithoutReading) {
  MappedFileResolver mapped;
  CountingResolver resolver(mapped);
  const BufferHandle file = FileBacked{"/nowhere", 0, 64};
  std::vector<Refusal> refusals{{"5 bytes from 60", bytes_tensor({5}, file)},
                                {"shape [4294967296, 4294967296]", bytes_tensor({1ULL << 32, 1ULL << 32}, file)},
                                {"from 18446744073709551615", bytes_tensor({2}, file)},
                                {"one stride per dimension", bytes_tensor({2, 2}, file)},
                                {"reach is below 2^64", bytes_tensor({3}, file)},
                                {"65 bytes", bytes_tensor({2}, file)},
                                {"dtype f16", bytes_tensor({2}, file)},
                                {"does not divide into blocks", bytes_tensor({16}, file)},
                                {"no elements to step over", bytes_tensor({2, 32}, file)}};
  refusals[0].tensor.byte_offset = 60;
  refusals[2].tensor.byte_offset = UINT64_MAX;
  refusals[3].tensor.strides = Shape{1};
  refusals[4].tensor.strides = Shape{1ULL << 63};
  refusals[5].tensor.strides = Shape{64};
  refusals[6].tensor.dtype = Format::f16;
  for (const std::size_t packed : {7U, 8U}) {
    refusals[packed].tensor.encoding = *storage_encoding_named("q8_0:ggml");
    refusals[packed].tensor.dtype = Format::f32;
  }
  refusals[8].tensor.strides = Shape{64, 1};
  for (const Refusal& refusal : refusals) {
    const auto copy = copy_materialize(refusal.tensor, &resolver);
    ASSERT_FALSE(copy) << refusal.says;
    EXPECT_THAT(copy.error().text(), HasSubstr(refusal.says));
  }
  EXPECT_EQ(resolver.reads(), 0U);
}

TEST(CheckStorage, AliasesLieInTheirParents) {
  const BufferHandle parent = owned(counted(8));
  EXPECT_FALSE(aliased(parent, 5, 4));
  EXPECT_FALSE(aliased(parent, UINT64_MAX, 2));
  // Made by hand, past the check.
  const BufferHandle wild = Aliased{std::make_shared<const BufferHandle>(parent), 6, UINT64_MAX};
  EXPECT_FALSE(copy_materialize(bytes_tensor({1}, wild)));
  EXPECT_FALSE(copy_materialize(bytes_tensor({1}, Aliased{nullptr, 0, 1})));
}

TEST(CheckStorage, AFileNeedsAResolver) {
  const auto copy = copy_materialize(bytes_tensor({1}, FileBacked{"weights.bin", 0, 8}));
  ASSERT_FALSE(copy);
  EXPECT_THAT(copy.error().text(), HasSubstr("weights.bin"));
  EXPECT_THAT(copy.error().text(), HasSubstr("resolver"));
}

TEST(DeviceMemory, BuffersOfADeviceAreReadByTheDeviceAlone) {
  DeviceMemory npu("npu0");
  const DeviceResident first = npu.upload(counted(10));
  const DeviceResident second = npu.upload(counted(3));
  EXPECT_EQ(first.address, 1ULL << 63);
  EXPECT_EQ(second.address, first.address + 4096);
  EXPECT_EQ(npu.upload(counted(4096)).address, first.address + 8192);
  EXPECT_EQ(npu.upload({}).address, first.address + 16384);  // room after a full page
  MappedFileResolver resolver;
  TensorStorage tensor = bytes_tensor({3}, second);
  const auto copy = copy_materialize(tensor, &resolver);
  ASSERT_FALSE(copy);
  EXPECT_THAT(copy.error().text(), HasSubstr("npu0"));
  tensor.buffer = *aliased(tensor.buffer, 0, 3);
  EXPECT_FALSE(copy_materialize(tensor, &resolver));
  tensor.buffer = *npu.download(second);
  EXPECT_THAT(bytes_of(**copy_materialize(tensor)), ElementsAre(0, 1, 2));
  EXPECT_FALSE(npu.download({"npu0", first.address + 1, 3}));
  EXPECT_FALSE(npu.download({"npu0", first.address, 3}));
  EXPECT_FALSE(npu.download({"npu1", first.address, 10}));
  EXPECT_FALSE(DeviceMemory("npu1").download(first));
}

TEST(StorageEncoding, IsNamedAndComparedByDialect) {
  for (const StorageEncoding& encoding : all_storage_encodings())
    EXPECT_EQ(*storage_encoding_named(encoding.id()), encoding) << encoding.id();
  EXPECT_FALSE(*storage_encoding_named("q4_0:ggml") == *storage_encoding_named("q4_0:skainet"));
  for (const char* unknown : {"", "dense", "dense(f33)", "dense(f16", "q9_0:ggml"})
    EXPECT_FALSE(storage_encoding_named(unknown)) << unknown;
}

TEST(Contiguity, FollowsFromShapeAndStrides) {
  TensorStorage tensor = bytes_tensor({2, 1, 3}, owned(counted(6)));
  EXPECT_TRUE(is_contiguous(tensor));
  for (const Shape& strides : {Shape{3, 3, 1}, Shape{3, 77, 1}}) {
    tensor.strides = strides;
    EXPECT_TRUE(is_contiguous(tensor)) << shape_text(strides);
  }
  for (const Shape& strides : {Shape{1, 1, 2}, Shape{4, 3, 1}, Shape{3, 1}}) {
    tensor.strides = strides;
    EXPECT_FALSE(is_contiguous(tensor)) << shape_text(strides);
  }
}

}  // namespace
}  // namespace packcheck::test
