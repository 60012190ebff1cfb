// core/encoding/k_quants.h: ggml's k-quants, 256 elements per block: sub-blocks with integer scales of their own
// under one or two halves. Decoders only; their quantizers search and have no simple rule.
//
// Element e is in half h = e/128 at quarter k = (e%128)/32, column l = e%32.
//
//   q2_K   84 bytes: 16 scales @0, 64 code bytes @16, half d @80, half dmin @82. Sub-blocks of 16; byte
//          e/16 of the scales: low nibble scale s, high nibble minimum m. Code: bits 2k of code byte
//          32h + l. value = (d·s)·code - dmin·m
//   q3_K  110 bytes: 32 mask bytes @0, 64 code bytes @32, 12 scale bytes @96, half d @108. Sub-blocks of
//          16 with 6-bit scales: sub-block i has its low nibble in byte i%8 (low half for i < 8), its
//          upper two bits in byte 8 + i%4 at 2·(i/4). Code as q2_K, minus 4 unless bit 4h + k of
//          mask byte l is set. value = (d·(scale - 32))·code
//   q4_K  144 bytes: half d @0, half dmin @2, 12 scale bytes @4, 128 code bytes @16. Sub-blocks of 32:
//          i < 4: scale = byte i & 63, minimum = byte i+4 & 63; i >= 4: the nibbles of byte i+4, with
//          the upper two bits of bytes i-4 and i as bits 4 and 5. Code: nibble (e/32)%2 of code byte
//          32·(e/64) + l. value = (d·scale)·code - dmin·minimum
//   q5_K  176 bytes: as q4_K with 32 bytes of fifth bits @16 (bit e/32 of byte l), 128 code bytes @48
//   q6_K  210 bytes: 128 low bytes @0, 64 high bytes @128, 16 signed scales @192, half d @208. Low nibble
//          k/2 of byte 64h + 32·(k%2) + l, upper two bits 2k of high byte 32h + l.
//          value = (d·scale[e/16])·(code - 32)
//
// Every product is exact in f32 (at most 11 + 8 + 5 bits), so each value is rounded at most once.
// Source of the layouts: ggml src/ggml-common.h and src/ggml-quants.c (dequantize_row_q2_K … q6_K).
#pragma once

#include <cstdint>

#include "core/encoding/encoding.h"

namespace packcheck {

/// One block in, 256 floats out. Every byte pattern has values.
bool q2_k_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool q3_k_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool q4_k_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool q5_k_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool q6_k_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);

}  // namespace packcheck
