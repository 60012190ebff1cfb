// A described tensor and the answer to it survive the way through their bytes; what is no such thing is refused.
#include "subjects/tensor_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace packcheck {
namespace {

using testing::HasSubstr;

/// The example of PROTOCOL.md.
DescribedTensor example() {
  DescribedTensor t;
  t.source = "dense(f16)";
  t.target = "dense(f32)";
  t.dtype = Format::f16;
  t.shape = {2, 4};
  t.strides = {{1, 2}};
  t.offset = 6;
  t.handle = TensorHandle::file;
  t.region_offset = 2;
  t.region_size = 40;
  t.bytes.assign(42, '\n');
  return t;
}
constexpr std::string_view kLine =
    "target=dense(f32) form=- dtype=f16 shape=2,4 strides=1,2 offset=6 handle=file region=2,40 resolver=1\n";

TEST(TensorDocument, IsTheLineOfTheProtocolAndThenTheBytes) {
  EXPECT_EQ(write_tensor(example()), std::string(kLine) + std::string(42, '\n'));
}

TEST(TensorDocument, IsReadAsItWasWritten) {
  DescribedTensor scalar;
  scalar.source = "q8_0:ggml";
  scalar.target = "q4_0:ggml";
  scalar.form = TensorForm::requantize;
  scalar.resolver = false;
  for (const DescribedTensor& t : {example(), scalar}) {
    const auto read = read_tensor(t.source, write_tensor(t));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->source, t.source);
    EXPECT_EQ(write_tensor(*read), write_tensor(t));
    EXPECT_EQ(read->bytes, t.bytes);
  }
}

TEST(TensorDocument, WhatIsNoneIsRefusedByName) {
  const auto changed = [](std::string_view word, std::string_view other) {
    std::string line(kLine);
    return line.replace(line.find(word), word.size(), other).append(42, 'x');
  };
  const std::pair<std::string, const char*> documents[] = {
      {"target=dense(f32)", "no line"},
      {changed("form=-", "form=pack"), "form"},
      {changed("dtype=f16", "dtype=f15"), "dtype"},
      {changed("shape=2,4", "shape=2,,4"), "shape"},
      {changed("shape=2,4", "shape=-1"), "shape"},
      {changed("offset=6", "offset=18446744073709551616"), "offset"},
      {changed("handle=file", "handle=disk"), "handle"},
      {changed("region=2,40", "region=2,41"), "region"},
      {changed("region=2,40", "region=18446744073709551615,2"), "region"},
      {changed("resolver=1", "resolver=yes"), "resolver"},
      {changed("resolver=1", "resolver=1 more=1"), "the rest"},
      {changed("handle=file ", ""), "handle"}};
  for (const auto& [document, says] : documents) {
    const auto read = read_tensor("dense(f16)", document);
    ASSERT_FALSE(read) << document;
    EXPECT_THAT(read.error().text(), HasSubstr(says));
  }
}

TEST(TensorAnswer, IsReadAsItWasWritten) {
  const TensorAnswer converted{TensorOutcome::converted, 3, Format::f32, {10, 0, 255}, {}};
  const TensorAnswer same{TensorOutcome::same, 0, Format::bf16, {}, {}};
  const TensorAnswer refused{TensorOutcome::refused, 0, std::nullopt, {}, "use requantize_to"};
  for (const TensorAnswer& answer : {converted, same, refused}) {
    const auto read = read_answer(write_answer(answer));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->outcome, answer.outcome);
    EXPECT_EQ(read->reads, answer.reads);
    EXPECT_EQ(read->dtype, answer.dtype);
    EXPECT_EQ(read->bytes, answer.bytes);
    EXPECT_EQ(read->message, answer.message);
  }
}

TEST(TensorAnswer, WhatIsNoneIsRefused) {
  for (const char* document : {"", "outcome=converted reads=0 dtype=f32", "outcome=lost reads=0 dtype=f32\n",
                               "outcome=converted reads=-1 dtype=f32\n", "outcome=converted reads=0 dtype=-\n",
                               "outcome=refused reads=0 dtype=f32\n", "outcome=same reads=0 dtype=f32\nbytes"})
    EXPECT_FALSE(read_answer(document)) << document;
}

}  // namespace
}  // namespace packcheck
