// The laws of stored tensors and their oracle, by known answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "properties/cases/cases.h"
#include "properties/law.h"
#include "properties/oracles/storage_oracle.h"
#include "subjects/reference/reference.h"
#include "tests/properties/fake_subject.h"

namespace packcheck::test {
namespace {

using oracle::Fate;

/// Two bf16 numbers, 1.0 and -2.0, the second first in a view from byte 2 of a file.
DescribedTensor halves() {
  DescribedTensor t;
  t.source = "dense(bf16)";
  t.target = "dense(f32)";
  t.dtype = Format::bf16;
  t.shape = {2};
  t.strides = {{2}};
  t.offset = 2;
  t.handle = TensorHandle::file;
  t.bytes = {0xEE, 0xEE, 0x00, 0xC0, 0xEE, 0xEE, 0x80, 0x3F};
  t.region_size = 8;
  return t;
}

DescribedTensor singles(std::vector<std::uint64_t> shape, std::string target) {
  DescribedTensor t;
  t.source = "dense(f32)";
  t.target = std::move(target);
  std::uint64_t count = 1;
  for (const std::uint64_t length : shape) count *= length;
  t.shape = std::move(shape);
  t.bytes.assign(4 * count, 0);
  t.region_size = t.bytes.size();
  return t;
}

TEST(StorageOracle, ReadsAViewByOffsetAndStrides) {
  const oracle::StoredResult result = oracle::repacked(halves());
  EXPECT_EQ(result.fate, Fate::converted);
  EXPECT_EQ(result.dtype, Format::f32);
  EXPECT_EQ(result.bytes, (Bytes{0, 0, 0x00, 0xC0, 0, 0, 0x80, 0x3F}));
}

TEST(StorageOracle, SaysWhatIsLostAndWhatIsRefusedUnread) {
  DescribedTensor t = halves();
  t.target = "dense(i8)";
  EXPECT_EQ(oracle::repacked(t).fate, Fate::converted);
  t.bytes[3] = 0x80;  // -0.0
  t.bytes[2] = 0x00;
  EXPECT_EQ(oracle::repacked(t).fate, Fate::value_lost);
  EXPECT_EQ(oracle::repacked(t).element, 0U);
  t.target = "q8_0:ggml";
  EXPECT_EQ(oracle::repacked(t).fate, Fate::refused_lossy);
  t.target = t.source;
  EXPECT_EQ(oracle::repacked(t).fate, Fate::same);
  t = halves();
  t.resolver = false;
  EXPECT_EQ(oracle::repacked(t).fate, Fate::refused);
  t = halves();
  t.offset = 3;
  EXPECT_EQ(oracle::repacked(t).fate, Fate::refused);
  t = halves();
  t.dtype = Format::f16;
  EXPECT_EQ(oracle::repacked(t).fate, Fate::refused);
}

TEST(StorageOracle, DividesByTheLengthThatTheTargetDeclares) {
  const auto fate = [](std::vector<std::uint64_t> shape, const char* target) {
    return oracle::requantized(singles(std::move(shape), target)).fate;
  };
  EXPECT_EQ(fate({16, 2}, "q4_0:skainet"), Fate::converted);
  EXPECT_EQ(fate({16, 2}, "q4_0:ggml"), Fate::refused);
  EXPECT_EQ(fate({33, 32}, "q4_0:ggml"), Fate::converted);
  EXPECT_EQ(fate({2, 64}, "bitnet_planes(32):skainet"), Fate::refused);
  EXPECT_EQ(fate({}, "q8_0:ggml"), Fate::refused);
  EXPECT_EQ(fate({0, 32}, "q8_0:ggml"), Fate::refused);
  EXPECT_EQ(fate({32}, "q4_K:ggml"), Fate::refused);
}

Verdict judged(std::string_view law, const DescribedTensor& tensor, const TensorAnswer& answer) {
  FakeSubject subject(
      {"repack_tensor dense(bf16) nan=same", "repack_tensor dense(f32)", "requantize_tensor dense(f32)"},
      [&](const Request&) { return answered(write_answer(answer)); });
  const Law& row = **law_named(law);
  return row.check(subject, Case{row.case_type, std::make_shared<const DescribedTensor>(tensor)});
}

TEST(StorageLaws, ARefusalAfterAReadIsBroken) {
  DescribedTensor t = singles({16, 2}, "q8_0:ggml");
  constexpr std::string_view kLaw = "storage.requantize_to_refuses_before_reading";
  EXPECT_EQ(judged(kLaw, t, {TensorOutcome::refused, 0, {}, {}, "no"}).ruling, Ruling::holds);
  EXPECT_EQ(judged(kLaw, t, {TensorOutcome::refused, 1, {}, {}, "no"}).ruling, Ruling::broken);
  EXPECT_EQ(judged(kLaw, t, {TensorOutcome::converted, 0, Format::f32, {}, {}}).ruling, Ruling::broken);
}

TEST(StorageLaws, ALossyRepackMustNameTheWayOut) {
  constexpr std::string_view kLaw = "storage.repack_to_refuses_before_reading";
  const DescribedTensor t = singles({32}, "q8_0:ggml");
  EXPECT_EQ(judged(kLaw, t, {TensorOutcome::refused, 0, {}, {}, "use requantize_to"}).ruling, Ruling::holds);
  EXPECT_EQ(judged(kLaw, t, {TensorOutcome::refused, 0, {}, {}, "no"}).ruling, Ruling::broken);
}

TEST(StorageLaws, BytesAndDtypeAreBothTheAnswer) {
  constexpr std::string_view kLaw = "storage.repack_to_keeps_every_value";
  TensorAnswer answer{TensorOutcome::converted, 1, Format::f32, {0, 0, 0x00, 0xC0, 0, 0, 0x80, 0x3F}, {}};
  EXPECT_EQ(judged(kLaw, halves(), answer).ruling, Ruling::holds);
  answer.dtype = Format::bf16;
  EXPECT_EQ(judged(kLaw, halves(), answer).ruling, Ruling::broken);
  answer.dtype = Format::f32;
  answer.bytes[7] = 0xBF;
  EXPECT_EQ(judged(kLaw, halves(), answer).ruling, Ruling::broken);
  EXPECT_EQ(judged(kLaw, halves(), {TensorOutcome::same, 0, Format::bf16, {}, {}}).ruling, Ruling::broken);
}

TEST(StorageLaws, TheReferenceAnswersADocumentThatIsNoneWithARefusal) {
  const auto subject = make_reference();
  for (const char* document : {"", "target=dense(f32)\n", "\n\n"})
    EXPECT_EQ(subject->call({Operation::repack_tensor, {"dense(f32)", document}}).outcome, Outcome::refused);
  EXPECT_EQ(subject->call({Operation::load_tensor, {"dense(f32)", write_tensor(singles({2}, "dense(f32)"))}}).outcome,
            Outcome::answered);
}

}  // namespace
}  // namespace packcheck::test
