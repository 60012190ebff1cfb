#include "core/format/convert.h"

#include <array>
#include <bit>
#include <string>
#include <utility>

#include "core/format/integer.h"
#include "core/format/narrow.h"
#include "core/simd.h"

namespace packcheck {
namespace {

/// Whether the magnitude is incremented, given the kept last bit and the discarded part.
[[gnu::always_inline]] inline bool rounds_up(Rounding rounding, bool negative, bool last, bool half, bool sticky) {
  switch (rounding) {
    case Rounding::nearest_even: return half && (sticky || last);
    case Rounding::nearest_away: return half;
    case Rounding::toward_zero: return false;
    case Rounding::upward: return !negative && (half || sticky);
    case Rounding::downward: return negative && (half || sticky);
    case Rounding::stochastic: return false;  // stochastic_up()
    case Rounding::nearest_up: return half && (sticky || !negative);
  }
  return false;
}

/// Whether random_bits / 2^64 is below the discarded part, the low `drop` bits of `significand` / 2^drop.
[[gnu::noinline]] bool stochastic_up(std::uint64_t significand, int drop, std::uint64_t random_bits) {
  if (drop <= 63) {
    const std::uint64_t discarded = significand & ((std::uint64_t{1} << drop) - 1);
    return random_bits < discarded << (64 - drop);
  }
  // All is discarded: random_bits · 2^(drop - 64) < significand, which is not 0.
  return drop >= 128 ? random_bits == 0 : random_bits <= (significand - 1) >> (drop - 64);
}

/// The NaN of `to`, for results that had no NaN to keep. Without a NaN: -0.
[[gnu::always_inline]] inline std::uint64_t plain_nan(const FormatSpec& to, bool negative) {
  switch (to.nan_codes) {
    case NanCodes::ieee: return (negative ? to.sign_bit() : 0) | to.infinity() | to.quiet_bit();
    case NanCodes::all_ones: return (negative ? to.sign_bit() : 0) | to.magnitude_mask();
    case NanCodes::negative_zero:
    case NanCodes::none: return to.sign_bit();
  }
  return to.sign_bit();
}

[[gnu::always_inline]] inline std::uint64_t zero(const FormatSpec& to, bool negative) {
  if (!to.has_zero()) return plain_nan(to, false);
  return negative && to.has_negative_zero() ? to.sign_bit() : 0;
}

/// What stands for a number past the largest, infinity included.
[[gnu::always_inline]] inline std::uint64_t overflowed(const FormatSpec& to, bool negative, bool saturating) {
  const std::uint64_t sign = negative ? to.sign_bit() : 0;
  if (saturating || to.overflow == Overflow::largest) return sign | to.largest_finite();
  return to.overflow == Overflow::infinity ? sign | to.infinity() : plain_nan(to, negative);
}

[[gnu::always_inline]] inline std::uint64_t convert_nan(const FormatSpec& from, const FormatSpec& to,
                                                        std::uint64_t bits, NanRule rule) {
  const bool negative = from.nan_codes != NanCodes::negative_zero && (bits & from.sign_bit()) != 0;
  if (rule == NanRule::infinity) return overflowed(to, negative, false);
  if (rule == NanRule::zero) return zero(to, false);
  if (from.nan_codes != NanCodes::ieee || to.nan_codes != NanCodes::ieee) return plain_nan(to, negative);
  const std::uint64_t payload = bits & from.significand_mask();
  const int shift = to.significand_bits - from.significand_bits;
  std::uint64_t kept = shift >= 0 ? payload << shift : payload >> -shift;
  if (rule == NanRule::quieted || (rule == NanRule::same_payload && kept == 0)) kept |= to.quiet_bit();
  return (negative ? to.sign_bit() : 0) | to.infinity() | kept;
}

/// Rounds significand · 2^exponent (significand != 0) to a magnitude of `to`, which may be past the largest.
[[gnu::always_inline]] inline std::uint64_t round_magnitude(const FormatSpec& to, bool negative,
                                                            std::uint64_t significand, int exponent,
                                                            const ConvertRules& rules) {
  const int leading = 63 - std::countl_zero(significand);
  // Exponent of the last bit of the smallest numbers: subnormals where there is a zero.
  const int smallest = (to.has_zero() ? 1 : 0) - to.bias() - to.significand_bits;
  int last = leading + exponent - to.significand_bits;  // exponent of the last kept bit
  const bool cut_off = last < smallest && rules.subnormal == SubnormalRule::truncated;
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
    bool up = rounds_up(rules.rounding, negative, (kept & 1) != 0, half, sticky);
    if (rules.rounding == Rounding::stochastic) [[unlikely]]
      up = stochastic_up(significand, drop, rules.random_bits);
    kept += up && !cut_off ? 1 : 0;
  }
  const std::uint64_t biased = static_cast<std::uint64_t>(last - smallest);
  // Without a zero code 0 is a number: a leading one in every code, and nothing below the smallest.
  if (!to.has_zero()) return kept == 0 ? 0 : (biased << to.significand_bits) + kept - 1;
  // A subnormal has biased exponent 0; for a normal, `kept` carries the leading one into the exponent.
  return (biased << to.significand_bits) + kept;
}

/// Whether the rounding mode takes a number past the largest away from zero.
[[gnu::always_inline]] inline bool leaves_the_range(Rounding rounding, bool negative) {
  return !(rounding == Rounding::toward_zero || (rounding == Rounding::upward && negative) ||
           (rounding == Rounding::downward && !negative));
}

/// The conversion; inlined, so that a run over one pair of formats is compiled for that pair.
[[gnu::always_inline]] inline std::uint64_t convert_between(const FormatSpec& from, const FormatSpec& to,
                                                            std::uint64_t bits, const ConvertRules& rules) {
  if (is_nan(from, bits)) return convert_nan(from, to, bits, rules.nan);
  const bool negative = (bits & from.sign_bit()) != 0;
  const std::uint64_t field = bits >> from.significand_bits & static_cast<std::uint64_t>(from.exponent_mask());
  const std::uint64_t fraction = bits & from.significand_mask();
  const bool tiny = field == 0 && from.has_zero();  // zero or subnormal
  if (tiny && (fraction == 0 || rules.subnormal == SubnormalRule::flushed)) return zero(to, negative);
  if (negative && !to.is_signed) return plain_nan(to, false);
  if (is_infinite(from, bits)) return overflowed(to, negative, rules.saturating);
  const std::uint64_t significand = tiny ? fraction : fraction | std::uint64_t{1} << from.significand_bits;
  const int exponent = (tiny ? 1 : static_cast<int>(field)) - from.bias() - from.significand_bits;
  const std::uint64_t magnitude = round_magnitude(to, negative, significand, exponent, rules);
  if (magnitude > to.largest_finite())
    return leaves_the_range(rules.rounding, negative) ? overflowed(to, negative, rules.saturating)
                                                      : (negative ? to.sign_bit() : 0) | to.largest_finite();
  if (to.has_zero() && magnitude == 0) return zero(to, negative);
  if (rules.subnormal == SubnormalRule::flushed && is_subnormal(to, magnitude)) return zero(to, negative);
  return (negative ? to.sign_bit() : 0) | magnitude;
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
consteval std::array<ConvertRun, sizeof...(Pair)> wide_runs(std::index_sequence<Pair...>) {
  return {convert_run<static_cast<Format>(Pair / kWideFormats), static_cast<Format>(Pair % kWideFormats)>...};
}
constexpr auto kWideRuns = wide_runs(std::make_index_sequence<kWideFormats * kWideFormats>());

/// Sources of a byte: from here on a table of all 256 answers is worth its making.
constexpr std::size_t kTableFrom = 1024;

void convert_by_table(const FormatSpec& from, const FormatSpec& to, std::span<const std::uint8_t> in,
                      std::span<std::uint8_t> out, const ConvertRules& rules) {
  std::array<std::uint64_t, 256> answers{};
  for (std::size_t code = 0; code < answers.size(); ++code)
    answers[code] = convert(from.format, to.format, code, rules);
  for (std::size_t i = 0; i < in.size(); ++i) store_element(to, out, i, answers[in[i]]);
}

bool goes_through_f16(const FormatSpec& from, const FormatSpec& to, const ConvertRules& rules) {
  return rules.path == ConvertPath::through_f16 && from.width() > 16 && to.width() < 16;
}

}  // namespace

std::uint64_t convert(const FormatSpec& from, const FormatSpec& to, std::uint64_t bits, const ConvertRules& rules) {
  return convert_between(from, to, bits, rules);
}

std::uint64_t convert(Format from, Format to, std::uint64_t bits, const ConvertRules& rules) {
  if (spec(from).is_integer() || spec(to).is_integer()) return convert_integer(from, to, bits, rules);
  if (goes_through_f16(spec(from), spec(to), rules))
    return convert_between(spec(Format::f16), spec(to), convert_between(spec(from), spec(Format::f16), bits, rules),
                           rules);
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
  if (auto ok = check_integers(from_format, to_format, in, rules); !ok) return ok;
  if (NarrowRun* const run = fast_narrowing(from_format, to_format, rules)) {
    run(in.data(), out.data(), count, rules.saturating);
    return {};
  }
  if (from.bytes() == 1 && count >= kTableFrom && simd_level() != SimdLevel::rule) {
    convert_by_table(from, to, in, out, rules);
    return {};
  }
  const auto from_index = static_cast<std::size_t>(from_format);
  const auto to_index = static_cast<std::size_t>(to_format);
  if (from_index < kWideFormats && to_index < kWideFormats) {
    kWideRuns[from_index * kWideFormats + to_index](in, out, rules);
    return {};
  }
  for (std::size_t i = 0; i < count; ++i)
    store_element(to, out, i, convert(from_format, to_format, load_element(from, in, i), rules));
  return {};
}

}  // namespace packcheck
