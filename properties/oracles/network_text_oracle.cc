// Descriptions of networks as text: written, and read by a grammar of lines. See precision_oracle.h.
#include <array>
#include <charconv>

#include "properties/oracles/precision_oracle.h"

namespace packcheck::oracle {
namespace {

constexpr std::array kFormats{LayerFormat::f32, LayerFormat::f16, LayerFormat::bf16};
constexpr std::size_t kDeepest = 64;
constexpr std::uint64_t kMostUnits = 1U << 24;
constexpr std::uint64_t kMostWeights = 1U << 28;

std::size_t digits_of(LayerFormat format) { return format == LayerFormat::f32 ? 8 : 4; }

void append_codes(std::string& text, LayerFormat format, const std::vector<std::uint64_t>& codes) {
  for (const std::uint64_t code : codes) {
    text.push_back(' ');
    for (std::size_t digit = digits_of(format); digit-- > 0;)
      text.push_back("0123456789abcdef"[code >> (4 * digit) & 15]);
  }
}

void append_items(std::string& text, const std::vector<NetworkItem>& items) {
  for (const NetworkItem& item : items) {
    const std::string_view format = item.format ? layer_format_name(*item.format) : "-";
    if (item.kind == NetworkItem::Kind::activation) {
      text.append("activation ").append(item.activation).append("\n");
    } else if (item.kind == NetworkItem::Kind::stage) {
      text.append("stage ").append(item.name).append(" ").append(format).append("\n");
      append_items(text, item.inside);
      text.append("end\n");
    } else {
      text.append("dense ").append(std::to_string(item.units)).append(" ").append(format).append(" ");
      text.append(item.activation).append("\nweights");
      if (item.weights) {
        text.append(" ").append(layer_format_name(item.weights->format));
        append_codes(text, item.weights->format, item.weights->codes);
      } else {
        text.append(" seed ").append(std::to_string(item.seed));
      }
      text.push_back('\n');
      if (!item.bias) continue;
      text.append("bias ").append(layer_format_name(item.bias->format));
      append_codes(text, item.bias->format, item.bias->codes);
      text.push_back('\n');
    }
  }
}

using Words = std::vector<std::string_view>;

std::optional<LayerFormat> format_of(std::string_view name) {
  for (const LayerFormat format : kFormats)
    if (layer_format_name(format) == name) return format;
  return std::nullopt;
}

std::optional<std::uint64_t> decimal(std::string_view word) {
  std::uint64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc{} || stop != end || (word.size() > 1 && word[0] == '0')) return std::nullopt;
  return number;
}

bool is_word(std::string_view word) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !word.empty() && word.size() <= 64 && word.find_first_not_of(kLetters) == std::string_view::npos;
}

bool is_activation(std::string_view name) { return name == "relu" || name == "leaky_relu" || name == "hard_tanh"; }

std::optional<std::vector<std::uint64_t>> codes_of(const Words& words, std::size_t from, LayerFormat format) {
  std::vector<std::uint64_t> codes;
  for (std::size_t i = from; i < words.size(); ++i) {
    if (words[i].size() != digits_of(format)) return std::nullopt;
    std::uint64_t code = 0;
    for (const char letter : words[i]) {
      const std::size_t digit = std::string_view("0123456789abcdef").find(letter);
      if (digit == std::string_view::npos) return std::nullopt;
      code = code * 16 + digit;
    }
    codes.push_back(code);
  }
  return codes;
}

/// Goes down the lines. Everything that is not as it should be ends the reading.
class Reader {
 public:
  explicit Reader(std::string_view text) {
    sound_ = !text.empty() && text.back() == '\n';
    for (std::size_t at = 0; sound_ && at < text.size();) {
      const std::size_t end = text.find('\n', at);
      Words words;
      for (std::size_t start = at; start <= end;) {
        const std::size_t blank = std::min(text.find(' ', start), end);
        words.push_back(text.substr(start, blank - start));
        start = blank + 1;
      }
      lines_.push_back(std::move(words));
      at = end + 1;
    }
  }

  std::optional<NetworkDescription> run() {
    NetworkDescription d;
    const Words* words = take("network", 3);
    if (words == nullptr) return std::nullopt;
    const auto format = format_of((*words)[1]);
    const auto size = decimal((*words)[2]);
    if (!format || !size || *size == 0 || *size > kMostUnits) return std::nullopt;
    d.format = *format;
    d.inputs = static_cast<std::uint32_t>(*size);
    size_ = *size;
    d.input = line_of_codes("input", d.format, size_, std::nullopt);
    d.items = items(d.format, 0);
    d.upstream = line_of_codes("upstream", d.format, size_, d.rows());
    if (!sound_ || next_ != lines_.size()) return std::nullopt;
    return d;
  }

 private:
  [[nodiscard]] std::string_view coming() const {
    return next_ < lines_.size() ? lines_[next_][0] : std::string_view();
  }
  const Words* take(std::string_view first, std::size_t count) {
    sound_ = sound_ && next_ < lines_.size() && coming() == first && (count == 0 || lines_[next_].size() == count);
    return sound_ ? &lines_[next_++] : nullptr;
  }
  /// So many rows of codes, or any number of rows but none.
  std::vector<std::uint64_t> line_of_codes(std::string_view first, LayerFormat format, std::uint64_t size,
                                           std::optional<std::uint64_t> rows) {
    const Words* words = take(first, 0);
    const auto codes = words == nullptr ? std::nullopt : codes_of(*words, 1, format);
    sound_ = sound_ && codes && !codes->empty() && codes->size() % size == 0;
    sound_ = sound_ && (!rows || codes->size() / size == *rows);
    return sound_ ? *codes : std::vector<std::uint64_t>();
  }
  /// Weights or a bias, which are of the layer's format.
  std::optional<TaggedCodes> tagged(const Words& words, LayerFormat own, std::uint64_t count) {
    const auto format = words.size() < 2 ? std::nullopt : format_of(words[1]);
    const auto codes = format ? codes_of(words, 2, *format) : std::nullopt;
    sound_ = sound_ && codes && *format == own && codes->size() == count;
    return sound_ ? std::optional(TaggedCodes{*format, *codes}) : std::nullopt;
  }

  std::vector<NetworkItem> items(LayerFormat around, std::size_t depth) {
    std::vector<NetworkItem> all;
    while (sound_) {
      if (coming() == "dense")
        all.push_back(dense(around));
      else if (coming() == "activation")
        all.push_back(activation());
      else if (coming() == "stage")
        all.push_back(stage(depth));
      else
        break;
    }
    return all;
  }
  NetworkItem activation() {
    NetworkItem item;
    item.kind = NetworkItem::Kind::activation;
    const Words* words = take("activation", 2);
    sound_ = sound_ && is_activation((*words)[1]);
    if (sound_) item.activation = (*words)[1];
    return item;
  }
  NetworkItem stage(std::size_t depth) {
    NetworkItem item;
    item.kind = NetworkItem::Kind::stage;
    const Words* words = take("stage", 3);
    sound_ = sound_ && depth < kDeepest && is_word((*words)[1]) && format_of((*words)[2]);
    if (!sound_) return item;
    item.name = (*words)[1];
    item.format = format_of((*words)[2]);
    item.inside = items(*item.format, depth + 1);
    take("end", 1);
    return item;
  }
  NetworkItem dense(LayerFormat around) {
    NetworkItem item;
    const Words* words = take("dense", 4);
    if (words == nullptr) return item;
    const auto units = decimal((*words)[1]);
    item.format = format_of((*words)[2]);
    sound_ = units && *units > 0 && *units <= kMostUnits && (item.format || (*words)[2] == "-") &&
             ((*words)[3] == "-" || is_activation((*words)[3]));
    if (!sound_) return item;
    item.units = static_cast<std::uint32_t>(*units);
    item.activation = (*words)[3];
    const LayerFormat own = item.format.value_or(around);
    weights_ += *units * size_;
    sound_ = weights_ <= kMostWeights;
    const Words* weights = take("weights", 0);
    if (weights == nullptr) return item;
    if (weights->size() == 3 && (*weights)[1] == "seed") {
      const auto seed = decimal((*weights)[2]);
      sound_ = seed.has_value();
      item.seed = seed.value_or(0);
    } else {
      item.weights = tagged(*weights, own, *units * size_);
    }
    size_ = *units;
    if (sound_ && coming() == "bias") item.bias = tagged(*take("bias", 0), own, size_);
    return item;
  }

  std::vector<Words> lines_;
  std::size_t next_ = 0;
  bool sound_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t weights_ = 0;
};

}  // namespace

std::string network_text(const NetworkDescription& d) {
  std::string text = "network ";
  text.append(layer_format_name(d.format)).append(" ").append(std::to_string(d.inputs)).append("\ninput");
  append_codes(text, d.format, d.input);
  text.push_back('\n');
  append_items(text, d.items);
  text.append("upstream");
  append_codes(text, d.format, d.upstream);
  return text.append("\n");
}

std::optional<NetworkDescription> read_network_text(std::string_view text) { return Reader(text).run(); }

}  // namespace packcheck::oracle
