#include "cli/report_conversions.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace packcheck {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;

bool is_same(const ConversionCell& a, const ConversionCell& b) {
  return a.conversion == b.conversion && a.law == b.law && a.refusal == b.refusal;
}

/// Whether two encodings may share a row (or, transposed, a column): the cells of equal encodings are no reason to
/// part them.
bool have_same_line(const ConversionTable& table, std::size_t one, std::size_t other, bool as_targets) {
  for (std::size_t i = 0; i < table.encodings.size(); ++i) {
    if (i == one || i == other) continue;
    const ConversionCell& a = as_targets ? table.cells[i][one] : table.cells[one][i];
    const ConversionCell& b = as_targets ? table.cells[i][other] : table.cells[other][i];
    if (!is_same(a, b)) return false;
  }
  return true;
}

Groups groups_of(const ConversionTable& table, bool as_targets) {
  Groups groups;
  for (std::size_t i = 0; i < table.encodings.size(); ++i) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<std::size_t>& members) {
      return std::all_of(members.begin(), members.end(),
                         [&](std::size_t member) { return have_same_line(table, member, i, as_targets); });
    });
    if (group == groups.end())
      groups.push_back({i});
    else
      group->push_back(i);
  }
  return groups;
}

ConversionTable made_table() {
  ConversionTable table;
  table.encodings = all_storage_encodings();
  for (const StorageEncoding& source : table.encodings) {
    std::vector<ConversionCell>& row = table.cells.emplace_back();
    for (const StorageEncoding& target : table.encodings) row.push_back(conversion_between(source, target));
  }
  table.source_groups = groups_of(table, false);
  table.target_groups = groups_of(table, true);
  return table;
}

/// The cell of two groups; nothing where both hold the same single encoding.
std::string group_cell(const ConversionTable& table, const std::vector<std::size_t>& sources,
                       const std::vector<std::size_t>& targets) {
  for (const std::size_t source : sources)
    for (const std::size_t target : targets)
      if (source != target) return std::string(short_name(table.cells[source][target].conversion));
  return "equal";
}

std::string names_of(const ConversionTable& table, const std::vector<std::size_t>& group, std::size_t most) {
  std::string names;
  for (std::size_t i = 0; i < group.size() && i < most; ++i)
    names.append(i == 0 ? "" : ", ").append(table.encodings[group[i]].id());
  if (group.size() > most) names.append(" and ").append(std::to_string(group.size() - most)).append(" more");
  return names;
}

std::array<std::size_t, 4> counts_of(const ConversionTable& table) {
  std::array<std::size_t, 4> counts{};
  for (const auto& row : table.cells)
    for (const ConversionCell& cell : row) ++counts[static_cast<std::size_t>(cell.conversion)];
  return counts;
}

/// The laws that prove the cells of one kind, in the order of the table.
std::vector<std::string> laws_of(const ConversionTable& table, Conversion conversion) {
  std::vector<std::string> laws;
  for (const auto& row : table.cells)
    for (const ConversionCell& cell : row) {
      if (cell.conversion != conversion) continue;
      for (const std::string_view law : {cell.law, cell.refusal})
        if (!law.empty() && std::find(laws.begin(), laws.end(), law) == laws.end()) laws.emplace_back(law);
    }
  return laws;
}

/// Laws and what they said, joined: each with `before` and `after` around its name.
struct Proof {
  std::string laws;
  std::string said;
};
Proof proof_of(const std::vector<ProvingLaw>& proving, Conversion conversion, std::string_view before,
               std::string_view after, std::string_view between) {
  Proof proof;
  for (const std::string& law : laws_of(conversion_table(), conversion)) {
    const auto row =
        std::find_if(proving.begin(), proving.end(), [&](const ProvingLaw& known) { return known.law == law; });
    if (!proof.laws.empty()) {
      proof.laws.append(between);
      proof.said.append(between);
    }
    proof.laws.append(before).append(law).append(after);
    proof.said.append(row == proving.end() ? "not run" : row->said);
  }
  return proof;
}

constexpr std::array<Conversion, 4> kConversions{Conversion::lossless, Conversion::lossless_if_kept, Conversion::lossy,
                                                 Conversion::refused};
constexpr std::array<std::string_view, 4> kMeanings{
    "repack_to keeps every value", "repack_to keeps every value, or refuses at the first that does not survive",
    "repack_to refuses and names requantize_to, which does it", "both refuse, unread"};

}  // namespace

const ConversionTable& conversion_table() {
  static const ConversionTable table = made_table();
  return table;
}

std::string_view short_name(Conversion conversion) {
  static constexpr std::array<std::string_view, 4> kNames{"lossless", "when exact", "lossy", "refused"};
  return kNames[static_cast<std::size_t>(conversion)];
}

bool has_storage_laws(const VerifyResult& result) {
  return std::any_of(result.subjects.begin(), result.subjects.end(), [](const SubjectResult& subject) {
    return std::any_of(subject.laws.begin(), subject.laws.end(),
                       [](const LawResult& law) { return law.law.rfind("storage.", 0) == 0; });
  });
}

std::vector<ProvingLaw> proving_laws(const VerifyResult& result) {
  std::vector<ProvingLaw> laws;
  for (const Conversion conversion : kConversions) {
    for (const std::string& law : laws_of(conversion_table(), conversion))
      if (std::none_of(laws.begin(), laws.end(), [&](const ProvingLaw& row) { return row.law == law; }))
        laws.push_back({law, "not run"});
  }
  for (const SubjectResult& subject : result.subjects) {
    if (subject.spec != "reference") continue;
    for (const LawResult& said : subject.laws)
      for (ProvingLaw& row : laws)
        if (row.law == said.law) row.said = said.ruling == Ruling::broken ? "BROKEN" : ruling_name(said.ruling);
  }
  return laws;
}

std::string conversions_markdown(const VerifyResult& result) {
  const ConversionTable& table = conversion_table();
  const std::vector<ProvingLaw> laws = proving_laws(result);
  const std::array<std::size_t, 4> counts = counts_of(table);
  std::ostringstream out;
  out << "\n## Every encoding in every other\n\n| | pairs | means | proved by | reference |\n|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < kConversions.size(); ++i) {
    const Proof proof = proof_of(laws, kConversions[i], "`", "`", ", ");
    out << "| " << short_name(kConversions[i]) << " | " << counts[i] << " | " << kMeanings[i] << " | " << proof.laws
        << " | " << proof.said << " |\n";
  }
  out << "\nAn encoding in itself is lossless: the same object. Encodings with the same answers share a row or "
         "column.\n\n";
  for (std::size_t t = 0; t < table.target_groups.size(); ++t)
    out << "- T" << t + 1 << ": " << names_of(table, table.target_groups[t], table.encodings.size()) << "\n";
  out << "\n| from |";
  for (std::size_t t = 0; t < table.target_groups.size(); ++t) out << " T" << t + 1 << " |";
  out << "\n|---|";
  for (std::size_t t = 0; t < table.target_groups.size(); ++t) out << "---|";
  for (const std::vector<std::size_t>& sources : table.source_groups) {
    out << "\n| " << names_of(table, sources, table.encodings.size()) << " |";
    for (const std::vector<std::size_t>& targets : table.target_groups)
      out << " " << group_cell(table, sources, targets) << " |";
  }
  out << "\n";
  return out.str();
}

std::string conversions_html(const VerifyResult& result) {
  constexpr std::array<std::string_view, 4> kClasses{"holds", "exact", "lossy", "refused"};
  constexpr std::array<std::string_view, 4> kLetters{"=", "e", "~", "·"};
  const ConversionTable& table = conversion_table();
  const std::vector<ProvingLaw> laws = proving_laws(result);
  const std::array<std::size_t, 4> counts = counts_of(table);
  std::ostringstream out;
  out << "<h2>Every encoding in every other</h2>\n<table><tr><th></th><th>pairs</th><th>means</th><th>proved by</th>"
         "<th>reference</th></tr>\n";
  for (std::size_t i = 0; i < kConversions.size(); ++i) {
    const Proof proof = proof_of(laws, kConversions[i], "", "", "<br>");
    out << "<tr><td class=" << kClasses[i] << ">" << kLetters[i] << " " << short_name(kConversions[i]) << "</td><td>"
        << counts[i] << "</td><td>" << kMeanings[i] << "</td><td class=law>" << proof.laws << "</td><td>" << proof.said
        << "</td></tr>\n";
  }
  out << "</table>\n<p class=note>From the row into the column; an encoding in itself is lossless: the same object. "
         "Encodings with the same answers share a row or column.</p>\n<div class=scroll><table><tr><th></th>";
  for (const std::vector<std::size_t>& targets : table.target_groups)
    out << "<th title=\"" << names_of(table, targets, table.encodings.size()) << "\">" << names_of(table, targets, 2)
        << "</th>";
  out << "</tr>\n";
  for (const std::vector<std::size_t>& sources : table.source_groups) {
    out << "<tr><td class=law title=\"" << names_of(table, sources, table.encodings.size()) << "\">"
        << names_of(table, sources, 3) << "</td>";
    for (const std::vector<std::size_t>& targets : table.target_groups) {
      const std::string name = group_cell(table, sources, targets);
      std::string_view kind = "holds";
      for (std::size_t i = 0; i < kConversions.size(); ++i)
        if (name == short_name(kConversions[i])) kind = kClasses[i];
      out << "<td class=" << kind << ">" << name << "</td>";
    }
    out << "</tr>\n";
  }
  out << "</table></div>\n<details><summary>All " << table.encodings.size() * table.encodings.size()
      << " pairs, one by one</summary>\n<div class=scroll><table class=pairs><tr><th></th>";
  for (const StorageEncoding& target : table.encodings) out << "<th><div>" << target.id() << "</div></th>";
  out << "</tr>\n";
  for (std::size_t s = 0; s < table.encodings.size(); ++s) {
    out << "<tr><th>" << table.encodings[s].id() << "</th>";
    for (const ConversionCell& cell : table.cells[s]) {
      const auto at = static_cast<std::size_t>(cell.conversion);
      out << "<td class=" << kClasses[at] << ">" << kLetters[at] << "</td>";
    }
    out << "</tr>\n";
  }
  out << "</table></div></details>\n";
  return out.str();
}

}  // namespace packcheck
