// core/params: small integers packed into the bits of doubles, as graph exporters do.
//
// A layout is data: for each field its word, lowest bit and width, or that the word is a plain number.
// The packed double is a bit pattern, never a number: the right rules do no floating-point arithmetic. Add a
// layout by adding rows to layouts.cc and to the oracle's own table. Source: yishape-math's
// ScalarParamEncoding and GraphOpSchema, and what came before them. Proved by the params.* laws,
// whose oracle multiplies and divides where this room shifts and masks; analysis.h computes what the words can be.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace packcheck {

enum class FieldKind : std::uint8_t {
  bits,        ///< an integer in some bits of the word
  number,      ///< the word is a double: any finite one
  whole,       ///< 0.0, 1.0, 2.0 … 2^53
  flag,        ///< 0.0 or 1.0
  probability  ///< 0.0 to 1.0
};

/// One parameter: bits [shift, shift + width) of word `word` (0 scalar, 1 param2), or all of a plain word.
/// The value of a plain field is the 64 bits of its double, as an i64.
struct Field {
  std::string_view name;
  std::size_t word = 0;
  unsigned shift = 0;
  unsigned width = 0;  ///< 1 to 63; of a plain field 64
  FieldKind kind = FieldKind::bits;
  bool runs_at_zero = false;   ///< an operator with 0 here can be executed: padding can, a stride cannot
  bool may_be_absent = false;  ///< plain only: the quiet NaN says that there is no value

  [[nodiscard]] constexpr bool plain() const { return kind != FieldKind::bits; }
  /// Of a field of bits; 0 where a reader knows nothing of it.
  [[nodiscard]] constexpr std::int64_t largest() const {
    return width == 0 ? 0 : static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - width));
  }
  /// Whether `value` may be packed.
  [[nodiscard]] bool holds(std::int64_t value) const;
  /// "0..255", "0.0 or 1.0": what it holds.
  [[nodiscard]] std::string range() const;
};

/// The fields of one operator in one dialect.
struct Layout {
  std::string_view op;       ///< "conv2d"
  std::string_view dialect;  ///< "gen2"
  std::span<const Field> fields;

  [[nodiscard]] std::string id() const { return std::string(op) + ":" + std::string(dialect); }
};

inline constexpr std::size_t kPackedWords = 2;  ///< scalar and param2
using PackedWords = std::array<std::uint64_t, kPackedWords>;

/// Every layout; of an operator with several dialects the one that its name alone means comes first.
[[nodiscard]] std::span<const Layout> all_layouts();
/// "conv2d:gen3", or "conv2d", which is the first row of that operator. The error lists the known ones.
[[nodiscard]] Result<const Layout*> layout_named(std::string_view id);

/// A value as people write it: "3", "0.5", "absent".
[[nodiscard]] std::string field_text(const Field& field, std::int64_t value);
/// The inverse. Refuses what is no integer, or for a plain field no JSON number; not what is out of range.
[[nodiscard]] Result<std::int64_t> parse_field(const Field& field, std::string_view text);

enum class RangeRule : std::uint8_t {
  refuse,           ///< the reference: a field outside its range is an error
  or_overflow,      ///< yishape-math's packers: shift and OR without a mask, so fields run into each other
  cut_off,          ///< its newer out_channels: masked, so that 65536 becomes 0
  negative_passes,  ///< only the upper end is tested: -1 sets every bit above, which is a NaN
  specials_pass     ///< fields are tested, but not whether the whole word is an infinity or NaN
};
enum class PackArithmetic : std::uint8_t {
  bits,       ///< the reference: shifts of 64-bit words
  int32,      ///< Java's int: shifts count modulo 32, and the sign of the sum is extended to 64 bits
  as_numbers  ///< the word's value as a double, where its bits are meant
};
enum class PlainPacking : std::uint8_t {
  number,
  as_bits  ///< bit_cast where a conversion is meant: 1 becomes 4.9e-324
};

/// The choices of one packer; the defaults are the reference.
struct PackRules {
  RangeRule range = RangeRule::refuse;
  PackArithmetic arithmetic = PackArithmetic::bits;
  PlainPacking plain = PlainPacking::number;
  friend bool operator==(const PackRules&, const PackRules&) = default;
};

/// Packs one value per field. Refuses the first value that its field does not hold, and fields of bits that together
/// make their word an infinity, which JSON has not, or a NaN, which exporters take for "absent".
[[nodiscard]] Result<PackedWords> pack(const Layout& layout, std::span<const std::int64_t> values,
                                       const PackRules& rules = {});

enum class WordReading : std::uint8_t {
  reinterpret,   ///< the bits of the double
  numeric_cast,  ///< the seed's bug: the double's value truncated to an integer, 0 for every subnormal
  through_f32,   ///< kept in a float between: 0 for every subnormal
  flushed        ///< after arithmetic under flush-to-zero: 0 for every subnormal
};
enum class FieldReading : std::uint8_t {
  masked,
  unmasked,         ///< shifted without a mask: what lies above comes with it
  sign_extended,    ///< the field's highest bit taken for a sign
  shifts_modulo_32  ///< shift counts taken modulo 32, as in JavaScript and C's int
};

/// The choices of one reader; the defaults are the reference.
struct UnpackRules {
  WordReading word = WordReading::reinterpret;
  FieldReading field = FieldReading::masked;
  friend bool operator==(const UnpackRules&, const UnpackRules&) = default;
};

struct Unpacked {
  std::vector<std::int64_t> values;  ///< one per field
  PackedWords ignored;               ///< bits that belong to no field
};

/// Takes each field out of its word. Total: every pair of words has fields.
[[nodiscard]] Unpacked unpack(const Layout& layout, const PackedWords& words, const UnpackRules& rules = {});

/// Why packable values cannot be run ("stride is 0"); empty when they can. Packable is not executable.
[[nodiscard]] std::string not_executable_because(const Layout& layout, std::span<const std::int64_t> values);

}  // namespace packcheck
