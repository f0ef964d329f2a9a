#!/usr/bin/env python3
"""The same jobs on a real Slurm twice: under Slurm alone, and with `rota mode order act --order sjf`; and beside that what a
rehearsal of the first run's own log says that the order is worth. Needs root, and what tests/live/slurm_site.py needs.

Usage: slurm_order.py ROTA [JOBS [SEED]]"""
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))
import slurm_site  # noqa: E402
from service import Service  # noqa: E402

SETTINGS = '[slurm]\npoll = "1s"\ngap = "10ms"\nwrite_gap = "20ms"\n'


class Site(slurm_site.SlurmSite):
    gpu_nodes, gpus = (), ()
    partitions = ("PartitionName=main Nodes=ALL Default=YES MaxTime=1-00:00:00 DefaultTime=10 State=UP",)


def workload(count, seed):
    """When it comes (s), processors, how long it runs (s), its limit (min): in proportion, so that limits tell lengths."""
    draw = random.Random(seed)
    runs = [min(max(round(draw.lognormvariate(2.3, 1.0)), 2), 60) for _ in range(count)]
    return [(at * 0.25, draw.choice((1, 2, 4, 4, 8)), run, 1 + run // 3) for at, run in enumerate(runs)]


def run_once(rota_path, jobs, acts):
    folder = tempfile.mkdtemp(prefix="rota-bench-")
    site = Site(folder, nodes=("n1", "n2", "n3", "n4"))
    site.start()
    place = os.path.join(folder, "rota")
    os.mkdir(place)
    rota = Service(rota_path, place, SETTINGS, ["--engine", "slurm"])
    rota.environment = dict(site.env)
    rota.start()
    if acts:
        status, answer = rota.ask("PUT", "/v1/modes/order", {"mode": "act", "partitions": ["main"], "rule": "sjf"})
        assert status == 200, answer
    began = time.monotonic()
    for at, processors, run, limit in jobs:
        time.sleep(max(began + at - time.monotonic(), 0))
        site.ask("sbatch", "--parsable", "-o", "/dev/null", "-e", "/dev/null", "--uid=nobody", "-Aphysics", f"-n{processors}",
                 f"-t{limit}", "--wrap", f"sleep {run}", cwd="/")
    site.wait_for(lambda: not site.ask("squeue", "-h").split(), "the end of all jobs")
    rows = [line.split("|") for line in site.ask("squeue", "-h", "-t", "all", "-o", "%A|%V|%S").splitlines()]
    stamp = lambda text: time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))  # noqa: E731
    waits = [stamp(start) - stamp(submit) for _, submit, start in rows]
    rota.wait_for(lambda: not rota.live(), "that is seen")
    written = rota.ask("GET", "/v1/modes")[1]["written"]
    rota.stop()
    rehearsed = {}
    for policy in ("easy", "easy+order=sjf"):
        done = subprocess.run([rota_path, "simulate", rota.state, "--policy", policy, "--json"], capture_output=True, text=True)
        rehearsed[policy] = json.loads(done.stdout) if done.returncode == 0 else done.stderr
    site.stop()
    shutil.rmtree(folder, ignore_errors=True)
    return waits, written, rehearsed


def main():
    rota, given = os.path.abspath(sys.argv[1]), [int(word) for word in sys.argv[2:]]
    count, seed = (given + [40, 1][len(given):])[:2]
    jobs = workload(count, seed)
    alone, _, rehearsed = run_once(rota, jobs, False)
    ordered, written, _ = run_once(rota, jobs, True)
    for name, waits in (("Slurm alone", alone), ("order act, sjf", ordered)):
        print(f"{name}: {len(waits)} jobs, mean wait {statistics.mean(waits):.1f} s, median {statistics.median(waits):.1f} s, "
              f"most {max(waits):.0f} s")
    print(f"{written} factors written; rehearsals of the first run's log:")
    for policy, text in rehearsed.items():
        print(policy, [(each["policy"], each["wait_mean_s"]) for each in text["rehearsals"]])


main()
