#!/usr/bin/env python3
"""Has `rota serve --engine slurm` foretell starts at real Slurm sites of several kinds, drawn by a seed, and prints how often it was right,
beside Slurm's own first estimates (squeue --start).

Usage: forecasts.py ROTA [--seed N] [--sites a,b] [--jobs N] [--before N] [--at-once N] [--keep FOLDER]   Needs Debian's Slurm and MariaDB,
and root. Jobs that come before (--before, 40) are what a site's own log is elsewhere: run times are drawn from them, and they are not scored.
A site of 140 jobs takes about eight minutes, nearly all of it sleep. --keep: each start that was foretold stays there, as SITE-SEED.json.
"""
import argparse
import json
import multiprocessing
import multiprocessing.connection
import os
import pwd
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time

import site_kinds
import sites

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from service import Service  # noqa: E402  of tests/live

READER = "backup"  # a user that Slurm has never been told of
SETTINGS = '[slurm]\npoll = "2s"\ngap = "50ms"\n'


def observer(rota, site, place):
    folder = os.path.join(place, "rota")
    os.mkdir(folder)
    shutil.chown(folder, READER)
    service = Service(rota, folder, SETTINGS, ["--engine", "slurm"])
    service.before = ["setpriv", f"--reuid={READER}", f"--regid={pwd.getpwnam(READER).pw_gid}", "--clear-groups"]
    service.environment = dict(site.env)
    service.start()
    threading.Thread(target=service.process.stderr.read, daemon=True).start()
    return service


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def watch(rota, kind, seed, before, jobs):
    """A site of that kind, with Rota beside it: what became of each start, and of the readings."""
    with tempfile.TemporaryDirectory(prefix="rota-forecasts-") as place:
        os.chmod(place, 0o755)
        site = site_kinds.KINDS[kind](place, seed)
        service = None
        try:
            site.start()
            backlog = site.backlog(before + jobs)
            service = observer(rota, site, place)
            began = time.monotonic()
            site.meanwhile()
            sites.submit(site, backlog[:before])
            scored = int(time.time())
            sites.submit(site, backlog[before:])
            site.wait_for(lambda: not site.ask("squeue", "-h", "-t", "PD", "-o", "%i").strip(), "the start of all jobs", 3600)
            site.wait_for(lambda: not [job for job in service.live() if job["state"] == "PENDING"], "that Rota has seen them start", 600)
            status, answer = service.ask("GET", "/v1/shadow?since=0&jobs=1")
            assert status == 200, answer
            answer["cpu"] = cpu_seconds(service.process) / (time.monotonic() - began)
            answer["scored_from"] = scored
            return answer
        finally:
            if service and service.process.poll() is None:
                service.process.kill()
                service.process.wait()
            site.stop()


def score(answer):
    """Of the starts that were foretold once the site was under way."""
    starts = [job for job in answer["jobs"] if job.get("by") and job["at"] >= answer["scored_from"]]
    missing = sum("by" not in job for job in answer["jobs"] if job["at"] >= answer["scored_from"])
    told = [job for job in starts if None not in job["by"]]
    inside = lambda job, low, high: job["by"][low] - 1 <= job["start"] <= job["by"][high] + 1  # noqa: E731  Slurm counts whole seconds
    errors = [abs(job["start"] - job["by"][2]) for job in told]
    theirs = [abs(job["start"] - job["manager"]) for job in told if "manager" in job]
    return {"starts": len(starts), "not": missing, "half": sum(inside(job, 1, 3) for job in told), "nine": sum(inside(job, 0, 4) for job in told),
            "minute": sum(error <= 60 for error in errors), "errors": errors, "theirs": theirs,
            "widths": [job["by"][4] - job["by"][0] for job in told],
            "waits": [job["start"] - job["at"] for job in told],
            "bias": [job["start"] - job["by"][2] for job in told]}


def line(name, s):
    part = lambda count, of: f"{100 * count / of:.0f} %" if of else "-"  # noqa: E731
    median = lambda values: f"{statistics.median(values):.1f} s" if values else "-"  # noqa: E731
    return (f"| {name} | {s['starts']} | {s['not']} | {median(s['waits'])} | {part(s['half'], s['starts'])} | {part(s['nine'], s['starts'])} | "
            f"{median(s['widths'])} | {part(s['minute'], s['starts'])} | {median(s['errors'])} | {median(s['bias'])} | "
            f"{median(s['theirs'])} | {part(sum(e <= 60 for e in s['theirs']), len(s['theirs']))} of {len(s['theirs'])} |")


def print_table(answers):
    print("\n| site | starts | not foretold | median wait | in 50 % | in 90 % | median width of 90 % | within 1 min | median error | bias | Slurm's own error | within 1 min |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    total = None
    for name, answer in answers.items():
        s = score(answer)
        print(line(name, s))
        total = s if total is None else {key: total[key] + s[key] for key in s}
    if len(answers) > 1:
        print(line("all", total))
    for name, answer in answers.items():
        print(f"{name}: {100 * answer['cpu']:.1f} % of a core with a reading every 2 s; not forecast: {answer['not_forecast'] or 'none'}")


def run_one(rota, kind, seed, before, jobs, path):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    answer = watch(rota, kind, seed, before, jobs)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(answer, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rota")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sites", default="accounts,tiers,limits")
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--before", type=int, default=40)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--keep")
    args = parser.parse_args()
    kinds = sites.asked_kinds(args.sites)
    place = os.path.abspath(args.keep or tempfile.mkdtemp(prefix="rota-forecasts-"))
    os.makedirs(place, exist_ok=True)
    paths = {kind: os.path.join(place, f"{kind}-{args.seed}.json") for kind in kinds}
    waiting, running, failed = [kind for kind in kinds if not os.path.exists(paths[kind])], {}, False
    try:
        while waiting or running:
            while waiting and len(running) < args.at_once:
                kind = waiting.pop(0)
                process = multiprocessing.Process(target=run_one, args=(os.path.abspath(args.rota), kind, args.seed, args.before, args.jobs,
                                                                        paths[kind]))
                process.start()
                running[process.sentinel] = (process, kind)
            for sentinel in multiprocessing.connection.wait(list(running)):
                process, kind = running.pop(sentinel)
                process.join()
                failed |= process.exitcode != 0
                print(f"{time.strftime('%H:%M:%S')} {kind} {'has run' if process.exitcode == 0 else 'ended early'}", file=sys.stderr, flush=True)
        answers = {}
        for kind, path in paths.items():
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    answers[kind] = json.load(file)
        print_table(answers)
    finally:
        for process, _ in running.values():
            process.terminate()
        for process, _ in running.values():
            process.join()
        if not args.keep:
            shutil.rmtree(place)
    sys.exit(failed)


if __name__ == "__main__":
    main()
