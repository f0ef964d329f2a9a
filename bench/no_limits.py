#!/usr/bin/env python3
"""How long jobs without time limits wait: the service out of the box beside task-spooler, which starts the first job that fits.
Usage: no_limits.py ROTA [JOBS [LONGEST [SEEDS]]]

A queue of jobs of 1 to 4 processors that sleep for 0.1 to 1 times LONGEST seconds, on 4 processors, submitted one after the other, and the
same through `tsp -S 4` with `-N`. A job waits from when it was handed over until its command begins.
"""
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))
from service import Service  # noqa: E402

SLOTS = 4


def queue(jobs, longest, seed):
    draw = random.Random(seed)
    return [(draw.randint(1, SLOTS), round(draw.uniform(longest / 10, longest), 3)) for _ in range(jobs)]


def command(folder, job, sleep):
    return f"date +%s.%N > {shlex.quote(os.path.join(folder, f'began-{job}'))}; exec sleep {sleep}"


def waits(folder, jobs, submit):
    """The waits of all jobs, once each has begun."""
    handed = []
    for job, (width, sleep) in enumerate(jobs):
        handed.append(time.time())
        submit(width, command(folder, job, sleep))
    found = []
    for job, at in enumerate(handed):
        path = os.path.join(folder, f"began-{job}")
        while not os.path.exists(path) or not os.path.getsize(path):
            time.sleep(0.05)
        with open(path) as file:
            found.append(float(file.read()) - at)
    return found


def under_rota(rota, jobs):
    folder = tempfile.mkdtemp(prefix="rota-bench-")
    service = Service(rota, folder, f'name = "bench"\nprocessors = {SLOTS}\n')
    service.start()
    try:
        return waits(folder, jobs, lambda width, text: service.submit(text, processors=width, output="/dev/null"))
    finally:
        service.kill()
        shutil.rmtree(folder, ignore_errors=True)


def under_task_spooler(jobs):
    folder = tempfile.mkdtemp(prefix="rota-bench-")
    environment = {"PATH": "/usr/bin:/bin", "TS_SOCKET": os.path.join(folder, "socket"), "TMPDIR": folder}

    def tell(*words):
        subprocess.run(["tsp", *words], env=environment, check=True, stdout=subprocess.DEVNULL)

    tell("-S", str(SLOTS))
    try:
        return waits(folder, jobs, lambda width, text: tell("-n", "-N", str(width), "sh", "-c", text))
    finally:
        tell("-K")
        shutil.rmtree(folder, ignore_errors=True)


def row(name, jobs, found):
    wide = [wait for wait, (width, _) in zip(found, jobs) if width == SLOTS]
    print(f"  {name:<16}{sum(found) / len(found):>10.2f}{max(found):>10.2f}{max(wide, default=0):>16.2f}", flush=True)


def main(rota, number=200, longest=2.0, seeds=1):
    number, longest = int(number), float(longest)
    print(f"{number} jobs without limits on {SLOTS} processors, up to {longest} s long; seconds")
    for seed in range(1, int(seeds) + 1):
        jobs = queue(number, longest, seed)
        print(f"  seed {seed:<11}{'mean wait':>10}{'longest':>10}{'longest, wide':>16}")
        row("rota", jobs, under_rota(rota, jobs))
        if shutil.which("tsp"):
            row("task-spooler", jobs, under_task_spooler(jobs))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), *sys.argv[2:])
