// The adapters that people copy, one in each language, asked in raw frames: what packcheck itself never sends included.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/text/number_text.h"
#include "subjects/process/frames.h"
#include "subjects/process/program_subject.h"
#include "tests/process/requests.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kKernel = 0x030301;  // 3 x 3, stride 1

struct Language {
  const char* name;
  std::string program;  ///< what must be there
  std::string arguments;
};

const std::string kAdapters = std::string(PACKCHECK_SOURCE_DIRECTORY) + "/subjects/adapters";

std::string payload(const Parts& parts) { return encode_parts(parts); }
std::string frame(const Parts& parts) { return encode_frame(payload(parts)); }
std::string number(std::uint64_t bits) { return u64s_to_string(std::array{bits}); }

/// The frames in `bytes`, taken apart.
std::vector<Parts> frames_in(std::string_view bytes) {
  std::vector<Parts> frames;
  while (bytes.size() >= kLengthBytes) {
    const std::size_t size = decode_length(bytes);
    const Result<Parts> parts = decode_parts(bytes.substr(kLengthBytes, size));
    EXPECT_TRUE(parts);
    frames.push_back(parts.value_or(Parts{"?"}));
    bytes.remove_prefix(std::min(bytes.size(), kLengthBytes + size));
  }
  EXPECT_TRUE(bytes.empty());
  return frames;
}

class AdapterIn : public testing::TestWithParam<Language> {
 protected:
  void SetUp() override {
    const std::string& program = GetParam().program;
    if (std::system(("command -v '" + program + "' >/dev/null").c_str()) != 0)
      GTEST_SKIP() << "no " << program << " here";
    folder_ = testing::TempDir() + "packcheck_adapter_" + std::to_string(getpid()) + "_" + GetParam().name;
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string command() const { return "'" + GetParam().program + "' " + GetParam().arguments; }

  /// Runs the program with `input` and gives its exit status; what it wrote is in output_.
  int run(const std::string& input) {
    std::ofstream(folder_ + "/in", std::ios::binary) << input;
    const int status = std::system((command() + " <" + folder_ + "/in >" + folder_ + "/out 2>/dev/null").c_str());
    std::ostringstream text;
    text << std::ifstream(folder_ + "/out", std::ios::binary).rdbuf();
    output_ = text.str();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string folder_;
  std::string output_;
};

TEST_P(AdapterIn, AnswersEveryKindOfFrameAndEndsWithItsInput) {
  const std::string one_byte_short(39, '\0');
  const std::string too_large = number(256) + number(1) + number(1) + number(1) + number(1);
  const std::string input =
      frame({"hello", "2"}) + frame({"hello", "1"}) +
      frame({"batch", payload({"pack", "no:layout", too_large}), payload({"pack", "conv2d:gen2", too_large}),
             payload({"pack", "conv2d:gen2", one_byte_short}), payload({"unpack", "conv2d:gen2", number(1)}),
             payload({"no_such_operation"}), payload({"parse", "x"}), payload({"parse", "\xFF"}),
             payload({"parse", "9.7517E-319"})}) +
      frame({"print", number(kKernel)}) + frame({"no_such_operation", std::string(9000000, 'x')}) + frame({"batch"});
  EXPECT_EQ(run(input), 0);
  const std::vector<Parts> replies = frames_in(output_);
  ASSERT_EQ(replies.size(), 6U);
  EXPECT_EQ(replies[0][0], "refused");
  ASSERT_GE(replies[1].size(), 6U);
  EXPECT_EQ(replies[1][0], "hello");
  EXPECT_EQ(replies[1][1], "1");
  ASSERT_EQ(replies[2].size(), 9U);
  EXPECT_EQ(replies[2][0], "batch");
  std::vector<std::string> words;
  for (std::size_t i = 1; i < replies[2].size(); ++i) {
    const Result<Parts> parts = decode_parts(replies[2][i]);
    ASSERT_TRUE(parts);
    ASSERT_EQ(parts->size(), 2U);
    EXPECT_FALSE((*parts)[1].empty());
    words.push_back((*parts)[0]);
    if (i + 1 == replies[2].size()) {
      EXPECT_EQ((*parts)[1], number(kKernel));
    }
  }
  EXPECT_EQ(words, (std::vector<std::string>{"skipped", "refused", "refused", "refused", "skipped", "refused",
                                             "refused", "answered"}));
  ASSERT_EQ(replies[3].size(), 2U);
  EXPECT_EQ(parse_number(replies[3][1]).value(), kKernel) << replies[3][1];
  EXPECT_EQ(replies[4][0], "skipped");
  EXPECT_EQ(replies[5], Parts{"batch"});
}

TEST_P(AdapterIn, GivesUpOnAFrameThatIsCutOff) {
  EXPECT_NE(run(frame({"parse", "1"}) + encode_frame(payload({"parse", "1"})).substr(0, 10)), 0);
  EXPECT_EQ(frames_in(output_).size(), 1U);
}

TEST_P(AdapterIn, AnswersBatchesAsSingleCalls) {
  const auto subject = open_program_subject(command(), kPatient, kPatient.timeout_milliseconds);
  ASSERT_TRUE(subject) << subject.error().text();
  std::vector<Request> requests;
  for (std::uint64_t i = 0; i < 1500; ++i) requests.push_back(print_request(i * 0x9E3779B97F4A7C15));
  requests.push_back({Operation::dequantize, {"q8_0:ggml", ""}});
  const std::vector<Reply> replies = (*subject)->call_batch(requests);
  ASSERT_EQ(replies.size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); i += 30) ASSERT_EQ(replies[i], (*subject)->call(requests[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Adapters, AdapterIn,
    testing::Values(Language{"Java", "java", "-XX:TieredStopAtLevel=1 " + kAdapters + "/java/JavaSubject.java"},
                    Language{"JavaScript", "node", kAdapters + "/javascript/node_subject.js"},
                    Language{"Python", PACKCHECK_PYTHON, "-B " + kAdapters + "/python/python_subject.py"},
                    Language{"Rust", std::string(PACKCHECK_SUBJECTS_DIR) + "/rust-std", ""}),
    [](const testing::TestParamInfo<Language>& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace packcheck
