#include "properties/oracles/block_oracle.h"

#include "properties/oracles/block_families.h"
#include "properties/oracles/default_environment.h"

namespace packcheck::oracle {

const BlockFamily* family_of(std::string_view encoding) {
  for (const std::span<const BlockFamily> group :
       {byte_families(), nibble_families(), k_families(), ternary_families(), table_families(), affine_families(),
        microscaling_families(), column_families(), skainet_families(), rotated_families()})
    for (const BlockFamily& family : group)
      if (family.id == encoding) return &family;
  return nullptr;
}

namespace {

/// Visits the bytes of an array with planes in order, each with its place in block order.
template <class Visit>
void walk_planes(const BlockFamily& family, std::size_t blocks, Visit visit) {
  std::size_t position = 0;
  std::size_t first = 0;  // of the plane, within a block
  for (const std::size_t plane : family.planes) {
    for (std::size_t block = 0; block < blocks; ++block)
      for (std::size_t i = 0; i < plane; ++i) visit(position++, block * family.bytes + first + i);
    first += plane;
  }
}

}  // namespace

std::optional<std::vector<std::uint8_t>> block_order(std::string_view encoding, std::span<const std::uint8_t> array) {
  const BlockFamily* family = family_of(encoding);
  if (family == nullptr || array.size() % family->bytes != 0) return std::nullopt;
  std::vector<std::uint8_t> blocks(array.begin(), array.end());
  if (family->planes[0] != 0)
    walk_planes(*family, array.size() / family->bytes,
                [&](std::size_t position, std::size_t place) { blocks[place] = array[position]; });
  return blocks;
}

std::optional<std::vector<std::uint8_t>> array_order(std::string_view encoding, std::span<const std::uint8_t> blocks) {
  const BlockFamily* family = family_of(encoding);
  if (family == nullptr || blocks.size() % family->bytes != 0) return std::nullopt;
  std::vector<std::uint8_t> array(blocks.begin(), blocks.end());
  if (family->planes[0] != 0)
    walk_planes(*family, blocks.size() / family->bytes,
                [&](std::size_t position, std::size_t place) { array[position] = blocks[place]; });
  return array;
}

bool accepts(std::string_view encoding, std::span<const float> values) {
  const BlockFamily* family = family_of(encoding);
  if (family == nullptr || family->accepts == nullptr) return true;
  const DefaultEnvironment environment;
  for (std::size_t at = 0; at + family->elements <= values.size(); at += family->elements)
    if (!family->accepts(values.subspan(at, family->elements))) return false;
  return true;
}

std::optional<ExpectedBlocks> quantize(std::string_view encoding, std::span<const float> values) {
  const BlockFamily* family = family_of(encoding);
  if (family == nullptr || family->quantize == nullptr || values.size() % family->elements != 0) return std::nullopt;
  if (!accepts(encoding, values)) return std::nullopt;
  const std::size_t count = values.size() / family->elements;
  ExpectedBlocks blocks{std::vector<std::uint8_t>(count * family->bytes),
                        std::vector<std::uint8_t>(count * family->bytes)};
  const DefaultEnvironment environment;
  for (std::size_t b = 0; b < count; ++b)  // through a pointer, so nothing moves across the switch of environment
    family->quantize(values.subspan(b * family->elements, family->elements), BlockWriter(blocks, b * family->bytes));
  return blocks;
}

std::optional<std::vector<float>> dequantize(std::string_view encoding, std::span<const std::uint8_t> blocks) {
  const BlockFamily* family = family_of(encoding);
  if (family == nullptr || blocks.size() % family->bytes != 0) return std::nullopt;
  std::vector<float> values;
  values.reserve(blocks.size() / family->bytes * family->elements);
  std::vector<double> decoded(family->elements);
  const DefaultEnvironment environment;
  for (std::size_t b = 0; b < blocks.size() / family->bytes; ++b) {
    family->dequantize(blocks.subspan(b * family->bytes, family->bytes), decoded.data());
    for (std::size_t i = 0; i < family->elements; ++i) values.push_back(static_cast<float>(decoded[i]));
  }
  return values;
}

}  // namespace packcheck::oracle
