// subjects/third_party/simdjson.cc: simdjson's DOM parser, which reads a number as get_double() gives it.
//
// It has no writer for a number that was not parsed from text before, so that it only parses.
#include <simdjson.h>

#include <array>
#include <bit>

#include "subjects/third_party/support.h"

namespace packcheck::third_party {
namespace {

int parse(const char* text, std::size_t size, std::uint64_t* bits, packcheck_error* error) {
  simdjson::dom::parser parser;
  double value = 0;
  const simdjson::error_code problem = parser.parse(text, size).get_double().get(value);
  if (problem != simdjson::SUCCESS) return refuse(error, simdjson::error_message(problem));
  *bits = std::bit_cast<std::uint64_t>(value);
  return PACKCHECK_OK;
}

#define PACKCHECK_TEXT_OF(token) #token
#define PACKCHECK_TEXT_OF_MACRO(macro) PACKCHECK_TEXT_OF(macro)

constexpr std::array<const char*, 2> kDeclarations{"parse json non_finite=refuse", nullptr};

packcheck_subject table() {
  packcheck_subject subject{};
  subject.struct_size = sizeof subject;
  subject.name = "simdjson";
  subject.version = PACKCHECK_TEXT_OF_MACRO(SIMDJSON_VERSION);
  subject.declarations = kDeclarations.data();
  subject.parse = parse;
  return subject;
}

}  // namespace
}  // namespace packcheck::third_party

PACKCHECK_SUBJECT_ENTRY const packcheck_subject* packcheck_subject_v1() {
  static const packcheck_subject subject = packcheck::third_party::table();
  return &subject;
}
