// Throughput of the core's codecs, beside memcpy of the same bytes in the same run: bench/ratios turns
// the JSON output into ratios, which is all that may be compared between machines. One thread,
// 65,536 floats (256 KiB, L2) and 16 Mi floats (64 MiB).
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>

#include "core/encoding/encoding.h"
#include "core/format/convert.h"

namespace packcheck {
namespace {

std::vector<float> numbers(std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> weights(0.0F, 0.05F);
  std::vector<float> values(count);
  for (float& value : values) value = weights(random);
  return values;
}

void set_bytes(benchmark::State& state, std::size_t count) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(count * sizeof(float)));
}

void copy(benchmark::State& state) {
  const std::vector<float> in = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<float> out(in.size());
  for (auto _ : state) {
    std::memcpy(out.data(), in.data(), in.size() * sizeof(float));
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  set_bytes(state, in.size());
}

void narrow(benchmark::State& state, Format to) {
  const std::vector<float> values = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> in(values.size() * sizeof(float));
  std::memcpy(in.data(), values.data(), in.size());
  std::vector<std::uint8_t> out(values.size() * spec(to).bytes());
  for (auto _ : state) {
    (void)convert_array(Format::f32, to, in, out);
    benchmark::DoNotOptimize(out.data());
  }
  set_bytes(state, values.size());
}

void encode(benchmark::State& state, const Encoding& e) {
  const std::vector<float> values = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> blocks(*encoded_bytes(e, values.size()));
  for (auto _ : state) {
    (void)quantize(e, values, blocks);
    benchmark::DoNotOptimize(blocks.data());
  }
  set_bytes(state, values.size());
}

void decode(benchmark::State& state, const Encoding& e) {
  std::vector<float> values = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> blocks(*encoded_bytes(e, values.size()));
  (void)quantize(e, values, blocks);
  for (auto _ : state) {
    (void)dequantize(e, blocks, values);
    benchmark::DoNotOptimize(values.data());
  }
  set_bytes(state, values.size());
}

void register_all() {
  const auto sizes = [](benchmark::internal::Benchmark* b) { b->Arg(65536)->Arg(16 << 20); };
  sizes(benchmark::RegisterBenchmark("memcpy", copy));
  for (const Format to : {Format::f16, Format::bf16})
    sizes(benchmark::RegisterBenchmark(("convert f32->" + std::string(spec(to).name)).c_str(), narrow, to));
  for (const Encoding& e : all_encodings()) {
    if (e.quantizes) sizes(benchmark::RegisterBenchmark(("quantize " + e.id()).c_str(), encode, std::cref(e)));
    sizes(benchmark::RegisterBenchmark(("dequantize " + e.id()).c_str(), decode, std::cref(e)));
  }
}

}  // namespace
}  // namespace packcheck

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  packcheck::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
