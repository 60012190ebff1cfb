// Known answers of statistics and audits of tensor files (known_answers.h).
#include <array>
#include <vector>

#include "core/audit/audit.h"
#include "tests/core/known_answers.h"
#include "tests/core/packed_samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

void add(Digest& digest, const Occurrences& o) {
  digest.add(o.count);
  digest.add(o.first);
}

void add(Digest& digest, const ElementStatistics& s) {
  digest.add(s.elements);
  for (const Occurrences& o : {s.nan, s.infinite, s.subnormal}) add(digest, o);
  digest.add(s.largest);
  digest.add(s.smallest);
}

void add(Digest& digest, const BlockStatistics& s) {
  digest.add(s.blocks);
  for (const Occurrences& o :
       {s.scale_nan, s.scale_infinite, s.scale_subnormal, s.scale_zero, s.zero_blocks, s.lost_blocks, s.foreign_codes})
    add(digest, o);
  digest.add(s.largest_scale);
  digest.add(s.smallest_scale);
}

/// Bytes at random of which many are 0, all bits, or alike.
Bytes edgy_bytes(Random& random, std::size_t size) {
  Bytes bytes(size);
  static constexpr std::array<std::uint8_t, 8> kBytes{0x00, 0xFF, 0x80, 0x7F, 0x7C, 0x3C, 0x88, 0x55};
  const std::uint64_t kind = random.below(4);
  const std::uint8_t one = kBytes[random.below(8)];
  for (std::uint8_t& byte : bytes) {
    const auto any = static_cast<std::uint8_t>(random.bits());
    byte = kind == 0 ? any : kind == 1 ? one : any < 64 ? any : kBytes[any % 8];
  }
  return bytes;
}

TEST(KnownAnswers, OfStatisticsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x8F516CCEB609BF2C},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    Random random(31);
    for (const FormatSpec& format : all_formats()) {
      if (!has_element_statistics(format.format)) continue;
      ElementStatistics whole;
      for (std::size_t n = 0; n < 40; ++n) {
        const Bytes bytes = edgy_bytes(random, n * format.bytes());
        ElementStatistics own;
        add_elements(format.format, bytes, own);
        add_elements(format.format, bytes, whole);
        add(digest, own);
        add(digest, whole);
      }
    }
    // One byte that differs, at every place, between blocks that have nothing to tell.
    for (const Encoding& encoding : all_encodings()) {
      if (!has_block_statistics(encoding) || !encoding.quantizes || encoding.block_size > 256) continue;
      std::vector<float> values(3 * encoding.block_size);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
      Bytes blocks(3 * encoding.block_bytes);
      if (const auto done = quantize(encoding, values, blocks); !done) digest.add(done.error());
      for (std::size_t at = 0; at < encoding.block_bytes; ++at)
        for (const unsigned byte : {0x00U, 0x03U, 0x0DU, 0x80U, 0x8AU, 0xC0U, 0xC5U, 0xFFU}) {
          Bytes edited = blocks;
          edited[encoding.block_bytes + at] = static_cast<std::uint8_t>(byte);
          BlockStatistics own;
          add_blocks(encoding, edited, own);
          add(digest, own);
        }
    }
    for (const Encoding& encoding : all_encodings()) {
      if (!has_block_statistics(encoding)) continue;
      digest.add(spec(scale_format_of(encoding)).name);
      BlockStatistics whole;
      for (std::size_t n = 0; n < 24; ++n) {
        const std::size_t blocks = encoding.blocking == Blocking::tensor ? 1 : n % 12;
        Bytes bytes = edgy_bytes(random, blocks * encoding.block_bytes);
        if (n % 3 == 1)  // ordinary scales and codes that are alike
          for (std::size_t b = 0; b < blocks; ++b)
            for (const ScaleField& field : encoding.scales)
              if (field.offset + 2 <= encoding.block_bytes) {
                const std::size_t at = b * encoding.block_bytes + field.offset;
                bytes[at] = static_cast<std::uint8_t>(b % 3 == 0 ? 0 : 1);
                bytes[at + 1] = static_cast<std::uint8_t>(b % 4 == 0   ? 0
                                                          : b % 4 == 1 ? 0x3C
                                                          : b % 4 == 2 ? 0x80
                                                                       : 0x02);
              }
        BlockStatistics own;
        add_blocks(encoding, bytes, own);
        add_blocks(encoding, bytes, whole);
        add(digest, own);
        add(digest, whole);
      }
    }
  });
}

struct Draft {
  TensorFile file;
  std::vector<Bytes> data;

  void add(std::string_view name, std::string_view dtype, const std::vector<std::uint64_t>& shape, Random& random) {
    FileTensor t;
    t.name = name;
    t.dtype = dtype;
    t.shape = shape;
    const StoredType& type = *stored_type_named(file.kind, dtype);
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    data.push_back(edgy_bytes(random, count / type.block_elements * type.block_bits / 8));
    file.tensors.push_back(std::move(t));
  }
};

void add_audit(Digest& digest, Draft draft) {
  draft.file.version = draft.file.kind == FileKind::gguf ? 3 : 0;
  const std::vector<std::span<const std::uint8_t>> data(draft.data.begin(), draft.data.end());
  const Result<Bytes> bytes = write_tensor_file(draft.file, data);
  if (!bytes) return digest.add(bytes.error());
  const TensorFile file = read_tensor_file(*bytes).value();
  std::uint64_t parts = 0;
  const FileAudit audit = audit_file(file, *bytes, [&](std::span<const std::uint8_t> part) {
    parts = parts * 31 + part.size() * 7 + static_cast<std::uint64_t>(part.data() - bytes->data());
  });
  digest.add(parts);
  for (const TensorAudit& t : audit.tensors) {
    if (t.elements) add(digest, *t.elements);
    if (t.blocks) add(digest, *t.blocks);
  }
  for (const PackedWeight& p : audit.packed) {
    digest.add(packing_scheme_name(p.scheme));
    digest.add(p.name);
    digest.add(p.scales);
    digest.add(p.scale_rows);
    digest.add(p.scale_columns);
    for (const GroupChoice& choice : p.choices) {
      digest.add(std::uint64_t{choice.bits});
      digest.add(std::uint64_t{choice.group});
      digest.add(choice.in_features);
    }
  }
  for (const Warning& w : audit.warnings) {
    digest.add(w.kind->name);
    digest.add(severity_name(w.kind->severity));
    digest.add(w.tensor);
    digest.add(w.what);
    digest.add(w.where);
    digest.add(w.right);
    for (const auto& [name, number] : w.numbers) {
      digest.add(name);
      digest.add(number);
    }
  }
}

TEST(KnownAnswers, OfAuditsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x186F65A13CA54DDB},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    Random random(32);
    using Shape = std::vector<std::uint64_t>;
    for (const std::string_view scales : {"BF16", "F16", "F32", "U8"})
      for (const std::uint64_t words : {4U, 8U, 16U, 12U, 5U})
        for (const std::uint64_t columns : {1U, 2U, 3U, 4U, 8U})
          for (const std::uint64_t rows : {1U, 4U}) {
            Draft mlx;
            mlx.add("a.weight", "U32", {4, words}, random);
            mlx.add("a.scales", scales, {rows == 1 ? 5 : rows, columns}, random);
            if (scales != "U8") mlx.add("a.biases", rows == 1 ? "BF16" : scales, {rows, columns}, random);
            add_audit(digest, mlx);
            Draft gptq;
            gptq.add("b.qweight", "I32", {words, 8}, random);
            gptq.add("b.scales", scales == "U8" ? "F16" : scales, {columns, rows * 2}, random);
            gptq.add("b.qzeros", "I32", {columns, rows == 4 ? 1U : 2U}, random);
            if (rows == 4) gptq.add("b.g_idx", "I32", {words * 8}, random);
            add_audit(digest, gptq);
            Draft awq;
            awq.add("c.qweight", "I32", {words * 8, columns}, random);
            awq.add("c.scales", scales == "U8" ? "F16" : scales, {rows, columns * 8}, random);
            awq.add("c.qzeros", "I32", {rows, columns}, random);
            add_audit(digest, awq);
            Draft packed;
            packed.add("d.weight_packed", "I32", {4, words}, random);
            packed.add("d.weight_scale", scales == "U8" ? "F32" : scales, {4, columns}, random);
            packed.add("d.weight_shape", "I64", {2}, random);
            Bytes shape = packed.data.back();
            std::fill(shape.begin(), shape.end(), std::uint8_t{0});
            shape[0] = 4;
            shape[8] = static_cast<std::uint8_t>(words * 8);
            if (columns != 8) packed.data.back() = shape;
            add_audit(digest, packed);
          }
    // Zero points of any width, or none, for few outputs, or none.
    for (const std::uint64_t out : {0U, 1U, 8U, 32U})
      for (const std::uint64_t zeros : {0U, 1U, 2U, 3U, 9U})
        for (const std::uint64_t words : {4U, 16U}) {
          Draft gptq;
          gptq.add("e.qweight", "I32", {words, out}, random);
          gptq.add("e.scales", "F16", {2, out}, random);
          if (zeros != 9) gptq.add("e.qzeros", "I32", {2, zeros}, random);
          add_audit(digest, gptq);
        }
    for (const std::string_view dtype : {"F32", "F16", "BF16", "F64", "F8_E4M3", "F8_E5M2", "I8", "U8", "BOOL"})
      for (const Shape& shape : {Shape{}, {1}, {7}, {2, 33}, {3, 2, 5}, {0, 4}}) {
        Draft dense;
        dense.add("w", dtype, shape, random);
        dense.add("v", dtype, shape, random);
        add_audit(digest, dense);
      }
    for (const StoredType& type : stored_types(FileKind::gguf))
      if (type.block_elements != 0)
        for (int i = 0; i < 4; ++i) {
          Draft blocks;
          blocks.file.kind = FileKind::gguf;
          blocks.add("w", type.name, {3, std::uint64_t{type.block_elements} * 2}, random);
          blocks.add("token_embd.weight", type.name, {std::uint64_t{type.block_elements}}, random);
          add_audit(digest, blocks);
        }
  });
}

}  // namespace
}  // namespace packcheck::test
