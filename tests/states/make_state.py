#!/usr/bin/env python3
"""Makes a state of a service that was cut off: its folder, with jobs that have ended, that run, stand still and wait, and what
the service said of all that just before. Each release leaves one here, in a folder of its name, and later ones open it
(tests/live/states_test.py). Usage, as root: make_state.py ROTA FOLDER"""
import json
import os
import shutil
import stat
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "live"))
from service import ServiceCase, end, processes  # noqa: E402

CONFIGURATION = """name = "kept"
licences = "solver:3"
[service]
keep_history = "36500d"
[[nodes]]
names = "n[1-2]"
processors = 4
memory = "1G"
"""
LATE = 4_000_000_000  # Unix time, a day in 2096


class Maker(ServiceCase):
    """Not a test: a service in a folder of its own, as tests have it."""
    configuration = CONFIGURATION

    def job(self, command, **members):
        members = {"folder": "/", "output": "/dev/null", **members}
        return self.service.submit(command, **members)

    def fill(self):
        service = self.service
        done = [self.job("true", name="done", comment="of no weight", mail_user="ann@example.org"),
                self.job("exit 3", name="failed", processors=2, licence="solver", licences=1),
                self.job("sleep 1000", name="over", limit=1),
                self.job("true", name="tasks", array="1-3%2"),
                self.job(["a word"], script="#!/bin/sh\necho \"$1\"\n", name="script", limit=600)]
        cancelled = service.runs(self.job("sleep 1000", name="cancelled"))
        service.act("cancel", cancelled)
        for job in (*done[:3], *(f"{done[3]}_{task}" for task in (1, 2, 3)), done[4], cancelled):
            service.ends(job)
        again = service.runs(self.job("sleep 1000", name="again", requeue=True, limit=86400))
        once = service.runs(self.job("sleep 1000", name="once", requeue=False, limit=86400))
        still = service.runs(self.job("sleep 1000", name="still", limit=86400))
        service.act("suspend", still)
        service.wait_for(lambda: service.job(still)["state"] == "SUSPENDED", "it to stand still")
        self.job("true", name="held", held=True, processors=2, nodes=1, memory=1 << 20, licence="solver", licences=2,
                 priority=7, limit=60, warning_signal="USR1", warning_time=30, comment="waits")
        self.job("true", name="later", begin=LATE)
        self.job("true", name="after", after=[f"afterok:{once}"])
        self.job("true", name="many", array="1-40%5", held=True)
        asked = {"/v1/nodes/drain": {"nodes": "n2", "reason": "a fan"}, "/v1/tokens": {"life": 10 * 366 * 86400},
                 "/v1/reservations": {"start": LATE, "duration": 3600, "nodes": "n1", "name": "course"}}
        for path, body in asked.items():
            status, answer = service.ask("POST", path, body)
            assert status in (200, 201), (path, answer)
        status, answer = service.ask("PUT", "/v1/policy", {"policy": "conservative"})
        assert status == 200, answer
        return {"again": again, "once": once, "still": still}

    def said(self):
        paths = {"jobs": "/v1/jobs", "history": "/v1/history", "nodes": "/v1/nodes", "reservations": "/v1/reservations",
                 "policy": "/v1/policy", "tokens": "/v1/tokens"}
        return {name: self.service.ask("GET", path)[1] for name, path in paths.items()}

    def make(self, target):
        try:
            self.setUp()
            ran = self.fill()
            said = self.said()
            while left := processes(self.is_ours):  # all at once, as when the power fails
                end(left)
            self.service.kill()
            shutil.copytree(self.service.state, os.path.join(target, "state"), ignore=what_is_made_anew)
        finally:
            self.doCleanups()
        with open(os.path.join(target, "rota.toml"), "w") as file:
            file.write(CONFIGURATION)
        with open(os.path.join(target, "said.json"), "w") as file:
            json.dump({"ran": ran, **said}, file, indent=1)
            file.write("\n")


def what_is_made_anew(folder, names):
    """Sockets, locks, and the room that is kept free for the disk's last moments."""
    return [name for name in names
            if name == "spare-room" or name.endswith((".lock", "-shm")) or stat.S_ISSOCK(os.lstat(os.path.join(folder, name)).st_mode)]


if __name__ == "__main__":
    if len(sys.argv) != 3 or os.geteuid() != 0:
        sys.exit(__doc__)
    Maker.rota = os.path.abspath(sys.argv[1])
    Maker().make(os.path.abspath(sys.argv[2]))
