#include "properties/oracles/audit_oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "properties/oracles/block_oracle.h"
#include "properties/oracles/format_oracle.h"
#include "properties/oracles/graph_oracle.h"

namespace packcheck::oracle {
namespace {

/// A format as a list of bytes has it: how wide, without or with a sign, and 2^this is its least normal number.
struct Shape {
  std::size_t bytes;
  unsigned magnitude_bits;
  int least_normal;  ///< of powers of two, none: below everything
};
Shape shape_of(Format format) {
  switch (format) {
    case Format::f64: return {8, 63, -1022};
    case Format::f32: return {4, 31, -126};
    case Format::f16: return {2, 15, -14};
    case Format::bf16: return {2, 15, -126};
    case Format::e5m2: return {1, 7, -14};
    case Format::e4m3fnuz: return {1, 7, -7};
    case Format::e5m2fnuz: return {1, 7, -15};
    case Format::e8m0: return {1, 8, -2000};
    default: return {1, 7, -6};  // e4m3fn and ue4m3
  }
}

std::uint64_t code_at(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t size) {
  std::uint64_t code = 0;
  for (std::size_t i = size; i-- > 0;) code = code << 8 | bytes[at + i];
  return code;
}

void count(Occurrences& found, std::uint64_t at) {
  if (found.count++ == 0) found.first = at;
}

/// Adds one number to the statistics of a dense tensor, as its `at`-th; whether it is a zero.
bool add_number(Format format, std::uint64_t code, std::uint64_t at, ElementStatistics& t) {
  const Shape shape = shape_of(format);
  ++t.elements;
  if (oracle::is_nan(format, code)) {
    count(t.nan, at);
    return false;
  }
  const double number = std::fabs(std::bit_cast<double>(oracle::convert(format, Format::f64, code, {})));
  if (std::isinf(number)) {
    count(t.infinite, at);
    return false;
  }
  if (number == 0.0) return true;
  if (number < std::ldexp(1.0, shape.least_normal)) count(t.subnormal, at);
  const std::uint64_t magnitude = code & ((std::uint64_t{1} << shape.magnitude_bits) - 1);
  t.largest = std::max(t.largest, magnitude);
  t.smallest = std::min(t.smallest, magnitude);
  return false;
}

/// The format of a block's scales that are numbers; others are codes.
bool scale_format(ScaleFormat stored, Format& format) {
  switch (stored) {
    case ScaleFormat::f16: format = Format::f16; return true;
    case ScaleFormat::f32: format = Format::f32; return true;
    case ScaleFormat::bf16: format = Format::bf16; return true;
    case ScaleFormat::e8m0: format = Format::e8m0; return true;
    case ScaleFormat::e4m3fn: format = Format::e4m3fn; return true;
    case ScaleFormat::ue4m3: format = Format::ue4m3; return true;
    default: return false;
  }
}

bool decodes_to_zeros(const Encoding& e, std::span<const std::uint8_t> block) {
  const auto numbers = dequantize(e.id(), block);
  return numbers && std::all_of(numbers->begin(), numbers->end(), [](float number) { return number == 0.0F; });
}

/// A block's scales, and the bytes of it that are no scales of any kind.
struct Parts {
  std::vector<std::size_t> scales;
  Format format = Format::f16;
  std::vector<std::uint8_t> codes;
};
Parts parts_of(const Encoding& e, std::span<const std::uint8_t> block) {
  Parts parts;
  std::vector<bool> taken(block.size());
  for (const ScaleField& field : e.scales) {
    std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(field.offset), field.bytes, true);
    if (!scale_format(field.format, parts.format)) continue;
    for (std::size_t at = 0; at < field.bytes; at += shape_of(parts.format).bytes)
      parts.scales.push_back(field.offset + at);
  }
  for (std::size_t i = 0; i < block.size(); ++i)
    if (!taken[i]) parts.codes.push_back(block[i]);
  return parts;
}

/// Whether five digits of base 3, the last of them 0 where a byte holds four, are written as this byte:
/// ceil(n·256/243).
bool is_written_trits(unsigned byte, bool four) {
  for (unsigned number = 0; number < 243; number += four ? 3 : 1)
    if ((number * 256 + 242) / 243 == byte) return true;
  return false;
}

std::uint64_t foreign_codes(const Encoding& e, const std::vector<std::uint8_t>& codes) {
  std::uint64_t found = 0;
  if (e.dialect != "ggml") return 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (e.name == "q8_0" || e.name == "q8_1") found += codes[i] == 0x80 ? 1U : 0U;
    if (e.name == "q2_0" || e.name == "tq2_0")
      for (unsigned shift = 0; shift < 8; shift += 2) found += (codes[i] >> shift & 3U) == 3 ? 1U : 0U;
    if (e.name == "tq1_0") found += is_written_trits(codes[i], i >= 48) ? 0U : 1U;
  }
  return found;
}

/// Encodings with a code for zero: where all scales are 0, a scale of 1 tells what the codes were meant to be.
bool was_lost(const Encoding& e, const Parts& parts, std::span<const std::uint8_t> block) {
  for (const std::string_view name : {"q8_0", "q8_1", "q4_0", "q4_1", "q5_0", "q5_1", "tq1_0", "tq2_0", "q2_0"}) {
    if (e.name != name) continue;
    std::vector<std::uint8_t> scaled(block.begin(), block.end());
    const std::uint64_t one = parts.format == Format::f32 ? 0x3F800000 : 0x3C00;
    for (std::size_t i = 0; i < shape_of(parts.format).bytes; ++i)
      scaled[parts.scales[0] + i] = static_cast<std::uint8_t>(one >> (8 * i));
    return !decodes_to_zeros(e, scaled);
  }
  return false;
}

}  // namespace

ElementStatistics element_statistics(Format format, std::span<const std::uint8_t> bytes) {
  ElementStatistics t;
  const std::size_t size = shape_of(format).bytes;
  for (std::size_t i = 0; i < bytes.size() / size; ++i) add_number(format, code_at(bytes, i * size, size), i, t);
  return t;
}

bool counts_every_zero_block(const Encoding& e) {
  for (const std::string_view id : {"q8_0:ggml", "q4_0:ggml", "q4_1:ggml", "q5_0:ggml", "q5_1:ggml", "q2_0:ggml",
                                    "tq2_0:ggml", "q1_0:ggml", "iq4_nl:ggml"})
    if (e.id() == id) return true;
  return false;
}

BlockStatistics block_statistics(const Encoding& e, std::span<const std::uint8_t> bytes) {
  BlockStatistics t;
  for (; t.blocks < bytes.size() / e.block_bytes; ++t.blocks) {
    const std::span<const std::uint8_t> block = bytes.subspan(t.blocks * e.block_bytes, e.block_bytes);
    const Parts parts = parts_of(e, block);
    bool zeros = !parts.scales.empty();
    for (const std::size_t at : parts.scales) {
      ElementStatistics one;
      std::uint64_t code = code_at(block, at, shape_of(parts.format).bytes);
      if (parts.format == Format::ue4m3) code &= 0x7F;
      const bool zero = add_number(parts.format, code, 0, one);
      if (one.nan.count != 0) count(t.scale_nan, t.blocks);
      if (one.infinite.count != 0) count(t.scale_infinite, t.blocks);
      if (one.subnormal.count != 0) count(t.scale_subnormal, t.blocks);
      if (zero) count(t.scale_zero, t.blocks);
      zeros = zeros && zero;
      t.largest_scale = std::max(t.largest_scale, one.largest);
      t.smallest_scale = std::min(t.smallest_scale, one.smallest);
    }
    if (decodes_to_zeros(e, block)) count(t.zero_blocks, t.blocks);
    if (zeros && was_lost(e, parts, block)) count(t.lost_blocks, t.blocks);
    const std::uint64_t foreign = foreign_codes(e, parts.codes);
    if (foreign != 0 && t.foreign_codes.count == 0) t.foreign_codes.first = t.blocks;
    t.foreign_codes.count += foreign;
  }
  return t;
}

namespace {

const FileTensor* tensor_named(const TensorFile& file, std::string_view name) {
  for (const FileTensor& t : file.tensors)
    if (t.name == name) return &t;
  return nullptr;
}

/// The first warning of a kind about a tensor.
const Warning* warning_of(const FileAudit& audit, std::string_view kind, std::string_view tensor) {
  for (const Warning& warning : audit.warnings)
    if (warning.kind->name == kind && warning.tensor == tensor) return &warning;
  return nullptr;
}
std::uint64_t number_of(const Warning& warning, std::string_view name) {
  for (const auto& [known, number] : warning.numbers)
    if (known == name) return number;
  return ~std::uint64_t{0};
}

/// Whether there is a warning exactly where something was counted, with its count.
bool tells(const FileAudit& audit, std::string_view kind, const std::string& tensor, const Occurrences& found) {
  const Warning* const warning = warning_of(audit, kind, tensor);
  if (warning == nullptr) return found.count == 0;
  return number_of(*warning, "count") == found.count;
}

bool tells_blocks(const FileAudit& audit, const FileTensor& t, const BlockStatistics& s) {
  return tells(audit, "scale_nan", t.name, s.scale_nan) && tells(audit, "scale_infinite", t.name, s.scale_infinite) &&
         tells(audit, "scale_subnormal", t.name, s.scale_subnormal) &&
         tells(audit, "lost_block", t.name, s.lost_blocks) && tells(audit, "zero_block", t.name, s.zero_blocks) &&
         tells(audit, "foreign_code", t.name, s.foreign_codes);
}

/// A matrix of narrow scales as a reader of float32 finds it: rows that its buffer holds, and those of them that
/// are other numbers.
bool tells_misreading(const Warning& w, const FileTensor& t, std::span<const std::uint8_t> bytes) {
  const Format format = t.dtype == "BF16" ? Format::bf16 : Format::f16;
  const std::span<const std::uint8_t> data = bytes.subspan(t.offset, t.bytes);
  const std::uint64_t columns = t.shape.back();
  const std::uint64_t rows = t.bytes / 2 / columns;
  std::uint64_t whole = 0;
  std::uint64_t wrong = 0;
  for (; whole < rows && (whole + 1) * columns * 4 <= t.bytes; ++whole) {
    bool same = true;
    for (std::uint64_t i = whole * columns; i < (whole + 1) * columns; ++i)
      same = same && oracle::convert(format, Format::f32, code_at(data, i * 2, 2), {}) == code_at(data, i * 4, 4);
    wrong += same ? 0 : 1;
  }
  return number_of(w, "rows") == rows && number_of(w, "columns") == columns &&
         number_of(w, "first_row_out_of_bounds") == whole && number_of(w, "rows_silently_wrong") == wrong;
}

/// Every reading of packed rows has as many numbers as its groups hold, and takes exactly the words.
bool fits(const PackedWeight& p, const FileTensor& weight) {
  for (const GroupChoice& c : p.choices) {
    const bool along_rows = p.scheme == PackingScheme::gptq || p.scheme == PackingScheme::awq;
    const std::uint64_t groups = along_rows ? p.scale_rows : p.scale_columns;
    if (c.in_features != c.group * groups) return false;
    const std::uint64_t words = along_rows ? weight.shape.front() : weight.shape.back();
    if (p.scheme == PackingScheme::awq && words != c.in_features) return false;
    const bool streams = p.scheme == PackingScheme::mlx || p.scheme == PackingScheme::mlx_microscaling ||
                         p.scheme == PackingScheme::gptq;
    if (streams && words * 32 != c.in_features * c.bits) return false;
    if (p.scheme == PackingScheme::compressed_tensors && words * 32 < c.in_features * c.bits) return false;
  }
  return true;
}

}  // namespace

std::string audit_fault(const TensorFile& file, std::span<const std::uint8_t> bytes, const FileAudit& audit) {
  if (audit.tensors.size() != file.tensors.size()) return "tensors";
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const FileTensor& t = file.tensors[i];
    const TensorAudit& a = audit.tensors[i];
    const std::span<const std::uint8_t> data = bytes.subspan(t.offset, t.bytes);
    if (a.elements) {
      if (*a.elements != element_statistics(*t.dense, data)) return "statistics of a dense tensor";
      if (!tells(audit, "nan", t.name, a.elements->nan) || !tells(audit, "infinity", t.name, a.elements->infinite) ||
          !tells(audit, "subnormal", t.name, a.elements->subnormal))
        return "warnings about a dense tensor";
    } else if (a.blocks) {
      BlockStatistics expected = block_statistics(*t.encoding, data);
      if (a.blocks->zero_blocks.count > expected.zero_blocks.count) return "blocks of zeros";
      if (!counts_every_zero_block(*t.encoding)) expected.zero_blocks = a.blocks->zero_blocks;
      if (*a.blocks != expected) return "statistics of blocks";
      if (!tells_blocks(audit, t, *a.blocks)) return "warnings about blocks";
    } else if (t.dense == Format::f32 || (t.encoding != nullptr && t.encoding->planes[0] == 0)) {
      return "a tensor that was not examined";
    }
  }
  for (const Warning& w : audit.warnings) {
    const FileTensor* const t = tensor_named(file, w.tensor);
    if (w.kind == nullptr || w.what.empty() || t == nullptr) return "a warning about nothing";
    if (w.kind->name == "narrow_scales" && !tells_misreading(w, *t, bytes)) return "scales read as float32";
  }
  for (const PackedWeight& p : audit.packed) {
    const FileTensor* const t = tensor_named(file, p.name);
    if (t == nullptr || tensor_named(file, p.scales) == nullptr || !fits(p, *t)) return "groups of packed weights";
  }
  return {};
}

namespace {

using Said = std::multimap<std::string, std::string>;  ///< where, and the kinds of warnings that a graph's words decide

bool is_finite(std::uint64_t bits) { return (bits >> 52 & 0x7FF) != 0x7FF; }

void expect_of_window(const Node& node, const std::string& at, Said& said) {
  if (!node.scalar) {
    said.emplace(at + "scalar", "missing_scalar");
    return;
  }
  if (!node.param2) said.emplace(at + "param2", "missing_scalar");
  const std::uint64_t word = *node.scalar;
  if (word >= std::uint64_t{1} << 52) {  // every normal number, and every negative one
    said.emplace(at + "scalar", "not_packed");
  } else if (word >= std::uint64_t{1} << 32 && word % (std::uint64_t{1} << 32) < 256) {
    said.emplace(at + "scalar", "generation_1");
  } else {
    for (const std::uint64_t field : {word / 65536 % 65536, word / 256 % 256, word % 256})
      if (field == 0) said.emplace(at + "scalar", "zero_field");
    if (node.op == "conv2d" && node.param2 && *node.param2 % 65536 == 0) said.emplace(at + "param2", "zero_field");
  }
}

Said expected_of(const Nodes& nodes) {
  Said said;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    const std::string at = std::string("/nodes/").append(std::to_string(i)).append("/");
    if (node.scalar && !is_finite(*node.scalar)) said.emplace(at + "scalar_bits", "non_finite");
    if (node.param2 && !is_finite(*node.param2)) said.emplace(at + "param2_bits", "non_finite");
    if (node.data && !std::all_of(node.data->begin(), node.data->end(), is_finite))
      said.emplace(at + "data_bits", "non_finite");
    if (node.inputs.empty()) continue;
    if (node.op == "conv2d" || node.op == "maxpool2d" || node.op == "avgpool2d") expect_of_window(node, at, said);
    for (const std::string_view op : {"pow", "addScalar", "mulScalar", "leakyRelu", "dropout"})
      if (node.op == op && !node.scalar) said.emplace(at + "scalar", "missing_scalar");
    if (node.op != "linear") continue;
    const std::vector<std::uint32_t>& x = nodes[node.inputs[0]].shape;
    const std::vector<std::uint32_t>& weight = nodes[node.inputs[1]].shape;
    if (!x.empty() && weight.size() == 2 && weight[1] != x.back() && weight[0] == x.back())
      said.emplace(at + "inputs/1", "linear_transposed");
  }
  return said;
}

}  // namespace

std::string graph_audit_fault(std::string_view text, const std::vector<GraphWarning>& warnings) {
  const auto unsound = [](const GraphWarning& w) { return w.kind->name == "unsound"; };
  const std::optional<Nodes> nodes = read_graph_text(text, GraphForm::lossless);
  if (std::any_of(warnings.begin(), warnings.end(), unsound)) {
    if (nodes) return "a sound graph called unsound";
    return std::all_of(warnings.begin(), warnings.end(), unsound) ? "" : "more than that it is unsound";
  }
  if (!nodes) return {};  // labels may be missing, which the oracle does not let pass
  static constexpr std::string_view kDecided[] = {"missing_scalar", "zero_field", "generation_1",
                                                  "not_packed",     "non_finite", "linear_transposed"};
  Said expected = expected_of(*nodes);
  for (const GraphWarning& w : warnings) {
    if (std::find(std::begin(kDecided), std::end(kDecided), w.kind->name) == std::end(kDecided)) continue;
    const auto [first, last] = expected.equal_range(w.where);
    const auto it = std::find_if(first, last, [&](const auto& row) { return row.second == w.kind->name; });
    if (it == last) return std::string("a warning too many: ").append(w.kind->name);
    expected.erase(it);
  }
  return expected.empty() ? "" : "no warning: " + expected.begin()->second;
}

}  // namespace packcheck::oracle
