// subjects/third_party/eigen.cc: Eigen::half and Eigen::bfloat16, through their public constructors
// and conversion operators.
//
// The constructors from double go through float, so that f64->f16 and f64->bf16 round twice. They
// are declared as what the library offers: a conversion to nearest even.
#include <Eigen/Core>
#include <array>

#include "subjects/third_party/support.h"

namespace packcheck::third_party {
namespace {

template <class From, class To>
void run(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  for_each_element<From, To>(in, out, count, [](const From& value) { return To(value); });
}

constexpr std::array<Conversion, 6> kConversions{{
    {"f32", "f16", 4, 2, run<float, Eigen::half>},
    {"f16", "f32", 2, 4, run<Eigen::half, float>},
    {"f32", "bf16", 4, 2, run<float, Eigen::bfloat16>},
    {"bf16", "f32", 2, 4, run<Eigen::bfloat16, float>},
    {"f64", "f16", 8, 2, run<double, Eigen::half>},
    {"f64", "bf16", 8, 2, run<double, Eigen::bfloat16>},
}};

int convert(const char* from, const char* to, const char* mode, const std::uint8_t* in, std::size_t in_size,
            std::uint8_t* out, std::size_t out_size, std::size_t count, packcheck_error* error) {
  return convert_with(kConversions, from, to, mode, {in, in_size}, {out, out_size}, count, error);
}

int repack(const char* from, const char* to, const std::uint8_t* in, std::size_t in_size, std::uint8_t* out,
           std::size_t out_size, packcheck_error* error) {
  return repack_with(kConversions, from, to, {in, in_size}, {out, out_size}, error);
}

constexpr std::array<const char*, 9> kDeclarations{
    "convert f32->f16 nan=any",  "convert f16->f32 nan=any", "convert f32->bf16 nan=any",
    "convert bf16->f32 nan=any", "convert f64->f16 nan=any", "convert f64->bf16 nan=any",
    "repack f16->f32 nan=any",   "repack bf16->f32 nan=any", nullptr};

#define PACKCHECK_TEXT_OF(number) #number
#define PACKCHECK_VERSION_TEXT(world, major, minor) \
  PACKCHECK_TEXT_OF(world) "." PACKCHECK_TEXT_OF(major) "." PACKCHECK_TEXT_OF(minor)

packcheck_subject table() {
  packcheck_subject subject{};
  subject.struct_size = sizeof subject;
  subject.name = "eigen";
  subject.version = PACKCHECK_VERSION_TEXT(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  subject.declarations = kDeclarations.data();
  subject.convert = convert;
  subject.repack = repack;
  return subject;
}

}  // namespace
}  // namespace packcheck::third_party

PACKCHECK_SUBJECT_ENTRY const packcheck_subject* packcheck_subject_v1() {
  static const packcheck_subject subject = packcheck::third_party::table();
  return &subject;
}
