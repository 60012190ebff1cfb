"""The stages of a night. Each gets its seconds and returns why it was skipped, or None; what it found is in the state."""
import json
import os
import re
import shutil
import subprocess
import threading
import time

from . import budget, coverage, engines, findings
from .parallel import in_parallel
from .state import write_whole

SWEEP_LAW = "format.narrowing_is_correctly_rounded"
SWEEP_TARGETS = ("f16", "bf16", "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0", "e2m1", "i8")
WRONG_SUBJECT, NOTHING_TO_JUDGE = 2, 4  # statuses of a target
OF_REFERENCE = "of the reference alone, and this night judges another subject"
MUTANTS_START = 20  # seconds before the first mutant is tried: what is built and measured is looked at again
NOTHING_OFFERED = "the subject offers nothing for this target"
MEMORY = ("not applicable: every target links libstdc++, whose strings are not instrumented, and MemorySanitizer reports them; "
          "it needs a C++ library built with it")


class Night:
    """What the stages share."""

    def __init__(self, state, programs, root, jobs, say):
        self.state, self.programs, self.root, self.jobs, self.say = state, programs, root, jobs, say
        self.lock = threading.Lock()  # of the state: targets run at the same time
        self.subject = state.night["subject"]  # that stands beside the reference or in its place; empty: the reference alone
        self.targets = []  # (name, family)
        for build in ("sanitized", "fast", "afl"):
            path = self.program(build, "targets.txt")
            if path and not self.targets:
                self.targets = [tuple(line.split()[:2]) for line in engines.text_of(path).splitlines() if line.strip()]
        part, parts = budget.parse_shard(state.night["shard"])
        self.targets = self.targets[part::parts]
        for name, _ in self.targets:
            state.target(name)

    def ask_targets(self):
        """Leaves out the targets that the subject offers nothing for; what it says if the subject cannot be judged at all."""
        if not self.subject:
            return None
        empty = self.state.at("empty")
        write_whole(empty, "")
        offered, left_out = [], self.state.night["skipped_targets"]
        for name, family in self.targets:
            program = self.program("sanitized", name) or self.program("fast", name) or self.program("afl", name)
            status = engines.quiet([program, empty], 60, self.log(name + ".asked")) if program else 0
            if status == WRONG_SUBJECT:
                return engines.text_of(self.log(name + ".asked")).strip()
            if status == NOTHING_TO_JUDGE:
                left_out[name] = NOTHING_OFFERED
            else:
                offered.append((name, family))
        self.targets = offered
        return None

    def program(self, build, name):
        path = os.path.join(self.programs.get(build, ""), name)
        return path if self.programs.get(build) and os.path.exists(path) else None

    def packcheck(self):
        path = self.programs.get("packcheck")
        return path if path and os.access(path, os.X_OK) else None

    def seeds(self, family):
        family = os.path.join(self.root, "corpus", family)  # "none", or without these folders: then its files
        folders = [folder for folder in (os.path.join(family, "seed"), os.path.join(family, "regression")) if os.path.isdir(folder)]
        return folders or [folder for folder in (family,) if os.path.isdir(folder)]

    def longest(self, name):
        """Bytes of an input, as the target's options say."""
        said = re.search(r"^max_len\s*=\s*(\d+)", engines.text_of(os.path.join(self.root, "fuzz", re.sub("_fuzzer$", "", name) + ".options")),
                         re.MULTILINE)
        return int(said.group(1)) if said else 4096

    def dictionary(self, name):
        path = os.path.join(self.root, "fuzz", re.sub("_fuzzer$", "", name) + ".dict")
        return path if os.path.exists(path) else None

    def log(self, name):
        self.state.made("logs")
        return self.state.at("logs", name)


def search(night, stage, build, seconds, one, try_first=True):
    """Every target under one engine: a third of the time equally, then the rest by what each finds. Of an engine that takes long to
    start, all of it at once, by what the night found so far (try_first false)."""
    programs = [(name, family, night.program(build, name)) for name, family in night.targets]
    programs = [row for row in programs if row[2]]
    if not programs:
        return f"no targets built in {night.programs.get(build)}"
    if seconds < budget.least(stage, len(programs), night.jobs):
        return f"{budget.spoken(seconds)} are too few for {len(programs)} targets"
    night.state.night["results"].setdefault("built", {})[stage] = [len(programs), len(night.targets)]
    begun = time.monotonic()
    per_core = seconds * night.jobs
    gains, rounds = {}, night.state.night["results"].setdefault("rounds", {}).setdefault(stage, [])

    def slice_of(name, family, program, part):
        def run():
            said = one(night, name, family, program, part)
            total = night.state.target(name)
            with night.lock:
                total["new"] += said["new"]
                did = night.state.of_stage(name, stage)
                did["execs"] += said["execs"]
                did["seconds"] += said["seconds"]
                did["edges"] = max(did["edges"], said["edges"])
            gains[name] = said["new"] / max(said["seconds"], 0.001)
            replayer = night.program("sanitized", name) or program
            findings.gather(night.state, name, replayer, night.packcheck())
            return f"{said['execs']} inputs, {said['new']} new, {len(total['findings'])} findings"
        return f"{stage} {name}", part, run

    equal = per_core / 3 / len(programs)
    if not try_first:
        gains.update((name, float(night.state.target(name)["new"])) for name, _, _ in programs)
    elif "equal" not in rounds:
        in_parallel(night, [slice_of(*row, equal) for row in programs])
        rounds.append("equal")
    left = (seconds - (time.monotonic() - begun)) * night.jobs
    parts = budget.split(left, {name: gains.get(name, 0.0) for name, _, _ in programs}, budget.least(stage, 1, 1))
    if "by gain" not in rounds and left > 1:
        in_parallel(night, [slice_of(*row, parts[row[0]]) for row in programs if parts[row[0]] >= 1])
        rounds.append("by gain")
    return None


def by_libfuzzer(night, name, family, program, seconds):
    return engines.libfuzzer(program, seconds, night.state.made("corpus", name), night.seeds(family),
                             night.state.made("artifacts", name), night.state.night["seed"], night.longest(name),
                             night.dictionary(name), night.log(name))


def by_afl(night, name, family, program, seconds):
    return engines.afl(program, seconds, night.state.made("corpus", name), night.seeds(family),
                       night.state.made("artifacts", name), night.state.at("afl", name), night.longest(name), night.dictionary(name),
                       night.program("mutators", re.sub("_fuzzer$", "_afl.so", name)), night.log(name + ".afl"))


def explore(night, seconds):
    return search(night, "explore", "fast", seconds, by_libfuzzer)


def sanitize(night, seconds):
    return search(night, "sanitize", "sanitized", seconds, by_libfuzzer)


def memory(_night, _seconds):
    return MEMORY


def afl(night, seconds):
    return search(night, "afl", "afl", seconds, by_afl, try_first=False)


def of_this_night(night):
    """Words for `packcheck`: whom the targets judge, where the command calls every library in a worker; and the part of a night that
    is spread over machines."""
    subject = ["--subject", re.sub("^in-process:", "lib:", night.subject)] if night.subject else []
    return subject + (["--shard", night.state.night["shard"]] if night.state.night["shard"] != budget.WHOLE else [])


def packcheck_run(night, words, seconds, log):
    status = engines.quiet([night.packcheck(), *words], seconds, log)
    return status, engines.text_of(log)


def sweeps(night, seconds):
    """All 2^32 singles of one format after the other, the one that was whole longest ago first; goes on another night."""
    if not night.packcheck():
        return "no packcheck built"
    whole = night.state.night["results"].setdefault("sweeps", {})
    last = {}
    for earlier in night.state.history():
        last.update({name: number for number, name in enumerate(earlier.get("sweeps", {}))})
        for name in earlier.get("sweeps", {}):
            last[name] = earlier["night"]
    begun = time.monotonic()
    for name in sorted(SWEEP_TARGETS, key=lambda target: str(last.get(target, ""))):
        left = seconds - (time.monotonic() - begun)
        if name in whole or left < 5:
            continue
        night.say(f"sweep f32->{name} for at most {budget.spoken(left)}; {budget.spoken(night.state.left())} left")
        words = ["sweep", SWEEP_LAW, "--from", "f32", "--to", name, "--resume", "--report", night.state.made("sweeps"),
                 "--jobs", str(night.jobs), *of_this_night(night)]
        status, text = packcheck_run(night, words, left, night.log("sweep-" + name))
        if status == 0:
            whole[name] = "holds"
        elif status == 1:
            whole[name] = "BROKEN"
            findings.record(night.state, f"{SWEEP_LAW} sweep f32->{name}", "sweep", text)
        elif status == 2 and night.subject:
            whole[name] = "is not offered"
        elif status is not None:
            whole[name] = f"ended with {status}"
        night.state.save()
    return None


def laws(night, seconds):
    """Every law by the random engines with the night's seed."""
    if not night.packcheck():
        return "no packcheck built"
    words = ["verify", "--corpus", os.path.join(night.root, "corpus"), "--seed", str(night.state.night["seed"]), "--time",
             f"{max(1, int(seconds * 0.5))}s", "--jobs", str(night.jobs), "--report", night.state.made("verify"), *of_this_night(night)]
    night.say(f"every law for {budget.spoken(seconds)}; {budget.spoken(night.state.left())} left")
    status, text = packcheck_run(night, words, seconds, night.log("verify"))
    night.state.night["results"]["laws"] = {0: "hold", 1: "BROKEN", None: "not finished in its time"}.get(status, f"ended with {status}")
    if status == 1:
        for signature in re.findall(r"^\S+ breaks (.*)$", text, re.MULTILINE)[:20] or ["verify"]:
            findings.record(night.state, signature, "verify", text)
    return None


def merge(night, seconds):
    """Each corpus down to inputs that reach something of their own; findings' cases down to the smallest."""
    rows = [(name, family, night.program("sanitized", name)) for name, family in night.targets]
    rows = [row for row in rows if row[2] and os.path.isdir(night.state.at("corpus", row[0]))]
    if not rows:
        return "no corpora, or no targets with sanitizers"
    end, waiting, kept = time.monotonic() + seconds, [len(rows)], []

    def merge_of(name, family, program):
        def run():
            with night.lock:
                left = (end - time.monotonic()) * min(night.jobs, waiting[0]) / waiting[0]
                waiting[0] -= 1
            if not merge_one(night, name, family, program, left):
                kept.append(name)
        return f"merge {name}", seconds * night.jobs / len(rows), run

    in_parallel(night, [merge_of(*row) for row in rows])
    night.state.night["results"]["merge"] = {"merged": len(rows) - len(kept), "kept": sorted(kept)}
    if night.packcheck() and os.path.isdir(night.state.at("cases")):
        packcheck_run(night, ["corpus", "minimise", "--corpus", night.state.at("cases")], max(5, end - time.monotonic()),
                      night.log("minimise"))
    return None


def restore_corpora(state):
    """A night that was killed while a merged corpus took the place of the old one left one of the two under another name."""
    folder = state.made("corpus")
    for name in sorted(os.listdir(folder)):
        base, _, suffix = name.rpartition(".")
        if suffix == "old" and not os.path.isdir(os.path.join(folder, base)):
            os.rename(os.path.join(folder, name), os.path.join(folder, base))
        elif suffix in ("old", "merged"):
            subprocess.run(["rm", "-rf", os.path.join(folder, name)], check=True)


def adopt_kept(state, root, targets):
    """What corpus/ keeps of earlier nights comes into the corpora of this one."""
    for name, _ in targets:
        kept, corpus = os.path.join(root, "corpus", "fuzz", re.sub("_fuzzer$", "", name)), state.made("corpus", name)
        for file in os.listdir(kept) if os.path.isdir(kept) else []:
            if not os.path.exists(os.path.join(corpus, file)):
                shutil.copyfile(os.path.join(kept, file), os.path.join(corpus, file))


def merge_one(night, name, family, program, seconds):
    """Whether it was merged: the merged corpus takes the place of the old one only when it is whole."""
    old, new, away = (night.state.at("corpus", name + suffix) for suffix in ("", ".merged", ".old"))
    os.makedirs(new)
    status = engines.quiet([program, "-merge=1", "-timeout=25", new, old, *night.seeds(family)], seconds, night.log(name + ".merge"))
    if status == 0 and os.listdir(new):
        edges = engines.libfuzzer_said(engines.text_of(night.log(name + ".merge")))["edges"]
        with night.lock:
            night.state.of_stage(name, "merge")["edges"] = edges
        os.rename(old, away)
        os.rename(new, old)
        subprocess.run(["rm", "-rf", away], check=True)
        return True
    subprocess.run(["rm", "-rf", new], check=True)
    return False


def twins(night, seconds):
    """How many of the faulty twins are caught. It is not cut short: skipped where the last one took longer than there is time."""
    if not night.packcheck():
        return "no packcheck built"
    if night.subject:
        return OF_REFERENCE
    took = next((earlier["twins"]["seconds"] for earlier in reversed(night.state.history()) if earlier.get("twins")), 12)
    if seconds < took * 1.2:
        return f"takes about {budget.spoken(took)}, and there are {budget.spoken(seconds)}"
    night.say(f"twins for about {budget.spoken(took)}; {budget.spoken(night.state.left())} left")
    begun = time.monotonic()
    status, text = packcheck_run(night, ["twins", "--json", "--jobs", str(night.jobs)], seconds, night.log("twins"))
    if status is None:
        return f"not finished in {budget.spoken(seconds)}"
    try:
        score = json.loads(text)["score"]
    except ValueError:
        return f"packcheck twins ended with {status}"
    night.state.night["results"]["twins"] = {"score": score, "seconds": round(time.monotonic() - begun)}
    if score < 1:
        findings.record(night.state, "a faulty twin is not caught", "twins", text)
    return None


def mutants(night, seconds):
    """How many changed operators, comparisons and literals of core/ some law or unit test notices, of a sample that the night's
    seed draws. What was tried before of the same sources is known; a mutant takes its time, so the score is of what was tried."""
    if not night.programs.get("mutate"):
        return "ci/mutate-core is not built"
    if night.subject:
        return OF_REFERENCE
    night.say(f"mutants of core/ for {budget.spoken(seconds)}; {budget.spoken(night.state.left())} left")
    words = [night.programs["mutate"], "--budget", f"{max(1, int(seconds - MUTANTS_START))}s", "--jobs", str(night.jobs), "--seed",
             str(night.state.night["seed"] * 1000 + budget.parse_shard(night.state.night["shard"])[0]), "--sample", "9999", "--resume"]
    status = engines.quiet(words, seconds, night.log("mutants"))
    head = re.search(r"^mutants (\d+), .*\btried (\d+), killed (\d+), .*\bscore ([\d.]+)$", engines.text_of(night.log("mutants")), re.MULTILINE)
    if status is None:
        return f"not finished in {budget.spoken(seconds)}"
    if not head:
        return f"ci/mutate-core ended with {status}: see logs/mutants"
    of, tried, killed = (int(number) for number in head.groups()[:3])
    night.state.night["results"]["mutants"] = {"mutants": of, "tried": tried, "killed": killed, "score": float(head.group(4))}
    return None


ALL = {"explore": explore, "sanitize": sanitize, "memory": memory, "afl": afl, "sweeps": sweeps, "laws": laws, "merge": merge,
       "coverage": coverage.coverage, "twins": twins, "mutants": mutants}
