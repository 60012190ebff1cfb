#include "properties/oracles/storage_oracle.h"

#include <bit>

#include "properties/oracles/block_families.h"
#include "properties/oracles/format_oracle.h"

namespace packcheck::oracle {
namespace {

using Bytes = std::vector<std::uint8_t>;
// No product of two lengths overflows it, and longer ones are cut off at kMuch.
__extension__ using Wide = unsigned __int128;
constexpr Wide kMuch = Wide{1} << 64;

Wide product(Wide a, Wide b) { return a >= kMuch || b >= kMuch ? (a == 0 || b == 0 ? 0 : kMuch) : a * b; }

/// What an id says: "dense(f16)", or blocks.
struct Coding {
  std::optional<Format> dense;
  const BlockFamily* blocks = nullptr;
  [[nodiscard]] Format format() const { return dense.value_or(Format::f32); }
};

struct FormatRow {
  std::string_view name;
  Format format;
  unsigned bits;
};
constexpr FormatRow kFormats[] = {{"f64", Format::f64, 64},
                                  {"f32", Format::f32, 32},
                                  {"f16", Format::f16, 16},
                                  {"bf16", Format::bf16, 16},
                                  {"e5m2", Format::e5m2, 8},
                                  {"e4m3", Format::e4m3, 8},
                                  {"e3m4", Format::e3m4, 8},
                                  {"e4m3fn", Format::e4m3fn, 8},
                                  {"e4m3fnuz", Format::e4m3fnuz, 8},
                                  {"e5m2fnuz", Format::e5m2fnuz, 8},
                                  {"e4m3b11fnuz", Format::e4m3b11fnuz, 8},
                                  {"e8m0", Format::e8m0, 8},
                                  {"e3m2", Format::e3m2, 6},
                                  {"e2m3", Format::e2m3, 6},
                                  {"e2m1", Format::e2m1, 4},
                                  {"ue4m3", Format::ue4m3, 7},
                                  {"e5m3", Format::e5m3, 8},
                                  {"i8", Format::i8, 8},
                                  {"i32", Format::i32, 32}};

unsigned bits_of(Format format) {
  for (const FormatRow& row : kFormats)
    if (row.format == format) return row.bits;
  return 0;
}
std::uint64_t size_of(Format format) { return (bits_of(format) + 7) / 8; }

Coding coding_of(const std::string& id) {
  for (const FormatRow& row : kFormats)
    if (id == "dense(" + std::string(row.name) + ")") return {row.format, nullptr};
  return {std::nullopt, family_of(id)};
}

/// Where blocks may begin: the rows of SKaiNET that have a scale a row, and MLX's, begin them with each row; others
/// have one scale a tensor.
enum class Begins : std::uint8_t { anywhere, with_rows, with_the_tensor };
Begins begins(std::string_view id) {
  const auto starts = [id](std::string_view prefix) { return id.substr(0, prefix.size()) == prefix; };
  if (starts("ternary(") || starts("bitnet_b1_58(") || starts("nvfp4_tensor(")) return Begins::with_the_tensor;
  const bool rows = starts("bitnet_planes(") || starts("i8_absmax(") || starts("turboquant_polar(") ||
                    starts("mlx_affine(") || (id.size() > 4 && id.substr(id.size() - 4) == ":mlx");
  return rows ? Begins::with_rows : Begins::anywhere;
}

Wide count_of(const DescribedTensor& t) {
  Wide count = 1;
  for (const std::uint64_t length : t.shape) count = product(count, length);
  for (const std::uint64_t length : t.shape)
    if (length == 0) count = 0;
  return count;
}

bool is_row_major(const DescribedTensor& t) {
  if (!t.strides || count_of(t) == 0) return true;
  Wide inner = 1;
  for (std::size_t d = t.shape.size(); d-- > 0; inner = product(inner, t.shape[d]))
    if (t.shape[d] != 1 && (*t.strides)[d] != inner) return false;
  return true;
}

/// Bytes from the first element to the last; nothing where the shape does not divide into blocks.
std::optional<Wide> reach(const DescribedTensor& t, const Coding& coding) {
  const Wide count = count_of(t);
  if (coding.blocks != nullptr) {
    const std::size_t block = coding.blocks->elements;
    if (count % block != 0 || count >= kMuch) return std::nullopt;
    if (begins(t.source) == Begins::with_rows && (t.shape.empty() || t.shape.back() % block != 0)) return std::nullopt;
    if (begins(t.source) == Begins::with_the_tensor && count != block) return std::nullopt;
    return product(count / block, coding.blocks->bytes);
  }
  if (count == 0) return 0;
  Wide last = count - 1;
  if (t.strides) {
    last = 0;
    for (std::size_t d = 0; d < t.shape.size(); ++d) last += product(t.shape[d] - 1, (*t.strides)[d]);
  }
  return product(last + 1 < kMuch ? last + 1 : kMuch, size_of(*coding.dense));
}

bool is_readable(const DescribedTensor& t, const Coding& coding) {
  if (t.dtype != coding.format() || t.handle == TensorHandle::device) return false;
  if (t.strides && t.strides->size() != t.shape.size()) return false;
  if (coding.blocks != nullptr && !is_row_major(t)) return false;
  const std::optional<Wide> bytes = reach(t, coding);
  if (!bytes || count_of(t) >= kMuch || Wide{t.offset} + *bytes > t.region_size) return false;
  return t.handle != TensorHandle::file || t.resolver || *bytes == 0;
}

Bytes gathered(const DescribedTensor& t, const Coding& coding) {
  const std::uint64_t start = t.region_offset + t.offset;
  if (coding.blocks != nullptr) {
    const auto size = static_cast<std::ptrdiff_t>(*reach(t, coding));
    const auto first = t.bytes.begin() + static_cast<std::ptrdiff_t>(start);
    return {first, first + size};
  }
  const std::uint64_t size = size_of(*coding.dense);
  Bytes own;
  for (std::uint64_t element = 0; element < static_cast<std::uint64_t>(count_of(t)); ++element) {
    std::uint64_t place = t.strides ? 0 : element;
    std::uint64_t rest = element;
    for (std::size_t d = t.shape.size(); t.strides && d-- > 0; rest /= t.shape[d])
      place += rest % t.shape[d] * (*t.strides)[d];
    for (std::uint64_t i = 0; i < size; ++i) own.push_back(t.bytes[start + place * size + i]);
  }
  return own;
}

std::uint64_t code_at(const Bytes& bytes, std::size_t element, Format format) {
  std::uint64_t code = 0;
  for (std::size_t i = size_of(format); i-- > 0;) code = code * 256 + bytes[element * size_of(format) + i];
  return bits_of(format) == 64 ? code : code % (std::uint64_t{1} << bits_of(format));
}

/// The code of a number moved from one format to another; nothing where it does not come back the same.
std::optional<std::uint64_t> moved(Format from, Format to, std::uint64_t code) {
  if (is_nan(from, code)) {
    if (!has_nan(to)) return std::nullopt;
    const std::uint64_t there = nan_by_rule(from, to, code, NanRule::same_payload);
    if (nan_by_rule(to, from, there, NanRule::same_payload) != code) return std::nullopt;
    return there;
  }
  const std::uint64_t there = oracle::convert(from, to, code, {});
  if (is_nan(to, there) || oracle::convert(to, from, there, {}) != code) return std::nullopt;
  return there;
}

StoredResult moved_elements(const Bytes& own, Format from, Format to) {
  StoredResult result{Fate::converted, to, {}, {}, false, 0, false};
  for (std::size_t i = 0; i < own.size() / size_of(from); ++i) {
    const std::uint64_t code = code_at(own, i, from);
    result.holds_nan = result.holds_nan || is_nan(from, code);
    const std::optional<std::uint64_t> there = moved(from, to, code);
    if (!there && result.fate == Fate::converted) {
      result.fate = Fate::value_lost;
      result.element = i;
    }
    for (std::size_t b = 0; b < size_of(to); ++b)
      result.bytes.push_back(static_cast<std::uint8_t>(there.value_or(0) >> (8 * b)));
  }
  if (result.fate == Fate::value_lost) result.bytes.clear();
  return result;
}

StoredResult decoded(const DescribedTensor& t, const Bytes& own) {
  StoredResult result{Fate::converted, Format::f32, {}, {}, true, 0, false};
  const auto values = dequantize(t.source, block_order(t.source, own).value_or(Bytes{}));
  for (const float value : values.value_or(std::vector<float>{})) {
    const auto code = std::bit_cast<std::uint32_t>(value);
    for (int b = 0; b < 32; b += 8) result.bytes.push_back(static_cast<std::uint8_t>(code >> b));
  }
  return result;
}

/// The targets, and which length must divide into blocks of theirs.
enum class Divides : std::uint8_t { last, all, is_last };
struct Target {
  std::string_view id;
  Divides divides;
};
constexpr Target kTargets[] = {{"q8_0:ggml", Divides::last},
                               {"q4_0:ggml", Divides::last},
                               {"q4_0:skainet", Divides::all},
                               {"bitnet_planes(4):skainet", Divides::is_last},
                               {"bitnet_planes(32):skainet", Divides::is_last}};

const Target* target_of(const std::string& id) {
  for (const Target& target : kTargets)
    if (target.id == id) return &target;
  return nullptr;
}

bool divides(const DescribedTensor& t, const Target& target) {
  const std::size_t block = family_of(target.id)->elements;
  if (target.divides == Divides::is_last) return t.shape.back() == block;
  return (target.divides == Divides::last ? Wide{t.shape.back()} : count_of(t)) % block == 0;
}

StoredResult copied(const DescribedTensor& t, const Coding& coding, bool decide_only) {
  if (!is_readable(t, coding)) return {};
  return {Fate::converted, coding.format(), decide_only ? Bytes{} : gathered(t, coding), {}, false, 0, false};
}

}  // namespace

std::optional<Bytes> own_bytes(const DescribedTensor& t) {
  const Coding coding = coding_of(t.source);
  if (!is_readable(t, coding)) return std::nullopt;
  return gathered(t, coding);
}

const std::vector<std::string>& requantize_targets() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> all;
    for (const Target& target : kTargets) all.emplace_back(target.id);
    return all;
  }();
  return ids;
}

StoredResult repacked(const DescribedTensor& t, bool decide_only) {
  const Coding from = coding_of(t.source);
  const Coding to = coding_of(t.target);
  if (t.source == t.target) return {Fate::same, from.format(), {}, {}, false, 0, false};
  const bool readable = is_readable(t, from);
  if (!to.dense || (from.blocks != nullptr && *to.dense != Format::f32))
    return {readable ? Fate::refused_lossy : Fate::refused, std::nullopt, {}, {}, false, 0, false};
  if (!readable) return {};
  if (decide_only) return {Fate::converted, to.format(), {}, {}, false, 0, false};
  return from.dense ? moved_elements(gathered(t, from), *from.dense, *to.dense) : decoded(t, gathered(t, from));
}

StoredResult requantized(const DescribedTensor& t, bool decide_only) {
  const Coding from = coding_of(t.source);
  const Target* const target = target_of(t.target);
  if (target == nullptr) return {};
  if (t.source == t.target) return {Fate::same, Format::f32, {}, {}, false, 0, false};
  if (from.dense == Format::f64 || from.dense == Format::i32) return {};
  if (!is_readable(t, from) || t.shape.empty() || count_of(t) == 0 || !is_row_major(t) || !divides(t, *target))
    return {};
  StoredResult result{Fate::converted, Format::f32, {}, {}, false, 0, false};
  if (decide_only) return result;
  const Bytes own = gathered(t, from);
  const StoredResult singles = from.dense ? moved_elements(own, *from.dense, Format::f32) : decoded(t, own);
  std::vector<float> values;
  for (std::size_t i = 0; i < singles.bytes.size() / 4; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(code_at(singles.bytes, i, Format::f32))));
  const auto blocks = quantize(t.target, values);
  if (!blocks) return {};
  result.bytes = array_order(t.target, blocks->bytes).value_or(Bytes{});
  result.specified = array_order(t.target, blocks->specified).value_or(Bytes{});
  return result;
}

StoredResult loaded(const DescribedTensor& t, bool decide_only) {
  const Coding from = coding_of(t.source);
  switch (t.form) {
    case TensorForm::none: break;
    case TensorForm::keep: return copied(t, from, decide_only);
    case TensorForm::dequantize:
      if (t.target != "dense(f32)") break;
      return t.source == t.target ? copied(t, from, decide_only) : repacked(t, decide_only);
    case TensorForm::requantize:
      if (t.source == t.target && target_of(t.target) != nullptr) return copied(t, from, decide_only);
      return requantized(t, decide_only);
  }
  return {};
}

}  // namespace packcheck::oracle
