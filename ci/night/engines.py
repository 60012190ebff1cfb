"""One target for some seconds under libFuzzer or AFL++, and what it said."""
import hashlib
import os
import re
import shutil
import subprocess
import time

# A night that is killed takes with it what it started: a fuzzer that went on alone would write into the corpus of the night that
# goes on, and afl-fuzz would keep its folder from the next one.
WITH_US = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
MOST_STOPS = 20  # of one target in one slice: each is kept, and says less than the first


def quiet(words, seconds, log, environment=None, ask_first=0.0):
    """Exit code of a command, or None where the time was over and it was killed; its output is the file, and nothing of an earlier
    one. With `ask_first` it is asked to end when the time is over, and has so many seconds to write down what it knows."""
    with open(log, "wb") as file:
        process = subprocess.Popen([*WITH_US, *words], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                   env={**os.environ, **(environment or {})}, start_new_session=True)
        try:
            return process.wait(timeout=max(0.1, seconds))
        except subprocess.TimeoutExpired:
            if ask_first:
                process.terminate()
                try:
                    return process.wait(timeout=ask_first)
                except subprocess.TimeoutExpired:
                    pass
            try:
                os.killpg(process.pid, 9)  # the session that was started here
            except ProcessLookupError:
                pass
            process.wait()
            return None


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def libfuzzer_said(text):
    """Inputs run, seconds, new inputs, edges: what libFuzzer prints at its end, or as far as it came."""
    def last(pattern):
        found = re.findall(pattern, text, re.MULTILINE)
        return int(found[-1]) if found else 0
    execs = last(r"stat::number_of_executed_units:\s*(\d+)") or last(r"^#(\d+)\s")
    return {"execs": execs, "new": last(r"stat::new_units_added:\s*(\d+)"), "edges": last(r"cov: (\d+)")}


def libfuzzer(program, seconds, corpus, seeds, artifacts, seed, longest, dictionary, log):
    """Runs until the time is over; a target that stops is started again, what stopped it is in `artifacts`."""
    total = {"execs": 0, "new": 0, "edges": 0, "seconds": 0.0}
    start, stops = time.monotonic(), 0
    while time.monotonic() - start < seconds and stops <= MOST_STOPS:
        left = seconds - (time.monotonic() - start)
        if stops and left < 1:
            break
        part = f"{log}.{stops}"
        words = [program, f"-max_total_time={max(1, int(left))}", f"-seed={seed % 2147483646 + 1 + stops}", "-timeout=25",
                 "-rss_limit_mb=2560", f"-max_len={longest}", "-print_final_stats=1", f"-artifact_prefix={artifacts}{os.sep}"]
        if dictionary:
            words.append(f"-dict={dictionary}")
        begun = time.monotonic()
        status = quiet([*words, corpus, *seeds], left + 5, part)
        said = libfuzzer_said(text_of(part))
        total["seconds"] += time.monotonic() - begun
        for key in ("execs", "new"):
            total[key] += said[key]
        total["edges"] = max(total["edges"], said["edges"])
        if status in (0, None):
            break
        stops += 1
    return total


AFL = {"AFL_NO_UI": "1", "AFL_SKIP_CPUFREQ": "1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_NO_AFFINITY": "1",
       "AFL_FAST_CAL": "1", "AFL_QUIET": "1"}


def name_of(data):
    return hashlib.sha1(data).hexdigest()


def take(folder, into):
    """Copies what AFL++ found into a folder under the names that libFuzzer gives; how many were new. Those that it started from are in
    its queue, too (orig), shortened."""
    new = 0
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        if not name.startswith("id:") or ",orig:" in name or not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            data = file.read()
        target = os.path.join(into, name_of(data))
        if not os.path.exists(target):
            with open(target + ".part", "wb") as file:
                file.write(data)
            os.replace(target + ".part", target)
            new += 1
    return new


AFL_STARTS_PER_SECOND = 25  # inputs to start from: each is run several times before the search begins, which may take a third of it


def start_inputs(into, folders, most):
    """Copies of the inputs of the folders, as afl-fuzz follows no links: all, or so many of them, spread over all sizes."""
    paths = [os.path.join(folder, name) for folder in folders if os.path.isdir(folder) for name in os.listdir(folder)]
    paths = sorted((path for path in paths if os.path.isfile(path) and os.path.getsize(path)), key=lambda path: (os.path.getsize(path), path))
    shutil.rmtree(into, ignore_errors=True)
    os.makedirs(into)
    step = max(1.0, len(paths) / most)
    for number in range(int(len(paths) / step)):
        shutil.copyfile(paths[int(number * step)], os.path.join(into, f"{number:06}"))
    if not paths:
        with open(os.path.join(into, "0"), "wb") as file:
            file.write(b"0")


def afl(program, seconds, corpus, seeds, artifacts, out, longest, dictionary, mutator, log):
    """As libfuzzer(), by afl-fuzz, with a library that mutates as the target itself does under libFuzzer; its queue comes into
    the corpus, and what crashed or hung into `artifacts`. Each part starts from the corpus, which others add to meanwhile."""
    harvest(out, corpus, artifacts)  # of a night that was killed
    shutil.rmtree(out, ignore_errors=True)
    start_inputs(out + ".start", (corpus, *seeds), max(20, int(seconds * AFL_STARTS_PER_SECOND)))
    words = ["afl-fuzz", "-i", out + ".start", "-o", out, "-G", str(longest), "-m", "none", "-t", "25000"]
    if dictionary:
        words += ["-x", dictionary]
    begun = time.monotonic()
    quiet([*words, "--", program], seconds, log, {**AFL, **({"AFL_CUSTOM_MUTATOR_LIBRARY": mutator} if mutator else {})}, ask_first=5)
    stats = dict(re.findall(r"^(\w+)\s*: (.*)$", text_of(os.path.join(out, "default", "fuzzer_stats")), re.MULTILINE))
    return {"execs": int(stats.get("execs_done", 0)), "new": harvest(out, corpus, artifacts), "edges": 0,
            "seconds": time.monotonic() - begun}


def harvest(out, corpus, artifacts):
    for kind in ("crashes", "hangs"):
        take(os.path.join(out, "default", kind), artifacts)
    return take(os.path.join(out, "default", "queue"), corpus)
