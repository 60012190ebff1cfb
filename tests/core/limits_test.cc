// Limits reached exactly, and passed by one: the last that is taken and the first that is refused, of files, graphs,
// packed words, networks and buffers; and the conversions whose answer changes there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "core/file/tensor_file.h"
#include "core/format/convert.h"
#include "core/format/mode.h"
#include "core/graph/audit_graph.h"
#include "core/graph/exec.h"
#include "core/graph/graph.h"
#include "core/graph/json_export.h"
#include "core/graph/json_import.h"
#include "core/params/layout.h"
#include "core/precision/builder.h"
#include "core/storage/tensor_storage.h"

namespace packcheck::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using Bytes = std::vector<std::uint8_t>;

void append(Bytes& bytes, std::uint64_t number, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

TEST(Limits, AKeyOfGgufHasOneTo65535Bytes) {
  const auto reads = [](std::size_t length) {
    Bytes bytes{'G', 'G', 'U', 'F'};
    append(bytes, 3, 4);
    append(bytes, 0, 8);  // tensors
    append(bytes, 1, 8);  // entries
    append(bytes, length, 8);
    bytes.insert(bytes.end(), length, 'k');
    append(bytes, 4, 4);  // u32
    append(bytes, 7, 4);
    while (bytes.size() % 32 != 0) bytes.push_back(0);
    return read_gguf(bytes).has_value();
  };
  EXPECT_FALSE(reads(0));
  EXPECT_TRUE(reads(1));
  EXPECT_TRUE(reads(65535));
  EXPECT_FALSE(reads(65536));
}

Bytes safetensors(std::string_view header) {
  Bytes bytes;
  append(bytes, header.size(), 8);
  bytes.insert(bytes.end(), header.begin(), header.end());
  return bytes;
}

TEST(Limits, AnEscapeThatTheHeadersEndCutsIsNone) {
  const std::string_view header = R"({"\u004)";
  for (std::size_t length = 3; length <= header.size(); ++length) {
    const Result<TensorFile> file = read_safetensors(safetensors(header.substr(0, length)));
    ASSERT_FALSE(file) << length;
    EXPECT_EQ(file.error().what, "an escape that is none") << length;
  }
}

TEST(Limits, OneRequestHasTheLengthAnd99993BytesOfTheHeader) {
  const auto reads = [](std::size_t length, const FileRules& rules) {
    std::string header(length, ' ');
    header.front() = '{';
    header.back() = '}';
    return read_safetensors(safetensors(header), rules).has_value();
  };
  EXPECT_TRUE(reads(99'993, {.header_cut = true}));
  EXPECT_FALSE(reads(99'994, {.header_cut = true}));
  EXPECT_TRUE(reads(99'994, {}));
}

TEST(Limits, StochasticRoundingGoesUpWhereTheRandomNumberIsBelowTheFraction) {
  // 2^-k of the smallest number of f16, 2^-24: up for fewer random numbers than 2^(64 - k), of 2^64.
  for (unsigned k = 1; k <= 64; ++k) {
    const std::uint64_t number = (1023 - 24 - std::uint64_t{k}) << 52;
    const std::uint64_t first_down = std::uint64_t{1} << (64 - k);
    const auto up = [&](std::uint64_t random) {
      return convert(Format::f64, Format::f16, number, {.rounding = Rounding::stochastic, .random_bits = random});
    };
    EXPECT_EQ(up(first_down - 1), 1U) << k;
    EXPECT_EQ(up(first_down), 0U) << k;
  }
  // Three of 2^-66 are more than 0 of 2^64, but not more than 1.
  const std::uint64_t number = ((1023 - 24 - std::uint64_t{65}) << 52) | std::uint64_t{1} << 51;
  for (const std::uint64_t random : {0U, 1U})
    EXPECT_EQ(convert(Format::f64, Format::f16, number, {.rounding = Rounding::stochastic, .random_bits = random}),
              1U - random);
}

TEST(Limits, EveryByteOfALongArrayIsConvertedAsByItself) {
  Bytes in(1024);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i);
  for (const FormatSpec& from : all_formats()) {
    if (from.bytes() != 1) continue;
    Bytes out(4 * in.size());
    ASSERT_TRUE(convert_array(from.format, Format::f32, in, out));
    for (std::size_t i = 0; i < 256; ++i)
      ASSERT_EQ(load_little_endian<std::uint32_t>(&out[4 * i]), convert(from.format, Format::f32, in[i]))
          << from.name << " " << i;
  }
}

TEST(Limits, AnArrayOfSinglesIsNarrowedByTheRuleThatWasAsked) {
  Bytes in;
  for (std::uint64_t i = 0; i < 64; ++i) {
    append(in, 0x3F80'0000 + i * 0x1357, 4);  // 1 and a little
    append(in, 0xBF80'0000 + i * 0x1357, 4);
    append(in, 0x3000'0000 + (i << 22), 4);  // down to subnormals of the narrow formats
    append(in, 0x7F80'0001 + i * 0x20'0000 % 0x7F'0000, 4);
  }
  std::vector<ConvertRules> asked;
  for (const char* const mode : {"nearest-even", "nearest-away", "nearest-up", "toward-zero", "upward", "downward",
                                 "stochastic:4000000000000000", "nearest-even,nan=same", "nearest-even,nan=truncated",
                                 "nearest-even,nan=infinity", "nearest-even,nan=zero", "nearest-even,subnormal=flushed",
                                 "nearest-even,subnormal=truncated", "upward,saturate"})
    asked.push_back(mode_named(mode).value());
  asked.push_back({.path = ConvertPath::through_f16});
  for (const ConvertRules& rules : asked)
    for (const Format to : {Format::f16, Format::bf16, Format::e5m2, Format::e4m3fn}) {
      Bytes out(in.size() / 4 * spec(to).bytes());
      ASSERT_TRUE(convert_array(Format::f32, to, in, out, rules));
      for (std::size_t i = 0; i < in.size() / 4; ++i)
        ASSERT_EQ(load_element(spec(to), out, i),
                  convert(Format::f32, to, load_element(spec(Format::f32), in, i), rules))
            << mode_text(rules) << " " << spec(to).name << " " << i;
    }
}

TEST(Limits, AModeWithoutARandomNumberHasNone) {
  EXPECT_EQ(mode_named("nearest-even").value().random_bits, 0U);
  EXPECT_EQ(mode_named("stochastic:0000000000000001,saturate").value().random_bits, 1U);
}

/// A pooling of a [1,1,height,width] input of zeros; what the audit says of it.
std::vector<std::string> audited_pool(std::size_t height, std::size_t width, const std::string& scalar,
                                      const std::string& output) {
  std::string text = R"({"nodes":[{"id":0,"shape":[1,1,)" + std::to_string(height) + "," + std::to_string(width);
  text.append(R"(],"op":"leaf","data":[0)");
  for (std::size_t i = 1; i < height * width; ++i) text.append(",0");
  text.append(R"(]},{"id":1,"shape":)").append(output).append(R"(,"op":"maxpool2d","scalar_bits":"0x)").append(scalar);
  text.append(R"(","param2_bits":"0x0000000000000000","inputs":[0]}]})");
  std::vector<std::string> found;
  for (const GraphWarning& w : audit_graph(text)) found.push_back(std::string(w.kind->name).append(" ").append(w.what));
  return found;
}

TEST(Limits, AnAuditTakesRowsForTheHeightAndColumnsForTheWidth) {
  // Windows of 3 rows and 2 columns.
  EXPECT_THAT(audited_pool(6, 8, "0000000000030201", "[1,1,4,7]"), ElementsAre(StartsWith("numeric_cast")));
  EXPECT_THAT(audited_pool(8, 6, "0000000000030201", "[1,1,6,5]"), ElementsAre(StartsWith("numeric_cast")));
  EXPECT_THAT(audited_pool(6, 8, "0000000000030201", "[1,1,6,7]"),
              ElementsAre(StartsWith("numeric_cast"), StartsWith("shape_mismatch")));
}

TEST(Limits, AKernelOf256RowsIsOfTheThirdGeneration) {
  EXPECT_THAT(audited_pool(256, 1, "0000000000ff0101", "[1,1,2,1]"), ElementsAre(StartsWith("numeric_cast")));
  EXPECT_THAT(audited_pool(256, 1, "0000000001000101", "[1,1,1,1]"),
              ElementsAre(StartsWith("numeric_cast"), "generation_3 kernel_h 256, dilation 1"));
}

TEST(Limits, APoolsWorkIsItsOutputsTimesItsWindow) {
  // 64 · 64 numbers for each of 1024 · 1024 outputs are 2^32, the most.
  for (const char* const name : {"maxpool2d", "avgpool2d"}) {
    const ExecOperator& pool = **exec_operator_named(name);
    const auto runs = [&](std::int64_t height) {
      const std::vector<Dimensions> shapes{{1, 1, height, 1087}};
      const Dimensions attributes{64, 64, 1, 1, 0, 0};
      const std::vector<std::size_t> counts{static_cast<std::size_t>(height) * 1087};
      return exec_shape(pool, attributes, shapes, counts);
    };
    EXPECT_EQ(runs(1087).value(), (Dimensions{1, 1, 1024, 1024})) << name;
    EXPECT_THAT(runs(1088).error().text(), HasSubstr("at most 2^32 products")) << name;
  }
}

TEST(Limits, AnIdIsBelowTheNumberOfNodes) {
  const GraphDialect& dialect = all_graph_dialects()[0];
  const GraphResult<Graph> graph = import_json(R"({"nodes":[{"id":1,"shape":[1],"op":"leaf","data":[1.0]}]})", dialect);
  ASSERT_FALSE(graph);
  ASSERT_EQ(graph.error().kept().size(), 1U);
  EXPECT_EQ(graph.error().kept()[0].what, "id is 1");
  EXPECT_EQ(graph.error().kept()[0].where, "/nodes/0/id");
}

TEST(Limits, ANodeHas65535Inputs) {
  const GraphDialect& dialect = all_graph_dialects()[0];
  const auto imports = [&](std::size_t inputs) {
    std::string text = R"({"nodes":[{"id":0,"shape":[1],"op":"leaf","data":[1.0]},{"id":1,"shape":[1],"op":"concat",)";
    text.append(R"("inputs":[0)");
    for (std::size_t i = 1; i < inputs; ++i) text.append(",0");
    return import_json(text.append("]}]}"), dialect).has_value();
  };
  EXPECT_TRUE(imports(65535));
  EXPECT_FALSE(imports(65536));
}

TEST(Limits, AShapeHasFewerThan2To60Elements) {
  const auto count = [](std::vector<std::uint32_t> shape) { return element_count(shape); };
  EXPECT_EQ(count({(1U << 30) - 1, 1U << 30}), (std::uint64_t{1} << 60) - (std::uint64_t{1} << 30));
  EXPECT_EQ(count({1U << 30, (1U << 30) - 1}), (std::uint64_t{1} << 60) - (std::uint64_t{1} << 30));
  EXPECT_EQ(count({1U << 30, 1U << 30}), std::nullopt);
  EXPECT_EQ(count({1U << 30, 1U << 29, 1}), std::uint64_t{1} << 59);
  EXPECT_EQ(count({1U << 30, 1U << 29, 2}), std::nullopt);
  EXPECT_EQ(count({0x7FFFFFFF, 0x7FFFFFFF, 1, 0x7FFFFFFF}), std::nullopt);
}

TEST(Limits, GraphsOfLongNamesShapesAndInputsAreWrittenWhole) {
  const GraphDialect& dialect = all_graph_dialects()[0];
  GraphNode leaf;
  leaf.shape = {1};
  leaf.op = "leaf";
  leaf.data = std::vector<std::uint64_t>{0x3FF0'0000'0000'0000};
  GraphNode node;
  node.id = 1;
  node.shape = {1};
  node.op = "concat";
  node.inputs = {0};
  Graph long_name{{leaf, node}};
  long_name.nodes[1].op = std::string(1000, 'x');
  Graph long_shape{{leaf, node}};
  long_shape.nodes[1].shape = ShortList(std::vector<std::uint32_t>(1000, 1));
  Graph many_inputs{{leaf, node}};
  many_inputs.nodes[1].inputs = ShortList(std::vector<std::uint32_t>(1000, 0));
  for (const Graph& graph : {long_name, long_shape, many_inputs}) {
    const GraphResult<std::string> text = export_json(graph, dialect);
    ASSERT_TRUE(text);
    const GraphResult<Graph> back = import_json(*text, dialect);
    ASSERT_TRUE(back);
    EXPECT_TRUE(*back == graph);
  }
}

TEST(Limits, ACastOfANumberFrom2To64OnIsTheLargestInteger) {
  const Layout& layout = *layout_named("maxpool2d").value();
  const auto read = [&](double word) {
    const PackedWords words{std::bit_cast<std::uint64_t>(word), 0};
    return unpack(layout, words, {.word = WordReading::numeric_cast}).values[0];
  };
  ASSERT_FALSE(layout.fields[0].plain());
  ASSERT_EQ(layout.fields[0].word, 0U);
  for (const double word : {0x1p64, 0x1.8p64, 0x1p65, 0x1p1000}) EXPECT_EQ(read(word), layout.fields[0].largest());
  EXPECT_EQ(read(-0x1p64), 0);
  EXPECT_EQ(read(0x1p63), 0);  // its low bits
}

TEST(Limits, AStagesNameHas64BytesAndStagesAre64Deep) {
  const auto named = [](std::size_t length) {
    return NetworkBuilder(Format::f32)
        .input(1)
        .stage(std::string(length, 'n'), Format::f16, [](NetworkBuilder& s) { s.dense(1); })
        .build()
        .has_value();
  };
  EXPECT_FALSE(named(0));
  EXPECT_TRUE(named(1));
  EXPECT_TRUE(named(64));
  EXPECT_FALSE(named(65));
  const auto nested = [](std::size_t stages) {
    NetworkBuilder builder(Format::f32);
    builder.input(1);
    for (std::size_t i = 0; i < stages; ++i) builder.open_stage("s", i % 2 == 0 ? Format::f16 : Format::f32);
    builder.dense(1);
    for (std::size_t i = 0; i < stages; ++i) builder.close_stage();
    return builder.build().has_value();
  };
  EXPECT_TRUE(nested(64));
  EXPECT_FALSE(nested(65));
}

TEST(Limits, ARegionOfAFileEndsBelow2To64) {
  EXPECT_TRUE(check_readable(FileBacked{"weights", UINT64_MAX - 4, 4}, 0, 0, nullptr));
  EXPECT_TRUE(check_readable(FileBacked{"weights", UINT64_MAX, 0}, 0, 0, nullptr));
  const Result<void> past = check_readable(FileBacked{"weights", UINT64_MAX - 3, 4}, 0, 0, nullptr);
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().right, "one that ends below 2^64");
}

/// Reads nothing, and says so.
class RefusingResolver final : public BufferResolver {
  Result<ByteView> read(const FileBacked& file, std::uint64_t, std::uint64_t size) override {
    return refuse("asked for " + std::to_string(size), file.path, "nothing");
  }
};

TEST(Limits, RepeatedElementsAreReadUpToTheLimitAndOthersBeyondIt) {
  RefusingResolver resolver;
  const auto says = [&](const Shape& shape, std::optional<Shape> strides, std::uint64_t bytes) {
    TensorStorage tensor;
    tensor.dtype = Format::f32;
    tensor.shape = shape;
    tensor.strides = std::move(strides);
    tensor.encoding = StorageEncoding::dense(Format::f32);
    tensor.buffer = FileBacked{"weights", 0, bytes};
    return copy_materialize(tensor, &resolver).error().what;
  };
  EXPECT_EQ(says({1 << 20, 256}, Shape{0, 1}, 1024), "asked for 1024");
  EXPECT_EQ(says({(1 << 20) + 1, 256}, Shape{0, 1}, 1024), "1073742848 bytes from repeated elements");
  EXPECT_EQ(says({(1 << 20) + 1, 256}, std::nullopt, 1073742848), "asked for 1073742848");
}

}  // namespace
}  // namespace packcheck::test
