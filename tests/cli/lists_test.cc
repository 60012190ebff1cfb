// packcheck laws, subjects, encodings and twins: what there is, for people and for machines.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "core/encoding/encoding.h"
#include "core/format/format.h"
#include "properties/law.h"
#include "subjects/reference/twins.h"
#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;

using Lists = CommandTest;

/// The member `key` of every row.
std::vector<std::string> column(const Json& rows, const char* key) {
  std::vector<std::string> values;
  for (const Json& row : rows) values.push_back(row.at(key).get<std::string>());
  return values;
}

TEST_F(Lists, LawsAreTheRegistryWithTheirSentences) {
  const Ran json = run({"laws", "--json"});
  const Ran text = run({"laws"});
  EXPECT_EQ(json.status, 0);
  EXPECT_EQ(text.status, 0);
  std::vector<std::string> ids;
  for (const Law& law : all_laws()) {
    ids.push_back(law.id);
    EXPECT_THAT(text.out, testing::AllOf(HasSubstr(law.id), HasSubstr(law.sentence)));
  }
  EXPECT_EQ(column(json.json(), "id"), ids);
  const Json rows = json.json();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("needs").size(), all_laws()[i].needs.size());
    EXPECT_EQ(rows[i].at("case_type"), all_laws()[i].case_type->name());
  }
}

TEST_F(Lists, EncodingsAreTheRegistry) {
  const Ran json = run({"encodings", "--json"});
  const Ran text = run({"encodings"});
  EXPECT_EQ(json.status, 0);
  EXPECT_EQ(text.status, 0);
  std::vector<std::string> ids;
  for (const Encoding& e : all_encodings()) {
    ids.push_back(e.id());
    EXPECT_THAT(text.out, HasSubstr(e.id()));
  }
  EXPECT_EQ(column(json.json(), "encoding"), ids);
  EXPECT_EQ(json.json()[0]["bits_per_number"], 8.5) << "34 bytes for 32 numbers";
}

TEST_F(Lists, FormatsAreTheTableWithTheirLimits) {
  const Ran json = run({"formats", "--json"});
  const Ran text = run({"formats"});
  EXPECT_EQ(json.status, 0);
  EXPECT_EQ(text.status, 0);
  std::vector<std::string> names;
  for (const FormatSpec& s : all_formats()) {
    names.emplace_back(s.name);
    EXPECT_THAT(text.out, HasSubstr(std::string(s.name) + " "));
  }
  const Json rows = json.json();
  EXPECT_EQ(column(rows, "format"), names);
  std::map<std::string, Json> row;
  for (const Json& r : rows) row[r["format"].get<std::string>()] = r;
  EXPECT_EQ(row["f16"]["nan_codes"], "0x7c01 to 0x7fff, 0xfc01 to 0xffff");
  EXPECT_EQ(row["f16"]["largest"]["number"], "65504.0");
  EXPECT_EQ(row["e4m3fn"]["largest"], (Json{{"bits", "0x7e"}, {"number", "448.0"}}));
  EXPECT_EQ(row["e4m3fn"]["nan_codes"], "0x7f, 0xff");
  EXPECT_EQ(row["e4m3fn"]["infinities"], false);
  EXPECT_EQ(row["e4m3fnuz"]["nan_codes"], "0x80");
  EXPECT_EQ(row["e4m3fnuz"]["negative_zero"], false);
  EXPECT_EQ(row["e8m0"]["smallest_subnormal"], nullptr);
  EXPECT_EQ(row["e8m0"]["nan_codes"], "0xff");
  EXPECT_EQ(row["e2m1"]["width"], 4);
  EXPECT_EQ(row["ue4m3"]["nan_codes"], "0x7f");
  EXPECT_EQ(row["ue4m3"]["sign_bits"], 0);
  EXPECT_EQ(row["e5m3"]["largest"], (Json{{"bits", "0xfe"}, {"number", "114688.0"}}));
  EXPECT_EQ(row["i8"]["kind"], "integer");
  EXPECT_EQ(row["i8"]["smallest"], (Json{{"bits", "0x80"}, {"number", "-128"}}));
  EXPECT_EQ(row["i32"]["largest"], (Json{{"bits", "0x7fffffff"}, {"number", "2147483647"}}));
  EXPECT_EQ(row["e2m1"]["overflow"], "largest");
  EXPECT_EQ(row["e2m3"]["smallest_subnormal"], (Json{{"bits", "0x01"}, {"number", "0.125"}}));
}

TEST_F(Lists, SubjectsAreTheReferenceEveryTwinAndTheThirdPartyOnes) {
  const Ran json = run({"subjects", "--json"});
  const Ran text = run({"subjects"});
  EXPECT_EQ(json.status, 0);
  EXPECT_EQ(text.status, 0);
  const std::vector<std::string> names = column(json.json(), "subject");
  EXPECT_EQ(names.at(0), "reference");
  for (const Twin& twin : all_twins()) {
    EXPECT_THAT(names, testing::Contains("twin:" + std::string(twin.name)));
    EXPECT_THAT(text.out, HasSubstr(std::string(twin.name)));
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"eigen", "nlohmann_json", "rapidjson", "ggml-base"}));
  for (const Json& row : json.json()) {
    EXPECT_NE(row.at("absent").is_null(), row.at("declarations").empty()) << row;
    EXPECT_NE(row.at("absent").is_null(), row.at("version").is_null()) << row;
  }
}

TEST_F(Lists, TwinsAreAllCaughtByTheirLawAndEveryEngineCatchesSome) {
  const Ran ran = run({"twins", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const Json twins = ran.json();
  EXPECT_EQ(twins["score"], 1.0);
  EXPECT_EQ(twins["seed"], 1);
  ASSERT_EQ(twins["twins"].size(), all_twins().size());
  std::set<std::string> engines;
  for (std::size_t i = 0; i < all_twins().size(); ++i) {
    const Json& row = twins["twins"][i];
    EXPECT_EQ(row["name"], all_twins()[i].name);
    EXPECT_EQ(row["bug"], all_twins()[i].bug);
    ASSERT_FALSE(row["caught_by"].empty()) << row["name"];
    for (const Json& caught : row["caught_by"]) {
      EXPECT_EQ(caught["law"], all_twins()[i].law);
      EXPECT_GE(caught["cases"], 1) << row;
      EXPECT_FALSE(caught["case"].empty()) << row;
      engines.insert(caught["engine"].get<std::string>());
    }
    // A second engine, or the reason why there is none; no reason where it is not needed.
    EXPECT_EQ(row["caught_by"].size() == 1, row["one_engine"] != "") << row["name"] << " " << row["caught_by"];
  }
  EXPECT_LE(twins["median_payload_bytes"], 64);
  EXPECT_EQ(engines, (std::set<std::string>{"sweep", "property", "fuzz"})) << "the corpus is empty here";
}

}  // namespace
}  // namespace packcheck::test
