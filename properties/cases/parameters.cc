// Field values to pack, and packed words to take apart.
#include <algorithm>

#include "core/format/convert.h"
#include "core/params/analysis.h"
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

constexpr std::uint64_t kExponent = std::uint64_t{0x7FF} << 52;
constexpr std::uint64_t kQuietNan = kExponent | std::uint64_t{1} << 51;

/// The bits of 1.0, 2.0 …, as the value of a plain field.
std::int64_t whole(std::uint64_t value) {
  const std::uint64_t code = convert(Format::i32, Format::f64, value & 0x7FFFFFFF);
  return static_cast<std::int64_t>(code);
}

std::int64_t draw_plain(Source& source, const Field& field) {
  if (field.may_be_absent && source.once_in(8)) return static_cast<std::int64_t>(kQuietNan);
  switch (field.kind) {
    case FieldKind::flag: return whole(source.below(2));
    case FieldKind::whole: return whole(source.below(source.once_in(4) ? std::uint64_t{1} << 31 : 16));
    case FieldKind::probability:
      return static_cast<std::int64_t>(source.below(static_cast<std::uint64_t>(whole(1)) + 1));
    default: {
      const std::uint64_t bits = source.float_in(Format::f64);
      return static_cast<std::int64_t>((bits & kExponent) == kExponent ? std::uint64_t{1} : bits);
    }
  }
}

/// Mostly what a model uses, then the whole range, then its upper end.
std::int64_t draw_field(Source& source, const Field& field) {
  if (field.plain()) return draw_plain(source, field);
  const auto largest = static_cast<std::uint64_t>(field.largest());
  switch (source.below(3)) {
    case 0: return static_cast<std::int64_t>(source.below(std::min<std::uint64_t>(largest + 1, 8)));
    case 1: return static_cast<std::int64_t>(source.bits(field.width));
    default: return static_cast<std::int64_t>(largest - source.below(std::min<std::uint64_t>(largest + 1, 3)));
  }
}

/// Just outside the field, far outside, and negative: what a packer that does not check lets through.
std::vector<std::int64_t> outside(const Field& field) {
  if (!field.plain()) {
    if (field.width == 63) return {-1, INT64_MIN};
    return {field.largest() + 1, -1, 2 * field.largest() + 2, INT64_MIN, INT64_MAX};
  }
  const std::uint64_t minus_one = convert(Format::i32, Format::f64, 0xFFFFFFFF);
  return {static_cast<std::int64_t>(kQuietNan + 1),
          static_cast<std::int64_t>(kExponent),
          static_cast<std::int64_t>(minus_one),
          whole(2) + 1,
          INT64_MIN,
          -1};
}

/// The values with every bit of the exponent set in the words where the layout's fields reach that far.
void make_special(ParametersCase& c) {
  const Result<PackedWords> words = pack(*c.layout, c.values, {.range = RangeRule::or_overflow});
  const std::array<WordSpan, kPackedWords> spans = analyse(*c.layout);
  PackedWords special = *words;
  for (std::size_t w = 0; w < kPackedWords; ++w)
    if (!spans[w].plain && (spans[w].covered & kExponent) == kExponent) special[w] |= kExponent;
  c.values = unpack(*c.layout, special).values;
}

/// Designed cases: every field at its ends and outside, the others small; words that are an infinity or a NaN.
std::vector<ParametersCase> designed(const Layout& layout) {
  std::vector<ParametersCase> cases;
  const auto small = [&] {
    ParametersCase c{&layout, {}};
    for (const Field& field : layout.fields) c.values.push_back(field.plain() ? whole(1) : 1);
    return c;
  };
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    const Field& field = layout.fields[i];
    std::vector<std::int64_t> values = outside(field);
    if (field.plain())
      values.insert(values.end(), {0, 1, whole(1), whole(3), static_cast<std::int64_t>(kQuietNan)});
    else
      values.insert(values.end(), {0, field.largest(), field.largest() / 2, field.largest() / 2 + 1});
    for (const std::int64_t value : values) {
      cases.push_back(small());
      cases.back().values[i] = value;
    }
  }
  cases.push_back(small());
  make_special(cases.back());
  for (std::int64_t& value : cases.emplace_back(small()).values) value = 0;
  make_special(cases.back());
  return cases;
}

/// Whether kernel_h, kernel_w and stride are swept whole.
bool has_kernel(const Layout& layout) {
  return std::any_of(layout.fields.begin(), layout.fields.end(), [](const Field& f) { return f.name == "kernel_h"; });
}

/// The `index`-th valid case: kernel_h, kernel_w and stride from 0 to 255 take every combination in 2^24 indices; every
/// other field of up to 16 bits takes each of its values in any 2^16 indices that follow one another.
ParametersCase case_of_domain(const Layout& layout, std::uint64_t index) {
  ParametersCase c{&layout, {}};
  std::uint64_t odd = 1;
  for (const Field& field : layout.fields) {
    odd = odd * 6 + 3;  // odd, and another one for each field
    const std::uint64_t spread = index * odd;
    if (field.name == "kernel_h" && has_kernel(layout))
      c.values.push_back(static_cast<std::int64_t>(index >> 16 & 0xFF));
    else if (field.name == "kernel_w" && has_kernel(layout))
      c.values.push_back(static_cast<std::int64_t>(index >> 8 & 0xFF));
    else if (field.name == "stride" && has_kernel(layout))
      c.values.push_back(static_cast<std::int64_t>(index & 0xFF));
    else if (field.kind == FieldKind::flag)
      c.values.push_back(whole(spread & 1));
    else if (field.kind == FieldKind::probability)
      c.values.push_back(static_cast<std::int64_t>(spread << 45 & 0x3FEFFFFFFFFFFFFF));
    else if (field.kind == FieldKind::number)
      c.values.push_back(static_cast<std::int64_t>((spread << 47 | spread) & ~(std::uint64_t{1} << 62)));
    else if (field.plain())
      c.values.push_back(whole(spread & 0xFFFF));
    else if (field.width <= 16)
      c.values.push_back(static_cast<std::int64_t>(spread) & field.largest());
    else  // wide: low values, and the exponent never whole
      c.values.push_back(static_cast<std::int64_t>(spread & 0xFFFF) & (field.largest() >> 1));
  }
  return c;
}

constexpr std::uint64_t kCaseWeight = 64;  // a case is a call or four; a profile visits as many fewer

class ParametersType final : public TypedCaseType<ParametersCase> {
 public:
  using TypedCaseType::TypedCaseType;

  ParametersCase draw_value(Source& source, std::string_view variant) const override {
    ParametersCase c{layout_of(variant), {}};
    for (const Field& field : c.layout->fields) c.values.push_back(draw_field(source, field));
    if (source.once_in(3)) {
      const std::size_t at = source.below(c.values.size());
      const std::vector<std::int64_t> values = outside(c.layout->fields[at]);
      c.values[at] = values[source.below(values.size())];
    } else if (source.once_in(16)) {
      make_special(c);
    }
    return c;
  }
  std::string variant_of(const ParametersCase& c) const override { return c.layout->id(); }
  std::size_t payload(const ParametersCase& c) const override { return c.values.size() * sizeof(std::int64_t); }
  std::vector<std::string_view> classes(std::string_view variant) const override {
    const Layout& layout = *layout_of(variant);
    const bool all_plain =
        std::all_of(layout.fields.begin(), layout.fields.end(), [](const Field& f) { return f.plain(); });
    if (all_plain) return {};
    return {"fields in their ranges", "a field outside its range", "a field at its upper end"};
  }
  std::uint64_t members(const ParametersCase& c) const override {
    bool outside = false, end = false;
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      const Field& field = c.layout->fields[i];
      if (field.plain()) continue;
      outside = outside || c.values[i] < 0 || c.values[i] > field.largest();
      end = end || c.values[i] == field.largest();
    }
    return member_bits({!outside, outside, end});
  }
  Json write(const ParametersCase& c) const override { return {{"layout", c.layout->id()}, {"values", c.values}}; }
  Result<ParametersCase> read(MemberReader& members) const override {
    ParametersCase c{read_layout(members), members.integers("values")};
    if (c.layout != nullptr && c.values.size() != c.layout->fields.size())
      members.fail({std::to_string(c.values.size()) + " values", c.layout->id(),
                    std::to_string(c.layout->fields.size()) + " (one per field)"});
    return c;
  }
  std::optional<Domain> domain(std::string_view variant) const override {
    const Layout* layout = layout_of(variant);
    const std::uint64_t total = std::uint64_t{1} << (has_kernel(*layout) ? 24 : 16);
    return Domain{total, 1,
                  [this, layout](std::uint64_t first, std::uint64_t) { return wrap(case_of_domain(*layout, first)); },
                  kCaseWeight, false};
  }
  std::optional<Domain> patterns(std::string_view variant) const override {
    auto cases = std::make_shared<const std::vector<ParametersCase>>(designed(*layout_of(variant)));
    return Domain{cases->size(), 1, [this, cases](std::uint64_t first, std::uint64_t) { return wrap((*cases)[first]); },
                  1, false};
  }
  /// The operators share their rules; the seed's layouts get all of the effort.
  std::uint64_t sharers(std::string_view variant) const override {
    return layout_of(variant)->dialect == "gen2" ? 1 : 8;
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
  std::size_t payload(const WordsCase& c) const override { return sizeof c.words; }
  std::vector<std::string_view> classes(std::string_view) const override {
    return {"a word of more than 32 bits", "words of 32 bits"};
  }
  std::uint64_t members(const WordsCase& c) const override {
    const bool wide = std::any_of(c.words.begin(), c.words.end(), [](std::uint64_t word) { return word >> 32 != 0; });
    return member_bits({wide, !wide});
  }
  Json write(const WordsCase& c) const override {
    return {{"layout", c.layout->id()}, {"scalar", hex_of(c.words[0], 64)}, {"param2", hex_of(c.words[1], 64)}};
  }
  Result<WordsCase> read(MemberReader& members) const override {
    const Layout* layout = read_layout(members);
    const std::uint64_t scalar = members.hex("scalar", 64);
    return WordsCase{layout, {scalar, members.hex("param2", 64)}};
  }
  std::uint64_t sharers(std::string_view variant) const override {
    return layout_of(variant)->dialect == "gen2" ? 1 : 8;
  }
};

const ParametersType kParameters("parameters");
const WordsType kWords("words");

}  // namespace

const CaseType& parameters_cases = kParameters;
const CaseType& words_cases = kWords;

}  // namespace packcheck
