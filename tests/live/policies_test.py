#!/usr/bin/env python3
"""Policies at work on real processes, by what these saw themselves. Usage: policies_test.py ROTA"""
import os
import sys
import unittest

from service import ServiceCase


class Preemption(ServiceCase):
    """A job of higher priority comes while another has the whole machine."""
    configuration = 'name = "one"\nprocessors = 2\n'

    def overtaken(self, policy):
        service = self.service
        self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": policy})[0], 200)
        low = service.submit("echo begun $$ >> low; until [ -e high ]; do sleep 0.02; done; echo ended $$ >> low",
                             processors=2, limit=600, requeue=True)
        path = os.path.join(self.folder, "low")
        service.wait_for(lambda: os.path.exists(path), "the low job to begin")
        service.wait_for(lambda: service.job(low)["state"] == "RUNNING", "its launch to be told")
        high = service.submit("cp low seen; sleep 0.2; : > high", processors=2, limit=60, priority=5)
        self.assertEqual(service.ends(high)["state"], "COMPLETED")
        self.assertEqual(service.ends(low)["state"], "COMPLETED")
        self.assertEqual(service.read("seen").count("ended"), 0, "the high job ran behind the low one")
        return [line.split() for line in service.read("low").splitlines()]

    def test_requeue_runs_the_low_job_again(self):
        lines = self.overtaken("easy+preempt=requeue")
        self.assertEqual([line[0] for line in lines], ["begun", "begun", "ended"])
        self.assertNotEqual(lines[0][1], lines[1][1])

    def test_suspend_lets_the_same_process_go_on(self):
        lines = self.overtaken("easy+preempt=suspend")
        self.assertEqual([line[0] for line in lines], ["begun", "ended"])
        self.assertEqual(lines[0][1], lines[1][1])


class Grace(ServiceCase):
    configuration = 'name = "one"\nprocessors = 2\n'
    arguments = ("--policy", "grace")

    def test_a_job_goes_on_beyond_its_limit_while_nobody_is_harmed(self):
        service = self.service
        job = service.submit("echo a > a; sleep 3; echo b > b", limit=1)
        service.wait_for(lambda: service.job(job).get("grace") or service.job(job)["state"] == "COMPLETED",
                         "the job to be let go on")
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(service.read("b"), "b\n")


class Licences(ServiceCase):
    configuration = 'name = "four"\nlicences = "solver:1"\n[[nodes]]\nnames = "n1"\nprocessors = 4\n'

    def test_a_licence_is_held_by_one_job_at_a_time(self):
        service = self.service
        service.submit("mkdir held || exit 7; sleep 0.1; rmdir held", array="1-5", licence="solver")
        service.wait_for(lambda: any(job.get("reason") == "Licenses" for job in service.live()) or not service.live(),
                         "a job to wait for the licence")
        service.all_end()
        rows = service.ask("GET", "/v1/history")[1]["jobs"]
        self.assertEqual([row["state"] for row in rows], ["COMPLETED"] * 5)
        self.assertEqual(service.ask("GET", "/v1/licences")[1]["licences"],
                         [{"name": "solver", "count": 1, "used": 0, "elsewhere": 0}])


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
