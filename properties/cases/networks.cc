// Networks of mixed formats as text.
#include "properties/cases/networks.h"

#include <algorithm>
#include <cstdlib>

#include "properties/cases/case_type.h"

namespace packcheck {
namespace {

using oracle::LayerFormat;
using oracle::NetworkDescription;
using oracle::NetworkItem;
using oracle::TaggedCodes;

constexpr std::string_view kVariants[] = {"autograd:boundary_stops", "autograd:boundary_casts", "graph_json",
                                          "stablehlo"};
constexpr const char* kActivations[] = {"-", "relu", "leaky_relu", "hard_tanh"};

Format format_of(LayerFormat format) { return *format_named(oracle::layer_format_name(format)); }

class Drawer {
 public:
  explicit Drawer(Source& source) : source_(source), wild_(source.below(3) == 2) {}

  NetworkDescription network() {
    constexpr LayerFormat kOuter[] = {LayerFormat::f32, LayerFormat::f32, LayerFormat::bf16, LayerFormat::f16};
    NetworkDescription d;
    d.format = source_.pick(kOuter);
    d.inputs = 1 + below(3);
    const std::uint32_t rows = 1 + below(3);
    d.input = codes(d.format, std::size_t{rows} * d.inputs);
    std::uint32_t size = d.inputs;
    d.items = items(d.format, size, 0);
    d.upstream = codes(d.format, std::size_t{rows} * size);
    return d;
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(source_.below(bound)); }

  std::vector<std::uint64_t> codes(LayerFormat format, std::size_t count) {
    std::vector<std::uint64_t> all;
    while (all.size() < count) all.push_back(code(format));
    return all;
  }
  /// Mostly numbers of moderate size with all significant bits; in a wild case any number, also NaN.
  std::uint64_t code(LayerFormat format) {
    const FormatSpec& s = spec(format_of(format));
    if (wild_ && source_.below(4) == 3) return source_.float_in(s.format);
    const std::uint64_t exponent = static_cast<std::uint64_t>(s.exponent_bias) + source_.below(6) - 3;
    return source_.bits(1) * s.sign_bit() | exponent << s.significand_bits |
           source_.bits(static_cast<unsigned>(s.significand_bits));
  }

  std::vector<NetworkItem> items(LayerFormat around, std::uint32_t& size, unsigned depth) {
    std::vector<NetworkItem> all;
    for (std::uint32_t count = 1 + below(3); count > 0; --count) all.push_back(item(around, size, depth));
    return all;
  }
  NetworkItem item(LayerFormat around, std::uint32_t& size, unsigned depth) {
    constexpr LayerFormat kInner[] = {LayerFormat::bf16, LayerFormat::f16, LayerFormat::f32};
    const std::uint32_t kind = below(depth < 2 ? 6 : 4);
    NetworkItem item;
    if (kind == 3) {
      item.kind = NetworkItem::Kind::activation;
      item.activation = kActivations[1 + below(3)];
    } else if (kind > 3) {
      item.kind = NetworkItem::Kind::stage;
      item.name = std::string("stage_").append(std::to_string(depth));
      item.format = source_.pick(kInner);
      item.inside = items(*item.format, size, depth + 1);
    } else {
      if (kind == 0) item.format = source_.pick(kInner);
      const LayerFormat own = item.format.value_or(around);
      item.units = 1 + below(3);
      item.activation = source_.pick(kActivations);
      if (below(4) == 3)
        item.seed = source_.bits(16);
      else
        item.weights = TaggedCodes{own, codes(own, std::size_t{item.units} * size)};
      if (below(2) == 1) item.bias = TaggedCodes{own, codes(own, item.units)};
      size = item.units;
    }
    return item;
  }

  Source& source_;
  bool wild_;
};

LayerFormat other_than(LayerFormat format) { return format == LayerFormat::f16 ? LayerFormat::bf16 : LayerFormat::f16; }

/// Ones as codes of `format`.
TaggedCodes ones(LayerFormat format, std::size_t count) {
  const FormatSpec& s = spec(format_of(format));
  return {format, std::vector<std::uint64_t>(count, static_cast<std::uint64_t>(s.exponent_bias) << s.significand_bits)};
}

std::string with_first(NetworkDescription& d, void (*change)(NetworkItem& layer, LayerFormat own, std::size_t inputs)) {
  NetworkItem& layer = d.items.front();
  change(layer, layer.format.value_or(d.format), d.inputs);
  return oracle::network_text(d);
}
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text.append(to) : text.replace(at, from.size(), to);
}

constexpr NetworkFault kFaults[] = {
    {"weights of another format",
     [](NetworkDescription d) {
       return with_first(d, [](NetworkItem& layer, LayerFormat own, std::size_t inputs) {
         layer.weights = ones(other_than(own), layer.units * inputs);
       });
     }},
    {"weights of the wide format",
     [](NetworkDescription d) {
       return with_first(d, [](NetworkItem& layer, LayerFormat own, std::size_t inputs) {
         layer.weights = ones(own == LayerFormat::f32 ? LayerFormat::f16 : LayerFormat::f32, layer.units * inputs);
       });
     }},
    {"a bias of another format",
     [](NetworkDescription d) {
       return with_first(d, [](NetworkItem& layer, LayerFormat own, std::size_t) {
         layer.bias = ones(other_than(own), layer.units);
       });
     }},
    {"a weight too many",
     [](NetworkDescription d) {
       return with_first(d, [](NetworkItem& layer, LayerFormat own, std::size_t inputs) {
         layer.weights = ones(own, layer.units * inputs + 1);
       });
     }},
    {"a bias too short",
     [](NetworkDescription d) {
       return with_first(
           d, [](NetworkItem& layer, LayerFormat own, std::size_t) { layer.bias = ones(own, layer.units - 1); });
     }},
    {"an input too short",
     [](NetworkDescription d) {
       d.input.pop_back();
       return oracle::network_text(d);
     }},
    {"a row of input too many",
     [](NetworkDescription d) {
       d.input.insert(d.input.end(), d.input.begin(), d.input.begin() + d.inputs);
       return oracle::network_text(d);
     }},
    {"an upstream gradient too many",
     [](NetworkDescription d) {
       d.upstream.push_back(d.upstream.front());
       return oracle::network_text(d);
     }},
    {"a stage without an end",
     [](NetworkDescription d) { return replaced(oracle::network_text(d), "upstream", "stage s f16\nupstream"); }},
    {"an end without a stage",
     [](NetworkDescription d) { return replaced(oracle::network_text(d), "upstream", "end\nupstream"); }},
    {"an unknown format",
     [](NetworkDescription d) {
       return replaced(oracle::network_text(d), "\nupstream", "\nstage s f8\nend\nupstream");
     }},
    {"a layer of nothing",
     [](NetworkDescription d) {
       return replaced(oracle::network_text(d), "\nupstream", "\ndense 0 - -\nweights seed 0\nupstream");
     }},
    {"a code of another width",
     [](NetworkDescription d) { return replaced(oracle::network_text(d), "\nupstream ", "\nupstream 0"); }},
};

/// More numbers behind "input" than the first line says.
bool is_batch(std::string_view text) {
  const std::size_t end = text.find('\n');
  const std::string_view input = end == std::string_view::npos ? text : text.substr(end + 1);
  const auto numbers = static_cast<std::uint64_t>(std::count(
      input.begin(), input.begin() + static_cast<std::ptrdiff_t>(std::min(input.find('\n'), input.size())), ' '));
  const std::string_view size = text.substr(0, end).substr(text.substr(0, end).rfind(' ') + 1);
  return !size.empty() && size.size() < 9 && numbers > std::strtoul(std::string(size).c_str(), nullptr, 10);
}

class NetworkType final : public TypedCaseType<NetworkCase> {
 public:
  using TypedCaseType::TypedCaseType;

  NetworkCase draw_value(Source& source, std::string_view variant) const override {
    const bool is_faulty = source.below(4) == 3;
    NetworkDescription d = draw_network(source);
    if (!is_faulty) return {std::string(variant), oracle::network_text(d)};
    const NetworkFault& fault = kFaults[source.below(std::size(kFaults))];
    if (d.items.front().kind == NetworkItem::Kind::dense) return {std::string(variant), fault.text(std::move(d))};
    NetworkItem layer;  // for the fault to be in
    layer.units = d.inputs;
    d.items.insert(d.items.begin(), std::move(layer));
    return {std::string(variant), fault.text(std::move(d))};
  }
  std::string variant_of(const NetworkCase& c) const override { return c.variant; }
  std::size_t payload(const NetworkCase& c) const override { return c.text.size(); }
  std::vector<std::string_view> classes(std::string_view) const override {
    return {"a batch", "f16", "bf16", "a stage", "a bias", "created weights", "relu", "leaky_relu", "hard_tanh"};
  }
  std::uint64_t members(const NetworkCase& c) const override {
    const auto has = [&](std::string_view word) { return c.text.find(word) != std::string::npos; };
    return member_bits({is_batch(c.text), has(" f16"), has(" bf16"), has("\nstage "), has("\nbias "), has(" seed "),
                        has(" relu\n"), has(" leaky_relu\n"), has(" hard_tanh\n")});
  }
  Json write(const NetworkCase& c) const override { return {{"variant", c.variant}, {"network", c.text}}; }
  Result<NetworkCase> read(MemberReader& members) const override {
    std::string variant = members.text("variant");
    if (std::find(std::begin(kVariants), std::end(kVariants), variant) == std::end(kVariants))
      members.fail({"unknown variant '" + variant + "'", "network",
                    "autograd:boundary_stops, autograd:boundary_casts, graph_json or stablehlo"});
    return NetworkCase{std::move(variant), members.text("network")};
  }
  // Laws about networks ask for what others of them ask for, too.
  std::uint64_t sharers(std::string_view) const override { return 2; }
};

const NetworkType kNetworks("network");

}  // namespace

const CaseType& network_cases = kNetworks;

NetworkDescription draw_network(Source& source) { return Drawer(source).network(); }

std::span<const NetworkFault> network_faults() { return kFaults; }

}  // namespace packcheck
