// The `packcheck` command: options into the structs of commands.h, nothing else.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "subjects/reference/version.h"

namespace packcheck {
namespace {

/// CLI11 takes -1 for a large unsigned number and cuts what does not fit.
const CLI::Validator kWholeNumber(
    [](std::string& text) {
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error == std::errc{} && end == text.data() + text.size()) return std::string();
      return "'" + text + "'; expected a whole number from 0 to 18446744073709551615";
    },
    "");

void add_verify(CLI::App& app, VerifyOptions& o, std::function<int()>& run) {
  CLI::App* c = app.add_subcommand("verify", "Put laws to subjects: corpus, sweep, property and fuzz engines.");
  c->footer("Example: packcheck verify --subject lib:./libmine.so --law 'format.*' --report mine-report");
  c->add_option("--subject", o.subjects, std::string(kSubjectHelp) + "; also twin:*, third-party, all")
      ->capture_default_str();
  c->add_option("--law", o.laws, "laws by id, * and ? allowed")->capture_default_str();
  c->add_option("--profile", o.profile, "quick, gate or nightly")->capture_default_str();
  c->add_option("--time", o.time, "go on with new seeds for so long, as in 10m");
  c->add_option("--seed", o.seed, "of the random engines")->capture_default_str()->check(kWholeNumber);
  c->add_option("--engine", o.engines, "only this engine: corpus, sweep, property or fuzz; repeatable")
      ->allow_extra_args(false);
  c->add_option("--report", o.report, "folder to write the report into")->capture_default_str();
  c->add_option("--jobs", o.jobs, "processes; 0 for one per core")->capture_default_str();
  add_limits(c, o.call_timeout, o.call_memory);
  c->add_option("--max-findings", o.max_findings, "most findings of one subject")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  c->add_option("--shard", o.shard, "i/n: only this part of the work")->capture_default_str();
  c->add_option("--corpus", o.corpus, "corpus folder, or none; default: the one packcheck came with");
  c->add_option("--expected", o.expected, "folder of expected lists: exit 0 exactly if every subject is as listed");
  c->add_flag("--json", o.json, "print the report as JSON");
  c->callback([&run, &o, c] {
    o.seed_given = c->count("--seed") > 0;
    run = [&o] { return run_verify(o); };
  });
}

void add_repro(CLI::App& app, ReproOptions& o, std::function<int()>& run) {
  CLI::App* c = app.add_subcommand("repro", "Show what one case breaks, bits side by side.");
  c->footer(
      "Example: packcheck repro --law params.unpack_inverts_pack --subject twin:numeric_cast --case "
      "'{\"layout\":\"conv2d:gen2\",\"values\":[3,3,1,0,64]}'");
  c->add_option("file", o.file, "case file, FILE#ID of a vector, or a fuzzer's crash file (with --law)");
  c->add_option("--case", o.inline_case, "the case itself, as JSON");
  c->add_option("--law", o.law, "law id");
  c->add_option("--subject", o.subject, kSubjectHelp);
  c->add_option("--variant", o.variant, "of a crash file, as in q8_0:ggml");
  add_limits(c, o.call_timeout, o.call_memory);
  c->add_flag("--json", o.json, "print JSON");
  c->callback([&run, &o] { run = [&o] { return run_repro(o); }; });
}

void add_sweep(CLI::App& app, SweepOptions& o, std::function<int()>& run) {
  CLI::App* c = app.add_subcommand("sweep", "Every input of a small domain.");
  c->footer("Example: packcheck sweep format.narrowing_is_correctly_rounded --from f32 --to f16");
  c->add_option("law", o.law, "law id")->required();
  c->add_option("--from", o.from, "source format");
  c->add_option("--to", o.to, "target format");
  c->add_option("--variant", o.variant, "variant, as in q8_0:ggml");
  c->add_option("--subject", o.subject, kSubjectHelp)->capture_default_str();
  c->add_option("--shard", o.shard, "i/n: only this part of the inputs")->capture_default_str();
  c->add_option("--report", o.report, "folder for the state that --resume reads")->capture_default_str();
  c->add_option("--jobs", o.jobs, "processes; 0 for one per core")->capture_default_str();
  c->add_flag("--resume", o.resume, "go on where the same sweep stopped");
  c->add_flag("--in-process", o.in_process,
              "call a library that you trust without a worker: faster, its crash is ours");
  add_limits(c, o.call_timeout, o.call_memory);
  c->add_flag("--json", o.json, "print JSON");
  c->callback([&run, &o] { run = [&o] { return run_sweep_command(o); }; });
}

/// import, promote, minimise and export.
void add_corpus_life(CLI::App* c, CorpusOptions& o, std::function<int()>& run) {
  const auto action = [&](const std::string& name, const std::string& help, const std::string& example) {
    CLI::App* a = c->add_subcommand(name, help);
    a->footer("Example: packcheck corpus " + example);
    a->add_option("--corpus", o.corpus, "corpus folder");
    a->callback([&run, &o, name] {
      run = [&o, name] {
        o.action = name;
        return run_corpus_command(o);
      };
    });
    return a;
  };
  CLI::App* import =
      action("import", "Inputs that a fuzzer wrote become shrunk cases under crashing/, one a signature.",
             "import crash-1234 --family text");
  import->add_option("files", o.files, "inputs, or case files");
  import->add_option("--case", o.inline_case, "instead of files: the case as JSON, of --law");
  import->add_option("--law", o.law, "only this law");
  import->add_option("--family", o.family, "only the laws of this case type");
  import->add_option("--variant", o.variant, "only this variant, as in q8_0:ggml");
  import->add_option("--subject", o.subject, std::string(kSubjectHelp) + "; default: the reference");
  (void)action("promote", "Cases under crashing/ whose law holds again become regressions; exit 1 if some do not.",
               "promote --corpus corpus");
  (void)action("minimise", "Shrinks the cases under crashing/, and keeps the simplest of each signature.",
               "minimise --corpus corpus");
  CLI::App* to =
      action("export", "A family's cases as bytes that a fuzzer starts from.", "export --family text --to seeds");
  to->add_option("--family", o.family, "one of: " + wire_families());
  to->add_option("--to", o.to, "folder to write the inputs into");
}

void add_corpus(CLI::App& app, CorpusOptions& o, std::function<int()>& run) {
  CLI::App* c = app.add_subcommand("corpus", "Add case files to a corpus, or check one.");
  c->footer("Example: packcheck corpus add packcheck-report/findings/*.json --kind regression");
  c->require_subcommand(1);
  CLI::App* add = c->add_subcommand("add", "Add case files, or raw files with --family.");
  add->footer("Example: packcheck corpus add crash-1234 --family text --kind crashing");
  add->add_option("files", o.files, "case files, or raw files in a family's wire format");
  add->add_option("--kind", o.kind, "seed, regression or crashing")->capture_default_str();
  add->add_option("--family", o.family, "the files are raw, in the wire format of one of: " + wire_families());
  add->add_option("--vectors", o.vectors, "add one case as a vector to vectors/NAME.json; needs the options below");
  add->add_option("--case", o.inline_case, "of a vector: the case as JSON");
  add->add_option("--law", o.law, "of a vector: law id");
  add->add_option("--id", o.id, "of a vector: its name in the file");
  add->add_option("--comment", o.comment, "of a vector: what it shows");
  add->add_option("--source", o.source, "of a vector: where it comes from");
  add->add_option("--declares", o.declares, "of a vector: declarations of the subject that answers; repeatable")
      ->allow_extra_args(false);
  add->add_option("--right", o.right, "of a vector: right answers as JSON; default: those of the reference");
  add->add_option("--wrong", o.wrong, "of a vector: wrong answers as JSON");
  add->add_option("--wrong-from", o.wrong_from, "of a vector: the subject that gives the wrong answers");
  add->add_option("--flag", o.flags, "of a vector: kind of bug; repeatable")->allow_extra_args(false);
  add->add_flag("--acceptable", o.acceptable, "of a vector: some system means the wrong answer");
  add->add_option("--corpus", o.corpus, "corpus folder");
  add->callback([&run, &o] {
    run = [&o] {
      o.action = "add";
      return run_corpus_command(o);
    };
  });
  add_corpus_life(c, o, run);
  CLI::App* lint = c->add_subcommand("lint", "Check every file of a corpus; exit 1 on problems.");
  lint->footer("Example: packcheck corpus lint --corpus corpus");
  lint->add_option("--corpus", o.corpus, "corpus folder");
  lint->add_flag("--json", o.json, "print JSON");
  lint->callback([&run, &o] {
    run = [&o] {
      o.action = "lint";
      return run_corpus_command(o);
    };
  });
}

void add_twins(CLI::App& app, TwinsOptions& o, std::function<int()>& run) {
  CLI::App* c =
      app.add_subcommand("twins", "Every faulty twin, what catches it with the corpus empty, the mutation score.");
  c->footer("Example: packcheck twins --json");
  c->add_option("--profile", o.profile, "quick, gate or nightly")->capture_default_str();
  c->add_option("--seed", o.seed, "of the random engines")->capture_default_str()->check(kWholeNumber);
  c->add_option("--jobs", o.jobs, "processes; 0 for one per core")->capture_default_str();
  c->add_flag("--json", o.json, "print JSON");
  c->callback([&run, &o, c] {
    o.seed_given = c->count("--seed") > 0;
    run = [&o] { return run_twins(o); };
  });
}

void add_report(CLI::App& app, MergeOptions& o, std::function<int()>& run) {
  CLI::App* c = app.add_subcommand("report", "Work on reports of verify.");
  c->footer("Example: packcheck report merge shard-0 shard-1 --report whole");
  c->require_subcommand(1);
  CLI::App* merge = c->add_subcommand("merge", "The shards of one verify as the report of the whole.");
  merge->footer("Example: packcheck report merge shard-0 shard-1 --report whole");
  merge->add_option("folders", o.folders, "the --report folders of all shards");
  merge->add_option("--expected", o.expected, "folder of expected lists: exit 0 exactly if every subject is as listed");
  merge->add_option("--report", o.report, "folder to write the report into")->capture_default_str();
  merge->add_flag("--json", o.json, "print the report as JSON");
  merge->callback([&run, &o] { run = [&o] { return run_report_merge(o); }; });
}

void add_sentinel(CLI::App& app, SentinelOptions& o, std::function<int()>& run) {
  CLI::App* c = app.add_subcommand("sentinel", "Does a compiler, with its flags, break the numbers of a kernel?");
  c->footer("Example: packcheck sentinel 'gcc -O3 -march=native'");
  c->add_option("compiler", o.compiler, "the compiler and its flags, as one word")->required();
  c->add_flag("--json", o.json, "print JSON");
  c->callback([&run, &o] { run = [&o] { return run_sentinel(o); }; });
}

void add_audit(CLI::App& app, AuditOptions& o, std::function<int()>& run) {
  CLI::App* c = app.add_subcommand(
      "audit", "What a loader should refuse or convert in a model file or graph JSON; exit 1 on problems.");
  c->footer("Example: packcheck audit model.safetensors --accept narrow_scales");
  c->add_option("file", o.file, "a safetensors or GGUF file, or a graph as JSON")->required();
  c->add_option("--accept", o.accept, "a kind of warning that is no problem here; repeatable")->allow_extra_args(false);
  c->add_flag("--json", o.json, "print JSON");
  c->callback([&run, &o] { run = [&o] { return run_audit(o); }; });
}

void add_list(CLI::App& app, const std::string& what, const std::string& help, ListOptions& o,
              std::function<int()>& run) {
  CLI::App* c = app.add_subcommand(what, help);
  c->footer("Example: packcheck " + what + " --json");
  c->add_flag("--json", o.json, "print JSON");
  c->callback([&run, &o, what] {
    run = [&o, what] {
      o.what = what;
      return run_list(o);
    };
  });
}

/// The words of the command line, last first, as CLI11 takes them. For `ask` and `explain` a negative
/// number is no option, and nothing behind "--" is: such words get a space in front, which is taken off again.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  bool options = true;
  const auto is_negative = [](const std::string& word) {
    return word.size() > 1 && word[0] == '-' && ((word[1] >= '0' && word[1] <= '9') || word == "-Infinity");
  };
  for (std::size_t i = 1; i < words.size() && (words[0] == "ask" || words[0] == "explain"); ++i) {
    if (options && words[i] == "--") {
      options = false;
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i--));
    } else if (is_negative(words[i]) || (!options && words[i].size() > 1 && words[i][0] == '-')) {
      words[i].insert(0, " ");
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

/// The first word that should be a command and is none ("corpus remove" too); empty if all is well.
/// CLI11 only says that a command is required.
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& reversed) {
  const CLI::App* at = &app;
  for (auto word = reversed.rbegin(); word != reversed.rend(); ++word) {
    if (at->get_require_subcommand_min() == 0 || word->empty() || (*word)[0] == '-') return {};
    const std::vector<const CLI::App*> named =
        at->get_subcommands([&](const CLI::App* c) { return c->check_name(*word); });
    const CLI::App* next = named.empty() ? nullptr : named.front();
    if (next == nullptr) return at == &app ? *word : at->get_name() + " " + *word;
    at = next;
  }
  return {};
}

int run_main(int argc, char** argv) {
  CLI::App app{"packcheck tells whether an implementation keeps the numbers it is given."};
  app.set_version_flag("--version", std::string("packcheck ") + kVersion);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 all laws hold, 1 findings, 2 wrong usage or bad input, 3 packcheck itself failed; ask: 1 refused, "
      "4 not offered.");
  std::function<int()> run;
  VerifyOptions verify;
  ReproOptions repro;
  SweepOptions sweep;
  AskOptions ask;
  ExplainOptions explain;
  CorpusOptions corpus;
  TwinsOptions twins;
  MergeOptions merge;
  SentinelOptions sentinel;
  AuditOptions audit;
  ListOptions list;
  add_verify(app, verify, run);
  add_repro(app, repro, run);
  add_sweep(app, sweep, run);
  add_ask(app, ask, run);
  add_explain(app, explain, run);
  add_corpus(app, corpus, run);
  add_twins(app, twins, run);
  add_report(app, merge, run);
  add_sentinel(app, sentinel, run);
  add_audit(app, audit, run);
  add_list(app, "laws", "Every law: id and sentence.", list, run);
  add_list(app, "subjects", "Every built-in subject.", list, run);
  add_list(app, "formats", "Every scalar format: widths, bias, limits, infinities, NaN codes.", list, run);
  add_list(app, "encodings", "Every encoding in every dialect.", list, run);
  add_list(app, "layouts", "Every layout of packed parameters: fields, and which doubles their words can be.", list,
           run);
  std::vector<std::string> words = words_of(argc, argv);
  if (const std::string unknown = unknown_command(app, words); !unknown.empty()) {
    std::fprintf(stderr, "packcheck: unknown command '%s'; `packcheck --help` lists them\n", unknown.c_str());
    return kBadInput;
  }
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kHolds : kBadInput;
  }
  return run();
}

}  // namespace
}  // namespace packcheck

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error with a message
  // Arguments and answers of a few hundred KiB come and go all the time: keep the memory.
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  try {
    const int status = packcheck::run_main(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fprintf(stderr, "packcheck: standard output cannot be written; expected room for the answer\n");
    return packcheck::kFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "packcheck: internal error: %s\n", error.what());
    return packcheck::kFailed;
  }
}
