#!/usr/bin/env python3
"""Policies at work on real processes, by what these saw themselves. Usage: policies_test.py ROTA"""
import json
import os
import select
import socket
import subprocess
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

    def test_a_job_that_may_never_start_over_is_not_taken_under_requeue(self):
        service = self.service
        once = {"command": ["true"], "folder": self.folder, "requeue": False}
        self.assertEqual(service.ask("POST", "/v1/jobs", once)[0], 201)
        service.all_end()
        self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": "easy+preempt=requeue"})[0], 200)
        for body in (once, {**once, "dry_run": True}):
            status, answer = service.ask("POST", "/v1/jobs", body)
            self.assertEqual(status, 400, answer)
            self.assertIn("preempt=suspend", answer["detail"])
            self.assertIn("--no-requeue", answer["detail"])
        self.assertEqual(service.ends(service.submit("true"))["state"], "COMPLETED")

    def test_requeue_is_not_set_while_a_job_runs_that_may_never_start_over(self):
        service = self.service
        job = service.submit("echo run >> runs; until [ -e over ]; do sleep 0.02; done", requeue=False, processors=2)
        service.wait_for(lambda: service.job(job)["state"] == "RUNNING", "it to run")
        for method, path in (("PUT", "/v1/policy"), ("POST", "/v1/policy/rehearsal")):
            status, answer = service.ask(method, path, {"policy": "easy+preempt=requeue"})
            self.assertEqual(status, 400, answer)
            self.assertIn(f"`requeue`: false): {job}. Let it end", answer["detail"])
        as_before = list(service.arguments)
        service.stop()
        service.arguments = [*as_before, "--policy", "easy+preempt=requeue"]
        with self.assertRaises(AssertionError) as told:
            service.start()
        self.assertIn(f"`requeue`: false): {job}. Let it end", str(told.exception))
        service.arguments = as_before
        service.start()
        self.assertEqual(service.ask("GET", "/v1/policy")[1]["policy"], "easy")
        open(os.path.join(self.folder, "over"), "w").close()
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(service.read("runs"), "run\n")
        service.all_end()
        self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": "easy+preempt=requeue"})[0], 200)

    def test_suspend_lets_the_same_process_go_on(self):
        lines = self.overtaken("easy+preempt=suspend")
        self.assertEqual([line[0] for line in lines], ["begun", "ended"])
        self.assertEqual(lines[0][1], lines[1][1])

    def test_a_job_that_was_stopped_to_give_way_keeps_its_size(self):
        service = self.service
        self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": "easy+preempt=suspend"})[0], 200)
        low = service.submit("until [ -e over ]; do sleep 0.02; done", processors=2, limit=600)
        service.wait_for(lambda: service.job(low)["state"] == "RUNNING", "the low job to run")
        high = service.submit("until [ -e over ]; do sleep 0.02; done", processors=2, limit=600, priority=5)
        service.wait_for(lambda: service.job(high)["state"] == "RUNNING", "the high job to run")
        self.assertEqual(service.job(low)["state"], "PENDING")
        for body in ({"processors": 1}, {"memory": 1 << 20}, {"nodes": 0, "name": "small"}):
            status, answer = service.act("update", low, **body)
            self.assertEqual(status, 207, answer)
            self.assertIn("was stopped to give way and goes on with what it was started on", answer["jobs"][0]["detail"])
        self.assertEqual(service.act("update", low, name="small", limit=700)[0], 200)
        row = service.job(low)
        self.assertEqual((row["name"], row["processors"], row["limit"]), ("small", 2, 700))
        open(os.path.join(self.folder, "over"), "w").close()
        for job in (high, low):
            self.assertEqual(service.ends(job)["state"], "COMPLETED")


class SlurmGivesWay(ServiceCase):
    """Policy slurm has jobs of one QOS give way to those of another, as it does in a rehearsal."""
    configuration = ('name = "one"\nprocessors = 2\n[[qos]]\nname = "scavenger"\n'
                     '[[qos]]\nname = "urgent"\npriority = 10\npreempts = "scavenger"\n')
    arguments = ("--policy", "slurm+priority=multifactor+weight-qos=1000+batch-sched-delay=0"
                 "+preempt=requeue+preempt-by=qos+requeue-delay=1s")

    def test_a_job_is_requeued_for_one_of_a_qos_that_preempts_its_own_and_runs_again(self):
        service = self.service
        low = service.submit("echo begun >> low; until [ -e high ]; do sleep 0.02; done; echo ended >> low", processors=2, limit=600,
                             qos="scavenger", requeue=True)
        service.wait_for(lambda: service.job(low)["state"] == "RUNNING", "the low job to run")
        plain = service.submit("true", processors=2, limit=60)
        high = service.submit("cp low seen; : > high", processors=2, limit=60, qos="urgent")
        for job in (high, low, plain):
            self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(service.read("seen"), "begun\n", "the urgent job ran in the place of the low one")
        self.assertEqual(service.read("low"), "begun\nbegun\nended\n")
        row, = service.ask("GET", f"/v1/history?ids={low}")[1]["jobs"]
        self.assertEqual(row["restarts"], 1)
        facts = subprocess.run([self.rota, "replay", service.state, "--facts", "-"], capture_output=True, text=True, check=True).stdout
        gave_way = [fact for fact in map(json.loads, facts.splitlines()) if fact["kind"] == "preempted"]
        ids = {fact["spec"]["number"]: fact["job"] for fact in map(json.loads, facts.splitlines()) if fact["kind"] == "submitted"}
        self.assertEqual([(fact["job"], fact["beneficiary"]) for fact in gave_way], [(ids[int(low)], ids[int(high)])])
        self.assertEqual(service.decides_the_same_again(), "")


class Grace(ServiceCase):
    configuration = 'name = "one"\nprocessors = 2\n'
    arguments = ("--policy", "grace")

    def test_a_job_goes_on_beyond_its_limit_while_no_job_is_harmed(self):
        service = self.service
        job = service.submit("echo a > a; sleep 3; echo b > b", limit=1)
        service.wait_for(lambda: service.job(job).get("grace") or service.job(job)["state"] == "COMPLETED",
                         "the job to be let go on")
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(service.read("b"), "b\n")

    def over(self, name):
        open(os.path.join(self.folder, name), "w").close()

    def test_why_it_goes_on_is_told_while_it_runs_and_when_it_has_ended(self):
        service = self.service
        job = service.submit("until [ -e over ]; do sleep 0.02; done", limit=1)
        service.wait_for(lambda: service.job(job).get("grace"), "the job to be let go on")
        row = service.job(job)
        self.assertEqual((row["grace_rule"], row["state"]), ("grace", "RUNNING"))
        self.assertGreater(row["over_limit"], 0)
        told = service.ask("GET", f"/v1/jobs/{job}/explain")[1]["why"]
        self.assertRegex(told, r"^It runs \S+ beyond its limit under overrun=grace: it was started in its turn")
        service.kill()  # what is known of it outlives that
        service.start()
        self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": "easy+overrun=1h"})[0], 200)
        self.over("over")
        ended = service.ends(job)
        self.assertEqual((ended["state"], ended["grace"], ended["grace_rule"]), ("COMPLETED", True, "grace"))
        self.assertAlmostEqual(ended["over_limit"], ended["elapsed"] - ended["limit"], places=2)
        self.assertEqual(service.ask("GET", "/v1/history")[1]["jobs"][0]["over_limit"], ended["over_limit"])
        told = service.ask("GET", f"/v1/jobs/{job}/explain")[1]["why"]
        self.assertTrue(told.startswith("It was let run "), told)
        for words, said in ((("job", job), r"over limit +\S+"), (("job", job), r"grace rule +grace"),
                            (("explain", job), r"It was let run \S+ beyond its limit under overrun=grace:"),
                            (("history", "-o", "jobid,overlimit"), r"JOBID +OVERLIMIT\n" + job + r" +\d+:\d\d")):
            done = subprocess.run([self.rota, *words, "--socket", service.socket], capture_output=True, text=True)
            self.assertRegex(done.stdout.replace("\n", " ") if words[0] == "explain" else done.stdout, said)
        brief = service.submit("true", limit=600)
        self.assertEqual({"grace", "over_limit", "grace_why"} & set(service.ends(brief)), set())

    def test_a_job_that_is_being_stopped_is_not_said_to_harm_no_job(self):
        service = self.service
        job = service.submit("trap '' TERM; echo on > on; until [ -e over ]; do sleep 0.02; done", limit=1, kill_wait=600)
        service.wait_for(lambda: service.job(job).get("grace") and os.path.exists(os.path.join(self.folder, "on")),
                         "the job to be let go on")
        self.assertIn("started in its turn", service.job(job)["grace_why"])
        self.assertEqual(service.act("cancel", job)[0], 200)
        service.wait_for(lambda: service.job(job)["grace_why"] == "it was told to stop", "the job to be stopped")
        self.over("over")
        self.assertEqual(service.ends(job)["grace_why"], "it was told to stop")

    def test_of_one_that_went_ahead_the_promise_is_told_that_it_harmed_not(self):
        service = self.service
        self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": "easy+overrun=grace"})[0], 200)
        first = service.submit("until [ -e first ]; do sleep 0.02; done", processors=1, limit=600)
        service.wait_for(lambda: service.job(first)["state"] == "RUNNING", "the first job to run")
        second = service.submit("true", processors=2, limit=600)
        ahead = service.submit("until [ -e ahead ]; do sleep 0.02; done", processors=1, limit=1)
        service.wait_for(lambda: service.job(ahead).get("grace"), "the one that went ahead to be let go on")
        why = rf"job {second}, first in the queue, was promised a start at \S+ \S+ and no sooner"
        self.assertRegex(service.job(ahead)["grace_why"], why)
        self.over("ahead")
        self.assertRegex(service.ends(ahead)["grace_why"], why)
        self.over("first")
        service.all_end()


class Stopped(ServiceCase):
    """A job that went ahead of others and overran is stopped for the one that was promised its place."""
    configuration = 'name = "four"\nprocessors = 4\n'

    def in_the_way(self, policy, **members):
        service = self.service
        self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": policy})[0], 200)
        first = service.submit("until [ -e first ]; do sleep 0.02; done", processors=2, limit=3)
        service.wait_for(lambda: service.job(first)["state"] == "RUNNING", "the first job to run")
        wide = service.submit("until [ -e wide ]; do sleep 0.02; done", processors=4, limit=600)
        ahead = service.submit("echo run >> runs; until [ -e ahead ]; do sleep 0.02; done", processors=1, limit=1, **members)
        service.wait_for(lambda: service.job(ahead).get("grace"), "the one that went ahead to overrun")
        open(os.path.join(self.folder, "first"), "w").close()
        return wide, ahead

    def over(self, *names):
        for name in names:
            open(os.path.join(self.folder, name), "w").close()

    def test_it_names_the_promised_job_and_runs_again_with_twice_the_time(self):
        service = self.service
        wide, ahead = self.in_the_way("strict")
        service.wait_for(lambda: service.job(wide)["state"] == "RUNNING", "the promised job to run")
        row = service.job(ahead)
        self.assertEqual((row["state"], row["restarts"]), ("PENDING", 1))
        self.assertRegex(row["message"], rf"^It was stopped at \S+ \S+ under overrun=strict, \S+ beyond its limit, for job {wide}, "
                         r"which was promised a start at .*\. It waits again, with a limit of \S+; `rota update` sets another\.$")
        self.assertGreater(row["limit"], 4)
        for words in (("job", ahead), ("explain", ahead)):
            done = subprocess.run([self.rota, *words, "--socket", service.socket], capture_output=True, text=True)
            self.assertIn("It was stopped at", " ".join(done.stdout.split()), words)
        service.kill()
        service.start()
        self.assertEqual({name: service.job(ahead)[name] for name in ("message", "limit")},
                         {name: row[name] for name in ("message", "limit")})
        self.over("wide", "ahead")
        ended = service.ends(ahead)
        self.assertEqual((ended["state"], ended["message"]), ("COMPLETED", row["message"]))
        self.assertEqual(service.read("runs"), "run\nrun\n")
        self.assertEqual(service.decides_the_same_again(), "")

    def test_what_must_not_run_twice_is_ended_for_good(self):
        service = self.service
        for policy in ("strict", "rb-har", "grace"):
            wide, ahead = self.in_the_way(policy, requeue=False)
            ended = service.ends(ahead)
            self.assertEqual(ended["state"], "TIMEOUT", policy)
            self.assertRegex(ended["message"], rf"under overrun={policy}, .* for job {wide}, .*It must not run again \(--no-requeue\)\.$")
            self.over("wide", "ahead")
            service.all_end()
            self.assertEqual(service.read("runs"), "run\n", policy)
            for name in ("first", "wide", "ahead", "runs"):
                os.unlink(os.path.join(self.folder, name))

    def test_what_must_not_run_twice_is_not_requeued_by_hand(self):
        service = self.service
        job = service.submit("echo run >> runs; until [ -e over ]; do sleep 0.02; done", requeue=False)
        service.wait_for(lambda: service.job(job)["state"] == "RUNNING", "it to run")
        status, answer = service.act("requeue", job)
        self.assertEqual(status, 207, answer)
        self.assertIn("it must not run a second time", answer["jobs"][0]["detail"])
        self.over("over")
        self.assertEqual(service.ends(job)["state"], "COMPLETED")


class AtTheLimit(ServiceCase):
    configuration = 'name = "one"\nprocessors = 2\n'

    def test_a_job_that_is_ended_at_its_limit_was_granted_nothing(self):
        service = self.service
        job = service.submit("trap '' TERM; until false; do sleep 0.02; done", limit=1, kill_wait=1)
        seen = []
        service.wait_for(lambda: seen.append(service.job(job)) or seen[-1]["state"] == "TIMEOUT", "its end")
        self.assertEqual([row for row in seen if {"grace", "over_limit"} & set(row)], [], "also while it is being ended")


class Among(ServiceCase):
    """From each policy to each other one, while a job runs and another waits for its place."""
    configuration = 'name = "eight"\nprocessors = 8\n'
    POLICIES = ("easy", "rb-har", "conservative", "grace", "easy+preempt=suspend", "strict", "easy")

    def test_a_policy_can_be_set_and_left_at_any_time(self):
        service = self.service
        service.submit("until [ -e over ]; do sleep 0.02; done", processors=6, limit=600)
        waits = service.submit("true", processors=3, limit=60)
        for policy in self.POLICIES:
            status, answer = service.ask("PUT", "/v1/policy", {"policy": policy})
            self.assertEqual(status, 200, (policy, answer))
            service.kill()
            service.start()
            self.assertEqual(service.job(waits)["state"], "PENDING", policy)
        open(os.path.join(self.folder, "over"), "w").close()
        self.assertEqual(service.ends(waits)["state"], "COMPLETED")


class Replayed(ServiceCase):
    """The journal begins anew with each policy: what is made of it says since when it tells."""

    def replay(self, *words):
        return subprocess.run([self.rota, "replay", self.service.state, *words], capture_output=True, text=True)

    def test_what_is_replayed_after_a_policy_was_set_says_since_when_it_tells(self):
        service = self.service
        service.ends(service.submit("true", limit=60))
        self.assertNotIn("begun anew", self.replay("--check").stdout)
        self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": "fcfs"})[0], 200)
        done = self.replay("--check")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"it tells from [0-9-]+ [0-9:]+ \(UTC\) on: then it was begun anew .*policy is set")
        self.assertRegex(done.stdout, "there is no cycle in it, so that nothing was decided again|each plan is the same")
        gone = subprocess.run([self.rota, "explain", "1", "--journal", service.state], capture_output=True, text=True)
        self.assertRegex(gone.stderr, r"in what it tells from .* on; a service keeps")
        service.ends(service.submit("true", limit=60))
        self.assertIn("each plan is the same", self.replay("--check").stdout)
        self.assertRegex(self.replay("--policy", "easy").stderr, r"only jobs from .* \(UTC\) on: then it was begun anew")


class Promises(ServiceCase):
    """Two jobs are promised starts, and then a policy decides that promises no start."""
    configuration = 'name = "twelve"\nprocessors = 12\n'
    arguments = ("--policy", "conservative")

    def promised(self):
        service = self.service
        service.submit("sleep 10000", processors=8, limit=10000)
        jobs = [service.submit("true", processors=n, limit=20) for n in (10, 12)]
        service.wait_for(lambda: all("expected_start" in service.job(job) for job in jobs), "the promises")
        return jobs

    def promises_are_dropped(self, jobs):
        service = self.service
        self.assertEqual([service.job(job).get("expected_start") for job in jobs], [None, None])
        beside = service.submit("sleep 1000", processors=3, limit=200_000)
        service.wait_for(lambda: service.job(beside)["state"] == "RUNNING", "the one that overtakes them to run")
        for _ in range(30):  # until the referee has looked at all promises together
            self.assertEqual(service.ends(service.submit("true", limit=500))["state"], "COMPLETED")
        status = service.ask("GET", "/v1/status")[1]
        self.assertFalse(status["plain"], status)
        self.assertEqual(service.decides_the_same_again(), "")

    def test_they_end_with_the_policy_that_made_them(self):
        jobs = self.promised()
        self.assertEqual(self.service.ask("PUT", "/v1/policy", {"policy": "fcfs-skip"})[0], 200)
        self.promises_are_dropped(jobs)

    def test_so_they_do_when_the_service_starts_with_another_one(self):
        jobs = self.promised()
        self.service.stop()
        self.service.arguments[self.service.arguments.index("conservative")] = "fcfs-skip"
        self.service.start()
        self.promises_are_dropped(jobs)

    def test_the_same_policy_again_keeps_them(self):
        jobs = self.promised()
        before = [self.service.job(job)["expected_start"] for job in jobs]
        self.assertEqual(self.service.ask("PUT", "/v1/policy", {"policy": "conservative"})[0], 200)
        self.assertEqual([self.service.job(job)["expected_start"] for job in jobs], before)


class Refused(ServiceCase):
    """A policy that cannot run here: these nodes cannot be switched."""
    configuration = 'name = "two"\n[[nodes]]\nnames = "n[1-2]"\nprocessors = 2\n'

    def test_a_start_that_is_refused_changes_nothing(self):
        service = self.service
        as_before = list(service.arguments)
        job = service.submit("sleep 1000", limit=2000)
        service.wait_for(lambda: service.job(job)["state"] == "RUNNING", "it to run")
        for policy, said in (("easy+power=demand", "cannot run here: its knob power"),
                             ("easy+bind=node", "cannot run here: its knob bind"),
                             ("easy+auction=english", "cannot run here: its knob auction"),
                             ("easy+power=load-factor+power-history=log", "a service does not know which jobs")):
            service.stop()
            service.arguments = [*as_before, "--policy", policy]
            with self.assertRaises(AssertionError) as told:
                service.start()
            self.assertIn(said, str(told.exception))
            service.arguments = list(as_before)
            service.start()
            self.assertEqual(service.ask("GET", "/v1/policy")[1]["policy"], "easy")
            self.assertEqual(service.job(job)["state"], "RUNNING")
        for policy in ("easy+bind=late", "easy+auction=announced"):
            status, answer = service.ask("PUT", "/v1/policy", {"policy": policy})
            self.assertEqual(status, 400, answer)
            self.assertIn("cannot run here", answer["detail"])


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


class Rehearsal(ServiceCase):
    """What another policy would make of the queue is told before it is set."""
    configuration = 'name = "four"\nprocessors = 4\n'

    def test_it_tells_whose_start_changes_and_changes_nothing(self):
        service = self.service
        blocker = service.submit("sleep 1000", processors=4, limit=1000)
        long = service.submit("true", processors=4, limit=600)
        short = service.submit("true", processors=4, limit=60)
        held = service.submit("true", processors=4, limit=60, held=True)
        service.wait_for(lambda: service.job(blocker)["state"] == "RUNNING", "the first job to run")
        before = service.ask("GET", "/v1/status")[1]["facts"]
        status, told = service.ask("POST", "/v1/policy/rehearsal", {"policy": "easy+order=sjf"})
        self.assertEqual((status, told["waiting"], told["changed"], told["cut"]), (200, 2, 2, False), told)
        rows = {row["id"]: row for row in told["jobs"]}
        self.assertNotIn(held, rows)
        self.assertAlmostEqual(rows[long]["present"], service.job(blocker)["start"] + 1000, places=2)
        self.assertAlmostEqual(rows[short]["present"] - rows[long]["present"], 600, places=2)
        self.assertAlmostEqual(rows[short]["proposed"], rows[long]["present"], places=2)
        self.assertAlmostEqual(rows[long]["proposed"] - rows[short]["proposed"], 60, places=2)
        self.assertAlmostEqual(told["present"]["mean_wait"] - told["proposed"]["mean_wait"], (600 - 60) / 2, places=2)
        self.assertEqual(told["jobs"][0]["id"], min(long, short))
        self.assertEqual(service.ask("GET", "/v1/policy")[1]["policy"], "easy")
        self.assertEqual(service.ask("GET", "/v1/status")[1]["facts"], before)
        _, told = service.ask("POST", "/v1/policy/rehearsal", {"policy": "conservative"})
        self.assertEqual((told["changed"], told["jobs"]), (0, []))
        for policy, said in (("esay", "easy"), ("easy+power=demand", "suspend_command")):
            status, answer = service.ask("POST", "/v1/policy/rehearsal", {"policy": policy})
            self.assertEqual(status, 400)
            self.assertIn(said, answer["detail"])
        self.assertEqual(service.ask("POST", "/v1/policy/rehearsal", {})[1]["detail"], "say which: `policy` is missing.")

    def test_all_callers_are_answered_while_a_long_queue_is_rehearsed(self):
        service = self.service
        service.submit("sleep 10000", processors=4, limit=10000)
        jobs = [{"command": ["true"], "folder": self.folder, "processors": 1 + n % 4, "limit": 60 + 7 * n % 1999}
                for n in range(3000)]
        self.assertEqual(service.ask("POST", "/v1/jobs", jobs)[0], 201)
        for _ in range(10):  # that this test has no turn for as long as a rehearsal takes happens now and then
            if self.heard_meanwhile():
                return
        self.fail("others are answered only once a rehearsal is over")

    def heard_meanwhile(self):
        """Whether others are answered while a policy is rehearsed."""
        service, body = self.service, b'{"policy": "conservative"}'
        with socket.socket(socket.AF_UNIX) as asks:
            asks.connect(service.socket)
            asks.sendall(b"POST /v1/policy/rehearsal HTTP/1.1\r\nHost: rota\r\nConnection: close\r\n"
                         b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            for _ in range(5):  # before the last of them is answered it has surely begun
                self.assertEqual(service.ask("GET", "/v1/policy")[1]["policy"], "easy")
            meanwhile = not select.select([asks], [], [], 0)[0]
            text = b""
            while piece := asks.recv(65536):
                text += piece
        told = json.loads(text.partition(b"\r\n\r\n")[2])
        self.assertEqual((told["waiting"], told["present"]["started"] > 0), (3000, True))
        return meanwhile

    def test_a_service_that_is_stopped_waits_for_no_rehearsal(self):
        service = self.service
        service.submit("until [ -e go ]; do sleep 0.02; done", processors=4, limit=100)
        jobs = [{"command": ["true"], "folder": self.folder, "processors": 1 + n % 4, "limit": 60, "held": n > 2000}
                for n in range(3000)]
        self.assertEqual(service.ask("POST", "/v1/jobs", jobs)[0], 201)
        with socket.socket(socket.AF_UNIX) as asks:
            asks.connect(service.socket)
            body = b'{"policy": "conservative"}'
            asks.sendall(b"POST /v1/policy/rehearsal HTTP/1.1\r\nHost: rota\r\nContent-Length: %d\r\n\r\n%s"
                         % (len(body), body))
            service.ask("GET", "/v1/policy")
            self.assertIn("stopped", service.stop())
        service.start()
        self.assertEqual(service.act("cancel", "all")[0], 200)

    def test_what_was_rehearsed_happens(self):
        service = self.service
        service.submit("until [ -e go ]; do sleep 0.02; done", processors=4, limit=100)
        jobs = [service.submit(f"echo {limit} >> order", processors=4, limit=limit) for limit in (600, 60, 300)]
        rows = service.ask("POST", "/v1/policy/rehearsal", {"policy": "fcfs+order=sjf"})[1]["jobs"]
        expected = [row["id"] for row in sorted(rows, key=lambda row: row["proposed"])]
        self.assertEqual(expected, [jobs[1], jobs[2], jobs[0]])
        service.ask("PUT", "/v1/policy", {"policy": "fcfs+order=sjf"})
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        service.all_end()
        self.assertEqual(service.read("order").split(), ["60", "300", "600"])


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
