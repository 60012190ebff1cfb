// core/encoding: block encodings, one file per family, and the registry.
//
// A family is a file of functions over a single block (decode, and where it has a quantizer of a
// simple rule, encode and bound the error); a dialect is a row of data (BlockRules) that says where
// real systems differ. Add an encoding: one file with the block functions and one row in
// registry.cc (or one line there that takes in the rows of a file with many); every law, case type
// and command follows the registry. An encoding whose layout depends on a shape has its size in its
// name, as in mlx_affine(4,64), and a row for each size that laws are to visit. Proved by
// tests/core/encoding_test.cc and by the encoding.* laws, whose oracle
// (properties/oracles/block_oracle.*) shares no code with this room. Error bounds: bounds.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/format/format.h"
#include "core/result.h"

namespace packcheck {

/// How x·(1/d), or (x - bias)/scale, becomes an integer code.
enum class CodeRounding : std::uint8_t {
  half_away,  ///< C roundf: q8_0:ggml, MLX's GPU kernels
  half_even,  ///< C rintf: MLX on the CPU; kotlin.math.round: SKaiNET's ternary codes
  half_up,    ///< truncate(v + offset + 0.5): q4_0; floor(v + 0.5): i8_absmax
  truncate    ///< toward zero: the faulty requantizer
};

/// What becomes of a code that is NaN or outside the integer type it is cast to.
enum class CodeOverflow : std::uint8_t {
  zero,     ///< what x86 compilers make of the undefined C cast: ggml
  saturate  ///< Kotlin Float.toInt: NaN gives 0, the rest clamps
};

/// How the f32 scale becomes the stored half.
enum class ScaleRule : std::uint8_t {
  nearest_even,
  skainet_private  ///< Q4_0Quantizer.kt: ties away from zero, subnormals truncated, NaN gives infinity
};

/// Where the 4-bit codes of a 32-element block sit.
enum class NibbleOrder : std::uint8_t {
  split,       ///< byte j: element j low, element j+16 high
  interleaved  ///< byte j: element 2j low, element 2j+1 high (SKaiNET's JVM path before 0.27.0)
};

/// Which elements share a code byte. Sequential is wrong where the declared order is another; for a faulty twin.
enum class CodeReading : std::uint8_t {
  declared,
  sequential  ///< neighbours do, low bits or digits first (SKaiNET's DequantOps.kt)
};

/// What the fourth code of two bits means, which no quantizer of trits writes.
enum class FourthCode : std::uint8_t {
  plus_two,  ///< code - 1, like the others
  zero       ///< SKaiNET's DenseTensorDataFactory.kt; for a faulty twin
};

/// By which scale bitnet_planes divides a row before it splits it into planes.
enum class ResidualScale : std::uint8_t {
  stored,
  exact  ///< the maximum before it was rounded to a half; for a faulty twin
};

/// In which order an array's planes lie. Reversed is wrong; for a faulty twin.
enum class PlaneOrder : std::uint8_t { declared, reversed };

/// Where a code of fewer than 8 bits sits among the others.
enum class BitPacking : std::uint8_t {
  stream,   ///< element i at bits i·width … of the bytes read as one little-endian number
  per_word  ///< 32/width whole codes in each 32-bit word; wrong for 3, 5 and 6 bits; for a faulty twin
};

/// How an affine group is scaled and decoded.
enum class AffineRule : std::uint8_t {
  cpu,  ///< the greatest number is one of the group's; the product and the sum are rounded each
  gpu   ///< the greatest number is at least 0; product and sum are rounded once
};

/// What becomes of an affine group whose edge is less than half a step: all zeros, for one.
enum class AffineEdge : std::uint8_t {
  guarded,  ///< the bias is 0
  divided   ///< the scale is the edge divided by its 0 steps; for a faulty twin
};

/// The shape of an affine group and the format of its scale and bias.
struct AffineShape {
  unsigned bits = 0;  ///< 0: no affine encoding
  unsigned group = 0;
  Format storage = Format::f32;

  friend bool operator==(const AffineShape&, const AffineShape&) = default;
};

/// How the power of two of a microscaling block follows from its largest magnitude A.
enum class ScaleExponent : std::uint8_t {
  floor,   ///< floor(log2 A) less the element's largest exponent (OCP MX 1.0)
  nearest  ///< round(log2(A / the element's largest number)): MLX
};

/// What becomes of a block scale above the largest number of its 8-bit format.
enum class ScaleOverflow : std::uint8_t {
  saturates,
  becomes_nan  ///< a cast without a clamp; for a faulty twin
};

/// Which of the 8 codes of a word belongs to which column.
enum class ColumnOrder : std::uint8_t {
  sequential,    ///< GPTQ
  even_then_odd  ///< the columns 0, 2, 4, 6, 1, 3, 5, 7 from the low end: AWQ
};

/// How a stored zero point is meant.
enum class ZeroPoint : std::uint8_t {
  as_stored,
  one_less  ///< one must be added (GPTQ's first format)
};

/// The elements of a microscaling block: floats of 8 bits and fewer, or 8-bit integers of 6 fraction bits.
struct ElementShape {
  Format format = Format::e2m1;
  bool integer = false;

  friend bool operator==(const ElementShape&, const ElementShape&) = default;
};

/// How many bytes of a block the quantizer writes.
enum class WriteRule : std::uint8_t { every_byte, forgets_last_byte };

/// How a decoder treats the code -128 of q8_0, which no quantizer writes.
enum class ExtremeCode : std::uint8_t { accepted, refused };

/// How a scale or a minimum is stored.
enum class ScaleFormat : std::uint8_t {
  f16,
  f32,
  bf16,
  e8m0,  ///< an exponent: a power of two
  e4m3fn,
  ue4m3,         ///< 4 exponent bits, 3 fraction bits, the sign bit ignored
  int8,          ///< an integer that multiplies the block's scale
  packed_4_bit,  ///< integers of 4 bits
  packed_6_bit   ///< integers of 6 bits, spread over the bytes
};
[[nodiscard]] std::string_view scale_format_name(ScaleFormat format);

/// Where scales sit in a block: `bytes` bytes at `offset`. What no field covers are codes.
struct ScaleField {
  ScaleFormat format;
  std::size_t offset;
  std::size_t bytes;
};

/// The choices of one dialect.
struct BlockRules {
  CodeRounding code = CodeRounding::half_away;
  CodeOverflow overflow = CodeOverflow::zero;
  ScaleRule scale = ScaleRule::nearest_even;
  NibbleOrder order = NibbleOrder::split;
  WriteRule write = WriteRule::every_byte;
  ExtremeCode extreme = ExtremeCode::accepted;
  PlaneOrder planes = PlaneOrder::declared;
  BitPacking packing = BitPacking::stream;
  AffineRule affine_rule = AffineRule::cpu;
  AffineEdge edge = AffineEdge::guarded;
  AffineShape affine{};
  ScaleExponent exponent = ScaleExponent::floor;
  ScaleOverflow scale_overflow = ScaleOverflow::saturates;
  ElementShape element{};
  ColumnOrder columns = ColumnOrder::sequential;
  ZeroPoint zero = ZeroPoint::as_stored;
  CodeReading reading = CodeReading::declared;
  FourthCode fourth = FourthCode::plus_two;
  ResidualScale residual = ResidualScale::stored;

  friend bool operator==(const BlockRules&, const BlockRules&) = default;
};

/// What a block is a part of, and so where blocks may begin.
enum class Blocking : std::uint8_t {
  volume,  ///< the flat array in row-major order: a block may hold the end of one row and the start of the next
  row,     ///< a row: its length is a multiple of the block size
  tensor   ///< none: the block is the whole tensor
};
[[nodiscard]] std::string_view blocking_name(Blocking blocking);

inline constexpr std::size_t kMostPlanes = 10;
/// Bytes per block of each plane; zeros after the last. All zeros: a block's bytes lie together. Else the
/// array holds the first plane's bytes of every block, then the second plane's, and so on.
using Planes = std::array<std::size_t, kMostPlanes>;

/// One encoding in one dialect.
struct Encoding {
  std::string_view name;     ///< "q8_0"
  std::string_view dialect;  ///< "ggml"
  std::size_t block_size;    ///< elements per block
  std::size_t block_bytes;
  bool quantizes;  ///< whether this dialect has a quantizer here
  BlockRules rules;
  void (*quantize_block)(const BlockRules&, const float* values, std::uint8_t* block);
  bool (*dequantize_block)(const BlockRules&, const std::uint8_t* block, float* values);  ///< false: refused
  std::span<const ScaleField> scales;                                                     ///< in order of offset
  /// Writes the proved error bound of each element (bounds.h); null where there is no quantizer.
  void (*bound_block)(const BlockRules&, const float* values, double* bounds);
  Blocking blocking = Blocking::volume;
  Planes planes{};
  /// False for a block that the quantizer refuses; null where it takes every float.
  bool (*accepts_block)(const float* values) = nullptr;

  /// "q8_0:ggml"
  [[nodiscard]] std::string id() const { return std::string(name) + ":" + std::string(dialect); }
  [[nodiscard]] bool has_id(std::string_view id) const {
    return id.size() == name.size() + 1 + dialect.size() && id.substr(0, name.size()) == name &&
           id[name.size()] == ':' && id.substr(name.size() + 1) == dialect;
  }
};

[[nodiscard]] std::span<const Encoding> all_encodings();
/// The row called "name:dialect", or an error that names the nearest one and lists all.
[[nodiscard]] Result<const Encoding*> encoding_named(std::string_view id);

/// Where byte `at` of block `block` lies in an array of `blocks` blocks.
[[nodiscard]] std::size_t position_of_byte(const Encoding& encoding, std::size_t blocks, std::size_t block,
                                           std::size_t at);

/// Bytes of `count` elements. Refuses a count that is no multiple of the block size and a size that
/// does not fit.
[[nodiscard]] Result<std::size_t> encoded_bytes(const Encoding& encoding, std::size_t count);
/// Elements in `bytes` bytes. Refuses a partial block.
[[nodiscard]] Result<std::size_t> decoded_count(const Encoding& encoding, std::size_t bytes);

/// Encodes `values`; `blocks` must have exactly encoded_bytes() bytes. Total over all float bit
/// patterns: NaN and infinity follow the dialect's rules and are not refused, unless the real quantizer
/// refuses them (accepts_block); then nothing is written. Refuses an encoding that is decoded only.
[[nodiscard]] Result<void> quantize(const Encoding& encoding, std::span<const float> values,
                                    std::span<std::uint8_t> blocks);
/// Decodes `blocks`; `values` must have exactly decoded_count() elements. Total over all bytes.
[[nodiscard]] Result<void> dequantize(const Encoding& encoding, std::span<const std::uint8_t> blocks,
                                      std::span<float> values);

}  // namespace packcheck
