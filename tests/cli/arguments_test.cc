// Wrong usage and bad input: exit code 2, a message that says what, where and what is right, and
// nothing on standard output. Help: an example of every command.
#include <gmock/gmock.h>

#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kGoodCase = R"({"layout":"conv2d:gen2","values":[3,3,1,0,64]})";
constexpr const char* kLaw = "params.unpack_inverts_pack";

struct Wrong {
  const char* name;
  std::vector<std::string> arguments;
  std::vector<std::string> message;
};
void PrintTo(const Wrong& w, std::ostream* out) {
  for (const std::string& argument : w.arguments) *out << "'" << argument << "' ";
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<Wrong> of_the_command_line() {
  return {{"no_command", {}, {"subcommand"}},
          {"unknown_command", {"verifi"}, {"verifi"}},
          {"unknown_option", {"verify", "--subjects", "reference"}, {"--subjects"}},
          {"option_without_value", {"verify", "--law"}, {"--law"}},
          {"unknown_corpus_command", {"corpus", "remove"}, {"remove"}},
          {"no_corpus_command", {"corpus"}, {"subcommand"}},
          {"sweep_without_law", {"sweep"}, {"law"}},
          {"ask_without_operation", {"ask"}, {"operation"}},
          {"surplus_argument", {"laws", "format"}, {"format"}}};
}

std::vector<Wrong> of_verify() {
  const std::vector<std::string> verify{"verify", "--corpus", "none", "--law", "text.printing_is_exact"};
  return {
      {"unknown_law", {"verify", "--law", "text.nothing"}, {"text.nothing", "--law", "text.printing_is_exact"}},
      {"near_law",
       {"verify", "--law", "text.printing_is_exakt"},
       {"no law matches", "--law", "'text.printing_is_exact'? One of"}},
      {"law_without_family", {"verify", "--law", "printing_is_exact"}, {"'text.printing_is_exact'? One of"}},
      {"empty_law", {"verify", "--law", ""}, {"--law"}},
      {"unknown_subject", with(verify, {"--subject", "nobody"}), {"unknown subject 'nobody'", "twin:NAME"}},
      {"near_subject", with(verify, {"--subject", "refrence"}), {"unknown subject 'refrence'", "'reference'? "}},
      {"twin_without_its_prefix",
       with(verify, {"--subject", "numeric_cast"}),
       {"unknown subject 'numeric_cast'", "'twin:numeric_cast'? "}},
      {"near_third_party_subject", with(verify, {"--subject", "rapid-json"}), {"'rapidjson'? "}},
      {"empty_subject", with(verify, {"--subject", ""}), {"unknown subject ''"}},
      {"unknown_twin", with(verify, {"--subject", "twin:nobody"}), {"unknown twin 'nobody'", "numeric_cast"}},
      {"near_twin", with(verify, {"--subject", "twin:numeric_cats"}), {"'numeric_cast'? One of"}},
      {"missing_library", with(verify, {"--subject", "lib:./absent.so"}), {"absent.so"}},
      {"missing_program", with(verify, {"--subject", "exec:./absent-program"}), {"absent-program"}},
      {"silent_program", with(verify, {"--subject", "exec:true"}), {"exec:true"}},
      {"unknown_profile",
       with(verify, {"--profile", "fast"}),
       {"unknown profile 'fast'", "--profile", "quick, gate or nightly"}},
      {"near_profile", with(verify, {"--profile", "nigthly"}), {"'nightly'? quick, gate or nightly"}},
      {"unknown_engine",
       with(verify, {"--engine", "afl"}),
       {"unknown engine 'afl'", "--engine", "one of corpus, sweep, property, fuzz"}},
      {"near_engine", with(verify, {"--engine", "proprety"}), {"unknown engine", "'property'? One of"}},
      {"shard_past_the_end", with(verify, {"--shard", "2/2"}), {"'2/2'", "--shard", "0 <= i < n"}},
      {"shard_of_none", with(verify, {"--shard", "0/0"}), {"'0/0'", "--shard"}},
      {"shard_negative", with(verify, {"--shard=-1/2"}), {"'-1/2'", "--shard"}},
      {"shard_half", with(verify, {"--shard", "1"}), {"'1'", "--shard"}},
      {"shard_with_tail", with(verify, {"--shard", "0/2x"}), {"'0/2x'", "--shard"}},
      {"duration_without_unit", with(verify, {"--time", "10"}), {"'10'", "--time", "250ms, 2s"}},
      {"duration_zero", with(verify, {"--time", "0s"}), {"'0s'", "--time"}},
      {"duration_negative", with(verify, {"--time=-1s"}), {"'-1s'", "--time"}},
      {"duration_overflow", with(verify, {"--time", "9999999999999999h"}), {"--time"}},
      {"duration_words", with(verify, {"--time", "soon"}), {"'soon'", "--time"}},
      {"call_timeout", with(verify, {"--call-timeout", "2"}), {"'2'", "--call-timeout", "250ms"}},
      {"call_memory", with(verify, {"--call-memory", "1T"}), {"'1T'", "--call-memory", "512M"}},
      {"call_memory_zero", with(verify, {"--call-memory", "0"}), {"'0'", "--call-memory"}},
      {"seed_no_number", with(verify, {"--seed", "today"}), {"--seed", "today"}},
      {"seed_negative", with(verify, {"--seed=-1"}), {"--seed", "-1"}},
      {"seed_overflow", with(verify, {"--seed", "18446744073709551616"}), {"--seed"}},
      {"seed_fraction", with(verify, {"--seed", "1.5"}), {"--seed"}},
      {"jobs_negative", with(verify, {"--jobs=-1"}), {"--jobs"}},
      {"no_findings_wanted", with(verify, {"--max-findings", "0"}), {"--max-findings"}},
      {"missing_corpus", {"verify", "--corpus", "absent"}, {"absent", "no such folder"}},
      {"missing_expected", with(verify, {"--expected", "absent"}), {"absent", "no such folder"}},
      {"report_without_a_name", with(verify, {"--report", ""}), {"--report", "no folder"}},
      {"report_below_a_file", with(verify, {"--report", "/dev/null/report"}), {"/dev/null"}},
  };
}

std::vector<Wrong> of_repro() {
  const std::vector<std::string> repro{"repro", "--law", kLaw};
  return {
      {"nothing", {"repro"}, {"no case"}},
      {"file_and_case", {"repro", "file.json", "--case", kGoodCase, "--law", kLaw}, {"two cases"}},
      {"missing_file", {"repro", "absent.json"}, {"absent.json", "no such file"}},
      {"a_folder", {"repro", "."}, {"no such file"}},
      {"case_without_law", {"repro", "--case", kGoodCase}, {"no law", "--law"}},
      {"case_of_unknown_law", {"repro", "--case", kGoodCase, "--law", "x"}, {"unknown law 'x'"}},
      {"case_of_another_law", {"repro", "--case", kGoodCase, "--law", "text.printing_is_exact"}, {"--case", "bits"}},
      {"case_cut_off", with(repro, {"--case", "{"}), {"--case", "well-formed"}},
      {"case_with_unknown_member",
       with(repro, {"--case", R"({"layout":"conv2d:gen2","values":[1,1,1,1,1],"x":1})"}),
       {"--case", "unknown member 'x'"}},
      {"case_of_wrong_size",
       with(repro, {"--case", R"({"layout":"conv2d:gen2","values":[1]})"}),
       {"--case", "1 values", "5 (one per field)"}},
      {"case_for_unknown_subject", with(repro, {"--case", kGoodCase, "--subject", "x"}), {"unknown subject 'x'"}},
      {"case_for_missing_library", with(repro, {"--case", kGoodCase, "--subject", "lib:absent.so"}), {"absent.so"}},
      {"bad_timeout", with(repro, {"--case", kGoodCase, "--call-timeout", "x"}), {"--call-timeout"}},
  };
}

std::vector<Wrong> of_sweep() {
  const std::string repack = "storage.repack_keeps_every_value";
  return {
      {"unknown_law", {"sweep", "x"}, {"unknown law 'x'"}},
      {"no_variant", {"sweep", repack}, {"no variant is named", "f16->f32, bf16->f32"}},
      {"half_a_pair", {"sweep", repack, "--from", "f16"}, {"half a pair", "--to"}},
      {"unknown_format", {"sweep", repack, "--from", "f16", "--to", "f8"}, {"f16->f8", "f16->f32"}},
      {"pair_and_variant", {"sweep", repack, "--from", "f16", "--to", "f32", "--variant", "f16->f32"}, {"one of them"}},
      {"unknown_variant", {"sweep", repack, "--variant", "q8_0:ggml"}, {"unknown variant 'q8_0:ggml'"}},
      {"near_variant", {"sweep", repack, "--variant", "fp16->f32"}, {"'f16->f32'? One of"}},
      {"near_law", {"sweep", "storage.repack_keep_every_value"}, {"'storage.repack_keeps_every_value'? One of"}},
      {"no_domain_of_text", {"sweep", "text.parsing_is_correctly_rounded"}, {"no small domain of json"}},
      {"unknown_subject", {"sweep", repack, "--from", "f16", "--to", "f32", "--subject", "x"}, {"unknown subject 'x'"}},
      {"in_process_reference",
       {"sweep", repack, "--from", "f16", "--to", "f32", "--in-process"},
       {"'reference' with --in-process", "lib:PATH.so"}},
      {"bad_shard", {"sweep", repack, "--from", "f16", "--to", "f32", "--shard", "3/2"}, {"'3/2'", "--shard"}},
      {"bad_memory", {"sweep", repack, "--from", "f16", "--to", "f32", "--call-memory", "much"}, {"--call-memory"}},
  };
}

std::vector<Wrong> of_ask() {
  return {
      {"unknown_operation", {"ask", "multiply", "2"}, {"unknown operation 'multiply'", "quantize"}},
      {"unknown_subject", {"ask", "print", "0x0", "--subject", "x"}, {"unknown subject 'x'"}},
      {"missing_library", {"ask", "print", "0x0", "--subject", "lib:x.so"}, {"x.so"}},
      {"convert_without_from", {"ask", "convert", "--to", "f16", "0x0"}, {"missing", "--from", "f64, f32, f16, bf16"}},
      {"convert_from_unknown",
       {"ask", "convert", "--from", "f8", "--to", "f16", "0x0"},
       {"unknown format 'f8'", "--from"}},
      {"convert_to_unknown",
       {"ask", "convert", "--from", "f32", "--to", "F16", "0x0"},
       {"unknown format 'F16'", "--to"}},
      {"convert_rounding",
       {"ask", "convert", "--from", "f32", "--to", "f16", "--round", "up", "0x0"},
       {"unknown value 'up'", "--round", "nearest-even"}},
      {"convert_stochastic_without_bits",
       {"ask", "convert", "--from", "f32", "--to", "f16", "--round", "stochastic", "0x0"},
       {"missing", "--random-bits", "64 bits"}},
      {"convert_bits_without_stochastic",
       {"ask", "convert", "--from", "f32", "--to", "f16", "--random-bits", "0x1", "0x0"},
       {"--round stochastic", "--random-bits"}},
      {"convert_bits_above_the_width",
       {"ask", "convert", "--from", "e3m2", "--to", "f32", "0x40"},
       {"'0x40'", "e3m2 bits", "at most 0x3f"}},
      {"convert_nothing", {"ask", "convert", "--from", "f32", "--to", "f16"}, {"no numbers", "0x3f800000"}},
      {"convert_decimal", {"ask", "convert", "--from", "f32", "--to", "f16", "1.0"}, {"'1.0'", "f32 bits", "0x"}},
      {"convert_too_wide", {"ask", "convert", "--from", "f16", "--to", "f32", "0x10000"}, {"0x10000", "f16 bits"}},
      {"convert_empty_element", {"ask", "convert", "--from", "f16", "--to", "f32", "0x1,,0x2"}, {"''", "f16 bits"}},
      {"quantize_nothing", {"ask", "quantize"}, {"no encoding", "q8_0:ggml"}},
      {"quantize_unknown", {"ask", "quantize", "q9", "0x0"}, {"unknown encoding 'q9'", "q4_0:skainet"}},
      {"quantize_part_of_a_block", {"ask", "quantize", "q8_0:ggml", "0x0"}, {"32"}},
      {"dequantize_no_hex", {"ask", "dequantize", "q4_0:ggml", "zz"}, {"'zz'"}},
      {"dequantize_odd", {"ask", "dequantize", "q4_0:ggml", "000"}, {"odd number"}},
      {"dequantize_part_of_a_block", {"ask", "dequantize", "q4_0:ggml", "0000"}, {"18"}},
      {"dequantize_nothing", {"ask", "dequantize", "q4_0:ggml"}, {"no blocks"}},
      {"print_decimal", {"ask", "print", "5"}, {"'5'", "16 hex digits"}},
      {"print_two", {"ask", "print", "0x0", "0x1"}, {"2 arguments"}},
      {"parse_nothing", {"ask", "parse"}, {"0 arguments", "9.7517E-319"}},
      {"pack_nothing", {"ask", "pack"}, {"no layout"}},
      {"pack_unknown_layout", {"ask", "pack", "conv3d", "a=1"}, {"unknown layout 'conv3d'", "conv2d:gen2"}},
      {"pack_unknown_field", {"ask", "pack", "conv2d", "kernel=3"}, {"'kernel=3'", "kernel_h"}},
      {"pack_no_value", {"ask", "pack", "conv2d", "stride"}, {"'stride'", "FIELD=VALUE"}},
      {"pack_no_integer", {"ask", "pack", "conv2d", "stride=1.5"}, {"'1.5'", "field stride", "0..255"}},
      {"pack_empty_value", {"ask", "pack", "conv2d", "stride="}, {"''", "field stride"}},
      {"pack_twice", {"ask", "pack", "conv2d", "stride=1", "stride=2"}, {"given twice", "field stride"}},
      {"unpack_nothing", {"ask", "unpack", "conv2d"}, {"0 words"}},
      {"unpack_three_words", {"ask", "unpack", "conv2d", "0x0", "0x0", "0x0"}, {"3 words"}},
      {"unpack_decimal", {"ask", "unpack", "conv2d", "197377"}, {"'197377'"}},
      {"affine_no_case", {"ask", "affine_dequantize", "{}"}, {"affine case/"}},
      {"product_no_case", {"ask", "affine_matmul", "{}"}, {"affine_product case"}},
      {"gate_up_no_case", {"ask", "affine_gate_up", "{}"}, {"affine_gate_up case"}},
      {"shape_nothing", {"ask", "shape"}, {"no operator", "conv2d:java"}},
      {"shape_unknown_rule", {"ask", "shape", "gelu", "1"}, {"unknown shape rule 'gelu'", "conv2d:floor"}},
      {"shape_unknown_field", {"ask", "shape", "linear", "2", "2x2", "--stride", "2"}, {"'stride=2'", "linear"}},
      {"shape_without_a_kernel", {"ask", "shape", "maxpool2d", "1x1x4x4"}, {"no kernel_h", "kernel_h=VALUE"}},
      {"shape_no_shape", {"ask", "shape", "conv2d", "1xx3", "4"}, {"'1xx3'", "1x3x224x224"}},
      {"shape_given_twice", {"ask", "shape", "maxpool2d", "1x1x4x4", "kernel=2", "--kernel", "3"}, {"given twice"}},
      {"execute_no_case", {"ask", "execute", "{}"}, {"node case/"}},
  };
}

std::vector<Wrong> of_corpus() {
  return {
      {"promote_missing_corpus", {"corpus", "promote", "--corpus", "absent"}, {"absent", "no such folder"}},
      {"minimise_missing_corpus", {"corpus", "minimise", "--corpus", "absent"}, {"absent", "no such folder"}},
      {"add_nothing_to_a_folder", {"corpus", "add", "--corpus", "c"}, {"file"}},
      {"add_missing_file", {"corpus", "add", "absent.json", "--corpus", "c"}, {"absent.json", "no such file"}},
      {"unknown_kind",
       {"corpus", "add", "absent.json", "--corpus", "c", "--kind", "good"},
       {"unknown kind 'good'", "seed, regression or crashing"}},
      {"lint_missing_folder", {"corpus", "lint", "--corpus", "absent"}, {"absent", "no such folder"}},
  };
}

class WrongUsage : public CommandTest, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongUsage, ExitsWith2AndSaysWhy) {
  const Ran ran = run(GetParam().arguments);
  EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
  for (const std::string& part : GetParam().message) EXPECT_THAT(ran.err, HasSubstr(part));
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(files_below(folder()), IsEmpty()) << "nothing is written";
}

std::string name_of(const testing::TestParamInfo<Wrong>& test) { return test.param.name; }

INSTANTIATE_TEST_SUITE_P(CommandLine, WrongUsage, testing::ValuesIn(of_the_command_line()), name_of);
INSTANTIATE_TEST_SUITE_P(Verify, WrongUsage, testing::ValuesIn(of_verify()), name_of);
INSTANTIATE_TEST_SUITE_P(Repro, WrongUsage, testing::ValuesIn(of_repro()), name_of);
INSTANTIATE_TEST_SUITE_P(Sweep, WrongUsage, testing::ValuesIn(of_sweep()), name_of);
INSTANTIATE_TEST_SUITE_P(Ask, WrongUsage, testing::ValuesIn(of_ask()), name_of);
INSTANTIATE_TEST_SUITE_P(Corpus, WrongUsage, testing::ValuesIn(of_corpus()), name_of);

class Help : public CommandTest, public testing::WithParamInterface<const char*> {};

TEST_P(Help, OfEveryCommandExitsWith0AndShowsAnExample) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : std::string(GetParam()) + " ") {
    if (c != ' ') {
      word += c;
      continue;
    }
    words.push_back(word);
    word.clear();
  }
  const Ran ran = run(with(words, {"--help"}));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Example"), HasSubstr("packcheck " + std::string(GetParam()))));
  EXPECT_THAT(ran.err, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(CommandLine, Help,
                         testing::Values("verify", "repro", "sweep", "ask", "corpus", "corpus add", "corpus lint",
                                         "corpus import", "corpus promote", "corpus minimise", "corpus export",
                                         "report", "report merge", "twins", "laws", "subjects", "formats", "encodings",
                                         "explain", "layouts"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

/// What RC_PARAMS may not be, and the parts of the message.
struct WrongParameters {
  const char* name;
  const char* value;
  std::vector<std::string> message;
};
void PrintTo(const WrongParameters& p, std::ostream* out) { *out << p.value; }

class RapidCheckParameters : public CommandTest, public testing::WithParamInterface<WrongParameters> {};

TEST_P(RapidCheckParameters, ThatMeanNothingAreRefusedWithTheRightSpelling) {
  for (const char* command : {"verify --corpus none --law text.printing_is_exact", "twins"}) {
    const Ran ran = shell(folder(), std::string("RC_PARAMS='") + GetParam().value + "' packcheck " + command);
    EXPECT_EQ(ran.status, 2) << command << "\n" << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("RC_PARAMS"));
    for (const std::string& part : GetParam().message) EXPECT_THAT(ran.err, HasSubstr(part));
    EXPECT_THAT(files_below(folder()), IsEmpty()) << "nothing is written";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Wrong, RapidCheckParameters,
    testing::Values(WrongParameters{"unknown_key", "sed=5", {"unknown key 'sed'", "'seed'? One of seed, max_success"}},
                    WrongParameters{"no_budget", "seed=1 max_success=0", {"'0'", "max_success", "from 1 to"}},
                    WrongParameters{"negative_budget", "max_success=-5", {"'-5'", "max_success"}},
                    WrongParameters{"no_number", "max_success=many", {"'many'", "max_success"}},
                    WrongParameters{"number_with_tail", "seed=1x", {"'1x'", "seed", "18446744073709551615"}},
                    WrongParameters{"seed_too_large", "seed=18446744073709551616", {"seed"}},
                    WrongParameters{"key_alone", "seed", {"''", "seed"}},
                    WrongParameters{"reproduce", "reproduce=AAAA", {"'reproduce' is not used", "packcheck repro"}},
                    WrongParameters{"no_key", "=1", {"unknown key ''", "one of seed, max_success"}}),
    [](const auto& test) { return std::string(test.param.name); });

using RapidCheckParametersInUse = CommandTest;

TEST_F(RapidCheckParametersInUse, GiveTheSeedAndTheCasesAndTheReportSaysSo) {
  const std::string verify =
      "packcheck verify --corpus none --engine property --law text.printing_is_exact --json --seed ";
  const Ran by_variable = shell(folder(), "RC_PARAMS='seed=7 max_success=30' " + verify + "7");
  ASSERT_EQ(by_variable.status, 0) << by_variable.err;
  const Json report = by_variable.json();
  EXPECT_EQ(report.at("seed"), 7);
  EXPECT_EQ(report.at("profile"), "quick with max_success=30");
  EXPECT_EQ(report.at("verdicts").at(0).at("cases"), 30);
  EXPECT_EQ(report.at("verdicts").at(0).at("engines").at("sweep").at("cases"), 0) << "only the engine that is named";
  const Ran two_seeds = shell(folder(), "RC_PARAMS=seed=7 " + verify + "8");
  EXPECT_EQ(two_seeds.status, 2);
  EXPECT_THAT(two_seeds.err, HasSubstr("two seeds"));
}

TEST_F(RapidCheckParametersInUse, DoNotLetALawHoldByNoCase) {
  const Ran ran = run({"verify", "--corpus", "none", "--engine", "corpus", "--law", "text.printing_is_exact"});
  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("nothing was judged"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Nothing was judged."), Not(HasSubstr("All laws hold"))));
}

using TopLevel = CommandTest;

TEST_F(TopLevel, HelpListsTheCommandsAndTheExitCodes) {
  const Ran ran = run({"--help"});
  EXPECT_EQ(ran.status, 0);
  for (const char* part : {"verify", "repro", "sweep", "ask", "corpus", "twins", "laws", "subjects", "formats",
                           "encodings", "explain", "layouts", "Exit codes: 0", "1 findings", "2 wrong usage"})
    EXPECT_THAT(ran.out, HasSubstr(part));
}

TEST_F(TopLevel, VersionIsOneLine) {
  const Ran ran = run({"--version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, testing::MatchesRegex("packcheck [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

/// A case file that is broken in some way, and what repro says of it.
struct BrokenFile {
  const char* name;
  std::string text;
  std::vector<std::string> message;
};
void PrintTo(const BrokenFile& f, std::ostream* out) { *out << f.name; }

/// A case file with these first members.
std::string case_file(const std::string& members) {
  return "{" + members + R"("subject":"reference","place":"p","input":"i","expected":"e","actual":"a","why":"w",)" +
         R"("type":"number","case":{"bits":"0x0"}})";
}

std::vector<BrokenFile> broken_files() {
  const std::string version = R"("packcheck_case":1,)";
  const std::string law = R"("law":"text.printing_is_exact",)";
  return {{"empty", "", {"well-formed"}},
          {"no_json", "not json", {"well-formed"}},
          {"cut_off", R"({"packcheck_case":1,"law":)", {"well-formed"}},
          {"later_version", case_file(R"("packcheck_case":2,)" + law), {"format version 2", "packcheck_case: 1"}},
          {"unknown_law", case_file(version + R"("law":"text.nothing",)"), {"unknown law 'text.nothing'"}},
          {"unknown_member", case_file(version + law + R"("x":1,)"), {"unknown member 'x'"}},
          {"duplicate_key", case_file(version + law + version), {"duplicate key 'packcheck_case'"}},
          {"no_law", case_file(version), {"/law", "missing"}},
          {"vectors_of_a_later_version", R"({"packcheck_vectors":3,"vectors":[]})", {"format version 3"}},
          {"no_vectors", R"({"packcheck_vectors":1,"vectors":[]})", {"no case"}}};
}

class BrokenCaseFile : public CommandTest, public testing::WithParamInterface<BrokenFile> {
 protected:
  void expect_refusal(const std::vector<std::string>& more) const {
    const Ran ran = run(with({"repro", "broken.json"}, more));
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("broken.json"));
    for (const std::string& part : GetParam().message) EXPECT_THAT(ran.err, HasSubstr(part));
  }
};

TEST_P(BrokenCaseFile, IsRefusedByNameAlsoWhereALawIsNamed) {
  files().write("broken.json", GetParam().text);
  expect_refusal({});
  expect_refusal({"--law", kLaw});
}

INSTANTIATE_TEST_SUITE_P(Repro, BrokenCaseFile, testing::ValuesIn(broken_files()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace packcheck::test
