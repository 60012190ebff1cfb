#include "cli/audit_report.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>

#include "core/file/checks.h"
#include "core/format/convert.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

double number_of(Format format, std::uint64_t magnitude) {
  return std::bit_cast<double>(convert(format, Format::f64, magnitude));
}

// For people.

/// At most `most` bytes: "model.layers…gate_proj.weight". Layers differ at the start and roles at the end.
std::string shortened(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  std::size_t head = (most - 3) / 2;
  std::size_t tail = name.size() - (most - 3 - head);
  // Not within a character of several bytes.
  while (head > 0 && (static_cast<unsigned char>(name[head]) & 0xC0) == 0x80) --head;
  while (tail < name.size() && (static_cast<unsigned char>(name[tail]) & 0xC0) == 0x80) ++tail;
  return name.substr(0, head) + "..." + name.substr(tail);
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (const std::uint64_t dimension : shape)
    text.append(text.size() == 1 ? "" : ", ").append(std::to_string(dimension));
  return text + "]";
}

std::string short_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

void append_count(std::string& text, std::uint64_t count, const char* what) {
  if (count != 0) text.append(", ").append(std::to_string(count)).append(" ").append(what);
}

std::string range_text(const char* of, Format format, std::uint64_t smallest, std::uint64_t largest) {
  std::string text(of);
  if (smallest == kNowhere) return text.append(" none but 0");
  return text.append(" ")
      .append(short_number(number_of(format, smallest)))
      .append(" to ")
      .append(short_number(number_of(format, largest)));
}

/// "|x| 1e-05 to 3.5, 2 NaN": magnitudes that are neither zero nor infinite.
std::string statistics_text(const FileTensor& t, const TensorAudit& a) {
  if (a.elements) {
    if (a.elements->elements == 0) return "empty";
    std::string text = range_text("|x|", *t.dense, a.elements->smallest, a.elements->largest);
    append_count(text, a.elements->nan.count, "NaN");
    append_count(text, a.elements->infinite.count, "infinite");
    append_count(text, a.elements->subnormal.count, "subnormal");
    return text;
  }
  if (!a.blocks) return "-";
  const BlockStatistics& b = *a.blocks;
  if (b.blocks == 0) return "empty";
  std::string text = range_text("|scale|", scale_format_of(*t.encoding), b.smallest_scale, b.largest_scale);
  append_count(text, b.scale_nan.count, "NaN scales");
  append_count(text, b.scale_infinite.count, "infinite scales");
  append_count(text, b.scale_subnormal.count, "subnormal scales");
  append_count(text, b.zero_blocks.count, "zero blocks");
  append_count(text, b.lost_blocks.count, "lost blocks");
  append_count(text, b.foreign_codes.count, "foreign codes");
  return text;
}

/// How much room names get: a third of a terminal, all that is sensible elsewhere.
std::size_t name_room() {
  struct winsize size {};
  if (::isatty(STDOUT_FILENO) == 0) return 100;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 40;
  return std::max<std::size_t>(16, size.ws_col / 3);
}

void print_table(const TensorFile& file, const FileAudit& audit) {
  struct Column {
    std::size_t width;
    bool right;
  };
  std::vector<Column> columns{{6, false}, {5, false}, {5, false}, {5, true}, {6, true}};
  const std::size_t room = name_room();
  const auto cells_of = [&](const FileTensor& t) {
    return std::vector<std::string>{shortened(printable(t.name), room), printable(t.dtype), shape_text(t.shape),
                                    std::to_string(t.bytes), std::to_string(t.offset)};
  };
  for (const FileTensor& t : file.tensors) {
    const std::vector<std::string> cells = cells_of(t);
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].width = std::max(columns[i].width, cells[i].size());
  }
  const auto print_row = [&](const std::vector<std::string>& cells, const std::string& last) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string pad(columns[i].width - cells[i].size(), ' ');
      line += columns[i].right ? pad + cells[i] : cells[i] + pad;
      line += "  ";
    }
    std::printf("%s%s\n", line.c_str(), last.c_str());
  };
  print_row({"tensor", "dtype", "shape", "bytes", "offset"}, "numbers");
  for (std::size_t i = 0; i < file.tensors.size(); ++i)
    print_row(cells_of(file.tensors[i]), statistics_text(file.tensors[i], audit.tensors[i]));
}

/// "1 problem", "2 problems"
std::string counted(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void print_packed(const FileAudit& audit) {
  for (const PackedWeight& p : audit.packed) {
    std::string choices;
    for (const GroupChoice& c : p.choices)
      choices.append(choices.empty() ? "" : " or ")
          .append(std::to_string(c.bits))
          .append(" bits in groups of ")
          .append(std::to_string(c.group));
    std::printf("packed   %s: %s, %s\n", printable(p.name).c_str(), std::string(packing_scheme_name(p.scheme)).c_str(),
                choices.empty() ? "no group size fits" : choices.c_str());
  }
}

// For machines.

json occurrences_json(const Occurrences& found) {
  return {{"count", found.count}, {"first", found.count == 0 ? json(nullptr) : json(found.first)}};
}

json magnitude_json(Format format, std::uint64_t magnitude, bool exists) {
  if (!exists) return nullptr;
  return {{"bits", hex_of(magnitude, spec(format).width())}, {"number", number_of(format, magnitude)}};
}

json statistics_json(const FileTensor& t, const TensorAudit& a) {
  if (a.elements) {
    const ElementStatistics& s = *a.elements;
    const bool any = s.smallest != kNowhere;
    return {{"of", "elements"},
            {"format", spec(*t.dense).name},
            {"count", s.elements},
            {"nan", occurrences_json(s.nan)},
            {"infinite", occurrences_json(s.infinite)},
            {"subnormal", occurrences_json(s.subnormal)},
            {"smallest", magnitude_json(*t.dense, s.smallest, any)},
            {"largest", magnitude_json(*t.dense, s.largest, any)}};
  }
  if (!a.blocks) return nullptr;
  const BlockStatistics& b = *a.blocks;
  const Format format = scale_format_of(*t.encoding);
  const bool any = b.smallest_scale != kNowhere;
  return {{"of", "blocks"},
          {"encoding", t.encoding->id()},
          {"scale_format", spec(format).name},
          {"count", b.blocks},
          {"scale_nan", occurrences_json(b.scale_nan)},
          {"scale_infinite", occurrences_json(b.scale_infinite)},
          {"scale_subnormal", occurrences_json(b.scale_subnormal)},
          {"scale_zero", occurrences_json(b.scale_zero)},
          {"zero_blocks", occurrences_json(b.zero_blocks)},
          {"lost_blocks", occurrences_json(b.lost_blocks)},
          {"foreign_codes", occurrences_json(b.foreign_codes)},
          {"smallest_scale", magnitude_json(format, b.smallest_scale, any)},
          {"largest_scale", magnitude_json(format, b.largest_scale, any)}};
}

json packed_json(const PackedWeight& p) {
  json choices = json::array();
  for (const GroupChoice& c : p.choices) {
    // A loader that takes the number of groups for their size leaves the scales here, though they are float32.
    const ScaleWalk walk = read_columns_as_group(
        p.scale_rows, c.in_features, std::max<std::uint64_t>(p.scale_columns, 1), p.scale_rows * p.scale_columns);
    const std::uint64_t first = first_row_out_of_bounds(walk);
    json row{{"bits", c.bits}, {"group", c.group}, {"in_features", c.in_features}};
    if (p.scheme == PackingScheme::mlx)
      row["first_row_out_of_bounds_with_columns_as_group"] = first == p.scale_rows ? json(nullptr) : json(first);
    choices.push_back(std::move(row));
  }
  return {{"scheme", packing_scheme_name(p.scheme)},
          {"weight", p.name},
          {"scales", p.scales},
          {"scale_rows", p.scale_rows},
          {"scale_columns", p.scale_columns},
          {"choices", choices}};
}

json warning_json(const AuditSubject& subject, const Warning& w) {
  json numbers = json::object();
  for (const auto& [name, number] : w.numbers) numbers[std::string(name)] = number;
  return {{"kind", w.kind->name},
          {"severity", severity_name(subject.is_problem(w) ? Severity::problem : Severity::note)},
          {"tensor", w.tensor.empty() ? json(nullptr) : json(w.tensor)},
          {"what", w.what},
          {"where", w.where},
          {"right", w.right},
          {"numbers", numbers}};
}

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

/// A member that is a list, one element a line: a file has 100,000 tensors, and none is kept.
template <class Element>
void print_list(const char* name, std::size_t count, const Element& element) {
  std::printf(",\n\"%s\": [", name);
  for (std::size_t i = 0; i < count; ++i) std::printf("%s\n  %s", i == 0 ? "" : ",", dumped(element(i)).c_str());
  std::printf("%s]", count == 0 ? "" : "\n");
}

}  // namespace

bool AuditSubject::is_problem(const Warning& w) const {
  return w.kind->severity == Severity::problem &&
         std::find(accepted.begin(), accepted.end(), w.kind->name) == accepted.end();
}

std::size_t AuditSubject::problems(const std::vector<Warning>& warnings) const {
  return static_cast<std::size_t>(
      std::count_if(warnings.begin(), warnings.end(), [this](const Warning& w) { return is_problem(w); }));
}

void print_audit(const AuditSubject& subject, const TensorFile* file, const FileAudit& audit) {
  if (file != nullptr) {
    const std::string version = file->kind == FileKind::gguf ? " version " + std::to_string(file->version) : "";
    std::printf("%s: %s%s, %s, data from byte %llu\n", printable(subject.path).c_str(),
                std::string(file_kind_name(file->kind)).c_str(), version.c_str(),
                counted(subject.bytes, "byte").c_str(), static_cast<unsigned long long>(file->data_start));
    print_table(*file, audit);
    print_packed(audit);
  }
  for (const Warning& w : audit.warnings) {
    const std::string name = w.tensor.empty() ? printable(subject.path) : printable(w.tensor);
    std::printf("%-8s %s  %s\n",
                std::string(severity_name(subject.is_problem(w) ? Severity::problem : Severity::note)).c_str(),
                std::string(w.kind->name).c_str(), name.c_str());
    std::printf("         %s\n", printable(w.what).c_str());
    if (!w.where.empty()) std::printf("         %s\n", printable(w.where).c_str());
    if (!w.right.empty()) std::printf("         right: %s\n", printable(w.right).c_str());
  }
  const std::size_t problems = subject.problems(audit.warnings);
  if (file != nullptr) std::printf("%s, ", counted(file->tensors.size(), "tensor").c_str());
  std::printf("%s, %s\n", counted(problems, "problem").c_str(),
              counted(audit.warnings.size() - problems, "note").c_str());
}

void print_audit_json(const AuditSubject& subject, const TensorFile* file, const FileAudit& audit) {
  const std::size_t problems = subject.problems(audit.warnings);
  json head{{"packcheck_audit", 1}, {"file", subject.path}, {"bytes", subject.bytes}};
  head["kind"] = file == nullptr ? json(nullptr) : json(file_kind_name(file->kind));
  head["version"] = file == nullptr || file->version == 0 ? json(nullptr) : json(file->version);
  head["alignment"] = file == nullptr ? json(nullptr) : json(file->alignment);
  head["data_start"] = file == nullptr ? json(nullptr) : json(file->data_start);
  head["problems"] = problems;
  head["notes"] = audit.warnings.size() - problems;
  head["metadata"] = json::object();
  for (std::size_t i = 0; file != nullptr && i < file->metadata.size(); ++i)
    head["metadata"][file->metadata[i].key] = file->metadata[i].value.text();
  const std::string text = dumped(head);
  std::printf("%s", text.substr(0, text.size() - 1).c_str());
  print_list("tensors", file == nullptr ? 0 : file->tensors.size(), [&](std::size_t i) {
    const FileTensor& t = file->tensors[i];
    return json{{"name", t.name},
                {"dtype", t.dtype},
                {"shape", t.shape},
                {"offset", t.offset},
                {"bytes", t.bytes},
                {"elements", t.count()},
                {"statistics", statistics_json(t, audit.tensors[i])}};
  });
  print_list("packed_weights", audit.packed.size(), [&](std::size_t i) { return packed_json(audit.packed[i]); });
  print_list("warnings", audit.warnings.size(),
             [&](std::size_t i) { return warning_json(subject, audit.warnings[i]); });
  std::printf("}\n");
}

}  // namespace packcheck
