#include "subjects/process/frames.h"

#include <cstring>

namespace packcheck {

std::array<char, kLengthBytes> encode_length(std::size_t size) {
  std::array<char, kLengthBytes> bytes{};
  for (std::size_t i = 0; i < kLengthBytes; ++i) bytes[i] = static_cast<char>(size >> (8 * i) & 0xFF);
  return bytes;
}

std::uint32_t decode_length(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

std::string encode_parts(std::span<const std::string> parts) {
  std::string payload;
  payload.reserve(encoded_size(parts));
  for (const std::string& part : parts) {
    const auto length = encode_length(part.size());
    payload.append(length.data(), length.size());
    payload += part;
  }
  return payload;
}

char* put_part(char* to, std::string_view part) {
  const auto length = encode_length(part.size());
  std::memcpy(to, length.data(), length.size());
  if (!part.empty()) std::memcpy(to + length.size(), part.data(), part.size());
  return to + length.size() + part.size();
}

Result<Parts> decode_parts(std::string_view payload) {
  Parts parts;
  std::size_t at = 0;
  while (at < payload.size()) {
    const std::string where = "part " + std::to_string(parts.size());
    const std::size_t left = payload.size() - at;
    if (left < kLengthBytes) return refuse(std::to_string(left) + " bytes of a length", where, "4 bytes");
    const std::size_t length = decode_length(payload.substr(at));
    if (length > left - kLengthBytes)
      return refuse("length " + std::to_string(length), where,
                    "at most the " + std::to_string(left - kLengthBytes) + " bytes that are left");
    parts.emplace_back(payload.substr(at + kLengthBytes, length));
    at += kLengthBytes + length;
  }
  if (parts.empty()) return refuse("no parts", "payload", "a name as its first part");
  return parts;
}

std::string encode_frame(std::string_view payload) {
  const auto length = encode_length(payload.size());
  std::string frame;
  frame.reserve(kLengthBytes + payload.size());
  frame.append(length.data(), length.size());
  frame += payload;
  return frame;
}

Result<std::size_t> decode_frame_length(std::string_view header) {
  const std::size_t length = decode_length(header);
  if (length > kMaximumPayload)
    return refuse("not a frame, or one of more than " + std::to_string(kMaximumPayload) + " bytes", {},
                  "a 4-byte little-endian length; does something else write to standard output?");
  return length;
}

}  // namespace packcheck
