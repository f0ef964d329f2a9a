#!/usr/bin/env python3
"""Reads ctest's JUnit files, prints again what the failed tests printed last, names every test that failed or was skipped,
says what each group took, and closes with one line of counts.

Usage: summary.py RESULTS.xml...   The file's name stands before the test's, but for that of the plain build (release).

What a group took is the sum of its tests' own seconds: of tests that ran side by side, more than went by.
"""
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

LAST = 40  # lines of what a failed test printed
WIDEST = 500


def reason(case):
    """The line in which a skipped test says why: what follows GoogleTest's "Skipped", or the last line of a script."""
    lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if line.endswith(": Skipped"):
            following = lines[number + 1] if number + 1 < len(lines) else ""
            return following if not following.startswith("[") else ""
    return lines[-1] if lines else ""


def said(case, name):
    """The end of what a failed test printed: a reader of only the end of a long run sees why it failed."""
    lines = (case.findtext("system-out") or "").splitlines()[-LAST:]
    return [f"--- {name}", *(line[:WIDEST] for line in lines)]


def outcome(case):
    status = case.get("status")
    if status == "run":
        return "passed"
    if status == "disabled" or case.find("skipped") is not None:
        return "skipped"
    return "failed"


def took(name, tests):
    """What a group took, by its tests: (seconds, name) of each."""
    seconds, longest = max(tests)
    many = f"{len(tests)} tests, longest" if len(tests) > 1 else "1 test,"
    return f"{name} {sum(each for each, _ in tests) / 60:.1f} min in {many} {longest} {seconds:.0f} s"


def main(paths):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    lines = {"failed": [], "skipped": []}
    told, groups = [], {}
    for path in map(Path, paths):
        if not path.exists():
            continue
        prefix = "" if path.stem == "release" else path.stem + ": "
        for case in xml.parse(path).iter("testcase"):
            kind, name = outcome(case), case.get("name")
            counts[kind] += 1
            groups.setdefault(prefix + name.partition(".")[0], []).append((float(case.get("time") or 0), name))
            if kind == "skipped":
                lines[kind].append(f"skipped {prefix}{name}: {reason(case) or 'it does not say why'}")
            if kind == "failed":
                lines[kind].append(f"failed {prefix}{name}")
                told += said(case, prefix + name)
    times = [took(name, tests) for name, tests in sorted(groups.items())]
    for line in [*told, *lines["skipped"], *times, *lines["failed"]]:
        print(line)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 1 if counts["failed"] or not counts["passed"] else 0


sys.exit(main(sys.argv[1:]))
