#include "core/params/layout.h"

#include <bit>

namespace packcheck {
namespace {

// conv2d, generation 2: the seed's layout, 8-bit kernel_h.
constexpr std::array<Field, 5> kConv2dGen2{{{"kernel_h", 0, 16, 8},
                                            {"kernel_w", 0, 8, 8},
                                            {"stride", 0, 0, 8},
                                            {"padding", 1, 16, 16},
                                            {"out_channels", 1, 0, 16}}};
// maxpool2d, generation 2: the low half of param2 is unused.
constexpr std::array<Field, 4> kMaxpool2dGen2{
    {{"kernel_h", 0, 16, 8}, {"kernel_w", 0, 8, 8}, {"stride", 0, 0, 8}, {"padding", 1, 16, 16}}};

constexpr std::array<Layout, 2> kLayouts{{{"conv2d", "gen2", kConv2dGen2}, {"maxpool2d", "gen2", kMaxpool2dGen2}}};

std::uint64_t read_word(std::uint64_t word, WordReading reading) {
  if (reading == WordReading::reinterpret) return word;
  const auto value = std::bit_cast<double>(word);
  // Rust's saturating `as u64`: NaN and negatives give 0.
  if (!(value >= 1.0)) return 0;
  return value >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(value);
}

}  // namespace

std::span<const Layout> all_layouts() { return kLayouts; }

Result<const Layout*> layout_named(std::string_view id) {
  std::string known;
  const Layout* by_op = nullptr;
  std::size_t matches = 0;
  for (const Layout& layout : kLayouts) {
    if (layout.id() == id) return &layout;
    if (layout.op == id) {
      by_op = &layout;
      ++matches;
    }
    known += (known.empty() ? "" : ", ") + layout.id();
  }
  if (matches == 1) return by_op;
  return refuse("unknown layout '" + std::string(id) + "'", {}, "one of " + known);
}

Result<PackedWords> pack(const Layout& layout, std::span<const std::int64_t> values, RangeRule range) {
  if (values.size() != layout.fields.size())
    return refuse(std::to_string(values.size()) + " values", layout.id(),
                  std::to_string(layout.fields.size()) + " (one per field)");
  PackedWords words{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Field& field = layout.fields[i];
    if (range == RangeRule::refuse && (values[i] < 0 || values[i] > field.largest()))
      return refuse(std::to_string(values[i]) + " does not fit", layout.id() + " field " + std::string(field.name),
                    "0.." + std::to_string(field.largest()));
    words[field.word] |= static_cast<std::uint64_t>(values[i]) << field.shift;
  }
  return words;
}

Unpacked unpack(const Layout& layout, const PackedWords& words, WordReading reading) {
  Unpacked result{{}, {read_word(words[0], reading), read_word(words[1], reading)}};
  const PackedWords read = result.ignored;
  for (const Field& field : layout.fields) {
    const std::uint64_t mask = static_cast<std::uint64_t>(field.largest());
    result.values.push_back(static_cast<std::int64_t>(read[field.word] >> field.shift & mask));
    result.ignored[field.word] &= ~(mask << field.shift);
  }
  return result;
}

std::string not_executable_because(const Layout& layout, std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    const std::string_view name = layout.fields[i].name;
    if (values[i] == 0 && name != "padding") return std::string(name) + " is 0";
  }
  return {};
}

}  // namespace packcheck
