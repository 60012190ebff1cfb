// The table twin x engine, as text and as JSON.
#include <cmath>
#include <sstream>

#include "cli/twins.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

std::string cell(const Catch& c) {
  if (!c.caught) return "-";
  std::string text = std::to_string(c.cases);
  text.append(c.cases == 1 ? " case, " : " cases, ").append(std::to_string(c.payload_bytes)).append(" bytes");
  return text;
}

json catches_json(const TwinRow& row) {
  json catches = json::array();
  for (std::size_t i = 0; i < kEngineCount; ++i) {
    const Catch& c = row.catches[i];
    if (!c.caught) continue;
    catches.push_back({{"law", row.twin->law},
                       {"engine", engine_name(static_cast<Engine>(i))},
                       {"place", c.place},
                       {"cases", c.cases},
                       {"payload_bytes", c.payload_bytes},
                       {"case", c.case_json}});
  }
  return catches;
}

}  // namespace

std::string twins_text(const TwinTable& table) {
  std::ostringstream out;
  out << "twin: law that catches it; by each engine alone: after how many cases, and how large the shrunk case is\n";
  for (const TwinRow& row : table.rows) {
    out << row.twin->name << ": " << row.twin->law << "\n  " << row.twin->bug << "\n ";
    for (std::size_t i = 1; i < kEngineCount; ++i)
      out << (i == 1 ? " " : "; ") << engine_name(static_cast<Engine>(i)) << " " << cell(row.catches[i]);
    out << "\n";
    if (row.engines() == 0) out << "  NOT CAUGHT\n";
    if (row.engines() == 1)
      out << "  one engine: " << (row.twin->one_engine.empty() ? "NO REASON IS WRITTEN" : row.twin->one_engine) << "\n";
  }
  out << "mutation score " << table.score() * 100.0 << " % of " << table.rows.size() << " twins, profile "
      << table.profile << ", seed " << table.seed << ", median shrunk case " << table.median_payload_bytes()
      << " bytes, " << std::round(table.processor_seconds * 10) / 10 << " CPU seconds\n";
  return out.str();
}

std::string twins_json(const TwinTable& table) {
  json twins = json::array();
  for (const TwinRow& row : table.rows)
    twins.push_back({{"name", row.twin->name},
                     {"bug", row.twin->bug},
                     {"law", row.twin->law},
                     {"caught_by", catches_json(row)},
                     {"one_engine", row.twin->one_engine}});
  return json{{"score", table.score()},
              {"profile", table.profile},
              {"seed", table.seed},
              {"median_payload_bytes", table.median_payload_bytes()},
              {"processor_seconds", table.processor_seconds},
              {"twins", twins}}
             .dump(2) +
         "\n";
}

}  // namespace packcheck
