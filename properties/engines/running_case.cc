#include "properties/engines/running_case.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "properties/strict_json.h"

namespace packcheck {
namespace {

constexpr std::size_t kFileBytes = std::size_t{1} << 20;
constexpr std::string_view kTail = "}\n";
constexpr std::string_view kTooLong = R"("too long to be kept")";

}  // namespace

Result<std::unique_ptr<RunningCase>> RunningCase::open(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return refuse(std::strerror(errno), path.string(), "a folder that can be written");
  void* memory = MAP_FAILED;
  if (::posix_fallocate(fd, 0, kFileBytes) == 0)  // no page may be missing when it is written to
    memory = ::mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED) return refuse("cannot be mapped", path.string(), "room for 1 MiB");
  std::memset(memory, ' ', kFileBytes);
  return std::unique_ptr<RunningCase>(new RunningCase(path, static_cast<char*>(memory)));
}

RunningCase::~RunningCase() {
  ::munmap(memory_, kFileBytes);
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string RunningCase::head_of(std::string_view law, std::string_view subject, std::string_view type) {
  const auto quoted = [](std::string_view text) {
    return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  std::string head = R"({"packcheck_case":1,"law":)";
  head.append(quoted(law)).append(R"(,"subject":)").append(quoted(subject));
  head.append(
      R"(,"place":"","input":"","expected":"","actual":"","why":"It was running when packcheck ended.","type":)");
  return head.append(quoted(type)).append(R"(,"case":)");
}

void RunningCase::mark(std::string_view head, std::string_view case_json) {
  if (head.size() + case_json.size() + kTail.size() > kFileBytes) case_json = kTooLong;
  char* at = memory_;
  for (const std::string_view part : {head, case_json, kTail}) {
    std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  const auto size = static_cast<std::size_t>(at - memory_);
  if (size < used_) std::memset(at, ' ', used_ - size);
  used_ = size;
}

void RunningCase::clear() {
  std::memset(memory_, ' ', used_);
  used_ = 0;
}

}  // namespace packcheck
