/* subjects/sentinel/sentinel.c: does this compiler, with these flags, keep the numbers of a quantized kernel?
 *
 * Build it with the compiler and the flags of the code under test, and run it; `packcheck sentinel COMMAND`
 * does both. One line per check: name, "ok", "broken" or "note", and what it means. Exit 1 if one is broken.
 * C99 and C++11, no headers but these. Every operand comes from a volatile, so that nothing is computed
 * by the compiler. Proved by tests/cli/sentinel_test.cc, which breaks each check by flags.
 */
#include <float.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE
#endif

enum { LENGTH = 32 };

/* The sums of ggml's q5_0 and q4_0 dot products. gcc 12 with -O2 and AVX-VNNI or AVX512-VNNI (as by
 * -march=native or icelake-server) turns "unsigned code minus offset, times signed byte" into an
 * instruction for unsigned times signed, and takes the negative difference for a large number. */
static NOINLINE int sum_of_5_bit_codes(const uint8_t* codes, const int8_t* numbers) {
  int sum = 0;
  int i;
  for (i = 0; i < LENGTH; ++i) sum += ((codes[i] & 31) - 16) * numbers[i];
  return sum;
}
static NOINLINE int sum_of_high_nibbles(const uint8_t* codes, const int8_t* numbers) {
  int sum = 0;
  int i;
  for (i = 0; i < LENGTH; ++i) sum += ((codes[i] >> 4) - 8) * numbers[i];
  return sum;
}

/* Every code at every place, all other products 0: how many of 512 + 512 sums are wrong. */
static int wrong_sums(void) {
  uint8_t codes[LENGTH];
  int8_t numbers[LENGTH];
  int wrong = 0;
  int place, code, i;
  for (place = 0; place < LENGTH; ++place)
    for (code = 0; code < 16; ++code) {
      for (i = 0; i < LENGTH; ++i) {
        codes[i] = 16;
        numbers[i] = 0;
      }
      numbers[place] = 1;
      codes[place] = (uint8_t)code;
      if (sum_of_5_bit_codes(codes, numbers) != code - 16) ++wrong;
      codes[place] = (uint8_t)(code << 4);
      if (sum_of_high_nibbles(codes, numbers) != code - 8) ++wrong;
    }
  return wrong;
}

static volatile float smallest_normal = FLT_MIN;
static volatile float half = 0.5F;
static volatile float zero = 0.0F;
static volatile float one = 1.0F;
static volatile float large = 16777216.0F;           /* 2^24: 1 more is lost in a float */
static volatile float just_above_one = 1.00024414F;  /* 1 + 2^-12 */
static volatile float minus_square = -1.00048828F;   /* -(1 + 2^-11), the rounded square */

static NOINLINE int is_nan(float x) { return x != x; }
static NOINLINE float plus_zero(float x) { return x + 0.0F; }
static NOINLINE float difference(float a, float b) { return a - b; }
static NOINLINE float sum_minus_first(float a, float b) { return (a + b) - a; }
static NOINLINE float product_plus(float a, float b, float c) { return a * b + c; }
static NOINLINE float twice_half(float x, float h) { return x * h; }

static int sign_of(float x) {
  union {
    float number;
    uint32_t bits;
  } both;
  both.number = x;
  return (int)(both.bits >> 31);
}

static int report(const char* name, int broken, const char* meaning) {
  printf("%s\t%s\t%s\n", name, broken ? "broken" : "ok", meaning);
  return broken ? 1 : 0;
}

int main(void) {
  const float nan = difference(one / zero, one / zero);
  int broken = 0;
  broken |= report("nibble_sums", wrong_sums() != 0,
                   "sums of (unsigned code - offset) * signed byte, as in q4_0 and q5_0 dot products");
  broken |= report("subnormals_kept", twice_half(smallest_normal, half) == 0.0F,
                   "half of the smallest normal float is not 0 (flush-to-zero is off)");
  broken |= report("nan_is_seen", !is_nan(nan) || nan == nan, "x != x tells a NaN (no -ffinite-math-only)");
  broken |= report("zero_keeps_its_sign", sign_of(plus_zero(-zero)) != 0 || sign_of(-zero) != 1,
                   "-0 + 0 is +0 (no -fno-signed-zeros)");
  broken |= report("sums_keep_their_order", sum_minus_first(large, one) != 0.0F,
                   "(2^24 + 1) - 2^24 is 0 in float (no -fassociative-math)");
  broken |= report("floats_are_floats", FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16, "float arithmetic is rounded to float (no x87)");
  printf("products_are_rounded\t%s\ta * b + c is rounded twice; fused once where the flags allow an FMA\n",
         product_plus(just_above_one, just_above_one, minus_square) == 0.0F ? "ok" : "note");
  return broken;
}
