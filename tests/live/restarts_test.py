#!/usr/bin/env python3
"""Nothing is lost and nothing runs twice: the service is killed again and again under a stream of submissions, and so are
its helpers, and all of them together.

Usage: restarts_test.py ROTA [KILLS [SEED]]   A seed is printed; the same gives the same moments.
"""
import os
import random
import sys
import time
import unittest

from service import ServiceCase, contents, end, wait_for
from tokens import Tokens

KILLS, SEED = 12, random.SystemRandom().randrange(10**6)


class Restarts(Tokens):
    def killed_again_and_again(self, kill, times, seed):
        """Calls kill(dice) so often, at random moments."""
        print(f"seed {SEED}", file=sys.stderr)
        dice = random.Random(seed)
        with self.stream() as stream:
            for _ in range(times):
                stream.over.wait(dice.random() * 0.3)
                kill(dice)
        print(f"killed {times} times: {self.check()}", file=sys.stderr)

    def kill_service(self, _dice):
        self.service.kill()
        self.service.start()

    def test_the_service_is_killed_at_random_moments(self):
        self.killed_again_and_again(self.kill_service, KILLS, SEED)
        rows = {row["id"]: row["state"] for row in self.service.ask("GET", "/v1/history")[1]["jobs"]}
        for job in list(self.acknowledged.values())[-300:]:
            self.assertEqual(rows.get(job), "COMPLETED", f"job {job}: nobody touched its supervisor")

    def test_supervisors_are_killed_too(self):
        def kill(dice):
            end(pid for pid in self.helpers() if dice.random() < 0.3)
            if dice.random() < 0.5:
                self.kill_service(dice)
        self.killed_again_and_again(kill, KILLS // 2, SEED + 1)

    def test_service_spawner_and_supervisors_are_killed_together(self):
        def kill(dice):
            victims = [*self.helpers(), self.service.process.pid]
            dice.shuffle(victims)
            end(victims)
            self.service.kill()
            self.service.start()
        self.killed_again_and_again(kill, KILLS // 2, SEED + 2)

    def test_a_clean_stop_leaves_jobs_running(self):
        job = self.service.submit("echo $$ > pid; while [ ! -e go ]; do sleep 0.05; done; echo went > went")
        pid = int(self.service.written("pid"))
        self.service.runs(job)
        self.assertIn("1 job running", self.service.stop())
        self.assertTrue(os.path.exists(f"/proc/{pid}"))
        self.service.start()
        self.assertEqual(self.service.job(job)["state"], "RUNNING")
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertEqual(self.service.read("went"), "went\n")

    def test_what_ends_while_no_service_runs_is_told_afterwards(self):
        job = self.service.submit("echo on > on; while [ ! -e go ]; do sleep 0.05; done; echo over > over; exit 5")
        self.service.written("on")
        record = os.path.join(self.service.state, "runs", "0.0")
        self.service.kill()
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        wait_for(lambda: b"phase=ended" in contents(record), "its end")
        time.sleep(2)  # no service runs; more than two clocks that are read one after the other differ by
        again = time.time()
        self.service.start()
        row = self.service.ends(job)
        self.assertEqual((row["state"], row["exit_code"]), ("FAILED", 5))
        self.assertLess(row["end"], again, "it ended before there was a service again")

    def test_a_second_service_is_refused(self):
        with self.assertRaisesRegex(AssertionError, "in use by a service that runs already, process|holds"):
            other = type(self.service)(self.rota, self.folder, None, [])
            other.socket += "2"
            other.start()

    def test_a_database_that_has_become_empty_is_no_new_state(self):
        service = self.service
        job = service.submit("until [ -e go ]; do sleep 0.02; done")
        service.wait_for(lambda: service.job(job)["state"] == "RUNNING", "its start")
        service.stop()
        database = os.path.join(service.state, "rota.db")
        copy = database + ".copy"
        os.rename(database, copy)
        with open(database, "w"):
            pass
        with self.assertRaisesRegex(AssertionError, "Put a copy of it back, or remove"):
            service.start()
        self.assertEqual(os.path.getsize(database), 0)
        os.rename(copy, database)
        service.start()
        self.assertEqual(service.job(job)["state"], "RUNNING")
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.assertEqual(service.ends(job)["state"], "COMPLETED")


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1:
        KILLS = int(sys.argv.pop(1))
    if len(sys.argv) > 1:
        SEED = int(sys.argv.pop(1))
    unittest.main()
