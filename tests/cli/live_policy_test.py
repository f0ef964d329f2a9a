#!/usr/bin/env python3
"""A policy is shown, rehearsed and set. Usage: live_policy_test.py ROTA"""
import os
import pty
import subprocess

from fake_service import NOON, problem
from live_case import LiveCase
from rota_case import ROTA, main


class Policy(LiveCase):
    def test_the_policy(self):
        self.answers("GET", "/v1/policy", (200, {"policy": "easy", "plain": False}))
        self.prints("policy", out="easy\n")
        self.answers("PUT", "/v1/policy", (200, {"policy": "fcfs", "plain": False}))
        self.answers("POST", "/v1/policy/rehearsal", (400, problem(400, "there are too many jobs.")))
        self.prints("policy", "set", "fcfs", out="fcfs\n", err="rota: set without a rehearsal: there are too many jobs.\n")
        self.assertEqual(self.last()["body"], {"policy": "fcfs"})
        self.says_no("policy", "set", "--dry-run", "fcfs", said="there are too many jobs.")
        self.answers("POST", "/v1/policy/rehearsal", (403, problem(403, "Only operators may set the policy.")))
        self.answers("PUT", "/v1/policy", (403, problem(403, "Only operators may set the policy.")))
        self.says_no("policy", "set", "fcfs", said="Only operators may set the policy.")

    def test_the_configuration_is_read_again(self):
        self.answers("POST", "/v1/configuration/reload", (200, {"machine": "box", "processors": 8, "taken": "n[3-4] are new"}),
                     (200, {"machine": "box", "processors": 8, "other_settings": True}))
        self.prints("reload", out="Taken: n[3-4] are new.\n")
        self.prints("reload", out="Nothing is new.\nWhat [service] says is another thing than before: a service takes that when it is "
                                  "started again.\n")
        self.answers("POST", "/v1/configuration/reload", (400, problem(400, "rota.toml:3: no number.")))
        self.says_no("reload", said="rota.toml:3: no number.")

    REHEARSED = {"present": {"policy": "easy", "started": 3, "mean_wait": 400.0},
                 "proposed": {"policy": "fcfs", "started": 2, "mean_wait": 130.5}, "waiting": 3, "changed": 2, "cut": True,
                 "jobs": [{"id": "7", "user": "ann", "name": "short", "processors": 4, "present": NOON + 60.0,
                           "proposed": NOON + 0.0},
                          {"id": "6_2", "user": "bob", "name": "long", "processors": 1200, "present": NOON + 0.0}]}
    SHOWN = ("          POLICY   START  MEAN WAIT\n"
             "present   easy    3 of 3       6:40\n"
             "proposed  fcfs    2 of 3       2:10\n\n"
             "JOB  USER  NAME    CPUS  PRESENT START        PROPOSED START\n"
             "  7  ann   short      4  2026-11-30T00:01:00  2026-11-30T00:00:00\n"
             "6_2  bob   long   1,200  2026-11-30T00:00:00  -\n"
             "There was no time to rehearse all of it; what is missing starts later.\n")

    def test_a_policy_is_rehearsed_before_it_is_set(self):
        self.answers("POST", "/v1/policy/rehearsal", (200, self.REHEARSED))
        self.answers("PUT", "/v1/policy", (200, {"policy": "fcfs", "plain": False}))
        self.prints("policy", "set", "--dry-run", "fcfs", out=self.SHOWN)
        self.assertEqual((self.last()["path"], self.last()["body"]), ("/v1/policy/rehearsal", {"policy": "fcfs"}))
        self.prints("policy", "set", "fcfs", out=self.SHOWN + "\nfcfs\n")
        nothing = self.REHEARSED | {"changed": 0, "jobs": [], "cut": False}
        self.answers("POST", "/v1/policy/rehearsal", (200, nothing))
        self.prints("policy", "set", "--dry-run", "fcfs", out=self.SHOWN.split("\n\n")[0] +
                    "\n\nNo job that waits would start at another time.\n")
        unknown = {"present": {"policy": "easy", "started": 0}, "proposed": {"policy": "fcfs", "started": 0},
                   "start_unknown": "job 1 has no time limit"}
        self.answers("POST", "/v1/policy/rehearsal", (200, nothing | unknown))
        self.prints("policy", "set", "--dry-run", "fcfs", out=(
            "          POLICY   START  MEAN WAIT\n"
            "present   easy    0 of 3          -\n"
            "proposed  fcfs    0 of 3          -\n\n"
            "No job that waits would start at another time.\n"
            "Not every start is known: job 1 has no time limit.\n"))

    def test_a_person_at_a_terminal_is_asked(self):
        self.answers("POST", "/v1/policy/rehearsal", (200, self.REHEARSED))
        self.answers("PUT", "/v1/policy", (200, {"policy": "fcfs", "plain": False}))

        def asked(key, *more):
            here, there = pty.openpty()
            process = subprocess.Popen([ROTA, "policy", "set", *more, "fcfs"], env=self.env, stdin=there, stdout=there,
                                       stderr=there)
            os.close(there)
            if key:
                os.write(here, key)
            shown = b""
            try:
                while piece := os.read(here, 4096):
                    shown += piece
            except OSError:  # its end
                pass
            os.close(here)
            return process.wait(60), shown.decode(), self.last()["path"]
        code, shown, path = asked(b"n\n")
        self.assertEqual((code, path), (1, "/v1/policy/rehearsal"))
        self.assertIn("Set it? [y/N]", shown)
        self.assertIn("rota: nothing was changed.", shown)
        self.assertEqual(asked(b"y\n")[::2], (0, "/v1/policy"))
        code, shown, path = asked(b"", "--yes")
        self.assertEqual((code, path), (0, "/v1/policy"))
        self.assertNotIn("Set it?", shown)


if __name__ == "__main__":
    main()
