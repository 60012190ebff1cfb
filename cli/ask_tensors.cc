// packcheck ask: stored tensors that change their encoding, and tensor files.
#include <algorithm>
#include <array>
#include <map>

#include "cli/ask.h"
#include "core/file/checks.h"
#include "core/storage/storage_encoding.h"
#include "properties/corpus_store.h"
#include "properties/strict_json.h"
#include "subjects/tensor_document.h"

namespace packcheck {
namespace {

/// The bytes that "bytes=HEX" or "from=FILE" gives; at most one of the two.
class GivenBytes {
 public:
  /// False: the argument is another.
  bool take(const std::string& argument) {
    if (argument.rfind("bytes=", 0) != 0 && argument.rfind("from=", 0) != 0) return false;
    const std::size_t equals = argument.find('=');
    given_.push_back({argument.substr(0, equals), argument.substr(equals + 1)});
    return true;
  }
  [[nodiscard]] Result<Bytes> read(const std::string& where) const {
    if (given_.size() != 1)
      return refuse(given_.empty() ? "no bytes" : "bytes twice", where, "bytes=HEX or from=FILE, once");
    if (given_[0].first == "bytes") return parse_hex_bytes(given_[0].second);
    const Result<std::string> text = read_file(given_[0].second);
    if (!text) return tl::unexpected(text.error());
    return string_to_bytes(*text);
  }
  [[nodiscard]] bool empty() const { return given_.empty(); }

 private:
  std::vector<std::pair<std::string, std::string>> given_;
};

/// The members of a tensor's line, in its order.
constexpr std::array<std::string_view, 9> kMembers{"target", "form",   "dtype",  "shape",   "strides",
                                                   "offset", "handle", "region", "resolver"};
using Members = std::map<std::string, std::string, std::less<>>;

Result<Members> members_of(const AskOptions& o, GivenBytes& bytes) {
  Members members;
  for (std::size_t i = 1; i < o.arguments.size(); ++i) {
    const std::string& argument = o.arguments[i];
    if (bytes.take(argument)) continue;
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const std::string name = argument.substr(0, equals);
    if (std::find(kMembers.begin(), kMembers.end(), name) == kMembers.end() || equals == argument.size()) {
      std::string known;
      for (const std::string_view member : kMembers) known.append(member).append(", ");
      return refuse("'" + argument + "'", "ask " + o.operation, "MEMBER=VALUE with one of " + known + "bytes or from");
    }
    if (!members.emplace(name, argument.substr(equals + 1)).second)
      return refuse("given twice", "ask " + o.operation + " " + name, "once");
  }
  return members;
}

/// As many elements as the bytes have, in a row.
Result<std::string> length_of(const StorageEncoding& source, std::size_t bytes) {
  if (source.is_dense()) return std::to_string(bytes / spec(source.format()).bytes());
  const Result<std::size_t> count = decoded_count(source.row(), bytes);
  if (!count) return tl::unexpected(count.error());
  return std::to_string(*count);
}

Result<DescribedTensor> tensor_of(const AskOptions& o) {
  if (o.arguments.empty())
    return refuse("no source", "ask " + o.operation, "the encoding of the tensor, as in q8_0:ggml or dense(f16)");
  const Result<StorageEncoding> source = storage_encoding_named(o.arguments[0]);
  if (!source) return tl::unexpected(source.error());
  GivenBytes given;
  Result<Members> members = members_of(o, given);
  if (!members) return tl::unexpected(members.error());
  if (members->count("target") == 0)
    return refuse("no target", "ask " + o.operation, "target=ENCODING, as in target=dense(f32)");
  const Result<StorageEncoding> target = storage_encoding_named((*members)["target"]);
  if (!target) return tl::unexpected(target.error());
  const Result<Bytes> bytes = given.read("ask " + o.operation);
  if (!bytes) return tl::unexpected(bytes.error());
  if (members->count("shape") == 0) {
    const Result<std::string> length = length_of(*source, bytes->size());
    if (!length) return tl::unexpected(length.error());
    members->emplace("shape", *length);
  }
  const Format dtype = source->format();
  members->emplace("form", o.operation == "load_tensor" ? "keep" : "-");
  members->emplace("dtype", spec(dtype).name);
  members->emplace("strides", "-");
  members->emplace("offset", "0");
  members->emplace("handle", "owned");
  members->emplace("region", "0," + std::to_string(bytes->size()));
  members->emplace("resolver", "1");
  std::string document;
  for (const std::string_view member : kMembers)
    document.append(document.empty() ? "" : " ").append(member).append("=").append(members->find(member)->second);
  return read_tensor(o.arguments[0], document.append("\n").append(bytes_to_string(*bytes)));
}

Result<std::string> kind_of(const AskOptions& o) {
  if (!o.arguments.empty() && (o.arguments[0] == "gguf" || o.arguments[0] == "safetensors")) return o.arguments[0];
  return refuse(o.arguments.empty() ? "no kind" : "'" + o.arguments[0] + "'", "ask " + o.operation,
                "gguf or safetensors");
}

/// Lines of a listing, without what would paint over a terminal.
std::string printable_lines(std::string_view text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.append(at == 0 ? "" : "\n").append(printable(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

}  // namespace

Result<Said> ask_tensor(Subject& subject, const AskOptions& o) {
  const Result<DescribedTensor> tensor = tensor_of(o);
  if (!tensor) return tl::unexpected(tensor.error());
  const Answer<TensorAnswer> answer = call_tensor(subject, *operation_named(o.operation), *tensor);
  if (!answer.ok()) return not_answered(answer);
  const TensorAnswer& a = answer.value;
  const std::string reads = a.reads == 1 ? " after 1 read" : " after " + std::to_string(a.reads) + " reads";
  if (a.outcome == TensorOutcome::refused)
    return Said{kFindings, nullptr, {}, "refused" + reads + ": " + printable(a.message)};
  if (a.outcome == TensorOutcome::same)
    return Said{kHolds, hex_of_bytes(tensor->bytes), "the tensor itself" + reads, {}};
  // The encoding that the bytes are in: what `keep` keeps, what `dequantize` gives, or the target.
  const bool keeps = tensor->form == TensorForm::keep;
  const Result<StorageEncoding> encoding = storage_encoding_named(keeps ? tensor->source : tensor->target);
  const std::string head =
      (keeps ? tensor->source : tensor->target) + ", dtype " + std::string(spec(*a.dtype).name) + reads + "\n";
  if (!encoding || !encoding->is_dense()) return Said{kHolds, hex_of_bytes(a.bytes), head + hex_of_bytes(a.bytes), {}};
  const Format format = encoding->format();
  return Said{kHolds, elements_json(a.bytes, format), head + describe_elements(a.bytes, format), {}};
}

Result<Said> ask_read_tensors(Subject& subject, const AskOptions& o) {
  const Result<std::string> kind = kind_of(o);
  if (!kind) return tl::unexpected(kind.error());
  if (o.arguments.size() != 2)
    return refuse(std::to_string(o.arguments.size() - 1) + " files", "ask read_tensors", "one, or bytes=HEX");
  GivenBytes given;
  if (!given.take(o.arguments[1])) given.take("from=" + o.arguments[1]);
  const Result<Bytes> bytes = given.read("ask read_tensors");
  if (!bytes) return tl::unexpected(bytes.error());
  const Answer<std::string> listing = call_read_tensors(subject, *kind, *bytes);
  if (!listing.ok()) return not_answered(listing);
  const std::string text = printable_lines(listing.value);
  return Said{kHolds, text, text, {}};
}

Result<Said> ask_write_tensors(Subject& subject, const AskOptions& o) {
  const Result<std::string> kind = kind_of(o);
  if (!kind) return tl::unexpected(kind.error());
  GivenBytes given;
  std::string contents;
  std::string out;
  for (std::size_t i = 1; i < o.arguments.size(); ++i) {
    const std::string& argument = o.arguments[i];
    if (given.take(argument)) continue;
    if (argument.rfind("out=", 0) == 0)
      out = argument.substr(4);
    else
      contents.append(argument).append("\n");
  }
  if (contents.rfind("file ", 0) != 0) contents.insert(0, *kind == "gguf" ? "file gguf 3\n" : "file safetensors\n");
  const Result<Bytes> data = given.empty() ? Bytes{} : given.read("ask write_tensors");
  if (!data) return tl::unexpected(data.error());
  contents.append("data\n").append(bytes_to_string(*data));
  const Answer<Bytes> file = call_write_tensors(subject, *kind, contents);
  if (!file.ok()) return not_answered(file);
  if (out.empty()) return Said{kHolds, hex_of_bytes(file.value), hex_of_bytes(file.value), {}};
  if (const Result<void> ok = write_file_atomically(out, bytes_to_string(file.value)); !ok)
    return tl::unexpected(ok.error());
  return Said{kHolds, hex_of_bytes(file.value), std::to_string(file.value.size()) + " bytes in " + printable(out), {}};
}

}  // namespace packcheck
