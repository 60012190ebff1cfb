// Durations, sizes and shards as people write them.
#include <array>
#include <charconv>
#include <cstdio>

#include "cli/commands.h"

namespace packcheck {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

/// A whole number and one of the units.
template <std::size_t N>
Result<std::uint64_t> with_unit(const std::string& text, const std::array<Unit, N>& units, const std::string& right) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& known : units) {
    std::uint64_t value = 0;
    if (error == std::errc{} && unit == known.name && number > 0 &&
        !__builtin_mul_overflow(number, known.factor, &value))
      return value;
  }
  return refuse("'" + text + "'", {}, right);
}

}  // namespace

int complain(const Error& error) {
  std::fprintf(stderr, "packcheck: %s\n", error.text().c_str());
  return kBadInput;
}

Result<std::uint64_t> parse_duration(const std::string& text) {
  constexpr std::array<Unit, 4> kUnits{{{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
  return with_unit(text, kUnits, "a positive duration such as 250ms, 2s, 10m or 1h");
}

Result<std::uint64_t> parse_size(const std::string& text) {
  constexpr std::array<Unit, 4> kUnits{{{"", 1}, {"K", 1U << 10}, {"M", 1U << 20}, {"G", 1U << 30}}};
  return with_unit(text, kUnits, "a positive size such as 65536, 512M or 1G");
}

Result<ShardOption> parse_shard(const std::string& text) {
  ShardOption shard{0, 0};
  const char* const last = text.data() + text.size();
  const auto [slash, first_error] = std::from_chars(text.data(), last, shard.index);
  if (first_error == std::errc{} && slash != last && *slash == '/') {
    const auto [end, error] = std::from_chars(slash + 1, last, shard.of);
    if (error == std::errc{} && end == last && shard.index < shard.of) return shard;
  }
  return refuse("'" + text + "'", "--shard", "i/n with 0 <= i < n");
}

Result<CallLimits> parse_limits(const std::string& timeout, const std::string& memory) {
  const Result<std::uint64_t> milliseconds = parse_duration(timeout);
  if (!milliseconds) return refuse(milliseconds.error().what, "--call-timeout", milliseconds.error().right);
  const Result<std::uint64_t> bytes = parse_size(memory);
  if (!bytes) return refuse(bytes.error().what, "--call-memory", bytes.error().right);
  return CallLimits{*milliseconds, *bytes};
}

}  // namespace packcheck
