/* packcheck/subject.h: how a library lets packcheck judge it. Plain C99; this header is all you need.
 *
 * Build a shared library that exports one function,
 *
 *     const packcheck_subject *packcheck_subject_v1(void);
 *
 * and run `packcheck verify --subject lib:./yours.so`. The table it returns holds optional function
 * pointers: leave NULL what you do not offer, and packcheck skips it. For each function that you
 * offer, say in `declarations` which variants it has and which dialect it follows, so that a correct
 * implementation of another dialect is not condemned.
 *
 * packcheck loads the library in a worker process of its own. A crash, a hang, a leak or a write
 * past a buffer is a finding about your library, not the end of the run.
 *
 * Rules for every function:
 *   - Numbers in arrays are little-endian and tightly packed; float arrays are native floats.
 *   - Buffers belong to the caller. Write exactly `size` bytes of an output, every one of them.
 *     Memory around an output is guarded, and bytes you leave unwritten are noticed.
 *   - Return PACKCHECK_OK, or PACKCHECK_REFUSED if the input is unsound (say why in error->message),
 *     or PACKCHECK_UNSUPPORTED if you do not offer this variant. Any other value is a finding.
 *   - Strings are NUL-terminated UTF-8, except where a size is given.
 *   - Keep nothing between calls that changes an answer, and no memory.
 *   - Whatever you declare must have its function, and every function its declarations; a table that
 *     disagrees with itself is refused when it is loaded.
 *   - Inputs end where inaccessible memory begins and are aligned only to their element size.
 *
 * The dialects, which the laws compare bit for bit:
 *   q8_0:ggml     32 numbers, 34 bytes. d = max|x| / 127 in float, stored as a half (nearest even);
 *                 code = roundf(x * (1 / d)) with the float d, halves away from zero; d = 0 gives codes 0.
 *   q4_0:ggml     32 numbers, 18 bytes. m = the first element of strictly largest magnitude, with its
 *                 sign; d = m / -8; code = min(15, (int)(x * (1 / d) + 8.5)), value (code - 8) * d;
 *                 element j in the low half of code byte j, element j + 16 in the high half.
 *   q4_0:skainet  as q4_0:ggml, but the half is rounded with ties away from zero, subnormal halves are
 *                 truncated, NaN becomes infinity, and codes are clamped (NaN gives 0).
 *   What C leaves undefined (NaN or infinite input in the ggml dialects) is not compared.
 *   parse json    white space around the number may be accepted or refused.
 */
#ifndef PACKCHECK_SUBJECT_H
#define PACKCHECK_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PACKCHECK_OK = 0, PACKCHECK_REFUSED = 1, PACKCHECK_UNSUPPORTED = 2 };

enum { PACKCHECK_MESSAGE_SIZE = 256 };

/* Filled in with PACKCHECK_REFUSED: what was wrong, NUL-terminated. */
typedef struct packcheck_error {
  char message[PACKCHECK_MESSAGE_SIZE];
} packcheck_error;

/* A weight matrix quantized in groups (MLX affine, codes of 2, 3, 4, 5, 6 or 8 bits):
 * weight[o][i] = scale[o][g] * code[o][i] + bias[o][g] with g = i / (in_features / scale_columns). */
typedef struct packcheck_affine {
  uint64_t out_features;
  uint64_t in_features;
  uint64_t scale_columns;   /* second dimension of scales and biases */
  const char* scale_format; /* "bf16", "f16" or "f32": dtype of scales and biases */
  const uint8_t* codes;     /* out_features rows of in_features * bits / 8 bytes; code i of a row is bits i * bits and
                               up of its bytes as one little-endian number: with 4 bits, low nibble first */
  size_t codes_size;
  const uint8_t* scales; /* out_features * scale_columns elements of scale_format */
  size_t scales_size;
  const uint8_t* biases; /* as scales */
  size_t biases_size;
  /* For other variants than affine4:f32; a library that declares that alone need not look at them. */
  uint32_t bits;          /* of a code */
  uint64_t block_rows;    /* output features that share scales: 1, but of blocks */
  uint64_t block_columns; /* input features that share a scale; 0: in_features / scale_columns. Of blocks there are
                             ceil(out_features / block_rows) * ceil(in_features / block_columns) scales and biases */
} packcheck_affine;

/* A node of a graph to run. `shapes` holds, for each input, its number of axes and then its sizes. */
typedef struct packcheck_node {
  const char* op; /* operator and element type as declared: "conv2d:f32" */
  const int64_t* attributes;
  size_t attribute_count;
  const int64_t* shapes;
  size_t shapes_count;   /* 64-bit words in `shapes` */
  const uint8_t* values; /* the elements of all inputs, one input after the other; not always as many as needed */
  size_t values_size;
  const uint8_t* upstream; /* the gradient of the output; of execute_backward alone */
  size_t upstream_size;
} packcheck_node;
/* Packed weights of a product: as in packcheck_affine, but with codes of `bits` bits, out_features rows of
 * in_features * bits / 8 bytes. Code i of a row is bits i * bits and up of the row as one little-endian number. */
typedef struct packcheck_packed_weights {
  const uint8_t* codes;
  size_t codes_size;
  const uint8_t* scales; /* out_features * in_features / group_size elements of scale_format */
  size_t scales_size;
  const uint8_t* biases; /* as scales */
  size_t biases_size;
} packcheck_packed_weights;

/* The arguments of affine_matmul and affine_gate_up, the same for both. What does not go together is refused. */
typedef struct packcheck_product {
  uint64_t rows;
  uint64_t in_features;
  uint64_t out_features;
  uint64_t group_size;      /* 32, 64 or 128 */
  uint64_t bits;            /* of a code: 2, 3, 4, 5, 6 or 8 */
  const char* scale_format; /* "bf16", "f16" or "f32" */
  const char* order;        /* "sequential", "lanes", "pairwise" or "per_group": a wish, see PROTOCOL.md */
  const float* x;           /* rows * in_features numbers, row-major */
  size_t x_count;
  packcheck_packed_weights weights[2]; /* gate and up; of affine_matmul the first alone */
} packcheck_product;

typedef struct packcheck_subject {
  /* sizeof(packcheck_subject): lets later versions append functions. */
  size_t struct_size;
  const char* name;    /* [A-Za-z0-9_.-]+ */
  const char* version; /* of the implementation */

  /* What is offered, one line each, ending with NULL: an operation, a variant, then options.
   *   "convert f32->f16"              from and to: f64 f32 f16 bf16 e5m2 e4m3 e3m4 e4m3fn e4m3fnuz e5m2fnuz
   *                                   e4m3b11fnuz e8m0 e3m2 e2m3 e2m1 ue4m3 e5m3 i8 i32 (`packcheck formats`)
   *        rounding=nearest-even      (default) | nearest-away | nearest-up | toward-zero | upward | downward
   *        nan=any                    (default) | quieted | same | truncated | infinity | zero
   *        overflow=default           (default) | saturate: the largest number for all past it
   *        subnormal=kept             (default) | flushed | truncated: results cut off, whatever the rounding
   *        integer=saturate           (default) NaN gives 0 | wrap: saturates to 32 bits, then the low bits
   *                                   | refuse: return PACKCHECK_REFUSED for an array with such a number
   *                                   | indefinite: 0x80000000, then the low bits (cvttss2si)
   *        dialect=none               (default) | skainet | skainet-q4_0 | ggml | mlx | x86-cast: all of the
   *                                   above at once; options beside it come before it
   *   "quantize q8_0:ggml"            encoding:dialect; `packcheck encodings` lists them with their layout.
   *                                   Some have no quantizer to compare with and are decoded only.
   *   "dequantize q8_0:ggml"
   *   "repack f16->f32"               f16 or bf16 to f32;  nan=any (default) | same
   *   "print json"                    a double as a JSON number
   *   "parse json"                    non_finite=refuse (default) | accept
   *   "pack conv2d:gen2"              op:dialect; `packcheck layouts` lists them
   *   "unpack conv2d:gen2"
   *   "affine_dequantize affine4:f32" affine2, 3, 4, 5, 6 or 8: bits of a code; product and sum each
   *                                   rounded to float; affine8_blocks: a scale covers a block, see above
   *   "repack_tensor q8_0:ggml"       a source encoding: any of `packcheck encodings`, or dense(FORMAT);
   *                                   nan=any (default) | same
   *   "requantize_tensor dense(f32)"  as repack_tensor, without options
   *   "load_tensor dense(bf16)"       the same
   *   "read_tensors gguf"             safetensors or gguf: what a tensor file says, as a listing
   *   "write_tensors gguf"            safetensors or gguf: the bytes of a tensor file
   *   "import_graph ysgp:lossless"    a graph's dialect: ysgp:lossless or ysgp:yishape (core/graph/graph.h)
   *   "export_graph ysgp:lossless"
   *   "infer_shape conv2d:floor"      operator:dialect, a rule of the table in PROTOCOL.md, "Operators"
   *   "execute conv2d:f32"            operator:f32 or operator:f64, of the table there
   *   "execute_backward conv2d:f32"
   *   "affine_matmul affine4:f32"     affine2, 3, 4, 5, 6 or 8: the bits of a code
   *   "affine_gate_up affine4:f32"    fused=near (default) | same: the bits that affine_matmul gives
   *   "run_network autograd:boundary_casts"  boundary_stops or boundary_casts: what a cast does with gradients
   *   "export_network stablehlo"             graph_json or stablehlo
   *   "import_network graph_json"
   */
  const char* const* declarations;

  /* Converts `count` numbers. `mode` is what your declaration said: "nearest-even", or
   * "nearest-even,saturate" with overflow=saturate, "toward-zero,integer=wrap" with integer=wrap. An element narrower
   * than a byte takes the low bits of one, the others 0. */
  int (*convert)(const char* from, const char* to, const char* mode, const uint8_t* in, size_t in_size, uint8_t* out,
                 size_t out_size, size_t count, packcheck_error* error);

  /* Encodes `count` floats into `size` bytes of blocks. `encoding` is "name:dialect" as declared. Blocks hold 4
   * to 256 numbers; `count` is whole blocks. Refuse nothing that your dialect encodes. */
  int (*quantize)(const char* encoding, const float* values, size_t count, uint8_t* blocks, size_t size,
                  packcheck_error* error);

  /* Decodes `size` bytes of blocks, any bytes, into `count` floats. */
  int (*dequantize)(const char* encoding, const uint8_t* blocks, size_t size, float* values, size_t count,
                    packcheck_error* error);

  /* Re-encodes a dense array of `from` as a dense array of `to` without changing a value. */
  int (*repack)(const char* from, const char* to, const uint8_t* in, size_t in_size, uint8_t* out, size_t out_size,
                packcheck_error* error);

  /* Writes the double with these bits as a JSON number into `text` (not NUL-terminated) and its
   * length into `*size`. Refuse what JSON cannot say. `capacity` is at least 400. */
  int (*print)(uint64_t bits, char* text, size_t capacity, size_t* size, packcheck_error* error);

  /* The bits of the double that `text` (`size` bytes, not NUL-terminated) stands for. */
  int (*parse)(const char* text, size_t size, uint64_t* bits, packcheck_error* error);

  /* Packs one value per field, in the layout's order (conv2d: kernel_h kernel_w stride padding
   * out_channels), into words[0] (scalar) and words[1] (param2), the bits of two doubles.
   * Refuse a value outside its field, and fields that make a word an infinity or a NaN. The value of a plain
   * field is the 64 bits of its double. */
  int (*pack)(const char* layout, const int64_t* values, size_t count, uint64_t words[2], packcheck_error* error);

  /* Takes one value per field out of the two doubles with these bits. */
  int (*unpack)(const char* layout, const uint64_t words[2], int64_t* values, size_t count, packcheck_error* error);

  /* Decodes a weight matrix into out_features * in_features floats, row-major. */
  int (*affine_dequantize)(const packcheck_affine* weights, float* values, size_t count, packcheck_error* error);

  /* Stored tensors. `tensor` describes one in a line of text (PROTOCOL.md, "Stored tensors"), followed by the bytes
   * that its buffer lies in; `source` is its encoding. Write the answer, a line and bytes, into `out` and its size
   * into `*out_size`; where `capacity` is less than that, write the size alone and you are called once more.
   * Return PACKCHECK_OK also with the answer "refused": it tells how often the resolver had been asked. Of a file or a
   * device, do not touch the bytes behind the line before you read them: where you have refused without a read, you
   * are asked once more with those bytes inaccessible, and to touch one is a crash. */
  int (*repack_tensor)(const char* source, const uint8_t* tensor, size_t size, uint8_t* out, size_t capacity,
                       size_t* out_size, packcheck_error* error);
  int (*requantize_tensor)(const char* source, const uint8_t* tensor, size_t size, uint8_t* out, size_t capacity,
                           size_t* out_size, packcheck_error* error);
  int (*load_tensor)(const char* source, const uint8_t* tensor, size_t size, uint8_t* out, size_t capacity,
                     size_t* out_size, packcheck_error* error);
  /* Reads the header of a tensor file (`kind` as declared) out of any bytes, and lists it as subjects/PROTOCOL.md
   * says. Refuse an unsound file. Write the size of the listing into `*out_size`, and the listing into `out` if it
   * has at most `capacity` bytes; else packcheck asks once more with that capacity. */
  int (*read_tensors)(const char* kind, const uint8_t* file, size_t file_size, uint8_t* out, size_t capacity,
                      size_t* out_size, packcheck_error* error);

  /* Writes a tensor file: `contents` is a listing and the data, as subjects/PROTOCOL.md says. Sizes as above. */
  int (*write_tensors)(const char* kind, const uint8_t* contents, size_t contents_size, uint8_t* out, size_t capacity,
                       size_t* out_size, packcheck_error* error);

  /* Reads a graph from JSON text and writes it as YSGP bytes. Refuse text that is no sound graph. Sizes as above. */
  int (*import_graph)(const char* dialect, const uint8_t* text, size_t text_size, uint8_t* out, size_t capacity,
                      size_t* out_size, packcheck_error* error);

  /* Reads a graph from YSGP bytes and writes it as JSON text. Refuse bytes that are no sound graph, and values that
   * JSON cannot say in this dialect. */
  int (*export_graph)(const char* dialect, const uint8_t* ysgp, size_t ysgp_size, uint8_t* out, size_t capacity,
                      size_t* out_size, packcheck_error* error);

  /* The output shape of an operator. `shapes` is as in packcheck_node, attributes and answer as PROTOCOL.md says.
   * Write the sizes into `out` and their number into `*out_count`; `capacity` is 64 at least. Refuse a request that
   * has no output shape: every number is possible, also 0, negative ones and those that overflow. */
  int (*infer_shape)(const char* rule, const int64_t* attributes, size_t attribute_count, const int64_t* shapes,
                     size_t shapes_count, int64_t* out, size_t capacity, size_t* out_count, packcheck_error* error);

  /* Runs an operator: writes the elements of its output, or the gradients of its inputs one after the other. Sizes
   * as for documents above. Refuse a node whose attributes, shapes and numbers of elements do not fit each other. */
  int (*execute)(const packcheck_node* node, uint8_t* out, size_t capacity, size_t* out_size, packcheck_error* error);
  int (*execute_backward)(const packcheck_node* node, uint8_t* out, size_t capacity, size_t* out_size,
                          packcheck_error* error);
  /* y = x * transpose(W) with weights[0]: `count` = rows * out_features floats, row-major. Any order of sums in float
   * or better; a NaN must give NaN, an infinity no finite number. Refuse arguments that would index past a buffer or
   * leave a part of it unread. */
  int (*affine_matmul)(const packcheck_product* product, float* y, size_t count, packcheck_error* error);

  /* Both products of one x: `count` = 2 * rows * out_features floats, first those of gate. */
  int (*affine_gate_up)(const packcheck_product* product, float* y, size_t count, packcheck_error* error);
  /* Runs a network of mixed formats, described as subjects/PROTOCOL.md says, forward and backward: every number and
   * gradient. Refuse a description of no network, and weights of another format than their layer's. Sizes as above. */
  int (*run_network)(const char* autograd, const uint8_t* network, size_t network_size, uint8_t* out, size_t capacity,
                     size_t* out_size, packcheck_error* error);

  /* Writes the same network as text: graph_json or stablehlo. Sizes as above. */
  int (*export_network)(const char* form, const uint8_t* network, size_t network_size, uint8_t* out, size_t capacity,
                        size_t* out_size, packcheck_error* error);

  /* Reads such text back and writes the network that it is. Refuse what is no network. Sizes as above. */
  int (*import_network)(const char* form, const uint8_t* text, size_t text_size, uint8_t* out, size_t capacity,
                        size_t* out_size, packcheck_error* error);
} packcheck_subject;

/* The entry point your library exports. */
const packcheck_subject* packcheck_subject_v1(void);

#ifdef __cplusplus
}
#endif

#endif /* PACKCHECK_SUBJECT_H */
