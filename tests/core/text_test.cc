// Doubles as JSON number text: the core's printer and parser and the text oracle, against MPFR.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <fstream>

#include "core/text/number_text.h"
#include "properties/oracles/text_oracle.h"
#include "tests/core/data_folder.h"
#include "tests/core/mpfr_reference.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF} << 52;

bool is_finite(std::uint64_t bits) { return (bits & ~kSign) < kInfinity; }

/// Packed layer parameters, small and random subnormals, random and edge doubles, whole numbers.
std::vector<std::uint64_t> doubles() {
  std::vector<std::uint64_t> all;
  for (std::uint64_t h = 1; h <= 15; ++h)
    for (std::uint64_t w = 1; w <= 15; ++w)
      for (std::uint64_t stride = 1; stride <= 4; ++stride) all.push_back(h << 16 | w << 8 | stride);
  for (std::uint64_t bits = 0; bits < 3000; ++bits) all.push_back(bits);
  Random random(41);
  for (int i = 0; i < 20000; ++i) {
    all.push_back(random.bits() & (kSign | ((std::uint64_t{1} << (1 + i % 52)) - 1)));
    all.push_back(random.bits());
    all.push_back(bits_of(static_cast<double>(random.bits() >> (i % 64))));
    all.push_back(bits_of(static_cast<double>(random.below(20001)) / 1e4 - 1.0));
  }
  for (const std::uint64_t code : edge_codes(Format::f64)) all.push_back(code);
  for (const double x : {1e22, 1e23, 9.5e22, 0.1, 0.3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308}) {
    all.push_back(bits_of(x));
    all.push_back(bits_of(-x));
  }
  for (std::uint64_t near = 0; near < 5; ++near) all.push_back(bits_of(0x1p53) - 2 + near);
  all.erase(std::remove_if(all.begin(), all.end(), [](std::uint64_t bits) { return !is_finite(bits); }), all.end());
  return all;
}

/// Significant decimal digits: no leading or trailing zeros.
std::size_t digit_count(const std::string& text) {
  std::string digits;
  for (const char c : text.substr(0, text.find('e')))
    if (c >= '0' && c <= '9') digits += c;
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return 1;
  return digits.find_last_not_of('0') - first + 1;
}

TEST(NumberText, WhatIsPrintedReadsBackByMpfrOracleAndCore) {
  for (const std::uint64_t bits : doubles()) {
    const std::string text = print_number(bits).value();
    ASSERT_TRUE(is_json_number(text)) << text;
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text << " looks like an integer";
    ASSERT_EQ(mpfr_parse_double(text), bits) << text << " for " << hex(bits);
    const std::optional<oracle::ParsedNumber> number = oracle::parse(text);
    ASSERT_TRUE(number.has_value()) << text;
    ASSERT_EQ(number->bits, bits) << text;
    ASSERT_EQ(parse_number(text).value(), bits) << text;
  }
}

/// The decimal with `digits` significant digits next to |number| in the direction of `rounding`.
std::string decimal(Real& number, std::size_t digits, mpfr_rnd_t rounding) {
  mpfr_exp_t exponent = 0;
  char* const text = mpfr_get_str(nullptr, &exponent, 10, digits, number.get(), rounding);
  const std::string result = "0." + std::string(text) + "e" + std::to_string(exponent);
  mpfr_free_str(text);
  return result;
}

TEST(NumberText, NoShorterDecimalReadsBack) {
  const std::vector<std::uint64_t> all = doubles();
  Real number(53);
  std::size_t checked = 0;
  for (std::size_t i = 0; i < all.size(); i += 5) {
    const std::uint64_t bits = all[i] & ~kSign;
    const std::size_t digits = digit_count(print_number(bits).value());
    if (digits == 1) continue;
    ++checked;
    set_to_code(number, Format::f64, bits);
    // If any decimal with fewer digits read back, one of the two neighbours would.
    for (const mpfr_rnd_t rounding : {MPFR_RNDD, MPFR_RNDU}) {
      const std::string shorter = decimal(number, digits - 1, rounding);
      ASSERT_NE(mpfr_parse_double(shorter), bits) << shorter << " is shorter than " << print_number(bits).value();
    }
  }
  EXPECT_GT(checked, 10000U);
}

TEST(NumberText, KnownNumbersPrintAsKnownText) {
  struct Row {
    std::uint64_t bits;
    const char* text;
  };
  for (const Row& row :
       {Row{0x030301, "9.7517e-319"}, Row{197378, "9.75177e-319"}, Row{131586, "6.5012e-319"}, Row{1, "5e-324"},
        Row{0, "0.0"}, Row{kSign, "-0.0"}, Row{bits_of(5.0), "5.0"}, Row{bits_of(-0.1), "-0.1"},
        Row{bits_of(0x1p53), "9.007199254740992e+15"}, Row{bits_of(0x1p53 - 1), "9007199254740991.0"},
        Row{bits_of(1e23), "1e+23"}, Row{bits_of(0x1.fffffffffffffp1023), "1.7976931348623157e+308"}}) {
    EXPECT_EQ(print_number(row.bits).value(), row.text);
  }
}

TEST(NumberText, KnownTextReadsAsKnownBits) {
  struct Row {
    const char* text;
    std::uint64_t bits;
  };
  for (const Row& row : {Row{"9.7517E-319", 0x030301},
                         Row{"9.75E-319", 0x0302DE},  // the rounded text of an old note: other fields
                         Row{"6.5012E-319", 0x020202},
                         Row{"8.8895642e-316", 0x0AB976FF},  // where table-driven parsers are off by one
                         Row{"3.24107E-319", 65600},
                         Row{"4.9E-324", 1},
                         Row{"1.0E-323", 2},
                         Row{"-0.0", kSign},
                         Row{"-0", kSign},
                         Row{"-0e5", kSign},
                         Row{"0", 0},
                         Row{"5", bits_of(5.0)},
                         Row{"9007199254740993", bits_of(0x1p53)},  // a tie, to even
                         Row{"9007199254740995", bits_of(0x1p53 + 4)},
                         Row{"1E23", 0x44B52D02C7E14AF6},
                         Row{"6E23", bits_of(6e23)},
                         Row{"1.7976931348623158e308", bits_of(0x1.fffffffffffffp1023)},
                         Row{"2.4703282292062327e-324", 0},  // below half the smallest subnormal
                         Row{"2.4703282292062328e-324", 1},
                         Row{"-1e-400", kSign},
                         Row{"0e99999999999999999999", 0},
                         Row{"1e-99999999999999999999", 0}}) {
    EXPECT_EQ(hex(parse_number(row.text).value()), hex(row.bits)) << row.text;
    EXPECT_EQ(hex(oracle::parse(row.text).value().bits), hex(row.bits)) << row.text;
    EXPECT_EQ(hex(mpfr_parse_double(row.text)), hex(row.bits)) << row.text;
  }
}

TEST(NumberText, TooLargeIsRefusedByTheCoreAndOverflowForTheOracle) {
  const std::string zeros(400, '0');
  for (const std::string& text : {std::string("1e309"), std::string("-1e309"), std::string("1.7976931348623159e308"),
                                  std::string("1e99999999999999999999"), "1" + zeros, "0." + zeros + "1e1000"}) {
    EXPECT_THAT(parse_number(text).error().text(), HasSubstr("too large for a double")) << text;
    const oracle::ParsedNumber number = oracle::parse(text).value();
    EXPECT_TRUE(number.overflow) << text;
    EXPECT_EQ(number.bits, mpfr_parse_double(text)) << text;
  }
}

/// The decimal digits of the point half way between `bits` and the next double, which are many.
std::string half_way(std::uint64_t bits) {
  Real number(54);
  Real next(54);
  set_to_code(number, Format::f64, bits);
  set_to_code(next, Format::f64, bits + 1);
  mpfr_add(number.get(), number.get(), next.get(), MPFR_RNDN);
  mpfr_div_2ui(number.get(), number.get(), 1, MPFR_RNDN);
  return decimal(number, 1080, MPFR_RNDN);  // exact: a subnormal's half needs at most 768 digits
}

TEST(NumberText, DecimalsAtAndBesideTheMiddleOfTwoDoublesGoWhereMpfrSays) {
  Random random(42);
  for (int i = 0; i < 3000; ++i) {
    std::uint64_t bits = random.bits() & ~kSign;
    if (i % 3 == 0) bits &= (std::uint64_t{1} << (1 + i % 52)) - 1;  // subnormal
    if (i % 3 == 1) bits = bits_of(1.0) + (bits >> 12) % (std::uint64_t{64} << 52);
    if (!is_finite(bits + 1)) continue;
    const std::string middle = half_way(bits);
    const std::size_t e = middle.find('e');
    const std::string above = middle.substr(0, e) + "1" + middle.substr(e);
    std::string below = middle;
    const std::size_t last = below.find_last_not_of('0', e - 1);  // a digit that can be lowered
    below[last] = static_cast<char>(below[last] - 1);
    struct Row {
      const std::string* text;
      std::uint64_t bits;
    };
    for (const Row& row : {Row{&middle, bits + (bits & 1)}, Row{&above, bits + 1}, Row{&below, bits}}) {
      ASSERT_EQ(mpfr_parse_double(*row.text), row.bits) << *row.text;
      ASSERT_EQ(parse_number(*row.text).value(), row.bits) << "core: " << *row.text;
      ASSERT_EQ(oracle::parse(*row.text).value().bits, row.bits) << "oracle: " << *row.text;
    }
  }
}

TEST(NumberText, RandomDecimalsGoWhereMpfrSays) {
  Random random(43);
  for (int i = 0; i < 60000; ++i) {
    std::string text;
    if (random.coin()) text.push_back('-');
    text += static_cast<char>('1' + random.below(9));
    for (std::uint64_t n = random.below(25); n > 0; --n) text += static_cast<char>('0' + random.below(10));
    if (random.coin()) {
      text += '.';
      for (std::uint64_t n = 1 + random.below(25); n > 0; --n) text += static_cast<char>('0' + random.below(10));
    }
    if (random.below(3) != 0) {
      text.push_back('e');
      text += std::to_string(static_cast<int>(random.below(700)) - 360);
    }
    const std::uint64_t expected = mpfr_parse_double(text);
    ASSERT_EQ(oracle::parse(text).value().bits, expected) << text;
    const Result<std::uint64_t> actual = parse_number(text);
    ASSERT_EQ(actual.has_value(), is_finite(expected)) << text;
    if (actual) {
      ASSERT_EQ(*actual, expected) << text;
    }
  }
}

TEST(NumberGrammar, AcceptsJsonNumbersAndNothingElse) {
  for (const std::string_view text : {"0", "-0", "1", "10", "-10", "0.0", "1.5", "-1.50", "0e0", "0E0", "1e5", "1E5",
                                      "1e+5", "1e-5", "1.5e05", "-0.0E-0", "123456789012345678901234567890"}) {
    EXPECT_TRUE(is_json_number(text)) << text;
    EXPECT_TRUE(parse_number(text).has_value()) << text;
    EXPECT_TRUE(oracle::parse(text).has_value()) << text;
  }
  for (const std::string_view text :
       {"",    "-",     "+1",    "01",       "-01",       "00",  ".5",    "1.",   "-.5",   "1.e5", "1e",    "1e+",
        "1e-", "1e5.5", "1e+-5", "1,5",      "1 ",        " 1",  "1\n",   "--1",  "0x10",  "1f",   "1e5e5", "1.5.5",
        "NaN", "nan",   "-NaN",  "Infinity", "-Infinity", "inf", "1_000", "null", "\"1\"", "1e5 ", "٣"}) {
    EXPECT_FALSE(is_json_number(text)) << text;
    EXPECT_THAT(parse_number(text).error().text(), HasSubstr("not a JSON number")) << text;
    EXPECT_FALSE(oracle::parse(text).has_value()) << text;
  }
  using namespace std::string_view_literals;
  for (const std::string_view text : {"1\0"sv, "\0"sv, "1\0002"sv}) {
    EXPECT_FALSE(is_json_number(text));
    EXPECT_FALSE(oracle::parse(text).has_value());
  }
}

TEST(NumberGrammar, ReadsNoDigitBehindItsEnd) {
  constexpr std::string_view kText = "123.456e789";
  for (const std::size_t length : {1U, 2U, 3U, 5U, 6U, 9U, 10U})
    EXPECT_TRUE(is_json_number(kText.substr(0, length))) << length;
  EXPECT_EQ(parse_number(kText.substr(0, 6)).value(), bits_of(123.45));
}

TEST(NumberText, AMessageQuotesTheStartOfALongText) {
  EXPECT_THAT(parse_number(std::string(41, 'x')).error().text(), HasSubstr("'" + std::string(40, 'x') + "' is not"));
}

TEST(NumberGrammar, CoreAndOracleAgreeOnEveryShortText) {
  // Every text of up to six characters of this alphabet: 8^6 and a few.
  constexpr std::string_view kAlphabet = "01-+.eE ";
  std::size_t accepted = 0;
  for (std::size_t length = 0; length <= 6; ++length) {
    const std::size_t texts = std::size_t{1} << (3 * length);
    for (std::size_t n = 0; n < texts; ++n) {
      std::string text;
      for (std::size_t i = 0; i < length; ++i) text += kAlphabet[n >> (3 * i) & 7];
      const bool by_core = is_json_number(text);
      ASSERT_EQ(by_core, oracle::parse(text).has_value()) << "'" << text << "'";
      accepted += by_core ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 1000U);
}

TEST(NumberText, NonFiniteDoublesAreNotPrintedUnlessBareIsAskedFor) {
  struct Row {
    std::uint64_t bits;
    const char* bare;
  };
  for (const Row& row : {Row{kInfinity, "Infinity"}, Row{kInfinity | kSign, "-Infinity"}, Row{kInfinity + 1, "NaN"},
                         Row{~std::uint64_t{0}, "NaN"}}) {
    EXPECT_THAT(print_number(row.bits).error().text(), HasSubstr("not a JSON number"));
    EXPECT_EQ(print_number(row.bits, {.non_finite = NonFinitePrinting::bare}).value(), row.bare);
  }
}

TEST(NumberText, NarrowFormatsAreReachedInOneRounding) {
  // The middle of 1 and the next half is 1.00048828125; a digit far behind it is lost in a double.
  const std::string middle = "1.00048828125";
  const std::string zeros(40, '0');
  EXPECT_EQ(parse_number_as(Format::f16, middle).value(), 0x3C00U);
  EXPECT_EQ(parse_number_as(Format::f16, middle + zeros).value(), 0x3C00U);
  EXPECT_EQ(parse_number_as(Format::f16, middle + zeros + "1").value(), 0x3C01U);
  EXPECT_EQ(parse_number_as(Format::f16, "-100048828125" + zeros + "1e-52").value(), 0xBC00U | 1U);
  EXPECT_EQ(parse_number_as(Format::f16, "1.0014648437499" + std::string(40, '9')).value(), 0x3C01U);
  EXPECT_EQ(parse_number_as(Format::f16, "1.00146484375").value(), 0x3C02U);
  EXPECT_EQ(parse_number_as(Format::f32, "16777217." + zeros + "1").value(), 0x4B800001U);
  EXPECT_EQ(parse_number_as(Format::f32, "16777217").value(), 0x4B800000U);
  EXPECT_EQ(parse_number_as(Format::bf16, "1.00390625").value(), 0x3F80U);
  EXPECT_EQ(parse_number_as(Format::bf16, "0.1003906250" + zeros + "1E+1").value(), 0x3F81U);
  // Ends of the ranges.
  EXPECT_EQ(parse_number_as(Format::f16, "65519.99" + std::string(40, '9')).value(), 0x7BFFU);
  EXPECT_THAT(parse_number_as(Format::f16, "65520").error().text(), HasSubstr("too large for f16"));
  EXPECT_EQ(parse_number_as(Format::f32, "3.4028235e+38").value(), 0x7F7FFFFFU);
  EXPECT_THAT(parse_number_as(Format::f32, "3.4028236e38").error().text(), HasSubstr("too large for f32"));
  EXPECT_EQ(parse_number_as(Format::f16, "2.98023223876953125e-8").value(), 0U);
  EXPECT_EQ(parse_number_as(Format::f16, "2.98023223876953125" + zeros + "1e-8").value(), 1U);
  EXPECT_EQ(parse_number_as(Format::f16, "-0").value(), 0x8000U);
  EXPECT_EQ(parse_number_as(Format::f32, "9.7517E-319").value(), 0U);
  EXPECT_EQ(parse_number_as(Format::f32, "9e-45").value(), 6U);
  EXPECT_THAT(parse_number_as(Format::f16, "x").error().text(), HasSubstr("'x' is not a JSON number"));
}

TEST(NumberText, SaysWhetherADoubleIsExactlyTheNumber) {
  for (const char* text : {"0", "-0.0", "0e999", "0.5", "9007199254740992", "9007199254740994", "18446744073709551616",
                           "1e22", "-333333833333500032", "0.1e1", "100e-2"})
    EXPECT_TRUE(is_exact_number(text).value()) << text;
  for (const char* text : {"0.1", "9007199254740993", "-333333833333500000", "1e23", "5e-324", "1e-400",
                           "18446744073709551615", "9.7517E-319"})
    EXPECT_FALSE(is_exact_number(text).value()) << text;
  EXPECT_FALSE(is_exact_number("1e-99999999999999999999").value());
  EXPECT_TRUE(is_exact_number("0e99999999999999999999").value());
  EXPECT_FALSE(is_exact_number("1e999").has_value());
}

TEST(NumberText, EveryLineOfTheNumberFilesParsesToItsBits) {
  const std::filesystem::path folder = data_folder("numbers");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  std::size_t lines = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::string half;
    std::string single;
    std::string whole;
    std::string text;
    while (file >> half >> single >> whole >> text) {
      if (!is_json_number(text)) continue;
      ++lines;
      struct Row {
        Format format;
        const std::string* right;
      };
      for (const Row& row : {Row{Format::f16, &half}, Row{Format::f32, &single}, Row{Format::f64, &whole}}) {
        const std::uint64_t right = std::stoull(*row.right, nullptr, 16);
        const Result<std::uint64_t> code = parse_number_as(row.format, text);
        ASSERT_EQ(code.has_value(), !is_infinite(spec(row.format), right)) << text;
        if (code) {
          ASSERT_EQ(hex(*code), hex(right)) << text << " as " << spec(row.format).name;
        }
      }
    }
  }
  EXPECT_GT(lines, 1000U);
}

TEST(NumberText, FaultyChoicesLoseWhatTheirNamesSay) {
  // Six digits lose packed fields; a float field loses all of them.
  const std::string six = print_number(0x040101, {.digits = Digits::six}).value();
  EXPECT_EQ(six, "1.29643e-318");
  EXPECT_EQ(parse_number(six).value(), 0x040100U);
  EXPECT_EQ(parse_number("9.7517E-319", {.precision = ParsePrecision::f32}).value(), 0U);
  EXPECT_EQ(parse_number("Infinity", {.non_finite = NonFiniteParsing::accept}).value(), kInfinity);
  EXPECT_EQ(parse_number("1e999", {.non_finite = NonFiniteParsing::accept}).value(), kInfinity);
  EXPECT_EQ(parse_number("-Infinity", {.non_finite = NonFiniteParsing::accept}).value(), kInfinity | kSign);
  EXPECT_EQ(parse_number("NaN", {.non_finite = NonFiniteParsing::accept}).value(), 0x7FF8000000000000U);
  // What serde_json's default reader was measured to give.
  const ParseRules best_effort{.precision = ParsePrecision::best_effort};
  EXPECT_EQ(parse_number("8.8895642e-316", best_effort).value(), 0x0AB976FEU);
  EXPECT_EQ(parse_number("9.7517E-319", best_effort).value(), 0x030301U);
  EXPECT_EQ(parse_number("6E23", best_effort).value(), bits_of(6e23) - 1);
  EXPECT_EQ(parse_number("1.5777777777770001", best_effort).value(), 0x3FF93E93E93E863AU);
  EXPECT_EQ(parse_number("2.61013382786E-312", best_effort).value(), 0x0000007B00F40000U);
  EXPECT_EQ(parse_number("1.39383298354038E-309", best_effort).value(), 0x0001009500950000U);
  EXPECT_EQ(parse_number("0.09007874049960225", best_effort).value(), 0x3FB70F667C82BAC4U);
  EXPECT_EQ(parse_number("1e-309", best_effort).value(), 0x0000B8157268FDAFU);
  EXPECT_EQ(parse_number("-2.5e+2", best_effort).value(), bits_of(-250.0));
  EXPECT_EQ(parse_number("18446744073709551615e-299", best_effort).value(), 0x05DAC9A7B3B7302FU);
  EXPECT_EQ(parse_number("-184467440737095516159.25", best_effort).value(), bits_of(-0x1p64 * 10));
  EXPECT_EQ(parse_number("1e-2147483648", best_effort).value(), 0U);
  EXPECT_EQ(parse_number("0e2147483647", best_effort).value(), 0U);
  EXPECT_FALSE(parse_number("1e2147483647", best_effort));
  EXPECT_EQ(parse_number("9.7517E-319", {.point = PointParsing::ends_the_number}).value(), bits_of(9.0));
  EXPECT_FALSE(parse_number("5e-324", {.subnormal = SubnormalParsing::refused}));
  EXPECT_EQ(parse_number("-5e-324", {.subnormal = SubnormalParsing::flushed}).value(), kSign);
  EXPECT_EQ(parse_number("-0", {.negative_zero = NegativeZeroParsing::integer}).value(), 0U);
  EXPECT_EQ(parse_number("-0.0", {.negative_zero = NegativeZeroParsing::integer}).value(), kSign);
  EXPECT_EQ(parse_number("null", {.null = NullParsing::zero}).value(), 0U);
  EXPECT_EQ(print_number(bits_of(0.1 + 0.2), {.digits = Digits::fifteen}).value(), "0.3");
  EXPECT_EQ(print_number(bits_of(0.1 + 0.7), {.digits = Digits::fifteen}).value(), "0.8");
  EXPECT_EQ(print_number(kSign, {.zero = ZeroPrinting::without_sign}).value(), "0.0");
  EXPECT_EQ(print_number(kSign | 5, {.subnormal = SubnormalPrinting::flushed}).value(), "-0.0");
  EXPECT_EQ(print_number(kInfinity, {.non_finite = NonFinitePrinting::null}).value(), "null");
}

}  // namespace
}  // namespace packcheck::test
