// Laws of block encodings. The oracle is properties/oracles/block_oracle.h, the error bound with its
// derivation core/encoding/bounds.h.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/encoding/bounds.h"
#include "properties/cases/cases.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/oracles/block_oracle.h"

namespace packcheck {
namespace {

std::string text_of_block(std::span<const float> block) {
  std::string text;
  for (const float value : block.first(std::min<std::size_t>(block.size(), 4)))
    text += (text.empty() ? "" : ", ") + describe(value);
  return "block of " + std::to_string(block.size()) + ": " + text + (block.size() > 4 ? ", …" : "");
}

std::string text_of_double(double value) { return describe(Format::f64, std::bit_cast<std::uint64_t>(value)); }

// Laws see each block's bytes together; a subject sees the array as it is declared, which may have planes.

Answer<Bytes> quantized(Subject& subject, const Encoding& e, std::span<const float> values) {
  Answer<Bytes> answer = call_quantize(subject, e, values);
  if (answer.ok() && e.planes[0] != 0) answer.value = oracle::block_order(e.id(), answer.value).value_or(Bytes{});
  return answer;
}

Answer<std::vector<float>> dequantized(Subject& subject, const Encoding& e, const Bytes& blocks) {
  if (e.planes[0] == 0) return call_dequantize(subject, e, blocks);
  return call_dequantize(subject, e, oracle::array_order(e.id(), blocks).value_or(Bytes{}));
}

/// The subject's own decoder where it has one, else the oracle's.
Answer<std::vector<float>> decode(Subject& subject, const Encoding& e, const Bytes& blocks) {
  if (subject.info().find(Operation::dequantize, e.id()) != nullptr) return dequantized(subject, e, blocks);
  return {Outcome::answered, oracle::dequantize(e.id(), blocks).value_or(std::vector<float>{}), {}};
}

/// Whether a quantizer of this dialect must refuse these numbers. Then only quantize_agrees has something to say.
bool must_refuse(const ValuesCase& c) { return !oracle::accepts(c.encoding->id(), c.values); }
constexpr const char* kRefuses = "the dialect refuses these numbers";

Verdict check_bound(Subject& subject, const ValuesCase& c) {
  const Encoding& e = *c.encoding;
  if (must_refuse(c)) return not_applicable(kRefuses);
  const Answer<Bytes> blocks = quantized(subject, e, c.values);
  if (!blocks.ok()) return *unanswered(blocks, e.id(), text_of_block(c.values));
  const Answer<std::vector<float>> decoded = decode(subject, e, blocks.value);
  if (!decoded.ok()) return *unanswered(decoded, e.id(), describe_bytes(blocks.value));
  Judge judge;
  std::vector<double> bounds(e.block_size);
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    const std::span<const float> block = std::span(c.values).subspan(i / e.block_size * e.block_size, e.block_size);
    if (i % e.block_size == 0) error_bounds(e, block, bounds);
    const double bound = bounds[i % e.block_size];
    if (std::isinf(bound)) continue;
    judge.add_checked(1);
    const double error = std::fabs(static_cast<double>(c.values[i]) - static_cast<double>(decoded.value[i]));
    if (error <= bound) continue;  // a NaN is broken
    judge.broken({e.id() + " element",
                  "element " + std::to_string(i) + " = " + describe(c.values[i]) + " of " + text_of_block(block),
                  "within " + text_of_double(bound), describe(decoded.value[i]) + ", off by " + text_of_double(error),
                  "The proved bound of the encoding is all a quantizer may lose, for most half a step and the scale's "
                  "rounding."});
  }
  Verdict verdict = std::move(judge).verdict();
  if (verdict.ruling == Ruling::holds && verdict.checked == 0)
    return not_applicable("nothing is promised for this block");
  return verdict;
}

Verdict check_total(Subject& subject, const BlocksCase& c) {
  const Encoding& e = *c.encoding;
  const Answer<std::vector<float>> decoded = dequantized(subject, e, c.blocks);
  if (!decoded.ok()) return *unanswered(decoded, e.id(), describe_bytes(c.blocks));
  Judge judge;
  judge.add_checked(c.blocks.size() / e.block_bytes);
  return std::move(judge).verdict();
}

/// Below this no scale overflows, in any encoding: an f16 holds it.
constexpr float kSafe = 32768.0F;

Verdict check_finite(Subject& subject, const ValuesCase& c) {
  const Encoding& e = *c.encoding;
  if (!std::all_of(c.values.begin(), c.values.end(), [](float x) { return std::fabs(x) <= kSafe; }))
    return not_applicable("a number that is not finite or whose scale may overflow");
  if (must_refuse(c)) return not_applicable("the dialect refuses these numbers");
  const Answer<Bytes> blocks = quantized(subject, e, c.values);
  if (!blocks.ok()) return *unanswered(blocks, e.id(), text_of_block(c.values));
  const std::vector<float> decoded = oracle::dequantize(e.id(), blocks.value).value_or(std::vector<float>{});
  Judge judge;
  std::vector<double> bounds(e.block_size);
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const std::size_t block = i / e.block_size;
    if (i % e.block_size == 0) error_bounds(e, std::span(c.values).subspan(block * e.block_size, e.block_size), bounds);
    // A rule with a bound that promises nothing here is known to lose the number (an exponent of MLX's that wraps).
    if (e.bound_block != nullptr && std::isinf(bounds[i % e.block_size])) continue;
    judge.add_checked(1);
    if (std::isfinite(decoded[i]) || judge.knows(e.id() + " element")) continue;
    judge.broken({e.id() + " element",
                  "element " + std::to_string(i % e.block_size) + " = " + describe(c.values[i]) + " of " +
                      text_of_block(std::span(c.values).subspan(block * e.block_size, e.block_size)),
                  "a finite number", describe(decoded[i]),
                  "The block is " +
                      describe_bytes(std::span(blocks.value).subspan(block * e.block_bytes, e.block_bytes)) + "."});
  }
  Verdict verdict = std::move(judge).verdict();
  if (verdict.ruling == Ruling::holds && verdict.checked == 0)
    return not_applicable("nothing is promised for this block");
  return verdict;
}

Verdict check_deterministic(Subject& subject, const ValuesCase& c) {
  const Encoding& e = *c.encoding;
  if (must_refuse(c)) return not_applicable(kRefuses);
  const Answer<Bytes> first = quantized(subject, e, c.values);
  if (!first.ok()) return *unanswered(first, e.id(), text_of_block(c.values));
  const Answer<Bytes> second = quantized(subject, e, c.values);
  if (!second.ok()) return *unanswered(second, e.id(), text_of_block(c.values));
  Judge judge;
  judge.add_checked(c.values.size() / e.block_size);
  const auto [one, other] = std::mismatch(first.value.begin(), first.value.end(), second.value.begin());
  if (one != first.value.end())
    judge.broken({e.id() + " two answers", text_of_block(c.values), describe_bytes(first.value),
                  describe_bytes(second.value),
                  "The same call gave other bytes the second time, first at byte " +
                      std::to_string(one - first.value.begin()) + "."});
  return std::move(judge).verdict();
}

/// What went wrong together: a scale or a code, and whether the scale
/// in f32 is subnormal, where 1/d overflows.
std::string part_of_block(const Encoding& e, std::size_t byte, std::span<const float> block) {
  float largest = 0.0F;
  for (const float value : block) largest = std::max(largest, std::fabs(value));
  const std::size_t at = byte % e.block_bytes;
  const bool is_scale = std::any_of(e.scales.begin(), e.scales.end(), [at](const ScaleField& field) {
    return at >= field.offset && at < field.offset + field.bytes;
  });
  const std::string part = is_scale ? "scale" : "code";
  return largest < 0x1p-119F ? part + " of a block of tiny numbers" : part;
}

/// Numbers that the dialect refuses: a refusal holds, an answer is broken.
Verdict check_refusal(Subject& subject, const ValuesCase& c) {
  const Encoding& e = *c.encoding;
  const Answer<Bytes> answer = call_quantize(subject, e, c.values);
  Judge judge;
  judge.add_checked(1);
  if (answer.outcome == Outcome::refused) return std::move(judge).verdict();
  if (!answer.ok()) return *unanswered(answer, e.id(), text_of_block(c.values));
  judge.broken({e.id() + " not refused", text_of_block(c.values), "a refusal", describe_bytes(answer.value),
                "A number becomes no code in this dialect, whose quantizer refuses it."});
  return std::move(judge).verdict();
}

Verdict check_quantize_agrees(Subject& subject, const ValuesCase& c) {
  const Encoding& e = *c.encoding;
  if (must_refuse(c)) return check_refusal(subject, c);
  const auto expected = oracle::quantize(e.id(), c.values);
  if (!expected) return not_applicable("the oracle has no quantizer of this dialect");
  const Answer<Bytes> actual = quantized(subject, e, c.values);
  if (!actual.ok()) return *unanswered(actual, e.id(), text_of_block(c.values));
  Judge judge;
  for (std::size_t i = 0; i < actual.value.size(); ++i) {
    if (expected->specified[i] == 0) continue;
    judge.add_checked(1);
    if (((actual.value[i] ^ expected->bytes[i]) & expected->specified[i]) == 0) continue;
    const std::size_t block = i / e.block_bytes;
    const std::size_t at = i % e.block_bytes;
    const std::span<const float> values = std::span(c.values).subspan(block * e.block_size, e.block_size);
    std::string place = e.id() + " " + part_of_block(e, i, values);
    if (judge.knows(place)) continue;
    judge.broken({std::move(place), text_of_block(values),
                  describe_bytes_about(std::span(expected->bytes).subspan(block * e.block_bytes, e.block_bytes), at),
                  describe_bytes_about(std::span(actual.value).subspan(block * e.block_bytes, e.block_bytes), at),
                  "Byte " + std::to_string(at) + " of block " + std::to_string(block) + " differs."});
  }
  return std::move(judge).verdict();
}

bool same_float(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

Verdict check_dequantize_agrees(Subject& subject, const BlocksCase& c) {
  const Encoding& e = *c.encoding;
  const auto expected = oracle::dequantize(e.id(), c.blocks);
  if (!expected) return not_applicable("the oracle has no decoder of this dialect");
  const Answer<std::vector<float>> actual = dequantized(subject, e, c.blocks);
  if (!actual.ok()) return *unanswered(actual, e.id(), describe_bytes(c.blocks));
  Judge judge;
  judge.add_checked(expected->size());
  for (std::size_t i = 0; i < expected->size(); ++i) {
    if (same_float((*expected)[i], actual.value[i]) || judge.knows(e.id() + " element")) continue;
    const std::size_t block = i / e.block_size;
    judge.broken({e.id() + " element",
                  "element " + std::to_string(i % e.block_size) + " of block " +
                      describe_bytes(std::span(c.blocks).subspan(block * e.block_bytes, e.block_bytes)),
                  describe((*expected)[i]), describe(actual.value[i]),
                  "The value of an encoded number is what the declared dialect's decoder gives; any NaN is as good as "
                  "another."});
  }
  return std::move(judge).verdict();
}

}  // namespace

std::vector<Law> encoding_laws() {
  const auto quantize_variants = variants_of(Operation::quantize);
  const auto dequantize_variants = variants_of(Operation::dequantize);
  return {
      make_law<ValuesCase>("encoding.dequantize_inverts_quantize_within_the_bound",
                           "Every element survives quantizing within its encoding's proved bound, for most half a step "
                           "and the scale's rounding, or one step where its code is clipped.",
                           {Operation::quantize}, values_cases, quantize_variants, check_bound),
      make_law<BlocksCase>("encoding.dequantize_is_total",
                           "Every sequence of block bytes is decoded: no crash, no refusal.", {Operation::dequantize},
                           blocks_cases, dequantize_variants, check_total),
      make_law<ValuesCase>("encoding.quantize_keeps_finite_numbers_finite",
                           "Finite numbers whose scale fits are decoded as finite numbers: blocks of zeros, of equal "
                           "and of tiny numbers included.",
                           {Operation::quantize}, values_cases, quantize_variants, check_finite),
      make_law<ValuesCase>("encoding.quantize_is_deterministic_and_writes_every_byte",
                           "Quantizing the same numbers twice gives the same bytes, and every byte is written.",
                           {Operation::quantize}, values_cases, quantize_variants, check_deterministic),
      make_law<ValuesCase>(
          "encoding.quantize_agrees_with_the_declared_dialect",
          "Quantizing gives, bit for bit, the blocks that the reference gives in the declared dialect.",
          {Operation::quantize}, values_cases, quantize_variants, check_quantize_agrees),
      make_law<BlocksCase>("encoding.dequantize_agrees_with_the_declared_dialect",
                           "Decoding gives, bit for bit, the numbers that the reference gives in the declared dialect.",
                           {Operation::dequantize}, blocks_cases, dequantize_variants, check_dequantize_agrees)};
}

}  // namespace packcheck
