// Field values to pack, and packed words to take apart.
#include "properties/cases/case_type.h"
#include "properties/cases/cases.h"

namespace packcheck {
namespace {

const Layout* layout_of(std::string_view variant) {
  const Result<const Layout*> found = layout_named(variant);
  return found ? *found : &all_layouts().front();
}

const Layout* read_layout(MemberReader& members) {
  const Result<const Layout*> found = layout_named(members.text("layout"));
  if (found) return *found;
  members.fail(found.error());
  return nullptr;
}

/// Mostly what a model uses, then the whole range, then its upper end.
std::int64_t draw_field(Source& source, const Field& field) {
  switch (source.below(3)) {
    case 0: return static_cast<std::int64_t>(source.below(8));
    case 1: return static_cast<std::int64_t>(source.below(static_cast<std::uint64_t>(field.largest()) + 1));
    default: return field.largest() - static_cast<std::int64_t>(source.below(3));
  }
}

/// Just outside the field, far outside, and negative: what a packer that does not check lets through.
std::int64_t draw_outside(Source& source, const Field& field) {
  const std::int64_t outside[] = {field.largest() + 1, -1, 2 * field.largest() + 2, INT64_MIN, INT64_MAX};
  return source.pick(outside);
}

class ParametersType final : public TypedCaseType<ParametersCase> {
 public:
  using TypedCaseType::TypedCaseType;

  ParametersCase draw_value(Source& source, std::string_view variant) const override {
    ParametersCase c{layout_of(variant), {}};
    for (const Field& field : c.layout->fields) c.values.push_back(draw_field(source, field));
    if (source.once_in(3)) {
      const std::size_t at = source.below(c.values.size());
      c.values[at] = draw_outside(source, c.layout->fields[at]);
    }
    return c;
  }
  std::string variant_of(const ParametersCase& c) const override { return c.layout->id(); }
  Json write(const ParametersCase& c) const override { return {{"layout", c.layout->id()}, {"values", c.values}}; }
  Result<ParametersCase> read(MemberReader& members) const override {
    ParametersCase c{read_layout(members), members.integers("values")};
    if (c.layout != nullptr && c.values.size() != c.layout->fields.size())
      members.fail({std::to_string(c.values.size()) + " values", c.layout->id(),
                    std::to_string(c.layout->fields.size()) + " (one per field)"});
    return c;
  }
};

class WordsType final : public TypedCaseType<WordsCase> {
 public:
  using TypedCaseType::TypedCaseType;

  WordsCase draw_value(Source& source, std::string_view variant) const override {
    WordsCase c{layout_of(variant), {}};
    for (std::uint64_t& word : c.words) word = source.bits(source.once_in(4) ? 64 : 32);
    return c;
  }
  std::string variant_of(const WordsCase& c) const override { return c.layout->id(); }
  Json write(const WordsCase& c) const override {
    return {{"layout", c.layout->id()}, {"scalar", hex_of(c.words[0], 64)}, {"param2", hex_of(c.words[1], 64)}};
  }
  Result<WordsCase> read(MemberReader& members) const override {
    const Layout* layout = read_layout(members);
    const std::uint64_t scalar = members.hex("scalar", 64);
    return WordsCase{layout, {scalar, members.hex("param2", 64)}};
  }
};

const ParametersType kParameters("parameters");
const WordsType kWords("words");

}  // namespace

const CaseType& parameters_cases = kParameters;
const CaseType& words_cases = kWords;

}  // namespace packcheck
