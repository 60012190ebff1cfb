// The published vectors: each carries an answer that its law accepts and, where one is known, a wrong
// answer that it does not. And the JSON form of replies.
#include <gmock/gmock.h>

#include "properties/corpus_store.h"
#include "properties/reply_json.h"
#include "subjects/calls.h"
#include "tests/properties/samples.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;

const std::vector<CaseFile>& corpus_files() {
  static const CorpusStore store(PACKCHECK_SOURCE_DIRECTORY "/corpus");
  return store.files();
}

std::vector<const CaseFile*> vectors() {
  std::vector<const CaseFile*> list;
  for (const CaseFile& file : corpus_files())
    if (!file.id.empty()) list.push_back(&file);
  return list;
}

class EveryVector : public testing::TestWithParam<const CaseFile*> {};

TEST_P(EveryVector, HasARightAnswerAndItsWrongAnswerBreaksTheLaw) {
  const CaseFile& file = *GetParam();
  ASSERT_FALSE(file.answers.right.empty());
  const Result<void> ok = check_answers(*law_named(file.law).value(), file.c, file.answers, file.id);
  EXPECT_TRUE(ok) << ok.error().text();
}

INSTANTIATE_TEST_SUITE_P(Corpus, EveryVector, testing::ValuesIn(vectors()), [](const auto& test) {
  return as_test_name(std::string(test.param->c.type->name()) + "_" + test.param->id);
});

TEST(Vectors, MostOfThemHaveAWrongAnswerAndTheFlagsSayWhatItDoes) {
  std::size_t with_wrong = 0;
  for (const CaseFile* file : vectors()) {
    if (file->answers.wrong.empty()) continue;
    ++with_wrong;
    EXPECT_FALSE(file->answers.flags.empty()) << file->id;
  }
  EXPECT_GE(with_wrong, 40U);
}

TEST(ReplyJson, ReadsBackWhatItWrote) {
  const std::string two_words = u64s_to_string(std::array<std::uint64_t, 2>{0x30301, 64});
  struct Row {
    Operation operation;
    std::string variant;
    std::string part;
    std::string text;
  };
  const std::vector<Row> rows{
      {Operation::convert, "f32->bf16", {"\x80\x3f", 2}, R"(["0x3f80"])"},
      {Operation::repack, "f16->f32", {"\0\0\x80\x3f", 4}, R"(["0x3f800000"])"},
      {Operation::quantize, "q8_0:ggml", "\x7f\xff", R"("7fff")"},
      {Operation::dequantize, "q8_0:ggml", {"\0\0\x80\x3f", 4}, R"(["0x3f800000"])"},
      {Operation::print, "json", "1E5", R"("1E5")"},
      {Operation::parse, "json", two_words.substr(0, 8), R"("0x0000000000030301")"},
      {Operation::pack, "conv2d:gen2", two_words, R"(["0x0000000000030301","0x0000000000000040"])"},
      {Operation::unpack, "conv2d:gen2", two_words, "[197377,64]"}};
  for (const Row& row : rows) {
    const auto written = reply_to_json(row.operation, row.variant, {Outcome::answered, {row.part}, {}});
    ASSERT_TRUE(written);
    EXPECT_EQ(written->dump(), row.text);
    const Result<Reply> read = reply_from_json(row.operation, row.variant, *written, "here");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->outcome, Outcome::answered);
    EXPECT_EQ(read->parts, std::vector<std::string>{row.part});
  }
}

TEST(ReplyJson, KeepsRefusalsAndFaults) {
  for (const Outcome outcome : {Outcome::refused, Outcome::crashed, Outcome::left_unwritten, Outcome::hung}) {
    const auto written = reply_to_json(Operation::parse, "json", {outcome, {}, "why"});
    ASSERT_TRUE(written);
    EXPECT_EQ(reply_from_json(Operation::parse, "json", *written, "here")->outcome, outcome);
  }
}

TEST(ReplyJson, NamesWhatIsNoReply) {
  const auto error = [](Operation operation, const char* text) {
    return reply_from_json(operation, "f32->f16", nlohmann::ordered_json::parse(text), "here").error().text();
  };
  EXPECT_THAT(error(Operation::convert, "1"), HasSubstr("wrong type"));
  EXPECT_THAT(error(Operation::convert, R"(["0x12345"])"), HasSubstr("here"));
  EXPECT_THAT(error(Operation::quantize, R"("0g")"), HasSubstr("here"));
  EXPECT_THAT(error(Operation::parse, R"("x")"), HasSubstr("here"));
  EXPECT_THAT(error(Operation::pack, R"([true])"), HasSubstr("no word"));
  EXPECT_THAT(error(Operation::print, R"({"fault":"asleep"})"), HasSubstr("unknown fault"));
  EXPECT_THAT(error(Operation::print, R"({"refused":"a","x":1})"), HasSubstr("unknown member"));
}

}  // namespace
}  // namespace packcheck::test
