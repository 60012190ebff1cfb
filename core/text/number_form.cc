#include "core/text/number_form.h"

#include "core/text/number_text.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF} << 52;
constexpr std::size_t kDigits = 16;

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string print_bits(std::uint64_t bits) {
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) text.push_back("0123456789abcdef"[bits >> shift & 15]);
  return text;
}

Result<std::uint64_t> parse_bits(std::string_view text) {
  const auto wrong = [&] {
    std::string what(1, '\'');
    what.append(text.substr(0, 40)).push_back('\'');
    return refuse(std::move(what), "bits of a double", "0x and 16 hexadecimal digits");
  };
  if (text.size() != 2 + kDigits || text[0] != '0' || text[1] != 'x') return wrong();
  std::uint64_t bits = 0;
  for (const char c : text.substr(2)) {
    if (digit_of(c) < 0) return wrong();
    bits = bits << 4 | static_cast<std::uint64_t>(digit_of(c));
  }
  return bits;
}

bool needs_bits(std::uint64_t bits) {
  if ((bits & kInfinity) == kInfinity) return true;
  return (bits & kInfinity) == 0 && bits != 0;
}

NumberForm number_form(std::uint64_t bits, BitsRule rule) {
  NumberForm form;
  if ((bits & ~kSign) < kInfinity) form.number = *print_number(bits);
  if (rule == BitsRule::always || needs_bits(bits)) form.bits = print_bits(bits);
  return form;
}

Result<std::uint64_t> read_number_form(std::optional<std::string_view> number, std::optional<std::string_view> bits) {
  if (!bits) {
    if (!number) return refuse("no number and no bits", "a number", "at least one of the two");
    return parse_number(*number);
  }
  const Result<std::uint64_t> right = parse_bits(*bits);
  if (!right || !number) return right;
  const Result<std::uint64_t> read = parse_number(*number);
  if (!read) return read;
  if (*read == *right) return right;
  std::string what = "the number ";
  what.append(number->substr(0, 40)).append(" is ").append(print_bits(*read)).append(", its bits are ");
  return refuse(what.append(*bits), "a number", "the same double in both");
}

}  // namespace packcheck
