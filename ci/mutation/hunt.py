"""Puts unit tests and laws to one mutant after another, in copies of a server that has them all (server.cc)."""
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

CPU_FACTOR = 10  # a mutant that needs so much more than no mutant hangs
CPU_LEAST = 0.5  # seconds that every task has
MOST_KILLERS = 8  # of a file, that are tried first


class Task:
    """A unit test, or a law in one variant, whose failure kills a mutant."""

    def __init__(self, index, name):
        self.index, self.name = index, name
        self.passes, self.seconds, self.reached = True, 0.0, []

    @property
    def kind(self):
        return self.name.split(" ", 1)[0]


class Server:
    """The program with all tasks; with `mutant`, one whose mutant is chosen from the start."""

    nice = 10

    def __init__(self, program, corpus, count, mutant=0, sees=False, cpu_limit=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="packcheck-mutant-"))
        environment = dict(os.environ, PACKCHECK_MUTANT=str(mutant), TMPDIR=str(self.folder))
        if sees:
            (self.folder / "seen").write_bytes(bytes(count + 2))
            environment["PACKCHECK_MUTANTS_SEEN"] = str(self.folder / "seen")
        limits = [] if cpu_limit is None else ["prlimit", f"--cpu={cpu_limit}"]
        self.process = subprocess.Popen(["nice", "-n", str(self.nice), *limits, program, str(count), corpus], cwd=self.folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=environment, start_new_session=True)
        self.tasks, self.at_start, self.ready = [], set(), False
        for line in self.process.stdout:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "task":
                self.tasks.append(Task(len(self.tasks), rest))
            elif word == "start":
                self.at_start = set(map(int, rest.split()))
            elif word == "ready":
                self.ready = True
                break

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise SystemExit(f"mutate-core: the server ended at '{line[:200]}'")
        return answer

    def tidy(self):
        """Removes what a test that was stopped left behind."""
        for path in self.folder.iterdir():
            if path.name != "seen":
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def measure(program, corpus, count, kept, jobs, most_seconds, say):
    """With no mutant: every task passes within `most_seconds` or goes; which mutants it reaches and what it costs. Appends
    to the file `kept` and takes from it what it says of tasks by name. Returns tasks and the mutants that are evaluated
    at the start."""
    known = {}
    if kept.exists():
        known = {name: rest for name, *rest in map(json.loads, kept.read_text().splitlines())}
    first = Server(program, corpus, count, sees=True)
    if not first.ready:
        raise SystemExit("mutate-core: the server does not start")
    tasks, at_start = first.tasks, first.at_start
    for task in tasks:
        if task.name in known:
            task.passes, task.seconds, task.reached = known[task.name]
    left = [task for task in tasks if task.name not in known]
    say(f"{len(left)} of {len(tasks)} tests and laws are to be measured")
    lock = threading.Lock()

    def work(server, file):
        try:
            while True:
                with lock:
                    if not left:
                        return
                    task = left.pop(0)
                word, seconds, *reached = server.ask(f"measure {task.index} {most_seconds}")
                task.passes, task.seconds, task.reached = word == "passed", float(seconds), list(map(int, reached))
                if not task.passes:
                    why = f"takes more than {most_seconds} s" if word == "stopped" else "fails without a mutant"
                    say(f"{task.name} {why} and is left out")
                server.tidy()
                with lock:
                    print(json.dumps([task.name, task.passes, task.seconds, task.reached]), file=file, flush=True)
                    if len(left) % 250 == 249:
                        say(f"{len(left)} left")
        finally:
            server.close()

    with open(kept, "a") as file, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        servers = [first] + [Server(program, corpus, count, sees=True) for _ in range(jobs - 1)]
        for worker in [pool.submit(work, server, file) for server in servers]:
            worker.result()
    return tasks, at_start


class Hunter:
    """Judges mutants; knows which tasks reach which mutant and which file."""

    def __init__(self, program, corpus, mutants, last, tasks, at_start):
        self.program, self.corpus, self.count, self.at_start = program, corpus, last, at_start
        path_of = {mutant.id: mutant.path for mutant in mutants}
        self.tasks = tasks
        self.of_mutant, self.of_file = {}, {}
        self.killers = {}  # of each file: how often each task killed
        for task in tasks:
            if not task.passes:
                continue
            for number in task.reached:
                self.of_mutant.setdefault(number, []).append(task)
            for path in {path_of[number] for number in task.reached}:
                self.of_file.setdefault(path, []).append(task)

    def new_server(self):
        return Server(self.program, self.corpus, self.count)

    def note(self, row):
        if row["by"]:
            self.killers.setdefault(row["file"], collections.Counter())[row["by"]] += 1

    def order(self, mutant):
        """Tasks that killed most in this file first, then the cheapest; of a mutant that runs before any task, those
        that reach its file."""
        reaching = self.of_mutant.get(mutant.id, [])
        if mutant.id in self.at_start:
            reaching = reaching + [t for t in self.of_file.get(mutant.path, self.tasks) if t not in reaching and t.passes]
        best = [name for name, _ in self.killers.get(mutant.path, collections.Counter()).most_common(MOST_KILLERS)]
        return sorted(reaching, key=lambda t: (t.name not in best, t.seconds, t.index))

    def new_tests(self, mutant, row):
        tried = set(row["tried"]) if row else set()
        return [task for task in self.order(mutant) if task.name not in tried]

    def has_new_tests(self, mutant, row):
        if row["outcome"] in ("not reached", "constant"):
            return True  # said again at no cost
        return not row["outcome"].startswith("killed") and bool(self.new_tests(mutant, row))

    def judge(self, mutant, server, most_seconds, earlier=None):
        """The row of the report for one mutant. `earlier` is the one of a run in which it survived."""
        row = {"file": mutant.path, "line": mutant.line, "text": mutant.text, "change": mutant.change,
               "key": mutant.key, "by": "", "outcome": "not reached", "tried": [], "seconds": 0.0}
        tasks = self.new_tests(mutant, earlier)
        if not tasks:
            return {**row, "outcome": "constant"} if mutant.constant else row
        own = mutant.id in self.at_start
        if own:
            server = Server(self.program, self.corpus, self.count, mutant.id,
                            cpu_limit=30 + most_seconds)
        try:
            if not server.ready:
                return {**row, "by": "start", "outcome": "killed by a crash or a hang"}
            order = " ".join(f"{t.index}:{CPU_LEAST + CPU_FACTOR * t.seconds:.3f}" for t in tasks)
            word, seconds, *which = server.ask(f"run {mutant.id} {most_seconds} {order}")
        finally:
            server.close() if own else server.tidy()
        row["seconds"] = round(float(seconds), 3)
        if word == "survived":
            if float(seconds) > most_seconds:
                return {**row, "outcome": "survived for now"}
            return {**row, "outcome": "survived", "tried": [t.name for t in self.order(mutant)]}
        row["by"] = self.tasks[int(which[0])].name
        row["outcome"] = "killed" if word == "failed" else "killed by a crash or a hang"
        return row
