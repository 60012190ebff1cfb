#include "subjects/tensor_document.h"

#include <array>
#include <charconv>
#include <span>

namespace packcheck {
namespace {

constexpr std::array<std::string_view, 4> kForms{"-", "keep", "dequantize", "requantize"};
constexpr std::array<std::string_view, 5> kHandles{"owned", "borrowed", "aliased", "file", "device"};
constexpr std::array<std::string_view, 3> kOutcomes{"converted", "same", "refused"};

template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Takes "KEY=VALUE" off the front of a line, and the blank behind it.
class Line {
 public:
  Line(std::string_view line, std::string where) : rest_(line), where_(std::move(where)) {}

  std::string_view word(std::string_view key) {
    if (rest_.substr(0, key.size()) != key || rest_.substr(key.size(), 1) != "=") {
      fail(key, rest_.substr(0, 40), "this member");
      return {};
    }
    rest_.remove_prefix(key.size() + 1);
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view value = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return value;
  }
  std::uint64_t number(std::string_view key) {
    const std::string_view text = word(key);
    const auto number = number_of(text);
    if (!number) fail(key, text, "an integer below 2^64");
    return number.value_or(0);
  }
  std::optional<std::vector<std::uint64_t>> numbers(std::string_view key) {
    const std::string_view text = word(key);
    if (text == "-") return std::nullopt;
    std::vector<std::uint64_t> all;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t comma = std::min(text.find(',', at), text.size());
      const auto number = number_of(text.substr(at, comma - at));
      if (!number) fail(key, text, "integers below 2^64 with commas between, or -");
      all.push_back(number.value_or(0));
      at = comma + 1;
    }
    return all;
  }
  template <class Enum, std::size_t N>
  Enum one_of(std::string_view key, const std::array<std::string_view, N>& names) {
    const std::string_view text = word(key);
    const auto value = named<Enum>(names, text);
    std::string known;
    for (const std::string_view name : names) known.append(known.empty() ? "" : ", ").append(name);
    if (!value) fail(key, text, known);
    return value.value_or(Enum{});
  }
  void fail(std::string_view key, std::string_view is, std::string right) {
    if (error_) return;
    std::string what(key);
    what.append(" is '").append(is).append("'");
    error_ = Error{std::move(what), where_, std::move(right)};
  }
  [[nodiscard]] std::optional<Error> finish() {
    if (!rest_.empty()) fail("the rest", rest_.substr(0, 40), "the end of the line");
    return error_;
  }

 private:
  std::string_view rest_;
  std::string where_;
  std::optional<Error> error_;
};

struct Split {
  std::string_view line;
  std::string_view rest;
};
Result<Split> split(std::string_view document, std::string_view where) {
  const std::size_t end = document.find('\n');
  if (end == std::string_view::npos) return refuse("no line", std::string(where), "a line that ends with a newline");
  return Split{document.substr(0, end), document.substr(end + 1)};
}

void add(std::string& line, std::string_view key, std::string_view value) {
  line.append(line.empty() ? "" : " ").append(key).append("=").append(value);
}

void append_bytes(std::string& document, std::span<const std::uint8_t> bytes) {
  document.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::vector<std::uint8_t> bytes_of(std::string_view text) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(text.data());
  return {begin, begin + text.size()};
}

}  // namespace

std::string_view form_name(TensorForm form) { return kForms[static_cast<std::size_t>(form)]; }
std::optional<TensorForm> form_named(std::string_view name) { return named<TensorForm>(kForms, name); }
std::string_view handle_name(TensorHandle handle) { return kHandles[static_cast<std::size_t>(handle)]; }
std::optional<TensorHandle> handle_named(std::string_view name) { return named<TensorHandle>(kHandles, name); }

std::string numbers_text(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) text.append(text.empty() ? "" : ",").append(std::to_string(number));
  return text.empty() ? "-" : text;
}

std::string write_tensor(const DescribedTensor& t) {
  std::string document;
  add(document, "target", t.target);
  add(document, "form", form_name(t.form));
  add(document, "dtype", spec(t.dtype).name);
  add(document, "shape", numbers_text(t.shape));
  add(document, "strides", t.strides ? numbers_text(*t.strides) : "-");
  add(document, "offset", std::to_string(t.offset));
  add(document, "handle", handle_name(t.handle));
  add(document, "region", numbers_text({t.region_offset, t.region_size}));
  add(document, "resolver", t.resolver ? "1" : "0");
  document += '\n';
  append_bytes(document, t.bytes);
  return document;
}

Result<DescribedTensor> read_tensor(std::string_view source, std::string_view document) {
  const Result<Split> parts = split(document, "tensor");
  if (!parts) return tl::unexpected(parts.error());
  Line line(parts->line, "tensor");
  DescribedTensor t;
  t.source = source;
  t.target = line.word("target");
  t.form = line.one_of<TensorForm>("form", kForms);
  const std::string_view dtype = line.word("dtype");
  if (const auto format = format_named(dtype))
    t.dtype = *format;
  else
    line.fail("dtype", dtype, std::string(format_names()));
  t.shape = line.numbers("shape").value_or(std::vector<std::uint64_t>{});
  t.strides = line.numbers("strides");
  t.offset = line.number("offset");
  t.handle = line.one_of<TensorHandle>("handle", kHandles);
  const auto region = line.numbers("region").value_or(std::vector<std::uint64_t>{});
  t.resolver = line.one_of<bool>("resolver", std::array<std::string_view, 2>{"0", "1"});
  t.bytes = bytes_of(parts->rest);
  if (region.size() != 2 || region[0] > t.bytes.size() || region[1] > t.bytes.size() - region[0])
    line.fail("region", numbers_text(region), "offset,size within the bytes");
  else
    t.region_offset = region[0], t.region_size = region[1];
  if (auto error = line.finish()) return tl::unexpected(*error);
  return t;
}

std::string write_answer(const TensorAnswer& answer) {
  std::string document;
  add(document, "outcome", kOutcomes[static_cast<std::size_t>(answer.outcome)]);
  add(document, "reads", std::to_string(answer.reads));
  add(document, "dtype", answer.dtype ? spec(*answer.dtype).name : "-");
  document += '\n';
  append_bytes(document, answer.bytes);
  return document.append(answer.message);
}

Result<TensorAnswer> read_answer(std::string_view document) {
  const Result<Split> parts = split(document, "answer");
  if (!parts) return tl::unexpected(parts.error());
  Line line(parts->line, "answer");
  TensorAnswer answer;
  answer.outcome = line.one_of<TensorOutcome>("outcome", kOutcomes);
  answer.reads = line.number("reads");
  const std::string_view dtype = line.word("dtype");
  answer.dtype = format_named(dtype);
  const bool refused = answer.outcome == TensorOutcome::refused;
  if (refused ? dtype != "-" : !answer.dtype) line.fail("dtype", dtype, refused ? "-" : std::string(format_names()));
  if (answer.outcome == TensorOutcome::converted) answer.bytes = bytes_of(parts->rest);
  if (refused) answer.message = parts->rest;
  if (answer.outcome == TensorOutcome::same && !parts->rest.empty())
    line.fail("the rest", parts->rest.substr(0, 40), "nothing: the tensor itself is the answer");
  if (auto error = line.finish()) return tl::unexpected(*error);
  return answer;
}

}  // namespace packcheck
