#include "core/format/dtype_convert.h"

#include <utility>

#include "core/format/dialect.h"

namespace packcheck {

Result<DenseArray> dtype_convert(const DenseArray& array, Format to, const DtypeRules& rules) {
  Result<ConvertRules> chosen = dialect_rules("skainet", array.dtype, to);
  if (!chosen) return tl::unexpected(chosen.error());
  if (array.bytes == nullptr) return refuse("no buffer", "convert a dense array", "a buffer, empty if need be");
  if (array.dtype == to) return array;
  if (to == Format::i8) chosen->integer = rules.int8;
  std::vector<std::uint8_t> out(array.bytes->size() / spec(array.dtype).bytes() * spec(to).bytes());
  if (auto ok = convert_array(array.dtype, to, *array.bytes, out, *chosen); !ok) return tl::unexpected(ok.error());
  return DenseArray{to, std::make_shared<const std::vector<std::uint8_t>>(std::move(out))};
}

}  // namespace packcheck
