// Networks read back from the graphs that they are exported as.
#include <gmock/gmock.h>

#include "core/graph/json_import.h"
#include "core/precision/import.h"
#include "core/precision/network_text.h"
#include "tests/core/precision_networks.h"

namespace packcheck {
namespace {

using ::testing::HasSubstr;

std::string exported(const std::string& network) {
  const DescribedNetwork d = read_network(network).value();
  return export_typed_json(lower(d.network, d.input).value()).value();
}

TEST(PrecisionImport, OfAnExportedNetworkExportsTheSameTextAgain) {
  RandomNetworks networks(80, false);
  for (int i = 0; i < 500; ++i) {
    const std::string graph = exported(oracle::network_text(networks.next()));
    const Result<std::string> back = import_typed_json(graph);
    ASSERT_TRUE(back) << back.error().text() << "\n" << graph;
    ASSERT_EQ(exported(*back), graph) << *back;
  }
}

TEST(PrecisionImport, WritesStagesForCastsAndOnesForTheGradientThatAGraphHasNot) {
  const std::string graph = exported(
      "network f32 2\ninput 3f800000 7fc00000 00000001 80000000\ndense 1 bf16 relu\nweights bf16 3f80 7f81\nbias bf16 "
      "0000\nstage head f16\nstage low bf16\nactivation hard_tanh\nend\ndense 1 - -\nweights f16 0001\nend\nupstream "
      "00000000 00000000\n");
  EXPECT_EQ(import_typed_json(graph).value(),
            "network f32 2\ninput 3f800000 7fc00000 00000001 80000000\nstage stage_0 bf16\ndense 1 - -\nweights bf16 "
            "3f80 7fc1\nbias bf16 0000\nactivation relu\nend\nstage stage_1 f16\nstage stage_2 bf16\nactivation "
            "hard_tanh\nend\ndense 1 - -\nweights f16 0001\nend\nupstream 3f800000 3f800000\n");
}

TEST(PrecisionImport, RefusesWhatIsNoNetworkWithThePlaceOfTheNode) {
  const auto problem = [](const std::string& nodes) {
    const Result<std::string> network = import_typed_json("{\"nodes\":[" + nodes + "]}");
    return network ? *network : network.error().text();
  };
  const std::string input = R"({"id":0,"shape":[1,1],"op":"input","data":[1.0]})";
  const std::string weight = R"(,{"id":1,"shape":[1,1],"op":"weight","data":[1.0]})";
  EXPECT_THAT(problem(input + R"(,{"id":1,"shape":[1,1],"op":"convert:f16","inputs":[0]})"),
              HasSubstr("/nodes/1/op: a cast in without one out; expected convert:f32 at last"));
  EXPECT_THAT(problem(input + R"(,{"id":1,"shape":[1,1],"op":"convert:f32","inputs":[0]})"),
              HasSubstr("/nodes/1/op: a cast to the format that is there"));
  EXPECT_THAT(problem(input + weight), HasSubstr("/nodes/1/op: a leaf that no layer takes"));
  EXPECT_THAT(problem(input + weight + R"(,{"id":2,"shape":[1,1],"op":"linear:f16","inputs":[0,1]})"),
              HasSubstr("/nodes/2/inputs: an input of another format"));
  EXPECT_THAT(problem(input + weight +
                      R"(,{"id":2,"shape":[1,1],"op":"linear","inputs":[0,1]})"
                      R"(,{"id":3,"shape":[1,1],"op":"linear","inputs":[2,1]})"),
              HasSubstr("/nodes/3/inputs/1: weights that are not the layer's own"));
  EXPECT_THAT(problem(input + R"(,{"id":1,"shape":[1,1],"op":"relu","scalar":1.0,"inputs":[0]})"),
              HasSubstr("/nodes/1/op: parameters that a network has no place for"));
  EXPECT_THAT(problem(input + R"(,{"id":1,"shape":[1,1],"op":"relu","inputs":[0]},)"
                              R"({"id":2,"shape":[1,1],"op":"relu","inputs":[0]})"),
              HasSubstr("/nodes/2/inputs/0: an input that is not the number before it; expected 1"));
  EXPECT_THAT(problem(R"({"id":0,"shape":[1],"op":"input","data":[1.0]})"), HasSubstr("/nodes/0/shape"));
  EXPECT_THAT(problem(R"({"id":0,"shape":[1,1],"op":"weight","data":[1.0]})"), HasSubstr("another first node"));
  EXPECT_THAT(import_typed_json("[]").error().text(), HasSubstr("expected"));
}

TEST(PrecisionImport, RefusesStagesDeeperThanANetworkMayHave) {
  std::string nodes = R"({"id":0,"shape":[1,1],"op":"input","data":[1.0]})";
  // f32, f16, bf16, f32 …: no cast leads back to the format before.
  constexpr const char* kRound[] = {"f16", "bf16", "f32"};
  for (int i = 1; i <= 66; ++i)
    nodes.append(",{\"id\":")
        .append(std::to_string(i))
        .append(",\"shape\":[1,1],\"op\":\"convert:")
        .append(kRound[(i - 1) % 3])
        .append("\",\"inputs\":[")
        .append(std::to_string(i - 1))
        .append("]}");
  EXPECT_THAT(import_typed_json("{\"nodes\":[" + nodes + "]}").error().text(),
              HasSubstr("stages nested deeper than 64"));
}

}  // namespace
}  // namespace packcheck
