// core/file: tensor files of strangers. safetensors and GGUF are read without trusting a byte, and written.
//
// A reader looks at the header alone and copies no tensor: it tells where each one lies in the bytes that
// the caller has (a file mapped by MappedFile, or any other). Whatever the bytes are, it gives a value or
// an error; it allocates no more than a fixed multiple of the file's size. Both kinds give one TensorFile.
// Change a reader's rule only together with the other reader in properties/oracles/file_oracle.cc, which
// shares no code with this room. Proved by tests/core/file_test.cc, by the file.* laws and by
// fuzz/safetensors_fuzzer.cc and fuzz/gguf_fuzzer.cc.
//
// Sources: the README of the safetensors repository and its safetensors/src/tensor.rs; docs/gguf.md and
// src/gguf.cpp of ggml. Where those leave a choice, these readers are strict: a file that they accept is
// read alike by every reader that follows the format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/encoding/encoding.h"
#include "core/format/format.h"
#include "core/result.h"

namespace packcheck {

enum class FileKind : std::uint8_t { safetensors, gguf };
[[nodiscard]] std::string_view file_kind_name(FileKind kind);

/// The types of GGUF metadata, with the numbers that the file uses. safetensors has strings alone.
enum class ValueType : std::uint8_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
inline constexpr std::size_t kValueTypes = 13;
[[nodiscard]] std::string_view value_type_name(ValueType type);
[[nodiscard]] std::optional<ValueType> value_type_named(std::string_view name);
/// Bytes of one number of this type; 0 for strings and arrays.
[[nodiscard]] std::size_t value_type_bytes(ValueType type);

/// One value of a file's metadata.
struct MetadataValue {
  ValueType type = ValueType::string;
  ValueType element_type = ValueType::string;  ///< of an array
  /// A string's text; a number, little-endian; the numbers of an array of numbers, one after the other.
  std::string bytes;
  std::vector<MetadataValue> elements;  ///< of an array of strings or of arrays

  /// Elements of an array; 1 for everything else.
  [[nodiscard]] std::uint64_t count() const;
  /// For people: "32", "1.5", "general" (a string as it is), "[1, 2, … 40 in all]" after `most` elements.
  [[nodiscard]] std::string text(std::size_t most = 8) const;

  friend bool operator==(const MetadataValue&, const MetadataValue&) = default;
};

struct MetadataEntry {
  std::string key;
  MetadataValue value;

  friend bool operator==(const MetadataEntry&, const MetadataEntry&) = default;
};

/// How the elements of a tensor are stored, as a file names it.
struct StoredType {
  std::string_view name;         ///< "BF16", "F8_E4M3", "Q4_0"
  std::uint32_t number;          ///< in a GGUF; unused in safetensors
  std::uint32_t block_elements;  ///< 1: dense; 0: a type that GGUF no longer has
  std::uint32_t block_bits;      ///< bits per block of that many elements
  std::string_view format;       ///< the dense Format's name, or empty
  std::string_view encoding;     ///< the Encoding's id, or empty where this project has none
};
/// Every type a file of this kind may have.
[[nodiscard]] std::span<const StoredType> stored_types(FileKind kind);
[[nodiscard]] const StoredType* stored_type_named(FileKind kind, std::string_view name);
/// By its number in a GGUF; null where there is none.
[[nodiscard]] const StoredType* gguf_type_numbered(std::uint32_t number);

struct FileTensor {
  std::string name;
  std::string dtype;                   ///< as the file says: "BF16", "Q4_0"
  std::optional<Format> dense;         ///< the scalar format, where elements are stored one by one in one
  const Encoding* encoding = nullptr;  ///< of blocks; null for a dense tensor and for blocks unknown here
  std::vector<std::uint64_t> shape;    ///< row-major, outermost first; empty for a scalar
  std::uint64_t offset = 0;            ///< of the first byte, from the start of the file
  std::uint64_t bytes = 0;

  /// Elements: the product of the shape. A tensor of a file that was read has one that fits.
  [[nodiscard]] std::uint64_t count() const;
};

struct TensorFile {
  FileKind kind = FileKind::safetensors;
  std::uint32_t version = 0;    ///< of GGUF: 1, 2 or 3; 0 for safetensors
  std::uint64_t alignment = 1;  ///< of each tensor from data_start, in bytes; 1 for safetensors, which has none
  std::uint64_t data_start = 0;
  std::vector<MetadataEntry> metadata;  ///< in the file's order
  std::vector<FileTensor> tensors;      ///< in the order of the file's header

  [[nodiscard]] const FileTensor* find(std::string_view name) const;
  [[nodiscard]] const MetadataValue* find_metadata(std::string_view key) const;
};

/// A check of the readers that a faulty reader lacks, or a rule of the writers that a faulty writer
/// breaks. All false: the format. Each is one faulty twin (subjects/reference/twins_files.cc), which says
/// what becomes wrong.
struct FileRules {
  // Both readers.
  bool product_wraps = false;         ///< the product of the shape is taken modulo 2^64
  bool range_check_wraps = false;     ///< a tensor's end, offset + bytes, is taken modulo 2^64
  bool duplicates_last_wins = false;  ///< of two equal keys or names the last one counts
  bool dims_as_32_bit = false;        ///< of a dimension the low 32 bits count
  bool overlap_unchecked = false;     ///< two tensors may share bytes
  bool end_unchecked = false;         ///< a tensor may reach past the end of the file
  // safetensors.
  bool size_from_offsets = false;   ///< the bytes are those of the offsets, whatever the shape says
  bool length_wraps = false;        ///< 8 + length is taken modulo 2^64; the header then is the rest of the file
  bool reversed_is_empty = false;   ///< a tensor that ends before it begins is taken as empty
  bool start_rounded_to_8 = false;  ///< the data starts at the next multiple of 8 after the header
  bool trailing_accepted = false;   ///< bytes after the last tensor are nobody's business
  bool holes_accepted = false;      ///< and so are bytes between tensors
  bool header_cut = false;          ///< only the header bytes within the first 100,001 of the file are read
  // GGUF.
  bool zero_alignment_is_1 = false;  ///< an alignment of 0: the data starts where the header ends
  bool alignment_is_32 = false;      ///< general.alignment is ignored
  bool many_dims = false;            ///< up to 8 dimensions
  bool dims_as_stored = false;       ///< the innermost dimension comes first, as the file has it
  bool strings_clamped = false;      ///< a string that is longer than the file ends with the file
  bool reserves_first = false;       ///< memory for what a count says before a look at what is left: std::length_error
  bool partial_blocks = false;       ///< a row need not be whole blocks; the rest of it is forgotten
  bool unaligned_accepted = false;   ///< a tensor may begin anywhere
  // The writer of GGUF.
  bool padding_forgotten = false;        ///< tensors follow each other without padding
  bool offsets_from_file_start = false;  ///< offsets count from the start of the file, not of the data
  bool writes_dims_reversed = false;     ///< dimensions are written outermost first

  friend bool operator==(const FileRules&, const FileRules&) = default;
};

/// A safetensors header may have at most this many bytes (tensor.rs, MAX_HEADER_SIZE).
inline constexpr std::uint64_t kMostHeaderBytes = 100'000'000;
inline constexpr std::uint32_t kMostDimensions = 4;  ///< of a GGUF tensor (GGML_MAX_DIMS)
inline constexpr std::uint64_t kMostNameBytes = 64;  ///< of a GGUF tensor's name (docs/gguf.md)
inline constexpr unsigned kDeepestArray = 4;         ///< arrays within arrays in GGUF metadata
inline constexpr std::uint64_t kDefaultAlignment = 32;

/// Reads a file of either kind, told by its first bytes: "GGUF", or else safetensors.
[[nodiscard]] Result<TensorFile> read_tensor_file(std::span<const std::uint8_t> file, const FileRules& rules = {});
/// 8 bytes of header length, a header of JSON that starts with '{' and may end with spaces, data. The
/// tensors cover the data without overlap, hole or rest. No alignment.
[[nodiscard]] Result<TensorFile> read_safetensors(std::span<const std::uint8_t> file, const FileRules& rules = {});
/// Little-endian, versions 1 (32-bit counts, lengths and dimensions), 2 and 3. Tensors may lie in any
/// order, with gaps between them; they never overlap and begin at multiples of general.alignment (a power of two;
/// 32 where it is missing). The bytes after the last tensor are at most its padding.
[[nodiscard]] Result<TensorFile> read_gguf(std::span<const std::uint8_t> file, const FileRules& rules = {});

/// The bytes of a file in canonical form. `file` says the kind, the version (GGUF: 2 or 3), the metadata and
/// for each tensor the name, the dtype and the shape; its data_start, alignment, offsets and bytes are not
/// looked at. data[i] holds the bytes of tensor i. What is written reads back as the same metadata, names,
/// dtypes, shapes and data in the same order. Refuses what the format cannot say, and data of another size
/// than the shape implies.
///
/// Canonical safetensors: compact JSON, __metadata__ first where there is any, tensors in the given order with
/// members dtype, shape and data_offsets, spaces up to a multiple of 8, data in the same order. That is what
/// the Rust library writes. Canonical GGUF: tensors in the given order, header and tensors padded with zeros
/// to the alignment that general.alignment says (32 where it is missing), the last tensor too, as ggml does.
[[nodiscard]] Result<std::vector<std::uint8_t>> write_tensor_file(const TensorFile& file,
                                                                  std::span<const std::span<const std::uint8_t>> data,
                                                                  const FileRules& rules = {});
[[nodiscard]] Result<std::vector<std::uint8_t>> write_safetensors(const TensorFile& file,
                                                                  std::span<const std::span<const std::uint8_t>> data,
                                                                  const FileRules& rules = {});
[[nodiscard]] Result<std::vector<std::uint8_t>> write_gguf(const TensorFile& file,
                                                           std::span<const std::span<const std::uint8_t>> data,
                                                           const FileRules& rules = {});

/// The bytes of each tensor of a file that was read, for a writer.
[[nodiscard]] std::vector<std::span<const std::uint8_t>> tensor_data(const TensorFile& file,
                                                                     std::span<const std::uint8_t> bytes);

/// A file of this machine, mapped read-only: its bytes without a copy. An empty file gives no bytes. Refuses
/// what cannot be opened and what is no regular file (a directory, a pipe). The mapping keeps a file that is
/// deleted or replaced by rename. A file that another process cuts short while it is mapped is not covered: the
/// kernel raises SIGBUS at the first byte past the new end; replace files by rename, never in place.
class MappedFile {
 public:
  [[nodiscard]] static Result<MappedFile> open(const std::string& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace packcheck
