"""The report of a night beside the night before."""
import json
import os

from . import budget, findings
from .state import write_whole

STAGES = {"explore": "exploration with fast builds", "sanitize": "ASan and UBSan", "memory": "MSan", "afl": "AFL++",
          "sweeps": "2^32 sweeps", "laws": "every law, random engines", "merge": "merge and minimise", "coverage": "coverage of core/",
          "twins": "mutation score"}


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
        rows[name] = {"execs": did["execs"], "execs_per_second": did.get("per_second", {}), "edges": did["edges"],
                      "new": did["new"], "seconds": round(did["seconds"], 1), "corpus": files, "corpus_bytes": size,
                      "findings": len(did["findings"])}
    new = [about["signature"] for about in findings.all_findings(state) if about["night"] == night["night"]]
    return {"night": night["night"], "commit": night["commit"], "budget": night["budget"], "seed": night["seed"],
            "spent": round(night["spent"], 1), "targets": rows, "new_findings": new, "skipped": night["skipped"],
            **{key: night["results"][key] for key in ("sweeps", "laws", "coverage", "twins") if key in night["results"]}}


def trend(now, before):
    if not before or now == before:
        return ""
    return f" ({'+' if now > before else ''}{100.0 * (now - before) / before:.0f} %)"


def target_rows(summary, before):
    yield "| target | exec/s fast | exec/s sanitized | edges | corpus | findings |"
    yield "|---|---|---|---|---|---|"
    for name, row in summary["targets"].items():
        old = before["targets"].get(name, {}) if before else {}
        speeds = [f"{row['execs_per_second'].get(stage, 0)}"
                  f"{trend(row['execs_per_second'].get(stage, 0), old.get('execs_per_second', {}).get(stage))}"
                  for stage in ("explore", "sanitize")]
        yield (f"| {name} | {speeds[0]} | {speeds[1]} | {row['edges']}{trend(row['edges'], old.get('edges'))} | "
               f"{row['corpus']} files, {row['corpus_bytes']} bytes{trend(row['corpus'], old.get('corpus'))} | {row['findings']} |")


def markdown(state, summary, before):
    lines = [f"# Night of {summary['night']}", "",
             f"Commit {summary['commit']}, seed {summary['seed']}, {budget.spoken(summary['spent'])} of {budget.spoken(summary['budget'])}"
             f"{'; per cent: against the night of ' + before['night'] if before else '; the first night here'}.", ""]
    lines += [*target_rows(summary, before), ""]
    lines.append(f"## {len(summary['new_findings'])} new findings")
    for about in findings.all_findings(state):
        if about["night"] == summary["night"]:
            where = f"findings/{findings.folder_name(about['signature'])}/"
            lines.append(f"- `{about['signature']}` ({about['target']}): {where}" + (f", case `{about['case']}`" if about["case"] else ""))
    lines += ["", "## Stages"]
    for stage, title in STAGES.items():
        said = {"sweeps": ", ".join(f"f32->{name} {how}" for name, how in summary.get("sweeps", {}).items()),
                "laws": summary.get("laws", ""), "coverage": "", "twins": ""}.get(stage, "")
        if stage == "coverage" and "coverage" in summary:
            covered, old = summary["coverage"], (before or {}).get("coverage", {})
            said = (f"lines {covered['lines']} %{trend(covered['lines'], old.get('lines'))}, branches {covered['branches']} %"
                    f"{trend(covered['branches'], old.get('branches'))}; least: {', '.join(covered['least'])}")
        if stage == "twins" and "twins" in summary:
            said = f"{100 * summary['twins']['score']:.1f} %"
        reason = summary["skipped"].get(stage)
        lines.append(f"- {title}: " + (f"skipped: {reason}" if reason else said or "done"))
    return "\n".join(lines) + "\n"


def write(state, targets):
    summary = summary_of(state, targets)
    earlier = [night for night in state.history() if night["night"] != summary["night"]]
    text = markdown(state, summary, earlier[-1] if earlier else None)
    write_whole(state.at("report.md"), text)
    write_whole(state.at("report.json"), json.dumps(summary, indent=1) + "\n")
    return summary, text
