// Every level of instructions against the plain functions that state the rules; tensors in other dtypes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "core/encoding/bounds.h"
#include "core/format/convert.h"
#include "core/format/dialect.h"
#include "core/format/dtype_convert.h"
#include "core/simd.h"
#include "properties/checks/checks.h"
#include "properties/oracles/format_oracle.h"

namespace packcheck {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// The level in use is changed, and is the best again at the end.
class Levels {
 public:
  Levels() = default;
  ~Levels() { (void)set_simd_level(best_simd_level()); }
  Levels(const Levels&) = delete;
  Levels& operator=(const Levels&) = delete;

  /// `make` at every level: whether all give what the rule gives.
  template <class Make>
  static bool agree(const Make& make) {
    (void)set_simd_level(SimdLevel::rule);
    const auto expected = make();
    for (const SimdLevel level : {SimdLevel::plain, SimdLevel::avx2, SimdLevel::avx512}) {
      if (set_simd_level(level) != (level <= best_simd_level())) return false;
      if (simd_level() > best_simd_level() || simd_level_name(simd_level()).empty() || make() != expected) return false;
    }
    return true;
  }
};

std::vector<std::uint32_t> bits_of(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> bits(numbers.size());
  std::transform(numbers.begin(), numbers.end(), bits.begin(), [](float n) { return std::bit_cast<std::uint32_t>(n); });
  return bits;
}

/// Numbers of all kinds; near each other for a block now and then, so that its codes differ.
std::vector<float> draw_numbers(Source& source, std::size_t count) {
  std::vector<float> numbers;
  const bool kind = source.once_in(3);
  const std::uint64_t exponent = source.bits(8);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = source.bits(16);
    if (kind)
      bits = source.float_in(Format::f32);
    else
      bits = bits >> 15 << 31 | std::min<std::uint64_t>(exponent + bits % 4, 254) << 23 | bits << 8;
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return numbers;
}

/// No number is further from what it was than its block's bound says.
Fault bound_fault(const Encoding& e, const std::vector<float>& numbers, const Bytes& blocks) {
  std::vector<float> decoded(numbers.size());
  if (!dequantize(e, blocks, decoded)) return "blocks that are not decoded";
  std::vector<double> bounds(e.block_size);
  for (std::size_t begin = 0; begin < numbers.size(); begin += e.block_size) {
    const std::span<const float> block = std::span(numbers).subspan(begin, e.block_size);
    error_bounds(e, block, bounds);
    if (error_bound(e, block, 0) != bounds[0]) return "the bound of one number";
    for (std::size_t i = 0; i < block.size(); ++i) {
      const double distance = std::fabs(static_cast<double>(decoded[begin + i]) - static_cast<double>(block[i]));
      if (!std::isinf(bounds[i]) && !(distance <= bounds[i])) return "past its bound";
    }
  }
  return {};
}

Fault encoding_fault(const Encoding& e, Source& source) {
  const std::size_t blocks = 1 + source.below(5);
  Bytes bytes(blocks * e.block_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(source.bits(8));
  const auto decoded = [&] {
    std::vector<float> numbers(blocks * e.block_size);
    const bool all = dequantize(e, bytes, numbers).has_value();
    return std::pair(all, all ? bits_of(numbers) : std::vector<std::uint32_t>());
  };
  if (!Levels::agree(decoded)) return "decoded otherwise";
  const std::vector<float> numbers = draw_numbers(source, blocks * e.block_size);
  const auto encoded = [&] {
    Bytes written(bytes.size());
    return std::pair(quantize(e, numbers, written).has_value(), written);
  };
  if (!Levels::agree(encoded)) return "encoded otherwise";
  Bytes written(bytes.size());
  return quantize(e, numbers, written) ? bound_fault(e, numbers, written) : "";
}

constexpr Format kFormats[] = {Format::f32,      Format::f16,      Format::bf16, Format::e4m3fn, Format::e5m2,
                               Format::e4m3fnuz, Format::e5m2fnuz, Format::f64,  Format::i8,     Format::i32};

Bytes draw_elements(Source& source, Format format) {
  Bytes elements(source.below(40) * spec(format).bytes());
  for (std::size_t i = 0; i < elements.size() / spec(format).bytes(); ++i)
    store_element(spec(format), elements, i, source.float_in(format));
  return elements;
}

Fault array_fault(Source& source) {
  const Format from = source.pick(kFormats);
  const Format to = source.pick(kFormats);
  const Bytes elements = draw_elements(source, from);
  ConvertRules rules;
  rules.saturating = source.once_in(2);
  const auto converted = [&] {
    Bytes out(elements.size() / spec(from).bytes() * spec(to).bytes());
    return std::pair(convert_array(from, to, elements, out, rules).has_value(), out);
  };
  return Levels::agree(converted) ? "" : "converted otherwise";
}

}  // namespace

Fault levels_fault(Source& source) {
  const Levels levels;
  if (source.once_in(4)) return array_fault(source);
  const std::span<const Encoding> rows = all_encodings();
  const Encoding& e = rows[source.below(rows.size())];
  Fault fault = encoding_fault(e, source);
  return fault.empty() ? fault : e.id() + ": " + fault;
}

Fault dtype_fault(Source& source) {
  DenseArray array;
  array.dtype = source.pick(kFormats);
  const Format to = source.pick(kFormats);
  const Bytes elements = draw_elements(source, array.dtype);
  const Result<ConvertRules> rules = dialect_rules("skainet", array.dtype, to);
  if (dtype_convert(array, to)) return "a tensor without a buffer";
  array.bytes = std::make_shared<const Bytes>(elements);
  const DtypeRules wrapping{.int8 = source.once_in(2) ? IntegerRule::wrap : IntegerRule::saturate};
  const Result<DenseArray> converted = dtype_convert(array, to, wrapping);
  if (converted.has_value() != rules.has_value()) return "which dtypes";
  if (!converted) return converted.error().what.empty() ? "a refusal without words" : "";
  if (array.dtype == to) return converted->bytes == array.bytes ? "" : "a copy of the same dtype";
  ConvertRules used = *rules;
  if (to == Format::i8) used.integer = wrapping.int8;
  for (std::size_t i = 0; i < elements.size() / spec(array.dtype).bytes(); ++i) {
    const std::uint64_t code = load_element(spec(array.dtype), elements, i);
    if (oracle::is_nan(array.dtype, code)) continue;  // as the dialect's laws say
    if (load_element(spec(to), *converted->bytes, i) != oracle::convert(array.dtype, to, code, used))
      return "an element";
  }
  Bytes part = elements;
  part.push_back(0);
  array.bytes = std::make_shared<const Bytes>(part);
  return spec(array.dtype).bytes() > 1 && dtype_convert(array, to) ? "a part of an element" : "";
}

}  // namespace packcheck
