// subjects/third_party/rapidjson.cc: RapidJSON, as two subjects.
//
// CMakeLists.txt compiles this source twice: `rapidjson` parses with the default flags, whose fast
// path may be off by some units in the last place, and `rapidjson-full` with kParseFullPrecisionFlag.
// Both print with the same Writer.
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <array>
#include <bit>
#include <exception>

#include "subjects/third_party/support.h"

namespace packcheck::third_party {
namespace {

constexpr bool kFullPrecision = PACKCHECK_RAPIDJSON_FULL_PRECISION;
constexpr unsigned kFlags =
    kFullPrecision ? unsigned{rapidjson::kParseFullPrecisionFlag} : unsigned{rapidjson::kParseDefaultFlags};

int print(std::uint64_t bits, char* text, std::size_t capacity, std::size_t* size, packcheck_error* error) {
  try {
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
    if (!writer.Double(std::bit_cast<double>(bits))) return refuse(error, "Writer::Double returned false");
    return give_text({buffer.GetString(), buffer.GetSize()}, text, capacity, size, error);
  } catch (const std::exception& failure) {
    return refuse(error, failure.what());
  }
}

int parse(const char* text, std::size_t size, std::uint64_t* bits, packcheck_error* error) {
  try {
    rapidjson::Document document;
    document.Parse<kFlags>(text, size);
    if (document.HasParseError()) return refuse(error, rapidjson::GetParseError_En(document.GetParseError()));
    if (!document.IsNumber()) return refuse(error, "the document is not a number");
    *bits = std::bit_cast<std::uint64_t>(document.GetDouble());
    return PACKCHECK_OK;
  } catch (const std::exception& failure) {
    return refuse(error, failure.what());
  }
}

constexpr std::array<const char*, 3> kDeclarations{"print json", "parse json non_finite=refuse", nullptr};

packcheck_subject table() {
  packcheck_subject subject{};
  subject.struct_size = sizeof subject;
  subject.name = kFullPrecision ? "rapidjson-full" : "rapidjson";
  subject.version = RAPIDJSON_VERSION_STRING;
  subject.declarations = kDeclarations.data();
  subject.print = print;
  subject.parse = parse;
  return subject;
}

}  // namespace
}  // namespace packcheck::third_party

PACKCHECK_SUBJECT_ENTRY const packcheck_subject* packcheck_subject_v1() {
  static const packcheck_subject subject = packcheck::third_party::table();
  return &subject;
}
