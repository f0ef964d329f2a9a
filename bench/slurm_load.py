#!/usr/bin/env python3
"""What `rota serve --engine slurm` costs beside a real Slurm with so many waiting jobs: CPU of the service and of the commands that it
starts, and of slurmctld, with and without it, in parts of one core; and what `sdiag` has of slurmctld. Half of the jobs are tasks
of arrays. Meanwhile a few jobs come at each reading, so that forecasts are made. Needs root.

Usage: slurm_load.py ROTA [--jobs N] [--seconds N] [--poll TIME]"""
import argparse
import concurrent.futures
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))
import slurm_site  # noqa: E402
from service import Service  # noqa: E402

TASKS, AT_ONCE = 500, 3


class Site(slurm_site.SlurmSite):
    gpu_nodes, gpus = (), ()
    partitions = ("PartitionName=main Nodes=ALL Default=YES MaxTime=7-00:00:00 DefaultTime=10 State=UP",)
    scheduler = "defer"
    lines = ("MaxJobCount=50000", "MaxArraySize=10001")

    def batch(self, *options, run="sleep 60", user="nobody"):
        return self.ask("sbatch", "--parsable", "-o", "/dev/null", "-e", "/dev/null", "--uid=" + user, *options, "--wrap", run, cwd="/")

    def process(self, name):
        return next(process for each, process in self.running if each == name)


def cpu(pid, children=False):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        words = file.read().rsplit(")", 1)[1].split()
    own = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    others = (int(words[13]) + int(words[14])) / os.sysconf("SC_CLK_TCK")
    return others if children else own


def sdiag(site):
    """Calls of slurmctld by kind, with the seconds that they took; and its cycles."""
    text = site.ask("sdiag")
    calls = {kind: (int(count), int(total) / 1e6)
             for kind, count, total in re.findall(r"(REQUEST_\S+)\s+\(\s*\d+\) count:(\d+)\s+ave_time:\d+\s+total_time:(\d+)", text)}
    return calls, re.findall(r"(?:Last|Mean) cycle:\s+(\d+)", text)


def measure(site, rota, dice, args, name):
    site.ask("sdiag", "--reset")
    ctld = site.process("slurmctld").pid
    before = (cpu(ctld), rota and cpu(rota.process.pid), rota and cpu(rota.process.pid, True), time.monotonic())
    while time.monotonic() < before[3] + args.seconds:
        for _ in range(3):
            submit(site, dice)
        time.sleep(15)
    took = time.monotonic() - before[3]
    share = lambda now, then: f"{100 * (now - then) / took:.2f} %"  # noqa: E731
    calls, cycles = sdiag(site)
    told = f"{name}: slurmctld {share(cpu(ctld), before[0])}"
    if rota:
        told += f"; service {share(cpu(rota.process.pid), before[1])}, its commands {share(cpu(rota.process.pid, True), before[2])}"
    print(f"{told}; main cycle, backfill cycle (last, mean; µs) {cycles}")
    for kind, (count, seconds) in sorted(calls.items(), key=lambda each: -each[1][1])[:5]:
        print(f"    {kind} {count} calls, {seconds:.2f} s")
    sys.stdout.flush()


def submit(site, dice, *more):
    user, account = dice.choice((("nobody", "physics"), ("daemon", "chemistry"), ("root", "physics")))
    return site.batch(f"-n{dice.choice((1, 2, 4, 8))}", f"-t{dice.randint(1, 2000)}", "-A" + account, *more, user=user)


def fill(site, dice, count):
    for _ in site.nodes:
        site.batch(f"-n{site.cpus}", "-t6000", "-Aphysics", run="sleep 100000")
    site.wait_for(lambda: len(site.ask("squeue", "-h", "-t", "R").splitlines()) == len(site.nodes), "that the nodes are full")
    for _ in range(count // 2 // TASKS):
        submit(site, dice, f"--array=1-{TASKS}")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda _: submit(site, dice), range(count - count // 2 // TASKS * TASKS)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rota", type=os.path.abspath)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--poll", default="30s")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    place, dice = tempfile.mkdtemp(prefix="rota-bench-"), random.Random(1)
    site = Site(place)
    try:
        site.start()
        began = time.monotonic()
        fill(site, dice, args.jobs)
        print(f"{args.jobs} jobs wait, submitted in {time.monotonic() - began:.0f} s", flush=True)
        measure(site, None, dice, args, "Slurm alone")
        os.mkdir(site.at("rota"))
        rota = Service(args.rota, site.at("rota"), f'[slurm]\npoll = "{args.poll}"\n', ["--engine", "slurm"])
        rota.environment = dict(site.env)
        rota.start()
        time.sleep(90)  # the first readings meet all jobs
        measure(site, rota, dice, args, "observe")
        assert rota.ask("PUT", "/v1/modes/order", {"mode": "act", "partitions": ["main"], "rule": "sjf"})[0] == 200
        measure(site, rota, dice, args, "act, while factors are first written")
        measure(site, rota, dice, args, "act")
        print(rota.ask("GET", "/v1/modes")[1]["written"], "factors written")
        rota.stop()
    finally:
        subprocess.run(["scancel", "--quiet", "-A", "physics,chemistry"], env=site.env, capture_output=True)
        site.stop()
        shutil.rmtree(place, ignore_errors=True)


main()
