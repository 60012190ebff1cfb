// properties/reply_json.h: a subject's reply as JSON, for vectors that carry right and wrong answers.
//
// | operation                     | answer                                            |
// |-------------------------------|---------------------------------------------------|
// | convert, repack               | ["0x3f80", …], elements of the target format      |
// | quantize                      | "00ff…", the bytes of the blocks as the subject lays them out |
// | dequantize, affine_dequantize | ["0x3f800000", …], f32 elements                   |
// | affine_matmul, affine_gate_up | the same                                          |
// | read_tensors                  | the listing, one string                           |
// | write_tensors                 | "00ff…", the bytes of the file                    |
// | import_graph                  | "59535350…", the YSGP bytes                       |
// | print, export_graph           | "9.7517E-319"                                     |
// | run_network, export_network,  | the lines or the text, one string                 |
// | import_network                |                                                   |
// | parse                         | "0x0000000000030301"                              |
// | repack_tensor and the like    | "00ff…", the answer's document (subjects/tensor_document.h)    |
// | pack                          | ["0x…", "0x…"], scalar and param2                 |
// | unpack                        | [3, 3, 1, …], one integer per field               |
// | infer_shape                   | [1, 64, 112, 112], the sizes                      |
// | execute, execute_backward     | ["0x3f80", …], elements of the node's format      |
//
// What is no answer is an object: {"refused": "why"}, or {"fault": "left bytes unwritten"}. Include only
// from .cc files (it brings in nlohmann_json). Proved by tests/properties/vectors_test.cc.
#pragma once

#include <string>

#include "properties/strict_json.h"
#include "subjects/subject.h"

namespace packcheck {

/// The JSON form of a reply to `operation` in `variant`. A reply that broke the protocol may have none: refused.
[[nodiscard]] Result<nlohmann::ordered_json> reply_to_json(Operation operation, const std::string& variant,
                                                           const Reply& reply);
/// The inverse; refuses by name what is no reply to this operation.
[[nodiscard]] Result<Reply> reply_from_json(Operation operation, const std::string& variant,
                                            const nlohmann::ordered_json& value, const std::string& where);

}  // namespace packcheck
