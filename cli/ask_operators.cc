// packcheck ask infer_shape, execute, execute_backward.
#include <algorithm>
#include <charconv>
#include <map>

#include "cli/ask.h"
#include "cli/meant.h"
#include "properties/cases/operators.h"
#include "properties/describe.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

constexpr const char* kShapeForm =
    "a shape as in 1x3x224x224 (or 'scalar'), or FIELD=VALUE as in stride=2; numbers of 64 bits";

/// "1x3x224x224" or "1,3,224,224".
Result<Dimensions> numbers_of(const std::string& text, const std::string& where) {
  Dimensions numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("x,", at), text.size());
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, number);
    if (error != std::errc{} || stop != text.data() + end || at == end)
      return refuse("'" + text + "'", where, kShapeForm);
    numbers.push_back(number);
    at = end + 1;
  }
  return numbers;
}

/// What a model leaves out. Nothing: the attribute must be given.
std::optional<std::int64_t> usual_value(std::string_view attribute) {
  if (attribute.substr(0, 6) == "stride" || attribute.substr(0, 8) == "dilation" || attribute == "groups") return 1;
  if (attribute.substr(0, 7) == "padding" || attribute == "keep_dimensions") return 0;
  return std::nullopt;
}

std::string names_of(const ShapeOperator& op) {
  std::string names;
  for (const std::string_view name : op.attributes) names.append(names.empty() ? "" : ", ").append(name);
  if (names.empty()) return "which it has none";
  return op.more_attributes ? names + ", axes" : names;
}

/// `stride=2` stands for stride_h and stride_w, `stride=2,1` for one and the other.
class Fields {
 public:
  Fields(const ShapeOperator& op) : op_(op) {}

  Result<void> add(const std::string& name, const std::string& value) {
    const Result<Dimensions> numbers = numbers_of(value, op_.id() + " " + name);
    if (!numbers) return tl::unexpected(numbers.error());
    if (name == "axes" && op_.more_attributes) {
      axes_ = *numbers;
      return {};
    }
    if (has(name) && numbers->size() == 1) return set(name, numbers->front());
    if (!has(name) && has(name + "_h") && numbers->size() <= 2) {
      if (auto ok = set(name + "_h", numbers->front()); !ok) return ok;
      return set(name + "_w", numbers->back());
    }
    if (has(name) || has(name + "_h"))
      return refuse(std::to_string(numbers->size()) + " numbers for " + name, op_.id(),
                    has(name) ? "one" : "one, or two: for the height and the width");
    return refuse("'" + name + "=" + value + "'", op_.id(), "FIELD=VALUE with a field of " + names_of(op_));
  }

  Result<Dimensions> attributes() const {
    Dimensions all;
    for (const std::string_view name : op_.attributes) {
      const auto given = given_.find(name);
      const std::optional<std::int64_t> value =
          given != given_.end() ? std::optional(given->second) : usual_value(name);
      if (!value) return refuse("no " + std::string(name), op_.id(), std::string(name) + "=VALUE");
      all.push_back(*value);
    }
    all.insert(all.end(), axes_.begin(), axes_.end());
    return all;
  }

 private:
  [[nodiscard]] bool has(std::string_view name) const {
    return std::find(op_.attributes.begin(), op_.attributes.end(), name) != op_.attributes.end();
  }
  Result<void> set(const std::string& name, std::int64_t value) {
    if (given_.emplace(name, value).second) return {};
    return refuse(name + " is given twice", op_.id(), "once");
  }

  const ShapeOperator& op_;
  std::map<std::string, std::int64_t, std::less<>> given_;
  Dimensions axes_;
};

Result<ShapeRequest> request_of(const AskOptions& o) {
  if (o.arguments.empty())
    return refuse("no operator", "ask " + o.operation, "an operator, as in conv2d or conv2d:java");
  const Result<const ShapeOperator*> op = shape_operator_meant(o.arguments[0]);
  if (!op) return tl::unexpected(op.error());
  ShapeRequest request{*op, {}, {}};
  Fields fields(**op);
  std::vector<std::string> words(o.arguments.begin() + 1, o.arguments.end());
  words.insert(words.end(), o.fields.begin(), o.fields.end());
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      if (auto ok = fields.add(word.substr(0, equals), word.substr(equals + 1)); !ok) return tl::unexpected(ok.error());
      continue;
    }
    Result<Dimensions> shape = word == "scalar" ? Dimensions{} : numbers_of(word, (*op)->id());
    if (!shape) return tl::unexpected(shape.error());
    request.shapes.push_back(std::move(*shape));
  }
  Result<Dimensions> attributes = fields.attributes();
  if (!attributes) return tl::unexpected(attributes.error());
  request.attributes = std::move(*attributes);
  return request;
}

/// Height (0) or width (1) of a convolution or pooling.
Window window_of(const ShapeRequest& r, std::size_t axis) {
  const Dimensions& a = r.attributes;
  const std::int64_t size = r.shapes[0][2 + axis];
  if (r.op->family == ShapeFamily::pooling) return {size, a[axis], a[2 + axis], a[4 + axis], 1};
  return {size, r.shapes[1][2 + axis], a[axis], a[2 + axis], a[4 + axis]};
}

/// Which input sizes give this output, and what a reader of the output alone loses.
std::string text_of_axis(Subject& subject, const ShapeRequest& r, std::size_t axis, std::int64_t windows) {
  Window w = window_of(r, axis);
  std::string text = axis == 0 ? "\nheight " : "\nwidth ";
  text.append(std::to_string(w.size)).append(": derived from the output it is ");
  if (r.op->dialect != "floor") {
    if (w.stride <= 0 && r.op->window.zero_stride == ZeroStride::kernel_height) w.stride = window_of(r, 0).kernel;
    const Result<SizeRange> sizes = sizes_giving(windows, w, r.op->window, r.op->id());
    if (!sizes) return text.append("nothing: ").append(sizes.error().text());
    return text.append(sizes->smallest == sizes->largest ? "exact: " : "ambiguous: ").append(sizes->text());
  }
  const Result<InputSizes> right = input_sizes(windows, w, r.op->id());
  if (!right) return text.append("nothing: ").append(right.error().text());
  const ShapeRequest back{
      *shape_operator_named("input_size"), {windows, w.kernel, w.stride, w.padding, w.dilation}, {}};
  if (subject.info().find(Operation::infer_shape, back.op->id()) != nullptr) {
    const Answer<Dimensions> sizes = call_infer_shape(subject, back);
    const Dimensions expected{right->smallest, right->largest};
    if (!sizes.ok()) return text.append("not known to the subject: ").append(sizes.message);
    if (sizes.value != expected) text.append(shape_text(sizes.value)).append(" as the subject says; right: ");
  }
  return text.append(right->ambiguous() ? "ambiguous: " : "exact: ").append(right->text());
}

}  // namespace

Result<Said> ask_infer_shape(Subject& subject, const AskOptions& o) {
  const Result<ShapeRequest> request = request_of(o);
  if (!request) return tl::unexpected(request.error());
  const Answer<Dimensions> shape = call_infer_shape(subject, *request);
  if (!shape.ok()) return not_answered(shape);
  const ShapeOperator& op = *request->op;
  std::string text = op.id().append(" ").append(shape_text(shape.value));
  const bool windows = op.family == ShapeFamily::convolution || op.family == ShapeFamily::pooling;
  const bool six = op.dialect == "export_6d";
  if (six) text.append("\nheight and width of the input are in the shape: nothing is derived");
  if (windows && !six && shape.value.size() == 4)
    for (std::size_t axis = 0; axis < 2; ++axis) text += text_of_axis(subject, *request, axis, shape.value[2 + axis]);
  if (op.family == ShapeFamily::input_size) {
    const Dimensions& a = request->attributes;
    if (const auto right = input_sizes(a[0], {1, a[1], a[2], a[3], a[4]}, op.id())) text.append("\n" + right->text());
  }
  return Said{kHolds, shape.value, text, {}};
}

Result<Said> ask_execute(Subject& subject, const AskOptions& o) {
  if (o.arguments.size() != 1)
    return refuse(std::to_string(o.arguments.size()) + " arguments", "ask " + o.operation,
                  "the node as a case in JSON, as `packcheck repro` prints it");
  const Result<Case> c = node_cases.from_json(o.arguments[0]);
  if (!c) return tl::unexpected(c.error());
  const NodeRequest& node = c->as<NodeRequest>();
  const Answer<Bytes> answer =
      o.operation == "execute" ? call_execute(subject, node) : call_execute_backward(subject, node);
  if (!answer.ok()) return not_answered(answer);
  const FormatSpec& s = spec(node.format);
  std::string text;
  for (std::size_t i = 0; i < answer.value.size() / s.bytes(); ++i)
    text.append(i == 0 ? "" : "\n").append(describe(node.format, load_element(s, answer.value, i)));
  return Said{kHolds, elements_json(answer.value, node.format), text, {}};
}

}  // namespace packcheck
