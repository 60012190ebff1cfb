#include "core/audit/audit.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/audit/packed_weights.h"

namespace packcheck {
namespace {

using enum Severity;

constexpr std::array<WarningKind, 19> kKinds{{
    {"unreadable", problem, "the file is refused: truncated, sizes that disagree with shapes, overlapping tensors, …"},
    {"nan", problem, "numbers that are NaN"},
    {"infinity", problem, "numbers that are infinite"},
    {"subnormal", note, "numbers that flush-to-zero makes 0"},
    {"scale_nan", problem, "a block scale that is NaN: so is its block"},
    {"scale_infinite", problem, "a block scale that overflowed: its block decodes to infinities and NaN"},
    {"scale_subnormal", note, "block scales with few bits left, which flush-to-zero makes 0"},
    {"lost_block", note, "blocks whose scale underflowed to 0 while their codes are not those of zeros"},
    {"zero_block", note, "blocks of nothing but zeros"},
    {"foreign_code", problem, "codes that no quantizer of the format writes and decoders read differently"},
    {"narrow_scales", problem, "BF16 or F16 scales or biases beside packed codes: to be converted, not reinterpreted"},
    {"scales_dtype", problem, "scales or biases of a type that is none for them"},
    {"scales_shape", problem, "scales or biases whose shape does not go with the weights'"},
    {"groups_do_not_divide", problem, "a row that its number of groups does not divide"},
    {"no_group_fits", problem, "bits times group size that no supported pair has"},
    {"ambiguous_group", note, "several (bits, group size) that fit: only the model's configuration tells"},
    {"coded_scales", note, "scales that are bytes of a number format: to be decoded, not cast"},
    {"companion_missing", note, "scales, biases or zero points that are not in this file"},
    {"not_examined", note, "a tensor whose numbers this audit cannot read"},
}};

std::string text(std::uint64_t number) { return std::to_string(number); }

/// The row and the column of an element: the last dimension is the column.
struct Place {
  std::uint64_t row;
  std::uint64_t column;
};
Place place_of(const FileTensor& t, std::uint64_t element) {
  const std::uint64_t columns = t.shape.empty() ? 1 : std::max<std::uint64_t>(t.shape.back(), 1);
  return {element / columns, element % columns};
}

class TensorWarnings {
 public:
  TensorWarnings(const FileTensor& tensor, std::vector<Warning>& warnings) : t_(tensor), warnings_(warnings) {}

  void elements(const ElementStatistics& s) {
    const std::string of = " of " + text(s.elements) + " numbers";
    add("nan", s.nan, "NaN" + of, "finite numbers");
    add("infinity", s.infinite, "infinite" + of, "finite numbers");
    add("subnormal", s.subnormal, "subnormal" + of, "arithmetic without flush-to-zero");
  }

  void blocks(const BlockStatistics& s, const Encoding& e) {
    block_size_ = e.block_size;
    const std::string of = " in " + text(s.blocks) + " blocks";
    add("scale_nan", s.scale_nan, "scales that are NaN" + of, "a finite scale");
    add("scale_infinite", s.scale_infinite, "infinite scales" + of, "numbers that the scale's format can hold");
    add("scale_subnormal", s.scale_subnormal, "subnormal scales" + of, "arithmetic without flush-to-zero");
    add("lost_block", s.lost_blocks, "blocks of small numbers whose scale underflowed" + of, "a scale other than 0");
    add("zero_block", s.zero_blocks, "blocks of zeros" + of, "nothing, if the model means them");
    add("foreign_code", s.foreign_codes, "codes that no quantizer writes" + of, "codes of " + e.id());
  }

 private:
  void add(std::string_view kind, const Occurrences& found, const std::string& what, std::string right) {
    if (found.count == 0) return;
    Warning w;
    w.kind = warning_kind_named(kind);
    w.tensor = t_.name;
    w.what = text(found.count) + " " + what;
    const std::uint64_t element = found.first * block_size_;
    const Place at = place_of(t_, element);
    w.where = block_size_ == 1 ? "first at element " + text(element) : "first in block " + text(found.first);
    w.where.append(" (row ").append(text(at.row)).append(", column ").append(text(at.column)).append(")");
    w.right = std::move(right);
    w.numbers = {{"count", found.count}, {"element", element}, {"row", at.row}, {"column", at.column}};
    if (block_size_ != 1) w.numbers.emplace_back("block", found.first);
    warnings_.push_back(std::move(w));
  }

  const FileTensor& t_;
  std::vector<Warning>& warnings_;
  std::uint64_t block_size_ = 1;
};

/// Calls `add` for windows of whole units, one after the other.
template <class Add>
void stream(std::span<const std::uint8_t> bytes, std::size_t unit, const DoneWith& done_with, const Add& add) {
  const std::size_t window = kAuditWindow / unit * unit;
  while (!bytes.empty()) {
    const std::span<const std::uint8_t> part = bytes.first(std::min(window, bytes.size()));
    add(part);
    if (done_with) done_with(part);
    bytes = bytes.subspan(part.size());
  }
}

TensorAudit audit_tensor(const FileTensor& t, std::span<const std::uint8_t> bytes, const DoneWith& done_with) {
  TensorAudit audit;
  if (t.dense && has_element_statistics(*t.dense)) {
    audit.elements.emplace();
    stream(bytes, spec(*t.dense).bytes(), done_with,
           [&](std::span<const std::uint8_t> part) { add_elements(*t.dense, part, *audit.elements); });
  } else if (t.encoding != nullptr && has_block_statistics(*t.encoding)) {
    audit.blocks.emplace();
    stream(bytes, t.encoding->block_bytes, done_with,
           [&](std::span<const std::uint8_t> part) { add_blocks(*t.encoding, part, *audit.blocks); });
  }
  return audit;
}

/// Integers and truth values: every pattern is a number that says nothing by itself.
bool is_integer_type(std::string_view dtype) {
  static constexpr std::array<std::string_view, 9> kIntegers{"BOOL", "U8",  "I8",  "U16", "I16",
                                                             "U32",  "I32", "U64", "I64"};
  return std::find(kIntegers.begin(), kIntegers.end(), dtype) != kIntegers.end();
}

}  // namespace

std::string_view severity_name(Severity severity) { return severity == note ? "note" : "problem"; }

std::span<const WarningKind> warning_kinds() { return kKinds; }

const WarningKind* warning_kind_named(std::string_view name) {
  for (const WarningKind& kind : kKinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

std::string_view packing_scheme_name(PackingScheme scheme) {
  static constexpr std::array<std::string_view, 5> kNames{"mlx", "mlx microscaling", "gptq", "awq",
                                                          "compressed-tensors"};
  return kNames[static_cast<std::size_t>(scheme)];
}

FileAudit audit_file(const TensorFile& file, std::span<const std::uint8_t> bytes, const DoneWith& done_with) {
  FileAudit audit;
  audit.tensors.resize(file.tensors.size());
  // First what is looked up here and there, then every byte in the order of the file.
  audit_packed_weights(file, bytes, done_with, audit);
  std::vector<Warning> about_packing;
  about_packing.swap(audit.warnings);
  std::vector<std::size_t> order(file.tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return file.tensors[a].offset < file.tensors[b].offset; });
  for (const std::size_t i : order) {
    const FileTensor& t = file.tensors[i];
    audit.tensors[i] = audit_tensor(t, bytes.subspan(t.offset, t.bytes), done_with);
  }
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const FileTensor& t = file.tensors[i];
    TensorWarnings warnings(t, audit.warnings);
    const TensorAudit& a = audit.tensors[i];
    if (a.elements) warnings.elements(*a.elements);
    if (a.blocks) warnings.blocks(*a.blocks, *t.encoding);
    if (a.elements || a.blocks || is_integer_type(t.dtype)) continue;
    audit.warnings.push_back({warning_kind_named("not_examined"),
                              t.name,
                              "numbers of " + t.dtype + " are not examined",
                              "",
                              "an encoding of `packcheck encodings`",
                              {}});
  }
  std::move(about_packing.begin(), about_packing.end(), std::back_inserter(audit.warnings));
  return audit;
}

Warning refused_file(const Error& error) {
  return {warning_kind_named("unreadable"), "", error.what, error.where, error.right, {}};
}

}  // namespace packcheck
