// Operators without windows.
#include <algorithm>
#include <cmath>

#include "core/graph/exec_functions.h"

namespace packcheck {
namespace {

/// Rows of the input, inner size and outer size of a linear operator.
struct Sizes {
  std::size_t rows, in, out;
};
template <class T>
Sizes sizes_of(const ExecCall<T>& call) {
  const Dimensions& weight = call.inputs[1].shape;
  const std::size_t in = index_of(weight[1]);
  return {call.inputs[0].elements.size() / in, in, index_of(weight[0])};
}

/// For each element of the output of add, the element of an operand of `shape`.
std::size_t operand_index(const Dimensions& output, const Dimensions& shape, std::size_t at) {
  std::size_t index = 0;
  std::size_t step = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t size = index_of(output[output.size() - 1 - i]);
    const std::size_t own = index_of(shape[shape.size() - 1 - i]);
    if (own != 1) index += at % size * step;
    at /= size;
    step *= own;
  }
  return index;
}

template <class T>
std::size_t operand_index(const ExecCall<T>& call, std::size_t operand, std::size_t at, std::size_t count) {
  const Tensor<T>& tensor = call.inputs[operand];
  if (call.rules.repetition == Repetition::tiled) return at / (count / tensor.elements.size());
  return operand_index(call.output_shape, tensor.shape, at);
}

/// Where element `at` of the input of flatten goes: to its own place.
template <class T>
std::size_t flat_index(const ExecCall<T>& call, std::size_t at) {
  const Dimensions& x = call.inputs[0].shape;
  if (call.rules.flatten == FlattenOrder::row_major || x.size() != 4) return at;
  const std::size_t cells = index_of(x[2] * x[3]);
  const std::size_t channels = index_of(x[1]);
  return at / (cells * channels) * (cells * channels) + at % cells * channels + at / cells % channels;
}

/// Which class each row is labelled with; refuses what is none.
template <class T>
Result<std::vector<std::size_t>> labels_of(const ExecCall<T>& call) {
  const std::int64_t classes = call.inputs[0].shape[1];
  std::vector<std::size_t> labels;
  for (const T label : call.inputs[1].elements) {
    if (call.rules.labels == LabelUse::clamped) {
      labels.push_back(label > 0 ? static_cast<std::size_t>(std::min(label, static_cast<T>(classes - 1))) : 0);
      continue;
    }
    if (!(label >= 0 && label < static_cast<T>(classes)) || std::floor(label) != label)
      return refuse("label " + std::to_string(label) + " at sample " + std::to_string(labels.size()),
                    "softmax_cross_entropy", "a whole number from 0 to " + std::to_string(classes - 1));
    labels.push_back(call.rules.labels == LabelUse::own ? static_cast<std::size_t>(label) : 0);
  }
  return labels;
}

template <class T>
std::vector<T> softmax(std::span<const T> logits, SoftmaxShift shift) {
  const T largest = shift == SoftmaxShift::largest ? *std::max_element(logits.begin(), logits.end()) : T{0};
  std::vector<T> shares;
  T sum = 0;
  for (const T logit : logits) {
    shares.push_back(std::exp(logit - largest));
    sum += shares.back();
  }
  for (T& share : shares) share /= sum;
  return shares;
}

}  // namespace

template <class T>
Result<void> linear_forward(const ExecCall<T>& call, std::span<T> output) {
  const Sizes n = sizes_of(call);
  for (std::size_t r = 0; r < n.rows; ++r)
    for (std::size_t o = 0; o < n.out; ++o) {
      T sum = 0;
      for (std::size_t i = 0; i < n.in; ++i)
        sum += call.inputs[0].elements[r * n.in + i] * call.inputs[1].elements[o * n.in + i];
      output[r * n.out + o] = call.inputs.size() == 3 ? sum + call.inputs[2].elements[o] : sum;
    }
  return {};
}

template <class T>
Result<void> linear_backward(const ExecCall<T>& call, std::span<const T> upstream, std::span<Tensor<T>> gradients) {
  const Sizes n = sizes_of(call);
  const bool swapped = call.rules.weight_gradient == WeightGradient::in_out;
  for (std::size_t r = 0; r < n.rows; ++r)
    for (std::size_t o = 0; o < n.out; ++o) {
      const T g = upstream[r * n.out + o];
      for (std::size_t i = 0; i < n.in; ++i) {
        gradients[0].elements[r * n.in + i] += g * call.inputs[1].elements[o * n.in + i];
        gradients[1].elements[swapped ? i * n.out + o : o * n.in + i] += g * call.inputs[0].elements[r * n.in + i];
      }
      if (gradients.size() == 3 && call.rules.bias == BiasGradient::summed) gradients[2].elements[o] += g;
    }
  return {};
}

template <class T>
Result<void> relu_forward(const ExecCall<T>& call, std::span<T> output) {
  const std::vector<T>& x = call.inputs[0].elements;
  for (std::size_t i = 0; i < x.size(); ++i) output[i] = x[i] > 0 ? x[i] : T{0};
  return {};
}

template <class T>
Result<void> relu_backward(const ExecCall<T>& call, std::span<const T> upstream, std::span<Tensor<T>> gradients) {
  const bool of_input = call.rules.relu == ReluGradient::of_input;
  for (std::size_t i = 0; i < upstream.size(); ++i)
    gradients[0].elements[i] = (of_input ? call.inputs[0].elements[i] : upstream[i]) > 0 ? upstream[i] : T{0};
  return {};
}

template <class T>
Result<void> flatten_forward(const ExecCall<T>& call, std::span<T> output) {
  const std::vector<T>& x = call.inputs[0].elements;
  for (std::size_t i = 0; i < x.size(); ++i) output[flat_index(call, i)] = x[i];
  return {};
}

template <class T>
Result<void> flatten_backward(const ExecCall<T>& call, std::span<const T> upstream, std::span<Tensor<T>> gradients) {
  for (std::size_t i = 0; i < upstream.size(); ++i) gradients[0].elements[i] = upstream[flat_index(call, i)];
  return {};
}

template <class T>
Result<void> add_forward(const ExecCall<T>& call, std::span<T> output) {
  for (std::size_t i = 0; i < output.size(); ++i)
    output[i] = call.inputs[0].elements[operand_index(call, 0, i, output.size())] +
                call.inputs[1].elements[operand_index(call, 1, i, output.size())];
  return {};
}

template <class T>
Result<void> add_backward(const ExecCall<T>& call, std::span<const T> upstream, std::span<Tensor<T>> gradients) {
  for (std::size_t i = 0; i < upstream.size(); ++i)
    for (std::size_t operand = 0; operand < 2; ++operand) {
      T& gradient = gradients[operand].elements[operand_index(call, operand, i, upstream.size())];
      gradient = call.rules.broadcast == BroadcastGradient::summed ? gradient + upstream[i] : upstream[i];
    }
  return {};
}

template <class T>
Result<void> cross_entropy_forward(const ExecCall<T>& call, std::span<T> output) {
  const Result<std::vector<std::size_t>> labels = labels_of(call);
  if (!labels) return tl::unexpected(labels.error());
  const std::size_t classes = index_of(call.inputs[0].shape[1]);
  T sum = 0;
  for (std::size_t r = 0; r < labels->size(); ++r) {
    const std::span<const T> logits(call.inputs[0].elements.data() + r * classes, classes);
    sum -= std::log(std::max(softmax(logits, call.rules.shift)[(*labels)[r]], T(1e-30)));
  }
  output[0] = call.rules.loss == LossValue::mean ? sum / static_cast<T>(labels->size()) : sum;
  return {};
}

template <class T>
Result<void> cross_entropy_backward(const ExecCall<T>& call, std::span<const T> upstream,
                                    std::span<Tensor<T>> gradients) {
  const Result<std::vector<std::size_t>> labels = labels_of(call);
  if (!labels) return tl::unexpected(labels.error());
  const std::size_t classes = index_of(call.inputs[0].shape[1]);
  const T samples = call.rules.loss_gradient == LossGradient::mean ? static_cast<T>(labels->size()) : T{1};
  for (std::size_t r = 0; r < labels->size(); ++r) {
    const std::span<const T> logits(call.inputs[0].elements.data() + r * classes, classes);
    const std::vector<T> shares = softmax(logits, call.rules.shift);
    for (std::size_t c = 0; c < classes; ++c) {
      const T one_hot = c == (*labels)[r] ? T{1} : T{0};
      gradients[0].elements[r * classes + c] = (shares[c] - one_hot) * upstream[0] / samples;
    }
  }
  return {};
}

PACKCHECK_EXEC_INSTANCES(linear);
PACKCHECK_EXEC_INSTANCES(relu);
PACKCHECK_EXEC_INSTANCES(flatten);
PACKCHECK_EXEC_INSTANCES(add);
PACKCHECK_EXEC_INSTANCES(cross_entropy);

}  // namespace packcheck
