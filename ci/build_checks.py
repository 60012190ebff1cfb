"""What ci/check-build looks at in a folder of fuzz targets. Each check gives complaints: what, where, what would be right.

The build check of OSS-Fuzz asks whether targets start and are instrumented. This one also asks what it leaves out, which costs a
project months in silence: names that ClusterFuzz ignores, seeds under a name that nobody unpacks, dictionaries and options that
do not parse, seeds that crash, targets that reach next to nothing, and targets that do something else each time.
"""
import configparser
import os
import random
import re
import struct
import subprocess
import tempfile
import zipfile

IGNORED_BY_UPSTREAM = {"fuzz_dump", "xmltest", "fuzz_compression_sas_rle", "ares_*_fuzzer"}  # passed unseen, whatever they do
ENGINES = ("libfuzzer", "afl", "standalone")
SANITIZERS = ("address", "undefined")
LIBRARIES = re.compile(r"(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|libstdc\+\+|ld-linux-x86-64)\.so\b")
OPTION_SECTIONS = {"libfuzzer", "afl", "honggfuzz", "asan", "msan", "ubsan", "env"}
LIBFUZZER_NUMBERS = {"max_len", "timeout", "rss_limit_mb", "len_control", "only_ascii", "use_value_profile", "detect_leaks",
                     "close_fd_mask", "malloc_limit_mb", "reduce_inputs", "mutate_depth", "cross_over"}
LIBFUZZER_TEXTS = {"dict"}
RANDOM = re.compile(r"random\(\s*\d+\s*,\s*\d+\s*\)")
SECONDS = 120  # for one command; a target that hangs is a complaint


class Folder:
    """A folder as build.sh leaves it, and what is in it."""

    def __init__(self, path, engine, sanitizer, least_edges=100, least_calls=200):
        self.path, self.engine, self.sanitizer = os.path.abspath(path), engine, sanitizer
        self.least_edges, self.least_calls = least_edges, least_calls
        self.names = sorted(os.listdir(self.path))
        self.targets = [n for n in self.names if is_target(os.path.join(self.path, n))]

    def at(self, name):
        return os.path.join(self.path, name)


def is_target(path):
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return False
    with open(path, "rb") as file:
        data = file.read()
    return data[:4] == b"\x7fELF" and b"LLVMFuzzerTestOneInput" in data


def run(words, folder, seconds=SECONDS):
    """(exit code, output) of a command away from its folder, without most of the environment."""
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "TMPDIR": folder, "HOME": "/nowhere",
                   "ASAN_OPTIONS": "abort_on_error=0:symbolize=0", "AFL_QUIET": "1",
                   "UBSAN_OPTIONS": "silence_unsigned_overflow=1:symbolize=0:halt_on_error=1"}
    try:
        done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return "a time-out", ""
    except OSError as error:
        return str(error), ""


def last_line(output):
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1].strip()[:160] if lines else "no output"


# Names ------------------------------------------------------------------------------------------------------------------

def names(folder):
    if not folder.targets:
        yield f"no fuzz targets in {folder.path}; expected programs that hold LLVMFuzzerTestOneInput and are not stripped"
    for name in folder.names:
        path = folder.at(name)
        if os.path.isdir(path):
            yield f"{name}: a folder; expected all files flat"
        elif name.endswith("_fuzzer") and name not in folder.targets:
            yield f"{name}: no fuzz target (stripped, not executable, or a script); expected a program with its symbols"
        elif os.access(path, os.X_OK) and name not in folder.targets:
            yield f"{name}: a program that is no fuzz target; expected nothing else that runs"
    for name in folder.targets:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
            yield f"{name}: ClusterFuzz ignores such a name; expected letters, digits, _ and -, without a dot"
        elif name in IGNORED_BY_UPSTREAM or name.startswith("ares_"):
            yield f"{name}: the upstream check passes this name unseen; expected another name"
        elif not name.endswith("_fuzzer"):
            yield f"{name}: does not end in _fuzzer; expected THING_fuzzer"


def companions(folder):
    """Every other file must be one target's dictionary, options or seeds."""
    for name in folder.names:
        if name in folder.targets or os.path.isdir(folder.at(name)) or name.endswith("_fuzzer"):
            continue
        stem = re.sub(r"(_seed_corpus\.zip|\.dict|\.options)$", "", name)
        if name.endswith(".zip") and not name.endswith("_seed_corpus.zip"):
            yield f"{name}: nobody unpacks this; expected TARGET_seed_corpus.zip"
        elif name.endswith((".zip", ".dict", ".options")) and stem not in folder.targets:
            yield f"{name}: there is no target {stem}; expected the name of a target in front"
    for target in folder.targets:
        several = [n for n in folder.names if n.startswith(target + "_seed_corpus.")]
        if len(several) > 1:
            yield f"{', '.join(several)}: two seed corpora; expected one {target}_seed_corpus.zip"


# Files beside a target --------------------------------------------------------------------------------------------------

ENTRY = re.compile(r'(?:[A-Za-z0-9_]+(?:@\d+)?\s*=\s*)?"((?:[^"\\]|\\\\|\\"|\\x[0-9A-Fa-f]{2})+)"')


def dictionaries(folder):
    for target in folder.targets:
        name = target + ".dict"
        if name not in folder.names:
            continue
        entries = 0
        with open(folder.at(name), encoding="latin-1") as file:
            for number, line in enumerate(file, 1):
                text = line.strip()
                if not text or text.startswith("#"):
                    continue
                entries += 1
                if not ENTRY.fullmatch(text) or re.search(r"[^\x20-\x7e]", text):
                    yield f'{name}:{number}: {text[:60]}: no dictionary entry; expected NAME="bytes", with \\xNN, \\\\ and \\"'
        if entries == 0:
            yield f"{name}: no entries; expected some, or no dictionary"


def option_problem(folder, section, key, value):
    if section == "env":
        return "is ignored: configuration by environment does not exist there"
    if section == "libfuzzer":
        if key not in LIBFUZZER_NUMBERS | LIBFUZZER_TEXTS:
            return f"is no option of libFuzzer; expected one of {', '.join(sorted(LIBFUZZER_NUMBERS | LIBFUZZER_TEXTS))}"
        if key in LIBFUZZER_NUMBERS and not re.fullmatch(r"\d+", value) and not RANDOM.fullmatch(value):
            return f"= {value}: expected a whole number or random(a, b)"
        if key == "dict" and value not in folder.names:
            return f"= {value}: no such file beside the target"
        if key == "timeout" and value.isdigit() and int(value) > 25:
            return f"= {value}: expected at most 25, which is what ClusterFuzz gives an input"
    return None


def options(folder):
    for target in folder.targets:
        name = target + ".options"
        if name not in folder.names:
            continue
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read(folder.at(name))
        except (configparser.Error, UnicodeDecodeError) as error:
            yield f"{name}: {str(error).splitlines()[0]}; expected [section] and key = value lines"
            continue
        if not parser.sections():
            yield f"{name}: empty; expected a section [libfuzzer]"
        for section in parser.sections():
            if section not in OPTION_SECTIONS:
                yield f"{name}: section [{section}]; expected one of {', '.join(sorted(OPTION_SECTIONS))}"
                continue
            for key, value in parser.items(section):
                problem = option_problem(folder, section, key, value)
                if problem:
                    yield f"{name}: {key} {problem}"


def unpack_seeds(folder, target, into):
    """Paths of the seeds of a target, or a complaint as text."""
    name = target + "_seed_corpus.zip"
    if name not in folder.names:
        return []
    try:
        with zipfile.ZipFile(folder.at(name)) as archive:
            inside = archive.namelist()
            if any("/" in entry for entry in inside):
                return f"{name}: folders inside; expected a flat archive"
            if not inside:
                return f"{name}: empty; expected seeds, or no archive"
            archive.extractall(into)
    except (zipfile.BadZipFile, OSError) as error:
        return f"{name}: {error}; expected a zip archive"
    return [os.path.join(into, entry) for entry in sorted(inside)]


# What a target is made of -----------------------------------------------------------------------------------------------

def calls(path, prefixes):
    """How many direct calls of functions with each of these prefixes the program's text has."""
    listing = run(["nm", "--defined-only", path], "/")[1]
    sections = run(["readelf", "--wide", "--section-headers", path], "/")[1]
    text = re.search(r"\s\.text\s+PROGBITS\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)", sections)
    wanted = {}
    for line in listing.splitlines():
        parts = line.split()
        if len(parts) == 3:
            for prefix in prefixes:
                if parts[2].startswith(prefix):
                    wanted[int(parts[0], 16)] = prefix
    counts = dict.fromkeys(prefixes, 0)
    if not text:
        return counts
    address, offset, size = (int(text.group(i), 16) for i in (1, 2, 3))
    with open(path, "rb") as file:
        file.seek(offset)
        code = file.read(size)
    for found in re.finditer(rb"\xe8", code):  # call rel32
        at = found.start()
        if at + 5 <= size:
            prefix = wanted.get(address + at + 5 + struct.unpack_from("<i", code, at + 1)[0])
            if prefix:
                counts[prefix] += 1
    return counts


def instrumentation(folder):
    for target in folder.targets:
        count = calls(folder.at(target), ("__asan_report", "__ubsan_handle"))
        asan, ubsan = count["__asan_report"], count["__ubsan_handle"]
        if folder.sanitizer == "address":
            if asan < folder.least_calls:
                yield f"{target}: {asan} calls of AddressSanitizer; expected {folder.least_calls} or more in an address build"
            if ubsan > folder.least_calls:
                yield f"{target}: {ubsan} calls of UBSan in an address build; expected one sanitizer a build"
        if folder.sanitizer == "undefined":
            if ubsan < folder.least_calls:
                yield f"{target}: {ubsan} calls of UBSan; expected {folder.least_calls} or more in an undefined build"
            if asan > 0:
                yield f"{target}: {asan} calls of AddressSanitizer in an undefined build; expected one sanitizer a build"
        needed = re.findall(r"NEEDED\s+(\S+)", run(["objdump", "-p", folder.at(target)], "/")[1])
        for library in needed:
            if not LIBRARIES.match(library):
                yield f"{target}: needs {library}, which is not where it will run; expected it linked statically"


def engine(folder):
    for target in folder.targets:
        with open(folder.at(target), "rb") as file:
            data = file.read()
        found = {"libfuzzer": b"INFO: seed corpus" in data, "afl": b"##SIG_AFL_PERSISTENT##" in data}
        has = [name for name, there in found.items() if there] or ["standalone"]
        if has != [folder.engine]:
            yield f"{target}: built for {' and '.join(has)}; expected {folder.engine}"


# What a target does -----------------------------------------------------------------------------------------------------

def replay(folder, target, files, work):
    """(exit code, output) of the target over these files, once each."""
    return run([folder.at(target), *files], work)


def seeds_hold(folder):
    for target in folder.targets:
        with tempfile.TemporaryDirectory() as work:
            seeds = unpack_seeds(folder, target, os.path.join(work, "seeds"))
            if isinstance(seeds, str):
                yield seeds
                continue
            empty = os.path.join(work, "empty")
            with open(empty, "wb"):
                pass
            status, output = replay(folder, target, [empty], work)
            if status != 0:
                yield f"{target}: the empty input ends with {status}: {last_line(output)}; expected 0"
                continue
            status, output = replay(folder, target, [empty, *seeds], work) if seeds else (0, output)
            if status != 0:
                for seed in seeds:
                    status, output = replay(folder, target, [seed], work)
                    if status != 0:
                        yield f"{target}: seed {os.path.basename(seed)} ends with {status}: {last_line(output)}; expected 0"
                        break
            elif folder.engine == "standalone" and f"{1 + len(seeds)} inputs" not in output:
                yield f"{target}: ended before its {1 + len(seeds)} inputs were run; expected no exit() in a target"


def drawn_inputs(work):
    """Files of the same random bytes each time: AFL++ has no mutator here that would leave the seeds behind."""
    dice = random.Random(1)
    paths = [os.path.join(work, f"drawn-{number}") for number in range(16)]
    for path in paths:
        with open(path, "wb") as file:
            file.write(dice.randbytes(dice.randrange(8, 512)))
    return paths


def explored(folder, target, seeds, work):
    """A corpus that libFuzzer makes in a moment, and how many edges it reached. Not the same twice: libFuzzer takes what the
    program compares into its dictionary, addresses too."""
    corpus = tempfile.mkdtemp(dir=work)
    more = [os.path.join(work, "seeds")] if seeds else []
    _, output = run([folder.at(target), "-seed=1", "-runs=3000", "-max_len=512", corpus, *more], work)
    found = re.findall(r"cov: (\d+)", output)
    return corpus, int(found[-1]) if found else 0


def features(folder, target, corpus, work):
    """What each input of the corpus reached, as libFuzzer writes it down when it merges."""
    control = os.path.join(tempfile.mkdtemp(dir=work), "control")
    status, _ = run([folder.at(target), "-merge=1", f"-merge_control_file={control}", tempfile.mkdtemp(dir=work), corpus], work)
    if not os.path.exists(control):
        return [status]
    with open(control, encoding="latin-1") as file:
        return [line for line in file if line.startswith("FT ")]


def mapped(target, paths, work):
    """The same of AFL++."""
    reached = []
    for path in paths:
        out = os.path.join(work, "map")
        run(["afl-showmap", "-q", "-m", "none", "-t", "10000", "-o", out, "--", target, path], work)
        if os.path.exists(out):
            with open(out, encoding="latin-1") as file:
                reached.append(sorted(line.strip() for line in file))
            os.remove(out)
    return reached


def two_runs(folder, target, work):
    """What two runs over the same inputs were like, and how many edges were reached (None: this engine has no coverage)."""
    seeds = unpack_seeds(folder, target, os.path.join(work, "seeds"))
    seeds = seeds if isinstance(seeds, list) else []
    if folder.engine == "libfuzzer":
        corpus, edges = explored(folder, target, seeds, work)
        return [features(folder, target, corpus, work) for _ in range(2)], edges
    inputs = seeds[:50] + drawn_inputs(work)
    if folder.engine == "afl":
        runs = [mapped(folder.at(target), inputs, work) for _ in range(2)]
        return runs, len({line.split(":")[0] for lines in runs[0] for line in lines})
    return [list(replay(folder, target, inputs, work)) for _ in range(2)], None


def differ(first, second):
    """Whether more than a quarter of the inputs did. A few do in a sound target: the standard library compares addresses, which
    are others each time, and that shows in single branches."""
    unlike = sum(one != other for one, other in zip(first, second))
    return len(first) != len(second) or 4 * unlike > len(first)


def same_twice(folder):
    for target in folder.targets:
        with tempfile.TemporaryDirectory() as work:
            (first, second), edges = two_runs(folder, target, work)
        if differ(first, second):
            yield f"{target}: the same inputs gave two different runs; expected a target without randomness, time or addresses"
        if edges is not None and edges < folder.least_edges:
            yield f"{target}: reaches {edges} edges; expected {folder.least_edges} or more"


CHECKS = (names, companions, dictionaries, options, instrumentation, engine, seeds_hold, same_twice)


def complaints(folder):
    found = []
    for check in CHECKS:
        found += list(check(folder))
    return found
