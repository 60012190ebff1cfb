// packcheck explain and layouts: what a value is, in which fields, and who loses it.
#include <gmock/gmock.h>

#include "core/params/layout.h"
#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class Explain : public CommandTest {
 protected:
  [[nodiscard]] Json explained(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"explain", "--json"});
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.json();
  }
};

std::vector<std::string> warnings_of(const Json& explanation) {
  return explanation["warnings"].get<std::vector<std::string>>();
}

TEST_F(Explain, TheSameParametersFromTextHexAndInteger) {
  for (const char* value : {"9.7517E-319", "0x030301", "197377", "0x0000000000030301"}) {
    const Json e = explained({value, "--op", "conv2d:gen2"});
    EXPECT_EQ(e["bits"], "0x0000000000030301") << value;
    EXPECT_EQ(e["class"], "subnormal");
    EXPECT_EQ(e["text"], "9.7517e-319");
    EXPECT_EQ(e["integer"], "197377");
    EXPECT_EQ(e["numeric_cast"], "0");
    EXPECT_EQ(e["neighbours"][1]["bits"], "0x0000000000030302");
    EXPECT_EQ(e["formats"]["f32"]["bits"], "0x00000000");
    EXPECT_EQ(e["layouts"][0]["fields"], (Json{{"kernel_h", 3}, {"kernel_w", 3}, {"stride", 1}}));
    EXPECT_EQ(e["layouts"][0]["runs"], true);
    EXPECT_THAT(warnings_of(e), AllOf(Contains(HasSubstr("numeric cast")), Contains(HasSubstr("flush-to-zero")),
                                      Contains(HasSubstr("scalar_bits\": \"0x0000000000030301"))));
  }
}

TEST_F(Explain, ATextCutShortIsAnotherNumber) {
  const Json e = explained({"9.75E-319"});
  EXPECT_EQ(e["integer"], "197342");
  EXPECT_THAT(warnings_of(e), Contains(AllOf(HasSubstr("197342, not 197377"), HasSubstr("9.7517e-319"))));
  EXPECT_THAT(warnings_of(explained({"9.7517E-319"})), testing::Not(Contains(HasSubstr(", not "))));
}

TEST_F(Explain, WhoLosesIt) {
  EXPECT_THAT(warnings_of(explained({"8.8895642e-316"})),
              Contains(AllOf(HasSubstr("serde_json"), HasSubstr("0x000000000ab976fe"))));
  EXPECT_THAT(warnings_of(explained({"0x040101"})), Contains(HasSubstr("1.29643e-318")));
  EXPECT_THAT(warnings_of(explained({"0x030300", "--op", "conv2d:gen2"})),
              Contains(HasSubstr("cannot be run: stride is 0")));
  EXPECT_THAT(warnings_of(explained({"9007199254740993"})), Contains(HasSubstr("not exact")));
  EXPECT_THAT(warnings_of(explained({"-0.0"})), Contains(HasSubstr("integer 0")));
}

TEST_F(Explain, WhatJsonHasNoNumberFor) {
  EXPECT_EQ(explained({"-Infinity"})["bits"], "0xfff0000000000000");
  EXPECT_EQ(explained({"Infinity"})["class"], "infinity");
  const Json nan = explained({"NaN", "--op", "reduce"});
  EXPECT_EQ(nan["layouts"][0]["fields"]["inner_stride"], "absent");
  EXPECT_THAT(warnings_of(nan), Contains(HasSubstr("the parameter disappears")));
  EXPECT_THAT(warnings_of(explained({"0x7ff0000000000001"})), Contains(HasSubstr("payload")));
}

TEST_F(Explain, IsReadableAndRefusesWhatIsNoValue) {
  const Ran text = run({"explain", "9.7517E-319", "--op", "conv2d"});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("conv2d:gen3 scalar"), HasSubstr("dilation_minus_1=0 kernel_h=3"),
                              HasSubstr("warning: ")));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"explain", "nan"},
                                                {"explain", "0x"},
                                                {"explain", "1e999"},
                                                {"explain", ""},
                                                {"explain", "1", "--op", "conv3d"},
                                                {"explain"}}) {
    const Ran ran = run(wrong);
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.out, testing::IsEmpty());
  }
}

TEST_F(Explain, LayoutsAreTheTableWithWhatTheirWordsCanBe) {
  const Json rows = run({"layouts", "--json"}).json();
  ASSERT_EQ(rows.size(), all_layouts().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["layout"], all_layouts()[i].id());
    EXPECT_EQ(rows[i]["fields"].size(), all_layouts()[i].fields.size());
    EXPECT_EQ(rows[i]["scalar"]["overlapping"], "0x0000000000000000");
  }
  EXPECT_EQ(rows[2]["scalar"]["smallest"]["normal"], "0x0010000000000000") << "a dilation of 4097";
  EXPECT_THAT(run({"layouts"}).out, HasSubstr("conv2d:gen2\n    kernel_h: scalar bits 16..23, 0..255"));
}

TEST_F(Explain, EveryLayoutIsPackedAndUnpackedOnRequest) {
  EXPECT_EQ(run({"ask", "--json", "pack", "dropout", "p=0.5", "seed=3"}).json()["bits"],
            (Json{"0x3fe0000000000000", "0x0000000000000003"}));
  EXPECT_EQ(run({"ask", "pack", "dropout", "p=1.5"}).status, 1);
  EXPECT_EQ(run({"ask", "pack", "conv2d:gen3", "dilation_minus_1=8384512"}).status, 1) << "an infinity";
  EXPECT_EQ(
      run({"ask", "--json", "unpack", "mha", "0x0000000800020200", "0x0000008000000002"}).json()["bits"]["causal"], 1);
}

}  // namespace
}  // namespace packcheck::test
