// Tensor files as cases: drawn of one kind, mostly with one thing changed; written in pieces.
#include <algorithm>

#include "properties/cases/case_type.h"
#include "properties/cases/cases.h"
#include "properties/cases/file_drafts.h"
#include "properties/oracles/file_oracle.h"

namespace packcheck {
namespace {

/// Equal bytes in a row that a case file writes as a count.
constexpr std::size_t kRun = 32;

/// Changes any file: cut short, made longer, a byte or some changed.
void change_bytes(Source& source, Bytes& file) {
  switch (source.below(4)) {
    case 0: file.resize(source.below(file.size() + 1)); break;
    case 1: file.resize(file.size() - std::min<std::size_t>(file.size(), 1 + source.below(8))); break;
    case 2: {
      const std::uint64_t count = 1 + source.below(40);
      file.insert(file.end(), count, static_cast<std::uint8_t>(source.bits(8)));
      break;
    }
    default:
      for (std::uint64_t i = 1 + source.below(3); i > 0 && !file.empty(); --i)
        file[source.below(std::min<std::size_t>(file.size(), 256))] ^= static_cast<std::uint8_t>(1U << source.below(8));
  }
}

/// Hex strings, and runs of one byte as counts.
nlohmann::ordered_json pieces_of(const Bytes& file) {
  nlohmann::ordered_json pieces = nlohmann::ordered_json::array();
  std::size_t written = 0;
  const auto hex = [&](std::size_t end) {
    if (end > written) pieces.push_back(hex_of_bytes(std::span(file).subspan(written, end - written)));
  };
  for (std::size_t at = 0; at < file.size();) {
    std::size_t end = at + 1;
    while (end < file.size() && file[end] == file[at]) ++end;
    if (end - at >= kRun) {
      hex(at);
      pieces.push_back({{"byte", hex_of_bytes(std::span(file).subspan(at, 1))}, {"times", end - at}});
      written = end;
    }
    at = end;
  }
  hex(file.size());
  return pieces;
}

class FileType final : public TypedCaseType<FileCase> {
 public:
  using TypedCaseType::TypedCaseType;

  FileCase draw_value(Source& source, std::string_view variant) const override {
    FileCase c{variant == "gguf" ? FileKind::gguf : FileKind::safetensors, {}};
    // 0: as it is; 1 and 2: the draft changed; 3: the bytes.
    const std::uint64_t change = source.once_in(3) ? 0 : source.below(4);
    c.bytes = c.kind == FileKind::gguf ? draw_gguf_file(source, change) : draw_safetensors_file(source, change);
    if (change == 3) change_bytes(source, c.bytes);
    return c;
  }
  std::string variant_of(const FileCase& c) const override { return std::string(file_kind_name(c.kind)); }
  std::size_t payload(const FileCase& c) const override { return c.bytes.size(); }
  std::vector<std::string_view> classes(std::string_view) const override { return {"a sound file", "an unsound file"}; }
  std::uint64_t members(const FileCase& c) const override {
    const oracle::Soundness soundness = oracle::read_file(file_kind_name(c.kind), c.bytes).soundness;
    return member_bits({soundness == oracle::Soundness::sound, soundness == oracle::Soundness::unsound});
  }
  Json write(const FileCase& c) const override {
    return {{"kind", file_kind_name(c.kind)}, {"file", pieces_of(c.bytes)}};
  }
  Result<FileCase> read(MemberReader& members) const override {
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 26;
    const std::string kind = members.text("kind");
    FileCase c{kind == "gguf" ? FileKind::gguf : FileKind::safetensors, {}};
    if (kind != file_kind_name(c.kind))
      members.fail({"unknown kind '" + kind + "'", "file case/kind", "safetensors or gguf"});
    const Json pieces = members.value("file");
    const Error wrong{"not a list of pieces", "file case/file", R"(["hex", {"byte": "20", "times": 1000}, …])"};
    if (!pieces.is_array()) members.fail(wrong);
    for (const Json& piece : pieces) {
      const bool run = piece.is_object() && piece.size() == 2 && piece.contains("byte") && piece.contains("times");
      const Json& text = run ? piece.at("byte") : piece;
      const std::uint64_t times = !run                                     ? 1
                                  : piece.at("times").is_number_unsigned() ? piece.at("times").get<std::uint64_t>()
                                                                           : 0;
      const Result<Bytes> bytes = parse_hex_bytes(text.is_string() ? text.get<std::string>() : "?");
      if (!bytes || times == 0 || (run && bytes->size() != 1) ||
          times > kLargest - std::min<std::uint64_t>(c.bytes.size(), kLargest)) {
        members.fail(wrong);
        break;
      }
      if (run)
        c.bytes.insert(c.bytes.end(), times, bytes->front());
      else
        c.bytes.insert(c.bytes.end(), bytes->begin(), bytes->end());
    }
    return c;
  }
  /// The file itself.
  std::optional<Case> from_wire(std::span<const std::uint8_t> bytes, std::string_view variant) const override {
    return wrap({variant == "gguf" ? FileKind::gguf : FileKind::safetensors, Bytes(bytes.begin(), bytes.end())});
  }
  std::optional<Bytes> wire_bytes(const Case& c) const override { return c.as<FileCase>().bytes; }
};

const FileType kType("file");

}  // namespace

const CaseType& file_cases = kType;

}  // namespace packcheck
