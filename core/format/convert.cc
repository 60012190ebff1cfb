#include "core/format/convert.h"

#include <array>
#include <bit>
#include <string>
#include <utility>

namespace packcheck {
namespace {

struct NamedRounding {
  Rounding rounding;
  std::string_view name;
};
constexpr std::array<NamedRounding, 5> kRoundings{{{Rounding::nearest_even, "nearest-even"},
                                                   {Rounding::nearest_away, "nearest-away"},
                                                   {Rounding::toward_zero, "toward-zero"},
                                                   {Rounding::upward, "upward"},
                                                   {Rounding::downward, "downward"}}};

/// Whether the magnitude is incremented, given the kept last bit and the discarded part.
[[gnu::always_inline]] inline bool rounds_up(Rounding rounding, bool negative, bool last, bool half, bool sticky) {
  switch (rounding) {
    case Rounding::nearest_even: return half && (sticky || last);
    case Rounding::nearest_away: return half;
    case Rounding::toward_zero: return false;
    case Rounding::upward: return !negative && (half || sticky);
    case Rounding::downward: return negative && (half || sticky);
  }
  return false;
}

[[gnu::always_inline]] inline std::uint64_t convert_nan(const FormatSpec& from, const FormatSpec& to,
                                                        std::uint64_t bits, NanRule rule) {
  const std::uint64_t payload = bits & from.significand_mask();
  const int shift = to.significand_bits - from.significand_bits;
  std::uint64_t kept = shift >= 0 ? payload << shift : payload >> -shift;
  if (rule == NanRule::quieted || kept == 0) kept |= to.quiet_bit();
  return to.infinity() | kept;
}

/// Rounds significand · 2^exponent (significand != 0) to a magnitude of `to`.
[[gnu::always_inline]] inline std::uint64_t round_magnitude(const FormatSpec& to, bool negative,
                                                            std::uint64_t significand, int exponent,
                                                            Rounding rounding) {
  const int leading = 63 - std::countl_zero(significand);
  const int smallest = 1 - to.bias() - to.significand_bits;  // exponent of the last subnormal bit
  int last = leading + exponent - to.significand_bits;       // exponent of the last kept bit
  if (last < smallest) last = smallest;
  std::uint64_t kept = 0;
  const int drop = last - exponent;  // how many low bits of significand go
  if (drop <= 0) {
    kept = significand << -drop;
  } else {
    bool half = false;
    bool sticky = true;  // drop > 64: everything is below the half
    if (drop <= 64) {
      kept = drop == 64 ? 0 : significand >> drop;
      half = (significand >> (drop - 1) & 1) != 0;
      sticky = (significand & ((std::uint64_t{1} << (drop - 1)) - 1)) != 0;
    }
    kept += rounds_up(rounding, negative, (kept & 1) != 0, half, sticky) ? 1 : 0;
  }
  // A subnormal has biased exponent 0; for a normal, `kept` carries the leading one into the exponent.
  const std::uint64_t biased = static_cast<std::uint64_t>(last - smallest);
  const std::uint64_t magnitude = (biased << to.significand_bits) + kept;
  if (magnitude < to.infinity()) return magnitude;
  const bool to_infinity = rounding == Rounding::nearest_even || rounding == Rounding::nearest_away ||
                           (rounding == Rounding::upward && !negative) || (rounding == Rounding::downward && negative);
  return to_infinity ? to.infinity() : to.infinity() - 1;
}

/// The conversion; inlined, so that a run over one pair of formats is compiled for that pair.
[[gnu::always_inline]] inline std::uint64_t convert_between(const FormatSpec& from, const FormatSpec& to,
                                                            std::uint64_t bits, const ConvertRules& rules) {
  const bool negative = (bits & from.sign_bit()) != 0;
  const std::uint64_t sign = negative ? to.sign_bit() : 0;
  const std::uint64_t field = bits >> from.significand_bits & static_cast<std::uint64_t>(from.exponent_mask());
  const std::uint64_t fraction = bits & from.significand_mask();
  if (field == static_cast<std::uint64_t>(from.exponent_mask())) {
    if (fraction == 0) return sign | to.infinity();
    return sign | convert_nan(from, to, bits, rules.nan);
  }
  if (field == 0 && (fraction == 0 || rules.subnormal == SubnormalRule::flushed)) return sign;
  const std::uint64_t significand = field == 0 ? fraction : fraction | std::uint64_t{1} << from.significand_bits;
  const int exponent = (field == 0 ? 1 : static_cast<int>(field)) - from.bias() - from.significand_bits;
  const std::uint64_t magnitude = round_magnitude(to, negative, significand, exponent, rules.rounding);
  if (rules.subnormal == SubnormalRule::flushed && is_subnormal(to, magnitude)) return sign;
  return sign | magnitude;
}

using ConvertRun = void (*)(std::span<const std::uint8_t>, std::span<std::uint8_t>, const ConvertRules&);

template <Format From, Format To>
void convert_run(std::span<const std::uint8_t> in, std::span<std::uint8_t> out, const ConvertRules& rules) {
  constexpr FormatSpec kFrom = spec(From);
  constexpr FormatSpec kTo = spec(To);
  const ConvertRules own = rules;
  for (std::size_t i = 0; i < in.size() / kFrom.bytes(); ++i)
    store_element(kTo, out, i, convert_between(kFrom, kTo, load_element(kFrom, in, i), own));
}

template <std::size_t... Pair>
constexpr std::array<ConvertRun, sizeof...(Pair)> all_runs(std::index_sequence<Pair...>) {
  return {
      convert_run<static_cast<Format>(Pair / kFormatTable.size()), static_cast<Format>(Pair % kFormatTable.size())>...};
}
constexpr auto kRuns = all_runs(std::make_index_sequence<kFormatTable.size() * kFormatTable.size()>());

}  // namespace

std::string_view rounding_name(Rounding rounding) { return kRoundings[static_cast<std::size_t>(rounding)].name; }

std::optional<Rounding> rounding_named(std::string_view name) {
  for (const NamedRounding& row : kRoundings)
    if (row.name == name) return row.rounding;
  return std::nullopt;
}

std::uint64_t convert(Format from, Format to, std::uint64_t bits, const ConvertRules& rules) {
  return convert_between(spec(from), spec(to), bits, rules);
}

Result<void> convert_array(Format from_format, Format to_format, std::span<const std::uint8_t> in,
                           std::span<std::uint8_t> out, const ConvertRules& rules) {
  const FormatSpec& from = spec(from_format);
  const FormatSpec& to = spec(to_format);
  if (in.size() % from.bytes() != 0)
    return refuse("input is " + std::to_string(in.size()) + " bytes", "convert from " + std::string(from.name),
                  "a multiple of " + std::to_string(from.bytes()));
  const std::size_t count = in.size() / from.bytes();
  if (out.size() / to.bytes() != count || out.size() % to.bytes() != 0)
    return refuse("output is " + std::to_string(out.size()) + " bytes", "convert to " + std::string(to.name),
                  std::to_string(count) + " elements of " + std::to_string(to.bytes()) + " bytes");
  kRuns[static_cast<std::size_t>(from_format) * kFormatTable.size() + static_cast<std::size_t>(to_format)](in, out,
                                                                                                           rules);
  return {};
}

}  // namespace packcheck
