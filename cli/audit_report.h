// cli/audit_report.h: what `packcheck audit` says, for people and for machines.
#pragma once

#include <string>
#include <vector>

#include "core/audit/audit.h"

namespace packcheck {

/// What was audited, and the kinds of warning that the caller accepts.
struct AuditSubject {
  std::string path;
  std::uint64_t bytes = 0;
  std::vector<std::string> accepted;

  /// A problem counts unless its kind is accepted.
  [[nodiscard]] bool is_problem(const Warning& warning) const;
  [[nodiscard]] std::size_t problems(const std::vector<Warning>& warnings) const;
};

/// A table of the tensors, then the warnings, then one line that sums up. `file` is null where it was refused.
void print_audit(const AuditSubject& subject, const TensorFile* file, const FileAudit& audit);
/// One JSON object, its tensors and warnings one a line. Schema version 1: README.md, "audit".
void print_audit_json(const AuditSubject& subject, const TensorFile* file, const FileAudit& audit);

}  // namespace packcheck
