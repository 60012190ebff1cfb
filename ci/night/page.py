"""The report as one HTML file that loads nothing: tables, and a line for each figure over the nights that are kept."""
import html as escaping

STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#1b1f24}
h1{font-size:1.5rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
th,td{border-bottom:1px solid #d9dee4;padding:.35rem .6rem;text-align:right;white-space:nowrap}
th{background:#f3f5f7;font-weight:600}th:first-child,td:first-child{text-align:left}
.said td{white-space:normal}.said th,.said td{text-align:left}.none{color:#1a7f37}.some{color:#b42318}code{background:#f3f5f7;padding:0 .25rem}
figure{display:inline-block;margin:0 1.5rem 1rem 0}figcaption{font-size:.85rem;color:#57606a}svg{background:#f8f9fb}"""


def safe(text):
    return escaping.escape(str(text))


def table(rows, kind=""):
    if not rows:
        return ""
    head = "".join(f"<th>{safe(text)}</th>" for text in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{safe(text)}</td>" for text in row) + "</tr>\n" for row in rows[1:])
    return f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>\n'


def line(title, values):
    """A figure over the nights, the last one written out; nothing where there are fewer than two."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    step, height = 220 / (len(values) - 1), 48
    points = " ".join(f"{6 + number * step:.1f},{6 + height - (height * (value - low) / (high - low) if high > low else height / 2):.1f}"
                      for number, value in enumerate(values))
    return (f'<figure><svg width="232" height="60" role="img" aria-label="{safe(title)}"><polyline points="{points}" fill="none" '
            f'stroke="#0969da" stroke-width="2"/></svg><figcaption>{safe(title)}: {values[-1]:,} (least {low:,}, most {high:,})'
            "</figcaption></figure>\n")


def trends(nights):
    """Of the last thirty nights: inputs run, files in the corpora, findings; coverage where it was measured."""
    nights = nights[-30:]
    sums = [("inputs run", lambda night: sum(row["execs"] for row in night["targets"].values())),
            ("corpus files", lambda night: sum(row["corpus"] for row in night["targets"].values())),
            ("new findings", lambda night: len(night["new_findings"]))]
    said = "".join(line(title, [value(night) for night in nights]) for title, value in sums)
    measured = [night["coverage"] for night in nights if "coverage" in night]
    for key in ("lines", "branches"):
        said += line(f"{key} of core/ reached, %", [covered[key] for covered in measured])
    return said


def html(title, headline, targets, findings, skipped, failures, stages, coverage, trend):
    count = len(findings)
    parts = [f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{safe(title)}</title><style>{STYLE}</style>\n',
             f"<h1>{safe(title)}</h1>\n<p>{safe(headline)}</p>\n", table(targets),
             f'<h2 class="{"some" if count else "none"}">{count} new findings</h2>\n']
    if findings:
        parts.append("<ul>" + "".join(
            f"<li><code>{safe(signature)}</code> ({safe(target)}): <a href=\"{safe(folder)}\">{safe(folder)}</a>"
            + (f", case <code>{safe(case)}</code>" if case else "") + "</li>\n" for signature, target, folder, case in findings) + "</ul>\n")
    if skipped:
        parts += ["<h2>Targets that are skipped</h2>\n", table([("target", "why"), *skipped], "said")]
    if failures:
        parts.append('<h2 class="some">What of the night failed</h2>\n<ul>'
                     + "".join(f"<li>{safe(what)}</li>" for what in failures) + "</ul>\n")
    parts += ["<h2>Stages</h2>\n", table([("stage", "what came of it"), *stages], "said")]
    if trend:
        parts += ["<h2>Night by night</h2>\n", trend]
    if len(coverage) > 1:
        parts += ["<h2>Coverage of core/, the files with the most missed lines</h2>\n", table(coverage)]
    return "".join(parts) + "</html>\n"
