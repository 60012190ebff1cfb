// Numbers to convert: up to eight drawn ones, or a run of every bit pattern of the source format; of f64,
// whose patterns are too many, a run of designed ones (number_patterns.h).
#include <algorithm>

#include "properties/cases/case_type.h"
#include "properties/cases/cases.h"
#include "properties/cases/number_patterns.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kBatch = 65536;
constexpr std::uint64_t kPatternBatch = 4096;

std::pair<Format, Format> formats_of(std::string_view variant) {
  const std::size_t arrow = variant.find("->");
  return {format_named(variant.substr(0, arrow)).value_or(Format::f32),
          format_named(variant.substr(arrow + 2)).value_or(Format::f16)};
}

/// The codes from `first` on.
void put_codes(Format format, std::uint64_t first, Bytes& elements) {
  const FormatSpec& s = spec(format);
  if (s.bytes() != sizeof(std::uint32_t)) {
    for (std::size_t i = 0; i < elements.size() / s.bytes(); ++i) store_element(s, elements, i, first + i);
    return;
  }
  // Of the singles there are 2^32.
  auto code = static_cast<std::uint32_t>(first);
  for (std::size_t at = 0; at < elements.size(); at += sizeof code) store_little_endian(&elements[at], code++);
}

class ConversionType final : public TypedCaseType<ConversionCase> {
 public:
  using TypedCaseType::TypedCaseType;

  ConversionCase draw_value(Source& source, std::string_view variant) const override {
    const auto [from, to] = formats_of(variant);
    ConversionCase c{from, to, {}};
    // Vector kernels have bodies and tails: now and then more numbers than any of them takes at once.
    const std::size_t count = 1 + source.below(source.once_in(4) ? 67 : 8);
    c.elements.resize(count * spec(from).bytes());
    for (std::size_t i = 0; i < count; ++i) store_element(spec(from), c.elements, i, source.float_in(from));
    return c;
  }
  std::string variant_of(const ConversionCase& c) const override { return conversion_variant(c.from, c.to); }
  std::size_t payload(const ConversionCase& c) const override { return c.elements.size(); }
  std::vector<std::string_view> classes(std::string_view variant) const override {
    if (spec(formats_of(variant).first).width() < 16) return {"several numbers"};
    if (spec(formats_of(variant).first).is_integer())
      return {"several numbers", "a negative integer", "a large integer"};
    return {"several numbers", "a NaN", "an infinity", "a subnormal", "-0", "a tie of some format"};
  }
  std::uint64_t members(const ConversionCase& c) const override {
    const FormatSpec& s = spec(c.from);
    if (s.width() < 16) return member_bits({c.count() > 1});
    bool nan = false, infinity = false, subnormal = false, zero = false, tie = false, negative = false, large = false;
    for (std::size_t i = 0; i < c.count(); ++i) {
      const std::uint64_t code = load_element(s, c.elements, i);
      negative = negative || (code & s.sign_bit()) != 0;
      large = large || (code >> s.width() / 2 & 0xFF) + 1 > 2;
      if (s.is_integer()) continue;
      const std::uint64_t magnitude = code & ~s.sign_bit();
      const std::uint64_t significand = code & s.significand_mask();
      nan = nan || magnitude > s.infinity();
      infinity = infinity || magnitude == s.infinity();
      subnormal = subnormal || (magnitude <= s.significand_mask() && magnitude != 0);
      zero = zero || code == s.sign_bit();
      // A last 1 with nothing but some zeros behind it is half of what a shorter format drops.
      tie = tie || (magnitude < s.infinity() && significand != 0 && (significand & 0x1F) == 0);
    }
    if (s.is_integer()) return member_bits({c.count() > 1, negative, large});
    return member_bits({c.count() > 1, nan, infinity, subnormal, zero, tie});
  }
  Json write(const ConversionCase& c) const override {
    return {{"from", spec(c.from).name}, {"to", spec(c.to).name}, {"elements", elements_json(c.elements, c.from)}};
  }
  Result<ConversionCase> read(MemberReader& members) const override {
    ConversionCase c;
    c.from = members.format("from");
    c.to = members.format("to");
    c.elements = members.elements("elements", c.from);
    return c;
  }
  std::vector<ConversionCase> split(const ConversionCase& c) const override {
    std::vector<ConversionCase> halves;
    for (Bytes& elements : split_array(c.elements, spec(c.from).bytes()))
      halves.push_back({c.from, c.to, std::move(elements)});
    if (c.count() == 1)
      for (const std::uint64_t bits : smaller_numbers(load_element(spec(c.from), c.elements, 0))) {
        halves.push_back({c.from, c.to, c.elements});
        store_element(spec(c.from), halves.back().elements, 0, bits);
      }
    return halves;
  }
  std::optional<Domain> domain(std::string_view variant) const override {
    const auto [from, to] = formats_of(variant);
    if (from == Format::f64) return designed(from, to, kDoubleTies);
    const std::uint64_t total = std::uint64_t{1} << spec(from).width();
    return Domain{total, std::min(total, kBatch),
                  [this, source = from, target = to](std::uint64_t first, std::uint64_t count) {
                    ConversionCase c{source, target, Bytes(count * spec(source).bytes())};
                    put_codes(source, first, c.elements);
                    return wrap(std::move(c));
                  }};
  }
  std::optional<Domain> patterns(std::string_view variant) const override {
    const auto [from, to] = formats_of(variant);
    return designed(from, to, 0);
  }

 private:
  /// The patterns of a pair, then `ties` numbers of double_tie().
  std::optional<Domain> designed(Format from, Format to, std::uint64_t ties) const {
    static_assert(kDoubleTies % kPatternBatch == 0);
    std::vector<std::uint64_t> codes = number_patterns(from, to);
    if (codes.empty()) return std::nullopt;
    codes.resize((codes.size() + kPatternBatch - 1) / kPatternBatch * kPatternBatch);  // filled up with zeros
    const auto shared = std::make_shared<const std::vector<std::uint64_t>>(std::move(codes));
    return Domain{shared->size() + ties, kPatternBatch,
                  [this, from, to, shared](std::uint64_t first, std::uint64_t count) {
                    ConversionCase c{from, to, Bytes(count * spec(from).bytes())};
                    for (std::uint64_t i = 0; i < count; ++i) {
                      const std::uint64_t at = first + i;
                      store_element(spec(from), c.elements, i,
                                    at < shared->size() ? (*shared)[at] : double_tie(at - shared->size()));
                    }
                    return wrap(std::move(c));
                  },
                  1, false};
  }
};

const ConversionType kType("conversion");

}  // namespace

std::string conversion_variant(Format from, Format to) {
  return std::string(spec(from).name) + "->" + std::string(spec(to).name);
}
const CaseType& conversion_cases = kType;

}  // namespace packcheck
