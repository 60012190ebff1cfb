// subjects/third_party/support.h: what the third-party subjects share: refusing, and arrays of numbers.
//
// Adapters stay thin: they check sizes, move bytes and call the library. A wrong answer is never
// repaired here, for it is what packcheck is to find. Proved by tests/third_party/.
#pragma once

#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "packcheck/subject.h"

// Everything else in a subject is hidden, so that no two libraries in one process share inline code.
#define PACKCHECK_SUBJECT_ENTRY extern "C" __attribute__((visibility("default")))

namespace packcheck::third_party {

inline int refuse(packcheck_error* error, const char* message) {
  std::snprintf(error->message, sizeof error->message, "%s", message);
  return PACKCHECK_REFUSED;
}

/// One direct conversion of a library. `run` reads `count` elements and writes `count` elements.
struct Conversion {
  std::string_view from;
  std::string_view to;
  std::size_t from_bytes;
  std::size_t to_bytes;
  void (*run)(const std::uint8_t* in, std::uint8_t* out, std::size_t count);
};

/// Applies `function` to each element, without assuming that the arrays are aligned.
template <class From, class To, class Function>
void for_each_element(const std::uint8_t* in, std::uint8_t* out, std::size_t count, Function function) {
  for (std::size_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(&from, in + i * sizeof from, sizeof from);
    const To to = function(from);
    std::memcpy(out + i * sizeof to, &to, sizeof to);
  }
}

inline const Conversion* find_conversion(std::span<const Conversion> table, std::string_view from,
                                         std::string_view to) {
  for (const Conversion& row : table)
    if (row.from == from && row.to == to) return &row;
  return nullptr;
}

/// The body of packcheck_subject::convert for a library that rounds to nearest even and no other way.
inline int convert_with(std::span<const Conversion> table, std::string_view from, std::string_view to,
                        std::string_view mode, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                        std::size_t count, packcheck_error* error) {
  const Conversion* row = find_conversion(table, from, to);
  if (row == nullptr || mode != "nearest-even") return PACKCHECK_UNSUPPORTED;
  if (in.size() / row->from_bytes != count || in.size() % row->from_bytes != 0 || out.size() / row->to_bytes != count ||
      out.size() % row->to_bytes != 0)
    return refuse(error, "the arrays do not hold as many elements as the count says");
  row->run(in.data(), out.data(), count);
  return PACKCHECK_OK;
}

/// The body of packcheck_subject::repack: the same conversions, where they widen.
inline int repack_with(std::span<const Conversion> table, std::string_view from, std::string_view to,
                       std::span<const std::uint8_t> in, std::span<std::uint8_t> out, packcheck_error* error) {
  const Conversion* row = find_conversion(table, from, to);
  if (row == nullptr || row->from_bytes > row->to_bytes) return PACKCHECK_UNSUPPORTED;
  const std::size_t count = in.size() / row->from_bytes;
  if (in.size() % row->from_bytes != 0 || out.size() / row->to_bytes != count || out.size() % row->to_bytes != 0)
    return refuse(error, "the arrays do not hold the same number of elements");
  row->run(in.data(), out.data(), count);
  return PACKCHECK_OK;
}

/// Hands text to the caller of packcheck_subject::print.
inline int give_text(std::string_view source, char* text, std::size_t capacity, std::size_t* size,
                     packcheck_error* error) {
  if (source.size() > capacity) return refuse(error, "the text is longer than the buffer");
  std::memcpy(text, source.data(), source.size());
  *size = source.size();
  return PACKCHECK_OK;
}

}  // namespace packcheck::third_party
