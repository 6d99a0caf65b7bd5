"""Where a process spends its CPU: perf's samples folded to call stacks, a table of functions, and a flame graph."""
import collections
import html
import re
import subprocess
import zlib

from measure import process_tree
from servers import BenchError, program


def record(pid, seconds, file, load):
    """Samples a process tree while `load` runs and returns {stack: samples}; a stack is a tuple, outermost function first."""
    pids = ",".join(map(str, process_tree(pid)))
    # the build keeps no frame pointers, so the stacks are copied and unwound later
    recorder = subprocess.Popen(
        [program("perf"), "record", "-q", "-e", "cpu-clock", "-F", "997", "--call-graph", "dwarf,16384", "-p", pids, "-o", str(file), "--",
         "sleep", str(seconds)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True)
    try:
        load()
        _, said = recorder.communicate(timeout=60)
    finally:
        if recorder.poll() is None:
            recorder.kill()
            recorder.wait()
    if recorder.returncode:
        raise BenchError(f"perf record: {said}")
    script = subprocess.run([program("perf"), "script", "-i", str(file), "--no-inline", "-F", "comm,ip,sym"], capture_output=True, text=True,
                            errors="replace", timeout=600)
    file.unlink()
    if script.returncode:
        raise BenchError(f"perf script: {script.stderr}")
    return fold(script.stdout)


def fold(text):
    """The output of `perf script -F comm,ip,sym` as {stack: samples}."""
    stacks = collections.Counter()
    for block in text.split("\n\n"):
        frames = [line.split(maxsplit=1) for line in block.splitlines() if line.startswith((" ", "\t"))]
        names = [short(f[1]) if len(f) > 1 else "[unknown]" for f in frames]
        if names:
            stacks[tuple(reversed(names))] += 1
    return stacks


def short(name):
    """A C++ name without its template arguments, parameters and return type, which fill screens and tell little."""
    name = re.sub(r"\+0x[0-9a-f]+$", "", name.strip()).replace("(anonymous namespace)", "{anonymous}")
    # the signs of operators are no brackets
    name = re.sub(r"operator(\(\)|<=>|<<=?|>>=?|->\*?|<=?|>=?)", lambda m: "operator" + "".join(chr(0xE000 + ord(c)) for c in m[1]), name)
    clone = re.search(r" \[(?:clone )?\.(\w+)[^\]]*\]$|\.(resume|destroy|cleanup|cold)$", name)
    if clone:
        name = name[:clone.start()]
    before = None
    while before != name:
        before, name = name, re.sub(r"<[^<>]*>|\([^()]*\)", "", name)
    name = re.sub(r" (const|noexcept)(?= |&|$)| ?&&?$", "", name).strip()
    if not re.search(r"operator [^ ]+$", name):
        name = name.split()[-1] if name else "?"
    name = "".join(chr(ord(c) - 0xE000) if 0xE000 <= ord(c) < 0xE080 else c for c in name)
    return f"{name} [{clone[1] or clone[2]}]" if clone else name


def functions(stacks):
    """[(name, samples in itself, samples in it or what it called)], the most costly in themselves first."""
    own, all_ = collections.Counter(), collections.Counter()
    for stack, samples in stacks.items():
        own[stack[-1]] += samples
        for name in set(stack):
            all_[name] += samples
    return sorted(((name, own[name], all_[name]) for name in all_), key=lambda row: (-row[1], -row[2], row[0]))


def table(stacks, most=40):
    total = sum(stacks.values()) or 1
    lines = [f"{total} samples", "  self  total  function"]
    rows = functions(stacks)
    for name, own, all_ in rows[:most]:
        lines.append(f"{100 * own / total:5.1f}% {100 * all_ / total:5.1f}%  {name}")
    lines += ["", "The most costly with all that they call:"]
    for name, own, all_ in sorted(rows, key=lambda row: (-row[2], row[0]))[:most]:
        lines.append(f"{100 * own / total:5.1f}% {100 * all_ / total:5.1f}%  {name}")
    return "\n".join(lines) + "\n"


def flame_graph(stacks, title, width=1600, row=17):
    """The stacks as an SVG picture: each function a box over its caller, as wide as its share of the samples."""
    total = sum(stacks.values()) or 1
    root = [0, {}]
    for stack, samples in stacks.items():
        node = root
        node[0] += samples
        for name in stack:
            node = node[1].setdefault(name, [0, {}])
            node[0] += samples
    boxes = []

    def lay_out(children, left, level):
        for name in sorted(children):
            samples, below = children[name]
            if samples / total * width >= 0.5:
                boxes.append((left, level, samples, name))
                lay_out(below, left, level + 1)
            left += samples

    lay_out(root[1], 0, 0)
    levels = 1 + max((b[1] for b in boxes), default=0)
    height = (levels + 2) * row
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="monospace" font-size="11">',
           f'<rect width="100%" height="100%" fill="#fffdf7"/><text x="6" y="{row - 4}">{html.escape(title)}, {total} samples</text>']
    for left, level, samples, name in boxes:
        x, w, y = left / total * width, samples / total * width, height - (level + 1) * row
        shade = zlib.crc32(name.encode())
        colour = f"rgb({225 + shade % 30},{130 + shade // 32 % 90},{60 + shade // 4096 % 50})"
        room = int(w / 6.7) - 1
        text = name if len(name) <= room else name[:max(0, room - 1)] + "…" if room > 3 else ""
        out.append(f'<g><title>{html.escape(name)}: {samples} samples, {100 * samples / total:.1f} %</title>'
                   f'<rect x="{x:.1f}" y="{y}" width="{max(w - 0.4, 0.3):.1f}" height="{row - 1}" fill="{colour}"/>'
                   f'<text x="{x + 2:.1f}" y="{y + row - 5}">{html.escape(text)}</text></g>')
    return "\n".join(out + ["</svg>"]) + "\n"
