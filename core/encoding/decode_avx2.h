// core/encoding/decode_avx2.h: the blocks of fast_dequantize.cc that gain by instructions chosen by hand: compilers
// agree on the other loops. Include only from there, on x86-64.
#pragma once

#include <immintrin.h>

#include "core/encoding/decode_portable.h"

namespace packcheck::avx2 {

using portable::Byte;
using portable::half_at;
using portable::is_finite_half;
using portable::number_of;

#define PACKCHECK_INLINE [[gnu::target("avx2"), gnu::always_inline]] static inline

PACKCHECK_INLINE __m128i load_16(const Byte* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }
PACKCHECK_INLINE __m128i low_nibbles(__m128i bytes) { return _mm_and_si128(bytes, _mm_set1_epi8(15)); }
PACKCHECK_INLINE __m128i high_nibbles(__m128i bytes) { return low_nibbles(_mm_srli_epi16(bytes, 4)); }

PACKCHECK_INLINE __m256 numbers_of_8(__m128i codes) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes)); }

/// values = codes · scale, for 16 signed bytes.
PACKCHECK_INLINE void scale_16(__m128i codes, __m256 scale, float* values) {
  _mm256_storeu_ps(values, _mm256_mul_ps(numbers_of_8(codes), scale));
  _mm256_storeu_ps(values + 8, _mm256_mul_ps(numbers_of_8(_mm_srli_si128(codes, 8)), scale));
}
/// values = scale · codes - offset.
PACKCHECK_INLINE void affine_16(__m128i codes, __m256 scale, __m256 offset, float* values) {
  const __m256 first = _mm256_mul_ps(scale, numbers_of_8(codes));
  const __m256 second = _mm256_mul_ps(scale, numbers_of_8(_mm_srli_si128(codes, 8)));
  _mm256_storeu_ps(values, _mm256_sub_ps(first, offset));
  _mm256_storeu_ps(values + 8, _mm256_sub_ps(second, offset));
}

struct Q4_0 {
  static constexpr std::size_t kSize = 32;
  static constexpr std::size_t kBytes = 18;
  PACKCHECK_INLINE bool decode(const Byte* block, float* values) {
    if (!is_finite_half(half_at(block))) return false;
    const __m256 d = _mm256_set1_ps(number_of(half_at(block)));
    const __m128i bytes = load_16(block + 2);
    const __m128i eight = _mm_set1_epi8(8);
    scale_16(_mm_sub_epi8(low_nibbles(bytes), eight), d, values);
    scale_16(_mm_sub_epi8(high_nibbles(bytes), eight), d, values + 16);
    return true;
  }
};

struct Q4_1 {
  static constexpr std::size_t kSize = 32;
  static constexpr std::size_t kBytes = 20;
  PACKCHECK_INLINE bool decode(const Byte* block, float* values) {
    if (!is_finite_half(half_at(block)) || !is_finite_half(half_at(block + 2))) return false;
    const __m256 d = _mm256_set1_ps(number_of(half_at(block)));
    const float least = number_of(half_at(block + 2));
    // a - (-b) is a + b, zeros included; NaN does not come here.
    const __m256 opposite = _mm256_set1_ps(-least);
    const __m128i bytes = load_16(block + 4);
    affine_16(low_nibbles(bytes), d, opposite, values);
    affine_16(high_nibbles(bytes), d, opposite, values + 16);
    return true;
  }
};

/// Step and offset of sub-block `i` of q4_K and q5_K.
struct StepAndOffset {
  __m256 step;
  __m256 offset;
};
PACKCHECK_INLINE void read_scale(const Byte* scales, int i, float d, float dmin, StepAndOffset& s) {
  int scale = 0;
  int minimum = 0;
  portable::scale_of_8(scales, i, scale, minimum);
  s.step = _mm256_set1_ps(d * static_cast<float>(scale));
  s.offset = _mm256_set1_ps(dmin * static_cast<float>(minimum));
}

struct Q4K {
  static constexpr std::size_t kSize = 256;
  static constexpr std::size_t kBytes = 144;
  PACKCHECK_INLINE bool decode(const Byte* block, float* values) {
    if (!is_finite_half(half_at(block)) || !is_finite_half(half_at(block + 2))) return false;
    const float d = number_of(half_at(block));
    const float dmin = number_of(half_at(block + 2));
    for (int pair = 0; pair < 4; ++pair) {
      StepAndOffset low;
      StepAndOffset high;
      read_scale(block + 4, 2 * pair, d, dmin, low);
      read_scale(block + 4, 2 * pair + 1, d, dmin, high);
      for (int l = 0; l < 32; l += 16) {
        const __m128i bytes = load_16(block + 16 + 32 * pair + l);
        affine_16(low_nibbles(bytes), low.step, low.offset, values + 64 * pair + l);
        affine_16(high_nibbles(bytes), high.step, high.offset, values + 64 * pair + 32 + l);
      }
    }
    return true;
  }
};

struct Q5K {
  static constexpr std::size_t kSize = 256;
  static constexpr std::size_t kBytes = 176;
  /// 16 where bit `bit` of a byte is set.
  PACKCHECK_INLINE __m128i fifth(__m128i bytes, int bit) {
    const __m128i mask = _mm_set1_epi8(static_cast<char>(1 << bit));
    return _mm_and_si128(_mm_cmpeq_epi8(_mm_and_si128(bytes, mask), mask), _mm_set1_epi8(16));
  }
  PACKCHECK_INLINE bool decode(const Byte* block, float* values) {
    if (!is_finite_half(half_at(block)) || !is_finite_half(half_at(block + 2))) return false;
    const float d = number_of(half_at(block));
    const float dmin = number_of(half_at(block + 2));
    for (int pair = 0; pair < 4; ++pair) {
      StepAndOffset low;
      StepAndOffset high;
      read_scale(block + 4, 2 * pair, d, dmin, low);
      read_scale(block + 4, 2 * pair + 1, d, dmin, high);
      for (int l = 0; l < 32; l += 16) {
        const __m128i bytes = load_16(block + 48 + 32 * pair + l);
        const __m128i fifths = load_16(block + 16 + l);
        affine_16(_mm_or_si128(low_nibbles(bytes), fifth(fifths, 2 * pair)), low.step, low.offset,
                  values + 64 * pair + l);
        affine_16(_mm_or_si128(high_nibbles(bytes), fifth(fifths, 2 * pair + 1)), high.step, high.offset,
                  values + 64 * pair + 32 + l);
      }
    }
    return true;
  }
};

struct Q6K {
  static constexpr std::size_t kSize = 256;
  static constexpr std::size_t kBytes = 210;
  /// 16 numbers at quarter `quarter`, from their low nibbles and their upper bits at 4 and 5.
  PACKCHECK_INLINE void quarter(__m128i nibbles, __m128i upper, float d, const Byte* scale, float* values) {
    const __m128i codes = _mm_or_si128(nibbles, _mm_and_si128(upper, _mm_set1_epi8(0x30)));
    const float step = d * static_cast<float>(static_cast<std::int8_t>(*scale));
    scale_16(_mm_sub_epi8(codes, _mm_set1_epi8(32)), _mm256_set1_ps(step), values);
  }
  PACKCHECK_INLINE bool decode(const Byte* block, float* values) {
    if (!is_finite_half(half_at(block + 208))) return false;
    const float d = number_of(half_at(block + 208));
    for (int half = 0; half < 2; ++half)
      for (int part = 0; part < 2; ++part) {
        const __m128i even = load_16(block + 64 * half + 16 * part);
        const __m128i odd = load_16(block + 64 * half + 32 + 16 * part);
        const __m128i upper = load_16(block + 128 + 32 * half + 16 * part);
        const Byte* const scales = block + 192 + 8 * half + part;
        float* const out = values + 128 * half + 16 * part;
        quarter(low_nibbles(even), _mm_slli_epi16(upper, 4), d, scales, out);
        quarter(low_nibbles(odd), _mm_slli_epi16(upper, 2), d, scales + 2, out + 32);
        quarter(high_nibbles(even), upper, d, scales + 4, out + 64);
        quarter(high_nibbles(odd), _mm_srli_epi16(upper, 2), d, scales + 6, out + 96);
      }
    return true;
  }
};

#undef PACKCHECK_INLINE

}  // namespace packcheck::avx2
