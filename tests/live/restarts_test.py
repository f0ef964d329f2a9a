#!/usr/bin/env python3
"""Nothing is lost and nothing runs twice: the service is killed again and again under a stream of submissions.

Usage: restarts_test.py ROTA [KILLS [SEED]]   A seed is printed; the same gives the same moments.
"""
import http.client
import os
import random
import signal
import sys
import threading
import unittest

from service import PATIENCE, ServiceCase

KILLS, SEED = 12, random.SystemRandom().randrange(10**6)

# Each job leaves a token that it could not make a second time.
TOKEN = "set -C; : > tokens/$ROTA_JOB_NAME || { echo $ROTA_JOB_NAME >> twice; exit 9; }; sleep 0.0%d"


class Stream(threading.Thread):
    """Submits jobs until it is told to stop; where there is no answer it asks again with the same key."""

    def __init__(self, service):
        super().__init__()
        self.service, self.acknowledged, self.over = service, {}, threading.Event()

    def run(self):
        number = 0
        while not self.over.is_set():
            number += 1
            name = f"token-{number}"
            while not self.over.is_set():
                try:
                    status, answer = self.service.ask(
                        "POST", "/v1/jobs", {"command": ["/bin/sh", "-c", TOKEN % (number % 10)], "name": name,
                                             "folder": self.service.folder, "environment": ["PATH=/usr/bin:/bin"]},
                        {"Idempotency-Key": name})
                except (OSError, http.client.HTTPException):
                    self.over.wait(0.01)
                    continue
                if status == 201:
                    self.acknowledged[name] = answer["id"]
                break


class Restarts(ServiceCase):
    configuration = 'name = "two"\nprocessors = 8\n'

    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "tokens"))

    def check(self, acknowledged):
        self.assertGreater(len(acknowledged), 0)
        self.service.all_end()
        self.assertFalse(os.path.exists(os.path.join(self.folder, "twice")), "a job ran twice")
        tokens = set(os.listdir(os.path.join(self.folder, "tokens")))
        for name, job in acknowledged.items():
            row = self.service.job(job)
            self.assertEqual(row["name"], name)
            if row["state"] == "COMPLETED":
                self.assertIn(name, tokens, f"job {job} is said to have run, and did not")
            elif row.get("signal") != 9:  # it was killed itself, before it was what it should become
                self.assertEqual(row["state"], "NODE_FAIL", row)  # its supervisor was killed: that is the truth

    def test_the_service_is_killed_at_random_moments(self):
        print(f"seed {SEED}", file=sys.stderr)
        dice = random.Random(SEED)
        stream = Stream(self.service)
        stream.start()
        try:
            for _ in range(KILLS):
                stream.over.wait(dice.random() * 0.3)
                self.service.kill()
                self.service.start()
        finally:
            stream.over.set()
            stream.join()
        self.assertGreater(len(stream.acknowledged), 0)
        self.check(stream.acknowledged)
        rows = {row["id"]: row["state"] for row in self.service.ask("GET", "/v1/history")[1]["jobs"]}
        for job in list(stream.acknowledged.values())[-300:]:
            self.assertEqual(rows.get(job), "COMPLETED", f"job {job}: nobody touched its supervisor")

    def test_supervisors_are_killed_too(self):
        dice = random.Random(SEED + 1)
        stream = Stream(self.service)
        stream.start()
        try:
            for _ in range(KILLS // 2):
                stream.over.wait(dice.random() * 0.3)
                for pid in self.supervisors():
                    if dice.random() < 0.3:
                        try:
                            os.kill(pid, signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                if dice.random() < 0.5:
                    self.service.kill()
                    self.service.start()
        finally:
            stream.over.set()
            stream.join()
        self.check(stream.acknowledged)

    def supervisors(self):
        """Processes of this service beside itself: spawner and supervisors, and jobs that are about to be."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read()
            except OSError:
                continue
            if b"supervise" in words and self.service.state.encode() in words:
                found.append(int(pid))
        return found

    def test_a_clean_stop_leaves_jobs_running(self):
        job = self.service.submit("echo $$ > pid; while [ ! -e go ]; do sleep 0.05; done; echo went > went")
        path = os.path.join(self.folder, "pid")
        self.service.wait_for(lambda: os.path.exists(path) and self.service.read("pid"), "its start")
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "the launch to be told")
        self.assertIn("1 job running", self.service.stop())
        pid = int(self.service.read("pid"))
        self.assertTrue(os.path.exists(f"/proc/{pid}"))
        self.service.start()
        self.assertEqual(self.service.job(job)["state"], "RUNNING")
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertEqual(self.service.read("went"), "went\n")

    def test_what_ends_while_nobody_serves_is_told_afterwards(self):
        job = self.service.submit("echo on > on; while [ ! -e go ]; do sleep 0.05; done; echo over > over; exit 5")
        path = os.path.join(self.folder, "on")
        self.service.wait_for(lambda: os.path.exists(path), "its start")
        self.service.kill()
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        done = threading.Event()
        for _ in range(PATIENCE * 20):
            if os.path.exists(os.path.join(self.folder, "over")):
                break
            done.wait(0.05)
        self.service.start()
        row = self.service.ends(job)
        self.assertEqual((row["state"], row["exit_code"]), ("FAILED", 5))

    def test_a_second_service_is_refused(self):
        with self.assertRaisesRegex(AssertionError, "another|holds"):
            other = type(self.service)(self.rota, self.folder, None, [])
            other.socket += "2"
            other.start()


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1:
        KILLS = int(sys.argv.pop(1))
    if len(sys.argv) > 1:
        SEED = int(sys.argv.pop(1))
    unittest.main()
