#include "subjects/process/native_calls.h"

#include <cstring>
#include <utility>

#include "core/encoding/encoding.h"
#include "core/format/format.h"
#include "core/params/layout.h"
#include "subjects/calls.h"
#include "subjects/process/messages.h"

namespace packcheck {
namespace {

using Fill = OutputBuffer::Fill;
using Arguments = std::vector<std::string>;

/// Longer than any double: what packcheck/subject.h promises is 400.
constexpr std::size_t kTextCapacity = 512;
/// The first capacity offered for a document, besides eight times its input.
constexpr std::size_t kLeastDocument = 4096;
constexpr std::size_t kLargestAnswer = kMaximumPayload / 2;

Reply skip(std::string why) { return {Outcome::skipped, {}, std::move(why)}; }
Reply broke(std::string how) { return {Outcome::broke_protocol, {}, std::move(how)}; }

const std::int64_t* as_i64s(const std::uint8_t* bytes) { return reinterpret_cast<const std::int64_t*>(bytes); }
const std::uint64_t* as_u64s(const std::uint8_t* bytes) { return reinterpret_cast<const std::uint64_t*>(bytes); }
const float* as_floats(const std::uint8_t* bytes) { return reinterpret_cast<const float*>(bytes); }
float* as_floats(std::uint8_t* bytes) { return reinterpret_cast<float*>(bytes); }
std::int64_t* as_i64s(std::uint8_t* bytes) { return reinterpret_cast<std::int64_t*>(bytes); }
std::uint64_t* as_u64s(std::uint8_t* bytes) { return reinterpret_cast<std::uint64_t*>(bytes); }

std::uint64_t u64_in(std::string_view bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

Reply NativeCalls::perform(const Request& request) {
  const Arguments& a = request.arguments;
  if (a.size() != argument_count(request.operation))
    return skip(std::to_string(a.size()) + " arguments; expected " + std::to_string(argument_count(request.operation)));
  // clang-format off
  switch (request.operation) {
    case Operation::convert: return table_.convert == nullptr ? skip({}) : convert(a);
    case Operation::quantize: return table_.quantize == nullptr ? skip({}) : quantize(a);
    case Operation::dequantize: return table_.dequantize == nullptr ? skip({}) : dequantize(a);
    case Operation::repack: return table_.repack == nullptr ? skip({}) : repack(a);
    case Operation::print: return table_.print == nullptr ? skip({}) : print(a);
    case Operation::parse: return table_.parse == nullptr ? skip({}) : parse(a);
    case Operation::pack: return table_.pack == nullptr ? skip({}) : pack(a);
    case Operation::unpack: return table_.unpack == nullptr ? skip({}) : unpack(a);
    case Operation::affine_dequantize: return table_.affine_dequantize == nullptr ? skip({}) : affine_dequantize(a);
    case Operation::repack_tensor: return table_.repack_tensor == nullptr ? skip({}) : document(table_.repack_tensor, a);
    case Operation::requantize_tensor: return table_.requantize_tensor == nullptr ? skip({}) : document(table_.requantize_tensor, a);
    case Operation::load_tensor: return table_.load_tensor == nullptr ? skip({}) : document(table_.load_tensor, a);
    case Operation::read_tensors: return table_.read_tensors == nullptr ? skip({}) : document(table_.read_tensors, a);
    case Operation::write_tensors: return table_.write_tensors == nullptr ? skip({}) : document(table_.write_tensors, a);
    case Operation::import_graph: return table_.import_graph == nullptr ? skip({}) : document(table_.import_graph, a);
    case Operation::export_graph: return table_.export_graph == nullptr ? skip({}) : document(table_.export_graph, a);
    case Operation::infer_shape: return table_.infer_shape == nullptr ? skip({}) : infer_shape(a);
    case Operation::execute: return table_.execute == nullptr ? skip({}) : execute(table_.execute, a);
    case Operation::execute_backward: return table_.execute_backward == nullptr ? skip({}) : execute(table_.execute_backward, a);
    case Operation::affine_matmul: return table_.affine_matmul == nullptr ? skip({}) : product(table_.affine_matmul, 1, a);
    case Operation::affine_gate_up: return table_.affine_gate_up == nullptr ? skip({}) : product(table_.affine_gate_up, 2, a);
    case Operation::run_network: return table_.run_network == nullptr ? skip({}) : document(table_.run_network, a);
    case Operation::export_network: return table_.export_network == nullptr ? skip({}) : document(table_.export_network, a);
    case Operation::import_network: return table_.import_network == nullptr ? skip({}) : document(table_.import_network, a);
  }
  // clang-format on
  return skip("unknown operation");
}

/// A verdict on how the call returned; nothing after PACKCHECK_OK.
std::optional<Reply> NativeCalls::judge(int code, bool kept) const {
  for (const OutputBuffer* buffer : {&outputs_[0], &outputs_[1], &error_})
    if (const auto where = buffer->find_overrun())
      return Reply{Outcome::overran, {}, (buffer == &error_ ? "error message: " : "output: ") + *where};
  if (!kept) return broke("left the floating-point environment changed");
  if (code == PACKCHECK_OK) return std::nullopt;
  if (code != PACKCHECK_REFUSED && code != PACKCHECK_UNSUPPORTED)
    return broke("returned the unknown code " + std::to_string(code));
  const std::string message = error_.contents();
  const std::size_t length = message.find('\0');
  if (length == std::string::npos) return broke("the error message is not NUL-terminated");
  return Reply{code == PACKCHECK_REFUSED ? Outcome::refused : Outcome::skipped, {}, message.substr(0, length)};
}

NativeCalls::Attempt NativeCalls::attempt(const std::array<std::size_t, 2>& sizes, Fill fill, const Invoke& invoke) {
  const Outputs outputs{outputs_[0].prepare(sizes[0], fill), outputs_[1].prepare(sizes[1], fill)};
  auto* const error = reinterpret_cast<packcheck_error*>(error_.prepare(sizeof(packcheck_error), Fill::zero));
  int code = 0;
  bool kept = false;
  {
    const InCallEnvironment scope(environment_);
    code = invoke(outputs, error);
    kept = scope.kept();
  }
  if (std::optional<Reply> over = judge(code, kept)) return {std::move(over), {}};
  return {std::nullopt, {outputs_[0].contents(), outputs_[1].contents()}};
}

Reply NativeCalls::invoke_twice_if_needed(const std::array<std::size_t, 2>& sizes, const Invoke& invoke,
                                          const std::function<std::size_t(const std::string&)>& written) {
  Attempt first = attempt(sizes, Fill::pattern, invoke);
  if (first.over) return std::move(*first.over);
  const std::array<std::size_t, 2> required{sizes[0], written(first.outputs[0])};
  // A byte may equal its fill by chance; only one that follows another fill is unwritten.
  std::optional<Attempt> second;
  for (std::size_t output = 0; output < required.size(); ++output) {
    const auto next_kept = [output](const Attempt& a, std::size_t from, std::size_t to, Fill fill) {
      return OutputBuffer::find_kept(std::string_view(a.outputs[output]).substr(0, to), from, fill);
    };
    const std::size_t end = required[output];
    for (std::size_t i = 0; (i = next_kept(first, i, end, Fill::pattern)) < end; ++i) {
      if (!second) second = attempt(sizes, Fill::inverse, invoke);
      if (second->over) return std::move(*second->over);
      if (next_kept(*second, i, i + 1, Fill::inverse) > i) continue;
      return {
          Outcome::left_unwritten, {}, "byte " + std::to_string(i) + " of " + std::to_string(end) + " is the first"};
    }
  }
  Reply reply;
  for (std::string& output : first.outputs) reply.parts.push_back(std::move(output));
  return reply;
}

Reply NativeCalls::invoke_for(std::size_t size, const Invoke& invoke) {
  if (size > kLargestAnswer) return skip("the answer would be larger than a frame");
  Reply reply = invoke_twice_if_needed({size, 0}, invoke, [](const std::string&) { return std::size_t{0}; });
  if (reply.outcome == Outcome::answered) reply.parts.resize(1);
  return reply;
}

Reply NativeCalls::document(DocumentFunction function, const Arguments& a) {
  const char* const variant = names_[0].put_text(a[0]);
  const std::uint8_t* const in = inputs_[0].put(a[1]);
  Reply reply = document_of(kLeastDocument + a[1].size() * 8,
                            [&](std::uint8_t* out, std::size_t capacity, std::size_t* size, packcheck_error* error) {
                              return function(variant, in, a[1].size(), out, capacity, size, error);
                            });
  if (reply.outcome != Outcome::answered) return reply;
  std::optional<Reply> fault = refuse_unread(function, a, reply.parts[0]);
  return fault ? std::move(*fault) : std::move(reply);
}

Reply NativeCalls::document_of(std::size_t capacity, const WriteDocument& write) {
  for (unsigned attempts = 0;; ++attempts) {
    if (capacity > kLargestAnswer) return skip("the answer would be larger than a frame");
    const auto invoke = [&](const Outputs& out, packcheck_error* error) {
      return write(out[1], capacity, reinterpret_cast<std::size_t*>(out[0]), error);
    };
    const auto document_size = [capacity](const std::string& size) {
      const std::uint64_t length = u64_in(size);
      return length > capacity ? 0 : static_cast<std::size_t>(length);
    };
    Reply reply = invoke_twice_if_needed({sizeof(std::size_t), capacity}, invoke, document_size);
    if (reply.outcome != Outcome::answered) return reply;
    const std::uint64_t length = u64_in(reply.parts[0]);
    if (length <= capacity) return {Outcome::answered, {reply.parts[1].substr(0, length)}, {}};
    if (attempts == 1) return broke("asked for a larger answer buffer twice");
    capacity = static_cast<std::size_t>(length);
  }
}

std::optional<Reply> NativeCalls::refuse_unread(DocumentFunction function, const Arguments& a,
                                                const std::string& answer) {
  if (answer.rfind("outcome=refused reads=0 ", 0) != 0) return std::nullopt;
  const std::string_view line = std::string_view(a[1]).substr(0, a[1].find('\n') + 1);
  // What is in memory may be read without a resolver.
  if (line.find(" handle=file ") == line.npos && line.find(" handle=device ") == line.npos) return std::nullopt;
  const std::uint8_t* const in = inputs_[1].put(line);
  const std::size_t capacity = kLeastDocument + a[1].size() * 8;
  const auto invoke = [&](const Outputs& out, packcheck_error* error) {
    return function(names_[0].put_text(a[0]), in, a[1].size(), out[1], capacity, reinterpret_cast<std::size_t*>(out[0]),
                    error);
  };
  return attempt({sizeof(std::size_t), capacity}, OutputBuffer::Fill::pattern, invoke).over;
}

Reply NativeCalls::infer_shape(const Arguments& a) {
  if (a[1].size() % sizeof(std::int64_t) != 0 || a[2].size() % sizeof(std::int64_t) != 0)
    return skip("not a whole number of 8-byte integers");
  const char* const rule = names_[0].put_text(a[0]);
  const std::int64_t* const attributes = as_i64s(inputs_[0].put(a[1]));
  const std::int64_t* const shapes = as_i64s(inputs_[1].put(a[2]));
  constexpr std::size_t kMost = 64 * sizeof(std::int64_t);  // more axes than any shape has
  return document_of(kMost, [&](std::uint8_t* out, std::size_t capacity, std::size_t* size, packcheck_error* error) {
    const int code = table_.infer_shape(rule, attributes, a[1].size() / sizeof(std::int64_t), shapes,
                                        a[2].size() / sizeof(std::int64_t), as_i64s(out),
                                        capacity / sizeof(std::int64_t), size, error);
    if (*size > kLargestAnswer)
      *size = kLargestAnswer + 1;
    else
      *size *= sizeof(std::int64_t);
    return code;
  });
}

Reply NativeCalls::execute(NodeFunction function, const Arguments& a) {
  if (a[1].size() % sizeof(std::int64_t) != 0 || a[2].size() % sizeof(std::int64_t) != 0)
    return skip("not a whole number of 8-byte integers");
  const std::string none;
  const std::string& upstream = a.size() > 4 ? a[4] : none;
  const packcheck_node node{.op = names_[0].put_text(a[0]),
                            .attributes = as_i64s(inputs_[0].put(a[1])),
                            .attribute_count = a[1].size() / sizeof(std::int64_t),
                            .shapes = as_i64s(inputs_[1].put(a[2])),
                            .shapes_count = a[2].size() / sizeof(std::int64_t),
                            .values = inputs_[2].put(a[3]),
                            .values_size = a[3].size(),
                            .upstream = inputs_[3].put(upstream),
                            .upstream_size = upstream.size()};
  const std::string_view bytes(reinterpret_cast<const char*>(&node), sizeof node);
  const auto* const sealed = reinterpret_cast<const packcheck_node*>(inputs_[4].put(bytes));
  return document_of(kLeastDocument + (a[3].size() + upstream.size()) * 8,
                     [&](std::uint8_t* out, std::size_t capacity, std::size_t* size, packcheck_error* error) {
                       return function(sealed, out, capacity, size, error);
                     });
}

Reply NativeCalls::convert(const Arguments& a) {
  const std::optional<Format> from = format_named(a[0]);
  const std::optional<Format> to = format_named(a[1]);
  if (!from || !to) return skip("unknown format");
  const std::size_t count = a[3].size() / spec(*from).bytes();
  const std::size_t size = count * spec(*to).bytes();
  const char* const names[] = {names_[0].put_text(a[0]), names_[1].put_text(a[1]), names_[2].put_text(a[2])};
  const std::uint8_t* const in = inputs_[0].put(a[3]);
  return invoke_for(size, [&](const Outputs& out, packcheck_error* error) {
    return table_.convert(names[0], names[1], names[2], in, a[3].size(), out[0], size, count, error);
  });
}

Reply NativeCalls::quantize(const Arguments& a) {
  const Result<const Encoding*> encoding = encoding_named(a[0]);
  if (!encoding) return skip(encoding.error().text());
  if (a[1].size() % sizeof(float) != 0) return skip("not a whole number of floats");
  const std::size_t count = a[1].size() / sizeof(float);
  const std::size_t size = count / (*encoding)->block_size * (*encoding)->block_bytes;
  const char* const name = names_[0].put_text(a[0]);
  const float* const values = as_floats(inputs_[0].put(a[1]));
  return invoke_for(size, [&](const Outputs& out, packcheck_error* error) {
    return table_.quantize(name, values, count, out[0], size, error);
  });
}

Reply NativeCalls::dequantize(const Arguments& a) {
  const Result<const Encoding*> encoding = encoding_named(a[0]);
  if (!encoding) return skip(encoding.error().text());
  const std::size_t count = a[1].size() / (*encoding)->block_bytes * (*encoding)->block_size;
  const char* const name = names_[0].put_text(a[0]);
  const std::uint8_t* const blocks = inputs_[0].put(a[1]);
  return invoke_for(count * sizeof(float), [&](const Outputs& out, packcheck_error* error) {
    return table_.dequantize(name, blocks, a[1].size(), as_floats(out[0]), count, error);
  });
}

Reply NativeCalls::repack(const Arguments& a) {
  const std::optional<Format> from = format_named(a[0]);
  const std::optional<Format> to = format_named(a[1]);
  if (!from || !to) return skip("unknown format");
  const std::size_t size = a[2].size() / spec(*from).bytes() * spec(*to).bytes();
  const char* const names[] = {names_[0].put_text(a[0]), names_[1].put_text(a[1])};
  const std::uint8_t* const in = inputs_[0].put(a[2]);
  return invoke_for(size, [&](const Outputs& out, packcheck_error* error) {
    return table_.repack(names[0], names[1], in, a[2].size(), out[0], size, error);
  });
}

Reply NativeCalls::print(const Arguments& a) {
  if (a[0].size() != sizeof(std::uint64_t)) return skip("not the 8 bytes of a double");
  const std::uint64_t bits = u64_in(a[0]);
  const auto invoke = [&](const Outputs& out, packcheck_error* error) {
    return table_.print(bits, reinterpret_cast<char*>(out[1]), kTextCapacity, reinterpret_cast<std::size_t*>(out[0]),
                        error);
  };
  const auto text_size = [](const std::string& size) {
    const std::uint64_t length = u64_in(size);
    return length > kTextCapacity ? 0 : static_cast<std::size_t>(length);
  };
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  Reply reply = invoke_twice_if_needed({sizeof(std::size_t), kTextCapacity}, invoke, text_size);
  if (reply.outcome != Outcome::answered) return reply;
  const std::uint64_t length = u64_in(reply.parts[0]);
  if (length > kTextCapacity)
    return broke("print gave size " + std::to_string(length) + " with capacity " + std::to_string(kTextCapacity));
  return {Outcome::answered, {reply.parts[1].substr(0, length)}, {}};
}

Reply NativeCalls::parse(const Arguments& a) {
  const auto* const text = reinterpret_cast<const char*>(inputs_[0].put(a[0]));
  return invoke_for(sizeof(std::uint64_t), [&](const Outputs& out, packcheck_error* error) {
    return table_.parse(text, a[0].size(), as_u64s(out[0]), error);
  });
}

Reply NativeCalls::pack(const Arguments& a) {
  if (a[1].size() % sizeof(std::int64_t) != 0) return skip("not a whole number of 8-byte values");
  const char* const layout = names_[0].put_text(a[0]);
  const std::int64_t* const values = as_i64s(inputs_[0].put(a[1]));
  return invoke_for(kPackedWords * sizeof(std::uint64_t), [&](const Outputs& out, packcheck_error* error) {
    return table_.pack(layout, values, a[1].size() / sizeof(std::int64_t), as_u64s(out[0]), error);
  });
}

Reply NativeCalls::unpack(const Arguments& a) {
  const Result<const Layout*> layout = layout_named(a[0]);
  if (!layout) return skip(layout.error().text());
  if (a[1].size() != kPackedWords * sizeof(std::uint64_t)) return skip("not the 16 bytes of two doubles");
  const std::size_t count = (*layout)->fields.size();
  const char* const name = names_[0].put_text(a[0]);
  const std::uint64_t* const words = as_u64s(inputs_[0].put(a[1]));
  return invoke_for(count * sizeof(std::int64_t), [&](const Outputs& out, packcheck_error* error) {
    return table_.unpack(name, words, as_i64s(out[0]), count, error);
  });
}

Reply NativeCalls::affine_dequantize(const Arguments& a) {
  if (a[1].size() != 24 && a[1].size() != 32 && a[1].size() != 48) return skip("not the 24, 32 or 48 bytes of a shape");
  std::vector<std::uint64_t> shape = string_to_u64s(a[1]);
  if (shape.size() < 4) shape.push_back(4);
  if (shape.size() < 6) shape.insert(shape.end(), {1, 0});
  std::uint64_t count = 0;
  if (__builtin_mul_overflow(shape[0], shape[1], &count) || count > kLargestAnswer)
    return skip("the answer would be larger than a frame");
  const packcheck_affine weights{.out_features = shape[0],
                                 .in_features = shape[1],
                                 .scale_columns = shape[2],
                                 .scale_format = names_[0].put_text(a[0]),
                                 .codes = inputs_[0].put(a[2]),
                                 .codes_size = a[2].size(),
                                 .scales = inputs_[1].put(a[3]),
                                 .scales_size = a[3].size(),
                                 .biases = inputs_[2].put(a[4]),
                                 .biases_size = a[4].size(),
                                 .bits = static_cast<std::uint32_t>(shape[3]),
                                 .block_rows = shape[4],
                                 .block_columns = shape[5]};
  const std::string_view bytes(reinterpret_cast<const char*>(&weights), sizeof weights);
  const auto* const sealed = reinterpret_cast<const packcheck_affine*>(inputs_[3].put(bytes));
  return invoke_for(count * sizeof(float), [&](const Outputs& out, packcheck_error* error) {
    return table_.affine_dequantize(sealed, as_floats(out[0]), count, error);
  });
}

Reply NativeCalls::product(ProductFunction function, std::size_t matrices, const Arguments& a) {
  if (a[2].size() != 5 * sizeof(std::uint64_t)) return skip("not the 40 bytes of a shape");
  if (a[3].size() % sizeof(float) != 0) return skip("not a whole number of floats");
  const std::vector<std::uint64_t> shape = string_to_u64s(a[2]);
  std::uint64_t count = 0;
  if (__builtin_mul_overflow(shape[0], shape[2], &count) || count > kLargestAnswer / sizeof(float) / matrices)
    return skip("the answer would be larger than a frame");
  count *= matrices;
  packcheck_product product{};
  product.rows = shape[0];
  product.in_features = shape[1];
  product.out_features = shape[2];
  product.group_size = shape[3];
  product.bits = shape[4];
  product.scale_format = names_[0].put_text(a[0]);
  product.order = names_[1].put_text(a[1]);
  product.x = as_floats(inputs_[1].put(a[3]));
  product.x_count = a[3].size() / sizeof(float);
  for (std::size_t i = 0; i < matrices; ++i) {
    const std::size_t at = 3 * i;
    product.weights[i] = {inputs_[2 + at].put(a[4 + at]), a[4 + at].size(),
                          inputs_[3 + at].put(a[5 + at]), a[5 + at].size(),
                          inputs_[4 + at].put(a[6 + at]), a[6 + at].size()};
  }
  const std::string_view bytes(reinterpret_cast<const char*>(&product), sizeof product);
  const auto* const sealed = reinterpret_cast<const packcheck_product*>(inputs_[0].put(bytes));
  return invoke_for(count * sizeof(float), [&](const Outputs& out, packcheck_error* error) {
    return function(sealed, as_floats(out[0]), count, error);
  });
}

}  // namespace packcheck
