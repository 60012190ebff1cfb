#include "properties/oracles/text_oracle.h"

#include <locale.h>
#include <stdlib.h>

#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "properties/oracles/default_environment.h"

namespace packcheck::oracle {
namespace {

// RFC 8259: number = [ "-" ] int [ "." 1*DIGIT ] [ ( "e" / "E" ) [ "+" / "-" ] 1*DIGIT ]
enum State : std::uint8_t {
  start,
  minus,
  zero,
  integer,
  point,
  fraction,
  letter,
  letter_sign,
  exponent,
  stuck,
  kStates
};
enum Symbol : std::uint8_t { digit_0, digit_1_9, sign_minus, sign_plus, dot, letter_e, other, kSymbols };

constexpr std::array<std::array<State, kSymbols>, kStates> kNext{{
    //              0         1-9       -       +       .      e/E    other
    /* start */ {{zero, integer, minus, stuck, stuck, stuck, stuck}},
    /* minus */ {{zero, integer, stuck, stuck, stuck, stuck, stuck}},
    /* zero */ {{stuck, stuck, stuck, stuck, point, letter, stuck}},
    /* integer */ {{integer, integer, stuck, stuck, point, letter, stuck}},
    /* point */ {{fraction, fraction, stuck, stuck, stuck, stuck, stuck}},
    /* fraction */ {{fraction, fraction, stuck, stuck, stuck, letter, stuck}},
    /* letter */ {{exponent, exponent, letter_sign, letter_sign, stuck, stuck, stuck}},
    /* letter_sign */ {{exponent, exponent, stuck, stuck, stuck, stuck, stuck}},
    /* exponent */ {{exponent, exponent, stuck, stuck, stuck, stuck, stuck}},
    /* stuck */ {{stuck, stuck, stuck, stuck, stuck, stuck, stuck}},
}};

Symbol symbol_of(char c) {
  if (c == '0') return digit_0;
  if (c >= '1' && c <= '9') return digit_1_9;
  switch (c) {
    case '-': return sign_minus;
    case '+': return sign_plus;
    case '.': return dot;
    case 'e':
    case 'E': return letter_e;
    default: return other;
  }
}

/// The caller's locale may write a comma for the decimal point; this one never does.
locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

[[gnu::noinline]] double read(const std::string& text) { return strtod_l(text.c_str(), nullptr, c_locale()); }

}  // namespace

bool is_json_number(std::string_view text) {
  State state = start;
  for (const char c : text) state = kNext[state][symbol_of(c)];
  return state == zero || state == integer || state == fraction || state == exponent;
}

std::optional<ParsedNumber> parse(std::string_view text) {
  if (!is_json_number(text)) return std::nullopt;
  const std::string terminated(text);
  const DefaultEnvironment environment;
  const double value = read(terminated);
  return ParsedNumber{std::bit_cast<std::uint64_t>(value), std::isinf(value)};
}

}  // namespace packcheck::oracle
