// cli/packed_losses.h: the table of who loses which packed values, out of results made by hand.
#include "cli/packed_losses.h"

#include <gmock/gmock.h>

namespace packcheck {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Row = std::vector<std::string>;

Finding finding(const std::string& law, const std::string& case_json, Breach breach) {
  Finding f;
  f.law = law;
  f.case_json = case_json;
  f.breach = std::move(breach);
  return f;
}

LawResult law_result(const std::string& law, std::vector<Finding> findings) {
  LawResult result{law, "", findings.empty() ? Ruling::holds : Ruling::broken, "", {}, {}, {}};
  result.findings = std::move(findings);
  return result;
}

SubjectResult subject(const std::string& name, std::vector<LawResult> laws) {
  SubjectResult result;
  result.spec = name;
  result.name = name;
  result.laws = std::move(laws);
  return result;
}

std::vector<Row> rows_of(std::vector<SubjectResult> subjects) {
  VerifyResult result;
  result.subjects = std::move(subjects);
  return packed_losses(result);
}

const std::string kSurvives = "text.packed_double_survives_text";
const std::string kParsing = "text.parsing_is_correctly_rounded";
const std::string kPrinting = "text.printing_is_exact";
const std::string kPlace = "json packed subnormal";

Finding lost_by_reader(const std::string& bits, const std::string& text, const std::string& read) {
  return finding(kSurvives, R"({"bits":")" + bits + R"("})",
                 {kPlace, bits + " (1e-316)", bits, read + " (1e-316)", "The text between was '" + text + "'."});
}

TEST(PackedLosses, AreEmptyWhereNoLawOfTextWasRun) {
  EXPECT_THAT(rows_of({subject("a", {law_result("format.widening_is_exact", {})})}), IsEmpty());
  EXPECT_THAT(rows_of({}), IsEmpty());
}

TEST(PackedLosses, SayThatNoneWasFoundWhereTheLawsHold) {
  const auto rows = rows_of({subject("a", {law_result(kSurvives, {})})});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[1], ElementsAre("a", "none found", "", "", ""));
}

TEST(PackedLosses, LeaveOutWhoWasNotJudged) {
  LawResult skipped = law_result(kParsing, {});
  skipped.ruling = Ruling::skipped;
  EXPECT_THAT(rows_of({subject("a", {skipped})}), IsEmpty());
}

TEST(PackedLosses, LeaveOutTwins) {
  EXPECT_THAT(rows_of({subject("twin:six_digits", {law_result(kSurvives, {})})}), IsEmpty());
}

TEST(PackedLosses, AreTheSmallestThatWasFound) {
  const auto rows = rows_of({subject(
      "a", {law_result(kSurvives, {lost_by_reader("0x0000000100000000", "2.1e-314", "0x0000000100000001"),
                                   lost_by_reader("0x000000000ab976ff", "8.8895642e-316", "0x000000000ab976fe")})})});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[0], ElementsAre("subject", "smallest packed value lost", "text", "read as", "law"));
  EXPECT_THAT(rows[1],
              ElementsAre("a", "179926783 (0x0ab976ff)", "8.8895642e-316", "179926782 (0x0ab976fe)", kSurvives));
}

TEST(PackedLosses, AreOnlyOfPackedValues) {
  Finding normal = lost_by_reader("0x40effc0000000001", "65504", "0x40effc0000000000");
  normal.breach.place = "json normal";
  EXPECT_THAT(rows_of({subject("a", {law_result(kSurvives, {normal})})})[1],
              ElementsAre("a", "none found", "", "", ""));
}

TEST(PackedLosses, OfAReaderThatPrintsNothingComeFromTheTextThatItWasGiven) {
  const Finding refused = finding(kParsing, R"({"text":"4.9E-324"})",
                                  {kPlace + " refused", "'4.9E-324'", "an answer", "refused: out of range", ""});
  const Finding other =
      finding(kParsing, R"({"text":"9.7517E-319"})",
              {kPlace, "'9.7517E-319'", "0x0000000000030301 (9.7517e-319)", "0x0000000000000000 (0.0)", ""});
  EXPECT_THAT(rows_of({subject("a", {law_result(kParsing, {other, refused})})})[1],
              ElementsAre("a", "1 (0x00000001)", "4.9E-324", "refused: out of range", kParsing));
  EXPECT_THAT(rows_of({subject("a", {law_result(kParsing, {other})})})[1],
              ElementsAre("a", "197377 (0x00030301)", "9.7517E-319", "0 (0x00000000)", kParsing));
}

TEST(PackedLosses, OfAPrinterShowWhatItsTextIs) {
  const Finding cut = finding(kPrinting, R"({"bits":"0x0000000000040101"})",
                              {kPlace, "0x0000000000040101 (1.296430e-318)", "text of exactly this number",
                               "'1.29643e-318', which is 0x0000000000040100 (1.29642e-318)", ""});
  EXPECT_THAT(rows_of({subject("a", {law_result(kPrinting, {cut})})})[1],
              ElementsAre("a", "262401 (0x00040101)", "1.29643e-318", "262400 (0x00040100)", kPrinting));
}

TEST(PackedLosses, OfAReaderThatRefusesItsOwnTextShowTheText) {
  const Finding refused = finding(kSurvives, R"({"bits":"0x0000000000000001"})",
                                  {kPlace + " refused", "'4.9E-324'", "an answer", "refused: too small", "No answer."});
  EXPECT_THAT(rows_of({subject("a", {law_result(kSurvives, {refused})})})[1],
              ElementsAre("a", "1 (0x00000001)", "4.9E-324", "refused: too small", kSurvives));
}

}  // namespace
}  // namespace packcheck
