#!/usr/bin/env python3
"""A rehearsal of jobs that really ran tells what really happened: same order, same starts. Usage: truth_test.py ROTA [JOBS]

Starts are compared by the clocks of the jobs themselves. How far they are apart is printed and not asserted; what is
asserted is their order, as far as the rehearsal puts starts so far apart that a busy computer cannot turn them round.
"""
import csv
import os
import random
import subprocess
import sys
import unittest

from service import ServiceCase

JOBS = 40
APART = 1.5  # seconds


class Truth(ServiceCase):
    configuration = 'name = "wide"\nprocessors = 8\n'

    def rehearsed(self, policy):
        path = os.path.join(self.folder, "rehearsed.csv")
        done = subprocess.run([self.rota, "simulate", self.service.state, "--policy", policy, "--jobs", path],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("recorded", done.stdout)
        with open(path) as file:
            return {row["number"]: float(row["start"]) for row in csv.DictReader(file)}

    def test_starts_under_easy_are_those_of_the_rehearsal(self):
        dice = random.Random(11)
        service = self.service
        for number in range(JOBS):
            length = dice.choice((1, 2, 3, 5, 8)) * 0.3
            service.submit(f"date +%s.%N > start-$ROTA_JOB_ID; sleep {length}", processors=dice.choice((1, 2, 3, 8)),
                           limit=round(length * dice.choice((1, 2, 4)) + 20), name=f"job-{number}")
        service.all_end()
        begun = {str(n): float(service.read(f"start-{n}")) for n in range(1, JOBS + 1)}
        told = {row["id"]: row["start"] for row in service.ask("GET", "/v1/history")[1]["jobs"]}
        rehearsed = self.rehearsed("easy")
        self.assertEqual(begun.keys(), rehearsed.keys())
        first = min(begun.values()) - min(rehearsed.values())
        late = sorted(begun[job] - told[job] for job in begun)
        off = sorted(abs(begun[job] - first - rehearsed[job]) for job in begun)
        print(f"processes began {late[len(late) // 2] * 1000:.0f} ms after their start was decided (longest "
              f"{late[-1] * 1000:.0f} ms); starts are {off[len(off) // 2] * 1000:.0f} ms from the rehearsal's "
              f"(longest {off[-1] * 1000:.0f} ms)", file=sys.stderr)
        for one in begun:
            for other in begun:
                if rehearsed[one] + APART < rehearsed[other]:
                    self.assertLess(begun[one], begun[other], f"job {one} and job {other}")

    def test_the_journal_decides_the_same_again(self):
        service = self.service
        for number in range(10):
            service.submit(f"sleep 0.0{number}", processors=1 + number % 8, limit=60)
        service.act("hold", service.submit("true", processors=8))
        service.act("release", "last")
        service.all_end()
        service.stop()
        done = subprocess.run([self.rota, "replay", os.path.join(service.state, "rota.db"), "--check"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("each plan is the same", done.stdout)


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1:
        JOBS = int(sys.argv.pop(1))
    unittest.main()
