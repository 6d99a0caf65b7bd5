#!/usr/bin/env python3
"""Adds up the results of a run of ctest. A program named *_test is GoogleTest's; any other is one case.

  scripts/test_summary.py RESULTS

RESULTS/ctest.junit says how each program ended, RESULTS/PROGRAM.xml what its cases did. A program that died, or found
no time to write its file, counts as one failure; so does one whose cases all passed but whose exit code says otherwise
(a sanitizer's report). Prints the names of what failed, and last "N passed, M failed". Exit code 1 unless M is 0.
"""
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def parse(path):
    """The root element; None if there is no whole file. Messages may hold any byte."""
    try:
        return ElementTree.fromstring(path.read_bytes().decode("utf-8", "replace"))
    except (OSError, ElementTree.ParseError):
        return None


def case_name(program, case):
    name = f"{program}: {case.get('classname')}.{case.get('name')}"
    value = case.get("value_param")
    return f"{name} ({value})" if value else name


def read_cases(program, root):
    """Passed, skipped, and the names of the failed."""
    passed, skipped, failed = 0, 0, []
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(case_name(program, case))
        elif case.get("result") == "skipped" or case.find("skipped") is not None:
            skipped += 1
        elif case.get("status") == "run":
            passed += 1
    return passed, skipped, failed


def main():
    results = Path(sys.argv[1])
    ran = parse(results / "ctest.junit")
    if ran is None:
        print("ctest did not run")
        print("0 passed, 1 failed")
        return 1
    passed, skipped, failed = 0, 0, []
    for program in ran.iter("testcase"):
        name = program.get("name")
        ended_well = program.get("status") == "run"
        if not name.endswith("_test"):
            passed += ended_well
            failed += [] if ended_well else [f"{name}: did not end well"]
            continue
        root = parse(results / f"{name}.xml")
        if root is None:
            failed.append(f"{name}: ended without results ({program.get('status')})")
            continue
        program_passed, program_skipped, program_failed = read_cases(name, root)
        if not ended_well and not program_failed:
            program_failed.append(f"{name}: its cases passed, but it did not end well")
        passed += program_passed
        skipped += program_skipped
        failed += program_failed
    if not passed and not failed:
        failed.append("no test ran")
    print()
    for name in failed:
        print(f"FAILED {name}")
    if skipped:
        print(f"{skipped} skipped")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
