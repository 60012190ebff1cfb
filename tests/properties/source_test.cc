// Sources of choices: bounds, running out, counting, and what is simpler.
#include "properties/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "tests/properties/samples.h"

namespace packcheck::test {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kBounds[] = {1, 2, 3, 10, 255, 256, 257, 65536, 65537, std::uint64_t{1} << 32, kAll / 2, kAll};

std::vector<std::uint8_t> some_bytes(std::size_t count) {
  RandomSource random(count);
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.bits(8));
  return bytes;
}

Choices ending_at(std::uint64_t value, std::size_t count) { return Choices(count, Choice{value, 0}); }

TEST(Source, EverySourceStaysBelowTheBound) {
  const std::vector<std::uint8_t> bytes = some_bytes(20000);
  const std::unique_ptr<Source> sources[] = {std::make_unique<RandomSource>(1), std::make_unique<BytesSource>(bytes),
                                             std::make_unique<RecordedSource>(ending_at(kAll, 3000)),
                                             std::make_unique<RecordedSource>(ending_at(77, 3000))};
  for (const auto& source : sources)
    for (int round = 0; round < 200; ++round)
      for (const std::uint64_t bound : kBounds) ASSERT_LT(source->below(bound), bound);
}

TEST(Source, ABoundOfOneHasOneAnswerAndCostsNoBytes) {
  const std::vector<std::uint8_t> bytes{0xAB};
  BytesSource source(bytes);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(source.below(1), 0U);
  EXPECT_EQ(source.bits(8), 0xABU);
}

TEST(Source, SixtyFourBitsReachBothEnds) {
  RandomSource random(3);
  std::uint64_t ored = 0;
  std::uint64_t anded = kAll;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t value = random.bits(64);
    ored |= value;
    anded &= value;
  }
  EXPECT_EQ(ored, kAll);
  EXPECT_EQ(anded, 0U);
  EXPECT_EQ(random.recorded().front().bound, 0U) << "0 stands for 2^64";
  RecordedSource recorded(Choices{{kAll, 0}});
  EXPECT_EQ(recorded.bits(64), kAll);
}

TEST(Source, RandomAnswersCoverASmallRangeEvenly) {
  RandomSource random(5);
  std::map<std::uint64_t, int> seen;
  for (int i = 0; i < 10000; ++i) ++seen[random.below(10)];
  ASSERT_EQ(seen.size(), 10U);
  for (const auto& [value, count] : seen) EXPECT_NEAR(count, 1000, 150) << value;
}

TEST(Source, ASeedIsASequence) {
  RandomSource one(9);
  RandomSource same(9);
  RandomSource other(10);
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> again;
  std::vector<std::uint64_t> different;
  for (int i = 0; i < 20; ++i) {
    first.push_back(one.bits(64));
    again.push_back(same.bits(64));
    different.push_back(other.bits(64));
  }
  EXPECT_EQ(first, again);
  EXPECT_NE(first, different);
}

TEST(Source, BytesAreTakenLittleEndianAsManyAsTheBoundNeedsAndCutToIt) {
  const std::vector<std::uint8_t> bytes{0x05, 0x34, 0x12, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0xFF};
  BytesSource source(bytes);
  EXPECT_EQ(source.below(256), 0x05U);
  EXPECT_EQ(source.bits(16), 0x1234U);
  EXPECT_EQ(source.bits(64), 0x0807060504030201U);
  EXPECT_EQ(source.below(100), 0xFFU % 100);
}

TEST(Source, BytesThatRunOutGiveTheSimplestAnswer) {
  const std::vector<std::uint8_t> bytes{0x7F};
  BytesSource source(bytes);
  EXPECT_EQ(source.bits(64), 0x7FU) << "what is left, then zeros";
  for (const std::uint64_t bound : kBounds) EXPECT_EQ(source.below(bound), 0U);
  BytesSource empty({});
  EXPECT_EQ(empty.bits(64), 0U);
}

TEST(Source, ARecordingIsReplayedCutToTheBoundAndThenGivesZero) {
  RecordedSource source({{3, 10}, {200, 256}, {5, 8}});
  EXPECT_EQ(source.below(10), 3U);
  EXPECT_EQ(source.below(100), 99U) << "a value past the bound is the bound's last";
  EXPECT_EQ(source.below(1), 0U);
  EXPECT_EQ(source.bits(64), 0U);
  EXPECT_EQ(source.below(7), 0U);
}

TEST(Source, WhatWasAskedIsRecordedInOrder) {
  RecordedSource source({{3, 10}, {1, 2}});
  (void)source.below(10);
  (void)source.bits(1);
  (void)source.bits(64);
  EXPECT_THAT(source.recorded(), ElementsAre(Choice{3, 10}, Choice{1, 2}, Choice{0, 0}));
}

TEST(Source, OnceInIsTrueOnlyForTheLastAnswer) {
  RecordedSource source({{0, 3}, {1, 3}, {2, 3}});
  EXPECT_FALSE(source.once_in(3));
  EXPECT_FALSE(source.once_in(3));
  EXPECT_TRUE(source.once_in(3));
  EXPECT_FALSE(source.once_in(3)) << "out of data is the simple answer";
}

/// A draw whose questions depend on earlier answers.
std::vector<std::uint64_t> small_draw(Source& source) {
  std::vector<std::uint64_t> answers{source.below(2)};
  if (answers[0] == 1) answers.push_back(10 + source.below(3));
  answers.push_back(20 + source.bits(1));
  answers.push_back(30 + source.below(1));
  return answers;
}

TEST(Advance, CountsThroughEveryCombinationOfASmallDrawOnceInOrder) {
  std::vector<std::vector<std::uint64_t>> visited;
  Choices choices;
  do {
    RecordedSource source(choices);
    visited.push_back(small_draw(source));
    choices = source.recorded();
    ASSERT_LE(visited.size(), 8U);
  } while (advance(choices));
  EXPECT_THAT(visited, ElementsAre(ElementsAre(0, 20, 30), ElementsAre(0, 21, 30), ElementsAre(1, 10, 20, 30),
                                   ElementsAre(1, 10, 21, 30), ElementsAre(1, 11, 20, 30), ElementsAre(1, 11, 21, 30),
                                   ElementsAre(1, 12, 20, 30), ElementsAre(1, 12, 21, 30)));
  EXPECT_TRUE(choices.empty());
}

TEST(Advance, KnowsTheEndsOfTheLargestBound) {
  Choices choices{{kAll - 1, 0}};
  EXPECT_TRUE(advance(choices));
  EXPECT_THAT(choices, ElementsAre(Choice{kAll, 0}));
  EXPECT_FALSE(advance(choices));
  Choices none;
  EXPECT_FALSE(advance(none));
}

/// Shorter, or as long with no value larger and one smaller.
bool is_simpler(const Choices& candidate, const Choices& than) {
  if (candidate.size() != than.size()) return candidate.size() < than.size();
  bool smaller = false;
  for (std::size_t i = 0; i < than.size(); ++i) {
    if (candidate[i].value > than[i].value) return false;
    smaller = smaller || candidate[i].value < than[i].value;
  }
  return smaller;
}

Choices random_choices(std::uint64_t seed) {
  RandomSource random(seed);
  Choices choices(random.below(40));
  for (Choice& choice : choices) choice = {random.bits(static_cast<unsigned>(1 + random.below(64))), 0};
  return choices;
}

TEST(Simpler, EveryCandidateIsSimpler) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Choices choices = random_choices(seed);
    for (const Choices& candidate : simpler(choices)) ASSERT_TRUE(is_simpler(candidate, choices)) << "seed " << seed;
  }
}

TEST(Simpler, TakingAnyCandidateAgainAndAgainEndsWithNothingSimpler) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Choices choices = random_choices(seed);
    RandomSource which(seed);
    int steps = 0;
    for (std::vector<Choices> next = simpler(choices); !next.empty(); next = simpler(choices)) {
      choices = next[which.below(next.size())];
      ASSERT_LT(++steps, 100000);
    }
    EXPECT_TRUE(choices.empty());
  }
  EXPECT_TRUE(simpler({}).empty());
}

TEST(Simpler, OffersToLeaveOutEachChoiceAndToMakeEachZero) {
  const Choices choices{{9, 10}, {70000, 0}, {1, 2}};
  const std::vector<Choices> candidates = simpler(choices);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    Choices without = choices;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    Choices zeroed = choices;
    zeroed[i].value = 0;
    EXPECT_THAT(candidates, testing::Contains(without));
    EXPECT_THAT(candidates, testing::Contains(zeroed));
  }
}

TEST(DerivedSeed, DiffersByNameAndBySeed) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const char* name : {"", "a", "b", "ab", "ba"}) seeds.insert(derived_seed(seed, name));
  EXPECT_EQ(seeds.size(), 500U);
}

class EveryVariantDraws : public testing::TestWithParam<TypeAndVariant> {};

TEST_P(EveryVariantDraws, TheSameCaseFromTheSameChoices) {
  const auto& [type, variant] = GetParam();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomSource random(seed);
    const std::string drawn = type->to_json(type->draw(random, variant));
    RecordedSource replayed(random.recorded());
    EXPECT_EQ(type->to_json(type->draw(replayed, variant)), drawn);
    EXPECT_EQ(replayed.recorded(), random.recorded());
  }
}

TEST_P(EveryVariantDraws, TheSameSimplestCaseWithoutAnyChoice) {
  const auto& [type, variant] = GetParam();
  RecordedSource none(Choices{});
  BytesSource empty({});
  EXPECT_EQ(type->to_json(type->draw(none, variant)), type->to_json(type->draw(empty, variant)));
}

TEST_P(EveryVariantDraws, ManyDifferentCases) {
  const auto& [type, variant] = GetParam();
  std::set<std::string> different;
  for (std::uint64_t seed = 0; seed < 500; ++seed) different.insert(type->to_json(random_case(*type, variant, seed)));
  // A layout may have three fields of one bit, or one plain number that is mostly small; many calls of write_tensors
  // have no tensor.
  const std::size_t least = type->name() == "parameters" ? 50 : type->name() == "call" ? 150 : 300;
  EXPECT_GT(different.size(), least);
}

INSTANTIATE_TEST_SUITE_P(Source, EveryVariantDraws, testing::ValuesIn(all_variants()), name_of_variant);

}  // namespace
}  // namespace packcheck::test
