// Shapes of whole operators: worked out by hand, and refused with what, where and what would be right.
#include "core/graph/shape_infer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "properties/oracles/shape_oracle.h"

namespace packcheck::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Shapes = std::vector<Dimensions>;

Result<Dimensions> infer(std::string_view id, const Dimensions& attributes, const Shapes& shapes,
                         const ShapeRules& rules = {}) {
  return infer_shape(**shape_operator_named(id), {attributes, shapes}, rules);
}

/// The answer of the core, which must be the oracle's.
Dimensions answer(std::string_view id, const Dimensions& attributes, const Shapes& shapes) {
  const Result<Dimensions> shape = infer(id, attributes, shapes);
  EXPECT_EQ(shape ? std::optional(*shape) : std::nullopt,
            oracle::inferred_shape((*shape_operator_named(id))->id(), attributes, shapes))
      << (shape ? "" : shape.error().text());
  return shape.value_or(Dimensions{-1});
}

/// The text of the refusal; the oracle must refuse, too.
std::string refusal(std::string_view id, const Dimensions& attributes, const Shapes& shapes) {
  EXPECT_EQ(oracle::inferred_shape((*shape_operator_named(id))->id(), attributes, shapes), std::nullopt);
  const Result<Dimensions> shape = infer(id, attributes, shapes);
  return shape ? "answered " + shape_text(*shape) : shape.error().text();
}

TEST(ShapeOperators, HaveIdsOfTheirOwnAndAreFoundByThem) {
  std::set<std::string> ids;
  for (const ShapeOperator& op : all_shape_operators()) {
    EXPECT_TRUE(ids.insert(op.id()).second) << op.id();
    EXPECT_EQ(*shape_operator_named(op.id()), &op);
  }
  EXPECT_EQ((*shape_operator_named("conv2d"))->id(), "conv2d:floor");
  EXPECT_THAT(shape_operator_named("conv3d").error().text(), HasSubstr("maxpool2d:pytorch_ceil"));
}

TEST(ConvolutionShapes, AreThoseOfKnownNetworks) {
  const Shapes resnet{{1, 3, 224, 224}, {64, 3, 7, 7}};
  EXPECT_EQ(answer("conv2d", {2, 2, 3, 3, 1, 1, 1}, resnet), (Dimensions{1, 64, 112, 112}));
  EXPECT_EQ(answer("conv2d:export_6d", {2, 2, 3, 3, 1, 1, 1}, resnet), (Dimensions{1, 3, 224, 224, 112, 112}));
  EXPECT_EQ(answer("conv2d:same_upper", {2, 2, 0, 0, 1, 1, 1}, resnet), (Dimensions{1, 64, 112, 112}));
  EXPECT_EQ(answer("conv2d", {4, 4, 0, 0, 1, 1, 1}, {{2, 3, 227, 227}, {96, 3, 11, 11}, {96}}),
            (Dimensions{2, 96, 55, 55}));
  EXPECT_EQ(answer("conv2d", {1, 1, 0, 0, 2, 3, 2}, {{1, 4, 9, 9}, {6, 2, 3, 3}}), (Dimensions{1, 6, 5, 3}));
  EXPECT_EQ(answer("depthwise_conv2d", {1, 1, 1, 1, 1, 1}, {{1, 8, 5, 6}, {16, 1, 3, 3}}), (Dimensions{1, 16, 5, 6}));
  EXPECT_EQ(answer("conv2d:java", {2, 2, 0, 0, 1, 1, 1}, {{1, 1, 2, 2}, {1, 1, 3, 3}}), (Dimensions{1, 1, 1, 1}));
}

TEST(ConvolutionShapes, AreRefusedWithTheReason) {
  const Dimensions plain{1, 1, 0, 0, 1, 1, 1};
  EXPECT_EQ(refusal("conv2d", plain, {{3, 8, 8}, {1, 3, 3, 3}}),
            "conv2d:floor: input is [3, 8, 8]; expected 4 axes: [N, C, H, W]");
  EXPECT_EQ(refusal("conv2d", plain, {{1, 4, 8, 8}, {1, 3, 3, 3}}),
            "conv2d:floor: weight's input channels is 3; expected 4, input channels / groups");
  EXPECT_EQ(refusal("conv2d", {2, 2, 0, 0, 1, 1, 1}, {{1, 3, 2, 8}, {1, 3, 3, 3}}),
            "conv2d:floor height: kernel reaches over 3 cells, the padded input has 2; expected a kernel that fits");
  EXPECT_THAT(refusal("conv2d", {1, 1, 0, 0, 1, 1, 2}, {{1, 3, 8, 8}, {2, 1, 3, 3}}), HasSubstr("2 groups"));
  EXPECT_THAT(refusal("conv2d", {1, 1, 0, 0, 1, 1, 0}, {{1, 3, 8, 8}, {2, 3, 3, 3}}), HasSubstr("0 groups"));
  EXPECT_THAT(refusal("conv2d", plain, {{1, 3, 8, 8}, {2, 3, 3, 3}, {3}}), HasSubstr("bias is 3; expected 2"));
  EXPECT_THAT(refusal("conv2d", {1, 0, 0, 0, 1, 1, 1}, {{1, 3, 8, 8}, {2, 3, 3, 3}}),
              AllOf(HasSubstr("width"), HasSubstr("stride is 0")));
  EXPECT_THAT(refusal("conv2d", {1}, {{1, 3, 8, 8}, {2, 3, 3, 3}}), HasSubstr("7: stride_h, stride_w"));
  EXPECT_THAT(refusal("conv2d", plain, {{1, 3, 8, 8}}), HasSubstr("1 shapes; expected 2 to 3"));
  EXPECT_THAT(refusal("conv2d", plain, {{1, 0, 8, 8}, {2, 3, 3, 3}}), HasSubstr("sizes of 1 and more"));
  const std::int64_t huge = std::int64_t{1} << 31;
  EXPECT_THAT(refusal("conv2d", plain, {{huge, 1, huge, 1}, {4, 1, 1, 1}}), HasSubstr("overflow"));
}

TEST(PoolingShapes, FollowTheirDialects) {
  const Shapes odd{{1, 2, 7, 6}};
  EXPECT_EQ(answer("maxpool2d", {2, 2, 2, 2, 0, 0}, odd), (Dimensions{1, 2, 3, 3}));
  EXPECT_EQ(answer("maxpool2d:ceil", {2, 2, 2, 2, 0, 0}, odd), (Dimensions{1, 2, 4, 3}));
  EXPECT_EQ(answer("maxpool2d:pytorch_ceil", {1, 1, 2, 2, 0, 0}, {{1, 2, 6, 6}}), (Dimensions{1, 2, 3, 3}));
  EXPECT_EQ(answer("maxpool2d:java", {2, 3, 0, 0, 0, 0}, {{1, 2, 8, 9}}), (Dimensions{1, 2, 4, 4}))
      << "a stride of 0 is the kernel's height on both axes";
  EXPECT_EQ(answer("adaptive_avgpool2d", {1, 7}, odd), (Dimensions{1, 2, 1, 7}));
  EXPECT_EQ(answer("adaptive_bin:floor_ceil", {7, 3, 1}, {}), (Dimensions{2, 5}));
  EXPECT_EQ(answer("adaptive_bin:floor_floor", {7, 3, 1}, {}), (Dimensions{2, 4}));
  EXPECT_THAT(refusal("avgpool2d", {2, 2, 0, 0, 0, 0}, odd), HasSubstr("stride is 0"));
}

TEST(OtherShapes, AreWorkedOutByHand) {
  EXPECT_EQ(answer("linear", {}, {{5, 7, 4}, {3, 4}, {3}}), (Dimensions{5, 7, 3}));
  EXPECT_EQ(answer("matmul", {}, {{5, 1, 2, 3}, {6, 3, 4}}), (Dimensions{5, 6, 2, 4}));
  EXPECT_EQ(answer("reduce", {0, 1}, {{2, 3, 4}}), (Dimensions{2, 4}));
  EXPECT_EQ(answer("reduce", {1, -1, 0}, {{2, 3, 4}}), (Dimensions{1, 3, 1}));
  EXPECT_EQ(answer("reduce", {0}, {{2, 3, 4}}), Dimensions{});
  EXPECT_EQ(answer("concat", {-1}, {{2, 3}, {2, 5}, {2, 1}}), (Dimensions{2, 9}));
  EXPECT_EQ(answer("broadcast", {}, {{3}, {2, 1}, {}}), (Dimensions{2, 3}));
  EXPECT_EQ(answer("elementwise", {}, {{2, 3}, {2, 3}}), (Dimensions{2, 3}));
  EXPECT_EQ(answer("flatten", {1}, {{2, 3, 4, 5}}), (Dimensions{2, 60}));
  EXPECT_EQ(answer("softmax_cross_entropy", {}, {{2, 10}, {2}}), Dimensions{});
  EXPECT_EQ(answer("batchnorm2d", {}, {{2, 3, 4, 5}, {3}, {3}, {3}, {3}}), (Dimensions{2, 3, 4, 5}));
  EXPECT_EQ(answer("layernorm", {2}, {{2, 3, 4}, {3, 4}}), (Dimensions{2, 3, 4}));
  EXPECT_EQ(answer("element_count", {}, {{46341, 46341}}), (Dimensions{2147488281})) << "MLX PR 3524";
  EXPECT_EQ(answer("same_padding:upper", {2, 3, 2, 1}, {}), (Dimensions{1, 0, 1}));
  EXPECT_EQ(answer("same_padding:lower", {2, 3, 2, 1}, {}), (Dimensions{1, 1, 0}));
  EXPECT_EQ(answer("input_size", {14, 3, 2, 1, 1}, {}), (Dimensions{27, 28}));
  EXPECT_EQ(answer("input_size", {112, 7, 2, 3, 1}, {}), (Dimensions{223, 224}));
}

TEST(OtherShapes, AreRefusedWithTheReason) {
  EXPECT_THAT(refusal("linear", {}, {{5, 4}, {4, 3}}), HasSubstr("weight's second size is 3; expected 4"));
  EXPECT_THAT(refusal("matmul", {}, {{2, 3}, {4, 5}}), HasSubstr("number of rows is 4; expected 3"));
  EXPECT_THAT(refusal("matmul", {}, {{3}, {3, 5}}), HasSubstr("two axes or more"));
  EXPECT_THAT(refusal("reduce", {0, 1, -2}, {{2, 3, 4}}), AllOf(HasSubstr("axis -2"), HasSubstr("twice"))) << "1 is -2";
  EXPECT_THAT(refusal("reduce", {2}, {{2, 3}}), HasSubstr("0 or 1"));
  EXPECT_THAT(refusal("concat", {2}, {{2, 3}, {2, 3}}), HasSubstr("-2 to 1"));
  EXPECT_THAT(refusal("concat", {0}, {{2, 3}, {2, 4}}), HasSubstr("equal sizes but for axis 0"));
  EXPECT_THAT(refusal("broadcast", {}, {{2, 3}, {2}}), HasSubstr("differ in axis 1"));
  EXPECT_THAT(refusal("elementwise", {}, {{2, 3}, {3, 2}}), HasSubstr("equal shapes"));
  EXPECT_THAT(refusal("flatten", {0}, {{}}), HasSubstr("a shape with axes"));
  EXPECT_THAT(refusal("softmax_cross_entropy", {}, {{2, 10}, {3}}), HasSubstr("one for each row"));
  EXPECT_THAT(refusal("batchnorm2d", {}, {{2, 3, 4, 5}, {4}}), HasSubstr("expected 3, the channels"));
  EXPECT_THAT(refusal("layernorm", {1}, {{2, 3, 4}, {3}}), HasSubstr("[4], the trailing axes"));
  EXPECT_THAT(refusal("layernorm", {0}, {{2, 3}}), HasSubstr("0 trailing axes"));
  EXPECT_THAT(refusal("element_count", {}, {Dimensions(17, 1)}), HasSubstr("17 axes"));
  EXPECT_THAT(refusal("element_count", {}, {{INT64_MAX, 2}}), HasSubstr("overflow"));
  EXPECT_THAT(refusal("concat", {0}, {{INT64_MAX}, {1}}), HasSubstr("overflow"));
}

TEST(ShapeRules, EachChangesTheAnswersThatItsBugChanged) {
  const Dimensions seven{2, 2, 1, 1, 1, 1, 1};
  const Shapes kernel_3{{1, 1, 9, 9}, {1, 1, 3, 1}};
  EXPECT_NE(*infer("conv2d", seven, kernel_3), *infer("conv2d", seven, kernel_3, {.padding = PaddingSides::one}));
  EXPECT_NE(*infer("conv2d", seven, kernel_3),
            *infer("conv2d", seven, kernel_3, {.stride = StridePlace::swapped_with_padding}));
  EXPECT_NE(*infer("conv2d", seven, kernel_3),
            *infer("conv2d", seven, kernel_3, {.width_kernel = WidthKernel::height}));
  EXPECT_EQ(*infer("conv2d", seven, kernel_3, {.exported = ExportedShape::input}), kernel_3[0]);
  EXPECT_EQ(*infer("input_size", {14, 3, 2, 1, 1}, {}, {.input_size = InputSize::formula}), (Dimensions{27, 27}));
  EXPECT_EQ(*infer("element_count", {}, {{46341, 46341}}, {.arithmetic = SizeArithmetic::wraps_32}),
            Dimensions{-2147479015});
  EXPECT_EQ(*infer("same_padding", {2, 3, 2, 1}, {}, {.same_pads = SamePads::symmetric}), (Dimensions{1, 1, 1}));
  EXPECT_EQ(*infer("same_padding", {2, 3, 2, 1}, {}, {.same_pads = SamePads::other_side}), (Dimensions{1, 1, 0}));
  const Dimensions two_and_one{2, 1, 0, 0, 1, 1, 1};
  EXPECT_NE(*infer("conv2d", two_and_one, kernel_3),
            *infer("conv2d", two_and_one, kernel_3, {.stride = StridePlace::height_and_width_swapped}));
  EXPECT_FALSE(infer("conv2d", {1, 1, 0, 0, 1, 1, 2}, {{1, 4, 3, 3}, {2, 2, 1, 1}}, {.groups = GroupUse::ignored}));
}

}  // namespace
}  // namespace packcheck::test
