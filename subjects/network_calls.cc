#include "subjects/network_calls.h"

#include "subjects/one_part.h"

namespace packcheck {

Answer<NetworkAnswer> call_run_network(Subject& subject, std::string_view autograd, std::string_view network) {
  const Answer<std::string> raw = call_for_one_part(subject, Operation::run_network, {autograd, network});
  if (!raw.ok()) return {raw.outcome, {}, raw.message};
  Result<NetworkAnswer> answer = read_network_answer(raw.value);
  if (!answer) return {Outcome::broke_protocol, {}, answer.error().text()};
  return {Outcome::answered, std::move(*answer), {}};
}

Answer<std::string> call_export_network(Subject& subject, std::string_view form, std::string_view network) {
  return call_for_one_part(subject, Operation::export_network, {form, network});
}

Answer<std::string> call_import_network(Subject& subject, std::string_view form, std::string_view text) {
  return call_for_one_part(subject, Operation::import_network, {form, text});
}

}  // namespace packcheck
