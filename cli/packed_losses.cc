#include "cli/packed_losses.h"

#include <array>
#include <charconv>
#include <optional>

#include "cli/open_subject.h"
#include "core/text/number_text.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

constexpr std::string_view kPlace = "json packed subnormal";
constexpr std::string_view kSurvives = "text.packed_double_survives_text";
constexpr std::string_view kParsing = "text.parsing_is_correctly_rounded";
constexpr std::string_view kPrinting = "text.printing_is_exact";
constexpr std::array<std::string_view, 3> kLaws{kSurvives, kParsing, kPrinting};

/// "179926783 (0x0ab976ff)"
std::string integer_text(std::uint64_t bits) {
  return std::to_string(bits) + " (" + hex_of(bits, bits >> 32 == 0 ? 32 : 64) + ")";
}

/// The bits that a described double starts with ("0x0000000000030301 (9.7517e-319)").
std::optional<std::uint64_t> bits_in(std::string_view text) {
  std::uint64_t bits = 0;
  if (text.substr(0, 2) != "0x") return std::nullopt;
  const auto read = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  return read.ec == std::errc{} ? std::optional(bits) : std::nullopt;
}

/// What stands between the first and the last quote; empty if there are none.
std::string quoted_in(const std::string& text) {
  const std::size_t first = text.find('\'');
  const std::size_t last = text.rfind('\'');
  return first == last ? std::string() : text.substr(first + 1, last - first - 1);
}

struct Loss {
  std::uint64_t value = 0;
  std::string text;
  std::string read_as;
};

/// An answer: as an integer where it is a double, else in the words of the finding.
std::string answer_text(const std::string& actual) {
  const std::optional<std::uint64_t> bits = bits_in(actual);
  return bits && *bits < std::uint64_t{1} << 52 ? integer_text(*bits) : actual;
}

std::optional<Loss> loss_of(std::string_view law, const Finding& finding) {
  const auto parsed = parse_strict_json(finding.case_json);
  if (!parsed || finding.breach.place.substr(0, kPlace.size()) != kPlace) return std::nullopt;
  Loss loss;
  if (law == kParsing) {
    if (!parsed->contains("text")) return std::nullopt;
    loss.text = parsed->at("text").get<std::string>();
    const Result<std::uint64_t> bits = parse_number(loss.text);
    if (!bits) return std::nullopt;
    loss.value = *bits;
    loss.read_as = answer_text(finding.breach.actual);
    return loss;
  }
  const std::optional<std::uint64_t> bits =
      parsed->contains("bits") ? bits_in(parsed->at("bits").get<std::string>()) : std::nullopt;
  if (!bits) return std::nullopt;
  loss.value = *bits;
  if (law == kPrinting) {
    // The text it printed, and the number which that is, if it is one.
    constexpr std::string_view kWhich = "which is ";
    loss.text = quoted_in(finding.breach.actual);
    const std::size_t at = finding.breach.actual.rfind(kWhich);
    loss.read_as =
        at == std::string::npos ? finding.breach.actual : answer_text(finding.breach.actual.substr(at + kWhich.size()));
  } else {
    // The text between stands in the reason; where the reader refused it, it is the input.
    loss.text = quoted_in(bits_in(finding.breach.actual) ? finding.breach.why : finding.breach.input);
    loss.read_as = answer_text(finding.breach.actual);
  }
  return loss;
}

std::vector<std::string> row_of(const SubjectResult& subject) {
  bool judged = false;
  for (const std::string_view id : kLaws)
    for (const LawResult& law : subject.laws) {
      if (law.law != id) continue;
      judged = judged || law.ruling == Ruling::holds || law.ruling == Ruling::broken;
      std::optional<Loss> smallest;
      for (const Finding& finding : law.findings)
        if (const std::optional<Loss> loss = loss_of(id, finding); loss && (!smallest || loss->value < smallest->value))
          smallest = loss;
      if (smallest)
        return {subject.name, integer_text(smallest->value), smallest->text, smallest->read_as, std::string(id)};
    }
  return judged ? std::vector<std::string>{subject.name, "none found", "", "", ""} : std::vector<std::string>{};
}

}  // namespace

std::vector<std::vector<std::string>> packed_losses(const VerifyResult& result) {
  std::vector<std::vector<std::string>> rows;
  for (const SubjectResult& subject : result.subjects) {
    if (is_twin(subject.spec)) continue;
    std::vector<std::string> row = row_of(subject);
    if (!row.empty()) rows.push_back(std::move(row));
  }
  if (!rows.empty()) rows.insert(rows.begin(), {"subject", "smallest packed value lost", "text", "read as", "law"});
  return rows;
}

}  // namespace packcheck
