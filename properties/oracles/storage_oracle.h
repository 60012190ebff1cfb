// properties/oracles/storage_oracle.h: what must become of a described tensor, a second time.
//
// Oracle for core/storage. Elements are found one by one by their indices in integers of 128 bits, so that no
// product overflows; values are converted by format_oracle.h, blocks by block_oracle.h; which targets there are and
// how they divide is a table of its own. Of the project it uses only the struct that describes a tensor. Proved by
// tests/properties/storage_laws_test.cc (known answers) and by the faulty twins. Change it only with PROTOCOL.md,
// "Stored tensors", at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "subjects/tensor_document.h"

namespace packcheck::oracle {

enum class Fate : std::uint8_t {
  same,           ///< the tensor itself
  converted,      ///< other bytes
  refused,        ///< before anything is read
  refused_lossy,  ///< the same, and for no other reason than that values may be lost: names requantize_to
  value_lost      ///< refused at the first value that does not survive, which may be read; names requantize_to
};

/// What must become of a tensor.
struct StoredResult {
  Fate fate = Fate::refused;
  std::optional<Format> dtype;
  std::vector<std::uint8_t> bytes;
  /// Bits that are defined; empty: all of them are. A NaN that a decoder gives has any payload (see any_nan).
  std::vector<std::uint8_t> specified;
  bool any_nan = false;       ///< bytes are f32 that a decoder gave: one NaN is as good as another
  std::uint64_t element = 0;  ///< the first that is lost
  bool holds_nan = false;     ///< some dense element is a NaN
};

/// Of repack_tensor, requantize_tensor and load_tensor. `decide` leaves the bytes out, which costs next to nothing;
/// its value_lost is then reported as converted.
[[nodiscard]] StoredResult repacked(const DescribedTensor& tensor, bool decide_only = false);
[[nodiscard]] StoredResult requantized(const DescribedTensor& tensor, bool decide_only = false);
[[nodiscard]] StoredResult loaded(const DescribedTensor& tensor, bool decide_only = false);

/// The tensor's own bytes, row-major without gaps; nothing where they may not be read.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> own_bytes(const DescribedTensor& tensor);

/// The targets of requantize_tensor.
[[nodiscard]] const std::vector<std::string>& requantize_targets();

}  // namespace packcheck::oracle
