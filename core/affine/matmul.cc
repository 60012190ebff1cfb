#include "core/affine/matmul.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/affine/groups.h"
#include "core/encoding/bit_stream.h"
#include "core/environment.h"
#include "core/format/convert.h"

namespace packcheck {
namespace {

constexpr std::size_t kStep = 64;  ///< columns, of ProductTail::whole_steps
constexpr std::size_t kTile = 2;   ///< outputs, of ProductOutputs::whole_tiles
constexpr std::size_t kNotPassed = 64;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Products of sizes; nothing from the first that does not fit.
std::optional<std::size_t> product_of(std::initializer_list<std::size_t> sizes) {
  std::size_t product = 1;
  for (const std::size_t size : sizes)
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
  return product;
}

Result<void> check_size(std::string_view what, std::string_view unit, std::size_t is,
                        std::initializer_list<std::size_t> sizes) {
  const std::string where = "affine product, " + std::string(what);
  const std::optional<std::size_t> right = product_of(sizes);
  if (!right) return refuse("the shape overflows", where, "a size that fits in memory");
  if (is == *right) return {};
  return refuse(std::to_string(is) + " " + std::string(unit), where, std::to_string(*right) + " from the shapes");
}

Result<void> past(std::string_view what, std::size_t index, std::size_t size) {
  return refuse("index " + std::to_string(index), "affine product, " + std::string(what),
                "an index below " + std::to_string(size));
}

/// A kernel's view of its arguments: what they are after its rules have been at them.
struct Walk {
  std::size_t in;
  std::size_t group;
  std::size_t groups;  ///< of a row: the stride of scales
  std::size_t row_bytes;
};

std::size_t group_of(const AffineProduct& p, ProductGroup rule) {
  const std::size_t columns = p.in_features / p.group_size;
  switch (rule) {
    case ProductGroup::passed: break;
    case ProductGroup::scale_columns: return std::max<std::size_t>(columns, 1);
    case ProductGroup::out_per_column:
      return std::max<std::size_t>(p.out_features / std::max<std::size_t>(columns, 1), 1);
    case ProductGroup::not_passed: return kNotPassed;
  }
  return p.group_size;
}

Walk walk_of(const AffineProduct& p, const ProductRules& rules) {
  const std::size_t in = rules.features == ProductFeatures::passed ? p.in_features : kNotPassed;
  const std::size_t group = group_of(p, rules.group);
  return {in, group, in / group, in / 8 * p.bits};
}

unsigned reversed_in_byte(std::span<const std::uint8_t> row, unsigned bits, std::size_t i) {
  const std::size_t in_byte = 8 / bits;
  return code_at(row, (i / in_byte * in_byte + (in_byte - 1 - i % in_byte)) * bits, bits);
}

unsigned within_word(std::span<const std::uint8_t> row, unsigned bits, std::size_t i) {
  const std::size_t first = i * bits;
  return code_at(row, first, bits) & ((1U << std::min<std::size_t>(bits, 32 - first % 32)) - 1);
}

void read_codes(std::span<const std::uint8_t> row, unsigned bits, ProductCodes rule, std::span<std::uint8_t> codes) {
  unpack_codes(row, bits, codes);
  const bool straddles = 32 % bits != 0;
  for (std::size_t i = 0; i < codes.size() && rule != ProductCodes::stream; ++i) {
    unsigned code = codes[i];
    if (rule == ProductCodes::high_first && bits < 8 && !straddles) code = reversed_in_byte(row, bits, i);
    if (rule == ProductCodes::within_word && straddles) code = within_word(row, bits, i);
    if (rule == ProductCodes::per_word && straddles)
      code = code_at(row, bit_of_element(BitPacking::per_word, bits, i), bits);
    codes[i] = static_cast<std::uint8_t>(code);
  }
}

float rounded(Format format, float number) {
  const std::uint64_t narrow = convert(Format::f32, format, std::bit_cast<std::uint32_t>(number));
  return std::bit_cast<float>(static_cast<std::uint32_t>(convert(format, Format::f32, narrow)));
}
float as_half(float number) { return rounded(Format::f16, number); }

/// The exponent of the largest number; 0 where there is none.
int largest_exponent(std::span<const float> x) {
  float largest = 0.0F;
  for (const float number : x)
    if (std::isfinite(number)) largest = std::max(largest, std::fabs(number));
  return largest == 0.0F ? 0 : std::ilogb(largest);
}

/// One row of weights, decoded; and what is needed to multiply rows of x by it.
class Kernel {
 public:
  Kernel(const AffineProduct& p, const ProductRules& rules)
      : p_(p),
        rules_(rules),
        walk_(walk_of(p, rules)),
        codes_(walk_.in),
        numbers_(walk_.in),
        scratch_(walk_.in),
        scales_(walk_.in / walk_.group + 1),
        biases_(scales_.size()),
        exponent_(rules.input == ProductInput::common_scale ? largest_exponent(p.x) : 0) {}

  /// Sums of x in each group, for the order per_group: the same for every output.
  Result<void> prepare() {
    if (p_.order != SumOrder::per_group) return {};
    for (std::size_t r = 0; r < p_.rows; ++r) {
      const Result<std::span<const float>> x = row_of_x(r, 0);
      if (!x) return tl::unexpected(x.error());
      for (std::size_t i = 0; i < walk_.in; i += walk_.group)
        x_sums_.push_back(sum_in_order(x->subspan(i, std::min(walk_.group, walk_.in - i))));
    }
    return {};
  }

  /// Column `o` of y.
  Result<void> multiply(const PackedMatrix& m, std::size_t o, std::span<float> y) {
    if (auto ok = read_row(m, rules_.row == ProductRow::own ? o : 0); !ok) return ok;
    for (std::size_t r = 0; r < p_.rows; ++r) {
      const Result<std::span<const float>> x = row_of_x(r, o);
      if (!x) return tl::unexpected(x.error());
      const float sum = sum_of(*x, r);
      y[r * p_.out_features + o] = std::isnan(sum) ? kNan : sum;
    }
    return {};
  }

 private:
  Result<void> read_row(const PackedMatrix& m, std::size_t o) {
    const std::size_t begin = o * walk_.row_bytes;
    if (begin + walk_.row_bytes > m.codes.size())
      return past("codes of output " + std::to_string(o), begin + walk_.row_bytes - 1, m.codes.size());
    read_codes(m.codes.subspan(begin, walk_.row_bytes), p_.bits, rules_.codes, codes_);
    if (p_.order == SumOrder::per_group) widen_codes(codes_, numbers_.data());
    for (std::size_t i = 0, g = 0; i < walk_.in; i += walk_.group, ++g) {
      if (auto ok = read_group(m, o, g); !ok) return ok;
      if (p_.order == SumOrder::per_group) continue;
      const std::span<const std::uint8_t> codes(codes_);
      decode_weights(codes.subspan(i, std::min(walk_.group, walk_.in - i)), scales_[g], biases_[g], &numbers_[i]);
    }
    if (rules_.weights == ProductWeights::scale_format && p_.order != SumOrder::per_group)
      for (float& weight : numbers_) weight = rounded(p_.scale_format, weight);
    return {};
  }

  Result<void> read_group(const PackedMatrix& m, std::size_t o, std::size_t g) {
    const Format format = rules_.scales == ProductScales::bytes_as_f32 ? Format::f32 : p_.scale_format;
    const std::size_t at = rules_.layout == ProductLayout::by_output ? o * walk_.groups + g : g * p_.out_features + o;
    const std::size_t size = std::min(m.scales.size(), m.biases.size()) / spec(format).bytes();
    if (at >= size) return past("scales of output " + std::to_string(o) + ", group " + std::to_string(g), at, size);
    const bool as_bfloat = rules_.scales == ProductScales::half_as_bfloat && format == Format::f16;
    const Format reading = as_bfloat ? Format::bf16 : format;
    scales_[g] = scale_at(reading, m.scales, at);
    biases_[g] = scale_at(reading, m.biases, at);
    if (rules_.bias == ProductBias::dropped) biases_[g] = 0.0F;
    if (rules_.bias == ProductBias::per_row) biases_[g] = biases_[0];
    return {};
  }

  Result<std::span<const float>> row_of_x(std::size_t r, std::size_t o) {
    if (rules_.input == ProductInput::not_reset && !p_.x.empty()) {
      scratch_row_.resize(walk_.in);
      for (std::size_t i = 0; i < walk_.in; ++i) scratch_row_[i] = p_.x[((r + o) * walk_.in + i) % p_.x.size()];
      return std::span<const float>(scratch_row_);
    }
    const std::size_t begin = r * walk_.in;
    if (begin + walk_.in > p_.x.size()) {
      auto refusal = past("x of row " + std::to_string(r), begin + walk_.in - 1, p_.x.size());
      return tl::unexpected(refusal.error());
    }
    if (rules_.input != ProductInput::common_scale) return p_.x.subspan(begin, walk_.in);
    scratch_row_.assign(p_.x.begin() + static_cast<std::ptrdiff_t>(begin),
                        p_.x.begin() + static_cast<std::ptrdiff_t>(begin + walk_.in));
    for (float& number : scratch_row_) number = std::ldexp(as_half(std::ldexp(number, -exponent_)), exponent_);
    return std::span<const float>(scratch_row_);
  }

  float sum_of(std::span<const float> x, std::size_t r) {
    if (rules_.tail == ProductTail::whole_steps) x = x.first(x.size() / kStep * kStep);
    const bool half = rules_.sum == ProductSum::half;
    if (p_.order != SumOrder::per_group && half) return sum_in_half(x);
    if (p_.order != SumOrder::per_group) return sum_products(p_.order, x, numbers_.data(), scratch_.data());
    const std::size_t of_row = (walk_.in + walk_.group - 1) / walk_.group;
    float total = -0.0F;  // adds nothing to the first group
    for (std::size_t i = 0, g = 0; i < x.size(); i += walk_.group, ++g) {
      const std::size_t count = std::min(walk_.group, x.size() - i);
      const float code_sum = sum_in_order(x.subspan(i, count), &numbers_[i]);
      total = add_group(total, scales_[g], code_sum, biases_[g], x_sums_[r * of_row + g]);
    }
    return x.empty() ? 0.0F : total;
  }

  float sum_in_half(std::span<const float> x) {
    float sum = 0.0F;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float weight = numbers_[i];
      sum = as_half(sum + x[i] * weight);
    }
    return sum;
  }

  const AffineProduct& p_;
  const ProductRules& rules_;
  Walk walk_;
  std::vector<std::uint8_t> codes_;
  std::vector<float> numbers_;  ///< weights; codes in the order per_group
  std::vector<float> scratch_;
  std::vector<float> scratch_row_;
  std::vector<float> scales_;
  std::vector<float> biases_;
  std::vector<float> x_sums_;
  int exponent_;
};

/// What is refused before anything is read.
Result<void> check(const AffineProduct& p, const PackedMatrix& w, std::size_t y_size, const ProductRules& rules) {
  if (rules.checks == ProductChecks::before_reading) return check_product(p, w, y_size);
  if (p.bits == 0 || p.bits > 8 || p.group_size == 0) return refuse("no such width or group", "affine product");
  if (p.in_features / 8 > w.codes.size()) return past("codes", p.in_features / 8, w.codes.size());
  return {};
}

/// A half: its exponent and significand read as those of an f32 are the number times 2^-112.
float half_number(std::uint32_t code) {
  const std::uint32_t sign = (code & 0x8000) << 16;
  const std::uint32_t magnitude = (code & 0x7FFF) << 13;
  if (magnitude >= 0x0F800000) return std::bit_cast<float>(sign | magnitude | 0x7F800000);
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
}

/// Outputs that are computed; the others are 0.
std::size_t outputs_of(const AffineProduct& p, const ProductRules& rules) {
  return rules.outputs == ProductOutputs::whole ? p.out_features : p.out_features / kTile * kTile;
}

}  // namespace

float scale_at(Format format, std::span<const std::uint8_t> elements, std::size_t index) {
  const auto code = static_cast<std::uint32_t>(load_element(spec(format), elements, index));
  if (format == Format::f32) return std::bit_cast<float>(code);
  if (format == Format::bf16) return std::bit_cast<float>(code << 16);
  return half_number(code);
}

Result<void> check_product(const AffineProduct& p, const PackedMatrix& w, std::size_t y_size) {
  if (!is_affine_width(p.bits))
    return refuse("codes of " + std::to_string(p.bits) + " bits", "affine product, bits", "2, 3, 4, 5, 6 or 8");
  if (std::find(kAffineGroups.begin(), kAffineGroups.end(), p.group_size) == kAffineGroups.end())
    return refuse("groups of " + std::to_string(p.group_size), "affine product, group_size", "32, 64 or 128");
  if (p.in_features % p.group_size != 0)
    return refuse("in_features is " + std::to_string(p.in_features), "affine product, in_features",
                  "a multiple of group_size = " + std::to_string(p.group_size));
  if (p.scale_format != Format::bf16 && p.scale_format != Format::f16 && p.scale_format != Format::f32)
    return refuse("scales are " + std::string(spec(p.scale_format).name), "affine product, scale_format",
                  "bf16, f16 or f32");
  const std::size_t columns = p.in_features / p.group_size;
  const std::size_t element = spec(p.scale_format).bytes();
  if (auto ok = check_size("x", "numbers", p.x.size(), {p.rows, p.in_features}); !ok) return ok;
  if (auto ok = check_size("codes", "bytes", w.codes.size(), {p.out_features, p.in_features / 8, p.bits}); !ok)
    return ok;
  if (auto ok = check_size("scales", "bytes", w.scales.size(), {p.out_features, columns, element}); !ok) return ok;
  if (auto ok = check_size("biases", "bytes", w.biases.size(), {p.out_features, columns, element}); !ok) return ok;
  return check_size("y", "numbers", y_size, {p.rows, p.out_features});
}

Result<void> affine_matmul(const AffineProduct& product, const PackedMatrix& weights, std::span<float> y,
                           const ProductRules& rules) {
  if (auto ok = check(product, weights, y.size(), rules); !ok) return ok;
  const ExactEnvironment exact;
  std::fill(y.begin(), y.end(), 0.0F);
  Kernel kernel(product, rules);
  if (auto ok = kernel.prepare(); !ok) return ok;
  for (std::size_t o = 0; o < outputs_of(product, rules); ++o)
    if (auto ok = kernel.multiply(weights, o, y); !ok) return ok;
  return {};
}

Result<void> affine_gate_up(const AffineProduct& product, const PackedMatrix& gate, const PackedMatrix& up,
                            std::span<float> gate_y, std::span<float> up_y, const ProductRules& rules) {
  if (auto ok = check(product, gate, gate_y.size(), rules); !ok) return ok;
  if (auto ok = check(product, up, up_y.size(), rules); !ok) return ok;
  const ExactEnvironment exact;
  if (rules.pair == ProductPair::swapped) std::swap(gate_y, up_y);
  std::fill(gate_y.begin(), gate_y.end(), 0.0F);
  std::fill(up_y.begin(), up_y.end(), 0.0F);
  ProductRules own = rules;
  if (own.group == ProductGroup::not_passed) own.group = ProductGroup::passed;  // the other kernel's bug
  Kernel kernel(product, own);
  if (auto ok = kernel.prepare(); !ok) return ok;
  for (std::size_t o = 0; o < outputs_of(product, own); ++o) {
    if (auto ok = kernel.multiply(gate, o, gate_y); !ok) return ok;
    if (auto ok = kernel.multiply(up, o, up_y); !ok) return ok;
  }
  return {};
}

}  // namespace packcheck
