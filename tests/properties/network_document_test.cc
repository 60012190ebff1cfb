// Networks as cases and answers as lines: what is faulty is no network, what is written is read back.
#include "subjects/network_document.h"

#include <gmock/gmock.h>

#include <map>

#include "core/precision/import.h"
#include "core/precision/network_text.h"
#include "properties/cases/networks.h"

namespace packcheck::test {
namespace {

using ::testing::HasSubstr;

TEST(NetworkCases, AreNetworksToTheOracleAndToTheCoreWhereNothingIsWrong) {
  RandomSource source(70);
  for (int i = 0; i < 200; ++i) {
    const std::string text = oracle::network_text(draw_network(source));
    const auto read = oracle::read_network_text(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(oracle::network_text(*read), text);
    EXPECT_TRUE(read_network(text)) << text;
  }
}

TEST(NetworkCases, OfEachFaultAreRefusedByTheOracleAndByTheCore) {
  RandomSource source(71);
  for (const NetworkFault& fault : network_faults()) {
    oracle::NetworkDescription d = draw_network(source);
    while (d.items.front().kind != oracle::NetworkItem::Kind::dense) d = draw_network(source);
    const std::string text = fault.text(d);
    EXPECT_FALSE(oracle::read_network_text(text)) << fault.name << "\n" << text;
    EXPECT_FALSE(read_network(text)) << fault.name << "\n" << text;
  }
}

TEST(NetworkGraphs, OfEachFaultAreRefusedByTheCoreAndSoundOnesAreReadBack) {
  RandomSource source(72);
  std::map<std::string_view, int> applied;
  for (int i = 0; i < 50; ++i) {
    const oracle::Nodes nodes = oracle::network_nodes(draw_network(source));
    const Result<std::string> sound = import_typed_json(oracle::graph_text(nodes));
    ASSERT_TRUE(sound) << sound.error().text();
    for (const NetworkGraphFault& fault : network_graph_faults()) {
      oracle::Nodes damaged = nodes;
      if (!fault.apply(damaged)) continue;
      ++applied[fault.name];
      EXPECT_FALSE(import_typed_json(oracle::graph_text(damaged))) << fault.name << "\n" << oracle::graph_text(damaged);
    }
  }
  EXPECT_EQ(applied.size(), network_graph_faults().size());
}

TEST(NetworkDocument, IsReadBackAsItWasWritten) {
  NetworkAnswer answer;
  answer.nodes.push_back({"input", {0x3FF0000000000000, 0}, false, std::nullopt});
  answer.nodes.push_back({"linear:f16", {0xFFF8000000000000}, true, std::vector<std::uint64_t>{1}});
  answer.boundaries.push_back({"head", Format::f32, Format::bf16, 3, 2, 14});
  const std::string text = write_network_answer(answer);
  EXPECT_EQ(text,
            "node input 0 3ff0000000000000,0000000000000000 -\n"
            "node linear:f16 1 fff8000000000000 0000000000000001\n"
            "boundary head f32 bf16 3 2 14\n");
  EXPECT_EQ(write_network_answer(read_network_answer(text).value()), text);
}

TEST(NetworkDocument, ThatIsNoneIsRefusedWithItsLine) {
  for (const char* text :
       {"node input 0 3ff0000000000000", "node input 2 3ff0000000000000 -\n", "node input 0 3ff -\n",
        "node  0 3ff0000000000000 -\n", "node input 0  -\n", "node input 0 3ff0000000000000, -\n", "\n", "nothing\n",
        "boundary b f32 f17 1 1 1\n", "boundary b f32 f16 1 1\n", "boundary b f32 f16 1 1 x\n",
        "boundary b f32 f16 1 1 1\nnode input 0 3ff0000000000000 -\n"}) {
    const auto answer = read_network_answer(text);
    ASSERT_FALSE(answer) << text;
    EXPECT_THAT(answer.error().text(), HasSubstr("of the answer: not understood")) << text;
  }
}

}  // namespace
}  // namespace packcheck::test
