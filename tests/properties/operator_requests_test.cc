// Requests about operators: how shapes travel, what the drawn ones are, and what the grid of geometries shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "properties/cases/operators.h"
#include "properties/law.h"
#include "properties/oracles/execute_oracle.h"
#include "properties/oracles/shape_oracle.h"
#include "subjects/reference/reference.h"
#include "subjects/reference/twins.h"
#include "tests/properties/samples.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;

TEST(OperatorRequests, CarryShapesAsRanksAndSizes) {
  const std::vector<Dimensions> shapes{{1, 3, 224, 224}, {}, {7}};
  const std::string bytes = shapes_to_string(shapes);
  EXPECT_EQ(bytes, integers_to_string(Dimensions{4, 1, 3, 224, 224, 0, 1, 7}));
  EXPECT_EQ(string_to_shapes(bytes, "shapes").value(), shapes);
  EXPECT_EQ(string_to_shapes("", "shapes").value(), std::vector<Dimensions>{});
  for (const Dimensions& words : {Dimensions{4, 1, 2}, Dimensions{-1}, Dimensions{INT64_MAX, 1}, Dimensions{1, 7, 2}})
    EXPECT_THAT(string_to_shapes(integers_to_string(words), "shapes").error().text(), HasSubstr("axes")) << words[0];
  EXPECT_THAT(string_to_shapes("1234567", "shapes").error().text(), HasSubstr("7 bytes"));
}

TEST(OperatorRequests, NameTheirOperatorAndElementType) {
  EXPECT_EQ(all_node_variants().size(), 2 * all_exec_operators().size());
  for (const std::string& variant : all_node_variants()) {
    const NodeVariant parts = node_variant(variant).value();
    EXPECT_EQ((NodeRequest{parts.op, parts.format, {}, {}, {}, {}}.variant()), variant);
  }
  for (const char* none : {"conv2d", "conv2d:f16", "gelu:f32", ":f32", ""}) EXPECT_FALSE(node_variant(none)) << none;
}

TEST(OperatorRequests, AMalformedOneIsRefusedByTheReference) {
  const auto reference = make_reference();
  const std::string plain = integers_to_string(Dimensions{1, 1, 0, 0, 1, 1, 1});
  const std::string shapes = shapes_to_string(std::vector<Dimensions>{{2}});
  const auto refusal = [&](Operation operation, std::vector<std::string> arguments) {
    const Reply reply = reference->call({operation, std::move(arguments)});
    EXPECT_EQ(reply.outcome, Outcome::refused);
    return reply.message;
  };
  EXPECT_THAT(refusal(Operation::infer_shape, {"conv2d:floor", "123", shapes}), HasSubstr("3 bytes"));
  EXPECT_THAT(refusal(Operation::infer_shape, {"conv2d:floor", plain, integers_to_string(Dimensions{9})}),
              HasSubstr("9 axes"));
  EXPECT_THAT(refusal(Operation::execute, {"relu:f32", "", shapes, "12345"}), HasSubstr("whole number of elements"));
  EXPECT_THAT(refusal(Operation::execute, {"relu:f32", "", shapes, "12345678abcd"}),
              HasSubstr("3 elements of input 0"));
  EXPECT_THAT(refusal(Operation::execute_backward, {"relu:f32", "", shapes, "12345678", "abcd"}),
              HasSubstr("1 upstream gradients"));
  EXPECT_EQ(reference->call({Operation::infer_shape, {"gelu", "", ""}}).outcome, Outcome::skipped);
  EXPECT_EQ(reference->call({Operation::execute, {"gelu:f32", "", "", ""}}).outcome, Outcome::skipped);
}

TEST(DrawnShapes, AreSoundAndUnsoundForEveryRule) {
  for (const ShapeOperator& op : all_shape_operators()) {
    int sound = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const Case c = random_case(shape_cases, op.id(), seed);
      const auto& r = c.as<ShapeRequest>();
      const auto right = oracle::inferred_shape(op.id(), r.attributes, r.shapes);
      const Result<Dimensions> shape = infer_shape(op, r.question());
      EXPECT_EQ(shape.has_value(), right.has_value()) << shape_cases.to_json(c);
      if (right && shape) {
        EXPECT_EQ(*shape, *right) << shape_cases.to_json(c);
      }
      sound += right ? 1 : 0;
    }
    EXPECT_GT(sound, 150) << op.id();
    EXPECT_LT(sound, 390) << op.id();
  }
}

TEST(DrawnNodes, AreSoundAndUnsoundForEveryOperator) {
  for (const std::string& variant : all_node_variants()) {
    int sound = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const Case c = random_case(node_cases, variant, seed);
      const auto& n = c.as<NodeRequest>();
      std::vector<std::size_t> counts;
      for (const Bytes& input : n.inputs) counts.push_back(input.size() / spec(n.format).bytes());
      if (counts.size() == n.shapes.size() && exec_shape(*n.op, n.attributes, n.shapes, counts)) ++sound;
    }
    EXPECT_GT(sound, 120) << variant;
    EXPECT_LT(sound, 199) << variant;
  }
}

/// Of the whole grid: how often the law of derived sizes breaks for a subject.
int broken_on_the_grid(Subject& subject) {
  const Law& law = **law_named("shape.derived_input_sizes_are_exactly_those_that_fit");
  const Domain grid = shape_cases.domain("maxpool2d:floor").value();
  int broken = 0;
  for (std::uint64_t i = 0; i < grid.total; i += 7)
    broken += law.check(subject, grid.make(i, 1)).ruling == Ruling::broken ? 1 : 0;
  return broken;
}

TEST(Grid, HoldsEveryGeometryOfTheFactsAndTellsTheFormulaFromTheTruth) {
  EXPECT_EQ(shape_cases.domain("conv2d:floor")->total, 64U * 7 * 4 * 4);
  EXPECT_EQ(broken_on_the_grid(*make_reference()), 0);
  EXPECT_GT(broken_on_the_grid(*make_twin("shape_input_by_formula")), 300);
}

}  // namespace
}  // namespace packcheck::test
