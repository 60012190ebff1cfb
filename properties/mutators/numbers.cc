#include "properties/mutators/numbers.h"

#include <bit>

#include "core/text/number_text.h"
#include "properties/mutators/mutators.h"

namespace packcheck {
namespace {

constexpr std::string_view kWords[] = {"NaN",
                                       "Infinity",
                                       "-Infinity",
                                       "null",
                                       "true",
                                       "-0",
                                       "-0.0",
                                       "0.0",
                                       "1e400",
                                       "-1e400",
                                       "1e-400",
                                       "9007199254740993",
                                       "18446744073709551616",
                                       "4.9E-324",
                                       "9.7517E-319",
                                       "2.2250738585072011e-308",
                                       "1.7976931348623157e308",
                                       "1.7976931348623159e308",
                                       "3.0",
                                       "3e0",
                                       "0.5",
                                       "01",
                                       "0x10",
                                       "1e",
                                       "1."};
constexpr std::string_view kIntegers[] = {"0",          "1",          "2",          "3",          "-1",
                                          "255",        "65535",      "65536",      "2147483647", "2147483648",
                                          "4294967295", "4294967296", "4294967299", "99999",      "9007199254740993"};

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Another spelling of the same integer, which no reader of integers may take.
std::string respelt(std::string_view text, Dice& dice) {
  static constexpr std::string_view kTails[] = {".0", "e0", "E+0", ".00", "0e-1"};
  return std::string(text).append(dice.pick(kTails));
}

}  // namespace

std::uint64_t interesting_double(Dice& dice) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF} << 52;
  const std::uint64_t sign = dice.once_in(4) ? kSign : 0;
  switch (dice.below(6)) {
    case 0: return sign;
    case 1:
    case 2: {  // small integers, packed
      const std::uint64_t packed = dice.bits() >> (17 + dice.below(40));
      return packed | (dice.once_in(8) ? sign : 0);
    }
    case 3: return sign | kInfinity | (dice.once_in(2) ? 0 : dice.bits() >> 12);  // an infinity, or a NaN
    case 4: {
      const auto value = static_cast<double>(std::uint64_t{1} << dice.below(64));
      return sign | (std::bit_cast<std::uint64_t>(value) + dice.below(3) - 1);
    }
    default: return dice.bits();
  }
}

std::string interesting_number(Dice& dice) {
  if (dice.once_in(2)) return std::string(dice.pick(kWords));
  if (dice.once_in(3)) return interesting_integer(dice);
  return print_number(interesting_double(dice)).value_or("NaN");
}

std::string interesting_integer(Dice& dice) {
  return dice.once_in(3) ? std::to_string(dice.below(300)) : std::string(dice.pick(kIntegers));
}

std::uint64_t interesting_field(std::uint64_t before, std::size_t size, Dice& dice) {
  const std::uint64_t all = size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
  switch (dice.below(8)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return all;
    case 3: return all / 2 + dice.below(2);
    case 4: return (std::uint64_t{1} << dice.below(8 * size)) & all;
    case 5: return (before + 1) & all;
    case 6: return (before - 1) & all;
    default: return (before + dice.below(64) - 32) & all;
  }
}

std::string changed_number(std::string_view text, Dice& dice) {
  if (text.empty() || dice.once_in(6)) return interesting_number(dice);
  std::string result(text);
  const std::size_t at = dice.below(result.size());
  const auto digit = static_cast<char>('0' + dice.below(10));
  switch (dice.below(7)) {
    case 0:
      if (is_digit(result[at])) result[at] = digit;
      break;
    case 1: result.insert(at, 1, digit); break;
    case 2: result.erase(at, 1); break;
    case 3:
      if (result[0] == '-')
        result.erase(0, 1);
      else
        result.insert(0, 1, '-');
      break;
    case 4: {  // another exponent, or a first one
      const std::size_t exponent = result.find_first_of("eE");
      if (exponent != std::string::npos) result.resize(exponent);
      static constexpr int kExponents[] = {0, 1, -1, 308, 309, -308, -323, -324, 22, 400, -400};
      result.append("e").append(std::to_string(dice.pick(kExponents)));
      break;
    }
    case 5:
      if (result.find_first_of(".eE") == std::string::npos) return respelt(result, dice);
      result.insert(at, 1 + dice.below(20), digit);  // past the digits that decide
      break;
    default:
      if (const std::size_t point = result.find('.'); point != std::string::npos)
        result.erase(point, 1);
      else
        result.insert(at, 1, '.');
  }
  return result;
}

std::optional<Bytes> mutate_number_text(const Bytes& bytes, Dice& dice) {
  const std::string changed =
      changed_number(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), dice);
  return Bytes(changed.begin(), changed.end());
}

}  // namespace packcheck
