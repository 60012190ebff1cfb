// subjects/process/native_calls.h: one request, as a call of one C function between guards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subjects/call_environment.h"
#include "subjects/include/packcheck/subject.h"
#include "subjects/process/guarded_memory.h"
#include "subjects/subject.h"

namespace packcheck {

class NativeCalls {
 public:
  /// The table must outlive this.
  explicit NativeCalls(const packcheck_subject& table, const CallEnvironment& environment = {})
      : table_(table), environment_(environment) {}

  /// Calls the library. A write outside the output, bytes left unwritten, an unknown return code and a
  /// changed floating-point environment come back as faults; a crash takes this process with it. A
  /// request that no call can be made of (unknown variant, wrong sizes) is skipped.
  Reply perform(const Request& request);

 private:
  using Outputs = std::array<std::uint8_t*, 2>;
  using Invoke = std::function<int(const Outputs&, packcheck_error*)>;
  /// What happened in one invocation, with copies of the outputs.
  struct Attempt {
    std::optional<Reply> over;  ///< anything but an answer
    std::array<std::string, 2> outputs;
  };

  Reply convert(const std::vector<std::string>& arguments);
  Reply quantize(const std::vector<std::string>& arguments);
  Reply dequantize(const std::vector<std::string>& arguments);
  Reply repack(const std::vector<std::string>& arguments);
  Reply print(const std::vector<std::string>& arguments);
  Reply parse(const std::vector<std::string>& arguments);
  Reply pack(const std::vector<std::string>& arguments);
  Reply unpack(const std::vector<std::string>& arguments);
  Reply affine_dequantize(const std::vector<std::string>& arguments);
  using ProductFunction = int (*)(const packcheck_product* product, float* y, std::size_t count,
                                  packcheck_error* error);
  Reply product(ProductFunction function, std::size_t matrices, const std::vector<std::string>& arguments);

  /// Bytes into bytes of a size that the library tells: two arguments, a variant and the input. A size larger
  /// than the capacity asks for one more call with that capacity.
  using DocumentFunction = int (*)(const char* variant, const std::uint8_t* in, std::size_t in_size, std::uint8_t* out,
                                   std::size_t capacity, std::size_t* out_size, packcheck_error* error);
  Reply document(DocumentFunction function, const std::vector<std::string>& arguments);
  /// Puts a question about a stored tensor again that was refused before the first read, now with no byte of the buffer
  /// to read: a library that reads one dies of it.
  std::optional<Reply> refuse_unread(DocumentFunction function, const std::vector<std::string>& arguments,
                                     const std::string& answer);
  using WriteDocument =
      std::function<int(std::uint8_t* out, std::size_t capacity, std::size_t* size, packcheck_error* error)>;
  Reply document_of(std::size_t capacity, const WriteDocument& write);

  Reply infer_shape(const std::vector<std::string>& arguments);
  using NodeFunction = int (*)(const packcheck_node* node, std::uint8_t* out, std::size_t capacity,
                               std::size_t* out_size, packcheck_error* error);
  Reply execute(NodeFunction function, const std::vector<std::string>& arguments);

  /// An answer of `size` bytes.
  Reply invoke_for(std::size_t size, const Invoke& invoke);
  /// An answer of outputs of `sizes` bytes; `written` says how many bytes of the second must be written.
  Reply invoke_twice_if_needed(const std::array<std::size_t, 2>& sizes, const Invoke& invoke,
                               const std::function<std::size_t(const std::string& first)>& written);
  Attempt attempt(const std::array<std::size_t, 2>& sizes, OutputBuffer::Fill fill, const Invoke& invoke);
  [[nodiscard]] std::optional<Reply> judge(int code, bool environment_kept) const;

  const packcheck_subject& table_;
  CallEnvironment environment_;  // what the library finds
  std::array<InputBuffer, 3> names_;
  std::array<InputBuffer, 8> inputs_;
  std::array<OutputBuffer, 2> outputs_;
  OutputBuffer error_;
};

}  // namespace packcheck
