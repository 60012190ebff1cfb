// The wire form: whole round trips, and every way in which bytes can be wrong.
#include "subjects/process/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "subjects/process/messages.h"

namespace packcheck {
namespace {

using ::testing::HasSubstr;
using std::string_literals::operator""s;

TEST(Frames, DecodingInvertsEncodingForAnyParts) {
  for (const Parts& parts :
       {Parts{""}, Parts{"", "", ""}, Parts{"hello", "1"}, Parts{"a\0b"s, std::string(70000, 'x')}})
    EXPECT_EQ(decode_parts(encode_parts(parts)).value(), parts);
}

TEST(Frames, EveryProperPrefixOfAPayloadIsRefusedOrAShorterPayload) {
  const Parts parts{"convert", "f32", ""};
  const std::string payload = encode_parts(parts);
  for (std::size_t size = 0; size < payload.size(); ++size) {
    const Result<Parts> decoded = decode_parts(std::string_view(payload).substr(0, size));
    if (!decoded) continue;
    EXPECT_LT(decoded->size(), parts.size());
    EXPECT_EQ(encode_parts(*decoded), payload.substr(0, size));
  }
}

struct BadPayload {
  std::string name;
  std::string bytes;
  std::string complaint;

  friend std::ostream& operator<<(std::ostream& out, const BadPayload& p) { return out << p.name; }
};
class MalformedPayload : public ::testing::TestWithParam<BadPayload> {};

TEST_P(MalformedPayload, IsRefusedWithThePlaceAndTheReason) {
  const Result<Parts> decoded = decode_parts(GetParam().bytes);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().text(), HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    Frames, MalformedPayload,
    ::testing::Values(BadPayload{"empty", "", "no parts"},
                      BadPayload{"cut_length", "\1\0\0"s, "part 0: 3 bytes of a length"},
                      BadPayload{"cut_part", "\2\0\0\0x"s, "part 0: length 2; expected at most the 1 bytes"},
                      BadPayload{"byte_after_the_last", "\1\0\0\0xy"s, "part 1: 1 bytes of a length"},
                      BadPayload{"largest_length", "\xFF\xFF\xFF\xFFx"s, "part 0: length 4294967295"}),
    [](const auto& parameter) { return parameter.param.name; });

TEST(Frames, LengthIsLittleEndianAndLimited) {
  EXPECT_EQ(encode_frame("abc"), "\3\0\0\0abc"s);
  EXPECT_EQ(decode_frame_length("\0\0\0\x10"s).value(), kMaximumPayload);
  EXPECT_FALSE(decode_frame_length("\1\0\0\x10"s));
  EXPECT_FALSE(decode_frame_length("Hell"));
}

TEST(Messages, RequestsComeBackAsTheyWere) {
  const Request request{Operation::affine_dequantize, {"bf16", std::string(24, '\0'), "c", "", "b"}};
  const Result<Request> decoded = decode_request(decode_parts(encode_request(request)).value());
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->operation, request.operation);
  EXPECT_EQ(decoded->arguments, request.arguments);
  EXPECT_FALSE(decode_request({"transmogrify"}));
}

TEST(Messages, AWorkersRepliesComeBackAsTheyWere) {
  for (const Reply& reply : {Reply{Outcome::answered, {"a", "", "b"}, ""}, Reply{Outcome::refused, {}, "too large"},
                             Reply{Outcome::skipped, {}, ""}, Reply{Outcome::broke_protocol, {}, "code 42"},
                             Reply{Outcome::overran, {}, "o"}, Reply{Outcome::left_unwritten, {}, "l"},
                             Reply{Outcome::out_of_memory, {}, "m"}}) {
    const Result<Reply> decoded = decode_reply(encode_reply(reply), Speaker::worker);
    ASSERT_TRUE(decoded) << outcome_name(reply.outcome);
    EXPECT_EQ(decoded->outcome, reply.outcome);
    EXPECT_EQ(decoded->parts, reply.parts);
    EXPECT_EQ(decoded->message, reply.message);
  }
}

TEST(Messages, AProgramCannotReportFaultsAsAWorkerDoes) {
  const Result<Reply> decoded = decode_reply(encode_parts(Parts{"overran", "x"}), Speaker::program);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().text(), "unknown answer 'overran'; expected answered, refused, skipped or error");
}

TEST(Messages, ARefusalWithMoreThanAMessageIsRefused) {
  EXPECT_FALSE(decode_reply(encode_parts(Parts{"refused", "x", "y"}), Speaker::program));
}

TEST(Messages, AProgramMustAnswerEveryRequestOfABatchAndAWorkerAtLeastOne) {
  const std::string one = encode_parts(Parts{"answered"});
  EXPECT_EQ(decode_batch_reply({"batch", one, one}, 2, Speaker::program)->size(), 2U);
  EXPECT_FALSE(decode_batch_reply({"batch", one}, 2, Speaker::program));
  EXPECT_EQ(decode_batch_reply({"batch", one}, 2, Speaker::worker)->size(), 1U);
  EXPECT_FALSE(decode_batch_reply({"batch"}, 2, Speaker::worker));
  EXPECT_FALSE(decode_batch_reply({"batch", one, one, one}, 2, Speaker::worker));
  EXPECT_FALSE(decode_batch_reply({"batch", "x", one}, 2, Speaker::program));
  EXPECT_FALSE(decode_batch_reply({"answered", one, one}, 2, Speaker::program));
}

TEST(Messages, HelloCarriesNameVersionAndDeclarations) {
  const SubjectInfo info{"mine", "1.0 beta", {parse_declaration("convert f32->f16 nan=quieted").value()}};
  const Result<SubjectInfo> decoded = decode_hello_reply(encode_hello_reply(info));
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->name, "mine");
  EXPECT_EQ(decoded->version, "1.0 beta");
  ASSERT_EQ(decoded->declarations.size(), 1U);
  EXPECT_EQ(decoded->declarations[0].text(), "convert f32->f16 nan=quieted");
}

struct BadHello {
  std::string name;
  Parts parts;
  std::string complaint;

  friend std::ostream& operator<<(std::ostream& out, const BadHello& h) { return out << h.name; }
};
class MalformedHello : public ::testing::TestWithParam<BadHello> {};

TEST_P(MalformedHello, IsRefusedWithTheReason) {
  const Result<SubjectInfo> decoded = decode_hello_reply(encode_parts(GetParam().parts));
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().text(), HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    Messages, MalformedHello,
    ::testing::Values(BadHello{"older", {"hello", "0", "n", "1"}, "protocol version '0'; expected version 1"},
                      BadHello{"newer", {"hello", "2", "n", "1", "teleport x"}, "speaks protocol version '2'"},
                      BadHello{"no_version", {"hello"}, "speaks protocol version ''"},
                      BadHello{"too_short", {"hello", "1", "n"}, "3 parts"},
                      BadHello{"other_word", {"answered"}, "'answered'; expected 'hello'"},
                      BadHello{"refusal", {"refused", "no such version"}, "no such version"},
                      BadHello{"blank_in_name", {"hello", "1", "two words", "1"}, "name is 'two words'"},
                      BadHello{"empty_name", {"hello", "1", "", "1"}, "name is ''"},
                      BadHello{"empty_version", {"hello", "1", "n", ""}, "version is ''"},
                      BadHello{"nonsense", {"hello", "1", "n", "1", "teleport json"}, "unknown operation 'teleport'"},
                      BadHello{"twice", {"hello", "1", "n", "1", "print json", "print json"}, "declared twice"}),
    [](const auto& parameter) { return parameter.param.name; });

TEST(Messages, MessagesAreShortValidUtf8WithoutControlCharacters) {
  EXPECT_EQ(clean_message("padding of ï: é"), "padding of ï: é");
  EXPECT_EQ(clean_message("a\nb\x7F\xFF\xC3"), "a?b???");
  EXPECT_EQ(clean_message("\xC0\xAF \xED\xA0\x80 \xF4\x90\x80\x80"), "?? ??? ????") << "overlong, surrogate, too large";
  EXPECT_EQ(clean_message("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(clean_message(std::string(299, 'x') + "é").size(), 299U) << "no half character at the end";
}

}  // namespace
}  // namespace packcheck
