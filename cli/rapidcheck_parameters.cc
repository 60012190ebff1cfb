#include "cli/rapidcheck_parameters.h"

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string>

#include "properties/near_name.h"

namespace packcheck {
namespace {

constexpr const char* kVariable = "RC_PARAMS";

/// A key of RapidCheck that says nothing to packcheck, and what does.
struct Unused {
  std::string_view key;
  std::string_view instead;
};
constexpr Unused kUnused[] = {
    {"reproduce", "`packcheck repro`, which takes the case itself"},
    {"max_size", "no size: cases are drawn from choices"},
    {"max_discard_ratio", "no ratio: what a law says nothing about is counted in the report"},
    {"noshrink", "nothing: shrinking is bounded"},
    {"verbose_progress", "a terminal, which shows progress"},
    {"verbose_shrinking", "the report, which counts the steps"},
};

template <class Number>
Result<Number> number_of(const std::string& key, const std::string& text, Number least, const char* right) {
  Number value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last || value < least) {
    std::string where = kVariable;
    return refuse("'" + text + "'", where.append(" ").append(key), right);
  }
  return value;
}

Result<void> take(RapidCheckParameters& parameters, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? std::string() : word.substr(equals + 1);
  for (const Unused& row : kUnused)
    if (row.key == key) return refuse("'" + key + "' is not used", kVariable, std::string(row.instead));
  if (key == "seed") {
    const auto seed = number_of<std::uint64_t>(key, value, 0, "a whole number from 0 to 18446744073709551615");
    if (!seed) return tl::unexpected(seed.error());
    parameters.seed = *seed;
    return {};
  }
  if (key == "max_success") {
    const auto cases = number_of<int>(key, value, 1, "a whole number from 1 to 2147483647: no law holds by 0 cases");
    if (!cases) return tl::unexpected(cases.error());
    parameters.max_success = *cases;
    return {};
  }
  return refuse("unknown key '" + key + "'", kVariable, one_of(key, {"seed", "max_success"}));
}

}  // namespace

Result<RapidCheckParameters> parse_rapidcheck_parameters(std::string_view text) {
  RapidCheckParameters parameters;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;)
    if (const Result<void> taken = take(parameters, word); !taken) return tl::unexpected(taken.error());
  return parameters;
}

Result<RapidCheckParameters> rapidcheck_parameters_of_environment() {
  const char* const text = std::getenv(kVariable);
  return parse_rapidcheck_parameters(text == nullptr ? "" : text);
}

}  // namespace packcheck
