#!/usr/bin/env python3
"""A service beside a real Slurm with slurmdbd, as a plain user that only reads: its queue and its history are Slurm's own,
job by job, though it is killed and slurmctld starts again in between.

Usage: slurm_observe_test.py ROTA"""
import calendar
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import slurm_site
from service import PATIENCE, Service
from slurm_site import SlurmSite

if slurm_site.lacks():
    print(f"skipped: {slurm_site.lacks()}")
    sys.exit(77)

ROTA = os.path.abspath(sys.argv.pop(1))
USERS = {"daemon": "chemistry", "nobody": "physics", "root": "physics"}
READER = "games"  # a user that Slurm has never been told of
SETTINGS = '[slurm]\npoll = "2s"\ngap = "50ms"\n'


def unix(text):
    return None if text in ("Unknown", "None", "N/A") else calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def names_of(nodes):
    """n[1,3-5] and n1,n[3-5] are the same nodes."""
    names = set()
    for stem, inside, plain in re.findall(r"(\w+)\[([^]]*)\]|(\w+)", nodes):
        for part in inside.split(",") if stem else ():
            first, _, last = part.partition("-")
            names |= {f"{stem}{number}" for number in range(int(first), int(last or first) + 1)}
        names |= {plain} - {""}
    return names


class ObserveTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="rota-observe-")
        cls.slurm = SlurmSite(cls.folder, nodes=tuple(f"n{i}" for i in range(1, 15)))
        cls.slurm.start()
        place = os.path.join(cls.folder, "rota")
        os.mkdir(place)
        shutil.chown(place, READER)
        cls.rota = Service(ROTA, place, SETTINGS, ["--engine", "slurm"])
        cls.rota.before = ["setpriv", "--reuid=" + READER, "--regid=" + READER, "--clear-groups", "--no-new-privs"]
        cls.rota.environment = dict(cls.slurm.env)
        cls.rota.start()

    @classmethod
    def tearDownClass(cls):
        if cls.rota.process.poll() is None:
            cls.rota.kill()
        cls.slurm.stop()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def batch(self, user, *options, run="sleep 1"):
        return self.slurm.ask("sbatch", "--parsable", "-o", "/dev/null", "-e", "/dev/null", "--uid=" + user,
                              "-A" + USERS[user], *options, "--wrap", run, cwd="/").strip()

    def wait_until(self, holds, what):
        end = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), end, f"waited in vain: {what}; {self.rota.live()}")
            subprocess.run(["sleep", "0.2"])  # no event tells of what Slurm has

    def queued(self):
        """What Slurm has that has not ended: id, state, and where it runs."""
        text = self.slurm.ask("squeue", "-h", "-r", "-o", "%i|%T|%u|%N|%r")
        return {row[0]: row[1:] for row in (line.split("|") for line in text.splitlines())}

    def mirrored(self):
        return {job["id"]: (job["state"], job["user"]) for job in self.rota.live()}

    def same_queue(self):
        return {job: tuple(row[:2]) for job, row in self.queued().items() if row[0] != "COMPLETING"} == self.mirrored()

    def accounted(self):
        text = self.slurm.ask("sacct", "-X", "-P", "-n", "-a", "-S", "2020-01-01", "-E", "now", "-o",
                              "JobID,State,Submit,Start,End,NodeList,ExitCode,User")
        return {row[0]: row[1:] for row in (line.split("|") for line in text.splitlines())}

    def history(self):
        rows, after = {}, None
        while True:
            status, answer = self.rota.ask("GET", "/v1/history?limit=500" + (f"&after={after}" if after else ""))
            self.assertEqual(status, 200, answer)
            rows.update({row["id"]: row for row in answer["jobs"]})
            after = answer.get("next")
            if not after:
                return rows

    def submit_some(self):
        for at in range(14):
            for user in USERS:
                options = [f"-n{1 + (at * 5 + len(user)) % 6}", f"-t{1 + at % 3}", f"-J{user}{at}"]
                if at % 4 == 1:
                    options += ["-N2"]
                self.batch(user, *options, run=f"sleep {1 + at % 5}")
        self.batch("nobody", "-t1", "--array=0-9%4", run="sleep 2")
        self.batch("nobody", "-t1", run="exit 3")
        self.batch("nobody", "-t1", run="kill -9 $$")
        again = self.batch("daemon", "-t3", "-wn1", run='[ "$SLURM_RESTART_COUNT" = 1 ] || sleep 60')
        held = self.batch("daemon", "-t1", "-H")
        never = self.batch("daemon", "-t1", "-H")
        return again, held, never

    def test_all_that_happens_in_slurm_is_seen(self):
        self.sees_reservations_and_why_nodes_are_out_of_use()
        again, held, never = self.submit_some()
        self.wait_until(lambda: self.mirrored().get(held) is not None, "the first jobs are seen")
        self.assertEqual(self.rota.job(held)["reason"], "JobHeldUser")
        self.refuses(held)
        self.wait_until(lambda: self.mirrored().get(never) is not None, "the last one is seen")
        status = self.rota.ask("GET", "/v1/status")[1]
        self.assertEqual((status["held"], status["not_eligible"]), (2, 0), "all others wait or run")
        self.wait_until(lambda: self.queued()[again][0] == "RUNNING", "a job runs")
        self.wait_until(lambda: self.mirrored()[again][0] == "RUNNING", "that is seen")
        self.rota.kill()
        self.slurm.ask("scontrol", "requeue", again)
        self.slurm.ask("scontrol", "update", "JobId=" + again, "StartTime=now")
        self.slurm.ask("scancel", never)
        self.slurm.restart_controller()
        self.rota.start()
        self.slurm.ask("scontrol", "release", held)
        self.wait_until(lambda: not self.queued(), "all jobs end")
        self.wait_until(lambda: not self.mirrored(), "that is seen")
        self.agrees_with_the_accounting(again, never)
        self.tells_how_well_it_foretold()
        self.reports_the_week_and_what_it_costs()
        self.goes_on_without_slurmctld()
        self.makes_its_report_once_in_each_period()

    def agrees_with_the_accounting(self, again, never):
        slurm, rota = self.accounted(), self.history()
        self.assertEqual(set(slurm), set(rota) - {never, self.of_course}, "sacct leaves out what was never eligible")
        for job, (state, _, start, end, nodes, code, user) in slurm.items():
            row = rota[job]
            self.assertEqual((row["state"], row["user"]), (state.split(" ")[0], user), row)
            self.assertEqual(int(row["end"]), unix(end), row)
            if nodes == "None assigned":
                self.assertNotIn("start", row)
                continue
            self.assertEqual(int(row["start"]), unix(start), row)
            self.assertEqual(names_of(row["node_list"]), names_of(nodes), row)
            status, signal = (int(each) for each in code.split(":"))
            self.assertEqual((row.get("exit_code", 0), row.get("signal", 0)), (status, signal), row)
        self.assertEqual(rota[never]["state"], "CANCELLED")
        self.assertEqual(rota[again]["restarts"], 1, rota[again])

    def sees_reservations_and_why_nodes_are_out_of_use(self):
        self.slurm.ask("scontrol", "create", "reservation", "ReservationName=upkeep", "Users=root", "StartTime=now+7days",
                       "Duration=60", "Nodes=n[13-14]")
        self.slurm.ask("scontrol", "update", "NodeName=n14", "State=DRAIN", "Reason=bad disk")
        reserved = lambda: [each["name"] for each in self.rota.ask("GET", "/v1/reservations")[1]["reservations"]]  # noqa: E731
        self.wait_until(lambda: reserved() == ["upkeep"], "the reservation is seen")
        why = lambda: next(node.get("reason", "") for node in self.rota.ask("GET", "/v1/nodes")[1]["nodes"]  # noqa: E731
                           if node["name"] == "n14")
        self.wait_until(lambda: "bad disk" in why(), "it is seen why the node is out of use")
        self.slurm.ask("scontrol", "delete", "ReservationName=upkeep")
        self.wait_until(lambda: reserved() == [], "it is seen no more")
        self.foretells_a_job_of_a_reservation(reserved)

    def foretells_a_job_of_a_reservation(self, reserved):
        begins = int(time.time()) + 3600
        self.slurm.ask("scontrol", "create", "reservation", "ReservationName=course", "Users=daemon",
                       time.strftime("StartTime=%Y-%m-%dT%H:%M:%S", time.localtime(begins)), "Duration=60", "Nodes=n[11-12]")
        job = self.of_course = self.batch("daemon", "-t1", "-n1", "--reservation=course")
        self.wait_until(lambda: reserved() == ["course"] and job in self.mirrored(), "both are seen")

        def forecast():
            return self.rota.ask("GET", f"/v1/forecast/{job}?futures=50")
        self.wait_until(lambda: forecast()[0] == 200 and forecast()[1]["jobs"], "the job is forecast")
        start = forecast()[1]["jobs"][0]["started_by"]
        self.assertGreaterEqual(start["50"], begins - 60, "not before its reservation")
        self.assertLess(start["50"], begins + 600, start)
        self.slurm.ask("scancel", job)
        self.wait_until(lambda: job not in self.queued(), "it is cancelled")
        self.slurm.ask("scontrol", "delete", "ReservationName=course")
        self.wait_until(lambda: reserved() == [], "the reservation is seen no more")

    def reports_the_week_and_what_it_costs(self):
        def said(*words):
            done = subprocess.run([ROTA, *words, "--socket", self.rota.socket], env=self.slurm.env, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout
        text = said("shadow", "--report", "--jobs", "--policy", "easy", "--state", self.rota.state)
        for part in ("BEGAN AFTER", "what really happened", "its own, rehearsed", "What is worth changing"):
            self.assertIn(part, text)
        bundle = os.path.join(self.folder, "bundle.txt")
        said("doctor", "--bundle", bundle)
        with open(bundle) as file:
            text = file.read()
        for part in ("Slurm's version", "SLURM_VERSION", "AccountingStorageHost", "REQUEST_JOB_INFO: ", '"readings"', "rota_readings_total"):
            self.assertIn(part, text)
        self.assertNotIn("munge.sock", text, "no secrets, nor where they are")

    def makes_its_report_once_in_each_period(self):
        report, mailed = (os.path.join(self.rota.folder, name) for name in ("week.txt", "mailed"))

        def begun_with(*lines, service=""):
            self.rota.kill()
            with open(os.path.join(self.rota.folder, "rota.toml"), "w") as file:
                file.write(service + SETTINGS + "\n".join(lines))
            self.rota.start()
        begun_with(f'report = "{report}"', 'report_every = "1h"')
        begun_with(f'report = "{report}"', 'report_every = "1s"')
        self.wait_until(lambda: os.path.exists(report), "a report that was due comes")
        with open(report) as file:
            text = file.read()
        for part in ("Beside Slurm, the last", "FORETOLD BY", "what really happened", "What is worth changing"):
            self.assertIn(part, text)
        begun_with(f'report = "{report}"', 'report_every = "1h"')
        os.remove(report)
        begun_with('report = "op@example.org"', 'report_every = "1s"', service="[service]\nmail_command = "
                   f"""'printf "%s %s\\n%s" "$ROTA_MAIL_TO" "$ROTA_MAIL_TYPE" "$ROTA_MAIL_BODY" > {mailed}.new && mv {mailed}.new {mailed}'\n""")
        self.wait_until(lambda: os.path.exists(mailed), "a report is mailed")
        with open(mailed) as file:
            text = file.read()
        self.assertIn("op@example.org REPORT\nBeside Slurm", text)
        self.assertFalse(os.path.exists(report), "the period was not over when the service began anew")

    def refuses(self, job):
        for action, command in (("cancel", "scancel"), ("release", "scontrol release"), ("hold", "scontrol hold")):
            status, answer = self.rota.act(action, job)
            self.assertIn(command, str(answer), (status, answer))
        status, answer = self.rota.ask("POST", "/v1/jobs", {"folder": "/", "command": ["true"]})
        self.assertIn("sbatch", str(answer), status)
        self.assertEqual(self.queued()[job][0], "PENDING")

    def tells_how_well_it_foretold(self):
        status, answer = self.rota.ask("GET", "/v1/shadow")
        self.assertEqual(status, 200, answer)
        self.assertGreater(answer["forecasts"]["starts"], 0, answer)
        done = subprocess.run([ROTA, "shadow", "--socket", self.rota.socket], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"Rota, all jobs +\d+ +\d+ %")

    def goes_on_without_slurmctld(self):
        at = next(at for at, (name, _) in enumerate(self.slurm.running) if name == "slurmctld")
        _, process = self.slurm.running.pop(at)
        process.terminate()
        process.wait(PATIENCE)
        self.wait_until(lambda: "has not been read" in str(self.rota.ask("GET", "/v1/status")[1]["warnings"]),
                        "the service says that Slurm does not answer")
        self.slurm.start_controller()
        job = self.batch("nobody", "-t1", run="sleep 1")
        self.wait_until(lambda: job in self.history(), "the service catches up")
        self.assertNotIn("has not been read", str(self.rota.ask("GET", "/v1/status")[1]["warnings"]))


if __name__ == "__main__":
    unittest.main()
