"""Time: what it is spoken of as, how the stages share it, and how the targets of a stage share theirs."""
import re

# Shares of the budget, in the order in which the stages run, and the least that makes a stage worth starting. Of a
# stage that searches target by target that is seconds for each of them on one core.
STAGES = (("explore", 0.31, 1), ("sanitize", 0.21, 1), ("memory", 0.0, 0), ("afl", 0.10, 5), ("sweeps", 0.10, 10),
          ("laws", 0.05, 10), ("merge", 0.07, 5), ("coverage", 0.05, 8), ("twins", 0.05, 15), ("mutants", 0.06, 30))
PER_TARGET = {"explore", "sanitize", "afl"}
SHORTEST = 120


def parse_duration(text):
    """Seconds of "90s", "10m", "8h"; None if it is no such thing."""
    found = re.fullmatch(r"(\d+)(s|m|h)", text)
    return int(found.group(1)) * {"s": 1, "m": 60, "h": 3600}[found.group(2)] if found else None


WHOLE = "0/1"


def parse_shard(text):
    """(part, parts) of "1/4", the second of four; None if it is no such thing."""
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
    part, parts = (int(found.group(1)), int(found.group(2))) if found else (0, 0)
    return (part, parts) if part < parts else None


def spoken(seconds):
    seconds = max(0, int(round(seconds)))
    if seconds < 60:
        return f"{seconds} s"
    return f"{seconds // 60} min {seconds % 60} s" if seconds < 3600 else f"{seconds // 3600} h {seconds % 3600 // 60} min"


def shares(budget, done=(), spent=0.0):
    """Seconds of each stage that is not done, of what is left: what an early stage saves, the later ones have."""
    to_do = [(name, share) for name, share, _ in STAGES if name not in done]
    total = sum(share for _, share in to_do)
    left = max(0.0, budget * 0.98 - spent)  # the rest is for the report
    return {name: left * share / total if total else 0.0 for name, share in to_do}


def least(stage, targets, jobs):
    seconds = next(least for name, _, least in STAGES if name == stage)
    return seconds * -(-targets // jobs) if stage in PER_TARGET else seconds


def split(seconds, gains, least_each=0.0):
    """Seconds for each target: a third shared equally, or more if `least_each` is more, the rest by what each still finds (new
    inputs a second)."""
    if not gains:
        return {}
    total = sum(gains.values())
    equal = seconds / len(gains)
    if total <= 0:
        return {name: equal for name in gains}
    first = min(equal, max(equal / 3, least_each))
    return {name: first + (equal - first) * len(gains) * gain / total for name, gain in gains.items()}
