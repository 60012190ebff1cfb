// subjects/tensor_document.h: a stored tensor as a call describes it, and what became of it, as bytes.
//
// The argument of repack_tensor, requantize_tensor and load_tensor is one line of text and then the bytes that the
// tensor's buffer lies in:
//
//   target=dense(f32) form=requantize dtype=f16 shape=2,4 strides=1,2 offset=6 handle=file region=2,40 resolver=1\n…
//
//   form      of load_tensor: keep, dequantize or requantize; of the others -
//   shape     - for a scalar;  strides: - for none, else elements, one a dimension
//   offset    bytes from the start of the buffer to the first element or block
//   handle    owned, borrowed, aliased, file or device: what the buffer is. The region (offset, size) is its part of
//             the bytes that follow: of the parent of an alias, of the file; of the others it is all of them. A
//             device's bytes must not be read; a file's are read through a resolver if there is one (resolver=1)
//
// The answer is a line and then bytes:
//
//   outcome=converted reads=1 dtype=f32\n…   the bytes of the new tensor, contiguous, from offset 0
//   outcome=same reads=0 dtype=f16\n         the tensor itself is the answer
//   outcome=refused reads=0 dtype=-\n…       why, as text
//
// `reads` says how often the resolver was asked for bytes, also before a refusal: that a refusal comes before reading
// is part of the answer. Read strictly: what is not as above is refused. Proved by
// tests/properties/tensor_document_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/format.h"
#include "core/result.h"

namespace packcheck {

enum class TensorForm : std::uint8_t { none, keep, dequantize, requantize };
enum class TensorHandle : std::uint8_t { owned, borrowed, aliased, file, device };
[[nodiscard]] std::string_view form_name(TensorForm form);
[[nodiscard]] std::optional<TensorForm> form_named(std::string_view name);
[[nodiscard]] std::string_view handle_name(TensorHandle handle);
[[nodiscard]] std::optional<TensorHandle> handle_named(std::string_view name);

/// A tensor, and what is to become of it. Encodings by their ids: "dense(f16)", "q8_0:ggml".
struct DescribedTensor {
  std::string source;  ///< the variant of the call
  std::string target;
  TensorForm form = TensorForm::none;
  Format dtype = Format::f32;
  std::vector<std::uint64_t> shape;
  std::optional<std::vector<std::uint64_t>> strides;
  std::uint64_t offset = 0;
  TensorHandle handle = TensorHandle::owned;
  std::uint64_t region_offset = 0;  ///< the region lies within the bytes
  std::uint64_t region_size = 0;
  bool resolver = true;
  std::vector<std::uint8_t> bytes;
};

enum class TensorOutcome : std::uint8_t { converted, same, refused };

struct TensorAnswer {
  TensorOutcome outcome = TensorOutcome::refused;
  std::uint64_t reads = 0;
  std::optional<Format> dtype;      ///< nothing when refused
  std::vector<std::uint8_t> bytes;  ///< when converted
  std::string message;              ///< when refused
};

[[nodiscard]] std::string write_tensor(const DescribedTensor& tensor);
[[nodiscard]] Result<DescribedTensor> read_tensor(std::string_view source, std::string_view document);
[[nodiscard]] std::string write_answer(const TensorAnswer& answer);
[[nodiscard]] Result<TensorAnswer> read_answer(std::string_view document);
/// "1,2"; "-" for none.
[[nodiscard]] std::string numbers_text(const std::vector<std::uint64_t>& numbers);

}  // namespace packcheck
