#!/usr/bin/env python3
"""Names and groups the stacks that allocations_test writes.

  IDEM_ALLOCATION_TRACE=/tmp/trace build/release/tests/allocations_test
  tests/allocations/stacks.py /tmp/trace.first-redis [REQUESTS [FRAMES]]

REQUESTS (20) is how many requests were traced, FRAMES (5) how many frames of the project are shown, innermost first,
below at most two of a library. Needs llvm-symbolizer.
"""
import collections
import re
import shutil
import subprocess
import sys

STANDARD_LIBRARY = re.compile(r"/c\+\+/\d+/")


def symboliser():
    for name in ("llvm-symbolizer-19", "/usr/lib/llvm-19/bin/llvm-symbolizer", "llvm-symbolizer"):
        if shutil.which(name):
            return name
    sys.exit("stacks.py: llvm-symbolizer is missing (Debian package llvm)")


def name_frames(frames):
    """{(module, offset): [function at file:line, …]} with what was inlined first."""
    frames = sorted(frames)
    asked = "".join(f'"{module}" 0x{offset - 1:x}\n' for module, offset in frames)
    out = subprocess.run([symboliser(), "--functions=linkage", "--demangle", "--inlines"], input=asked, text=True,
                         capture_output=True, check=True).stdout
    named = {}
    for frame, block in zip(frames, out.split("\n\n")):
        lines = [line for line in block.splitlines() if line]
        named[frame] = [(shorten(f), place.split("/../../")[-1] if "/c++/" not in place else place)
                        for f, place in zip(lines[::2], lines[1::2])]
    return named


def shorten(function):
    """Without template arguments and parameters, which fill pages."""
    out, depth = [], 0
    for i, c in enumerate(function):
        if c == "<" and not function[:i].endswith("operator"):
            depth += 1
        elif c == ">" and depth and function[i - 1] != "-":
            depth -= 1
        elif not depth:
            out.append(c)
    text = "".join(out)
    return re.sub(r"\((?!anonymous)[^()]*\)( const)?( \[clone [^]]*\])?$", lambda m: m.group(2) or "", text)[:140]


def is_own(place):
    return place.startswith(("src/", "include/", "cmake/"))


def shown_frames(lines, shown):
    lines = [(f, place) for f, place in lines if not STANDARD_LIBRARY.search(place) and place[:2] != "??"]
    own = next((i for i, (_, place) in enumerate(lines) if is_own(place)), len(lines))
    libraries = lines[max(0, own - 2):own] if own < len(lines) else lines[:shown]
    project = [line for line in lines[own:] if is_own(line[1])]
    return [f"{f}  {place}" for f, place in libraries + project[:shown]]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    requests = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    shown = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    stacks = collections.Counter()
    sizes = collections.defaultdict(set)
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        for line in file:
            size, *frames = line.split()
            stack = tuple((f.rsplit("+0x", 1)[0], int(f.rsplit("+0x", 1)[1], 16)) for f in frames)
            stack = tuple(f for f in stack if "counting_malloc" not in f[0])
            stacks[stack] += 1
            sizes[stack].add(int(size))
    named = name_frames({frame for stack in stacks for frame in stack})
    grouped, group_sizes = collections.Counter(), collections.defaultdict(set)
    for stack, count in stacks.items():
        key = tuple(shown_frames([line for frame in stack for line in named.get(frame, [])], shown))
        grouped[key] += count
        group_sizes[key] |= sizes[stack]
    print(f"{sum(stacks.values()) / requests:.2f} allocations for each request\n")
    for key, count in grouped.most_common():
        of = sorted(group_sizes[key])
        print(f"{count / requests:6.2f}  {of[0]}{'…' + str(of[-1]) if len(of) > 1 else ''} bytes")
        for line in key:
            print(f"          {line}")
        print()


if __name__ == "__main__":
    main()
