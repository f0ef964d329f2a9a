#!/usr/bin/env python3
"""The order of Rota's on a real Slurm: an operator of Slurm runs the service, and site factors put a backlog into the order
`sjf`. What is asserted of Slurm is read from Slurm alone (squeue, sprio, sacct): the order that comes about, that other
partitions and what others have set stay as they are, and that after Rota is gone no factor is left, whatever has died.

Usage: slurm_order_test.py ROTA"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import slurm_site
from service import PATIENCE, Service
from slurm_faults import AS, OPERATOR, SETTINGS, Moments, OrderedSite

if slurm_site.lacks():
    print(f"skipped: {slurm_site.lacks()}")
    sys.exit(77)

ROTA = os.path.abspath(sys.argv.pop(1))


class OrderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="rota-order-")
        cls.slurm = OrderedSite(cls.folder)
        cls.slurm.start()

    @classmethod
    def tearDownClass(cls):
        cls.slurm.stop()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        place = tempfile.mkdtemp(dir=self.folder)
        os.chmod(place, 0o755)
        shutil.chown(place, OPERATOR)
        self.rota = Service(ROTA, place, SETTINGS, ["--engine", "slurm"])
        self.rota.before, self.rota.environment = AS, dict(self.slurm.env)
        self.blockers = self.slurm.fill()
        self.batch = self.slurm.batch
        self.factors = self.slurm.factors

    def tearDown(self):
        if self.rota.process and self.rota.process.poll() is None:
            self.rota.kill()
        self.slurm.cancel_all()

    # ---- Slurm, as it says itself

    def queue(self):
        text = self.slurm.ask("squeue", "-h", "-a", "-o", "%A|%T|%Q|%P|%r")
        return {row[0]: row[1:] for row in (line.split("|") for line in text.splitlines())}

    def order(self, partition="main"):
        """The jobs that wait there, as Slurm would start them."""
        waiting = [(-int(row[1]), int(job)) for job, row in self.queue().items()
                   if row[0] == "PENDING" and row[2] == partition and int(row[1]) > 0]
        return [str(job) for _, job in sorted(waiting)]

    def wait_until(self, holds, what):
        end = time.monotonic() + PATIENCE / 5
        while not holds():
            if time.monotonic() > end:
                self.fail(f"waited in vain: {what}\n{self.queue()}\n{self.factors()}\n{self.slurm.last_words()}")
            subprocess.run(["sleep", "0.2"])  # no event tells of what Slurm has

    # ---- Rota

    def command(self, *words, check=True, of_socket=False):
        where = ["--socket", self.rota.socket] if of_socket else ["--state", self.rota.state]
        done = subprocess.run([*AS, ROTA, *words, *where], capture_output=True, text=True, env=self.slurm.env)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def mode(self, *words, check=True):
        return self.command("mode", *words, check=check, of_socket=True)

    def undo(self, *words):
        return self.command("undo", *words).stdout

    def backlog(self, count=8):
        """Jobs of main that wait, from the longest to the shortest; gives them the shortest first."""
        jobs = [self.batch("-n4", f"-t{count + 1 - at}") for at in range(count)]
        return jobs[::-1]

    def no_factor_is_left(self):
        """Also none that is hidden while a job is held, runs or depends on another: each is made to show it."""
        for job, row in self.queue().items():
            if row[0] == "PENDING" and "Held" in row[3]:
                self.slurm.ask("scontrol", "release", job)
        self.assertEqual({job: factor for job, factor in self.factors().items() if factor != 0}, {})

    def acts(self, shortest_first, *more):
        self.mode("order", "act", "--partition", "main", "--order", "sjf", *more)
        self.wait_until(lambda: self.order() == shortest_first, "the order is sjf")

    def says_what_the_order_would_change(self, later, sooner):
        told = lambda job: self.rota.ask("GET", f"/v1/jobs/{job}/explain")[1].get("advice", {})  # noqa: E731
        self.wait_until(lambda: "start" in told(later) and "start" in told(sooner), "both orders are rehearsed")
        self.assertGreater(told(later)["start"], told(later)["own_start"])
        self.assertLess(told(sooner)["start"], told(sooner)["own_start"])
        self.assertIn("In the order sjf, which is advised, it would start",
                      self.command("explain", later, of_socket=True).stdout.replace("\n", " "))
        self.assertIn("In the order that `rota mode` advises or follows, ", self.command("shadow", of_socket=True).stdout)

    # ---- what is to be

    def test_a_backlog_goes_by_sjf_and_all_else_stays(self):
        jobs = self.backlog()
        others = [self.batch("-n4", "-t5", "-p", "debug") for _ in range(3)]
        self.rota.start()
        self.mode("order", "advise", "--partition", "main")
        self.wait_until(lambda: len(self.rota.ask("GET", "/v1/modes")[1]["advice"]) > 0, "it is said what would be")
        self.assertIn("WANTED", self.mode().stdout)
        self.says_what_the_order_would_change(jobs[-1], jobs[0])
        self.assertEqual(set(self.factors().values()), {0}, "advice writes nothing")
        self.acts(jobs)
        self.assertEqual([self.factors()[job] for job in others], [0, 0, 0])
        shown = self.command("actions").stdout
        self.assertRegex(shown, r"write +order +main +" + jobs[0])
        self.assertIn("sjf: place 1 of 8", shown)
        # One that comes later, one whose factor and one whose priority an operator sets, one that is held meanwhile.
        new = self.batch("-n4", "-t1", run="true")
        self.wait_until(lambda: self.order()[0] in (new, jobs[0]) and new in self.order()[:2], "a new one is placed")
        self.slurm.ask("scontrol", "update", "JobId=" + jobs[3], "SiteFactor=77")
        self.slurm.ask("scontrol", "update", "JobId=" + jobs[4], "Priority=424242")
        self.slurm.ask("scontrol", "hold", jobs[5])
        written = self.rota.ask("GET", "/v1/modes")[1]["looked"]
        self.wait_until(lambda: self.rota.ask("GET", "/v1/modes")[1]["looked"] > written + 2, "it looks again")
        self.assertEqual(self.factors()[jobs[3]], 77)
        self.assertEqual(self.queue()[jobs[4]][1], "424242")
        self.mode("order", "observe", "--partition", "main")
        self.wait_until(lambda: {factor for job, factor in self.factors().items() if job != jobs[3]} == {0},
                        "the mode only observes, and all is taken back")
        self.assertEqual(self.factors()[jobs[3]], 77)
        self.slurm.ask("scontrol", "update", "JobId=" + jobs[3], "SiteFactor=0")
        self.wait_until(lambda: "0 jobs with a factor" in self.command("actions").stdout, "the log says so")
        self.no_factor_is_left()

    def test_what_may_not_be_is_refused_with_a_sentence(self):
        self.rota.start()
        refused = {("order", "act", "--partition", "nowhere"): "no partition", ("order", "act"): "--partition",
                   ("order", "act", "--partition", "main", "--order", "sjff"): "sjff",
                   ("order", "act", "--partition", "main", "--until", "now-1hour"): "over already",
                   ("power", "act", "--partition", "main"): "no mechanism"}
        for words, part in refused.items():
            done = self.mode(*words, check=False)
            self.assertEqual((done.returncode, part in done.stderr), (1, True), (words, done.stderr))
        self.slurm.ask("sacctmgr", "-i", "modify", "user", OPERATOR, "set", "AdminLevel=None")
        try:
            done = self.mode("order", "act", "--partition", "main", check=False)
            self.assertEqual((done.returncode, "AdminLevel=Operator" in done.stderr), (1, True), done.stderr)
        finally:
            self.slurm.ask("sacctmgr", "-i", "modify", "user", OPERATOR, "set", "AdminLevel=Operator")

    def test_after_so_many_refusals_it_only_observes(self):
        jobs = self.backlog()
        self.rota.start()
        self.acts(jobs)
        self.slurm.ask("sacctmgr", "-i", "modify", "user", OPERATOR, "set", "AdminLevel=None")
        try:
            for _ in range(6):  # each wants a place of its own
                self.batch("-n4", "-t1")
            self.wait_until(lambda: self.rota.ask("GET", "/v1/modes")[1]["modes"][0]["mode"] == "observe", "it falls back")
            self.assertIn("only observes", self.mode().stdout)
        finally:
            self.slurm.ask("sacctmgr", "-i", "modify", "user", OPERATOR, "set", "AdminLevel=Operator")
        self.wait_until(lambda: set(self.factors().values()) == {0}, "what was written is taken back")
        self.assertIn("only observes", str(self.rota.ask("GET", "/v1/status")[1]["warnings"]))

    def test_the_date_is_kept_and_undo_works_beside_the_service(self):
        jobs = self.backlog()
        self.rota.start()
        self.acts(jobs, "--until", "now+5seconds")
        self.wait_until(lambda: set(self.factors().values()) == {0}, "its time is over")
        self.assertNotIn("only observes", str(self.rota.ask("GET", "/v1/status")[1]["warnings"]))
        self.acts(jobs)
        self.undo("--all")
        looked = self.rota.ask("GET", "/v1/modes")[1]["looked"]
        self.wait_until(lambda: self.rota.ask("GET", "/v1/modes")[1]["looked"] > looked + 1, "the service looks again")
        self.no_factor_is_left()
        self.assertEqual(self.rota.ask("GET", "/v1/modes")[1]["modes"][0]["mode"], "observe")

    def test_jobs_whose_licences_are_free_go_first_and_those_that_lack_some_last(self):
        self.slurm.ask("scancel", self.blockers[-1])
        holder = self.batch("-n4", "-t600", "-p", "debug", "-L", "fluent:1", run="sleep 3600")
        self.wait_until(lambda: self.queue()[holder][0] == "RUNNING", "one licence is taken")
        lacking, plain, having = (self.batch("-n4", "-t5", *options) for options in (("-L", "fluent:12"), (), ("-L", "matlab:1")))
        self.rota.start()
        self.mode("order", "act", "--partition", "main", "--order", "licences")
        self.wait_until(lambda: self.order() == [having, plain, lacking], "a job with free licences is first")

    def test_a_job_that_has_waited_long_enough_goes_before_shorter_ones(self):
        long = self.batch("-n4", "-t30")
        short = self.backlog(3)
        self.rota.start()
        self.acts([*short, long])
        self.mode("order", "act", "--partition", "main", "--order", "sjf+patience=5s")
        self.wait_until(lambda: self.order()[0] == long, "its patience is over")
        new = self.batch("-n4", "-t1")
        self.wait_until(lambda: new in self.order(), "a new one waits")
        self.assertEqual(self.order()[0], long)

    def test_whatever_dies_no_factor_is_left_and_no_job_is_lost(self):
        self.slurm.cancel_all()
        moments = Moments(ROTA, self.slurm, int(os.environ.get("ROTA_SEED", "1")))
        for _ in range(3):
            moments.one()


if __name__ == "__main__":
    unittest.main()
