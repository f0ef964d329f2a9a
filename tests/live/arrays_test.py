#!/usr/bin/env python3
"""Arrays as people see them: as one thing with tasks, whichever command they ask. Usage: arrays_test.py ROTA"""
import json
import os
import subprocess
import sys
import threading
import time
import unittest

from screen import Screen
from service import PATIENCE, ServiceCase


class Arrays(ServiceCase):
    configuration = 'name = "one"\n[[nodes]]\nnames = "n1"\nprocessors = 2\n'

    def says(self, *arguments, code=0):
        done = subprocess.run([self.rota, *arguments], capture_output=True, text=True, timeout=PATIENCE, cwd=self.folder,
                              env={"PATH": os.environ["PATH"], "ROTA_SOCKET": self.service.socket})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def sweep(self):
        """Seven tasks: 1 ends well, 2 and 4 fail, 3 and 5 run, 6 and 7 wait, two at a time."""
        array = self.service.submit("case $ROTA_ARRAY_TASK_ID in 1) echo good;; 2|4) exit 3;; *) sleep 1000;; esac",
                                    name="sweep", array="1-7%2", output="out-%a")
        for task in (3, 5):
            self.service.runs(f"{array}_{task}")
        return array

    def test_tasks_kept_back_by_their_array_are_told_apart_from_held_ones(self):
        array = self.service.submit("sleep 1000", array="1-5%1")
        held = self.service.submit("true", held=True)
        status = self.service.ask("GET", "/v1/status")[1]
        self.assertEqual((status["held"], status["not_eligible"]), (5, 4))
        self.assertIn("1 running, 0 waiting, 1 held, 4 that may not start yet\n", self.says("status"))
        self.service.act("cancel", f"{array},{held}")

    def test_a_large_script_is_kept_and_renamed_once_for_all_tasks(self):
        script = "#!/bin/sh\n#" + "x" * (8 << 20)
        array = self.service.submit(script=script, array="1-3000", held=True, name="sweep")
        self.assertEqual(self.service.act("update", array, name="wide")[0], 200)
        self.assertEqual(self.service.job(f"{array}_3000")["name"], "wide")
        kept = sum(os.path.getsize(os.path.join(self.service.state, name)) for name in ("rota.db", "rota.db-wal"))
        self.assertLess(kept, 10 * len(script), "each task has taken as much as its script is large")
        self.service.act("cancel", array)

    def test_a_throttle_that_is_raised_lets_the_first_tasks_go_next(self):
        array = self.service.submit("sleep 1000", array="1-5%1")
        self.service.wait_for(lambda: self.service.job(f"{array}_1")["state"] == "RUNNING", "the first task to run")
        self.says("update", array, "--throttle", "2")
        self.service.wait_for(lambda: self.service.job(f"{array}_2")["state"] == "RUNNING", "the second task to run")
        self.assertEqual([self.service.job(f"{array}_{task}")["reason"] for task in (3, 4, 5)], ["JobArrayTaskLimit"] * 3)
        self.says("update", f"{array}_1", "--throttle", "3")
        self.assertEqual([self.service.job(f"{array}_{task}")["throttle"] for task in (3, 4, 5)], [3] * 3)
        self.assertEqual([self.service.job(f"{array}_{task}")["reason"] for task in (4, 5)], ["JobArrayTaskLimit"] * 2)
        self.assertEqual(self.service.job(f"{array}_3")["reason"], "Resources")
        self.says("update", f"{array}_1", "--throttle", "3", "--priority", "-1", code=1)
        single = self.service.submit("sleep 1000")
        self.says("update", single, "--throttle", "3", code=1)
        self.service.act("cancel", f"{array},{single}")

    def test_a_job_that_is_an_array_is_told_as_a_whole(self):
        array = self.sweep()
        told = self.says("job", array)
        for line in (f"id          {array}", "name        sweep", "tasks       7: 2 FAILED, 2 RUNNING, 2 PENDING, 1 COMPLETED",
                     "at a time   2", f"failed      {array}_[2,4] (exit code 3)", f"running     {array}_[3,5]",
                     f"pending     {array}_[6-7]", f"reason      (JobArrayTaskLimit) of {array}_6", f"completed   {array}_1"):
            self.assertIn(line, told.splitlines())
        self.assertEqual(told, self.says("job", "last"), "the latest is the array, not its last task")
        self.assertIn(f"{array}_2", self.says("job", f"{array}_2").split())
        whole = json.loads(self.says("job", array, "--json"))
        self.assertEqual((whole["id"], whole["tasks"], len(whole["jobs"])),
                         (array, {"COMPLETED": 1, "FAILED": 2, "PENDING": 2, "RUNNING": 2}, 7))

    def test_logs_ask_for_a_task(self):
        array = self.sweep()
        said = self.says("logs", array, code=1)
        self.assertIn(f"job {array} is an array of 7 tasks; say whose output, as `rota logs {array}_1` (FAILED {array}_[2,4], "
                      f"RUNNING {array}_[3,5], COMPLETED {array}_1).", said)
        self.assertEqual(self.says("logs", f"{array}_1"), "good\n")
        single = self.service.submit("echo alone")
        self.service.act("cancel", array)
        self.service.ends(single)
        self.assertEqual(self.says("logs", single), "alone\n")

    def test_explain_takes_the_first_that_waits(self):
        array = self.sweep()
        said = self.says("explain", array)
        self.assertIn(f"Job {array} is an array; this is of {array}_6, the first task that waits.", said)
        self.assertIn(f"Job {array}_6 is PENDING (JobArrayTaskLimit)", said)

    def test_the_queue_folds_what_waits_and_unfolds_it(self):
        array = self.sweep()
        self.service.act("hold", f"{array}_7")
        other = self.service.submit("true")
        ids = self.says("queue", "--noheader", "-o", "%i").split()
        self.assertEqual(sorted(ids), sorted([f"{array}_3", f"{array}_5", f"{array}_6", f"{array}_7", other]))
        self.service.act("release", f"{array}_7")
        ids = self.says("queue", "--noheader", "-o", "%i").split()
        self.assertEqual(sorted(ids), sorted([f"{array}_3", f"{array}_5", f"{array}_[6-7%2]", other]))
        ids = self.says("queue", "-r", "--noheader", "-o", "%i").split()
        self.assertEqual(len(ids), 5)
        # what the list shows can be handed back
        self.says("cancel", f"{array}_[6-7%2]")
        self.assertEqual(self.service.job(f"{array}_6")["state"], "CANCELLED")
        self.assertEqual(self.service.job(f"{array}_5")["state"], "RUNNING")

    def test_the_plan_folds_where_it_is_asked_to(self):
        array = self.service.submit("sleep 1000", array="1-300", held=True)
        plan = self.service.ask("GET", "/v1/plan?fold=yes")[1]
        self.assertEqual([(row["id"], row["first"], row["tasks"]) for row in plan["held"]],
                         [(f"{array}_[1-300]", f"{array}_1", 300)])
        self.assertEqual(plan["more_held"], 0)
        plan = self.service.ask("GET", "/v1/plan")[1]
        self.assertEqual((len(plan["held"]), plan["more_held"]), (200, 100))

    def test_the_plan_has_tasks_of_unlike_begin_times_apart(self):
        later = int(time.time()) + 5000
        array = self.service.submit("true", array="1-6", begin=later)
        self.assertEqual(self.service.act("update", f"{array}_[4-5]", begin=later + 1000)[0], 200)
        self.assertEqual(self.service.act("update", f"{array}_6", begin=time.time() - 1000)[0], 200)
        plan = self.service.ask("GET", "/v1/plan?fold=yes")[1]
        self.assertEqual([row["id"] for row in plan["held"]], [f"{array}_[1-3]", f"{array}_[4-5]"])
        self.assertEqual([row["begin"] for row in plan["held"]], [later, later + 1000])

    def test_messages_call_tasks_by_their_names(self):
        array = self.sweep()
        status, answer = self.service.act("hold", "name=sweep")
        self.assertEqual(status, 207)
        self.assertEqual({row["id"]: row.get("detail") for row in answer["jobs"]}, {
            f"{array}_3": f"job {array}_3 runs already; only a job that waits can be held.",
            f"{array}_5": f"job {array}_5 runs already; only a job that waits can be held.",
            f"{array}_6": None, f"{array}_7": None})
        status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["x"], "folder": "/", "after": [f"afterok:{array}_2"]})
        self.assertEqual((status, answer["detail"]),
                         (400, f"the dependency on job {array}_2 can never be met: it has ended as FAILED."))

    def test_afternotok_of_an_array_waits_for_one_that_fails_and_for_all_to_end(self):
        array = self.service.submit("exit $((ROTA_ARRAY_TASK_ID - 1))", array="1-2", held=True)
        then = self.service.submit("true", after=[f"afternotok:{array}"])
        self.service.act("release", f"{array}_1")
        self.assertEqual(self.service.ends(f"{array}_1")["state"], "COMPLETED")
        self.assertEqual(self.service.job(then)["reason"], "Dependency")
        self.service.act("release", f"{array}_2")
        self.assertEqual(self.service.ends(then)["state"], "COMPLETED")
        self.assertEqual(self.service.ends(self.service.submit("true", after=[f"afternotok:{array}"]))["state"], "COMPLETED")
        well = self.service.submit("true", array="1-2")
        then = self.service.submit("true", after=[f"afternotok:{well}"])
        self.service.wait_for(lambda: self.service.job(then)["reason"] == "DependencyNeverSatisfied", "its last hope to end")
        status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["x"], "folder": "/", "after": [f"afternotok:{well}"]})
        self.assertEqual((status, answer["detail"]), (400, f"the dependency on job {well} can never be met: all its tasks have ended as COMPLETED."))
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_a_change_of_very_many_leaves_others_their_turns(self):
        for _ in range(10):  # that this test has no turn for as long as a change takes happens now and then
            arrays = [self.service.submit("true", array="1-10000", name="many", held=True) for _ in range(3)]
            told = []
            asker = threading.Thread(target=lambda: told.append(self.service.act("cancel", "name=many")))
            asker.start()
            seen = set()  # how many there are, in the midst of it
            while asker.is_alive():
                seen.add(self.service.ask("GET", "/v1/status")[1]["held"])
            asker.join()
            status, answer = told[0]
            rows = answer["jobs"]
            self.assertEqual((status, len(rows), rows[0]["id"], rows[-2]["id"]),
                             (200, 1001, f"{arrays[2]}_9001", f"{arrays[2]}_10000"))
            self.assertEqual(rows[-1], {"id": "name=many", "done": True, "more": 29000})
            self.assertEqual(self.service.live(), [])
            if any(0 < held < 30000 for held in seen):
                return
        self.fail("others are answered only once all is changed")

    def test_top_folds_acts_on_all_and_unfolds(self):
        array = self.sweep()
        screen = Screen([self.rota, "top", "--socket", self.service.socket], columns=170)
        self.addCleanup(screen.close)
        screen.wait_for(f"{array}_[6-7%2]")
        screen.type("/sweep\r")
        screen.type("a")
        screen.wait_for(f"{array}_7 ")
        screen.type("a")
        screen.wait_for(f"{array}_[6-7%2]")
        screen.type("jjj")
        screen.type("\r")
        screen.wait_for(f"Job {array}_6 is PENDING (JobArrayTaskLimit)")
        screen.type("h")
        screen.wait_for(f"Job {array}_6 is PENDING (JobHeldUser)")
        self.assertEqual(self.service.job(f"{array}_7")["reason"], "JobHeldUser")
        screen.type("r")
        screen.wait_for(f"Job {array}_6 is PENDING (JobArrayTaskLimit)")
        self.assertEqual(self.service.job(f"{array}_7")["reason"], "JobArrayTaskLimit")
        screen.type("\x1bq")
        self.assertEqual(screen.ended(), 0)


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
