#include "core/storage/decode.h"

#include <array>
#include <atomic>
#include <cstring>

#include "core/format/convert.h"
#include "core/storage/messages.h"

namespace packcheck {
namespace {

constexpr ConvertRules kMove{.nan = NanRule::same_payload};

std::uint64_t moved(Format from, Format to, std::uint64_t bits) { return convert(from, to, bits, kMove); }

bool survives(Format from, Format to, std::uint64_t bits) {
  const std::uint64_t there = moved(from, to, bits);
  // A number may come back from a NaN: 0 of an integer, for which e8m0 has nothing else.
  if (is_nan(spec(to), there) != is_nan(spec(from), bits)) return false;
  return moved(to, from, there) == (bits & spec(from).all_bits());
}

bool all_codes_survive(Format from, Format to) {
  if (from == to) return true;
  if (spec(from).width() > 16) return to == Format::f64 && from != Format::f64;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << spec(from).width(); ++code)
    if (!survives(from, to, code)) return false;
  return true;
}

std::string hex_of(Format format, std::uint64_t bits) {
  std::string text = "0x";
  for (int shift = (spec(format).width() + 3) / 4 * 4 - 4; shift >= 0; shift -= 4)
    text += "0123456789abcdef"[bits >> shift & 15];
  return text;
}

/// The floats of little-endian bytes; no arithmetic touches them, so a signalling NaN stays one.
std::vector<float> floats_of(std::span<const std::uint8_t> singles) {
  std::vector<float> values(singles.size() / sizeof(float));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = load_little_endian<std::uint32_t>(&singles[i * sizeof(float)]);
    std::memcpy(&values[i], &bits, sizeof bits);
  }
  return values;
}

std::vector<std::uint8_t> bytes_of(std::span<const float> values) {
  std::vector<std::uint8_t> singles(values.size_bytes());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &values[i], sizeof bits);
    store_little_endian(&singles[i * sizeof(float)], bits);
  }
  return singles;
}

bool one_block_at_a_time(const Encoding& row, const StorageRules& rules) {
  return rules.rows == PlaneRows::one && row.planes[0] != 0;
}

}  // namespace

bool holds_every_value(Format from, Format to) {
  static std::array<std::array<std::atomic<std::int8_t>, kFormatTable.size()>, kFormatTable.size()> known{};
  std::atomic<std::int8_t>& answer = known[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  if (answer == 0) answer = all_codes_survive(from, to) ? 1 : -1;
  return answer == 1;
}

Result<std::vector<std::uint8_t>> move_elements(Format from, Format to, std::span<const std::uint8_t> elements,
                                                std::string_view speaker, const StorageRules& rules) {
  const bool checked = rules.narrowing == Narrowing::refused && !holds_every_value(from, to);
  const Format read = rules.half == HalfReading::as_bf16 && from == Format::f16 ? Format::bf16 : from;
  const std::size_t count = elements.size() / spec(from).bytes();
  std::vector<std::uint8_t> out(count * spec(to).bytes());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = load_element(spec(from), elements, i);
    if (checked && !survives(from, to, bits))
      return tl::unexpected(storage_error(Message::value_lost, speaker,
                                          {std::to_string(i), hex_of(from, bits & spec(from).all_bits()),
                                           StorageEncoding::dense(from).id(), StorageEncoding::dense(to).id()}));
    store_element(spec(to), out, i, moved(read, to, bits));
  }
  return out;
}

Result<std::vector<std::uint8_t>> decode_f32(const StorageEncoding& encoding, std::span<const std::uint8_t> bytes,
                                             std::string_view speaker, const StorageRules& rules) {
  if (encoding.is_dense()) return move_elements(encoding.format(), Format::f32, bytes, speaker, rules);
  Encoding row = encoding.row();
  if (rules.reading != CodeReading::declared) row.rules.reading = rules.reading;
  const Result<std::size_t> count = decoded_count(row, bytes.size());
  if (!count) return tl::unexpected(count.error());
  std::vector<float> values(*count);
  const std::size_t run = one_block_at_a_time(row, rules) ? row.block_size : values.size();
  for (std::size_t at = 0; at < values.size(); at += run)
    if (auto ok = dequantize(
            row, bytes.subspan(at / row.block_size * row.block_bytes, run / row.block_size * row.block_bytes),
            std::span(values).subspan(at, run));
        !ok)
      return tl::unexpected(ok.error());
  return bytes_of(values);
}

Result<std::vector<std::uint8_t>> encode_f32(const Encoding& row, std::span<const std::uint8_t> singles,
                                             const StorageRules& rules) {
  std::vector<float> values = floats_of(singles);
  if (rules.partial == PartialBlock::dropped) values.resize(values.size() / row.block_size * row.block_size);
  const Result<std::size_t> size = encoded_bytes(row, values.size());
  if (!size) return tl::unexpected(size.error());
  std::vector<std::uint8_t> blocks(*size);
  const std::size_t run = one_block_at_a_time(row, rules) ? row.block_size : values.size();
  for (std::size_t at = 0; at < values.size(); at += run)
    if (auto ok = quantize(
            row, std::span<const float>(values).subspan(at, run),
            std::span(blocks).subspan(at / row.block_size * row.block_bytes, run / row.block_size * row.block_bytes));
        !ok)
      return tl::unexpected(ok.error());
  return blocks;
}

}  // namespace packcheck
