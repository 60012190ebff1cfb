// JSON text with one value changed, and the graphs and headers written in it.
#include <algorithm>
#include <array>

#include "properties/mutators/json_values.h"
#include "properties/mutators/mutators.h"
#include "properties/mutators/numbers.h"

namespace packcheck {
namespace {

using Kind = JsonSpan::Kind;

constexpr std::string_view kGraphMembers[] = {
    R"("id":0)",         R"("shape":[1])",    R"("op":"leaf")",
    R"("data":[-0])",    R"("data":[[1.5]])", R"("data_bits":["0x7ff8000000000001"])",
    R"("scalar":-0)",    R"("param2":-0)",    R"("scalar_bits":"0x0000000000030301")",
    R"("indices":[])",   R"("inputs":[0])",   R"("param2_bits":"0x7ff0000000000000")",
    R"("inputs":[null])"};
constexpr std::string_view kOperators[] = {"\"leaf\"",      "\"conv2d\"", "\"softmaxCrossEntropy\"",
                                           "\"maxpool2d\"", "\"add\"",    "\"custom\""};

std::string hex_word(std::uint64_t bits) {
  std::string text = "\"0x";
  for (int shift = 60; shift >= 0; shift -= 4) text.push_back("0123456789abcdef"[bits >> shift & 15]);
  return text.append("\"");
}

class JsonMutation {
 public:
  JsonMutation(std::string_view text, std::span<const std::string_view> members, Dice& dice)
      : text_(text), members_(members), dice_(dice), values_(json_values(text)) {}

  std::optional<std::string> make() {
    if (values_.empty()) return std::nullopt;
    // Leaves are most of the values, members of the outer objects matter as much: half of the time one of few.
    const JsonSpan& value =
        values_[dice_.below(dice_.once_in(2) ? std::min<std::size_t>(values_.size(), 16) : values_.size())];
    switch (dice_.below(10)) {
      case 0:
      case 1:
      case 2: return with(value.begin, value.end, other_value(value));
      case 3: return twice(value);
      case 4: return without(value);
      case 5: return swapped(value);
      case 6: return with(value.begin, value.end, source(dice_.pick(values_)));
      case 7: return renamed(value);
      case 8: return with_member(value);
      default: return of_another_type(value);
    }
  }

 private:
  [[nodiscard]] std::string source(const JsonSpan& value) const {
    return std::string(text_.substr(value.begin, value.end - value.begin));
  }
  [[nodiscard]] std::string with(std::size_t begin, std::size_t end, std::string_view instead) const {
    return std::string(text_.substr(0, begin)).append(instead).append(text_.substr(end));
  }
  [[nodiscard]] std::vector<std::size_t> siblings(const JsonSpan& value) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 1; i < values_.size(); ++i)
      if (values_[i].parent == value.parent) found.push_back(i);
    return found;
  }

  std::string other_value(const JsonSpan& value) {
    if (value.kind == Kind::string)
      return dice_.once_in(2) ? hex_word(interesting_double(dice_)) : std::string(dice_.pick(kOperators));
    if (value.kind != Kind::word) return dice_.once_in(2) ? "[]" : "{}";
    const std::string_view text = text_.substr(value.begin, value.end - value.begin);
    if (dice_.once_in(6)) return dice_.once_in(2) ? "-0" : "null";
    const bool integer = text.find_first_not_of("0123456789") == std::string_view::npos;
    if (integer && dice_.once_in(2)) return interesting_integer(dice_);
    return dice_.once_in(2) ? changed_number(text, dice_) : interesting_number(dice_);
  }

  std::string twice(const JsonSpan& value) {
    if (value.parent == 0 && &value == values_.data()) return std::string(text_).append(text_);
    const std::string_view whole = text_.substr(value.whole_begin(), value.end - value.whole_begin());
    return with(value.end, value.end, std::string(",").append(whole));
  }

  std::string without(const JsonSpan& value) {
    if (&value == values_.data()) return {};
    // The comma before it goes with it, or the one after the first.
    const std::size_t before = text_.find_last_not_of(" \t\r\n", value.whole_begin() - 1);
    if (text_[before] == ',') return with(before, value.end, {});
    const std::size_t after = text_.find_first_not_of(" \t\r\n", value.end);
    return with(value.whole_begin(), after != std::string_view::npos && text_[after] == ',' ? after + 1 : value.end,
                {});
  }

  std::string swapped(const JsonSpan& value) {
    const std::vector<std::size_t> all = siblings(value);
    if (all.size() < 2) return twice(value);
    const std::size_t one = dice_.below(all.size());
    const std::size_t two = dice_.below(all.size());
    const JsonSpan& first = values_[all[std::min(one, two)]];
    const JsonSpan& second = values_[all[std::max(one, two)]];
    if (one == two) return twice(first);
    // Members in each other's place, or only their values.
    const bool values_only = first.is_member() && dice_.once_in(2);
    const auto begin = [&](const JsonSpan& v) { return values_only ? v.begin : v.whole_begin(); };
    std::string result(text_.substr(0, begin(first)));
    result.append(text_.substr(begin(second), second.end - begin(second)));
    result.append(text_.substr(first.end, begin(second) - first.end));
    result.append(text_.substr(begin(first), first.end - begin(first)));
    return result.append(text_.substr(second.end));
  }

  /// A member that the format has, or one of this text.
  std::string_view member() {
    if (!members_.empty()) return members_[dice_.below(members_.size())];
    const JsonSpan& other = dice_.pick(values_);
    return other.is_member() ? text_.substr(other.key_begin, other.end - other.key_begin) : R"("k":0)";
  }
  std::string key() {
    const std::string_view whole = member();
    return std::string(whole.substr(0, whole.find('"', 1) + 1));
  }
  std::string renamed(const JsonSpan& value) {
    return value.is_member() ? with(value.key_begin, value.key_end, key()) : with(value.begin, value.end, "null");
  }
  /// Data that fills the shape beside it, where that is little.
  std::string data_for(const JsonSpan& object) {
    std::size_t count = 1;
    for (const JsonSpan& value : values_) {
      const JsonSpan& list = values_[value.parent];
      if (&values_[list.parent] == &object &&
          text_.substr(list.key_begin, list.key_end - list.key_begin) == "\"shape\"")
        count = std::min<std::size_t>(count * static_cast<std::size_t>(text_[value.begin] - '0'), 65);
    }
    std::string data = "\"data\":[";
    for (std::size_t i = 0; i < count; ++i) data.append(i == 0 ? "" : ",").append("0.5");
    return data.append("]");
  }
  /// One more member of the object that the value is, or is in.
  std::string with_member(const JsonSpan& value) {
    const JsonSpan& object = value.kind == Kind::object ? value : values_[value.parent];
    if (object.kind != Kind::object) return twice(value);
    std::string added(member());
    if (added.rfind("\"data\"", 0) == 0 && dice_.once_in(2))
      added = data_for(object);
    else if (dice_.once_in(3))
      added = key().append(":").append(interesting_number(dice_));
    const bool empty = text_.find_first_not_of(" \t\r\n", object.begin + 1) == object.end - 1;
    return with(object.end - 1, object.end - 1, empty ? added : "," + added);
  }
  std::string of_another_type(const JsonSpan& value) {
    const std::string text = source(value);
    switch (dice_.below(4)) {
      case 0: return with(value.begin, value.end, "[" + text + "]");
      case 1:
        if (value.kind == Kind::word) return with(value.begin, value.end, "\"" + text + "\"");
        if (value.kind == Kind::string || text.size() == 2)
          return with(value.begin, value.end, text.substr(1, text.size() - 2));
        return with(value.begin, value.end, "null");
      case 2: return with(value.begin, value.begin, "\n ");
      default: return with(value.begin, value.end, "null");
    }
  }

  std::string_view text_;
  std::span<const std::string_view> members_;
  Dice& dice_;
  std::vector<JsonSpan> values_;
};

/// Nodes with their positions for ids again, so that a node more or less leaves the rest sound.
std::string renumbered(const std::string& text) {
  const std::vector<JsonSpan> values = json_values(text);
  const auto key_of = [&](const JsonSpan& value) {
    return std::string_view(text).substr(value.key_begin, value.key_end - value.key_begin);
  };
  std::string result;
  std::size_t copied = 0;
  std::size_t position = 0;
  for (const JsonSpan& value : values) {
    const JsonSpan& node = values[value.parent];
    if (key_of(value) != "\"id\"" || key_of(values[node.parent]) != "\"nodes\"") continue;
    result.append(text, copied, value.begin - copied).append(std::to_string(position++));
    copied = value.end;
  }
  return result.append(text, copied);
}

std::string_view view(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
std::optional<Bytes> as_bytes(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return Bytes(text->begin(), text->end());
}

}  // namespace

std::optional<std::string> mutated_json(std::string_view text, std::span<const std::string_view> members, Dice& dice) {
  return JsonMutation(text, members, dice).make();
}

std::optional<std::string> crossed_json(std::string_view text, std::string_view other, Dice& dice) {
  const std::vector<JsonSpan> here = json_values(text);
  const std::vector<JsonSpan> there = json_values(other);
  if (here.empty() || there.empty()) return std::nullopt;
  const JsonSpan& place = here[dice.below(here.size())];
  const std::size_t start = dice.below(there.size());
  for (std::size_t i = 0; i < there.size(); ++i) {
    const JsonSpan& value = there[(start + i) % there.size()];
    if (value.kind != place.kind) continue;
    return std::string(text.substr(0, place.begin))
        .append(other.substr(value.begin, value.end - value.begin))
        .append(text.substr(place.end));
  }
  return std::nullopt;
}

std::optional<Bytes> mutate_graph_json(const Bytes& bytes, Dice& dice) {
  std::optional<std::string> changed = mutated_json(view(bytes), kGraphMembers, dice);
  if (changed && dice.once_in(3)) changed = renumbered(*changed);
  return as_bytes(changed);
}

std::optional<Bytes> mutate_json(const Bytes& bytes, Dice& dice) {
  return as_bytes(mutated_json(view(bytes), {}, dice));
}

std::optional<Bytes> cross_json(const Bytes& bytes, const Bytes& other, Dice& dice) {
  return as_bytes(crossed_json(view(bytes), view(other), dice));
}

}  // namespace packcheck
