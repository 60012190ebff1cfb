// Known answers of the rules of shapes and of execution (known_answers.h).
#include <array>
#include <vector>

#include "core/graph/exec.h"
#include "core/graph/shape_infer.h"
#include "tests/core/known_answers.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

void add(Digest& digest, const Dimensions& dimensions) {
  digest.add(dimensions.size());
  for (const std::int64_t size : dimensions) digest.add(static_cast<std::uint64_t>(size));
}
void add(Digest& digest, const Result<Dimensions>& shape) { shape ? add(digest, *shape) : digest.add(shape.error()); }

constexpr std::int64_t kMost = INT64_MAX;
constexpr std::int64_t kHuge = std::int64_t{1} << 31;

/// Shapes that some operator takes, and such that none does.
std::vector<std::vector<Dimensions>> shape_lists() {
  return {{},
          {{}},
          {{1}},
          {{5}},
          {{2, 3}},
          {{1, 1, 4, 5}},
          {{2, 4, 6, 7}},
          {{3, 4, 9, 8}},
          {{1, 1, 1, 1}},
          {{2, 4, 6, 7}, {6, 2, 3, 2}},
          {{2, 4, 6, 7}, {6, 2, 3, 2}, {6}},
          {{2, 4, 6, 7}, {6, 4, 3, 2}, {5}},
          {{2, 4, 6, 7}, {4, 1, 3, 3}, {4}},
          {{1, 3, 9, 9}, {6, 3, 2, 2}, {6}},
          {{2, 3, 5}, {4, 5}},
          {{2, 3, 5}, {4, 5}, {4}},
          {{2, 3, 5}, {5, 4}, {4}},
          {{3, 5}, {3}},
          {{3, 5}, {5, 2}},
          {{7, 3, 5}, {1, 5, 2}},
          {{2, 3, 4}, {3, 1}},
          {{2, 3, 4}, {2, 1}},
          {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}},
          {{2, 3, 4}, {4}, {4}},
          {{2, 3, 4}, {3, 4}, {3, 4}},
          {{2, 5, 4}, {2, 3, 4}, {2, 1, 4}},
          {{2, 4, 3, 3}, {4}, {4}, {4}, {4}},
          {{2, 4, 3, 3}, {4}, {3}},
          {{0, 3}},
          {{-1, 3}},
          {{kMost, 2}},
          {{9007199254740993}},
          {{9007199254740993, 3}},
          {{1, 1, 9007199254740993, 4}},
          {{kHuge, kHuge}},
          {{kHuge, kHuge, 2}},
          {{kMost}, {kMost}},
          {{kMost, 1}, {1, kMost}},
          {Dimensions(16, 1)},
          {Dimensions(17, 1)},
          std::vector<Dimensions>(64, {2, 2}),
          std::vector<Dimensions>(65, {2, 2})};
}

/// Attributes for an operator with `count` of them: small geometries at random, some with one at an edge.
std::vector<Dimensions> attribute_lists(std::size_t count, int lists) {
  std::vector<Dimensions> all{Dimensions(count, 1), Dimensions(count, 0), Dimensions(count, 2),
                              Dimensions(count + 1, 1)};
  if (count > 0) all.emplace_back(count - 1, 1);
  Random random(21);
  for (int i = 0; i < lists; ++i) {
    Dimensions list;
    for (std::size_t k = 0; k < count; ++k) list.push_back(static_cast<std::int64_t>(random.below(4)));
    if (i % 3 == 0 && count > 0) {
      static constexpr std::array<std::int64_t, 7> kEdges{-1, 7, kHuge - 1, kHuge, kHuge * 2 + 3, kMost, -2};
      const std::size_t k = random.below(count);
      list[k] = kEdges[random.below(kEdges.size())];
    }
    all.push_back(list);
  }
  return all;
}

void infer_all(const ShapeRules& rules, bool all, Digest& digest) {
  static const std::vector<std::vector<Dimensions>> shapes = shape_lists();
  for (const ShapeOperator& op : all_shape_operators()) {
    for (const Dimensions& attributes : attribute_lists(op.attributes.size(), all ? 90 : 20))
      for (const std::vector<Dimensions>& list : shapes)
        if (list.size() + 1 >= op.least_shapes && list.size() <= op.most_shapes + 1)
          add(digest, infer_shape(op, {attributes, list}, rules));
  }
}

TEST(KnownAnswers, OfEveryRuleOfShapesAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 22> kKnown{{
      {"as they are", 0xCEB1FF2EE70FF225},
      {"truncate", 0xB83B1B91CA879DBF},
      {"ceil", 0xFB44E8CE921D1308},
      {"ceil last inside", 0x1BA8F98583F3BE4A},
      {"zero stride of kernel", 0xDF4AB475F1A5CEAC},
      {"dilation ignored", 0xCA8D9CB5BE7BF98D},
      {"padding of one side", 0x643F129FB8FF3C51},
      {"stride and padding swapped", 0xC6A7FE6EFD897F0F},
      {"strides swapped", 0x29A128F7AAC4FC4B},
      {"width kernel", 0xE71F56F522E27E71},
      {"wraps 32", 0x4CA6C6B6C53F8BEE},
      {"in doubles", 0x99EB17AF998C585C},
      {"input exported", 0xBAD1701F98BA8B9A},
      {"formula", 0x2BE3F24D916E4118},
      {"symmetric", 0x402B52E48802881B},
      {"other side", 0x91BCC1DE4F19D2E9},
      {"groups ignored", 0xF755B70BEABD7058},
      {"bin end floor", 0x7F9DCF5861AEE5EF},
      {"concat first", 0x20FC46756BCEF842},
      {"first axis", 0xF79E82F3DF195EA7},
      {"always kept", 0x1023F16E5AC8DD99},
      {"right transposed", 0x3269D029D76B08AE},
  }};
  using Rules = ShapeRules;
  static constexpr std::array<ChangedRule<Rules>, 21> kChanges{{
      {"truncate", [](Rules& r) { r.quotient = Quotient::truncate; }},
      {"ceil", [](Rules& r) { r.quotient = Quotient::ceil; }},
      {"ceil last inside", [](Rules& r) { r.quotient = Quotient::ceil_last_inside; }},
      {"zero stride of kernel", [](Rules& r) { r.zero_stride = ZeroStride::kernel_height; }},
      {"dilation ignored", [](Rules& r) { r.dilation = DilationUse::ignored; }},
      {"padding of one side", [](Rules& r) { r.padding = PaddingSides::one; }},
      {"stride and padding swapped", [](Rules& r) { r.stride = StridePlace::swapped_with_padding; }},
      {"strides swapped", [](Rules& r) { r.stride = StridePlace::height_and_width_swapped; }},
      {"width kernel", [](Rules& r) { r.width_kernel = WidthKernel::height; }},
      {"wraps 32", [](Rules& r) { r.arithmetic = SizeArithmetic::wraps_32; }},
      {"in doubles", [](Rules& r) { r.arithmetic = SizeArithmetic::in_doubles; }},
      {"input exported", [](Rules& r) { r.exported = ExportedShape::input; }},
      {"formula", [](Rules& r) { r.input_size = InputSize::formula; }},
      {"symmetric", [](Rules& r) { r.same_pads = SamePads::symmetric; }},
      {"other side", [](Rules& r) { r.same_pads = SamePads::other_side; }},
      {"groups ignored", [](Rules& r) { r.groups = GroupUse::ignored; }},
      {"bin end floor", [](Rules& r) { r.bin_end = BinEnd::floor; }},
      {"concat first", [](Rules& r) { r.concat_axis = ConcatAxis::first; }},
      {"first axis", [](Rules& r) { r.alignment = Alignment::first_axis; }},
      {"always kept", [](Rules& r) { r.reduced_axes = ReducedAxes::always_kept; }},
      {"right transposed", [](Rules& r) { r.matmul = MatmulOrder::right_transposed; }},
  }};
  expect_known<Rules>(kChanges, kKnown, infer_all);
}

TEST(KnownAnswers, OfWindowsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0xCEC576D75D29828E},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    const std::array<WindowDialect, 5> dialects{{{},
                                                 {.quotient = Quotient::ceil},
                                                 {.quotient = Quotient::ceil_last_inside},
                                                 {.padding = PaddingMode::same_upper},
                                                 {.quotient = Quotient::truncate}}};
    Random random(22);
    for (int i = 0; i < 1500; ++i) {
      std::array<std::int64_t, 5> n{};
      for (std::int64_t& number : n) number = static_cast<std::int64_t>(random.below(6));
      n[0] *= 3;
      if (i % 16 == 0) n[random.below(5)] = kMost - static_cast<std::int64_t>(random.below(3));
      if (i % 16 == 1) n[random.below(5)] = kHuge - static_cast<std::int64_t>(random.below(3));
      const std::int64_t windows = n[0];
      const Window window{n[0], n[1], n[2], n[3], n[4]};
      for (const WindowDialect& dialect : dialects) {
        const Result<std::int64_t> count = window_count(window, dialect, "w");
        count ? digest.add(static_cast<std::uint64_t>(*count)) : digest.add(count.error());
        const Result<SizeRange> range = sizes_giving(windows, window, dialect, "w");
        if (!range) {
          digest.add(range.error());
          continue;
        }
        digest.add(static_cast<std::uint64_t>(range->smallest));
        digest.add(static_cast<std::uint64_t>(range->largest));
      }
      const Result<InputSizes> sizes = input_sizes(windows, window, "w");
      sizes ? digest.add(sizes->text()) : digest.add(sizes.error());
    }
  });
}

Tensor<float> tensor(Random& random, Dimensions shape) {
  Tensor<float> t{std::move(shape), {}};
  for (std::int64_t i = element_count(t.shape, "test").value(); i > 0; --i)
    t.elements.push_back(static_cast<float>(random.below(33)) / 8 - 2);
  return t;
}

struct Node {
  const char* op;
  Dimensions attributes;
  std::vector<Tensor<float>> inputs;
};

/// Nodes of every operator. Elements are eighths, so that products and sums are exact; and subnormals.
std::vector<Node> nodes() {
  Random random(23);
  const auto t = [&](Dimensions shape) { return tensor(random, std::move(shape)); };
  std::vector<Node> all;
  all.push_back({"conv2d", {2, 1, 1, 2, 1, 2, 2}, {}});
  for (const Dimensions& shape : {Dimensions{2, 4, 6, 7}, Dimensions{6, 2, 3, 2}, Dimensions{6}})
    all.back().inputs.push_back(t(shape));
  all.push_back({"conv2d", {1, 1, 0, 0, 1, 1, 1}, {}});
  for (const Dimensions& shape : {Dimensions{1, 1, 4, 5}, Dimensions{1, 1, 3, 2}})
    all.back().inputs.push_back(t(shape));
  all.push_back({"conv2d", {1, 2, 1, 0, 1, 1, 1}, {}});
  for (const Dimensions& shape : {Dimensions{2, 3, 5, 4}, Dimensions{2, 3, 2, 3}, Dimensions{2}})
    all.back().inputs.push_back(t(shape));
  all.push_back({"maxpool2d", {3, 2, 2, 1, 1, 0}, {}});
  all.back().inputs.push_back(t({2, 2, 6, 5}));
  all.push_back({"maxpool2d", {2, 2, 1, 1, 1, 1}, {}});
  all.back().inputs.push_back(t({1, 3, 3, 4}));
  for (float& x : all.back().inputs[0].elements) x = -std::fabs(x) - 1;
  all.push_back({"avgpool2d", {2, 4, 2, 1, 1, 1}, {}});
  all.back().inputs.push_back(t({2, 2, 6, 5}));
  all.push_back({"linear", {}, {}});
  for (const Dimensions& shape : {Dimensions{2, 3, 5}, Dimensions{4, 5}, Dimensions{4}})
    all.back().inputs.push_back(t(shape));
  all.push_back({"linear", {}, {}});
  for (const Dimensions& shape : {Dimensions{5}, Dimensions{5, 5}}) all.back().inputs.push_back(t(shape));
  all.push_back({"relu", {}, {}});
  all.back().inputs.push_back(t({3, 7}));
  all.back().inputs[0].elements[4] = 0x1p-140F;
  all.back().inputs[0].elements[5] = -0.0F;
  for (const std::int64_t axis : {0, 1, 2, -1}) {
    all.push_back({"flatten", {axis}, {}});
    all.back().inputs.push_back(t({2, 3, 4, 2}));
  }
  for (const Dimensions& shape : {Dimensions{3, 1}, Dimensions{4}, Dimensions{2, 1, 4}, Dimensions{1}, Dimensions{}}) {
    all.push_back({"add", {}, {}});
    all.back().inputs.push_back(t({2, 3, 4}));
    all.back().inputs.push_back(t(shape));
  }
  all.back().inputs[0].elements[0] = 0x1p-140F;
  all.push_back({"softmax_cross_entropy", {}, {}});
  all.back().inputs.push_back(t({3, 5}));
  all.back().inputs.push_back({{3}, {4, 0, 2}});
  all.push_back({"softmax_cross_entropy", {}, {}});
  all.back().inputs.push_back(t({2, 3}));
  for (float& x : all.back().inputs[0].elements) x *= 60;
  all.back().inputs.push_back({{2}, {1, 2}});
  all.push_back({"softmax_cross_entropy", {}, {}});
  all.back().inputs.push_back(t({2, 3}));
  all.back().inputs.push_back({{2}, {1, 7}});
  return all;
}

/// Five digits of each number: the last ones of an exponential are the library's.
void add(Digest& digest, const Tensor<float>& t, bool exact) {
  add(digest, t.shape);
  if (exact) return digest.add(std::span<const float>(t.elements));
  for (const float x : t.elements) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4e", static_cast<double>(x));
    digest.add(std::string_view(text));
  }
}

void execute_all(const ExecRules& rules, bool, Digest& digest) {
  static const std::vector<Node> all = nodes();
  for (const Node& node : all) {
    const ExecOperator& op = **exec_operator_named(node.op);
    const bool exact = std::string_view(node.op) != "softmax_cross_entropy";
    const ExecQuestion<float> question{node.attributes, node.inputs};
    const Result<Tensor<float>> output = run_forward<float>(op, question, rules);
    if (!output) {
      digest.add(output.error());
      continue;
    }
    add(digest, *output, exact);
    std::vector<float> upstream;
    for (std::size_t i = 0; i < output->elements.size(); ++i) upstream.push_back(1 + 0.25F * static_cast<float>(i % 5));
    const Result<std::vector<Tensor<float>>> gradients = run_backward<float>(op, question, upstream, rules);
    if (!gradients)
      digest.add(gradients.error());
    else
      for (const Tensor<float>& gradient : *gradients) add(digest, gradient, exact);
  }
}

TEST(KnownAnswers, OfEveryRuleOfExecutionAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 21> kKnown{{
      {"as they are", 0xF666F52D974F597F},      {"input row", 0x004534D767161F74},
      {"channel last", 0x709E2E43F2F4CBF1},     {"overwrites", 0x16AC947D70E1893E},
      {"last tie", 0x829A78406BF9C5EB},         {"padding zeros", 0x160042C4F69ABACF},
      {"whole window", 0xBA163D676B1320F6},     {"in out", 0xBBC424F119B65FFF},
      {"gradient sum", 0xB0F50126A745EF0A},     {"tiled", 0x9A2B0640D4BDEC67},
      {"relu of upstream", 0xB0BC7ECE311139A6}, {"pool from zero", 0xE441C0EF9C72545A},
      {"no shift", 0x51DB922DE314F306},         {"loss sum", 0xEAE2D195848EAC95},
      {"first class", 0xBDDB76D7E4CA4E7A},      {"labels clamped", 0x1FE9CE6F858C783D},
      {"bias missing", 0x2D1A0D17DBDA2D71},     {"broadcast last", 0x64A3CA6F4BA3518D},
      {"channels last", 0x12ED34AD24F31DBF},    {"results flushed", 0xCFCCF71EBAF61D6D},
      {"inputs flushed", 0xCFCCF71EBAF61D6D},
  }};
  using Rules = ExecRules;
  static constexpr std::array<ChangedRule<Rules>, 20> kChanges{{
      {"input row", [](Rules& r) { r.input_row = InputRow::derived_from_output; }},
      {"channel last", [](Rules& r) { r.columns = ColumnOrder2d::channel_last; }},
      {"overwrites", [](Rules& r) { r.folding = Folding::overwrites; }},
      {"last tie", [](Rules& r) { r.tie = PoolTie::last; }},
      {"padding zeros", [](Rules& r) { r.padding = PaddingCells::zeros; }},
      {"whole window", [](Rules& r) { r.divisor = PoolDivisor::whole_window; }},
      {"in out", [](Rules& r) { r.weight_gradient = WeightGradient::in_out; }},
      {"gradient sum", [](Rules& r) { r.loss_gradient = LossGradient::sum; }},
      {"tiled", [](Rules& r) { r.repetition = Repetition::tiled; }},
      {"relu of upstream", [](Rules& r) { r.relu = ReluGradient::of_upstream; }},
      {"pool from zero", [](Rules& r) { r.start = PoolStart::zero; }},
      {"no shift", [](Rules& r) { r.shift = SoftmaxShift::none; }},
      {"loss sum", [](Rules& r) { r.loss = LossValue::sum; }},
      {"first class", [](Rules& r) { r.labels = LabelUse::first_class; }},
      {"labels clamped", [](Rules& r) { r.labels = LabelUse::clamped; }},
      {"bias missing", [](Rules& r) { r.bias = BiasGradient::missing; }},
      {"broadcast last", [](Rules& r) { r.broadcast = BroadcastGradient::last; }},
      {"channels last", [](Rules& r) { r.flatten = FlattenOrder::channels_last; }},
      {"results flushed", [](Rules& r) { r.subnormals = NodeSubnormals::zero_as_results; }},
      {"inputs flushed", [](Rules& r) { r.subnormals = NodeSubnormals::zero_as_inputs; }},
  }};
  expect_known<Rules>(kChanges, kKnown, execute_all);
}

}  // namespace
}  // namespace packcheck::test
