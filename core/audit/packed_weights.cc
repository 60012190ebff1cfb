#include "core/audit/packed_weights.h"

#include <algorithm>
#include <unordered_map>

namespace packcheck {
namespace {

std::string text(std::uint64_t number) { return std::to_string(number); }

/// "[15360, 60]"
std::string text(const std::vector<std::uint64_t>& shape) {
  std::string line = "[";
  for (const std::uint64_t dimension : shape) line.append(line.size() == 1 ? "" : ", ").append(text(dimension));
  return line + "]";
}

/// "(4, 64), (8, 32)"
std::string text(const std::vector<GroupChoice>& choices) {
  std::string line;
  for (const GroupChoice& c : choices)
    line.append(line.empty() ? "(" : ", (").append(text(c.bits)).append(", ").append(text(c.group)).append(")");
  return line;
}

bool is_word(const FileTensor& t) { return t.dtype == "U32" || t.dtype == "I32"; }

class Auditor {
 public:
  Auditor(const TensorFile& file, std::span<const std::uint8_t> bytes, const DoneWith& done_with, FileAudit& audit)
      : file_(file), bytes_(bytes), done_with_(done_with), audit_(audit) {
    for (const FileTensor& t : file.tensors) by_name_.emplace(t.name, &t);
  }

  void run() {
    for (const FileTensor& t : file_.tensors) {
      if (!is_word(t) || t.bytes == 0) continue;
      if (const auto base = before(t.name, "qweight")) {
        gptq_or_awq(*base, t);
      } else if (const auto packed = before(t.name, "weight_packed")) {
        compressed_tensors(*packed, t);
      } else if (const auto weight = before(t.name, "weight"); weight && t.dtype == "U32") {
        mlx(*weight, t);
      }
    }
  }

 private:
  /// What comes before the last part of a name, with its point; nothing if the last part is another.
  static std::optional<std::string> before(const std::string& name, std::string_view last) {
    if (name.size() < last.size() || name.compare(name.size() - last.size(), last.size(), last) != 0)
      return std::nullopt;
    std::string base = name.substr(0, name.size() - last.size());
    if (!base.empty() && base.back() != '.') return std::nullopt;
    return base;
  }

  const FileTensor* find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : at->second;
  }

  Warning& add(std::string_view kind, const FileTensor& t, std::string what, std::string right) {
    audit_.warnings.push_back({warning_kind_named(kind), t.name, std::move(what), "", std::move(right), {}});
    return audit_.warnings.back();
  }

  void missing(const FileTensor& weight, const std::string& name) {
    add("companion_missing", weight, "no tensor " + name + " beside " + weight.name,
        name + " in this file, or in another of the model's files");
  }

  /// Rows before `end` that float32 reads wrongly; a window at a time.
  std::uint64_t rows_wrong(const FileTensor& scales, std::uint64_t columns, std::uint64_t end) {
    const std::span<const std::uint8_t> bytes = bytes_.subspan(scales.offset, scales.bytes);
    const std::uint64_t row_bytes = columns * sizeof(float);
    const std::uint64_t step = std::max<std::uint64_t>(kAuditWindow / row_bytes, 1);
    std::uint64_t wrong = 0;
    for (std::uint64_t row = 0; row < end; row += step) {
      const std::uint64_t stop = std::min(end, row + step);
      wrong += rows_wrong_as_f32(bytes, *scales.dense, columns, row, stop);
      if (done_with_) done_with_(bytes.subspan(row * row_bytes / 2, (stop - row) * row_bytes / 2));
      if (done_with_) done_with_(bytes.subspan(row * row_bytes, (stop - row) * row_bytes));
    }
    return wrong;
  }

  /// Whether `scales` is a matrix of floats; says what a float32 kernel would make of a narrower one.
  bool float_scales(const FileTensor& scales, std::string_view role) {
    if (scales.dtype == "F32") return true;
    if (scales.dtype != "BF16" && scales.dtype != "F16") {
      add("scales_dtype", scales, std::string(role) + " are " + scales.dtype, "F32, BF16 or F16");
      return false;
    }
    if (scales.bytes == 0 || scales.shape.empty()) return true;
    const std::uint64_t columns = scales.shape.back();
    const std::uint64_t rows = scales.count() / columns;
    const ScaleWalk walk = read_as_f32(rows, columns, *scales.dense);
    const std::uint64_t first = first_row_out_of_bounds(walk);
    const std::uint64_t wrong = rows_wrong(scales, columns, first);
    Warning& w = add("narrow_scales", scales,
                     std::string(role) + " " + text(scales.shape) + " are " + scales.dtype + ", " + text(scales.bytes) +
                         " bytes: as float32 only " + text(walk.capacity) + " of " + text(rows * columns) + " numbers",
                     "a conversion to F32 (" + text(rows * columns * 4) + " bytes) before a kernel indexes float32");
    w.where = "read as float32, row " + text(first) + " is the first out of bounds; of the " + text(first) +
              " rows before it " + text(wrong) + " are silently wrong";
    w.numbers = {{"rows", rows},
                 {"columns", columns},
                 {"bytes", scales.bytes},
                 {"bytes_as_f32", rows * columns * 4},
                 {"f32_capacity", walk.capacity},
                 {"first_row_out_of_bounds", first},
                 {"rows_silently_wrong", wrong}};
    return true;
  }

  PackedWeight& packed(PackingScheme scheme, const FileTensor& weight, const FileTensor& scales) {
    PackedWeight p;
    p.scheme = scheme;
    p.name = weight.name;
    p.scales = scales.name;
    p.scale_columns = scales.shape.empty() ? 1 : scales.shape.back();
    p.scale_rows = p.scale_columns == 0 ? 0 : scales.count() / p.scale_columns;
    audit_.packed.push_back(std::move(p));
    return audit_.packed.back();
  }

  void wrong_shape(const FileTensor& scales, const FileTensor& weight, std::string right) {
    add("scales_shape", scales, text(scales.shape) + " beside " + weight.name + " " + text(weight.shape),
        std::move(right));
  }

  /// Rows of words, the last dimension; the scales' last dimension says how many groups.
  void rows_of_words(const FileTensor& weight, const FileTensor& scales, PackedWeight& p) {
    const bool same_rows = weight.shape.size() >= 2 && weight.shape.size() == scales.shape.size() &&
                           std::equal(weight.shape.begin(), weight.shape.end() - 1, scales.shape.begin());
    if (!same_rows || scales.shape.back() == 0) {
      std::vector<std::uint64_t> rows(weight.shape.begin(), weight.shape.end() - (weight.shape.empty() ? 0 : 1));
      return wrong_shape(scales, weight, "the dimensions " + text(rows) + " and then the number of groups");
    }
    const std::uint64_t row_bits = weight.shape.back() * 32;
    if (row_bits % scales.shape.back() != 0) {
      Warning& w = add("groups_do_not_divide", weight,
                       text(scales.shape.back()) + " groups in rows of " + text(weight.shape.back()) + " words",
                       "a number of groups that divides " + text(row_bits) + " bits");
      w.numbers = {{"words", weight.shape.back()}, {"groups", scales.shape.back()}};
      return;
    }
    p.choices = group_choices(weight.shape, scales.shape);
  }

  void judge_choices(const FileTensor& weight, const PackedWeight& p, std::uint64_t product) {
    if (p.choices.size() == 1) return;
    const std::string is = "bits x group size is " + text(product);
    if (p.choices.empty()) {
      add("no_group_fits", weight, is, "bits 2, 3, 4, 5, 6 or 8 and groups of 32, 64 or 128").numbers = {
          {"bits_times_group", product}};
      return;
    }
    add("ambiguous_group", weight, is + ": " + text(p.choices) + " all fit", "the model's configuration").numbers = {
        {"bits_times_group", product}, {"choices", p.choices.size()}};
  }

  void mlx(const std::string& base, const FileTensor& weight) {
    const FileTensor* const scales = find(base + "scales");
    if (scales == nullptr) return missing(weight, base + "scales");
    const FileTensor* const biases = find(base + "biases");
    if (scales->dtype == "U8" && biases == nullptr) return mlx_microscaling(weight, *scales);
    const bool floats = float_scales(*scales, "scales");
    if (biases == nullptr) {
      missing(weight, base + "biases");
    } else {
      (void)float_scales(*biases, "biases");
      if (biases->shape != scales->shape)
        add("scales_shape", *biases, "biases " + text(biases->shape) + " beside scales " + text(scales->shape),
            "the same shape");
      if (biases->dtype != scales->dtype)
        add("scales_dtype", *biases, "biases are " + biases->dtype + " and scales " + scales->dtype, "the same type");
    }
    PackedWeight& p = packed(PackingScheme::mlx, weight, *scales);
    const std::size_t before_shapes = audit_.warnings.size();
    rows_of_words(weight, *scales, p);
    if (floats && audit_.warnings.size() == before_shapes)
      judge_choices(weight, p, weight.shape.back() * 32 / scales->shape.back());
  }

  /// Words a group: mxfp4 4 (32 of 4 bits), mxfp8 8 (32 of 8 bits), nvfp4 2 (16 of 4 bits).
  void mlx_microscaling(const FileTensor& weight, const FileTensor& scales) {
    PackedWeight& p = packed(PackingScheme::mlx_microscaling, weight, scales);
    const std::size_t before_shapes = audit_.warnings.size();
    rows_of_words(weight, scales, p);
    p.choices.clear();
    if (audit_.warnings.size() != before_shapes) return;
    const std::uint64_t words = weight.shape.back();
    const std::uint64_t groups = scales.shape.back();
    const char* format = nullptr;
    if (words == groups * 4) format = "mxfp4: 2^(byte - 127)", p.choices = {{4, 32, groups * 32}};
    if (words == groups * 8) format = "mxfp8: 2^(byte - 127)", p.choices = {{8, 32, groups * 32}};
    if (words == groups * 2) format = "nvfp4: e4m3fn", p.choices = {{4, 16, groups * 16}};
    if (format != nullptr)
      add("coded_scales", scales, "scales are bytes", "decoded as those of " + std::string(format));
    else
      add("no_group_fits", weight, text(words) + " words in " + text(groups) + " groups with scales of one byte",
          "2, 4 or 8 words a group (nvfp4, mxfp4, mxfp8)");
  }

  /// The group of a known width, where groups lie along `in`.
  void known_width(const FileTensor& weight, PackedWeight& p, std::uint64_t bits, std::uint64_t in,
                   std::uint64_t groups) {
    if (groups == 0 || in % groups != 0) {
      Warning& w = add("groups_do_not_divide", weight, text(groups) + " groups of " + text(in) + " numbers",
                       "a number of groups that divides " + text(in) + ", or the group size in the configuration");
      w.numbers = {{"in_features", in}, {"groups", groups}};
      return;
    }
    p.choices = {{static_cast<unsigned>(bits), static_cast<unsigned>(in / groups), in}};
  }

  void gptq_or_awq(const std::string& base, const FileTensor& weight) {
    const FileTensor* const scales = find(base + "scales");
    const FileTensor* const zeros = find(base + "qzeros");
    if (scales == nullptr) return missing(weight, base + "scales");
    if (zeros == nullptr) missing(weight, base + "qzeros");
    (void)float_scales(*scales, "scales");
    if (weight.shape.size() != 2 || scales->shape.size() != 2)
      return wrong_shape(*scales, weight, "two dimensions each");
    const std::uint64_t groups = scales->shape[0];
    const std::uint64_t out = scales->shape[1];
    const bool awq = weight.shape[1] < out && weight.shape[1] * 8 == out;
    if (!awq && weight.shape[1] != out)
      return wrong_shape(*scales, weight, "[groups, out_features] with as many outputs as the weights have");
    if (zeros != nullptr && (zeros->shape.size() != 2 || zeros->shape[0] != groups)) {
      add("scales_shape", *zeros, text(zeros->shape) + " beside scales " + text(scales->shape),
          "a row of zero points for each of " + text(groups) + " groups");
      return;
    }
    PackedWeight& p = packed(awq ? PackingScheme::awq : PackingScheme::gptq, weight, *scales);
    if (awq) return known_width(weight, p, 4, weight.shape[0], groups);
    if (zeros != nullptr) {
      // Zero points are as wide as codes: their row tells the width.
      const std::uint64_t zero_bits = zeros->shape[1] * 32;
      const std::uint64_t bits = out == 0 ? 0 : zero_bits / out;
      const bool whole = bits != 0 && bits <= 8 && zero_bits == bits * out && weight.shape[0] * 32 % bits == 0;
      if (!whole)
        return wrong_shape(*zeros, weight, "out_features x bits / 32 zero points a row, with bits 2, 3, 4 or 8");
      if (find(base + "g_idx") != nullptr && weight.shape[0] * 32 / bits % std::max<std::uint64_t>(groups, 1) != 0)
        return;  // the last group is shorter; g_idx names the group of each row
      return known_width(weight, p, bits, weight.shape[0] * 32 / bits, groups);
    }
    if (groups == 0 || weight.shape[0] * 32 % groups != 0)
      return known_width(weight, p, 1, weight.shape[0] * 32, groups);
    const std::vector<std::uint64_t> words{weight.shape[0]};
    p.choices = group_choices(words, std::vector<std::uint64_t>{groups});
    judge_choices(weight, p, weight.shape[0] * 32 / groups);
  }

  void compressed_tensors(const std::string& base, const FileTensor& weight) {
    const FileTensor* const scales = find(base + "weight_scale");
    if (scales == nullptr) return missing(weight, base + "weight_scale");
    const bool floats = float_scales(*scales, "scales");
    PackedWeight& p = packed(PackingScheme::compressed_tensors, weight, *scales);
    const FileTensor* const shape = find(base + "weight_shape");
    if (shape == nullptr || shape->dtype != "I64" || shape->bytes != 16) {
      if (shape == nullptr) missing(weight, base + "weight_shape");
      const std::size_t before_shapes = audit_.warnings.size();
      rows_of_words(weight, *scales, p);
      if (floats && audit_.warnings.size() == before_shapes)
        judge_choices(weight, p, weight.shape.back() * 32 / scales->shape.back());
      return;
    }
    const std::uint64_t out = load_little_endian<std::uint64_t>(bytes_.data() + shape->offset);
    const std::uint64_t in = load_little_endian<std::uint64_t>(bytes_.data() + shape->offset + 8);
    if (weight.shape.size() != 2 || scales->shape.size() != 2 || weight.shape[0] != out || scales->shape[0] != out)
      return wrong_shape(*scales, weight, text(out) + " rows each, as " + shape->name + " says");
    // Whole codes in each word, 32/bits of them.
    for (const unsigned bits : {2U, 3U, 4U, 8U}) {
      const std::uint64_t in_word = 32 / bits;
      if (in / in_word + (in % in_word != 0 ? 1 : 0) == weight.shape[1])
        return known_width(weight, p, bits, in, scales->shape[1]);
    }
    add("no_group_fits", weight, text(in) + " numbers in " + text(weight.shape[1]) + " words",
        "codes of 2, 3, 4 or 8 bits");
  }

  const TensorFile& file_;
  std::span<const std::uint8_t> bytes_;
  const DoneWith& done_with_;
  FileAudit& audit_;
  std::unordered_map<std::string_view, const FileTensor*> by_name_;
};

}  // namespace

void audit_packed_weights(const TensorFile& file, std::span<const std::uint8_t> bytes, const DoneWith& done_with,
                          FileAudit& audit) {
  Auditor(file, bytes, done_with, audit).run();
}

}  // namespace packcheck
