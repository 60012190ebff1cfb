// A whole file's audit: the tensors' numbers with their positions, packed weights of every scheme, one warning for each
// thing that is wrong and none for what is right.
#include "core/audit/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Shape = std::vector<std::uint64_t>;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A file in the making.
struct Draft {
  FileKind kind = FileKind::safetensors;
  TensorFile file;
  std::vector<Bytes> data;

  Draft& add(const std::string& name, const std::string& dtype, const Shape& shape, Bytes bytes) {
    FileTensor t;
    t.name = name;
    t.dtype = dtype;
    t.shape = shape;
    file.tensors.push_back(t);
    data.push_back(std::move(bytes));
    return *this;
  }
  /// Of one byte again and again, as long as the shape says.
  Draft& fill(const std::string& name, const std::string& dtype, const Shape& shape, std::uint8_t byte = 0x3C) {
    const StoredType& type = *stored_type_named(kind, dtype);
    const std::uint64_t count = std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
    return add(name, dtype, shape, Bytes(count / type.block_elements * type.block_bits / 8, byte));
  }
};

struct Audited {
  TensorFile file;
  FileAudit audit;

  [[nodiscard]] std::vector<std::string> kinds() const {
    std::vector<std::string> names;
    for (const Warning& w : audit.warnings) names.emplace_back(w.kind->name);
    return names;
  }
  [[nodiscard]] const Warning& warning(std::string_view kind) const {
    for (const Warning& w : audit.warnings)
      if (w.kind->name == kind) return w;
    ADD_FAILURE() << "no " << kind;
    static const Warning kNone{};
    return kNone;
  }
};

std::uint64_t number(const Warning& w, std::string_view name) {
  for (const auto& [key, value] : w.numbers)
    if (key == name) return value;
  ADD_FAILURE() << "no number " << name;
  return 0;
}

Audited audited(Draft draft) {
  draft.file.kind = draft.kind;
  draft.file.version = draft.kind == FileKind::gguf ? 3 : 0;
  const std::vector<std::span<const std::uint8_t>> data(draft.data.begin(), draft.data.end());
  const Result<Bytes> bytes = write_tensor_file(draft.file, data);
  EXPECT_TRUE(bytes.has_value()) << (bytes ? "" : bytes.error().text());
  if (!bytes) return {};
  Audited a;
  const Result<TensorFile> file = read_tensor_file(*bytes);
  EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().text());
  if (!file) return a;
  a.file = *file;
  std::uint64_t given_back = 0;
  a.audit = audit_file(a.file, *bytes, [&](std::span<const std::uint8_t> part) {
    EXPECT_GE(part.data(), bytes->data());
    EXPECT_LE(part.data() + part.size(), bytes->data() + bytes->size());
    given_back += part.size();
  });
  EXPECT_LE(given_back, 3 * bytes->size());
  return a;
}

Bytes floats(const std::vector<std::uint32_t>& codes) {
  Bytes bytes(codes.size() * 4);
  for (std::size_t i = 0; i < codes.size(); ++i) store_little_endian(&bytes[4 * i], codes[i]);
  return bytes;
}

TEST(Audit, OrdinaryTensorsHaveStatisticsAndNoWarnings) {
  const Audited a = audited(Draft{}
                                .add("w", "F32", {2, 2}, floats({0x3F800000, 0xC0000000, 0, 0x3F000000}))
                                .fill("ids", "I64", {3})
                                .fill("mask", "BOOL", {5}, 1)
                                .add("none", "BF16", {0, 4}, {}));
  EXPECT_THAT(a.kinds(), IsEmpty());
  ASSERT_EQ(a.audit.tensors.size(), 4U);
  ASSERT_TRUE(a.audit.tensors[0].elements);
  EXPECT_EQ(a.audit.tensors[0].elements->elements, 4U);
  EXPECT_EQ(a.audit.tensors[0].elements->largest, 0x40000000U);
  EXPECT_EQ(a.audit.tensors[0].elements->smallest, 0x3F000000U);
  EXPECT_FALSE(a.audit.tensors[1].elements);
  EXPECT_EQ(a.audit.tensors[3].elements->elements, 0U);
}

TEST(Audit, OddNumbersAreToldWithTheRowAndTheColumnOfTheFirst) {
  std::vector<std::uint32_t> codes(21, 0x3F800000);
  codes[9] = codes[20] = 0x7FC00000;  // NaN
  codes[16] = 0xFF800000;             // -infinity
  codes[1] = 0x80000001;              // the smallest subnormal, negative
  const Audited a = audited(Draft{}.fill("first", "F16", {4}).add("w", "F32", {3, 7}, floats(codes)));
  EXPECT_THAT(a.kinds(), ElementsAre("nan", "infinity", "subnormal"));
  const Warning& nan = a.warning("nan");
  EXPECT_EQ(nan.tensor, "w");
  EXPECT_EQ(nan.what, "2 NaN of 21 numbers");
  EXPECT_EQ(nan.where, "first at element 9 (row 1, column 2)");
  EXPECT_THAT(nan.numbers, ElementsAre(std::pair<std::string_view, std::uint64_t>{"count", 2},
                                       std::pair<std::string_view, std::uint64_t>{"element", 9},
                                       std::pair<std::string_view, std::uint64_t>{"row", 1},
                                       std::pair<std::string_view, std::uint64_t>{"column", 2}));
  EXPECT_EQ(number(a.warning("infinity"), "row"), 2U);
  EXPECT_EQ(number(a.warning("subnormal"), "column"), 1U);
  EXPECT_EQ(nan.kind->severity, Severity::problem);
  EXPECT_EQ(a.warning("subnormal").kind->severity, Severity::note);
}

TEST(Audit, PositionsCountOnAcrossWindows) {
  const std::uint64_t columns = 1 << 20;
  Bytes bytes(2 * 5 * columns, 0x3C);
  const std::uint64_t at = 4 * columns + 77;  // in the second window: a window is 4 Mi elements
  store_little_endian<std::uint16_t>(&bytes[2 * at], 0x7E01);
  static_assert(kAuditWindow == 8 << 20);
  const Audited a = audited(Draft{}.add("w", "F16", {5, columns}, std::move(bytes)));
  EXPECT_EQ(a.warning("nan").where, "first at element 4194381 (row 4, column 77)");
}

TEST(Audit, BlocksAreToldByNumberAndByTheirFirstElement) {
  Draft d;
  d.kind = FileKind::gguf;
  Bytes blocks(4 * 34, 0x3C);
  store_little_endian<std::uint16_t>(&blocks[3 * 34], 0x7C00);
  blocks[34 + 5] = 0x80;
  const Audited a = audited(d.add("w", "Q8_0", {2, 64}, blocks));
  EXPECT_THAT(a.kinds(), ElementsAre("scale_infinite", "foreign_code"));
  EXPECT_EQ(a.warning("scale_infinite").where, "first in block 3 (row 1, column 32)");
  EXPECT_EQ(number(a.warning("foreign_code"), "block"), 1U);
  EXPECT_EQ(number(a.warning("foreign_code"), "element"), 32U);
}

TEST(Audit, ATypeItCannotReadIsSaidToBeSo) {
  Draft d;
  d.kind = FileKind::gguf;
  const Audited a = audited(d.fill("w", "IQ2_XXS", {256}));
  EXPECT_THAT(a.kinds(), ElementsAre("not_examined"));
}

// Packed weights.

TEST(PackedWeights, Bf16ScalesEndAtRow7680AndEveryRowBeforeIsWrong) {
  // The published case: 15360 x 3840 in 4 bits, 60 groups of 64. Only the scales are as large as there.
  const Audited a = audited(Draft{}
                                .fill("l.weight", "U32", {15360, 480})
                                .fill("l.scales", "BF16", {15360, 60}, 0x3B)
                                .fill("l.biases", "F32", {15360, 60}));
  EXPECT_THAT(a.kinds(), ElementsAre("narrow_scales", "scales_dtype", "ambiguous_group"));
  const Warning& w = a.warning("narrow_scales");
  EXPECT_EQ(w.tensor, "l.scales");
  EXPECT_EQ(number(w, "bytes"), 1'843'200U);
  EXPECT_EQ(number(w, "f32_capacity"), 460'800U);
  EXPECT_EQ(number(w, "first_row_out_of_bounds"), 7680U);
  EXPECT_EQ(number(w, "rows_silently_wrong"), 7680U);
  EXPECT_EQ(number(w, "bytes_as_f32"), 3'686'400U);
  EXPECT_THAT(w.where, HasSubstr("row 7680 is the first out of bounds"));
  EXPECT_THAT(a.warning("ambiguous_group").what, HasSubstr("(2, 128), (4, 64), (8, 32) all fit"));
  ASSERT_EQ(a.audit.packed.size(), 1U);
  EXPECT_EQ(a.audit.packed[0].choices.size(), 3U);
}

TEST(PackedWeights, Float32ScalesOfAClearShapeGiveNoWarning) {
  const Audited a =
      audited(Draft{}.fill("weight", "U32", {8, 20}).fill("scales", "F32", {8, 4}).fill("biases", "F32", {8, 4}));
  EXPECT_THAT(a.kinds(), IsEmpty());
  EXPECT_THAT(a.audit.packed[0].choices, ElementsAre(GroupChoice{5, 32, 128}));
}

TEST(PackedWeights, ShapesThatDisagreeAreProblems) {
  const auto kinds = [](const Shape& weight, const Shape& scales, const Shape& biases) {
    return audited(
               Draft{}.fill("m.weight", "U32", weight).fill("m.scales", "F32", scales).fill("m.biases", "F32", biases))
        .kinds();
  };
  EXPECT_THAT(kinds({8, 20}, {8, 4}, {8, 2}), ElementsAre("scales_shape"));
  EXPECT_THAT(kinds({8, 20}, {7, 4}, {7, 4}), ElementsAre("scales_shape"));
  EXPECT_THAT(kinds({8, 20}, {32}, {32}), ElementsAre("scales_shape"));
  EXPECT_THAT(kinds({8, 20}, {8, 7}, {8, 7}), ElementsAre("groups_do_not_divide"));
  EXPECT_THAT(kinds({8, 16}, {8, 1}, {8, 1}), ElementsAre("ambiguous_group"));
  EXPECT_THAT(kinds({8, 22}, {8, 1}, {8, 1}), ElementsAre("no_group_fits"));
}

TEST(PackedWeights, ScalesOfAnotherKindAreTold) {
  EXPECT_THAT(
      audited(Draft{}.fill("m.weight", "U32", {8, 20}).fill("m.scales", "I32", {8, 4}).fill("m.biases", "F32", {8, 4}))
          .kinds(),
      ElementsAre("scales_dtype", "scales_dtype"));
  const Audited f16 =
      audited(Draft{}.fill("m.weight", "U32", {8, 20}).fill("m.scales", "F16", {8, 4}).fill("m.biases", "F16", {8, 4}));
  EXPECT_THAT(f16.kinds(), ElementsAre("narrow_scales", "narrow_scales"));
  EXPECT_EQ(number(f16.audit.warnings[1], "first_row_out_of_bounds"), 4U) << "biases, too";
  EXPECT_THAT(audited(Draft{}.fill("m.weight", "U32", {8, 20})).kinds(), ElementsAre("companion_missing"));
  EXPECT_THAT(audited(Draft{}.fill("m.weight", "U32", {8, 20}).fill("m.scales", "F32", {8, 4})).kinds(),
              ElementsAre("companion_missing"));
  EXPECT_THAT(audited(Draft{}.fill("m.weight", "F32", {8, 20}).fill("m.scales", "BF16", {8, 4})).kinds(), IsEmpty())
      << "these weights are not packed";
}

TEST(PackedWeights, ScalesOfOneByteAreThoseOfMicroscaling) {
  const auto choices = [](std::uint64_t words) {
    const Audited a = audited(Draft{}.fill("m.weight", "U32", {4, words}).fill("m.scales", "U8", {4, 8}));
    EXPECT_THAT(a.kinds(), ElementsAre(a.audit.packed[0].choices.empty() ? "no_group_fits" : "coded_scales"));
    return a.audit.packed[0].choices;
  };
  EXPECT_THAT(choices(32), ElementsAre(GroupChoice{4, 32, 256}));
  EXPECT_THAT(choices(64), ElementsAre(GroupChoice{8, 32, 256}));
  EXPECT_THAT(choices(16), ElementsAre(GroupChoice{4, 16, 128}));
  EXPECT_THAT(choices(24), IsEmpty());
}

TEST(PackedWeights, GptqTellsItsWidthByTheZeroPoints) {
  const auto gptq = [](const Shape& zeros, bool order) {
    Draft d;
    d.fill("q.qweight", "I32", {16, 64}).fill("q.scales", "F32", {4, 64}).fill("q.qzeros", "I32", zeros);
    if (order) d.fill("q.g_idx", "I32", {128});
    return audited(d);
  };
  const Audited four = gptq({4, 8}, true);
  EXPECT_THAT(four.kinds(), IsEmpty());
  EXPECT_THAT(four.audit.packed[0].choices, ElementsAre(GroupChoice{4, 32, 128}));
  EXPECT_THAT(gptq({4, 16}, false).audit.packed[0].choices, ElementsAre(GroupChoice{8, 16, 64}));
  EXPECT_THAT(gptq({3, 8}, false).kinds(), ElementsAre("scales_shape"));
  EXPECT_THAT(gptq({4, 7}, false).kinds(), ElementsAre("scales_shape"));
  EXPECT_THAT(audited(Draft{}.fill("q.qweight", "I32", {16, 64}).fill("q.scales", "F32", {4, 60})).kinds(),
              ElementsAre("companion_missing", "scales_shape"));
  EXPECT_THAT(
      audited(
          Draft{}.fill("q.qweight", "I32", {16, 32}).fill("q.scales", "F32", {4, 64}).fill("q.qzeros", "I32", {4, 8}))
          .kinds(),
      ElementsAre("scales_shape"))
      << "half the outputs: neither as many as the scales, nor the eighth part of AWQ";
  EXPECT_THAT(
      audited(
          Draft{}.fill("q.qweight", "I32", {16, 64}).fill("q.scales", "F16", {3, 64}).fill("q.qzeros", "I32", {3, 8}))
          .kinds(),
      ElementsAre("narrow_scales", "groups_do_not_divide"));
  EXPECT_THAT(audited(Draft{}.fill("q.qweight", "I32", {16, 64}).fill("q.scales", "F32", {2, 64})).kinds(),
              ElementsAre("companion_missing", "ambiguous_group"))
      << "without zero points the width is unknown";
}

TEST(PackedWeights, AwqIsPackedAlongTheOutputs) {
  const Audited a = audited(
      Draft{}.fill("q.qweight", "I32", {128, 8}).fill("q.scales", "F16", {2, 64}).fill("q.qzeros", "I32", {2, 8}));
  EXPECT_THAT(a.kinds(), ElementsAre("narrow_scales"));
  EXPECT_EQ(a.audit.packed[0].scheme, PackingScheme::awq);
  EXPECT_THAT(a.audit.packed[0].choices, ElementsAre(GroupChoice{4, 64, 128}));
}

TEST(PackedWeights, CompressedTensorsTellTheirShape) {
  const auto packed = [](std::uint64_t in, std::uint64_t words, std::uint64_t groups) {
    Bytes shape(16);
    store_little_endian<std::uint64_t>(&shape[0], 4);
    store_little_endian<std::uint64_t>(&shape[8], in);
    return audited(Draft{}
                       .fill("c.weight_packed", "I32", {4, words})
                       .fill("c.weight_scale", "F32", {4, groups})
                       .add("c.weight_shape", "I64", {2}, shape));
  };
  EXPECT_THAT(packed(256, 32, 2).kinds(), IsEmpty());
  EXPECT_THAT(packed(256, 32, 2).audit.packed[0].choices, ElementsAre(GroupChoice{4, 128, 256}));
  EXPECT_THAT(packed(256, 64, 2).audit.packed[0].choices, ElementsAre(GroupChoice{8, 128, 256}));
  EXPECT_THAT(packed(256, 32, 1).audit.packed[0].choices, ElementsAre(GroupChoice{4, 256, 256})) << "one per channel";
  EXPECT_THAT(packed(256, 32, 3).kinds(), ElementsAre("groups_do_not_divide"));
  EXPECT_THAT(packed(256, 33, 2).kinds(), ElementsAre("no_group_fits"));
  EXPECT_THAT(audited(Draft{}.fill("c.weight_packed", "I32", {4, 32})).kinds(), ElementsAre("companion_missing"));
  // A shape that is no pair of 64-bit numbers is not read: what is known is what the tensors' own shapes tell.
  const auto with_shape = [](const std::string& dtype, const Shape& shape) {
    return audited(Draft{}
                       .fill("c.weight_packed", "I32", {4, 32})
                       .fill("c.weight_scale", "F32", {4, 2})
                       .fill("c.weight_shape", dtype, shape, 1));
  };
  EXPECT_THAT(with_shape("I64", {2}).kinds(), ElementsAre("scales_shape")) << "it says 2^56 and more rows";
  for (const Audited& a : {with_shape("I32", {4}), with_shape("I64", {1}), with_shape("I64", {3})})
    EXPECT_THAT(a.kinds(), ElementsAre("ambiguous_group"));
}

TEST(PackedWeights, ScalarsAndEmptyTensorsOfTheseNamesAreHarmless) {
  EXPECT_THAT(audited(Draft{}.fill("weight", "U32", {}).fill("scales", "F32", {}).fill("biases", "F32", {})).kinds(),
              ElementsAre("scales_shape"));
  EXPECT_THAT(audited(Draft{}.fill("weight", "U32", {0, 4}).fill("scales", "BF16", {0, 1})).kinds(), IsEmpty());
  EXPECT_THAT(
      audited(Draft{}.fill("weight", "U32", {2, 4}).fill("scales", "BF16", {2, 0}).fill("biases", "BF16", {2, 0}))
          .kinds(),
      ElementsAre("scales_shape"));
  EXPECT_THAT(
      audited(Draft{}.fill("qweight", "I32", {4, 8}).fill("scales", "F16", {0, 8}).fill("qzeros", "I32", {0, 1}))
          .kinds(),
      ElementsAre("groups_do_not_divide"));
}

TEST(WarningKinds, HaveNamesOfTheirOwnAndAMeaning) {
  for (const WarningKind& kind : warning_kinds()) {
    EXPECT_EQ(warning_kind_named(kind.name), &kind);
    EXPECT_FALSE(kind.meaning.empty());
  }
  EXPECT_EQ(warning_kind_named("nothing"), nullptr);
}

}  // namespace
}  // namespace packcheck::test
