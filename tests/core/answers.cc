#include "tests/core/answers.h"

#include <bit>
#include <cmath>
#include <map>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/affine/affine.h"
#include "core/affine/matmul.h"
#include "core/encoding/bounds.h"
#include "core/encoding/encoding.h"
#include "core/text/number_text.h"
#include "properties/oracles/affine_oracle.h"
#include "properties/oracles/block_oracle.h"
#include "properties/oracles/format_oracle.h"
#include "properties/oracles/narrowing_oracle.h"
#include "properties/oracles/product_oracle.h"
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
  for (const float x : values) add(answer, std::isnan(x) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(x));
}

std::string core_conversions() {
  std::string answer;
  for (const FormatSpec& target : all_formats()) {
    const Format to = target.format;
    for (const std::uint64_t bits : inputs().doubles) add(answer, convert(Format::f64, to, bits));
    for (const std::uint64_t bits : inputs().singles) add(answer, convert(Format::f32, to, bits));
  }
  return answer;
}

/// The whole blocks among the numbers that the encoding takes, chosen in the environment the program starts with.
std::span<const float> values_for(const Encoding& e) {
  static const std::map<std::string, std::vector<float>> taken = [] {
    std::map<std::string, std::vector<float>> all;
    const std::span<const float> values(inputs().block_values);
    for (const Encoding& encoding : all_encodings()) {
      const std::size_t size = encoding.block_size;
      std::vector<float>& blocks = all[encoding.id()];
      for (std::size_t i = 0; i + size <= values.size(); i += size) {
        const std::span<const float> block = values.subspan(i, size);
        if (encoding.accepts_block == nullptr || encoding.accepts_block(block.data()))
          blocks.insert(blocks.end(), block.begin(), block.end());
      }
    }
    return all;
  }();
  return taken.at(e.id());
}
std::span<const std::uint8_t> blocks_for(const Encoding& e) {
  const std::span<const std::uint8_t> all(inputs().blocks);
  return all.first(all.size() / e.block_bytes * e.block_bytes);
}

/// Which bits of the blocks for values_for() the dialect defines, in the order of the array.
const std::vector<std::uint8_t>& defined_bits(const Encoding& e) {
  static std::map<std::string, std::vector<std::uint8_t>> all;
  std::vector<std::uint8_t>& bits = all[e.id()];
  if (bits.empty())
    bits = oracle::array_order(e.id(), oracle::quantize(e.id(), values_for(e)).value().specified).value();
  return bits;
}

std::string core_blocks() {
  std::string answer;
  for (const Encoding& encoding : all_encodings()) {
    if (encoding.quantizes) {
      std::vector<std::uint8_t> quantized(encoded_bytes(encoding, values_for(encoding).size()).value());
      if (!quantize(encoding, values_for(encoding), quantized)) answer += "refused";
      const std::vector<std::uint8_t>& defined = defined_bits(encoding);
      for (std::size_t i = 0; i < quantized.size(); ++i) quantized[i] &= defined[i];
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

/// Two rows of 64 numbers by four outputs of codes of `bits`.
AffineProduct product_of(unsigned bits, SumOrder order) {
  return {2, 64, 4, 32, bits, Format::f32, order, std::span(inputs().block_values).first(128)};
}
PackedMatrix weights_of(unsigned bits) {
  const Inputs& in = inputs();
  return {std::span(in.affine_codes).first(32U * bits), std::span(in.affine_scales).first(32),
          std::span(in.affine_biases).first(32)};
}

std::string core_products() {
  std::string answer;
  for (const unsigned bits : {2U, 3U, 4U, 5U, 6U, 8U}) {
    for (const SumOrder order : {SumOrder::sequential, SumOrder::lanes, SumOrder::pairwise, SumOrder::per_group}) {
      std::vector<float> y(8);
      if (!affine_matmul(product_of(bits, order), weights_of(bits), y)) answer += "refused";
      add(answer, y);
    }
  }
  return answer;
}

std::string oracle_products() {
  std::string answer;
  for (const unsigned bits : {2U, 3U, 4U, 5U, 6U, 8U}) {
    const AffineProduct p = product_of(bits, SumOrder::lanes);
    const PackedMatrix w = weights_of(bits);
    const oracle::PackedProduct product{p.rows,      p.in_features, p.out_features, p.group_size, bits,
                                        Format::f32, p.x,           w.codes,        w.scales,     w.biases};
    for (std::size_t i = 0; i < 8; ++i) {
      const oracle::ExpectedElement expected = oracle::expected_element(product, i / 4, i % 4);
      add(answer, std::bit_cast<std::uint64_t>(expected.sum.value()));
      add(answer, std::bit_cast<std::uint64_t>(expected.bound));
    }
  }
  return answer;
}

std::string oracle_conversions() {
  std::string answer;
  for (const FormatSpec& to : all_formats())
    for (const std::uint64_t bits : inputs().doubles) add(answer, oracle::convert(Format::f64, to.format, bits, {}));
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

constexpr std::array<Operation, 10> kOperations{{{"core convert", core_conversions},
                                                 {"core quantize and dequantize", core_blocks},
                                                 {"core error_bound", core_bounds},
                                                 {"core print and parse", core_texts},
                                                 {"core affine_dequantize", core_affine},
                                                 {"core affine_matmul", core_products},
                                                 {"format and narrowing oracles", oracle_conversions},
                                                 {"block and affine oracles", oracle_blocks_and_affine},
                                                 {"product oracle", oracle_products},
                                                 {"text oracle", oracle_texts}}};

}  // namespace

std::span<const Operation> answering_operations() { return kOperations; }

void make_inputs() {
  (void)inputs();
  for (const Encoding& e : all_encodings())
    if (e.quantizes) (void)defined_bits(e);
}

#if defined(__x86_64__)
constexpr unsigned kFlush = 0x8040;     // FTZ and DAZ of MXCSR
constexpr unsigned kModeBits = 0xE040;  // and the rounding mode
void set_flush(bool on) { _mm_setcsr(on ? _mm_getcsr() | kFlush : _mm_getcsr() & ~kFlush); }
unsigned control() { return _mm_getcsr() & kModeBits; }
#else
void set_flush(bool) {}
unsigned control() { return static_cast<unsigned>(std::fegetround()); }
#endif

}  // namespace packcheck::test
