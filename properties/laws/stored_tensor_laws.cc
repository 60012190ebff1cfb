// Laws of stored tensors that change their encoding. The oracle is properties/oracles/storage_oracle.h; the bound of
// a requantizer's error is core/encoding/bounds.h.
#include "properties/laws/stored_tensor_laws.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/encoding/bounds.h"
#include "core/storage/conversion_table.h"
#include "properties/cases/cases.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/oracles/block_oracle.h"
#include "properties/oracles/storage_oracle.h"

namespace packcheck {
namespace {

using oracle::Fate;
using oracle::StoredResult;

std::string place_of(const DescribedTensor& t) { return t.source + "->" + t.target; }

/// "dense(f16) [2, 4] from byte 6, file, to dense(f32)".
std::string text_of(const DescribedTensor& t) {
  std::string text = t.source + " of shape " + numbers_text(t.shape);
  if (t.strides) text.append(" with strides ").append(numbers_text(*t.strides));
  text.append(" from byte ").append(std::to_string(t.offset)).append(", dtype ").append(spec(t.dtype).name);
  text.append(", ").append(handle_name(t.handle)).append(t.resolver ? "" : " without a resolver").append(", to ");
  if (t.form != TensorForm::none) text.append(form_name(t.form)).append(" ");
  return text.append(t.target);
}

std::string text_of(const TensorAnswer& a) {
  const std::string reads = " after " + std::to_string(a.reads) + " reads";
  if (a.outcome == TensorOutcome::refused) return "refused" + reads + ": " + describe_text(a.message);
  if (a.outcome == TensorOutcome::same) return "the same object";
  return describe_bytes(a.bytes);
}

Verdict broken(const DescribedTensor& t, std::string_view how, std::string expected, const TensorAnswer& actual,
               std::string why) {
  Judge judge;
  judge.add_checked(1);
  judge.broken(
      {place_of(t) + " " + std::string(how), text_of(t), std::move(expected), text_of(actual), std::move(why)});
  return std::move(judge).verdict();
}

Verdict holds() {
  Judge judge;
  judge.add_checked(1);
  return std::move(judge).verdict();
}

bool is_nan_single(const Bytes& bytes, std::size_t at) {
  return std::isnan(string_to_floats(bytes_to_string(std::span(bytes).subspan(at / 4 * 4, 4)))[0]);
}

/// The first byte that is wrong; nothing where none is.
std::optional<std::size_t> first_difference(const StoredResult& expected, const Bytes& actual) {
  if (actual.size() != expected.bytes.size()) return std::min(actual.size(), expected.bytes.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const unsigned mask = expected.specified.empty() ? 0xFFU : expected.specified[i];
    if (((actual[i] ^ expected.bytes[i]) & mask) == 0) continue;
    if (expected.any_nan && is_nan_single(actual, i) && is_nan_single(expected.bytes, i)) continue;
    return i;
  }
  return std::nullopt;
}

/// Judges an answer to a question that has one.
Verdict check_converted(const DescribedTensor& t, const StoredResult& expected, const TensorAnswer& actual) {
  if (expected.fate == Fate::same)
    return actual.outcome == TensorOutcome::same
               ? holds()
               : broken(t, "not the same object", "the same object", actual,
                        "A tensor that has the encoding already is the answer; encoding it again may change it.");
  if (actual.outcome != TensorOutcome::converted)
    return broken(t, "not converted", describe_bytes(expected.bytes), actual, "The tensor has an answer.");
  if (actual.dtype != expected.dtype)
    return broken(t, "dtype", "dtype " + std::string(spec(*expected.dtype).name), actual,
                  "The answer's dtype is " + std::string(spec(*actual.dtype).name) +
                      ", but its bytes are the numbers of another format.");
  const std::optional<std::size_t> at = first_difference(expected, actual.bytes);
  if (!at) return holds();
  Judge judge;
  judge.add_checked(1);
  judge.broken({place_of(t) + " bytes", text_of(t), describe_bytes_about(expected.bytes, *at),
                describe_bytes_about(actual.bytes, *at),
                "Byte " + std::to_string(*at) + " of " + std::to_string(expected.bytes.size()) + " differs."});
  return std::move(judge).verdict();
}

/// Judges the answer to what must be refused before anything is read.
Verdict check_unread(const DescribedTensor& t, Fate fate, const TensorAnswer& actual) {
  if (actual.outcome != TensorOutcome::refused)
    return broken(t, "not refused", "a refusal", actual, "There is no answer that loses nothing and invents nothing.");
  if (actual.reads != 0)
    return broken(t, "read first", "no read before the refusal", actual,
                  "What can be refused by its description is refused before the buffer is read.");
  if (fate == Fate::refused_lossy && actual.message.find("requantize") == std::string::npos)
    return broken(t, "no way out", "a message that names requantize_to", actual,
                  "Whoever may lose precision must be told by which call.");
  return holds();
}

bool is_unread(Fate fate) { return fate == Fate::refused || fate == Fate::refused_lossy; }
constexpr const char* kRefused = "the tensor is to be refused";
constexpr const char* kAnswered = "the tensor is not to be refused unread";

Verdict check_repack(Subject& subject, const DescribedTensor& t) {
  if (is_unread(oracle::repacked(t, true).fate)) return not_applicable(kRefused);
  const StoredResult expected = oracle::repacked(t);
  const Declaration* const declared = subject.info().find(Operation::repack_tensor, t.source);
  // A subject that does not say that it keeps payloads may do with a dense NaN what it likes.
  if (expected.holds_nan && (declared == nullptr || declared->option("nan") != "same"))
    return not_applicable("NaN payloads are not declared to stay");
  const Answer<TensorAnswer> answer = call_tensor(subject, Operation::repack_tensor, t);
  if (auto verdict = unanswered(answer, place_of(t), text_of(t))) return *verdict;
  if (expected.fate != Fate::value_lost) return check_converted(t, expected, answer.value);
  if (answer.value.outcome != TensorOutcome::refused)
    return broken(t, "rounded in silence", "a refusal", answer.value,
                  "Element " + std::to_string(expected.element) + " does not survive; repack_to may lose no value.");
  if (answer.value.message.find("requantize") == std::string::npos)
    return broken(t, "no way out", "a message that names requantize_to", answer.value,
                  "Whoever may lose precision must be told by which call.");
  return holds();
}

Verdict check_repack_refusal(Subject& subject, const DescribedTensor& t) {
  const Fate fate = oracle::repacked(t, true).fate;
  if (!is_unread(fate)) return not_applicable(kAnswered);
  const Answer<TensorAnswer> answer = call_tensor(subject, Operation::repack_tensor, t);
  if (auto verdict = unanswered(answer, place_of(t), text_of(t))) return *verdict;
  return check_unread(t, fate, answer.value);
}

/// Judges the decoded blocks by the bound of their encoding.
Verdict check_bound(const DescribedTensor& t, const TensorAnswer& actual) {
  DescribedTensor to_f32 = t;
  to_f32.target = "dense(f32)";
  const StoredResult singles = oracle::repacked(to_f32);
  const Bytes& source = singles.fate == Fate::same ? *oracle::own_bytes(t) : singles.bytes;
  const std::vector<float> values = string_to_floats(bytes_to_string(source));
  const auto blocks = oracle::block_order(t.target, actual.bytes);
  const auto decoded = blocks ? oracle::dequantize(t.target, *blocks) : std::nullopt;
  const Encoding& row = **encoding_named(t.target);
  if (!decoded || decoded->size() != values.size())
    return broken(t, "size", std::to_string(values.size()) + " numbers", actual, "Every number has a place.");
  std::vector<double> bounds(row.block_size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % row.block_size == 0) error_bounds(row, std::span(values).subspan(i, row.block_size), bounds);
    const double bound = bounds[i % row.block_size];
    if (std::isinf(bound)) continue;
    if (std::fabs(static_cast<double>(values[i]) - static_cast<double>((*decoded)[i])) <= bound) continue;
    return broken(t, "bound", "element " + std::to_string(i) + " within its bound of " + describe(values[i]), actual,
                  "It is decoded as " + describe((*decoded)[i]) + ".");
  }
  return holds();
}

Verdict check_requantize(Subject& subject, const DescribedTensor& t) {
  if (is_unread(oracle::requantized(t, true).fate)) return not_applicable(kRefused);
  const StoredResult expected = oracle::requantized(t);
  const Answer<TensorAnswer> answer = call_tensor(subject, Operation::requantize_tensor, t);
  if (auto verdict = unanswered(answer, place_of(t), text_of(t))) return *verdict;
  Verdict verdict = check_converted(t, expected, answer.value);
  if (verdict.ruling != Ruling::holds || expected.fate == Fate::same) return verdict;
  return check_bound(t, answer.value);
}

Verdict check_requantize_refusal(Subject& subject, const DescribedTensor& t) {
  const Fate fate = oracle::requantized(t, true).fate;
  if (!is_unread(fate)) return not_applicable(kAnswered);
  const Answer<TensorAnswer> answer = call_tensor(subject, Operation::requantize_tensor, t);
  if (auto verdict = unanswered(answer, place_of(t), text_of(t))) return *verdict;
  return check_unread(t, fate, answer.value);
}

/// What the storage path of the subject makes of the tensor; of `keep`, and of an equal encoding, its own bytes.
Answer<TensorAnswer> stored(Subject& subject, const DescribedTensor& t) {
  TensorAnswer kept{TensorOutcome::converted, 0, t.dtype, oracle::own_bytes(t).value_or(Bytes{}), {}};
  if (t.form == TensorForm::keep) return {Outcome::answered, std::move(kept), {}};
  DescribedTensor question = t;
  question.form = TensorForm::none;
  Answer<TensorAnswer> answer = call_tensor(
      subject, t.form == TensorForm::dequantize ? Operation::repack_tensor : Operation::requantize_tensor, question);
  if (answer.ok() && answer.value.outcome == TensorOutcome::same) answer.value = std::move(kept);
  return answer;
}

Verdict check_loader(Subject& subject, const DescribedTensor& t) {
  const Fate fate = oracle::loaded(t, true).fate;
  const Answer<TensorAnswer> loaded = call_tensor(subject, Operation::load_tensor, t);
  if (auto verdict = unanswered(loaded, place_of(t), text_of(t))) return *verdict;
  if (is_unread(fate)) return check_unread(t, Fate::refused, loaded.value);
  const Answer<TensorAnswer> other = stored(subject, t);
  if (auto verdict = unanswered(other, place_of(t), text_of(t))) return *verdict;
  const bool same = loaded.value.outcome == other.value.outcome && loaded.value.dtype == other.value.dtype &&
                    loaded.value.bytes == other.value.bytes;
  return same ? holds()
              : broken(t, "loader and storage differ", "as the storage path: " + text_of(other.value), loaded.value,
                       "Both go through one registry of requantizers, byte for byte.");
}

/// Sources that some target takes: not f64 and i32, nor 30 numbers that are a block of their own.
std::vector<std::string> requantized_sources(const SubjectInfo& info) {
  const auto taken = [](const std::string& variant) {
    const Result<StorageEncoding> source = storage_encoding_named(variant);
    for (const std::string& id : oracle::requantize_targets())
      if (source &&
          (id == variant || conversion_between(*source, *storage_encoding_named(id)).conversion == Conversion::lossy))
        return true;
    return false;
  };
  std::vector<std::string> variants = declared_variants(info, Operation::requantize_tensor);
  variants.erase(std::remove_if(variants.begin(), variants.end(), std::not_fn(taken)), variants.end());
  return variants;
}

std::vector<std::string> all_paths(const SubjectInfo& info) {
  std::vector<std::string> variants;
  for (std::string& variant : declared_variants(info, Operation::load_tensor, Operation::requantize_tensor))
    if (info.find(Operation::repack_tensor, variant) != nullptr) variants.push_back(std::move(variant));
  return variants;
}

}  // namespace

std::vector<Law> stored_tensor_laws() {
  const auto repack = variants_of(Operation::repack_tensor);
  const auto requantize = variants_of(Operation::requantize_tensor);
  return {
      make_law<DescribedTensor>(
          "storage.repack_to_keeps_every_value",
          "A stored tensor repacked keeps every value, its dtype tells the format of its bytes, and a value that the "
          "target lacks is refused, naming requantize_to.",
          {Operation::repack_tensor}, repack_tensor_cases, repack, check_repack),
      make_law<DescribedTensor>(
          "storage.repack_to_refuses_before_reading",
          "What repack_to cannot keep or cannot read is refused before a byte is read, and a loss names requantize_to.",
          {Operation::repack_tensor}, repack_tensor_cases, repack, check_repack_refusal),
      make_law<DescribedTensor>(
          "storage.requantize_to_agrees_with_the_declared_dialect",
          "Requantizing a stored tensor gives the blocks of its dialect's quantizer, within the encoding's bound, and "
          "the same object for an equal encoding.",
          {Operation::requantize_tensor}, requantize_tensor_cases, requantized_sources, check_requantize),
      make_law<DescribedTensor>(
          "storage.requantize_to_refuses_before_reading",
          "A target without a quantizer, a shape that does not divide and a tensor that cannot be read are refused "
          "before a byte is read.",
          {Operation::requantize_tensor}, requantize_tensor_cases, requantize, check_requantize_refusal),
      make_law<DescribedTensor>(
          "storage.loader_equals_storage",
          "A weight loaded in a form has the bytes that repack_to and requantize_to give, or is refused as unread.",
          {Operation::load_tensor, Operation::requantize_tensor, Operation::repack_tensor}, load_tensor_cases,
          all_paths, check_loader)};
}

}  // namespace packcheck
