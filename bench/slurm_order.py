#!/usr/bin/env python3
"""The same jobs on real Slurm sites twice: under Slurm alone, and with `rota mode order act --order sjf`; and beside that what
rehearsals of the first run's own log say that the order is worth. Needs root, and what tests/live/slurm_site.py needs.

Usage: slurm_order.py ROTA [--sites burst,stream,accounts,tiers,gpus] [--jobs N] [--seed N] [--order ORDER] [--poll TIME] [--keep FOLDER]

burst and stream are plain sites whose jobs come one in 0.25 s and one in 0.8 s; the others are kinds of tests/slurm/site_kinds.py.
--keep: the state of each run stays there, as SITE-SEED-alone and SITE-SEED-ordered: `rota simulate` rehearses it again."""
import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

for folder in ("live", "slurm"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", folder))
import site_kinds  # noqa: E402
import sites  # noqa: E402
import slurm_site  # noqa: E402
from service import Service  # noqa: E402


class Plain(slurm_site.SlurmSite):
    """Four nodes of four processors, jobs of 2 s to 60 s with limits in proportion, so that limits tell lengths."""
    gpu_nodes, gpus = (), ()
    partitions = ("PartitionName=main Nodes=ALL Default=YES MaxTime=1-00:00:00 DefaultTime=10 State=UP",)
    pause = 0.8

    def __init__(self, folder, seed):
        super().__init__(folder)
        self.dice = random.Random(seed)

    def backlog(self, count):
        runs = [min(max(round(self.dice.lognormvariate(2.3, 1.0)), 2), 60) for _ in range(count)]
        return [site_kinds.Job(self.dice.choice((1, 2, 4, 4, 8)), run, "nobody", ("-Aphysics", f"-t{1 + run // 3}"), 1, self.pause)
                for run in runs]

    def meanwhile(self):
        """Nothing."""


class Burst(Plain):
    pause = 0.25


KINDS = {"burst": Burst, "stream": Plain, **site_kinds.KINDS}


def rehearsed(rota, policy, order):
    """Mean waits of the log under the site's own policy, under that with the order, and under plain easy with it."""
    policies = (policy, f"{policy}+order={order}", f"easy+order={order}")
    done = subprocess.run([rota.rota, "simulate", rota.state, "--policy", ",".join(policies), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rehearsals"]  # what really happened comes first
    return [each["wait_mean_s"] for each in rows[-len(policies):]]


def run_once(args, kind, acts, into):
    place = tempfile.mkdtemp(prefix="rota-bench-")
    site = KINDS[kind](place, args.seed)
    try:
        site.start()
        os.mkdir(site.at("rota"))
        settings = f'[slurm]\npoll = "{args.poll}"\ngap = "10ms"\nwrite_gap = "20ms"\n'
        rota = Service(args.rota, site.at("rota"), settings, ["--engine", "slurm"])
        rota.environment = dict(site.env)
        rota.start()
        if acts:
            names = [re.search(r"PartitionName=(\S+)", line)[1] for line in site.partitions]
            status, answer = rota.ask("PUT", "/v1/modes/order", {"mode": "act", "partitions": names, "rule": args.order})
            assert status == 200, answer
        jobs = site.backlog(args.jobs)
        site.meanwhile()
        sites.submit(site, jobs)
        site.wait_for(lambda: not site.ask("squeue", "-h").split(), "the end of all jobs", 3600)
        rows = [line.split("|") for line in site.ask("squeue", "-h", "-r", "-t", "all", "-o", "%A|%V|%S").splitlines()]
        stamp = lambda text: time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))  # noqa: E731
        into["waits"] = [stamp(start) - stamp(submit) for _, submit, start in rows]
        rota.wait_for(lambda: not rota.live(), "that it is seen")
        into["written"] = rota.ask("GET", "/v1/modes")[1]["written"]
        policy = rota.ask("GET", "/v1/status")[1]["policy"]
        rota.stop()
        into["rehearsed"] = rehearsed(rota, policy, args.order)
        if args.keep:
            shutil.copytree(rota.state, os.path.join(args.keep, f"{kind}-{args.seed}-{'ordered' if acts else 'alone'}"))
    finally:
        site.stop()
        shutil.rmtree(place, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rota", type=os.path.abspath)
    parser.add_argument("--sites", default="burst,stream,accounts,tiers,gpus")
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--order", default="sjf")
    parser.add_argument("--poll", default="1s")
    parser.add_argument("--keep")
    args = parser.parse_args()
    print("| site | jobs | Slurm alone: mean, median, longest wait | rehearsed | ordered: mean, median, longest | rehearsed | easy | factors written |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for kind in args.sites.split(","):
        alone, ordered = {}, {}
        both = [threading.Thread(target=run_once, args=(args, kind, acts, into)) for acts, into in ((False, alone), (True, ordered))]
        for one in both:
            one.start()
        for one in both:
            one.join()
        told = [f"{statistics.mean(run['waits']):.1f}, {statistics.median(run['waits']):.0f}, {max(run['waits']):.0f} s" for run in (alone, ordered)]
        own, own_ordered, easy = alone["rehearsed"]
        print(f"| {kind} | {len(alone['waits'])} | {told[0]} | {own:.1f} s | {told[1]} | {own_ordered:.1f} s | {easy:.1f} s | {ordered['written']} |", flush=True)


main()
