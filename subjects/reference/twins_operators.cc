// Faulty twins of operators of a graph: their shapes, their outputs, their gradients.
#include "subjects/operator_calls.h"
#include "subjects/reference/answers.h"
#include "subjects/reference/twin_families.h"

namespace packcheck {
namespace {

constexpr std::string_view kOutputs = "shape.outputs_follow_the_declared_rule";
constexpr std::string_view kRefused = "shape.impossible_requests_are_refused";
constexpr std::string_view kStride = "shape.a_stride_more_of_input_is_a_window_more";
constexpr std::string_view kDerived = "shape.derived_input_sizes_are_exactly_those_that_fit";
constexpr std::string_view kForward = "execute.outputs_are_those_of_the_definition";
constexpr std::string_view kBackward = "execute.gradients_are_those_of_the_definition";
constexpr std::string_view kImpossible = "execute.impossible_nodes_are_refused";
constexpr std::string_view kAdjoint = "execute.backward_is_the_adjoint_of_forward";
constexpr std::string_view kSlopes = "execute.gradients_are_slopes";

std::vector<Twin> shape_twins() {
  return {
      {"shape_truncates",
       "divides toward zero, so that a kernel larger than the input counts once (yishape-math; AiDotNet.Tensors PR "
       "891)",
       kRefused, [](ReferenceRules& r) { r.shape.quotient = Quotient::truncate; }},
      {"shape_ignores_ceil_mode", "rounds down where ceil mode is asked for (onnx-mlir PR 560)", kOutputs,
       [](ReferenceRules& r) { r.shape.quotient = Quotient::floor; }},
      {"shape_window_past_the_end", "counts a window that begins beyond the input (PyTorch issue 45357; TVM PR 18641)",
       kOutputs, [](ReferenceRules& r) { r.shape.quotient = Quotient::ceil; }},
      {"shape_zero_stride_passes",
       "takes a stride of 0 for the kernel's height in every dialect (yishape-math's pooling)", kRefused,
       [](ReferenceRules& r) { r.shape.zero_stride = ZeroStride::kernel_height; }},
      {"shape_dilation_ignored", "forgets the dilation (the formula (out - 1) * stride + kernel - 2 * padding)",
       kOutputs, [](ReferenceRules& r) { r.shape.dilation = DilationUse::ignored; }},
      {"shape_padding_on_one_side", "adds the padding once", kOutputs,
       [](ReferenceRules& r) { r.shape.padding = PaddingSides::one; }},
      {"shape_stride_for_padding", "has stride and padding in each other's place", kStride,
       [](ReferenceRules& r) { r.shape.stride = StridePlace::swapped_with_padding; }},
      {"shape_stride_axes_swapped", "has the strides of height and width in each other's place", kStride,
       [](ReferenceRules& r) { r.shape.stride = StridePlace::height_and_width_swapped; }},
      {"shape_kernel_height_for_width", "uses the kernel's height for the width, too (an old ExportShapeValidator)",
       kOutputs, [](ReferenceRules& r) { r.shape.width_kernel = WidthKernel::height; }},
      {"shape_in_32_bits", "multiplies sizes as 32-bit integers (MLX PR 3524 and PR 3938)", kRefused,
       [](ReferenceRules& r) { r.shape.arithmetic = SizeArithmetic::wraps_32; }},
      {"shape_in_doubles",
       "multiplies sizes as doubles, in which 2^53 + 1 is 2^53 (JavaScript; JSON3.jl issue 124; telegraf PR 9520)",
       kOutputs, [](ReferenceRules& r) { r.shape.arithmetic = SizeArithmetic::in_doubles; }},
      {"shape_of_input_exported", "gives the shape of the input as that of the output (yishape-math's exporter)",
       kStride, [](ReferenceRules& r) { r.shape.exported = ExportedShape::input; }},
      {"shape_input_by_formula",
       "derives the input size from the output as if no remainder were lost: 223 for 224 (yishape-math; tinygrad PR "
       "875)",
       kDerived, [](ReferenceRules& r) { r.shape.input_size = InputSize::formula; }},
      {"shape_same_pads_both_sides", "pads both sides alike for SAME (onnxruntime PR 29627)", kOutputs,
       [](ReferenceRules& r) { r.shape.same_pads = SamePads::symmetric; }},
      {"shape_same_pads_other_side", "puts the odd cell of SAME_UPPER at the beginning, and of SAME_LOWER at the end",
       kOutputs, [](ReferenceRules& r) { r.shape.same_pads = SamePads::other_side; }},
      {"shape_groups_ignored", "wants all input channels in the weight of a grouped convolution", kOutputs,
       [](ReferenceRules& r) { r.shape.groups = GroupUse::ignored; }},
      {"shape_bin_end_floor", "rounds the end of an adaptive bin down, so that cells are lost (yishape-math)", kOutputs,
       [](ReferenceRules& r) { r.shape.bin_end = BinEnd::floor; }},
      {"shape_concat_first_axis", "concatenates along the first axis, whatever is asked for", kOutputs,
       [](ReferenceRules& r) { r.shape.concat_axis = ConcatAxis::first; }},
      {"shape_broadcast_from_first_axis", "aligns shapes at their first axis (broadcast-add of a Rust backend)",
       kOutputs, [](ReferenceRules& r) { r.shape.alignment = Alignment::first_axis; }},
      {"shape_keeps_reduced_axes", "keeps reduced axes with size 1, whatever is asked for", kOutputs,
       [](ReferenceRules& r) { r.shape.reduced_axes = ReducedAxes::always_kept; }},
      {"shape_matmul_transposed", "takes the second matrix for its transpose", kOutputs,
       [](ReferenceRules& r) { r.shape.matmul = MatmulOrder::right_transposed; }},
  };
}

std::vector<Twin> execute_twins() {
  return {
      {"exec_row_from_output",
       "takes the length of an input row from the output's, so that a remainder shifts every row (yishape-math's 4-D "
       "convention)",
       kForward, [](ReferenceRules& r) { r.exec.input_row = InputRow::derived_from_output; }},
      {"exec_columns_channel_last", "orders the columns of im2col by kernel cell first, unlike the weights", kForward,
       [](ReferenceRules& r) { r.exec.columns = ColumnOrder2d::channel_last; }},
      {"exec_fold_overwrites", "writes overlapping windows over each other in col2im", kAdjoint,
       [](ReferenceRules& r) { r.exec.folding = Folding::overwrites; }},
      {"exec_last_maximum", "gives the gradient of a tie to the last of the largest", kBackward,
       [](ReferenceRules& r) { r.exec.tie = PoolTie::last; }},
      {"exec_pool_counts_padding", "lets the zeros of the padding take part in a maximum", kForward,
       [](ReferenceRules& r) { r.exec.padding = PaddingCells::zeros; }},
      {"exec_pool_starts_at_zero", "starts the search for a maximum at 0, so that negative windows give 0", kForward,
       [](ReferenceRules& r) { r.exec.start = PoolStart::zero; }},
      {"exec_average_of_whole_window", "divides by the whole window where some of it is padding", kForward,
       [](ReferenceRules& r) { r.exec.divisor = PoolDivisor::whole_window; }},
      {"exec_linear_in_out", "has in and out swapped in the weight's gradient (a Rust backend of yishape-math)",
       kAdjoint, [](ReferenceRules& r) { r.exec.weight_gradient = WeightGradient::in_out; }},
      {"exec_bias_gradient_missing", "gives no gradient to the bias", kSlopes,
       [](ReferenceRules& r) { r.exec.bias = BiasGradient::missing; }},
      {"exec_loss_not_averaged", "sums the loss over the samples", kForward,
       [](ReferenceRules& r) { r.exec.loss = LossValue::sum; }},
      {"exec_loss_gradient_summed", "sums the gradient of the loss where its value is a mean (a Rust backend)", kSlopes,
       [](ReferenceRules& r) { r.exec.loss_gradient = LossGradient::sum; }},
      {"exec_labels_ignored", "takes class 0 for every label, which the exporter left out (yishape-math)", kForward,
       [](ReferenceRules& r) { r.exec.labels = LabelUse::first_class; }},
      {"exec_label_clamped", "takes a label past the classes for the last class, as a clamped gather index (XLA)",
       kImpossible, [](ReferenceRules& r) { r.exec.labels = LabelUse::clamped; }},
      {"exec_softmax_unshifted", "takes exponentials of the logits themselves, which overflow", kForward,
       [](ReferenceRules& r) { r.exec.shift = SoftmaxShift::none; }},
      {"exec_add_tiled", "repeats each element of the smaller operand where the operand is to be repeated", kForward,
       [](ReferenceRules& r) { r.exec.repetition = Repetition::tiled; }},
      {"exec_broadcast_gradient_not_summed", "keeps the last of the gradients that a repeated element gets", kAdjoint,
       [](ReferenceRules& r) { r.exec.broadcast = BroadcastGradient::last; }},
      {"exec_relu_of_upstream", "lets a gradient through where the gradient is positive, not the input", kSlopes,
       [](ReferenceRules& r) { r.exec.relu = ReluGradient::of_upstream; }},
      {"exec_results_flushed",
       "writes subnormal results as 0, as kernels compiled with -ftz do (cupy issue 8382; Kinoko issue 498 on ARM)",
       kForward, [](ReferenceRules& r) { r.exec.subnormals = NodeSubnormals::zero_as_results; }},
      {"exec_inputs_flushed",
       "counts subnormal inputs as 0 and keeps subnormal results, as DAZ without FTZ does (Kinoko issue 498 on x86)",
       kForward, [](ReferenceRules& r) { r.exec.subnormals = NodeSubnormals::zero_as_inputs; }},
      {"exec_flatten_channels_last", "flattens with the channels innermost", kForward,
       [](ReferenceRules& r) { r.exec.flatten = FlattenOrder::channels_last; }},
  };
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view one : names)
    if (one == name) return true;
  return false;
}

}  // namespace

std::vector<Twin> operator_twins() {
  std::vector<Twin> all = shape_twins();
  for (const Twin& twin : execute_twins()) all.push_back(twin);
  return all;
}

bool touches_shape(const ShapeRules& rules, std::string_view variant) {
  const ShapeRules right;
  if (rules == right) return false;
  const ShapeOperator& op = **shape_operator_named(variant);
  if (rules.arithmetic == SizeArithmetic::in_doubles) return is_one_of(op.op, {"element_count", "flatten"});
  const bool axes = rules.dilation != right.dilation || rules.padding != right.padding ||
                    rules.stride != right.stride || rules.input_size != right.input_size ||
                    rules.arithmetic != right.arithmetic;
  switch (op.family) {
    case ShapeFamily::convolution:
    case ShapeFamily::pooling:
      return axes || rules.quotient != right.quotient || rules.zero_stride != right.zero_stride ||
             rules.width_kernel != right.width_kernel || rules.exported != right.exported ||
             rules.groups != right.groups;
    case ShapeFamily::adaptive: return rules.bin_end != right.bin_end || rules.arithmetic != right.arithmetic;
    case ShapeFamily::padding: return axes || rules.same_pads != right.same_pads;
    case ShapeFamily::input_size: return axes;
    case ShapeFamily::other: break;
  }
  if (op.op == "concat") return rules.concat_axis != right.concat_axis;
  if (op.op == "reduce") return rules.reduced_axes != right.reduced_axes;
  if (op.op == "broadcast") return rules.alignment != right.alignment;
  if (op.op == "matmul") return rules.matmul != right.matmul || rules.alignment != right.alignment;
  return is_one_of(op.op, {"flatten", "element_count"}) && rules.arithmetic != right.arithmetic;
}

bool touches_node(const ExecRules& rules, std::string_view variant) {
  const ExecRules right;
  const std::string_view op = variant.substr(0, variant.find(':'));
  const bool bias = rules.bias != right.bias;
  // Sums and products may be flushed, since some machines do; what only copies a number may not. The drawn numbers have
  // subnormals of f32 among them.
  if (rules.subnormals != right.subnormals) return is_one_of(variant, {"relu:f32", "flatten:f32", "maxpool2d:f32"});
  if (op == "conv2d")
    return bias || rules.input_row != right.input_row || rules.columns != right.columns ||
           rules.folding != right.folding;
  if (op == "linear") return bias || rules.weight_gradient != right.weight_gradient;
  if (op == "maxpool2d") return rules.tie != right.tie || rules.padding != right.padding || rules.start != right.start;
  if (op == "avgpool2d") return rules.divisor != right.divisor;
  if (op == "relu") return rules.relu != right.relu;
  if (op == "flatten") return rules.flatten != right.flatten;
  if (op == "add") return rules.repetition != right.repetition || rules.broadcast != right.broadcast;
  return rules.loss != right.loss || rules.loss_gradient != right.loss_gradient || rules.shift != right.shift ||
         rules.labels != right.labels;
}

}  // namespace packcheck
