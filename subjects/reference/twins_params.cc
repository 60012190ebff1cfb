// Faulty twins of packed parameters.
#include <array>

#include "subjects/reference/twin_families.h"

namespace packcheck {
namespace {

// The seed's conv2d and maxpool2d with kernel_h and kernel_w in each other's place.
constexpr std::array<Field, 5> kSwappedConv2d{{{"kernel_h", 0, 8, 8},
                                               {"kernel_w", 0, 16, 8},
                                               {"stride", 0, 0, 8},
                                               {"padding", 1, 16, 16},
                                               {"out_channels", 1, 0, 16}}};
constexpr std::array<Field, 4> kSwappedMaxpool2d{
    {{"kernel_h", 0, 8, 8}, {"kernel_w", 0, 16, 8}, {"stride", 0, 0, 8}, {"padding", 1, 16, 16}}};

constexpr std::array<Field, 4> kSwappedMaxpool2dGen3{
    {{"kernel_h", 0, 8, 8}, {"kernel_w", 0, 16, 16}, {"stride", 0, 0, 8}, {"padding", 1, 16, 16}}};
// The readers of the second generation mask kernel_h with 8 bits and know no dilation.
constexpr std::array<Field, 6> kConv2dReadAsGen2{{{"dilation_minus_1", 0, 63, 0},
                                                  {"kernel_h", 0, 16, 8},
                                                  {"kernel_w", 0, 8, 8},
                                                  {"stride", 0, 0, 8},
                                                  {"padding", 1, 16, 16},
                                                  {"out_channels", 1, 0, 16}}};
// The layout of a comment beside the packing code.
constexpr std::array<Field, 4> kPoolReadAsStale{
    {{"kernel_h", 0, 32, 16}, {"kernel_w", 0, 16, 16}, {"stride", 0, 0, 16}, {"padding", 1, 16, 16}}};
// Generation 1 fields where generation 2 and 3 have theirs.
constexpr std::array<Field, 3> kConv2dGen1ReadAsGen2{
    {{"stride", 0, 0, 8}, {"padding", 1, 16, 16}, {"dilation", 0, 40, 24}}};
constexpr std::array<Field, 2> kClampReversed{
    {{"low", 1, 0, 64, FieldKind::number}, {"high", 0, 0, 64, FieldKind::number}}};
// A reader that has height and width in each other's place.
constexpr std::array<Field, 3> kInterpolateReversed{
    {{"height", 0, 0, 32}, {"width", 0, 32, 32}, {"nearest", 1, 0, 64, FieldKind::flag}}};
// in and out in each other's place: the backward pass of a linear layer.
constexpr std::array<Field, 3> kLinearReversed{
    {{"batch", 0, 32, 16}, {"out_features", 0, 0, 16}, {"in_features", 0, 16, 16}}};

void set_fields(std::vector<Layout>& layouts, std::string_view id, std::span<const Field> fields) {
  for (Layout& layout : layouts)
    if (layout.id() == id) layout.fields = fields;
}

void swap_fields(std::vector<Layout>& layouts) {
  set_fields(layouts, "conv2d:gen2", kSwappedConv2d);
  set_fields(layouts, "maxpool2d:gen2", kSwappedMaxpool2d);
  set_fields(layouts, "maxpool2d:gen3", kSwappedMaxpool2dGen3);
}

}  // namespace

std::vector<Twin> params_twins() {
  return {
      {"numeric_cast",
       "unpacks `scalar as u64`: the value of the double instead of its bits (Rust executor of yishape-math)",
       "params.unpack_inverts_pack", [](ReferenceRules& r) { r.unpack.word = WordReading::numeric_cast; }},
      {"swapped_fields", "the reader has kernel_h and kernel_w in each other's place",
       "params.unpack_reads_each_field_from_its_place", [](ReferenceRules& r) { swap_fields(r.unpack_layouts); }},
      {"swapped_layout", "writer and reader agree on a layout that is not the declared one",
       "params.pack_puts_each_field_in_its_place",
       [](ReferenceRules& r) {
         swap_fields(r.pack_layouts);
         swap_fields(r.unpack_layouts);
       }},
      {"field_overflow_by_or",
       "packs by shift and OR without a range check, so that fields run into each other (Java exporter)",
       "params.out_of_range_fields_are_refused", [](ReferenceRules& r) { r.pack.range = RangeRule::or_overflow; }},
      {"negative_sign_extends",
       "tests only the upper end, so that a negative field sets every bit above it and the double is a NaN, which the "
       "exporter then leaves out (yishape-math, stride -1)",
       "params.out_of_range_fields_are_refused", [](ReferenceRules& r) { r.pack.range = RangeRule::negative_passes; }},
      {"field_cut_off", "masks a field that does not fit: 65536 output channels become 0 (yishape-math, newer packer)",
       "params.out_of_range_fields_are_refused", [](ReferenceRules& r) { r.pack.range = RangeRule::cut_off; }},
      {"special_words_packed",
       "tests each field but not the word, so that large fields above bit 51 make an infinity or a NaN, which no JSON "
       "number is (dilation, interpolate's height)",
       "params.out_of_range_fields_are_refused", [](ReferenceRules& r) { r.pack.range = RangeRule::specials_pass; }},
      {"packed_in_32_bits",
       "shifts an int, as Java does without a cast: counts are taken modulo 32 and bit 31 is a sign (padding from "
       "32768 on; apache/jena PR 535)",
       "params.pack_puts_each_field_in_its_place",
       [](ReferenceRules& r) { r.pack.arithmetic = PackArithmetic::int32; }},
      {"packed_as_number", "stores the value of the packed integer as a double instead of its bits",
       "params.pack_puts_each_field_in_its_place",
       [](ReferenceRules& r) { r.pack.arithmetic = PackArithmetic::as_numbers; }},
      {"plain_packed_as_bits",
       "puts the bits of an integer where a plain number is meant: keep_dim 1 becomes 4.9e-324 (botan PR 3255)",
       "params.pack_puts_each_field_in_its_place", [](ReferenceRules& r) { r.pack.plain = PlainPacking::as_bits; }},
      {"words_kept_in_f32", "keeps the scalar in a float between, so that every packed field becomes 0",
       "params.unpack_inverts_pack", [](ReferenceRules& r) { r.unpack.word = WordReading::through_f32; }},
      {"subnormals_are_zero",
       "runs with flush-to-zero: prints, parses and reads every subnormal as 0 (one -ffast-math library is enough)",
       "params.fields_survive_text",
       [](ReferenceRules& r) {
         r.unpack.word = WordReading::flushed;
         r.print.subnormal = SubnormalPrinting::flushed;
         r.parse.subnormal = SubnormalParsing::flushed;
       }},
      {"unmasked_reading", "shifts a field down without a mask, so that the fields above come with it",
       "params.unpack_inverts_pack", [](ReferenceRules& r) { r.unpack.field = FieldReading::unmasked; }},
      {"fields_sign_extended", "takes the highest bit of a field for a sign (a cast to short; tilelang issue 2482)",
       "params.unpack_inverts_pack", [](ReferenceRules& r) { r.unpack.field = FieldReading::sign_extended; }},
      {"shift_counts_modulo_32", "shifts as JavaScript does, by the count modulo 32 (dart-archive/crypto PR 128)",
       "params.unpack_reads_each_field_from_its_place",
       [](ReferenceRules& r) { r.unpack.field = FieldReading::shifts_modulo_32; }},
      {"gen3_read_as_gen2", "masks kernel_h with 8 bits and knows no dilation: 256 becomes 0 (the older GPU executor)",
       "params.unpack_inverts_pack",
       [](ReferenceRules& r) { set_fields(r.unpack_layouts, "conv2d:gen3", kConv2dReadAsGen2); }},
      {"gen1_read_as_gen2", "takes the fields of the first generation from where later ones have theirs",
       "params.unpack_inverts_pack",
       [](ReferenceRules& r) { set_fields(r.unpack_layouts, "conv2d:gen1", kConv2dGen1ReadAsGen2); }},
      {"pool_read_by_the_comment",
       "reads three fields of 16 bits, as the comment beside the packing code says, where the code packs 8 bits",
       "params.unpack_inverts_pack",
       [](ReferenceRules& r) {
         set_fields(r.unpack_layouts, "maxpool2d:gen2", kPoolReadAsStale);
         set_fields(r.unpack_layouts, "avgpool2d:gen2", kPoolReadAsStale);
       }},
      {"clamp_reversed", "reads the upper limit of clamp from scalar and the lower from param2 (a Rust patch script)",
       "params.unpack_reads_each_field_from_its_place",
       [](ReferenceRules& r) { set_fields(r.unpack_layouts, "clamp:gen3", kClampReversed); }},
      {"sizes_reversed", "reads height for width and in_features for out_features (the backward pass of linear)",
       "params.unpack_inverts_pack",
       [](ReferenceRules& r) {
         set_fields(r.unpack_layouts, "interpolate:gen3", kInterpolateReversed);
         set_fields(r.unpack_layouts, "linear:gen3", kLinearReversed);
       }},
  };
}

}  // namespace packcheck
