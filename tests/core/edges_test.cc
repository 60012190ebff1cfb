// Edges where one number more or less, or one sign, makes another answer: limits that are reached exactly, the ends of
// what is quoted, middles of codes, and files at their last byte.
#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/affine/nan_trace.h"
#include "core/affine/sums.h"
#include "core/encoding/bound_terms.h"
#include "core/encoding/bounds.h"
#include "core/encoding/encoding.h"
#include "core/file/tensor_file.h"
#include "core/graph/exec.h"
#include "core/graph/json_export.h"
#include "core/graph/json_import.h"
#include "core/params/layout.h"
#include "core/precision/import.h"
#include "core/storage/mapped_file.h"
#include "core/text/json_document.h"
#include "core/text/number_form.h"
#include "tests/core/packed_samples.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;

TEST(Edges, ADecimalBesideTheMiddleOfTwoCodesGoesToItsSideAcrossAPowerOfTen) {
  // 100 lies between 96 and 104.
  const auto code = [](std::string_view text) { return parse_number_as(Format::e4m3fn, text).value(); };
  EXPECT_EQ(code("99.99999999999999999999999"), code("96"));
  EXPECT_EQ(code("0.9999999999999999999999999e2"), code("96"));
  EXPECT_EQ(code("100.00000000000000000000001"), code("104"));
  EXPECT_EQ(code("100"), code("96"));
  EXPECT_EQ(code("-99.99999999999999999999999"), code("-96"));
}

TEST(Edges, RefusalsQuoteFortyCharacters) {
  const std::string token = "12345678901234567890123456789012345678901234567890";
  EXPECT_EQ(parse_json_integer(token, "x").error().what.find("2345678901234567890123456789012345678901"),
            std::string::npos);
  EXPECT_THAT(parse_json_integer(token, "x").error().what, HasSubstr(token.substr(0, 40)));
  EXPECT_EQ(parse_bits(token).error().what, "'" + token.substr(0, 40) + "'");
  const Layout& layout = *layout_named("maxpool2d").value();
  EXPECT_EQ(parse_field(layout.fields[0], token).error().what, "'" + token.substr(0, 40) + "' is no 64-bit integer");
}

TEST(Edges, GraphsReachTheirLimitsExactly) {
  const GraphDialect& dialect = all_graph_dialects()[0];
  const GraphResult<Graph> nul = import_json(std::string_view("{\0}", 3), dialect);
  EXPECT_EQ(nul.error().kept()[0].where, "byte 2");
  const std::string_view nested = R"({"nodes":[{"id":0,"shape":[1,1],"op":"leaf","data":[[1.0]]}]})";
  EXPECT_TRUE(import_json(nested, dialect, {}, {.depth = 5}));
  EXPECT_FALSE(import_json(nested, dialect, {}, {.depth = 4}));
  const auto shape_of = [&](std::size_t dimensions) {
    std::string text = R"({"nodes":[{"id":0,"shape":[1],"op":"leaf","data":[1.0]},{"id":1,"shape":[1)";
    for (std::size_t i = 1; i < dimensions; ++i) text.append(",1");
    return import_json(text.append(R"(],"op":"exp","inputs":[0]}]})"), dialect).has_value();
  };
  EXPECT_TRUE(shape_of(65535));
  EXPECT_FALSE(shape_of(65536));
}

TEST(Edges, ShapesAndWorkReachTheirLimitsExactly) {
  const ShapeOperator& reduce = **shape_operator_named("reduce");
  Dimensions attributes{0};
  for (std::int64_t axis = 0; axis < 16; ++axis) attributes.push_back(axis);
  const std::vector<Dimensions> shapes{Dimensions(16, 2)};
  EXPECT_EQ(infer_shape(reduce, {attributes, shapes}).value(), Dimensions{});
  attributes.push_back(0);
  EXPECT_THAT(infer_shape(reduce, {attributes, shapes}).error().text(), HasSubstr("18"));
  // 2^8 products for each of 2^24 outputs, and one row more.
  const ExecOperator& linear = **exec_operator_named("linear");
  const auto run = [&](std::int64_t rows) {
    const std::vector<Dimensions> inputs{{rows, 256}, {256, 256}};
    const std::vector<std::size_t> counts{static_cast<std::size_t>(rows) * 256, 256 * 256};
    return exec_shape(linear, {}, inputs, counts).has_value();
  };
  EXPECT_TRUE(run(65536));
  EXPECT_FALSE(run(65537));
}

/// Two groups of 32, each number of the first `x`, each code `code`, with the scale `scale`.
std::string traced(SumOrder order, float x, unsigned code, float scale) {
  PackedSample s(1, 64, 1, 32, 4, Format::f32, order);
  for (std::size_t i = 0; i < 32; ++i) {
    s.x[i] = x;
    s.set_code(0, i, code);
  }
  s.set_scale(0, 0, scale);
  const TracedLayer layer{"w", s.product, s.weights.view()};
  const Result<std::optional<NanTrace>> trace = trace_nan({&layer, 1}, s.x, 1);
  return trace.value() ? (*trace)->text() : "finite";
}

TEST(Edges, AnOverflowIsTracedToTheGroupWhoseTermsOrCodesAddUpPastTheLargest) {
  EXPECT_EQ(traced(SumOrder::sequential, 1e38F, 1, 1.0F), "w, row 0, output 0, group 0: a product overflows");
  EXPECT_EQ(traced(SumOrder::sequential, 1e30F, 1, 1e10F), "w, row 0, output 0, group 0: a product overflows");
  EXPECT_EQ(traced(SumOrder::per_group, 1e37F, 15, 0x1p-60F), "w, row 0, output 0, group 0: a product overflows");
  EXPECT_EQ(traced(SumOrder::sequential, 1e37F, 15, 0x1p-60F), "finite");
  EXPECT_EQ(traced(SumOrder::sequential, 1.0F, 15, 0x1p127F), "w, row 0, output 0, group 0: a product overflows");
}

TEST(Edges, ASumOfNegativeZerosIsOne) {
  for (const SumOrder order : kOrders) {
    PackedSample s(1, 64, 1, 32, 4, Format::f32, order);
    for (std::size_t i = 0; i < 64; ++i) {
      s.x[i] = -0.0F;
      s.set_code(0, i, 1);
    }
    for (std::size_t g = 0; g < 2; ++g) {
      s.set_scale(0, g, 1.0F);
      s.set_bias(0, g, 1.0F);
    }
    const std::vector<float> y = s.multiplied();
    EXPECT_TRUE(y[0] == 0.0F && std::signbit(y[0])) << sum_order_name(order);
  }
}

TEST(Edges, AWriterWithOffsetsFromTheFilesStartWritesWhereTheDataStarts) {
  const std::vector<std::uint8_t> data(4);
  const std::vector<std::span<const std::uint8_t>> all{data};
  for (std::size_t length = 1; length <= 40; ++length) {
    TensorFile file;
    file.kind = FileKind::gguf;
    file.version = 3;
    FileTensor t;
    t.name = std::string(length, 'n');
    t.dtype = "F32";
    t.shape = {1};
    file.tensors.push_back(t);
    const std::vector<std::uint8_t> bytes = write_gguf(file, all, {.offsets_from_file_start = true}).value();
    const std::size_t header = 4 + 4 + 8 + 8 + 8 + length + 4 + 8 + 4 + 8;  // the offset is its last word
    EXPECT_EQ(load_little_endian<std::uint64_t>(&bytes[header - 8]), (header + 31) / 32 * 32) << length;
  }
}

TEST(Edges, NansOfMxfp8OfMlxBecomeTheLargestNumbersOfTheirSigns) {
  const Encoding& mxfp8 = *encoding_named("mxfp8:mlx").value();
  std::vector<float> values(32, 1.0F);
  values[3] = std::nanf("");
  values[4] = -std::nanf("");
  std::vector<std::uint8_t> block(mxfp8.block_bytes);
  ASSERT_TRUE(quantize(mxfp8, values, block));
  const std::size_t codes = mxfp8.scales[0].offset == 0 ? 1 : 0;
  EXPECT_EQ(block[codes + 3], 0x7E);
  EXPECT_EQ(block[codes + 4], 0xFE);
}

TEST(Edges, LongArraysOfBytesAreConvertedAsOneByOne) {
  std::vector<std::uint8_t> in(1500);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * 7);
  for (const Format from : {Format::e4m3fn, Format::e5m2}) {
    std::vector<std::uint8_t> out(4 * in.size());
    ASSERT_TRUE(convert_array(from, Format::f32, in, out));
    for (std::size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(load_little_endian<std::uint32_t>(&out[4 * i]), convert(from, Format::f32, in[i])) << i;
  }
}

TEST(Edges, WeightsOfANetworkHaveAColumnForEachInput) {
  const auto import = [](const std::string& shape, const std::string& output) {
    return import_typed_json(R"({"nodes":[{"id":0,"shape":[1,2],"op":"input","data":[1.0,1.0]},{"id":1,"shape":)" +
                             shape + R"(,"op":"weight","data":[1.0,1.0]},{"id":2,"shape":)" + output +
                             R"(,"op":"linear","inputs":[0,1]}]})")
        .has_value();
  };
  EXPECT_TRUE(import("[1,2]", "[1,1]"));
  EXPECT_FALSE(import("[2,1]", "[1,2]"));
  EXPECT_FALSE(import("[2]", "[1,1]"));
  EXPECT_FALSE(import("[1,1,2]", "[1,1]"));
}

std::size_t open_files() {
  std::size_t count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

TEST(Edges, MappedFilesAreReadToTheirLastByteAndClosed) {
  const std::string path = testing::TempDir() + "packcheck_edges_" + std::to_string(::getpid());
  std::ofstream(path) << "0123456789";
  const std::size_t before = open_files();
  MappedFileResolver resolver;
  const FileBacked region{path, 4, 6};
  const Result<ByteView> bytes = resolver.read(region, 2, 4);
  ASSERT_TRUE(bytes) << bytes.error().text();
  EXPECT_EQ(std::string(bytes->bytes.begin(), bytes->bytes.end()), "6789");
  EXPECT_FALSE(resolver.read(region, 2, 5));
  EXPECT_FALSE(resolver.read(region, 7, 0));
  EXPECT_TRUE(resolver.read(region, 6, 0));
  EXPECT_FALSE(resolver.read({path, 11, 0}, 0, 0));
  EXPECT_TRUE(MappedFile::open(path));
  EXPECT_EQ(open_files(), before);
  // Where the standard input is closed, its number is the next file's.
  const int input = ::dup(0);
  ::close(0);
  EXPECT_TRUE(resolver.read(region, 0, 1));
  EXPECT_EQ(::fcntl(0, F_GETFD), -1);
  EXPECT_TRUE(MappedFile::open(path));
  EXPECT_EQ(::fcntl(0, F_GETFD), -1);
  if (input >= 0) {
    ::dup2(input, 0);
    ::close(input);
  }
  std::filesystem::remove(path);
}

TEST(Edges, TheSumOfNothingIsZeroInEveryOrder) {
  const auto is_zero = [](float sum) { return sum == 0.0F && !std::signbit(sum); };
  for (const SumOrder order : {SumOrder::sequential, SumOrder::lanes, SumOrder::pairwise})
    EXPECT_TRUE(is_zero(sum_products(order, {}, nullptr, nullptr))) << sum_order_name(order);
  EXPECT_TRUE(is_zero(sum_in_order({}, nullptr)));
  EXPECT_TRUE(is_zero(sum_in_order({})));
}

TEST(Edges, TermsBehindTheLastEightGoToTheFirstLanes) {
  const std::vector<float> ones(11, 1.0F);
  std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_EQ(sum_products(SumOrder::lanes, x, ones.data(), nullptr), 66.0F);
  // Term 8 is lost in lane 0, and term 4 when its lane is added to that one; together they would not be.
  x = {1, 0, 0, 0, 0x1p-24F, 0, 0, 0, 0x1p-24F};
  EXPECT_EQ(sum_products(SumOrder::lanes, x, ones.data(), nullptr), 1.0F);
}

TEST(Edges, AScaleVanishesAtHalfTheLeastHalfAndInThePrivateRuleBelowTheLeast) {
  EXPECT_TRUE(scale_vanishes(ScaleRule::nearest_even, 0x1p-25));  // a tie, and 0 is the even one
  EXPECT_FALSE(scale_vanishes(ScaleRule::nearest_even, std::nextafter(0x1p-25, 1.0)));
  EXPECT_TRUE(scale_vanishes(ScaleRule::skainet_private, std::nextafter(0x1p-24, 0.0)));
  EXPECT_FALSE(scale_vanishes(ScaleRule::skainet_private, 0x1p-24));
  // What becomes 0 is wrong by itself.
  const Encoding& q8 = *encoding_named("q8_0:ggml").value();
  const std::vector<float> values(q8.block_size, 127 * 0x1p-25F);
  std::vector<double> bounds(q8.block_size);
  error_bounds(q8, values, bounds);
  EXPECT_THAT(bounds, testing::Each(127 * 0x1p-25));
}

TEST(Edges, TheBoundOfMxfp4AllowsTheNextExponentWhereTheLogarithmMayRoundUp) {
  // Steps of the exponent 0 or of 1: 0, 1/8 … 3/2, or twice as much.
  const Encoding& mxfp4 = *encoding_named("mxfp4:ggml").value();
  std::vector<float> values(mxfp4.block_size, 0.0F);
  values[0] = 2.0F - 0x1p-23F;
  values[1] = 0.25F;
  values[2] = 0.375F;
  std::vector<double> bounds(mxfp4.block_size);
  error_bounds(mxfp4, values, bounds);
  EXPECT_EQ(bounds[0], (0.5 - 0x1p-23) * (1.0 + 0x1p-22));
  EXPECT_EQ(bounds[1], 0.0);
  EXPECT_EQ(bounds[2], 0.125 * (1.0 + 0x1p-22));
}

TEST(Edges, WhereOneOverTheScaleOverflowsEveryCodeIsTheOneOfACastThatFails) {
  // Products are infinite, or of 0 no numbers. Both casts give 0, of a ternary digit the one in the middle.
  for (const char* const id :
       {"q4_0:ggml", "q4_1:ggml", "q5_0:ggml", "q5_1:ggml", "q8_0:ggml", "q8_1:ggml", "tq1_0:ggml", "tq2_0:ggml"})
    for (const float sign : {1.0F, -1.0F}) {
      const Encoding& e = *encoding_named(id).value();
      std::vector<float> values(e.block_size, 0.0F);
      for (std::size_t i = 0; i < values.size(); i += 3) values[i] = sign * 0x1p-130F;
      std::vector<std::uint8_t> block(e.block_bytes, 0xEE);
      ASSERT_TRUE(quantize(e, values, block));
      std::vector<std::uint8_t> expected(e.block_bytes, 0);
      if (e.name == "tq2_0") std::fill_n(expected.begin(), 64, std::uint8_t{0x55});
      if (e.name == "tq1_0") {  // ceil(n·256/243) of the digits 11111 and 11110 of base 3, 121 and 120
        std::fill_n(expected.begin(), 48, std::uint8_t{128});
        std::fill_n(expected.begin() + 48, 4, std::uint8_t{127});
      }
      for (const ScaleField& field : e.scales)  // each is 0, or -0
        for (std::size_t at = field.offset; at < field.offset + field.bytes; ++at) block[at] = 0;
      EXPECT_EQ(block, expected) << id << " " << sign;
    }
}

TEST(Edges, TheBoundOfMlxAllowsTheNextCodeWhereTwoRoundingsMayReachTheMiddle) {
  // 255 and 0 give the scale -1 and the bias 255: a number x lies at r = 255 - x among the codes, wrong by r·2^-22.9.
  const Encoding& e = *encoding_named("mlx_affine(8,64):cpu-f32").value();
  std::vector<float> values(e.block_size, 0.0F);
  values[0] = 255.0F;
  values[1] = 155.5F - 0x1p-16F;  // beyond the middle of 99 and 100 by 1.2 times that: the code is 100
  values[2] = 0.5F - 0x1p-16F;    // beyond the middle of 254 and 255 by half of that: the code may be 254
  std::vector<double> bounds(e.block_size);
  error_bounds(e, values, bounds);
  EXPECT_GE(bounds[1], 0.5 - 0x1p-16);
  EXPECT_LT(bounds[1], 0.5);
  EXPECT_GE(bounds[2], 0.5 + 0x1p-16);
  EXPECT_LT(bounds[2], 0.5 + 0x1p-15);
}

TEST(Edges, CodesOfQ8GoAsFarAs127InBothDirections) {
  const Encoding& q8 = *encoding_named("q8_0:ggml").value();
  std::vector<float> values(q8.block_size, 126.5F);
  values[1] = -127.0F;
  values[2] = 127.0F;
  values[3] = -126.4375F;
  std::vector<std::uint8_t> block(q8.block_bytes);
  q8.quantize_block(q8.rules, values.data(), block.data());  // the rule, not its fast loop
  EXPECT_THAT(std::vector<std::uint8_t>(block.begin(), block.begin() + 7),
              testing::ElementsAre(0x00, 0x3C, 0x7F, 0x81, 0x7F, 0x82, 0x7F));
}

}  // namespace
}  // namespace packcheck::test
