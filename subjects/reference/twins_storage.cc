// Faulty twins of stored tensors.
#include "subjects/reference/twin_families.h"

namespace packcheck {
namespace {

constexpr std::string_view kKeepsEveryValue = "storage.repack_to_keeps_every_value";
constexpr std::string_view kAgrees = "storage.requantize_to_agrees_with_the_declared_dialect";

}  // namespace

std::vector<Twin> storage_twins() {
  return {
      {"repack_rounds", "repacks through bf16, so that an f16 value loses three bits",
       "storage.repack_keeps_every_value", [](ReferenceRules& r) { r.repack = RepackPath::through_bf16; }},
      {"view_offset_ignored", "copies a view from the start of its buffer (SKaiNET's copyMaterialize)",
       kKeepsEveryValue, [](ReferenceRules& r) { r.storage.offset = ViewOffset::ignored; }},
      {"view_offset_twice", "applies a view's offset to the copy that had it applied already", kKeepsEveryValue,
       [](ReferenceRules& r) { r.storage.offset = ViewOffset::twice; }},
      {"view_strides_ignored", "copies a strided view as if it had no strides (SKaiNET's copyMaterialize)",
       kKeepsEveryValue, [](ReferenceRules& r) { r.storage.strides = ViewStrides::ignored; }},
      {"dtype_kept", "keeps the dtype of the source, so that f32 bytes are said to be f16 (SKEEP-008's logicalType)",
       kKeepsEveryValue, [](ReferenceRules& r) { r.storage.tag = DtypeTag::kept; }},
      {"f16_read_as_bf16", "takes every two-byte element for a bf16, as an encoding Dense(2) cannot tell them apart",
       kKeepsEveryValue, [](ReferenceRules& r) { r.storage.half = HalfReading::as_bf16; }},
      {"stored_trits_read_sequentially",
       "decodes tq1_0 and tq2_0 rightly as blocks, but by a second, sequential decoder as stored tensors (SKaiNET's "
       "DequantOps)",
       kKeepsEveryValue, [](ReferenceRules& r) { r.storage.reading = CodeReading::sequential; }},
      {"refused_after_reading", "reads the buffer before it checks what is asked for",
       "storage.repack_to_refuses_before_reading",
       [](ReferenceRules& r) { r.storage.read = ReadTime::before_the_checks; }},
      {"equal_encoding_encoded_again", "decodes and encodes a tensor that has the encoding already", kAgrees,
       [](ReferenceRules& r) { r.storage.equal = EqualEncoding::encoded_again; }},
      {"blocks_by_last_dimension", "wants whole blocks in the last dimension where the volume is declared to count",
       kAgrees, [](ReferenceRules& r) { r.storage.blocking = BlockingCheck::last_dimension; }},
      {"blocks_by_volume", "lets a block reach over the end of a row where the last dimension is declared to count",
       "storage.requantize_to_refuses_before_reading",
       [](ReferenceRules& r) { r.storage.blocking = BlockingCheck::volume; }},
      {"partial_block_dropped", "leaves out the elements that fill no block (SKaiNET's DequantOps)",
       "storage.requantize_to_refuses_before_reading",
       [](ReferenceRules& r) { r.storage.partial = PartialBlock::dropped; }},
      {"narrowing_rounds_in_silence", "rounds values that the narrow format lacks instead of refusing to repack them",
       kKeepsEveryValue, [](ReferenceRules& r) { r.storage.narrowing = Narrowing::rounded; }},
      {"planes_of_one_row", "lays the planes of bitnet_planes out as if every matrix had one row", kAgrees,
       [](ReferenceRules& r) { r.storage.rows = PlaneRows::one; }},
      {"loader_rounds_otherwise", "has a second quantizer in the loader, which cuts codes off",
       "storage.loader_equals_storage", [](ReferenceRules& r) { r.storage.loader = LoaderRounding::truncates; }},
  };
}

}  // namespace packcheck
