#!/usr/bin/env python3
"""What it costs to know what is free, where and when, as curves: CPU seconds of whole rehearsals, parsing and referee
included, as jobs, nodes, reservations and processors grow.

Usage: room_curves.py ROTA [--short] [--only NAME] [--give-up SECONDS]

Each curve stops at the first point that takes longer than --give-up. --short: only the first point of each, to see that
it runs. The cases of ../shared/repro are run where that folder is.
"""
import argparse
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("ROTA_SHARED", ROOT.parent / "shared"))


def run(command, give_up, folder=None):
    """CPU seconds and peak MiB; None: it took too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (give_up, give_up)))
    said = child.communicate()[1].decode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    if child.returncode != 0:
        return said.strip().splitlines()[-1][:100]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_jobs(path, count, make):
    rng = random.Random(3)
    with open(path, "w") as out:
        for number in range(1, count + 1):
            print(json.dumps({"number": number} | make(rng, number)), file=out)


def write_cluster(path, nodes, processors, rest=""):
    Path(path).write_text(f'[[nodes]]\nnames = "n[1-{nodes}]"\nprocessors = {processors}\nmemory = "64G"\n{rest}')


def job(submit, limit, share, processors, **more):
    return {"submit": submit, "run_time": max(1, int(limit * share)), "limit": limit, "processors": processors} | more


def with_memory(rng, submit, nodes):
    limit = rng.choice([600, 1800, 3600, 7200, 14400, 43200, 86400]) + rng.randrange(60)
    wide = rng.choice([1, 1, 2, 4, 8, min(64, nodes // 2)])
    return job(submit, limit, rng.uniform(0.1, 1), wide * 8, nodes=wide, memory=f"{rng.choice([4, 16, 40])}G")


def waiting_with_memory(folder, count):
    """Conservative backfilling on 1,000 nodes: so many jobs that ask for memory come within two minutes."""
    write_cluster(f"{folder}/c.toml", 1000, 16)
    write_jobs(f"{folder}/w.jsonl", count + 200, lambda rng, n: with_memory(rng, 0 if n <= 200 else n % 120, 1000))
    return ["w.jsonl", "--cluster", "c.toml", "--policy", "conservative"]


def ends_on_nodes(folder, count):
    """Conservative backfilling while so many jobs run, on five times as many nodes."""
    write_cluster(f"{folder}/c.toml", 5 * count, 16)

    def make(rng, n):
        return job(n % 60, 3600 + rng.randrange(40000), rng.uniform(0.5, 1), 60 if n <= count else 120,
                   nodes=5 if n <= count else 10, memory="32G")
    write_jobs(f"{folder}/w.jsonl", count + 50, make)
    return ["w.jsonl", "--cluster", "c.toml", "--policy", "conservative"]


def reservations(folder, count, policy="easy"):
    """A day of 1,500 jobs on 32 nodes with so many reservations of 16 nodes each, one after the other."""
    length = max(60, 86400 // (2 * count))
    rest = "".join(f'[[reservations]]\nstart = {(2 * i + 1) * length}\nend = {(2 * i + 2) * length}\n'
                   f'nodes = "n[{1 + 16 * (i % 2)}-{16 + 16 * (i % 2)}]"\n' for i in range(count))
    write_cluster(f"{folder}/c.toml", 32, 16, rest)

    def make(rng, n):
        return job(rng.randrange(86400), rng.choice([300, 600, 1800, 3600]), rng.uniform(0.2, 1),
                   rng.choice([1, 4, 16, 16, 64]))
    write_jobs(f"{folder}/w.jsonl", 1500, make)
    return ["w.jsonl", "--cluster", "c.toml", "--policy", policy]


def processors(folder, count, policy="rb-har"):
    """3,000 jobs on so many counted processors, with limits that most of them outlast."""
    def make(rng, n):
        return job(n * 20, rng.choice([600, 3600, 7200]), rng.uniform(0.3, 1.5),
                   max(1, count // rng.choice([2, 4, 8, 16, 50, 200])))
    write_jobs(f"{folder}/w.jsonl", 3000, make)
    return ["w.jsonl", "--processors", str(count), "--policy", policy]


def burst(folder, count):
    """First fit: so many jobs of one processor come at once behind a job that does not fit."""
    def make(_, n):
        wide = {1: 10, 2: 10 + count}.get(n, 1)
        return job(0, 3600, 0.5, wide)
    write_jobs(f"{folder}/w.jsonl", count, make)
    return ["w.jsonl", "--processors", str(count + 10), "--policy", "fcfs-skip"]


def burst_of_all_lengths(folder, count):
    """As burst, with limits of all lengths."""
    def make(rng, n):
        wide = {1: 10, 2: 10 + count}.get(n, 1)
        return job(0, 3600 + rng.randrange(10**6), 0.5, wide)
    write_jobs(f"{folder}/w.jsonl", count, make)
    return ["w.jsonl", "--processors", str(count + 10), "--policy", "fcfs-skip"]


def another_partition(folder, count):
    """EASY: 3,000 jobs for a partition of 64 nodes, behind so many others in the file that stand idle."""
    nodes = "".join(f'[[nodes]]\nnames = "{name}[1-{size}]"\nprocessors = 16\nmemory = "64G"\n'
                    for name, size in (("a", count), ("b", 64)))
    parts = "".join(f'[[partitions]]\nname = "{name}"\nnodes = "{name}[1-{size}]"\n'
                    for name, size in (("a", count), ("b", 64)))
    Path(f"{folder}/c.toml").write_text(nodes + parts)

    def make(rng, n):
        limit = rng.choice([600, 3600, 7200])
        return job(n * 20, limit, rng.uniform(0.3, 1), rng.choice([1, 4, 16, 32, 128]), partition="b")
    write_jobs(f"{folder}/w.jsonl", 3000, make)
    return ["w.jsonl", "--cluster", "c.toml", "--policy", "easy"]


def uneven(folder, count):
    """EASY: 200 jobs, each over so many nodes, half of which give a processor more."""
    write_cluster(f"{folder}/c.toml", count, 16)
    write_jobs(f"{folder}/w.jsonl", 200, lambda rng, n: job(n * 60, 3600, 0.5, 7 * count + count // 2, nodes=count))
    return ["w.jsonl", "--cluster", "c.toml", "--policy", "easy"]


def put_off(folder, count):
    """Conservative with overrun=run-on on 4 nodes: so many jobs wait and are put off again and again."""
    write_cluster(f"{folder}/c.toml", 4, 16)

    def make(rng, n):
        nodes = rng.choice([1, 2, 3, 4])
        return job(n % 60, rng.choice([600, 1200, 3600]), rng.uniform(1.0, 3.0), 16 * nodes, nodes=nodes, memory="4G")
    write_jobs(f"{folder}/w.jsonl", count, make)
    return ["w.jsonl", "--cluster", "c.toml", "--policy", "conservative+overrun=run-on"]


def with_power(folder, count):
    """Conservative backfilling with power=demand on 1,000 nodes, so many jobs waiting."""
    power = "watts_idle = 100\nwatts_busy = 10\nwatts_off = 5\nboot_time = 120\nshutdown_time = 10\n"
    write_cluster(f"{folder}/c.toml", 1000, 16, power)
    write_jobs(f"{folder}/w.jsonl", count, lambda rng, n: with_memory(rng, n % 600, 128))
    return ["w.jsonl", "--cluster", "c.toml", "--policy", "conservative+power=demand"]


def rb_har(folder, count):
    """rb-har beside easy: 3,000 jobs on so many counted processors."""
    return processors(folder, count, "rb-har")


def strict(folder, count):
    """strict, the same."""
    return processors(folder, count, "strict")


def easy_for_comparison(folder, count):
    """easy, the same."""
    return processors(folder, count, "easy")


def reservations_conservative(folder, count):
    """The same reservations under conservative."""
    return reservations(folder, count, "conservative")


CURVES = [(waiting_with_memory, [30, 60, 125, 250, 500, 1000, 2000, 4000]), (ends_on_nodes, [100, 300, 1000]),
          (with_power, [250, 500, 1000, 2000]),
          (reservations, [30, 100, 300, 1000]), (reservations_conservative, [30, 100, 300, 1000]),
          (easy_for_comparison, [1000, 100_000, 7_600_000, 2_147_483_647]),
          (rb_har, [1000, 100_000, 7_600_000, 2_147_483_647]), (strict, [1000, 100_000, 7_600_000, 2_147_483_647]),
          (burst, [1000, 3000, 10_000, 30_000, 100_000]), (burst_of_all_lengths, [10_000, 30_000, 100_000]),
          (another_partition, [1000, 4000, 16_000, 64_000]), (uneven, [500, 1000, 2000, 4000, 8000]),
          (put_off, [125, 250, 500, 1000])]


def draw(rota, curve, points, give_up):
    print(f"{curve.__name__}: {curve.__doc__}")
    for count in points:
        with tempfile.TemporaryDirectory() as folder:
            seconds = run([rota, "simulate", *curve(folder, count), "--quiet"], give_up, folder)
        if isinstance(seconds, str):
            sys.exit(f"{curve.__name__} {count}: {seconds}")
        said = f"more than {give_up} s" if seconds is None else f"{seconds:.2f} s"
        print(f"{count:>14,}  {said}", flush=True)
        if seconds is None:
            return


def draw_chains(rota, give_up):
    """About 2,000 jobs each in a random chain of policies on a few nodes."""
    print(f"slow_chains: {draw_chains.__doc__}")
    for case in sorted((SHARED / "repro").glob("slow-*")):
        policy = re.search(r"--policy '([^']*)'", (case / "run.sh").read_text())[1]
        command = [rota, "simulate", "w.swf", "--cluster", "c.toml", "--attributes", "a.csv", "--policy", policy]
        seconds = run([*command, "--quiet"], give_up, case)
        print(f"{case.name:>14}  {seconds if seconds is None or isinstance(seconds, str) else f'{seconds:.2f} s'}",
              flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rota", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--give-up", type=int, default=100)
    options = parser.parse_args()
    for curve, points in CURVES:
        if options.only in curve.__name__:
            draw(options.rota, curve, points[:1] if options.short else points, options.give_up)
    if not options.short and options.only in "slow_chains":
        draw_chains(options.rota, options.give_up)


main()
