#!/usr/bin/env python3
"""Why a job waits, and what would let it start sooner: tried and then done. Usage: explain_test.py ROTA"""
import os
import signal
import sys
import unittest

from service import ServiceCase


class Remedies(ServiceCase):
    """What would let a job start sooner, tried and then done."""
    configuration = """name = "small"
licences = "solver:4"
[[nodes]]
names = "n[1-2]"
processors = 4
memory = "1G"

[[partitions]]
name = "day"
nodes = "n1"
default = true

[[partitions]]
name = "night"
nodes = "n2"
"""

    def would_start(self, job):
        told = self.service.ask("GET", f"/v1/jobs/{job}/explain")[1]["would_start"]
        return {row["text"]: row for row in told}

    def test_less_memory_fewer_licences_and_another_partition(self):
        service = self.service
        running = service.submit("sleep 1000", memory=768 << 20, nodes=1, licence="solver", licences=3, limit=7200)
        service.wait_for(lambda: service.job(running)["state"] == "RUNNING", "it to run")
        job = service.submit("true", memory=512 << 20, nodes=1, limit=600)
        told = self.would_start(job)
        less = "starts now if it asks for at most 256M of memory on each node"
        self.assertEqual(list(told), [less, 'starts now in partition "night"'])
        self.assertEqual(told[less]["change"], {"memory": 256 << 20})
        held = service.submit("true", licence="solver", licences=2, limit=600)
        self.assertEqual(list(self.would_start(held)), ["starts now with 1 licence instead of 2"])
        self.assertEqual(service.act("update", job, partition="night")[0], 200)
        self.assertEqual(service.act("update", held, licence="solver", licences=1)[0], 200)
        for each in (job, held):
            self.assertEqual(service.ends(each)["state"], "COMPLETED")
        service.act("cancel", running)

    def test_a_job_that_wants_other_nodes_is_not_ahead(self):
        service = self.service
        running = [service.submit("sleep 1000", processors=4, nodes=1, partition=partition, limit=600)
                   for partition in ("day", "night")]
        service.wait_for(lambda: all(service.job(job)["state"] == "RUNNING" for job in running), "both to run")
        other = service.submit("true", processors=1, partition="day", limit=60)
        job = service.submit("true", processors=1, partition="night", limit=60)
        told = service.ask("GET", f"/v1/jobs/{job}/explain")[1]
        self.assertIn("no job before it wants the same nodes", told["why"])
        self.assertEqual((told["ahead"], told["more_ahead"]), ([], 0))
        behind = service.submit("true", processors=1, limit=60)  # by default in the partition of the first
        self.assertEqual([row["id"] for row in service.ask("GET", f"/v1/jobs/{behind}/explain")[1]["ahead"]], [other])
        service.act("cancel", ",".join([*running, other, job, behind]))

    def test_a_limit_of_less_than_two_minutes_is_tried_in_seconds(self):
        service = self.service
        running = service.submit("sleep 1000", processors=2, nodes=1, limit=90)
        service.wait_for(lambda: service.job(running)["state"] == "RUNNING", "it to run")
        head = service.submit("true", processors=4, nodes=1, limit=60)
        job = service.submit("true", processors=2, nodes=1, limit=110)
        self.assertIn(" for at most 1:50;", service.ask("GET", f"/v1/jobs/{job}/explain")[1]["facts"][0])
        less = [row["change"]["limit"] for row in self.would_start(job).values() if "limit" in row["change"]]
        self.assertEqual(len(less), 1, less)
        self.assertLess(10, less[0])
        self.assertEqual(service.act("update", job, limit=int(less[0]) // 2)[0], 200)  # some of it has gone by
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        service.act("cancel", ",".join([running, head]))

    def test_sooner_where_nothing_starts_it_now(self):
        service = self.service
        running = [service.submit("sleep 1000", processors=processors, nodes=1, partition=partition, limit=limit)
                   for processors, partition, limit in ((3, "day", 7200), (1, "day", 600), (4, "night", 7200))]
        service.wait_for(lambda: all(service.job(job)["state"] == "RUNNING" for job in running), "all to run")
        job = service.submit("true", processors=4, nodes=1, limit=600)
        told = self.would_start(job)
        self.assertEqual(list(told), ["starts sooner on 1 processor instead of 4"])
        by = service.job(running[1])["ends_by"]
        self.assertAlmostEqual(told["starts sooner on 1 processor instead of 4"]["start"], by, delta=1)
        service.act("cancel", ",".join([*running, job]))


class Kinds(ServiceCase):
    """What there are several kinds of is tried of each."""
    configuration = """name = "kinds"
licences = "first:2,second:2"
[[nodes]]
names = "n[1-2]"
processors = 4
accelerators = 2
accelerator_type = "gpu"
"""

    def test_accelerators_and_licences_of_each_kind(self):
        service = self.service
        running = [service.submit("sleep 1000", processors=2, nodes=2, accelerators=1, limit=7200)]  # of two on each node
        running.append(service.submit("sleep 1000", processors=1, nodes=1, licence="second", licences=1, limit=7200))
        service.wait_for(lambda: all(service.job(job)["state"] == "RUNNING" for job in running), "all to run")
        job = service.submit("true", processors=2, nodes=2, accelerators=2, limit=600)
        told = service.ask("GET", f"/v1/jobs/{job}/explain")[1]["would_start"]
        self.assertEqual([(row["change"], row["text"]) for row in told],
                         [({"accelerators": 1}, "starts now with 1 accelerator on each node instead of 2, submitted anew")])
        other = service.submit("true", processors=1, licence="first", licences=1, more_licences=["second:2"], limit=600)
        told = service.ask("GET", f"/v1/jobs/{other}/explain")[1]["would_start"]
        change = {"licence": "first", "licences": 1, "more_licences": ["second:1"]}
        self.assertEqual([(row["change"], row["text"]) for row in told],
                         [(change, "starts now with 1 licence of second instead of 2")])
        self.assertEqual(service.act("update", other, **change)[0], 200)
        self.assertEqual(service.ends(other)["state"], "COMPLETED")
        service.act("cancel", ",".join([*running, job]))


class Licences(ServiceCase):
    """A job that waits for licences and is promised a start stands before those behind it, and so does one that wants the
    same licences."""
    configuration = 'name = "one"\nlicences = "solver:10"\n[[nodes]]\nnames = "n1"\nprocessors = 4\n[service]\npolicy = "easy"\n'

    def ahead(self, job):
        told = self.service.ask("GET", f"/v1/jobs/{job}/explain")[1]
        return told, [row["id"] for row in told["ahead"]]

    def test_a_job_that_waits_for_licences_is_ahead(self):
        service = self.service
        running = [service.submit("sleep 1000", processors=1, licence="solver", licences=4, limit=limit) for limit in (600, 900)]
        service.wait_for(lambda: all(service.job(job)["state"] == "RUNNING" for job in running), "both to run")
        first = service.submit("true", processors=1, licence="solver", licences=10, limit=60)
        self.assertEqual(service.job(first)["reason"], "Licenses")
        whole = service.submit("true", processors=4, limit=60)
        told, ahead = self.ahead(whole)
        self.assertEqual((told["reason"], ahead), ("Priority", [first]))
        self.assertIn(f"others go first: job {first} is first in the queue", told["why"])
        second = service.submit("true", processors=1, licence="solver", licences=3, limit=60)
        third = service.submit("true", processors=1, licence="solver", licences=3, limit=60)
        self.assertEqual(service.job(second)["reason"], "Licenses")
        self.assertEqual(self.ahead(third)[1], [first, whole, second])
        service.act("cancel", ",".join([*running, first, whole, second, third]))


class Endless(ServiceCase):
    configuration = 'name = "one"\n[[nodes]]\nnames = "n1"\nprocessors = 4\n[service]\npolicy = "easy+pass=0"\n'

    def test_where_any_time_limit_helps_none_is_named(self):
        service = self.service
        running = service.runs(service.submit("sleep 1000", processors=2))
        head = service.submit("true", processors=4, limit=600)
        job = service.submit("true", processors=1)
        told = service.ask("GET", f"/v1/jobs/{job}/explain")[1]["would_start"]
        self.assertEqual([row["text"] for row in told], ["starts now if it has a time limit at all (tried with 60d 00:00:00)"])
        self.assertEqual(service.act("update", job, **told[0]["change"])[0], 200)
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        service.act("cancel", ",".join([running, head]))


class Quiet(ServiceCase):
    """Long after the last event starts are counted from now."""
    configuration = 'name = "one"\n[[nodes]]\nnames = "n1"\nprocessors = 4\n[service]\npolicy = "fcfs"\n'

    def is_quiet(self):
        """Until the service's clock is well beyond its last event; gives what it shows then."""
        self.service.let_pass(2)
        return self.service.now()

    def test_a_start_now_is_one_of_now(self):
        service, least = self.service, {"folder": self.folder, "command": ["true"], "limit": 60}
        service.ends(service.submit("true", limit=60))
        now = self.is_quiet()
        tried = service.ask("POST", "/v1/jobs", {"dry_run": True, **least})[1]
        self.assertGreaterEqual(tried.get("expected_start", 0), now - 0.1, tried)
        self.assertNotIn("start_unknown", tried)
        running = service.submit("sleep 1000", processors=3, limit=7200)
        service.wait_for(lambda: service.job(running)["state"] == "RUNNING", "it to run")
        job = service.submit("true", processors=4, limit=60)
        now = self.is_quiet()
        told = service.ask("GET", f"/v1/jobs/{job}/explain")[1]["would_start"]
        self.assertEqual([row["text"] for row in told], ["starts now on 1 processor instead of 4"])
        self.assertGreaterEqual(told[0]["start"], now - 0.1)
        service.submit("true", processors=1, limit=60)  # which has room, but not its turn
        self.is_quiet()
        rows = service.ask("GET", "/v1/plan")[1]["waiting"]
        self.assertEqual([row["id"] for row in rows if "starts_by" not in row], [])
        service.act("cancel", "all")


class Drained(ServiceCase):
    """A job that has no node to run on: it is told which ones are out of use, before it is submitted, too."""
    configuration = 'name = "one"\n[[nodes]]\nnames = "n1"\nprocessors = 4\n'

    def test_a_dry_run_says_why_no_start_is_known(self):
        service = self.service
        self.assertEqual(service.ask("POST", "/v1/nodes/drain", {"nodes": "n1", "reason": "fan"})[0], 200)
        tried = service.ask("POST", "/v1/jobs", {"dry_run": True, "folder": self.folder, "command": ["true"]})[1]
        self.assertRegex(tried["start_unknown"], r"^too few of the nodes .*: n1 is drained by \S+ \(fan\)$")
        self.assertFalse({"expected_start", "at_the_latest"} & tried.keys(), tried)


class Late(ServiceCase):
    """What was planned behind a job that does not end in time is no start, once that has passed."""
    configuration = 'name = "one"\n[[nodes]]\nnames = "n1"\nprocessors = 4\n[service]\npolicy = "easy"\n'

    def test_no_start_is_told_that_has_passed(self):
        service = self.service
        late = service.submit("trap '' TERM; echo on > on; until [ -e go ]; do sleep 0.02; done", processors=4, limit=600,
                              kill_wait=1000)
        service.written("on")
        service.runs(late)
        job = service.submit("true", processors=4, limit=60)
        behind = service.submit("true", processors=4, limit=60)
        self.assertIn("expected_start", service.job(job))
        service.wait_for(lambda: "starts_by" in service.ask("GET", "/v1/plan")[1]["waiting"][1], "a plan")
        limit = service.near_limit(late)
        service.wait_for(lambda: service.job(late)["state"] == "COMPLETING", "its limit to pass")
        service.wait_for(lambda: "expected_start" not in service.job(job), "the planned start to pass")
        for action, members in (("suspend", {}), ("update", {"limit": 1000})):
            self.assertEqual(service.act(action, late, **members)[1]["jobs"][0]["detail"],
                             f"job {late} has come to its limit and is being ended.")
        self.assertIn("killed 16:40 after", service.ask("GET", f"/v1/jobs/{late}/explain")[1]["why"])
        self.assertEqual([row["id"] for row in service.ask("GET", "/v1/jobs?state=COMPLETING")[1]["jobs"]], [late])
        killed = service.job(late)["start"] + limit + 1000  # until then it may hold what it has, and the others wait for that
        told = service.ask("GET", f"/v1/jobs/{job}/explain")[1]
        self.assertNotIn("promise", told)
        self.assertAlmostEqual(told["at_the_latest"], killed, delta=1)
        row = next(row for row in service.ask("GET", "/v1/plan")[1]["waiting"] if row["id"] == behind)
        self.assertGreater(row["starts_by"], killed)
        self.assertGreater(service.ask("GET", f"/v1/jobs/{behind}/explain")[1]["at_the_latest"], killed)
        tried = service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": self.folder, "dry_run": True, "limit": 60})
        self.assertGreater(tried[1].get("expected_start", tried[1].get("at_the_latest")), killed)
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        for each in (job, behind):
            self.assertEqual(service.ends(each)["state"], "COMPLETED")

    def test_behind_a_job_of_unknown_end_no_start_is_told(self):
        service = self.service
        late = service.submit("echo $PPID > supervisor; exec sleep 1000", processors=4, limit=600)
        jobs = [service.submit("true", processors=4, limit=60) for _ in range(2)]
        supervisor = int(service.written("supervisor"))
        service.runs(late)
        os.kill(supervisor, signal.SIGSTOP)
        try:
            service.near_limit(late)
            service.wait_for(lambda: "start_unknown" in service.ask("GET", f"/v1/jobs/{jobs[0]}/explain")[1], "its limit to pass")
            told = service.ask("GET", f"/v1/jobs/{jobs[0]}/explain")[1]
            self.assertFalse({"promise", "at_the_latest"} & told.keys(), told)
            self.assertRegex(told["start_unknown"], "^[-0-9: ]+ was planned and has passed: "
                             f"job {late} was to end by [-0-9: ]+ and has not ended yet$")
            tried = service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": self.folder, "dry_run": True, "limit": 60})[1]
            self.assertFalse({"expected_start", "at_the_latest"} & tried.keys(), tried)
            self.assertRegex(tried["start_unknown"], f"job {late} was to end by [-0-9: ]+ and has not ended yet$")
            rows = service.ask("GET", "/v1/plan")[1]["waiting"]
            self.assertEqual([row["id"] for row in rows if {"expected_start", "starts_by"} & row.keys()], [])
        finally:
            os.kill(supervisor, signal.SIGCONT)
        for job in jobs:
            self.assertEqual(service.ends(job)["state"], "COMPLETED")

    def test_under_grace_it_says_that_it_goes_on(self):
        service = self.service
        service.ask("PUT", "/v1/policy", {"policy": "easy+overrun=run-on"})
        late = service.submit("until [ -e go ]; do sleep 0.02; done", processors=4, limit=1)
        job = service.submit("true", processors=4, limit=60)
        service.wait_for(lambda: "start_unknown" in service.ask("GET", f"/v1/jobs/{job}/explain")[1], "its limit to pass")
        self.assertRegex(service.ask("GET", f"/v1/jobs/{job}/explain")[1]["start_unknown"],
                         f"job {late} was to end by [-0-9: ]+ and goes on beyond its limit under overrun=run-on$")
        self.assertEqual(service.job(late)["state"], "RUNNING")
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.assertEqual(service.ends(job)["state"], "COMPLETED")


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
