// Doubles to print, and texts to parse.
#include <algorithm>
#include <bit>

#include "core/text/number_text.h"
#include "properties/cases/case_type.h"
#include "properties/cases/cases.h"

namespace packcheck {
namespace {

/// The bits of a double: a packed parameter word, or any double.
std::uint64_t draw_double(Source& source) {
  if (source.below(2) == 0) return source.bits(source.once_in(3) ? 47 : 24);  // packed: always subnormal
  return source.float_in(Format::f64);
}

class NumberType final : public TypedCaseType<NumberCase> {
 public:
  using TypedCaseType::TypedCaseType;

  NumberCase draw_value(Source& source, std::string_view) const override { return {draw_double(source)}; }
  std::string variant_of(const NumberCase&) const override { return "json"; }
  std::size_t payload(const NumberCase& c) const override { return sizeof c.bits; }
  std::vector<std::string_view> classes(std::string_view) const override {
    return {"a subnormal", "a NaN or an infinity", "a negative number", "a normal number"};
  }
  std::uint64_t members(const NumberCase& c) const override {
    const std::uint64_t exponent = c.bits >> 52 & 0x7FF;
    return member_bits(
        {exponent == 0 && c.bits << 1 != 0, exponent == 0x7FF, c.bits >> 63 != 0, exponent != 0 && exponent != 0x7FF});
  }
  Json write(const NumberCase& c) const override { return {{"bits", hex_of(c.bits, 64)}}; }
  Result<NumberCase> read(MemberReader& members) const override { return NumberCase{members.hex("bits", 64)}; }
  std::vector<NumberCase> split(const NumberCase& c) const override {
    std::vector<NumberCase> smaller;
    for (const std::uint64_t bits : smaller_numbers(c.bits)) smaller.push_back({bits});
    return smaller;
  }
};

std::string draw_digits(Source& source, std::uint64_t most) {
  std::string digits;
  for (std::uint64_t i = 1 + source.below(most); i > 0; --i) digits += static_cast<char>('0' + source.below(10));
  return digits;
}

/// A number of the JSON grammar, spelt freely.
std::string draw_spelling(Source& source) {
  std::string text = source.bits(1) == 0 ? "" : "-";
  std::string integer = draw_digits(source, 24);
  while (integer.size() > 1 && integer[0] == '0') integer.erase(0, 1);
  text += integer;
  if (source.bits(1) != 0) text += "." + draw_digits(source, 24);
  if (source.bits(1) != 0) {
    static constexpr std::string_view kMarks[] = {"e", "E", "e-", "E-", "e+", "E+"};
    text += source.pick(kMarks);  // one draw a statement: the compilers order a sum's operands differently
    text += std::to_string(source.below(350));
  }
  return text;
}

/// Tokens of the grammar that readers are known to get wrong: signs of zero, integers at the ends of
/// integer types, the ends of the range, halfway points, leading zeros of exponents.
std::string draw_tricky(Source& source) {
  static constexpr std::string_view kTexts[] = {"-0",
                                                "0",
                                                "-0.0",
                                                "0e999",
                                                "-0e-999",
                                                "1e0",
                                                "1E+00",
                                                "9007199254740993",
                                                "9223372036854775808",
                                                "-9223372036854775809",
                                                "18446744073709551615",
                                                "18446744073709551616",
                                                "36893488147419103232",
                                                "1e23",
                                                "6E23",
                                                "1.0E25",
                                                "4.9E-324",
                                                "2.4703282292062327e-324",
                                                "2.4703282292062328e-324",
                                                "1e-400",
                                                "9.7517E-319",
                                                "8.8895642e-316",
                                                "2.2250738585072011e-308",
                                                "2.2250738585072014e-308",
                                                "1.7976931348623157e308",
                                                "1.7976931348623158e308",
                                                "0.09007874049960225",
                                                "9007199254740992.5",
                                                "123456789012345678901234567890"};
  return std::string(source.pick(kTexts));
}

/// Half way between two doubles (odd integers from 2^53 to 2^54), exactly or off by a digit far behind:
/// what readers that cut the significand off, or round twice, get wrong.
std::string draw_midpoint(Source& source) {
  std::string text = std::to_string((std::uint64_t{1} << 53) + 1 + 2 * source.bits(20));
  if (source.bits(1) != 0) return text;
  text += '.';
  text.append(source.below(source.once_in(4) ? 1000 : 40), '0');
  text += static_cast<char>('0' + source.below(10));
  return text;
}

/// What a sloppy reader takes for a number.
std::string draw_impostor(Source& source) {
  static constexpr std::string_view kTexts[] = {"NaN",  "Infinity", "-Infinity", "nan", "inf", "-inf", "+1",  "01",
                                                ".5",   "5.",       "1e",        "-",   "",    "0x10", "1_0", "1,5",
                                                "null", "1e999",    "-1e999",    " 1",  "1 ",  "1e+",  "2.e3"};
  return std::string(source.pick(kTexts));
}

class TextType final : public TypedCaseType<TextCase> {
 public:
  using TypedCaseType::TypedCaseType;

  TextCase draw_value(Source& source, std::string_view) const override {
    switch (source.below(6)) {
      case 0: return {draw_tricky(source)};
      case 1: return {print_number(draw_double(source)).value_or("Infinity")};
      case 2: return {draw_spelling(source)};
      case 3: return {draw_impostor(source)};
      case 4: return {draw_midpoint(source)};
      default: {
        // A printed number with one character changed.
        std::string text = print_number(draw_double(source)).value_or("NaN");
        static constexpr char kLetters[] = {'0', '1', '5', '9', '.', 'e', 'E', '-', '+', ' ', 'N'};
        const std::uint64_t at = source.below(text.size());
        text[at] = source.pick(kLetters);
        return {text};
      }
    }
  }
  std::string variant_of(const TextCase&) const override { return "json"; }
  std::size_t payload(const TextCase& c) const override { return c.text.size(); }
  std::vector<std::string_view> classes(std::string_view) const override {
    return {"an exponent", "a fraction", "a minus sign", "more than 17 digits", "letters of a word"};
  }
  std::uint64_t members(const TextCase& c) const override {
    const auto has = [&c](const char* letters) { return c.text.find_first_of(letters) != std::string::npos; };
    const auto digits = std::count_if(c.text.begin(), c.text.end(), [](char l) { return l >= '0' && l <= '9'; });
    return member_bits({digits > 0 && has("eE"), has("."), has("-"), digits > 17, has("Nnxuf")});
  }
  Json write(const TextCase& c) const override {
    // Text that is no UTF-8 has no JSON form: it is written as bytes.
    for (const char letter : c.text)
      if (static_cast<unsigned char>(letter) < 0x20 || static_cast<unsigned char>(letter) > 0x7E)
        return {{"text_bytes", hex_of_bytes(string_to_bytes(c.text))}};
    return {{"text", c.text}};
  }
  Result<TextCase> read(MemberReader& members) const override {
    if (members.has("text_bytes")) return TextCase{bytes_to_string(members.bytes("text_bytes"))};
    return TextCase{members.text("text")};
  }
  /// The text itself.
  std::optional<Case> from_wire(std::span<const std::uint8_t> bytes, std::string_view) const override {
    return wrap({bytes_to_string(bytes)});
  }
  std::optional<Bytes> wire_bytes(const Case& c) const override { return string_to_bytes(c.as<TextCase>().text); }
};

const NumberType kNumber("number");
const TextType kText("text");

}  // namespace

const CaseType& number_cases = kNumber;
const CaseType& text_cases = kText;

}  // namespace packcheck
