#include "core/params/analysis.h"

#include <algorithm>

namespace packcheck {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kExponent = std::uint64_t{0x7FF} << 52;
constexpr std::uint64_t kSignificand = kExponent ^ (kSign - 1);
constexpr std::uint64_t kOne = std::uint64_t{1023} << 52;
constexpr std::uint64_t kSmallestNormal = std::uint64_t{1} << 52;

std::uint64_t mask_of(const Field& field) {
  return field.plain() ? ~std::uint64_t{0} : static_cast<std::uint64_t>(field.largest()) << field.shift;
}
std::uint64_t lowest_bit(std::uint64_t bits) { return bits & (~bits + 1); }

/// Smallest patterns among those whose ones lie in `covered`.
void classes_of_bits(WordSpan& span) {
  const auto set = [&](DoubleClass c, std::uint64_t bits) { span.smallest[static_cast<std::size_t>(c)] = bits; };
  const std::uint64_t exponent = span.covered & kExponent;
  const std::uint64_t significand = span.covered & kSignificand;
  set(DoubleClass::zero, 0);
  if (significand != 0) set(DoubleClass::subnormal, lowest_bit(significand));
  if (exponent != 0) set(DoubleClass::normal, lowest_bit(exponent));  // one bit alone is never the whole exponent
  if (exponent != kExponent) return;
  set(DoubleClass::infinity, kExponent);
  if (significand != 0) set(DoubleClass::nan, kExponent | lowest_bit(significand));
}

/// Smallest patterns (of the positive ones) among the doubles that a plain field holds.
void classes_of_plain(WordSpan& span, const Field& field) {
  const auto set = [&](DoubleClass c, std::uint64_t bits) { span.smallest[static_cast<std::size_t>(c)] = bits; };
  set(DoubleClass::zero, 0);
  const bool fractions = field.kind == FieldKind::number || field.kind == FieldKind::probability;
  if (fractions) set(DoubleClass::subnormal, 1);
  set(DoubleClass::normal, fractions ? kSmallestNormal : kOne);
  if (field.may_be_absent) set(DoubleClass::nan, kExponent | std::uint64_t{1} << 51);
  span.can_be_negative = field.kind == FieldKind::number;
}

}  // namespace

std::string_view double_class_name(DoubleClass c) {
  constexpr std::array<std::string_view, kDoubleClasses> kNames{"zero", "subnormal", "normal", "infinity", "NaN"};
  return kNames[static_cast<std::size_t>(c)];
}

DoubleClass double_class(std::uint64_t bits) {
  const std::uint64_t magnitude = bits & ~kSign;
  if (magnitude == 0) return DoubleClass::zero;
  if (magnitude < kSmallestNormal) return DoubleClass::subnormal;
  if (magnitude < kExponent) return DoubleClass::normal;
  return magnitude == kExponent ? DoubleClass::infinity : DoubleClass::nan;
}

std::array<WordSpan, kPackedWords> analyse(const Layout& layout) {
  std::array<WordSpan, kPackedWords> spans;
  for (const Field& field : layout.fields) {
    WordSpan& span = spans[field.word];
    span.plain = span.plain || field.plain();
    span.overlapping |= span.covered & mask_of(field);
    span.covered |= mask_of(field);
    if (field.plain()) classes_of_plain(span, field);
  }
  for (WordSpan& span : spans) {
    span.gaps = ~span.covered;
    if (span.plain) continue;
    span.can_be_negative = (span.covered & kSign) != 0;
    classes_of_bits(span);
  }
  return spans;
}

std::vector<Error> faults_of(const Layout& layout) {
  std::vector<Error> faults;
  std::vector<std::string_view> names;
  PackedWords taken{};
  for (const Field& field : layout.fields) {
    const std::string where = layout.id() + " field " + std::string(field.name);
    if (std::find(names.begin(), names.end(), field.name) != names.end())
      faults.push_back({"the name appears twice", where, "each name once"});
    names.push_back(field.name);
    const unsigned most = field.plain() ? 64 : 63;
    if (field.word >= kPackedWords || field.width == 0 || field.width > most || field.shift + field.width > 64) {
      faults.push_back({"lies outside its word", where, "1 to 63 bits of a word of 64, or a plain word"});
      continue;
    }
    if ((taken[field.word] & mask_of(field)) != 0)
      faults.push_back({"shares bits with another field", where, "bits of its own"});
    taken[field.word] |= mask_of(field);
  }
  return faults;
}

}  // namespace packcheck
