// Number formats and text: convert, print, parse.
#include <array>
#include <optional>

#include "core/format/mode.h"
#include "subjects/calls.h"
#include "subjects/reference/answers.h"

namespace packcheck {

Reply answer_convert(const ReferenceRules& rules, Arguments a) {
  const auto from = format_named(a[0]);
  const auto to = format_named(a[1]);
  std::optional<ConvertRules> mode = mode_named(a[2]);
  if (!from || !to) return {Outcome::skipped, {}, "unknown format; known are " + std::string(format_names())};
  if (!mode) return malformed("unknown mode '" + std::string(a[2]) + "'");
  if (rules.convert != nullptr) rules.convert(*mode);
  std::string out(a[3].size() / spec(*from).bytes() * spec(*to).bytes(), '\0');
  if (auto ok = convert_array(*from, *to, bytes_of(a[3]), bytes_of(out), *mode); !ok) return refused(ok.error());
  return answered(std::move(out));
}

Reply answer_print(const ReferenceRules& rules, Arguments a) {
  if (a[0].size() != sizeof(std::uint64_t)) return malformed("print wants the 8 bytes of a double");
  const Result<std::string> text = print_number(string_to_u64s(a[0])[0], rules.print);
  return text ? answered(*text) : refused(text.error());
}

Reply answer_parse(const ReferenceRules& rules, Arguments a) {
  const Result<std::uint64_t> bits = parse_number(a[0], rules.parse);
  return bits ? answered(u64s_to_string(std::array{*bits})) : refused(bits.error());
}

}  // namespace packcheck
