#include "fuzz/fuzz_one.h"

#include <cstdio>
#include <cstdlib>
#include <map>

#include "properties/engines/from_bytes.h"
#include "subjects/reference/reference.h"

namespace packcheck {
namespace {

Subject& reference() {
  static const std::unique_ptr<Subject> subject = make_reference();
  return *subject;
}

/// The variants of a law, worked out once.
const std::vector<std::string>& variants_of_law(const Law& law) {
  static std::map<const Law*, std::vector<std::string>> known;
  const auto found = known.find(&law);
  return found != known.end() ? found->second : known[&law] = law.variants(reference().info());
}

[[noreturn]] void stop(const Law& law, const Case& c, const Breach& breach) {
  std::fprintf(stderr, "input    %s\nexpected %s\nactual   %s\n%s\npackcheck repro --law %s --case '%s'\n",
               breach.input.c_str(), breach.expected.c_str(), breach.actual.c_str(), breach.why.c_str(), law.id.c_str(),
               c.type->to_json(c).c_str());
  std::fprintf(stderr, "packcheck: fuzz_one.cc:1: fuzz_law: Assertion `%s %s' failed.\n", law.id.c_str(),
               breach.place.c_str());
  std::abort();
}

void judge(const Law& law, std::string_view variant, std::span<const std::uint8_t> bytes) {
  const Case c = case_from_bytes(law, variant, bytes).c;
  const Verdict verdict = law.check(reference(), c);
  if (verdict.ruling == Ruling::broken) stop(law, c, verdict.breaches.front());
}

}  // namespace

void fuzz_law(std::string_view law, std::string_view variant, std::span<const std::uint8_t> bytes) {
  judge(**law_named(law), variant, bytes);
}

void fuzz_variant(std::string_view family, std::string_view variant, std::span<const std::uint8_t> bytes) {
  for (const Law& law : all_laws())
    if (law.case_type->name() == family) judge(law, variant, bytes);
}

void fuzz_family(std::string_view family, std::span<const std::uint8_t> bytes) {
  // The wire format names no variant. A few are all judged; of many, the one that the bytes' own hash chooses, or an
  // input would cost as much as all of them.
  constexpr std::size_t kFew = 4;
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3;
  for (const Law& law : all_laws()) {
    if (law.case_type->name() != family) continue;
    const std::vector<std::string>& variants = variants_of_law(law);
    if (variants.size() > kFew)
      judge(law, variants[hash % variants.size()], bytes);
    else
      for (const std::string& variant : variants) judge(law, variant, bytes);
  }
}

void fuzz_any_law(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 2) return;
  const Law& law = all_laws()[bytes[0] % all_laws().size()];
  const std::vector<std::string>& variants = variants_of_law(law);
  judge(law, variants[bytes[1] % variants.size()], bytes.subspan(2));
}

}  // namespace packcheck
