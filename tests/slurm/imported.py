#!/usr/bin/env python3
"""Has a real Slurm with slurmdbd run a backlog, imports the cluster as an administrator would, and rehearses the import
under policy slurm as read from its configuration, and under others, beside what really happened.

Usage: imported.py ROTA CASE [FOLDER]   Takes some ten minutes, nearly all of it sleep. The import is kept in FOLDER, where one
is named. Needs Debian's Slurm and MariaDB, and root. CASE is one of these:
  imported                          the small backlog, with a pass of backfill every three seconds
  imported-one-reservation          the same, with one reservation at a time
  imported-default                  the same, with Slurm's own backfill, every thirty seconds
  imported-steady                   the steady backlog, with a pass every five seconds
  imported-steady-default           the same, every thirty seconds
  imported-steady-one-reservation   the same, with one reservation at a time
"""
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import record

sys.path.insert(0, os.path.join(record.HERE, "..", "live"))
import slurm_site  # noqa: E402  of tests/live

OFTEN = "bf_interval=3,bf_resolution=5,bf_yield_interval=5000000"
CASES = {  # the backlog, and SchedulerParameters
    "imported": (record.SMALL, OFTEN),
    "imported-one-reservation": (record.SMALL, f"{OFTEN},{record.FEW}"),
    "imported-default": (record.SMALL, "bf_interval=30"),
    "imported-steady": (record.STEADY, "bf_interval=5,bf_resolution=10,bf_yield_interval=5000000"),
    "imported-steady-default": (record.STEADY, "bf_interval=30"),
    "imported-steady-one-reservation": (record.STEADY, f"bf_interval=30,{record.FEW}"),
}
OTHERS = ("easy", "conservative", "easy+depth=8", "fcfs")


class Site(slurm_site.SlurmSite):
    gpu_nodes = ()
    priority = ("PriorityWeightAge=100000", "PriorityMaxAge=0-01:00:00", "PriorityCalcPeriod=1")
    partitions = ("PartitionName=main Nodes=ALL Default=YES MaxTime=1-00:00:00 DefaultTime=10 State=UP",)

    def __init__(self, folder, backlog, scheduler):
        self.backlog, self.cpus, self.scheduler = backlog, backlog.cpus, scheduler
        super().__init__(folder, [f"n{number + 1}" for number in range(backlog.nodes)])

    def run_backlog(self):
        time.sleep(5)  # after the passes that the nodes have caused by coming up
        due = time.monotonic()
        for number, (pause, size, sleep, limit) in enumerate(self.backlog.jobs()):
            due += pause
            time.sleep(max(0.0, due - time.monotonic()))
            self.ask("sbatch", "-n", str(size), "-t", str(limit), "-J", f"job-{number + 1}", "-o", "/dev/null", "--wrap",
                     f"sleep {sleep}")
        self.wait_for(lambda: not self.ask("squeue", "-h", "-o", "%i").strip(), "the end of all jobs", 3600)
        self.wait_for(self.all_accounted, "the accounting of all jobs")

    def all_accounted(self):
        states = self.ask("sacct", "-X", "-n", "-P", "--allusers", "-S", "2020-01-01", "-E", "now", "--format=State").split()
        return states == ["COMPLETED"] * record.JOBS


def waits(path):
    with open(path, encoding="utf-8") as file:
        return {int(row["number"]): float(row["wait"]) for row in csv.DictReader(file)}


def compare(rota, folder, own):
    """The real waits of jobs that were imported into the folder beside the rehearsed ones."""
    policies = ("recorded", own, *OTHERS)
    tables = os.path.join(folder, "rehearsed.csv")
    subprocess.run([rota, "simulate", os.path.join(folder, "jobs.jsonl.gz"), "--cluster", os.path.join(folder, "cluster.toml"),
                    "--policy", ",".join(policies), "--jobs", tables, "--quiet"], check=True)
    real, *rehearsed = (waits(f"{tables[:-4]}-{name}.csv") for name in ("recorded", "slurm", *OTHERS))
    print(f"imported: {len(real)} jobs, mean wait {statistics.mean(real.values()):.1f} s")
    for policy, found in zip(policies[1:], rehearsed):
        there = [found[number] for number in real]
        ratio = statistics.mean(there) / statistics.mean(real.values())
        print(f"  {policy.split('+priority')[0]:62} {statistics.mean(there):7.1f} s  {100 * (ratio - 1):+6.1f} %  "
              f"correlation {statistics.correlation(list(real.values()), there):.3f}")


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in CASES:
        sys.exit(__doc__)
    if why := slurm_site.lacks():
        sys.exit(f"Slurm cannot be started here: {why}.")
    rota = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="rota-backlog-") as folder:
        os.chmod(folder, 0o755)
        os.mkdir(os.path.join(folder, "slurm"))
        imported = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else os.path.join(folder, "site")
        site = Site(os.path.join(folder, "slurm"), *CASES[sys.argv[2]])
        try:
            site.start()
            site.run_backlog()
            done = subprocess.run([rota, "import", "slurm", "--live", imported], env=site.env, capture_output=True, text=True, check=False)
            print(done.stdout + done.stderr)
            if done.returncode != 0:
                sys.exit(1)
        finally:
            site.stop()
        compare(rota, imported, re.search(r"--policy recorded,(\S+?),", done.stdout)[1])


if __name__ == "__main__":
    main()
