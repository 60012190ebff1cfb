// Tensor files: what is read, what is refused and how it is said, what is written, what is mapped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/file/tensor_file.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Shape = std::vector<std::uint64_t>;
using testing::ElementsAre;
using testing::HasSubstr;

void put(Bytes& out, std::string_view text) { out.insert(out.end(), text.begin(), text.end()); }
void put(Bytes& out, std::uint64_t number, int size) {
  for (int i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

Bytes safetensors(std::string_view header, std::size_t data) {
  Bytes file;
  put(file, header.size(), 8);
  put(file, header);
  file.resize(file.size() + data, 7);
  return file;
}

struct Gguf {
  std::uint32_t version = 3;
  Bytes entries{};
  std::uint64_t entry_count = 0;
  Shape dims{4};  ///< innermost first
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t alignment = 32;
  std::size_t data = 16;

  [[nodiscard]] Bytes bytes() const {
    const int word = version == 1 ? 4 : 8;
    Bytes file;
    put(file, "GGUF");
    put(file, version, 4);
    put(file, 1, word);
    put(file, entry_count, word);
    file.insert(file.end(), entries.begin(), entries.end());
    put(file, 1, word);
    put(file, "w");
    put(file, dims.size(), 4);
    for (const std::uint64_t size : dims) put(file, size, word);
    put(file, type, 4);
    put(file, offset, 8);
    file.resize((file.size() + alignment - 1) / alignment * alignment + data);
    return file;
  }
  Gguf& with(std::string_view key, std::uint32_t value_type, std::uint64_t value, int size) {
    put(entries, key.size(), version == 1 ? 4 : 8);
    put(entries, key);
    put(entries, value_type, 4);
    put(entries, value, size);
    ++entry_count;
    return *this;
  }
};

std::string refusal(const Bytes& file, const FileRules& rules = {}) {
  const Result<TensorFile> read = read_tensor_file(file, rules);
  return read ? "read" : read.error().text();
}

TEST(TensorFile, ASafetensorsFileSaysNamesTypesShapesAndPlaces) {
  const Bytes file =
      safetensors(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[],"data_offsets":[12,13]},)"
                  R"("a/\u00e9":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]}}   )",
                  13);
  const Result<TensorFile> read = read_tensor_file(file);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->kind, FileKind::safetensors);
  EXPECT_EQ(read->find_metadata("format")->text(), "pt");
  const FileTensor& a = *read->find("a/\xC3\xA9");
  EXPECT_EQ(a.dtype, "BF16");
  EXPECT_EQ(a.dense, Format::bf16);
  EXPECT_EQ(a.encoding, nullptr);
  EXPECT_THAT(a.shape, ElementsAre(2, 3));
  EXPECT_EQ(a.offset, file.size() - 13);
  EXPECT_EQ(a.bytes, 12U);
  EXPECT_EQ(read->tensors[0].name, "b");
  EXPECT_EQ(read->tensors[0].count(), 1U);
}

TEST(TensorFile, AGgufOfEachVersionSaysDimensionsOutermostFirst) {
  for (const std::uint32_t version : {1U, 2U, 3U}) {
    Gguf gguf;
    gguf.version = version;
    gguf.dims = {64, 3};
    gguf.type = 8;
    gguf.data = 3 * 68;
    const Result<TensorFile> read = read_gguf(gguf.bytes());
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->version, version);
    const FileTensor& w = read->tensors.at(0);
    EXPECT_EQ(w.dtype, "Q8_0");
    EXPECT_EQ(w.encoding->id(), "q8_0:ggml");
    EXPECT_FALSE(w.dense);
    EXPECT_THAT(w.shape, ElementsAre(3, 64));
    EXPECT_EQ(w.bytes, 3U * 68);
    EXPECT_EQ(w.offset, read->data_start);
  }
}

TEST(TensorFile, EveryTypeOfBothKindsIsFoundByNameAndItsEncodingAgreesOnSizes) {
  for (const FileKind kind : {FileKind::safetensors, FileKind::gguf}) {
    for (const StoredType& type : stored_types(kind)) {
      EXPECT_EQ(stored_type_named(kind, type.name), &type);
      if (kind == FileKind::gguf) {
        EXPECT_EQ(gguf_type_numbered(type.number), &type);
      }
      if (!type.format.empty()) {
        EXPECT_EQ(spec(*format_named(type.format)).width(), static_cast<int>(type.block_bits)) << type.name;
      }
      if (type.encoding.empty()) continue;
      const Encoding& e = **encoding_named(type.encoding);
      EXPECT_EQ(e.block_size, type.block_elements) << type.name;
      EXPECT_EQ(e.block_bytes * 8, type.block_bits) << type.name;
    }
  }
}

TEST(TensorFile, AnUnsoundSafetensorsFileIsRefusedWithThePlaceAndWhatWouldBeRight) {
  const auto tensor = [](std::string_view members, std::size_t data) {
    std::string header = R"({"w":{)";
    return safetensors(header.append(members).append("}}"), data);
  };
  EXPECT_EQ(refusal(tensor(R"("dtype":"F32","shape":[32,8],"data_offsets":[0,65536])", 65536)),
            "/w/data_offsets: 65536 bytes between the offsets; expected 1024 bytes, as dtype and shape say");
  EXPECT_THAT(refusal(tensor(R"("dtype":"U8","shape":[0],"data_offsets":[64,0])", 64)),
              HasSubstr("/w/data_offsets: [64, 0] ends before it begins"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0])", 0)),
              HasSubstr("/w/shape: the product of the shape does not fit 64 bits"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])", 2)), HasSubstr("no whole bytes"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])", 4)),
              HasSubstr("/w/dtype: unknown dtype 'f32'; expected BOOL, F4"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[1,2])", 2)), HasSubstr("a hole"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0,1])", 2)),
              HasSubstr("1 bytes after the last tensor"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"U8","shape":[2],"data_offsets":[0,2])", 1)),
              HasSubstr("ends at byte 2 of 1 bytes of data"));
  EXPECT_THAT(refusal(tensor(R"("dtype":"U8","shape":[1.0],"data_offsets":[0,1])", 1)),
              HasSubstr("expected an integer such as 12"));
}

TEST(TensorFile, AHeaderIsReadStrictly) {
  EXPECT_THAT(refusal(safetensors(R"({"k":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                  R"("k":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                                  2)),
              HasSubstr("duplicate key 'k'"));
  EXPECT_THAT(refusal(safetensors(R"({"__metadata__":{"a":1}})", 0)),
              HasSubstr("/__metadata__/a: '1'; expected a string"));
  EXPECT_THAT(refusal(safetensors(" {}", 0)), HasSubstr("byte 8 is no '{'"));
  EXPECT_THAT(refusal(safetensors("{}x", 0)), HasSubstr("header byte 10: 'x' after the header's object"));
  EXPECT_THAT(refusal(safetensors("{\"\xFF\":", 0)), HasSubstr("no UTF-8"));
  EXPECT_THAT(refusal(safetensors(R"({"\ud800":)", 0)), HasSubstr("an escape that is none"));
  Bytes wraps = safetensors("{}", 0);
  for (std::size_t i = 0; i < 8; ++i) wraps[i] = i == 0 ? 0xFB : 0xFF;
  EXPECT_THAT(refusal(wraps), HasSubstr("a header of 18446744073709551611 bytes in a file of 10"));
  EXPECT_EQ(refusal(wraps, {.length_wraps = true}), "read");
  EXPECT_THAT(refusal({}), HasSubstr("a file of 0 bytes"));
  EXPECT_THAT(read_safetensors(Bytes(7)).error().text(), HasSubstr("a file of 7 bytes"));
  EXPECT_THAT(read_safetensors(Bytes(8)).error().text(), testing::Not(HasSubstr("a file of")));
}

TEST(TensorFile, AnUnsoundGgufIsRefusedWithThePlaceAndWhatWouldBeRight) {
  EXPECT_EQ(refusal(Gguf{}.bytes()), "read");
  EXPECT_THAT(refusal(Gguf{.dims = Shape(9, 1)}.bytes()), HasSubstr("tensor 'w': 9 dimensions; expected at most 4"));
  EXPECT_THAT(refusal(Gguf{.dims = {~std::uint64_t{0}, 2, 1, 1}}.bytes()), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(refusal(Gguf{.dims = {33}, .type = 8}.bytes()), HasSubstr("rows of 33 elements"));
  EXPECT_THAT(refusal(Gguf{.type = 4}.bytes()), HasSubstr("Q4_2 was withdrawn"));
  EXPECT_THAT(refusal(Gguf{.type = 1000}.bytes()), HasSubstr("unknown type 1000"));
  EXPECT_THAT(refusal(Gguf{.offset = 8}.bytes()), HasSubstr("offset 8; expected a multiple of the alignment 32"));
  EXPECT_THAT(refusal(Gguf{.offset = 0xFFFFFFFFFFFFFFE0}.bytes()), HasSubstr("expected data within the file"));
  EXPECT_EQ(refusal(Gguf{.dims = {8}, .offset = 0xFFFFFFFFFFFFFFE0, .data = 0}.bytes(), {.range_check_wraps = true}),
            "read");
  EXPECT_THAT(refusal(Gguf{.version = 0x03000000}.bytes()), HasSubstr("byte 4: a big-endian file"));
  EXPECT_THAT(refusal(Gguf{.version = 4}.bytes()), HasSubstr("byte 4: version 4; expected 1, 2 or 3"));
  EXPECT_THAT(refusal(Gguf{.entry_count = std::uint64_t{1} << 61}.bytes()), HasSubstr("metadata entries in the"));
  EXPECT_THAT(refusal(Gguf{}.with("k", 4, 1, 4).with("k", 4, 1, 4).bytes()), HasSubstr("duplicate key 'k'"));
  EXPECT_THAT(refusal(Gguf{}.with("b", 7, 2, 1).bytes()), HasSubstr("metadata 'b': a bool of 2; expected 0 or 1"));
  EXPECT_THAT(refusal(Gguf{}.with("general.alignment", 4, 0, 4).bytes()),
              HasSubstr("an alignment of 0; expected a power"));
  EXPECT_THAT(refusal(Gguf{}.with("general.alignment", 4, 24, 4).bytes()), HasSubstr("an alignment of 24"));
  EXPECT_THAT(refusal(Gguf{}.with("general.alignment", 5, 32, 4).bytes()), HasSubstr("an alignment of type i32"));
}

TEST(TensorFile, EveryPrefixOfAFileIsRefusedOrRead) {
  const Bytes whole = Gguf{}.with("general.alignment", 4, 16, 4).bytes();
  for (std::size_t size = 0; size < whole.size() - 31; ++size)
    EXPECT_NE(refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))), "read") << size;
}

TEST(TensorFile, WritingWhatWasReadGivesTheSameBytes) {
  Gguf gguf{.dims = {64, 3}, .type = 8, .alignment = 64, .data = 256};
  gguf.with("general.alignment", 4, 64, 4).with("f", 12, 0x7FF8000000000001, 8);
  for (const Bytes& file :
       {gguf.bytes(), safetensors(R"({"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}   )", 3)}) {
    const Result<TensorFile> read = read_tensor_file(file);
    ASSERT_TRUE(read) << read.error().text();
    const Result<Bytes> written = write_tensor_file(*read, tensor_data(*read, file));
    ASSERT_TRUE(written) << written.error().text();
    EXPECT_EQ(*written, file);
  }
}

TEST(TensorFile, AWriterRefusesWhatItsFormatCannotSay) {
  const Bytes data(4);
  const auto refused = [&](TensorFile file) {
    const std::vector<std::span<const std::uint8_t>> all(file.tensors.size(), data);
    const Result<Bytes> written = write_tensor_file(file, all);
    return written ? "written" : written.error().text();
  };
  TensorFile file;
  file.kind = FileKind::gguf;
  file.version = 3;
  FileTensor w;
  w.name = "w";
  w.dtype = "F32";
  w.shape = {1};
  file.tensors.push_back(w);
  EXPECT_EQ(refused(file), "written");
  file.version = 1;
  EXPECT_THAT(refused(file), HasSubstr("version 1; expected 2 or 3"));
  file.version = 3;
  file.tensors[0].shape = {2};
  EXPECT_THAT(refused(file), HasSubstr("4 bytes of data; expected 8"));
  file.tensors[0].shape = {1, 1, 1, 1, 1};
  EXPECT_THAT(refused(file), HasSubstr("5 dimensions"));
  file.kind = FileKind::safetensors;
  EXPECT_EQ(refused(file), "written");
  file.tensors[0].name = "__metadata__";
  EXPECT_THAT(refused(file), HasSubstr("a reserved name"));
}

TEST(TensorFile, MetadataReadsAsPeopleWriteIt) {
  const MetadataValue value{ValueType::array, ValueType::i16, {'\xFF', '\xFF', '\x02', 0}, {}};
  EXPECT_EQ(value.text(), "[-1, 2]");
  EXPECT_EQ(value.text(1), "[-1, … 2 in all]");
  EXPECT_EQ((MetadataValue{ValueType::f32, ValueType::string, {0, 0, '\xC0', '\x3F'}, {}}.text()), "1.5");
  EXPECT_EQ((MetadataValue{ValueType::boolean, ValueType::string, {'\x01'}, {}}.text()), "true");
}

TEST(MappedFile, AFileIsMappedAndWhatIsNoneIsRefused) {
  const std::string folder = testing::TempDir();
  const std::string path = folder + "packcheck_mapped_file";
  std::ofstream(path, std::ios::binary) << "abc";
  Result<MappedFile> mapped = MappedFile::open(path);
  ASSERT_TRUE(mapped) << mapped.error().text();
  std::filesystem::remove(path);  // the mapping keeps its bytes
  EXPECT_THAT(mapped->bytes(), ElementsAre('a', 'b', 'c'));
  const MappedFile moved = std::move(*mapped);
  EXPECT_EQ(moved.bytes().size(), 3U);
  EXPECT_TRUE(mapped->bytes().empty());
  std::ofstream(path, std::ios::binary).flush();
  ASSERT_TRUE(MappedFile::open(path));
  EXPECT_TRUE(MappedFile::open(path)->bytes().empty());
  std::filesystem::remove(path);
  EXPECT_THAT(MappedFile::open(path).error().text(), HasSubstr("cannot open"));
  EXPECT_THAT(MappedFile::open(folder).error().text(), HasSubstr("a directory; expected a regular file"));
  EXPECT_THAT(MappedFile::open("/dev/null").error().text(), HasSubstr("no regular file"));
  const std::string pipe = folder + "packcheck_mapped_pipe";  // nobody writes to it
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(MappedFile::open(pipe).error().text(), HasSubstr("no regular file"));
  std::filesystem::remove(pipe);
}

/// A file of ../shared/data beside the sources; nothing where it is absent.
std::optional<MappedFile> shared_file(const std::string& name) {
  const char* const given = std::getenv("PACKCHECK_DATA");
  Result<MappedFile> mapped = MappedFile::open(std::string(given == nullptr ? PACKCHECK_DATA : given) + "/" + name);
  if (!mapped) return std::nullopt;
  return std::move(*mapped);
}

TEST(TensorFile, RealFilesSayWhatTheyHoldAndAreWrittenByteForByte) {
  // Names, shapes and places as a few lines of Python read them.
  struct Known {
    const char* file;
    const char* tensor;
    const char* dtype;
    Shape shape;
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  const Known known[] = {{"gguf/mnist_cnn.gguf", "stage2.conv2.weight", "F32", {32, 16, 5, 5}, 2080, 51200},
                         {"gguf/mnist_cnn.gguf", "out.bias", "F32", {10}, 116128, 40},
                         {"gguf/mnist_mlp.gguf", "model.hidden1.weight", "F32", {128, 784}, 320, 401408},
                         {"gguf/test_experiment.gguf", "result", "F32", {3, 3}, 448, 36},
                         {"safetensors/jfk-codes.safetensors", "codes", "I64", {1, 2, 828}, 80, 13248},
                         {"safetensors/voices.safetensors", "mask", "U8", {1, 982, 33}, 259400, 32406}};
  std::size_t seen = 0;
  for (const Known& k : known) {
    const std::optional<MappedFile> mapped = shared_file(k.file);
    if (!mapped) continue;
    ++seen;
    const Result<TensorFile> read = read_tensor_file(mapped->bytes());
    ASSERT_TRUE(read) << k.file << ": " << read.error().text();
    const FileTensor* tensor = read->find(k.tensor);
    ASSERT_NE(tensor, nullptr) << k.tensor;
    EXPECT_EQ(tensor->dtype, k.dtype);
    EXPECT_EQ(tensor->shape, k.shape);
    EXPECT_EQ(tensor->offset, k.offset);
    EXPECT_EQ(tensor->bytes, k.bytes);
    const Result<Bytes> written = write_tensor_file(*read, tensor_data(*read, mapped->bytes()));
    ASSERT_TRUE(written) << written.error().text();
    EXPECT_EQ(*written, Bytes(mapped->bytes().begin(), mapped->bytes().end())) << k.file;
  }
  if (seen == 0) GTEST_SKIP() << "no files at ../shared/data";
}

}  // namespace
}  // namespace packcheck::test
