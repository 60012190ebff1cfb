// cli/commands.h: what each command takes and does. main.cc fills the options in from the command
// line (CLI11 stays there); every function returns the exit code of design: 0 all laws hold, 1
// findings, 2 wrong usage or bad input, 3 packcheck itself failed; ask: 1 refused, 4 not offered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "subjects/subject.h"

namespace packcheck {

enum ExitCode : int { kHolds = 0, kFindings = 1, kBadInput = 2, kFailed = 3, kNotOffered = 4 };

struct VerifyOptions {
  std::vector<std::string> subjects{"reference"};
  std::vector<std::string> laws{"*"};
  std::string profile = "quick";
  std::string time;  ///< "90s", "10m", "1h"; empty: as much as the profile says, once
  std::uint64_t seed = 1;
  bool seed_given = false;
  std::vector<std::string> engines;  ///< empty: all
  std::string report = "packcheck-report";
  unsigned jobs = 0;  ///< 0: one per core
  std::string call_timeout = "2s";
  std::string call_memory = "1G";
  std::size_t max_findings = 100;
  std::string shard = "0/1";
  std::string corpus;    ///< empty: the default one; "none": without
  std::string expected;  ///< folder of expected lists; empty: every finding counts
  bool json = false;
};
int run_verify(const VerifyOptions& options);

struct ReproOptions {
  std::string file;  ///< case file, FILE#ID, or crash file (with a law)
  std::string inline_case;
  std::string law;
  std::string subject;  ///< empty: the one in the file, else the reference
  std::string variant;  ///< of a crash file; empty: the law's first
  std::string call_timeout = "2s";
  std::string call_memory = "1G";
  bool json = false;
};
int run_repro(const ReproOptions& options);

struct SweepOptions {
  std::string law;
  std::string from;
  std::string to;
  std::string variant;
  std::string subject = "reference";
  std::string shard = "0/1";
  std::string report = "packcheck-report";
  unsigned jobs = 0;
  bool resume = false;
  bool in_process = false;  ///< the library is trusted and called without a worker
  std::string call_timeout = "2s";
  std::string call_memory = "1G";
  bool json = false;
};
int run_sweep_command(const SweepOptions& options);

struct AskOptions {
  std::string operation;
  std::vector<std::string> arguments;
  std::vector<std::string> fields;  ///< of shape: "stride=2" from --stride 2
  std::string from;
  std::string to;
  std::string round;        ///< empty: nearest-even, or what the dialect says
  std::string random_bits;  ///< of --round stochastic: 64 bits in hex
  bool saturate = false;
  std::string nan;  ///< empty: quieted, or what the dialect says; likewise below
  std::string subnormal;
  std::string integer;
  std::string dialect;  ///< a row of core/format/dialect.h
  std::string subject = "reference";
  std::string call_timeout = "2s";
  std::string call_memory = "1G";
  bool json = false;
};
int run_ask(const AskOptions& options);

struct ExplainOptions {
  std::string value;  ///< "9.7517E-319", "0x030301", "197377", "NaN"
  std::string op;     ///< "conv2d" or "conv2d:gen2"; empty: every layout in which it makes sense
  bool json = false;
};
int run_explain(const ExplainOptions& options);

struct CorpusOptions {
  std::string action;  ///< add, lint, import, promote, minimise, export
  std::vector<std::string> files;
  std::string kind = "regression";
  std::string family;       ///< of files that are no case files
  std::string inline_case;  ///< a case to add as a vector, with those below
  std::string law;
  std::string vectors;  ///< name of the file of vectors
  std::string id;
  std::string comment;
  std::string source;
  std::vector<std::string> declares;
  std::string right;       ///< JSON; empty: what the reference answers
  std::string wrong;       ///< JSON
  std::string wrong_from;  ///< a subject that gives the wrong answers
  std::vector<std::string> flags;
  bool acceptable = false;
  std::string subject;  ///< of inputs to import; empty: the reference
  std::string variant;  ///< of inputs to import; empty: every one
  std::string to;       ///< the folder to export into
  std::string corpus;
  bool json = false;
};
/// The families whose files may be raw: "blocks, text, file".
[[nodiscard]] std::string wire_families();
int run_corpus_command(const CorpusOptions& options);

struct AuditOptions {
  std::string file;                 ///< safetensors or GGUF, told by content
  std::vector<std::string> accept;  ///< kinds of warning that are notes here and make no exit code of 1
  bool json = false;
};
int run_audit(const AuditOptions& options);

struct ListOptions {
  std::string what;  ///< laws, subjects, formats, encodings, layouts
  bool json = false;
};
int run_list(const ListOptions& options);

struct SentinelOptions {
  std::string compiler;  ///< "gcc -O3 -march=native"
  bool json = false;
};
int run_sentinel(const SentinelOptions& options);

struct MergeOptions {
  std::vector<std::string> folders;  ///< report folders of all shards of one run
  std::string expected;              ///< as of verify
  std::string report = "packcheck-report";
  bool json = false;
};
int run_report_merge(const MergeOptions& options);

struct TwinsOptions {
  std::string profile = "quick";
  std::uint64_t seed = 1;
  bool seed_given = false;
  unsigned jobs = 0;
  bool json = false;
};
int run_twins(const TwinsOptions& options);

/// Prints "packcheck: where: what; expected right" on standard error; kBadInput.
int complain(const Error& error);

/// "250ms", "2s", "10m", "1h" in milliseconds; more than 0.
[[nodiscard]] Result<std::uint64_t> parse_duration(const std::string& text);
/// "512M", "1G", "65536" in bytes; more than 0.
[[nodiscard]] Result<std::uint64_t> parse_size(const std::string& text);
/// "0/4": index below count.
struct ShardOption {
  std::uint64_t index;
  std::uint64_t of;
};
[[nodiscard]] Result<ShardOption> parse_shard(const std::string& text);
[[nodiscard]] Result<CallLimits> parse_limits(const std::string& timeout, const std::string& memory);

}  // namespace packcheck
