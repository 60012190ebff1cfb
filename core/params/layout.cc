#include "core/params/layout.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "core/environment.h"
#include "core/format/convert.h"
#include "core/text/number_text.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF} << 52;
constexpr std::uint64_t kQuietNan = kInfinity | std::uint64_t{1} << 51;
constexpr std::uint64_t kOne = std::uint64_t{1023} << 52;
constexpr std::uint64_t kTwoTo53 = std::uint64_t{1023 + 53} << 52;

bool is_finite(std::uint64_t bits) { return (bits & ~kSign) < kInfinity; }

/// Whether these are the bits of 0.0, 1.0, 2.0 … 2^53. Without arithmetic, which FTZ could change.
bool is_whole(std::uint64_t bits) {
  if (bits == 0) return true;
  if (bits < kOne || bits > kTwoTo53) return false;
  const auto exponent = static_cast<unsigned>((bits >> 52) - 1023);
  return exponent >= 52 || (bits & (~std::uint64_t{0} >> (12 + exponent))) == 0;
}

[[gnu::noinline]] std::uint64_t number_of(const std::uint64_t& value) {
  return std::bit_cast<std::uint64_t>(static_cast<double>(value));
}
std::uint64_t exact_number_of(std::uint64_t value) {
  const ExactEnvironment exact;
  return number_of(value);
}

/// Rust's saturating `as u64`: NaN and negatives give 0.
std::uint64_t cast_to_integer(std::uint64_t word) {
  const auto value = std::bit_cast<double>(word);
  if (!(value >= 1.0)) return 0;
  return value >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(value);
}

std::uint64_t read_word(std::uint64_t word, WordReading reading) {
  switch (reading) {
    case WordReading::reinterpret: return word;
    case WordReading::numeric_cast: return cast_to_integer(word);
    case WordReading::through_f32: return convert(Format::f32, Format::f64, convert(Format::f64, Format::f32, word));
    case WordReading::flushed: return (word & kInfinity) == 0 ? word & kSign : word;
  }
  return word;
}

std::int64_t read_field(const Field& field, std::uint64_t word, FieldReading reading) {
  if (field.plain()) return static_cast<std::int64_t>(word);
  const unsigned shift = reading == FieldReading::shifts_modulo_32 ? field.shift % 32 : field.shift;
  const std::uint64_t shifted = word >> shift;
  if (reading == FieldReading::unmasked) return static_cast<std::int64_t>(shifted);
  const std::uint64_t value = shifted & static_cast<std::uint64_t>(field.largest());
  // A field without bits, of which a reader knows nothing, has no sign either.
  if (reading != FieldReading::sign_extended || field.width == 0) return static_cast<std::int64_t>(value);
  const std::uint64_t top = std::uint64_t{1} << (field.width - 1);
  return static_cast<std::int64_t>((value ^ top) - top);
}

/// What a field adds to its word.
std::uint64_t contribution(const Field& field, std::int64_t value, const PackRules& rules) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (field.plain()) {
    if (rules.plain == PlainPacking::as_bits && is_whole(bits)) return cast_to_integer(bits);
    return bits;
  }
  const std::uint64_t kept =
      rules.range == RangeRule::cut_off ? bits & static_cast<std::uint64_t>(field.largest()) : bits;
  if (rules.arithmetic != PackArithmetic::int32) return kept << field.shift;
  const auto narrow = static_cast<std::uint32_t>(kept) << field.shift % 32;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(narrow)));
}

/// Whether a packer with this rule lets a value through that its field does not hold.
bool passes(RangeRule rule, const Field& field, std::int64_t value) {
  switch (rule) {
    case RangeRule::refuse:
    case RangeRule::specials_pass: return false;
    case RangeRule::or_overflow:
    case RangeRule::cut_off: return true;
    case RangeRule::negative_passes: return !field.plain() && value < 0;
  }
  return false;
}

std::string_view word_name(std::size_t word) { return word == 0 ? "scalar" : "param2"; }

Result<void> refuse_specials(const Layout& layout, const PackedWords& words) {
  for (const Field& field : layout.fields) {
    if (field.plain() || is_finite(words[field.word])) continue;
    const bool infinite = (words[field.word] & ~kSign) == kInfinity;
    std::string what(word_name(field.word));
    what.append(infinite ? " becomes an infinity, which no JSON number is"
                         : " becomes a NaN, which exporters take for absent");
    return refuse(std::move(what), layout.id(), "fields that leave a 0 among bits 52 to 62");
  }
  return {};
}

}  // namespace

bool Field::holds(std::int64_t value) const {
  const auto pattern = static_cast<std::uint64_t>(value);
  if (may_be_absent && pattern == kQuietNan) return true;
  switch (kind) {
    case FieldKind::bits: return value >= 0 && value <= largest();
    case FieldKind::number: return is_finite(pattern);
    case FieldKind::whole: return is_whole(pattern);
    case FieldKind::flag: return pattern == 0 || pattern == kOne;
    case FieldKind::probability: return pattern <= kOne;
  }
  return false;
}

std::string Field::range() const {
  const std::string absent = may_be_absent ? ", or absent (NaN)" : "";
  switch (kind) {
    case FieldKind::bits: return "0.." + std::to_string(largest());
    case FieldKind::number: return "a finite double" + absent;
    case FieldKind::whole: return "a whole number from 0.0 to 2^53" + absent;
    case FieldKind::flag: return "0.0 or 1.0" + absent;
    case FieldKind::probability: return "0.0 to 1.0" + absent;
  }
  return {};
}

Result<const Layout*> layout_named(std::string_view id) {
  const std::size_t colon = std::min(id.find(':'), id.size());
  const std::string_view op = id.substr(0, colon);
  for (const Layout& layout : all_layouts())
    if (layout.op == op && (colon == id.size() || layout.dialect == id.substr(colon + 1))) return &layout;
  std::string known;
  for (const Layout& layout : all_layouts()) known.append(known.empty() ? "" : ", ").append(layout.id());
  std::string what = "unknown layout '";
  what.append(id.substr(0, 80)).append("'");
  return refuse(std::move(what), {}, "one of " + known);
}

std::string field_text(const Field& field, std::int64_t value) {
  if (!field.plain()) return std::to_string(value);
  const auto bits = static_cast<std::uint64_t>(value);
  if (field.may_be_absent && bits == kQuietNan) return "absent";
  return *print_number(bits, {.non_finite = NonFinitePrinting::bare});
}

Result<std::int64_t> parse_field(const Field& field, std::string_view text) {
  if (field.plain()) {
    if (field.may_be_absent && text == "absent") return static_cast<std::int64_t>(kQuietNan);
    const Result<std::uint64_t> bits = parse_number(text);
    if (bits) return static_cast<std::int64_t>(*bits);
    return refuse(bits.error().what, std::string(field.name), field.range());
  }
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && end == text.data() + text.size()) return value;
  std::string what(1, '\'');
  what.append(text.substr(0, 40)).append("' is no 64-bit integer");
  return refuse(std::move(what), std::string(field.name), field.range());
}

Result<PackedWords> pack(const Layout& layout, std::span<const std::int64_t> values, const PackRules& rules) {
  if (values.size() != layout.fields.size())
    return refuse(std::to_string(values.size()) + " values", layout.id(),
                  std::to_string(layout.fields.size()) + " (one per field)");
  PackedWords words{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Field& field = layout.fields[i];
    if (!field.holds(values[i]) && !passes(rules.range, field, values[i]))
      return refuse(field_text(field, values[i]) + " does not fit", layout.id() + " field " + std::string(field.name),
                    field.range());
    words[field.word] |= contribution(field, values[i], rules);
  }
  if (rules.range == RangeRule::refuse && rules.arithmetic == PackArithmetic::bits)
    if (Result<void> finite = refuse_specials(layout, words); !finite) return tl::unexpected(finite.error());
  if (rules.arithmetic == PackArithmetic::as_numbers)
    for (const Field& field : layout.fields)
      if (!field.plain() && field.shift == 0) words[field.word] = exact_number_of(words[field.word]);
  return words;
}

Unpacked unpack(const Layout& layout, const PackedWords& words, const UnpackRules& rules) {
  Unpacked result{{}, {read_word(words[0], rules.word), read_word(words[1], rules.word)}};
  const PackedWords read = result.ignored;
  for (const Field& field : layout.fields) {
    // A reader that casts or flushes does so where it wants bits; a plain number is read as one.
    const std::uint64_t word =
        field.plain() && rules.word == WordReading::numeric_cast ? words[field.word] : read[field.word];
    result.values.push_back(read_field(field, word, rules.field));
    result.ignored[field.word] &= field.plain() ? 0 : ~(static_cast<std::uint64_t>(field.largest()) << field.shift);
  }
  return result;
}

std::string not_executable_because(const Layout& layout, std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    const Field& field = layout.fields[i];
    const std::uint64_t magnitude =
        static_cast<std::uint64_t>(values[i]) & (field.plain() ? ~kSign : ~std::uint64_t{0});
    if (magnitude == 0 && !field.runs_at_zero) return std::string(field.name) + " is 0";
  }
  return {};
}

}  // namespace packcheck
