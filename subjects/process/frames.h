// subjects/process: subjects that live in another process, behind the Subject interface.
//
// frames       bytes on the wire: frames and parts            messages   what the parts mean
// child        one forked process: poll, limits, death        transport  starts, restarts and asks a child
// program      exec:COMMAND, an adapter in any language       native     lib:PATH, a shared library in a worker
// worker       what the forked worker does                    library, native_calls, guarded_memory: its parts
// mailbox      memory shared with a worker, for large arrays
//
// The wire form is described for other people in subjects/PROTOCOL.md, which must change with it.
// Proved by tests/process/*: every way to misbehave has a library or a program that does it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace packcheck {

/// Bytes in the longest payload that either side may send.
inline constexpr std::uint32_t kMaximumPayload = std::uint32_t{256} << 20;
/// Bytes of a length, before each payload and before each part: little-endian.
inline constexpr std::size_t kLengthBytes = 4;

/// A payload taken apart.
using Parts = std::vector<std::string>;

/// Each part behind its length. The parts together must stay below 4 GiB.
[[nodiscard]] std::string encode_parts(std::span<const std::string> parts);
/// Bytes that encode_parts() gives.
template <class Part>
[[nodiscard]] std::size_t encoded_size(std::span<const Part> parts) {
  std::size_t size = 0;
  for (const Part& part : parts) size += kLengthBytes + part.size();
  return size;
}
/// Writes one part behind its length to `to`; gives where the next goes.
char* put_part(char* to, std::string_view part);
/// Refuses a length that runs past the end, bytes after the last part, and a payload without parts.
[[nodiscard]] Result<Parts> decode_parts(std::string_view payload);

/// The length that goes before a payload.
[[nodiscard]] std::array<char, kLengthBytes> encode_length(std::size_t size);
/// The number in the first four bytes of `bytes`, which has at least four.
[[nodiscard]] std::uint32_t decode_length(std::string_view bytes);

/// Length and payload.
[[nodiscard]] std::string encode_frame(std::string_view payload);
/// The payload's length; refuses more than kMaximumPayload (as text on standard output looks).
[[nodiscard]] Result<std::size_t> decode_frame_length(std::string_view header);

}  // namespace packcheck
