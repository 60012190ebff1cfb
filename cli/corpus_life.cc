#include "cli/corpus_life.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>

#include "cli/isolated_law.h"
#include "cli/open_subject.h"

namespace packcheck {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSeconds = 25;  ///< what ClusterFuzz gives one input

}  // namespace

Result<std::vector<CrashingFile>> crashing_files(const fs::path& corpus) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const CaseType* type : all_case_types())
    for (const fs::directory_entry& entry :
         fs::directory_iterator(corpus / std::string(type->name()) / "crashing", ignored))
      if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<CrashingFile> files;
  for (const fs::path& path : paths) {
    Result<std::string> text = read_file(path);
    if (!text) return tl::unexpected(text.error());
    const Result<std::vector<CaseFile>> cases = parse_case_file(*text, path.string());
    if (!cases) return tl::unexpected(cases.error());
    if (cases->size() != 1) return refuse(std::to_string(cases->size()) + " cases", path.string(), "one case");
    files.push_back({path, std::move(*text), cases->front()});
  }
  return files;
}

std::string identity_of(const CaseFile& file) {
  return file.law + " " + file.place + " " + (file.subject.empty() ? "reference" : file.subject);
}

Result<Court> Court::open(const std::string& spec) {
  Court court;
  court.spec_ = spec.empty() ? "reference" : spec;
  Result<std::unique_ptr<Subject>> subject = open_subject(court.spec_, {});
  if (!subject) return tl::unexpected(subject.error());
  court.subject_ = std::move(*subject);
  return court;
}

Law Court::law(const Law& law) const { return spec_ == "reference" || is_twin(spec_) ? isolated(law, kSeconds) : law; }

bool Court::breaks(const Law& law, const Case& c, const std::string& place) const {
  const Verdict verdict = law.check(*subject_, c);
  return std::any_of(verdict.breaches.begin(), verdict.breaches.end(),
                     [&place](const Breach& breach) { return breach.place == place; });
}

Placed placed(const fs::path& corpus, const std::string& kind, const std::string& spec, const std::string& law,
              const Breach& breach, const Case& c) {
  Placed result;
  result.text = case_file_text(law, spec, breach, c);
  result.path = corpus / std::string(c.type->name()) / kind / file_name_of(law + " " + breach.place, result.text);
  return result;
}

void remove_left_parts(const fs::path& corpus) {
  std::vector<fs::path> left;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(corpus, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::size_t at = name.rfind(kPartMark);
    if (at == std::string::npos) continue;
    pid_t pid = 0;
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + at + kPartMark.size(), end, pid);
    if (parsed.ec == std::errc{} && parsed.ptr == end && pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH)
      left.push_back(entry.path());
  }
  for (const fs::path& path : left) fs::remove(path, ignored);
}

}  // namespace packcheck
