#include "properties/describe.h"

#include <algorithm>
#include <bit>

#include "core/format/integer.h"
#include "core/text/number_text.h"
#include "properties/strict_json.h"

namespace packcheck {

std::string describe(Format format, std::uint64_t bits) {
  const FormatSpec& s = spec(format);
  const bool stray = (bits & ~s.all_bits()) != 0;  // bits above a narrow format's width
  const std::string hex = hex_of(bits, stray ? 8 * static_cast<int>(s.bytes()) : s.width());
  const std::string sign = (bits & s.sign_bit()) != 0 ? "-" : "";
  if (stray) return hex + " (bits above the " + std::to_string(s.width()) + " of " + std::string(s.name) + ")";
  if (is_nan(s, bits)) return hex + " (" + sign + "NaN)";
  if (is_infinite(s, bits)) return hex + " (" + sign + "Infinity)";
  std::string number = print_number(convert(format, Format::f64, bits)).value_or("?");
  if (s.is_integer()) number.resize(std::min(number.find('.'), number.size()));
  return hex + " (" + number + ")";
}

std::string describe(float value) { return describe(Format::f32, std::bit_cast<std::uint32_t>(value)); }

std::string describe_bytes(std::span<const std::uint8_t> bytes, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(bytes.size(), most); ++i)
    text += (i == 0 ? "" : " ") + hex_of_bytes(bytes.subspan(i, 1));
  return bytes.size() > most ? text + " … (" + std::to_string(bytes.size()) + " bytes)" : text;
}

std::string describe_bytes_about(std::span<const std::uint8_t> bytes, std::size_t at) {
  constexpr std::size_t kWindow = 64;
  if (bytes.size() <= kWindow) return describe_bytes(bytes);
  const std::size_t first = std::min(at > kWindow / 2 ? at - kWindow / 2 : 0, bytes.size() - kWindow);
  std::string text = "bytes ";
  text.append(std::to_string(first)).append(" to ").append(std::to_string(first + kWindow - 1)).append(": ");
  return text.append(describe_bytes(bytes.subspan(first, kWindow)));
}

std::string describe_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text.substr(0, 120)) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7F)
      quoted += c;
    else
      quoted += "\\x" + hex_of_bytes({&byte, 1});
  }
  return quoted + (text.size() > 120 ? "…'" : "'");
}

namespace {

/// Whether the number, cut to a whole one, is none of the integer format; a number in the last half is not.
bool out_of_range(Format from, Format to, std::uint64_t in) {
  return !integer_holds(from, to, in, {.rounding = Rounding::toward_zero});
}

}  // namespace

std::string conversion_class(Format from, Format to, std::uint64_t in, std::uint64_t expected) {
  const FormatSpec& source = spec(from);
  const FormatSpec& target = spec(to);
  if (is_nan(source, in)) return "nan";
  if (is_infinite(source, in)) return "infinity";
  if (is_zero(source, in)) return "zero";
  if (is_subnormal(source, in)) return "subnormal operand";
  if (target.is_integer() && out_of_range(from, to, in)) return "out of range";
  if (is_infinite(target, expected)) return "overflow";
  if (is_nan(target, expected)) return (in & source.sign_bit()) != 0 && !target.is_signed ? "no sign" : "overflow";
  if (is_zero(target, expected)) return "underflow to zero";
  if (is_subnormal(target, expected)) return "subnormal result";
  return convert(to, from, expected) == in ? "exact" : "tie or inexact";
}

}  // namespace packcheck
