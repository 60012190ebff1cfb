#include "subjects/reference/reference.h"

#include <malloc.h>

#include <algorithm>
#include <array>

#include "core/affine/groups.h"
#include "core/storage/storage_encoding.h"
#include "subjects/network_calls.h"
#include "subjects/operator_calls.h"
#include "subjects/reference/answers.h"
#include "subjects/reference/version.h"

namespace packcheck {

ReferenceRules::ReferenceRules()
    : encodings(all_encodings().begin(), all_encodings().end()),
      pack_layouts(all_layouts().begin(), all_layouts().end()),
      unpack_layouts(all_layouts().begin(), all_layouts().end()) {}

namespace {

std::size_t heap_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Everything that the right reference offers.
std::vector<std::string> declaration_lines() {
  std::vector<std::string> lines;
  for (const FormatSpec& from : all_formats())
    for (const FormatSpec& to : all_formats())
      lines.push_back("convert " + std::string(from.name) + "->" + std::string(to.name) + " nan=quieted");
  for (const Encoding& e : all_encodings()) {
    if (e.quantizes) lines.push_back("quantize " + e.id());
    lines.push_back("dequantize " + e.id());
  }
  for (const StorageEncoding& e : all_storage_encodings()) {
    lines.push_back("repack_tensor " + e.id() + " nan=same");
    lines.push_back("requantize_tensor " + e.id());
    lines.push_back("load_tensor " + e.id());
  }
  for (const Layout& layout : all_layouts()) {
    lines.push_back("pack " + layout.id());
    lines.push_back("unpack " + layout.id());
  }
  for (const GraphDialect& dialect : all_graph_dialects()) {
    lines.push_back("import_graph " + dialect.id());
    lines.push_back("export_graph " + dialect.id());
  }
  for (const ShapeOperator& op : all_shape_operators()) lines.push_back("infer_shape " + op.id());
  for (const std::string& variant : all_node_variants()) {
    lines.push_back("execute " + variant);
    lines.push_back("execute_backward " + variant);
  }
  for (const char* line :
       {"repack f16->f32 nan=same", "repack bf16->f32 nan=same", "print json", "parse json", "read_tensors safetensors",
        "read_tensors gguf", "write_tensors safetensors", "write_tensors gguf", "run_network autograd:boundary_stops",
        "run_network autograd:boundary_casts", "export_network graph_json", "export_network stablehlo",
        "import_network graph_json"})
    lines.emplace_back(line);
  for (const unsigned bits : kAffineWidths) lines.push_back("affine_dequantize affine" + std::to_string(bits) + ":f32");
  lines.emplace_back("affine_dequantize affine8_blocks:f32");
  for (const unsigned bits : kAffineWidths) {
    const std::string variant = " affine" + std::to_string(bits) + ":f32";
    lines.push_back("affine_matmul" + variant);
    lines.push_back("affine_gate_up" + variant + " fused=same");
  }
  return lines;
}

/// Whether packing or unpacking of this layout may differ from what the right rules give.
bool touch_layout(const ReferenceRules& rules, std::string_view id) {
  for (std::size_t i = 0; i < all_layouts().size(); ++i) {
    const Layout& right = all_layouts()[i];
    if (right.id() != id) continue;
    if (rules.pack_layouts[i].fields.data() != right.fields.data()) return true;
    if (rules.unpack_layouts[i].fields.data() != right.fields.data()) return true;
    const bool plain = std::any_of(right.fields.begin(), right.fields.end(), [](const Field& f) { return f.plain(); });
    const bool bits = std::any_of(right.fields.begin(), right.fields.end(), [](const Field& f) { return !f.plain(); });
    if (plain && rules.pack.plain != PlainPacking::number) return true;
    return bits && (rules.pack.range != RangeRule::refuse || rules.pack.arithmetic != PackArithmetic::bits ||
                    !(rules.unpack == UnpackRules{}));
  }
  return false;
}

// In the order of Operation.
constexpr auto kAnswers = std::to_array<Reply (*)(const ReferenceRules&, Arguments)>({
    answer_convert,
    answer_quantize,
    answer_dequantize,
    answer_repack,
    answer_print,
    answer_parse,
    answer_pack,
    answer_unpack,
    answer_affine_dequantize,
    answer_repack_tensor,
    answer_requantize_tensor,
    answer_load_tensor,
    answer_read_tensors,
    answer_write_tensors,
    answer_import_graph,
    answer_export_graph,
    answer_infer_shape,
    answer_execute,
    answer_execute_backward,
    answer_affine_matmul,
    answer_affine_gate_up,
    answer_run_network,
    answer_export_network,
    answer_import_network,
});
static_assert(kAnswers.size() == kOperationCount);

/// Whether a changed rule may touch a source encoding. The rules of storage are the same for every encoding; so that
/// judging a twin stays cheap, it offers the dense formats and some encodings of every kind.
bool touches_stored(const StorageRules& rules, std::string_view variant) {
  constexpr std::array<std::string_view, 5> kSome{"q8_0:ggml", "q4_0:skainet", "tq1_0:skainet", "tq2_0:ggml",
                                                  "bitnet_planes(32):skainet"};
  if (rules == StorageRules{}) return false;
  return variant.substr(0, 6) == "dense(" || std::find(kSome.begin(), kSome.end(), variant) != kSome.end();
}

/// Whether a changed rule may touch a width. Most are the same for every width; so that judging a twin stays cheap, it
/// offers one of each kind.
bool touches_product(const ProductRules& rules, std::string_view variant) {
  if (rules == ProductRules{}) return false;
  if (rules.codes == ProductCodes::high_first) return variant == "affine2:f32" || variant == "affine4:f32";
  if (rules.codes != ProductCodes::stream) return variant == "affine3:f32" || variant == "affine6:f32";
  return variant == "affine4:f32";
}

bool touches_import(const PrecisionRules& rules) {
  PrecisionRules right = rules;
  right.imported = ImportedDtype::kept;
  right.imported_weights = ImportedWeights::of_the_layer;
  right.mixed = MixedLeaves::refuse;
  return !(rules == right);
}
/// Whether a changed rule may touch a run. Of what both phases have in common, one shows it.
bool touches_run(const PrecisionRules& rules, std::string_view variant) {
  PrecisionRules right;
  right.exported = rules.exported;
  right.activation = rules.activation;
  if (touches_import(rules)) return false;
  if (rules == right) return false;
  right.stopped = rules.stopped;
  right.claimed = rules.claimed;
  return (rules == right) == (variant == kBoundaryStops);
}
bool touches_export(const PrecisionRules& rules, std::string_view variant) {
  if (touches_import(rules)) return variant == "graph_json";  // the law that compares the two needs both
  PrecisionRules right;
  right.activation = rules.activation;
  if (!(rules == PrecisionRules{}) && rules == right) return variant == "stablehlo";
  right.exported = rules.exported;
  right.cast_out = rules.cast_out;
  right.equal = rules.equal;
  right.scope = rules.scope;
  return rules == right && !(rules == PrecisionRules{});
}

class Reference final : public Subject {
 public:
  Reference(std::string name, ReferenceRules rules) : rules_(std::move(rules)) {
    info_.name = std::move(name);
    info_.version = kVersion;
    const bool right = rules_.are_right();
    for (std::string& line : declaration_lines()) {
      Declaration declaration = *parse_declaration(line);
      // A leak is every call's: one variant of each operation shows it.
      if (right || (rules_.keeps_answers ? !info_.offers(declaration.operation)
                                         : rules_.touch(declaration.operation, declaration.variant)))
        info_.declarations.push_back(std::move(declaration));
    }
  }

  Reply call(const Request& request) override {
    const std::vector<std::string_view> arguments(request.arguments.begin(), request.arguments.end());
    return call_in_place({request.operation, arguments});
  }

  Reply call_in_place(const RequestView& request) override {
    Reply reply = answer(request);
    if (rules_.keeps_answers) kept_.push_back(reply);
    return reply;
  }

  Result<std::uint64_t> bytes_kept_per_call(const Request& request, unsigned warmup, unsigned repeats) override {
    if (repeats == 0) return refuse("no repeats", info_.name, "at least 1");
    for (unsigned i = 0; i < warmup; ++i) (void)call(request);
    const std::size_t before = heap_in_use();
    for (unsigned i = 0; i < repeats; ++i) (void)call(request);
    const std::size_t after = heap_in_use();
    return after > before ? (after - before) / repeats : 0;
  }

 private:
  Reply answer(const RequestView& request) const {
    const std::size_t right = argument_count(request.operation);
    if (request.arguments.size() != right)
      return malformed(std::to_string(request.arguments.size()) + " arguments; expected " + std::to_string(right));
    return kAnswers[static_cast<std::size_t>(request.operation)](rules_, request.arguments);
  }

  ReferenceRules rules_;
  std::vector<Reply> kept_;
};

/// Rules about blocks touch blocks alone, a global width those of another, and the rest what they can change.
bool touches_affine(const AffineRules& rules, std::string_view variant) {
  if (rules == AffineRules{}) return false;
  const bool blocks = variant == "affine8_blocks:f32";
  if (rules.block != BlockReading::declared) return blocks;
  if (rules.width == CodeWidth::global_4) return variant == "affine6:f32";
  if (rules.width == CodeWidth::logical_dtype) return variant == "affine8:f32";
  return variant == "affine4:f32";
}

}  // namespace

bool ReferenceRules::touch(Operation operation, std::string_view variant) const {
  switch (operation) {
    case Operation::convert: return convert != nullptr;
    case Operation::quantize:
    case Operation::dequantize: {
      const Encoding* e = encoding_row(encodings, variant);
      return e != nullptr && !(e->rules == (*encoding_named(variant))->rules);
    }
    case Operation::repack: return repack != RepackPath::direct;
    case Operation::print:
    case Operation::parse: return !(print == PrintRules{}) || !(parse == ParseRules{});
    case Operation::pack:
    case Operation::unpack: return touch_layout(*this, variant);
    // The law that compares the two needs both.
    case Operation::affine_dequantize:
      return touches_affine(affine, variant) ||
             (product.weights != ProductWeights::single && touches_product(product, variant));
    case Operation::affine_matmul:
    case Operation::affine_gate_up: return touches_product(product, variant);
    case Operation::repack_tensor:
    case Operation::requantize_tensor:
    case Operation::load_tensor: return touches_stored(storage, variant);
    case Operation::read_tensors:
    case Operation::write_tensors: return !(file == FileRules{});
    case Operation::import_graph:
    case Operation::export_graph: return !(graph == GraphRules{});
    case Operation::infer_shape: return touches_shape(shape, variant);
    case Operation::execute:
    case Operation::execute_backward: return touches_node(exec, variant);
    case Operation::run_network: return touches_run(precision, variant);
    case Operation::export_network: return touches_export(precision, variant);
    case Operation::import_network: return touches_import(precision);
  }
  return false;
}

bool ReferenceRules::are_right() const {
  if (keeps_answers) return false;
  for (const std::string& line : declaration_lines()) {
    const Declaration declaration = *parse_declaration(line);
    if (touch(declaration.operation, declaration.variant)) return false;
  }
  return true;
}

std::unique_ptr<Subject> make_reference(std::string name, ReferenceRules rules) {
  return std::make_unique<Reference>(std::move(name), std::move(rules));
}

}  // namespace packcheck
