#!/usr/bin/env python3
"""Rota's starts against schedules that naive.py made of made-up logs, job by job. Both lie in own/, so that all can try.

Usage: own_test.py ROTA [--write]     --write: makes the saved schedules anew
A schedule's name says what it is of: LOG.POLICY.TIES.csv.
"""
import io
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import naive

OWN = Path(__file__).with_name("own")
PROCESSORS = {"days": 64, "ties": 16}
POLICIES = ("fcfs", "fcfs-skip", "easy", "easy-sjbf", "easy++", "conservative")
TIES = ("batch", "submit-first")


def schedule(log, policy, ties):
    printed = io.StringIO()
    with redirect_stdout(printed):
        naive.main(OWN / f"{log}.swf", PROCESSORS[log], policy, ties)
    return printed.getvalue()


def failures(rota, write):
    for log in PROCESSORS:
        for policy in POLICIES:
            for ties in TIES:
                saved = OWN / f"{log}.{policy}.{ties}.csv"
                if write:
                    saved.write_text(schedule(log, policy, ties))
                elif saved.read_text() != schedule(log, policy, ties):
                    yield f"{saved.name} is not what naive.py makes"
                verify = [rota, "verify", OWN / f"{log}.swf", saved, "--policy", policy, "--ties", ties]
                done = subprocess.run(verify, capture_output=True, text=True)
                if done.returncode != 0:
                    yield f"{saved.name}: {done.stdout}{done.stderr}"
    known = {f"{log}.{policy}.{ties}.csv" for log in PROCESSORS for policy in POLICIES for ties in TIES}
    for file in OWN.glob("*.csv"):
        if file.name not in known:
            yield f"{file.name} is a schedule that nobody looks at"


def main():
    found = list(failures(sys.argv[1], "--write" in sys.argv))
    print("\n".join(found) or f"{len(PROCESSORS) * len(POLICIES) * len(TIES)} schedules, every start identical")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
