"""Runs laws and unit tests against one mutant after another."""
import concurrent.futures
import json
import os
import shutil
import subprocess
import tempfile
import time

MOST_MEMORY = 8 << 30  # address space of one program
CPU_FACTOR = 10  # a mutant that needs so much more than no mutant hangs


class Task:
    """A program whose failure kills a mutant."""

    def __init__(self, name, command):
        self.name, self.command = name, command
        self.seconds = 0.0  # of processor time, with no mutant
        self.reached = b""


def tasks_of(root, build, tests):
    tasks = [Task(test, [str(build / "tests" / test), "--gtest_brief=1", "--gtest_fail_fast"]) for test in tests]
    laws = subprocess.run([build / "packcheck", "laws", "--json"], check=True, capture_output=True, text=True).stdout
    for law in json.loads(laws):
        name = law["id"]
        tasks.append(Task(name, [str(build / "packcheck"), "verify", "--law", name, "--engine", "corpus", "--engine",
                                 "property", "--jobs", "1", "--max-findings", "1", "--corpus", str(root / "corpus")]))
    return tasks


def run(task, mutant=0, seen=None, cpu_limit=None):
    """(exit status, None where it was stopped; seconds of processor time)."""
    environment = dict(os.environ, PACKCHECK_MUTANT=str(mutant))
    if seen:
        environment["PACKCHECK_MUTANTS_SEEN"] = seen
    folder = tempfile.mkdtemp(prefix="packcheck-mutant-")
    limits = ["nice", "-n", "5", "prlimit", f"--as={MOST_MEMORY}", "--core=0"]
    if cpu_limit:
        limits.append(f"--cpu={int(cpu_limit) + 1}")
    before = time.monotonic()
    process = subprocess.Popen(limits + task.command, cwd=folder, env=environment, start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall_limit = None if cpu_limit is None else before + 60 + 20 * cpu_limit
    pause = 0.002
    try:
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, usage.ru_utime + usage.ru_stime
            if wall_limit and time.monotonic() > wall_limit:
                os.killpg(process.pid, 9)
                os.wait4(process.pid, 0)
                process.returncode = -9
                return None, cpu_limit
            time.sleep(pause)
            pause = min(2 * pause, 0.1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(tasks, count, jobs, say):
    """With no mutant: every task must pass; which mutants it reaches and what it costs."""

    def one(task):
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(count + 2)
            status, task.seconds = run(task, 0, file.name)
            task.reached = open(file.name, "rb").read()
        return task, status

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for task, status in pool.map(one, tasks):
            say(f"{task.name}: {task.seconds:.1f} s, reaches {sum(task.reached)}")
            if status != 0:
                raise SystemExit(f"mutate-core: {task.name} fails without a mutant (exit status {status})")


def hunt(mutant, tasks, most_seconds):
    """The row of the report for one mutant."""
    reaching = sorted((t for t in tasks if t.reached[mutant.id]), key=lambda t: t.seconds)
    row = {"file": mutant.path, "line": mutant.line, "text": mutant.text, "change": mutant.change, "key": mutant.key,
           "by": "", "outcome": "", "tried": 0}
    if not reaching:
        row["outcome"] = "not reached"
        return row
    spent = 0.0
    for task in reaching:
        if spent > most_seconds:
            row["outcome"] = "survived for now"
            return row
        status, seconds = run(task, mutant.id, None, 2 + CPU_FACTOR * task.seconds)
        spent += seconds
        row["tried"] += 1
        if status != 0:
            row["by"] = task.name
            row["outcome"] = "killed" if status in (1, 2, 3) else "killed by a crash or a hang"
            return row
    row["outcome"] = "survived"
    return row
