// cli/arguments.h: the options of the `packcheck` command in CLI11's words, where they are more than main.cc's.
// Parsing only: what an option means is in commands.h.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/commands.h"

namespace packcheck {

inline constexpr const char* kSubjectHelp =
    "reference, twin:NAME, lib:PATH.so, exec:COMMAND, a built-in name (`packcheck subjects`), or one of them under "
    "other conditions: under:flush,upward,comma:reference";

/// --call-timeout and --call-memory.
void add_limits(CLI::App* command, std::string& timeout, std::string& memory);

/// Each adds its command to `app`; a parsed command line leaves what to run in `run`.
void add_ask(CLI::App& app, AskOptions& o, std::function<int()>& run);
void add_explain(CLI::App& app, ExplainOptions& o, std::function<int()>& run);

}  // namespace packcheck
