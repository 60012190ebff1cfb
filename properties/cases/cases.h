// properties/cases/cases.h: the structs of all case types. Generators and JSON forms are in the
// .cc files beside this header, one per type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/encoding/encoding.h"
#include "core/file/tensor_file.h"
#include "core/format/format.h"
#include "core/params/layout.h"
#include "properties/case.h"
#include "subjects/calls.h"

namespace packcheck {

/// Numbers of one format to convert or repack to another. Variant "f32->f16".
struct ConversionCase {
  Format from = Format::f32;
  Format to = Format::f16;
  Bytes elements;  ///< little-endian elements of `from`

  [[nodiscard]] std::size_t count() const { return elements.size() / spec(from).bytes(); }
};
[[nodiscard]] std::string conversion_variant(Format from, Format to);
extern const CaseType& conversion_cases;

/// Floats to encode. Variant "q8_0:ggml".
struct ValuesCase {
  const Encoding* encoding = nullptr;
  std::vector<float> values;  ///< whole blocks
};
extern const CaseType& values_cases;

/// Blocks to decode, any bytes. Variant "q8_0:ggml".
struct BlocksCase {
  const Encoding* encoding = nullptr;
  Bytes blocks;  ///< whole blocks
};
extern const CaseType& blocks_cases;

/// Field values to pack, not always inside their ranges. Variant "conv2d:gen2".
struct ParametersCase {
  const Layout* layout = nullptr;
  std::vector<std::int64_t> values;  ///< one per field
};
extern const CaseType& parameters_cases;

/// Two packed doubles, any bits. Variant "conv2d:gen2".
struct WordsCase {
  const Layout* layout = nullptr;
  PackedWords words{};
};
extern const CaseType& words_cases;

/// One double, any bits. Variant "json".
struct NumberCase {
  std::uint64_t bits = 0;
};
extern const CaseType& number_cases;

/// Text where a number should be: mostly JSON numbers, also what only looks like one. Variant "json".
struct TextCase {
  std::string text;
};
extern const CaseType& text_cases;

/// A group-quantized weight matrix. Variant "affine4:f32", named for the bits of a code, or
/// "affine8_blocks:f32".
struct AffineCase {
  AffineTensor tensor;
};
extern const CaseType& affine_cases;

/// A stored tensor, and what is to become of it: one type of case for each of repack_tensor, requantize_tensor and
/// load_tensor. Variant: the source encoding, "q8_0:ggml", "dense(f16)".
extern const CaseType& repack_tensor_cases;
extern const CaseType& requantize_tensor_cases;
extern const CaseType& load_tensor_cases;
/// A tensor file, any bytes. Variant "gguf".
struct FileCase {
  FileKind kind = FileKind::safetensors;
  Bytes bytes;
};
extern const CaseType& file_cases;

/// One call of any operation. Variant "convert f32->f16".
struct CallCase {
  Request request;
  std::string variant;
};
extern const CaseType& call_cases;

}  // namespace packcheck
