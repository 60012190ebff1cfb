#include "tests/third_party/loaded.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "core/format/format.h"

namespace packcheck::third_party_test {

const std::set<std::string>& built_subjects() {
  static const std::set<std::string> names = [] {
    std::set<std::string> found;
    std::istringstream list(PACKCHECK_BUILT_SUBJECTS);
    for (std::string name; std::getline(list, name, ',');) found.insert(name);
    return found;
  }();
  return names;
}

std::string subject_path(std::string_view name) {
  return std::string(PACKCHECK_SUBJECTS_DIR) + "/" + std::string(name) + ".so";
}

Loaded load_library(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {nullptr, "", dlerror()};
  auto* entry = reinterpret_cast<const packcheck_subject* (*)()>(dlsym(handle, "packcheck_subject_v1"));
  if (entry == nullptr) return {nullptr, "", dlerror()};
  return {entry(), "", ""};
}

Loaded load_subject(std::string_view name) {
  if (built_subjects().count(std::string(name)) == 0)
    return {nullptr, std::string(name) + " is not part of this build: see the messages of cmake", ""};
  Loaded loaded = load_library(subject_path(name));
  if (loaded.table == nullptr && loaded.failure.empty())
    loaded.absent = std::string(name) + " is absent: fetch its package with ci/install --third-party";
  return loaded;
}

std::vector<std::uint8_t> to_bytes(const std::vector<std::uint64_t>& elements, std::size_t width) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint64_t element : elements)
    for (std::size_t i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(element >> (8 * i)));
  return bytes;
}

std::vector<std::uint64_t> from_bytes(const std::vector<std::uint8_t>& bytes, std::size_t width) {
  std::vector<std::uint64_t> elements(bytes.size() / width);
  for (std::size_t i = 0; i < elements.size() * width; ++i)
    elements[i / width] |= std::uint64_t{bytes[i]} << (8 * (i % width));
  return elements;
}

std::uint64_t convert_one(const packcheck_subject& subject, const char* from, const char* to, std::uint64_t bits) {
  const std::size_t from_width = spec(*format_named(from)).bytes();
  const std::size_t to_width = spec(*format_named(to)).bytes();
  const std::vector<std::uint8_t> in = to_bytes({bits}, from_width);
  std::vector<std::uint8_t> out(to_width, 0xA5);
  packcheck_error error{};
  EXPECT_EQ(subject.convert(from, to, "nearest-even", in.data(), in.size(), out.data(), out.size(), 1, &error),
            PACKCHECK_OK)
      << error.message;
  return from_bytes(out, to_width).front();
}

Said print(const packcheck_subject& subject, std::uint64_t bits) {
  std::array<char, 400> text{};
  std::size_t size = 0;
  packcheck_error error{};
  const int code = subject.print(bits, text.data(), text.size(), &size, &error);
  return {code, code == PACKCHECK_OK ? std::string(text.data(), size) : error.message, bits};
}

Said parse(const packcheck_subject& subject, std::string_view text) {
  // A copy on the heap without a NUL after it, so that a sanitizer sees a read past the end.
  const std::vector<char> exact(text.begin(), text.end());
  std::uint64_t bits = 0;
  packcheck_error error{};
  const int code = subject.parse(exact.data(), exact.size(), &bits, &error);
  return {code, error.message, bits};
}

}  // namespace packcheck::third_party_test
