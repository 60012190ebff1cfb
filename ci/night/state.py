"""What a night leaves for the next one, and for itself if it is killed: one folder.

    night.json      the night that runs: budget, seconds spent, stages done, what the targets did; gone when it is over
    history.jsonl   a line a night: what the report compares with
    corpus/TARGET/  inputs that reached something new, written by the engines themselves as they find them
    artifacts/      what the engines wrote when a target stopped, until it is a finding
    findings/NAME/  a finding each: input, log, finding.json
    cases/          findings that are cases of a law, as a corpus folder of `packcheck corpus`
    sweeps/         how far each sweep got
    coverage/       what the corpora reach of core/: files.json, uncovered.txt
    report.md, report.html, report.json
"""
import datetime
import json
import os
import tempfile
import time


def write_whole(path, text):
    """No reader, and no later night, sees half a file."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".part-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


def read_json(path, default):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return default


class State:
    def __init__(self, folder, budget, commit, seed, subject="", shard="0/1"):
        self.folder = os.path.abspath(folder)
        os.makedirs(self.folder, exist_ok=True)
        kept = read_json(self.at("night.json"), None)
        self.resumed = bool(kept) and all(
            kept.get(key) == value
            for key, value in (("commit", commit), ("budget", budget), ("subject", subject), ("shard", shard)))
        if self.resumed:
            self.night = kept
        else:
            # To the microsecond: two short nights may start in one second, and what the first found is not new in the second.
            started = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            self.night = {"night": started, "commit": commit, "budget": budget, "seed": seed, "subject": subject, "shard": shard, "spent": 0.0,
                          "done": [], "skipped": {}, "skipped_targets": {}, "targets": {}, "results": {}, "failures": []}
        self.mark = time.monotonic()

    def at(self, *parts):
        return os.path.join(self.folder, *parts)

    def made(self, *parts):
        path = self.at(*parts)
        os.makedirs(path, exist_ok=True)
        return path

    def save(self):
        """Called after every step, so that a killed night loses at most the step that ran."""
        now = time.monotonic()
        self.night["spent"] += now - self.mark
        self.mark = now
        write_whole(self.at("night.json"), json.dumps(self.night, indent=1))

    def left(self):
        """Seconds of the budget that are left, those of a killed part of the night counted."""
        return self.night["budget"] - self.night["spent"] - (time.monotonic() - self.mark)

    def target(self, name):
        return self.night["targets"].setdefault(name, {"new": 0, "stages": {}, "findings": []})

    def of_stage(self, name, stage):
        """What a target did in a stage, summed over its parts; the caller holds the lock."""
        return self.target(name)["stages"].setdefault(stage, {"execs": 0, "seconds": 0.0, "edges": 0})

    def failed(self, what):
        """Of the night itself, not of what it looks at: the report says so, and the night ends with 3."""
        if what not in self.night["failures"]:
            self.night["failures"].append(what)

    def history(self):
        nights = []
        try:
            with open(self.at("history.jsonl"), encoding="utf-8") as file:
                for line in file:
                    try:
                        nights.append(json.loads(line))
                    except ValueError:
                        pass  # half a line, of a machine that lost power
        except OSError:
            pass
        return nights

    def remember(self, summary):
        nights = [night for night in self.history() if night["night"] != summary["night"]] + [summary]
        write_whole(self.at("history.jsonl"), "".join(json.dumps(night) + "\n" for night in nights[-400:]))

    def finish(self):
        os.remove(self.at("night.json"))
