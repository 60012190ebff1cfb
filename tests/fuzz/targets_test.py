"""Fuzz targets as programs that replay files: what they find, whom they judge, and what they do again.

    targets_test.py FOLDER COMPILER    a folder of targets, and a C compiler for the subjects of another
"""
import ctypes
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGETS, COMPILER = os.path.abspath(sys.argv[1]), sys.argv[2]
HERE = os.path.dirname(os.path.abspath(__file__))


def time_to_find():
    """The script, for its list of twins."""
    loader = importlib.machinery.SourceFileLoader("time_to_find", os.path.join(ROOT, "bench/time_to_find"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("time_to_find", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class Targets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_target(self, name, *words, subject="", fault=""):
        environment = {"PATH": os.environ["PATH"], "PACKCHECK_SUBJECT": subject, "FAULT": fault}
        done = subprocess.run([os.path.join(TARGETS, name + "_fuzzer"), *words], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        return done.returncode, done.stdout.decode() + done.stderr.decode(errors="replace")

    def library(self, source):
        path = os.path.join(self.folder, "subject.so")
        subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-I", os.path.join(ROOT, "subjects/include"), source, "-o", path,
                        "-lm"], check=True)
        return path

    def finds(self, signature, name, subject, fault=""):
        status, text = self.run_target(name, "-drawn=2000", subject=subject, fault=fault)
        self.assertLess(status, 0, text[-500:])
        self.assertRegex(text, "Assertion `" + signature)
        self.assertRegex(text, r"\npackcheck repro --law \S+ --case '\{.*\}' --subject '" + subject.split(":")[0])

    def test_a_twin_in_the_place_of_the_reference_is_found_in_drawn_inputs(self):
        self.finds("params.", "packed_params", "twin:numeric_cast")
        self.finds("shape.", "graph_shapes", "twin:shape_input_by_formula")
        self.finds("graph.", "nonfinite_export", "twin:graph_scalar_bare")

    def test_a_twin_of_each_target_is_found_in_drawn_inputs(self):
        for target, twins in time_to_find().TWINS:
            status, text = self.run_target(target, "-drawn=20000", subject="twin:" + twins[0])
            self.assertLess(status, 0, f"{target} {twins[0]}: {text[-200:]}")

    def test_a_crash_of_a_library_of_another_is_a_finding_and_not_the_targets_end(self):
        path = self.library(os.path.join(HERE, "faulty_subject.c"))
        self.finds(r"text.printing_never_yields_nan_or_infinity json \w+ crashed", "nonfinite_export", "lib:" + path, "crash")

    def test_a_hang_of_a_library_of_another_is_a_finding(self):
        path = self.library(os.path.join(HERE, "faulty_subject.c"))
        self.finds(r"text.printing_never_yields_nan_or_infinity json \w+ hung", "nonfinite_export", "lib:" + path, "hang")

    def test_a_crash_of_a_program_of_another_is_a_finding(self):
        command = f"exec:'{sys.executable}' '{os.path.join(HERE, 'faulty_program.py')}'"
        self.finds(r"text.printing_never_yields_nan_or_infinity json \w+ crashed", "nonfinite_export", command)

    def test_a_sound_library_holds_in_a_worker_and_in_process(self):
        path = self.library(os.path.join(ROOT, "subjects/examples/example_subject.c"))
        for kind in ("lib:", "in-process:"):
            status, text = self.run_target("packed_params", "-drawn=200", subject=kind + path)
            self.assertEqual((status, text), (0, "200 inputs\n"))

    def test_subjects_that_cannot_be_judged_are_refused_with_what_would_be_right(self):
        for subject, words in (("twin:nobody", "no twin 'nobody'"), ("somebody", "expected reference, twin:NAME, lib:PATH"),
                               ("lib:/nowhere.so", "no such file")):
            status, text = self.run_target("convert", "-drawn=1", subject=subject)
            self.assertEqual(status, 2)
            self.assertIn(words, text)

    def test_a_subject_that_offers_a_target_nothing_ends_it_with_a_status_of_its_own(self):
        path = self.library(os.path.join(HERE, "faulty_subject.c"))
        for name in ("convert", "block_bytes"):  # by the names of laws, and by their family
            self.assertEqual(self.run_target(name, "-drawn=1", subject="lib:" + path),
                             (4, "packcheck: the subject offers nothing that this target judges\n"))

    def test_arguments_that_say_nothing_are_refused_and_options_of_libfuzzer_are_not(self):
        for argument in ("-drawn=-1", "-drawn=many", "-drawn=1x", "-drawn=0", "-seeds=", "-rnus=1", "-help=1", "nowhere"):
            status, text = self.run_target("convert", argument)
            self.assertEqual(status, 2, argument)
            self.assertIn("expected", text)
        self.assertEqual(self.run_target("convert", "-runs=1", "-drawn=2"), (0, "2 inputs\n"))

    def test_seeds_are_written_twice_the_same_and_hold(self):
        for name in ("safetensors", "block_bytes", "subject_frames"):
            contents = []
            for folder in ("one", "other"):
                path = os.path.join(self.folder, name, folder)
                self.assertEqual(self.run_target(name, "-seeds=" + path)[0], 0)
                files = [pathlib.Path(path, file).read_bytes() for file in sorted(os.listdir(path))]
                self.assertEqual(len(files), 64)
                self.assertGreater(len(set(files)), 32)
                contents.append(files)
            self.assertEqual(contents[0], contents[1])
            self.assertEqual(self.run_target(name, path), (0, "64 inputs\n"))

    def test_afl_gets_the_targets_mutator(self):
        path = os.path.join(TARGETS, "safetensors_afl.so")
        if not os.path.exists(path) or b"__asan_init" in pathlib.Path(path).read_bytes():
            self.skipTest("a library that Python can load is not built")
        library = ctypes.CDLL(path)
        library.afl_custom_init.restype = ctypes.c_void_p
        library.afl_custom_fuzz.restype = ctypes.c_size_t
        library.afl_custom_fuzz.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p),
                                            ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t]
        library.afl_custom_deinit.argtypes = [ctypes.c_void_p]

        def made(seed):
            state = library.afl_custom_init(None, seed)
            result, inputs = ctypes.c_void_p(), [b""]
            for _ in range(50):
                other = inputs[len(inputs) // 2]
                size = library.afl_custom_fuzz(state, inputs[-1], len(inputs[-1]), ctypes.byref(result), other, len(other), 300)
                inputs.append(ctypes.string_at(result, size) if size else b"")
            library.afl_custom_deinit(state)
            return inputs

        inputs = made(7)
        self.assertEqual(inputs[1][8:9], b"{", "from nothing, a file")
        self.assertGreater(len(set(inputs)), 30)
        self.assertLessEqual(max(map(len, inputs)), 300)
        self.assertEqual(inputs, made(7))
        self.assertNotEqual(inputs, made(8))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
