#include "cli/open_subject.h"

#include <filesystem>
#include <system_error>

#include "cli/paths.h"
#include "subjects/hardware/f16c.h"
#include "subjects/process/in_process_subject.h"
#include "subjects/process/native_subject.h"
#include "subjects/process/program_subject.h"
#include "subjects/reference/twins.h"
#include "subjects/third_party/names.h"

namespace packcheck {
namespace {

constexpr std::string_view kTwinPrefix = "twin:";
constexpr std::string_view kLibraryPrefix = "lib:";
constexpr std::string_view kProgramPrefix = "exec:";

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

Result<std::unique_ptr<Subject>> open_twin(std::string_view name) {
  if (std::unique_ptr<Subject> twin = make_twin(name)) return twin;
  std::string known;
  for (const Twin& twin : all_twins()) known += (known.empty() ? "" : ", ") + std::string(twin.name);
  return refuse("unknown twin '" + std::string(name) + "'", "--subject", "one of " + known);
}

/// The file of a built-in third-party library; empty where it was not built.
std::string third_party_library(const std::string& name) {
  for (const std::filesystem::path& folder : third_party_folders()) {
    std::filesystem::path path = folder / (name + ".so");
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path.string();
  }
  return {};
}

tl::unexpected<Error> not_built(const std::string& name) {
  return refuse("subject '" + name + "' was not built", "--subject", "what it wraps present when packcheck is built");
}

Result<std::unique_ptr<Subject>> open_third_party(const std::string& name, const CallLimits& limits) {
  if (name == kF16cName) {
    if (std::unique_ptr<Subject> f16c = make_f16c()) return f16c;
    return refuse("this processor has no F16C", "--subject " + name, "an x86-64 processor of 2012 or later");
  }
  const std::string path = third_party_library(name);
  return path.empty() ? not_built(name) : open_native_subject(path, limits);
}

}  // namespace

bool is_twin(const std::string& spec) { return starts_with(spec, kTwinPrefix); }

bool is_third_party(const std::string& spec) {
  for (const ThirdPartySubject& subject : kThirdPartySubjects)
    if (subject.name == spec) return true;
  return false;
}

Result<std::unique_ptr<Subject>> open_subject(const std::string& spec, const CallLimits& limits) {
  if (spec == "reference") return make_reference();
  if (is_twin(spec)) return open_twin(spec.substr(kTwinPrefix.size()));
  if (starts_with(spec, kLibraryPrefix)) return open_native_subject(spec.substr(kLibraryPrefix.size()), limits);
  if (starts_with(spec, kProgramPrefix)) return open_program_subject(spec.substr(kProgramPrefix.size()), limits);
  if (is_third_party(spec)) return open_third_party(spec, limits);
  return refuse("unknown subject '" + spec + "'", "--subject",
                "reference, twin:NAME, lib:PATH.so, exec:COMMAND or a built-in name (see `packcheck subjects`)");
}

Result<std::unique_ptr<Subject>> open_in_process(const std::string& spec) {
  if (starts_with(spec, kLibraryPrefix)) return open_in_process_subject(spec.substr(kLibraryPrefix.size()));
  if (!is_third_party(spec) || spec == kF16cName)
    return refuse("'" + spec + "' with --in-process", "--subject", "lib:PATH.so or a third-party library");
  const std::string path = third_party_library(spec);
  return path.empty() ? not_built(spec) : open_in_process_subject(path);
}

std::vector<std::string> expand_subjects(const std::vector<std::string>& specs) {
  std::vector<std::string> expanded;
  for (const std::string& spec : specs) {
    const bool all = spec == "all";
    if (all) expanded.emplace_back("reference");
    if (all || spec == "twin:*")
      for (const Twin& twin : all_twins()) expanded.push_back(std::string(kTwinPrefix) + std::string(twin.name));
    if (all || spec == "third-party")
      for (const ThirdPartySubject& subject : kThirdPartySubjects) expanded.emplace_back(subject.name);
    if (!all && spec != "twin:*" && spec != "third-party") expanded.push_back(spec);
  }
  return expanded;
}

}  // namespace packcheck
