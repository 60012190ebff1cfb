// subjects/third_party/jansson.cc: jansson as programs use it, json_loadb() and json_dumps().
//
// JSON_DECODE_ANY and JSON_ENCODE_ANY let a document be a bare number; nothing else is changed. Reals
// are printed with the default precision of 17 digits.
#include <jansson.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <memory>

#include "subjects/third_party/support.h"

namespace packcheck::third_party {
namespace {

struct Release {
  void operator()(json_t* value) const { json_decref(value); }
  void operator()(char* text) const { std::free(text); }  // as jansson allocates by default
};

int print(std::uint64_t bits, char* text, std::size_t capacity, std::size_t* size, packcheck_error* error) {
  const std::unique_ptr<json_t, Release> value(json_real(std::bit_cast<double>(bits)));
  if (value == nullptr) return refuse(error, "json_real returned NULL");
  const std::unique_ptr<char, Release> dumped(json_dumps(value.get(), JSON_ENCODE_ANY));
  if (dumped == nullptr) return refuse(error, "json_dumps returned NULL");
  return give_text(dumped.get(), text, capacity, size, error);
}

int parse(const char* text, std::size_t size, std::uint64_t* bits, packcheck_error* error) {
  json_error_t problem{};
  const std::unique_ptr<json_t, Release> value(json_loadb(text, size, JSON_DECODE_ANY, &problem));
  if (value == nullptr) return refuse(error, problem.text);
  if (!json_is_number(value.get())) return refuse(error, "the document is not a number");
  *bits = std::bit_cast<std::uint64_t>(json_number_value(value.get()));
  return PACKCHECK_OK;
}

constexpr std::array<const char*, 3> kDeclarations{"print json", "parse json non_finite=refuse", nullptr};

packcheck_subject table() {
  packcheck_subject subject{};
  subject.struct_size = sizeof subject;
  subject.name = "jansson";
  subject.version = JANSSON_VERSION;
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
