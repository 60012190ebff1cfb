// Throughput of the core's codecs, beside memcpy of the same bytes and beside ggml's own functions, where its
// libraries are installed, in the same run: bench/ratios turns the JSON output into ratios, which is all
// that may be compared between machines. One thread, 65,536 floats (256 KiB, L2) and 16 Mi floats (64 MiB).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

#include "core/encoding/encoding.h"
#include "core/format/convert.h"
#if defined(PACKCHECK_GGML_DEFAULT_DIR)
#include "subjects/third_party/ggml_library.h"
#endif

namespace packcheck {
namespace {

constexpr std::int64_t kSmall = 65536;
constexpr std::int64_t kLarge = 16 << 20;

/// Encodings that are also timed outside of the caches.
bool is_common(std::string_view name) { return name == "q8_0" || name == "q4_0" || name == "q4_K" || name == "q6_K"; }

/// Weights of a model's size, made once.
const std::vector<float>& numbers(std::size_t count) {
  static std::map<std::size_t, std::vector<float>> made;
  std::vector<float>& values = made[count];
  if (!values.empty()) return values;
  std::mt19937 random(1);
  std::normal_distribution<float> weights(0.0F, 0.05F);
  values.resize(count);
  for (float& value : values) value = weights(random);
  return values;
}

void set_bytes(benchmark::State& state, std::size_t count) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(count * sizeof(float)));
}

void copy(benchmark::State& state) {
  const std::vector<float>& in = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<float> out(in.size());
  for (auto _ : state) {
    std::memcpy(out.data(), in.data(), in.size() * sizeof(float));
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  set_bytes(state, in.size());
}

void narrow(benchmark::State& state, Format to) {
  const std::vector<float>& values = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> in(values.size() * sizeof(float));
  std::memcpy(in.data(), values.data(), in.size());
  std::vector<std::uint8_t> out(values.size() * spec(to).bytes());
  for (auto _ : state) {
    (void)convert_array(Format::f32, to, in, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  set_bytes(state, values.size());
}

/// Quantized numbers; where there is no quantizer, bytes that give finite scales.
std::vector<std::uint8_t> blocks_of(const Encoding& e, std::size_t count) {
  std::vector<std::uint8_t> blocks(*encoded_bytes(e, count));
  std::mt19937 random(2);
  for (std::uint8_t& byte : blocks) byte = static_cast<std::uint8_t>(random() & 0x3F);
  if (e.quantizes) (void)quantize(e, numbers(count), blocks);
  return blocks;
}

void encode(benchmark::State& state, const Encoding& e) {
  const std::vector<float>& values = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> blocks(*encoded_bytes(e, values.size()));
  for (auto _ : state) {
    (void)quantize(e, values, blocks);
    benchmark::DoNotOptimize(blocks.data());
    benchmark::ClobberMemory();
  }
  set_bytes(state, values.size());
}

void decode(benchmark::State& state, const Encoding& e) {
  const std::vector<std::uint8_t> blocks = blocks_of(e, static_cast<std::size_t>(state.range(0)));
  std::vector<float> values(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    (void)dequantize(e, blocks, values);
    benchmark::DoNotOptimize(values.data());
    benchmark::ClobberMemory();
  }
  set_bytes(state, values.size());
}

using Sizes = std::vector<std::int64_t>;

/// A benchmark per size, repeated, for the median.
template <class... Arguments>
void add(const std::string& name, const Sizes& sizes, Arguments&&... arguments) {
  benchmark::internal::Benchmark* const b =
      benchmark::RegisterBenchmark(name.c_str(), std::forward<Arguments>(arguments)...);
  for (const std::int64_t size : sizes) b->Arg(size);
}

#if defined(PACKCHECK_GGML_DEFAULT_DIR)
using third_party::GgmlEncoding;
using third_party::GgmlLibrary;

void ggml_encode(benchmark::State& state, const GgmlEncoding& ggml) {
  const std::vector<float>& values = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> blocks(values.size() / ggml.block_size * ggml.block_bytes);
  for (auto _ : state) {
    ggml.quantize(values.data(), blocks.data(), state.range(0));
    benchmark::ClobberMemory();
  }
  set_bytes(state, values.size());
}

void ggml_decode(benchmark::State& state, const GgmlEncoding& ggml, const Encoding& e) {
  const std::vector<std::uint8_t> blocks = blocks_of(e, static_cast<std::size_t>(state.range(0)));
  std::vector<float> values(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    ggml.dequantize(blocks.data(), values.data(), state.range(0));
    benchmark::ClobberMemory();
  }
  set_bytes(state, values.size());
}

void ggml_narrow(benchmark::State& state, void (*convert)(const float*, void*, std::int64_t)) {
  const std::vector<float>& values = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint16_t> out(values.size());
  for (auto _ : state) {
    convert(values.data(), out.data(), state.range(0));
    benchmark::ClobberMemory();
  }
  set_bytes(state, values.size());
}

/// "ggml-base quantize q8_0:ggml" and so on: the name of the library before the name of the core's benchmark.
void add_ggml(const std::string& subject) {
  const char* const folder = std::getenv("PACKCHECK_GGML_DIR");
  const std::optional<GgmlLibrary> opened =
      third_party::open_ggml(subject, folder != nullptr && *folder != '\0' ? folder : PACKCHECK_GGML_DEFAULT_DIR);
  if (!opened) {
    std::fprintf(stderr, "%s is absent: fetch it with ci/install --third-party, or set PACKCHECK_GGML_DIR\n",
                 subject.c_str());
    return;
  }
  static std::map<std::string, GgmlLibrary> kept;
  const GgmlLibrary& library = kept.emplace(subject, *opened).first->second;
  const Sizes both{kSmall, kLarge};
  add(subject + " convert f32->f16", both, ggml_narrow, library.f32_to_f16);
  add(subject + " convert f32->bf16", both, ggml_narrow, library.f32_to_bf16);
  for (const GgmlEncoding& ggml : library.encodings) {
    const Result<const Encoding*> e = encoding_named(std::string(ggml.name) + ":ggml");
    if (!e) continue;
    const Sizes sizes = is_common(ggml.name) ? both : Sizes{kSmall};
    if (ggml.quantize != nullptr) add(subject + " quantize " + (*e)->id(), sizes, ggml_encode, std::cref(ggml));
    if (ggml.dequantize != nullptr)
      add(subject + " dequantize " + (*e)->id(), sizes, ggml_decode, std::cref(ggml), std::cref(**e));
  }
}
#else
void add_ggml(const std::string&) {}
#endif

void register_all() {
  const Sizes both{kSmall, kLarge};
  add("memcpy", both, copy);
  for (const Format to : {Format::f16, Format::bf16, Format::e4m3fn, Format::e5m2})
    add("convert f32->" + std::string(spec(to).name), both, narrow, to);
  for (const Encoding& e : all_encodings()) {
    if (!encoded_bytes(e, kSmall)) continue;  // blocks of other sizes
    const Sizes sizes = e.dialect == "ggml" && is_common(e.name) ? both : Sizes{kSmall};
    if (e.quantizes) add("quantize " + e.id(), sizes, encode, std::cref(e));
    add("dequantize " + e.id(), sizes, decode, std::cref(e));
  }
  add_ggml("ggml-base");
  add_ggml("ggml-cpu-best");
}

}  // namespace
}  // namespace packcheck

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  packcheck::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
