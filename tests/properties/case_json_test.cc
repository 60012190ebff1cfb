// Case JSON that is not right is refused, with a message that names the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/properties/samples.h"

namespace packcheck::test {
namespace {

using nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;

class EveryType : public testing::TestWithParam<TypeAndVariant> {
 protected:
  static ordered_json sample() {
    const auto& [type, variant] = GetParam();
    return ordered_json::parse(type->to_json(random_case(*type, variant, 1)));
  }
  static std::string refusal_of(const std::string& text) {
    const Result<Case> c = GetParam().type->from_json(text);
    return c ? "read: " + text : c.error().text();
  }
  static std::string place(const std::string& key) { return std::string(GetParam().type->name()) + " case/" + key; }
};

/// The first variant of every case type.
std::vector<TypeAndVariant> one_variant_each() {
  std::vector<TypeAndVariant> first;
  for (const TypeAndVariant& p : all_variants())
    if (first.empty() || std::none_of(first.begin(), first.end(), [&](const auto& q) { return q.type == p.type; }))
      first.push_back(p);
  return first;
}

TEST_P(EveryType, ReadsItsOwnSample) { EXPECT_TRUE(GetParam().type->from_json(sample().dump())); }

TEST_P(EveryType, RefusesAnUnknownMemberByName) {
  ordered_json json = sample();
  json["surprise"] = 1;
  EXPECT_THAT(refusal_of(json.dump()), AllOf(HasSubstr("unknown member 'surprise'"), HasSubstr("case")));
}

TEST_P(EveryType, RefusesAMissingMemberByName) {
  const ordered_json whole = sample();
  for (const auto& [key, value] : whole.items()) {
    ordered_json json = whole;
    json.erase(key);
    EXPECT_THAT(refusal_of(json.dump()), AllOf(HasSubstr("missing"), HasSubstr(place(key))));
  }
}

TEST_P(EveryType, RefusesAWrongTypeByName) {
  const ordered_json whole = sample();
  for (const auto& [key, value] : whole.items())
    for (const ordered_json& wrong :
         {ordered_json(nullptr), ordered_json(true), ordered_json(-1.5), ordered_json::object({{"a", 1}}),
          ordered_json::array({ordered_json::array({ordered_json::array()})})}) {
      ordered_json json = whole;
      json[key] = wrong;
      EXPECT_THAT(refusal_of(json.dump()), HasSubstr(place(key))) << json.dump();
    }
}

TEST_P(EveryType, RefusesADuplicateKeyByName) {
  const ordered_json whole = sample();
  for (const auto& [key, value] : whole.items()) {
    std::string text = whole.dump();
    text.insert(text.size() - 1, "," + ordered_json(key).dump() + ":" + value.dump());
    EXPECT_THAT(refusal_of(text), HasSubstr("duplicate key '" + key + "'"));
  }
}

TEST_P(EveryType, RefusesTextAfterTheValue) {
  const std::string text = sample().dump();
  for (const std::string& tail : {std::string("x"), std::string("{}"), std::string(" 1"), std::string("}")})
    EXPECT_THAT(refusal_of(text + tail), AllOf(HasSubstr("JSON"), HasSubstr("one well-formed JSON value")));
  EXPECT_TRUE(GetParam().type->from_json(text + " \n")) << "white space is no text";
}

TEST_P(EveryType, RefusesANulByte) {
  const std::string text = sample().dump();
  EXPECT_THAT(refusal_of(text + std::string(1, '\0')), HasSubstr("NUL"));
  EXPECT_THAT(refusal_of(text + std::string(1, '\0') + "{"), HasSubstr("NUL"));
  EXPECT_THAT(refusal_of(std::string(1, '\0')), HasSubstr("NUL"));
}

TEST_P(EveryType, RefusesDeepNesting) {
  for (const std::size_t depth : {101U, 1000U, 1000000U}) {
    EXPECT_THAT(refusal_of(std::string(depth, '[')), HasSubstr("nested deeper than 100"));
    EXPECT_THAT(refusal_of("{\"layout\":" + std::string(depth, '[') + std::string(depth, ']') + "}"),
                HasSubstr("nested deeper than 100"));
  }
}

TEST_P(EveryType, RefusesWhatIsNoObject) {
  for (const char* text : {"[]", "1", "\"text\"", "null", "true"})
    EXPECT_THAT(refusal_of(text), HasSubstr("not an object")) << text;
}

TEST_P(EveryType, RefusesWhatIsNoJson) {
  for (const std::string& text : {std::string(), std::string("{"), std::string("{'a':1}"), std::string("{\"a\":NaN}"),
                                  std::string("{\"a\":01}"), std::string("{\"a\":\"\xFF\"}"), std::string("\xEF\xBB")})
    EXPECT_THAT(refusal_of(text), AllOf(HasSubstr("JSON"), HasSubstr("one well-formed JSON value"))) << text;
}

TEST_P(EveryType, SurvivesEverySingleCharacterChange) {
  const std::string text = sample().dump();
  for (std::size_t at = 0; at < std::min<std::size_t>(text.size(), 300); ++at)
    for (const char c : {'"', '{', '}', '[', ']', ',', ':', '0', '9', 'x', '-', '\\', '\x01', '\xC3'}) {
      std::string changed = text;
      changed[at] = c;
      const Result<Case> read = GetParam().type->from_json(changed);
      if (!read)
        EXPECT_FALSE(read.error().text().empty());
      else
        EXPECT_TRUE(GetParam().type->from_json(GetParam().type->to_json(*read)));
    }
}

INSTANTIATE_TEST_SUITE_P(CaseJson, EveryType, testing::ValuesIn(one_variant_each()), name_of_variant);

/// JSON that is wrong in what it says.
struct Wrong {
  const char* name;
  const char* type;
  std::string json;
  std::vector<std::string> message;  ///< what the refusal holds
};
void PrintTo(const Wrong& w, std::ostream* out) { *out << w.json; }

std::string affine(const std::string& out, const std::string& in, const std::string& columns,
                   const std::string& codes = "000000", const std::string& scales = "\"0x0000\"",
                   const std::string& biases = "\"0x0000\"") {
  return R"({"out_features":)" + out + R"(,"in_features":)" + in + R"(,"scale_columns":)" + columns +
         R"(,"scale_format":"bf16","codes":")" + codes + R"(","scales":[)" + scales + R"(],"biases":[)" + biases +
         R"(],"bits":4})";
}

std::vector<Wrong> wrong_cases() {
  const std::string q4_values = R"({"encoding":"q4_0:ggml","values":)";
  const std::string conv = R"({"layout":"conv2d:gen2","values":)";
  return {
      {"unknown_source_format",
       "conversion",
       R"({"from":"f8","to":"f16","elements":[]})",
       {"unknown format 'f8'", "case/from", "f64, f32, f16, bf16"}},
      {"unknown_target_format",
       "conversion",
       R"({"from":"f32","to":"","elements":[]})",
       {"unknown format ''", "case/to"}},
      {"element_too_wide",
       "conversion",
       R"({"from":"f16","to":"f32","elements":["0x3c00","0x13c00"]})",
       {"0x13c00", "case/elements", "1 to 4 hex digits"}},
      {"element_above_a_narrow_width",
       "conversion",
       R"({"from":"e3m2","to":"f32","elements":["0x3f","0x40"]})",
       {"0x40", "case/elements", "1 to 2 hex digits, at most 0x3f"}},
      {"element_without_0x",
       "conversion",
       R"({"from":"f16","to":"f32","elements":["3c00"]})",
       {"3c00", "case/elements"}},
      {"element_no_hex",
       "conversion",
       R"({"from":"f16","to":"f32","elements":["0x3g00"]})",
       {"0x3g00", "case/elements"}},
      {"element_empty", "conversion", R"({"from":"f16","to":"f32","elements":["0x"]})", {"0x", "case/elements"}},
      {"element_a_number",
       "conversion",
       R"({"from":"f16","to":"f32","elements":[15360]})",
       {"not a string", "case/elements"}},
      {"unknown_encoding", "values", R"({"encoding":"q3_K","values":[]})", {"unknown encoding 'q3_K'", "q8_0:ggml"}},
      {"partial_block_of_values", "values", q4_values + R"(["0x0","0x0","0x0"]})", {"3", "32"}},
      {"unknown_encoding_of_blocks", "blocks", R"({"encoding":"","blocks":""})", {"unknown encoding ''"}},
      {"partial_block", "blocks", R"({"encoding":"q4_0:ggml","blocks":"00"})", {"18"}},
      {"odd_digits", "blocks", R"({"encoding":"q4_0:ggml","blocks":"0"})", {"odd number of hex digits", "case/blocks"}},
      {"no_hex_bytes", "blocks", R"({"encoding":"q4_0:ggml","blocks":"0g"})", {"'0g'", "case/blocks"}},
      {"unknown_layout",
       "parameters",
       R"({"layout":"conv3d","values":[]})",
       {"unknown layout 'conv3d'", "conv2d:gen2"}},
      {"too_few_values", "parameters", conv + "[1,2,3,4]}", {"4 values", "conv2d:gen2", "5 (one per field)"}},
      {"too_many_values", "parameters", conv + "[1,2,3,4,5,6]}", {"6 values", "conv2d:gen2"}},
      {"value_past_int64", "parameters", conv + "[1,2,3,4,9223372036854775808]}", {"64-bit integers", "case/values"}},
      {"value_past_uint64", "parameters", conv + "[1,2,3,4,-9223372036854775809]}", {"64-bit integers", "case/values"}},
      {"fractional_value", "parameters", conv + "[1,2,3,4,5.0]}", {"64-bit integers", "case/values"}},
      {"unknown_layout_of_words", "words", R"({"layout":"x","scalar":"0x0","param2":"0x0"})", {"unknown layout 'x'"}},
      {"word_too_wide",
       "words",
       R"({"layout":"conv2d:gen2","scalar":"0x10000000000000000","param2":"0x0"})",
       {"0x10000000000000000", "case/scalar", "1 to 16 hex digits"}},
      {"second_word_no_hex",
       "words",
       R"({"layout":"conv2d:gen2","scalar":"0x0","param2":"-0x1"})",
       {"-0x1", "case/param2"}},
      {"double_too_wide", "number", R"({"bits":"0x00000000000000000"})", {"case/bits", "1 to 16 hex digits"}},
      {"both_texts", "text", R"({"text":"1","text_bytes":"31"})", {"unknown member 'text'"}},
      {"odd_text_bytes", "text", R"({"text_bytes":"313"})", {"odd number of hex digits", "case/text_bytes"}},
      {"unknown_operation", "call", R"({"call":"multiply f32->f16","arguments":[]})", {"unknown operation 'multiply'"}},
      {"unknown_variant", "call", R"({"call":"print xml","arguments":[]})", {"unknown variant 'xml'", "json"}},
      {"operation_alone", "call", R"({"call":"print","arguments":[]})", {"too short", "declaration 'print'"}},
      {"arguments_no_array", "call", R"({"call":"print json","arguments":"00"})", {"not an array", "case/arguments"}},
      {"argument_no_hex", "call", R"({"call":"print json","arguments":["0x"]})", {"'0x'", "case/arguments"}},
      {"argument_of_odd_digits",
       "call",
       R"({"call":"print json","arguments":["00","000"]})",
       {"odd number of hex digits", "case/arguments"}},
      {"no_rows", "affine", affine("0", "6", "1"), {"shapes", "affine"}},
      {"no_columns", "affine", affine("1", "6", "0"), {"shapes", "affine"}},
      {"rows_past_the_limit", "affine", affine("4097", "6", "1"), {"shapes", "1..4096"}},
      {"sizes_that_overflow", "affine", affine("4294967296", "4294967296", "1"), {"shapes", "1..4096"}},
      {"largest_sizes", "affine", affine("18446744073709551615", "6", "1"), {"shapes", "1..4096"}},
      {"negative_rows", "affine", affine("-1", "6", "1"), {"not a non-negative integer", "case/out_features"}},
      {"columns_that_do_not_divide", "affine", affine("1", "6", "4"), {"multiple of scale_columns"}},
      {"odd_features", "affine", affine("1", "5", "1"), {"rows of whole bytes"}},
      {"too_few_codes", "affine", affine("1", "6", "1", "0000"), {"sizes do not match the shapes"}},
      {"too_many_codes", "affine", affine("1", "6", "1", "00000000"), {"sizes do not match the shapes"}},
      {"no_scales", "affine", affine("1", "6", "1", "000000", ""), {"sizes do not match the shapes"}},
      {"too_many_biases",
       "affine",
       affine("1", "6", "1", "000000", "\"0x0\"", "\"0x0\",\"0x0\""),
       {"sizes do not match the shapes"}},
  };
}

class WrongCase : public testing::TestWithParam<Wrong> {};

TEST_P(WrongCase, IsRefusedWithWhatAndWhere) {
  const Wrong& wrong = GetParam();
  const Result<Case> c = case_type_named(wrong.type)->from_json(wrong.json);
  ASSERT_FALSE(c);
  for (const std::string& part : wrong.message) EXPECT_THAT(c.error().text(), HasSubstr(part));
  EXPECT_FALSE(c.error().where.empty() && c.error().right.empty()) << c.error().text();
}

INSTANTIATE_TEST_SUITE_P(CaseJson, WrongCase, testing::ValuesIn(wrong_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CaseJson, TakesTheEndsOfEveryRange) {
  EXPECT_TRUE(case_type_named("affine")->from_json(affine("1", "6", "1")));
  EXPECT_TRUE(case_type_named("parameters")
                  ->from_json(R"({"layout":"conv2d:gen2",)"
                              R"("values":[-9223372036854775808,9223372036854775807,0,-1,65536]})"));
  EXPECT_TRUE(
      case_type_named("words")->from_json(R"({"layout":"conv2d","scalar":"0xFFFFFFFFFFFFFFFF","param2":"0x0"})"));
}

}  // namespace
}  // namespace packcheck::test
