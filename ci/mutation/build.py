"""Writes the mutated core into the build folder and builds the programs that can kill a mutant."""
import concurrent.futures
import hashlib
import json
import re
import subprocess

from rewrite import Finder, Site, render

MOST_REPAIRS = 6


class Mutant:
    """One change. `key` is the same as long as the line of the source is."""

    def __init__(self, number, path, line, text, change, constant):
        self.id, self.path, self.line, self.text, self.change = number, path, line, text, change
        self.constant = constant  # what is evaluated when the program is compiled stays as it is

    @property
    def key(self):
        return f"{self.path} | {self.text} | {self.change}"


def clang_arguments(root):
    resources = subprocess.run(["clang-14", "-print-resource-dir"], check=True, capture_output=True, text=True)
    return ["-x", "c++", "-std=c++20", f"-I{root}", "-resource-dir", resources.stdout.strip()]


def find_sites(path, arguments):
    """The places of one source, each as the arguments of its Site. Run in a process of its own."""
    return [[s.start, s.end, s.parts, s.function, s.original, s.changes, s.constant]
            for s in Finder(path, arguments).find()]


class MutatedCore:
    def __init__(self, root, build, say):
        self.root, self.build, self.say = root, build, say
        self.folder = build / "source" / "core"
        self.sites = {}  # of each file
        self.sources = {}
        self.bare_lines = set()  # (file, line) that do not compile with a mutant
        self.last = 0  # number
        self.kept_bare = None  # the file with them, for the next run

    def find(self, paths, jobs=1):
        """Parsing takes seconds a source: what was found is kept in the build folder, as long as nothing changed."""
        arguments = clang_arguments(self.root)
        rest = hashlib.sha256()
        for header in sorted((self.root / "core").rglob("*.h")) + [self.root / "ci" / "mutation" / "rewrite.py"]:
            rest.update(header.read_bytes() if header.exists() else b"")
        kept = {}
        for path in paths:
            self.sources[path] = (self.root / path).read_bytes()
            digest = hashlib.sha256(rest.digest() + self.sources[path]).hexdigest()[:24]
            kept[path] = self.build / "found" / f"{path.replace('/', '-')}-{digest}.json"
        unknown = [path for path in paths if not kept[path].exists()]
        self.say(f"looks for mutants in {len(unknown)} of {len(paths)} sources")
        with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
            found = pool.map(find_sites, [self.root / path for path in unknown], [arguments] * len(unknown))
            for path, sites in zip(unknown, found):
                self.put(kept[path], json.dumps(sites).encode())
        for path in paths:
            self.sites[path] = [Site(*site) for site in json.loads(kept[path].read_text())]
        self.kept_bare = self.build / "found" / f"bare-{rest.hexdigest()[:24]}.json"
        known = json.loads(self.kept_bare.read_text()) if self.kept_bare.exists() else {}
        self.bare_lines |= {(path, line) for path in paths for line in known.get(self.text_digest(path), [])}

    def text_digest(self, path):
        return f"{path} {hashlib.sha256(self.sources[path]).hexdigest()[:24]}"

    def keep_bare_lines(self):
        """So that the next run compiles once, as long as these sources are the same."""
        kept = {}
        for path, line in sorted(self.bare_lines):
            kept.setdefault(self.text_digest(path), []).append(line)
        self.put(self.kept_bare, json.dumps(kept).encode())

    def number(self):
        """Gives every change its number, from 1 on; returns the mutants that compile, in order. A number stays where
        others go, and a source keeps its numbers from one run to the next, so that only what changed is compiled."""
        mutants = []
        for path, last in self.numbers_before().items():
            sites, source = self.sites[path], self.sources[path]
            lines = source.decode().split("\n")
            seen = {}
            for site in sites:
                line = source.count(b"\n", 0, site.parts[0][1] if site.function != "literal" else site.start) + 1
                first_line = source.count(b"\n", 0, site.start) + 1
                is_argument = source[site.end:site.end + 1] == b">"  # of a template: it must be a constant
                site.bare = is_argument or bool({(path, line), (path, first_line)} & self.bare_lines)
                site.first_id = last + 1
                for change in site.changes:
                    last += 1
                    text = lines[line - 1].strip()
                    words = f"`{site.original}` becomes {change if ' ' in change else f'`{change}`'}"
                    count = seen[(text, words)] = seen.get((text, words), 0) + 1
                    if not site.bare:
                        words += f", {count}." if count > 1 else ""
                        mutants.append(Mutant(last, path, line, text, words, site.constant))
        return mutants

    def numbers_before(self):
        """Of each source the number before its first, out of the build folder where it has as many changes as then."""
        file = self.build / "numbers.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        end = max((before + count for before, count in known.values()), default=0)
        for path, sites in self.sites.items():
            count = sum(len(site.changes) for site in sites)
            if known.get(path, [0, -1])[1] != count:
                known[path] = [end, count]
                end += count
        self.put(file, json.dumps(known).encode())
        self.last = end
        return {path: known[path][0] for path in self.sites}

    def write(self):
        """Returns what tells this set of mutants from another."""
        digest = hashlib.sha256()
        here = self.root / "ci" / "mutation"
        mutated = [path for path, sites in self.sites.items() if sites]

        def place_of(match):
            path = f"core/{match[1]}"
            return f"\n  {self.build / 'source' / path if path in mutated else self.root / path}"

        rules = (self.root / "core" / "CMakeLists.txt").read_text()
        rules = re.sub(r"\n  ([\w/]+\.cc)", place_of, rules)
        rules = re.sub(r"(set_source_files_properties\()(.*?)( PROPERTIES)", self.places_of_list(mutated), rules,
                       flags=re.S)
        rules = rules.replace(" precompiled.h)", f" {self.root}/core/precompiled.h)")
        # With its assertions the standard library ends the program at an index past the end of an array or a span:
        # a loop that becomes <= would often read a number that changes nothing.
        rules += (f"\ntarget_sources(packcheck_core PRIVATE {here}/mutants.cc)\n"
                  f"target_include_directories(packcheck_core BEFORE PRIVATE {self.build}/source)\n"
                  f"target_compile_options(packcheck_core PRIVATE -w -Wno-narrowing -D_GLIBCXX_ASSERTIONS "
                  f"-include {here}/mutants.h)\n"
                  f"cmake_language(DEFER DIRECTORY ${{CMAKE_SOURCE_DIR}} CALL include {here}/programs.cmake)\n")
        self.put(self.folder / "CMakeLists.txt", rules.encode())
        digest.update(rules.encode())
        for path in mutated:
            content = render(self.sources[path], [s for s in self.sites[path] if not s.bare])
            digest.update(path.encode() + content)
            self.put(self.build / "source" / path, content)
        for source in sorted((self.root / "core").rglob("*.*")):
            digest.update(source.read_bytes())
        return digest.hexdigest()[:16]

    def places_of_list(self, mutated):
        def places(match):
            words = [f"core/{word}" for word in match[2].split()]
            return match[1] + " ".join(str((self.build / "source" if w in mutated else self.root) / w)
                                       for w in words) + match[3]
        return places

    @staticmethod
    def put(path, content):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)

    def configure(self, definitions):
        command = ["cmake", "-S", self.root, "-B", self.build, "-G", "Ninja", f"-DPACKCHECK_CORE={self.folder}",
                   "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                   "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1",
                   "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1", *definitions]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def compile_core(self, jobs):
        """Compiles the core; lines that do not compile with their mutants lose them. Returns mutants and digest."""
        for _ in range(MOST_REPAIRS):
            mutants, digest = self.number(), self.write()
            ran = subprocess.run(["ninja", "-C", self.build, "-k", "0", f"-j{jobs}", "packcheck_core"],
                                 capture_output=True, text=True)
            if ran.returncode == 0:
                self.keep_bare_lines()
                return mutants, digest
            bad = {(f"core/{m[1]}", int(m[2]))
                   for m in re.finditer(r"source/core/([\w/.]+):(\d+):\d+: error", ran.stdout)}
            bad |= {(f"core/{m[1]}", int(m[2]))
                    for m in re.finditer(r"source/core/([\w/.]+):(\d+):\d+:   (?:required|in)", ran.stdout)}
            if not bad - self.bare_lines:
                raise SystemExit("mutate-core: the mutated core does not compile:\n" + ran.stdout[-4000:])
            self.bare_lines |= bad
            self.say("\n".join(f"  {path}:{line}" for path, line in sorted(bad)))
            self.say(f"{len(bad)} lines do not compile with a mutant and go without")
        raise SystemExit("mutate-core: the mutated core does not compile after several repairs")

    def compile_server(self, jobs):
        """The program with every unit test of the core and every law."""
        ran = subprocess.run(["ninja", "-C", self.build, f"-j{jobs}", "mutation_server"], capture_output=True, text=True)
        if ran.returncode != 0:
            raise SystemExit("mutate-core: the server does not build:\n" + ran.stdout[-4000:])
        return self.build / "mutation_server"
