#include "properties/oracles/block_oracle.h"

#include <cmath>

#include "properties/oracles/default_environment.h"
#include "properties/oracles/half_value.h"

namespace packcheck::oracle {
namespace {

constexpr std::size_t kElements = 32;

enum class Dialect { unknown, q8_0_ggml, q4_0_ggml, q4_0_skainet };

Dialect dialect_of(std::string_view encoding) {
  if (encoding == "q8_0:ggml") return Dialect::q8_0_ggml;
  if (encoding == "q4_0:ggml") return Dialect::q4_0_ggml;
  if (encoding == "q4_0:skainet") return Dialect::q4_0_skainet;
  return Dialect::unknown;
}

std::size_t block_bytes(Dialect dialect) { return dialect == Dialect::q8_0_ggml ? 34 : 18; }

// One f32 operation. The operation in double has at least 2·24 + 2 bits, so rounding its result once
// more to 24 bits gives what rounding the exact result would (Figueroa 1995). Products are exact in double
// anyway, and so are sums that are subnormal in f32. A quotient that is subnormal in f32 is a/127 or
// a/8 with a a multiple of 2^-149: it is a midpoint between two subnormals or at least 2^-31 of itself
// away from one, which double keeps apart.
double as_f32(double exact_or_double) { return static_cast<double>(static_cast<float>(exact_or_double)); }
double times(double a, double b) { return as_f32(a * b); }
double divided(double a, double b) { return as_f32(a / b); }
double plus(double a, double b) { return as_f32(a + b); }

double reciprocal_or_zero(double d) { return d == 0.0 ? 0.0 : divided(1.0, d); }

/// Writes one block and says which of its bits are defined.
class BlockWriter {
 public:
  BlockWriter(ExpectedBlocks& blocks, std::size_t start) : blocks_(blocks), start_(start) {}

  void half(std::uint16_t code) {
    set(0, static_cast<std::uint8_t>(code % 256), 0xFF);
    set(1, static_cast<std::uint8_t>(code / 256), 0xFF);
  }
  /// A whole code byte; undefined when `code` is empty.
  void code_byte(std::size_t index, std::optional<int> code) {
    if (code) set(2 + index, static_cast<std::uint8_t>((*code + 256) % 256), 0xFF);
  }
  /// Two 4-bit codes. An undefined low code spills into the high half of the byte.
  void code_pair(std::size_t index, std::optional<int> low, std::optional<int> high) {
    if (!low) return;
    if (high)
      set(2 + index, static_cast<std::uint8_t>(*low + 16 * *high), 0xFF);
    else
      set(2 + index, static_cast<std::uint8_t>(*low), 0x0F);
  }

 private:
  void set(std::size_t offset, std::uint8_t byte, std::uint8_t mask) {
    blocks_.bytes[start_ + offset] = byte;
    blocks_.specified[start_ + offset] = mask;
  }

  ExpectedBlocks& blocks_;
  std::size_t start_;
};

void quantize_q8_0(std::span<const float> x, BlockWriter block) {
  double largest = 0.0;
  for (const float v : x) {
    if (std::isnan(v)) return;  // nothing of this block is defined
    largest = std::fmax(largest, std::fabs(static_cast<double>(v)));
  }
  const double d = divided(largest, 127.0);
  const double inverse = reciprocal_or_zero(d);
  block.half(nearest_half(d));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double scaled = times(static_cast<double>(x[i]), inverse);
    // roundf rounds halves away from zero; adding 0.5 is exact in double at this size.
    const double code = std::copysign(std::floor(std::fabs(scaled) + 0.5), scaled);
    const bool defined = code > -129.0 && code < 128.0;
    block.code_byte(i, defined ? std::optional<int>(static_cast<int>(code)) : std::nullopt);
  }
}

std::optional<int> ggml_code(double shifted) {
  // (int8_t)shifted truncates; outside of int8_t, and for NaN, C defines nothing.
  if (!(shifted > -129.0 && shifted < 128.0)) return std::nullopt;
  const int code = static_cast<int>(std::trunc(shifted));
  return code < 15 ? code : 15;
}

std::optional<int> kotlin_code(double shifted) {
  if (std::isnan(shifted)) return 0;
  return static_cast<int>(std::fmin(15.0, std::fmax(0.0, std::trunc(shifted))));
}

void quantize_q4_0(std::span<const float> x, BlockWriter block, bool skainet) {
  double extreme = 0.0;  // the first of the largest magnitude; NaN never wins a comparison
  for (const float v : x)
    if (std::fabs(static_cast<double>(v)) > std::fabs(extreme)) extreme = static_cast<double>(v);
  const double d = divided(extreme, -8.0);
  const double inverse = reciprocal_or_zero(d);
  block.half(skainet ? skainet_half(d) : nearest_half(d));
  const auto code = [&](float v) {
    const double shifted = plus(times(static_cast<double>(v), inverse), 8.5);
    return skainet ? kotlin_code(shifted) : ggml_code(shifted);
  };
  for (std::size_t j = 0; j < kElements / 2; ++j) block.code_pair(j, code(x[j]), code(x[j + kElements / 2]));
}

[[gnu::noinline]] void quantize_all(Dialect dialect, std::span<const float> values, ExpectedBlocks& blocks) {
  for (std::size_t b = 0; b < values.size() / kElements; ++b) {
    const std::span<const float> x = values.subspan(b * kElements, kElements);
    const BlockWriter block(blocks, b * block_bytes(dialect));
    if (dialect == Dialect::q8_0_ggml)
      quantize_q8_0(x, block);
    else
      quantize_q4_0(x, block, dialect == Dialect::q4_0_skainet);
  }
}

/// The integer that multiplies the scale for element `i` of a block.
int code_of_element(Dialect dialect, std::span<const std::uint8_t> block, std::size_t i) {
  if (dialect == Dialect::q8_0_ggml) {
    const int byte = block[2 + i];
    return byte < 128 ? byte : byte - 256;
  }
  const int byte = block[2 + i % 16];
  return (i < 16 ? byte % 16 : byte / 16) - 8;
}

void dequantize_all(Dialect dialect, std::span<const std::uint8_t> blocks, std::vector<float>& out) {
  const std::size_t bytes = block_bytes(dialect);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::span<const std::uint8_t> block = blocks.subspan(i / kElements * bytes, bytes);
    const double scale = half_value(static_cast<std::uint16_t>(block[0] + 256 * block[1]));
    // At most 8 + 11 bits, a multiple of 2^-24: exact in double and in f32, whatever the environment.
    out[i] = static_cast<float>(code_of_element(dialect, block, i % kElements) * scale);
  }
}

}  // namespace

std::optional<ExpectedBlocks> quantize(std::string_view encoding, std::span<const float> values) {
  const Dialect dialect = dialect_of(encoding);
  if (dialect == Dialect::unknown || values.size() % kElements != 0) return std::nullopt;
  const std::size_t size = values.size() / kElements * block_bytes(dialect);
  ExpectedBlocks blocks{std::vector<std::uint8_t>(size), std::vector<std::uint8_t>(size)};
  const DefaultEnvironment environment;
  quantize_all(dialect, values, blocks);
  return blocks;
}

std::optional<std::vector<float>> dequantize(std::string_view encoding, std::span<const std::uint8_t> blocks) {
  const Dialect dialect = dialect_of(encoding);
  if (dialect == Dialect::unknown || blocks.size() % block_bytes(dialect) != 0) return std::nullopt;
  std::vector<float> values(blocks.size() / block_bytes(dialect) * kElements);
  dequantize_all(dialect, blocks, values);
  return values;
}

}  // namespace packcheck::oracle
