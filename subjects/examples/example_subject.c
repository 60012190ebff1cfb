/* example_subject.c: a small, complete subject. Build and judge it:
 *
 *     cc -shared -fPIC -I../include example_subject.c -o libexample.so
 *     packcheck verify --subject lib:./libexample.so
 *
 * It needs libc and packcheck/subject.h, no more. Start your own subject from a copy: keep the
 * functions whose operations you offer, call your implementation in them, and declare what it does.
 */
#include <packcheck/subject.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { Q8_0_ELEMENTS = 32, Q8_0_BYTES = 34 };

static int refused(packcheck_error* error, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return PACKCHECK_REFUSED;
}

static int same(const char* a, const char* b) { return strcmp(a, b) == 0; }

/* Numbers in requests are little-endian, whatever this machine is. */
static uint32_t load16(const uint8_t* p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t load32(const uint8_t* p) { return load16(p) | load16(p + 2) << 16; }
static void store16(uint8_t* p, uint32_t bits) {
  p[0] = (uint8_t)(bits & 0xFF);
  p[1] = (uint8_t)(bits >> 8 & 0xFF);
}
static void store32(uint8_t* p, uint32_t bits) {
  store16(p, bits & 0xFFFF);
  store16(p + 2, bits >> 16);
}
static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* bfloat16 is the upper half of a float. Round to nearest, ties to even; a NaN keeps its sign and
 * upper payload bits and becomes quiet. The addition carries into the exponent exactly when the
 * number rounds up to the next binade, and into infinity when it overflows. */
static uint32_t bf16_of_f32(uint32_t bits) {
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return bits >> 16 | 0x0040;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

/* bf16->f32 appends zeros; a signalling NaN becomes quiet, as in hardware. */
static uint32_t f32_of_bf16(uint32_t bits) {
  return bits << 16 | ((bits & 0x7FFF) > 0x7F80 ? UINT32_C(0x00400000) : 0);
}

static int convert(const char* from, const char* to, const char* mode, const uint8_t* in, size_t in_size, uint8_t* out,
                   size_t out_size, size_t count, packcheck_error* error) {
  const int narrow = same(from, "f32") && same(to, "bf16");
  const int widen = same(from, "bf16") && same(to, "f32");
  if ((!narrow && !widen) || !same(mode, "nearest-even")) return PACKCHECK_UNSUPPORTED;
  const size_t from_bytes = narrow ? 4 : 2;
  const size_t to_bytes = narrow ? 2 : 4;
  if (in_size != count * from_bytes || out_size != count * to_bytes)
    return refused(error, "%zu bytes do not hold %zu elements of %s", in_size, count, from);
  for (size_t i = 0; i < count; ++i) {
    if (narrow)
      store16(out + 2 * i, bf16_of_f32(load32(in + 4 * i)));
    else
      store32(out + 4 * i, f32_of_bf16(load16(in + 2 * i)));
  }
  return PACKCHECK_OK;
}

/* Repacking moves bits: unlike convert, it leaves a signalling NaN as it is. */
static int repack(const char* from, const char* to, const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size,
                  packcheck_error* error) {
  if (!same(from, "bf16") || !same(to, "f32")) return PACKCHECK_UNSUPPORTED;
  if (in_size % 2 != 0 || out_size != 2 * in_size) return refused(error, "%zu bytes of bf16", in_size);
  for (size_t i = 0; i < in_size / 2; ++i) store32(out + 4 * i, load16(in + 2 * i) << 16);
  return PACKCHECK_OK;
}

/* IEEE binary16 to binary32, exactly. A subnormal is an integer multiple of 2^-24. */
static float float_of_f16(uint32_t half) {
  const uint32_t sign = (half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 0x1F;
  const uint32_t significand = half & 0x3FF;
  if (exponent == 0) {
    const float magnitude = (float)significand * (1.0f / 16777216.0f);
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide_exponent = exponent == 0x1F ? 0xFF : exponent + (127 - 15);
  return float_of(sign | wide_exponent << 23 | significand << 13);
}

/* q8_0, as ggml has it: a half-precision scale, then 32 signed bytes. */
static int dequantize(const char* encoding, const uint8_t* blocks, size_t size, float* values, size_t count,
                      packcheck_error* error) {
  if (!same(encoding, "q8_0:ggml")) return PACKCHECK_UNSUPPORTED;
  if (size % Q8_0_BYTES != 0 || count != size / Q8_0_BYTES * Q8_0_ELEMENTS)
    return refused(error, "%zu bytes are not whole blocks of %d", size, (int)Q8_0_BYTES);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* block = blocks + i / Q8_0_ELEMENTS * Q8_0_BYTES;
    const int byte = block[2 + i % Q8_0_ELEMENTS];
    values[i] = (float)(byte < 128 ? byte : byte - 256) * float_of_f16(load16(block));
  }
  return PACKCHECK_OK;
}

/* conv2d, generation 2: where each field sits in the bits of two doubles. */
typedef struct field {
  const char* name;
  int word;
  int shift;
  uint64_t largest;
} field;
static const field conv2d_fields[] = {{"kernel_h", 0, 16, 0xFF},
                                      {"kernel_w", 0, 8, 0xFF},
                                      {"stride", 0, 0, 0xFF},
                                      {"padding", 1, 16, 0xFFFF},
                                      {"out_channels", 1, 0, 0xFFFF}};
enum { CONV2D_FIELDS = sizeof conv2d_fields / sizeof conv2d_fields[0] };

static int pack(const char* layout, const int64_t* values, size_t count, uint64_t words[2], packcheck_error* error) {
  if (!same(layout, "conv2d:gen2")) return PACKCHECK_UNSUPPORTED;
  if (count != CONV2D_FIELDS) return refused(error, "%zu values; conv2d has %d fields", count, (int)CONV2D_FIELDS);
  words[0] = words[1] = 0;
  for (size_t i = 0; i < count; ++i) {
    const field* f = &conv2d_fields[i];
    if (values[i] < 0 || (uint64_t)values[i] > f->largest)
      return refused(error, "%s is %lld; expected 0..%llu", f->name, (long long)values[i],
                     (unsigned long long)f->largest);
    words[f->word] |= (uint64_t)values[i] << f->shift;
  }
  return PACKCHECK_OK;
}

static int unpack(const char* layout, const uint64_t words[2], int64_t* values, size_t count, packcheck_error* error) {
  if (!same(layout, "conv2d:gen2")) return PACKCHECK_UNSUPPORTED;
  if (count != CONV2D_FIELDS) return refused(error, "%zu values; conv2d has %d fields", count, (int)CONV2D_FIELDS);
  for (size_t i = 0; i < count; ++i) {
    const field* f = &conv2d_fields[i];
    values[i] = (int64_t)(words[f->word] >> f->shift & f->largest);
  }
  return PACKCHECK_OK;
}

/* The shape at words[*at]: how many axes, then their sizes. Gives its number of elements, or 0 for what is no shape:
 * sizes are multiplied only after they were compared with the room that is left. */
static int64_t read_shape(const int64_t* words, size_t count, size_t* at) {
  const int64_t axes = *at < count ? words[(*at)++] : -1;
  int64_t elements = 1;
  if (axes < 0 || axes > 16 || (uint64_t)axes > count - *at) return 0;
  for (int64_t i = 0; i < axes; ++i) {
    const int64_t size = words[(*at)++];
    if (size < 1 || elements > INT64_MAX / size) return 0;
    elements *= size;
  }
  return elements;
}

/* One to 64 equal shapes, whose shape the output has. */
static int infer_shape(const char* rule, const int64_t* attributes, size_t attribute_count, const int64_t* shapes,
                       size_t shapes_count, int64_t* out, size_t capacity, size_t* out_count, packcheck_error* error) {
  size_t number = 0;
  size_t words = 0; /* of each shape */
  (void)attributes;
  if (!same(rule, "elementwise")) return PACKCHECK_UNSUPPORTED;
  if (attribute_count != 0) return refused(error, "%zu attributes; elementwise has none", attribute_count);
  for (size_t at = 0; at < shapes_count; ++number) {
    const size_t begin = at;
    if (read_shape(shapes, shapes_count, &at) == 0) return refused(error, "input %zu has no shape", number);
    if (number == 0) words = at;
    if (at - begin != words || memcmp(shapes + begin, shapes, words * sizeof *shapes) != 0)
      return refused(error, "input %zu has another shape than input 0", number);
  }
  if (number < 1 || number > 64) return refused(error, "%zu inputs; elementwise has 1 to 64", number);
  *out_count = words - 1;
  if (*out_count <= capacity) memcpy(out, shapes + 1, *out_count * sizeof *out);
  return PACKCHECK_OK;
}

/* relu of floats: how many, where everything fits; no buffer is touched before. */
static int count_of_relu(const packcheck_node* node, size_t* count, packcheck_error* error) {
  size_t at = 0;
  if (!same(node->op, "relu:f32")) return PACKCHECK_UNSUPPORTED;
  const int64_t elements = read_shape(node->shapes, node->shapes_count, &at);
  if (node->attribute_count != 0 || elements == 0 || at != node->shapes_count)
    return refused(error, "relu has one input and no attributes");
  if (node->values_size % 4 != 0 || node->values_size / 4 != (uint64_t)elements)
    return refused(error, "%zu bytes for %lld floats", node->values_size, (long long)elements);
  *count = (size_t)elements;
  return PACKCHECK_OK;
}

static int execute(const packcheck_node* node, uint8_t* out, size_t capacity, size_t* out_size,
                   packcheck_error* error) {
  size_t count = 0;
  const int code = count_of_relu(node, &count, error);
  if (code != PACKCHECK_OK) return code;
  *out_size = 4 * count;
  for (size_t i = 0; i < count && *out_size <= capacity; ++i) {
    const uint32_t x = load32(node->values + 4 * i);
    store32(out + 4 * i, float_of(x) > 0 ? x : 0);
  }
  return PACKCHECK_OK;
}

static int execute_backward(const packcheck_node* node, uint8_t* out, size_t capacity, size_t* out_size,
                            packcheck_error* error) {
  size_t count = 0;
  const int code = count_of_relu(node, &count, error);
  if (code != PACKCHECK_OK) return code;
  if (node->upstream_size != 4 * count) return refused(error, "%zu bytes of gradient", node->upstream_size);
  *out_size = 4 * count;
  for (size_t i = 0; i < count && *out_size <= capacity; ++i) {
    const int passes = float_of(load32(node->values + 4 * i)) > 0;
    store32(out + 4 * i, passes ? load32(node->upstream + 4 * i) : 0);
  }
  return PACKCHECK_OK;
}

const packcheck_subject* packcheck_subject_v1(void) {
  static const char* const declarations[] = {"convert f32->bf16 rounding=nearest-even nan=quieted",
                                             "convert bf16->f32 nan=quieted",
                                             "repack bf16->f32 nan=same",
                                             "dequantize q8_0:ggml",
                                             "pack conv2d:gen2",
                                             "unpack conv2d:gen2",
                                             "infer_shape elementwise",
                                             "execute relu:f32",
                                             "execute_backward relu:f32",
                                             NULL};
  /* What is not named here is NULL: not offered. */
  static const packcheck_subject subject = {.struct_size = sizeof(packcheck_subject),
                                            .name = "example",
                                            .version = "1.0",
                                            .declarations = declarations,
                                            .convert = convert,
                                            .repack = repack,
                                            .dequantize = dequantize,
                                            .pack = pack,
                                            .unpack = unpack,
                                            .infer_shape = infer_shape,
                                            .execute = execute,
                                            .execute_backward = execute_backward};
  return &subject;
}
