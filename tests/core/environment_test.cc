// The same answers whatever the caller's rounding mode, flush-to-zero or locale, and the caller's
// environment as it was.
#include "core/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <bit>
#include <cfenv>
#include <clocale>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/affine/affine.h"
#include "core/encoding/bounds.h"
#include "core/encoding/encoding.h"
#include "core/text/number_text.h"
#include "properties/oracles/affine_oracle.h"
#include "properties/oracles/block_oracle.h"
#include "properties/oracles/format_oracle.h"
#include "properties/oracles/narrowing_oracle.h"
#include "properties/oracles/text_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

/// The numbers every answer is made from: built once, in the environment the program starts with.
struct Inputs {
  std::vector<std::uint64_t> doubles;
  std::vector<std::uint64_t> singles;
  std::vector<std::string> texts;
  std::vector<float> block_values;
  std::vector<std::uint8_t> blocks;  // random bytes; each encoding takes as many whole blocks as there are
  std::vector<std::uint8_t> affine_codes;
  std::vector<std::uint8_t> affine_scales;
  std::vector<std::uint8_t> affine_biases;

  Inputs() : doubles(random_codes(Format::f64, 2000, 71)), singles(random_codes(Format::f32, 4000, 72)) {
    for (std::uint64_t bits = 1; bits < 1U << 25; bits = bits * 3 + 1) doubles.push_back(bits);  // subnormals
    for (std::uint64_t bits = 1; bits < 1U << 23; bits = bits * 3 + 1) singles.push_back(bits);
    for (const char* const text : {"9.7517E-319", "0.1", "1e23", "8.8895642e-316", "4.9e-324", "-1.5", "2.5",
                                   "0.30000000000000004", "179769313486231570000000000000000000000e270", "1e-400"})
      texts.emplace_back(text);
    for (const std::vector<float>& block : sample_blocks(20, 73))
      block_values.insert(block_values.end(), block.begin(), block.end());
    Random random(74);
    blocks.resize(1200);
    affine_codes.resize(8 * 32);
    affine_scales.resize(8 * 2 * 4);
    affine_biases.resize(8 * 2 * 4);
    for (std::vector<std::uint8_t>* const bytes : {&blocks, &affine_codes, &affine_scales, &affine_biases})
      for (std::uint8_t& byte : *bytes) byte = static_cast<std::uint8_t>(random.bits());
    // The first matrix rows get subnormal scales.
    for (std::size_t i = 3; i < affine_scales.size() / 2; i += 4) affine_scales[i] = affine_biases[i] = 0;
  }
};

const Inputs& inputs() {
  static const Inputs all;
  return all;
}

void add(std::string& answer, std::uint64_t bits) { answer += hex(bits) + " "; }
void add(std::string& answer, const std::vector<std::uint8_t>& bytes) { answer.append(bytes.begin(), bytes.end()); }
void add(std::string& answer, const std::vector<float>& values) {
  for (const float x : values) add(answer, std::bit_cast<std::uint32_t>(x));
}

std::string core_conversions() {
  std::string answer;
  for (const Format to : kFormats) {
    for (const std::uint64_t bits : inputs().doubles) add(answer, convert(Format::f64, to, bits));
    for (const std::uint64_t bits : inputs().singles) add(answer, convert(Format::f32, to, bits));
  }
  return answer;
}

/// The whole blocks among the numbers and among the bytes.
std::span<const float> values_for(const Encoding& e) {
  const std::span<const float> all(inputs().block_values);
  return all.first(all.size() / e.block_size * e.block_size);
}
std::span<const std::uint8_t> blocks_for(const Encoding& e) {
  const std::span<const std::uint8_t> all(inputs().blocks);
  return all.first(all.size() / e.block_bytes * e.block_bytes);
}

std::string core_blocks() {
  std::string answer;
  for (const Encoding& encoding : all_encodings()) {
    if (encoding.quantizes) {
      std::vector<std::uint8_t> quantized(encoded_bytes(encoding, values_for(encoding).size()).value());
      if (!quantize(encoding, values_for(encoding), quantized)) answer += "refused";
      add(answer, quantized);
    }
    std::vector<float> values(decoded_count(encoding, blocks_for(encoding).size()).value());
    if (!dequantize(encoding, blocks_for(encoding), values)) answer += "refused";
    add(answer, values);
  }
  return answer;
}

std::string core_bounds() {
  std::string answer;
  for (const Encoding& encoding : all_encodings()) {
    if (!encoding.quantizes) continue;
    const std::span<const float> all = values_for(encoding);
    std::vector<double> bounds(encoding.block_size);
    for (std::size_t i = 0; i < all.size(); i += encoding.block_size) {
      error_bounds(encoding, all.subspan(i, encoding.block_size), bounds);
      for (const double bound : bounds) add(answer, std::bit_cast<std::uint64_t>(bound));
    }
  }
  return answer;
}

std::string core_texts() {
  std::string answer;
  for (const std::uint64_t bits : inputs().doubles) {
    const Result<std::string> text = print_number(bits);
    if (!text) continue;
    answer += *text + " ";
    add(answer, parse_number(*text).value());
  }
  for (const std::string& text : inputs().texts) {
    add(answer, parse_number(text).value());
    add(answer, parse_number(text, {.precision = ParsePrecision::f32}).value());
  }
  return answer;
}

std::string core_affine() {
  const Inputs& in = inputs();
  std::vector<float> out(8 * 64);
  const AffineWeights weights{8, 64, 2, Format::f32, in.affine_codes, in.affine_scales, in.affine_biases};
  std::string answer = affine_dequantize(weights, out) ? "" : "refused";
  add(answer, out);
  return answer;
}

std::string oracle_conversions() {
  std::string answer;
  for (const Format to : kFormats)
    for (const std::uint64_t bits : inputs().doubles) add(answer, oracle::convert(Format::f64, to, bits, {}));
  std::vector<std::uint32_t> singles;
  for (const std::uint64_t bits : inputs().singles) singles.push_back(static_cast<std::uint32_t>(bits));
  std::vector<std::uint16_t> narrowed(singles.size());
  oracle::narrow_f32_to_f16(singles.data(), narrowed.data(), singles.size());
  for (const std::uint16_t code : narrowed) add(answer, code);
  oracle::f16c_narrow(singles.data(), narrowed.data(), singles.size());
  for (const std::uint16_t code : narrowed) add(answer, code);
  return answer;
}

std::string oracle_blocks_and_affine() {
  std::string answer;
  for (const Encoding& encoding : all_encodings()) {
    const std::string id = encoding.id();
    if (encoding.quantizes) {
      const oracle::ExpectedBlocks blocks = oracle::quantize(id, values_for(encoding)).value();
      add(answer, blocks.bytes);
      add(answer, blocks.specified);
    }
    add(answer, oracle::dequantize(id, blocks_for(encoding)).value());
  }
  const Inputs& in = inputs();
  add(answer,
      oracle::affine_weights({8, 64, 2, Format::f32, in.affine_codes, in.affine_scales, in.affine_biases}).value());
  return answer;
}

std::string oracle_texts() {
  std::string answer;
  for (const std::string& text : inputs().texts) add(answer, oracle::parse(text).value().bits);
  return answer;
}

struct Operation {
  const char* name;
  std::string (*answers)();
};
constexpr std::array<Operation, 8> kOperations{{{"core convert", core_conversions},
                                                {"core quantize and dequantize", core_blocks},
                                                {"core error_bound", core_bounds},
                                                {"core print and parse", core_texts},
                                                {"core affine_dequantize", core_affine},
                                                {"format and narrowing oracles", oracle_conversions},
                                                {"block and affine oracles", oracle_blocks_and_affine},
                                                {"text oracle", oracle_texts}}};

/// The answers in the environment the program started with; asked for before any switch.
const std::array<std::string, kOperations.size()>& right_answers() {
  static const std::array<std::string, kOperations.size()> all = [] {
    std::array<std::string, kOperations.size()> answers;
    for (std::size_t i = 0; i < kOperations.size(); ++i) answers[i] = kOperations[i].answers();
    return answers;
  }();
  return all;
}

struct Mode {
  const char* name;
  int rounding;
};
constexpr std::array<Mode, 4> kModes{
    {{"nearest", FE_TONEAREST}, {"upward", FE_UPWARD}, {"downward", FE_DOWNWARD}, {"toward zero", FE_TOWARDZERO}}};

#if defined(__x86_64__)
constexpr unsigned kFlush = 0x8040;     // FTZ and DAZ of MXCSR
constexpr unsigned kModeBits = 0xE040;  // and the rounding mode
void set_flush(bool on) { _mm_setcsr(on ? _mm_getcsr() | kFlush : _mm_getcsr() & ~kFlush); }
unsigned control() { return _mm_getcsr() & kModeBits; }
constexpr std::array<bool, 2> kFlushing{false, true};
#else
void set_flush(bool) {}
unsigned control() { return static_cast<unsigned>(std::fegetround()); }
constexpr std::array<bool, 1> kFlushing{false};
#endif

/// Runs `work` in an environment and goes back, so that no assertion of the test runs in it.
template <class Work>
void in_environment(const Mode& mode, bool flush, Work work) {
  std::fesetround(mode.rounding);
  set_flush(flush);
  work();
  set_flush(false);
  std::fesetround(FE_TONEAREST);
}

TEST(Environment, TheTestReallySwitchesRoundingAndFlushing) {
  // Volatile: computed where it is written, not when the test is compiled.
  const volatile double three = 3.0;
  const volatile double tiny = std::numeric_limits<double>::denorm_min();
  volatile double nearest = 0.0;
  volatile double upward = 0.0;
  volatile double flushed = 1.0;
  bool exact = true;
  in_environment(kModes[0], false, [&] { nearest = 1.0 / three; });
  in_environment(kModes[1], kFlushing.back(), [&] {
    upward = 1.0 / three;
    flushed = tiny * three;
    exact = environment_is_exact();
  });
  EXPECT_TRUE(nearest < upward);
  EXPECT_EQ(flushed == 0.0, kFlushing.back());
  EXPECT_FALSE(exact);
  EXPECT_TRUE(environment_is_exact());
}

TEST(Environment, AnExactEnvironmentIsExactAndRestoresWhatItFound) {
  for (const Mode& mode : kModes) {
    for (const bool flush : kFlushing) {
      unsigned before = 0;
      unsigned after = 1;
      bool exact = false;
      in_environment(mode, flush, [&] {
        before = control();
        {
          const ExactEnvironment environment;
          exact = environment_is_exact();
        }
        after = control();
      });
      EXPECT_TRUE(exact) << mode.name << flush;
      EXPECT_EQ(before, after) << mode.name << flush;
    }
  }
}

TEST(Environment, NoAnswerDependsOnItAndTheCallersIsRestored) {
  const auto& right = right_answers();
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    ASSERT_GT(right[i].size(), 100U);
    for (const Mode& mode : kModes) {
      for (const bool flush : kFlushing) {
        std::string answer;
        unsigned before = 0;
        unsigned after = 1;
        int rounding_after = -1;
        in_environment(mode, flush, [&] {
          before = control();
          answer = kOperations[i].answers();
          after = control();
          rounding_after = std::fegetround();
        });
        EXPECT_TRUE(answer == right[i]) << kOperations[i].name << ", rounding " << mode.name
                                        << (flush ? ", flushing subnormals" : "");
        EXPECT_EQ(before, after) << kOperations[i].name;
        EXPECT_EQ(rounding_after, mode.rounding) << kOperations[i].name;
      }
    }
  }
}

/// The German locale while alive: installed, or built by localedef in a folder of its own.
class CommaLocale {
 public:
  CommaLocale() {
    if (activate()) return;
    std::string pattern = (std::filesystem::temp_directory_path() / "packcheck-locale-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) return;
    folder_ = pattern;
    const std::string command = "localedef -i de_DE -f UTF-8 '" + pattern + "/de_DE.UTF-8' >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) return;
    setenv("LOCPATH", pattern.c_str(), 1);
    activate();
  }
  ~CommaLocale() {
    std::setlocale(LC_ALL, "C");
    if (folder_.empty()) return;
    unsetenv("LOCPATH");
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

  [[nodiscard]] static bool active() { return std::string(std::localeconv()->decimal_point) == ","; }

 private:
  static bool activate() { return std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr && active(); }
  std::filesystem::path folder_;
};

TEST(Environment, ADecimalCommaInTheCallersLocaleChangesNothing) {
  const auto& right = right_answers();
  const CommaLocale locale;
  if (!CommaLocale::active()) GTEST_SKIP() << "no locale de_DE.UTF-8, and localedef cannot build one";
  ASSERT_EQ(strtod("1.5", nullptr), 1.0) << "the locale is in force: strtod stops at the point";
  for (std::size_t i = 0; i < kOperations.size(); ++i)
    EXPECT_TRUE(kOperations[i].answers() == right[i]) << kOperations[i].name;
}

}  // namespace
}  // namespace packcheck::test
