// subjects/third_party/jsoncpp.cc: JsonCpp as programs use it, CharReaderBuilder and StreamWriterBuilder.
//
// Only the writer's indentation is changed, so that a number stands alone. The reader's defaults stay:
// they take comments and ignore what follows the first value.
#include <json/json.h>

#include <array>
#include <bit>
#include <exception>
#include <memory>
#include <string>

#include "subjects/third_party/support.h"

namespace packcheck::third_party {
namespace {

int print(std::uint64_t bits, char* text, std::size_t capacity, std::size_t* size, packcheck_error* error) {
  try {
    Json::StreamWriterBuilder builder;
    builder["indentation"] = "";
    return give_text(Json::writeString(builder, Json::Value(std::bit_cast<double>(bits))), text, capacity, size, error);
  } catch (const std::exception& failure) {
    return refuse(error, failure.what());
  }
}

int parse(const char* text, std::size_t size, std::uint64_t* bits, packcheck_error* error) {
  try {
    const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
    Json::Value value;
    std::string problems;
    if (!reader->parse(text, text + size, &value, &problems)) return refuse(error, problems.c_str());
    if (!value.isNumeric()) return refuse(error, "the document is not a number");
    *bits = std::bit_cast<std::uint64_t>(value.asDouble());
    return PACKCHECK_OK;
  } catch (const std::exception& failure) {
    return refuse(error, failure.what());
  }
}

constexpr std::array<const char*, 3> kDeclarations{"print json", "parse json non_finite=refuse", nullptr};

packcheck_subject table() {
  packcheck_subject subject{};
  subject.struct_size = sizeof subject;
  subject.name = "jsoncpp";
  subject.version = JSONCPP_VERSION_STRING;
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
