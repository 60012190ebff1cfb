// Graphs as YSGP bytes, which come from anywhere.
#include <gmock/gmock.h>

#include "core/graph/json_export.h"
#include "core/graph/ysgp.h"

namespace packcheck {
namespace {

using ::testing::HasSubstr;

const GraphDialect& lossless() { return all_graph_dialects()[0]; }

Graph small_graph() {
  Graph graph;
  graph.nodes.resize(2);
  graph.nodes[0].shape = {2};
  graph.nodes[0].op = "leaf";
  graph.nodes[0].data = {0x3FF0000000000000, 0x7FF0000000000001};
  graph.nodes[1].id = 1;
  graph.nodes[1].shape = {1};
  graph.nodes[1].op = "relu";
  graph.nodes[1].scalar = 0x030301;
  graph.nodes[1].indices = {-1};
  graph.nodes[1].inputs = {0};
  return graph;
}

std::string problem(std::vector<std::uint8_t> bytes) {
  const GraphResult<Graph> graph = read_ysgp(bytes, lossless());
  return graph ? "" : graph.error().as_one().text();
}

/// A node's bytes as the header of core/graph/ysgp.h describes them, by hand.
TEST(Ysgp, TheBytesAreThoseOfTheDescription) {
  const std::vector<std::uint8_t> expected{
      0x59, 0x53, 0x53, 0x50, 1, 0, 0, 0, 2,   0,   0,    0,                                              // header
      17,   0,    4,    0,    0, 0, 0, 0, 'l', 'e', 'a',  'f',  1,    0,    2,    0,   0, 0, 0,    0,     // a leaf [2]
      2,    0,    0,    0,    0, 0, 0, 0, 0,   0,   0xF0, 0x3F, 1,    0,    0,    0,   0, 0, 0xF0, 0x7F,  // its data
      10,   0,    4,    0,    1, 0, 0, 0, 'r', 'e', 'l',  'u',  1,    0,    1,    0,   0, 0, 1,    0,
      0,    0,    0,    0,                                                                // relu [1] of 0
      1,    3,    3,    0,    0, 0, 0, 0, 1,   0,   0,    0,    0xFF, 0xFF, 0xFF, 0xFF};  // scalar, indices
  EXPECT_EQ(write_ysgp(small_graph()), expected);
  const GraphResult<Graph> read = read_ysgp(expected, lossless());
  ASSERT_TRUE(read.has_value()) << read.error().as_one().text();
  EXPECT_EQ(*read, small_graph());
}

TEST(Ysgp, EveryTruncationAndEveryExtraByteIsRefused) {
  std::vector<std::uint8_t> bytes = write_ysgp(small_graph());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(problem({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}), "") << size;
  bytes.push_back(0);
  EXPECT_THAT(problem(bytes), HasSubstr("1 bytes after the last node"));
}

TEST(Ysgp, CountsThatReachPastTheEndAreRefusedBeforeAnythingIsAllocated) {
  std::vector<std::uint8_t> bytes = write_ysgp(small_graph());
  for (const std::size_t at : {std::size_t{8}, std::size_t{32}}) {
    std::vector<std::uint8_t> changed = bytes;
    for (std::size_t i = 0; i < 4; ++i) changed[at + i] = 0xFF;
    EXPECT_THAT(problem(changed), HasSubstr("4294967295")) << at;
  }
}

TEST(Ysgp, FlagsThatDisagreeOrAreUnknownAreRefused) {
  std::vector<std::uint8_t> bytes = write_ysgp(small_graph());
  bytes[12] = 1;
  EXPECT_THAT(problem(bytes), HasSubstr("data on what is no leaf"));
  bytes[12] = 17 + 32;
  EXPECT_THAT(problem(bytes), HasSubstr("unknown flags"));
}

TEST(Ysgp, AMissingInputIsNamedWithItsPlace) {
  Graph graph = small_graph();
  graph.nodes[1].op = "custom";
  graph.nodes[1].inputs = {kMissingInput, 0};
  EXPECT_THAT(problem(write_ysgp(graph)), HasSubstr("/nodes/1/inputs/0: a missing input"));
}

TEST(Ysgp, BothFormsAgreeOnWhatIsThere) {
  Graph graph = small_graph();
  graph.nodes[1].indices.emplace();
  graph.nodes[1].param2 = 0x7FF8000000000000;
  const std::vector<std::uint8_t> bytes = write_ysgp(graph);
  const GraphResult<std::string> text = export_graph(bytes, lossless());
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(*text, HasSubstr(R"("param2_bits":"0x7ff8000000000000","indices":[])"));
  EXPECT_THAT(problem(bytes), "");
  const GraphResult<Graph> refused = read_ysgp(bytes, all_graph_dialects()[1]);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().total(), 2U);  // the NaN and the empty list mean "none" in that dialect
}

}  // namespace
}  // namespace packcheck
