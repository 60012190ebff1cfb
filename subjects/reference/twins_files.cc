// Faulty twins of tensor files: one check that a reader lacks, or one rule that a writer breaks.
#include "subjects/reference/twin_families.h"

namespace packcheck {

std::vector<Twin> file_twins() {
  constexpr std::string_view kRareFault =
      "one fault of many in a file of hundreds of bytes: the short inputs of the fuzz and sweep engines seldom get "
      "there";
  constexpr std::string_view kRefused = "file.unsound_files_are_refused";
  constexpr std::string_view kRead = "file.sound_files_are_read_as_they_say";
  constexpr std::string_view kWritten = "file.what_is_written_is_sound_and_complete";
  return {
      {"file_size_from_offsets", "takes a tensor's bytes from its offsets, whatever the shape says (fastllm)", kRefused,
       [](ReferenceRules& r) { r.file.size_from_offsets = true; }},
      {"file_header_length_wraps", "adds 8 to the header's length modulo 2^64 before it compares (fastllm)", kRefused,
       [](ReferenceRules& r) { r.file.length_wraps = true; }, kRareFault},
      {"file_end_before_begin", "takes a tensor that ends before it begins as an empty one (audio.cpp)", kRefused,
       [](ReferenceRules& r) { r.file.reversed_is_empty = true; }, kRareFault},
      {"file_product_wraps", "multiplies a shape modulo 2^64 (a Rust reader of GGUF)", kRefused,
       [](ReferenceRules& r) { r.file.product_wraps = true; }},
      {"file_range_check_wraps", "compares offset + bytes modulo 2^64 with the file's size (lucebox)", kRefused,
       [](ReferenceRules& r) { r.file.range_check_wraps = true; }},
      {"file_duplicates_last_wins", "lets the last of two equal keys win (safetensors)", kRefused,
       [](ReferenceRules& r) { r.file.duplicates_last_wins = true; }},
      {"file_dims_as_32_bit", "reads the low 32 bits of a dimension", kRefused,
       [](ReferenceRules& r) { r.file.dims_as_32_bit = true; }},
      {"file_overlap_unchecked", "lets two tensors share bytes", kRefused,
       [](ReferenceRules& r) { r.file.overlap_unchecked = true; }},
      {"file_end_unchecked", "lets a tensor reach past the end of the file", kRefused,
       [](ReferenceRules& r) { r.file.end_unchecked = true; }},
      {"file_trailing_accepted", "ignores bytes after the last tensor of a safetensors file", kRefused,
       [](ReferenceRules& r) { r.file.trailing_accepted = true; }},
      {"file_holes_accepted", "ignores bytes between the tensors of a safetensors file", kRefused,
       [](ReferenceRules& r) { r.file.holes_accepted = true; }},
      {"file_many_dims", "takes up to 8 dimensions where GGUF has 4 (gguf-tools)", kRefused,
       [](ReferenceRules& r) { r.file.many_dims = true; }},
      {"file_strings_clamped", "ends a string that is longer than the file with the file", kRefused,
       [](ReferenceRules& r) { r.file.strings_clamped = true; }, kRareFault},
      {"file_reserves_first", "gives memory to what a count says before it looks how much file is left",
       "file.reading_is_total", [](ReferenceRules& r) { r.file.reserves_first = true; }},
      {"file_partial_blocks", "forgets the end of a row that is no whole blocks", kRefused,
       [](ReferenceRules& r) { r.file.partial_blocks = true; }},
      {"file_unaligned_accepted", "lets a tensor of a GGUF begin anywhere", kRefused,
       [](ReferenceRules& r) { r.file.unaligned_accepted = true; }, kRareFault},
      {"file_start_rounded_to_8", "starts the data of a safetensors file at a multiple of 8 (gguf-py)", kRead,
       [](ReferenceRules& r) { r.file.start_rounded_to_8 = true; }},
      {"file_header_cut", "reads the header bytes within the file's first 100,001 alone (huggingface_hub)", kRead,
       [](ReferenceRules& r) { r.file.header_cut = true; }},
      {"file_zero_alignment_is_1", "starts the data where the header ends if general.alignment is 0", kRefused,
       [](ReferenceRules& r) { r.file.zero_alignment_is_1 = true; }, kRareFault},
      {"file_alignment_is_32", "reads general.alignment with another type and so ignores it (ollama)", kRead,
       [](ReferenceRules& r) { r.file.alignment_is_32 = true; }},
      {"file_dims_as_stored", "gives a GGUF's dimensions innermost first", "file.what_is_written_is_read_back",
       [](ReferenceRules& r) { r.file.dims_as_stored = true; }},
      {"file_padding_forgotten", "writes the tensors of a GGUF without padding between", kWritten,
       [](ReferenceRules& r) { r.file.padding_forgotten = true; }},
      {"file_offsets_from_file_start", "writes offsets from the start of a GGUF, not of its data", kWritten,
       [](ReferenceRules& r) { r.file.offsets_from_file_start = true; }},
      {"file_writes_dims_reversed", "writes a GGUF's dimensions outermost first", kWritten,
       [](ReferenceRules& r) { r.file.writes_dims_reversed = true; }},
  };
}

}  // namespace packcheck
