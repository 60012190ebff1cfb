// tests/process: requests that the misbehaving library and the misbehaving program both know.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "subjects/calls.h"
#include "subjects/subject.h"

namespace packcheck {

/// Long enough for a crowded machine; tests of hangs use a shorter limit of their own.
inline constexpr CallLimits kPatient{30000, std::uint64_t{1} << 30};
inline constexpr CallLimits kImpatient{200, std::uint64_t{1} << 30};
inline constexpr CallLimits kTiny{30000, std::uint64_t{3} << 20};
inline constexpr CallLimits kSmall{30000, std::uint64_t{64} << 20};

/// bf16->f32 of `elements`.
inline Request repack_request(const std::vector<std::uint16_t>& elements) {
  std::string bytes;
  for (const std::uint16_t element : elements) {
    bytes += static_cast<char>(element & 0xFF);
    bytes += static_cast<char>(element >> 8);
  }
  return {Operation::repack, {"bf16", "f32", bytes}};
}

inline Request good_request() { return repack_request({0x3F80, 0x0001, 0xFFC1}); }
/// Holds the element on which the misbehaving subjects misbehave.
inline Request bad_request() { return repack_request({0x3F80, 0x0BAD}); }
inline Request print_request(std::uint64_t bits) { return {Operation::print, {u64s_to_string(std::array{bits})}}; }

inline const std::string kGoodAnswer("\0\0\x80\x3F\0\0\x01\0\0\0\xC1\xFF", 12);

inline void expect_good_answer(Subject& subject) {
  const Reply reply = subject.call(good_request());
  ASSERT_EQ(outcome_name(reply.outcome), "answered") << reply.message;
  EXPECT_EQ(reply.parts, std::vector<std::string>{kGoodAnswer});
}

inline void expect_reply(const Reply& reply, Outcome outcome, const std::string& message) {
  EXPECT_EQ(outcome_name(reply.outcome), outcome_name(outcome)) << reply.message;
  EXPECT_EQ(reply.message, message);
}

inline bool operator==(const Reply& a, const Reply& b) {
  return a.outcome == b.outcome && a.parts == b.parts && a.message == b.message;
}

}  // namespace packcheck
