// The bytes shown in subjects/PROTOCOL.md are the bytes on the wire.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "subjects/process/messages.h"
#include "tests/process/requests.h"

namespace packcheck {
namespace {

/// The blocks ```hex NAME of the document. In a line, bytes come before '|'.
std::map<std::string, std::string> hex_blocks() {
  std::ifstream document(std::string(PACKCHECK_SOURCE_DIRECTORY) + "/subjects/PROTOCOL.md");
  std::map<std::string, std::string> blocks;
  std::string* block = nullptr;
  for (std::string line; std::getline(document, line);) {
    if (line.rfind("```", 0) == 0) {
      block = line.rfind("```hex ", 0) == 0 ? &blocks[line.substr(7)] : nullptr;
    } else if (block != nullptr) {
      std::istringstream words(line.substr(0, line.find('|')));
      for (std::string word; words >> word;) *block += static_cast<char>(std::stoi(word, nullptr, 16));
    }
  }
  return blocks;
}

TEST(ProtocolDocument, ShowsTheFramesThatAreSent) {
  const Request pack{Operation::pack, {"conv2d:gen2", u64s_to_string(std::array<std::uint64_t, 5>{3, 3, 1, 1, 64})}};
  const SubjectInfo info{"mine", "1.0", {parse_declaration("pack conv2d:gen2").value()}};
  const Reply answer{Outcome::answered, {u64s_to_string(std::array<std::uint64_t, 2>{0x030301, 0x010040})}, {}};
  const std::map<std::string, std::string> expected{
      {"hello-request", encode_frame(encode_hello_request())},
      {"hello-reply", encode_frame(encode_hello_reply(info))},
      {"pack-request", encode_frame(encode_request(pack))},
      {"pack-reply", encode_frame(encode_reply(answer))},
      {"refusal", encode_frame(encode_reply({Outcome::refused, {}, "stride is 256"}))},
      {"batch-request", encode_frame(encode_batch_request(
                            std::array{Request{Operation::parse, {"1.5"}}, Request{Operation::parse, {"x"}}}))},
      {"batch-reply",
       encode_frame(encode_batch_reply(
           std::array{Reply{Outcome::answered, {u64s_to_string(std::array<std::uint64_t, 1>{0x3FF8000000000000})}, {}},
                      Reply{Outcome::refused, {}, "no number"}}))}};
  EXPECT_EQ(hex_blocks(), expected);
}

}  // namespace
}  // namespace packcheck
