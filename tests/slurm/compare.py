#!/usr/bin/env python3
"""Rehearses backlogs that a real Slurm ran, under policy slurm and others, and says how far each is from what happened.

Usage: compare.py ROTA FILE...   Each FILE is one of those of record.py, named after its case.
"""
import csv
import os
import statistics
import subprocess
import sys
import tempfile

import record

OTHERS = ("easy", "conservative", "easy+depth=8", "fcfs")


def real_waits(path):
    with open(path, encoding="utf-8") as file:
        return {int(line.split()[0]): float(line.split()[2]) for line in file if not line.startswith(";")}


def rehearsed_waits(rota, path, backlog, policy):
    with tempfile.TemporaryDirectory() as folder:
        cluster, jobs = os.path.join(folder, "cluster.toml"), os.path.join(folder, "jobs.csv")
        with open(cluster, "w", encoding="utf-8") as file:
            print(f'name = "real"\n[[nodes]]\nnames = "n[1-{backlog.nodes}]"\nprocessors = {backlog.cpus}', file=file)
        subprocess.run([rota, "simulate", path, "--cluster", cluster, "--policy", policy, "--jobs", jobs, "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        with open(jobs, encoding="utf-8") as file:
            return {int(row["number"]): float(row["wait"]) for row in csv.DictReader(file)}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    rota = sys.argv[1]
    for path in sys.argv[2:]:
        real = real_waits(path)
        case = os.path.splitext(os.path.basename(path))[0]
        print(f"{case}: {len(real)} jobs, mean wait {statistics.mean(real.values()):.1f} s")
        backlog, own, _ = record.CASES[case]
        for policy in (own, *OTHERS):
            rehearsed = rehearsed_waits(rota, path, backlog, policy)
            waits = [rehearsed[number] for number in real]
            ratio = statistics.mean(waits) / statistics.mean(real.values())
            print(f"  {policy.split('+priority')[0]:62} {statistics.mean(waits):7.1f} s  {100 * (ratio - 1):+6.1f} %  "
                  f"correlation {statistics.correlation(list(real.values()), waits):.3f}")


if __name__ == "__main__":
    main()
