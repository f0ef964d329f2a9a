#!/usr/bin/env python3
"""Sites whose processes and whose etcd are killed, stopped and started again while jobs go between them, whose transfers break, and
one of whose clocks is a minute ahead: each job runs once, with all of its input, none is lost.
Usage: faults_test.py ROTA WRONG_CLOCK [JOBS [SECONDS [SEED]]]"""
import http.client
import os
import random
import shutil
import signal
import sys
import time
import unittest

import sites_test
from etcd import Etcd

JOBS, SECONDS, SEED = 40, 20, 1


# Of three transfers one breaks off in the middle of its files.
FETCH = ('"case $(shuf -i 0-2 -n 1) in 0) mkdir -p $ROTA_TO/files; head -c 1000 $ROTA_FROM/$ROTA_NAME/files/in* > $ROTA_TO/files/in; exit 1;; '
         '*) cp -r $ROTA_FROM/$ROTA_NAME/. $ROTA_TO/;; esac"')
INPUT = 100_000  # bytes
WRONG_CLOCK = None  # a library for LD_PRELOAD: the real time is a minute ahead


class Faults(sites_test.Sites):
    def give(self, site, number):
        """A job for all sites, at a site that may not answer just now: asked again with the same key until it is taken. Every
        second one brings its input with it."""
        command = f"echo run >> {self.folder}/token.{number}; sleep 0.{number % 10}"
        body = {"folder": self.folder, "environment": ["PATH=/usr/bin:/bin"], "limit": 600, "sites": "any"}
        if number % 2:
            folder = os.path.join(self.folder, f"work.{number}")
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "input"), "wb") as file:
                file.write(str(number).encode() * (INPUT // len(str(number))))
            command = f"cp input {self.folder}/input.{number}; {command}"
            body.update(folder=folder, stage_in="input", stage_bytes=INPUT)
        body["command"] = ["/bin/sh", "-c", command]
        try:
            status, _ = site.ask("POST", "/v1/jobs", body, {"Idempotency-Key": f"job {number}"})
            return status == 201
        except (OSError, http.client.HTTPException):
            return False

    def up(self, site):
        return site.process.poll() is None and site not in self.stopped

    def well(self, repair):
        repair()
        self.ill = False

    def fault(self, dice):
        """One of them, and when it is to be over with what ends it."""
        kind = dice.choice(["member", "hung member", "site", "site", "sleep"])
        if "member" in kind:
            member = dice.randrange(3)
            if self.ill or any(p.poll() is not None for p in sites_test.ETCD.members):
                return None
            self.ill = True
            if kind == "hung member":  # as one that is cut off
                sites_test.ETCD.kill(member, signal.SIGSTOP)
                return dice.uniform(0.5, 8), lambda: self.well(lambda: sites_test.ETCD.kill(member, signal.SIGCONT))
            sites_test.ETCD.kill(member)
            return dice.uniform(0.5, 3), lambda: self.well(lambda: sites_test.ETCD.start(member))
        up = [site for site in self.sites.values() if self.up(site)]
        if len(up) < 2:
            return None
        site = dice.choice(up)
        if kind == "site":
            site.kill()
            return dice.choice([0, 5]), site.start
        site.process.send_signal(signal.SIGSTOP)
        self.stopped.add(site)

        def go_on():
            site.process.send_signal(signal.SIGCONT)
            self.stopped.discard(site)
        return dice.uniform(1, 6), go_on

    def history_of(self, site):
        rows, after = [], ""
        while after is not None:
            answer = site.ask("GET", f"/v1/history?limit=1000{after}")[1]
            rows += answer["jobs"]
            after = f"&after={answer['next']}" if "next" in answer else None
        return rows

    def test_each_job_runs_once(self):
        dice, self.stopped, self.ill = random.Random(SEED), set(), False
        sites = []
        for name in ("berlin", "graz", "lyon"):
            data = os.path.join(self.folder, name + "-data")
            os.mkdir(data)
            sites.append(self.join(name, 2, start=False, data=f'"{data}"', address=f'"{data}/out"', fetch=FETCH))
        sites[2].environment = {**os.environ, "LD_PRELOAD": WRONG_CLOCK}
        for site in sites:
            site.start()
        self.alive(sites[0], "berlin", "graz", "lyon")
        waiting = [(dice.choice(sites), number) for number in range(JOBS)]
        begin, repairs, faults, given = time.monotonic(), [], 0, 0
        while waiting or time.monotonic() < begin + SECONDS:
            now = time.monotonic()
            for repair in [r for r in repairs if r[0] <= now]:
                repairs.remove(repair)
                repair[1]()
            if now < begin + SECONDS and len(repairs) < 2 and (fault := self.fault(dice)):
                faults += 1
                repairs.append((now + fault[0], fault[1]))
            if waiting and given <= JOBS * (now - begin) / SECONDS and self.up(waiting[0][0]) and self.give(*waiting[0]):
                waiting.pop(0)
                given += 1
            elif waiting:
                waiting.append(waiting.pop(0))
            time.sleep(dice.uniform(0.05, 0.2))
        for repair in repairs:
            repair[1]()
        last = time.monotonic()
        for site in sites:
            self.until(lambda one=site: not one.live(), "all to end")
        print(f"{JOBS} jobs, {faults} faults, over {time.monotonic() - last:.0f} s after the last")
        for number in range(JOBS):
            with open(os.path.join(self.folder, f"token.{number}")) as file:
                self.assertEqual(file.read(), "run\n", f"job {number}")
            if number % 2:
                with open(os.path.join(self.folder, f"input.{number}"), "rb") as file:
                    self.assertEqual(file.read(), str(number).encode() * (INPUT // len(str(number))), "all of its input")
        rows = [row for site in sites for row in self.history_of(site)]
        ill = {row["id"] for row in rows if not row.get("home") and row["state"] != "COMPLETED"}
        self.assertEqual([row for row in rows if {row["id"], row.get("home", "").split(":")[-1]} & ill], [])
        self.assertEqual(sum(not row.get("home") for row in rows), JOBS)
        for site in sites:
            self.assertEqual(site.decides_the_same_again(), "")


if __name__ == "__main__":
    sites_test.ROTA = sys.argv[1]
    WRONG_CLOCK = sys.argv.pop(2)
    JOBS, SECONDS, SEED = [int(word) for word in sys.argv[2:]] + [JOBS, SECONDS, SEED][len(sys.argv) - 2:]
    del sys.argv[1:]
    if shutil.which("etcd") is None:
        print("skipped: etcd is not installed")
        sys.exit(77)
    with Etcd(3) as sites_test.ETCD:
        unittest.main()
