#include "properties/oracles/params_oracle.h"

namespace packcheck::oracle {
namespace {

struct Place {
  std::size_t word;
  std::uint64_t value;  // what one unit of the field adds to the word
  std::uint64_t size;   // how many values the field can take
};

// scalar = kernel_h·65536 + kernel_w·256 + stride; param2 = padding·65536 + out_channels
constexpr std::array<Place, 5> kConv2d{{{0, 65536, 256}, {0, 256, 256}, {0, 1, 256}, {1, 65536, 65536}, {1, 1, 65536}}};

/// A pooling layer has no out_channels; the rest is the same.
std::span<const Place> places_of(std::string_view layout) {
  const std::span<const Place> conv2d(kConv2d);
  if (layout == "conv2d:gen2") return conv2d;
  if (layout == "maxpool2d:gen2") return conv2d.first(4);
  return {};
}

}  // namespace

std::optional<Words> packed(std::string_view layout, std::span<const std::int64_t> values) {
  const std::span<const Place> places = places_of(layout);
  if (places.empty() || values.size() != places.size()) return std::nullopt;
  Words words{0, 0};
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (values[i] < 0 || static_cast<std::uint64_t>(values[i]) >= places[i].size) return std::nullopt;
    words[places[i].word] += static_cast<std::uint64_t>(values[i]) * places[i].value;
  }
  return words;
}

std::optional<std::vector<std::int64_t>> unpacked(std::string_view layout, const Words& words) {
  const std::span<const Place> places = places_of(layout);
  if (places.empty()) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const Place& place : places)
    values.push_back(static_cast<std::int64_t>(words[place.word] / place.value % place.size));
  return values;
}

std::optional<std::vector<std::int64_t>> field_sizes(std::string_view layout) {
  const std::span<const Place> places = places_of(layout);
  if (places.empty()) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (const Place& place : places) sizes.push_back(static_cast<std::int64_t>(place.size));
  return sizes;
}

}  // namespace packcheck::oracle
