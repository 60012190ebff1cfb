// Known answers of the rules of stored tensors and of their conversions (known_answers.h).
#include <algorithm>
#include <array>
#include <vector>

#include "core/storage/conversion_table.h"
#include "core/storage/decode.h"
#include "core/storage/device_memory.h"
#include "core/storage/repack.h"
#include "core/storage/weight_form.h"
#include "tests/core/known_answers.h"
#include "tests/core/packed_samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

StoragePtr stored(const StorageEncoding& encoding, Shape shape, const Bytes& bytes, std::uint64_t offset,
                  std::optional<Shape> strides) {
  TensorStorage tensor;
  tensor.shape = std::move(shape);
  tensor.dtype = encoding.format();
  tensor.encoding = encoding;
  tensor.buffer = owned(bytes);
  tensor.byte_offset = offset;
  tensor.strides = std::move(strides);
  return std::make_shared<const TensorStorage>(std::move(tensor));
}

void add(Digest& digest, const Result<StoragePtr>& tensor) {
  if (!tensor) return digest.add(tensor.error());
  digest.add((*tensor)->encoding.id());
  digest.add(spec((*tensor)->dtype).name);
  digest.add(shape_text((*tensor)->shape));
  digest.add((*tensor)->byte_offset);
  digest.add(ownership_name(ownership_of((*tensor)->buffer)));
  const Result<Bytes> bytes = gather(**tensor, nullptr);
  bytes ? digest.add(std::span<const std::uint8_t>(*bytes)) : digest.add(bytes.error());
}

void storage_all(const StorageRules& rules, bool all, Digest& digest) {
  static const std::vector<StorageEncoding> encodings = [] {
    std::vector<StorageEncoding> chosen;
    for (const std::string_view id : {"dense(f32)", "dense(f16)", "dense(bf16)", "dense(f64)", "dense(i8)", "q8_0:ggml",
                                      "q4_0:ggml", "tq2_0:ggml", "q4_K:ggml", "q4_0:skainet", "tq1_0:ggml"})
      if (const auto encoding = storage_encoding_named(id)) chosen.push_back(*encoding);
    for (const StorageEncoding& encoding : all_storage_encodings())
      if (!encoding.is_dense() && encoding.row().planes[0] != 0 && chosen.size() < 14) chosen.push_back(encoding);
    return chosen;
  }();
  Random random(33);
  Bytes bytes(3000);
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    // Halves, and pairs of them as singles: ordinary numbers.
    bytes[i] = static_cast<std::uint8_t>(random.below(4) << 6);
    bytes[i + 1] = static_cast<std::uint8_t>(0x3C + random.below(4) + (random.coin() ? 0x80 : 0));
  }
  struct Place {
    Shape shape;
    std::uint64_t offset;
    std::optional<Shape> strides;
  };
  const std::array<Place, 12> places{{{{2, 32}, 0, std::nullopt},
                                      {{256}, 0, std::nullopt},
                                      {{2, 32}, 8, std::nullopt},
                                      {{}, 0, std::nullopt},
                                      {{3, 0}, 0, std::nullopt},
                                      {{2, 33}, 0, std::nullopt},
                                      {{4, 16}, 0, std::nullopt},
                                      {{2, 32}, 0, Shape{32, 1}},
                                      {{32, 2}, 4, Shape{1, 32}},
                                      {{2, 32}, 0, Shape{0, 1}},
                                      {{900}, 0, std::nullopt},
                                      {{2, 32}, 0, Shape{1}}}};
  for (const StorageEncoding& source : encodings)
    for (std::size_t p = 0; p < places.size(); ++p) {
      const Place& place = places[p];
      const StoragePtr tensor = stored(source, place.shape, bytes, place.offset, place.strides);
      add(digest, copy_materialize(*tensor, nullptr, rules));
      const Result<std::uint64_t> physical = physical_bytes(source, place.shape);
      physical ? digest.add(*physical) : digest.add(physical.error());
      const Result<std::uint64_t> extent = extent_bytes(*tensor);
      extent ? digest.add(*extent) : digest.add(extent.error());
      const Result<void> sound = check_storage(*tensor, nullptr, rules);
      if (!sound) digest.add(sound.error());
      for (std::size_t t = 0; t < encodings.size(); ++t) {
        if (!all && (t + p) % 2 == 1) continue;
        const StorageEncoding& target = encodings[t];
        add(digest, repack_to(tensor, target, nullptr, rules));
        add(digest, requantize_to(tensor, target, nullptr, rules));
        for (const EncodingRequest request :
             {EncodingRequest::keep_as_stored, EncodingRequest::dequantize_to, EncodingRequest::requantize_to})
          add(digest, load_weight(*tensor, {request, target}, nullptr, rules));
      }
    }
}

TEST(KnownAnswers, OfEveryRuleOfStoredTensorsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 13> kKnown{{
      {"as they are", 0x970A16B80B71E66D},
      {"offset ignored", 0x790C1EC283CB9433},
      {"offset twice", 0xE49F173B562CB52D},
      {"strides ignored", 0xF4CE84E9D19C8560},
      {"tag kept", 0xA1D79060490EE175},
      {"as bf16", 0x4A574B38F4EA030B},
      {"read sequentially", 0xC3805A554AED65E7},
      {"encoded again", 0x5F286F5E32E190B0},
      {"last dimension", 0x04871FFCE21F344F},
      {"volume", 0x2402B162183A30BB},
      {"dropped", 0x002A41CD336D38CB},
      {"rounded", 0xA38DE5117D38679C},
      {"loader truncates", 0xE94BA0BECCBFFCCD},
  }};
  using Rules = StorageRules;
  static constexpr std::array<ChangedRule<Rules>, 12> kChanges{{
      {"offset ignored", [](Rules& r) { r.offset = ViewOffset::ignored; }},
      {"offset twice", [](Rules& r) { r.offset = ViewOffset::twice; }},
      {"strides ignored", [](Rules& r) { r.strides = ViewStrides::ignored; }},
      {"tag kept", [](Rules& r) { r.tag = DtypeTag::kept; }},
      {"as bf16", [](Rules& r) { r.half = HalfReading::as_bf16; }},
      {"read sequentially", [](Rules& r) { r.reading = CodeReading::sequential; }},
      {"encoded again", [](Rules& r) { r.equal = EqualEncoding::encoded_again; }},
      {"last dimension", [](Rules& r) { r.blocking = BlockingCheck::last_dimension; }},
      {"volume", [](Rules& r) { r.blocking = BlockingCheck::volume; }},
      {"dropped", [](Rules& r) { r.partial = PartialBlock::dropped; }},
      {"rounded", [](Rules& r) { r.narrowing = Narrowing::rounded; }},
      {"loader truncates", [](Rules& r) { r.loader = LoaderRounding::truncates; }},
  }};
  expect_known<Rules>(kChanges, kKnown, storage_all);
}

TEST(KnownAnswers, OfConversionsOfStoredTensorsAndTheirTableAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x3445C5C5CD7B7F44},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    const std::vector<StorageEncoding> all = all_storage_encodings();
    for (const StorageEncoding& source : all)
      for (const StorageEncoding& target : all) {
        const ConversionCell cell = conversion_between(source, target);
        digest.add(conversion_name(cell.conversion));
        digest.add(cell.law);
        digest.add(cell.refusal);
      }
    for (const FormatSpec& from : all_formats())
      for (const FormatSpec& to : all_formats()) digest.add(std::uint64_t{holds_every_value(from.format, to.format)});
    DeviceMemory device("d");
    const DeviceResident first = device.upload(Bytes(4096, 1));
    const DeviceResident second = device.upload(Bytes(3, 2));
    const DeviceResident third = device.upload({});
    const DeviceResident fourth = device.upload({7});
    for (const DeviceResident& buffer : {first, second, third, fourth}) {
      digest.add(buffer.address);
      digest.add(buffer.size);
      for (DeviceResident asked : {buffer, DeviceResident{"e", buffer.address, buffer.size},
                                   DeviceResident{"d", buffer.address + 1, buffer.size},
                                   DeviceResident{"d", buffer.address, buffer.size + 1}}) {
        const Result<Owned> bytes = device.download(asked);
        bytes ? digest.add(std::span<const std::uint8_t>(*bytes->bytes)) : digest.add(bytes.error());
      }
    }
  });
}

}  // namespace
}  // namespace packcheck::test
