// core/result.h: the one style of error in packcheck.
//
// Unsound input is a value, never an exception: every function that can refuse returns
// Result<T>. An Error says what was wrong, where, and what would have been right.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace packcheck {

/// Why an input was refused.
struct Error {
  std::string what;   ///< what is wrong: "stride is 256"
  std::string where;  ///< where: "conv2d:gen2 field stride"; may be empty
  std::string right;  ///< what would be right: "an integer in 0..255"; may be empty

  /// One line for people: "where: what; expected right".
  [[nodiscard]] std::string text() const {
    std::string line = where.empty() ? what : where + ": " + what;
    if (!right.empty()) line += "; expected " + right;
    return line;
  }
};

template <class T>
using Result = tl::expected<T, Error>;

/// Shorthand for returning a refusal.
inline tl::unexpected<Error> refuse(std::string what, std::string where = {}, std::string right = {}) {
  return tl::unexpected<Error>(Error{std::move(what), std::move(where), std::move(right)});
}

}  // namespace packcheck
