// Every built third-party subject offers a sound table: what packcheck demands of any library.
#include <gmock/gmock.h>

#include <algorithm>

#include "subjects/subject.h"
#include "subjects/third_party/names.h"
#include "tests/third_party/loaded.h"

namespace packcheck::third_party_test {
namespace {

/// Of the subjects that are libraries: f16c is the processor itself (f16c_test.cc), those with a command are
/// programs (tests/cli/programs_test.cc).
std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const ThirdPartySubject& subject : kThirdPartySubjects)
    if (subject.name != "f16c" && subject.command.empty()) names.emplace_back(subject.name);
  return names;
}

bool has_function(const packcheck_subject& subject, Operation operation) {
  switch (operation) {
    case Operation::convert: return subject.convert != nullptr;
    case Operation::quantize: return subject.quantize != nullptr;
    case Operation::dequantize: return subject.dequantize != nullptr;
    case Operation::repack: return subject.repack != nullptr;
    case Operation::print: return subject.print != nullptr;
    case Operation::parse: return subject.parse != nullptr;
    case Operation::pack: return subject.pack != nullptr;
    case Operation::unpack: return subject.unpack != nullptr;
    case Operation::affine_dequantize: return subject.affine_dequantize != nullptr;
    case Operation::repack_tensor: return subject.repack_tensor != nullptr;
    case Operation::requantize_tensor: return subject.requantize_tensor != nullptr;
    case Operation::load_tensor: return subject.load_tensor != nullptr;
    case Operation::read_tensors: return subject.read_tensors != nullptr;
    case Operation::write_tensors: return subject.write_tensors != nullptr;
    case Operation::import_graph: return subject.import_graph != nullptr;
    case Operation::export_graph: return subject.export_graph != nullptr;
    case Operation::infer_shape: return subject.infer_shape != nullptr;
    case Operation::execute: return subject.execute != nullptr;
    case Operation::execute_backward: return subject.execute_backward != nullptr;
    case Operation::affine_matmul: return subject.affine_matmul != nullptr;
    case Operation::affine_gate_up: return subject.affine_gate_up != nullptr;
    case Operation::run_network: return subject.run_network != nullptr;
    case Operation::export_network: return subject.export_network != nullptr;
    case Operation::import_network: return subject.import_network != nullptr;
  }
  return false;
}

class ThirdPartyTable : public testing::TestWithParam<std::string> {};

TEST_P(ThirdPartyTable, HasTheNameOfItsFileAndAVersion) {
  PACKCHECK_LOAD_OR_SKIP(loaded, GetParam());
  EXPECT_EQ(loaded.table->name, GetParam());
  EXPECT_THAT(loaded.table->version, testing::MatchesRegex("[0-9]+\\.[0-9]+(\\.[0-9]+)?( .*)?"));
  EXPECT_EQ(loaded.table->struct_size, sizeof(packcheck_subject));
}

TEST_P(ThirdPartyTable, DeclaresOnlyWhatPackcheckKnowsAndItOffers) {
  PACKCHECK_LOAD_OR_SKIP(loaded, GetParam());
  std::set<std::string> seen;
  for (const char* const* line = loaded.table->declarations; *line != nullptr; ++line) {
    const Result<Declaration> declaration = parse_declaration(*line);
    ASSERT_TRUE(declaration) << declaration.error().text();
    EXPECT_TRUE(has_function(*loaded.table, declaration->operation)) << *line;
    EXPECT_TRUE(seen.insert(std::string(operation_name(declaration->operation)) + declaration->variant).second)
        << *line << " is declared twice";
  }
  EXPECT_FALSE(seen.empty());
}

TEST_P(ThirdPartyTable, OffersNoFunctionThatItDoesNotDeclare) {
  PACKCHECK_LOAD_OR_SKIP(loaded, GetParam());
  std::set<Operation> declared;
  for (const char* const* line = loaded.table->declarations; *line != nullptr; ++line)
    declared.insert(parse_declaration(*line)->operation);
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    const auto operation = static_cast<Operation>(i);
    EXPECT_EQ(has_function(*loaded.table, operation), declared.count(operation) == 1) << operation_name(operation);
  }
}

INSTANTIATE_TEST_SUITE_P(Subjects, ThirdPartyTable, testing::ValuesIn(known_names()),
                         [](const testing::TestParamInfo<std::string>& parameter) {
                           std::string name = parameter.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ThirdPartyNames, CoverEverythingThatIsBuilt) {
  EXPECT_THAT(known_names(), testing::IsSupersetOf(built_subjects()));
  EXPECT_EQ(built_subjects().count("nlohmann_json"), 1U);
}

}  // namespace
}  // namespace packcheck::third_party_test
