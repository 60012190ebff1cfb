// properties/oracles/file_oracle.h: the second reader of tensor files, for laws. It shares no code with
// core/file: it follows the formats' documents line by line, holds the whole file against each sentence, and says
// which files a reader must accept, which it must refuse, and which the documents leave to it.
// Its safetensors half reads the header with nlohmann_json.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace packcheck::oracle {

enum class Soundness : std::uint8_t {
  sound,    ///< a reader gives exactly this listing
  unsound,  ///< a reader refuses
  choice,   ///< a reader refuses, or gives exactly this listing
  open      ///< whatever it says; it only may not crash or hang
};

/// What a reader is to make of a file.
struct FileAnswer {
  Soundness soundness = Soundness::open;
  std::string reason;    ///< why it is not sound: "duplicate key"; no values of the file in it
  std::string listing;   ///< the answer of read_tensors (subjects/PROTOCOL.md), where sound or a choice
  std::string contents;  ///< the argument of write_tensors that says the same, where sound
};

/// `kind`: "safetensors" or "gguf".
[[nodiscard]] FileAnswer read_file(std::string_view kind, std::span<const std::uint8_t> bytes);
[[nodiscard]] FileAnswer read_safetensors(std::span<const std::uint8_t> bytes);
[[nodiscard]] FileAnswer read_gguf(std::span<const std::uint8_t> bytes);

/// A listing with its metadata lines and its tensor lines sorted: readers that use maps keep no order.
[[nodiscard]] std::string sorted_listing(std::string_view listing);
/// What a listing says, without the places: its lines, sorted, each tensor's data behind its line. Of the argument of
/// write_tensors, and of a reader's listing of `file`; a tensor outside the file has the data "outside".
[[nodiscard]] std::string sorted_contents(std::string_view contents);
[[nodiscard]] std::string contents_of(std::string_view listing, std::span<const std::uint8_t> file);
/// A word that stands for any bytes: "=" and the bytes, those outside 0x21..0x7E and '%' as "%XX".
[[nodiscard]] std::string word_of(std::string_view bytes);

// Shared by the two halves of the oracle.
namespace file_detail {

struct Refusal {
  std::string reason;
};

/// What becomes the answer: lines and the data of tensors, packed.
struct Draft {
  std::string head;     ///< "file gguf 3 32\ndata_start 416\n"
  std::string written;  ///< the head for write_tensors
  std::string metadata;
  std::string tensors;
  std::string packed_tensors;
  std::string data;
  std::string choice;  ///< the reason why a reader may refuse; empty: it may not

  void may_refuse(std::string_view reason) {
    if (choice.empty()) choice = reason;
  }
  void add_tensor(std::string_view name, std::string_view type, std::string_view shape, std::uint64_t offset,
                  std::span<const std::uint8_t> bytes);
  [[nodiscard]] FileAnswer finish() const;
};

}  // namespace file_detail

}  // namespace packcheck::oracle
