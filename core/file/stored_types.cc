// The types that tensor files name. Sources: safetensors/src/tensor.rs (Dtype); ggml.h (enum ggml_type) and
// ggml-common.h (block sizes). Numbers of GGUF types that were withdrawn keep their names, for messages.
#include <array>

#include "core/file/tensor_file.h"

namespace packcheck {
namespace {

// Elements narrower than a byte are packed, so that no dense array of Format describes them.
constexpr std::array<StoredType, 22> kSafetensors{{
    {"BOOL", 0, 1, 8, "", ""},
    {"F4", 0, 1, 4, "", ""},
    {"F6_E2M3", 0, 1, 6, "", ""},
    {"F6_E3M2", 0, 1, 6, "", ""},
    {"U8", 0, 1, 8, "", ""},
    {"I8", 0, 1, 8, "i8", ""},
    {"F8_E5M2", 0, 1, 8, "e5m2", ""},
    {"F8_E4M3", 0, 1, 8, "e4m3fn", ""},
    {"F8_E8M0", 0, 1, 8, "e8m0", ""},
    {"F8_E4M3FNUZ", 0, 1, 8, "e4m3fnuz", ""},
    {"F8_E5M2FNUZ", 0, 1, 8, "e5m2fnuz", ""},
    {"I16", 0, 1, 16, "", ""},
    {"U16", 0, 1, 16, "", ""},
    {"F16", 0, 1, 16, "f16", ""},
    {"BF16", 0, 1, 16, "bf16", ""},
    {"I32", 0, 1, 32, "i32", ""},
    {"U32", 0, 1, 32, "", ""},
    {"F32", 0, 1, 32, "f32", ""},
    {"C64", 0, 1, 64, "", ""},
    {"F64", 0, 1, 64, "f64", ""},
    {"I64", 0, 1, 64, "", ""},
    {"U64", 0, 1, 64, "", ""},
}};

constexpr std::array<StoredType, 43> kGguf{{
    {"F32", 0, 1, 32, "f32", ""},
    {"F16", 1, 1, 16, "f16", ""},
    {"Q4_0", 2, 32, 18 * 8, "", "q4_0:ggml"},
    {"Q4_1", 3, 32, 20 * 8, "", "q4_1:ggml"},
    {"Q4_2", 4, 0, 0, "", ""},
    {"Q4_3", 5, 0, 0, "", ""},
    {"Q5_0", 6, 32, 22 * 8, "", "q5_0:ggml"},
    {"Q5_1", 7, 32, 24 * 8, "", "q5_1:ggml"},
    {"Q8_0", 8, 32, 34 * 8, "", "q8_0:ggml"},
    {"Q8_1", 9, 32, 36 * 8, "", "q8_1:ggml"},
    {"Q2_K", 10, 256, 84 * 8, "", "q2_K:ggml"},
    {"Q3_K", 11, 256, 110 * 8, "", "q3_K:ggml"},
    {"Q4_K", 12, 256, 144 * 8, "", "q4_K:ggml"},
    {"Q5_K", 13, 256, 176 * 8, "", "q5_K:ggml"},
    {"Q6_K", 14, 256, 210 * 8, "", "q6_K:ggml"},
    {"Q8_K", 15, 256, 292 * 8, "", "q8_K:ggml"},
    {"IQ2_XXS", 16, 256, 66 * 8, "", ""},
    {"IQ2_XS", 17, 256, 74 * 8, "", ""},
    {"IQ3_XXS", 18, 256, 98 * 8, "", ""},
    {"IQ1_S", 19, 256, 50 * 8, "", ""},
    {"IQ4_NL", 20, 32, 18 * 8, "", "iq4_nl:ggml"},
    {"IQ3_S", 21, 256, 110 * 8, "", ""},
    {"IQ2_S", 22, 256, 82 * 8, "", ""},
    {"IQ4_XS", 23, 256, 136 * 8, "", "iq4_xs:ggml"},
    {"I8", 24, 1, 8, "i8", ""},
    {"I16", 25, 1, 16, "", ""},
    {"I32", 26, 1, 32, "i32", ""},
    {"I64", 27, 1, 64, "", ""},
    {"F64", 28, 1, 64, "f64", ""},
    {"IQ1_M", 29, 256, 56 * 8, "", ""},
    {"BF16", 30, 1, 16, "bf16", ""},
    {"Q4_0_4_4", 31, 0, 0, "", ""},
    {"Q4_0_4_8", 32, 0, 0, "", ""},
    {"Q4_0_8_8", 33, 0, 0, "", ""},
    {"TQ1_0", 34, 256, 54 * 8, "", "tq1_0:ggml"},
    {"TQ2_0", 35, 256, 66 * 8, "", "tq2_0:ggml"},
    {"IQ4_NL_4_4", 36, 0, 0, "", ""},
    {"IQ4_NL_4_8", 37, 0, 0, "", ""},
    {"IQ4_NL_8_8", 38, 0, 0, "", ""},
    {"MXFP4", 39, 32, 17 * 8, "", "mxfp4:ggml"},
    {"NVFP4", 40, 64, 36 * 8, "", "nvfp4:ggml"},
    {"Q1_0", 41, 128, 18 * 8, "", "q1_0:ggml"},
    {"Q2_0", 42, 64, 18 * 8, "", "q2_0:ggml"},
}};

constexpr std::array<std::string_view, kValueTypes> kValueNames{"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                                "bool", "string", "array", "u64", "i64", "f64"};
constexpr std::array<std::size_t, kValueTypes> kValueBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

}  // namespace

std::span<const StoredType> stored_types(FileKind kind) {
  if (kind == FileKind::gguf) return kGguf;
  return kSafetensors;
}

const StoredType* stored_type_named(FileKind kind, std::string_view name) {
  for (const StoredType& type : stored_types(kind))
    if (type.name == name) return &type;
  return nullptr;
}

const StoredType* gguf_type_numbered(std::uint32_t number) { return number < kGguf.size() ? &kGguf[number] : nullptr; }

std::string_view file_kind_name(FileKind kind) { return kind == FileKind::gguf ? "gguf" : "safetensors"; }

std::string_view value_type_name(ValueType type) { return kValueNames[static_cast<std::size_t>(type)]; }

std::optional<ValueType> value_type_named(std::string_view name) {
  for (std::size_t i = 0; i < kValueTypes; ++i)
    if (kValueNames[i] == name) return static_cast<ValueType>(i);
  return std::nullopt;
}

std::size_t value_type_bytes(ValueType type) { return kValueBytes[static_cast<std::size_t>(type)]; }

}  // namespace packcheck
