#include "core/graph/short_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace packcheck {
namespace {

ShortList counted(std::size_t size) {
  ShortList list;
  for (std::size_t i = 0; i < size; ++i) list.push_back(static_cast<std::uint32_t>(100 + i));
  return list;
}

std::vector<std::uint32_t> elements(const ShortList& list) { return {list.begin(), list.end()}; }

TEST(ShortList, KeepsWhatAVectorWouldOnBothSidesOfItsOwnRoom) {
  for (std::size_t size = 0; size < 20; ++size) {
    std::vector<std::uint32_t> right;
    for (std::size_t i = 0; i < size; ++i) right.push_back(static_cast<std::uint32_t>(100 + i));
    const ShortList list = counted(size);
    EXPECT_EQ(elements(list), right);
    EXPECT_EQ(list.size(), size);
    EXPECT_EQ(list.empty(), size == 0);
    EXPECT_EQ(list, ShortList(right));
    EXPECT_EQ(std::span<const std::uint32_t>(list).size(), size);
  }
}

TEST(ShortList, CopiesAndMovesBetweenAnyTwoSizes) {
  for (std::size_t from = 0; from < 10; ++from) {
    for (std::size_t to = 0; to < 10; ++to) {
      const ShortList source = counted(from);
      ShortList copy = counted(to);
      copy = source;
      copy.push_back(7);
      EXPECT_EQ(source, counted(from)) << "the copy is another list";
      EXPECT_EQ(copy.size(), from + 1);
      ShortList moved = counted(to);
      ShortList given = counted(from);
      moved = std::move(given);
      EXPECT_EQ(moved, counted(from));
      const ShortList built(std::move(moved));
      EXPECT_EQ(built, counted(from));
    }
  }
}

TEST(ShortList, ResizesWithZerosAndStartsAgainAfterClear) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{5}, std::size_t{9}}) {
    ShortList list = counted(3);
    list.resize(size);
    ASSERT_EQ(list.size(), size);
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(list[i], i < 3 ? 100 + i : 0);
    list.clear();
    EXPECT_TRUE(list.empty());
    list.push_back(1);
    EXPECT_EQ(list, ShortList{1});
  }
}

TEST(ShortList, DiffersByOneElementOrByOneMore) {
  EXPECT_NE((ShortList{1, 2}), (ShortList{1, 3}));
  EXPECT_NE((ShortList{1, 2}), (ShortList{1, 2, 0}));
  EXPECT_NE((ShortList{1, 2, 3, 4}), (ShortList{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace packcheck
