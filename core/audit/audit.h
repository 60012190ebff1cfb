// core/audit/audit.h: a whole model file: a row for each tensor, what it holds, and what a loader should refuse
// or convert before it loads it. See element_statistics.h for the room. Proved by tests/core/audit_test.cc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/affine/groups.h"
#include "core/audit/block_statistics.h"
#include "core/audit/element_statistics.h"
#include "core/file/tensor_file.h"

namespace packcheck {

enum class Severity : std::uint8_t {
  note,    ///< worth knowing: the file is what it claims to be
  problem  ///< a loader that takes the file as it is computes other numbers, or none
};
[[nodiscard]] std::string_view severity_name(Severity severity);

/// What may be said about a file. The names are stable: scripts rely on them.
struct WarningKind {
  std::string_view name;
  Severity severity;
  std::string_view meaning;
};
[[nodiscard]] std::span<const WarningKind> warning_kinds();
/// Null for an unknown name.
[[nodiscard]] const WarningKind* warning_kind_named(std::string_view name);

/// One thing about one tensor, with all its occurrences.
struct Warning {
  const WarningKind* kind = nullptr;
  std::string tensor;  ///< its name; empty where the file as a whole is meant
  std::string what;    ///< "3 NaN of 1000 numbers"
  std::string where;   ///< "element 17 (row 1, column 7)"; may be empty
  std::string right;   ///< what would be right, or what a loader has to do
  /// The figures in it, by stable names: {"count", 3}, {"element", 17}, …
  std::vector<std::pair<std::string_view, std::uint64_t>> numbers;
};

/// A tensor of the file, by its place in TensorFile::tensors.
struct TensorAudit {
  std::optional<ElementStatistics> elements;  ///< of a dense tensor of floats
  std::optional<BlockStatistics> blocks;      ///< of one in a known block encoding
};

/// Weights packed in 32-bit words and what belongs to them: tensors' places in the file.
enum class PackingScheme : std::uint8_t {
  mlx,                ///< X.weight U32 [out, in·bits/32], X.scales and X.biases [out, in/group]
  mlx_microscaling,   ///< X.weight U32, X.scales U8 [out, in/group] and no biases: mxfp4, mxfp8, nvfp4
  gptq,               ///< X.qweight I32 [in·bits/32, out], X.qzeros, X.scales [in/group, out], X.g_idx
  awq,                ///< X.qweight I32 [in, out/8], X.qzeros [in/group, out/8], X.scales [in/group, out]
  compressed_tensors  ///< X.weight_packed I32 [out, words], X.weight_scale [out, in/group], X.weight_shape
};
[[nodiscard]] std::string_view packing_scheme_name(PackingScheme scheme);

struct PackedWeight {
  PackingScheme scheme = PackingScheme::mlx;
  std::string name;                  ///< of the weight tensor
  std::string scales;                ///< of the scales
  std::uint64_t scale_rows = 0;      ///< of the matrix of scales as it is stored
  std::uint64_t scale_columns = 0;   ///< its last dimension
  std::vector<GroupChoice> choices;  ///< every (bits, group) that its shapes allow
};

struct FileAudit {
  std::vector<TensorAudit> tensors;  ///< one for each tensor of the file, in the same order
  std::vector<PackedWeight> packed;
  std::vector<Warning> warnings;  ///< in the order of the tensors; packed weights after them
};

/// Hears which bytes nothing needs soon: a caller who maps the file may give their memory back.
using DoneWith = std::function<void(std::span<const std::uint8_t>)>;

/// Looks at every byte of every tensor once, in the order of the file, a window at a time. `file` is what
/// read_tensor_file says of `bytes`.
[[nodiscard]] FileAudit audit_file(const TensorFile& file, std::span<const std::uint8_t> bytes,
                                   const DoneWith& done_with = {});

/// The warning about a file that the reader refuses.
[[nodiscard]] Warning refused_file(const Error& error);

/// Bytes of a window, less what is needed to hold whole elements or blocks.
inline constexpr std::size_t kAuditWindow = 8U << 20;

}  // namespace packcheck
