"""The report of a night beside the night before."""
import json
import os

from . import budget, findings, page
from .state import write_whole

STAGES = {"explore": "exploration with fast builds", "sanitize": "ASan and UBSan", "memory": "MSan", "afl": "AFL++",
          "sweeps": "2^32 sweeps", "laws": "every law, random engines", "merge": "merge and minimise", "coverage": "coverage of core/",
          "twins": "faulty twins caught", "mutants": "mutation score of core/"}


EDGES_OF = ("merge", "sanitize", "explore")  # the whole corpus on one build, if it was merged; else as far as one stage came


def corpus_size(state, name):
    folder = state.at("corpus", name)
    sizes = [os.path.getsize(os.path.join(folder, file)) for file in os.listdir(folder)] if os.path.isdir(folder) else []
    return len(sizes), sum(sizes)


def summary_of(state, targets):
    """What history.jsonl keeps of a night."""
    night = state.night
    rows = {}
    for name, _ in targets:
        did = state.target(name)
        files, size = corpus_size(state, name)
        ran = {stage: part for stage, part in did["stages"].items() if part["seconds"] > 0}
        # Builds number their edges differently: one of them is what a night is compared by.
        edges_of = next((stage for stage in EDGES_OF if did["stages"].get(stage, {}).get("edges")), "")
        rows[name] = {"execs": sum(part["execs"] for part in ran.values()),
                      "execs_per_second": {stage: round(part["execs"] / part["seconds"]) for stage, part in ran.items()},
                      "edges": did["stages"][edges_of]["edges"] if edges_of else 0, "edges_of": edges_of,
                      "new": did["new"], "seconds": round(sum(part["seconds"] for part in ran.values()), 1), "corpus": files,
                      "corpus_bytes": size, "findings": len(did["findings"])}
    new = [about["signature"] for about in findings.new_findings(state)]
    return {"night": night["night"], "commit": night["commit"], "budget": night["budget"], "seed": night["seed"],
            "subject": night["subject"], "shard": night["shard"], "spent": round(night["spent"], 1), "targets": rows, "new_findings": new,
            "skipped": night["skipped"], "skipped_targets": night["skipped_targets"], "failures": night["failures"],
            **{key: night["results"][key] for key in ("built", "sweeps", "laws", "merge", "coverage", "twins", "mutants")
               if key in night["results"]}}


def trend(now, before):
    percent = round(100.0 * (now - before) / before) if before else 0
    return f" ({percent:+d} %)" if percent else ""


def compared(row, old, key):
    """A figure beside that of the night before, where the two are of the same build."""
    return trend(row[key], old.get(key)) if key != "edges" or old.get("edges_of") == row["edges_of"] else ""


def target_table(summary, before):
    """Rows of texts, the first the heads; the report in Markdown and the page show the same."""
    yield ["target", "exec/s fast", "exec/s sanitized", "exec/s AFL++", "inputs run", "edges", "corpus", "findings"]
    for name, row in summary["targets"].items():
        old = before["targets"].get(name, {}) if before else {}
        speeds = []
        for stage in ("explore", "sanitize", "afl"):
            now = row["execs_per_second"].get(stage)
            speeds.append("-" if now is None else f"{now}{trend(now, old.get('execs_per_second', {}).get(stage))}")
        yield [name, *speeds, str(row["execs"]), f"{row['edges']}{compared(row, old, 'edges')}",
               f"{row['corpus']} files, {row['corpus_bytes'] / 1024:.0f} KiB{compared(row, old, 'corpus')}", str(row["findings"])]


def coverage_table(summary):
    yield ["file of core/", "lines that no corpus reaches", "lines", "branches"]
    for name, missed, lines, branches in summary["coverage"]["most_missed"]:
        yield [name, str(missed), f"{lines} %", f"{branches} %"]


def stage_rows(summary, before):
    """(title, what came of it)."""
    for stage, title in STAGES.items():
        built, targets = summary.get("built", {}).get(stage, (0, 0))
        said = "done" if built == targets else f"done, of {built} of {targets} targets: the others are not built for it"
        if stage == "sweeps" and summary.get("sweeps"):
            said = ", ".join(f"f32->{name} {how}" for name, how in summary["sweeps"].items())
        elif stage == "sweeps":
            said = "none is whole yet; they go on another night"
        elif stage == "laws":
            said = summary.get("laws", said)
        elif stage == "merge" and "merge" in summary:
            said = f"{summary['merge']['merged']} corpora merged"
            if summary["merge"]["kept"]:
                said += f"; kept as they are, see logs/*.merge: {', '.join(summary['merge']['kept'])}"
        elif stage == "coverage" and "coverage" in summary:
            covered, old = summary["coverage"], (before or {}).get("coverage", {})
            said = (f"lines {covered['lines']} %{trend(covered['lines'], old.get('lines'))}, branches {covered['branches']} %"
                    f"{trend(covered['branches'], old.get('branches'))}; {covered['missed']} lines missed, {covered['explained']} of them with a "
                    "reason: coverage/uncovered.txt")
            if covered["targets"][0] < covered["targets"][1]:
                said += f"; of {covered['targets'][0]} of {covered['targets'][1]} targets: there was no time for more"
            if covered["not_linked"]:
                said += f"; linked by no target and not counted: {', '.join(covered['not_linked'])}"
        elif stage == "twins" and "twins" in summary:
            said = f"{100 * summary['twins']['score']:.1f} %"
        elif stage == "mutants" and "mutants" in summary:
            now, old = summary["mutants"], (before or {}).get("mutants", {})
            said = (f"{100 * now['score']:.1f} %{trend(now['score'], old.get('score'))} of {now['tried']} tried are killed; there are "
                    f"{now['mutants']}: logs/mutants")
        reason = summary["skipped"].get(stage)
        yield title, f"skipped: {reason}" if reason else said


def headline(summary, before):
    subject = f", subject {summary['subject']}" if summary["subject"] else ""
    shard = f", shard {summary['shard']}" if summary["shard"] != budget.WHOLE else ""
    return (f"Commit {summary['commit']}{subject}{shard}, seed {summary['seed']}, {budget.spoken(summary['spent'])} of "
            f"{budget.spoken(summary['budget'])}"
            f"{'; per cent: against the night of ' + before['night'] if before else '; the first night here'}.")


def finding_rows(state):
    """(signature, target, folder, case) of each new one."""
    for about in findings.new_findings(state):
        yield about["signature"], about["target"], f"findings/{findings.folder_name(about['signature'])}/", about["case"]


def table_lines(rows):
    for number, row in enumerate(rows):
        yield "| " + " | ".join(text.replace("|", "\\|") for text in row) + " |"
        if number == 0:
            yield "|" + "---|" * len(row)


def markdown(state, summary, before):
    lines = [f"# Night of {summary['night']}", "", headline(summary, before), "", *table_lines(target_table(summary, before)), ""]
    lines.append(f"## {len(summary['new_findings'])} new findings")
    for signature, target, folder, case in finding_rows(state):
        lines.append(f"- `{signature}` ({target}): {folder}" + (f", case `{case}`" if case else ""))
    if summary["skipped_targets"]:
        lines += ["", "## Targets that are skipped", *(f"- {name}: {why}" for name, why in sorted(summary["skipped_targets"].items()))]
    if summary["failures"]:
        lines += ["", "## What of the night failed", *(f"- {what}" for what in summary["failures"])]
    lines += ["", "## Stages", *(f"- {title}: {said}" for title, said in stage_rows(summary, before))]
    if summary.get("coverage", {}).get("most_missed"):
        lines += ["", "## Coverage of core/, the files with the most missed lines", "", *table_lines(coverage_table(summary))]
    return "\n".join(lines) + "\n"


def write(state, targets):
    summary = summary_of(state, targets)
    same = (summary["subject"], summary["shard"])
    earlier = [night for night in state.history()
               if night["night"] != summary["night"] and (night.get("subject", ""), night.get("shard", budget.WHOLE)) == same]
    before = earlier[-1] if earlier else None
    text = markdown(state, summary, before)
    write_whole(state.at("report.md"), text)
    write_whole(state.at("report.json"), json.dumps(summary, indent=1) + "\n")
    write_whole(state.at("report.html"), page.html(
        f"Night of {summary['night']}", headline(summary, before), list(target_table(summary, before)), list(finding_rows(state)),
        sorted(summary["skipped_targets"].items()), summary["failures"], list(stage_rows(summary, before)),
        list(coverage_table(summary)) if "coverage" in summary else [], page.trends(earlier + [summary])))
    return summary, text
