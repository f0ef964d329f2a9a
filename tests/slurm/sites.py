#!/usr/bin/env python3
"""Builds sites of a dozen kinds with a real slurmctld and slurmdbd, has each run a backlog several times, imports it by `rota
import slurm --live`, and prints the mean wait of each run beside that of its rehearsal.

Usage: sites.py ROTA [--seed N] [--sites a,b] [--jobs N] [--runs N] [--at-once N] [--exact] [--keep FOLDER]   Needs Debian's Slurm and
MariaDB, and root. A run of 150 jobs takes about five minutes, nearly all of it sleep. Half of what a site is, and all jobs, are drawn by
the seed; the runs of a site have the same jobs, but Slurm looks at its queue and reckons shares from its start on, and the jobs come up to
a minute later in one run than in another. A site passes where its rehearsals are off by at most 5 % and half of what its runs differ by,
with a correlation of at least 0.9. --exact: also what a rehearsal makes of each run that is told the instants of slurmctld's log, which
sacct does not tell: what is off then is hardly chance. --keep: the imports stay there, and what is there is imported again and rehearsed, and
not run again.
"""
import argparse
import csv
import json
import multiprocessing
import multiprocessing.connection
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import instants
import site_kinds

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import slurm_site  # noqa: E402  of tests/live

ENDED = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", "OUT_OF_MEMORY"}

SETTLED = 5  # seconds: for the first three of them slurmctld goes by its defaults, and plans nothing


class Rehearsed(NamedTuple):
    """A run of a site beside its rehearsal."""
    real: float  # mean waits, in seconds
    found: float
    correlation: float
    jobs: int
    distrusted: bool  # by the report itself
    told: tuple = ()  # with the instants of slurmctld's log: how far off, and the correlation

    def off(self):
        return self.found / self.real - 1 if self.real else 0.0


def submit(site, jobs):
    due = time.monotonic()
    for job in jobs:
        due += job.pause
        time.sleep(max(0.0, due - time.monotonic()))
        refused = site.ask("sbatch", "--parsable", "-o", "/dev/null", "--uid=" + job.user, f"-n{job.size}", *job.options, "--wrap",
                           f"sleep {job.sleep}")
        assert refused.strip(), job


def all_accounted(site, tasks):
    states = site.ask("sacct", "-X", "-n", "-P", "--allusers", "-S", "2020-01-01", "-E", "now", "--format=State").split("\n")
    return sum(state.split(" ")[0] in ENDED for state in states) >= tasks


class Wanted(NamedTuple):
    rota: str
    kind: str
    seed: int
    jobs: int
    folder: str  # of the import
    seconds: int = 0  # that jobs sleep at the mean; 0: as the seed has it
    exact: bool = False  # slurmctld tells when its passes come
    delay: float = 0  # seconds until the first job comes to a Slurm that has just begun to plan


def run(wanted):
    """Has a site of its own run the jobs, and imports them into the folder."""
    with tempfile.TemporaryDirectory(prefix="rota-site-") as place:
        site = site_kinds.KINDS[wanted.kind](place, wanted.seed)
        site.seconds = wanted.seconds or site.seconds
        if wanted.exact:
            site.lines = (*site.lines, "SlurmctldDebug=debug", "DebugFlags=Backfill")
        try:
            site.start()
            backlog = site.backlog(wanted.jobs)
            time.sleep(SETTLED + wanted.delay)
            site.meanwhile()
            submit(site, backlog)
            site.wait_for(lambda: not site.ask("squeue", "-h", "-o", "%i").strip(), "the end of all jobs", 3600, 2)
            site.wait_for(lambda: all_accounted(site, sum(job.tasks for job in backlog)), "the accounting of all jobs")
            import_site(wanted.rota, wanted.folder, "--live", env=site.env)
            if wanted.exact:
                shutil.copy(site.at("log", "slurmctld.own"), wanted.folder + ".log")
        finally:
            site.stop()


def import_site(rota, folder, *options, env=None):
    done = subprocess.run([rota, "import", "slurm", folder, *options], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def run_one(wanted, error):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        run(wanted)
    except Exception as what:  # pylint: disable=broad-except
        error.put(f"{type(what).__name__}: {what}"[:4000])
        sys.exit(1)


def run_all(wanted, at_once):
    """Each in a process of its own, which stops its site when it is told to end; the kinds, with what went wrong."""
    waiting, running = list(wanted), {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                one, error = waiting.pop(0), multiprocessing.SimpleQueue()
                process = multiprocessing.Process(target=run_one, args=(one, error))
                process.start()
                running[process.sentinel] = (process, one, error)
            for sentinel in multiprocessing.connection.wait(list(running)):
                process, one, error = running.pop(sentinel)
                process.join()
                yield one.kind, "" if process.exitcode == 0 else "ended early" if error.empty() else error.get()
    finally:
        for process, _, _ in running.values():
            process.terminate()
        for process, _, _ in running.values():
            process.join()


def site_policy(folder):
    """The policy that the import found, as its report names it."""
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        return re.search(r"--policy '?recorded,([^,' ]+)", json.load(file)["next"])[1]


def waits(path):
    with open(path, encoding="utf-8") as file:
        return {int(row["number"]): float(row["wait"]) for row in csv.DictReader(file) if row["wait"] not in ("", "-1")}


def beside_recorded(rota, jobs, cluster, own):
    """What the report of a rehearsal says, and the recorded mean wait."""
    with tempfile.TemporaryDirectory(prefix="rota-rehearsed-") as place:
        table = os.path.join(place, "rehearsed.csv")
        done = subprocess.run([rota, "simulate", jobs, "--cluster", cluster, "--policy", "recorded," + own, "--jobs", table, "--json",
                               "--quiet"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        real = statistics.mean(waits(f"{table[:-4]}-recorded.csv").values())
    told = json.loads(done.stdout)
    return told, next(row["beside_recorded"] for row in told["rehearsals"] if "beside_recorded" in row and row["policy"] != "recorded"), real


def rehearse(rota, folder):
    """As the report holds it against what was recorded: the mean waits over what is chance."""
    told, beside, real = beside_recorded(rota, os.path.join(folder, "jobs.jsonl.gz"), os.path.join(folder, "cluster.toml"), site_policy(folder))
    verdict, = told["verdicts"]
    return Rehearsed(real, real * beside["wait_mean_ratio"], beside["wait_correlation"] or 0.0, beside["jobs"],
                     verdict["figures_trusted"] is False, rehearse_told(rota, folder))


def rehearse_told(rota, folder):
    if not os.path.exists(folder + ".log"):
        return ()
    with tempfile.TemporaryDirectory(prefix="rota-told-") as place:
        policy = instants.with_instants(folder, folder + ".log", place)
        if not policy:
            return ()
        beside = beside_recorded(rota, os.path.join(place, "jobs.jsonl"), os.path.join(place, "cluster.toml"), policy)[1]
    return beside["wait_mean_ratio"] - 1, beside["wait_correlation"] or 0.0


class Verdict(NamedTuple):
    runs: list
    spread: float  # of the real mean waits, as a part of their mean

    def real(self):
        return statistics.mean(run.real for run in self.runs)

    def found(self):
        return statistics.mean(run.found for run in self.runs)

    def off(self):
        return self.found() / self.real() - 1

    def correlation(self):
        return statistics.mean(run.correlation for run in self.runs)

    def passes(self):
        return abs(self.off()) <= 0.05 + self.spread / 2 and self.correlation() >= 0.9

    def told(self):
        """Nothing where a run's instants are not known."""
        if not all(run.told for run in self.runs):
            return "-"
        return ", ".join(f"{100 * off:+.1f} % ({correlation:.2f})" for off, correlation in (run.told for run in self.runs))

    def distrusted(self):
        return sum(run.distrusted for run in self.runs)


def judge(runs):
    real = [run.real for run in runs]
    return Verdict(runs, (max(real) - min(real)) / statistics.mean(real))


def print_table(verdicts, seed):
    print(f"\nSeed {seed}.\n\n| site | jobs | real mean waits | rehearsed | off | spread | correlation | passes | distrusted by the report | told "
          "the instants: off (correlation) |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind, found in verdicts.items():
        print(f"| {kind} | {found.runs[0].jobs} | {', '.join(f'{run.real:.1f}' for run in found.runs)} | "
              f"{', '.join(f'{run.found:.1f}' for run in found.runs)} | {100 * found.off():+.1f} % | {100 * found.spread:.1f} % | "
              f"{found.correlation():.2f} | {'yes' if found.passes() else 'no'} | {found.distrusted()} of {len(found.runs)} | {found.told()} |")
    print(f"\n{sum(found.passes() for found in verdicts.values())} of {len(verdicts)} sites pass.")


def asked_kinds(text):
    """Kinds of sites as they were typed. What is started from here on ends with this program, also where that is told to end."""
    if why := slurm_site.lacks():
        sys.exit(f"Slurm cannot be started here: {why}.")
    kinds = text.split(",")
    if unknown := set(kinds) - set(site_kinds.KINDS):
        sys.exit(f"There is no site {', '.join(sorted(unknown))}; there are: {', '.join(site_kinds.KINDS)}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rota")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sites", default=",".join(site_kinds.KINDS))
    parser.add_argument("--jobs", type=int, default=150)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--keep")
    args = parser.parse_args()
    kinds = asked_kinds(args.sites)
    rota, place = os.path.abspath(args.rota), os.path.abspath(args.keep or tempfile.mkdtemp(prefix="rota-sites-"))
    os.makedirs(place, exist_ok=True)
    folders = {(kind, at): os.path.join(place, f"{kind}-{args.seed}-{args.jobs}-{at}") for kind in kinds for at in range(args.runs)}
    failed = False
    try:
        wanted = [Wanted(rota, kind, args.seed, args.jobs, folder, exact=args.exact, delay=60 * at / args.runs)
                  for (kind, at), folder in folders.items() if not os.path.exists(folder)]
        for kind, error in run_all(wanted, args.at_once):
            failed |= bool(error)
            print(f"{time.strftime('%H:%M:%S')} {kind} {error or 'has run'}", file=sys.stderr, flush=True)
        for folder in folders.values():
            if args.keep and os.path.exists(folder):
                import_site(rota, folder, "--from", os.path.join(folder, "saved"), "--overwrite")
        have = {kind: [folders[kind, at] for at in range(args.runs) if os.path.exists(folders[kind, at])] for kind in kinds}
        print_table({kind: judge([rehearse(rota, folder) for folder in there]) for kind, there in have.items() if there}, args.seed)
    finally:
        if not args.keep:
            shutil.rmtree(place)
    sys.exit(failed)


if __name__ == "__main__":
    main()
