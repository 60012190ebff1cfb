#include "core/graph/json_import.h"

#include <locale.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>

#include "core/environment.h"
#include "core/graph/ysgp.h"

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

enum class Member : std::uint8_t {
  id,
  shape,
  op,
  data,
  data_bits,
  scalar,
  scalar_bits,
  param2,
  param2_bits,
  indices,
  inputs,
  unknown
};
struct MemberRow {
  std::string_view name;
  GraphMember reported;  ///< which member of the model it fills
  bool is_list;
  std::string_view right;
};
constexpr auto kMembers = std::to_array<MemberRow>({
    {"id", kIdMember, false, "an integer"},
    {"shape", kShapeMember, true, "a list of integers"},
    {"op", kOpMember, false, "a string"},
    {"data", kDataMember, true, "a list of numbers, or a list of rows"},
    {"data_bits", kDataMember, true, "a list of hex strings, or a list of rows"},
    {"scalar", kScalarMember, false, "a number"},
    {"scalar_bits", kScalarMember, false, "a hex string"},
    {"param2", kParam2Member, false, "a number"},
    {"param2_bits", kParam2Member, false, "a hex string"},
    {"indices", kIndicesMember, true, "a list of integers"},
    {"inputs", kInputsMember, true, "a list of integers"},
});
constexpr std::uint16_t bit_of(Member member) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(member));
}
const MemberRow& row_of(Member member) { return kMembers[static_cast<std::size_t>(member)]; }

Member member_named(std::string_view name, const GraphDialect& dialect) {
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    if (kMembers[i].name != name) continue;
    const auto member = static_cast<Member>(i);
    const bool bits = member == Member::data_bits || member == Member::scalar_bits || member == Member::param2_bits;
    return bits && !dialect.has_bits_members ? Member::unknown : member;
  }
  return Member::unknown;
}

/// "0x" and 16 hex digits.
std::optional<std::uint64_t> parse_bits(std::string_view text) {
  if (text.size() != 18 || text[0] != '0' || text[1] != 'x') return std::nullopt;
  std::uint64_t bits = 0;
  for (const char c : text.substr(2)) {
    unsigned digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<unsigned>(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<unsigned>(c - 'A') + 10;
    else
      return std::nullopt;
    bits = bits << 4 | digit;
  }
  return bits;
}

std::string in_quotes(std::string_view text) {
  std::string result(1, '\'');
  return result.append(text.substr(0, 40)).append("'");
}

/// A number token: an integer as such, or the text of anything with a point or an exponent.
struct Number {
  bool is_integer = false;
  bool is_negative = false;     ///< an integer with a minus; -0 is one
  std::uint64_t magnitude = 0;  ///< of an integer
  std::string_view text;        ///< of any other number

  [[nodiscard]] std::string written() const {
    if (!is_integer) return std::string(text.substr(0, 40));
    return (is_negative ? "-" : "") + std::to_string(magnitude);
  }
};

/// What was read of one member "data" or "data_bits".
struct DataForm {
  std::vector<std::uint64_t> values;
  std::size_t rows = 0;
  std::size_t row_length = 0;  ///< of the first row
  std::size_t ragged_row = 0;  ///< the first row of another length; 0 for none
  std::size_t ragged_length = 0;
  std::size_t outside_rows = 0;  ///< elements of the list that are no rows
};

/// Receives nlohmann_json's events. `place_` says what the current value is an element of.
class Importer {
 public:
  Importer(const GraphDialect& dialect, const GraphRules& rules, const GraphLimits& limits, std::string_view text)
      : dialect_(dialect), rules_(rules), limits_(limits), text_(text) {}

  [[nodiscard]] GraphErrors& errors() { return errors_; }
  [[nodiscard]] Graph& graph() { return graph_; }
  [[nodiscard]] std::span<const std::uint16_t> reported() const { return reported_; }
  [[nodiscard]] bool complete() const { return complete_; }

  bool null() {
    if (place_ == Place::list && member_ == Member::inputs) {
      if (rules_.missing_input == MissingInputRule::refuse)
        report("null where an input belongs", "the id of an earlier node: a dropped input shifts those after it");
      if (rules_.missing_input == MissingInputRule::write_null) node_->inputs.push_back(kMissingInput);
      ++index_;
      return true;
    }
    return unwanted("null");
  }
  bool boolean(bool) { return unwanted("a boolean"); }
  // Called only for tokens with a minus, so that 0 was "-0".
  bool number_integer(std::int64_t value) {
    return number({true, true, std::uint64_t{0} - static_cast<std::uint64_t>(value), {}});
  }
  bool number_unsigned(std::uint64_t value) { return number({true, false, value, {}}); }
  bool number_float(double, const std::string& token) { return number({false, false, 0, token}); }
  static bool binary(const nlohmann::json::binary_t&) { return false; }  // no JSON text has it

  bool string(const std::string& text) {
    if (place_ == Place::node && member_ == Member::op) {
      node_->op = text;
      return true;
    }
    const bool is_element = place_ == Place::row || place_ == Place::list;
    const bool wants_bits =
        is_element ? member_ == Member::data_bits
                   : place_ == Place::node && (member_ == Member::scalar_bits || member_ == Member::param2_bits);
    if (!wants_bits) return unwanted("a string");
    const std::optional<std::uint64_t> bits = parse_bits(text);
    if (!bits) report(in_quotes(text), "0x and 16 hex digits: the bits of a double");
    if (is_element)
      add_data(bits.value_or(0));
    else
      bits_[member_ == Member::param2_bits] = bits;
    return true;
  }

  bool key(const std::string& name) {
    if (place_ == Place::document) {
      if (name != "nodes") {
        errors_.add("unknown member", pointer_of_key(name), "nodes, and nothing else");
        in_unknown_ = true;
      } else if (saw_nodes_ && rules_.duplicate_key == DuplicateKeyRule::refuse) {
        errors_.add("a second member of this name", "/nodes", "each member once");
        in_unknown_ = true;
      } else {
        graph_.nodes.clear();
        reported_.clear();
        saw_nodes_ = true;
        in_unknown_ = false;
      }
    } else if (place_ == Place::node) {
      start_member(name);
    }
    return true;
  }

  bool start_object(std::size_t) {
    if (!deeper()) return false;
    if (place_ == Place::outside) {
      place_ = Place::document;
    } else if (place_ == Place::nodes) {
      start_node();
      place_ = Place::node;
    } else {
      skip("an object");
    }
    return too_many_nodes();
  }

  bool start_array(std::size_t) {
    if (!deeper()) return false;
    if (place_ == Place::document && !in_unknown_) {
      place_ = Place::nodes;
    } else if (place_ == Place::node && member_ != Member::unknown && row_of(member_).is_list) {
      start_list();
      place_ = Place::list;
    } else if (place_ == Place::list && is_data(member_)) {
      place_ = Place::row;
      inner_ = 0;
    } else {
      skip("an array");
    }
    return true;
  }

  bool end_object() {
    --depth_;
    if (place_ == Place::skipped) return end_of_skipped();
    if (place_ == Place::node) {
      finish_node();
      place_ = Place::nodes;
    } else {
      place_ = Place::outside;
      if (!saw_nodes_) errors_.add("no nodes", "/nodes", "a list of nodes");
      complete_ = true;
    }
    return true;
  }

  bool end_array() {
    --depth_;
    switch (place_) {
      case Place::row:
        finish_row();
        place_ = Place::list;
        return true;
      case Place::list: place_ = Place::node; return true;
      case Place::nodes: place_ = Place::document; return true;
      default: return end_of_skipped();
    }
  }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& problem) {
    // "[json.exception.parse_error.101] parse error at …": the part in brackets is for programs.
    std::string_view what = problem.what();
    if (const std::size_t end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    std::string where = pointer();
    where.append(where.empty() ? "byte " : ", byte ").append(std::to_string(byte));
    // A non-finite word is the mistake that exporters make; the byte given is its first or its second.
    const std::string_view about = text_.substr(std::min(text_.size(), byte < 2 ? 0 : byte - 2), 10);
    const bool word = about.find('N') != std::string_view::npos || about.find('I') != std::string_view::npos;
    errors_.add(std::string(what), std::move(where),
                word ? "JSON, which has no NaN and no Infinity" : "well-formed JSON (RFC 8259)");
    return false;
  }

 private:
  enum class Place : std::uint8_t { outside, document, nodes, node, list, row, skipped };

  static bool is_data(Member member) { return member == Member::data || member == Member::data_bits; }
  DataForm& form() { return forms_[member_ == Member::data_bits]; }

  // Where the current value is, as a JSON pointer.
  [[nodiscard]] std::string pointer() const {
    const Place place = place_ == Place::skipped ? before_skip_ : place_;
    if (place == Place::outside) return {};
    std::string result = "/nodes";
    if (place == Place::document) return result;
    const bool in_node = place != Place::nodes;
    result.append("/").append(std::to_string(graph_.nodes.size() - (in_node ? 1 : 0)));
    if (!in_node || !has_member_) return result;
    result.append("/").append(member_ == Member::unknown ? unknown_name_ : row_of(member_).name);
    if (place == Place::list || place == Place::row) result.append("/").append(std::to_string(index_));
    if (place == Place::row) result.append("/").append(std::to_string(inner_));
    return result;
  }
  static std::string escaped(std::string_view key) {
    std::string result;
    for (const char c : key.substr(0, 80)) {
      if (c == '~')
        result.append("~0");
      else if (c == '/')
        result.append("~1");
      else
        result.push_back(c);
    }
    return result;
  }
  static std::string pointer_of_key(std::string_view key) { return "/" + escaped(key); }

  /// Reports the current value, and keeps check_graph from reporting its member again.
  void report(std::string what, std::string_view right) {
    errors_.add(std::move(what), pointer(), std::string(right));
    if (!reported_.empty() && has_member_ && member_ != Member::unknown) reported_.back() |= row_of(member_).reported;
  }

  bool deeper() {
    if (++depth_ <= limits_.depth) return true;
    errors_.add("nested deeper than " + std::to_string(limits_.depth), pointer(), "a flatter document");
    return false;
  }

  /// A value of a kind that does not belong where it is.
  bool unwanted(std::string_view kind) {
    switch (place_) {
      case Place::skipped: return true;
      case Place::outside: errors_.add(std::string(kind), "", "an object with the member nodes"); return true;
      case Place::document:
        if (!in_unknown_) errors_.add(std::string(kind), "/nodes", "a list of nodes");
        return true;
      case Place::nodes:
        errors_.add(std::string(kind), pointer(), "a node, which is an object");
        graph_.nodes.emplace_back();
        reported_.push_back(0xFFFF);
        return too_many_nodes();
      case Place::node:
        if (member_ != Member::unknown) report(std::string(kind), row_of(member_).right);
        return true;
      case Place::list:
      case Place::row: break;
    }
    if (is_data(member_)) {
      report(std::string(kind), member_ == Member::data ? "a number" : "a hex string");
      add_data(0);
    } else {
      report(std::string(kind), "an integer");
      ++index_;
    }
    return true;
  }

  /// An array or object that does not belong where it is: reported, and passed over.
  void skip(std::string_view kind) {
    if (place_ == Place::skipped) {
      ++skipped_depth_;
      return;
    }
    (void)unwanted(kind);
    before_skip_ = place_;
    place_ = Place::skipped;
    skipped_depth_ = 1;
  }
  bool end_of_skipped() {
    if (--skipped_depth_ == 0) {
      place_ = before_skip_;
      if (place_ == Place::outside) complete_ = true;
    }
    return true;
  }

  bool too_many_nodes() {
    if (graph_.nodes.size() <= limits_.nodes) return true;
    errors_.add("more than " + std::to_string(limits_.nodes) + " nodes", pointer(), "a smaller graph");
    return false;
  }

  void start_node() {
    node_ = &graph_.nodes.emplace_back();
    reported_.push_back(0);
    seen_ = 0;
    has_member_ = false;
    bits_ = {};
  }

  void start_member(const std::string& name) {
    member_ = member_named(name, dialect_);
    has_member_ = true;
    if (member_ == Member::unknown) {
      unknown_name_ = escaped(name);
      errors_.add("unknown member", pointer(),
                  dialect_.has_bits_members ? "id, shape, op, data, scalar, param2, indices, inputs, or a bits member"
                                            : "id, shape, op, data, scalar, param2, indices, inputs");
      return;
    }
    if ((seen_ & bit_of(member_)) != 0 && rules_.duplicate_key == DuplicateKeyRule::refuse) {
      report("a second member of this name", "each member once: readers differ in which one they take");
      unknown_name_ = std::string(row_of(member_).name);
      member_ = Member::unknown;  // the second value is passed over
      return;
    }
    seen_ |= bit_of(member_);
  }

  void start_list() {
    index_ = 0;
    switch (member_) {
      case Member::shape: node_->shape.clear(); break;
      case Member::inputs: node_->inputs.clear(); break;
      case Member::indices: node_->indices.emplace(); break;
      default: {
        std::vector<std::uint64_t> buffer = std::move(form().values);
        buffer.clear();
        form() = {};
        form().values = std::move(buffer);
      }
    }
  }

  void add_data(std::uint64_t bits) {
    form().values.push_back(bits);
    if (place_ == Place::row) {
      ++inner_;
    } else {
      ++form().outside_rows;
      ++index_;
    }
  }

  void finish_row() {
    DataForm& data = form();
    if (data.rows == 0) data.row_length = inner_;
    if (inner_ != data.row_length && data.ragged_row == 0) {
      data.ragged_row = data.rows;
      data.ragged_length = inner_;
    }
    ++data.rows;
    ++index_;
  }

  bool number(const Number& token) {
    if (place_ == Place::list && !is_data(member_)) return integer_element(token);
    if ((place_ == Place::list || place_ == Place::row) && member_ == Member::data) {
      add_data(bits_of(token));
      return true;
    }
    if (place_ != Place::node) return unwanted("a number");
    if (member_ == Member::id) {
      node_->id = integer<std::uint32_t>(token, 0, kMissingInput - 1);
    } else if (member_ == Member::scalar) {
      node_->scalar = bits_of(token);
    } else if (member_ == Member::param2) {
      node_->param2 = bits_of(token);
    } else {
      return unwanted("a number");
    }
    return true;
  }

  bool integer_element(const Number& token) {
    switch (member_) {
      case Member::shape: node_->shape.push_back(integer<std::uint32_t>(token, 1, 0x7FFFFFFF)); break;
      case Member::inputs: node_->inputs.push_back(integer<std::uint32_t>(token, 0, kMissingInput - 1)); break;
      default: node_->indices->push_back(integer<std::int32_t>(token, INT32_MIN, INT32_MAX));
    }
    ++index_;
    return true;
  }

  /// Exact; 3.0, -0 and what is out of range is an error, which gives `least`.
  template <class Integer>
  Integer integer(const Number& token, std::int64_t least, std::int64_t most) {
    if (rules_.integers == IntegerReading::cast_from_double) return cast<Integer>(token);
    const bool fits_i64 = token.magnitude <= static_cast<std::uint64_t>(INT64_MAX);
    const std::int64_t value = !fits_i64           ? 0
                               : token.is_negative ? -static_cast<std::int64_t>(token.magnitude)
                                                   : static_cast<std::int64_t>(token.magnitude);
    const bool negative_zero = token.is_negative && token.magnitude == 0;
    if (token.is_integer && fits_i64 && !negative_zero && value >= least && value <= most)
      return static_cast<Integer>(value);
    report(token.written(),
           "an integer in " + std::to_string(least) + ".." + std::to_string(most) + ", without fraction or exponent");
    return static_cast<Integer>(least);
  }

  /// What a DOM's get<int> and a C cast make of a number: the faulty reading.
  template <class Integer>
  Integer cast(const Number& token) {
    const auto value = std::bit_cast<double>(bits_of(token));
    if (!(value > -0x1p63 && value < 0x1p63)) return 0;
    return static_cast<Integer>(static_cast<std::int64_t>(value));
  }

  std::uint64_t bits_of(const Number& token) {
    if (token.is_integer) {
      // Nearest double, ties to even: the environment is exact while the importer runs.
      const auto magnitude = std::bit_cast<std::uint64_t>(static_cast<double>(token.magnitude));
      if (token.magnitude == 0 && rules_.negative_zero == NegativeZeroRule::becomes_integer_zero) return 0;
      return magnitude | static_cast<std::uint64_t>(token.is_negative) << 63;
    }
    Result<std::uint64_t> bits = parse_number(token.text);
    if (bits) return *bits;
    report(std::move(bits.error().what), bits.error().right);
    return 0;
  }

  void finish_node() {
    has_member_ = false;
    require(Member::id);
    require(Member::shape);
    require(Member::op);
    join_number(node_->scalar, Member::scalar, Member::scalar_bits, bits_[0]);
    join_number(node_->param2, Member::param2, Member::param2_bits, bits_[1]);
    join_data();
  }

  void require(Member member) {
    if ((seen_ & bit_of(member)) != 0) return;
    errors_.add("no " + std::string(row_of(member).name), pointer(), std::string(row_of(member).right));
    reported_.back() |= row_of(member).reported;
  }

  /// A number and its bits: whichever is there; where both are, they must be the same double.
  void join_number(std::optional<std::uint64_t>& number, Member plain, Member bits_member,
                   const std::optional<std::uint64_t>& bits) {
    if ((seen_ & bit_of(bits_member)) == 0 || (reported_.back() & row_of(plain).reported) != 0) return;
    if ((seen_ & bit_of(plain)) == 0)
      number = bits;
    else if (number != bits)
      disagree(plain, bits_member);
  }

  void disagree(Member plain, Member bits_member) {
    member_ = plain;
    has_member_ = true;
    std::string what = "not the number whose bits are in ";
    report(what.append(row_of(bits_member).name), "one number, or only one of the two members");
    has_member_ = false;
  }

  void join_data() {
    const bool has_plain = (seen_ & bit_of(Member::data)) != 0;
    const bool has_bits = (seen_ & bit_of(Member::data_bits)) != 0;
    if (!has_plain && !has_bits) return;
    if (has_plain) check_rows(Member::data, forms_[0]);
    if (has_bits) check_rows(Member::data_bits, forms_[1]);
    node_->data.emplace();
    if ((reported_.back() & kDataMember) != 0) return;  // a form may hold what an earlier node had
    if (has_plain && has_bits && forms_[0].values != forms_[1].values) return disagree(Member::data, Member::data_bits);
    node_->data = forms_[has_plain ? 0 : 1].values;
  }

  /// Rows are for rank 2, each as long as the second dimension.
  void check_rows(Member member, const DataForm& data) {
    if (data.rows == 0 || (reported_.back() & (kDataMember | kShapeMember)) != 0) return;
    member_ = member;
    has_member_ = true;
    if (node_->shape.size() != 2) {
      report("rows, where the rank is " + std::to_string(node_->shape.size()), "one list of numbers");
    } else if (data.outside_rows != 0) {
      report("numbers between rows", "rows only, or one list of numbers");
    } else if (data.ragged_row != 0 || data.row_length != node_->shape[1]) {
      const bool ragged = data.row_length == node_->shape[1];
      std::string what = std::to_string(ragged ? data.ragged_length : data.row_length);
      what.append(" numbers in row ").append(std::to_string(ragged ? data.ragged_row : 0));
      report(std::move(what), std::to_string(node_->shape[1]) + " numbers in each row");
    } else if (data.rows != node_->shape[0]) {
      report(std::to_string(data.rows) + " rows", std::to_string(node_->shape[0]) + " rows");
    }
    has_member_ = false;
  }

  const GraphDialect& dialect_;
  const GraphRules& rules_;
  const GraphLimits& limits_;
  std::string_view text_;
  Graph graph_;
  std::vector<std::uint16_t> reported_;  // one per node
  GraphErrors errors_;

  Place place_ = Place::outside;
  Place before_skip_ = Place::outside;
  std::size_t depth_ = 0;
  std::size_t skipped_depth_ = 0;
  bool saw_nodes_ = false;
  bool in_unknown_ = false;  // of the document's members
  bool complete_ = false;

  // Of the node being read.
  GraphNode* node_ = nullptr;
  std::uint16_t seen_ = 0;
  std::array<std::optional<std::uint64_t>, 2> bits_;  // scalar_bits, param2_bits
  std::array<DataForm, 2> forms_;                     // data, data_bits

  // Of the member being read.
  Member member_ = Member::unknown;
  bool has_member_ = false;
  std::string unknown_name_;
  std::size_t index_ = 0;  // in its list
  std::size_t inner_ = 0;  // in its row
};

}  // namespace

GraphResult<Graph> import_json(std::string_view text, const GraphDialect& dialect, const GraphRules& rules,
                               const GraphLimits& limits) {
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
