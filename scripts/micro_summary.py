#!/usr/bin/env python3
"""Reads the dumps that scripts/micro.sh lets callgrind write, and compares them with what is recorded, or records them.

Exit code 1 when an operation grew by more than LIMIT, is not recorded, or is recorded and gone.
"""
import argparse
import re
import sys
from pathlib import Path

LIMIT = 0.10
HEADER = """\
# Instructions of each operation of bench/micro, counted by valgrind: scripts/micro.sh compares, --record rewrites.
"""


def measured(paths, iterations):
    """{operation: instructions} of the dumps that bear an operation's name."""
    found = {}
    for path in paths:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        name = re.search(r"^desc: Trigger: Client Request: (\S+)$", text, re.MULTILINE)
        total = re.search(r"^(?:totals|summary): (\d+)$", text, re.MULTILINE)
        if name and total:
            found[name[1]] = round(int(total[1]) / iterations)
    return found


def recorded(path):
    compiler, counts = None, {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("# compiler: "):
                compiler = line.removeprefix("# compiler: ")
            elif line and not line.startswith("#"):
                name, count = line.split()
                counts[name] = int(count)
    return compiler, counts


def write(path, compiler, counts):
    width = max(map(len, counts))
    lines = [f"{name:<{width}} {count:>9}\n" for name, count in sorted(counts.items())]
    path.write_text(HEADER + f"# compiler: {compiler}\n" + "".join(lines), encoding="utf-8")


def compare(counts, base):
    """Prints the table; returns what is wrong."""
    width = max(map(len, [*counts, *base, "operation"]))
    print(f"{'operation':<{width}} {'instructions':>13} {'recorded':>10} {'change':>8}")
    wrong = []
    for name in sorted({*counts, *base}):
        now, before = counts.get(name), base.get(name)
        change, mark = "", ""
        if now is None:
            wrong.append(f"{name} is recorded and not measured")
        elif before is None:
            wrong.append(f"{name} is not recorded")
        else:
            grown = now / before - 1
            change = f"{grown:+.1%}"
            if grown > LIMIT:
                mark = "  <"
                wrong.append(f"{name} takes {now} instructions, {change} of {before}")
        show = ["-" if n is None else str(n) for n in (now, before)]
        print(f"{name:<{width}} {show[0]:>13} {show[1]:>10} {change:>8}{mark}")
    return wrong


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--iterations", type=int, required=True)
    options.add_argument("--compiler", required=True)
    options.add_argument("--recorded", type=Path, required=True)
    options.add_argument("--only", type=re.compile, default=re.compile(""))
    options.add_argument("--record", action="store_true")
    options.add_argument("dumps", nargs="+")
    o = options.parse_args()

    counts = {n: c for n, c in measured(o.dumps, o.iterations).items() if o.only.search(n)}
    compiler, base = recorded(o.recorded)
    base = {n: c for n, c in base.items() if o.only.search(n)}
    if not counts:
        print("micro: nothing was measured")
        return 1
    wrong = compare(counts, base)
    if o.record:
        write(o.recorded, o.compiler, counts)
        print(f"\nrecorded in {o.recorded}")
        return 0
    if compiler != o.compiler:
        print(f"\nnote: recorded with {compiler}, compiled now with {o.compiler}")
    if wrong:
        print()
        for line in wrong:
            print(f"micro: {line}")
        print("micro: if that is meant, scripts/micro.sh --record")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
