#include "subjects/process/messages.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace packcheck {
namespace {

struct ReplyWord {
  std::string_view word;
  Outcome outcome;
  bool only_workers;
};
constexpr std::array<ReplyWord, 8> kReplyWords{{{"answered", Outcome::answered, false},
                                                {"refused", Outcome::refused, false},
                                                {"skipped", Outcome::skipped, false},
                                                {"error", Outcome::broke_protocol, false},
                                                {"broke_protocol", Outcome::broke_protocol, true},
                                                {"overran", Outcome::overran, true},
                                                {"left_unwritten", Outcome::left_unwritten, true},
                                                {"out_of_memory", Outcome::out_of_memory, true}}};

constexpr std::size_t kLongestMessage = 300;
constexpr std::size_t kLongestName = 100;

/// Bytes of the UTF-8 character at the start of `text`; 0 if it is not one (RFC 3629 §4).
std::size_t utf8_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  const std::size_t size = lead >= 0xC2 && lead <= 0xDF ? 2 : lead >= 0xE0 && lead <= 0xEF ? 3 : lead >= 0xF0 ? 4 : 0;
  if (size == 0 || lead > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (lead == 0xC2 && byte(1) < 0xA0) return 0;  // C1 controls, which terminals obey
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) > 0x9F;
  const bool too_large = lead == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || too_large ? 0 : size;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

std::string part_or_empty(const Parts& parts, std::size_t index) {
  return index < parts.size() ? clean_message(parts[index]) : std::string{};
}

}  // namespace

std::string clean_message(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t size = utf8_character(text);
    if (clean.size() + std::max<std::size_t>(size, 1) > kLongestMessage) break;
    clean += size == 0 ? std::string_view("?") : text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return clean;
}

Result<void> check_name_and_version(std::string_view name, std::string_view version) {
  if (name.empty() || name == "." || name == ".." || name.size() > kLongestName ||
      !std::all_of(name.begin(), name.end(), is_name_character))
    return refuse("name is '" + clean_message(name) + "'", {}, "1 to 100 of A-Z a-z 0-9 _ . -");
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (version.empty() || version.size() > kLongestName || !std::all_of(version.begin(), version.end(), printable))
    return refuse("version is '" + clean_message(version) + "'", {}, "1 to 100 printable ASCII characters");
  return {};
}

Result<void> add_declaration(SubjectInfo& info, std::string_view line) {
  Result<Declaration> declaration = parse_declaration(clean_message(line));
  if (!declaration) return tl::unexpected(declaration.error());
  if (info.find(declaration->operation, declaration->variant) != nullptr)
    return refuse("declared twice", "declaration '" + std::string(line) + "'", "one line per variant");
  info.declarations.push_back(std::move(*declaration));
  return {};
}

std::string encode_hello_request() {
  return encode_parts(std::array{std::string("hello"), std::string(kProtocolVersion)});
}

std::string encode_request(const Request& request) {
  Parts parts{std::string(operation_name(request.operation))};
  parts.insert(parts.end(), request.arguments.begin(), request.arguments.end());
  return encode_parts(parts);
}

Result<Request> decode_request(Parts parts) {
  const std::optional<Operation> operation = operation_named(parts[0]);
  if (!operation)
    return refuse("unknown request '" + clean_message(parts[0]) + "'", {}, "an operation of the protocol");
  parts.erase(parts.begin());
  return Request{*operation, std::move(parts)};
}

std::string encode_batch_request(std::span<const Request> requests) {
  Parts parts{"batch"};
  for (const Request& request : requests) parts.push_back(encode_request(request));
  return encode_parts(parts);
}

std::string encode_hello_reply(const SubjectInfo& info) {
  Parts parts{"hello", std::string(kProtocolVersion), info.name, info.version};
  for (const Declaration& declaration : info.declarations) parts.push_back(declaration.text());
  return encode_parts(parts);
}

std::string encode_error_reply(const Error& error) {
  return encode_parts(std::array{std::string("error"), error.what, error.where, error.right});
}

Result<SubjectInfo> decode_hello_reply(std::string_view payload) {
  const Result<Parts> parts = decode_parts(payload);
  if (!parts) return tl::unexpected(parts.error());
  const std::string& word = (*parts)[0];
  if (word == "error" || word == "refused")
    return refuse(part_or_empty(*parts, 1), part_or_empty(*parts, 2), part_or_empty(*parts, 3));
  if (word != "hello") return refuse("'" + clean_message(word) + "'", "answer to hello", "'hello'");
  if (parts->size() < 2 || (*parts)[1] != kProtocolVersion)
    return refuse("speaks protocol version '" + part_or_empty(*parts, 1) + "'", "answer to hello",
                  "version " + std::string(kProtocolVersion));
  if (parts->size() < 4)
    return refuse(std::to_string(parts->size()) + " parts", "answer to hello",
                  "hello, protocol version, name, version, then declarations");
  SubjectInfo info{(*parts)[2], (*parts)[3], {}};
  if (auto ok = check_name_and_version(info.name, info.version); !ok) return tl::unexpected(ok.error());
  for (std::size_t i = 4; i < parts->size(); ++i)
    if (auto ok = add_declaration(info, (*parts)[i]); !ok) return tl::unexpected(ok.error());
  return info;
}

std::string encode_reply(const Reply& reply) {
  std::string_view word;
  for (const ReplyWord& row : kReplyWords)
    if (row.outcome == reply.outcome) word = row.word;  // of two words for one outcome, the worker's
  Parts parts{std::string(word)};
  if (reply.outcome == Outcome::answered)
    parts.insert(parts.end(), reply.parts.begin(), reply.parts.end());
  else
    parts.push_back(reply.message);
  return encode_parts(parts);
}

Result<Reply> decode_reply(std::string_view payload, Speaker speaker) {
  Result<Parts> parts = decode_parts(payload);
  if (!parts) return tl::unexpected(parts.error());
  for (const ReplyWord& row : kReplyWords) {
    if (row.word != (*parts)[0] || (row.only_workers && speaker != Speaker::worker)) continue;
    if (row.outcome == Outcome::answered) {
      parts->erase(parts->begin());
      return Reply{row.outcome, std::move(*parts), {}};
    }
    if (parts->size() > 2)
      return refuse(std::to_string(parts->size()) + " parts", row.word.data(), "a word and a message");
    return Reply{row.outcome, {}, (row.word == "error" ? "adapter error: " : "") + part_or_empty(*parts, 1)};
  }
  return refuse("unknown answer '" + clean_message((*parts)[0]) + "'", {}, "answered, refused, skipped or error");
}

std::string encode_batch_reply(std::span<const Reply> replies) {
  Parts parts{"batch"};
  for (const Reply& reply : replies) parts.push_back(encode_reply(reply));
  return encode_parts(parts);
}

Result<std::vector<Reply>> decode_batch_reply(const Parts& parts, std::size_t expected, Speaker speaker) {
  if (parts[0] != "batch") return refuse("'" + clean_message(parts[0]) + "'", "answer to batch", "'batch'");
  const std::size_t count = parts.size() - 1;
  if (count > expected || count == 0 || (count < expected && speaker == Speaker::program))
    return refuse("wrong number of replies", "answer to batch", "one per request");
  std::vector<Reply> replies;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    Result<Reply> reply = decode_reply(parts[i], speaker);
    if (!reply) return tl::unexpected(reply.error());
    replies.push_back(std::move(*reply));
  }
  return replies;
}

}  // namespace packcheck
