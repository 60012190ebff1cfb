// packcheck explain: what a value is as a double, as bits, as packed fields, and who loses it.
#include <bit>
#include <charconv>
#include <cstdio>

#include "cli/commands.h"
#include "cli/meant.h"
#include "core/environment.h"
#include "core/format/convert.h"
#include "core/params/analysis.h"
#include "core/text/number_form.h"
#include "core/text/number_text.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF} << 52;
constexpr std::uint64_t kQuietNan = kInfinity | std::uint64_t{1} << 51;

/// A value as it was given: its bits, and how they were got.
struct Given {
  std::uint64_t bits = 0;
  std::string read_as;
  std::vector<std::string> warnings;
};

std::string text_of(std::uint64_t bits) { return *print_number(bits, {.non_finite = NonFinitePrinting::bare}); }
/// "0x0000000000030301 (9.7517e-319)"
std::string bits_and_text(std::uint64_t bits) { return hex_of(bits, 64) + " (" + text_of(bits) + ")"; }

bool is_word(std::string_view text) { return text == "NaN" || text == "Infinity" || text == "-Infinity"; }

/// Only digits, with a sign or without: bits written as an integer.
bool is_integer_token(std::string_view text) {
  const std::string_view digits = text.substr(!text.empty() && text[0] == '-' ? 1 : 0);
  return is_json_number(text) && digits.find_first_not_of("0123456789") == std::string_view::npos && text != "-0";
}

/// The double with `digits` significant digits.
std::string rounded_text(std::uint64_t bits, int digits) {
  const ExactEnvironment exact;
  std::array<char, 64> text{};
  const volatile std::uint64_t kept = bits;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), std::bit_cast<double>(std::uint64_t{kept}),
                                     std::chars_format::scientific, digits - 1);
  return {text.data(), written.ptr};
}

int significant_digits(std::string_view text) {
  int digits = 0;
  bool begun = false;
  for (const char c : text.substr(0, text.find_first_of("eE"))) {
    begun = begun || (c >= '1' && c <= '9');
    digits += begun && c >= '0' && c <= '9' ? 1 : 0;
  }
  return digits;
}

/// A kernel of a usual size whose double, rounded to as many digits as `text` has, is what `text` says: then the
/// text is perhaps that one, cut short by a printer or in prose.
std::optional<std::uint64_t> meant_kernel(std::string_view text, std::uint64_t bits) {
  const int digits = significant_digits(text);
  if (digits < 1 || digits > 6) return std::nullopt;
  const std::string shown = rounded_text(bits, digits);
  for (std::uint64_t size = 1; size <= 15; ++size)
    for (std::uint64_t stride = 1; stride <= 4; ++stride) {
      const std::uint64_t kernel = size << 16 | size << 8 | stride;
      if (kernel != bits && rounded_text(kernel, digits) == shown) return kernel;
    }
  return std::nullopt;
}

Given given_integer(std::string_view token, std::uint64_t bits) {
  Given given{bits, "the integer " + std::string(token) + ", taken for the 64 bits of a double", {}};
  const Result<std::uint64_t> number = parse_number(token);
  if (number && *number != bits)
    given.warnings.push_back("as a JSON number this text is the double " + bits_and_text(*number) +
                             ", whose bits hold other fields");
  if (!is_exact_number(token).value_or(true))
    given.warnings.push_back("as a JSON number it is not exact: no double is this integer, readers give " +
                             text_of(*number));
  return given;
}

Given given_number(const std::string& text, std::uint64_t bits) {
  Given given{bits, "the JSON number " + text, {}};
  if (const std::optional<std::uint64_t> kernel = meant_kernel(text, bits);
      kernel && double_class(bits) == DoubleClass::subnormal)
    given.warnings.push_back("this text is the integer " + std::to_string(bits) + ", not " + std::to_string(*kernel) +
                             " = " + bits_and_text(*kernel) + ", which only rounds to the same digits");
  return given;
}

Result<Given> read_value(const std::string& text) {
  if (is_word(text)) {
    const std::uint64_t bits = text == "NaN" ? kQuietNan : text == "Infinity" ? kInfinity : kSign | kInfinity;
    return Given{bits, "the word " + text, {}};
  }
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") {
    const Result<std::uint64_t> bits = parse_hex(text, 64);
    if (!bits) return tl::unexpected(bits.error());
    return Given{*bits, "bits of a double in hex", {}};
  }
  if (is_integer_token(text)) {
    const char* const last = text.data() + text.size();
    std::uint64_t bits = 0;
    if (std::from_chars(text.data(), last, bits).ec == std::errc() && text[0] != '-') return given_integer(text, bits);
    std::int64_t negative = 0;
    if (text[0] == '-' && std::from_chars(text.data(), last, negative).ec == std::errc())
      return given_integer(text, static_cast<std::uint64_t>(negative));
  }
  const Result<std::uint64_t> bits = parse_number(text);
  if (bits) return given_number(text, *bits);
  return refuse(bits.error().what, "explain",
                "a JSON number (9.7517E-319), bits in hex (0x030301), an integer (197377), NaN, Infinity or -Infinity");
}

json number_json(std::uint64_t bits) { return {{"bits", hex_of(bits, 64)}, {"text", text_of(bits)}}; }

/// The next double toward zero and away from it; none past the ends.
json neighbours_json(std::uint64_t bits) {
  json list = json::array();
  const std::uint64_t magnitude = bits & ~kSign;
  if (magnitude > kInfinity) return list;
  list.push_back(number_json(magnitude == 0 ? kSign | 1 : bits - 1));
  if (magnitude != kInfinity) list.push_back(number_json(magnitude == 0 ? 1 : bits + 1));
  return list;
}

json formats_json(std::uint64_t bits) {
  json formats = json::object();
  for (const Format format : {Format::f32, Format::f16, Format::bf16}) {
    const std::uint64_t code = convert(Format::f64, format, bits);
    formats[std::string(spec(format).name)] = {{"bits", hex_of(code, spec(format).width())},
                                               {"text", text_of(convert(format, Format::f64, code))}};
  }
  return formats;
}

/// One word taken for the scalar or param2 of a layout; null where that word has no fields of bits, or does not make
/// sense there and was not asked for.
json fields_json(const Layout& layout, std::size_t word, std::uint64_t bits, bool asked) {
  PackedWords words{};
  words[word] = bits;
  const Unpacked unpacked = unpack(layout, words);
  json fields = json::object();
  std::string why_not;
  bool plain = false;
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    const Field& field = layout.fields[i];
    if (field.word != word) continue;
    const std::int64_t value = unpacked.values[i];
    plain = plain || field.plain();
    fields[std::string(field.name)] = field.plain() ? json(field_text(field, value)) : json(value);
    if (why_not.empty() && !field.holds(value))
      why_not = field_text(field, value) + " does not fit " + std::string(field.name) + ", " + field.range();
    if (why_not.empty() && !field.runs_at_zero && (field.plain() ? bits << 1 == 0 : value == 0))
      why_not = std::string(field.name) + " is 0";
  }
  if (fields.empty()) return nullptr;
  const std::uint64_t ignored = plain ? 0 : unpacked.ignored[word];
  const bool special = !plain && (bits & kInfinity) == kInfinity;
  if (special && why_not.empty()) why_not = "it is " + text_of(bits) + ", which exporters leave out";
  if (!asked && (plain || ignored != 0 || !why_not.empty())) return nullptr;
  return {{"layout", layout.id()},   {"word", word == 0 ? "scalar" : "param2"},
          {"fields", fields},        {"ignored", hex_of(ignored, 64)},
          {"runs", why_not.empty()}, {"why_not", why_not}};
}

/// With an operator its layouts, whatever comes out; else every layout whose fields would run and leave no bit over.
Result<json> layouts_json(std::uint64_t bits, const std::string& op) {
  if (!op.empty())
    if (const Result<const Layout*> known = layout_meant(op); !known) return tl::unexpected(known.error());
  json list = json::array();
  for (const Layout& layout : all_layouts()) {
    if (!op.empty() && layout.op != op && layout.id() != op) continue;
    for (std::size_t word = 0; word < kPackedWords; ++word)
      if (json fields = fields_json(layout, word, bits, !op.empty()); !fields.is_null()) list.push_back(fields);
  }
  return list;
}

void warn_of_readers(std::vector<std::string>& warnings, std::uint64_t bits) {
  const std::string text = text_of(bits);
  const Result<std::uint64_t> fast = parse_number(text, {.precision = ParsePrecision::best_effort});
  if (fast && *fast != bits)
    warnings.push_back("serde_json and RapidJSON with default settings read " + text + " as " + bits_and_text(*fast));
  const std::string six = *print_number(bits, {.digits = Digits::six});
  if (const Result<std::uint64_t> back = parse_number(six); back && *back != bits)
    warnings.push_back("a printer of six digits (%g, ostream) writes " + six + ", which is " + hex_of(*back, 64));
  const std::uint64_t single = convert(Format::f32, Format::f64, convert(Format::f64, Format::f32, bits));
  if (single != bits) warnings.push_back("a float (f32) keeps " + text_of(single) + " of it");
}

void warn_of_class(std::vector<std::string>& warnings, std::uint64_t bits) {
  switch (double_class(bits)) {
    case DoubleClass::subnormal:
      warnings.emplace_back("a numeric cast (`as u64`, (long)x) gives 0: take the bits");
      warnings.emplace_back("flush-to-zero, as one -ffast-math library sets it, makes it 0, and x == 0.0 true");
      warnings.emplace_back("std::stod, and readers that take strtod's ERANGE for an error, refuse it");
      break;
    case DoubleClass::zero:
      if (bits == kSign)
        warnings.emplace_back(
            "-0 without a point is the integer 0 for many readers, and JavaScript prints it as 0: write -0.0");
      break;
    case DoubleClass::infinity:
      warnings.emplace_back("JSON has no infinity: exporters leave it out or write null or a bare word");
      break;
    case DoubleClass::nan:
      warnings.emplace_back("JSON has no NaN, and exporters take it for absent: the parameter disappears");
      if ((bits & ~kSign) != kQuietNan) warnings.emplace_back("no text keeps the payload of a NaN");
      break;
    case DoubleClass::normal: break;
  }
  if (needs_bits(bits))
    warnings.push_back("without loss in JSON: \"scalar_bits\": \"" + print_bits(bits) + "\" beside the number");
}

Result<json> explain(const ExplainOptions& o) {
  const Result<Given> given = read_value(o.value);
  if (!given) return tl::unexpected(given.error());
  const std::uint64_t bits = given->bits;
  const Result<json> layouts = layouts_json(bits, o.op);
  if (!layouts) return tl::unexpected(layouts.error());
  std::vector<std::string> warnings = given->warnings;
  warn_of_class(warnings, bits);
  if ((bits & ~kSign) < kInfinity) warn_of_readers(warnings, bits);
  for (const json& row : *layouts)
    if (!row["runs"].get<bool>())
      warnings.push_back(row["layout"].get<std::string>() + " " + row["word"].get<std::string>() +
                         " cannot be run: " + row["why_not"].get<std::string>());
  const Unpacked cast = unpack(Layout{"", "", {}}, {bits, 0}, {.word = WordReading::numeric_cast});
  return json{{"input", o.value},
              {"read_as", given->read_as},
              {"bits", hex_of(bits, 64)},
              {"class", double_class_name(double_class(bits))},
              {"text", text_of(bits)},
              {"neighbours", neighbours_json(bits)},
              {"integer", std::to_string(bits)},
              {"numeric_cast", std::to_string(cast.ignored[0])},
              {"formats", formats_json(bits)},
              {"layouts", *layouts},
              {"warnings", warnings}};
}

std::string string_of(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void print_layout(const json& row) {
  std::string line = row["layout"].get<std::string>() + " " + row["word"].get<std::string>();
  line.resize(std::max<std::size_t>(line.size() + 1, 28), ' ');
  for (const auto& [name, value] : row["fields"].items()) line += " " + name + "=" + string_of(value);
  if (row["ignored"] != "0x0000000000000000") line += "; bits in no field " + row["ignored"].get<std::string>();
  if (!row["runs"].get<bool>()) line += "; cannot be run: " + row["why_not"].get<std::string>();
  std::printf("  %s\n", line.c_str());
}

void print_explanation(const json& e, bool of_one_operator) {
  std::printf("%s: %s\n", e["input"].get<std::string>().c_str(), e["read_as"].get<std::string>().c_str());
  std::printf("double      %s, %s, %s\n", e["bits"].get<std::string>().c_str(), e["class"].get<std::string>().c_str(),
              e["text"].get<std::string>().c_str());
  for (const json& neighbour : e["neighbours"])
    std::printf("neighbour   %s, %s\n", neighbour["bits"].get<std::string>().c_str(),
                neighbour["text"].get<std::string>().c_str());
  std::printf("as integer  %s by its bits, %s by its value\n", e["integer"].get<std::string>().c_str(),
              e["numeric_cast"].get<std::string>().c_str());
  for (const auto& [format, number] : e["formats"].items())
    std::printf("as %-8s %s, %s\n", format.c_str(), number["bits"].get<std::string>().c_str(),
                number["text"].get<std::string>().c_str());
  if (e["layouts"].empty())
    std::printf("no layout has fields that would run and leave no bit over; --op OP shows those of one operator\n");
  else
    std::printf(of_one_operator ? "packed, as\n" : "packed, as (where the fields would run and no bit is left over)\n");
  for (const json& row : e["layouts"]) print_layout(row);
  for (const json& warning : e["warnings"]) std::printf("warning: %s\n", warning.get<std::string>().c_str());
}

}  // namespace

int run_explain(const ExplainOptions& options) {
  const Result<json> explanation = explain(options);
  if (!explanation) return complain(explanation.error());
  if (options.json)
    std::printf("%s\n", explanation->dump(2).c_str());
  else
    print_explanation(*explanation, !options.op.empty());
  return kHolds;
}

}  // namespace packcheck
