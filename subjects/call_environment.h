// subjects/call_environment.h: the floating-point environment and locale that a subject is called in.
//
// A caller may flush subnormals, round upward or write decimals with a comma; the right answer is the
// same. "under:flush,upward,comma:SUBJECT" (see `packcheck verify --subject`) puts every call of a
// subject into such an environment; laws and oracles stay in the exact one. A new condition is one row
// in call_environment.cc. Proved by tests/process/call_environment_test.cc.
#pragma once

#include <cfenv>
#include <memory>
#include <string>
#include <string_view>

#include "subjects/subject.h"

namespace packcheck {

/// What a call finds. The default is what a process starts with.
struct CallEnvironment {
  int rounding = FE_TONEAREST;  ///< of <cfenv>
  bool flush = false;           ///< flush-to-zero and denormals-are-zero; x86-64 only
  bool comma = false;           ///< the locale de_DE.UTF-8 in the calling thread (uselocale)

  friend bool operator==(const CallEnvironment&, const CallEnvironment&) = default;
};

/// "flush,upward,comma": words upward, downward, toward-zero, flush, comma, each at most once, one rounding
/// at most. Refuses other words, flush where the processor cannot, and comma without the locale.
[[nodiscard]] Result<CallEnvironment> parse_call_environment(std::string_view text);

/// Is in `environment` while alive; then in the one that a process starts with.
class InCallEnvironment {
 public:
  explicit InCallEnvironment(const CallEnvironment& environment);
  ~InCallEnvironment();
  InCallEnvironment(const InCallEnvironment&) = delete;
  InCallEnvironment& operator=(const InCallEnvironment&) = delete;

  /// Whether the floating-point modes still are those of the environment, and no exception traps.
  [[nodiscard]] bool kept() const;

 private:
  unsigned control_ = 0;  // the modes as they were set
  void* locale_before_ = nullptr;
};

/// `subject`, each of whose calls runs in `environment`. For subjects that answer in this thread.
[[nodiscard]] std::unique_ptr<Subject> make_subject_under(const CallEnvironment& environment,
                                                          std::unique_ptr<Subject> subject);

}  // namespace packcheck
