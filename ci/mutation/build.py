"""Writes the mutated core into the build folder and builds the programs that can kill a mutant."""
import hashlib
import re
import subprocess

from rewrite import Finder, render

MOST_REPAIRS = 6


class Mutant:
    """One change. `key` is the same as long as the line of the source is."""

    def __init__(self, number, path, line, text, change):
        self.id, self.path, self.line, self.text, self.change = number, path, line, text, change

    @property
    def key(self):
        return f"{self.path} | {self.text} | {self.change}"


def clang_arguments(root):
    resources = subprocess.run(["clang-14", "-print-resource-dir"], check=True, capture_output=True, text=True)
    return ["-x", "c++", "-std=c++20", f"-I{root}", "-resource-dir", resources.stdout.strip()]


class MutatedCore:
    def __init__(self, root, build, say):
        self.root, self.build, self.say = root, build, say
        self.folder = build / "source" / "core"
        self.sites = {}  # of each file
        self.sources = {}
        self.bare_lines = set()  # (file, line) that do not compile with a mutant

    def find(self, paths):
        arguments = clang_arguments(self.root)
        for path in paths:
            finder = Finder(self.root / path, arguments)
            self.sites[path] = finder.find()
            self.sources[path] = finder.source
            self.say(f"{path}: {sum(len(s.changes) for s in self.sites[path])} mutants")

    def number(self):
        """Gives every change its number, from 1 on; the mutants in order."""
        mutants = []
        for path, sites in self.sites.items():
            source = self.sources[path]
            lines = source.decode().split("\n")
            seen = {}
            kept = []
            for site in sites:
                line = source.count(b"\n", 0, site.parts[0][1] if site.function != "literal" else site.start) + 1
                if (path, line) in self.bare_lines or (path, source.count(b"\n", 0, site.start) + 1) in self.bare_lines:
                    continue
                kept.append(site)
                site.first_id = len(mutants) + 1
                for change in site.changes:
                    text = lines[line - 1].strip()
                    words = f"`{site.original}` becomes {change if ' ' in change else f'`{change}`'}"
                    count = seen[(text, words)] = seen.get((text, words), 0) + 1
                    mutants.append(Mutant(len(mutants) + 1, path, line, text,
                                          words + (f", {count}." if count > 1 else "")))
            self.sites[path] = kept
        return mutants

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
        own = " ".join(str(self.build / "source" / path) for path in mutated)
        rules += (f"\ntarget_sources(packcheck_core PRIVATE {here}/mutants.cc)\n"
                  f"set_property(SOURCE {own} APPEND PROPERTY COMPILE_OPTIONS -w -Wno-narrowing -include "
                  f"{here}/mutants.h)\n")
        self.put(self.folder / "CMakeLists.txt", rules.encode())
        for path in mutated:
            content = render(self.sources[path], self.sites[path])
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
                   "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1",
                   "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1", *definitions]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def compile_core(self, jobs):
        """Compiles the core; lines that do not compile with their mutants lose them. Returns mutants and digest."""
        for _ in range(MOST_REPAIRS):
            mutants, digest = self.number(), self.write()
            ran = subprocess.run(["ninja", "-C", self.build, "-k", "0", f"-j{jobs}", "packcheck_core"],
                                 capture_output=True, text=True)
            if ran.returncode == 0:
                return mutants, digest
            bad = {(f"core/{m[1]}", int(m[2]))
                   for m in re.finditer(r"source/core/([\w/.]+):(\d+):\d+: error", ran.stdout)}
            bad |= {(f"core/{m[1]}", int(m[2]))
                    for m in re.finditer(r"source/core/([\w/.]+):(\d+):\d+:   (?:required|in)", ran.stdout)}
            if not bad - self.bare_lines:
                raise SystemExit("mutate-core: the mutated core does not compile:\n" + ran.stdout[-4000:])
            self.bare_lines |= bad
            self.say(f"{len(bad)} lines do not compile with a mutant and go without")
        raise SystemExit("mutate-core: the mutated core does not compile after several repairs")

    def compile_programs(self, jobs):
        """The command and every unit test of the core."""
        targets = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"], check=True, capture_output=True,
                                 text=True).stdout
        tests = sorted(set(re.findall(r"^tests/(core_\w+_test):", targets, re.M)))
        subprocess.run(["ninja", "-C", self.build, f"-j{jobs}", "packcheck", *tests], check=True,
                       stdout=subprocess.DEVNULL)
        return tests
