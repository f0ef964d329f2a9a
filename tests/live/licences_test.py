#!/usr/bin/env python3
"""Licences that a server of the site counts, which others use too. Usage: licences_test.py ROTA"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from service import Service, ServiceCase

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


class LicenceServer:
    """Sends each client that connects the text, and closes."""

    def __init__(self, text):
        self.text, self.asked = text, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.sendall(self.text.encode())
            self.asked += 1

    def close(self):
        self.listener.close()


class Licences(ServiceCase):
    def setUp(self):
        self.server = LicenceServer("solver 4 0 0\n")
        self.addCleanup(self.server.close)
        self.__class__.configuration = f"""name = "four"
licences = "solver:4"
[[nodes]]
names = "n1"
processors = 8
[service]
licence_command = "exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{self.server.port} && cat <&3'"
licence_interval = "50ms"
licence_timeout = "10s"
"""
        super().setUp()

    def licences(self):
        return self.service.ask("GET", "/v1/licences")[1]

    def says(self, text):
        """Until the service has asked again, and heard it."""
        self.server.text = text
        asked = self.server.asked
        self.service.wait_for(lambda: self.server.asked >= asked + 3, "the licence server to be asked again")

    def test_what_others_use_is_not_free_for_jobs(self):
        service = self.service
        self.says("solver 4 3 0\n")
        self.assertEqual(self.licences()["licences"], [{"name": "solver", "count": 4, "used": 0, "elsewhere": 3}])
        first = service.submit("until [ -e go ]; do sleep 0.02; done", licence="solver", licences=1)
        service.wait_for(lambda: service.job(first)["state"] == "RUNNING", "a job with the last one")
        second = service.submit("echo ran > ran", licence="solver", licences=2)
        row = service.job(second)
        user = row["user"]
        self.assertEqual((row["reason"], row["why"]),
                         ("Licenses", "It needs 2 of the licence solver, of which 0 are free: "
                                      f"job {first} of {user} holds 1, 3 are used elsewhere."))
        self.says("solver 4 3 1\n")  # one of them is the job's
        self.assertEqual(self.licences()["licences"], [{"name": "solver", "count": 4, "used": 1, "elsewhere": 2}])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "ran")))
        self.says("solver 4 1 1\n")
        self.assertEqual(service.ends(second)["state"], "COMPLETED")
        self.says("solver 3 3 1\n")  # one is gone from the server
        self.assertEqual(self.licences()["licences"][0]["elsewhere"], 3)
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        service.all_end()
        service.stop()
        database = os.path.join(service.state, "rota.db")
        checked = subprocess.run([self.rota, "replay", "--check", database], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        facts = subprocess.run([self.rota, "replay", "--facts", "-", database], capture_output=True, text=True).stdout
        counted = [json.loads(line) for line in facts.splitlines() if "licences_counted" in line]
        self.assertEqual([fact.get("elsewhere", 0) for fact in counted], [3, 2, 0, 3])
        service.start()

    def test_what_a_stopped_job_has_checked_out_does_not_keep_it_from_going_on(self):
        service = self.service
        self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": "easy+preempt=suspend"})[0], 200)
        self.says("solver 4 0\n")
        low = service.submit("until [ -e go-low ]; do sleep 0.02; done", licence="solver", licences=3, limit=600)
        service.wait_for(lambda: service.job(low)["state"] == "RUNNING", "the low job")
        self.says("solver 4 3\n")
        high = service.submit("until [ -e go-high ]; do sleep 0.02; done", processors=8, limit=600, priority=5)
        service.wait_for(lambda: service.job(high)["state"] == "RUNNING", "the high job")
        self.assertRegex(service.ask("GET", f"/v1/jobs/{low}/explain")[1]["facts"][0],
                         "^It was stopped to give way after [0-9:]+ of run time, and goes on where it was")
        self.says("solver 4 3\n")  # the server does not know that it stands still
        for name, job in (("high", high), ("low", low)):
            with open(os.path.join(self.folder, f"go-{name}"), "w"):
                pass
            self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(service.decides_the_same_again(), "")

    def test_a_count_stands_when_the_server_fails(self):
        service = self.service
        self.says("solver 4 2 0\n")
        self.says("nothing of use\n")
        self.assertEqual(self.licences()["licences"][0]["elsewhere"], 2)
        self.assertEqual(self.licences()["failure"], "it says nothing of the licence solver")
        service.wait_for(lambda: service.ask("GET", "/v1/status")[1]["warnings"], "a warning")
        warning = service.ask("GET", "/v1/status")[1]["warnings"][-1]
        self.assertRegex(warning, r"^the licence command has failed \d+ times in a row, and its last good count stands: "
                                  r"it says nothing of the licence solver\.$")
        env = {"PATH": "/usr/bin:/bin", "ROTA_SOCKET": service.socket}
        doctor = subprocess.run([self.rota, "doctor"], env=env, capture_output=True, text=True)
        self.assertRegex(doctor.stdout, "WARN +warning +.*the licence command has failed")
        self.server.close()  # no server answers at all
        service.wait_for(lambda: "ended with 1" in self.licences().get("failure", ""), "the failure to be told")
        listed = subprocess.run([self.rota, "licences"], env=env, capture_output=True, text=True)
        self.assertEqual(listed.stdout.splitlines()[1].split(), ["solver", "4", "0", "2", "2"])
        self.assertIn("the licence command's last answer was none", listed.stderr)

    def test_it_outlives_a_restart(self):
        self.says("solver 4 3 0\n")
        self.service.stop()
        self.server.close()
        self.service.start()
        self.assertEqual(self.licences()["licences"][0]["elsewhere"], 3)

    def test_without_the_command_nothing_is_withheld_any_more(self):
        self.says("solver 4 3 0\n")
        self.service.stop()
        path = self.service.arguments[self.service.arguments.index("--config") + 1]
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.split("[service]")[0])
        self.service.start()
        self.assertEqual(self.licences()["licences"][0]["elsewhere"], 0)


class SeveralKinds(ServiceCase):
    configuration = ('name = "four"\nlicences = "solver:2,mesher:1,viewer:1"\n[[nodes]]\nnames = "n[1-2]"\nprocessors = 4\n')
    # Each licence is a folder that only as many jobs can make as there are of it: a second mesher would fail here.
    HOLDER = """mkdir mesher || exit 7
until [ -e go-$ROTA_JOB_ID ]; do sleep 0.02; done
rmdir mesher
"""

    def rota_says(self, *arguments):
        env = {"PATH": "/usr/bin:/bin", "ROTA_SOCKET": self.service.socket}
        done = subprocess.run([self.rota, *arguments], env=env, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def submitted(self, text, *arguments):
        path = os.path.join(self.folder, "job.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        return json.loads(self.rota_says("submit", "--json", *arguments, path))["id"]

    def lets_go(self, job):
        with open(os.path.join(self.folder, f"go-{job}"), "w", encoding="utf-8"):
            pass

    def used(self):
        return {row["name"]: row["used"] for row in self.service.ask("GET", "/v1/licences")[1]["licences"]}

    def test_a_job_holds_licences_of_every_kind_that_it_asks_for(self):
        service = self.service
        first = self.submitted("#SBATCH -L mesher,solver:1\n" + self.HOLDER)
        service.wait_for(lambda: service.job(first)["state"] == "RUNNING", "the first job")
        self.assertEqual(self.used(), {"solver": 1, "mesher": 1, "viewer": 0})
        row = service.job(first)
        self.assertEqual((row["licence"], row["licences"], row["more_licences"]), ("solver", 1, ["mesher:1"]))
        third = self.submitted(self.HOLDER.replace("mesher", "alone"), "--licenses=solver,viewer")
        service.wait_for(lambda: service.job(third)["state"] == "RUNNING", "one who lacks nothing")
        second = self.submitted("#ROTA --licences solver:2,mesher\n" + self.HOLDER)
        self.assertEqual(self.used(), {"solver": 2, "mesher": 1, "viewer": 1})
        waits = service.job(second)
        user = waits["user"]
        self.assertEqual((waits["state"], waits["reason"]), ("PENDING", "Licenses"))
        self.assertEqual(waits["why"], f"It needs 2 of the licence solver, of which 0 are free: job {first} of {user} holds 1, "
                                       f"job {third} of {user} holds 1. It needs 1 of the licence mesher, of which 0 are free: "
                                       f"job {first} of {user} holds 1.")
        self.assertIn("licence mesher", self.rota_says("explain", second))
        self.assertEqual(self.rota_says("queue", "--noheader", "-o", "%i %W", "-t", "PD").split(),
                         [second, "solver:2,mesher:1"])
        self.lets_go(third)
        service.ends(third)
        self.assertEqual(service.job(second)["why"], f"It needs 2 of the licence solver, of which 1 is free: job {first} of "
                         f"{user} holds 1. It needs 1 of the licence mesher, of which 0 are free: job {first} of {user} holds 1.")
        self.lets_go(first)
        self.assertEqual(service.ends(first)["state"], "COMPLETED")
        service.wait_for(lambda: service.job(second)["state"] == "RUNNING", "the second job")
        self.assertEqual(self.used(), {"solver": 2, "mesher": 1, "viewer": 0})
        service.stop()
        service.start()  # and what it holds is known again
        self.assertEqual(self.used(), {"solver": 2, "mesher": 1, "viewer": 0})
        self.lets_go(second)
        self.assertEqual(service.ends(second)["state"], "COMPLETED")
        self.assertEqual(self.used(), {"solver": 0, "mesher": 0, "viewer": 0})
        ended = service.job(second)
        self.assertEqual((ended["licence"], ended["licences"], ended["more_licences"]), ("solver", 2, ["mesher:1"]))
        service.stop()
        database = os.path.join(service.state, "rota.db")
        checked = subprocess.run([self.rota, "replay", "--check", database], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        again = subprocess.run([self.rota, "simulate", database, "--policy", "recorded,fcfs", "--json"], capture_output=True,
                               text=True)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual([row["jobs"] for row in json.loads(again.stdout)["rehearsals"]], [3, 3])
        service.start()

    def test_a_job_that_waits_is_given_others(self):
        service = self.service
        first = self.submitted(self.HOLDER, "--licences", "solver:2,mesher")
        service.wait_for(lambda: service.job(first)["state"] == "RUNNING", "the first job")
        second = self.submitted(self.HOLDER.replace("mesher", "second"), "-L", "solver")
        third = self.submitted(self.HOLDER.replace("mesher", "third"), "-L", "mesher")
        self.rota_says("update", second, "--licences", "viewer,mesher")
        row = service.job(second)
        self.assertEqual((row["licence"], row["licences"], row["more_licences"], row["reason"]),
                         ("mesher", 1, ["viewer:1"], "Licenses"))
        service.kill()
        service.start()
        self.assertEqual(service.job(second)["more_licences"], ["viewer:1"])
        self.rota_says("update", second, "-L", "viewer")
        service.wait_for(lambda: service.job(second)["state"] == "RUNNING", "the second job")
        self.assertEqual(self.used(), {"solver": 2, "mesher": 1, "viewer": 1})
        self.rota_says("update", third, "-L", "none", "--limit", "10m")
        service.wait_for(lambda: service.job(third)["state"] == "RUNNING", "the third job")
        self.assertEqual((service.job(third).get("licence"), service.job(third)["limit"]), (None, 600))
        self.assertEqual(self.used(), {"solver": 2, "mesher": 1, "viewer": 1})
        waits = self.submitted("true\n", "-L", "mesher")
        for said, body in (("there is no licence", {"licence": "abaqus"}),
                           ("asks for 3 licences of solver", {"licence": "solver", "licences": 3}),
                           ("asked for twice", {"licence": "solver", "more_licences": ["solver"]}),
                           ("name that, too", {"licences": 2}),
                           ("no partition", {"licence": "", "partition": "odd"})):
            status, answer = service.act("update", waits, **body)
            self.assertEqual(status, 207, answer)
            self.assertIn(said, answer["jobs"][0]["detail"])
            self.assertEqual((service.job(waits)["licence"], service.job(waits)["licences"]), ("mesher", 1))
        status, answer = service.act("update", first, licence="solver")
        self.assertIn("of what it was started on only its time limit can be changed", answer["jobs"][0]["detail"])
        for job in (first, second, third):
            self.lets_go(job)
        service.all_end()
        self.assertEqual(self.used(), {"solver": 0, "mesher": 0, "viewer": 0})
        self.assertEqual(service.decides_the_same_again(), "")
        told = subprocess.run([self.rota, "simulate", os.path.join(service.state, "rota.db"), "--policy", "recorded,fcfs", "--json"],
                              capture_output=True, text=True)
        self.assertEqual(told.returncode, 0, told.stderr)  # with what they held

    def test_what_cannot_be_is_refused(self):
        path = os.path.join(self.folder, "job.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ntrue\n")
        env = {"PATH": "/usr/bin:/bin", "ROTA_SOCKET": self.service.socket}
        for asked, why in [("solver,abaqus", 'there is no licence "abaqus"'), ("solver,mesher:2", "asks for 2 licences of mesher"),
                           ("solver,solver:2", "is there twice"), ("solver,", "licences are names"),
                           ("solver|mesher", 'there is no licence "solver|mesher"')]:
            done = subprocess.run([self.rota, "submit", "-L", asked, path], env=env, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(why, done.stderr)


class Patience(ServiceCase):
    configuration = ('name = "four"\nlicences = "solver:4"\n[[nodes]]\nnames = "n1"\nprocessors = 4\n[service]\n'
                     'licence_command = "echo solver 4 1; exec sleep 1000"\nlicence_timeout = "100ms"\n'
                     'licence_interval = "1h"\n')

    def test_a_command_that_hangs_is_killed(self):
        service = self.service
        service.wait_for(lambda: "failure" in service.ask("GET", "/v1/licences")[1], "the failure to be told")
        self.assertEqual(service.ask("GET", "/v1/licences")[1],
                         {"licences": [{"name": "solver", "count": 4, "used": 0, "elsewhere": 0}], "failures": 1,
                          "failure": "did not end in time and was killed"})


class Configurations(unittest.TestCase):
    def test_a_command_without_licences_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            service = Service(ServiceCase.rota, folder, 'name = "x"\nprocessors = 2\n[service]\nlicence_command = "true"\n')
            with self.assertRaisesRegex(AssertionError, "licence_command.*counts licences, and this cluster has none"):
                service.start()


class Flexlm(unittest.TestCase):
    SAID = """lmutil - Copyright (c) 1989-2026
License server status: 27000@licences
Users of matlab:  (Total of 4 licenses issued;  Total of 3 licenses in use)

  "matlab" v49, vendor: MLM
  floating license

    ann {host} /dev/tty (v48) (licences/27000 101), start Mon 11/30 10:00, 2 licenses
    bob far.example.org :0 (v48) (licences/27000 202), start Mon 11/30 10:05

Users of fluent:  (Total of 12 licenses issued;  Total of 0 licenses in use)
Users of one:  (Total of 1 license issued;  Total of 1 license in use)
    ann {host}.example.org /dev/tty (v48) (licences/27000 303), start Mon 11/30 11:00
"""

    def test_the_example_reads_lmstat(self):
        host = subprocess.run(["hostname", "-s"], capture_output=True, text=True, check=True).stdout.strip()
        with tempfile.TemporaryDirectory() as folder:
            lmutil = os.path.join(folder, "lmutil")
            with open(lmutil, "w") as file:
                file.write("#!/bin/sh\n[ $1 = lmstat ] && [ $2 = -a ] && cat <<'END'\n" + self.SAID.format(host=host) + "END\n")
            os.chmod(lmutil, 0o755)
            done = subprocess.run([os.path.join(ROOT, "examples", "licences-from-lmstat.sh")], capture_output=True, text=True,
                                  env={"PATH": f"{folder}:/usr/bin:/bin"})
        self.assertEqual(done.stdout, "matlab 4 3 2\nfluent 12 0 0\none 1 1 1\n", done.stderr)


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
