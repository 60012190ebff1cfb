// Stored tensors: every source and target, shapes that divide and some that do not, views with offsets and strides,
// every handle, with and without a resolver.
#include <algorithm>
#include <numeric>

#include "core/format/convert.h"
#include "core/storage/requantizers.h"
#include "properties/cases/case_type.h"
#include "properties/cases/cases.h"
#include "properties/oracles/block_oracle.h"

namespace packcheck {
namespace {

const std::vector<StorageEncoding>& encodings() {
  static const std::vector<StorageEncoding> all = all_storage_encodings();
  return all;
}

StorageEncoding encoding_of(std::string_view id) {
  return storage_encoding_named(id).value_or(StorageEncoding::dense(Format::f32));
}

/// The requantizer of a target; null for every other encoding.
const Requantizer* requantizer_named(std::string_view id) {
  for (const Requantizer& row : supported_requantizers())
    if (row.target == id) return &row;
  return nullptr;
}

std::uint64_t bytes_of_element(Format format) { return spec(format).bytes(); }

/// Whole blocks of both encodings where there are any such, in one to three rows.
Shape whole_blocks(Source& source, const StorageEncoding& from, const Requantizer* requantizer) {
  const std::uint64_t unit = from.is_dense() ? 1 : from.row().block_size;
  const bool one = !from.is_dense() && from.row().blocking == Blocking::tensor;
  const std::uint64_t rows = one ? 1 : 1 + source.below(3);
  if (requantizer == nullptr || from.id() == requantizer->target) return {rows, unit};
  const std::uint64_t block = encoding_of(requantizer->target).row().block_size;
  if (requantizer->blocks == BlocksBy::whole_row)
    return {one ? std::max<std::uint64_t>(unit / block, 1) : unit * rows, block};
  const std::uint64_t last = one ? unit : std::lcm(unit, block);
  // Two dialects: a block of several rows is one for whom the volume divides, none for the others.
  const bool by_rows = !from.is_dense() && from.row().blocking == Blocking::row;
  if (requantizer->blocks == BlocksBy::volume && last % 16 == 0 && !by_rows && source.bits(1) == 1)
    return {16, rows * (last / 16)};
  return {rows, last};
}

Shape small_shape(Source& source) {
  Shape shape(source.below(4));
  for (std::uint64_t& length : shape) length = 1 + source.below(4);
  return shape;
}

/// A shape that some check must refuse, or that has no elements.
Shape odd_shape(Source& source, Shape shape) {
  switch (source.below(4)) {
    case 0: return {};
    case 1: shape.back() = 0; break;
    case 2: ++shape.back(); break;
    default: std::swap(shape.front(), shape.back());
  }
  return shape;
}

Shape drawn_shape(Source& source, const DescribedTensor& t, const StorageEncoding& from) {
  const Requantizer* const requantizer = requantizer_named(t.target);
  const bool any = from.is_dense() && requantizer == nullptr;
  const Shape shape = any ? small_shape(source) : whole_blocks(source, from, requantizer);
  return source.once_in(8) && !shape.empty() ? odd_shape(source, shape) : shape;
}

/// Strides of a transposed matrix, of rows with gaps, of one row again and again, or of steps over elements.
Shape drawn_strides(Source& source, const Shape& shape) {
  Shape strides(shape.size());
  std::uint64_t next = 1;
  const std::uint64_t kind = source.below(4);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t d = kind == 0 ? i : shape.size() - 1 - i;
    strides[d] = next;
    next = next * shape[d] + (kind == 1 ? 1 : 0);
  }
  if (kind == 2 && !strides.empty()) strides[0] = 0;
  if (kind == 3)
    for (std::uint64_t& stride : strides) stride *= 2;
  return strides;
}

/// Numbers of `from`; half the time ones that the target has as well.
Bytes drawn_elements(Source& source, Format from, const StorageEncoding& target, std::uint64_t count) {
  const bool kept = target.is_dense() && source.bits(1) == 1;
  constexpr ConvertRules kMove{.nan = NanRule::same_payload};
  Bytes elements(count * bytes_of_element(from));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits =
        kept ? convert(target.format(), from, source.float_in(target.format()), kMove) : source.float_in(from);
    store_element(spec(from), elements, i, bits);
  }
  return elements;
}

/// `count` blocks, the same few again and again, as an array of the encoding lies.
Bytes drawn_blocks(Source& source, const Encoding& row, std::uint64_t count) {
  const Bytes few = blocks_cases.draw(source, row.id()).as<BlocksCase>().blocks;
  Bytes blocks;
  for (std::uint64_t i = 0; i < count * row.block_bytes; ++i) blocks.push_back(few[i % few.size()]);
  return oracle::array_order(row.id(), blocks).value_or(Bytes{});
}

/// The bytes from the first element to the last; none where there is no such thing.
Bytes drawn_content(Source& source, const DescribedTensor& t, const StorageEncoding& from) {
  TensorStorage view;
  view.shape = t.shape;
  view.encoding = from;
  view.strides = t.strides;
  const std::uint64_t bytes = extent_bytes(view).value_or(0);
  if (from.is_dense())
    return drawn_elements(source, from.format(), encoding_of(t.target), bytes / bytes_of_element(from.format()));
  return bytes == 0 ? Bytes{} : drawn_blocks(source, from.row(), bytes / from.row().block_bytes);
}

/// Bytes that belong to nobody, none of them 0.
void append_filler(Bytes& bytes, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(0xA5 + 2 * (i % 32)));
}

DescribedTensor draw_tensor(Source& source, std::string_view variant, std::string target, TensorForm form) {
  DescribedTensor t;
  t.source = variant;
  t.target = std::move(target);
  t.form = form;
  const StorageEncoding from = encoding_of(variant);
  t.dtype = source.once_in(12) ? source.pick({Format::f32, Format::f16, Format::bf16, Format::i8}) : from.format();
  t.handle = static_cast<TensorHandle>(source.pick({0, 1, 2, 3, 3, 3, 4}));
  t.resolver = !source.once_in(6);
  t.offset = source.bits(1) == 0 ? 0 : source.below(80);
  t.shape = drawn_shape(source, t, from);
  if (!t.shape.empty() && source.once_in(from.is_dense() ? 3 : 12)) t.strides = drawn_strides(source, t.shape);
  const bool part = t.handle == TensorHandle::aliased || t.handle == TensorHandle::file;
  if (part) t.region_offset = source.below(9);
  append_filler(t.bytes, t.region_offset + t.offset);
  const Bytes content = drawn_content(source, t, from);
  t.bytes.insert(t.bytes.end(), content.begin(), content.end());
  if (source.once_in(12) && t.bytes.size() > t.region_offset) t.bytes.pop_back();
  t.region_size = t.bytes.size() - t.region_offset;
  append_filler(t.bytes, part ? 40 : 0);
  if (!part) t.region_size = t.bytes.size();
  return t;
}

/// Which encodings an operation is mostly asked for.
std::string drawn_target(Source& source, std::string_view variant, TensorForm form, Operation operation) {
  const bool to_dense = operation == Operation::repack_tensor || form == TensorForm::dequantize;
  const std::uint64_t kind = source.below(10);
  if (kind == 9) return std::string(variant);
  if (kind == 8) return encodings()[source.below(encodings().size())].id();
  if (!to_dense) return std::string(supported_requantizers()[source.below(supported_requantizers().size())].target);
  if (kind < 5 || form == TensorForm::dequantize) return "dense(f32)";
  return encodings()[source.below(kFormatTable.size())].id();
}

class TensorType final : public TypedCaseType<DescribedTensor> {
 public:
  TensorType(std::string_view name, Operation operation) : TypedCaseType(name), operation_(operation) {}

  DescribedTensor draw_value(Source& source, std::string_view variant) const override {
    const TensorForm form = drawn_form(source);
    std::string target = drawn_target(source, variant, form, operation_);
    return draw_tensor(source, variant, std::move(target), form);
  }
  std::string variant_of(const DescribedTensor& t) const override { return t.source; }
  std::size_t payload(const DescribedTensor& t) const override { return t.bytes.size(); }
  std::vector<std::string_view> classes(std::string_view) const override {
    return {"an offset", "a handle of device memory", "no resolver", "a target of its own encoding"};
  }
  std::uint64_t members(const DescribedTensor& t) const override {
    return member_bits({t.offset != 0, t.handle == TensorHandle::device, !t.resolver, t.target == t.source});
  }
  /// All encodings are one rule to this room: they share what one variant gets.
  std::uint64_t sharers(std::string_view) const override { return 16; }

  Json write(const DescribedTensor& t) const override {
    Json json{{"source", t.source}, {"target", t.target}};
    if (operation_ == Operation::load_tensor) json["form"] = form_name(t.form);
    json["dtype"] = spec(t.dtype).name;
    json["shape"] = t.shape;
    if (t.strides) json["strides"] = *t.strides;
    json["offset"] = t.offset;
    json["handle"] = handle_name(t.handle);
    json["region_offset"] = t.region_offset;
    json["region_size"] = t.region_size;
    json["resolver"] = t.resolver ? "given" : "none";
    json["bytes"] = hex_of_bytes(t.bytes);
    return json;
  }
  Result<DescribedTensor> read(MemberReader& members) const override {
    DescribedTensor t;
    t.source = encoding_id(members, "source");
    t.target = encoding_id(members, "target");
    if (operation_ == Operation::load_tensor)
      t.form = one_of<TensorForm>(members, "form", form_named, "keep, dequantize or requantize");
    if (operation_ == Operation::load_tensor && t.form == TensorForm::none)
      members.fail({"no form", place("form"), "keep, dequantize or requantize"});
    t.dtype = members.format("dtype");
    t.shape = lengths(members, "shape");
    if (members.has("strides")) t.strides = lengths(members, "strides");
    t.offset = members.unsigned_integer("offset");
    t.handle = one_of<TensorHandle>(members, "handle", handle_named, "owned, borrowed, aliased, file or device");
    t.region_offset = members.unsigned_integer("region_offset");
    t.region_size = members.unsigned_integer("region_size");
    const std::string resolver = members.text("resolver");
    t.resolver = resolver == "given";
    if (!t.resolver && resolver != "none")
      members.fail({"resolver is '" + resolver + "'", place("resolver"), "given or none"});
    t.bytes = members.bytes("bytes");
    const bool part = t.handle == TensorHandle::aliased || t.handle == TensorHandle::file;
    const bool within = t.region_offset <= t.bytes.size() && t.region_size <= t.bytes.size() - t.region_offset;
    if (!within || (!part && (t.region_offset != 0 || t.region_size != t.bytes.size())))
      members.fail({"a region of " + std::to_string(t.region_size) + " bytes from " + std::to_string(t.region_offset),
                    place("region_size"), part ? "one within the bytes" : "all of the bytes"});
    return t;
  }
  /// Every target once, more often where an operation takes few; the rest drawn, for each place the same.
  std::optional<Domain> domain(std::string_view variant) const override {
    const auto targets = std::make_shared<const std::vector<std::string>>(all_targets(variant));
    const std::string source(variant);
    return Domain{targets->size(), 1,
                  [this, targets, source](std::uint64_t first, std::uint64_t) {
                    RandomSource random(derived_seed(first, source));
                    const TensorForm form = drawn_form(random);
                    return wrap(draw_tensor(random, source, (*targets)[first], form));
                  },
                  1, false};
  }

 private:
  TensorForm drawn_form(Source& source) const {
    return operation_ == Operation::load_tensor ? static_cast<TensorForm>(1 + source.below(3)) : TensorForm::none;
  }
  std::vector<std::string> all_targets(std::string_view variant) const {
    std::vector<std::string> ids;
    if (operation_ == Operation::repack_tensor) {
      for (const StorageEncoding& encoding : encodings()) ids.push_back(encoding.id());
      return ids;
    }
    for (int again = 0; again < 4; ++again) {
      for (const Requantizer& row : supported_requantizers()) ids.emplace_back(row.target);
      for (const std::string_view id : {std::string_view("dense(f32)"), std::string_view("q4_K:ggml"), variant})
        ids.emplace_back(id);
    }
    return ids;
  }
  [[nodiscard]] std::string place(std::string_view key) const {
    return std::string(name()) + " case/" + std::string(key);
  }
  std::string encoding_id(MemberReader& members, std::string_view key) const {
    std::string id = members.text(key);
    if (const auto found = storage_encoding_named(id); !found)
      members.fail({found.error().what, place(key), found.error().right});
    return id;
  }
  template <class Enum>
  Enum one_of(MemberReader& members, std::string_view key, std::optional<Enum> (*named)(std::string_view),
              const char* right) const {
    const std::string text = members.text(key);
    const std::optional<Enum> value = named(text);
    if (!value) members.fail({std::string(key) + " is '" + text + "'", place(key), right});
    return value.value_or(Enum{});
  }
  Shape lengths(MemberReader& members, std::string_view key) const {
    Shape shape;
    const Json list = members.value(key);
    for (const Json& length : list) {
      if (!length.is_number_unsigned())
        members.fail({"no length", place(key), "integers below 2^64"});
      else
        shape.push_back(length.get<std::uint64_t>());
    }
    if (!list.is_array()) members.fail({"not an array", place(key), "[2, 32]"});
    return shape;
  }

  Operation operation_;
};

const TensorType kRepack("repack_tensor", Operation::repack_tensor);
const TensorType kRequantize("requantize_tensor", Operation::requantize_tensor);
const TensorType kLoad("load_tensor", Operation::load_tensor);

}  // namespace

const CaseType& repack_tensor_cases = kRepack;
const CaseType& requantize_tensor_cases = kRequantize;
const CaseType& load_tensor_cases = kLoad;

}  // namespace packcheck
