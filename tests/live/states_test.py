#!/usr/bin/env python3
"""States that earlier releases left (tests/states) are opened: nothing that they hold is lost or told otherwise than then.
Usage: states_test.py ROTA"""
import json
import os
import shutil
import subprocess
import sys
import unittest

from service import ServiceCase

STATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "states")
RELEASES = [name for name in sorted(os.listdir(STATES)) if os.path.isdir(os.path.join(STATES, name, "state"))]


def by_id(rows):
    return {row["id"]: row for row in rows}


class Opened(ServiceCase):
    """The service of today on the state of a release; what it said just before it was cut off is in self.then."""
    release = None

    def prepare(self):
        state = shutil.copytree(os.path.join(STATES, self.release, "state"), os.path.join(self.folder, "state"))
        for folder, _, names in os.walk(state):  # git keeps no such rights
            for name in names:
                os.chmod(os.path.join(folder, name), 0o600)
        with open(os.path.join(STATES, self.release, "said.json")) as file:
            self.then = json.load(file)
        self.ran = self.then["ran"]

    def configured(self):
        with open(os.path.join(STATES, self.release, "rota.toml")) as file:
            return file.read()

    def get(self, path):
        status, answer = self.service.ask("GET", path)
        self.assertEqual(status, 200, answer)
        return answer

    def same(self, now, then, but=()):
        """Whatever a release said of something, later ones say, too; more they may say."""
        self.assertEqual({key: now.get(key) for key in then if key not in but},
                         {key: value for key, value in then.items() if key not in but})

    def holds_what_it_held(self):
        history = by_id(self.get("/v1/history")["jobs"])
        for job, row in by_id(self.then["history"]["jobs"]).items():
            with self.subTest(ended=job):
                self.same(history[job], row)
        live = by_id(self.get("/v1/jobs")["jobs"])
        for job, row in by_id(self.then["jobs"]["jobs"]).items():
            if job not in self.ran.values():
                with self.subTest(waits=job):
                    self.same(live[job], row, ("reason",))
        nodes = {row["name"]: row for row in self.get("/v1/nodes")["nodes"]}
        for row in self.then["nodes"]["nodes"]:
            self.same(nodes[row["name"]], row, ("jobs", "allocated", "memory_allocated", "state"))
        for what in ("reservations", "policy", "tokens"):
            with self.subTest(what):
                now, then = self.get(f"/v1/{what}"), self.then[what]
                if what == "policy":
                    self.same(now, then)
                else:
                    self.assertEqual(len(now[what]), len(then[what]))
                    for row in zip(now[what], then[what]):
                        self.same(*row)

    def is_opened(self):  # a test of each class that has a release
        self.holds_what_it_held()
        jobs = self.ran  # which ended with the computer
        self.assertEqual(self.service.ends(jobs["once"])["state"], "NODE_FAIL")
        self.service.runs(jobs["again"])
        self.assertEqual(self.service.job(jobs["again"])["restarts"], 1)
        self.assertEqual(self.service.decides_the_same_again(), "")
        self.service.act("cancel", jobs["again"])
        held = next(row["id"] for row in self.then["jobs"]["jobs"] if row["name"] == "held")
        self.service.act("release", held)
        self.assertEqual(self.service.ends(held)["state"], "COMPLETED")
        self.service.stop()
        self.service.start()
        self.assertEqual(self.service.job(held)["state"], "COMPLETED")


def opens(release):
    return type(f"Of_{release}", (Opened,), {"release": release, "test_it_is_opened": Opened.is_opened})


class Releases(unittest.TestCase):
    def test_the_last_one_left_a_state(self):
        version = subprocess.run([ServiceCase.rota, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        self.assertIn(version.partition("~")[0].partition("+")[0], RELEASES, "tests/states/make_state.py makes one with each release")


def load_tests(loader, tests, pattern):
    return unittest.TestSuite([loader.loadTestsFromTestCase(opens(release)) for release in RELEASES]
                              + [loader.loadTestsFromTestCase(Releases)])


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    if os.geteuid() != 0:
        print("skipped: the states are root's, and only root can go on with their jobs")
        sys.exit(77)
    unittest.main()
