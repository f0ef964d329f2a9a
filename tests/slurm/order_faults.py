#!/usr/bin/env python3
"""Random moments at which things die and people interfere while `rota mode order act` orders the jobs of a real Slurm
(tests/live/slurm_faults.py says which), and what a checker that asks Slurm alone finds.

Usage: order_faults.py ROTA [--moments N] [--seed N] [--go-on]   Needs Debian's Slurm and MariaDB, and root. A moment takes about
twenty seconds. --go-on: what fails is printed, and the next moment has a site of its own."""
import argparse
import os
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import slurm_site  # noqa: E402  of tests/live
from slurm_faults import Moments, OrderedSite  # noqa: E402


def run(args, first):
    """From this moment on, until all are over or one fails: the moment behind it, and what failed."""
    folder = tempfile.mkdtemp(prefix="rota-faults-")
    slurm = OrderedSite(folder)
    try:
        slurm.start()
        moments = Moments(os.path.abspath(args.rota), slurm, f"{args.seed} {first}")
        for moment in range(first, args.moments):
            began = time.monotonic()
            try:
                moments.one()
            except AssertionError as failure:
                return moment + 1, failure
            print(f"{moment + 1}: {time.monotonic() - began:.0f} s: {'; '.join(moments.told)}", flush=True)
        return args.moments, None
    finally:
        slurm.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rota")
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--go-on", action="store_true")
    args = parser.parse_args()
    if why := slurm_site.lacks():
        sys.exit(f"Slurm cannot be started here: {why}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    moment, failed = 0, 0
    while moment < args.moments:
        moment, failure = run(args, moment)
        if failure is None:
            break
        failed += 1
        print(f"{moment}: FAILED: {failure}", flush=True)
        if not args.go_on:
            break
    print(f"{moment} moments, {failed} of which failed.")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
