#include "fuzz/target.h"

#include <algorithm>
#include <cstdio>

#include "fuzz/judged.h"
#include "properties/engines/from_bytes.h"

namespace packcheck {
namespace {

/// FNV-1a.
std::uint64_t hash_of(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3;
  return hash;
}

/// One variant of a family, and whose cases it has.
struct FamilyVariant {
  std::string name;
  std::vector<const JudgedLaw*> laws;
  InputMutator mutator;
};

std::vector<FamilyVariant> variants_of_family(const CaseType& type, std::string_view only) {
  std::vector<FamilyVariant> found;
  for (const JudgedLaw& judged : judged_laws()) {
    if (judged.law->case_type != &type) continue;
    for (const std::string& name : judged.variants) {
      if (!only.empty() && name != only) continue;
      const auto is_it = [&name](const FamilyVariant& known) { return known.name == name; };
      const auto known = std::find_if(found.begin(), found.end(), is_it);
      FamilyVariant& variant =
          known != found.end() ? *known : found.emplace_back(FamilyVariant{name, {}, InputMutator(type, {name})});
      variant.laws.push_back(&judged);
    }
  }
  if (found.empty()) nothing_to_judge();
  return found;
}

class DocumentsTarget final : public FuzzTarget {
 public:
  DocumentsTarget(std::string_view family, std::string_view variant, VariantBy by)
      : type_(*case_type_named(family)), by_(by), variants_(variants_of_family(type_, variant)) {}

  void judge(std::span<const std::uint8_t> bytes, LawsPerInput count) const override {
    constexpr std::size_t kFew = 2;  // of many, an input would cost as much as all of them
    // "null" has one hash, whose law may be the wrong one; and what is short costs little.
    constexpr std::size_t kShort = 16;
    if (bytes.size() <= kShort) count = LawsPerInput::all;
    if (by_ == VariantBy::last_bytes || variants_.size() > kFew || count == LawsPerInput::one)
      return judge_variant(document_of(bytes), variants_[variant_of(bytes)], count);
    for (const FamilyVariant& variant : variants_) judge_variant(bytes, variant, count);
  }

  Bytes mutate(const Bytes& bytes, std::size_t longest, Dice& dice) const override {
    if (by_ == VariantBy::hash) return dice.pick(variants_).mutator.mutate(bytes, longest, dice);
    if (longest < kLastBytes) return bytes;
    const bool other = bytes.size() < kLastBytes || dice.once_in(16);
    const std::size_t chosen = other ? dice.below(variants_.size()) : variant_of(bytes);
    const auto document = other ? std::span<const std::uint8_t>() : document_of(bytes);
    return with_variant(
        variants_[chosen].mutator.mutate({document.begin(), document.end()}, longest - kLastBytes, dice), chosen);
  }

  Bytes cross(const Bytes& bytes, const Bytes& other, std::size_t longest, Dice& dice) const override {
    const std::size_t chosen = variant_of(bytes);
    const InputMutator& mutator = variants_[chosen].mutator;
    if (by_ == VariantBy::hash) return mutator.cross(bytes, other, longest, dice);
    if (longest < kLastBytes) return bytes;
    const auto here = document_of(bytes);
    const auto there = document_of(other);
    return with_variant(
        mutator.cross({here.begin(), here.end()}, {there.begin(), there.end()}, longest - kLastBytes, dice), chosen);
  }

 private:
  static constexpr std::size_t kLastBytes = 2;

  [[nodiscard]] std::size_t variant_of(std::span<const std::uint8_t> bytes) const {
    if (by_ == VariantBy::hash) return hash_of(bytes) % variants_.size();
    if (bytes.size() < kLastBytes) return 0;
    return (bytes[bytes.size() - 2] | static_cast<std::size_t>(bytes.back()) << 8) % variants_.size();
  }
  [[nodiscard]] std::span<const std::uint8_t> document_of(std::span<const std::uint8_t> bytes) const {
    if (by_ == VariantBy::hash) return bytes;
    return bytes.first(bytes.size() - std::min(bytes.size(), kLastBytes));
  }
  static Bytes with_variant(Bytes document, std::size_t chosen) {
    document.push_back(static_cast<std::uint8_t>(chosen));
    document.push_back(static_cast<std::uint8_t>(chosen >> 8));
    return document;
  }
  void judge_variant(std::span<const std::uint8_t> document, const FamilyVariant& variant, LawsPerInput count) const {
    const std::optional<Case> c = type_.from_wire(document, variant.name);
    if (count == LawsPerInput::one) {
      // Bits of the hash that the variant was not chosen by.
      const std::size_t chosen = (hash_of(document) >> 32) % variant.laws.size();
      return judge_case(*variant.laws[chosen], variant.name, *c);
    }
    for (const JudgedLaw* judged : variant.laws) judge_case(*judged, variant.name, *c);
  }

  const CaseType& type_;
  VariantBy by_;
  std::vector<FamilyVariant> variants_;
};

class LawsTarget final : public FuzzTarget {
 public:
  explicit LawsTarget(const std::vector<std::string_view>& patterns) {
    std::vector<const Law*> wanted;
    for (const std::string_view pattern : patterns) {
      const std::vector<const Law*> matching = laws_matching(pattern).value();
      wanted.insert(wanted.end(), matching.begin(), matching.end());
    }
    for (const JudgedLaw& judged : judged_laws()) {
      if (std::find(wanted.begin(), wanted.end(), judged.law) == wanted.end()) continue;
      Row& row = rows_.emplace_back(Row{&judged, {}});
      for (const std::string& variant : judged.variants)
        row.mutators.emplace_back(*judged.law->case_type, std::vector{variant});
    }
    if (rows_.empty()) nothing_to_judge();
  }

  void judge(std::span<const std::uint8_t> bytes, LawsPerInput) const override {
    const std::optional<ChosenBytes> chosen = chosen_by(bytes);
    if (!chosen) return;
    const JudgedLaw& judged = *rows_[chosen->law % rows_.size()].judged;
    const std::string& variant = judged.variants[chosen->variant % judged.variants.size()];
    const CaseType& type = *judged.law->case_type;
    if (const std::optional<Case> wire = type.from_wire(chosen->rest, variant))
      return judge_case(judged, variant, *wire);
    BytesSource source(chosen->rest);
    judge_case(judged, variant, type.draw(source, variant));
  }

  Bytes mutate(const Bytes& bytes, std::size_t longest, Dice& dice) const override {
    if (longest < kChoosingBytes) return bytes;
    // Another law or variant now and then, with a case of its own.
    if (bytes.size() < kChoosingBytes || dice.once_in(16)) {
      Bytes choosing;
      append_choice(choosing, dice);
      return behind(choosing, mutator_of(choosing).mutate({}, longest - kChoosingBytes, dice));
    }
    return behind(bytes, mutator_of(bytes).mutate(rest_of(bytes), longest - kChoosingBytes, dice));
  }

  Bytes cross(const Bytes& bytes, const Bytes& other, std::size_t longest, Dice& dice) const override {
    if (bytes.size() < kChoosingBytes || other.size() < kChoosingBytes || longest < kChoosingBytes) return bytes;
    return behind(bytes, mutator_of(bytes).cross(rest_of(bytes), rest_of(other), longest - kChoosingBytes, dice));
  }

 private:
  struct Row {
    const JudgedLaw* judged;
    std::vector<InputMutator> mutators;  // one per variant
  };

  static void append_choice(Bytes& bytes, Dice& dice) {
    for (std::size_t i = 0; i < kChoosingBytes; ++i) bytes.push_back(static_cast<std::uint8_t>(dice.bits()));
  }
  [[nodiscard]] const InputMutator& mutator_of(const Bytes& bytes) const {
    const ChosenBytes chosen = *chosen_by(bytes);
    const Row& row = rows_[chosen.law % rows_.size()];
    return row.mutators[chosen.variant % row.mutators.size()];
  }
  static Bytes rest_of(const Bytes& bytes) { return {bytes.begin() + kChoosingBytes, bytes.end()}; }
  static Bytes behind(const Bytes& choosing, const Bytes& rest) {
    Bytes whole(choosing.begin(), choosing.begin() + kChoosingBytes);
    whole.insert(whole.end(), rest.begin(), rest.end());
    return whole;
  }

  std::vector<Row> rows_;
};

class TextTarget final : public FuzzTarget {
 public:
  explicit TextTarget(const TextFunctions& functions) : functions_(functions) {}

  void judge(std::span<const std::uint8_t> bytes, LawsPerInput) const override {
    const auto broken = functions_.check({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!broken) return;
    std::fprintf(stderr, "input    %s\n", broken->input.c_str());
    stop(broken->signature);
  }

  Bytes mutate(const Bytes& bytes, std::size_t longest, Dice& dice) const override {
    Bytes changed = bytes;
    std::optional<Bytes> structural;
    if (bytes.size() < 2 || dice.once_in(32))
      changed = functions_.fresh(dice);
    else if (!dice.once_in(8) && (structural = functions_.mutator.mutate(bytes, dice)))
      changed = std::move(*structural);
    else
      change_byte(changed, dice);
    if (changed.size() > longest) changed.resize(longest);
    return changed;
  }

  Bytes cross(const Bytes& bytes, const Bytes& other, std::size_t longest, Dice& dice) const override {
    std::optional<Bytes> crossed;
    if (functions_.mutator.cross != nullptr) crossed = functions_.mutator.cross(bytes, other, dice);
    return crossed && crossed->size() <= longest ? *crossed : mutate(bytes, longest, dice);
  }

 private:
  TextFunctions functions_;
};

}  // namespace

std::unique_ptr<FuzzTarget> documents_target(std::string_view family, std::string_view variant, VariantBy by) {
  return std::make_unique<DocumentsTarget>(family, variant, by);
}
std::unique_ptr<FuzzTarget> laws_target(const std::vector<std::string_view>& patterns) {
  return std::make_unique<LawsTarget>(patterns);
}
std::optional<BrokenText> broken_text(std::string_view checked, const std::string& fault, std::string_view input) {
  if (fault.empty()) return std::nullopt;
  return BrokenText{std::string(checked).append(": ").append(fault), std::string(input)};
}

std::unique_ptr<FuzzTarget> text_target(const TextFunctions& functions) {
  return std::make_unique<TextTarget>(functions);
}

}  // namespace packcheck
