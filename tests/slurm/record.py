#!/usr/bin/env python3
"""Has a real Slurm run a backlog and writes down what it did, as a workload with the real waits in it.

Usage: record.py CASE [FILE]   Takes some ten minutes, nearly all of it sleep. FILE is CASE.swf beside this script where
none is named. Needs Debian's Slurm, and root.

The wide backlogs are for 64 CPUs on eight nodes, the small ones for 16 on four. Most jobs ask for more time than they take,
in whole minutes, as Slurm has it. They come faster than they can run, and several minutes of them pile up.
"""
import os
import random
import sys
import time

import real_slurm

HERE = os.path.dirname(os.path.abspath(__file__))
JOBS = 220


class Backlog:
    """What jobs are drawn from: seconds from one to the next; CPUs and how often; seconds of sleep; how far limits are off."""

    def __init__(self, nodes, cpus, seed, rate, sizes, sleep, over):
        self.nodes, self.cpus, self.seed, self.rate = nodes, cpus, seed, rate
        self.sizes, self.sleep, self.over = sizes, sleep, over

    def jobs(self):
        """(seconds after the one before, CPUs, seconds of sleep, minutes of limit) of each."""
        dice = random.Random(self.seed)
        least, mean, most = self.sleep
        for _ in range(JOBS):
            size = dice.choices(*self.sizes)[0]
            sleep = round(min(least + dice.expovariate(1 / mean), most), 1)
            limit = 1 + int(sleep * dice.choice(self.over) / 60)
            yield dice.expovariate(self.rate), size, sleep, limit


SMALL = Backlog(4, 4, 5, 1 / 1.1, ((1, 2, 3, 4, 6, 8, 12, 16), (30, 22, 10, 16, 8, 8, 3, 3)), (3, 8, 50.0),
                (1, 2, 3, 5, 10))
WIDE = Backlog(8, 8, 7, 1.2, ((1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64), (22, 18, 6, 16, 6, 14, 5, 8, 3, 2, 1, 1)),
               (4, 24, 120.0), (1, 1.3, 2, 3, 5))
STEADY = Backlog(8, 8, 11, 1.2, ((1, 2, 3, 4, 6, 8, 12, 16, 24, 32), (20, 16, 6, 16, 6, 16, 6, 8, 4, 2)), (4, 24, 120.0),
                 (1, 1.3, 2, 3, 5))
FEW = "bf_job_part_count_reserve=1"
BASIC = ("PriorityType=priority/basic",)
MULTIFACTOR = ("PriorityType=priority/multifactor", "PriorityWeightAge=1000", "PriorityMaxAge=0-00:10:00",
               "PriorityWeightJobSize=2000", "PriorityFavorSmall=YES", "PriorityCalcPeriod=1")


def conf(parameters, lines):
    return ("SchedulerType=sched/backfill", f"SchedulerParameters={parameters},bf_yield_interval=5000000", *lines)


CASES = {  # the backlog, the policy, and lines of slurm.conf
    "small": (SMALL, "slurm+bf-interval=3s+bf-resolution=5s", conf("bf_interval=3,bf_resolution=5", BASIC)),
    "small-one-reservation": (SMALL, "slurm+bf-interval=3s+bf-resolution=5s+bf-job-part-count-reserve=1",
                              conf(f"bf_interval=3,bf_resolution=5,{FEW}", BASIC)),
    "wide": (WIDE, "slurm+bf-interval=5s+bf-resolution=10s", conf("bf_interval=5,bf_resolution=10", BASIC)),
    "wide-again": (WIDE, "slurm+bf-interval=5s+bf-resolution=10s", conf("bf_interval=5,bf_resolution=10", BASIC)),
    "wide-third": (WIDE, "slurm+bf-interval=5s+bf-resolution=10s", conf("bf_interval=5,bf_resolution=10", BASIC)),
    "steady": (STEADY, "slurm+bf-interval=5s+bf-resolution=10s", conf("bf_interval=5,bf_resolution=10", BASIC)),
    "wide-one-reservation": (WIDE, "slurm+bf-interval=5s+bf-resolution=10s+bf-job-part-count-reserve=1",
                             conf(f"bf_interval=5,bf_resolution=10,{FEW}", BASIC)),
    # Without slurmdbd this Slurm does not reckon ages anew.
    "wide-multifactor": (WIDE, "slurm+bf-interval=5s+bf-resolution=10s+priority=multifactor+weight-job-size=2000"
                               "+favor-small=yes", conf("bf_interval=5,bf_resolution=10", MULTIFACTOR)),
}


def run(case, port):
    """For each job: number, processors, limit in minutes, and when it was submitted, started and over, in seconds."""
    backlog, _, lines = CASES[case]
    with real_slurm.Slurm(backlog.nodes, backlog.cpus, lines, port) as slurm:
        due = time.monotonic()
        for number, (pause, size, sleep, limit) in enumerate(backlog.jobs()):
            due += pause
            time.sleep(max(0.0, due - time.monotonic()))
            slurm.run("sbatch", "-n", str(size), "-t", str(limit), "-J", f"job-{number + 1}", "-o", "/dev/null",
                      "--wrap", f"sleep {sleep}")
        real_slurm.wait_until(lambda: len(slurm.ended()) == JOBS, "the end of all jobs", 3600)
        times = [slurm.moments(what) for what in (r"_slurm_rpc_submit_batch_job: JobId=(\d+)",
                                                  r"(?:Allocate|_start_job: Started) JobId=(\d+)",
                                                  r"_job_complete: JobId=(\d+) done")]
        jobs = ((int(job["JobId"]), int(job["ProcCnt"]), int(job["TimeLimit"])) for job in slurm.ended())
        return sorted((*job, *(moments[job[0]] for moments in times)) for job in jobs)


def write(case, rows, path):
    backlog, _, lines = CASES[case]
    # A whole minute, for Slurm rounds times to multiples of seconds since the epoch.
    first = int(min(submit for _, _, _, submit, _, _ in rows)) // 60 * 60
    with open(path, "w", encoding="utf-8") as file:
        print("; Recorded by tests/slurm/record.py from a real Slurm 22.05: waits and run times are what happened.",
              f"; Case: {case}", *(f"; slurm.conf: {line}" for line in lines),
              "; Version: 2.2", f"; UnixStartTime: {first}", f"; MaxJobs: {len(rows)}", f"; MaxProcs: {backlog.nodes * backlog.cpus}",
              f"; MaxNodes: {backlog.nodes}", sep="\n", file=file)
        for number, processors, limit, submit, start, end in rows:
            print(number, f"{submit - first:.3f}", f"{start - submit:.3f}", f"{end - start:.3f}", processors, -1, -1,
                  processors, limit * 60, -1, 1, 1, 1, -1, 1, 1, -1, -1, file=file)


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in CASES:
        sys.exit(f"{__doc__}\nCASE is one of: {', '.join(CASES)}")
    if why := real_slurm.missing():
        sys.exit(f"Slurm cannot be started here: {why}.")
    case = sys.argv[1]
    port = 17200 + 150 * list(CASES).index(case)
    write(case, run(case, port), sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, f"{case}.swf"))


if __name__ == "__main__":
    main()
