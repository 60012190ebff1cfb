// Encodings: quantize, dequantize, repack, affine_dequantize.
#include "subjects/calls.h"
#include "subjects/reference/answers.h"

namespace packcheck {

const Encoding* encoding_row(const std::vector<Encoding>& rows, std::string_view id) {
  for (const Encoding& row : rows)
    if (row.has_id(id)) return &row;
  return nullptr;
}

Reply answer_quantize(const ReferenceRules& rules, Arguments a) {
  const Encoding* e = encoding_row(rules.encodings, a[0]);
  if (e == nullptr || !e->quantizes) return {Outcome::skipped, {}, "no quantizer of '" + std::string(a[0]) + "'"};
  const std::vector<float> values = string_to_floats(a[1]);
  const Result<std::size_t> size = encoded_bytes(*e, values.size());
  if (!size) return refused(size.error());
  // Two fills: a byte that keeps both was not written.
  Bytes blocks(*size, 0xA5);
  Bytes again(*size, 0x5A);
  if (auto ok = packcheck::quantize(*e, values, blocks); !ok) return refused(ok.error());
  if (auto ok = packcheck::quantize(*e, values, again); !ok) return refused(ok.error());
  if (blocks != again) return {Outcome::left_unwritten, {}, "the output depends on what was in it"};
  return answered(bytes_to_string(blocks));
}

Reply answer_dequantize(const ReferenceRules& rules, Arguments a) {
  const Encoding* e = encoding_row(rules.encodings, a[0]);
  if (e == nullptr) return {Outcome::skipped, {}, "no decoder of '" + std::string(a[0]) + "'"};
  const Bytes blocks = string_to_bytes(a[1]);
  const Result<std::size_t> count = decoded_count(*e, blocks.size());
  if (!count) return refused(count.error());
  std::vector<float> values(*count);
  if (auto ok = packcheck::dequantize(*e, blocks, values); !ok) return refused(ok.error());
  return answered(floats_to_string(values));
}

Reply answer_repack(const ReferenceRules& rules, Arguments a) {
  const auto from = format_named(a[0]);
  const auto to = format_named(a[1]);
  if (!from || !to) return {Outcome::skipped, {}, "unknown format; known are " + std::string(format_names())};
  const Bytes in = string_to_bytes(a[2]);
  Bytes out(in.size() / spec(*from).bytes() * spec(*to).bytes());
  if (auto ok = repack_dense(*from, *to, in, out, rules.repack); !ok) return refused(ok.error());
  return answered(bytes_to_string(out));
}

Reply answer_affine_dequantize(const ReferenceRules& rules, Arguments a) {
  const auto format = format_named(a[0]);
  const std::vector<std::uint64_t> shape = string_to_u64s(a[1]);
  if (!format || (shape.size() != 3 && shape.size() != 4 && shape.size() != 6))
    return malformed("affine_dequantize wants a scale format and three, four or six sizes");
  const Bytes codes = string_to_bytes(a[2]);
  const Bytes scales = string_to_bytes(a[3]);
  const Bytes biases = string_to_bytes(a[4]);
  std::size_t count = 0;
  if (__builtin_mul_overflow(shape[0], shape[1], &count) || count / 4 > codes.size())
    return malformed("the shape asks for more codes than there are");
  std::vector<float> values(count);
  const unsigned bits = shape.size() == 3 ? 4U : static_cast<unsigned>(shape[3]);
  AffineWeights weights{shape[0], shape[1], shape[2], *format, codes, scales, biases, bits};
  if (shape.size() == 6) weights.block_rows = shape[4], weights.block_columns = shape[5];
  if (auto ok = affine_dequantize(weights, values, rules.affine); !ok) return refused(ok.error());
  return answered(floats_to_string(values));
}

}  // namespace packcheck
