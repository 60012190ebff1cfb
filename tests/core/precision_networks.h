// tests/core/precision_networks.h: networks for the tests of core/precision.
#pragma once

#include <random>
#include <string>

#include "properties/oracles/precision_oracle.h"

namespace packcheck {

/// Networks at random, as the oracle describes them: up to three items, stages up to two deep. `calm`: numbers of
/// moderate size only; else one in eight is any code, infinities and NaN too.
class RandomNetworks {
 public:
  explicit RandomNetworks(std::uint64_t seed, bool calm = true) : random_(seed), calm_(calm) {}

  oracle::NetworkDescription next() {
    oracle::NetworkDescription d;
    d.format = below(3) != 0 ? oracle::LayerFormat::f32 : format();
    d.inputs = 1 + below(4);
    const std::uint32_t rows = 1 + below(3);
    d.input = codes(d.format, std::size_t{rows} * d.inputs);
    std::uint32_t size = d.inputs;
    d.items = items(d.format, size, 0);
    d.upstream = codes(d.format, std::size_t{rows} * size);
    return d;
  }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  oracle::LayerFormat format() { return static_cast<oracle::LayerFormat>(below(3)); }

  std::vector<std::uint64_t> codes(oracle::LayerFormat format, std::size_t count) {
    std::vector<std::uint64_t> all;
    while (all.size() < count) all.push_back(code(format));
    return all;
  }

 private:
  std::uint64_t code(oracle::LayerFormat format) {
    const unsigned width = format == oracle::LayerFormat::f32 ? 32 : 16;
    const std::uint64_t any = random_() & ((std::uint64_t{1} << width) - 1);
    if (!calm_ && below(8) == 0) return any;
    const unsigned places = format == oracle::LayerFormat::f16 ? 10 : (width == 32 ? 23 : 7);
    const std::uint64_t bias = format == oracle::LayerFormat::f16 ? 15 : 127;
    const std::uint64_t sign = any >> (width - 1) << (width - 1);
    return sign | (bias - 3 + below(6)) << places | (any & ((std::uint64_t{1} << places) - 1));
  }

  std::vector<oracle::NetworkItem> items(oracle::LayerFormat around, std::uint32_t& size, unsigned depth) {
    constexpr const char* kActivations[] = {"-", "relu", "leaky_relu", "hard_tanh"};
    std::vector<oracle::NetworkItem> all;
    for (std::uint32_t count = 1 + below(3); count > 0; --count) {
      oracle::NetworkItem item;
      const std::uint32_t kind = below(8);
      if (kind == 7) {
        item.kind = oracle::NetworkItem::Kind::activation;
        item.activation = kActivations[1 + below(3)];
      } else if (kind >= 4 && depth < 2) {
        item.kind = oracle::NetworkItem::Kind::stage;
        item.name = "stage_" + std::to_string(depth);
        item.format = format();
        item.inside = items(*item.format, size, depth + 1);
      } else {
        if (below(2) == 0) item.format = format();
        const oracle::LayerFormat own = item.format.value_or(around);
        item.units = 1 + below(4);
        item.activation = kActivations[below(4)];
        if (below(4) == 0)
          item.seed = random_();
        else
          item.weights = oracle::TaggedCodes{own, codes(own, std::size_t{item.units} * size)};
        if (below(2) == 0) item.bias = oracle::TaggedCodes{own, codes(own, item.units)};
        size = item.units;
      }
      all.push_back(std::move(item));
    }
    return all;
  }

  std::mt19937_64 random_;
  bool calm_;
};

}  // namespace packcheck
