#include "properties/oracles/cell_oracle.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "properties/oracles/format_oracle.h"
#include "properties/oracles/narrowing_oracle.h"

namespace packcheck::oracle {
namespace {

using u32 = std::uint32_t;
constexpr u32 kCell = 65536;
constexpr std::size_t kRun = 256;  // singles looked at together

/// Whether all of `in` lie in one cell.
[[gnu::always_inline]] inline bool shares_cell(const u32* in, std::size_t count) {
  u32 different = 0;
  for (std::size_t i = 0; i < count; ++i) different |= in[i] ^ in[0];
  return different < kCell;
}

[[gnu::always_inline]] inline void pick_codes(const u32* __restrict in, std::uint8_t* __restrict out, std::size_t count,
                                              u32 threshold, u32 first, u32 last) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<std::uint8_t>((in[i] & (kCell - 1)) < threshold ? first : last);
}

// Chosen by hand, as in narrowing_oracle.cc.
#if defined(__x86_64__)
[[gnu::target("avx2")]] bool shares_cell_avx2(const u32* in, std::size_t count) { return shares_cell(in, count); }
[[gnu::target("avx2")]] void pick_codes_avx2(const u32* in, std::uint8_t* out, std::size_t count, u32 threshold,
                                             u32 first, u32 last) {
  pick_codes(in, out, count, threshold, first, last);
}
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }
#endif

bool run_shares_cell(const u32* in, std::size_t count) {
#if defined(__x86_64__)
  if (has_avx2()) return shares_cell_avx2(in, count);
#endif
  return shares_cell(in, count);
}

void pick_run(const u32* in, std::uint8_t* out, std::size_t count, u32 threshold, u32 first, u32 last) {
#if defined(__x86_64__)
  if (has_avx2()) return pick_codes_avx2(in, out, count, threshold, first, last);
#endif
  pick_codes(in, out, count, threshold, first, last);
}

/// One oracle for each target and set of rules, kept for the next batch.
CellOracle& cells_for(Format to, const ConvertRules& rules) {
  using Key = std::tuple<Format, Rounding, SubnormalRule, bool>;
  thread_local std::map<Key, std::unique_ptr<CellOracle>> oracles;
  std::unique_ptr<CellOracle>& oracle = oracles[Key{to, rules.rounding, rules.subnormal, rules.saturating}];
  if (oracle == nullptr) oracle = std::make_unique<CellOracle>(to, rules);
  return *oracle;
}

bool has_one_byte(Format format) {
  switch (format) {
    case Format::e5m2:
    case Format::e4m3:
    case Format::e3m4:
    case Format::e4m3fn:
    case Format::e4m3fnuz:
    case Format::e5m2fnuz:
    case Format::e4m3b11fnuz:
    case Format::e8m0:
    case Format::e3m2:
    case Format::e2m3:
    case Format::e2m1:
    case Format::ue4m3:
    case Format::e5m3:
    case Format::i8: return true;
    default: return false;
  }
}

/// Whether larger numbers never have the code of smaller ones again.
bool never_decreases(Format format, const ConvertRules& rules) {
  return format != Format::i8 || rules.integer == IntegerRule::saturate || rules.integer == IntegerRule::refuse;
}

}  // namespace

CellOracle::CellOracle(Format to, const ConvertRules& rules) : to_(to), rules_(rules), cells_(kCell) {}

std::uint8_t CellOracle::ask(u32 bits) const {
  return static_cast<std::uint8_t>(oracle::convert(Format::f32, to_, bits, rules_));
}

void CellOracle::fill(Cell& cell, u32 start) const {
  cell = {kCell, ask(start), ask(start + kCell - 1), State::known};
  if (cell.first == cell.last) return;
  u32 below = 0;         // has the code `first`
  u32 from = kCell - 1;  // has another
  while (from - below > 1) {
    const u32 middle = below + (from - below) / 2;
    (ask(start + middle) == cell.first ? below : from) = middle;
  }
  cell.threshold = from;
  if (ask(start + from) != cell.last) cell.state = State::irregular;
}

const CellOracle::Cell& CellOracle::cell_of(u32 bits) {
  Cell& cell = cells_[bits / kCell];
  if (cell.state == State::unknown) fill(cell, bits / kCell * kCell);
  return cell;
}

void CellOracle::answer(const u32* in, std::uint8_t* out, std::size_t count) {
  for (std::size_t at = 0; at < count; at += kRun) {
    const std::size_t some = std::min(kRun, count - at);
    const Cell& first = cell_of(in[at]);
    if (first.state == State::known && run_shares_cell(in + at, some)) {
      pick_run(in + at, out + at, some, first.threshold, first.first, first.last);
      continue;
    }
    for (std::size_t i = at; i < at + some; ++i) {
      const Cell& cell = cell_of(in[i]);
      const bool early = in[i] % kCell < cell.threshold;
      out[i] = cell.state == State::irregular ? ask(in[i]) : early ? cell.first : cell.last;
    }
  }
}

bool convert_many(Format from, Format to, const ConvertRules& rules, const std::uint8_t* in, std::uint8_t* out,
                  std::size_t count) {
  if (from != Format::f32 || rules.rounding == Rounding::stochastic) return false;
  const auto* const singles = static_cast<const u32*>(static_cast<const void*>(in));
  if (has_one_byte(to) && never_decreases(to, rules)) {
    cells_for(to, rules).answer(singles, out, count);
    return true;
  }
  if (rules.rounding != Rounding::nearest_even || rules.subnormal != SubnormalRule::kept || rules.saturating)
    return false;
  auto* const halves = static_cast<std::uint16_t*>(static_cast<void*>(out));
  if (to == Format::f16) narrow_f32_to_f16(singles, halves, count);
  if (to == Format::bf16) narrow_f32_to_bf16(singles, halves, count);
  return to == Format::f16 || to == Format::bf16;
}

}  // namespace packcheck::oracle
