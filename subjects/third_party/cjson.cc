// subjects/third_party/cjson.cc: cJSON as programs use it, cJSON_ParseWithLength() and cJSON_PrintUnformatted().
//
// What it does is left as it is: the parser stops behind the first value and never looks at what
// follows, and the printer writes 15 digits where those come near enough, and null for a NaN.
#include <cjson/cJSON.h>

#include <array>
#include <bit>
#include <memory>

#include "subjects/third_party/support.h"

namespace packcheck::third_party {
namespace {

struct Release {
  void operator()(cJSON* value) const { cJSON_Delete(value); }
  void operator()(char* text) const { cJSON_free(text); }
};

int print(std::uint64_t bits, char* text, std::size_t capacity, std::size_t* size, packcheck_error* error) {
  const std::unique_ptr<cJSON, Release> value(cJSON_CreateNumber(std::bit_cast<double>(bits)));
  const std::unique_ptr<char, Release> printed(cJSON_PrintUnformatted(value.get()));
  if (printed == nullptr) return refuse(error, "cJSON_PrintUnformatted returned NULL");
  return give_text(printed.get(), text, capacity, size, error);
}

int parse(const char* text, std::size_t size, std::uint64_t* bits, packcheck_error* error) {
  const std::unique_ptr<cJSON, Release> value(cJSON_ParseWithLength(text, size));
  if (value == nullptr) return refuse(error, "cJSON_ParseWithLength returned NULL");
  if (cJSON_IsNumber(value.get()) == 0) return refuse(error, "the document is not a number");
  *bits = std::bit_cast<std::uint64_t>(cJSON_GetNumberValue(value.get()));
  return PACKCHECK_OK;
}

constexpr std::array<const char*, 3> kDeclarations{"print json", "parse json non_finite=refuse", nullptr};

packcheck_subject table() {
  packcheck_subject subject{};
  subject.struct_size = sizeof subject;
  subject.name = "cjson";
  subject.version = cJSON_Version();
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
