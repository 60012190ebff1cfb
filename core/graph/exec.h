// core/graph/exec.h: what a node of a graph computes, and the gradients of its inputs, in f64 or f32.
//
// The reference executor: plain loops, every product and sum rounded to the element type, buffers sized from
// shapes that core/graph/shape_infer.h has accepted and from nothing else. Facts: seed-systems (6), yishape-math.
// Add an operator: a row in exec.cc and its two functions. Proved by tests/core/exec_test.cc (by hand and by
// finite differences) and the execute.* laws, whose oracle sums the definition directly.
//
// | operator | attributes | inputs | output |
// |---|---|---|---|
// | conv2d | stride h w, padding h w, dilation h w, groups | input [N,C,H,W], weight [O,C/groups,kH,kW], bias [O]? |
// [N,O,outH,outW] | | maxpool2d | kernel h w, stride h w, padding h w | [N,C,H,W] | the first largest number of each
// window | | avgpool2d | the same | [N,C,H,W] | sum over a window's cells ÷ how many of them are input | | linear |
// none | input […,in], weight [out,in], bias [out]? | input · weightᵀ + bias | | relu | none | any | x where x > 0,
// else 0 | | flatten | first axis | any but a scalar | the same numbers | | add | none | two, broadcast | sums | |
// softmax_cross_entropy | none | logits [N,C], labels [N] | mean of −log(max(softmax, 1e-30)) at the labels |
//
// Windows are whole ones (the floor dialect). Padding cells take no part in pooling, nor does a NaN, nor
// −infinity in a maximum: a window of nothing else gives −infinity and no gradient. Labels are numbers of the element
// type, whole, 0 to C − 1. Gradients: relu's at 0 is 0; softmax cross entropy has one for the logits alone, (softmax −
// one-hot) ÷ N.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/shape_infer.h"
#include "core/result.h"

namespace packcheck {

/// Numbers in the order of their indices, the last axis fastest.
template <class T>
struct Tensor {
  Dimensions shape;
  std::vector<T> elements;
};

enum class InputRow : std::uint8_t { own, derived_from_output };
enum class ColumnOrder2d : std::uint8_t { channel_first, channel_last };
enum class Folding : std::uint8_t { adds, overwrites };
enum class PoolTie : std::uint8_t { first, last };
enum class PaddingCells : std::uint8_t { skipped, zeros };
enum class PoolDivisor : std::uint8_t { real_cells, whole_window };
enum class WeightGradient : std::uint8_t { out_in, in_out };
enum class LossValue : std::uint8_t { mean, sum };
enum class LossGradient : std::uint8_t { mean, sum };
enum class Repetition : std::uint8_t { cyclic, tiled };
enum class ReluGradient : std::uint8_t { of_input, of_upstream };
enum class PoolStart : std::uint8_t { nothing, zero };
enum class SoftmaxShift : std::uint8_t { largest, none };
enum class LabelUse : std::uint8_t { own, first_class, clamped };
enum class BiasGradient : std::uint8_t { summed, missing };
enum class BroadcastGradient : std::uint8_t { summed, last };
enum class FlattenOrder : std::uint8_t { row_major, channels_last };
enum class NodeSubnormals : std::uint8_t {
  kept,
  zero_as_results,  ///< FTZ: kernels compiled with -ftz
  zero_as_inputs    ///< DAZ alone: what is read counts as 0, what is written is kept
};

/// What the executor does; each default is right, each other value is a documented bug.
struct ExecRules {
  InputRow input_row = InputRow::own;  ///< rows as long as the 4-D output shape lets a backend derive
  ColumnOrder2d columns = ColumnOrder2d::channel_first;
  Folding folding = Folding::adds;  ///< col2im
  PoolTie tie = PoolTie::first;
  PaddingCells padding = PaddingCells::skipped;
  PoolDivisor divisor = PoolDivisor::real_cells;
  WeightGradient weight_gradient = WeightGradient::out_in;  ///< of linear, swapped in a Rust backend
  LossGradient loss_gradient = LossGradient::mean;          ///< summed in a Rust backend
  Repetition repetition = Repetition::cyclic;               ///< of the smaller operand of add
  ReluGradient relu = ReluGradient::of_input;
  PoolStart start = PoolStart::nothing;        ///< of the search for the largest number
  SoftmaxShift shift = SoftmaxShift::largest;  ///< none: exp overflows from logits of 89 on in f32
  LossValue loss = LossValue::mean;
  LabelUse labels = LabelUse::own;           ///< not exported by yishape-math: a reader takes zeros; XLA clamps indices
  BiasGradient bias = BiasGradient::summed;  ///< of conv2d and linear
  BroadcastGradient broadcast = BroadcastGradient::summed;
  FlattenOrder flatten = FlattenOrder::row_major;
  NodeSubnormals subnormals = NodeSubnormals::kept;  ///< of the forward pass
  friend bool operator==(const ExecRules&, const ExecRules&) = default;
};

/// What an operator is given. Inputs as the table says; `upstream` is the gradient of the output.
template <class T>
struct ExecQuestion {
  std::span<const std::int64_t> attributes;
  std::span<const Tensor<T>> inputs;
};

struct ExecOperator {
  std::string_view op;
  std::string_view shape_operator;  ///< whose shapes it has
  std::size_t least_inputs;
  std::size_t most_inputs;
};
[[nodiscard]] std::span<const ExecOperator> all_exec_operators();
[[nodiscard]] Result<const ExecOperator*> exec_operator_named(std::string_view name);

/// The output's shape, after everything that can be wrong with the question was looked at: attributes, shapes,
/// numbers of elements, attributes past 2^31, work of more than 2^32 products, and outputs of more than 2^26 numbers.
[[nodiscard]] Result<Dimensions> exec_shape(const ExecOperator& op, std::span<const std::int64_t> attributes,
                                            std::span<const Dimensions> shapes, std::span<const std::size_t> counts);

/// The output. T is float or double.
template <class T>
[[nodiscard]] Result<Tensor<T>> run_forward(const ExecOperator& op, const ExecQuestion<T>& question,
                                            const ExecRules& rules = {});
/// The gradients of the inputs, one each in their order (of the logits alone for softmax cross entropy).
template <class T>
[[nodiscard]] Result<std::vector<Tensor<T>>> run_backward(const ExecOperator& op, const ExecQuestion<T>& question,
                                                          std::span<const T> upstream, const ExecRules& rules = {});

}  // namespace packcheck
