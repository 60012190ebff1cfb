// subjects/subject.h: what every implementation under test looks like to a law.
//
// A subject answers calls. A call is an operation and its arguments as byte strings, the same bytes
// in the process, in the worker of a shared library and in a frame to a program in another language.
// Laws never build calls by hand; they use the typed functions of subjects/calls.h.
//
// | operation         | arguments                                          | answer              |
// |-------------------|----------------------------------------------------|---------------------|
// | convert           | from, to, mode, elements of `from`                 | elements of `to`    |
// | quantize          | encoding, f32 elements                             | blocks              |
// | dequantize        | encoding, blocks                                   | f32 elements        |
// | repack            | from, to, elements of `from`                       | elements of `to`    |
// | print             | u64 bits                                           | text                |
// | parse             | text                                               | u64 bits            |
// | pack              | layout, i64 per field                              | u64 scalar, param2  |
// | unpack            | layout, u64 scalar, param2 (16 bytes)              | i64 per field       |
// | affine_dequantize | scale format, u64 out, in, columns and more,       | f32 elements        |
// |                   | codes, scales, biases                              |                     |
// | repack_tensor     | source encoding, a tensor (tensor_document.h)      | what became of it   |
// | requantize_tensor | the same                                           | the same            |
// | load_tensor       | the same                                           | the same            |
// | read_tensors      | safetensors or gguf, a file's bytes                | listing             |
// | write_tensors     | safetensors or gguf, listing and data              | a file's bytes      |
// | import_graph      | dialect, JSON text                                 | YSGP bytes          |
// | export_graph      | dialect, YSGP bytes                                | JSON text           |
// | infer_shape       | rule, i64 attributes, shapes (i64 rank, sizes, …)  | i64 sizes           |
// | execute           | operator, i64 attributes, shapes, elements         | elements            |
// | execute_backward  | the same, and the gradient of the output           | gradients           |
// | affine_matmul     | scale format, order, u64 rows, in, out, group,     | f32 elements        |
// |                   | bits (40 bytes), f32 x, codes, scales, biases      |                     |
// | affine_gate_up    | the same; codes, scales, biases of gate and of up  | those of gate, of up|
// | run_network       | autograd, a network (network_document.h)           | numbers, gradients  |
// | export_network    | graph_json or stablehlo, a network                 | text                |
// | import_network    | graph_json, text                                   | a network           |
//
// Names are ASCII; numbers and elements are little-endian and tightly packed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace packcheck {

enum class Operation : std::uint8_t {
  convert,
  quantize,
  dequantize,
  repack,
  print,
  parse,
  pack,
  unpack,
  affine_dequantize,
  repack_tensor,
  requantize_tensor,
  load_tensor,
  read_tensors,
  write_tensors,
  import_graph,
  export_graph,
  infer_shape,
  execute,
  execute_backward,
  affine_matmul,
  affine_gate_up,
  run_network,
  export_network,
  import_network
};
inline constexpr std::size_t kOperationCount = 24;

[[nodiscard]] std::string_view operation_name(Operation operation);
/// How many arguments a request of the operation has: the table above.
[[nodiscard]] std::size_t argument_count(Operation operation);
[[nodiscard]] std::optional<Operation> operation_named(std::string_view name);

/// What a subject says of one variant of one operation: "convert f32->f16 nan=quieted".
struct Declaration {
  Operation operation{};
  std::string variant;                         ///< "f32->f16", "q8_0:ggml", "json", "conv2d:gen2"
  std::map<std::string, std::string> options;  ///< only known keys with known values

  [[nodiscard]] std::string text() const;
  /// The declared value of `key`, or what the declared dialect says of it, or its default.
  [[nodiscard]] std::string_view option(std::string_view key) const;
};

/// The mode that calls of a declared conversion are made with: "nearest-even", "toward-zero,saturate",
/// "toward-zero,integer=wrap". The declared rules of NaN and subnormals are not repeated in it.
[[nodiscard]] std::string declared_mode(const Declaration& declaration);

/// Parses one declaration line. Refuses unknown operations, variants, keys and values, and says
/// which are known.
[[nodiscard]] Result<Declaration> parse_declaration(std::string_view line);

struct SubjectInfo {
  std::string name;     ///< as in reports and expected lists: "reference", "eigen"
  std::string version;  ///< of the implementation
  std::vector<Declaration> declarations;

  [[nodiscard]] const Declaration* find(Operation operation, std::string_view variant) const;
  [[nodiscard]] bool offers(Operation operation) const;
};

struct Request {
  Operation operation{};
  std::vector<std::string> arguments;
};

/// A request whose arguments lie elsewhere: large arrays need no copy of their own.
struct RequestView {
  Operation operation{};
  std::span<const std::string_view> arguments;
};

enum class Outcome : std::uint8_t {
  answered,        ///< `parts` holds the answer
  refused,         ///< the subject says the input is unsound; `message` says why
  skipped,         ///< the subject lacks this variant
  crashed,         ///< died: signal or exit in `message`
  hung,            ///< no answer within the call limit
  out_of_memory,   ///< grew past the memory limit
  overran,         ///< wrote outside its output
  left_unwritten,  ///< left bytes of its output unwritten
  broke_protocol   ///< unknown return code, wrong size, malformed frame
};

/// "crashed", "left bytes unwritten" …: for people and for signatures.
[[nodiscard]] std::string_view outcome_name(Outcome outcome);
/// Everything from `crashed` on: the subject misbehaved whatever the right answer is.
[[nodiscard]] constexpr bool is_fault(Outcome outcome) { return outcome >= Outcome::crashed; }

struct Reply {
  Outcome outcome = Outcome::answered;
  std::vector<std::string> parts;
  std::string message;
};

/// Limits on one call of a subject that runs in another process.
struct CallLimits {
  std::uint64_t timeout_milliseconds = 2000;
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< growth over what the worker had when it was ready
};

/// The refusal of Subject::bytes_kept_per_call where memory cannot be seen.
inline constexpr std::string_view kMemoryUnknown = "memory kept per call is unknown";

/// An implementation under test.
class Subject {
 public:
  virtual ~Subject() = default;
  [[nodiscard]] const SubjectInfo& info() const { return info_; }
  /// Never throws and never takes packcheck down with it.
  virtual Reply call(const Request& request) = 0;
  /// The same call. Subjects that can read the arguments where they are do so; the rest get a copy.
  virtual Reply call_in_place(const RequestView& request);
  /// One reply per request, in order; subjects in another process answer them in one exchange.
  virtual std::vector<Reply> call_batch(std::span<const Request> requests);
  /// Heap bytes the subject keeps for good each time it answers `request`: the growth over `repeats`
  /// calls after `warmup` calls, divided by `repeats`. Refuses where it cannot be seen (another
  /// program's memory) and a request that is not answered.
  virtual Result<std::uint64_t> bytes_kept_per_call(const Request& request, unsigned warmup, unsigned repeats);

 protected:
  SubjectInfo info_;
};

}  // namespace packcheck
