// What a subject in another process may send, and be sent. The bytes are a frame's payload, parts behind their lengths:
// for all payloads: it is taken apart or refused, and what is taken apart is put together as the same bytes.
#include "fuzz/target.h"
#include "properties/cases/cases.h"
#include "subjects/process/messages.h"
#include "subjects/reference/reference.h"

using namespace packcheck;
namespace {

std::optional<BrokenText> check(std::string_view text) {
  const Result<Parts> parts = decode_parts(text);
  if (!parts) return std::nullopt;
  const Result<Request> request = decode_request(*parts);
  bool same = encode_parts(*parts) == text && (!request || encode_request(*request) == text);
  const Result<Reply> reply = decode_reply(text, Speaker::worker);
  same = same && (!reply || decode_reply(encode_reply(*reply), Speaker::worker));
  const Result<SubjectInfo> info = decode_hello_reply(text);
  same = same && (!info || decode_hello_reply(encode_hello_reply(*info)));
  (void)decode_batch_reply(*parts, parts->size(), Speaker::program);
  return same ? std::nullopt : std::optional(BrokenText{"subject_frames", std::string(text)});
}

/// A request or a hello of the reference.
Bytes fresh(Dice& dice) {
  static const std::unique_ptr<Subject> subject = make_reference();
  if (dice.once_in(8)) return string_to_bytes(encode_hello_reply(subject->info()));
  RandomSource source(dice.bits());
  const Declaration& d = dice.pick(subject->info().declarations);
  const Case c = call_cases.draw(source, std::string(operation_name(d.operation)) + " " + d.variant);
  const Request& request = c.as<CallCase>().request;
  return string_to_bytes(dice.once_in(2) ? encode_request(request) : encode_reply(subject->call(request)));
}

}  // namespace

const FuzzTarget& packcheck::fuzz_target() {
  static const auto target = text_target({check, fresh, {"parts", {}, mutate_parts, nullptr}});
  return *target;
}
