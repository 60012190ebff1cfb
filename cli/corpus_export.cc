// packcheck corpus export: a family's cases as bytes that a fuzzer starts from.
#include <cstdio>
#include <set>

#include "cli/corpus_life.h"
#include "subjects/calls.h"

namespace packcheck {

namespace fs = std::filesystem;

int export_from(const fs::path& corpus, const CorpusOptions& o) {
  const CaseType* type = case_type_named(o.family);
  if (type == nullptr || !type->from_wire({}, {}))
    return complain({o.family.empty() ? "no family is named" : "family '" + o.family + "' has no wire format",
                     "--family", wire_families()});
  if (o.to.empty()) return complain({"no folder is named", "corpus export", "--to FOLDER"});
  const CorpusStore store(corpus);
  if (!store.problems().empty()) return complain(store.problems().front());
  std::vector<std::string> inputs = store.wire_inputs(o.family);
  std::size_t without = 0;
  for (const CaseFile& file : store.files()) {
    if (file.c.type != type) continue;
    const auto bytes = type->to_wire(file.c);
    if (bytes)
      inputs.push_back(bytes_to_string(*bytes));
    else
      ++without;
  }
  std::set<std::string> written;  // cases of several laws may have the same bytes
  for (const std::string& bytes : inputs) {
    const std::string name = sha1_of(bytes);
    if (!written.insert(name).second) continue;
    if (auto ok = write_file_atomically(fs::path(o.to) / name, bytes); !ok) return complain(ok.error());
  }
  std::printf("%zu inputs in %s; %zu cases that no bytes give\n", written.size(), o.to.c_str(), without);
  return kHolds;
}

}  // namespace packcheck
