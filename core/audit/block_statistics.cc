#include "core/audit/block_statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "core/audit/foreign_codes.h"
#include "core/environment.h"
#include "core/simd.h"

namespace packcheck {
namespace {

constexpr std::size_t kMostScales = 8;  // floating ones in a block
constexpr std::size_t kProbe = 8;       // bytes of codes that tell whether codes may be alike
constexpr std::size_t kGather = 2048;   // blocks whose scales are put side by side, to be counted like dense elements
constexpr std::size_t kAhead = 3072;    // bytes that a loop asks for before it needs them; files are larger than caches

std::optional<Format> floating(ScaleFormat format) {
  switch (format) {
    case ScaleFormat::f16: return Format::f16;
    case ScaleFormat::f32: return Format::f32;
    case ScaleFormat::bf16: return Format::bf16;
    case ScaleFormat::e8m0: return Format::e8m0;
    case ScaleFormat::e4m3fn: return Format::e4m3fn;
    case ScaleFormat::ue4m3: return Format::ue4m3;
    case ScaleFormat::int8:
    case ScaleFormat::packed_4_bit:
    case ScaleFormat::packed_6_bit: return std::nullopt;
  }
  return std::nullopt;
}

/// One encoding as the loop over its blocks needs it.
struct Plan {
  const Encoding* encoding = nullptr;
  const FormatSpec* scale = nullptr;
  Format counted = Format::f16;                    ///< what its magnitude is counted as among dense elements
  std::array<std::size_t, kMostScales> offsets{};  ///< of its floating scales
  std::size_t scales = 0;
  std::size_t codes = 0;  ///< where the longest run without scales begins
  std::size_t code_bytes = 0;
  std::size_t probe = 0;          ///< the middle of it
  std::size_t second_probe = 0;   ///< further on: equal codes fill both, which few other blocks do
  std::size_t packed = kNowhere;  ///< scales of a few bits each: where their first 8 bytes are
  std::uint32_t magnitudes = 0;   ///< its magnitude bits in each scale of a word
  Foreign foreign = Foreign::none;
  bool can_be_lost = false;
};

Foreign foreign_codes_of(const Encoding& e) {
  if (e.dialect != "ggml") return Foreign::none;
  if (e.name == "q8_0" || e.name == "q8_1") return Foreign::extreme;
  if (e.name == "q2_0") return Foreign::fourth_of_16;
  if (e.name == "tq2_0") return Foreign::fourth_of_64;
  return e.name == "tq1_0" ? Foreign::trits : Foreign::none;
}

/// The encodings whose zero scale leaves codes that mean zero under any scale.
bool has_zero_code(const Encoding& e) {
  static constexpr std::array<std::string_view, 9> kNames{"q8_0", "q8_1",  "q4_0",  "q4_1", "q5_0",
                                                          "q5_1", "tq1_0", "tq2_0", "q2_0"};
  return std::find(kNames.begin(), kNames.end(), e.name) != kNames.end();
}

Plan plan_of(const Encoding& e) {
  Plan plan;
  plan.encoding = &e;
  plan.scale = &spec(scale_format_of(e));
  std::size_t end = 0;
  const auto run = [&plan](std::size_t from, std::size_t to) {
    if (to - from > plan.code_bytes) plan.codes = from, plan.code_bytes = to - from;
  };
  for (const ScaleField& field : e.scales) {
    run(end, field.offset);
    end = field.offset + field.bytes;
    if (!floating(field.format)) {
      if (field.bytes >= kProbe) plan.packed = field.offset;
      continue;
    }
    for (std::size_t at = 0; at < field.bytes && plan.scales < kMostScales; at += plan.scale->bytes())
      plan.offsets[plan.scales++] = field.offset + at;
  }
  run(end, e.block_bytes);
  plan.probe = plan.codes + (plan.code_bytes - std::min(plan.code_bytes, kProbe)) / 2;
  if (plan.code_bytes < kProbe) plan.probe = kNowhere;
  plan.second_probe = std::min(plan.probe + kProbe, plan.codes + plan.code_bytes - std::min(plan.code_bytes, kProbe));
  plan.counted = plan.scale->format == Format::ue4m3 ? Format::e4m3fn : plan.scale->format;
  for (std::size_t bit = 0; bit < 32; bit += 8 * plan.scale->bytes())
    plan.magnitudes |= static_cast<std::uint32_t>(plan.scale->magnitude_mask() << bit);
  plan.foreign = foreign_codes_of(e);
  plan.can_be_lost = has_zero_code(e);
  return plan;
}

bool bytes_alike(const std::uint8_t* at) {
  const std::uint64_t bytes = load_little_endian<std::uint64_t>(at);
  return bytes == std::rotl(bytes, 8);
}

std::uint64_t foreign_codes_in(const Plan& plan, const std::uint8_t* block) {
  switch (plan.foreign) {
    case Foreign::none: return 0;
    case Foreign::extreme: return foreign_in<Foreign::extreme>(block + plan.codes, plan.code_bytes);
    case Foreign::fourth_of_16:
    case Foreign::fourth_of_64: return foreign_in<Foreign::fourth_of_64>(block + plan.codes, plan.code_bytes);
    case Foreign::trits: return foreign_in<Foreign::trits>(block + plan.codes, plan.code_bytes);
  }
  return 0;
}

void note(Occurrences& found, std::uint64_t count, std::uint64_t at) {
  if (count == 0) return;
  if (found.count == 0) found.first = at;
  found.count += count;
}

/// The whole of the rule, block by block. The fast loop counts scales by itself and asks about the codes of those
/// blocks that may have something.
class Examiner {
 public:
  Examiner(const Plan& plan, BlockStatistics& statistics) : plan_(plan), t_(statistics) {}

  void examine(const std::uint8_t* block, std::uint64_t index) {
    const FormatSpec& s = *plan_.scale;
    bool all_zero = plan_.scales != 0;
    for (std::size_t i = 0; i < plan_.scales; ++i) {
      const std::uint64_t code = load_element(s, {block + plan_.offsets[i], s.bytes()}, 0) & s.all_bits();
      const bool zero = is_zero(s, code);
      note(t_.scale_nan, is_nan(s, code) ? 1 : 0, index);
      note(t_.scale_infinite, is_infinite(s, code) ? 1 : 0, index);
      note(t_.scale_subnormal, is_subnormal(s, code) ? 1 : 0, index);
      note(t_.scale_zero, zero ? 1 : 0, index);
      all_zero = all_zero && zero;
      if (is_nan(s, code) || is_infinite(s, code)) continue;
      t_.largest_scale = std::max(t_.largest_scale, code & s.magnitude_mask());
      if (!zero) t_.smallest_scale = std::min(t_.smallest_scale, code & s.magnitude_mask());
    }
    examine_codes(block, index, all_zero);
  }

  void examine_codes(const std::uint8_t* block, std::uint64_t index, bool scales_are_zero) {
    note(t_.foreign_codes, foreign_codes_in(plan_, block), index);
    if (!scales_are_zero && !may_be_zeros(block)) return;
    judge(block, scales_are_zero);
    note(t_.zero_blocks, last_zeros_ ? 1 : 0, index);
    note(t_.lost_blocks, last_lost_ ? 1 : 0, index);
  }

 private:
  [[nodiscard]] bool may_be_zeros(const std::uint8_t* block) const {
    return (plan_.probe != kNowhere && bytes_alike(block + plan_.probe) &&
            std::equal(block + plan_.probe, block + plan_.probe + kProbe, block + plan_.second_probe)) ||
           (plan_.packed != kNowhere && bytes_alike(block + plan_.packed));
  }

  [[nodiscard]] bool decodes_to_zeros(const std::uint8_t* block) {
    values_.assign(plan_.encoding->block_size, 0.0F);
    if (!plan_.encoding->dequantize_block(plan_.encoding->rules, block, values_.data())) return false;
    return std::all_of(values_.begin(), values_.end(),
                       [](float v) { return (std::bit_cast<std::uint32_t>(v) & 0x7FFFFFFFU) == 0; });
  }

  /// Are its numbers zeros, and were they meant to be? Runs of equal blocks are judged once.
  void judge(const std::uint8_t* block, bool scales_are_zero) {
    const std::size_t size = plan_.encoding->block_bytes;
    if (last_.size() == size && std::equal(last_.begin(), last_.end(), block)) return;
    last_.assign(block, block + size);
    last_zeros_ = scales_are_zero || decodes_to_zeros(block);
    last_lost_ = false;
    if (!scales_are_zero || !plan_.can_be_lost) return;
    std::vector<std::uint8_t> with_scale = last_;
    // A scale of 1 and, where there is one, a minimum (or sum) of 0.
    store_element(*plan_.scale, {with_scale.data() + plan_.offsets[0], plan_.scale->bytes()}, 0,
                  static_cast<std::uint64_t>(plan_.scale->bias()) << plan_.scale->significand_bits);
    last_lost_ = !decodes_to_zeros(with_scale.data());
  }

  const Plan& plan_;
  BlockStatistics& t_;
  std::vector<std::uint8_t> last_;
  bool last_zeros_ = false;
  bool last_lost_ = false;
  std::vector<float> values_;
};

/// At most kGather blocks whose scales together are one Word: its magnitudes go to `words`, and blocks with nothing
/// else to tell are passed over.
template <class Word, Foreign kForeign, bool kPacked>
[[gnu::always_inline]] inline void scan_blocks(const Plan& plan, const std::uint8_t* block, std::size_t count,
                                               std::uint64_t index, Examiner& examiner, std::uint8_t* words) {
  const std::size_t block_bytes = plan.encoding->block_bytes;
  const Word magnitudes = static_cast<Word>(plan.magnitudes);
  const bool has_zero = plan.scale->has_zero();
  const std::size_t scales = plan.offsets[0];
  const std::size_t probe = plan.probe;
  const std::size_t packed = plan.packed;
  const std::size_t codes = plan.codes;
  for (std::size_t i = 0; i < count; ++i, block += block_bytes) {
    __builtin_prefetch(block + kAhead);
    Word word;
    std::memcpy(&word, block + scales, sizeof word);
    word = static_cast<Word>(word & magnitudes);
    std::memcpy(words + i * sizeof word, &word, sizeof word);
    const bool all_zero = has_zero && word == 0;
    bool odd = all_zero || bytes_alike(block + probe);
    if constexpr (kPacked) odd = odd || bytes_alike(block + packed);
    if constexpr (kForeign != Foreign::none) odd = odd || may_be_foreign<kForeign>(block + codes);
    if (odd) [[unlikely]]
      examiner.examine_codes(block, index + i, all_zero);
  }
}

using ScanRun = void(const Plan&, const std::uint8_t*, std::size_t, std::uint64_t, Examiner&, std::uint8_t*);

template <class Word, Foreign kForeign, bool kPacked>
void scan_plain(const Plan& plan, const std::uint8_t* blocks, std::size_t count, std::uint64_t index,
                Examiner& examiner, std::uint8_t* words) {
  scan_blocks<Word, kForeign, kPacked>(plan, blocks, count, index, examiner, words);
}
#if defined(__x86_64__)
template <class Word, Foreign kForeign, bool kPacked>
PACKCHECK_AVX2 void scan_avx2(const Plan& plan, const std::uint8_t* blocks, std::size_t count, std::uint64_t index,
                              Examiner& examiner, std::uint8_t* words) {
  scan_blocks<Word, kForeign, kPacked>(plan, blocks, count, index, examiner, words);
}
#endif

/// Nothing here is wider than the bytes of a block, so that AVX-512 has nothing to add.
template <class Word, Foreign kForeign = Foreign::none, bool kPacked = false>
ScanRun* scanning() {
  constexpr ScanRun* kPlain = scan_plain<Word, kForeign, kPacked>;
#if defined(__x86_64__)
  constexpr ScanRun* kAvx2 = scan_avx2<Word, kForeign, kPacked>;
  return version_for_level(kPlain, kAvx2, kAvx2);
#else
  return version_for_level(kPlain, kPlain, kPlain);
#endif
}

/// Null: no fast loop, the rule for each block.
ScanRun* scan_for(const Plan& plan) {
  if (plan.probe == kNowhere || plan.scales == 0) return nullptr;
  const std::size_t bytes = plan.scale->bytes() * plan.scales;
  if (plan.offsets[plan.scales - 1] + plan.scale->bytes() != plan.offsets[0] + bytes) return nullptr;
  const bool packed = plan.packed != kNowhere;
  const bool two = bytes == 2;
  if (!two && bytes != 4 && (bytes != 1 || packed)) return nullptr;
  switch (plan.foreign) {
    case Foreign::none: break;
    case Foreign::extreme:
      return two ? scanning<std::uint16_t, Foreign::extreme>() : scanning<std::uint32_t, Foreign::extreme>();
    case Foreign::fourth_of_16: return scanning<std::uint16_t, Foreign::fourth_of_16>();
    case Foreign::fourth_of_64: return scanning<std::uint16_t, Foreign::fourth_of_64>();
    case Foreign::trits: return scanning<std::uint16_t, Foreign::trits>();
  }
  if (bytes == 1) return scanning<std::uint8_t>();
  if (two) return packed ? scanning<std::uint16_t, Foreign::none, true>() : scanning<std::uint16_t>();
  return packed ? scanning<std::uint32_t, Foreign::none, true>() : scanning<std::uint32_t>();
}

/// Magnitudes of scales that lie side by side, `index` those before them. NaN and the rest: as dense elements.
void count_zeros(const FormatSpec& s, std::span<const std::uint8_t> scales, std::uint64_t index, Occurrences& zeros) {
  if (!s.has_zero()) return;
  const auto count = [&](auto code) {
    using Code = decltype(code);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < scales.size(); i += sizeof(Code))
      found += load_little_endian<Code>(&scales[i]) == 0 ? 1U : 0U;
    return found;
  };
  const std::uint64_t found = s.bytes() == 1   ? count(std::uint8_t{})
                              : s.bytes() == 2 ? count(std::uint16_t{})
                                               : count(std::uint32_t{});
  if (found != 0 && zeros.count == 0) {
    std::size_t first = 0;
    while (load_element(s, scales, first) != 0) ++first;
    zeros.first = index + first;
  }
  zeros.count += found;
}

/// Adds what was counted among scales, `per_block` to a block, the first of them in block `start`.
void merge(const ElementStatistics& scales, const Occurrences& zeros, std::size_t per_block, std::uint64_t start,
           BlockStatistics& t) {
  note(t.scale_nan, scales.nan.count, start + scales.nan.first / per_block);
  note(t.scale_infinite, scales.infinite.count, start + scales.infinite.first / per_block);
  note(t.scale_subnormal, scales.subnormal.count, start + scales.subnormal.first / per_block);
  note(t.scale_zero, zeros.count, start + zeros.first / per_block);
  t.largest_scale = std::max(t.largest_scale, scales.largest);
  t.smallest_scale = std::min(t.smallest_scale, scales.smallest);
}

void scan(ScanRun* run, const Plan& plan, std::span<const std::uint8_t> bytes, Examiner& examiner, BlockStatistics& t) {
  std::array<std::uint8_t, kGather * sizeof(std::uint32_t)> words;
  ElementStatistics scales;
  Occurrences zeros;
  const std::size_t block_bytes = plan.encoding->block_bytes;
  const std::uint64_t start = t.blocks;
  for (std::size_t left = bytes.size() / block_bytes; left != 0;) {
    const std::size_t count = std::min(left, kGather);
    run(plan, bytes.data() + (t.blocks - start) * block_bytes, count, t.blocks, examiner, words.data());
    const std::span<const std::uint8_t> found = std::span(words).first(count * plan.scales * plan.scale->bytes());
    count_zeros(*plan.scale, found, scales.elements, zeros);
    add_elements(plan.counted, found, scales);
    t.blocks += count;
    left -= count;
  }
  merge(scales, zeros, plan.scales, start, t);
}

}  // namespace

bool has_block_statistics(const Encoding& e) { return e.planes[0] == 0; }

Format scale_format_of(const Encoding& e) {
  for (const ScaleField& field : e.scales)
    if (const std::optional<Format> format = floating(field.format)) return *format;
  return Format::f16;
}

void add_blocks(const Encoding& e, std::span<const std::uint8_t> bytes, BlockStatistics& statistics) {
  const ExactEnvironment exact;
  const Plan plan = plan_of(e);
  Examiner examiner(plan, statistics);
  if (ScanRun* const run = scan_for(plan)) return scan(run, plan, bytes, examiner, statistics);
  for (std::size_t i = 0; i < bytes.size() / e.block_bytes; ++i, ++statistics.blocks)
    examiner.examine(bytes.data() + i * e.block_bytes, statistics.blocks);
}

}  // namespace packcheck
