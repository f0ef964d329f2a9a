#!/usr/bin/env python3
"""RB_HAR on real processes: the two conditions under which a job may go on beyond its limit, and how long it may.

Each test brings about the same: a job that went ahead of others is over its time, and the start of the job that was promised
one is due. The job whose end that promise counted on ends only after that instant, so that the rule decides then, however
slow the computer is. Limits that are compared with each other are minutes apart. Usage: rb_har_test.py ROTA"""
import datetime
import os
import sys
import unittest

from service import ServiceCase

LONG = 3600  # seconds; no test takes as long


class RbHar(ServiceCase):
    """Four processors: two of the first job, one of a regular job that stays, and one of the job that goes ahead."""
    configuration = 'name = "four"\nprocessors = 4\n'
    arguments = ("--policy", "rb-har")

    def until(self, name):
        return f"until [ -e {name} ]; do sleep 0.02; done"

    def over(self, *names):
        for name in names:
            open(os.path.join(self.folder, name), "w").close()

    def over_its_time(self, wide=2, wide_limit=2 * LONG, stays=LONG):
        """The promised job, and the one that went ahead of it and is over its time; the promise is due."""
        service = self.service
        if stays:
            self.stays = service.runs(service.submit(self.until("stays"), limit=stays))
        for _ in range(20):  # whether there is time to go ahead hangs on how soon the service hears of it
            first = service.runs(service.submit(self.until("first"), processors=2 if stays else 3, limit=LONG))
            self.promise = service.job(first)["start"] + service.near_limit(first, 4)
            body = {"folder": self.folder, "environment": ["PATH=/usr/bin:/bin"]}
            answer = service.ask("POST", "/v1/jobs", [
                {**body, "command": ["/bin/sh", "-c", self.until("wide")], "processors": wide, "limit": wide_limit},
                {**body, "command": ["/bin/sh", "-c", "echo run >> runs; " + self.until("ahead")], "limit": 1}])[1]
            promised, ahead = (row["id"] for row in answer)
            service.wait_for(lambda: service.job(ahead)["state"] == "RUNNING" or service.now() > self.promise,
                             "a job to go ahead")
            if service.job(ahead)["state"] == "RUNNING":
                break
            service.act("cancel", [first, promised, ahead])
            service.wait_for(lambda: len(service.live()) == bool(stays), "the end of those that came too late")
        self.assertAlmostEqual(service.job(promised)["expected_start"], self.promise, places=2)
        service.wait_for(lambda: service.job(ahead).get("grace") and service.now() > self.promise, "the promise to be due")
        self.assertEqual((service.job(promised)["state"], service.job(ahead)["state"]), ("PENDING", "RUNNING"))
        return promised, ahead

    def goes_on(self, promised, ahead):
        """Both run side by side, and the job that went ahead ends by itself. Gives why it was let go on."""
        service = self.service
        self.over("first")
        service.runs(promised)
        row = service.job(ahead)
        self.assertEqual((row["state"], row.get("restarts", 0), row["grace_rule"]), ("RUNNING", 0, "rb-har"))
        self.assertRegex(row["grace_why"], rf"^job {promised}, promised a start at \S+ \S+, asked for 2 processors, of which 2 were "
                         r"free beside it, and no other job could have started; it was let go on until \S+ \S+$")
        self.over("ahead")
        ended = service.ends(ahead)
        self.assertEqual((ended["state"], ended["grace_why"]), ("COMPLETED", row["grace_why"]))
        self.assertEqual(service.read("runs"), "run\n")
        self.over("wide", "stays")
        service.all_end()
        self.assertEqual(service.decides_the_same_again(), "")
        return row["grace_why"]

    def is_stopped(self, promised, ahead):
        """The promised job starts once the other has left, which runs again from nothing. Gives what is said of the stop."""
        service = self.service
        self.over("first")
        service.runs(promised)
        service.wait_for(lambda: service.job(ahead).get("restarts"), "the job that went ahead to be stopped")
        told = service.job(ahead)["message"]
        self.over("ahead", "wide", "stays")
        self.assertEqual(service.ends(ahead)["state"], "COMPLETED")
        self.assertEqual(service.read("runs"), "run\nrun\n")
        service.all_end()
        self.assertEqual(service.decides_the_same_again(), "")
        return told

    def assert_stopped_for(self, promised, told):
        self.assertRegex(told, rf"^It was stopped at \S+ \S+ under overrun=rb-har, \S+ beyond its limit, for job {promised}, which was promised")

    def waits(self, **members):
        return self.service.submit("true", **members)

    def test_the_first_condition_holds_and_no_job_waits(self):
        why = self.goes_on(*self.over_its_time())
        # minTime: until the regular job that stays is expected to end.
        end = self.service.job(self.stays)["start"] + LONG
        told = datetime.datetime.strptime(why[-16:], "%Y-%m-%d %H:%M").timestamp()
        self.assertLessEqual(abs(told - end), 60, "the end is given in whole minutes")

    def test_the_first_condition_fails(self):
        promised, ahead = self.over_its_time(wide=3)
        self.assert_stopped_for(promised, self.is_stopped(promised, ahead))

    def test_the_second_condition_holds_though_others_wait(self):
        promised, ahead = self.over_its_time()
        self.waits(processors=3, limit=60)         # more than the one processor that a stop would leave
        self.waits(processors=1, limit=LONG + 60)  # not over before the regular job that stays
        self.goes_on(promised, ahead)

    def test_the_second_condition_fails_for_the_next_in_turn(self):
        promised, ahead = self.over_its_time()
        self.waits(processors=1, limit=LONG + 60)
        self.assert_stopped_for(promised, self.is_stopped(promised, ahead))

    def test_the_second_condition_fails_for_a_short_job_behind_the_next(self):
        promised, ahead = self.over_its_time()
        self.waits(processors=3, limit=60)
        self.waits(processors=1, limit=60)  # over before the regular job that stays
        self.assert_stopped_for(promised, self.is_stopped(promised, ahead))

    def test_no_job_is_stopped_where_the_promised_job_could_not_start_even_then(self):
        service = self.service
        promised, ahead = self.over_its_time(wide=3)  # the first job is in the way, too, and was started in its turn
        self.waits(processors=4, limit=60)  # so that the service decides anew
        service.let_pass(0.3)
        self.over("ahead")
        ended = service.ends(ahead)
        self.assertEqual((ended["state"], service.job(promised)["state"]), ("COMPLETED", "PENDING"))
        self.over("first", "stays", "wide")
        service.all_end()
        self.assertEqual(service.read("runs"), "run\n")

    def test_when_what_it_was_given_is_over_it_is_stopped(self):
        promised, ahead = self.over_its_time(wide=3, wide_limit=2, stays=None)  # no regular job: minTime is the promised one's own
        self.assertIn(", since the time for which it was let go on was over. It waits again, with a limit of ",
                      self.is_stopped(promised, ahead))


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
