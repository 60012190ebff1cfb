// subjects/one_part.h: what the typed calls are made of. For the .cc files that define them (calls.h and
// its like); laws use the typed functions.
#pragma once

#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "subjects/calls.h"

namespace packcheck {

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

inline constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

/// Calls, and turns an answer of the wrong shape into broke_protocol. The answer is one part of
/// `size` bytes, or of any size.
[[nodiscard]] Answer<std::string> call_for_one_part(Subject& subject, Operation operation,
                                                    std::initializer_list<std::string_view> arguments,
                                                    std::size_t size = kAnySize);

template <class T, class F>
Answer<T> map(Answer<std::string> raw, F decode) {
  if (!raw.ok()) return {raw.outcome, T{}, std::move(raw.message)};
  return {Outcome::answered, decode(raw.value), {}};
}

}  // namespace packcheck
