// core/encoding/decode_portable.h: the loops of fast_dequantize.cc for any processor. Include only from there.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace packcheck::portable {

#define PACKCHECK_INLINE [[gnu::always_inline]] static inline

using Byte = std::uint8_t;

PACKCHECK_INLINE unsigned half_at(const Byte* at) { return static_cast<unsigned>(at[0] | at[1] << 8); }
PACKCHECK_INLINE bool is_finite_half(unsigned half) { return (half & 0x7C00) != 0x7C00; }

/// The number of a finite half: a normal one by moving its exponent, a subnormal one as integer · 2^-24.
PACKCHECK_INLINE float number_of(unsigned half) {
  const unsigned magnitude = half & 0x7FFF;
  const float normal = std::bit_cast<float>((magnitude << 13) + (112U << 23));
  const float tiny = static_cast<float>(static_cast<int>(magnitude)) * 0x1p-24F;
  const float number = magnitude < 0x400 ? tiny : normal;
  return std::bit_cast<float>(std::bit_cast<unsigned>(number) | (half & 0x8000) << 16);
}

PACKCHECK_INLINE int low(Byte byte) { return byte & 15; }
PACKCHECK_INLINE int high(Byte byte) { return byte >> 4; }

// Each struct decodes one block: `decode` gives false where a scale is not finite, and has then written nothing.
// Codes are unpacked as bytes first and scaled after: so both compilers find vectors in both loops.

/// Bytes times a scale; the codes begin at byte kCodes.
template <int kCodes>
struct Q8 {
  static constexpr std::size_t kSize = 32;
  static constexpr std::size_t kBytes = kCodes + kSize;
  PACKCHECK_INLINE bool decode(const Byte* __restrict block, float* __restrict values) {
    if (!is_finite_half(half_at(block))) return false;
    const float d = number_of(half_at(block));
    for (int i = 0; i < 32; ++i) values[i] = static_cast<float>(static_cast<std::int8_t>(block[kCodes + i])) * d;
    return true;
  }
};
using Q8_0 = Q8<2>;
using Q8_1 = Q8<4>;

struct Q4_0 {
  static constexpr std::size_t kSize = 32;
  static constexpr std::size_t kBytes = 18;
  PACKCHECK_INLINE bool decode(const Byte* __restrict block, float* __restrict values) {
    if (!is_finite_half(half_at(block))) return false;
    const float d = number_of(half_at(block));
    std::array<std::int8_t, kSize> codes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (unsigned j = 0; j < 16; ++j) {
      codes[j] = static_cast<std::int8_t>(low(block[2 + j]) - 8);
      codes[16 + j] = static_cast<std::int8_t>(high(block[2 + j]) - 8);
    }
    for (unsigned i = 0; i < 32; ++i) values[i] = static_cast<float>(codes[i]) * d;
    return true;
  }
};

struct Q4_1 {
  static constexpr std::size_t kSize = 32;
  static constexpr std::size_t kBytes = 20;
  PACKCHECK_INLINE bool decode(const Byte* __restrict block, float* __restrict values) {
    if (!is_finite_half(half_at(block)) || !is_finite_half(half_at(block + 2))) return false;
    const float d = number_of(half_at(block));
    const float least = number_of(half_at(block + 2));
    std::array<std::int8_t, kSize> codes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (unsigned j = 0; j < 16; ++j) {
      codes[j] = static_cast<std::int8_t>(low(block[4 + j]));
      codes[16 + j] = static_cast<std::int8_t>(high(block[4 + j]));
    }
    for (unsigned i = 0; i < 32; ++i) values[i] = static_cast<float>(codes[i]) * d + least;
    return true;
  }
};

/// The fifth bits of q5_0 and q5_1, one per element, already worth 16.
PACKCHECK_INLINE void fifth_bits(const Byte* __restrict bytes, std::array<int, 32>& fifth) {
  const unsigned bits = half_at(bytes) | half_at(bytes + 2) << 16;
  for (unsigned i = 0; i < 32; ++i) fifth[i] = static_cast<int>(bits >> i & 1) << 4;
}

struct Q5_0 {
  static constexpr std::size_t kSize = 32;
  static constexpr std::size_t kBytes = 22;
  PACKCHECK_INLINE bool decode(const Byte* __restrict block, float* __restrict values) {
    if (!is_finite_half(half_at(block))) return false;
    const float d = number_of(half_at(block));
    std::array<int, 32> fifth;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    fifth_bits(block + 2, fifth);
    for (unsigned j = 0; j < 16; ++j) values[j] = static_cast<float>((low(block[6 + j]) | fifth[j]) - 16) * d;
    for (unsigned j = 0; j < 16; ++j)
      values[16 + j] = static_cast<float>((high(block[6 + j]) | fifth[16 + j]) - 16) * d;
    return true;
  }
};

struct Q5_1 {
  static constexpr std::size_t kSize = 32;
  static constexpr std::size_t kBytes = 24;
  PACKCHECK_INLINE bool decode(const Byte* __restrict block, float* __restrict values) {
    if (!is_finite_half(half_at(block)) || !is_finite_half(half_at(block + 2))) return false;
    const float d = number_of(half_at(block));
    const float least = number_of(half_at(block + 2));
    std::array<int, 32> fifth;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    fifth_bits(block + 4, fifth);
    for (unsigned j = 0; j < 16; ++j) values[j] = static_cast<float>(low(block[8 + j]) | fifth[j]) * d + least;
    for (unsigned j = 0; j < 16; ++j)
      values[16 + j] = static_cast<float>(high(block[8 + j]) | fifth[16 + j]) * d + least;
    return true;
  }
};

struct Q2K {
  static constexpr std::size_t kSize = 256;
  static constexpr std::size_t kBytes = 84;
  PACKCHECK_INLINE bool decode(const Byte* __restrict block, float* __restrict values) {
    if (!is_finite_half(half_at(block + 80)) || !is_finite_half(half_at(block + 82))) return false;
    const float d = number_of(half_at(block + 80));
    const float dmin = number_of(half_at(block + 82));
    std::array<Byte, kSize> codes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned l = 0; l < 32; ++l) {
        const unsigned byte = block[16 + 32 * half + l];
        Byte* const first = &codes[128 * half + l];
        first[0] = byte & 3;
        first[32] = byte >> 2 & 3;
        first[64] = byte >> 4 & 3;
        first[96] = static_cast<Byte>(byte >> 6);
      }
    for (unsigned i = 0; i < 16; ++i) {
      const float scale = d * static_cast<float>(low(block[i]));
      const float minimum = dmin * static_cast<float>(high(block[i]));
      for (unsigned l = 16 * i; l < 16 * i + 16; ++l)
        values[l] = scale * static_cast<float>(static_cast<int>(codes[l])) - minimum;
    }
    return true;
  }
};

struct Q3K {
  static constexpr std::size_t kSize = 256;
  static constexpr std::size_t kBytes = 110;
  PACKCHECK_INLINE bool decode(const Byte* __restrict block, float* __restrict values) {
    if (!is_finite_half(half_at(block + 108))) return false;
    const float d = number_of(half_at(block + 108));
    std::array<std::int8_t, kSize> codes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned l = 0; l < 32; ++l) {
        const unsigned byte = block[32 + 32 * half + l];
        const unsigned masks = block[l] >> (4 * half);
        std::int8_t* const first = &codes[128 * half + l];
        first[0] = static_cast<std::int8_t>(static_cast<int>((byte & 3) | (masks & 1) << 2) - 4);
        first[32] = static_cast<std::int8_t>(static_cast<int>((byte >> 2 & 3) | (masks & 2) << 1) - 4);
        first[64] = static_cast<std::int8_t>(static_cast<int>((byte >> 4 & 3) | (masks & 4)) - 4);
        first[96] = static_cast<std::int8_t>(static_cast<int>(byte >> 6 | (masks & 8) >> 1) - 4);
      }
    const Byte* const packed = block + 96;
    for (unsigned i = 0; i < 16; ++i) {
      const int nibble = i < 8 ? low(packed[i]) : high(packed[i - 8]);
      const int upper = packed[8 + i % 4] >> (2 * (i / 4)) & 3;
      const float scale = d * static_cast<float>((nibble | upper << 4) - 32);
      for (unsigned l = 16 * i; l < 16 * i + 16; ++l) values[l] = scale * static_cast<float>(codes[l]);
    }
    return true;
  }
};

/// Scale and minimum of sub-block `i` of q4_K and q5_K.
PACKCHECK_INLINE void scale_of_8(const Byte* bytes, int i, int& scale, int& minimum) {
  scale = i < 4 ? bytes[i] & 63 : low(bytes[i + 4]) | bytes[i - 4] >> 6 << 4;
  minimum = i < 4 ? bytes[i + 4] & 63 : high(bytes[i + 4]) | bytes[i] >> 6 << 4;
}

/// The values of q4_K and q5_K.
PACKCHECK_INLINE void scale_codes(const Byte* __restrict scales, float d, float dmin, const Byte* __restrict codes,
                                  float* __restrict values) {
  for (int i = 0; i < 8; ++i) {
    int scale = 0;
    int minimum = 0;
    scale_of_8(scales, i, scale, minimum);
    const float step = d * static_cast<float>(scale);
    const float offset = dmin * static_cast<float>(minimum);
    const Byte* const of_scale = codes + 32 * i;
    for (int l = 0; l < 32; ++l) values[32 * i + l] = step * static_cast<float>(static_cast<int>(of_scale[l])) - offset;
  }
}

struct Q4K {
  static constexpr std::size_t kSize = 256;
  static constexpr std::size_t kBytes = 144;
  PACKCHECK_INLINE bool decode(const Byte* __restrict block, float* __restrict values) {
    if (!is_finite_half(half_at(block)) || !is_finite_half(half_at(block + 2))) return false;
    const float d = number_of(half_at(block));
    const float dmin = number_of(half_at(block + 2));
    std::array<Byte, kSize> codes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (unsigned pair = 0; pair < 4; ++pair)
      for (unsigned l = 0; l < 32; ++l) {
        const Byte byte = block[16 + 32 * pair + l];
        codes[64 * pair + l] = byte & 15;
        codes[64 * pair + 32 + l] = byte >> 4;
      }
    scale_codes(block + 4, d, dmin, codes.data(), values);
    return true;
  }
};

struct Q5K {
  static constexpr std::size_t kSize = 256;
  static constexpr std::size_t kBytes = 176;
  PACKCHECK_INLINE bool decode(const Byte* __restrict block, float* __restrict values) {
    if (!is_finite_half(half_at(block)) || !is_finite_half(half_at(block + 2))) return false;
    const float d = number_of(half_at(block));
    const float dmin = number_of(half_at(block + 2));
    std::array<Byte, kSize> codes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (unsigned pair = 0; pair < 4; ++pair)
      for (unsigned l = 0; l < 32; ++l) {
        const unsigned byte = block[48 + 32 * pair + l];
        const unsigned fifths = block[16 + l] >> (2 * pair);
        codes[64 * pair + l] = static_cast<Byte>((byte & 15) | (fifths & 1) << 4);
        codes[64 * pair + 32 + l] = static_cast<Byte>(byte >> 4 | (fifths & 2) << 3);
      }
    scale_codes(block + 4, d, dmin, codes.data(), values);
    return true;
  }
};

struct Q6K {
  static constexpr std::size_t kSize = 256;
  static constexpr std::size_t kBytes = 210;
  PACKCHECK_INLINE bool decode(const Byte* __restrict block, float* __restrict values) {
    if (!is_finite_half(half_at(block + 208))) return false;
    const float d = number_of(half_at(block + 208));
    std::array<Byte, kSize> codes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned l = 0; l < 32; ++l) {
        const unsigned even = block[64 * half + l];
        const unsigned odd = block[64 * half + 32 + l];
        const unsigned upper = block[128 + 32 * half + l];
        Byte* const first = &codes[128 * half + l];
        first[0] = static_cast<Byte>((even & 15) | (upper & 3) << 4);
        first[32] = static_cast<Byte>((odd & 15) | (upper >> 2 & 3) << 4);
        first[64] = static_cast<Byte>(even >> 4 | (upper >> 4 & 3) << 4);
        first[96] = static_cast<Byte>(odd >> 4 | (upper >> 6) << 4);
      }
    for (unsigned i = 0; i < 16; ++i) {
      const float scale = d * static_cast<float>(static_cast<std::int8_t>(block[192 + i]));
      for (unsigned l = 16 * i; l < 16 * i + 16; ++l)
        values[l] = scale * static_cast<float>(static_cast<int>(codes[l]) - 32);
    }
    return true;
  }
};

#undef PACKCHECK_INLINE

}  // namespace packcheck::portable
