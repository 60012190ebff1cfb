// packcheck ask: answers in bits, refusals, and operations that a subject lacks.
#include <gmock/gmock.h>

#include <tuple>

#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A request whose inputs and codes are all 1, with this scale, for one matrix or two.
std::string product_of_ones(const std::string& scale, std::size_t matrices) {
  Json weights = Json::array();
  for (std::size_t i = 0; i < matrices; ++i)
    weights.push_back({{"codes", std::string(32, '1')}, {"scales", {scale}}, {"biases", {"0x0000"}}});
  const Json request{{"rows", 1},         {"in_features", 32},
                     {"out_features", 1}, {"group_size", 32},
                     {"bits", 4},         {"scale_format", "bf16"},
                     {"order", "lanes"},  {"x", std::vector<std::string>(32, "0x3f800000")},
                     {"weights", weights}};
  return request.dump();
}

struct Question {
  const char* name;
  std::vector<std::string> arguments;
  Json bits;
  std::vector<std::string> text;  ///< what the text for people holds
};
void PrintTo(const Question& q, std::ostream* out) { *out << q.name; }

std::string block_of_eights() {
  std::string elements = "0x41000000";
  for (int i = 1; i < 32; ++i) elements += ",0x41000000";
  return elements;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::vector<Question> questions() {
  // 8.0 in q8_0: d = 8/127 = 0x2c08 as a half, every code 127.
  const std::string eights = "082c" + repeated("7f", 32);
  return {
      {"convert", {"convert", "--from", "f32", "--to", "bf16", "0x3F880001"}, "0x3f88", {"0x3f88 (1.0625)"}},
      {"convert_upward",
       {"convert", "--from", "f32", "--to", "bf16", "--round", "upward", "0x3F880001"},
       "0x3f89",
       {"0x3f89"}},
      {"convert_several",
       {"convert", "--from", "f32", "--to", "f16", "0x3f800000,0x80000000", "0x7f800001"},
       Json::array({"0x3c00", "0x8000", "0x7e00"}),
       {"0x3c00 (1.0)", "0x8000 (-0.0)", "NaN"}},
      {"convert_past_the_largest",
       {"convert", "--from", "f32", "--to", "e4m3fn", "0x44000000"},
       "0x7f",
       {"0x7f (NaN)"}},
      {"convert_saturating",
       {"convert", "--from", "f32", "--to", "e4m3fn", "--saturate", "0x44000000"},
       "0x7e",
       {"0x7e (448.0)"}},
      {"convert_below_a_byte", {"convert", "--from", "e2m1", "--to", "e3m2", "0xf"}, "0x36", {"0x36 (-6.0)"}},
      {"convert_stochastic_up",
       {"convert", "--from", "f64", "--to", "e2m1", "--round", "stochastic", "--random-bits", "0x3fffffffffffffff",
        "0x3ff2000000000000"},
       "0x3",
       {"0x3 (1.5)"}},
      {"convert_stochastic_down",
       {"convert", "--from", "f64", "--to", "e2m1", "--round", "stochastic", "--random-bits", "0x4000000000000000",
        "0x3ff2000000000000"},
       "0x2",
       {"0x2 (1.0)"}},
      {"convert_to_an_integer",
       {"convert", "--from", "f32", "--to", "i8", "0x43960000,0x7fc00000,0xc0100000"},
       Json::array({"0x7f", "0x00", "0xfe"}),
       {"0x7f (127)", "0x00 (0)", "0xfe (-2)"}},
      {"convert_wrapping",
       {"convert", "--from", "f32", "--to", "i8", "--dialect", "skainet", "--integer", "wrap", "0x43960000,0xbff33333"},
       Json::array({"0x2c", "0xff"}),
       {"0x2c (44)", "0xff (-1)"}},
      {"convert_as_x86_does",
       {"convert", "--from", "f32", "--to", "i32", "--dialect", "x86-cast", "0x7fc00000"},
       "0x80000000",
       {"(-2147483648)"}},
      {"convert_an_integer", {"convert", "--from", "i32", "--to", "f32", "0x01000003"}, "0x4b800002", {"16777220.0"}},
      {"convert_to_the_same_dtype",
       {"convert", "--from", "f32", "--to", "f32", "--dialect", "skainet", "0x7f800001"},
       "0x7f800001",
       {"NaN"}},
      {"convert_to_skainets_private_half",
       {"convert", "--from", "f32", "--to", "f16", "--dialect", "skainet-q4_0", "0x3f801000,0x387fffff,0xffc00000"},
       Json::array({"0x3c01", "0x03ff", "0xfc00"}),
       {"-Infinity"}},
      {"convert_by_rules_spelled_out",
       {"convert", "--from", "f32", "--to", "f16", "--round", "nearest-up", "--nan", "zero", "--subnormal", "truncated",
        "0xbf801000,0x387fffff,0xffc00000"},
       Json::array({"0xbc00", "0x03ff", "0x0000"}),
       {"0x03ff"}},
      {"convert_a_scale_of_ggml",
       {"convert", "--from", "ue4m3", "--to", "f32", "--dialect", "ggml", "0x7f,0x7e"},
       Json::array({"0x00000000", "0x43e00000"}),
       {"448.0"}},
      {"repack", {"repack", "--from", "f16", "--to", "f32", "0x7C01"}, "0x7f802000", {"0x7f802000 (NaN)"}},
      {"quantize", {"quantize", "q8_0:ggml", block_of_eights()}, eights, {eights}},
      {"print", {"print", "0x0000000000030301"}, "0x0000000000030301", {"9.7517e-319"}},
      {"parse", {"parse", "9.7517E-319"}, "0x0000000000030301", {"0x0000000000030301"}},
      {"parse_negative_zero", {"parse", "--", "-0"}, "0x8000000000000000", {"(-0.0)"}},
      {"pack",
       {"pack", "conv2d", "kernel_h=3", "kernel_w=3", "stride=1"},
       Json::array({"0x0000000000030301", "0x0000000000000000"}),
       {"kernel_h=3 kernel_w=3 stride=1 padding=0 out_channels=0", "0x0000000000030301"}},
      {"unpack",
       {"unpack", "conv2d", "0x0000000000030301"},
       {{"kernel_h", 3}, {"kernel_w", 3}, {"stride", 1}, {"padding", 0}, {"out_channels", 0}},
       {"kernel_h=3\nkernel_w=3\nstride=1"}},
      {"unpack_with_surplus_bits",
       {"unpack", "maxpool2d", "0x0000000001030301", "0x0000000000020005"},
       {{"kernel_h", 3}, {"kernel_w", 3}, {"stride", 1}, {"padding", 2}},
       {"bits of scalar in no field: 0x0000000001000000", "bits of param2 in no field: 0x0000000000000005"}},
      {"affine",
       {"affine_dequantize",
        R"({"out_features":1,"in_features":2,"scale_columns":1,"scale_format":"bf16","codes":"21",)"
        R"("scales":["0x3f80"],"biases":["0xbf80"],"bits":4})"},
       Json::array({"0x00000000", "0x3f800000"}),
       {"0x3f800000 (1.0)"}},
      {"affine_in_blocks",
       {"affine_dequantize",
        R"({"out_features":2,"in_features":1,"scale_columns":1,"scale_format":"bf16","codes":"0201",)"
        R"("scales":["0x3f80"],"biases":["0xbf80"],"bits":8,"block_rows":2,"block_columns":1})"},
       Json::array({"0x3f800000", "0x00000000"}),
       {"0x3f800000 (1.0)"}},
      {"repack_tensor",
       {"repack_tensor", "dense(bf16)", "target=dense(f32)", "bytes=803f0040"},
       Json::array({"0x3f800000", "0x40000000"}),
       {"dense(f32), dtype f32 after 0 reads\n", "0x40000000 (2.0)"}},
      {"repack_tensor_to_what_it_is",
       {"repack_tensor", "dense(bf16)", "bytes=803f", "target=dense(bf16)"},
       "803f",
       {"the tensor itself after 0 reads"}},
      {"requantize_tensor",
       {"requantize_tensor", "dense(f32)", "target=q8_0:ggml", "shape=1,32", "bytes=" + repeated("00000041", 32)},
       eights,
       {"q8_0:ggml, dtype f32 after 0 reads\n" + eights}},
      // 127 · 0x2c08
      {"load_tensor_through_the_resolver",
       {"load_tensor", "q8_0:ggml", "form=dequantize", "target=dense(f32)", "handle=file", "bytes=" + eights},
       Json(std::vector<std::string>(32, "0x40fffc00")),
       {"dense(f32), dtype f32 after 1 read\n", "0x40fffc00"}},
      {"load_tensor_as_it_is",
       {"load_tensor", "dense(f16)", "target=dense(f16)", "bytes=003c"},
       Json::array({"0x3c00"}),
       {"dense(f16), dtype f16 after 0 reads\n0x3c00 (1.0)"}},
      {"product", {"affine_matmul", product_of_ones("0x3f80", 1)}, Json::array({"0x42000000"}), {"0x42000000 (32.0)"}},
      {"product_with_a_nan",
       {"affine_matmul", product_of_ones("0x7fc0", 1)},
       Json::array({"0x7fc00000"}),
       {"first not finite: y, row 0, output 0, group 0: a scale is NaN"}},
      {"gate_and_up",
       {"affine_gate_up", product_of_ones("0x3f80", 2)},
       Json::array({"0x42000000", "0x42000000"}),
       {"0x42000000 (32.0)"}},
      {"shape_whose_input_is_ambiguous",
       {"infer_shape", "conv2d", "1x3x224x224", "64x3x7x7", "--stride", "2", "--padding", "3"},
       Json::array({1, 64, 112, 112}),
       {"conv2d:floor [1, 64, 112, 112]",
        "width 224: derived from the output it is ambiguous: 223 or 224; a reader that "
        "sees only the output derives 223 and loses up to 1 cell"}},
      {"shape_whose_input_is_exact",
       {"infer_shape", "maxpool2d", "1,1,8,8", "kernel=3"},
       Json::array({1, 1, 6, 6}),
       {"height 8: derived from the output it is exact: 8, the only input size"}},
      {"shape_that_carries_its_input",
       {"infer_shape", "conv2d:export_6d", "1x3x224x224", "64x3x7x7", "stride=2", "padding=3,2"},
       Json::array({1, 3, 224, 224, 112, 111}),
       {"nothing is derived"}},
      {"shape_same",
       {"infer_shape", "conv2d:same_upper", "1x3x224x224", "64x3x7x7", "stride=2"},
       Json::array({1, 64, 112, 112}),
       {"height 224: derived from the output it is ambiguous: 223 or 224"}},
      {"shape_ceil",
       {"infer_shape", "maxpool2d:ceil", "1x3x224x224", "kernel=3", "stride=2"},
       Json::array({1, 3, 112, 112}),
       {"width 224: derived from the output it is ambiguous: 224 or 225"}},
      {"shape_truncated",
       {"infer_shape", "conv2d:java", "1x1x2x2", "1x1x3x3", "stride=2"},
       Json::array({1, 1, 1, 1}),
       {"height 2: derived from the output it is ambiguous: 2 to 4"}},
      {"shape_of_a_loss", {"infer_shape", "softmax_cross_entropy", "5x10", "5"}, Json::array(), {"entropy []"}},
      {"shape_without_axes", {"infer_shape", "reduce", "2x3x4", "axes=0,-1"}, Json::array({3}), {"reduce [3]"}},
      {"node",
       {"execute", R"({"node":"add:f32","attributes":[],"shapes":[[2],[]],"inputs":[["0x3f800000","0x40000000"],)"
                   R"(["0x3f800000"]],"upstream":[]})"},
       Json::array({"0x40000000", "0x40400000"}),
       {"0x40000000 (2.0)"}},
  };
}

class Answer : public CommandTest, public testing::WithParamInterface<Question> {};

TEST_P(Answer, IsGivenInBitsAndInWords) {
  std::vector<std::string> arguments{"ask"};
  // Options stand before the arguments, which may follow a "--".
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const Ran said = run(arguments);
  EXPECT_EQ(said.status, 0) << said.err;
  for (const std::string& part : GetParam().text) EXPECT_THAT(said.out, HasSubstr(part));
  arguments.insert(arguments.begin() + 1, "--json");
  const Ran with_json = run(arguments);
  EXPECT_EQ(with_json.status, 0) << with_json.err;
  const Json answer = with_json.json();
  EXPECT_EQ(answer["bits"], GetParam().bits);
  EXPECT_TRUE(answer["error"].is_null());
  EXPECT_EQ(answer["operation"], GetParam().arguments[0]);
  EXPECT_EQ(answer["text"].get<std::string>() + "\n", said.out);
}

INSTANTIATE_TEST_SUITE_P(Ask, Answer, testing::ValuesIn(questions()),
                         [](const auto& test) { return std::string(test.param.name); });

using Ask = CommandTest;

TEST_F(Ask, DequantizeAnswersTheExampleOfTheHelp) {
  const Json answer = run({"ask", "--json", "dequantize", "q4_0:ggml", "00b0" + repeated("00", 16)}).json();
  ASSERT_EQ(answer["bits"].size(), 32U);
  for (const Json& bits : answer["bits"]) EXPECT_EQ(bits, "0x3f800000");  // (0 - 8) * -0.125
}

TEST_F(Ask, WritesATensorFileAndReadsItAgain) {
  const Ran wrote = run({"ask", "write_tensors", "safetensors", "tensor =a%20b F32 2 0 8", "bytes=0000803f00000040",
                         "out=" + (folder() / "w.safetensors").string()});
  EXPECT_EQ(wrote.status, 0) << wrote.err;
  EXPECT_THAT(wrote.out, HasSubstr(" bytes in "));
  const Ran read = run({"ask", "read_tensors", "safetensors", (folder() / "w.safetensors").string()});
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_THAT(read.out, StartsWith("file safetensors\n"));
  EXPECT_THAT(read.out, HasSubstr("tensor =a%20b F32 2 "));
  const Ran other = run({"ask", "read_tensors", "gguf", (folder() / "w.safetensors").string()});
  EXPECT_EQ(other.status, 1) << other.out;
}

TEST_F(Ask, ReadsAnArgumentFromAFile) {
  files().write("number.txt", "9.7517E-319\n");
  const Ran read = run({"ask", "parse", "@number.txt"});
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_EQ(read.out, run({"ask", "parse", "9.7517E-319"}).out);
  const Ran missing = run({"ask", "parse", "@missing.txt"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("missing.txt"));
}

TEST_F(Ask, SuggestsTheNearestOperationLayoutAndShapeRule) {
  EXPECT_THAT(run({"ask", "shaep", "conv2d"}).err, HasSubstr("'shape'? "));
  EXPECT_THAT(run({"ask", "unpack", "conv2b", "0x0"}).err, HasSubstr("'conv2d'? "));
  EXPECT_THAT(run({"ask", "shape", "cov2d", "1x3x8x8"}).err, HasSubstr("'conv2d'? "));
  EXPECT_THAT(run({"explain", "0x0", "--op", "cnov2d"}).err, HasSubstr("'conv2d'? "));
  EXPECT_THAT(run({"ask", "unpack", "nothing-like-it", "0x0"}).err, Not(HasSubstr("'? ")));
}

TEST_F(Ask, ExitsWith2WhereATensorIsNotDescribed) {
  using Arguments = std::vector<std::string>;
  for (const auto& [arguments, message] :
       {std::pair<Arguments, const char*>{{"repack_tensor"}, "no source"},
        {{"repack_tensor", "dense(f17)", "target=dense(f32)", "bytes=00"}, "f17"},
        {{"repack_tensor", "dense(f16)", "bytes=003c"}, "no target"},
        {{"repack_tensor", "dense(f16)", "target=dense(f32)"}, "no bytes"},
        {{"repack_tensor", "dense(f16)", "target=dense(f32)", "bytes=00", "from=x"}, "bytes twice"},
        {{"repack_tensor", "dense(f16)", "target=dense(f32)", "from=/nonexistent"}, "/nonexistent"},
        {{"repack_tensor", "dense(f16)", "target=dense(f32)", "bytes=zz"}, "hex"},
        {{"repack_tensor", "q8_0:ggml", "target=dense(f32)", "bytes=00"}, "a multiple of 34"},
        {{"repack_tensor", "dense(f16)", "target=dense(f32)", "bytes=003c", "colour=red"}, "one of target, form"},
        {{"repack_tensor", "dense(f16)", "target=dense(f32)", "bytes=003c", "shape=1", "shape=1"}, "given twice"},
        {{"repack_tensor", "dense(f16)", "target=dense(f32)", "bytes=003c", "shape=x"}, "shape is 'x'"},
        {{"read_tensors", "zip", "x"}, "gguf or safetensors"},
        {{"read_tensors", "gguf"}, "0 files"},
        {{"write_tensors"}, "no kind"}}) {
    Arguments all{"ask"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran said = run(all);
    EXPECT_EQ(said.status, 2) << message << said.out;
    EXPECT_THAT(said.err, HasSubstr(message));
  }
}

struct Refusal {
  const char* name;
  std::vector<std::string> arguments;
  const char* message;
};
void PrintTo(const Refusal& r, std::ostream* out) { *out << r.name; }

class Refused : public CommandTest, public testing::WithParamInterface<Refusal> {};

TEST_P(Refused, ExitsWith1AndSaysWhatTheSubjectSays) {
  std::vector<std::string> arguments{"ask"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const Ran said = run(arguments);
  EXPECT_EQ(said.status, 1) << said.out;
  EXPECT_THAT(said.err, HasSubstr(GetParam().message));
  EXPECT_THAT(said.out, IsEmpty());
  arguments.insert(arguments.begin() + 1, "--json");
  const Ran with_json = run(arguments);
  EXPECT_EQ(with_json.status, 1);
  EXPECT_THAT(with_json.json()["error"].get<std::string>(), HasSubstr(GetParam().message));
  EXPECT_TRUE(with_json.json()["bits"].is_null());
}

INSTANTIATE_TEST_SUITE_P(
    Ask, Refused,
    testing::Values(
        Refusal{"pack_out_of_range", {"pack", "conv2d", "stride=256"}, "field stride"},
        Refusal{"pack_negative", {"pack", "conv2d", "padding=-1"}, "field padding"},
        Refusal{"print_nan", {"print", "0x7ff8000000000000"}, "refused"},
        Refusal{"parse_nan", {"parse", "NaN"}, "refused"}, Refusal{"parse_space", {"parse", " 1"}, "refused"},
        Refusal{"parse_nothing", {"parse", ""}, "refused"}, Refusal{"parse_overflow", {"parse", "1e999"}, "refused"},
        Refusal{"convert_refusing",
                {"convert", "--from", "f32", "--to", "i8", "--integer", "refuse", "0x43960000"},
                "element 0 is no number of i8"},
        Refusal{"requantize_to_what_has_no_quantizer",
                {"requantize_tensor", "dense(f32)", "target=q4_K:ggml", "shape=1", "handle=file", "bytes=00000000"},
                "refused after 0 reads: "},
        Refusal{"read_what_is_no_file", {"read_tensors", "gguf", "bytes=00"}, "refused"},
        Refusal{"write_a_tensor_twice",
                {"write_tensors", "safetensors", "tensor =w U8 1 0 1", "tensor =w U8 1 1 1", "bytes=0102"},
                "refused"},
        Refusal{"repack_that_loses", {"repack", "--from", "f32", "--to", "f16", "0x3f800000"}, "refused"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Ask, ExitsWith2ForRulesAndPairsThatThereAreNot) {
  const auto asked = [this](std::vector<std::string> more) {
    more.insert(more.begin(), {"ask", "convert", "--from", "f16", "--to", "i8", "0x0000"});
    return run(more);
  };
  EXPECT_EQ(asked({}).status, 0);
  for (const auto& [option, value, message] : {std::tuple{"--dialect", "skainet", "no conversion f16->i8"},
                                               {"--dialect", "kotlin", "unknown dialect"},
                                               {"--integer", "clamp", "saturate, wrap, refuse or indefinite"},
                                               {"--nan", "any", "quieted, same"},
                                               {"--subnormal", "gone", "kept, flushed or truncated"},
                                               {"--round", "up", "nearest-up"}}) {
    const Ran said = asked({option, value});
    EXPECT_EQ(said.status, 2) << option;
    EXPECT_THAT(said.err, HasSubstr(message));
  }
}

TEST_F(Ask, ATwinAnswersInItsOwnWay) {
  EXPECT_EQ(run({"ask", "--json", "unpack", "conv2d", "0x0000000000030301", "--subject", "twin:numeric_cast"})
                .json()["bits"]["kernel_h"],
            0);
  EXPECT_THAT(run({"ask", "print", "0x7ff8000000000000", "--subject", "twin:infinity_printed"}).out, StartsWith("NaN"));
}

TEST_F(Ask, ExitsWith4WhereTheSubjectLacksTheOperation) {
  if (!has_subject("eigen")) GTEST_SKIP() << "this build has no subject eigen";
  const Ran parse = run({"ask", "parse", "1", "--subject", "eigen"});
  EXPECT_EQ(parse.status, 4);
  EXPECT_THAT(parse.err, HasSubstr("eigen does not offer parse"));
  EXPECT_THAT(parse.out, IsEmpty());
  const Ran json = run({"ask", "--json", "parse", "1", "--subject", "eigen"});
  EXPECT_EQ(json.status, 4);
  EXPECT_THAT(json.json()["error"].get<std::string>(), HasSubstr("does not offer"));
  EXPECT_EQ(run({"ask", "convert", "--from", "f64", "--to", "f32", "0x0", "--subject", "eigen"}).status, 4)
      << "a variant that it lacks";
  EXPECT_EQ(run({"ask", "convert", "--from", "f32", "--to", "f16", "0x3f800000", "--subject", "eigen"}).status, 0);
}

}  // namespace
}  // namespace packcheck::test
