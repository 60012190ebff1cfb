#include "subjects/reference/reference.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "core/format/mode.h"
#include "subjects/calls.h"
#include "subjects/reference/version.h"

namespace packcheck {

ReferenceRules::ReferenceRules()
    : encodings(all_encodings().begin(), all_encodings().end()),
      pack_layouts(all_layouts().begin(), all_layouts().end()),
      unpack_layouts(all_layouts().begin(), all_layouts().end()) {}

namespace {

/// A check that could not be made because the request itself is malformed.
Reply malformed(std::string what) { return {Outcome::refused, {}, std::move(what)}; }
Reply refused(const Error& error) { return {Outcome::refused, {}, error.text()}; }
Reply answered(std::string part) { return {Outcome::answered, {std::move(part)}, {}}; }

std::size_t heap_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

template <class Row>
const Row* row_named(const std::vector<Row>& rows, std::string_view id) {
  for (const Row& row : rows)
    if (row.id() == id) return &row;
  return nullptr;
}

const Encoding* encoding_row(const std::vector<Encoding>& rows, std::string_view id) {
  for (const Encoding& row : rows)
    if (row.has_id(id)) return &row;
  return nullptr;
}

using Arguments = std::span<const std::string_view>;

std::span<const std::uint8_t> bytes_of(std::string_view argument) {
  return {reinterpret_cast<const std::uint8_t*>(argument.data()), argument.size()};
}
std::span<std::uint8_t> bytes_of(std::string& part) {
  return {reinterpret_cast<std::uint8_t*>(part.data()), part.size()};
}

/// Everything that the right reference offers.
std::vector<std::string> declaration_lines() {
  std::vector<std::string> lines;
  for (const FormatSpec& from : all_formats())
    for (const FormatSpec& to : all_formats())
      lines.push_back("convert " + std::string(from.name) + "->" + std::string(to.name) + " nan=quieted");
  for (const Encoding& e : all_encodings()) {
    if (e.quantizes) lines.push_back("quantize " + e.id());
    lines.push_back("dequantize " + e.id());
  }
  for (const Layout& layout : all_layouts()) {
    lines.push_back("pack " + layout.id());
    lines.push_back("unpack " + layout.id());
  }
  for (const char* line : {"repack f16->f32 nan=same", "repack bf16->f32 nan=same", "print json", "parse json",
                           "affine_dequantize affine4:f32"})
    lines.emplace_back(line);
  return lines;
}

bool same_layouts(const std::vector<Layout>& layouts) {
  for (std::size_t i = 0; i < layouts.size(); ++i)
    if (layouts[i].fields.data() != all_layouts()[i].fields.data()) return false;
  return true;
}

class Reference final : public Subject {
 public:
  Reference(std::string name, ReferenceRules rules) : rules_(std::move(rules)) {
    info_.name = std::move(name);
    info_.version = kVersion;
    const bool all = rules_.are_right() || rules_.keeps_answers;
    for (std::string& line : declaration_lines()) {
      Declaration declaration = *parse_declaration(line);
      if (all || rules_.touch(declaration.operation, declaration.variant))
        info_.declarations.push_back(std::move(declaration));
    }
  }

  Reply call(const Request& request) override {
    const std::vector<std::string_view> arguments(request.arguments.begin(), request.arguments.end());
    return call_in_place({request.operation, arguments});
  }

  Reply call_in_place(const RequestView& request) override {
    Reply reply = answer(request);
    if (rules_.keeps_answers) kept_.push_back(reply);
    return reply;
  }

  Result<std::uint64_t> bytes_kept_per_call(const Request& request, unsigned warmup, unsigned repeats) override {
    if (repeats == 0) return refuse("no repeats", info_.name, "at least 1");
    for (unsigned i = 0; i < warmup; ++i) (void)call(request);
    const std::size_t before = heap_in_use();
    for (unsigned i = 0; i < repeats; ++i) (void)call(request);
    const std::size_t after = heap_in_use();
    return after > before ? (after - before) / repeats : 0;
  }

 private:
  Reply answer(const RequestView& request) const {
    static constexpr std::array<std::size_t, kOperationCount> kArguments{4, 2, 2, 3, 1, 1, 2, 2, 5};
    const std::size_t right = kArguments[static_cast<std::size_t>(request.operation)];
    if (request.arguments.size() != right)
      return malformed(std::to_string(request.arguments.size()) + " arguments; expected " + std::to_string(right));
    const Arguments a = request.arguments;
    switch (request.operation) {
      case Operation::convert: return convert(a);
      case Operation::quantize: return quantize(a);
      case Operation::dequantize: return dequantize(a);
      case Operation::repack: return repack(a);
      case Operation::print: return print(a);
      case Operation::parse: return parse(a);
      case Operation::pack: return pack(a);
      case Operation::unpack: return unpack(a);
      case Operation::affine_dequantize: return affine(a);
    }
    return malformed("unknown operation");
  }

  Reply convert(Arguments a) const {
    const auto from = format_named(a[0]);
    const auto to = format_named(a[1]);
    std::optional<ConvertRules> rules = mode_named(a[2]);
    if (!from || !to) return {Outcome::skipped, {}, "unknown format; known are " + std::string(format_names())};
    if (!rules) return malformed("unknown mode '" + std::string(a[2]) + "'");
    if (rules_.convert != nullptr) rules_.convert(*rules);
    std::string out(a[3].size() / spec(*from).bytes() * spec(*to).bytes(), '\0');
    if (auto ok = convert_array(*from, *to, bytes_of(a[3]), bytes_of(out), *rules); !ok) return refused(ok.error());
    return answered(std::move(out));
  }

  Reply quantize(Arguments a) const {
    const Encoding* e = encoding_row(rules_.encodings, a[0]);
    if (e == nullptr || !e->quantizes) return {Outcome::skipped, {}, "no quantizer of '" + std::string(a[0]) + "'"};
    const std::vector<float> values = string_to_floats(a[1]);
    const Result<std::size_t> size = encoded_bytes(*e, values.size());
    if (!size) return refused(size.error());
    // Two fills: a byte that keeps both was not written.
    Bytes blocks(*size, 0xA5);
    Bytes again(*size, 0x5A);
    if (auto ok = packcheck::quantize(*e, values, blocks); !ok) return refused(ok.error());
    if (auto ok = packcheck::quantize(*e, values, again); !ok) return refused(ok.error());
    if (blocks != again) return {Outcome::left_unwritten, {}, "the output depends on what was in it"};
    return answered(bytes_to_string(blocks));
  }

  Reply dequantize(Arguments a) const {
    const Encoding* e = encoding_row(rules_.encodings, a[0]);
    if (e == nullptr) return {Outcome::skipped, {}, "no decoder of '" + std::string(a[0]) + "'"};
    const Bytes blocks = string_to_bytes(a[1]);
    const Result<std::size_t> count = decoded_count(*e, blocks.size());
    if (!count) return refused(count.error());
    std::vector<float> values(*count);
    if (auto ok = packcheck::dequantize(*e, blocks, values); !ok) return refused(ok.error());
    return answered(floats_to_string(values));
  }

  Reply repack(Arguments a) const {
    const auto from = format_named(a[0]);
    const auto to = format_named(a[1]);
    if (!from || !to) return {Outcome::skipped, {}, "unknown format; known are " + std::string(format_names())};
    const Bytes in = string_to_bytes(a[2]);
    Bytes out(in.size() / spec(*from).bytes() * spec(*to).bytes());
    if (auto ok = repack_dense(*from, *to, in, out, rules_.repack); !ok) return refused(ok.error());
    return answered(bytes_to_string(out));
  }

  Reply print(Arguments a) const {
    if (a[0].size() != sizeof(std::uint64_t)) return malformed("print wants the 8 bytes of a double");
    const Result<std::string> text = print_number(string_to_u64s(a[0])[0], rules_.print);
    return text ? answered(*text) : refused(text.error());
  }

  Reply parse(Arguments a) const {
    const Result<std::uint64_t> bits = parse_number(a[0], rules_.parse);
    return bits ? answered(u64s_to_string(std::array{*bits})) : refused(bits.error());
  }

  Reply pack(Arguments a) const {
    const Layout* layout = row_named(rules_.pack_layouts, a[0]);
    if (layout == nullptr) return {Outcome::skipped, {}, "no layout '" + std::string(a[0]) + "'"};
    std::vector<std::int64_t> values(a[1].size() / sizeof(std::int64_t));
    if (!values.empty()) std::memcpy(values.data(), a[1].data(), values.size() * sizeof(std::int64_t));
    const Result<PackedWords> words = packcheck::pack(*layout, values, rules_.range);
    return words ? answered(u64s_to_string(*words)) : refused(words.error());
  }

  Reply unpack(Arguments a) const {
    const Layout* layout = row_named(rules_.unpack_layouts, a[0]);
    if (layout == nullptr) return {Outcome::skipped, {}, "no layout '" + std::string(a[0]) + "'"};
    const std::vector<std::uint64_t> words = string_to_u64s(a[1]);
    if (words.size() != kPackedWords) return malformed("unpack wants the 16 bytes of two doubles");
    const Unpacked fields = packcheck::unpack(*layout, {words[0], words[1]}, rules_.reading);
    std::string part(fields.values.size() * sizeof(std::int64_t), '\0');
    std::memcpy(part.data(), fields.values.data(), part.size());
    return answered(std::move(part));
  }

  Reply affine(Arguments a) const {
    const auto format = format_named(a[0]);
    const std::vector<std::uint64_t> shape = string_to_u64s(a[1]);
    if (!format || shape.size() != 3) return malformed("affine_dequantize wants a scale format and three sizes");
    const Bytes codes = string_to_bytes(a[2]);
    const Bytes scales = string_to_bytes(a[3]);
    const Bytes biases = string_to_bytes(a[4]);
    std::size_t count = 0;
    if (__builtin_mul_overflow(shape[0], shape[1], &count) || count / 2 > codes.size())
      return malformed("the shape asks for more codes than there are");
    std::vector<float> values(count);
    const AffineWeights weights{shape[0], shape[1], shape[2], *format, codes, scales, biases};
    if (auto ok = affine_dequantize(weights, values, rules_.affine); !ok) return refused(ok.error());
    return answered(floats_to_string(values));
  }

  ReferenceRules rules_;
  std::vector<Reply> kept_;
};

}  // namespace

bool ReferenceRules::touch(Operation operation, std::string_view variant) const {
  switch (operation) {
    case Operation::convert: return convert != nullptr;
    case Operation::quantize:
    case Operation::dequantize: {
      const Encoding* e = encoding_row(encodings, variant);
      return e != nullptr && !(e->rules == (*encoding_named(variant))->rules);
    }
    case Operation::repack: return repack != RepackPath::direct;
    case Operation::print:
    case Operation::parse: return !(print == PrintRules{}) || !(parse == ParseRules{});
    case Operation::pack:
    case Operation::unpack:
      return range != RangeRule::refuse || reading != WordReading::reinterpret || !same_layouts(pack_layouts) ||
             !same_layouts(unpack_layouts);
    case Operation::affine_dequantize: return !(affine == AffineRules{});
  }
  return false;
}

bool ReferenceRules::are_right() const {
  if (keeps_answers) return false;
  for (const std::string& line : declaration_lines()) {
    const Declaration declaration = *parse_declaration(line);
    if (touch(declaration.operation, declaration.variant)) return false;
  }
  return true;
}

std::unique_ptr<Subject> make_reference(std::string name, ReferenceRules rules) {
  return std::make_unique<Reference>(std::move(name), std::move(rules));
}

}  // namespace packcheck
