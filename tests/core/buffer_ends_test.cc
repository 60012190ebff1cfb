// Nothing is read or written past the end of a buffer: each ends where a page begins that no one may touch.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "core/affine/affine.h"
#include "core/affine/sums.h"
#include "core/audit/block_statistics.h"
#include "core/encoding/bounds.h"
#include "core/file/tensor_file.h"
#include "core/graph/json_import.h"
#include "core/graph/ysgp.h"
#include "core/precision/network_text.h"
#include "core/text/json_document.h"
#include "core/text/number_form.h"
#include "core/text/number_text.h"
#include "tests/core/at_level.h"
#include "tests/core/packed_samples.h"

namespace packcheck::test {
namespace {

/// Memory that ends at a page that cannot be touched.
class Guarded {
 public:
  Guarded() : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    void* const memory = ::mmap(nullptr, kRoom + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    begin_ = static_cast<std::uint8_t*>(memory);
    if (::mprotect(begin_ + kRoom, page_, PROT_NONE) != 0) std::abort();
  }
  ~Guarded() { ::munmap(begin_, kRoom + page_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  /// The last `count` numbers before the guard.
  template <class T>
  std::span<T> last(std::size_t count) {
    return {reinterpret_cast<T*>(begin_ + kRoom - count * sizeof(T)), count};
  }
  template <class T>
  std::span<const T> copy(std::span<const T> from) {
    const std::span<T> to = last<T>(from.size());
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size_bytes());
    return to;
  }
  std::string_view copy(std::string_view text) {
    const std::span<const char> to = copy(std::span<const char>(text));
    return {to.data(), to.size()};
  }

 private:
  static constexpr std::size_t kRoom = std::size_t{1} << 20;
  std::size_t page_;
  std::uint8_t* begin_ = nullptr;
};

std::vector<std::uint8_t> random_bytes(Random& random, std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.bits());
  return bytes;
}

TEST(BufferEnds, OfBlocksAndTheirNumbersAreKept) {
  Guarded in;
  Guarded out;
  Random random(1);
  for (const SimdLevel level : {SimdLevel::rule, SimdLevel::plain, best_simd_level()}) {
    const AtLevel at(level);
    for (const Encoding& e : all_encodings())
      for (const std::size_t blocks : {std::size_t{1}, std::size_t{5}}) {
        std::vector<float> values(blocks * e.block_size);
        for (float& value : values) value = static_cast<float>(random.below(2001)) / 64 - 15;
        if (e.quantizes) {
          const std::span<const float> given = in.copy(std::span<const float>(values));
          EXPECT_TRUE(quantize(e, given, out.last<std::uint8_t>(blocks * e.block_bytes))) << e.id();
          if (e.blocking == Blocking::volume && e.planes[0] == 0)
            e.quantize_block(e.rules, given.data() + (blocks - 1) * e.block_size,
                             out.last<std::uint8_t>(e.block_bytes).data());
          error_bounds(e, given.last(e.block_size), out.last<double>(e.block_size));
        }
        const std::vector<std::uint8_t> bytes = random_bytes(random, blocks * e.block_bytes);
        const std::span<const std::uint8_t> stored = in.copy(std::span<const std::uint8_t>(bytes));
        EXPECT_TRUE(dequantize(e, stored, out.last<float>(values.size()))) << e.id();
        e.dequantize_block(e.rules, stored.last(e.block_bytes).data(), out.last<float>(e.block_size).data());
        if (has_block_statistics(e)) {
          BlockStatistics statistics;
          add_blocks(e, stored, statistics);
          EXPECT_EQ(statistics.blocks, blocks) << e.id();
        }
      }
  }
}

TEST(BufferEnds, OfBlocksThatAreReadInAnotherOrderAreKept) {
  Guarded in;
  Guarded out;
  Random random(4);
  for (Encoding e : all_encodings()) {
    e.rules.reading = CodeReading::sequential;
    const std::vector<std::uint8_t> bytes = random_bytes(random, e.block_bytes);
    const std::span<const std::uint8_t> stored = in.copy(std::span<const std::uint8_t>(bytes));
    EXPECT_TRUE(dequantize(e, stored, out.last<float>(e.block_size))) << e.id();
  }
}

TEST(BufferEnds, OfArraysOfNumbersAreKept) {
  Guarded in;
  Guarded out;
  Random random(2);
  for (const FormatSpec& from : all_formats())
    for (const std::size_t count : {1U, 7U, 33U}) {
      const std::vector<std::uint8_t> bytes = random_bytes(random, count * from.bytes());
      const std::span<const std::uint8_t> given = in.copy(std::span<const std::uint8_t>(bytes));
      for (const FormatSpec& to : all_formats())
        EXPECT_TRUE(convert_array(from.format, to.format, given, out.last<std::uint8_t>(count * to.bytes())));
      if (!has_element_statistics(from.format)) continue;
      ElementStatistics statistics;
      add_elements(from.format, given, statistics);
      EXPECT_EQ(statistics.elements, count);
    }
}

TEST(BufferEnds, OfProductsAndAffineWeightsAreKept) {
  std::array<Guarded, 5> memory;
  Random random(3);
  for (int i = 0; i < 150; ++i) {
    const PackedSample s = random_sample(random, false);
    AffineProduct p = s.arguments();
    p.x = memory[0].copy(p.x);
    const auto copy = [&](std::size_t which, const std::vector<std::uint8_t>& bytes) {
      return memory[which].copy(std::span<const std::uint8_t>(bytes));
    };
    const PackedMatrix w{copy(1, s.weights.codes), copy(2, s.weights.scales), copy(3, s.weights.biases)};
    EXPECT_TRUE(affine_matmul(p, w, memory[4].last<float>(p.rows * p.out_features)));
    if (p.in_features == 0) continue;
    const AffineWeights weights{p.out_features, p.in_features, p.in_features / p.group_size,
                                p.scale_format, w.codes,       w.scales,
                                w.biases,       p.bits};
    EXPECT_TRUE(affine_dequantize(weights, memory[4].last<float>(p.out_features * p.in_features)));
  }
}

TEST(BufferEnds, OfTermsThatAreAddedUpAreKept) {
  std::array<Guarded, 3> memory;
  for (std::size_t count = 1; count <= 18; ++count) {
    const std::vector<float> x(count, 3.0F);
    const std::span<const float> terms = memory[0].copy(std::span<const float>(x));
    const float* const weights = memory[1].copy(std::span<const float>(x)).data();
    for (const SumOrder order : {SumOrder::sequential, SumOrder::lanes, SumOrder::pairwise})
      EXPECT_EQ(sum_products(order, terms, weights, memory[2].last<float>(count).data()),
                9.0F * static_cast<float>(count))
          << sum_order_name(order) << " of " << count;
    EXPECT_EQ(sum_in_order(terms, weights), 9.0F * static_cast<float>(count));
    EXPECT_EQ(sum_in_order(terms), 3.0F * static_cast<float>(count));
  }
}

/// The text cut off at each place, as the last thing before the guard.
template <class Read>
void read_every_prefix(std::string_view text, Read read) {
  Guarded memory;
  for (std::size_t size = 0; size <= text.size(); ++size) read(memory.copy(text.substr(0, size)));
}

TEST(BufferEnds, OfTextsAndFilesThatAreCutOffAreKept) {
  const GraphDialect& dialect = all_graph_dialects()[0];
  const std::string_view graph =
      R"({"nodes":[{"id":0,"shape":[2],"op":"l\u0065af","data":[1.5,-0.0e-1],"scalar_bits":"0x7ff0000000000001"},)"
      R"({"id":1,"shape":[],"op":"add","indices":[1,-2],"inputs":[0,0]}]})";
  read_every_prefix(graph, [&](std::string_view text) {
    EXPECT_EQ(import_json(text, dialect).has_value(), text.size() == graph.size());
    EXPECT_EQ(read_json(text).has_value(), text.size() == graph.size());
  });
  const std::vector<std::uint8_t> binary = write_ysgp(import_json(graph, dialect).value());
  read_every_prefix({reinterpret_cast<const char*>(binary.data()), binary.size()}, [&](std::string_view text) {
    const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    EXPECT_EQ(read_ysgp(bytes, dialect).has_value(), text.size() == binary.size());
  });
  const std::string_view network =
      "network f32 1\ninput 3f812345\nstage a f16\ndense 1 - relu\nweights f16 3c03\nbias f16 0001\nend\nactivation "
      "hard_tanh\nupstream 3f812345\n";
  read_every_prefix(network, [&](std::string_view text) {
    EXPECT_EQ(read_network(text).has_value(), text.size() == network.size());
  });
  for (const std::string_view number : {"-12.5e-300", "0.1", "null", "NaN", "1e309", "0x7ff0000000000001"})
    read_every_prefix(number, [&](std::string_view text) {
      EXPECT_EQ(parse_number(text).has_value(), is_json_number(text) && text != "1e309");
      if (const auto exact = is_exact_number(text)) {
        EXPECT_TRUE(is_json_number(text));
      }
      if (const auto code = parse_number_as(Format::f16, text)) {
        EXPECT_TRUE(is_json_number(text));
      }
      if (const auto bits = parse_bits(text)) {
        EXPECT_EQ(text, "0x7ff0000000000001");
      }
    });
  std::string file(8, '\0');
  const std::string_view header =
      R"({"__metadata__":{"a":"\u00e9"},"w":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]}})";
  file[0] = static_cast<char>(header.size());
  file.append(header).append(4, 'x');
  read_every_prefix(file, [&](std::string_view text) {
    const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    EXPECT_EQ(read_tensor_file(bytes).has_value(), text.size() == file.size());
  });
}

}  // namespace
}  // namespace packcheck::test
