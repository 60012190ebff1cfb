// Packed parameters: pack, unpack.
#include <cstring>

#include "subjects/calls.h"
#include "subjects/reference/answers.h"

namespace packcheck {

namespace {
/// Without making each row's id.
const Layout* layout_row(const std::vector<Layout>& rows, std::string_view id) {
  const std::size_t colon = id.find(':');
  if (colon == std::string_view::npos) return nullptr;
  for (const Layout& row : rows)
    if (row.op == id.substr(0, colon) && row.dialect == id.substr(colon + 1)) return &row;
  return nullptr;
}
}  // namespace

Reply answer_pack(const ReferenceRules& rules, Arguments a) {
  const Layout* layout = layout_row(rules.pack_layouts, a[0]);
  if (layout == nullptr) return {Outcome::skipped, {}, "no layout '" + std::string(a[0]) + "'"};
  std::vector<std::int64_t> values(a[1].size() / sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(values.data(), a[1].data(), values.size() * sizeof(std::int64_t));
  const Result<PackedWords> words = packcheck::pack(*layout, values, rules.pack);
  return words ? answered(u64s_to_string(*words)) : refused(words.error());
}

Reply answer_unpack(const ReferenceRules& rules, Arguments a) {
  const Layout* layout = layout_row(rules.unpack_layouts, a[0]);
  if (layout == nullptr) return {Outcome::skipped, {}, "no layout '" + std::string(a[0]) + "'"};
  const std::vector<std::uint64_t> words = string_to_u64s(a[1]);
  if (words.size() != kPackedWords) return malformed("unpack wants the 16 bytes of two doubles");
  const Unpacked fields = packcheck::unpack(*layout, {words[0], words[1]}, rules.unpack);
  std::string part(fields.values.size() * sizeof(std::int64_t), '\0');
  std::memcpy(part.data(), fields.values.data(), part.size());
  return answered(std::move(part));
}

}  // namespace packcheck
