// packcheck ask: one answer from the reference or any subject, in bits.
#include "cli/ask.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/commands.h"
#include "cli/meant.h"
#include "cli/open_subject.h"
#include "core/affine/nan_trace.h"
#include "core/format/dialect.h"
#include "core/format/mode.h"
#include "properties/cases/cases.h"
#include "properties/cases/products.h"
#include "properties/corpus_store.h"
#include "properties/describe.h"
#include "properties/near_name.h"
#include "properties/strict_json.h"
#include "subjects/calls.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

/// A lone element stands for itself, several are a list.
json one_or_list(json list) { return list.size() == 1 ? list[0] : list; }

Result<Format> format_option(const std::string& name, const std::string& option) {
  if (const auto format = format_named(name)) return *format;
  return refuse(name.empty() ? "missing" : "unknown format '" + name + "'", option, std::string(format_names()));
}

/// Hex bit patterns from arguments, also several in one, with commas between.
Result<Bytes> elements_of(const std::vector<std::string>& arguments, Format format) {
  Bytes elements;
  const FormatSpec& s = spec(format);
  for (const std::string& argument : arguments) {
    for (std::size_t at = 0; at <= argument.size();) {
      const std::size_t comma = std::min(argument.find(',', at), argument.size());
      const Result<std::uint64_t> bits = parse_hex(argument.substr(at, comma - at), s.width());
      if (!bits) return refuse(bits.error().what, std::string(s.name) + " bits", bits.error().right);
      elements.resize(elements.size() + s.bytes());
      store_element(s, elements, elements.size() / s.bytes() - 1, *bits);
      at = comma + 1;
    }
  }
  if (elements.empty()) return refuse("no numbers", std::string(s.name) + " bits", "at least one, as in 0x3f800000");
  return elements;
}

Result<std::string> only_argument(const AskOptions& o, const std::string& right) {
  if (o.arguments.size() == 1) return o.arguments[0];
  return refuse(std::to_string(o.arguments.size()) + " arguments", "ask " + o.operation, right);
}

/// Sets `member` to what `name` says, where it says anything.
template <class Rule>
Result<void> set_rule(Rule& member, const std::string& name, std::optional<Rule> (*named)(std::string_view),
                      const char* option, const char* known) {
  if (name.empty()) return {};
  const std::optional<Rule> rule = named(name);
  if (!rule) return refuse("unknown value '" + name + "'", option, known);
  member = *rule;
  return {};
}

/// The rules of --dialect, or the reference's, and what the other options change in them.
Result<ConvertRules> rules_of(const AskOptions& o, Format from, Format to) {
  Result<ConvertRules> rules = o.dialect.empty() ? ConvertRules{} : dialect_rules(o.dialect, from, to);
  if (!rules) return rules;
  for (const Result<void>& ok :
       {set_rule(rules->rounding, o.round, rounding_named, "--round",
                 "nearest-even, nearest-away, nearest-up, toward-zero, upward, downward or stochastic"),
        set_rule(rules->nan, o.nan, nan_named, "--nan", "quieted, same, truncated, infinity or zero"),
        set_rule(rules->subnormal, o.subnormal, subnormal_named, "--subnormal", "kept, flushed or truncated"),
        set_rule(rules->integer, o.integer, integer_named, "--integer", "saturate, wrap, refuse or indefinite")})
    if (!ok) return tl::unexpected(ok.error());
  rules->saturating = rules->saturating || o.saturate;
  return rules;
}

/// The mode text of the options of a conversion.
Result<std::string> mode_of(const AskOptions& o, Format from, Format to) {
  Result<ConvertRules> rules = rules_of(o, from, to);
  if (!rules) return tl::unexpected(rules.error());
  if ((rules->rounding == Rounding::stochastic) != !o.random_bits.empty())
    return refuse(o.random_bits.empty() ? "missing" : "given without --round stochastic", "--random-bits",
                  "64 bits in hex with --round stochastic, and only then");
  if (o.random_bits.empty()) return mode_text(*rules);
  const Result<std::uint64_t> bits = parse_hex(o.random_bits, 64);
  if (!bits) return refuse(bits.error().what, "--random-bits", bits.error().right);
  rules->random_bits = *bits;
  return mode_text(*rules);
}

Result<Said> ask_convert(Subject& subject, const AskOptions& o) {
  const Result<Format> from = format_option(o.from, "--from");
  if (!from) return tl::unexpected(from.error());
  const Result<Format> to = format_option(o.to, "--to");
  if (!to) return tl::unexpected(to.error());
  const bool repack = o.operation == "repack";
  const Result<std::string> mode = mode_of(o, *from, *to);
  if (!mode) return tl::unexpected(mode.error());
  const Result<Bytes> in = elements_of(o.arguments, *from);
  if (!in) return tl::unexpected(in.error());
  const Answer<Bytes> out =
      repack ? call_repack(subject, *from, *to, *in) : call_convert(subject, *from, *to, *mode, *in);
  if (!out.ok()) return not_answered(out);
  return Said{kHolds, one_or_list(elements_json(out.value, *to)), describe_elements(out.value, *to), {}};
}

Result<const Encoding*> encoding_argument(const AskOptions& o) {
  if (o.arguments.empty()) return refuse("no encoding", "ask " + o.operation, "an encoding, as in q8_0:ggml");
  return encoding_named(o.arguments[0]);
}

Result<Said> ask_quantize(Subject& subject, const AskOptions& o) {
  const Result<const Encoding*> encoding = encoding_argument(o);
  if (!encoding) return tl::unexpected(encoding.error());
  const Result<Bytes> in = elements_of({o.arguments.begin() + 1, o.arguments.end()}, Format::f32);
  if (!in) return tl::unexpected(in.error());
  const std::vector<float> values = string_to_floats(bytes_to_string(*in));
  if (const auto size = encoded_bytes(**encoding, values.size()); !size) return tl::unexpected(size.error());
  const Answer<Bytes> blocks = call_quantize(subject, **encoding, values);
  if (!blocks.ok()) return not_answered(blocks);
  return Said{kHolds, hex_of_bytes(blocks.value), hex_of_bytes(blocks.value), {}};
}

Result<Said> ask_dequantize(Subject& subject, const AskOptions& o) {
  const Result<const Encoding*> encoding = encoding_argument(o);
  if (!encoding) return tl::unexpected(encoding.error());
  std::string hex;
  for (std::size_t i = 1; i < o.arguments.size(); ++i) hex += o.arguments[i];
  const Result<Bytes> blocks = parse_hex_bytes(hex);
  if (!blocks) return tl::unexpected(blocks.error());
  if (blocks->empty()) return refuse("no blocks", "ask dequantize", "the bytes of whole blocks in hex");
  if (const auto count = decoded_count(**encoding, blocks->size()); !count) return tl::unexpected(count.error());
  const Answer<std::vector<float>> values = call_dequantize(subject, **encoding, *blocks);
  if (!values.ok()) return not_answered(values);
  const Bytes elements = string_to_bytes(floats_to_string(values.value));
  return Said{kHolds, elements_json(elements, Format::f32), describe_elements(elements, Format::f32), {}};
}

Result<Said> ask_print(Subject& subject, const AskOptions& o) {
  const Result<std::string> argument = only_argument(o, "the 64 bits of a double, as in 0x0000000000030301");
  if (!argument) return tl::unexpected(argument.error());
  const Result<std::uint64_t> bits = parse_hex(*argument, 64);
  if (!bits) return tl::unexpected(bits.error());
  const Answer<std::string> text = call_print(subject, *bits);
  if (!text.ok()) return not_answered(text);
  return Said{kHolds, hex_of(*bits, 64), text.value, {}};
}

Result<Said> ask_parse(Subject& subject, const AskOptions& o) {
  const Result<std::string> argument = only_argument(o, "a JSON number, as in 9.7517E-319");
  if (!argument) return tl::unexpected(argument.error());
  const Answer<std::uint64_t> bits = call_parse(subject, *argument);
  if (!bits.ok()) return not_answered(bits);
  return Said{kHolds, hex_of(bits.value, 64), describe(Format::f64, bits.value), {}};
}

Result<const Layout*> layout_argument(const AskOptions& o) {
  if (o.arguments.empty()) return refuse("no layout", "ask " + o.operation, "a layout, as in conv2d");
  return layout_meant(o.arguments[0]);
}

/// "kernel_h=3" for every field of the layout, each once, in any order.
Result<std::vector<std::int64_t>> field_values(const Layout& layout, const std::vector<std::string>& arguments) {
  std::map<std::string, std::int64_t, std::less<>> given;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const bool known =
        std::any_of(layout.fields.begin(), layout.fields.end(), [&](const Field& f) { return f.name == name; });
    if (!known || equals == std::string::npos) {
      std::string names;
      for (const Field& f : layout.fields) names += (names.empty() ? "" : ", ") + std::string(f.name);
      return refuse("'" + arguments[i] + "'", layout.id(), "FIELD=VALUE with a field of " + names);
    }
    const auto field =
        std::find_if(layout.fields.begin(), layout.fields.end(), [&](const Field& f) { return f.name == name; });
    const Result<std::int64_t> value = parse_field(*field, std::string_view(arguments[i]).substr(equals + 1));
    if (!value) return refuse(value.error().what, layout.id() + " field " + name, value.error().right);
    if (!given.emplace(name, *value).second) return refuse("given twice", layout.id() + " field " + name, "once");
  }
  std::vector<std::int64_t> values;
  for (const Field& f : layout.fields) {
    const auto found = given.find(f.name);
    values.push_back(found == given.end() ? 0 : found->second);
  }
  return values;
}

Result<Said> ask_pack(Subject& subject, const AskOptions& o) {
  const Result<const Layout*> layout = layout_argument(o);
  if (!layout) return tl::unexpected(layout.error());
  const Result<std::vector<std::int64_t>> values = field_values(**layout, o.arguments);
  if (!values) return tl::unexpected(values.error());
  const Answer<PackedWords> words = call_pack(subject, **layout, *values);
  if (!words.ok()) return not_answered(words);
  std::string text =
      "scalar " + describe(Format::f64, words.value[0]) + "\nparam2 " + describe(Format::f64, words.value[1]);
  for (std::size_t i = 0; i < values->size(); ++i)
    text += (i == 0 ? "\n" : " ") + std::string((*layout)->fields[i].name) + "=" +
            field_text((*layout)->fields[i], (*values)[i]);
  const std::string why = not_executable_because(**layout, *values);
  if (!why.empty()) text += "\npackable, but not executable: " + why;
  return Said{kHolds, {hex_of(words.value[0], 64), hex_of(words.value[1], 64)}, text, {}};
}

Result<Said> ask_unpack(Subject& subject, const AskOptions& o) {
  const Result<const Layout*> layout = layout_argument(o);
  if (!layout) return tl::unexpected(layout.error());
  if (o.arguments.size() < 2 || o.arguments.size() > 3)
    return refuse(std::to_string(o.arguments.size() - 1) + " words", "ask unpack",
                  "scalar, and param2 if it matters, as 64 bits in hex");
  PackedWords words{};
  for (std::size_t i = 1; i < o.arguments.size(); ++i) {
    const Result<std::uint64_t> bits = parse_hex(o.arguments[i], 64);
    if (!bits) return tl::unexpected(bits.error());
    words[i - 1] = *bits;
  }
  const Answer<std::vector<std::int64_t>> values = call_unpack(subject, **layout, words);
  if (!values.ok()) return not_answered(values);
  Said said;
  said.bits = json::object();
  for (std::size_t i = 0; i < values.value.size(); ++i) {
    const std::string name((*layout)->fields[i].name);
    const Field& field = (*layout)->fields[i];
    if (field.plain())
      said.bits[name] = hex_of(static_cast<std::uint64_t>(values.value[i]), 64);
    else
      said.bits[name] = values.value[i];
    said.text += (i == 0 ? "" : "\n") + name + "=" + field_text(field, values.value[i]);
  }
  const Unpacked reference = unpack(**layout, words);
  for (std::size_t w = 0; w < kPackedWords; ++w)
    if (reference.ignored[w] != 0)
      said.text += std::string("\nbits of ") + (w == 0 ? "scalar" : "param2") +
                   " in no field: " + hex_of(reference.ignored[w], 64);
  return said;
}

Result<Said> ask_affine(Subject& subject, const AskOptions& o) {
  const Result<std::string> argument =
      only_argument(o, "the tensor as an affine case in JSON, as `packcheck repro` prints it");
  if (!argument) return tl::unexpected(argument.error());
  const Result<Case> c = affine_cases.from_json(*argument);
  if (!c) return tl::unexpected(c.error());
  const Answer<std::vector<float>> values = call_affine_dequantize(subject, c->as<AffineCase>().tensor);
  if (!values.ok()) return not_answered(values);
  const Bytes elements = string_to_bytes(floats_to_string(values.value));
  return Said{kHolds, elements_json(elements, Format::f32), describe_elements(elements, Format::f32), {}};
}

/// Where the first number of a product that is not finite comes from, by the reference; empty where all are finite or
/// the request is refused.
std::string nan_trace_text(const ProductRequest& r, std::size_t matrix, const char* name) {
  const PackedWeights& w = r.weights[matrix];
  const TracedLayer layer{
      name,
      {0, r.in_features, r.out_features, r.group_size, static_cast<unsigned>(r.bits), r.scale_format, r.order, {}},
      {w.codes, w.scales, w.biases}};
  const Result<std::optional<NanTrace>> trace = trace_nan({&layer, 1}, r.x, r.rows);
  return trace && trace->has_value() ? "\nfirst not finite: " + (*trace)->text() : std::string();
}

Result<Said> ask_product(Subject& subject, const AskOptions& o) {
  const bool pair = o.operation == "affine_gate_up";
  const Result<std::string> argument =
      only_argument(o, "the request as a case in JSON, as `packcheck repro` prints it");
  if (!argument) return tl::unexpected(argument.error());
  const Result<Case> c = (pair ? gate_up_cases : product_cases).from_json(*argument);
  if (!c) return tl::unexpected(c.error());
  const ProductRequest& r = c->as<ProductCase>().request;
  const Answer<std::vector<float>> y = pair ? call_affine_gate_up(subject, r) : call_affine_matmul(subject, r);
  if (!y.ok()) return not_answered(y);
  const Bytes elements = string_to_bytes(floats_to_string(y.value));
  std::string text = describe_elements(elements, Format::f32) + nan_trace_text(r, 0, pair ? "gate" : "y");
  if (pair) text += nan_trace_text(r, 1, "up");
  return Said{kHolds, elements_json(elements, Format::f32), text, {}};
}

const std::map<std::string, Ask>& questions() {
  static const std::map<std::string, Ask> table{{"convert", ask_convert},
                                                {"repack", ask_convert},
                                                {"quantize", ask_quantize},
                                                {"dequantize", ask_dequantize},
                                                {"print", ask_print},
                                                {"parse", ask_parse},
                                                {"pack", ask_pack},
                                                {"unpack", ask_unpack},
                                                {"affine_dequantize", ask_affine},
                                                {"affine_matmul", ask_product},
                                                {"affine_gate_up", ask_product},
                                                {"import_graph", ask_graph},
                                                {"export_graph", ask_graph},
                                                {"repack_tensor", ask_tensor},
                                                {"requantize_tensor", ask_tensor},
                                                {"load_tensor", ask_tensor},
                                                {"read_tensors", ask_read_tensors},
                                                {"write_tensors", ask_write_tensors},
                                                {"infer_shape", ask_infer_shape},
                                                {"execute", ask_execute},
                                                {"execute_backward", ask_execute},
                                                {"run_network", ask_network},
                                                {"export_network", ask_network},
                                                {"import_network", ask_network}};
  return table;
}

/// "@FILE" becomes the text of the file, without the newline at its end: a command line holds no large network.
Result<void> read_argument_files(AskOptions& o) {
  for (std::string& argument : o.arguments) {
    if (argument.size() < 2 || argument[0] != '@') continue;
    Result<std::string> text = read_file(argument.substr(1));
    if (!text) return tl::unexpected(text.error());
    if (!text->empty() && text->back() == '\n') text->pop_back();
    argument = std::move(*text);
  }
  return {};
}

}  // namespace

std::string describe_elements(const Bytes& elements, Format format) {
  std::string text;
  const std::size_t count = elements.size() / spec(format).bytes();
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? "" : "\n") + describe(format, load_element(spec(format), elements, i));
  return text;
}

int run_ask(const AskOptions& given) {
  AskOptions options = given;
  if (options.operation == "shape") options.operation = "infer_shape";
  const auto question = questions().find(options.operation);
  if (question == questions().end()) {
    std::vector<std::string> known{"shape"};
    for (const auto& [name, ask] : questions()) known.push_back(name);
    return complain({"unknown operation '" + options.operation + "'", "ask", one_of(options.operation, known)});
  }
  if (auto ok = read_argument_files(options); !ok) return complain(ok.error());
  const Result<CallLimits> limits = parse_limits(options.call_timeout, options.call_memory);
  if (!limits) return complain(limits.error());
  const Result<std::unique_ptr<Subject>> subject = open_subject(options.subject, *limits);
  if (!subject) return complain(subject.error());
  Result<Said> said = Said{kNotOffered, nullptr, {}, options.subject + " does not offer " + options.operation};
  if ((*subject)->info().offers(*operation_named(options.operation))) said = question->second(**subject, options);
  if (!said) return complain(said.error());
  if (options.json) {
    const json answer{{"operation", options.operation},
                      {"subject", options.subject},
                      {"bits", said->bits},
                      {"text", said->text},
                      {"error", said->error.empty() ? json() : json(said->error)}};
    std::printf("%s\n", answer.dump(2, ' ', false, json::error_handler_t::replace).c_str());
  } else if (said->error.empty()) {
    std::printf("%s\n", said->text.c_str());
  } else {
    std::fprintf(stderr, "%s\n", said->error.c_str());
  }
  return said->exit_code;
}

}  // namespace packcheck
