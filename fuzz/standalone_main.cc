// A main for compilers without libFuzzer: replays files and folders of files, or standard input
// without arguments. Prints how many inputs it ran, so that an empty corpus shows. Options:
//   -drawn=N        makes N inputs with the target's mutator, from nothing and a fixed seed, and runs them
//   -seeds=FOLDER   writes 64 inputs made so there: a corpus to start from
// Knows nothing of packcheck, so that it is an engine for any target.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                                     std::size_t longest, unsigned seed);

namespace {

namespace fs = std::filesystem;

void run(std::istream& in) {
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// Runs every file at `path`; how many there were, or -1 when there is nothing to read.
int run_path(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    int count = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path, error))
      if (entry.is_regular_file(error)) count += run_path(entry.path());
    return count;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file || !fs::is_regular_file(path, error)) return -1;
  run(file);
  return 1;
}

constexpr std::size_t kLongest = 4096;
constexpr unsigned kSeeds = 64;

/// Changes `bytes` with the target's mutator; from none it makes a whole input.
void mutate(std::vector<std::uint8_t>& bytes, unsigned seed) {
  const std::size_t size = bytes.size();
  bytes.resize(kLongest);
  bytes.resize(LLVMFuzzerCustomMutator == nullptr ? 0 : LLVMFuzzerCustomMutator(bytes.data(), size, kLongest, seed));
}

/// Every eighth as it was drawn, the others each from the one before.
int run_drawn(unsigned count) {
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < count; ++i) {
    if (i % 8 == 0) bytes.clear();
    mutate(bytes, i + 1);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  return static_cast<int>(count);
}

bool write_seeds(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < kSeeds; ++i) {
    bytes.clear();
    mutate(bytes, i + 1);
    std::ofstream out(folder / ("drawn-" + std::to_string(i)), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) return false;
  }
  return true;
}

std::optional<unsigned> whole_number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0 || value > 1'000'000'000)
    return std::nullopt;
  return value;
}

int refuse(const char* argument, const char* right) {
  std::fprintf(stderr, "'%s' is not understood or cannot be used; expected %s\n", argument, right);
  return 2;
}

bool is_libfuzzer_option(std::string_view argument) {
  static constexpr std::string_view kNames[] = {"-runs=",
                                                "-seed=",
                                                "-max_len=",
                                                "-timeout=",
                                                "-rss_limit_mb=",
                                                "-max_total_time=",
                                                "-dict=",
                                                "-artifact_prefix=",
                                                "-merge=",
                                                "-merge_control_file=",
                                                "-print_final_stats="};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [argument](std::string_view name) { return argument.substr(0, name.size()) == name; });
}

/// The value of "-name=value"; null where it is another argument.
const char* option(const char* argument, std::string_view name) {
  return std::string_view(argument).substr(0, name.size()) == name ? argument + name.size() : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  int count = 0;
  bool written = false;
  if (argc < 2) {
    run(std::cin);
    count = 1;
  }
  for (int i = 1; i < argc; ++i) {
    if (const char* const drawn = option(argv[i], "-drawn=")) {
      const std::optional<unsigned> inputs = whole_number(drawn);
      if (!inputs) return refuse(argv[i], "-drawn=N with a number from 1 to 1000000000");
      count += run_drawn(*inputs);
      continue;
    }
    if (const char* const folder = option(argv[i], "-seeds=")) {
      if (*folder == 0 || !write_seeds(folder))
        return refuse(argv[i], "-seeds=FOLDER with a folder to write to, or a place for one");
      std::printf("%u seeds in %s\n", kSeeds, folder);
      written = true;
      continue;
    }
    if (is_libfuzzer_option(argv[i])) continue;  // the same line runs both builds
    const int ran = argv[i][0] == '-' ? -1 : run_path(argv[i]);
    if (ran < 0) return refuse(argv[i], "a file, a folder, -drawn=N or -seeds=FOLDER");
    count += ran;
  }
  if (!written || count > 0) std::printf("%d inputs\n", count);
  return 0;
}
