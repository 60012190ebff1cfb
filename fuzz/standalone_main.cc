// A main for compilers without libFuzzer: replays files and folders of files, or standard input
// without arguments. Prints how many inputs it ran, so that an empty corpus shows.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

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

}  // namespace

int main(int argc, char** argv) {
  int count = 0;
  if (argc < 2) {
    run(std::cin);
    count = 1;
  }
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;  // a libFuzzer option
    const int ran = run_path(argv[i]);
    if (ran < 0) {
      std::fprintf(stderr, "%s: cannot be read; expected a file or a folder\n", argv[i]);
      return 2;
    }
    count += ran;
  }
  std::printf("%d inputs\n", count);
  return 0;
}
