#include "cli/open_subject.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "cli/paths.h"
#include "cli/results.h"
#include "properties/near_name.h"
#include "subjects/call_environment.h"
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
constexpr std::string_view kUnderPrefix = "under:";
constexpr std::uint64_t kBuiltInStartMilliseconds = 60000;  // Java compiles its file first: slow on a busy machine

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

Result<std::unique_ptr<Subject>> open_twin(std::string_view name) {
  if (std::unique_ptr<Subject> twin = make_twin(name)) return twin;
  std::vector<std::string> known;
  for (const Twin& twin : all_twins()) known.emplace_back(twin.name);
  return refuse("unknown twin '" + std::string(name) + "'", "--subject", one_of(name, known));
}

/// A file that was built for a third-party subject; empty where it was not.
std::string built_file(const std::string& name) {
  for (const std::filesystem::path& folder : third_party_folders()) {
    std::filesystem::path path = folder / name;
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path.string();
  }
  return {};
}

std::string third_party_library(const std::string& name) { return built_file(name + ".so"); }

const ThirdPartySubject* third_party_named(std::string_view name) {
  for (const ThirdPartySubject& subject : kThirdPartySubjects)
    if (subject.name == name) return &subject;
  return nullptr;
}

tl::unexpected<Error> not_built(const std::string& name) {
  return refuse("subject '" + name + "' was not built", "--subject", "what it wraps present when packcheck is built");
}

/// Whether a shell finds a program of this name on the PATH.
bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

/// Replaces the first `{key}` of a command, if it has one, by a path for a shell.
std::string with_path(std::string command, const std::string& key, const std::string& path) {
  const std::size_t at = command.find(key);
  return at == std::string::npos ? command : command.replace(at, key.size(), shell_quoted(path));
}

/// A third-party subject that is a program: found as its command says, or an error that says what is missing.
Result<std::unique_ptr<Subject>> open_built_in_program(const ThirdPartySubject& subject, const CallLimits& limits) {
  const std::string name(subject.name);
  const std::string command(subject.command);
  if (command.rfind("{built}", 0) == 0) {
    const std::string file = built_file(name);
    return file.empty() ? not_built(name) : open_program_subject(shell_quoted(file), limits, kBuiltInStartMilliseconds);
  }
  const std::string program = command.substr(0, command.find(' '));
  if (!is_on_path(program)) return refuse("no command '" + program + "' here", "--subject " + name, "one on the PATH");
  const std::filesystem::path adapters = adapters_folder();
  if (adapters.empty())
    return refuse("no folder of adapters here", "--subject " + name, "packcheck where it was built");
  return open_program_subject(with_path(command, "{adapters}", adapters.string()), limits, kBuiltInStartMilliseconds);
}

/// "under:CONDITIONS:SUBJECT" without its prefix. A program runs its own process, in an environment of its own.
Result<std::unique_ptr<Subject>> open_under(const std::string& rest, const CallLimits& limits) {
  const std::size_t colon = rest.find(':');
  const Result<CallEnvironment> environment = parse_call_environment(rest.substr(0, colon));
  if (!environment) return tl::unexpected(environment.error());
  const std::string spec = colon == std::string::npos ? "" : rest.substr(colon + 1);
  const ThirdPartySubject* const built_in = third_party_named(spec);
  if (starts_with(spec, kLibraryPrefix))
    return open_native_subject(spec.substr(kLibraryPrefix.size()), limits, *environment);
  if (spec == "reference" || is_twin(spec) || spec == kF16cName) {
    Result<std::unique_ptr<Subject>> inner = open_subject(spec, limits);
    return inner ? make_subject_under(*environment, std::move(*inner)) : std::move(inner);
  }
  if (built_in == nullptr || !built_in->command.empty())
    return refuse("'" + spec + "' under conditions", "--subject",
                  "reference, twin:NAME, lib:PATH.so or a built-in library after the second colon");
  const std::string path = third_party_library(spec);
  return path.empty() ? not_built(spec) : open_native_subject(path, limits, *environment);
}

Result<std::unique_ptr<Subject>> open_third_party(const std::string& name, const CallLimits& limits) {
  if (name == kF16cName) {
    if (std::unique_ptr<Subject> f16c = make_f16c()) return f16c;
    return refuse("this processor has no F16C", "--subject " + name, "an x86-64 processor of 2012 or later");
  }
  if (const ThirdPartySubject* subject = third_party_named(name); !subject->command.empty())
    return open_built_in_program(*subject, limits);
  const std::string path = third_party_library(name);
  return path.empty() ? not_built(name) : open_native_subject(path, limits);
}

}  // namespace

bool is_twin(const std::string& spec) { return starts_with(spec, kTwinPrefix); }

bool is_third_party(const std::string& spec) { return third_party_named(spec) != nullptr; }

Result<std::unique_ptr<Subject>> open_subject(const std::string& spec, const CallLimits& limits) {
  if (spec == "reference") return make_reference();
  if (is_twin(spec)) return open_twin(spec.substr(kTwinPrefix.size()));
  if (starts_with(spec, kLibraryPrefix)) return open_native_subject(spec.substr(kLibraryPrefix.size()), limits);
  if (starts_with(spec, kProgramPrefix)) return open_program_subject(spec.substr(kProgramPrefix.size()), limits);
  if (starts_with(spec, kUnderPrefix)) return open_under(spec.substr(kUnderPrefix.size()), limits);
  if (is_third_party(spec)) return open_third_party(spec, limits);
  std::vector<std::string> known{"reference", "third-party", "all"};
  for (const ThirdPartySubject& subject : kThirdPartySubjects) known.emplace_back(subject.name);
  for (const Twin& twin : all_twins()) known.push_back(std::string(kTwinPrefix).append(twin.name));
  const std::string meant = near_name(spec, known);
  return refuse("unknown subject '" + spec + "'", "--subject",
                (meant.empty() ? meant : "'" + meant + "'? ") +
                    "reference, twin:NAME, lib:PATH.so, exec:COMMAND, under:CONDITIONS:SUBJECT or a built-in name (see "
                    "`packcheck subjects`)");
}

Result<std::unique_ptr<Subject>> open_in_process(const std::string& spec) {
  if (starts_with(spec, kLibraryPrefix)) return open_in_process_subject(spec.substr(kLibraryPrefix.size()));
  if (!is_third_party(spec) || spec == kF16cName)
    return refuse("'" + spec + "' with --in-process", "--subject", "lib:PATH.so or a third-party library");
  if (!third_party_named(spec)->command.empty())
    return refuse("'" + spec + "', a program, with --in-process", "--subject", "a library");
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
