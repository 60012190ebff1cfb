// How fast `packcheck audit` reads a large file, beside a program that only adds the same mapped file up as 64-bit
// words, and how much memory it takes: both in child processes, one thread, in turns, from the page cache.
//
//     cmake --build build/release --target audit_bench packcheck
//     build/release/bench/audit_bench build/release/packcheck [MiB] [KIND...]
//
// The file (1024 MiB unless told otherwise) is made in $TMPDIR and removed. A KIND is a type of a safetensors or a GGUF
// file, in letters of any size; all of them by default. Ratios of processor time, which other programs on the
// machine disturb less than the clock's; the median of 5 pairs.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/file/tensor_file.h"
#include "core/format/convert.h"

namespace packcheck {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::size_t kPattern = 1 << 15;  // numbers of the pattern that fills the file
constexpr int kPairs = 5;

/// A type and the kind of file that it is measured in.
struct Kind {
  FileKind file;
  const StoredType* type;
};

/// Every type that has a size; those of both kinds of file once.
std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const FileKind file : {FileKind::safetensors, FileKind::gguf}) {
    for (const StoredType& type : stored_types(file)) {
      const bool known = file == FileKind::gguf && stored_type_named(FileKind::safetensors, type.name) != nullptr;
      if (type.block_bits != 0 && !known) kinds.push_back({file, &type});
    }
  }
  return kinds;
}

std::string lower(std::string_view text) {
  std::string all(text);
  std::transform(all.begin(), all.end(), all.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
  return all;
}

Bytes random_bytes(std::size_t count) {
  std::mt19937 random(2);
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

std::vector<float> weights_of_a_model() {
  std::mt19937 random(1);
  std::normal_distribution<float> weights(0.0F, 0.05F);
  std::vector<float> values(kPattern);
  for (float& v : values) v = weights(random);
  return values;
}

Bytes dense_pattern(Format format, const std::vector<float>& values) {
  Bytes bytes(values.size() * spec(format).bytes());
  const auto* const in = reinterpret_cast<const std::uint8_t*>(values.data());
  (void)convert_array(Format::f32, format, {in, values.size() * sizeof(float)}, bytes, {});
  return bytes;
}

/// Weights in the kind's form. Without a quantizer here they are random codes under scales that are alike; scales of a
/// byte are random, too. Types without numbers that packcheck knows are random bytes.
Bytes pattern_of(const StoredType& type) {
  const std::vector<float> values = weights_of_a_model();
  if (!type.format.empty() && !spec(*format_named(type.format)).is_integer())
    return dense_pattern(*format_named(type.format), values);
  if (type.encoding.empty()) return random_bytes(kPattern / type.block_elements * type.block_bits / 8);
  const Encoding& e = **encoding_named(type.encoding);
  Bytes bytes(*encoded_bytes(e, values.size()));
  if (e.quantizes) {
    (void)quantize(e, values, bytes);
    return bytes;
  }
  bytes = random_bytes(bytes.size());
  for (std::size_t block = 0; block < bytes.size(); block += e.block_bytes) {
    for (const ScaleField& field : e.scales) {
      std::uint8_t* const at = &bytes[block + field.offset];
      if (field.format == ScaleFormat::f16) store_little_endian<std::uint16_t>(at, 0x1234);
      if (field.format == ScaleFormat::f32) store_little_endian<std::uint32_t>(at, 0x3C123456);
    }
  }
  return bytes;
}

/// A file of one kind: tensors of the pattern, 64 MiB each.
bool write_file(const std::string& path, const Kind& kind, std::size_t mib) {
  TensorFile file;
  file.kind = kind.file;
  file.version = kind.file == FileKind::gguf ? 3 : 0;
  const Bytes pattern = pattern_of(*kind.type);
  const std::size_t repeats = (std::size_t{64} << 20) / pattern.size();
  Bytes one(repeats * pattern.size());
  for (std::size_t i = 0; i < repeats; ++i) std::memcpy(&one[i * pattern.size()], pattern.data(), pattern.size());
  std::vector<std::span<const std::uint8_t>> data;
  for (std::size_t i = 0; i < mib / 64; ++i) {
    FileTensor t;
    t.name = "layer." + std::to_string(i);
    t.dtype = kind.type->name;
    t.shape = {repeats, kPattern};
    file.tensors.push_back(t);
    data.emplace_back(one);
  }
  const Result<Bytes> bytes = write_tensor_file(file, data);
  if (!bytes) {
    std::fprintf(stderr, "%s\n", bytes.error().text().c_str());
    return false;
  }
  std::FILE* const out = std::fopen(path.c_str(), "wb");
  if (out == nullptr) return false;
  const bool all = std::fwrite(bytes->data(), 1, bytes->size(), out) == bytes->size();
  return std::fclose(out) == 0 && all;
}

std::uint64_t sum_of_words(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return 0;
  const std::span<const std::uint8_t> bytes = file->bytes();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) sum += load_little_endian<std::uint64_t>(&bytes[i]);
  return sum;
}

struct Cost {
  double seconds;
  long peak_kib;
};

/// Runs `work` in a child.
Cost cost_of(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = 0;
  struct rusage usage {};
  ::wait4(child, &status, 0, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss};
}

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

/// Whether the audit is at least half as fast as the sum.
bool measure(const char* command, const std::string& path, std::string_view kind) {
  std::vector<double> ratios;
  std::vector<double> sums;
  long peak = 0;
  volatile std::uint64_t sink = sum_of_words(path);  // the file is in the page cache from here on
  (void)sink;
  struct stat status {};
  ::stat(path.c_str(), &status);
  for (int i = 0; i < kPairs; ++i) {
    const Cost sum = cost_of([&] { sink = sum_of_words(path); });
    const Cost audit = cost_of([&] {
      (void)!std::freopen("/dev/null", "w", stdout);
      ::execl(command, command, "audit", path.c_str(), static_cast<char*>(nullptr));
    });
    ratios.push_back(sum.seconds / audit.seconds);
    sums.push_back(sum.seconds);
    peak = std::max(peak, audit.peak_kib);
  }
  const double ratio = median(ratios);
  std::printf("%-12s %8.2f GB/s summed, audited at %.2f of that with at most %.1f MiB of memory%s\n",
              std::string(kind).c_str(), static_cast<double>(status.st_size) / median(sums) / 1e9, ratio,
              static_cast<double>(peak) / 1024, ratio < 0.5 ? ": too slow" : "");
  std::fflush(stdout);
  return ratio >= 0.5;
}

int run(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PACKCHECK [MiB] [KIND...]\n", argv[0]);
    return 2;
  }
  const std::size_t mib = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1024;
  std::vector<Kind> kinds;
  for (const Kind& kind : all_kinds())
    if (argc <= 3 ||
        std::any_of(argv + 3, argv + argc, [&](const char* n) { return lower(n) == lower(kind.type->name); }))
      kinds.push_back(kind);
  const char* const folder = std::getenv("TMPDIR");
  std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/audit_bench_XXXXXX";
  const int file = ::mkstemp(path.data());
  if (file < 0) return 1;
  ::close(file);
  int result = 0;
  for (const Kind& kind : kinds) {
    (void)!::truncate(path.c_str(), 0);
    (void)cost_of([&] { std::_Exit(write_file(path, kind, mib) ? 0 : 1); });
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || status.st_size == 0 || !measure(argv[1], path, kind.type->name))
      result = 1;
  }
  ::unlink(path.c_str());
  return result;
}

}  // namespace
}  // namespace packcheck

int main(int argc, char** argv) { return packcheck::run(argc, argv); }
