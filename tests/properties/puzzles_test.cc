// Planted bugs that an engine must find within the cases of the quick profile, over 20 seeds; and what shrinking must
// make of them: short, small and plain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "properties/cases/cases.h"
#include "properties/engines/engines.h"
#include "subjects/reference/reference.h"
#include "tests/properties/samples.h"
#include "tests/properties/temporary_folder.h"

namespace packcheck::test {
namespace {

constexpr int kSeeds = 20;
constexpr int kEnough = 19;  // 95 %

/// A law that breaks on some cases, and the simplest of them.
struct Puzzle {
  const char* name;
  const CaseType* type;
  const char* variant;
  bool (*breaks)(const Case&);
  const char* simplest;  ///< what shrinking must end at
};
void PrintTo(const Puzzle& puzzle, std::ostream* out) { *out << puzzle.name; }

bool any_element(const Case& c, bool (*test)(std::uint64_t code)) {
  const auto& conversion = c.as<ConversionCase>();
  for (std::size_t i = 0; i < conversion.count(); ++i)
    if (test(load_element(spec(conversion.from), conversion.elements, i))) return true;
  return false;
}

float single(std::uint64_t code) { return std::bit_cast<float>(static_cast<std::uint32_t>(code)); }

const Puzzle kPuzzles[] = {
    {"a_number_of_three_or_more", &conversion_cases, "f32->f16",
     [](const Case& c) { return any_element(c, [](std::uint64_t code) { return single(code) >= 3.0F; }); },
     R"({"from":"f32","to":"f16","elements":["0x40400000"]})"},
    {"a_subnormal", &conversion_cases, "f32->bf16",
     [](const Case& c) { return any_element(c, [](std::uint64_t code) { return code != 0 && code <= 0x7FFFFF; }); },
     R"({"from":"f32","to":"bf16","elements":["0x00000001"]})"},
    {"minus_zero", &number_cases, "json", [](const Case& c) { return c.as<NumberCase>().bits == 1ULL << 63; },
     R"({"bits":"0x8000000000000000"})"},
    {"a_packed_word_past_a_million", &number_cases, "json",
     [](const Case& c) { return c.as<NumberCase>().bits >= 1'000'003; }, R"({"bits":"0x00000000000f4243"})"},
    {"two_full_fields", &parameters_cases, "conv2d:gen2",
     [](const Case& c) {
       const auto& values = c.as<ParametersCase>().values;
       return values[0] == 255 && values[1] == 255;
     },
     R"({"layout":"conv2d:gen2","values":[255,255,0,0,0]})"},
    {"an_exponent_with_a_sign", &text_cases, "json",
     [](const Case& c) {
       const std::string& text = c.as<TextCase>().text;
       return text.find("e-") != std::string::npos || text.find("E-") != std::string::npos;
     },
     nullptr},
    {"a_full_byte_in_the_second_block", &blocks_cases, "q4_0:ggml",
     [](const Case& c) {
       const Bytes& blocks = c.as<BlocksCase>().blocks;
       return blocks.size() > 18 && blocks[20] >= 0xF0;
     },
     R"({"encoding":"q4_0:ggml","blocks":"0000000000000000000000000000000000000000f0000000000000000000000000000000"})"},
    {"a_block_with_one_large_number", &values_cases, "q8_0:ggml",
     [](const Case& c) {
       const auto& values = c.as<ValuesCase>().values;
       return std::any_of(values.begin(), values.end(), [](float v) { return v >= 2.5F; });
     },
     nullptr},
};

Law law_of(const Puzzle& puzzle) {
  const auto breaks = puzzle.breaks;
  return {"test.puzzle",
          "",
          {},
          puzzle.type,
          [](const SubjectInfo&) { return std::vector<std::string>{}; },
          [breaks](Subject&, const Case& c) {
            Judge judge;
            judge.add_checked(1);
            if (breaks(c)) judge.broken({"planted", "in", "right", "wrong", "why"});
            return std::move(judge).verdict();
          }};
}

class EveryPuzzle : public testing::TestWithParam<Puzzle> {};

/// How often `run` finds the bug; every find must be shrunk to the simplest case.
template <class Run>
void expect_solved(const Puzzle& puzzle, Run run) {
  const Law law = law_of(puzzle);
  const auto reference = make_reference();
  int found = 0;
  int exact = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Hunt hunt(law, *reference, puzzle.variant, 1);
    run(hunt, seed);
    if (hunt.findings().empty()) continue;
    ++found;
    const std::string& shrunk = hunt.findings()[0].case_json;
    const bool is_simplest = puzzle.simplest == nullptr || shrunk == puzzle.simplest;
    EXPECT_TRUE(is_simplest) << "seed " << seed << ": " << shrunk;
    exact += is_simplest ? 1 : 0;
  }
  EXPECT_GE(found, kEnough);
  EXPECT_EQ(exact, found) << "not shrunk to the simplest case";
}

TEST_P(EveryPuzzle, IsSolvedByThePropertyEngine) {
  expect_solved(GetParam(), [](Hunt& hunt, std::uint64_t seed) { run_property(hunt, seed, 400); });
}

TEST_P(EveryPuzzle, IsSolvedByTheFuzzEngine) {
  expect_solved(GetParam(), [](Hunt& hunt, std::uint64_t seed) { run_fuzz(hunt, seed, 1000, {}); });
}

INSTANTIATE_TEST_SUITE_P(Planted, EveryPuzzle, testing::ValuesIn(kPuzzles),
                         [](const auto& test) { return std::string(test.param.name); });

// One code of 65536: the sweep finds it always, random cases hardly ever.
const Puzzle kOneCode{"one_code", &conversion_cases, "f16->f32",
                      [](const Case& c) { return any_element(c, [](std::uint64_t code) { return code == 0x5A5B; }); },
                      R"({"from":"f16","to":"f32","elements":["0x5a5b"]})"};

TEST(Planted, OneCodeOfASmallDomainIsFoundByTheSweep) {
  expect_solved(kOneCode, [](Hunt& hunt, std::uint64_t) { EXPECT_TRUE(run_sweep(hunt, 65536)); });
}

TEST(Planted, WhatIsRememberedIsFoundByTheCorpusEngineAtOnce) {
  const TemporaryFolder folder;
  const std::string kept = case_file_text("storage.repack_keeps_every_value", "reference", {},
                                          conversion_cases.from_json(kOneCode.simplest).value());
  ASSERT_TRUE(write_file_atomically(folder.path() / "conversion" / "regression" / "kept.json", kept));
  const CorpusStore corpus(folder.path());
  expect_solved(kOneCode, [&corpus](Hunt& hunt, std::uint64_t) { run_corpus(hunt, corpus); });
}

}  // namespace
}  // namespace packcheck::test
