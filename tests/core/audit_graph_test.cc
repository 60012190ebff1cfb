// Audits of graph JSON: each kind of warning is given for its reason, and a clean graph gets none.
#include "core/graph/audit_graph.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace packcheck {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> found;
  for (const GraphWarning& warning : audit_graph(text))
    found.push_back(
        std::string(warning.kind->name).append(" ").append(warning.where).append(": ").append(warning.what));
  return found;
}

/// A leaf of zeros.
std::string leaf(int id, const std::string& shape, std::size_t count) {
  std::string text = R"({"id":)" + std::to_string(id) + R"(,"shape":)" + shape + R"(,"op":"leaf","data":[0)";
  for (std::size_t i = 1; i < count; ++i) text.append(",0");
  return text.append("]}");
}
/// A convolution, 3x3, stride 1 and 2 output channels unless told otherwise, of a [1,1,6,6] input.
std::string convolution(const std::string& shape, const std::string& parameters, std::size_t weights = 18) {
  return R"({"nodes":[)" + leaf(0, "[1,1,6,6]", 36) + "," + leaf(1, "[" + std::to_string(weights) + "]", weights) +
         R"(,{"id":2,"shape":)" + shape + R"(,"op":"conv2d",)" + parameters + R"("inputs":[0,1]}]})";
}
const std::string kUsual = R"("scalar_bits":"0x0000000000030301","param2_bits":"0x0000000000000002",)";

TEST(AuditGraph, AGraphOfPlainOperatorsGetsNoWarning) {
  EXPECT_THAT(lines(R"({"nodes":[)" + leaf(0, "[2,3]", 6) + "," + leaf(1, "[4,3]", 12) +
                    R"(,{"id":2,"shape":[2,4],"op":"linear","inputs":[0,1]},)"
                    R"({"id":3,"shape":[2],"op":"leaf","data":[0,1]},)"
                    R"({"id":4,"shape":[1],"op":"softmaxCrossEntropy","inputs":[2,3]}]})"),
              IsEmpty());
}

TEST(AuditGraph, ASoundConvolutionIsOnlyToldToBeReadByItsBits) {
  for (const std::string shape : {"[1,2,4,4]", "[1,1,6,6,4,4]"})
    EXPECT_THAT(lines(convolution(shape, kUsual)), ElementsAre(HasSubstr("numeric_cast /nodes/2/scalar")));
}

TEST(AuditGraph, ParametersThatAreAbsentZeroPlainOrOfAnotherGenerationAreNamed) {
  EXPECT_THAT(lines(convolution("[1,2,4,4]", "")), ElementsAre(HasSubstr("missing_scalar /nodes/2/scalar")));
  EXPECT_THAT(
      lines(convolution("[1,2,4,4]", R"("scalar_bits":"0x0000000000030300","param2_bits":"0x0000000000000002",)")),
      ElementsAre("zero_field /nodes/2/scalar: stride is 0"));
  EXPECT_THAT(lines(convolution("[1,2,4,4]", R"("scalar":3.0,)")), ::testing::Contains(HasSubstr("not_packed")));
  EXPECT_THAT(
      lines(convolution("[1,2,4,4]", R"("scalar_bits":"0x0000000100000001","param2_bits":"0x0000000100000000",)")),
      ElementsAre(HasSubstr("generation_1 /nodes/2/scalar: stride 1")));
  EXPECT_THAT(
      lines(convolution("[1,2,2,2]", R"("scalar_bits":"0x0000010000030301","param2_bits":"0x0000000000000002",)")),
      ElementsAre(HasSubstr("numeric_cast"), HasSubstr("generation_3 /nodes/2/scalar: kernel_h 3, dilation 2")));
}

TEST(AuditGraph, WhatTheParametersMayHaveBeenMeantToBeIsSaid) {
  const auto right = [](const std::string& parameters) {
    return audit_graph(convolution("[1,2,4,4]", parameters)).front().right;
  };
  EXPECT_THAT(right(R"("scalar":197377.0,"param2_bits":"0x0000000000000002",)"),
              HasSubstr("0x0000000000030301, if 197377 is the packed integer"));
  EXPECT_EQ(right(R"("scalar":0.5,"param2_bits":"0x0000000000000002",)"), "integers in the low bits of the double");
  EXPECT_THAT(right(R"("scalar_bits":"0x0000000300030001","param2_bits":"0x0000000000000002",)"),
              HasSubstr("in fields of 16 bits, another layout, it is kernel 3x3, stride 1"));
  EXPECT_EQ(right(R"("scalar_bits":"0x0000000000030300","param2_bits":"0x0000000000000002",)"),
            "1 or more, since readers divide by it");
  EXPECT_THAT(right(""), HasSubstr("a negative field"));
}

TEST(AuditGraph, TheShapeOfTheInputIsToldFromAnyOtherWrongShape) {
  EXPECT_THAT(lines(convolution("[1,1,6,6]", kUsual)),
              ElementsAre(HasSubstr("numeric_cast"), "input_shape_exported /nodes/2/shape: [1,1,6,6]"));
  EXPECT_THAT(lines(convolution("[1,2,4,5]", kUsual)),
              ElementsAre(HasSubstr("numeric_cast"), "shape_mismatch /nodes/2/shape: [1,2,4,5]"));
}

TEST(AuditGraph, AnInputSizeThatTheOutputDoesNotTellIsNamed) {
  EXPECT_THAT(
      lines(convolution("[1,2,2,2]", R"("scalar_bits":"0x0000000000030302","param2_bits":"0x0000000000000002",)")),
      ElementsAre(HasSubstr("numeric_cast"), "input_size_lost /nodes/2/shape: height 6 is derived as 5",
                  "input_size_lost /nodes/2/shape: width 6 is derived as 5"));
}

TEST(AuditGraph, WeightsThatDoNotFitAreNamed) {
  EXPECT_THAT(lines(convolution("[1,2,4,4]", kUsual, 17)),
              ElementsAre(HasSubstr("numeric_cast"), "weight_does_not_fit /nodes/2/inputs/1: 17 weights"));
  const auto linear = [](const std::string& weight) {
    return lines(R"({"nodes":[)" + leaf(0, "[2,3]", 6) + "," + leaf(1, weight, 12) +
                 R"(,{"id":2,"shape":[2,4],"op":"linear","inputs":[0,1]}]})");
  };
  EXPECT_THAT(linear("[3,4]"), ElementsAre(HasSubstr("linear_transposed /nodes/2/inputs/1")));
  EXPECT_THAT(linear("[2,6]"), ElementsAre(HasSubstr("weight_does_not_fit")));
}

TEST(AuditGraph, MissingLabelsScalarsAndNumbersThatJsonCannotSayAreNamed) {
  EXPECT_THAT(
      lines(R"({"nodes":[{"id":0,"shape":[2],"op":"leaf","data_bits":["0x3ff0000000000000","0x7ff8000000000000"]},)"
            R"({"id":1,"shape":[2],"op":"pow","inputs":[0]},)"
            R"({"id":2,"shape":[1],"op":"softmaxCrossEntropy","scalar_bits":"0x7ff0000000000000","inputs":[1]}]})"),
      ElementsAre("non_finite /nodes/0/data_bits: 1 of 2 numbers, the first at element 1",
                  "missing_scalar /nodes/1/scalar: absent", "non_finite /nodes/2/scalar_bits: Infinity",
                  "labels_missing /nodes/2/inputs: the logits only"));
}

TEST(AuditGraph, WhatIsNoSoundGraphGivesEveryProblemOfTheImporter) {
  EXPECT_THAT(lines(R"({"nodes":[{"id":0,"shape":[1],"op":"relu","inputs":[null]},7]})"),
              ElementsAre("unsound /nodes/0/inputs/0: null where an input belongs", "unsound /nodes/1: a number"));
  EXPECT_THAT(lines(""), ElementsAre(HasSubstr("unsound")));
}

TEST(AuditGraph, KindsHaveDifferentNames) {
  std::vector<std::string_view> names;
  for (const GraphWarningKind& kind : graph_warning_kinds()) names.push_back(kind.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(names.size(), 14U);
}

}  // namespace
}  // namespace packcheck
