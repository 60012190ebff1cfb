// Graphs as JSON text: the importer and the exporter against each other and against the oracle.
#include <gmock/gmock.h>

#include <cfenv>
#include <string>

#include "core/environment.h"
#include "core/graph/json_export.h"
#include "core/graph/json_import.h"
#include "core/graph/ysgp.h"

namespace packcheck {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const GraphDialect& lossless() { return all_graph_dialects()[0]; }
const GraphDialect& yishape() { return all_graph_dialects()[1]; }

/// What was reported, as lines.
std::vector<std::string> problems(std::string_view text, const GraphDialect& dialect = lossless()) {
  const GraphResult<Graph> graph = import_json(text, dialect);
  std::vector<std::string> lines;
  if (!graph)
    for (const Error& error : graph.error().kept()) lines.push_back(error.text());
  return lines;
}

std::string canonical(std::string_view text, const GraphDialect& dialect = lossless()) {
  const GraphResult<Graph> graph = import_json(text, dialect);
  if (!graph) return graph.error().as_one().text();
  const GraphResult<std::string> written = export_json(*graph, dialect);
  return written ? *written : written.error().as_one().text();
}

constexpr std::string_view kSeed =
    R"({"nodes":[{"id":0,"shape":[1,3,8,8],"op":"leaf","data":[)"
    R"(1.0]},)"
    R"({"id":1,"shape":[2,3,3,3],"op":"conv2d","scalar":9.7517E-319,"param2":3.24107E-319,"inputs":[0,0]}]})";

TEST(GraphJson, CanonicalTextIsAFixedPoint) {
  const std::string text =
      R"({"nodes":[{"id":0,"shape":[2,2],"op":"leaf","data":[[1.0,-0.0],[9.75177e-319,1.5e+300]],"scalar":-0.0},)"
      R"({"id":1,"shape":[],"op":"custom \"x\"\n","scalar_bits":"0x7ff0000000000001","param2":0.1,"indices":[],)"
      R"("inputs":[0,0]}]})";
  EXPECT_EQ(canonical(text), text);
}

TEST(GraphJson, AGraphOfManyMegabytesGoesThroughUnchanged) {
  // Nodes and text fill several large pages (core/large_pages.h).
  std::string text = R"({"nodes":[{"id":0,"shape":[],"op":"leaf","data":[1.0]})";
  for (int id = 1; id < 60'000; ++id)
    text.append(",{\"id\":")
        .append(std::to_string(id))
        .append(R"(,"shape":[8,64,28,28],"op":"conv2d","scalar":9.7517e-319,"param2":3.24107e-319,"inputs":[0,)")
        .append(std::to_string(id - 1))
        .append("]}");
  text.append("]}");
  ASSERT_GT(text.size(), std::size_t{4} << 20);
  const std::string written = canonical(text);
  EXPECT_EQ(written.substr(0, 300), text.substr(0, 300));
  EXPECT_TRUE(written == text);
}

TEST(GraphJson, SpellingsOfOneGraphGiveOneText) {
  const std::string written = R"({"nodes":[{"id":0,"shape":[3],"op":"leaf","data":[-0.0,100.0,0.5],"scalar":5.0}]})";
  EXPECT_EQ(canonical(R"( { "nodes" : [ {"op":"l\u0065af","inputs":[],"data":[-0,1e2,5.0E-1],"shape":[3],)"
                      R"("scalar_bits":"0x4014000000000000","scalar":5,"id":0} ] } )"),
            written);
  EXPECT_EQ(canonical(R"({"nodes":[{"id":0,"shape":[3],"op":"leaf","scalar":5,)"
                      R"("data_bits":["0x8000000000000000","0x4059000000000000","0x3FE0000000000000"]}]})"),
            written);
}

TEST(GraphJson, ThePackedScalarsOfTheSeedKeepTheirBits) {
  std::string text(kSeed);
  text.replace(text.find("[1,3,8,8]"), 9, "[1]");
  const GraphResult<Graph> graph = import_json(text, yishape());
  ASSERT_TRUE(graph.has_value()) << graph.error().as_one().text();
  EXPECT_EQ(graph->nodes[1].scalar, 0x030301U);
  EXPECT_EQ(graph->nodes[1].param2, 65600U);
}

TEST(GraphJson, EveryProblemIsReportedWithItsPointer) {
  const std::vector<std::string> found = problems(R"({"nodes":[
    {"id":0,"shape":[2,0],"op":"leaf","data":[1.0,"x"],"colour":1},
    {"id":0,"shape":[1.0],"op":7,"inputs":[null,0]},
    {"id":2,"shape":[1],"op":"relu","inputs":[3]},
    {"id":3,"shape":[1],"op":"add","inputs":[0,2]},
    {"shape":[1],"op":"relu","scalar":null,"scalar":1.0,"inputs":[0,0]},
    17]})");
  EXPECT_THAT(found, ElementsAre(HasSubstr("/nodes/0/shape/1: 0"), HasSubstr("/nodes/0/data/1: a string"),
                                 HasSubstr("/nodes/0/colour: unknown member"), HasSubstr("/nodes/1/shape/0: 1.0"),
                                 HasSubstr("/nodes/1/op: a number"), HasSubstr("/nodes/1/inputs/0: null"),
                                 HasSubstr("/nodes/4/scalar: null"), HasSubstr("/nodes/4/scalar: a second member"),
                                 HasSubstr("/nodes/4: no id"), HasSubstr("/nodes/5: a number"),
                                 HasSubstr("/nodes/1/id: id 0 belongs to /nodes/0 already"),
                                 HasSubstr("/nodes/2/inputs/0: input 3 closes a cycle"),
                                 HasSubstr("/nodes/4/inputs: 2 inputs of 'relu'; expected 1")));
}

TEST(GraphJson, AForwardReferenceIsToldFromACycle) {
  EXPECT_THAT(problems(R"({"nodes":[{"id":0,"shape":[1],"op":"relu","inputs":[1]},)"
                       R"({"id":1,"shape":[1],"op":"leaf","data":[1]}]})"),
              ElementsAre(HasSubstr("input 1 comes later than the node")));
  EXPECT_THAT(problems(R"({"nodes":[{"id":0,"shape":[1],"op":"relu","inputs":[0]}]})"),
              ElementsAre(HasSubstr("input 0 closes a cycle")));
}

TEST(GraphJson, BareNonFiniteNumbersAreNamedWhereTheyStand) {
  for (const std::string word : {"NaN", "Infinity", "-Infinity"}) {
    const std::vector<std::string> found =
        problems(R"({"nodes":[{"id":0,"shape":[2],"op":"leaf","data":[1.0,)" + word + "]}]}");
    EXPECT_THAT(found, ElementsAre(AllOf(HasSubstr("/nodes/0/data/1"), HasSubstr("no NaN and no Infinity")))) << word;
  }
}

TEST(GraphJson, ADialectWithoutBitsMembersRefusesWhatJsonCannotSay) {
  Graph graph;
  graph.nodes.resize(1);
  graph.nodes[0].shape = {1, 2};
  graph.nodes[0].op = "leaf";
  graph.nodes[0].data = {0x7FF0000000000000, 0x7FF8000000000000};
  graph.nodes[0].param2 = 0xFFF0000000000000;
  const GraphResult<std::string> text = export_json(graph, yishape());
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().total(), 3U);
  EXPECT_EQ(text.error().kept()[1].where, "/nodes/0/data/0/1");
  EXPECT_EQ(*export_json(graph, lossless()),
            R"({"nodes":[{"id":0,"shape":[1,2],"op":"leaf","data_bits":[["0x7ff0000000000000","0x7ff8000000000000"]],)"
            R"("param2_bits":"0xfff0000000000000"}]})");
}

TEST(GraphJson, TheLimitsAreKeptAndNamed) {
  GraphLimits limits;
  limits.nodes = 1;
  limits.depth = 5;
  EXPECT_THAT(import_json(R"({"nodes":[7,7]})", lossless(), {}, limits).error().as_one().text(),
              HasSubstr("more than 1 nodes"));
  EXPECT_THAT(import_json(R"({"nodes":[{"id":[[[[]]]]}]})", lossless(), {}, limits).error().as_one().text(),
              HasSubstr("nested deeper than 5"));
  limits.bytes = 3;
  EXPECT_THAT(import_json("null", lossless(), {}, limits).error().as_one().text(), HasSubstr("at most 3"));
}

TEST(GraphJson, ManyProblemsAreCountedButNotAllKept) {
  std::string text = R"({"nodes":[0)";
  for (int i = 1; i < 5000; ++i) text.append(",0");
  const GraphResult<Graph> graph = import_json(text.append("]}"), lossless());
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().total(), 5000U);
  EXPECT_EQ(graph.error().kept().size(), GraphErrors::kMostKept);
}

TEST(GraphJson, AMillionNestedListsDoNotOverflowTheStack) { EXPECT_FALSE(problems(std::string(1000000, '[')).empty()); }

TEST(GraphJson, ALongChainThatClosesOnItselfDoesNotOverflowTheStack) {
  Graph graph;
  for (std::uint32_t i = 0; i < 200000; ++i) {
    GraphNode& node = graph.nodes.emplace_back();
    node.id = i;
    node.op = "relu";
    node.inputs = {(i + 1) % 200000};
  }
  GraphErrors errors;
  check_graph(graph, lossless(), {}, {}, errors);
  EXPECT_EQ(errors.total(), 199999U);
  EXPECT_THAT(errors.kept().front().what, HasSubstr("closes a cycle"));
}

TEST(GraphJson, RoundingModeAndFlushToZeroChangeNothing) {
  const std::string text = canonical(R"({"nodes":[{"id":0,"shape":[3],"op":"leaf","data":[0.1,9.7517E-319,1e23]}]})");
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const std::string again = canonical(text);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(again, text);
  }
}

}  // namespace
}  // namespace packcheck
