#include "subjects/call_environment.h"

#include <fenv.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace packcheck {
namespace {

#if defined(__x86_64__)
constexpr bool kCanFlush = true;
constexpr unsigned kFlushBits = 0x8040;  // of MXCSR: FTZ, DAZ
constexpr unsigned kModeBits = 0xE040;   // and the rounding mode
void set_flush() { _mm_setcsr(_mm_getcsr() | kFlushBits); }
unsigned control() { return (_mm_getcsr() & kModeBits) | static_cast<unsigned>(std::fegetround()) << 16; }
#else
constexpr bool kCanFlush = false;
void set_flush() {}
unsigned control() { return static_cast<unsigned>(std::fegetround()); }
#endif

/// Made once and kept: a call must not pay for it.
locale_t comma_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "de_DE.UTF-8", nullptr);
  return locale;
}

struct Word {
  std::string_view name;
  CallEnvironment sets;
};
constexpr auto kWords = std::to_array<Word>({{"upward", {FE_UPWARD, false, false}},
                                             {"downward", {FE_DOWNWARD, false, false}},
                                             {"toward-zero", {FE_TOWARDZERO, false, false}},
                                             {"flush", {FE_TONEAREST, true, false}},
                                             {"comma", {FE_TONEAREST, false, true}}});
constexpr std::string_view kRight = "upward, downward or toward-zero, flush, comma, each once, between commas";

class SubjectUnder final : public Subject {
 public:
  SubjectUnder(const CallEnvironment& environment, std::unique_ptr<Subject> subject)
      : environment_(environment), subject_(std::move(subject)) {
    info_ = subject_->info();
  }

  Reply call(const Request& request) override {
    const InCallEnvironment scope(environment_);
    return subject_->call(request);
  }
  Reply call_in_place(const RequestView& request) override {
    const InCallEnvironment scope(environment_);
    return subject_->call_in_place(request);
  }
  std::vector<Reply> call_batch(std::span<const Request> requests) override {
    const InCallEnvironment scope(environment_);
    return subject_->call_batch(requests);
  }
  Result<std::uint64_t> bytes_kept_per_call(const Request& request, unsigned warmup, unsigned repeats) override {
    const InCallEnvironment scope(environment_);
    return subject_->bytes_kept_per_call(request, warmup, repeats);
  }

 private:
  CallEnvironment environment_;
  std::unique_ptr<Subject> subject_;
};

}  // namespace

Result<CallEnvironment> parse_call_environment(std::string_view text) {
  CallEnvironment environment;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view name = text.substr(at, end - at);
    at = end + 1;
    const Word* word = nullptr;
    for (const Word& known : kWords)
      if (known.name == name) word = &known;
    if (word == nullptr) return refuse("no condition '" + std::string(name) + "'", "under:", std::string(kRight));
    CallEnvironment next = environment;
    if (word->sets.rounding != FE_TONEAREST) next.rounding = word->sets.rounding;
    next.flush |= word->sets.flush;
    next.comma |= word->sets.comma;
    if (next == environment || (environment.rounding != FE_TONEAREST && next.rounding != environment.rounding))
      return refuse("'" + std::string(name) + "' after '" + std::string(text.substr(0, end - name.size())) + "'",
                    "under:", std::string(kRight));
    environment = next;
  }
  if (environment.flush && !kCanFlush) return refuse("flush on this processor", "under:", "x86-64");
  if (environment.comma && comma_locale() == nullptr)
    return refuse("no locale de_DE.UTF-8",
                  "under:", "what ci/install makes; LOCPATH=build/locale where it could not add it to the system");
  return environment;
}

InCallEnvironment::InCallEnvironment(const CallEnvironment& environment) {
  std::fesetenv(FE_DFL_ENV);
  if (environment.comma) locale_before_ = uselocale(comma_locale());
  std::fesetround(environment.rounding);
  if (environment.flush) set_flush();
  control_ = control();
}

InCallEnvironment::~InCallEnvironment() {
  if (locale_before_ != nullptr) uselocale(static_cast<locale_t>(locale_before_));
  std::fesetenv(FE_DFL_ENV);
}

bool InCallEnvironment::kept() const { return control() == control_ && fegetexcept() == 0; }

std::unique_ptr<Subject> make_subject_under(const CallEnvironment& environment, std::unique_ptr<Subject> subject) {
  return std::make_unique<SubjectUnder>(environment, std::move(subject));
}

}  // namespace packcheck
