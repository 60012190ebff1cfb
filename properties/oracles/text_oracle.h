// properties/oracles/text_oracle.h: JSON number text to a double, a second time.
//
// Oracle for core/text. The grammar is a table of states where the core walks the text; the value is
// the C library's strtod in the "C" locale and the default environment where the core uses
// fast_float. Proved by tests/core/text_test.cc against MPFR.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace packcheck::oracle {

struct ParsedNumber {
  std::uint64_t bits;  ///< the double nearest to the text, ties to even; an infinity on overflow
  bool overflow;       ///< the text rounds to a magnitude of 2^1024 or more
};

/// Whether `text` is exactly one number of RFC 8259 section 6.
[[nodiscard]] bool is_json_number(std::string_view text);

/// The number in `text`, or nothing where `text` is not exactly one number of RFC 8259 section 6.
[[nodiscard]] std::optional<ParsedNumber> parse(std::string_view text);

}  // namespace packcheck::oracle
