"""Turns what was measured into tables, and puts them into a file between two markers.

A row of a measurement is a dict with workload, connections, size, peer, round, and figures:
cpu, user, upstream, redis (microseconds for each request), rate (requests a second), p50, p99 (microseconds), requests, hits,
faults, memory (MiB), other (share of the machine's CPU that went to anything else, 0 to 1).
"""
import statistics

from servers import SIZES, BenchError

BEGIN = "<!-- measured: begin (scripts/bench.sh writes what is between these two lines) -->"
END = "<!-- measured: end -->"
BASE = "nginx"


def cells(rows):
    """The rows of each (workload, size, connections, peer), in the order in which they first appeared."""
    found = {}
    for row in rows:
        found.setdefault((row["workload"], row["size"], row["connections"], row["peer"]), []).append(row)
    return found


def ratio(rows, cell, figure, base=BASE):
    """The median over the rounds of peer / base, both of the same round; None where there is nothing to divide by."""
    workload, size, connections, peer = cell
    found = cells(rows)
    divisors = {row["round"]: row[figure] for row in found.get((workload, size, connections, base), [])}
    ratios = [row[figure] / divisors[row["round"]] for row in found[cell] if divisors.get(row["round"])]
    return statistics.median(ratios) if ratios else None


def median(rows, figure):
    return statistics.median(row[figure] for row in rows)


def number(value, digits=1):
    return "–" if value is None else f"{value:.{digits}f}"


def text_table(head, lines):
    """Markdown whose columns also line up when it is read as plain text."""
    rows = [head] + [[str(field) for field in line] for line in lines]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    out = ["| " + " | ".join(f"{field:<{width}}" for field, width in zip(row, widths)) + " |" for row in rows]
    return "\n".join([out[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|"] + out[1:])


def peers_table(rows):
    head = ["workload", "body", "conns", "proxy", "CPU µs/req (min–max; user)", "CPU ratio", "req/s ratio", "p50 ratio", "p99 ratio",
            "backend µs/req", "Redis µs/req", "backend hits/req", "failed", "RSS MiB"]
    lines = []
    for cell, group in cells(rows).items():
        workload, size, connections, peer = cell
        costs = [row["cpu"] for row in group]
        hits = sum(row["hits"] for row in group) / max(1, sum(row["requests"] for row in group))
        lines.append([
            workload, SIZES[size], connections, peer,
            f"{statistics.median(costs):.1f} ({min(costs):.1f}–{max(costs):.1f}; {median(group, 'user'):.1f})",
            *(number(ratio(rows, cell, figure), 2) for figure in ("cpu", "rate", "p50", "p99")),
            number(median(group, "upstream")), number(median(group, "redis")), f"{hits:.4f}", sum(row["faults"] for row in group),
            number(median(group, "memory"), 0)])
    return text_table(head, lines)


def calls_table(rows):
    """Rows with workload, connections, peer, requests, calls ({name: count}) and tool."""
    head = ["workload", "conns", "proxy", "calls/req", "of which"]
    lines = []
    for row in rows:
        each = {name: count / row["requests"] for name, count in row["calls"].items()}
        parts = [f"{name} {value:.2f}" for name, value in sorted(each.items(), key=lambda item: (-item[1], item[0])) if value >= 0.01]
        lines.append([row["workload"], row["connections"], row["peer"], number(sum(each.values()), 2), ", ".join(parts)])
    return text_table(head, lines)


def footprint_table(rows):
    """Rows with peer, idle and busy (MiB), connections."""
    lines = [[row["peer"], number(row["idle"]), number(row["busy"]), row["connections"]] for row in rows]
    return text_table(["proxy", "idle MiB", "busy MiB (highest)", "busy connections"], lines)


def disturbance(rows):
    """A sentence that says how much of the machine went to something else while we measured."""
    worst = max(row["other"] for row in rows)
    middle = median(rows, "other")
    return f"Anything else took {100 * middle:.0f} % of the machine's CPU in the median round, {100 * worst:.0f} % in the worst."


def merge(text, sections):
    """Puts sections ({title: Markdown}) between the markers of a text. Sections that are there already under the same title
    are replaced where they stand, new ones come last, all others stay."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise BenchError(f"the file does not have both lines, once each and in this order:\n{BEGIN}\n{END}")
    before, rest = text.split(BEGIN)
    between, after = rest.split(END)
    kept = {}
    for part in ("\n" + between.strip("\n")).split("\n### ")[1:]:
        title, _, content = part.partition("\n")
        kept[title.strip()] = content.strip("\n")
    kept.update({title: content.strip("\n") for title, content in sections.items()})
    body = "\n\n".join(f"### {title}\n\n{content}" for title, content in kept.items())
    return f"{before}{BEGIN}\n\n{body}\n\n{END}{after}"
