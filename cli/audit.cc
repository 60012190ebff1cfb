// packcheck audit: what a loader should refuse or convert, told before the file is loaded.
#include "core/audit/audit.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "cli/audit_report.h"
#include "cli/commands.h"
#include "core/graph/audit_graph.h"

namespace packcheck {
namespace {

using FileBytes = std::span<const std::uint8_t>;

/// Text that begins like JSON. A safetensors file may begin with '{', too, but has a NUL among its first 8 bytes.
bool is_json(FileBytes bytes) {
  const FileBytes start = bytes.first(std::min<std::size_t>(bytes.size(), 8));
  if (std::find(start.begin(), start.end(), 0) != start.end()) return false;
  for (const std::uint8_t byte : bytes)
    if (byte != ' ' && byte != '\t' && byte != '\r' && byte != '\n') return byte == '{' || byte == '[';
  return false;
}

/// The kinds of warning about graphs, as the kinds of all audits.
const std::vector<WarningKind>& graph_kinds() {
  static const std::vector<WarningKind> kinds = [] {
    std::vector<WarningKind> all;
    for (const GraphWarningKind& kind : graph_warning_kinds())
      all.push_back({kind.name, kind.is_problem ? Severity::problem : Severity::note, kind.meaning});
    return all;
  }();
  return kinds;
}

int audit_json(const AuditOptions& o, FileBytes bytes) {
  const AuditSubject subject{o.file, bytes.size(), o.accept};
  FileAudit audit;
  for (GraphWarning& warning : audit_graph({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) {
    const auto kind = static_cast<std::size_t>(warning.kind - graph_warning_kinds().data());
    audit.warnings.push_back(
        {&graph_kinds()[kind], {}, std::move(warning.what), std::move(warning.where), std::move(warning.right), {}});
  }
  if (o.json)
    print_audit_json(subject, nullptr, audit);
  else
    print_audit(subject, nullptr, audit);
  return subject.problems(audit.warnings) == 0 ? kHolds : kFindings;
}

bool is_kind(const std::string& name) {
  const auto is_named = [&](const WarningKind& kind) { return kind.name == name; };
  return warning_kind_named(name) != nullptr || std::any_of(graph_kinds().begin(), graph_kinds().end(), is_named);
}

bool is_any(FileBytes) { return true; }

/// Gives the pages that lie wholly before the end of `bytes` back; they are in the file.
void forget(FileBytes bytes) {
  static const auto kPage = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(bytes.data()) / kPage * kPage;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / kPage * kPage;
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

/// A file that somebody makes shorter while it is mapped has no more bytes to give, and the processor says so with a
/// signal. No return is possible from there: the rest of the audit would read them again.
extern "C" void say_that_the_file_shrank(int) {
  static constexpr char kMessage[] = "packcheck: the file became shorter while it was read; expected a file at rest\n";
  (void)!::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  ::_exit(kBadInput);
}

int audit_tensors(const AuditOptions& o, FileBytes bytes) {
  const AuditSubject subject{o.file, bytes.size(), o.accept};
  const Result<TensorFile> file = read_tensor_file(bytes);
  FileAudit audit;
  if (file)
    audit = audit_file(*file, bytes, forget);
  else
    audit.warnings.push_back(refused_file(file.error()));
  const TensorFile* const readable = file ? &*file : nullptr;
  if (o.json)
    print_audit_json(subject, readable, audit);
  else
    print_audit(subject, readable, audit);
  return subject.problems(audit.warnings) == 0 ? kHolds : kFindings;
}

/// Who audits which content; the first that recognises it does.
struct Auditor {
  bool (*recognises)(FileBytes bytes);
  int (*audit)(const AuditOptions& options, FileBytes bytes);
};
constexpr Auditor kAuditors[] = {
    {is_json, audit_json},
    {is_any, audit_tensors},
};

}  // namespace

int run_audit(const AuditOptions& o) {
  for (const std::string& kind : o.accept) {
    if (is_kind(kind)) continue;
    std::string known;
    for (const WarningKind& k : warning_kinds()) known.append(known.empty() ? "" : ", ").append(k.name);
    for (const WarningKind& k : graph_kinds()) known.append(", ").append(k.name);
    return complain({"no kind of warning '" + kind + "'", "--accept", "one of " + known});
  }
  const Result<MappedFile> mapped = MappedFile::open(o.file);
  if (!mapped) return complain(mapped.error());
  std::signal(SIGBUS, say_that_the_file_shrank);
  const FileBytes bytes = mapped->bytes();
  if (!bytes.empty()) (void)::madvise(const_cast<std::uint8_t*>(bytes.data()), bytes.size(), MADV_SEQUENTIAL);
  for (const Auditor& auditor : kAuditors)
    if (auditor.recognises(bytes)) return auditor.audit(o, bytes);
  return kFailed;
}

}  // namespace packcheck
