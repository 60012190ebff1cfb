// Audits of tensor files and of graphs. The bytes are the file, or the graph's JSON text:
// for all files: what is counted at every level of instructions is what a count by value gives, warnings say it, and
// groups of packed weights fit their shapes; for all graphs: words that a reader takes for others are named.
#include "core/simd.h"
#include "fuzz/target.h"
#include "properties/cases/audited_files.h"
#include "properties/oracles/audit_oracle.h"

using namespace packcheck;
namespace {

std::string fault_in(std::string_view text) {
  if (!text.empty() && text[0] == '{') return oracle::graph_audit_fault(text, audit_graph(text));
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const Result<TensorFile> file = read_tensor_file(bytes);
  if (!file) return refused_file(file.error()).kind->name == "unreadable" ? "" : "refusal";
  std::string fault;
  for (const SimdLevel level : {SimdLevel::rule, SimdLevel::plain, SimdLevel::avx2, SimdLevel::avx512})
    if (fault.empty() && set_simd_level(level)) fault = oracle::audit_fault(*file, bytes, audit_file(*file, bytes));
  return set_simd_level(best_simd_level()) ? fault : "level";
}

std::optional<BrokenText> check(std::string_view text) { return broken_text("audit", fault_in(text), text); }

Bytes fresh(Dice& dice) {
  RandomSource source(dice.bits());
  return dice.once_in(2) ? draw_audited_file(source) : draw_audited_graph(source);
}

}  // namespace

const FuzzTarget& packcheck::fuzz_target() {
  static const auto target = text_target({check, fresh, {"file", {}, mutate_audited, nullptr}});
  return *target;
}
