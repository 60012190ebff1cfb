#include "properties/oracles/stablehlo_oracle.h"

#include <cctype>
#include <cstdint>
#include <map>
#include <optional>

namespace packcheck::oracle {
namespace {

std::uint64_t size_of(const HloType& type) {
  std::uint64_t count = 1;
  for (const std::uint64_t dimension : type.shape) count *= dimension;
  return count;
}
std::size_t width_of(const std::string& element) {
  if (element == "f32") return 4;
  return element == "f16" || element == "bf16" ? 2 : 0;
}

/// A text with a place in it. Reading what is not there marks it as unsound, once and for all.
class Text {
 public:
  explicit Text(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool sound() const { return sound_; }
  [[nodiscard]] bool done() const { return rest_.empty(); }
  bool has(std::string_view literal) {
    if (!sound_ || rest_.substr(0, literal.size()) != literal) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  void want(std::string_view literal) { sound_ = has(literal) && sound_; }
  /// Everything before a literal, and the literal itself.
  std::string until(std::string_view literal) {
    const std::size_t at = rest_.find(literal);
    sound_ = sound_ && at != std::string_view::npos;
    if (!sound_) return {};
    std::string part(rest_.substr(0, at));
    rest_.remove_prefix(at + literal.size());
    return part;
  }
  /// "%0", "%arg0".
  std::string value() {
    std::string name;
    want("%");
    while (sound_ && !rest_.empty() && std::isalnum(static_cast<unsigned char>(rest_[0])) != 0) {
      name.push_back(rest_[0]);
      rest_.remove_prefix(1);
    }
    sound_ = sound_ && !name.empty();
    return "%" + name;
  }
  /// "tensor<1x4xf16>".
  HloType type() {
    HloType type;
    want("tensor<");
    std::string inside = until(">");
    while (sound_ && !inside.empty() && inside[0] >= '0' && inside[0] <= '9') {
      const std::size_t by = inside.find('x');
      if (by == std::string::npos || by > 9) break;
      type.shape.push_back(std::stoull(inside.substr(0, by)));
      inside.erase(0, by + 1);
    }
    type.element = inside;
    sound_ = sound_ && (width_of(inside) != 0 || inside == "i1");
    return type;
  }

 private:
  std::string_view rest_;
  bool sound_ = true;
};

/// The bytes of `dense<"0x…">`: one element stands for all.
std::optional<std::string> constant_bytes(const std::string& attributes, const HloType& type) {
  constexpr std::string_view kBefore = "value = dense<\"0x";
  if (attributes.rfind(kBefore, 0) != 0) return std::nullopt;
  const std::size_t end = attributes.find("\"> : ");
  if (end == std::string::npos) return std::nullopt;
  Text after(std::string_view(attributes).substr(end + 5));
  if (!(after.type() == type) || !after.sound() || !after.done()) return std::nullopt;
  std::string bytes;
  for (std::size_t i = kBefore.size(); i + 1 < end; i += 2) {
    const std::string_view digits("0123456789ABCDEF");
    const std::size_t high = digits.find(attributes[i]);
    const std::size_t low = digits.find(attributes[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  if ((end - kBefore.size()) % 2 != 0) return std::nullopt;
  const std::size_t width = width_of(type.element);
  if (bytes.size() == width) {
    std::string all;
    for (std::uint64_t i = 0; i < size_of(type); ++i) all.append(bytes);
    return all;
  }
  if (width == 0 || bytes.size() != width * size_of(type)) return std::nullopt;
  return bytes;
}

bool all_are(const HloOperation& op, std::size_t count) {
  if (op.operand_types.size() != count) return false;
  for (const HloType& type : op.operand_types)
    if (!(type == op.type)) return false;
  return true;
}

/// What is wrong with an operation's types and attributes; nothing where they go together.
std::string judge(HloOperation& op, const std::string& attributes) {
  const auto is = [&](std::string_view name) { return op.name.substr(10) == name; };
  const std::vector<HloType>& in = op.operand_types;
  if (op.name.rfind("stablehlo.", 0) != 0) return "no operation of stablehlo";
  if (is("constant")) {
    std::optional<std::string> bytes = constant_bytes(attributes, op.type);
    if (!bytes || !in.empty()) return "a constant whose bytes do not fill its type";
    op.bytes = std::move(*bytes);
    return {};
  }
  if (is("convert")) return in.size() == 1 && in[0].shape == op.type.shape ? "" : "a cast that changes the shape";
  if (is("add") || is("maximum") || is("multiply")) return all_are(op, 2) ? "" : "operands of other types";
  if (is("clamp")) return all_are(op, 3) ? "" : "operands of other types";
  if (is("compare"))
    return in.size() == 2 && in[0] == in[1] && op.type == HloType{in[0].shape, "i1"} &&
                   attributes.find("comparison_direction") != std::string::npos
               ? ""
               : "a comparison of other types";
  if (is("select"))
    return in.size() == 3 && in[0] == HloType{op.type.shape, "i1"} && in[1] == op.type && in[2] == op.type
               ? ""
               : "a selection of other types";
  if (is("broadcast_in_dim"))
    return in.size() == 1 && in[0].shape.size() == 1 && op.type.shape.size() == 2 &&
                   op.type.shape[1] == in[0].shape[0] && in[0].element == op.type.element &&
                   attributes == "broadcast_dimensions = array<i64: 1>"
               ? ""
               : "a broadcast to another type";
  if (!is("dot_general")) return "an unknown operation";
  const bool contracts = attributes ==
                         "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
                         "rhs_contracting_dimensions = [1]>";
  if (!contracts || in.size() != 2 || in[0].shape.size() != 2 || in[1].shape.size() != 2)
    return "a product of other ranks";
  const bool fits = in[0].shape[1] == in[1].shape[1] && in[0].element == in[1].element &&
                    op.type == HloType{{in[0].shape[0], in[1].shape[0]}, in[0].element};
  return fits ? "" : "a product of other types";
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  HloModule run() {
    text_.want("module {\n  func.func @main(");
    while (text_.sound() && !text_.has(") -> ")) {
      if (!module_.arguments.empty()) text_.want(", ");
      const std::string name = text_.value();
      text_.want(": ");
      module_.arguments.push_back(text_.type());
      module_.argument_names.push_back(name);
      define(name, module_.arguments.back());
    }
    const HloType result = text_.type();
    text_.want(" {\n");
    while (text_.sound() && module_.problem.empty() && !text_.has("    return ")) operation();
    module_.returned = text_.value();
    if (text_.sound()) use(module_.returned, result);
    text_.want(" : ");
    const HloType returned = text_.type();
    text_.want("\n  }\n}\n");
    if (!text_.sound() || !text_.done()) complain("no text of this form");
    if (!(returned == result)) complain("a result of another type");
    return std::move(module_);
  }

 private:
  void complain(const std::string& problem) {
    if (module_.problem.empty()) module_.problem = problem;
  }
  void define(const std::string& name, const HloType& type) {
    if (!types_.emplace(name, type).second) complain(name + " is defined twice");
  }
  void use(const std::string& name, const HloType& type) {
    const auto found = types_.find(name);
    if (found == types_.end())
      complain(name + " is used before it is defined");
    else if (!(found->second == type))
      complain(name + " is used as another type");
  }

  void operation() {
    HloOperation op;
    text_.want("    ");
    op.result = text_.value();
    text_.want(" = \"");
    op.name = text_.until("\"(");
    while (text_.sound() && !text_.has(")")) {
      if (!op.operands.empty()) text_.want(", ");
      op.operands.push_back(text_.value());
    }
    const std::string attributes = text_.has(" {") ? text_.until("} : (") : (text_.want(" : ("), std::string());
    while (text_.sound() && !text_.has(") -> ")) {
      if (!op.operand_types.empty()) text_.want(", ");
      op.operand_types.push_back(text_.type());
    }
    op.type = text_.type();
    text_.want("\n");
    if (!text_.sound()) return;
    if (op.operands.size() != op.operand_types.size()) complain("another number of types than of operands");
    for (std::size_t i = 0; i < op.operands.size() && module_.problem.empty(); ++i)
      use(op.operands[i], op.operand_types[i]);
    if (const std::string problem = judge(op, attributes); !problem.empty()) complain(op.result + ": " + problem);
    op.attributes = attributes;
    define(op.result, op.type);
    module_.operations.push_back(std::move(op));
  }

  Text text_;
  HloModule module_;
  std::map<std::string, HloType> types_;
};

}  // namespace

const HloOperation* HloModule::defining(std::string_view value) const {
  for (const HloOperation& op : operations)
    if (op.result == value) return &op;
  return nullptr;
}

HloModule read_stablehlo(std::string_view text) { return Reader(text).run(); }

}  // namespace packcheck::oracle
