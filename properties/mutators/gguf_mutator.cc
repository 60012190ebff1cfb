// GGUF bytes: counts, lengths, types, dimensions and offsets, each changed where it stands; strings and entries with
// the counts that belong to them.
#include "properties/mutators/fields.h"
#include "properties/mutators/numbers.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kMostEntries = 256;
constexpr std::uint64_t kString = 8;
constexpr std::uint64_t kArray = 9;
constexpr std::size_t kCountsAt = 8;  // tensors, then metadata

struct NumberField {
  std::size_t at;
  std::size_t size;
  bool is_length;  ///< of the string behind it
  bool is_type;
};
struct Entry {
  std::size_t begin;
  std::size_t end;
  bool is_tensor;
};

/// The header's fields and entries, as far as they can be followed.
class Walk {
 public:
  explicit Walk(const Bytes& bytes) : reader_(bytes) {
    if (reader_.number(4) != 0x46554747) return;
    field(4);
    const std::uint64_t tensors = field(8);
    const std::uint64_t metadata = field(8);
    if (tensors > kMostEntries || metadata > kMostEntries) return;
    for (std::uint64_t i = 0; i < metadata && !reader_.failed(); ++i) {
      const std::size_t begin = reader_.at();
      string();
      value(field(4, false, true));
      entry(begin, false);
    }
    for (std::uint64_t i = 0; i < tensors && !reader_.failed(); ++i) {
      const std::size_t begin = reader_.at();
      string();
      const std::uint64_t rank = field(4);
      for (std::uint64_t k = 0; k < rank && k < 16; ++k) field(8);
      field(4, false, true);
      field(8);
      entry(begin, true);
    }
  }
  std::vector<NumberField> fields;
  std::vector<Entry> entries;

 private:
  std::uint64_t field(std::size_t size, bool is_length = false, bool is_type = false) {
    const std::size_t at = reader_.at();
    const std::uint64_t value = reader_.number(size);
    if (!reader_.failed()) fields.push_back({at, size, is_length, is_type});
    return value;
  }
  void string() { (void)reader_.skip(field(8, true)); }
  void value(std::uint64_t type) {
    constexpr std::size_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == kString) return string();
    if (type == kArray) {
      const std::uint64_t of = field(4, false, true);
      const std::uint64_t count = field(8);
      for (std::uint64_t i = 0; i < count && i < kMostEntries && of != kArray && !reader_.failed(); ++i) value(of);
    } else if (type < std::size(kSizes)) {
      field(kSizes[type]);
    }
  }
  void entry(std::size_t begin, bool is_tensor) {
    if (!reader_.failed()) entries.push_back({begin, reader_.at(), is_tensor});
  }
  FieldReader reader_;
};

std::uint64_t load(const Bytes& bytes, const NumberField& field) {
  FieldReader reader(std::span<const std::uint8_t>(bytes).subspan(field.at));
  return reader.number(field.size);
}

auto place(Bytes& bytes, std::size_t at) { return bytes.begin() + static_cast<std::ptrdiff_t>(at); }

/// A string one byte longer or shorter, and its length with it.
void change_string(Bytes& out, const NumberField& field, Dice& dice) {
  const std::uint64_t length = load(out, field);
  const std::size_t first = field.at + field.size;
  if (length > 0 && length <= out.size() - first && dice.once_in(2)) {
    out.erase(place(out, first + dice.below(static_cast<std::size_t>(length))));
    set_number(out, field.at, length - 1, field.size);
  } else {
    static constexpr std::uint8_t kLetters[] = {'a', '0', '.', 0, 0xFF, 0xC3};
    out.insert(place(out, first), dice.pick(kLetters));
    set_number(out, field.at, length + 1, field.size);
  }
}

/// An entry once more, or no more; the count says so.
void change_entries(Bytes& out, const Entry& entry, Dice& dice) {
  const std::size_t count_at = kCountsAt + (entry.is_tensor ? 0 : 8);
  const std::uint64_t count = load(out, {count_at, 8, false, false});
  const bool more = dice.once_in(2);
  const Bytes copy(place(out, entry.begin), place(out, entry.end));
  if (more)
    out.insert(place(out, entry.end), copy.begin(), copy.end());
  else
    out.erase(place(out, entry.begin), place(out, entry.end));
  set_number(out, count_at, more ? count + 1 : count - 1, 8);
}

}  // namespace

std::optional<Bytes> mutate_gguf(const Bytes& bytes, Dice& dice) {
  const Walk walk(bytes);
  if (walk.fields.empty()) return std::nullopt;
  Bytes out = bytes;
  const NumberField& field = dice.pick(walk.fields);
  const std::size_t kind = dice.below(8);
  if (kind == 0 && !walk.entries.empty()) {
    change_entries(out, dice.pick(walk.entries), dice);
  } else if (kind == 1) {
    out.resize(dice.once_in(2) ? dice.below(out.size()) : out.size() + 1 + dice.below(64));
  } else if (field.is_length && kind < 6) {
    change_string(out, field, dice);
  } else if (field.is_type && kind < 6) {
    set_number(out, field.at, dice.below(42), field.size);
  } else if (kind == 2) {  // what another field says
    set_number(out, field.at, load(bytes, dice.pick(walk.fields)), field.size);
  } else {
    set_number(out, field.at, interesting_field(load(bytes, field), field.size, dice), field.size);
  }
  return out;
}

}  // namespace packcheck
