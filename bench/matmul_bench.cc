// How fast the product with packed weights is, beside a plain product of f32 numbers in the same order of sums.
//
//     cmake --build build/release --target matmul_bench && build/release/bench/matmul_bench [ROWS...]
//
// 4096 inputs, 1024 outputs, groups of 64, bf16 scales; one thread. A multiplication and an addition for each weight
// and row count as two operations; packed products decode their weights anew each time. Medians of 7 runs of processor
// time, in turns.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

#include "core/affine/affine.h"
#include "core/affine/matmul.h"

namespace packcheck {
namespace {

constexpr std::size_t kIn = 4096;
constexpr std::size_t kOut = 1024;
constexpr std::size_t kGroup = 64;
constexpr int kRuns = 7;

struct Numbers {
  std::vector<float> x;
  std::vector<float> weights;  ///< decoded
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
  std::vector<float> y;

  Numbers(std::size_t rows, unsigned bits)
      : x(rows * kIn),
        weights(kOut * kIn),
        codes(kOut * kIn / 8 * bits),
        scales(kOut * kIn / kGroup * 2),
        y(rows * kOut) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float& number : x) number = normal(random);
    for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(random());
    for (std::size_t i = 0; i < scales.size(); i += 2) {
      scales[i] = static_cast<std::uint8_t>(random());
      scales[i + 1] = 0x3C;  // about 2^-7
    }
    const AffineWeights packed{kOut, kIn, kIn / kGroup, Format::bf16, codes, scales, scales, bits};
    if (!affine_dequantize(packed, weights)) std::abort();
  }
};

/// Of this thread on its processor, so that other work on the machine counts less.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double seconds_of(const std::function<void()>& run) {
  const double begin = seconds();
  run();
  return seconds() - begin;
}

void plain(Numbers& n, std::size_t rows, SumOrder order) {
  std::vector<float> scratch(kIn);
  for (std::size_t o = 0; o < kOut; ++o)
    for (std::size_t r = 0; r < rows; ++r)
      n.y[r * kOut + o] =
          sum_products(order, std::span(n.x).subspan(r * kIn, kIn), &n.weights[o * kIn], scratch.data());
}

void measure(std::size_t rows, unsigned bits, SumOrder order) {
  Numbers n(rows, bits);
  const AffineProduct product{rows, kIn, kOut, kGroup, bits, Format::bf16, order, n.x};
  const PackedMatrix packed{n.codes, n.scales, n.scales};
  // By groups there is no plain product: the sums of codes are not products with weights.
  const SumOrder other = order == SumOrder::per_group ? SumOrder::sequential : order;
  std::vector<double> times;
  std::vector<double> plain_times;
  for (int i = 0; i < kRuns; ++i) {
    times.push_back(seconds_of([&] {
      if (!affine_matmul(product, packed, n.y)) std::abort();
    }));
    plain_times.push_back(seconds_of([&] { plain(n, rows, other); }));
  }
  std::sort(times.begin(), times.end());
  std::sort(plain_times.begin(), plain_times.end());
  const double operations = 2.0 * kIn * kOut * static_cast<double>(rows) * 1e-9;
  std::printf("rows %2zu  bits %u  %-10s  %6.2f GFLOP/s   plain %6.2f   ratio %.2f\n", rows, bits,
              std::string(sum_order_name(order)).c_str(), operations / times[kRuns / 2],
              operations / plain_times[kRuns / 2], plain_times[kRuns / 2] / times[kRuns / 2]);
}

}  // namespace
}  // namespace packcheck

int main(int argc, char** argv) {
  std::vector<std::size_t> rows;
  for (int i = 1; i < argc; ++i) rows.push_back(std::strtoul(argv[i], nullptr, 10));
  if (rows.empty()) rows = {1, 8};
  using packcheck::SumOrder;
  for (const std::size_t count : rows) {
    for (const SumOrder order : {SumOrder::sequential, SumOrder::lanes, SumOrder::pairwise, SumOrder::per_group})
      packcheck::measure(count, 4, order);
    for (const unsigned bits : {2U, 3U, 5U, 6U, 8U}) packcheck::measure(count, bits, SumOrder::lanes);
  }
}
