#include "properties/oracles/file_oracle.h"

#include <algorithm>
#include <vector>

namespace packcheck::oracle {

std::string word_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string word = "=";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F && c != '%') {
      word += c;
    } else {
      word += '%';
      word += kDigits[byte / 16];
      word += kDigits[byte % 16];
    }
  }
  return word;
}

std::string sorted_listing(std::string_view listing) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < listing.size();) {
    const std::size_t end = std::min(listing.find('\n', at), listing.size());
    lines.emplace_back(listing.substr(at, end - at));
    at = end + 1;
  }
  // Stable among the first words: file, data_start, metadata, tensor.
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all.append(line).append("\n");
  return all;
}

FileAnswer read_file(std::string_view kind, std::span<const std::uint8_t> bytes) {
  return kind == "gguf" ? read_gguf(bytes) : read_safetensors(bytes);
}

namespace file_detail {

void Draft::add_tensor(std::string_view name, std::string_view type, std::string_view shape, std::uint64_t offset,
                       std::span<const std::uint8_t> bytes) {
  const auto line = [&](std::uint64_t at) {
    std::string text = "tensor ";
    text.append(word_of(name)).append(" ").append(type).append(" ").append(shape.empty() ? "-" : shape);
    text.append(" ").append(std::to_string(at)).append(" ").append(std::to_string(bytes.size())).append("\n");
    return text;
  };
  tensors += line(offset);
  packed_tensors += line(data.size());
  data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

FileAnswer Draft::finish() const {
  FileAnswer answer;
  answer.soundness = choice.empty() ? Soundness::sound : Soundness::choice;
  answer.reason = choice;
  answer.listing = head + metadata + tensors;
  if (choice.empty()) answer.contents = written + metadata + packed_tensors + "data\n" + data;
  return answer;
}

}  // namespace file_detail
}  // namespace packcheck::oracle
