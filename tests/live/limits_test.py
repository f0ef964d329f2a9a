#!/usr/bin/env python3
"""A service keeps to the [[limits]] of its configuration. Usage: limits_test.py ROTA"""
import os
import pwd
import subprocess
import sys
import unittest

from service import ServiceCase

NODES = 'name = "one"\nprocessors = 8\n'
ME = pwd.getpwuid(os.geteuid()).pw_name


def limit(**keys):
    return "[[limits]]\n" + "".join(f"{key} = {value!r}\n".replace("'", '"') for key, value in keys.items())


class Limits(ServiceCase):
    configuration = NODES + limit(user="*", jobs=2) + limit(account="physics", processors=3)

    def describe(self, text):
        with open(os.path.join(self.folder, "rota.toml"), "w") as file:
            file.write(NODES + text)

    def run_two(self):
        jobs = [self.service.submit("sleep 1000") for _ in range(2)]
        for job in jobs:
            self.service.runs(job)
        return jobs

    def reason(self, job):
        row = self.service.job(job)
        return row["state"], row.get("reason"), row.get("why")

    def test_a_job_over_a_limit_waits_until_another_has_ended(self):
        first, _ = self.run_two()
        third = self.service.submit("sleep 1000")
        self.assertEqual(self.reason(third), (
            "PENDING", "OverLimit",
            "The limit of each user is 2 jobs at one time; jobs that count under it hold 2 jobs, and it asks for 1 job."))
        told = self.service.ask("GET", f"/v1/jobs/{third}/explain")[1]
        self.assertEqual(told["reason"], "OverLimit")
        self.service.act("cancel", first)
        self.service.runs(third)

    def test_limits_hold_after_a_crash(self):
        first, _ = self.run_two()
        third = self.service.submit("sleep 1000")
        self.service.kill()
        self.service.start()
        self.assertEqual(self.reason(third)[:2], ("PENDING", "OverLimit"))
        self.assertEqual(self.reason(self.service.submit("true"))[:2], ("PENDING", "OverLimit"))
        self.service.act("cancel", first)
        self.service.runs(third)

    def test_an_account_has_its_limit_whatever_its_users(self):
        job = self.service.submit("sleep 1000", processors=2, account="physics")
        self.service.runs(job)
        over = self.service.submit("true", processors=2, account="physics")
        self.assertEqual(self.reason(over), (
            "PENDING", "OverLimit", 'The limit of account "physics" is 3 processors at one time; jobs that count under it '
            "hold 2 processors, and it asks for 2 processors."))
        self.service.ends(self.service.submit("true", processors=2, account="chemistry"))
        self.assertEqual(self.reason(over)[1], "OverLimit")
        status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": "/", "processors": 4,
                                                               "account": "physics"})
        self.assertEqual((status, answer["detail"]), (
            400, 'the job can never run here: it asks for 4 processors; the limit of account "physics" is 3 processors.'))
        self.service.act("update", over, processors=1)
        self.assertEqual(self.service.ends(over)["state"], "COMPLETED", "one that asks for less may start")

    def test_a_reload_takes_other_limits_in(self):
        self.run_two()
        third = self.service.submit("sleep 1000")
        self.assertEqual(self.reason(third)[1], "OverLimit")
        self.describe(limit(user=ME, jobs=3))
        self.assertEqual(self.service.ask("POST", "/v1/configuration/reload")[1]["taken"], "there are other [[limits]]")
        self.service.runs(third)
        fourth = self.service.submit("true")
        self.assertIn(f'The limit of user "{ME}" is 3 jobs', self.reason(fourth)[2])
        self.service.kill()
        self.service.start()
        self.assertEqual(self.reason(fourth)[1], "OverLimit")
        self.describe("")
        self.assertEqual(self.service.ask("POST", "/v1/configuration/reload")[0], 200)
        self.assertEqual(self.service.ends(fourth)["state"], "COMPLETED")

    def test_a_job_that_waits_keeps_a_limit_from_becoming_too_tight_for_it(self):
        self.service.runs(self.service.submit("sleep 1000", processors=8))
        waiting = self.service.submit("true", processors=4)
        self.describe(limit(user="*", processors=3))
        status, answer = self.service.ask("POST", "/v1/configuration/reload")
        self.assertEqual(status, 400, answer)
        self.assertIn(f"job {waiting} is kept that can never run here: it asks for 4 processors; the limit of each user is 3 processors.",
                      answer["detail"])
        self.service.act("cancel", waiting)
        self.assertEqual(self.service.ask("POST", "/v1/configuration/reload")[0], 200, "a job that runs may hold more")

    def test_the_policy_of_slurm_passes_over_what_is_over_a_limit(self):
        status, answer = self.service.ask("PUT", "/v1/policy", {"policy": "slurm"})
        self.assertEqual(status, 200, answer)
        first, _ = self.run_two()
        third = self.service.submit("sleep 1000")
        self.service.wait_for(lambda: self.reason(third)[1] == "OverLimit", "a third job to be passed over")
        self.service.act("cancel", first)
        self.service.runs(third)

    def test_another_policy_keeps_to_them_at_once(self):
        self.service.ask("PUT", "/v1/policy", {"policy": "slurm"})
        self.run_two()
        waiting = [self.service.submit("sleep 1000") for _ in range(3)]
        self.assertEqual(self.service.ask("PUT", "/v1/policy", {"policy": "easy"})[0], 200)
        for job in waiting:
            self.assertEqual(self.reason(job)[:2], ("PENDING", "OverLimit"))
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_accounts_and_qos_are_for_the_users_that_the_file_names(self):
        self.describe('[[accounts]]\nname = "physics"\nusers = "nobody"\n[[accounts]]\nname = "all"\n'
                      f'[[accounts]]\nname = "mine"\nusers = "{ME}:2"\n'
                      '[[qos]]\nname = "urgent"\nusers = "nobody"\n[[qos]]\nname = "normal"\n')
        self.assertEqual(self.service.ask("POST", "/v1/configuration/reload")[0], 200)
        # The tests' user operates its own service, and an operator may ask for any.
        self.service.runs(self.service.submit("sleep 1000", account="physics", qos="urgent"))
        job = self.service.submit("true", account="mine", held=True)
        answer = self.service.act("update", job, account="all")
        self.assertIn(f"limits and shares go by the account that job {job} was submitted with", str(answer))

    def test_the_state_replays_with_them(self):
        first, _ = self.run_two()
        third = self.service.submit("true", account="physics")
        self.service.act("cancel", first)
        self.service.ends(third)
        self.service.act("cancel", "all")
        self.service.wait_for(lambda: not self.service.live(), "all jobs to end")
        self.service.stop()
        done = subprocess.run([self.rota, "replay", self.service.state, "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.service.start()

    def test_a_user_that_is_not_there_is_named(self):
        self.service.stop()
        self.describe(limit(user="nemo-of-no-computer", jobs=1))
        self.service.start()
        warnings = self.service.ask("GET", "/v1/status")[1]["warnings"]
        self.assertIn('[[limits]] name the user "nemo-of-no-computer", whom this computer does not know: `rota reload` looks again',
                      warnings)
        self.assertEqual(self.service.ends(self.service.submit("true"))["state"], "COMPLETED")


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
