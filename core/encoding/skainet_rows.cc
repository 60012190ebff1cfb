// The rows of SKaiNET's encodings; sources are named in the headers of the families.
#include <array>

#include "core/encoding/bitnet_planes.h"
#include "core/encoding/i8_absmax.h"
#include "core/encoding/q4_0.h"
#include "core/encoding/rows.h"
#include "core/encoding/ternary.h"
#include "core/encoding/trits.h"
#include "core/encoding/turboquant.h"

namespace packcheck {
namespace {

constexpr BlockRules kSkainetQ4{
    .code = CodeRounding::half_up, .overflow = CodeOverflow::saturate, .scale = ScaleRule::skainet_private};

constexpr BlockRules kHalfEven{.code = CodeRounding::half_even, .overflow = CodeOverflow::saturate};

constexpr BlockRules kHalfUp{.code = CodeRounding::half_up, .overflow = CodeOverflow::saturate};

template <std::size_t N>
using Fields = std::array<ScaleField, N>;
using enum ScaleFormat;

constexpr Fields<1> kHalf0{{{f16, 0, 2}}};
constexpr Fields<1> kTq1{{{f16, 52, 2}}};
constexpr Fields<1> kTq2{{{f16, 64, 2}}};

// A family whose layout depends on a size: its row for one size, and the fields of its scales.
template <unsigned kElements>
constexpr Fields<1> kTensorScale{{{f32, (kElements + 3) / 4, 4}}};

template <unsigned kElements>
constexpr Encoding ternary(std::string_view name) {
  return {name,
          "skainet",
          kElements,
          (kElements + 3) / 4 + 4,
          false,
          kHalfEven,
          nullptr,
          trits_dequantize_block<kElements>,
          kTensorScale<kElements>,
          nullptr,
          Blocking::tensor};
}

template <unsigned kElements>
consteval Encoding bitnet(std::string_view name) {
  Encoding row = ternary<kElements>(name);
  row.quantizes = true;
  row.quantize_block = bitnet_quantize_block<kElements>;
  row.bound_block = bitnet_bound_block<kElements>;
  return row;
}

template <unsigned kColumns>
constexpr Fields<1> kRowHalf{{{f16, 2 * kColumns, 2}}};

template <unsigned kColumns>
consteval Encoding planes(std::string_view name) {
  constexpr std::size_t kPlane = kColumns / 4;
  return {name,
          "skainet",
          kColumns,
          2 * kColumns + 2,
          true,
          kHalfEven,
          bitnet_planes_quantize_block<kColumns>,
          bitnet_planes_dequantize_block<kColumns>,
          kRowHalf<kColumns>,
          bitnet_planes_bound_block<kColumns>,
          Blocking::row,
          {kPlane, kPlane, kPlane, kPlane, kPlane, kPlane, kPlane, kPlane, 2}};
}

template <unsigned kColumns>
constexpr Fields<1> kRowSingle{{{f32, kColumns, 4}}};

template <unsigned kColumns>
consteval Encoding i8_absmax(std::string_view name) {
  return {name,
          "skainet",
          kColumns,
          kColumns + 4,
          true,
          kHalfUp,
          i8_absmax_quantize_block<kColumns>,
          i8_absmax_dequantize_block<kColumns>,
          kRowSingle<kColumns>,
          i8_absmax_bound_block<kColumns>,
          Blocking::row,
          {kColumns, 4},
          i8_absmax_accepts_block<kColumns>};
}

template <unsigned kBits, unsigned kBlock>
consteval Fields<kBlock / 32> group_scales() {
  Fields<kBlock / 32> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i] = {f32, kBlock * kBits / 8 + 4 * i, 4};
  return fields;
}
template <unsigned kBits, unsigned kBlock>
constexpr Fields<kBlock / 32> kGroupScales = group_scales<kBits, kBlock>();

template <unsigned kBits, unsigned kBlock>
consteval Encoding polar(std::string_view name) {
  return {name,
          "skainet",
          kBlock,
          kBlock * kBits / 8 + kBlock / 8,
          true,
          kHalfEven,
          turboquant_quantize_block<kBits, kBlock>,
          turboquant_dequantize_block<kBits, kBlock>,
          kGroupScales<kBits, kBlock>,
          turboquant_bound_block<kBits, kBlock>,
          Blocking::row};
}

consteval Encoding i2_s(std::string_view dialect,
                        bool (*decode)(const BlockRules&, const std::uint8_t* block, float* values)) {
  return {"i2_s(128)", dialect, 128, 32, false, kHalfEven, nullptr, decode, {}, nullptr};
}

// clang-format off
constexpr std::array<Encoding, 19> kRows{{
    {"q4_0", "skainet", 32, 18, true, kSkainetQ4, q4_0_quantize_block, q4_0_dequantize_block, kHalf0, q4_0_bound_block},
    {"tq1_0", "skainet", 256, 54, true, kHalfEven, tq1_0_quantize_block, tq1_0_dequantize_block, kTq1, tq_bound_block},
    {"tq2_0", "skainet", 256, 66, true, kHalfEven, tq2_0_quantize_block, tq2_0_dequantize_block, kTq2, tq_bound_block},
    ternary<30>("ternary(30)"),
    ternary<64>("ternary(64)"),
    bitnet<30>("bitnet_b1_58(30)"),
    bitnet<64>("bitnet_b1_58(64)"),
    i2_s("group_128", i2_s_128_dequantize_block),
    i2_s("group_64", i2_s_64_dequantize_block),
    i2_s("sequential", i2_s_sequential_dequantize_block),
    planes<4>("bitnet_planes(4)"),
    planes<32>("bitnet_planes(32)"),
    i8_absmax<4>("i8_absmax(4)"),
    i8_absmax<32>("i8_absmax(32)"),
    polar<2, 32>("turboquant_polar(2,32)"),
    polar<3, 32>("turboquant_polar(3,32)"),
    polar<4, 32>("turboquant_polar(4,32)"),
    polar<4, 128>("turboquant_polar(4,128)"),
    polar<8, 32>("turboquant_polar(8,32)"),
}};
// clang-format on

}  // namespace

std::span<const Encoding> skainet_rows() { return kRows; }

}  // namespace packcheck
