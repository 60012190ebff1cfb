#include "core/storage/repack.h"

#include <string>

#include "core/format/convert.h"

namespace packcheck {

Result<void> check_repack(Format from, Format to) {
  if (to == Format::f32 && (from == Format::f16 || from == Format::bf16)) return {};
  const std::string where =
      "repack dense(" + std::string(spec(from).name) + ") to dense(" + std::string(spec(to).name) + ")";
  return refuse("not a lossless change of encoding that repack offers", where,
                "f16 or bf16 to f32; use requantize_to where precision may be lost");
}

Result<void> repack_dense(Format from, Format to, std::span<const std::uint8_t> in, std::span<std::uint8_t> out,
                          RepackPath path) {
  if (auto ok = check_repack(from, to); !ok) return ok;
  const FormatSpec& source = spec(from);
  const FormatSpec& target = spec(to);
  if (in.size() % source.bytes() != 0 || out.size() != in.size() / source.bytes() * target.bytes())
    return refuse(std::to_string(in.size()) + " bytes into " + std::to_string(out.size()), "repack",
                  "whole elements and as many of them on both sides");
  constexpr ConvertRules kKeepPayload{.nan = NanRule::same_payload};
  for (std::size_t i = 0; i < in.size() / source.bytes(); ++i) {
    std::uint64_t bits = load_element(source, in, i);
    Format format = from;
    if (path == RepackPath::through_bf16) {
      bits = convert(from, Format::bf16, bits, kKeepPayload);
      format = Format::bf16;
    }
    store_element(target, out, i, convert(format, to, bits, kKeepPayload));
  }
  return {};
}

}  // namespace packcheck
