// packcheck audit: tables that an independent parser agrees with, exit codes, and files that are no files.
#include "core/audit/audit.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Bytes = std::vector<std::uint8_t>;

class Audit : public CommandTest {
 protected:
  /// A file of the test's folder with these tensors: name, dtype, shape, one number again and again.
  struct Part {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    Bytes data;
  };
  std::string file_of(FileKind kind, const std::vector<Part>& parts, const std::string& name = "model") const {
    TensorFile file;
    file.kind = kind;
    file.version = kind == FileKind::gguf ? 3 : 0;
    std::vector<std::span<const std::uint8_t>> data;
    for (const Part& part : parts) {
      FileTensor t;
      t.name = part.name;
      t.dtype = part.dtype;
      t.shape = part.shape;
      file.tensors.push_back(t);
      data.emplace_back(part.data);
    }
    const Result<Bytes> bytes = write_tensor_file(file, data);
    EXPECT_TRUE(bytes.has_value()) << (bytes ? "" : bytes.error().text());
    return files().write(name, {reinterpret_cast<const char*>(bytes->data()), bytes->size()}).string();
  }

  /// The table of `packcheck audit --json` beside the facts of the Python program.
  void expect_facts(const std::string& file) const {
    const Ran facts =
        shell(folder(), "python3 " PACKCHECK_SOURCE_DIRECTORY "/tests/cli/tensor_facts.py '" + file + "'");
    ASSERT_EQ(facts.status, 0) << facts.err;
    const Json expected = facts.json();
    const Json audit = run({"audit", file, "--json"}).json();
    EXPECT_EQ(audit["packcheck_audit"], 1);
    ASSERT_EQ(audit["tensors"].size(), expected.size()) << file;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Json& want = expected[i];
      const Json& got = audit["tensors"][i];
      for (const char* member : {"name", "dtype", "shape", "offset", "bytes"})
        EXPECT_EQ(got[member], want[member]) << want;
      if (want["statistics"].is_null()) continue;
      for (const char* member : {"count", "nan", "infinite", "subnormal"})
        EXPECT_EQ(got["statistics"][member], want["statistics"][member]) << member << " of " << want["name"];
      for (const char* member : {"smallest", "largest"}) {
        const Json& magnitude = got["statistics"][member];
        EXPECT_EQ(magnitude.is_null() ? magnitude : magnitude["number"], want["statistics"][member]) << want["name"];
      }
    }
  }
};

Bytes codes_of(std::size_t size, std::size_t count, std::uint64_t seed) {
  Bytes bytes(size * count);
  for (std::uint8_t& byte : bytes) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::uint8_t>(seed >> 56);
  }
  return bytes;
}

TEST_F(Audit, TablesAreThoseOfAnIndependentParser) {
  expect_facts(file_of(FileKind::safetensors, {{"a.weight", "F32", {17, 31}, codes_of(4, 17 * 31, 1)},
                                               {"b", "F16", {5, 400}, codes_of(2, 2000, 2)},
                                               {"\xC3\xA4\"\\", "BF16", {3000}, codes_of(2, 3000, 3)},
                                               {"d", "F64", {2, 2, 300}, codes_of(8, 1200, 4)},
                                               {"scalar", "F32", {}, codes_of(4, 1, 5)},
                                               {"empty", "F32", {3, 0}, {}},
                                               {"ids", "I64", {9}, codes_of(8, 9, 6)}}));
  expect_facts(file_of(FileKind::gguf, {{"a.weight", "F32", {4, 32}, codes_of(4, 128, 7)},
                                        {"b", "F16", {7}, codes_of(2, 7, 8)},
                                        {"q", "Q8_0", {3, 64}, codes_of(34, 6, 9)},
                                        {"h", "BF16", {2, 3, 4}, codes_of(2, 24, 10)}}));
}

TEST_F(Audit, TablesOfRealFilesAreThoseOfAnIndependentParser) {
  const char* const given = std::getenv("PACKCHECK_DATA");
  const fs::path data = given != nullptr ? given : PACKCHECK_SOURCE_DIRECTORY "/../shared/data";
  std::size_t judged = 0;
  for (const char* kind : {"gguf", "safetensors"}) {
    if (!fs::is_directory(data / kind)) continue;
    for (const auto& entry : fs::directory_iterator(data / kind)) {
      expect_facts(entry.path().string());
      EXPECT_EQ(run({"audit", entry.path().string()}).status, 0) << entry.path();
      ++judged;
    }
  }
  if (judged == 0) GTEST_SKIP() << "no real files beside the checkout, in " << data;
}

TEST_F(Audit, TheTableIsAlignedAndEndsInASummary) {
  const std::string file =
      file_of(FileKind::gguf, {{"a.weight", "F32", {2, 2}, Bytes(16, 0x3C)}, {"b", "Q8_0", {32}, Bytes(34, 0x3C)}});
  const Ran ran = run({"audit", file});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("\ntensor    dtype  shape   bytes  offset  numbers\n"
                                 "a.weight  F32    [2, 2]     16     128  |x| 0.01149 to 0.01149\n"
                                 "b         Q8_0   [32]       34     160  |scale| 1.059 to 1.059\n"
                                 "2 tensors, 0 problems, 0 notes\n"));
}

TEST_F(Audit, ScalesReadAsFloat32AreAProblemUnlessAccepted) {
  const std::string file = file_of(FileKind::safetensors, {{"l.weight", "U32", {256, 20}, Bytes(256 * 20 * 4, 0x11)},
                                                           {"l.scales", "BF16", {256, 4}, Bytes(256 * 4 * 2, 0x3B)},
                                                           {"l.biases", "BF16", {256, 4}, Bytes(256 * 4 * 2)}});
  const Ran ran = run({"audit", file});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("packed   l.weight: mlx, 5 bits in groups of 32"), HasSubstr("problem  narrow_scales  l.scales"),
            HasSubstr("row 128 is the first out of bounds; of the 128 rows before it 128 are silently wrong"),
            HasSubstr("before it 0 are silently wrong"), HasSubstr("3 tensors, 2 problems, 0 notes")));
  const Ran accepted = run({"audit", file, "--accept", "narrow_scales"});
  EXPECT_EQ(accepted.status, 0);
  EXPECT_THAT(accepted.out, AllOf(HasSubstr("note     narrow_scales  l.scales"), HasSubstr("0 problems, 2 notes")));
  const Json json = run({"audit", file, "--json"}).json();
  EXPECT_EQ(json["problems"], 2);
  EXPECT_EQ(json["warnings"][0]["kind"], "narrow_scales");
  EXPECT_EQ(json["warnings"][0]["severity"], "problem");
  EXPECT_EQ(json["warnings"][0]["numbers"]["first_row_out_of_bounds"], 128);
  EXPECT_EQ(json["packed_weights"][0]["choices"][0]["in_features"], 128);
  EXPECT_EQ(json["packed_weights"][0]["choices"][0]["first_row_out_of_bounds_with_columns_as_group"], 32);
}

TEST_F(Audit, NotesAloneLeaveTheExitCodeAt0) {
  const std::string file = file_of(FileKind::safetensors, {{"w", "F16", {4}, {1, 0, 0, 0x3C, 0, 0x3C, 0, 0x3C}}});
  const Ran ran = run({"audit", file});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("note     subnormal  w\n         1 subnormal of 4 numbers\n"
                                 "         first at element 0 (row 0, column 0)\n"));
}

TEST_F(Audit, AFileThatTheReaderRefusesIsAProblemThatSaysWhere) {
  const std::string whole = text_of(file_of(FileKind::safetensors, {{"w", "F32", {4}, Bytes(16, 0x3C)}}));
  for (const auto& [text, message] :
       std::vector<std::pair<std::string, std::string>>{{"", "a file of 0 bytes"},
                                                        {"GGUF", "cut short"},
                                                        {whole.substr(0, whole.size() - 1), "/w/data_offsets"},
                                                        {whole + "x", ""},
                                                        {std::string(100, '\0'), ""},
                                                        {"garbage that is no model", ""}}) {
    const std::string file = files().write("bad", text).string();
    const Ran ran = run({"audit", file});
    EXPECT_EQ(ran.status, 1) << text.size();
    EXPECT_THAT(ran.out, AllOf(HasSubstr("problem  unreadable  " + file), HasSubstr("right: "), HasSubstr(message),
                               HasSubstr("\n1 problem, 0 notes")));
    const Ran json = run({"audit", file, "--json"});
    EXPECT_EQ(json.status, 1);
    EXPECT_EQ(json.json()["warnings"][0]["kind"], "unreadable");
    EXPECT_EQ(json.json()["kind"], nullptr);
  }
}

TEST_F(Audit, AGraphAsJsonIsAuditedByItsNodes) {
  const std::string file =
      files()
          .write("graph.json", R"({"nodes":[{"id":0,"shape":[1,1,6,6],"op":"leaf","data":[)" +
                                   std::string("0,0,0,0,0,0,") +
                                   R"(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]},)"
                                   R"({"id":1,"shape":[1,1,6,6],"op":"maxpool2d","scalar":6.5012E-319,"param2":0.0,)"
                                   R"("inputs":[0]}]})")
          .string();
  const Ran ran = run({"audit", file});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("problem  input_shape_exported"), HasSubstr("/nodes/1/shape"),
                             HasSubstr("right: [1,1,3,3] or [1,1,6,6,3,3]"), HasSubstr("note     numeric_cast")));
  EXPECT_EQ(run({"audit", file, "--accept", "input_shape_exported"}).status, 0);
  const Json json = run({"audit", file, "--json"}).json();
  EXPECT_EQ(json["problems"], 1);
  EXPECT_EQ(json["warnings"][1]["kind"], "input_shape_exported");
  EXPECT_EQ(json["warnings"][1]["where"], "/nodes/1/shape");
  const Ran broken = run({"audit", files().write("broken.json", "{\"nodes\": [7]}").string()});
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.out, HasSubstr("problem  unsound"));
}

TEST_F(Audit, WhatIsNoFileToReadIsWrongUsage) {
  EXPECT_EQ(run({"audit"}).status, 2);
  EXPECT_THAT(run({"audit", "nowhere"}).err, HasSubstr("nowhere: cannot open: No such file"));
  EXPECT_THAT(run({"audit", folder().string()}).err, HasSubstr("a directory; expected a regular file"));
  EXPECT_EQ(run({"audit", folder().string()}).status, 2);
  const Ran pipe = shell(folder(), "mkfifo pipe && packcheck audit pipe");
  EXPECT_EQ(pipe.status, 2);
  EXPECT_THAT(pipe.err, HasSubstr("no regular file"));
  const std::string json = files().write("j", " \n{\"nodes\": []}").string();
  const Ran kind = run({"audit", json, "--accept", "everything"});
  EXPECT_EQ(kind.status, 2);
  EXPECT_THAT(kind.err, AllOf(HasSubstr("no kind of warning 'everything'"), HasSubstr("narrow_scales"),
                              HasSubstr("labels_missing")));
  if (::geteuid() != 0) {
    fs::permissions(json, fs::perms::none);
    EXPECT_EQ(run({"audit", json}).status, 2);
  }
}

TEST_F(Audit, NamesCannotPaintOverTheTerminalAndLongOnesAreCutInTheMiddle) {
  const std::string file =
      file_of(FileKind::safetensors,
              {{"\x1B[2Jx", "F32", {1}, Bytes(4)}, {"begin." + std::string(500, 'y') + ".end", "F32", {1}, Bytes(4)}});
  const Ran ran = run({"audit", file});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("?[2Jx"), Not(HasSubstr("\x1B")), HasSubstr("begin.yyy"),
                             HasSubstr("yyy.end  F32"), Not(HasSubstr(std::string(101, 'y')))));
  EXPECT_EQ(run({"audit", file, "--json"}).json()["tensors"][1]["name"].get<std::string>().size(), 510U);
}

TEST_F(Audit, NamesHoldNeitherC1ControlsNorWhatTurnsTextAround) {
  // U+009B begins a command like ESC [, U+202E turns what follows around; é stays.
  const std::string file = file_of(FileKind::safetensors, {{"a\xC2\x9B"
                                                            "2Jb\xE2\x80\xAE"
                                                            "c\xC3\xA9",
                                                            "F32",
                                                            {1},
                                                            Bytes(4)}});
  const Ran ran = run({"audit", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("a?2Jb?c\xC3\xA9  F32"));
}

TEST_F(Audit, ManyTensorsAreAllThere) {
  std::vector<Part> parts;
  for (int i = 0; i < 3000; ++i) parts.push_back({"t." + std::to_string(i), "BF16", {2}, Bytes(4, 0x3C)});
  const std::string file = file_of(FileKind::safetensors, parts);
  EXPECT_THAT(run({"audit", file}).out, AllOf(HasSubstr("\nt.2999  BF16"), HasSubstr("3000 tensors, 0 problems")));
  EXPECT_EQ(run({"audit", file, "--json"}).json()["tensors"].size(), 3000U);
}

TEST_F(Audit, MemoryDoesNotGrowWithTheFile) {
  // 192 MiB of zeros in one tensor; the file is a hole but for its header.
  const std::string header = R"({"w":{"dtype":"F32","shape":[192,262144],"data_offsets":[0,201326592]}})";
  std::string start(8, '\0');
  start[0] = static_cast<char>(header.size());
  const fs::path file = files().write("large", start + header);
  fs::resize_file(file, 8 + header.size() + 201326592);
  const Ran ran =
      shell(folder(),
            "python3 -c 'import resource, subprocess; subprocess.run([\"packcheck\", \"audit\", \"large\"], "
            "check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)'");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 tensor, 0 problems, 0 notes"));
  const std::size_t last = ran.out.rfind('\n', ran.out.size() - 2);
  EXPECT_LT(std::stoul(ran.out.substr(last + 1)), 96U << 10) << "KiB";
}

}  // namespace
}  // namespace packcheck::test
