// core/precision/builder.h: networks written as they are thought of.
//
//   const Result<Network> network = NetworkBuilder(Format::f32)
//       .input(784)
//       .dense(256, {.dtype = Format::bf16, .activation = Activation::relu})
//       .stage("head", Format::f16, [](NetworkBuilder& s) { s.dense(64).activation(Activation::relu).dense(10); })
//       .build();
//
// The input comes first. A layer without a format of its own has that of its stage. The first mistake is kept and
// build() gives it; everything after it is passed over. Proved by tests/core/precision_builder_test.cc.
#pragma once

#include "core/precision/network.h"

namespace packcheck {

inline constexpr std::uint32_t kMostUnits = std::uint32_t{1} << 24;    ///< of one layer
inline constexpr std::uint64_t kMostWeights = std::uint64_t{1} << 28;  ///< of one network
inline constexpr std::size_t kDeepestStage = 64;

/// A caller's weights: codes of a format. It must be the layer's; they are never cast.
struct LayerWeights {
  Format dtype = Format::f32;
  std::vector<std::uint64_t> codes;
};

struct DenseOptions {
  std::optional<Format> dtype = {};  ///< of weights and computation; that of the stage where it is absent
  Activation activation = Activation::none;
  std::optional<LayerWeights> weights = {};  ///< [units][inputs]; created from `seed` where they are absent
  std::optional<LayerWeights> bias = {};     ///< [units]; none where it is absent
  std::uint64_t seed = 0;
};

/// Weight `index` of a layer of `inputs` inputs: uniform in -1..1 from 24 bits of a hash (splitmix64) of seed and
/// index, divided by 2^(bits of `inputs` / 2) so that sums stay small, and rounded to `dtype`.
[[nodiscard]] std::uint64_t created_weight(Format dtype, std::uint64_t seed, std::uint64_t index, std::uint32_t inputs);

class NetworkBuilder {
 public:
  explicit NetworkBuilder(Format dtype = Format::f32, const PrecisionRules& rules = {});

  NetworkBuilder& input(std::uint32_t size);
  NetworkBuilder& dense(std::uint32_t units, const DenseOptions& options = {});
  NetworkBuilder& activation(Activation activation);
  /// Whatever `content` adds to the builder it is given computes in `dtype`. The name is a word of 1 to 64 letters,
  /// digits, '_', '.' and '-'.
  template <class Content>
  NetworkBuilder& stage(std::string_view name, Format dtype, Content content) {
    open_stage(name, dtype);
    content(*this);
    return close_stage();
  }
  /// The two halves of stage(), for callers that read descriptions.
  NetworkBuilder& open_stage(std::string_view name, Format dtype);
  NetworkBuilder& close_stage();

  /// The network, or the first mistake: no input, a layer of 0 or too many units, weights of another format or
  /// number than the layer's, a format that is not f32, f16 or bf16, a stage that was not closed.
  [[nodiscard]] Result<Network> build() const;

 private:
  struct Scope {
    Format dtype;          ///< of the numbers inside
    Format layer_default;  ///< of layers that say none
    std::optional<std::size_t> boundary;
  };

  bool ready(std::string_view what);
  void mistake(std::string what, std::string where, std::string right);
  [[nodiscard]] std::optional<std::size_t> enter(std::string name, Format outer, Format inner);
  void leave(std::optional<std::size_t> boundary);
  void cast(Format to);
  void add_activation(Format dtype, Activation activation);
  std::optional<std::vector<std::uint64_t>> take(const LayerWeights& given, Format dtype, std::uint64_t count,
                                                 const std::string& where);

  PrecisionRules rules_;
  Network network_;
  std::vector<Scope> scopes_;
  std::optional<Error> mistake_;
  std::uint64_t weights_ = 0;  ///< of all layers
  unsigned layers_ = 0;        ///< dense ones
};

}  // namespace packcheck
