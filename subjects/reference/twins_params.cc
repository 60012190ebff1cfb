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

void swap_fields(std::vector<Layout>& layouts) {
  for (Layout& layout : layouts) {
    if (layout.op == "conv2d") layout.fields = kSwappedConv2d;
    if (layout.op == "maxpool2d") layout.fields = kSwappedMaxpool2d;
  }
}

}  // namespace

std::vector<Twin> params_twins() {
  return {
      {"numeric_cast",
       "unpacks `scalar as u64`: the value of the double instead of its bits (Rust executor of yishape-math)",
       "params.unpack_inverts_pack", [](ReferenceRules& r) { r.reading = WordReading::numeric_cast; }},
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
       "params.out_of_range_fields_are_refused", [](ReferenceRules& r) { r.range = RangeRule::or_overflow; }},
  };
}

}  // namespace packcheck
