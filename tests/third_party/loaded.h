// tests/third_party/loaded.h: a built subject, opened and called in this process.
//
// packcheck itself calls subjects in a worker; these tests call the tables directly, so that they
// prove the adapters alone. A subject that this build left out, or whose package is absent, skips
// its tests and says which.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "packcheck/subject.h"

namespace packcheck::third_party_test {

/// Names of the subjects that CMake built, from PACKCHECK_BUILT_SUBJECTS ("eigen,nlohmann_json,...").
[[nodiscard]] const std::set<std::string>& built_subjects();
/// The file of a built subject.
[[nodiscard]] std::string subject_path(std::string_view name);

struct Loaded {
  const packcheck_subject* table = nullptr;  ///< null: see `absent`
  std::string absent;                        ///< why there is no table; empty if there is one or loading failed
  std::string failure;                       ///< what went wrong, if anything
};
/// Opens the subject `name`. `failure` is set if a library that was built does not load.
[[nodiscard]] Loaded load_subject(std::string_view name);
/// Opens a library and calls its entry point.
[[nodiscard]] Loaded load_library(const std::string& path);

/// Elements as little-endian bytes, `width` bytes each, and back.
[[nodiscard]] std::vector<std::uint8_t> to_bytes(const std::vector<std::uint64_t>& elements, std::size_t width);
[[nodiscard]] std::vector<std::uint64_t> from_bytes(const std::vector<std::uint8_t>& bytes, std::size_t width);

/// One converted element; a test failure if the subject does not answer.
[[nodiscard]] std::uint64_t convert_one(const packcheck_subject& subject, const char* from, const char* to,
                                        std::uint64_t bits);

struct Said {
  int code = -1;
  std::string text;  ///< printed text or refusal
  std::uint64_t bits = 0;
};
[[nodiscard]] Said print(const packcheck_subject& subject, std::uint64_t bits);
[[nodiscard]] Said parse(const packcheck_subject& subject, std::string_view text);

/// In a test: loads the subject into `loaded`, or skips.
#define PACKCHECK_LOAD_OR_SKIP(loaded, name)                             \
  const auto loaded = ::packcheck::third_party_test::load_subject(name); \
  if (!(loaded).absent.empty()) GTEST_SKIP() << (loaded).absent;         \
  ASSERT_EQ((loaded).failure, "");                                       \
  ASSERT_NE((loaded).table, nullptr)

}  // namespace packcheck::third_party_test
