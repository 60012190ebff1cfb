"""ci/check-build looks at folders that are broken in one way each, and must complain of that and of nothing else."""
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "ci"))
sys.dont_write_bytecode = True
import build_checks  # noqa: E402

CLANG = next((c for c in ("clang++-19", "clang++-14") if shutil.which(c)), None)
SKIPPED = 77

GOOD = r"""
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile int sink;
static int table[16];
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (size_t i = 0; i < size && i < 16; ++i) {
    if (data[i] == 'a') sink += table[i];
    else if (data[i] > 100) sink -= table[15 - i];
  }
  if (size > 1000000) { int* more = new int[size]; sink += more[size / 2]; delete[] more; }
  EXTRA
  return 0;
}
"""


def compile_target(path, engine="-fsanitize=fuzzer", sanitizer="address", extra=""):
    source = path + ".cc"
    with open(source, "w", encoding="utf-8") as file:
        file.write(GOOD.replace("EXTRA", extra))
    words = [CLANG, "-O1", f"-fsanitize={sanitizer}", "-w", source, "-o", path]
    words += [engine] if engine.startswith("-") else [os.path.join(ROOT, "fuzz/standalone_main.cc"), "-std=c++20"]
    subprocess.run(words, check=True)
    os.remove(source)


class Folders(unittest.TestCase):
    """A sound folder, to be broken."""

    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.mkdtemp()
        cls.built = os.path.join(cls.base, "good")
        compile_target(cls.built)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.base)

    def setUp(self):
        self.out = tempfile.mkdtemp(dir=self.base)
        shutil.copy(self.built, self.at("thing_fuzzer"))
        self.write("thing_fuzzer.dict", 'name="a\\x00b"\n# a comment\n"\\\\"\n')
        self.write("thing_fuzzer.options", "[libfuzzer]\nmax_len = random(10, 20)\ntimeout = 25\n")
        self.seeds({"one": b"a", "two": b"zzz"})

    def at(self, name):
        return os.path.join(self.out, name)

    def write(self, name, text):
        with open(self.at(name), "w", encoding="utf-8") as file:
            file.write(text)

    def seeds(self, inputs, name="thing_fuzzer_seed_corpus.zip"):
        with zipfile.ZipFile(self.at(name), "w") as archive:
            for seed, data in inputs.items():
                archive.writestr(seed, data)

    def look(self, engine="libfuzzer", sanitizer="address", least_edges=3, least_calls=2):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "ci/check-build"), "--folder", self.out, "--engine", engine,
                               "--sanitizer", sanitizer, "--least-edges", str(least_edges), "--least-calls", str(least_calls)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode().splitlines()

    def complains(self, text, **how):
        """Of this alone, when only files are looked at; or all, where `how` says how."""
        if not how:
            folder = build_checks.Folder(self.out, "libfuzzer", "address")
            found = [c for check in build_checks.CHECKS[:4] for c in check(folder)]
            self.assertEqual(len(found), 1, found)
            self.assertIn(text, found[0])
            return
        status, lines = self.look(**how)
        self.assertEqual(status, 1, lines)
        self.assertEqual(len(lines), 2, lines)  # this complaint and the total
        self.assertIn(text, lines[0])


class CheckBuild(Folders):
    def test_a_sound_folder_gets_no_complaint(self):
        self.assertEqual(self.look(), (0, ["libfuzzer, address: 1 targets, 0 complaints"]))

    def test_no_targets(self):
        os.remove(self.at("thing_fuzzer"))
        for name in os.listdir(self.out):
            os.remove(self.at(name))
        self.complains("no fuzz targets in")

    def test_a_dotted_name(self):
        shutil.copy(self.built, self.at("my.thing_fuzzer"))
        self.complains("my.thing_fuzzer: ClusterFuzz ignores such a name")

    def test_a_name_that_upstream_passes_unseen(self):
        shutil.copy(self.built, self.at("xmltest"))
        self.complains("xmltest: the upstream check passes this name unseen")

    def test_a_name_without_the_suffix(self):
        shutil.copy(self.built, self.at("fuzz_thing"))
        self.complains("fuzz_thing: does not end in _fuzzer")

    def test_a_stripped_target(self):
        subprocess.run(["strip", "--strip-all", "-o", self.at("bare_fuzzer"), self.built], check=True)
        with open(self.at("bare_fuzzer"), "rb") as file:
            held = b"LLVMFuzzerTestOneInput" in file.read()
        if not held:
            self.complains("bare_fuzzer: no fuzz target (stripped")

    def test_another_program(self):
        shutil.copy("/bin/true", self.at("helper"))
        self.complains("helper: a program that is no fuzz target")

    def test_seeds_under_a_wrong_name(self):
        os.rename(self.at("thing_fuzzer_seed_corpus.zip"), self.at("thing_fuzzer.zip"))
        self.complains("thing_fuzzer.zip: nobody unpacks this")

    def test_seeds_of_no_target(self):
        self.seeds({"x": b"x"}, "other_fuzzer_seed_corpus.zip")
        self.complains("other_fuzzer_seed_corpus.zip: there is no target other_fuzzer")

    def test_seeds_in_folders(self):
        self.seeds({"folder/x": b"x"})
        self.complains("folders inside", least_edges=3)

    def test_seeds_that_are_no_archive(self):
        self.write("thing_fuzzer_seed_corpus.zip", "no zip")
        self.complains("expected a zip archive", least_edges=3)

    def test_a_dictionary_that_does_not_parse(self):
        self.write("thing_fuzzer.dict", 'good="a"\nbad=a\n')
        self.complains("thing_fuzzer.dict:2: bad=a: no dictionary entry")

    def test_a_dictionary_with_a_wrong_escape(self):
        self.write("thing_fuzzer.dict", '"\\n"\n')
        self.complains("thing_fuzzer.dict:1")

    def test_an_empty_dictionary(self):
        self.write("thing_fuzzer.dict", "# nothing\n")
        self.complains("no entries")

    def test_options_that_do_not_parse(self):
        self.write("thing_fuzzer.options", "max_len = 3\n")
        self.complains("thing_fuzzer.options: ")

    def test_options_that_nothing_reads(self):
        self.write("thing_fuzzer.options", "[libfuzzer]\nmax_length = 3\n")
        self.complains("max_length is no option of libFuzzer")

    def test_options_by_environment(self):
        self.write("thing_fuzzer.options", "[env]\nMODE = fast\n")
        self.complains("configuration by environment does not exist there")

    def test_an_option_that_is_no_number(self):
        self.write("thing_fuzzer.options", "[libfuzzer]\nmax_len = many\n")
        self.complains("max_len = many: expected a whole number")

    def test_a_dictionary_that_is_not_there(self):
        self.write("thing_fuzzer.options", "[libfuzzer]\ndict = gone.dict\n")
        self.complains("dict = gone.dict: no such file")

    def test_too_few_edges(self):
        self.complains("edges; expected 1000 or more", least_edges=1000)

    def test_another_engine_than_it_was_built_for(self):
        status, lines = self.look(engine="afl", least_edges=0)
        self.assertEqual(status, 1)
        self.assertIn("built for libfuzzer; expected afl", "\n".join(lines))

    def test_no_sanitizer_to_speak_of(self):
        self.complains("calls of AddressSanitizer; expected 100000 or more", least_calls=100000)

    def test_another_sanitizer_than_it_was_built_for(self):
        status, lines = self.look(sanitizer="undefined", least_calls=100)
        self.assertEqual(status, 1)
        self.assertIn("calls of UBSan; expected 100 or more in an undefined build", "\n".join(lines))
        self.assertIn("calls of AddressSanitizer in an undefined build", "\n".join(lines))


class CheckBehaviour(Folders):
    """Targets that misbehave; each is compiled, so there are few."""

    def compiled(self, extra, **how):
        os.remove(self.at("thing_fuzzer"))
        compile_target(self.at("thing_fuzzer"), extra=extra, **how)

    def test_two_sanitizers(self):
        self.compiled("", sanitizer="address,undefined")
        self.complains("calls of UBSan in an address build", least_calls=2)

    def test_a_seed_that_crashes(self):
        self.compiled("if (size == 3 && data[0] == 'z') abort();")
        status, lines = self.look()
        self.assertEqual(status, 1)
        self.assertIn("seed two ends with", "\n".join(lines))

    def test_the_empty_input_crashes(self):
        self.compiled("if (size == 0) abort();")
        self.assertIn("the empty input ends with", "\n".join(self.look()[1]))

    def test_a_target_that_exits(self):
        self.compiled("if (size == 3) _exit(0);", engine="standalone")
        self.assertIn("ended before its 3 inputs were run", "\n".join(self.look(engine="standalone")[1]))

    def test_a_target_that_is_never_the_same(self):
        self.compiled("struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);"
                      "for (long n = t.tv_nsec % 97; n > 0; --n) if (n & 1) sink ^= 1; else sink += 2;"
                      "switch (t.tv_nsec >> 4 & 7) { case 0: sink += 5; break; case 1: sink ^= 9; break; case 2: sink |= 3; break;"
                      "case 3: sink &= 7; break; default: sink -= 1; }")
        self.assertIn("the same inputs gave two different runs", "\n".join(self.look()[1]))


class EveryEngineAndSanitizer(unittest.TestCase):
    """A small target in the environment that ci/check-build makes for each: built, and nothing to complain of."""

    def test_each_environment_builds_what_the_checks_accept(self):
        loader = importlib.machinery.SourceFileLoader("check_build", os.path.join(ROOT, "ci/check-build"))
        script = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(script)
        tried = []
        for engine in build_checks.ENGINES:
            for sanitizer in build_checks.SANITIZERS:
                with self.subTest(engine=engine, sanitizer=sanitizer), tempfile.TemporaryDirectory() as base:
                    variables = script.environment_of(engine, sanitizer, base)
                    if variables is None:
                        continue
                    tried.append(engine)
                    out = os.path.join(base, "out")
                    os.makedirs(out)
                    build_small(variables, base, os.path.join(out, "thing_fuzzer"))
                    folder = build_checks.Folder(out, engine, sanitizer, least_edges=3, least_calls=2)  # 2: ASan's own of UBSan
                    self.assertEqual((folder.targets, build_checks.complaints(folder)), (["thing_fuzzer"], []))
        self.assertIn("libfuzzer", tried)


def build_small(variables, base, path):
    """As build.sh and CMake do it: compiled, and linked with the engine behind it."""
    source, engine = os.path.join(base, "thing.cc"), variables["LIB_FUZZING_ENGINE"]
    with open(source, "w", encoding="utf-8") as file:
        file.write(GOOD.replace("EXTRA", "if (size > 2) { int n = data[0]; sink = n << 24; sink += 2000000000 / (n + 1); }"))
    compiler = [variables["CXX"], *variables["CXXFLAGS"].split(), "-std=c++20", "-w"]
    environment = {**os.environ, "AFL_QUIET": "1"}
    if variables["FUZZING_ENGINE"] == "standalone":
        subprocess.run([*compiler, "-c", os.path.join(ROOT, "fuzz/standalone_main.cc"), "-o", engine], check=True, env=environment)
    subprocess.run([*compiler, "-c", source, "-o", source + ".o"], check=True, env=environment)
    subprocess.run([*compiler, source + ".o", engine, "-o", path], check=True, env=environment)


if __name__ == "__main__":
    if CLANG is None or not shutil.which("strip"):
        print("skipped: no clang here")
        sys.exit(SKIPPED)
    unittest.main()
