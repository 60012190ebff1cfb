#include "properties/source.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/format/convert.h"

namespace packcheck {
namespace {

std::uint64_t from_double(Format format, double value) {
  return convert(Format::f64, format, std::bit_cast<std::uint64_t>(value));
}

/// Zero, the ends of the subnormal and normal ranges, one, the infinities, and NaNs of every kind.
std::uint64_t special(Source& source, const FormatSpec& s) {
  const std::uint64_t one = from_double(s.format, 1.0);
  if (s.nan_codes != NanCodes::ieee) {  // the codes at the end are a NaN, -0 or numbers, as the format has it
    const std::uint64_t values[] = {0,
                                    1,
                                    s.significand_mask(),
                                    s.significand_mask() + 1,
                                    one,
                                    s.largest_finite() - 1,
                                    s.largest_finite(),
                                    s.infinity(),
                                    s.magnitude_mask(),
                                    s.sign_bit()};
    return source.pick(values);
  }
  const std::uint64_t values[] = {0,
                                  1,
                                  s.significand_mask(),      // largest subnormal
                                  s.significand_mask() + 1,  // smallest normal
                                  one,
                                  s.infinity() - 1,  // largest finite
                                  s.infinity(),
                                  s.infinity() | s.quiet_bit(),
                                  s.infinity() | 1,  // signalling, payload in the last bit only
                                  s.infinity() | s.significand_mask()};
  return source.pick(values);
}

/// A biased exponent: mostly of numbers of ordinary size, where narrow formats live, else any.
std::uint64_t biased_exponent(Source& source, const FormatSpec& s) {
  const auto all = static_cast<std::uint64_t>(s.exponent_mask());
  if (source.below(3) == 2) return source.below(all);
  const std::uint64_t near = std::min<std::uint64_t>(all, 64);
  return static_cast<std::uint64_t>(s.bias()) + source.below(near) - std::min<std::uint64_t>(near / 2, 16);
}

/// How many low bits of a number with this exponent field are dropped in the conversion to `target`; 0 for none.
std::uint64_t dropped_for(const FormatSpec& s, const FormatSpec& target, std::uint64_t exponent) {
  if (target.is_integer()) {  // all below the unit
    const int below = s.significand_bits + s.bias() - static_cast<int>(exponent);
    return below > 0 && below <= s.significand_bits ? static_cast<std::uint64_t>(below) : 0;
  }
  return target.significand_bits < s.significand_bits
             ? static_cast<std::uint64_t>(s.significand_bits - target.significand_bits)
             : 0;
}

/// Kept bits, then exactly a half (or a neighbour of it) in the bits a narrower format drops.
std::uint64_t tie(Source& source, const FormatSpec& s) {
  const std::uint64_t exponent = biased_exponent(source, s) & static_cast<std::uint64_t>(s.exponent_mask());
  const auto stored = static_cast<std::uint64_t>(s.significand_bits);
  if (stored == 0) return exponent;  // nothing to drop
  std::uint64_t dropped = 1 + source.below(stored);
  if (source.bits(1) == 0) {  // what one of the known formats drops
    const std::size_t known = source.bits(1) == 0 ? kWideFormats : all_formats().size();  // the wide ones are few
    const FormatSpec& target = all_formats()[source.below(known)];
    if (const std::uint64_t bits = dropped_for(s, target, exponent); bits != 0) dropped = bits;
  }
  const std::uint64_t kept = source.bits(static_cast<unsigned>(s.significand_bits)) >> dropped << dropped;
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  // On the tie, or beside it by the last bit, or by a bit that an intermediate format would drop.
  const std::uint64_t step = source.below(5);
  const std::uint64_t middle = std::uint64_t{1} << (dropped / 2);
  std::uint64_t significand = kept | half;
  if (step == 1) significand += 1;
  if (step == 2) significand -= 1;
  if (step == 3) significand += middle;
  if (step == 4) significand -= middle;
  return (exponent << s.significand_bits) + (significand & s.significand_mask());
}

/// The ends of another format's ranges and the points half way beyond them, in this format: where
/// overflow and underflow are decided.
std::uint64_t boundary(Source& source, const FormatSpec& s) {
  const FormatSpec& target = all_formats()[source.below(all_formats().size())];
  if (target.is_integer()) {  // the last halves, numbers whose low byte is another number, and 2^32 and more
    const double end = std::bit_cast<double>(convert(target.format, Format::f64, target.largest_finite())) + 1;
    const double values[] = {end, end - 1, end - 0.5, end + 0.5, 0.5, 1.5, end + 44, 0x1p32 + 300};
    return from_double(s.format, source.pick(values));
  }
  const auto number = [&](std::uint64_t bits) {
    return std::bit_cast<double>(convert(target.format, Format::f64, bits));
  };
  const double largest = number(target.infinity() - 1);
  const double largest_ulp = largest - number(target.infinity() - 2);
  const double values[] = {largest,
                           largest + largest_ulp / 2,
                           number(1),
                           number(1) / 2,
                           number(1) * 1.5,
                           number(target.significand_mask() + 1),
                           number(target.significand_mask()),
                           number(target.significand_mask()) + number(1) / 2};
  return from_double(s.format, source.pick(values));
}

/// A step of up to two ulps.
std::uint64_t nudge(Source& source) {
  static constexpr std::uint64_t kUlps[] = {0, 1, ~std::uint64_t{0}, 2, ~std::uint64_t{1}};  // 0, +1, -1, +2, -2
  return source.pick(kUlps);
}

std::uint64_t magnitude(Source& source, const FormatSpec& s) {
  switch (source.below(9)) {
    case 0: return from_double(s.format, static_cast<double>(source.below(17)));
    case 1: {
      const double numerator = static_cast<double>(source.below(256));
      return from_double(s.format, numerator / static_cast<double>(std::uint64_t{1} << source.below(16)));
    }
    case 2: return special(source, s);
    case 3: return source.bits(static_cast<unsigned>(s.significand_bits));
    case 4: {
      const std::uint64_t value = special(source, s);
      return value + nudge(source);
    }
    case 5: return tie(source, s);
    case 6: {
      const std::uint64_t exponent = biased_exponent(source, s);
      return exponent << s.significand_bits | source.bits(static_cast<unsigned>(s.significand_bits));
    }
    case 7: {
      const std::uint64_t value = boundary(source, s);
      return value + nudge(source);
    }
    default: return source.bits(static_cast<unsigned>(s.width()));
  }
}

/// An integer: small ones, the limits, powers of two and their neighbours, ties for narrower formats, any bits.
std::uint64_t integer(Source& source, const FormatSpec& s) {
  const auto bits = static_cast<unsigned>(s.significand_bits);
  std::uint64_t value = 0;
  switch (source.below(5)) {
    case 0: value = source.below(17); break;
    case 1: value = s.largest_finite() + nudge(source); break;
    case 2: value = (std::uint64_t{1} << source.below(bits)) + nudge(source); break;
    case 3: {
      const std::uint64_t dropped = 1 + source.below(bits - 1);
      const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
      const std::uint64_t long_bits = source.bits(bits);
      const std::uint64_t kept = long_bits >> source.below(bits) >> dropped << dropped;
      value = (kept | half) + nudge(source);
      break;
    }
    default: value = source.bits(bits + 1);
  }
  if (source.bits(1) != 0) value = 0 - value;
  return value & s.all_bits();
}

std::uint64_t finalized(std::uint64_t hash) {
  hash += 0x9E3779B97F4A7C15U;
  hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9U;
  hash = (hash ^ hash >> 27) * 0x94D049BB133111EBU;
  return hash ^ hash >> 31;
}

/// The largest value a bound allows.
std::uint64_t last_of(std::uint64_t bound) { return bound - 1; }  // bound 0 (2^64) wraps to the last

}  // namespace

std::uint64_t Source::float_in(Format format) {
  const FormatSpec& s = spec(format);
  if (s.is_integer()) return integer(*this, s);
  const std::uint64_t value = magnitude(*this, s) & s.all_bits();
  return bits(1) != 0 ? value ^ s.sign_bit() : value;
}

std::uint64_t RandomSource::choose(std::uint64_t bound) {
  if (bound == 0) return random_();
  return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random_);
}

std::uint64_t BytesSource::choose(std::uint64_t bound) {
  if (bound == 1) return 0;
  const int needed = (static_cast<int>(std::bit_width(last_of(bound))) + 7) / 8;
  std::uint64_t value = 0;
  for (int i = 0; i < needed && !bytes_.empty(); ++i) {
    value |= static_cast<std::uint64_t>(bytes_.front()) << (8 * i);
    bytes_ = bytes_.subspan(1);
  }
  return bound == 0 ? value : value % bound;
}

std::uint64_t RecordedSource::choose(std::uint64_t bound) {
  if (next_ >= choices_.size()) return 0;
  return std::min(choices_[next_++].value, last_of(bound));
}

bool advance(Choices& previous) {
  while (!previous.empty() && previous.back().value == last_of(previous.back().bound)) previous.pop_back();
  if (previous.empty()) return false;
  ++previous.back().value;
  return true;
}

std::vector<Choices> simpler(const Choices& choices) {
  std::vector<Choices> candidates;
  const std::size_t size = choices.size();
  for (std::size_t chunk = std::max<std::size_t>(size / 2, 1); size > 0; chunk /= 2) {
    for (std::size_t at = 0; at + chunk <= size; at += chunk) {
      Choices shorter(choices.begin(), choices.begin() + static_cast<std::ptrdiff_t>(at));
      shorter.insert(shorter.end(), choices.begin() + static_cast<std::ptrdiff_t>(at + chunk), choices.end());
      candidates.push_back(std::move(shorter));
    }
    if (chunk == 1) break;
  }
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t value = choices[i].value;
    std::vector<std::uint64_t> smaller;
    if (value <= 16)  // a choice of kind: every simpler kind
      for (std::uint64_t v = 0; v < value; ++v) smaller.push_back(v);
    else
      smaller = {0, value >> 32, value >> 16, value >> 8, value >> 4, value / 2, value - 1};
    smaller.erase(std::unique(smaller.begin(), smaller.end()), smaller.end());
    for (const std::uint64_t v : smaller) {
      candidates.push_back(choices);
      candidates.back()[i].value = v;
    }
  }
  return candidates;
}

std::uint64_t derived_seed(std::uint64_t seed, std::string_view name) {
  // The finaliser of splitmix64 around FNV-1a: near seeds and near names give unrelated numbers.
  std::uint64_t hash = finalized(seed);
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return finalized(hash);
}

}  // namespace packcheck
