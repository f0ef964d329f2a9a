#!/usr/bin/env python3
"""What people tell a job that runs: to stand still, to go on, and another limit. Usage: orders_test.py ROTA"""
import json
import os
import subprocess
import sys
import unittest

from service import ServiceCase

ANN = 54321  # a user of no name
TICKS = "while :; do date +%s.%N >> ticks; sleep 0.05; done"


class Orders(ServiceCase):
    configuration = 'name = "four"\nprocessors = 4\n\n[service]\nkill_wait = "1s"\n'

    def ticks(self, name="ticks"):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return []
        with open(path) as file:
            return [float(line) for line in file if line.endswith("\n")]

    def ticking(self, **members):
        job = self.service.submit(TICKS, **members)
        self.service.wait_for(lambda: len(self.ticks()) > 0, "the first tick")
        return self.service.runs(job)

    def test_a_suspended_job_outlives_its_limit_and_a_killed_service(self):
        job = self.ticking(limit=600)
        self.assertEqual(self.service.act("suspend", job)[0], 200)
        self.service.wait_for(self.stands, "its processes to stop")
        row = self.service.job(job)
        self.assertEqual((row["state"], row["suspended_by"]), ("SUSPENDED", "user"))
        limit = self.service.near_limit(job, 2)
        seen = len(self.ticks())
        self.service.kill()
        self.service.start()
        self.assertEqual(self.service.job(job)["state"], "SUSPENDED")
        self.service.let_pass(4)  # its limit is over by then
        self.assertTrue(self.stands())
        self.assertEqual(len(self.ticks()), seen)
        self.assertEqual(self.service.act("resume", job)[0], 200)
        self.service.wait_for(lambda: len(self.ticks()) > seen, "it to go on")
        self.assertEqual(self.service.ends(job)["state"], "TIMEOUT")
        self.service.wait_for(lambda: "elapsed" in self.service.job(job), "it to leave")
        row = self.service.job(job)
        self.assertGreater(row["suspended"], 4)
        # The service and the supervisor see the stop at two moments.
        self.assertGreater(row["elapsed"], limit - 1, "the time in which it stood still came on top")
        self.assertAlmostEqual(row["elapsed"] + row["suspended"], row["end"] - row["start"], places=2)
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_grace_does_not_end_a_suspended_job(self):
        self.assertEqual(self.service.ask("PUT", "/v1/policy", {"policy": "grace"})[0], 200)
        first = self.service.submit("until [ -e go ]; do sleep 0.02; done", processors=3, limit=600)
        head = self.service.submit("true", processors=4, limit=10)
        small = self.ticking(limit=500)  # backfilled
        self.assertEqual(self.service.act("suspend", small)[0], 200)
        self.service.wait_for(lambda: self.stands(small), "its processes to stop")
        self.service.near_limit(small)
        self.service.let_pass(2)
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.service.ends(first)
        self.service.let_pass(1)  # a rule that would end it had its turn when the first one ended
        self.assertEqual(self.service.job(small)["state"], "SUSPENDED")
        self.assertEqual(self.service.job(head)["state"], "PENDING")
        self.assertEqual(self.service.act("cancel", small)[0], 200)
        self.assertEqual(self.service.ends(head)["state"], "COMPLETED")
        self.assertEqual(self.service.job(small)["state"], "CANCELLED")

    def raised(self, first):
        """A job that ran for longer than its first limit, since that was raised; none: it was over before."""
        job = self.service.submit(TICKS, limit=first)
        behind = self.service.submit("true", processors=4, limit=10)
        before = self.service.job(behind).get("expected_start")
        if self.service.act("update", job, limit=first + 2)[0] != 200 or before is None:
            self.service.all_end()
            return None
        self.service.wait_for(lambda: self.service.job(behind).get("expected_start", before + 2) > before + 1, "a later promise")
        self.assertEqual(self.service.job(job)["limit"], first + 2)
        self.service.kill()
        self.service.start()
        self.assertEqual(self.service.ends(job)["state"], "TIMEOUT")
        self.service.wait_for(lambda: "elapsed" in self.service.job(job), "it to leave")
        self.assertGreaterEqual(self.service.job(job)["elapsed"], first + 2)
        return job

    def test_a_limit_is_raised_and_lowered_while_a_job_runs(self):
        first = 4
        while not self.raised(first):  # a computer may be so slow
            first *= 2
        other = self.service.runs(self.service.submit("sleep 1000", limit=1000))
        limit = self.service.near_limit(other)
        self.assertEqual(self.service.ends(other)["state"], "TIMEOUT")
        self.service.wait_for(lambda: "elapsed" in self.service.job(other), "it to leave")
        self.assertGreaterEqual(self.service.job(other)["elapsed"], limit)
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_what_a_waiting_job_asks_for_is_changed(self):
        first = self.service.submit("until [ -e go ]; do sleep 0.02; done", processors=3, limit=600)
        self.service.runs(first)
        told = "echo $ROTA_JOB_NAME $ROTA_PROCESSORS $ROTA_NTASKS > seen"
        second = self.service.submit(told, name="large", processors=4, tasks=2, limit=60, memory=512 << 20)
        for said, body in (("asks for 5 processors; the cluster has 4; nothing was changed.", {"processors": 5, "name": "five"}),
                           ("there is no partition", {"partition": "odd", "name": "five"}),
                           ("a job's name has one byte at least; give it one.", {"name": "", "processors": 1}),
                           ("a job's name has 200 bytes at most.", {"name": "n" * 201, "processors": 1})):
            status, answer = self.service.act("update", second, **body)
            self.assertEqual(status, 207, answer)
            self.assertIn(said, answer["jobs"][0]["detail"])
            self.assertEqual([self.service.job(second)[of] for of in ("name", "processors", "memory")], ["large", 4, 512 << 20])
        self.assertEqual(self.service.act("hold", second)[0], 200)
        def refused(said, **body):
            status, answer = self.service.act("update", second, **body)
            self.assertEqual(status, 207, answer)
            self.assertIn(said, answer["jobs"][0]["detail"])

        self.assertEqual(self.service.act("update", second, processors=2, tasks=1)[0], 200)
        self.assertEqual(self.service.act("update", second, tasks=2)[0], 200)
        self.assertEqual(self.service.job(second)["processors"], 4, "each has as many as before")
        refused("asks for 6 processors; the cluster has 4", tasks=3)
        self.assertEqual(self.service.act("update", second, nodes=0)[0], 200)
        for tasks, nodes in ((1, 1), (2, None)):
            self.assertEqual(self.service.act("update", second, tasks=tasks)[0], 200)
            row = self.service.job(second)
            self.assertEqual((row["processors"], row.get("nodes")), (2 * tasks, nodes), "one process is on one node")
        refused("has at most as many `tasks` as processors", processors=1, tasks=2)
        self.assertEqual(self.service.act("update", second, processors=1, nodes=9)[0], 200)
        self.assertEqual(self.service.job(second).get("nodes", 1), 1)
        self.assertEqual(self.service.act("update", second, name="small", processors=1, memory=256 << 20)[0], 200)
        self.service.kill()
        self.service.start()
        self.assertEqual([self.service.job(second)[of] for of in ("name", "processors", "memory")], ["small", 1, 256 << 20])
        self.assertEqual(self.service.act("release", "name=small")[0], 200)
        row = self.service.ends(second)
        self.assertEqual((row["state"], row["name"], row["processors"]), ("COMPLETED", "small", 1))
        self.assertEqual(self.service.read("seen").split(), ["small", "1", "1"])
        answer = self.service.act("update", first, name="late")[1]
        self.assertIn("runs already; of what it was started on only its time limit", answer["jobs"][0]["detail"])
        answer = self.service.act("update", second, name="late")[1]
        self.assertIn("has ended already.", answer["jobs"][0]["detail"])
        self.assertEqual(self.service.decides_the_same_again(), "")
        self.service.act("cancel", first)

    def test_each_waiting_task_of_an_array_is_changed(self):
        array = self.service.submit("true", array="1-3", processors=4, held=True, name="wide")
        self.assertEqual(self.service.act("update", array, name="thin", processors=1, nodes=0)[0], 200)
        for task in (1, 2, 3):
            row = self.service.job(f"{array}_{task}")
            self.assertEqual((row["name"], row["processors"]), ("thin", 1))
        self.assertEqual(self.service.act("release", "name=thin")[0], 200)
        self.service.all_end()
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_what_cannot_be(self):
        job = self.service.submit("sleep 1000", limit=1000)
        self.service.runs(job)
        for action, members, said in (
                ("resume", {}, "is not suspended."),
                ("update", {"priority": 0}, "of what it was started on only its time limit can be changed"),
                ("update", {"limit": 0.001}, "has run for longer than that already; cancel it to end it")):
            status, answer = self.service.act(action, job, **members)
            self.assertEqual(status, 207, answer)
            self.assertIn(said, answer["jobs"][0]["detail"])
        self.assertEqual(self.service.act("suspend", job)[0], 200)
        self.assertIn("is suspended already.", self.service.act("suspend", job)[1]["jobs"][0]["detail"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can be several users")
    def test_only_the_user_and_operators_may(self):
        job = self.as_ann("POST", "/v1/jobs", {"command": ["/bin/sleep", "1000"], "folder": "/", "environment": [],
                                               "output": "/dev/null", "limit": 600})[1]["id"]
        self.service.runs(job)
        self.assertEqual(self.as_ann("POST", "/v1/jobs/suspend", {"ids": job})[0], 200)
        self.assertEqual(self.as_ann("POST", "/v1/jobs/resume", {"ids": job})[0], 200)
        self.assertEqual(self.service.act("suspend", job)[0], 200)
        self.assertEqual(self.service.job(job)["suspended_by"], "operator")
        status, answer = self.as_ann("POST", "/v1/jobs/resume", {"ids": job})
        self.assertEqual(status, 207, answer)
        self.assertIn("is suspended by an operator, who has to resume it.", answer["jobs"][0]["detail"])
        answer = self.as_ann("POST", "/v1/jobs/requeue", {"ids": job})[1]
        self.assertIn("is suspended by an operator, who has to resume it first.", answer["jobs"][0]["detail"])
        answer = self.as_ann("POST", "/v1/jobs/cancel", {"ids": job, "signal": "CONT"})[1]
        self.assertIn("is suspended by an operator, who has to resume it.", answer["jobs"][0]["detail"])
        self.assertEqual(self.service.act("resume", job)[0], 200)
        status, answer = self.as_ann("POST", "/v1/jobs/update", {"ids": job, "limit": 700})
        self.assertIn("only an operator may give a running job more time.", answer["jobs"][0]["detail"])
        self.assertEqual(self.as_ann("POST", "/v1/jobs/update", {"ids": job, "limit": 500})[0], 200)
        self.assertEqual(self.service.act("update", job, limit=900)[0], 200)
        self.assertEqual(self.service.job(job)["limit"], 900)

    def as_ann(self, method, path, body):
        ask = ("import http.client, json, socket, sys\n"
               "c = http.client.HTTPConnection('rota'); c.sock = socket.socket(socket.AF_UNIX)\n"
               "c.sock.connect(sys.argv[1]); c.request(sys.argv[2], sys.argv[3], sys.argv[4])\n"
               "a = c.getresponse(); print(json.dumps([a.status, json.loads(a.read())]))\n")
        done = subprocess.run(["/usr/bin/python3", "-c", ask, self.service.socket, method, path, json.dumps(body)],
                              user=ANN, group=ANN, extra_groups=[], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
