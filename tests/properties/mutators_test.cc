// Mutators keep what they do not change, and bring a fuzzer past the first check.
#include "properties/mutators/mutators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/file/tensor_file.h"
#include "core/graph/json_import.h"
#include "core/graph/ysgp.h"
#include "properties/cases/graphs.h"
#include "properties/mutators/json_values.h"
#include "properties/mutators/numbers.h"

namespace packcheck::test {
namespace {

constexpr std::string_view kGraph =
    R"({"nodes":[{"id":0,"shape":[2],"op":"leaf","data":[1.5,-0]},{"id":1,"shape":[2],"op":"relu","scalar":NaN,"inputs":[0]}]})";

std::string text_of(const JsonSpan& value, std::string_view text) {
  return std::string(text.substr(value.begin, value.end - value.begin));
}

TEST(JsonValues, AreAllFoundEachAfterItsParentWithItsKey) {
  const std::vector<JsonSpan> values = json_values(R"( {"a" : [1, "x]\"", NaN], "b":{}} )");
  ASSERT_EQ(values.size(), 6U);
  const std::string_view text = R"( {"a" : [1, "x]\"", NaN], "b":{}} )";
  EXPECT_EQ(text_of(values[1], text), R"([1, "x]\"", NaN])");
  EXPECT_EQ(text_of(values[3], text), R"("x]\"")");
  EXPECT_EQ(text_of(values[4], text), "NaN");
  EXPECT_EQ(values[4].parent, 1U);
  EXPECT_EQ(text.substr(values[5].key_begin, 3), "\"b\"");
  EXPECT_FALSE(values[2].is_member());
}

TEST(JsonValues, AreNoneWhereBracketsOrQuotesDoNotMatch) {
  for (const std::string_view text : {"", "{", "[1,", "{\"a\"}", "\"a", "[1}", "{a:1}", "[,]"})
    EXPECT_TRUE(json_values(text).empty()) << text;
  EXPECT_TRUE(json_values(std::string(500, '[') + std::string(500, ']')).empty());
}

TEST(JsonMutator, MakesTextsWhoseBracketsStillMatch) {
  Dice dice(1);
  const Bytes graph(kGraph.begin(), kGraph.end());
  std::size_t whole = 0;
  std::set<Bytes> different;
  for (int i = 0; i < 500; ++i) {
    const std::optional<Bytes> changed = mutate_graph_json(graph, dice);
    ASSERT_TRUE(changed);
    different.insert(*changed);
    whole += json_values(std::string(changed->begin(), changed->end())).empty() ? 0U : 1U;
  }
  EXPECT_GT(different.size(), 200U);
  EXPECT_GT(whole, 470U);  // the whole document once more, or lost, is no longer one
}

TEST(JsonMutator, ReachesFaultsThatReadersDifferIn) {
  Dice dice(2);
  const Bytes graph(kGraph.begin(), kGraph.end());
  std::set<std::string_view> missing{"\"op\":\"leaf\",\"op\":", "null",  "Infinity", "3.0", "4294967299",
                                     "\"scalar_bits\":\"0x",    "1e400", "\"0\""};
  for (int i = 0; i < 20000 && !missing.empty(); ++i) {
    const Bytes changed = mutate_graph_json(graph, dice).value();
    const std::string text(changed.begin(), changed.end());
    for (auto it = missing.begin(); it != missing.end();)
      it = text.find(*it) != text.npos ? missing.erase(it) : std::next(it);
  }
  EXPECT_TRUE(missing.empty()) << *missing.begin();
}

/// How many of `count` mutations of drawn cases the reader takes, and how many it refuses.
template <class Takes>
std::pair<int, int> taken_and_refused(const CaseType& type, const std::string& variant, Takes takes) {
  const InputMutator mutator(type, {variant});
  Dice dice(3);
  std::pair<int, int> counts;
  for (int i = 0; i < 400; ++i)
    ++(takes(mutator.mutate(mutator.fresh(dice), 4096, dice)) ? counts.first : counts.second);
  return counts;
}

TEST(WireMutators, GiveBothSoundAndUnsoundDocumentsOfEveryFormat) {
  const GraphDialect& dialect = all_graph_dialects()[0];
  const auto text = [](const Bytes& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const std::pair<int, int> all[] = {
      taken_and_refused(graph_text_cases, dialect.id(),
                        [&](const Bytes& bytes) { return import_json(text(bytes), dialect).has_value(); }),
      taken_and_refused(graph_bytes_cases, dialect.id(),
                        [&](const Bytes& bytes) { return read_ysgp(bytes, dialect).has_value(); }),
      taken_and_refused(*case_type_named("file"), "gguf",
                        [](const Bytes& bytes) { return read_gguf(bytes).has_value(); }),
      taken_and_refused(*case_type_named("file"), "safetensors",
                        [](const Bytes& bytes) { return read_safetensors(bytes).has_value(); })};
  for (const auto& [taken, refused] : all) {
    EXPECT_GT(taken, 15);
    EXPECT_GT(refused, 15);
  }
}

TEST(WireMutators, ChangeNothingOfAnotherFormat) {
  Dice dice(4);
  const Bytes noise{1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_FALSE(mutate_ysgp(noise, dice));
  EXPECT_FALSE(mutate_gguf(noise, dice));
  EXPECT_FALSE(mutate_safetensors(noise, dice));
  EXPECT_FALSE(mutate_graph_json({'{'}, dice));
  EXPECT_FALSE(cross_ysgp(noise, noise, dice));
}

TEST(InputMutator, TakesAnyBytesOfAnyFamilyAndKeepsToTheLongest) {
  for (const CaseType* type : all_case_types()) {
    const std::string variant = type->name() == "text" || type->name() == "number" ? "json" : "";
    if (variant.empty() && type->name() != "graph_text") continue;
    const InputMutator mutator(*type, {variant.empty() ? "ysgp:lossless" : variant});
    Dice dice(5);
    Bytes bytes;
    for (int i = 0; i < 2000; ++i) {
      bytes = mutator.mutate(bytes, 200, dice);
      ASSERT_LE(bytes.size(), 200U);
      bytes = mutator.cross(bytes, mutator.fresh(dice), 200, dice);
      ASSERT_LE(bytes.size(), 200U);
    }
  }
}

TEST(InputMutator, MakesTheSameInputsOfTheSameSeed) {
  const InputMutator mutator(*case_type_named("parameters"), {"conv2d:gen2"});
  Dice one(6);
  Dice two(6);
  Bytes first;
  Bytes second;
  for (int i = 0; i < 100; ++i) {
    first = mutator.mutate(first, 64, one);
    second = mutator.mutate(second, 64, two);
    ASSERT_EQ(first, second);
  }
}

TEST(InputMutator, WritesDrawnChoicesSoThatTheyAreDrawnAgain) {
  for (const auto& [family, variant] : {std::pair("parameters", "conv2d:gen2"), std::pair("number", "json")}) {
    const CaseType& type = *case_type_named(family);
    const InputMutator mutator(type, {variant});
    Dice dice(7);
    for (int i = 0; i < 50; ++i) {
      Dice same = dice;
      const Bytes bytes = mutator.fresh(dice);
      RandomSource random(same.bits());
      BytesSource source(bytes);
      EXPECT_EQ(type.to_json(type.draw(source, variant)), type.to_json(type.draw(random, variant)));
    }
  }
}

TEST(Numbers, OfAMutatorAreOftenPackedIntegers) {
  Dice dice(8);
  int subnormal = 0;
  int special = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t bits = interesting_double(dice) & ~(std::uint64_t{1} << 63);
    subnormal += bits != 0 && bits >> 52 == 0 ? 1 : 0;
    special += bits >> 52 == 0x7FF ? 1 : 0;
  }
  EXPECT_GT(subnormal, 200);
  EXPECT_GT(special, 100);
}

TEST(JsonMutator, ChangesAnyTextAndKeepsItJson) {
  Dice dice(5);
  const std::string_view text = R"({"packcheck_case":1,"law":"params.unpack_inverts_pack","case":{"fields":[1,2]}})";
  std::size_t whole = 0;
  std::set<Bytes> different;
  for (int i = 0; i < 300; ++i) {
    const std::optional<Bytes> changed = mutate_json({text.begin(), text.end()}, dice);
    ASSERT_TRUE(changed);
    different.insert(*changed);
    whole += json_values(std::string(changed->begin(), changed->end())).empty() ? 0U : 1U;
  }
  EXPECT_GT(different.size(), 100U);
  EXPECT_GT(whole, 270U);
  EXPECT_FALSE(mutate_json({'{', '"'}, dice));
}

/// How many parts behind lengths there are; nothing where a length does not fit.
std::optional<std::size_t> count_of_parts(const Bytes& bytes) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < bytes.size(); ++count) {
    if (bytes.size() - at < 4) return std::nullopt;
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length |= static_cast<std::size_t>(bytes[at + i]) << 8 * i;
    if (length > bytes.size() - at - 4) return std::nullopt;
    at += 4 + length;
  }
  return count;
}

TEST(PartsMutator, ChangesPartsAndLiesAboutALengthNowAndThen) {
  Dice dice(6);
  const Bytes parts = {5, 0, 0, 0, 'p', 'a', 'r', 's', 'e', 3, 0, 0, 0, '1', '.', '5', 0, 0, 0, 0};
  ASSERT_EQ(count_of_parts(parts), 3U);
  int sound = 0;
  int more = 0;
  std::set<Bytes> different;
  for (int i = 0; i < 500; ++i) {
    const std::optional<Bytes> changed = mutate_parts(parts, dice);
    ASSERT_TRUE(changed);
    different.insert(*changed);
    const std::optional<std::size_t> count = count_of_parts(*changed);
    sound += count ? 1 : 0;
    more += count && *count > 3 ? 1 : 0;
  }
  EXPECT_GT(different.size(), 100U);
  EXPECT_GT(sound, 400);
  EXPECT_LT(sound, 500);
  EXPECT_GT(more, 20);
  EXPECT_FALSE(mutate_parts({9, 0, 0, 0, 'x'}, dice));
  EXPECT_FALSE(mutate_parts({}, dice));
}

TEST(WireForm, OfEveryCaseIsReadBackAsTheCase) {
  for (const auto& [family, variant] :
       {std::pair("graph_text", "ysgp:lossless"), std::pair("graph_bytes", "ysgp:yishape"), std::pair("text", "json"),
        std::pair("file", "gguf"), std::pair("file", "safetensors"), std::pair("blocks", "q4_0:ggml"),
        std::pair("blocks", "bitnet_planes(32):skainet")}) {
    const CaseType* type = case_type_named(family);
    ASSERT_NE(type, nullptr);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      RandomSource source(seed);
      const Case c = type->draw(source, variant);
      const std::optional<Bytes> wire = type->to_wire(c);
      ASSERT_TRUE(wire) << family;
      EXPECT_EQ(type->to_json(type->from_wire(*wire, variant).value()), type->to_json(c)) << family;
    }
  }
}

}  // namespace
}  // namespace packcheck::test
