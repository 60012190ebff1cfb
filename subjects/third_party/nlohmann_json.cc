// subjects/third_party/nlohmann_json.cc: nlohmann::json as programs use it, dump() and parse() through
// its DOM.
//
// What it does is left as it is: the DOM reads "-0" as the integer 0, and dump() writes a NaN as
// null instead of refusing.
#include <array>
#include <bit>
#include <exception>
#include <nlohmann/json.hpp>

#include "subjects/third_party/support.h"

namespace packcheck::third_party {
namespace {

int print(std::uint64_t bits, char* text, std::size_t capacity, std::size_t* size, packcheck_error* error) {
  try {
    return give_text(nlohmann::json(std::bit_cast<double>(bits)).dump(), text, capacity, size, error);
  } catch (const std::exception& failure) {
    return refuse(error, failure.what());
  }
}

int parse(const char* text, std::size_t size, std::uint64_t* bits, packcheck_error* error) {
  try {
    *bits = std::bit_cast<std::uint64_t>(nlohmann::json::parse(text, text + size).get<double>());
    return PACKCHECK_OK;
  } catch (const std::exception& failure) {
    return refuse(error, failure.what());
  }
}

constexpr std::array<const char*, 3> kDeclarations{"print json", "parse json non_finite=refuse", nullptr};

#define PACKCHECK_TEXT_OF(number) #number
#define PACKCHECK_VERSION_TEXT(major, minor, patch) \
  PACKCHECK_TEXT_OF(major) "." PACKCHECK_TEXT_OF(minor) "." PACKCHECK_TEXT_OF(patch)

packcheck_subject table() {
  packcheck_subject subject{};
  subject.struct_size = sizeof subject;
  subject.name = "nlohmann_json";
  subject.version =
      PACKCHECK_VERSION_TEXT(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
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
