"""What is said of the mutants that were tried."""
import json


def is_killed(row):
    return row["outcome"].startswith("killed")


def is_same(row):
    """The program with the mutant does what it does without: constants are computed when it is compiled."""
    return row["outcome"] == "constant" or bool(row["equivalent"])


def score_of(rows):
    killed = sum(map(is_killed, rows))
    same = sum(map(is_same, rows))
    return killed / (len(rows) - same) if len(rows) > same else 1.0


def write_report(rows, equivalent, head, folder):
    """mutants.txt and mutants.json; returns the score: killed of those that are not equivalent."""
    for row in rows:
        row["equivalent"] = "" if is_killed(row) else equivalent.get(row["key"], "")
    rows.sort(key=lambda r: (r["file"], r["line"], r["change"]))
    head = {**head, "tried": len(rows), "killed": sum(map(is_killed, rows)),
            "constant": sum(row["outcome"] == "constant" for row in rows),
            "equivalent": sum(bool(row["equivalent"]) for row in rows), "score": round(score_of(rows), 4)}
    lines = [", ".join(f"{k} {v}" for k, v in head.items()), "", "Not killed:"]
    for row in rows:
        if not is_killed(row) and row["outcome"] != "constant":
            lines.append(f"{row['file']}:{row['line']}: {row['change']}: {row['outcome']}, {len(row['tried'])} tests\n"
                         f"    {row['text']}")
            if row["equivalent"]:
                lines.append(f"    equivalent: {row['equivalent']}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mutants.json").write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")
    (folder / "mutants.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    return score_of(rows)


def counts(rows):
    stopped = [row for row in rows if row["outcome"] == "killed by a crash or a hang"]
    failed = [row for row in rows if row["outcome"] == "killed"]
    left = [row for row in rows if not is_killed(row) and not is_same(row)]
    return [len(rows), sum(row["by"].startswith("test ") for row in failed),
            sum(row["by"].startswith("law ") for row in failed), len(stopped),
            sum(row["outcome"] == "constant" for row in rows), sum(bool(row["equivalent"]) for row in rows), sum(row["outcome"] == "not reached" for row in left),
            sum(row["outcome"] == "survived" for row in left),
            sum(row["outcome"] == "survived for now" for row in left), f"{100 * score_of(rows):.1f} %"]


def score_table(rows, total, options):
    """The table of rooms; it names no day and no state of the sources."""
    rooms = {}
    for row in rows:
        rooms.setdefault("/".join(row["file"].split("/")[:2]) if row["file"].count("/") > 1 else "core", []).append(row)
    lines = ["# Mutants of the core", "",
             f"`ci/mutate-core --budget T --sample {options.sample} --seed {options.seed} --write-score` wrote this table. "
             f"There are {total} mutants; {len(rows)} of `{options.files}` were tried, each file with its share.", "",
             "| room | tried | a unit test failed | a law failed | crash or hang | constant | equivalent | not reached | survived | out of time | killed |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for room, own in sorted(rooms.items()):
        lines.append(f"| {room} | " + " | ".join(map(str, counts(own))) + " |")
    lines.append("| all | " + " | ".join(map(str, counts(rows))) + " |")
    lines += ["", "The cheapest test that reaches a mutant runs first and the first failure ends it, so the columns say what",
              "noticed first, not what could notice. Constant: in a constexpr function or a member's initializer that no run of a test",
              "evaluates, and what is computed at compile time stays as it is; these and the equivalent ones count neither way. Out of time: no",
              "test failed before --most-seconds were over, and some were left.", "", "Not killed, and not known to be equivalent:", ""]
    for row in rows:
        if not is_killed(row) and not is_same(row):
            lines.append(f"- {row['file']}:{row['line']}: {row['change']}: {row['outcome']}\\\n  `` {row['text']} ``")
    lines.append("")
    return "\n".join(lines)
