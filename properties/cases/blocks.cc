// Floats to encode and blocks to decode.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/environment.h"
#include "core/format/convert.h"
#include "properties/cases/case_type.h"
#include "properties/cases/cases.h"
#include "properties/oracles/block_oracle.h"

namespace packcheck {
namespace {

const Encoding* encoding_of(std::string_view variant) {
  const Result<const Encoding*> found = encoding_named(variant);
  return found ? *found : &all_encodings().front();
}

/// How many rows come from the rule of this one: 60 affine groups of every width, size, device and format, 6 formats of
/// OCP, 3 modes of MLX, 3 orders of columns.
std::uint64_t sharers_of(const Encoding& e) {
  if (e.rules.affine.bits != 0) return 32;
  if (e.dialect == "ocp") return 6;
  return e.dialect == "mlx" || e.name == "gptq_int4" || e.name == "awq_int4" ? 3 : 1;
}

/// The encoding member of a case.
const Encoding* read_encoding(MemberReader& members) {
  const Result<const Encoding*> found = encoding_named(members.text("encoding"));
  if (found) return *found;
  members.fail(found.error());
  return nullptr;
}

float draw_float(Source& source) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(source.float_in(Format::f32)));
}

/// The element the others are related to. Weights of an affine encoding mostly have the format of its scales.
float draw_extreme(Source& source, const Encoding& e) {
  const Format storage = e.rules.affine.storage;
  if (storage == Format::f32 || source.below(4) == 3) return draw_float(source);
  return std::bit_cast<float>(static_cast<std::uint32_t>(convert(storage, Format::f32, source.float_in(storage))));
}

/// An element at or beside half a step of the extreme: where a quantizer decides.
[[gnu::noinline]] float half_step(Source& source, const Encoding& e, float extreme) {
  const std::uint64_t steps =
      e.rules.affine.bits != 0
          ? (std::uint64_t{1} << e.rules.affine.bits) - 1
          : source.pick({std::uint64_t{127}, std::uint64_t{8}, std::uint64_t{15}, std::uint64_t{1}});
  const double k = static_cast<double>(source.below(steps)) + 0.5;
  const auto exact = static_cast<float>(static_cast<double>(extreme) * k / static_cast<double>(steps));
  const auto bits = std::bit_cast<std::uint32_t>(exact) + static_cast<std::uint32_t>(source.below(3)) - 1;
  const float near = source.bits(1) == 0 ? exact : std::bit_cast<float>(bits);
  return source.bits(1) == 0 ? near : -near;
}

/// One block: an extreme and few or many other elements, related to it or not.
void draw_block(Source& source, const Encoding& e, std::span<float> block) {
  const ExactEnvironment exact;
  const float extreme = draw_extreme(source, e);
  const std::uint64_t kind = source.below(4);
  const std::uint64_t filled = source.below(block.size() + 1);
  for (float& value : block) value = 0.0F;
  if (filled == 0) return;
  const std::uint64_t place = source.below(block.size());
  block[place] = extreme;
  for (std::size_t i = 1; i < filled; ++i) {
    float& value = block[(place + i) % block.size()];
    if (kind == 0) value = extreme;
    if (kind == 1) value = half_step(source, e, extreme);
    if (kind == 2)
      value = static_cast<float>(static_cast<double>(source.bits(24)) * 0x1p-24 * static_cast<double>(extreme));
    if (kind == 3) value = draw_float(source);
  }
}

class ValuesType final : public TypedCaseType<ValuesCase> {
 public:
  using TypedCaseType::TypedCaseType;

  ValuesCase draw_value(Source& source, std::string_view variant) const override {
    ValuesCase c{encoding_of(variant), {}};
    const std::size_t block = c.encoding->block_size;
    const std::size_t blocks = 1 + source.below(source.once_in(6) ? 17 : 3);
    c.values.resize(block * blocks);
    for (std::size_t i = 0; i < blocks; ++i)
      draw_block(source, *c.encoding, std::span(c.values).subspan(i * block, block));
    return c;
  }
  std::uint64_t sharers(std::string_view variant) const override { return sharers_of(*encoding_of(variant)); }
  std::string variant_of(const ValuesCase& c) const override { return c.encoding->id(); }
  std::size_t payload(const ValuesCase& c) const override { return c.values.size() * sizeof(float); }
  std::vector<std::string_view> classes(std::string_view) const override {
    return {"several blocks", "zeros alone in a block", "one number that is not 0 in a block", "a NaN or an infinity",
            "a block that is half full"};
  }
  std::uint64_t members(const ValuesCase& c) const override {
    const std::size_t block = c.encoding->block_size;
    bool zeros = false, one = false, full = false, special = false;
    for (std::size_t at = 0; at < c.values.size(); at += block) {
      std::size_t filled = 0;
      for (std::size_t i = at; i < at + block; ++i) {
        const auto magnitude = std::bit_cast<std::uint32_t>(c.values[i]) & 0x7FFFFFFF;
        filled += magnitude != 0 ? 1 : 0;
        special = special || magnitude >= 0x7F800000;
      }
      zeros = zeros || filled == 0;
      one = one || filled == 1;
      full = full || filled > block / 2;
    }
    if (block > 64) zeros = one = full = true;  // rare where the number of numbers is one of hundreds
    return member_bits({c.values.size() > block, zeros, one, special, full});
  }
  Json write(const ValuesCase& c) const override {
    return {{"encoding", c.encoding->id()},
            {"values", elements_json(string_to_bytes(floats_to_string(c.values)), Format::f32)}};
  }
  Result<ValuesCase> read(MemberReader& members) const override {
    ValuesCase c{read_encoding(members), string_to_floats(bytes_to_string(members.elements("values", Format::f32)))};
    if (c.encoding == nullptr) return c;
    if (const Result<std::size_t> size = encoded_bytes(*c.encoding, c.values.size()); !size) members.fail(size.error());
    return c;
  }
  std::vector<ValuesCase> split(const ValuesCase& c) const override {
    std::vector<ValuesCase> halves;
    for (std::vector<float>& values : split_array(c.values, c.encoding->block_size))
      halves.push_back({c.encoding, std::move(values)});
    return halves;
  }
};

/// A block costs as much as its numbers do; 32 are the least.
std::uint64_t weight_of_domain(const Encoding& e) { return std::max<std::uint64_t>(e.block_size / 32, 1); }

/// Bytes of a block that hold no scale.
std::uint64_t code_bytes_of(const Encoding& e) {
  std::uint64_t count = e.block_bytes;
  for (const ScaleField& field : e.scales) count -= field.bytes;
  return count;
}

/// Different scale numbers of a domain: 2^16 where some scale has 16 bits or more, else 2^8.
std::uint64_t scales_of_domain(const Encoding& e) {
  for (const ScaleField& field : e.scales)
    if (field.format == ScaleFormat::f16 || field.format == ScaleFormat::bf16 || field.format == ScaleFormat::f32)
      return 1U << 16;
  return 1U << 8;
}

/// Blocks per scale number, so that the code bytes count through the 256 values of a byte.
std::uint64_t runs_of_domain(const Encoding& e) {
  const std::uint64_t code_bytes = code_bytes_of(e);
  return (256 + code_bytes - 1) / code_bytes;
}

/// Blocks per case of a domain: 32768 numbers, or as many fewer as divide the domain.
std::uint64_t batch_of_domain(const Encoding& e) {
  return std::gcd(scales_of_domain(e) * runs_of_domain(e), std::bit_floor(std::uint64_t{32768} / e.block_size));
}

void put_little_endian(std::span<std::uint8_t> bytes, std::uint64_t number) {
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(number);
    number >>= 8;
  }
}

/// The scale bytes number `scale`. The first f16, bf16 or upper half of an f32 counts; every other runs through all its
/// values in another order (odd factors), so that a minimum does not follow its scale.
void put_scales(const Encoding& e, std::uint64_t scale, std::span<std::uint8_t> block) {
  std::uint64_t wide = 0;
  for (const ScaleField& field : e.scales) {
    const std::span<std::uint8_t> bytes = block.subspan(field.offset, field.bytes);
    if (field.format == ScaleFormat::f16 || field.format == ScaleFormat::bf16) {
      put_little_endian(bytes, wide++ == 0 ? scale : scale * 40503 + 12345);
    } else if (field.format == ScaleFormat::f32) {
      const std::uint64_t upper = wide++ == 0 ? scale : (scale * 40503 + 12345) & 0xFFFF;
      put_little_endian(bytes, upper << 16 | (scale * 40503 & 0xFFFF));
    } else {
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(scale + 37 * i);
    }
  }
}

bool is_scale_byte(const Encoding& e, std::size_t at) {
  for (const ScaleField& field : e.scales)
    if (at >= field.offset && at < field.offset + field.bytes) return true;
  return false;
}

/// Every scale with every code byte in some position.
Bytes block_of_domain(const Encoding& e, std::uint64_t index) {
  const std::uint64_t runs = runs_of_domain(e);
  Bytes block(e.block_bytes);
  put_scales(e, index / runs, block);
  std::uint64_t code = index % runs * code_bytes_of(e);
  for (std::size_t i = 0; i < block.size(); ++i)
    if (!is_scale_byte(e, i)) block[i] = static_cast<std::uint8_t>(code++);
  return block;
}

/// Scales where decoders go wrong: halves and singles as for conversions, bytes at their limits.
void draw_scales(Source& source, const Encoding& e, std::span<std::uint8_t> block) {
  for (const ScaleField& field : e.scales) {
    const std::span<std::uint8_t> bytes = block.subspan(field.offset, field.bytes);
    if (field.format == ScaleFormat::f16) {
      put_little_endian(bytes, source.float_in(Format::f16));
    } else if (field.format == ScaleFormat::bf16) {
      put_little_endian(bytes, source.float_in(Format::bf16));
    } else if (field.format == ScaleFormat::f32) {
      put_little_endian(bytes, source.float_in(Format::f32));
    } else {
      for (std::uint8_t& byte : bytes) {
        const std::uint64_t limit = source.pick(
            {std::uint64_t{0}, std::uint64_t{0x7F}, std::uint64_t{0x80}, std::uint64_t{0xFF}, std::uint64_t{1}});
        byte = static_cast<std::uint8_t>(source.below(4) == 0 ? limit : source.bits(8));
      }
    }
  }
}

constexpr std::size_t kFewBytes = 64;  ///< up to here, shrinking tries to clear each byte

class BlocksType final : public TypedCaseType<BlocksCase> {
 public:
  using TypedCaseType::TypedCaseType;

  BlocksCase draw_value(Source& source, std::string_view variant) const override {
    BlocksCase c{encoding_of(variant), {}};
    const std::size_t blocks = 1 + source.below(source.once_in(6) ? 17 : 3);
    const Encoding& e = *c.encoding;
    for (std::size_t i = 0; i < blocks; ++i) {
      Bytes block(e.block_bytes);
      draw_scales(source, e, block);
      std::uint64_t different = source.below(code_bytes_of(e) + 1);
      for (std::size_t j = 0; j < block.size() && different > 0; ++j) {
        if (is_scale_byte(e, j)) continue;
        block[j] = static_cast<std::uint8_t>(source.bits(8));
        --different;
      }
      c.blocks.insert(c.blocks.end(), block.begin(), block.end());
    }
    return c;
  }
  std::uint64_t sharers(std::string_view variant) const override { return sharers_of(*encoding_of(variant)); }
  std::string variant_of(const BlocksCase& c) const override { return c.encoding->id(); }
  std::size_t payload(const BlocksCase& c) const override { return c.blocks.size(); }
  std::vector<std::string_view> classes(std::string_view) const override {
    return {"several blocks", "code bytes of 0 at the end"};
  }
  std::uint64_t members(const BlocksCase& c) const override {
    return member_bits({c.blocks.size() > c.encoding->block_bytes, !c.blocks.empty() && c.blocks.back() == 0});
  }
  Json write(const BlocksCase& c) const override {
    return {{"encoding", c.encoding->id()}, {"blocks", hex_of_bytes(c.blocks)}};
  }
  Result<BlocksCase> read(MemberReader& members) const override {
    BlocksCase c{read_encoding(members), members.bytes("blocks")};
    if (c.encoding == nullptr) return c;
    if (const Result<std::size_t> count = decoded_count(*c.encoding, c.blocks.size()); !count)
      members.fail(count.error());
    return c;
  }
  std::vector<BlocksCase> split(const BlocksCase& c) const override {
    std::vector<BlocksCase> halves;
    for (Bytes& blocks : split_array(c.blocks, c.encoding->block_bytes))
      halves.push_back({c.encoding, std::move(blocks)});
    for (std::size_t i = 0; i < c.blocks.size() && c.blocks.size() <= kFewBytes; ++i) {
      if (c.blocks[i] == 0) continue;
      halves.push_back(c);
      halves.back().blocks[i] = 0;
    }
    return halves;
  }
  std::optional<Domain> domain(std::string_view variant) const override {
    const Encoding* e = encoding_of(variant);
    return Domain{scales_of_domain(*e) * runs_of_domain(*e), batch_of_domain(*e),
                  [this, e](std::uint64_t first, std::uint64_t count) {
                    BlocksCase c{e, {}};
                    for (std::uint64_t i = first; i < first + count; ++i) {
                      const Bytes block = block_of_domain(*e, i);
                      c.blocks.insert(c.blocks.end(), block.begin(), block.end());
                    }
                    return wrap(std::move(c));
                  },
                  weight_of_domain(*e)};
  }
  /// Raw blocks as a file holds them, a partial one at the end cut off.
  std::optional<Case> from_wire(std::span<const std::uint8_t> bytes, std::string_view variant) const override {
    const Encoding* e = encoding_of(variant);
    const std::size_t whole = bytes.size() / e->block_bytes * e->block_bytes;
    return wrap({e, oracle::block_order(e->id(), bytes.first(whole)).value_or(Bytes{})});
  }
  std::optional<Bytes> wire_bytes(const Case& c) const override {
    const auto& blocks = c.as<BlocksCase>();
    return oracle::array_order(blocks.encoding->id(), blocks.blocks);
  }
};

const ValuesType kValues("values");
const BlocksType kBlocks("blocks");

}  // namespace

const CaseType& values_cases = kValues;
const CaseType& blocks_cases = kBlocks;

}  // namespace packcheck
