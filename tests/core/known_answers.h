// tests/core/known_answers.h: what the core answers under each of its rules, as one number a rule.
//
// A faulty twin is one changed rule, and stays the fault that its name says only as long as the rule does what it did.
// So the answers of every rule to fixed inputs are written down here as digests. A test that finds another digest
// prints its line; look at what changed before you write the new one. That the right rules are right is proved by the
// laws and by the tests that compare with oracles, not here.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace packcheck::test {

/// FNV-1a of everything that was added, sizes included. Any NaN is as good as another.
class Digest {
 public:
  [[nodiscard]] std::uint64_t value() const { return state_; }

  void add(std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8) state_ = (state_ ^ (number >> shift & 0xFF)) * 0x100000001B3U;
  }
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  void add(std::span<const std::uint8_t> bytes) {
    add(bytes.size());
    for (const std::uint8_t byte : bytes) add_byte(byte);
  }
  void add(std::span<const float> numbers) {
    add(numbers.size());
    for (const float number : numbers) add(std::isnan(number) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(number));
  }
  void add(std::span<const double> numbers) {
    add(numbers.size());
    for (const double number : numbers)
      add(std::isnan(number) ? 0x7FF8000000000000U : std::bit_cast<std::uint64_t>(number));
  }
  void add(const Error& error) {
    add(error.what);
    add(error.where);
    add(error.right);
  }

 private:
  void add_byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001B3U; }

  std::uint64_t state_ = 0xCBF29CE484222325U;
};

struct KnownAnswer {
  std::string_view rule;
  std::uint64_t digest;
};

inline std::string line_of(std::string_view rule, std::uint64_t digest) {
  char number[32];
  std::snprintf(number, sizeof number, "0x%016llX", static_cast<unsigned long long>(digest));
  return std::string("{\"").append(rule).append("\", ").append(number).append("},");
}

/// A rule that is changed, and how.
template <class Rules>
struct ChangedRule {
  std::string_view name;
  void (*change)(Rules&);
};

/// Answers of the rules as they are, to all inputs; then of each change, to fewer: each as it is known, and none as
/// without the change. `answers` gets the rules, whether all inputs count, and the digest.
template <class Rules, class Answers>
void expect_known(std::span<const ChangedRule<Rules>> changes, std::span<const KnownAnswer> known, Answers answers) {
  const auto digest_of = [&](const Rules& rules, bool all) {
    Digest digest;
    answers(rules, all, digest);
    return digest.value();
  };
  std::string found = line_of("as they are", digest_of({}, true));
  const std::uint64_t unchanged = changes.empty() ? 0 : digest_of({}, false);
  for (const ChangedRule<Rules>& changed : changes) {
    Rules rules;
    changed.change(rules);
    const std::uint64_t digest = digest_of(rules, false);
    found.append("\n").append(line_of(changed.name, digest));
    EXPECT_NE(digest, unchanged) << changed.name << " changes no answer";
  }
  std::string expected;
  for (const KnownAnswer& one : known)
    expected.append(expected.empty() ? "" : "\n").append(line_of(one.rule, one.digest));
  EXPECT_EQ(found, expected);
}

/// For what has no rules.
struct NoRules {};
template <class Answers>
void expect_known_answers(std::span<const KnownAnswer> known, Answers answers) {
  expect_known<NoRules>({}, known, [&](const NoRules&, bool, Digest& digest) { answers(digest); });
}

/// The text, cut off before every `step`-th byte, without it, and with it replaced by each of `others`.
template <class Visit>
void for_each_edit(std::string_view text, std::size_t step, std::string_view others, Visit visit) {
  visit(text);
  for (std::size_t i = 0; i < text.size(); i += step) {
    visit(text.substr(0, i));
    std::string edited(text);
    visit(edited.erase(i, 1));
    for (const char other : others) {
      edited = text;
      edited[i] = other;
      visit(edited);
    }
  }
}

}  // namespace packcheck::test
