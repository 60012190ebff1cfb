// The table of layouts. Three generations of yishape-math: gen1 its old tensor conv2d, gen2 the exporter whose
// readers mask kernel_h with 8 bits, gen3 ScalarParamEncoding and GraphOpSchema; `stale` is the layout that a
// comment beside the pooling code gives, which no packer writes and a reader may follow.
#include "core/params/layout.h"

namespace packcheck {
namespace {

constexpr std::size_t kScalar = 0;
constexpr std::size_t kParam2 = 1;

consteval Field bits(std::string_view name, std::size_t word, unsigned shift, unsigned width) {
  return {name, word, shift, width};
}
/// A field in which 0 can be run.
consteval Field bits_from_0(std::string_view name, std::size_t word, unsigned shift, unsigned width) {
  return {name, word, shift, width, FieldKind::bits, true};
}
constexpr Field plain(std::string_view name, std::size_t word, FieldKind kind) { return {name, word, 0, 64, kind}; }
consteval Field plain_from_0(std::string_view name, std::size_t word, FieldKind kind) {
  return {name, word, 0, 64, kind, true};
}
consteval Field plain_or_absent(std::string_view name, std::size_t word, FieldKind kind) {
  return {name, word, 0, 64, kind, false, true};
}

constexpr std::array kConv2dGen2{bits("kernel_h", kScalar, 16, 8), bits("kernel_w", kScalar, 8, 8),
                                 bits("stride", kScalar, 0, 8), bits_from_0("padding", kParam2, 16, 16),
                                 bits("out_channels", kParam2, 0, 16)};
constexpr std::array kPoolGen2{bits("kernel_h", kScalar, 16, 8), bits("kernel_w", kScalar, 8, 8),
                               bits("stride", kScalar, 0, 8), bits_from_0("padding", kParam2, 16, 16)};
constexpr std::array kConv2dGen1{bits("stride", kScalar, 32, 32), bits_from_0("padding", kScalar, 0, 32),
                                 bits("dilation", kParam2, 32, 32)};
constexpr std::array kConv2dGen3{bits_from_0("dilation_minus_1", kScalar, 40, 24),
                                 bits("kernel_h", kScalar, 16, 16),
                                 bits("kernel_w", kScalar, 8, 8),
                                 bits("stride", kScalar, 0, 8),
                                 bits_from_0("padding", kParam2, 16, 16),
                                 bits("out_channels", kParam2, 0, 16)};
constexpr std::array kPoolGen3{bits("kernel_h", kScalar, 16, 16), bits("kernel_w", kScalar, 8, 8),
                               bits("stride", kScalar, 0, 8), bits_from_0("padding", kParam2, 16, 16)};
constexpr std::array kPoolStale{bits("kernel_h", kScalar, 32, 16), bits("kernel_w", kScalar, 16, 16),
                                bits("stride", kScalar, 0, 16)};
constexpr std::array kDepthwiseConv1d{bits("length", kScalar, 16, 48), bits("kernel", kScalar, 0, 16),
                                      plain("channels", kParam2, FieldKind::whole)};
constexpr std::array kGridSample{bits("height", kScalar, 16, 16), bits("width", kScalar, 0, 16),
                                 bits_from_0("padding_mode", kParam2, 8, 8), bits_from_0("mode", kParam2, 0, 8)};
constexpr std::array kInterpolate{bits("height", kScalar, 32, 32), bits("width", kScalar, 0, 32),
                                  plain_from_0("nearest", kParam2, FieldKind::flag)};
constexpr std::array kTrapezoidalScan{bits_from_0("a_is_vector", kScalar, 2, 1),
                                      bits_from_0("d_is_scalar", kScalar, 1, 1),
                                      bits_from_0("delta_broadcast", kScalar, 0, 1)};
constexpr std::array kReduce{plain_or_absent("inner_stride", kScalar, FieldKind::whole),  // absent: over everything
                             plain_from_0("keep_dim", kParam2, FieldKind::flag)};
constexpr std::array kMha{bits("heads", kScalar, 32, 16),       bits("kv_heads", kScalar, 16, 16),
                          bits("model_size", kScalar, 0, 16),   bits("sequence", kParam2, 32, 16),
                          bits_from_0("causal", kParam2, 1, 1), bits_from_0("has_bias", kParam2, 0, 1)};
constexpr std::array kLinear{bits("batch", kScalar, 32, 16), bits("out_features", kScalar, 16, 16),
                             bits("in_features", kScalar, 0, 16)};
constexpr std::array kBatchNorm2d{bits("batch", kScalar, 32, 16), bits("channels", kScalar, 16, 16),
                                  bits("pixels", kScalar, 0, 16)};
constexpr std::array kLayerNorm{bits("batch", kScalar, 32, 16), bits("features", kScalar, 16, 16),
                                bits_from_0("epsilon_bits", kScalar, 0, 16)};
constexpr std::array kDropout{plain_from_0("p", kScalar, FieldKind::probability), bits_from_0("seed", kParam2, 0, 63)};
constexpr std::array kClamp{plain_from_0("low", kScalar, FieldKind::number),
                            plain_from_0("high", kParam2, FieldKind::number)};
constexpr std::array kPow{plain_from_0("exponent", kScalar, FieldKind::number)};
constexpr std::array kLeakyRelu{plain_from_0("alpha", kScalar, FieldKind::number)};
constexpr std::array kCat{plain_from_0("dimension", kScalar, FieldKind::whole)};
constexpr std::array kAdaptiveAvgPool2d{plain("out_h", kScalar, FieldKind::whole),
                                        plain("out_w", kParam2, FieldKind::whole)};
constexpr std::array kRope{plain("dimension", kScalar, FieldKind::whole), plain("base", kParam2, FieldKind::number)};
constexpr std::array kLstm{plain("hidden_size", kScalar, FieldKind::whole)};

constexpr auto kLayouts = std::to_array<Layout>({
    {"conv2d", "gen2", kConv2dGen2},
    {"conv2d", "gen1", kConv2dGen1},
    {"conv2d", "gen3", kConv2dGen3},
    {"maxpool2d", "gen2", kPoolGen2},
    {"maxpool2d", "gen3", kPoolGen3},
    {"maxpool2d", "stale", kPoolStale},
    {"avgpool2d", "gen2", kPoolGen2},
    {"avgpool2d", "gen3", kPoolGen3},
    {"depthwiseConv1d", "gen3", kDepthwiseConv1d},
    {"gridSample", "gen3", kGridSample},
    {"interpolate", "gen3", kInterpolate},
    {"trapezoidalScan", "gen3", kTrapezoidalScan},
    {"reduce", "gen3", kReduce},
    {"mha", "gen3", kMha},
    {"linear", "gen3", kLinear},
    {"batchNorm2d", "gen3", kBatchNorm2d},
    {"layerNorm", "gen3", kLayerNorm},
    {"dropout", "gen3", kDropout},
    {"clamp", "gen3", kClamp},
    {"pow", "gen3", kPow},
    {"leakyRelu", "gen3", kLeakyRelu},
    {"cat", "gen3", kCat},
    {"adaptiveAvgPool2d", "gen3", kAdaptiveAvgPool2d},
    {"rope", "gen3", kRope},
    {"lstmStep", "gen3", kLstm},
});

}  // namespace

std::span<const Layout> all_layouts() { return kLayouts; }

}  // namespace packcheck
