#include "subjects/subject.h"

#include <algorithm>

#include "core/affine/groups.h"
#include "core/encoding/encoding.h"
#include "core/format/dialect.h"
#include "core/format/format.h"
#include "core/format/mode.h"
#include "core/graph/exec.h"
#include "core/graph/graph.h"
#include "core/graph/shape_infer.h"
#include "core/params/layout.h"
#include "core/storage/storage_encoding.h"

namespace packcheck {
namespace {

/// An operation as requests name it, and how many arguments they give.
struct OperationRow {
  std::string_view name;
  std::size_t arguments;
};
// In the order of Operation.
constexpr auto kOperations = std::to_array<OperationRow>({{"convert", 4},
                                                          {"quantize", 2},
                                                          {"dequantize", 2},
                                                          {"repack", 3},
                                                          {"print", 1},
                                                          {"parse", 1},
                                                          {"pack", 2},
                                                          {"unpack", 2},
                                                          {"affine_dequantize", 5},
                                                          {"repack_tensor", 2},
                                                          {"requantize_tensor", 2},
                                                          {"load_tensor", 2},
                                                          {"read_tensors", 2},
                                                          {"write_tensors", 2},
                                                          {"import_graph", 2},
                                                          {"export_graph", 2},
                                                          {"infer_shape", 3},
                                                          {"execute", 4},
                                                          {"execute_backward", 5},
                                                          {"affine_matmul", 7},
                                                          {"affine_gate_up", 10},
                                                          {"run_network", 2},
                                                          {"export_network", 2},
                                                          {"import_network", 2}});
static_assert(kOperations.size() == kOperationCount);

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const OperationRow& row : kOperations) names.emplace_back(row.name);
  return names;
}

constexpr std::array<std::string_view, 9> kOutcomeNames{"answered",
                                                        "refused",
                                                        "skipped",
                                                        "crashed",
                                                        "hung",
                                                        "out of memory",
                                                        "wrote outside its output",
                                                        "left bytes unwritten",
                                                        "broke the protocol"};

/// A declared option: the first value is the default.
struct Option {
  Operation operation;
  std::string_view key;
  std::vector<std::string_view> values;
};
/// No dialect is the default, then all there are.
std::vector<std::string_view> dialect_names() {
  std::vector<std::string_view> names{"none"};
  for (const ConvertDialect& dialect : all_convert_dialects()) names.push_back(dialect.name);
  return names;
}

const std::vector<Option>& options() {
  static const std::vector<Option> table{
      {Operation::convert,
       "rounding",
       {"nearest-even", "nearest-away", "nearest-up", "toward-zero", "upward", "downward"}},
      {Operation::convert, "nan", {"any", "quieted", "same", "truncated", "infinity", "zero"}},
      {Operation::convert, "overflow", {"default", "saturate"}},
      {Operation::convert, "subnormal", {"kept", "flushed", "truncated"}},
      {Operation::convert, "integer", {"saturate", "wrap", "refuse", "indefinite"}},
      {Operation::convert, "dialect", dialect_names()},
      {Operation::repack, "nan", {"any", "same"}},
      {Operation::repack_tensor, "nan", {"any", "same"}},
      {Operation::parse, "non_finite", {"refuse", "accept"}},
      {Operation::affine_gate_up, "fused", {"near", "same"}},
  };
  return table;
}

const Option* option_row(Operation operation, std::string_view key) {
  for (const Option& row : options())
    if (row.operation == operation && row.key == key) return &row;
  return nullptr;
}

struct FormatPair {
  Format from;
  Format to;
};
FormatPair pair_of(std::string_view variant) {
  const std::size_t arrow = variant.find("->");
  return {*format_named(variant.substr(0, arrow)), *format_named(variant.substr(arrow + 2))};
}

/// The rules of the dialect that a conversion declares.
Result<ConvertRules> declared_dialect(const Declaration& d) {
  const FormatPair pair = pair_of(d.variant);
  return dialect_rules(d.options.at("dialect"), pair.from, pair.to);
}

std::string_view option_of_rules(const ConvertRules& rules, std::string_view key) {
  if (key == "rounding") return rounding_name(rules.rounding);
  if (key == "nan") return nan_name(rules.nan);
  if (key == "subnormal") return subnormal_name(rules.subnormal);
  if (key == "integer") return integer_name(rules.integer);
  return rules.saturating ? "saturate" : "default";
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> list_of_variants(Operation operation) {
  std::vector<std::string> names;
  switch (operation) {
    case Operation::convert:
      for (const FormatSpec& from : all_formats())
        for (const FormatSpec& to : all_formats())
          names.push_back(std::string(from.name) + "->" + std::string(to.name));
      break;
    case Operation::quantize:
    case Operation::dequantize:
      for (const Encoding& e : all_encodings()) names.push_back(e.id());
      break;
    case Operation::repack: names = {"f16->f32", "bf16->f32"}; break;
    case Operation::print:
    case Operation::parse: names = {"json"}; break;
    case Operation::pack:
    case Operation::unpack:
      for (const Layout& layout : all_layouts()) names.push_back(layout.id());
      break;
    case Operation::affine_dequantize:
      for (const unsigned bits : kAffineWidths) names.push_back("affine" + std::to_string(bits) + ":f32");
      names.emplace_back("affine8_blocks:f32");
      break;
    case Operation::affine_matmul:
    case Operation::affine_gate_up:
      for (const unsigned bits : kAffineWidths) names.push_back("affine" + std::to_string(bits) + ":f32");
      break;
    case Operation::repack_tensor:
    case Operation::requantize_tensor:
    case Operation::load_tensor:
      for (const StorageEncoding& e : all_storage_encodings()) names.push_back(e.id());
      break;
    case Operation::read_tensors:
    case Operation::write_tensors: names = {"safetensors", "gguf"}; break;
    case Operation::import_graph:
    case Operation::export_graph:
      for (const GraphDialect& dialect : all_graph_dialects()) names.push_back(dialect.id());
      break;
    case Operation::infer_shape:
      for (const ShapeOperator& op : all_shape_operators()) names.push_back(op.id());
      break;
    case Operation::execute:
    case Operation::execute_backward:
      for (const ExecOperator& op : all_exec_operators())
        for (const std::string_view format : {"f64", "f32"})
          names.push_back(std::string(op.op).append(":").append(format));
      break;
    case Operation::run_network: names = {"autograd:boundary_stops", "autograd:boundary_casts"}; break;
    case Operation::export_network: names = {"graph_json", "stablehlo"}; break;
    case Operation::import_network: names = {"graph_json"}; break;
  }
  return names;
}

/// Every variant that an operation can have.
const std::vector<std::string>& variants_of(Operation operation) {
  static const auto lists = [] {
    std::array<std::vector<std::string>, kOperationCount> all;
    for (std::size_t i = 0; i < kOperationCount; ++i) all[i] = list_of_variants(static_cast<Operation>(i));
    return all;
  }();
  return lists[static_cast<std::size_t>(operation)];
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line) {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

Result<void> add_option(Declaration& declaration, const std::string& word, const std::string& where) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const Option* row = option_row(declaration.operation, key);
  std::vector<std::string> known;
  for (const Option& o : options())
    if (o.operation == declaration.operation) known.emplace_back(o.key);
  if (row == nullptr || equals == std::string::npos)
    return refuse("unknown option '" + word + "'", where,
                  known.empty() ? "no options" : "key=value with key in: " + join(known));
  const std::string value = word.substr(equals + 1);
  if (std::find(row->values.begin(), row->values.end(), value) == row->values.end())
    return refuse("unknown value '" + value + "' of " + key, where,
                  "one of: " + join({row->values.begin(), row->values.end()}));
  if (!declaration.options.emplace(key, value).second) return refuse(key + " is given twice", where, "one " + key);
  if (key != "dialect" || value == "none") return {};
  if (const Result<ConvertRules> rules = declared_dialect(declaration); !rules) return tl::unexpected(rules.error());
  return {};
}

}  // namespace

std::string_view operation_name(Operation operation) { return kOperations[static_cast<std::size_t>(operation)].name; }
std::size_t argument_count(Operation operation) { return kOperations[static_cast<std::size_t>(operation)].arguments; }

std::optional<Operation> operation_named(std::string_view name) {
  for (std::size_t i = 0; i < kOperationCount; ++i)
    if (kOperations[i].name == name) return static_cast<Operation>(i);
  return std::nullopt;
}

std::string_view outcome_name(Outcome outcome) { return kOutcomeNames[static_cast<std::size_t>(outcome)]; }

std::string Declaration::text() const {
  std::string line = std::string(operation_name(operation)) + " " + variant;
  for (const auto& [key, value] : options) line += " " + key + "=" + value;
  return line;
}

std::string_view Declaration::option(std::string_view key) const {
  const auto found = options.find(std::string(key));
  if (found != options.end()) return found->second;
  if (options.count("dialect") != 0 && key != "dialect")
    if (const Result<ConvertRules> rules = declared_dialect(*this)) return option_of_rules(*rules, key);
  const Option* row = option_row(operation, key);
  return row == nullptr ? std::string_view{} : row->values.front();
}

std::string declared_mode(const Declaration& declaration) {
  ConvertRules rules;
  rules.rounding = rounding_named(declaration.option("rounding")).value_or(rules.rounding);
  rules.saturating = declaration.option("overflow") == "saturate";
  rules.integer = integer_named(declaration.option("integer")).value_or(rules.integer);
  return mode_text(rules);
}

Result<Declaration> parse_declaration(std::string_view line) {
  const std::string where = "declaration '" + std::string(line) + "'";
  const std::vector<std::string> words = words_of(line);
  if (words.size() < 2) return refuse("too short", where, "an operation and a variant, as in 'convert f32->f16'");
  const std::optional<Operation> operation = operation_named(words[0]);
  if (!operation) return refuse("unknown operation '" + words[0] + "'", where, "one of: " + join(operation_names()));
  const std::vector<std::string>& variants = variants_of(*operation);
  if (std::find(variants.begin(), variants.end(), words[1]) == variants.end())
    return refuse("unknown variant '" + words[1] + "'", where, "one of: " + join(variants));
  Declaration declaration{*operation, words[1], {}};
  for (std::size_t i = 2; i < words.size(); ++i)
    if (auto ok = add_option(declaration, words[i], where); !ok) return tl::unexpected(ok.error());
  return declaration;
}

const Declaration* SubjectInfo::find(Operation operation, std::string_view variant) const {
  for (const Declaration& d : declarations)
    if (d.operation == operation && d.variant == variant) return &d;
  return nullptr;
}

bool SubjectInfo::offers(Operation operation) const {
  return std::any_of(declarations.begin(), declarations.end(),
                     [operation](const Declaration& d) { return d.operation == operation; });
}

Result<std::uint64_t> Subject::bytes_kept_per_call(const Request&, unsigned, unsigned) {
  return refuse(std::string(kMemoryUnknown), info_.name, "the reference, a twin or a lib: subject");
}

Reply Subject::call_in_place(const RequestView& request) {
  return call({request.operation, {request.arguments.begin(), request.arguments.end()}});
}

std::vector<Reply> Subject::call_batch(std::span<const Request> requests) {
  std::vector<Reply> replies;
  replies.reserve(requests.size());
  for (const Request& request : requests) replies.push_back(call(request));
  return replies;
}

}  // namespace packcheck
