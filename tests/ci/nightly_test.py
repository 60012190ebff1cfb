"""ci/nightly over programs that only say what fuzzers say: stages, budget, findings, trends, and a night that is killed."""
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "ci"))
sys.dont_write_bytecode = True
from night import budget, coverage, engines, findings, stages  # noqa: E402
from night.state import State, write_whole  # noqa: E402

# As libFuzzer: an input in the corpus, and its last lines. Replays files; those that hold "bad" stop it.
TARGET = r"""#!/bin/sh
artifacts=
corpus=
for word in "$@"; do
  case $word in
    -artifact_prefix=*) artifacts=${word#*=} ;;
    -merge=1) merge=yes ;;
    -*) ;;
    *) if [ -f "$word" ]; then
         if [ "$PACKCHECK_SUBJECT" = exec:nobody ]; then echo "packcheck: no such program"; exit 2; fi
         case $PACKCHECK_SUBJECT,$0 in exec:other,*good_fuzzer) exit 4 ;; esac
         if grep -q bad "$word"; then
           echo "packcheck repro --law text.some_law --case '{}'"
           echo "packcheck: fuzz_one.cc:1: fuzz_law: Assertion \`text.some_law json zero' failed."
           exit 77
         fi
         exit 0
       fi
       [ -n "$corpus" ] || corpus=$word ;;
  esac
done
echo hello >"$corpus/one"
echo "#1000 DONE cov: 42 ft: 50 corp: 1/1b"
echo "stat::number_of_executed_units: 1000"
echo "stat::new_units_added:          3"
BAD
exit 0
"""
CRASHES = r"""if [ -z "$merge" ]; then echo "a bad input $$" >"${artifacts}crash-$$"; exit 77; fi"""

PACKCHECK = r"""#!/bin/sh
case $1 in
  corpus) echo "imported cases/text/crashing/x.json" ;;
  twins) echo '{"score": 1.0, "twins": []}' ;;
  sweep) echo "holds $*" ;;
esac
"""

# As ci/mutate-core, which says its score in its first line.
MUTATE = r"""#!/bin/sh
echo "mutants 9206, files core/*, seed 5, tried 40, killed 38, constant 1, equivalent 0, score 0.9744"
echo "$*"
exit 1
"""


def script(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def until(holds):
    """Whether it does within a minute. Looks again and again, as a killed process goes when the kernel lets it; how
    often decides nothing."""
    for _ in range(600):
        if holds():
            return True
        time.sleep(0.1)
    return False


def processes_with(words):
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                found += [name] if name.isdigit() and file.read().startswith(words) else []
        except OSError:
            pass  # it is gone, or no process
    return found


class Nightly(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.base)
        self.programs, self.state = os.path.join(self.base, "programs"), os.path.join(self.base, "state")
        script(os.path.join(self.programs, "packcheck"), PACKCHECK)
        self.target("good_fuzzer", "")

    def target(self, name, bad):
        for build in ("fast", "sanitized"):
            script(os.path.join(self.programs, build, name), TARGET.replace("BAD", bad))
            with open(os.path.join(self.programs, build, "targets.txt"), "a", encoding="utf-8") as file:
                file.write(f"{name} text\n")

    def words(self, duration="2m"):
        return [sys.executable, os.path.join(ROOT, "ci/nightly"), "--budget", duration, "--programs", self.programs, "--state",
                self.state, "--jobs", "2", "--seed", "5"]

    def run_night(self, duration="2m", *more, subject=""):
        done = subprocess.run([*self.words(duration), *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, "PACKCHECK_SUBJECT": subject})
        return done.returncode, done.stdout.decode()

    def report(self):
        with open(os.path.join(self.state, "report.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_a_night_without_findings_reports_every_target_and_every_skipped_stage(self):
        status, said = self.run_night()
        self.assertEqual(status, 0, said)
        row = self.report()["targets"]["good_fuzzer"]
        self.assertEqual((row["execs"], row["edges"], row["corpus"], row["findings"]), (4000, 42, 1, 0), said)
        self.assertEqual(set(self.report()["skipped"]), {"memory", "afl", "coverage", "mutants"}, said)
        self.assertIn("MSan: skipped: not applicable", said)
        self.assertEqual(len(self.report()["sweeps"]), len(stages.SWEEP_TARGETS))
        self.assertFalse(os.path.exists(os.path.join(self.state, "night.json")))

    def test_a_stage_says_of_how_many_targets_it_is(self):
        self.target("other_fuzzer", "")
        os.remove(os.path.join(self.programs, "fast", "other_fuzzer"))
        status, said = self.run_night()
        self.assertEqual(status, 0, said)
        self.assertIn("exploration with fast builds: done, of 1 of 2 targets", said)
        self.assertIn("ASan and UBSan: done\n", said)

    def test_the_mutation_score_of_the_core_is_told_and_compared(self):
        for score, told in (("0.8", "80.0 % of 40 tried"), ("0.9744", "97.4 % (+22 %) of 40 tried")):
            script(os.path.join(self.programs, "mutate-core"), MUTATE.replace("0.9744", score))
            status, said = self.run_night("10m")
            self.assertEqual(status, 0, said)
            self.assertIn(told, said)
            write_whole(os.path.join(self.state, "history.jsonl"), json.dumps({**self.report(), "night": "2000-01-01T00:00:00Z"}) + "\n")
        self.assertEqual(self.report()["mutants"], {"mutants": 9206, "tried": 40, "killed": 38, "score": 0.9744})
        with open(os.path.join(self.state, "logs", "mutants"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"--budget \d+s --jobs 2 --seed 5000 --sample 9999 --resume")

    def test_a_target_that_the_subject_offers_nothing_is_skipped_and_no_finding(self):
        self.target("other_fuzzer", "")
        status, said = self.run_night(subject="exec:other")
        self.assertEqual(status, 0, said)
        self.assertEqual(self.report()["skipped_targets"], {"good_fuzzer": stages.NOTHING_OFFERED})
        self.assertEqual(list(self.report()["targets"]), ["other_fuzzer"])
        for name in ("report.md", "report.html"):
            with open(os.path.join(self.state, name), encoding="utf-8") as file:
                self.assertIn(stages.NOTHING_OFFERED, file.read())
        with open(os.path.join(self.state, "logs", "sweep-f16"), encoding="utf-8") as file:
            self.assertIn("--subject exec:other", file.read())
        status, said = self.run_night()  # of the reference: the other night is not what it is compared with
        self.assertIn("the first night here", said)
        self.assertEqual(len(self.report()["targets"]), 2)

    def test_a_shard_of_a_night_has_its_targets_and_its_part_of_the_sweeps(self):
        self.target("other_fuzzer", "")
        for part, name in enumerate(("good_fuzzer", "other_fuzzer")):
            status, said = self.run_night("2m", "--shard", f"{part}/2")
            self.assertEqual((status, list(self.report()["targets"])), (0, [name]), said)
            self.assertIn(f"shard {part}/2", said)
            with open(os.path.join(self.state, "logs", "sweep-f16"), encoding="utf-8") as file:
                self.assertIn(f"--shard {part}/2", file.read())

    def test_a_subject_that_cannot_be_judged_is_wrong_usage(self):
        status, said = self.run_night(subject="exec:nobody")
        self.assertEqual(status, 2, said)
        self.assertIn("PACKCHECK_SUBJECT=exec:nobody: packcheck: no such program", said)

    def test_a_new_finding_is_kept_once_and_fails_one_night_only(self):
        self.target("bad_fuzzer", CRASHES)
        status, said = self.run_night()
        self.assertEqual(status, 1, said)
        self.assertEqual(self.report()["new_findings"], ["text.some_law json zero"])
        kept = os.listdir(os.path.join(self.state, "findings"))
        self.assertEqual(len(kept), 1)
        with open(os.path.join(self.state, "findings", kept[0], "input"), encoding="utf-8") as file:
            self.assertIn("a bad input", file.read())
        self.assertEqual(os.listdir(os.path.join(self.state, "artifacts", "bad_fuzzer")), [])
        self.assertIn("case `cases/text/crashing/x.json`", said)
        status, said = self.run_night()
        self.assertEqual(status, 0, said)
        self.assertIn("against the night of", said)
        self.assertEqual(self.report()["targets"]["bad_fuzzer"]["findings"], 1)
        with open(os.path.join(self.state, "report.html"), encoding="utf-8") as file:
            page = file.read()
        for text in ("bad_fuzzer", "0 new findings", "MSan", "against the night of", "corpus files: 2"):
            self.assertIn(text, page)

    def test_a_killed_night_goes_on_and_loses_no_finding(self):
        self.target("bad_fuzzer", CRASHES)
        self.target("slow_fuzzer", "sleep 1")
        killed = 0
        for _ in range(2):
            running = subprocess.Popen(self.words(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            for line in running.stdout:
                if b"_fuzzer: " in line:  # a slice is over
                    break
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            running.stdout.close()
            killed += 1
            with open(os.path.join(self.state, "night.json"), encoding="utf-8") as file:
                self.assertGreater(json.load(file)["spent"], 0)
        # Killed between the engine's writing and the reading of what it wrote.
        with open(os.path.join(self.state, "artifacts", "good_fuzzer", "crash-1"), "w", encoding="utf-8") as file:
            file.write("bad")
        status, said = self.run_night()
        self.assertEqual((killed, status), (2, 1), said)
        self.assertIn("goes on with the night of", said)
        self.assertEqual(self.report()["new_findings"], ["text.some_law json zero"])
        self.assertEqual(self.report()["targets"]["good_fuzzer"]["findings"], 1)

    def test_what_a_killed_night_started_ends_with_it(self):
        self.target("slow_fuzzer", f"exec sleep {60 + os.getpid() / 1e7}")
        running = subprocess.Popen(self.words(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        wanted = f"sleep\0{60 + os.getpid() / 1e7}".encode()
        started = until(lambda: processes_with(wanted))
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
        self.assertEqual((started, until(lambda: not processes_with(wanted))), (True, True))

    def test_a_finding_of_a_killed_night_is_new_in_the_night_after_another_commit(self):
        self.target("bad_fuzzer", CRASHES)
        killed = State(self.state, 120, "another commit", 1)
        with open(os.path.join(killed.made("artifacts", "bad_fuzzer"), "crash-1"), "w", encoding="utf-8") as file:
            file.write("bad")
        findings.gather(killed, "bad_fuzzer", os.path.join(self.programs, "sanitized", "bad_fuzzer"), None)
        killed.night["night"] = "2000-01-01T00:00:00Z"
        for about in findings.all_findings(killed):
            path = killed.at("findings", findings.folder_name(about["signature"]), "finding.json")
            write_whole(path, json.dumps({**about, "night": killed.night["night"]}))
        killed.save()
        for expected in (["text.some_law json zero"], []):
            status, said = self.run_night()
            self.assertEqual((status, self.report()["new_findings"]), (1 if expected else 0, expected), said)

    def test_a_night_that_is_killed_between_two_corpora_loses_neither(self):
        state = State(self.state, 120, "commit", 1)
        for name in ("first_fuzzer.old", "first_fuzzer.merged", "second_fuzzer", "second_fuzzer.old"):
            with open(os.path.join(state.made("corpus", name), name), "w", encoding="utf-8") as file:
                file.write("x")
        stages.restore_corpora(state)
        left = {name: os.listdir(state.at("corpus", name)) for name in sorted(os.listdir(state.at("corpus")))}
        self.assertEqual(left, {"first_fuzzer": ["first_fuzzer.old"], "second_fuzzer": ["second_fuzzer"]})

    def test_a_target_that_does_not_run_fails_the_night(self):
        for build in ("fast", "sanitized"):
            script(os.path.join(self.programs, build, "good_fuzzer"), "#!/bin/sh\nexit 1\n")
        status, said = self.run_night()
        self.assertEqual(status, 3, said)
        self.assertIn("good_fuzzer ran not one input", said)

    def test_a_finding_whose_input_was_not_moved_yet_gets_it(self):
        state = State(self.state, 120, "commit", 1)
        folder = state.made("artifacts", "bad_fuzzer")
        program = os.path.join(self.programs, "sanitized", "good_fuzzer")
        for _ in range(2):
            with open(os.path.join(folder, "crash-1"), "w", encoding="utf-8") as file:
                file.write("bad")
            findings.gather(state, "bad_fuzzer", program, None)
            kept = state.at("findings", findings.folder_name("text.some_law json zero"), "input")
            self.assertTrue(os.path.exists(kept))
            os.remove(kept)  # as if the kill had come before the move

    def test_an_input_that_a_killed_engine_did_not_come_to_write_is_no_finding(self):
        state = State(self.state, 120, "commit", 1)
        folder = state.made("artifacts", "good_fuzzer")
        write_whole(os.path.join(folder, "crash-1"), "")
        findings.gather(state, "good_fuzzer", os.path.join(self.programs, "sanitized", "good_fuzzer"), None)
        self.assertEqual((os.listdir(folder), findings.all_findings(state)), ([], []))
        write_whole(os.path.join(folder, "crash-1"), "whole, and does not stop again")
        findings.gather(state, "good_fuzzer", os.path.join(self.programs, "sanitized", "good_fuzzer"), None)
        self.assertEqual([about["signature"] for about in findings.all_findings(state)], ["good_fuzzer did not stop again"])

    def test_wrong_usage(self):
        for words in (["--budget", "1m"], ["--budget", "soon"], ["--budget", "2m", "--jobs", "0"], [],
                      ["--budget", "2m", "--shard", "2/2"], ["--budget", "2m", "--shard", "half"]):
            done = subprocess.run([sys.executable, os.path.join(ROOT, "ci/nightly"), *words, "--no-build", "--state", self.state],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.returncode, 2, done.stdout)
        shutil.rmtree(self.programs)
        self.assertEqual(self.run_night()[0], 3)


# As afl-fuzz: makes its own folder and no other, and what it found has names of its own.
AFL = r"""#!/bin/sh
while [ "$1" != -- ]; do
  case $1 in -i) from=$2 ;; -o) out=$2 ;; esac
  shift
done
mkdir "$out" && mkdir "$out/default" "$out/default/queue" "$out/default/crashes" || exit 1
cat "$from"/* >"$out/default/queue/id:000000"
echo short >"$out/default/queue/id:000001,time:0,execs:0,orig:000001"
echo bad >"$out/default/crashes/id:000000,sig:06"
echo "execs_done        : 500" >"$out/default/fuzzer_stats"
"""


class Afl(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.base)
        script(self.at("bin", "afl-fuzz"), AFL)
        before = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        os.environ["PATH"] = self.at("bin") + os.pathsep + before
        for name in ("corpus", "artifacts"):
            os.mkdir(self.at(name))

    def at(self, *parts):
        return os.path.join(self.base, *parts)

    def write(self, text, *parts):
        os.makedirs(os.path.dirname(self.at(*parts)), exist_ok=True)
        with open(self.at(*parts), "w", encoding="utf-8") as file:
            file.write(text)

    def part(self):
        return engines.afl("target", 1, self.at("corpus"), [], self.at("artifacts"), self.at("afl", "target"), 99, None, None,
                           self.at("log"))

    def test_each_part_starts_from_the_corpus_and_counts_its_own_inputs(self):
        self.assertEqual((self.part()["execs"], os.listdir(self.at("artifacts"))), (500, [engines.name_of(b"bad\n")]))
        self.write("new", "corpus", "found by another")
        self.assertEqual(self.part()["execs"], 500)
        self.assertIn(engines.name_of(b"0new"), os.listdir(self.at("corpus")))
        self.assertNotIn(engines.name_of(b"short\n"), os.listdir(self.at("corpus")), "what it started from, shortened, is not new")

    def test_a_short_part_starts_from_some_inputs_of_all_sizes(self):
        for size in range(100):
            self.write("x" * (size + 1), "corpus", str(size))
        for most, expected in ((10, range(1, 101, 10)), (100, range(1, 101)), (1000, range(1, 101))):
            engines.start_inputs(self.at("start"), [self.at("corpus"), self.at("no folder")], most)
            sizes = [os.path.getsize(self.at("start", name)) for name in sorted(os.listdir(self.at("start")))]
            self.assertEqual(sizes, list(expected))

    def test_what_a_killed_part_found_is_not_lost(self):
        self.write("a crash", "afl", "target", "default", "crashes", "id:000007,sig:11")
        self.write("an input", "afl", "target", "default", "queue", "id:000003")
        self.part()
        self.assertIn(engines.name_of(b"a crash"), os.listdir(self.at("artifacts")))
        self.assertIn(engines.name_of(b"an input"), os.listdir(self.at("corpus")))


# As a target that finds every input worth keeping.
MERGES = r"""#!/bin/sh
for word in "$@"; do
  case $word in
    -*) ;;
    *) if [ -z "$into" ]; then into=$word; else cp "$word"/* "$into"; fi ;;
  esac
done
"""


class KeepCorpus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = folder.name
        script(os.path.join(self.base, "programs/gguf_fuzzer"), MERGES)
        write_whole(os.path.join(self.base, "programs/targets.txt"), "gguf_fuzzer file\nconvert_fuzzer none\n")
        write_whole(os.path.join(self.base, "corpus/fuzz/gguf/old"), "an old input")
        write_whole(os.path.join(self.base, "night/gguf_fuzzer/new"), "a new input")

    def keep(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "ci/keep-corpus"), os.path.join(self.base, "night"),
                               "--programs", os.path.join(self.base, "programs"), "--corpus", os.path.join(self.base, "corpus")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode(), sorted(os.listdir(os.path.join(self.base, "corpus/fuzz/gguf")))

    def test_old_and_new_inputs_are_merged_under_their_sha1(self):
        status, said, names = self.keep()
        self.assertEqual((status, names), (0, sorted(engines.name_of(text) for text in (b"a new input", b"an old input"))), said)
        self.assertEqual(os.listdir(os.path.join(self.base, "corpus")), ["fuzz"])

    def test_too_much_changes_nothing(self):
        write_whole(os.path.join(self.base, "night/gguf_fuzzer/large"), "x" * 2 * 1024 * 1024)
        status, said, names = self.keep()
        self.assertEqual((status, names), (1, ["old"]), said)
        self.assertIn("expected at most 2097152", said)


class Parts(unittest.TestCase):
    def test_durations(self):
        self.assertEqual([budget.parse_duration(text) for text in ("90s", "10m", "8h", "8", "h", "-1m")],
                         [90, 600, 28800, None, None, None])

    def test_what_a_stage_saves_the_later_ones_have(self):
        whole = budget.shares(600)
        self.assertLessEqual(sum(whole.values()), 600)
        later = budget.shares(600, ["explore"], 10)
        self.assertGreater(later["sanitize"], whole["sanitize"])
        self.assertLessEqual(sum(later.values()), 590)
        self.assertEqual(sum(budget.shares(600, [], 700).values()), 0)

    def test_targets_that_still_find_get_more_and_none_gets_nothing(self):
        parts = budget.split(90, {"a": 2.0, "b": 1.0, "c": 0.0})
        self.assertAlmostEqual(sum(parts.values()), 90)
        self.assertGreater(parts["a"], parts["b"])
        self.assertGreater(parts["c"], 0)
        self.assertEqual([round(part) for part in budget.split(90, {"a": 1.0, "b": 0.0, "c": 0.0}, 25).values()], [40, 25, 25])
        self.assertEqual(budget.split(9, {"a": 1.0, "b": 0.0, "c": 0.0}, 25), {"a": 3.0, "b": 3.0, "c": 3.0})
        self.assertEqual(budget.split(10, {"a": 0.0, "b": 0.0}), {"a": 5.0, "b": 5.0})

    def test_a_family_without_folders_of_seeds_is_its_files(self):
        with tempfile.TemporaryDirectory() as root:
            for folder in ("text/seed", "text/crashing", "vectors"):
                os.makedirs(os.path.join(root, "corpus", folder))
            night = stages.Night(State(os.path.join(root, "state"), 120, "commit", 1), {}, root, 1, print)
            self.assertEqual([night.seeds(family) for family in ("text", "vectors", "none")],
                             [[os.path.join(root, "corpus/text/seed")], [os.path.join(root, "corpus/vectors")], []])

    def test_a_night_starts_from_what_earlier_ones_kept(self):
        with tempfile.TemporaryDirectory() as root:
            state = State(os.path.join(root, "state"), 120, "commit", 1)
            write_whole(os.path.join(root, "corpus/fuzz/gguf/kept"), "kept")
            write_whole(state.at("corpus", "gguf_fuzzer", "found"), "found")
            stages.adopt_kept(state, root, [("gguf_fuzzer", "file"), ("convert_fuzzer", "none")])
            self.assertEqual([sorted(os.listdir(state.at("corpus", name))) for name in ("gguf_fuzzer", "convert_fuzzer")],
                             [["found", "kept"], []])

    def test_the_longest_input_is_that_of_the_options(self):
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "fuzz"))
            with open(os.path.join(root, "fuzz", "short.options"), "w", encoding="utf-8") as file:
                file.write("[libfuzzer]\nmax_len = 77\n")
            night = stages.Night(State(os.path.join(root, "state"), 120, "commit", 1), {}, root, 1, print)
            self.assertEqual([night.longest(name) for name in ("short_fuzzer", "other_fuzzer")], [77, 4096])

    def test_signatures_hold_no_values(self):
        self.assertEqual(findings.signature_of("x: Assertion `text.law json zero' failed.", 77), "text.law json zero")
        first, second = (findings.signature_of(
            f"SUMMARY: AddressSanitizer: heap-buffer-overflow /a/{x}/b.cc:{x}:3 in f(char*)", 1) for x in (1, 22))
        self.assertEqual(first, second)
        self.assertIn("heap-buffer-overflow b.cc in f", first)
        self.assertEqual(findings.signature_of("", None), "hung")

    def test_libfuzzers_last_words(self):
        said = engines.libfuzzer_said("#12 NEW cov: 3 ft: 4\n#90 pulse cov: 7 ft: 9\n")
        self.assertEqual((said["execs"], said["edges"]), (90, 7))

    LISTING = ("SF:/r/core/a.cc\nDA:1,5\nDA:2,0\nDA:3,0\nDA:5,1\nBRDA:1,0,0,7\nBRDA:1,0,1,0\nBRDA:2,0,0,-\nend_of_record\n"
               "SF:/r/core/b.cc\nDA:1,2\nend_of_record\nSF:/r/fuzz/c.cc\nDA:1,0\nend_of_record\n")

    def test_coverage_is_that_of_core_alone(self):
        covered = coverage.totals(coverage.files_of(self.LISTING, "/r/core/"), [])
        self.assertEqual((covered["lines"], covered["branches"], covered["missed"]), (60.0, 33.33, 2))
        self.assertEqual(covered["most_missed"], [["a.cc", 2, 50.0, 33.33]])

    def test_what_is_not_covered_is_listed_with_its_text(self):
        with tempfile.TemporaryDirectory() as core:
            for name in ("a.cc", "b.cc", "forgotten.cc"):
                with open(os.path.join(core, name), "w", encoding="utf-8") as file:
                    file.write("if (x)\n  return;\n}\n")
            files = coverage.files_of(self.LISTING.replace("/r/core/", core + "/"), core + "/")
            known = coverage.reasons("# a comment\ncore/b.cc | | of another file\n* | ^return | nobody returns\n")
            self.assertEqual(coverage.uncovered(core, files, known),
                             (["core/a.cc:1: one side: if (x)\n", "core/a.cc:2-3: never: return; -- nobody returns\n"], 2))
            with self.assertRaisesRegex(ValueError, "expected file"):
                coverage.reasons("core/b.cc | no reason\n")
            self.assertEqual(coverage.unlinked(core, files), ["forgotten.cc"])


if __name__ == "__main__":
    unittest.main()
