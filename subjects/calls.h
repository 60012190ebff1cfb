// subjects/calls.h: the operations with types, for laws. One function per operation; each builds the
// request, calls the subject and checks that the answer has the size that the request implies.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/encoding/encoding.h"
#include "core/format/format.h"
#include "core/params/layout.h"
#include "subjects/subject.h"
#include "subjects/tensor_document.h"

namespace packcheck {

using Bytes = std::vector<std::uint8_t>;

/// An answer of type T, or what happened instead.
template <class T>
struct Answer {
  Outcome outcome = Outcome::answered;
  T value{};
  std::string message;

  [[nodiscard]] bool ok() const { return outcome == Outcome::answered; }
};

[[nodiscard]] Answer<Bytes> call_convert(Subject& subject, Format from, Format to, std::string_view mode,
                                         std::span<const std::uint8_t> in);
[[nodiscard]] Answer<Bytes> call_quantize(Subject& subject, const Encoding& encoding, std::span<const float> values);
[[nodiscard]] Answer<std::vector<float>> call_dequantize(Subject& subject, const Encoding& encoding,
                                                         std::span<const std::uint8_t> blocks);
[[nodiscard]] Answer<Bytes> call_repack(Subject& subject, Format from, Format to, std::span<const std::uint8_t> in);
[[nodiscard]] Answer<std::string> call_print(Subject& subject, std::uint64_t bits);
[[nodiscard]] Answer<std::uint64_t> call_parse(Subject& subject, std::string_view text);
[[nodiscard]] Answer<PackedWords> call_pack(Subject& subject, const Layout& layout,
                                            std::span<const std::int64_t> values);
[[nodiscard]] Answer<std::vector<std::int64_t>> call_unpack(Subject& subject, const Layout& layout,
                                                            const PackedWords& words);

/// A weight matrix that owns its bytes; see core/affine/affine.h for the meaning.
struct AffineTensor {
  std::uint64_t out_features = 0;
  std::uint64_t in_features = 0;
  std::uint64_t scale_columns = 0;
  Format scale_format = Format::bf16;
  Bytes codes;
  Bytes scales;
  Bytes biases;
  unsigned bits = 4;                ///< of a code
  std::uint64_t block_rows = 1;     ///< rows that share scales
  std::uint64_t block_columns = 0;  ///< features that share a scale; 0: groups that divide a row

  /// "affine6:f32", "affine8_blocks:f32"
  [[nodiscard]] std::string variant() const;
};
/// Its sizes as a call carries them: out, in, columns; bits unless they are 4; of blocks bits and the block's two
/// lengths.
[[nodiscard]] std::vector<std::uint64_t> shape_of(const AffineTensor& tensor);
[[nodiscard]] Answer<std::vector<float>> call_affine_dequantize(Subject& subject, const AffineTensor& tensor);
/// The file's listing (subjects/PROTOCOL.md). `kind`: "safetensors" or "gguf".
[[nodiscard]] Answer<std::string> call_read_tensors(Subject& subject, std::string_view kind,
                                                    std::span<const std::uint8_t> file);
/// The bytes of a file with these contents: a listing, the line "data", and the data.
[[nodiscard]] Answer<Bytes> call_write_tensors(Subject& subject, std::string_view kind, std::string_view contents);

/// What becomes of a described tensor. A document that is no answer broke the protocol.
[[nodiscard]] Answer<TensorAnswer> call_tensor(Subject& subject, Operation operation, const DescribedTensor& tensor);

// Little-endian arrays in byte strings: how numbers travel in requests and replies.
[[nodiscard]] std::string bytes_to_string(std::span<const std::uint8_t> bytes);
[[nodiscard]] Bytes string_to_bytes(std::string_view bytes);
[[nodiscard]] std::string u64s_to_string(std::span<const std::uint64_t> values);
[[nodiscard]] std::vector<std::uint64_t> string_to_u64s(std::string_view bytes);
[[nodiscard]] std::string floats_to_string(std::span<const float> values);
[[nodiscard]] std::vector<float> string_to_floats(std::string_view bytes);

}  // namespace packcheck
