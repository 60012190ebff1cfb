// subjects/third_party/names.h: the third-party implementations that packcheck brings along.
//
// `verify --subject NAME` finds subjects/NAME.so beside the command, or, once installed, in
// lib/packcheck/subjects. Each is a library of its own, written against packcheck/subject.h alone
// and judged in a worker process like any user's library; or, with a command, a program that speaks
// subjects/PROTOCOL.md. Two things can keep one from being there: what it wraps was missing when
// packcheck was built (then there is no NAME.so), or what it wraps is missing now (then
// packcheck_subject_v1() returns NULL, or there is no such command). Both mean "absent", which is no
// finding.
//
// Add one: a source here, a line in CMakeLists.txt and a row below; or a program in subjects/adapters/
// and a row. tests/third_party/ proves the tables and some known answers, tests/cli/programs_test.cc the
// programs.
#pragma once

#include <array>
#include <string_view>

namespace packcheck {

struct ThirdPartySubject {
  std::string_view name;     ///< as after --subject, in reports and in expected lists
  std::string_view summary;  ///< one line for people
  /// Of a program: what a shell runs, `{adapters}` for the folder subjects/adapters and `{built}` for the folder of
  /// what was compiled. Empty for a library.
  std::string_view command = {};
};

inline constexpr std::array<ThirdPartySubject, 20> kThirdPartySubjects{{
    {"f16c", "this processor's own conversions between f32 and f16 (subjects/hardware)"},
    {"eigen", "Eigen::half and Eigen::bfloat16"},
    {"nlohmann_json", "nlohmann::json, dump and parse through its DOM"},
    {"rapidjson", "RapidJSON with its default flags"},
    {"rapidjson-full", "RapidJSON with kParseFullPrecisionFlag"},
    {"simdjson", "simdjson, its DOM parser"},
    {"jansson", "jansson, json_loadb and json_dumps"},
    {"jsoncpp", "JsonCpp with its default reader and writer"},
    {"cjson", "cJSON, ParseWithLength and PrintUnformatted"},
    {"java", "Java's Double.toString and Double.parseDouble",
     "java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC {adapters}/java/JavaSubject.java"},
    {"node", "JavaScript's JSON.stringify and JSON.parse in Node", "node {adapters}/javascript/node_subject.js"},
    {"python", "Python's repr and float", "python3 -B {adapters}/python/python_subject.py"},
    {"python-json", "Python's json.dumps and json.loads", "python3 -B {adapters}/python/json_subject.py"},
    {"rust-std", "Rust's {:?} and str::parse", "{built}/rust-std"},
    {"half", "Rust's crate half, f16 and bf16", "{built}/half"},
    {"serde_json", "Rust's serde_json with its default features", "{built}/serde_json"},
    {"serde_json-roundtrip", "Rust's serde_json with float_roundtrip", "{built}/serde_json-roundtrip"},
    {"ggml-base", "ggml's portable row functions (libggml-base.so)"},
    {"ggml-cpu-x64", "ggml's CPU library for any x86-64 processor"},
    {"ggml-cpu-best", "the best of ggml's CPU libraries that this processor can run"},
}};

}  // namespace packcheck
