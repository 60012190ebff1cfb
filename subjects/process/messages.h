// subjects/process/messages.h: what the parts of a payload say. See subjects/PROTOCOL.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subjects/process/frames.h"
#include "subjects/subject.h"

namespace packcheck {

inline constexpr std::string_view kProtocolVersion = "1";

/// Who is at the other end. A worker is part of packcheck and may report faults of the library it
/// has loaded; in a program's mouth those words are unknown.
enum class Speaker : std::uint8_t { program, worker };

// Requests.
[[nodiscard]] std::string encode_hello_request();
[[nodiscard]] std::string encode_request(const Request& request);
/// An operation and its arguments; refuses an unknown operation.
[[nodiscard]] Result<Request> decode_request(Parts parts);
[[nodiscard]] std::string encode_batch_request(std::span<const Request> requests);

// Replies.
[[nodiscard]] std::string encode_hello_reply(const SubjectInfo& info);
/// Why the subject cannot be used, in answer to hello.
[[nodiscard]] std::string encode_error_reply(const Error& error);
/// Refuses another protocol version by name, a bad name or version, and any bad declaration.
[[nodiscard]] Result<SubjectInfo> decode_hello_reply(std::string_view payload);
[[nodiscard]] std::string encode_reply(const Reply& reply);
/// An "error" reply comes back as Outcome::broke_protocol.
[[nodiscard]] Result<Reply> decode_reply(std::string_view payload, Speaker speaker);
[[nodiscard]] std::string encode_batch_reply(std::span<const Reply> replies);
/// A program answers all `expected` requests; a worker may stop early, but not before the first.
[[nodiscard]] Result<std::vector<Reply>> decode_batch_reply(const Parts& parts, std::size_t expected, Speaker speaker);

/// `text` fit for reports: at most 300 bytes, valid UTF-8, control characters and stray bytes as '?'.
[[nodiscard]] std::string clean_message(std::string_view text);
/// Refuses what is not [A-Za-z0-9_.-]+, and a version that is empty, long or not printable ASCII.
[[nodiscard]] Result<void> check_name_and_version(std::string_view name, std::string_view version);
/// Adds one declaration line to `info`; refuses unknown words and a variant declared twice.
[[nodiscard]] Result<void> add_declaration(SubjectInfo& info, std::string_view line);

}  // namespace packcheck
