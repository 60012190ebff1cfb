// Laws of products with packed weights. The oracle is properties/oracles/product_oracle.h: exact sums, and a bound that
// holds for any order of f32 sums, so that any correct kernel holds.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "properties/cases/products.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/oracles/product_oracle.h"

namespace packcheck {
namespace {

constexpr std::string_view kWhy =
    "Element (r, o) is the sum over i of x[r][i] * (scale[o][g] * code[o][i] + bias[o][g]), g = i / group_size.";

oracle::PackedProduct for_oracle(const ProductRequest& r, std::size_t matrix) {
  const PackedWeights& w = r.weights[matrix];
  return {r.rows,         r.in_features, r.out_features, r.group_size, r.bits,
          r.scale_format, r.x,           w.codes,        w.scales,     w.biases};
}

std::string text_of(const ProductRequest& r) {
  std::string text = "x " + std::to_string(r.rows) + "x" + std::to_string(r.in_features);
  text.append(", weights ").append(std::to_string(r.out_features)).append("x").append(std::to_string(r.in_features));
  text.append(" of ").append(std::to_string(r.bits)).append(" bits in groups of ").append(std::to_string(r.group_size));
  text.append(", ").append(spec(r.scale_format).name).append(" scales, order ").append(sum_order_name(r.order));
  return text;
}

std::string number_text(double number) {
  char text[40];
  (void)std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

std::string expected_text(const oracle::ExpectedElement& expected) {
  switch (expected.kind) {
    case oracle::ExpectedKind::any_nan: return "NaN: a NaN goes in";
    case oracle::ExpectedKind::no_number: return "NaN or an infinity: an infinity goes in";
    case oracle::ExpectedKind::bounded:
    case oracle::ExpectedKind::open: break;
  }
  return number_text(expected.sum.value()) + ", at most " + number_text(expected.bound) + " off";
}

std::string_view kind_of(const oracle::ExpectedElement& expected) {
  return expected.kind == oracle::ExpectedKind::bounded ? "number" : "not finite";
}

/// Every element of y against the exact one.
void judge_elements(Judge& judge, const ProductRequest& r, std::size_t matrix, std::span<const float> y,
                    std::string_view name) {
  const oracle::PackedProduct product = for_oracle(r, matrix);
  judge.add_checked(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t row = i / r.out_features;
    const std::size_t output = i % r.out_features;
    const oracle::ExpectedElement expected = oracle::expected_element(product, row, output);
    if (expected.accepts(y[i])) continue;
    std::string place = r.variant();
    place.append(" ").append(name).append(" ").append(kind_of(expected));
    std::string input(name);
    input.append("[").append(std::to_string(row)).append("][").append(std::to_string(output)).append("] of ");
    judge.broken({place, input + text_of(r), expected_text(expected), describe(y[i]), std::string(kWhy)});
  }
}

Verdict check_matmul(Subject& subject, const ProductCase& c) {
  const ProductRequest& r = c.request;
  if (const std::string wrong = oracle::unsoundness(for_oracle(r, 0)); !wrong.empty()) return not_applicable(wrong);
  const Answer<std::vector<float>> y = call_affine_matmul(subject, r);
  if (auto verdict = unanswered(y, r.variant(), text_of(r))) return *verdict;
  Judge judge;
  judge_elements(judge, r, 0, y.value, "y");
  return std::move(judge).verdict();
}

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

/// Bit for bit where the subject says so.
void judge_fused(Judge& judge, const ProductRequest& r, std::span<const float> fused, std::span<const float> single,
                 std::string_view name) {
  for (std::size_t i = 0; i < fused.size(); ++i) {
    if (same(fused[i], single[i])) continue;
    const std::string where = std::string(name) + " element " + std::to_string(i) + " of ";
    judge.broken({r.variant() + " fused", where + text_of(r), describe(single[i]), describe(fused[i]),
                  "With fused=same the kernel of two matrices gives what that of one gives, bit for bit."});
    return;
  }
}

Verdict check_gate_up(Subject& subject, const ProductCase& c) {
  const ProductRequest& r = c.request;
  for (const std::size_t matrix : {std::size_t{0}, std::size_t{1}})
    if (const std::string wrong = oracle::unsoundness(for_oracle(r, matrix)); !wrong.empty())
      return not_applicable(wrong);
  const Answer<std::vector<float>> both = call_affine_gate_up(subject, r);
  if (auto verdict = unanswered(both, r.variant(), text_of(r))) return *verdict;
  const std::size_t count = both.value.size() / 2;
  const std::array<std::span<const float>, 2> fused{std::span(both.value).first(count),
                                                    std::span(both.value).last(count)};
  const Declaration* const declared = subject.info().find(Operation::affine_gate_up, r.variant());
  const bool bits = declared != nullptr && declared->option("fused") == "same";
  constexpr std::array<std::string_view, 2> kNames{"gate", "up"};
  Judge judge;
  for (std::size_t matrix = 0; matrix < 2; ++matrix) {
    judge_elements(judge, r, matrix, fused[matrix], kNames[matrix]);
    const Answer<std::vector<float>> single = call_affine_matmul(subject, r, matrix);
    if (auto verdict = unanswered(single, r.variant() + " one matrix", text_of(r))) return *verdict;
    if (bits) judge_fused(judge, r, fused[matrix], single.value, kNames[matrix]);
  }
  return std::move(judge).verdict();
}

Verdict check_decoded(Subject& subject, const ProductCase& c) {
  const ProductRequest& r = c.request;
  const oracle::PackedProduct product = for_oracle(r, 0);
  if (const std::string wrong = oracle::unsoundness(product); !wrong.empty()) return not_applicable(wrong);
  if (r.in_features == 0 || r.out_features == 0) return not_applicable("no weights to decode");
  const PackedWeights& w = r.weights[0];
  AffineTensor tensor;
  tensor.out_features = r.out_features;
  tensor.in_features = r.in_features;
  tensor.scale_columns = r.in_features / r.group_size;
  tensor.scale_format = r.scale_format;
  tensor.bits = static_cast<unsigned>(r.bits);
  tensor.codes = w.codes;
  tensor.scales = w.scales;
  tensor.biases = w.biases;
  const Answer<std::vector<float>> weights = call_affine_dequantize(subject, tensor);
  if (auto verdict = unanswered(weights, r.variant() + " weights", text_of(r))) return *verdict;
  const Answer<std::vector<float>> y = call_affine_matmul(subject, r);
  if (auto verdict = unanswered(y, r.variant(), text_of(r))) return *verdict;
  Judge judge;
  judge.add_checked(y.value.size());
  for (std::size_t i = 0; i < y.value.size(); ++i) {
    const std::size_t row = i / r.out_features;
    const std::size_t output = i % r.out_features;
    const oracle::ExpectedElement expected =
        oracle::expected_decoded(product, row, output, std::span(weights.value).subspan(output * r.in_features));
    if (expected.accepts(y.value[i])) continue;
    const std::string where = "y[" + std::to_string(row) + "][" + std::to_string(output) + "] of ";
    judge.broken({r.variant() + " " + std::string(kind_of(expected)), where + text_of(r), expected_text(expected),
                  describe(y.value[i]),
                  "Expected is the exact product of x with the weights that the subject decodes."});
  }
  return std::move(judge).verdict();
}

/// What is left of a row when all others are NaN.
Verdict check_rows(Subject& subject, const ProductCase& c) {
  const ProductRequest& r = c.request;
  if (const std::string wrong = oracle::unsoundness(for_oracle(r, 0)); !wrong.empty()) return not_applicable(wrong);
  if (r.rows < 2 || r.in_features == 0) return not_applicable("one row, or none");
  const Answer<std::vector<float>> together = call_affine_matmul(subject, r);
  if (auto verdict = unanswered(together, r.variant(), text_of(r))) return *verdict;
  Judge judge;
  for (const std::size_t kept : {std::size_t{0}, static_cast<std::size_t>(r.rows - 1)}) {
    ProductRequest alone = r;
    for (std::size_t i = 0; i < alone.x.size(); ++i)
      if (i / r.in_features != kept) alone.x[i] = std::numeric_limits<float>::quiet_NaN();
    const Answer<std::vector<float>> y = call_affine_matmul(subject, alone);
    if (auto verdict = unanswered(y, r.variant(), text_of(alone))) return *verdict;
    judge.add_checked(r.out_features);
    for (std::size_t i = kept * r.out_features; i < (kept + 1) * r.out_features; ++i) {
      if (same(together.value[i], y.value[i])) continue;
      judge.broken(
          {r.variant(),
           "row " + std::to_string(kept) + ", output " + std::to_string(i % r.out_features) + " of " + text_of(r),
           describe(together.value[i]), describe(y.value[i]),
           "Expected is the answer of the same row beside other numbers; now all other rows are NaN."});
      break;
    }
  }
  return std::move(judge).verdict();
}

Verdict check_refusals(Subject& subject, const ProductCase& c) {
  const ProductRequest& r = c.request;
  std::array<std::string, 2> wrong{oracle::unsoundness(for_oracle(r, 0)), oracle::unsoundness(for_oracle(r, 1))};
  if (wrong[0].empty() && wrong[1].empty()) return not_applicable("everything fits");
  Judge judge;
  const auto expect_refusal = [&](const Answer<std::vector<float>>& answer, std::string_view name,
                                  const std::string& why) -> std::optional<Verdict> {
    judge.add_checked(1);
    if (answer.outcome == Outcome::refused) return std::nullopt;
    const std::string place = r.variant() + " " + std::string(name);
    if (answer.outcome != Outcome::answered) return unanswered(answer, place, text_of(r));
    judge.broken({place, text_of(r), "a refusal: " + why, std::to_string(answer.value.size()) + " numbers",
                  "Arguments that do not fit together make a kernel read past a buffer, or other numbers."});
    return std::nullopt;
  };
  if (!wrong[0].empty())
    if (auto verdict = expect_refusal(call_affine_matmul(subject, r), "affine_matmul", wrong[0])) return *verdict;
  if (subject.info().find(Operation::affine_gate_up, r.variant()) != nullptr) {
    const std::string& why = wrong[0].empty() ? wrong[1] : wrong[0];
    if (auto verdict = expect_refusal(call_affine_gate_up(subject, r), "affine_gate_up", why)) return *verdict;
  }
  return std::move(judge).verdict();
}

}  // namespace

std::vector<Law> product_laws() {
  return {
      make_law<ProductCase>("affine.matmul_is_within_its_bound_of_the_exact_product",
                            "A product with packed weights is within the bound of any order of f32 sums of the exact "
                            "one, and not finite where a number that goes in is not.",
                            {Operation::affine_matmul}, product_cases, variants_of(Operation::affine_matmul),
                            check_matmul),
      make_law<ProductCase>("affine.matmul_is_the_product_of_decoded_weights",
                            "A product with packed weights is, within the bound, the product with the weights that the "
                            "same subject decodes.",
                            {Operation::affine_matmul, Operation::affine_dequantize}, product_cases,
                            variants_of(Operation::affine_matmul, Operation::affine_dequantize), check_decoded),
      make_law<ProductCase>("affine.matmul_takes_each_row_alone",
                            "A row of a product does not depend on the other rows.", {Operation::affine_matmul},
                            product_cases, variants_of(Operation::affine_matmul), check_rows),
      make_law<ProductCase>("affine.matmul_refuses_what_leaves_its_buffers",
                            "A product whose arguments would index past a buffer, or leave a part of it unread, is "
                            "refused.",
                            {Operation::affine_matmul}, unsound_product_cases, variants_of(Operation::affine_matmul),
                            check_refusals),
      make_law<ProductCase>("affine.gate_up_gives_what_two_products_give",
                            "The fused product of gate and up is within the bound for both, in this order, and bit for "
                            "bit what two single products give where fused=same is declared.",
                            {Operation::affine_gate_up, Operation::affine_matmul}, gate_up_cases,
                            variants_of(Operation::affine_gate_up, Operation::affine_matmul), check_gate_up)};
}

}  // namespace packcheck
