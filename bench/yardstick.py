#!/usr/bin/env python3
"""The speed of `rota simulate` against a plain loop that knows nothing but EASY's rule, as ratios of CPU time.

Usage: yardstick.py ROTA [--short] [--runs N]

Whole processes, parsing included, the two in turn so that a noisy machine slows both; medians. The loop and the logs
are in ../shared; without that folder nothing is measured (exit code 77). --short: one log. No ratio fails: a machine that
does something else meanwhile makes any.
"""
import argparse
import gzip
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("ROTA_SHARED", ROOT.parent / "shared"))
SKIPPED = 77
LOGS = [("SDSC-SP2-rebuilt", 128, 1.5), ("CEA-Curie-80640-rebuilt", 80640, 0.5), ("SDSC-SP2-x2load-20k", 128, 0.33)]


def run(command):
    """CPU seconds and peak resident KiB of a process that must succeed."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"yardstick: {' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def unpack(name, folder):
    plain = Path(folder, name + ".swf")
    with gzip.open(SHARED / "traces" / (name + ".swf.gz")) as packed, open(plain, "wb") as out:
        shutil.copyfileobj(packed, out)
    jobs = sum(1 for line in open(plain, encoding="latin-1") if line.strip() and not line.startswith(";"))
    return plain, jobs


def compare(rota, loop, log, processors, runs):
    """Medians of CPU seconds of the loop and of Rota, and Rota's peak KiB."""
    loops, rotas = [], []
    for _ in range(runs):
        loops.append(run([loop, str(log), str(processors)])[0])
        rotas.append(run([rota, "simulate", str(log), "--processors", str(processors), "--policy", "easy", "--quiet"]))
    return statistics.median(loops), statistics.median(r[0] for r in rotas), max(r[1] for r in rotas)


def conservative(rota, log, jobs, runs):
    command = [rota, "simulate", str(log), "--processors", "128", "--policy", "conservative", "--quiet"]
    seconds = statistics.median(run(command)[0] for _ in range(runs))
    print(f"SDSC-SP2 conservative: {jobs / seconds:,.0f} jobs per CPU second (wanted: 100,000)")


def referee(rota, log, processors):
    """Its share of all instructions. Needs valgrind, and a binary whose functions have names."""
    if not shutil.which("valgrind"):
        print("share of the referee: not measured, valgrind is missing")
        return
    with tempfile.NamedTemporaryFile() as out:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", rota, "simulate", str(log),
                   "--processors", str(processors), "--policy", "easy", "--quiet"]
        subprocess.run(command, check=True, capture_output=True)
        text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out.name], check=True,
                              capture_output=True, text=True).stdout
    shares = [float(m[1]) for m in re.finditer(r"\(\s*([\d.]+)%\)\s+\S*:rota::Referee::check\b", text)]
    share = max(shares, default=None)  # one line is that of all calls; the others are parts of it, by source file
    said = "not found in the profile" if share is None else f"{share:.1f} % (wanted: less than a third)"
    print(f"share of the referee in the instructions on {log.stem}: {said}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rota")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args()
    source = SHARED / "prototypes" / "easy_loop.cpp"
    if not source.exists():
        print(f"yardstick: {source} is not here, so there is nothing to compare with")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        loop = str(Path(folder, "easy_loop"))
        subprocess.run(["g++", "-O2", "-std=c++20", str(source), "-o", loop], check=True)
        print(f"{'log':26}{'jobs':>9}{'loop ms':>10}{'rota ms':>10}{'ratio':>8}{'wanted':>8}{'peak MiB':>10}{'bytes/job':>11}")
        for name, processors, wanted in LOGS[:1] if options.short else LOGS:
            log, jobs = unpack(name, folder)
            plain, own, peak = compare(options.rota, loop, log, processors, options.runs)
            print(f"{name:26}{jobs:9}{plain * 1e3:10.1f}{own * 1e3:10.1f}{own / plain:8.2f}{wanted:8.2f}{peak / 1024:10.1f}"
                  f"{peak * 1024 / jobs:11.0f}", flush=True)
        if options.short:
            return 0
        sdsc, jobs = unpack(LOGS[0][0], folder)
        conservative(options.rota, sdsc, jobs, options.runs)
        for name, processors, _ in LOGS:
            referee(options.rota, unpack(name, folder)[0], processors)
    return 0


sys.exit(main())
