"""What stopped a target becomes a finding: told apart by signature, kept with its input, imported as a case of its law."""
import json
import os
import re
import shlex
import subprocess

from . import engines
from .state import read_json, write_whole

ASSERTION = re.compile(r"Assertion `(.*)' failed\.")
REPRODUCE = re.compile(r"^packcheck repro (--law .*)$", re.MULTILINE)
IMPORT_SECONDS = 60
SUMMARY = re.compile(r"SUMMARY: (\w+): (.*)")


def signature_of(text, status):
    """The law and the place; or of a sanitizer the kind and the function; or how it ended. Never a value."""
    found = ASSERTION.search(text)
    if found:
        return found.group(1)
    found = SUMMARY.search(text)
    if found:
        what = re.sub(r"\(.*?\)|0x[0-9a-f]+|:\d+", "", re.sub(r"/\S*/", "", found.group(2)))
        return f"{found.group(1)} {' '.join(what.split())}"
    return "hung" if status is None else f"ended with {status}"


def replay(program, path, log, seconds=60):
    status = engines.quiet([program, "-timeout=25", "-rss_limit_mb=2560", path], seconds, log)
    return status, engines.text_of(log)


def import_case(packcheck, cases, text, path):
    """The case under crashing/ as `packcheck corpus import` prints it; empty where no law is broken by it."""
    line = REPRODUCE.search(text)
    words = [packcheck, "corpus", "import", "--corpus", cases]
    words += shlex.split(line.group(1)) if line else [path]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=IMPORT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return ""  # the finding has its input all the same
    found = re.findall(r"^(?:imported |already there: )(.*)$", done.stdout.decode(errors="replace"), re.MULTILINE)
    return found[0] if found else ""


def folder_name(signature):
    return re.sub(r"[^A-Za-z0-9._-]+", "-", signature)[:100] + "-" + engines.name_of(signature.encode())[:8]


def gather(state, target, program, packcheck):
    """Every artifact of a target that is no finding yet. Moves an input only when its finding is written:
    killed before that, the next run finds it in its old place."""
    folder = state.made("artifacts", target)
    names = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith((".part", ".log")) or name.startswith("slow-unit-"):
            continue
        status, text = replay(program, path, path + ".log")
        if status == 0 and os.path.getsize(path) == 0:  # its writer was killed before it wrote
            os.remove(path)
            os.remove(path + ".log")
            continue
        if status == 0:
            signature = f"{target} did not stop again"  # flaky, or of the fast build alone: kept, too
        else:
            signature = signature_of(text, status)
        if not ASSERTION.search(text):
            signature = f"{target} {signature}" if not signature.startswith(target) else signature
        kept = state.made("findings", folder_name(signature))
        about = read_json(os.path.join(kept, "finding.json"), None)
        if about is None:
            case = import_case(packcheck, state.at("cases"), text, path) if packcheck and status != 0 else ""
            about = {"signature": signature, "target": target, "night": state.night["night"], "case": case}
            write_whole(os.path.join(kept, "log"), text[-100000:])
            write_whole(os.path.join(kept, "finding.json"), json.dumps(about, indent=1))
            os.replace(path, os.path.join(kept, "input"))
        elif os.path.exists(os.path.join(kept, "input")):
            os.remove(path)  # one more of a finding that has its input
        else:
            os.replace(path, os.path.join(kept, "input"))
        if os.path.exists(path + ".log"):
            os.remove(path + ".log")
        names.append(signature)
    seen = state.target(target)["findings"]
    seen += [name for name in dict.fromkeys(names) if name not in seen]


def record(state, signature, target, log):
    """A finding without an input: of a sweep or of verify, whose report says more."""
    path = state.at("findings", folder_name(signature), "finding.json")
    if not os.path.exists(path):
        write_whole(os.path.join(os.path.dirname(path), "log"), log[-100000:])
        write_whole(path, json.dumps({"signature": signature, "target": target, "night": state.night["night"], "case": ""},
                                     indent=1))
    seen = state.night["results"].setdefault("other_findings", [])
    if signature not in seen:
        seen.append(signature)


def new_findings(state):
    """Those that no other night told of: of this night, and of one that was killed and never went on."""
    return [about for about in all_findings(state) if about.get("told", state.night["night"]) == state.night["night"]]


def mark_as_told(state):
    for about in new_findings(state):
        path = state.at("findings", folder_name(about["signature"]), "finding.json")
        write_whole(path, json.dumps({**about, "told": state.night["night"]}, indent=1))


def all_findings(state):
    folder = state.at("findings")
    found = [read_json(os.path.join(folder, name, "finding.json"), None)
             for name in (sorted(os.listdir(folder)) if os.path.isdir(folder) else [])]
    return [about for about in found if about]
