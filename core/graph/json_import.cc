#include "core/graph/json_import.h"

#include <locale.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/environment.h"
#include "core/graph/json_node.h"
#include "core/graph/ysgp.h"
#include "core/large_pages.h"

namespace packcheck {
namespace {

/// nlohmann_json's lexer asks the locale for its decimal point: this thread gets the "C" locale for a while.
class CLocale {
 public:
  CLocale() : before_(uselocale(c_locale())) {}
  ~CLocale() { uselocale(before_); }
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

 private:
  static locale_t c_locale() {
    static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }
  locale_t before_;
};

/// Receives nlohmann_json's events, keeps the place, and hands the values of a node to its reader.
class Importer {
 public:
  Importer(const GraphDialect& dialect, const GraphRules& rules, const GraphLimits& limits, std::string_view text)
      : rules_(rules), limits_(limits), text_(text), node_(dialect, rules, report_) {}

  /// Room for the nodes of a text as dense as graphs are, so that nodes are not moved again and again as they come.
  void make_room() {
    std::size_t objects = 0;
    for (std::size_t at = text_.find('{'); at != std::string_view::npos; at = text_.find('{', at + 1)) ++objects;
    const std::size_t nodes = std::min({objects, text_.size() / kLeastOfNode, limits_.nodes});
    graph_.nodes.reserve(nodes);
    prefer_large_pages(graph_.nodes.data(), nodes * sizeof(GraphNode));
    report_.reported.reserve(nodes);
  }

  [[nodiscard]] GraphErrors& errors() { return report_.errors; }
  [[nodiscard]] Graph& graph() { return graph_; }
  [[nodiscard]] std::span<const std::uint16_t> reported() const { return report_.reported; }
  [[nodiscard]] bool complete() const { return complete_; }

  bool null() { return node_.null() || unwanted("null"); }
  bool boolean(bool) { return unwanted("a boolean"); }
  // Called only for tokens with a minus, so that 0 was "-0".
  bool number_integer(std::int64_t value) {
    return number({true, true, std::uint64_t{0} - static_cast<std::uint64_t>(value), {}});
  }
  bool number_unsigned(std::uint64_t value) { return number({true, false, value, {}}); }
  bool number_float(double, const std::string& token) { return number({false, false, 0, token}); }
  bool string(const std::string& text) { return node_.string(text) || unwanted("a string"); }
  static bool binary(const nlohmann::json::binary_t&) { return false; }  // no JSON text has it

  bool key(const std::string& name) {
    if (report_.place == JsonPlace::document)
      start_document_member(name);
    else if (report_.place == JsonPlace::node)
      node_.start_member(name);
    return true;
  }

  bool start_object(std::size_t) {
    if (!deeper()) return false;
    if (report_.place == JsonPlace::outside) {
      report_.place = JsonPlace::document;
    } else if (report_.place == JsonPlace::nodes) {
      report_.reported.push_back(0);
      node_.start(graph_.nodes.emplace_back());
      report_.place = JsonPlace::node;
    } else {
      skip("an object");
    }
    return too_many_nodes();
  }

  bool start_array(std::size_t) {
    if (!deeper()) return false;
    const NodeMember member = report_.member;
    if (report_.place == JsonPlace::document && !in_unknown_) {
      report_.place = JsonPlace::nodes;
    } else if (report_.place == JsonPlace::node && member != NodeMember::unknown && row_of(member).is_list) {
      node_.start_list();
      report_.place = JsonPlace::list;
    } else if (report_.place == JsonPlace::list && is_data(member)) {
      node_.start_row();
      report_.place = JsonPlace::row;
    } else {
      skip("an array");
    }
    return true;
  }

  bool end_object() {
    --depth_;
    if (report_.place == JsonPlace::skipped) return end_of_skipped();
    if (report_.place == JsonPlace::node) {
      node_.finish();
      report_.place = JsonPlace::nodes;
    } else {
      report_.place = JsonPlace::outside;
      if (!saw_nodes_) report_.errors.add("no nodes", "/nodes", "a list of nodes");
      complete_ = true;
    }
    return true;
  }

  bool end_array() {
    --depth_;
    switch (report_.place) {
      case JsonPlace::row:
        node_.finish_row();
        report_.place = JsonPlace::list;
        return true;
      case JsonPlace::list: report_.place = JsonPlace::node; return true;
      case JsonPlace::nodes: report_.place = JsonPlace::document; return true;
      default: return end_of_skipped();
    }
  }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& problem) {
    // "[json.exception.parse_error.101] parse error at …": the part in brackets is for programs.
    std::string_view what = problem.what();
    if (const std::size_t end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    std::string where = report_.pointer();
    where.append(where.empty() ? "byte " : ", byte ").append(std::to_string(byte));
    // A non-finite word is the mistake that exporters make; the byte given is its first or its second.
    const std::string_view about = text_.substr(std::min(text_.size(), byte < 2 ? 0 : byte - 2), 10);
    const bool word = about.find('N') != std::string_view::npos || about.find('I') != std::string_view::npos;
    report_.errors.add(std::string(what), std::move(where),
                       word ? "JSON, which has no NaN and no Infinity" : "well-formed JSON (RFC 8259)");
    return false;
  }

 private:
  static constexpr std::size_t kLeastOfNode = 50;  // bytes: {"id":0,"shape":[1,2],"op":"relu","inputs":[0]}

  bool number(const NumberToken& token) { return node_.number(token) || unwanted("a number"); }

  void start_document_member(const std::string& name) {
    if (name != "nodes") {
      report_.errors.add("unknown member", "/" + pointer_escaped(name), "nodes, and nothing else");
      in_unknown_ = true;
    } else if (saw_nodes_ && rules_.duplicate_key == DuplicateKeyRule::refuse) {
      report_.errors.add("a second member of this name", "/nodes", "each member once");
      in_unknown_ = true;
    } else {
      graph_.nodes.clear();
      report_.reported.clear();
      saw_nodes_ = true;
      in_unknown_ = false;
    }
  }

  bool deeper() {
    if (++depth_ <= limits_.depth) return true;
    report_.errors.add("nested deeper than " + std::to_string(limits_.depth), report_.pointer(), "a flatter document");
    return false;
  }

  /// A value of a kind that does not belong where it is.
  bool unwanted(std::string_view kind) {
    switch (report_.place) {
      case JsonPlace::skipped: break;
      case JsonPlace::outside: report_.errors.add(std::string(kind), "", "an object with the member nodes"); break;
      case JsonPlace::document:
        if (!in_unknown_) report_.errors.add(std::string(kind), "/nodes", "a list of nodes");
        break;
      case JsonPlace::nodes:
        report_.errors.add(std::string(kind), report_.pointer(), "a node, which is an object");
        graph_.nodes.emplace_back();
        report_.reported.push_back(0xFFFF);
        return too_many_nodes();
      case JsonPlace::node:
        if (report_.member != NodeMember::unknown) report_.problem(std::string(kind), row_of(report_.member).right);
        break;
      case JsonPlace::list:
      case JsonPlace::row: node_.wrong_element(kind); break;
    }
    return true;
  }

  /// An array or object that does not belong where it is: reported, and passed over.
  void skip(std::string_view kind) {
    if (report_.place == JsonPlace::skipped) {
      ++skipped_depth_;
      return;
    }
    (void)unwanted(kind);
    report_.before_skip = report_.place;
    report_.place = JsonPlace::skipped;
    skipped_depth_ = 1;
  }
  bool end_of_skipped() {
    if (--skipped_depth_ == 0) {
      report_.place = report_.before_skip;
      if (report_.place == JsonPlace::outside) complete_ = true;
    }
    return true;
  }

  bool too_many_nodes() {
    if (graph_.nodes.size() <= limits_.nodes) return true;
    report_.errors.add("more than " + std::to_string(limits_.nodes) + " nodes", report_.pointer(), "a smaller graph");
    return false;
  }

  const GraphRules& rules_;
  const GraphLimits& limits_;
  std::string_view text_;
  Graph graph_;
  JsonReport report_;
  NodeReader node_;
  std::size_t depth_ = 0;
  std::size_t skipped_depth_ = 0;
  bool saw_nodes_ = false;
  bool in_unknown_ = false;  // of the document's members
  bool complete_ = false;
};

/// The text with a point for every comma that has a digit on both sides; strings are not spared.
std::string with_points(std::string_view text) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  std::string pointed(text);
  for (std::size_t i = 1; i + 1 < text.size(); ++i)
    if (text[i] == ',' && is_digit(text[i - 1]) && is_digit(text[i + 1])) pointed[i] = '.';
  return pointed;
}

}  // namespace

GraphResult<Graph> import_json(std::string_view text, const GraphDialect& dialect, const GraphRules& rules,
                               const GraphLimits& limits) {
  if (rules.comma == CommaReading::is_a_point) {
    GraphRules separating = rules;
    separating.comma = CommaReading::separates;
    return import_json(with_points(text), dialect, separating, limits);
  }
  const ExactEnvironment exact;
  const CLocale locale;
  Importer importer(dialect, rules, limits, text);
  GraphErrors& errors = importer.errors();
  // nlohmann_json takes a NUL for the end of the text, and skips a byte order mark.
  if (text.size() > limits.bytes) {
    errors.add(std::to_string(text.size()) + " bytes", "", "at most " + std::to_string(limits.bytes));
  } else if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    errors.add("a NUL", "byte " + std::to_string(nul + 1), "text");
  } else if (text.substr(0, 3) == "\xEF\xBB\xBF") {
    errors.add("a byte order mark", "byte 1", "UTF-8 without one");
  } else {
    importer.make_room();
    nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &importer);
  }
  if (importer.complete()) check_graph(importer.graph(), dialect, rules, importer.reported(), errors);
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return std::move(importer.graph());
}

GraphResult<std::vector<std::uint8_t>> import_graph(std::string_view text, const GraphDialect& dialect,
                                                    const GraphRules& rules) {
  const GraphResult<Graph> graph = import_json(text, dialect, rules);
  if (!graph) return tl::unexpected(graph.error());
  return write_ysgp(*graph);
}

}  // namespace packcheck
