#include "properties/oracles/file_oracle.h"

#include <algorithm>
#include <cstdlib>
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

namespace {

std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(mark, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// The lines without places, sorted; offsets count from the start of `data`.
std::string without_places(std::string_view listing, std::string_view data) {
  std::vector<std::string> lines;
  for (std::string& line : split(listing, '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() == 6 && words[0] == "tensor") {
      const std::uint64_t offset = std::strtoull(words[4].c_str(), nullptr, 10);
      const std::uint64_t bytes = std::strtoull(words[5].c_str(), nullptr, 10);
      const bool inside = offset <= data.size() && bytes <= data.size() - offset;
      line = "tensor " + words[1];
      line.append(" ").append(words[2]).append(" ").append(words[3]).append(" ");
      line += inside ? data.substr(offset, bytes) : "outside";
    }
    if (words.size() == 4 && words[0] == "file") line = "file " + words[1] + " " + words[2];
    if (!words.empty() && words[0] != "data_start") lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all.append(line).append("\n");
  return all;
}

}  // namespace

std::string sorted_contents(std::string_view contents) {
  constexpr std::string_view kData = "\ndata\n";
  const std::size_t end = std::min(contents.find(kData), contents.size());
  return without_places(contents.substr(0, end), contents.substr(std::min(end + kData.size(), contents.size())));
}

std::string contents_of(std::string_view listing, std::span<const std::uint8_t> file) {
  return without_places(listing, {reinterpret_cast<const char*>(file.data()), file.size()});
}

std::string sorted_listing(std::string_view listing) {
  std::vector<std::string> lines = split(listing, '\n');
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
