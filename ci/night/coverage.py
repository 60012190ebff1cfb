"""Lines and branches of core/ that all corpora together reach, and those that none does.

Counts are those of llvm-cov over one profile of every target. A source of core/ that no target links has no counts at all, which
would look like nothing to reach: such files are named beside the figures.
"""
import fnmatch
import json
import os
import re
import shutil
import time

from . import engines
from .parallel import in_parallel
from .state import write_whole

TOOLS = ("llvm-profdata-19", "llvm-cov-19")


def coverage(night, seconds):
    rows = [(name, family, night.program("coverage", name)) for name, family in night.targets]
    rows = [row for row in rows if row[2]]
    absent = [tool for tool in TOOLS if not shutil.which(tool)]
    if not rows or absent:
        return f"not here: {', '.join(absent)}" if absent else "no targets built with coverage"
    end = time.monotonic() + seconds
    raw = profiles(night, rows, seconds * 0.6)
    data, listing = night.state.at("coverage", "all.profdata"), night.state.at("coverage", "all.lcov")
    if not raw or engines.quiet([TOOLS[0], "merge", "-sparse", "-o", data, *raw], end - time.monotonic(), night.log("profdata")) != 0:
        return "no profile was written in its time"
    core = os.path.join(night.root, "core") + os.sep
    objects = [word for row in rows[1:] for word in ("-object", row[2])]
    words = [TOOLS[1], "export", "-format=lcov", f"-instr-profile={data}", rows[0][2], *objects, "-sources", core]
    status = engines.quiet(["sh", "-c", 'out=$1; shift; exec "$@" >"$out"', "sh", listing, *words], end - time.monotonic(),
                           night.log("llvm-cov"))
    if status != 0:
        return "llvm-cov could not read the profile" if status is not None else "llvm-cov did not finish in its time"
    files = files_of(engines.text_of(listing), core)
    os.remove(listing)
    listed, explained = uncovered(core, files, reasons(engines.text_of(os.path.join(night.root, "ci", "unreached-lines"))))
    night.state.night["results"]["coverage"] = {
        **totals(files, unlinked(core, files)), "explained": explained, "targets": [len(raw), len(rows)]}
    write_whole(night.state.at("coverage", "files.json"), json.dumps(files, indent=1) + "\n")
    write_whole(night.state.at("coverage", "uncovered.txt"), "".join(listed))
    return None


def profiles(night, rows, seconds):
    """A profile of each target over its corpus; those that the time is too short for have none."""
    folder, end = night.state.made("coverage"), time.monotonic() + seconds
    paths = [os.path.join(folder, name + ".profraw") for name, _, _ in rows]
    for path in paths:
        if os.path.exists(path):
            os.remove(path)  # of an earlier night

    def run_of(name, family, program, path):
        def run():
            engines.quiet([program, "-runs=0", night.state.made("corpus", name), *night.seeds(family)],
                          max(1, end - time.monotonic()), night.log(name + ".coverage"), {"LLVM_PROFILE_FILE": path})
        return f"coverage {name}", seconds * night.jobs / len(rows), run

    in_parallel(night, [run_of(*row, path) for row, path in zip(rows, paths)])
    return [path for path in paths if os.path.exists(path) and os.path.getsize(path) > 0]


def files_of(listing, prefix):
    """{file below prefix: lines and branches [reached, all], missed lines, lines with a missed branch}, of an lcov listing."""
    files, file = {}, None
    for line in listing.splitlines():
        key, _, value = line.partition(":")
        if key == "SF":
            file = None
            if value.startswith(prefix):
                file = files.setdefault(value[len(prefix):], {"lines": [0, 0], "branches": [0, 0], "missed": [], "half": []})
        elif file is None:
            continue
        elif key == "DA":
            number, count = value.split(",")[:2]
            file["lines"][1] += 1
            file["lines"][0] += int(count) > 0
            if int(count) == 0:
                file["missed"].append(int(number))
        elif key == "BRDA":
            number, taken = value.split(",")[0], value.rsplit(",", 1)[1]
            file["branches"][1] += 1
            file["branches"][0] += taken not in ("-", "0")
            if taken in ("-", "0") and int(number) not in file["half"]:
                file["half"].append(int(number))
    for file in files.values():
        file["half"] = sorted(set(file["half"]) - set(file["missed"]))
    return files


def unlinked(core, files):
    found = []
    for folder, _, names in os.walk(core):
        found += [os.path.relpath(os.path.join(folder, name), core) for name in names if name.endswith(".cc")]
    return sorted(set(found) - set(files))


def percent(reached, count):
    return round(100.0 * reached / count, 2) if count else 0.0


def totals(files, not_linked):
    """What the report and the history keep: per cent, and the files with the most lines that nothing reaches."""
    result = {}
    for key in ("lines", "branches"):
        result[key] = percent(sum(file[key][0] for file in files.values()), sum(file[key][1] for file in files.values()))
    most = sorted(files, key=lambda name: (-len(files[name]["missed"]), name))
    result["missed"] = sum(len(file["missed"]) for file in files.values())
    result["most_missed"] = [[name, len(files[name]["missed"]), percent(*files[name]["lines"]), percent(*files[name]["branches"])]
                             for name in most[:15] if files[name]["missed"]]
    result["not_linked"] = not_linked
    return result


def ranges(numbers):
    """[[first, last], ...] of numbers that follow each other."""
    found = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def reasons(text):
    """[(file pattern, expression, reason), ...] of ci/unreached-lines."""
    rows = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    parts = [[part.strip() for part in re.split(r" \|(?= )", row)] for row in rows]
    wrong = [row for row, part in zip(rows, parts) if len(part) != 3 or not part[2]]
    if wrong:
        raise ValueError(f"ci/unreached-lines: '{wrong[0]}': expected file | expression | reason")
    return [(pattern, re.compile(expression), reason) for pattern, expression, reason in parts]


def uncovered(core, files, known):
    """A line for each run of missed lines, and for each line one side of whose branch is missed, with its text and the
    reason if there is one; and how many missed lines have one."""
    listed, explained = [], 0
    for name in sorted(files):
        text = engines.text_of(os.path.join(core, name)).splitlines()
        rows = [(first, last, "never") for first, last in ranges(files[name]["missed"])]
        rows += [(number, number, "one side") for number in files[name]["half"]]
        for first, last, how in sorted(rows):
            where = f"{first}" if first == last else f"{first}-{last}"
            said = text[first - 1].strip() if first <= len(text) else ""
            why = next((reason for pattern, expression, reason in known
                        if fnmatch.fnmatchcase(f"core/{name}", pattern) and expression.search(said)), "")
            explained += last - first + 1 if why and how == "never" else 0
            listed.append(f"core/{name}:{where}: {how}: {said[:120]}{' -- ' + why if why else ''}\n")
    return listed, explained
