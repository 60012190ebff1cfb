// Drawn graphs: sound ones are read by the core and the oracle alike, and every named fault is one.
#include <gtest/gtest.h>

#include "core/graph/json_export.h"
#include "core/graph/json_import.h"
#include "core/graph/ysgp.h"
#include "properties/cases/graphs.h"

namespace packcheck {
namespace {

constexpr oracle::GraphForm kForms[] = {oracle::GraphForm::lossless, oracle::GraphForm::yishape};
const GraphDialect& dialect_of(oracle::GraphForm form) { return all_graph_dialects()[static_cast<std::size_t>(form)]; }

TEST(GraphFaults, EveryFaultOfATextIsRefusedByTheOracleAndTheCore) {
  for (const oracle::GraphForm form : kForms) {
    RandomSource source(7);
    for (const GraphFault& fault : graph_faults()) {
      GraphDraft draft = draw_draft(source, oracle::Nodes{draw_graph(source, form)[0]}, form);
      fault.apply(draft, fault.value);
      const std::string text = draft.text();
      EXPECT_FALSE(oracle::read_graph_text(text, form)) << fault.name << ": " << text;
      EXPECT_FALSE(import_json(text, dialect_of(form))) << fault.name << ": " << text;
    }
  }
}

TEST(GraphFaults, EveryFaultOfTheNodesIsRefusedByTheOracleAndTheCore) {
  for (const oracle::GraphForm form : kForms) {
    RandomSource source(7);
    for (const GraphBytesFault& fault : graph_bytes_faults()) {
      oracle::Nodes nodes = draw_graph(source, form);
      fault.apply(nodes);
      const std::vector<std::uint8_t> bytes = oracle::graph_bytes(nodes);
      EXPECT_FALSE(oracle::read_graph_bytes(bytes, form)) << fault.name;
      EXPECT_FALSE(read_ysgp(bytes, dialect_of(form))) << fault.name;
    }
  }
}

TEST(GraphFaults, DrawnGraphsAreSoundAndMakeTheSameBytesAndTextsWithBothReaders) {
  for (const oracle::GraphForm form : kForms) {
    RandomSource source(11);
    std::size_t written = 0;
    for (int i = 0; i < 300; ++i) {
      const oracle::Nodes nodes = draw_graph(source, form);
      ASSERT_TRUE(oracle::is_sound(nodes, form));
      const std::vector<std::uint8_t> bytes = oracle::graph_bytes(nodes);
      const GraphResult<Graph> graph = read_ysgp(bytes, dialect_of(form));
      ASSERT_TRUE(graph) << graph.error().as_one().text();
      EXPECT_EQ(write_ysgp(*graph), bytes);
      const GraphResult<std::string> text = export_json(*graph, dialect_of(form));
      ASSERT_EQ(text.has_value(), oracle::has_json(nodes, form));
      if (!text) continue;
      ++written;
      EXPECT_EQ(oracle::read_graph_text(*text, form), nodes) << *text;
    }
    EXPECT_GT(written, 100U);
  }
}

}  // namespace
}  // namespace packcheck
