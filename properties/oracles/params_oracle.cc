#include "properties/oracles/params_oracle.h"

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "properties/oracles/default_environment.h"

namespace packcheck::oracle {
namespace {

/// Plain numbers by what they may be: any finite one, whole from 0 on, whole or absent, 0 or 1, 0 to 1.
enum class Number : std::uint8_t { none, any, whole, whole_or_absent, zero_or_one, from_0_to_1 };

struct Place {
  std::size_t word;
  std::uint64_t value;  // what one unit of the field adds to the word
  std::uint64_t size;   // how many values the field can take
  Number number = Number::none;
};

struct Row {
  std::string_view layouts;  // each between spaces
  std::vector<Place> places;
};

constexpr std::uint64_t k2To32 = 4294967296;

Place number(std::size_t word, Number kind) { return {word, 1, 0, kind}; }

const std::vector<Row>& table() {
  static const std::vector<Row> rows{
      // scalar = kernel_h·65536 + kernel_w·256 + stride; param2 = padding·65536 + out_channels
      {" conv2d:gen2 ", {{0, 65536, 256}, {0, 256, 256}, {0, 1, 256}, {1, 65536, 65536}, {1, 1, 65536}}},
      {" maxpool2d:gen2 avgpool2d:gen2 ", {{0, 65536, 256}, {0, 256, 256}, {0, 1, 256}, {1, 65536, 65536}}},
      // stride·2^32 + padding; dilation·2^32
      {" conv2d:gen1 ", {{0, k2To32, k2To32}, {0, 1, k2To32}, {1, k2To32, k2To32}}},
      // (dilation - 1)·2^40 above a kernel_h of 16 bits
      {" conv2d:gen3 ",
       {{0, 1099511627776, 16777216}, {0, 65536, 65536}, {0, 256, 256}, {0, 1, 256}, {1, 65536, 65536}, {1, 1, 65536}}},
      {" maxpool2d:gen3 avgpool2d:gen3 ", {{0, 65536, 65536}, {0, 256, 256}, {0, 1, 256}, {1, 65536, 65536}}},
      // three fields of 16 bits: the stale comment; batch, out, in of linear and its like
      {" maxpool2d:stale linear:gen3 batchNorm2d:gen3 layerNorm:gen3 ",
       {{0, k2To32, 65536}, {0, 65536, 65536}, {0, 1, 65536}}},
      {" depthwiseConv1d:gen3 ", {{0, 65536, 281474976710656}, {0, 1, 65536}, number(1, Number::whole)}},
      {" gridSample:gen3 ", {{0, 65536, 65536}, {0, 1, 65536}, {1, 256, 256}, {1, 1, 256}}},
      {" interpolate:gen3 ", {{0, k2To32, k2To32}, {0, 1, k2To32}, number(1, Number::zero_or_one)}},
      {" trapezoidalScan:gen3 ", {{0, 4, 2}, {0, 2, 2}, {0, 1, 2}}},
      {" reduce:gen3 ", {number(0, Number::whole_or_absent), number(1, Number::zero_or_one)}},
      {" mha:gen3 ", {{0, k2To32, 65536}, {0, 65536, 65536}, {0, 1, 65536}, {1, k2To32, 65536}, {1, 2, 2}, {1, 1, 2}}},
      {" dropout:gen3 ", {number(0, Number::from_0_to_1), {1, 1, 9223372036854775808U}}},
      {" clamp:gen3 ", {number(0, Number::any), number(1, Number::any)}},
      {" pow:gen3 leakyRelu:gen3 ", {number(0, Number::any)}},
      {" cat:gen3 lstmStep:gen3 ", {number(0, Number::whole)}},
      {" adaptiveAvgPool2d:gen3 ", {number(0, Number::whole), number(1, Number::whole)}},
      {" rope:gen3 ", {number(0, Number::whole), number(1, Number::any)}},
  };
  return rows;
}

std::span<const Place> places_of(std::string_view layout) {
  const std::string between = " " + std::string(layout) + " ";
  for (const Row& row : table())
    if (row.layouts.find(between) != std::string_view::npos && layout.find(' ') == std::string_view::npos)
      return row.places;
  return {};
}

bool is_such_a_number(std::uint64_t bits, Number kind) {
  const DefaultEnvironment environment;
  const auto x = std::bit_cast<double>(bits);
  const bool counts = std::isfinite(x) && !std::signbit(x) && std::floor(x) == x && x <= 9007199254740992.0;
  switch (kind) {
    case Number::none: return true;
    case Number::any: return std::isfinite(x);
    case Number::whole: return counts;
    case Number::whole_or_absent: return counts || bits == 9221120237041090560U;  // the NaN of Java's Double.NaN
    case Number::zero_or_one: return counts && x <= 1.0;
    case Number::from_0_to_1: return !std::signbit(x) && x <= 1.0;
  }
  return false;
}

bool holds(const Place& place, std::int64_t value) {
  const auto units = static_cast<std::uint64_t>(value);
  if (place.number != Number::none) return is_such_a_number(units, place.number);
  return value >= 0 && units < place.size;
}

}  // namespace

std::optional<Words> packed(std::string_view layout, std::span<const std::int64_t> values) {
  const std::span<const Place> places = places_of(layout);
  if (places.empty() || values.size() != places.size()) return std::nullopt;
  const DefaultEnvironment environment;  // of all numbers
  Words words{0, 0};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!holds(places[i], values[i])) return std::nullopt;
    words[places[i].word] += static_cast<std::uint64_t>(values[i]) * places[i].value;
  }
  for (const Place& place : places)
    if (place.number == Number::none && !is_such_a_number(words[place.word], Number::any)) return std::nullopt;
  return words;
}

std::optional<std::vector<std::int64_t>> unpacked(std::string_view layout, const Words& words) {
  const std::span<const Place> places = places_of(layout);
  if (places.empty()) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const Place& place : places) {
    const std::uint64_t digit = words[place.word] / place.value;
    values.push_back(static_cast<std::int64_t>(place.number == Number::none ? digit % place.size : digit));
  }
  return values;
}

std::optional<std::vector<std::uint64_t>> field_sizes(std::string_view layout) {
  const std::span<const Place> places = places_of(layout);
  if (places.empty()) return std::nullopt;
  std::vector<std::uint64_t> sizes;
  for (const Place& place : places) sizes.push_back(place.size);
  return sizes;
}

}  // namespace packcheck::oracle
