#!/usr/bin/env python3
"""How fast the service takes jobs in, beside what the computer does without it. Usage: service.py ROTA

Ratios of one run; a busy computer shows in all of them. others.py is about how fast it runs them.
"""
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))
from service import Service, UnixConnection  # noqa: E402

SINGLE, BATCH, BATCHES = 500, 2_000, 5


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
        service.stop()
    finally:
        if service.process.poll() is None:
            service.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
