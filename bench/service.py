#!/usr/bin/env python3
"""How fast the service takes jobs in and runs them, each beside what the computer does without it. Usage: service.py ROTA

Ratios of one run; a busy computer shows in all of them. With task-spooler (tsp) installed it stands beside.
"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))
from service import Service, UnixConnection  # noqa: E402

SINGLE, BATCH, BATCHES, TRUES = 500, 2_000, 5, 4_000


def rate(count, call):
    begun = time.monotonic()
    call()
    return count / (time.monotonic() - begun)


def body(folder, **more):
    return {"command": ["/bin/true"], "folder": folder, "environment": [f"{k}={v}" for k, v in os.environ.items()],
            "output": "/dev/null", **more}


def post(connection, what):
    connection.request("POST", "/v1/jobs", json.dumps(what))
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 201, text


def raw_sqlite(folder):
    """A row of as many bytes as a held job has, made durable by itself."""
    base = sqlite3.connect(os.path.join(folder, "raw.db"), isolation_level=None)
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("PRAGMA synchronous=FULL")
    base.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, bytes BLOB)")
    row = b"x" * 600
    for _ in range(SINGLE):
        base.execute("INSERT INTO rows (bytes) VALUES (?)", (row,))


def spawned():
    for _ in range(TRUES):
        os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)


def all_gone(service):
    """Asked seldom and for one job: whoever asks for all jobs all the time measures the asking."""
    while service.ask("GET", "/v1/jobs?limit=1")[1]["jobs"]:
        time.sleep(0.02)


def array_of_trues(service):
    status, answer = service.ask("POST", "/v1/jobs", body(service.folder, array=f"1-{TRUES}"))
    assert status == 201, answer
    all_gone(service)


def spooled():
    environment = dict(os.environ, TS_SOCKET=os.path.join(tempfile.mkdtemp(), "tsp"))
    for _ in range(TRUES // 40):
        subprocess.run(["tsp", "-n", "true"], env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["tsp", "-w"], env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["tsp", "-K"], env=environment, check=False)


def main(rota):
    folder = tempfile.mkdtemp(prefix="rota-bench-", dir=os.environ.get("ROTA_BENCH_FOLDER"))
    service = Service(rota, folder, f'name = "bench"\nprocessors = {os.cpu_count()}\n')
    service.start()
    try:
        connection = UnixConnection(service.socket)
        held = body(folder, held=True)
        single = rate(SINGLE, lambda: [post(connection, held) for _ in range(SINGLE)])
        raw = rate(SINGLE, lambda: raw_sqlite(folder))
        batch = rate(BATCH * BATCHES, lambda: [post(connection, [held] * BATCH) for _ in range(BATCHES)])
        print(f"durable submissions a second: {single:.0f} one by one ({single / raw:.2f} of a row in raw SQLite, "
              f"{raw:.0f}), {batch:.0f} in requests of {BATCH}")
        service.act("cancel", "all")
        service.all_end()
        trues = rate(TRUES, lambda: array_of_trues(service))
        bare = rate(TRUES, spawned)
        print(f"`true` started and finished a second: {trues:.0f} ({trues / bare:.2f} of a loop of posix_spawn, "
              f"{bare:.0f})")
        if shutil.which("tsp"):
            spool = rate(TRUES // 40, spooled)
            print(f"task-spooler: {spool:.0f} a second; {trues / spool:.1f} times as many here")
        service.stop()
    finally:
        if service.process.poll() is None:
            service.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
