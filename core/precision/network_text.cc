#include "core/precision/network_text.h"

#include <charconv>

namespace packcheck {
namespace {

using Words = std::vector<std::string_view>;

Words split(std::string_view line) {
  Words words;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::optional<Format> layer_format(std::string_view name) {
  const std::optional<Format> format = format_named(name);
  return format && is_layer_format(*format) ? format : std::nullopt;
}

template <class Number>
bool read_decimal(std::string_view text, Number& number) {
  if (text.size() > 1 && text[0] == '0') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

bool read_code(std::string_view text, Format format, std::uint64_t& code) {
  if (text.size() != spec(format).bytes() * 2) return false;
  for (const char letter : text)
    if ((letter < '0' || letter > '9') && (letter < 'a' || letter > 'f')) return false;
  std::from_chars(text.data(), text.data() + text.size(), code, 16);
  return true;
}

class Reader {
 public:
  Reader(std::string_view text, const PrecisionRules& rules) : rest_(text), rules_(rules) {}

  Result<DescribedNetwork> run() {
    std::uint32_t size = 0;
    std::optional<Format> dtype;
    if (!next() || words_.size() != 3 || words_[0] != "network" || !(dtype = layer_format(words_[1])) ||
        !read_decimal(words_[2], size))
      return wrong("network, f32, f16 or bf16, and a size");
    NetworkBuilder builder(*dtype, rules_);
    builder.input(size);
    DescribedNetwork described;
    if (!next() || words_[0] != "input" || !read_codes(1, *dtype, described.input))
      return wrong(std::string("input and codes of ").append(spec(*dtype).name));
    while (next() && words_[0] != "upstream") {
      if (const Result<void> added = add_step(builder); !added) return tl::unexpected(added.error());
    }
    if (words_.empty() || words_[0] != "upstream" || !read_codes(1, *dtype, described.upstream) || !rest_.empty())
      return wrong(std::string("upstream and codes of ").append(spec(*dtype).name).append(", and nothing after it"));
    Result<Network> network = builder.build();
    if (!network) return tl::unexpected(network.error());
    if (described.input.empty() || described.input.size() % network->inputs != 0)
      return refuse(std::to_string(described.input.size()) + " numbers", "input",
                    "one or more rows of " + std::to_string(network->inputs));
    described.network = std::move(*network);
    const std::uint64_t outputs = std::uint64_t{described.rows()} * described.network.outputs();
    if (described.upstream.size() != outputs)
      return refuse(std::to_string(described.upstream.size()) + " numbers", "upstream", std::to_string(outputs));
    return described;
  }

 private:
  /// Takes a line; false where there is none, or one without an end.
  bool next() {
    words_.clear();
    const std::size_t end = rest_.find('\n');
    ++line_;
    if (end == std::string_view::npos) return false;
    words_ = split(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return true;
  }
  /// The first word of the line that comes.
  [[nodiscard]] std::string_view coming() const { return rest_.substr(0, rest_.find_first_of(" \n")); }

  [[nodiscard]] tl::unexpected<Error> wrong(std::string right) const {
    return refuse("not understood", "line " + std::to_string(line_), std::move(right));
  }

  bool read_codes(std::size_t from, Format format, std::vector<std::uint64_t>& codes) const {
    for (std::size_t i = from; i < words_.size(); ++i)
      if (!read_code(words_[i], format, codes.emplace_back())) return false;
    return true;
  }
  bool read_weights(std::optional<LayerWeights>& weights) const {
    const std::optional<Format> dtype = words_.size() < 2 ? std::nullopt : layer_format(words_[1]);
    if (!dtype) return false;
    weights.emplace().dtype = *dtype;
    return read_codes(2, *dtype, weights->codes);
  }

  Result<void> add_step(NetworkBuilder& builder) {
    if (words_[0] == "dense") return add_dense(builder);
    if (words_[0] == "activation" && words_.size() == 2) {
      const std::optional<Activation> activation = activation_named(words_[1]);
      if (!activation || activation == Activation::none) return wrong("relu, leaky_relu or hard_tanh");
      builder.activation(*activation);
      return {};
    }
    if (words_[0] == "stage" && words_.size() == 3) {
      const std::optional<Format> dtype = layer_format(words_[2]);
      if (!dtype) return wrong("a name, and f32, f16 or bf16");
      builder.open_stage(words_[1], *dtype);
      return {};
    }
    if (words_[0] != "end" || words_.size() != 1) return wrong("dense, activation, stage, end or upstream");
    builder.close_stage();
    return {};
  }

  Result<void> add_dense(NetworkBuilder& builder) {
    std::uint32_t units = 0;
    DenseOptions options;
    if (words_.size() != 4 || !read_decimal(words_[1], units)) return wrong("dense, units, a dtype and an activation");
    options.dtype = layer_format(words_[2]);
    const std::optional<Activation> activation = activation_named(words_[3]);
    if ((!options.dtype && words_[2] != "-") || !activation)
      return wrong("f32, f16, bf16 or -, and relu, leaky_relu, hard_tanh or -");
    options.activation = *activation;
    if (!next() || words_[0] != "weights") return wrong("the weights of the layer");
    if (words_.size() == 3 && words_[1] == "seed") {
      if (!read_decimal(words_[2], options.seed)) return wrong("an integer below 2^64");
    } else if (!read_weights(options.weights)) {
      return wrong("a dtype and codes of it, or seed and a number");
    }
    if (coming() == "bias") {
      next();
      if (!read_weights(options.bias)) return wrong("a dtype and codes of it");
    }
    builder.dense(units, options);
    return {};
  }

  std::string_view rest_;
  PrecisionRules rules_;
  Words words_;
  std::size_t line_ = 0;
};

}  // namespace

Result<DescribedNetwork> read_network(std::string_view text, const PrecisionRules& rules) {
  return Reader(text, rules).run();
}

}  // namespace packcheck
