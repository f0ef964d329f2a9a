#!/usr/bin/env python3
"""The units of examples/systemd under a real systemd, on a computer of its own (computer.py). Started there by itself, with
--inside. Usage: systemd_test.py ROTA"""
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

import computer
import slurm_site

CONFIGURATION = "/etc/rota/rota.toml"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
UNITS = os.path.join(ROOT, "examples", "systemd")
PATIENCE = 360
INSIDE = "--inside"
ANN = 4321  # her number there
SLURM = ("slurmctld", "slurmd", "munged", "sbatch", "scontrol", "sprio")


def command(*words, code=0, **options):
    """What a command says, to both; fails where it ends otherwise than with `code` (None: however it ends)."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, **options)
    if code is not None and done.returncode != code:
        raise AssertionError(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}")
    return done.stdout


def wait_for(done, what):
    end = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}; {what_went_on()}")
        time.sleep(0.05)


def what_went_on():
    return command("journalctl", "--no-pager", "-n", "40", code=None)


class Installed(unittest.TestCase):
    """Rota as root's service, with the units as they lie in examples/systemd; nothing of it is left afterwards."""
    units = "system"
    configuration = 'name = "box"\n[[nodes]]\nnames = "n1"\nprocessors = 8\nmemory = "16G"\n'

    def setUp(self):
        self.addCleanup(self.leave_nothing)
        for unit in os.listdir(os.path.join(UNITS, self.units)):
            shutil.copy(os.path.join(UNITS, self.units, unit), "/etc/systemd/system")
        os.makedirs(os.path.dirname(CONFIGURATION), exist_ok=True)
        with open(CONFIGURATION, "w") as file:
            file.write(self.configuration)
        command("systemctl", "daemon-reload")
        os.chdir("/tmp")
        self.cursor = command("journalctl", "-n", "0", "--show-cursor").rsplit("cursor: ", 1)[1].strip()

    def leave_nothing(self):
        command("rota", "cancel", "all", code=None)
        command("systemctl", "stop", "rota.socket", "rota.service", "rota-jobs.service", code=None)
        command("systemctl", "kill", "--signal=KILL", "rota.service", "rota-jobs.service", code=None)
        command("systemctl", "reset-failed", code=None)
        shutil.rmtree("/var/lib/rota", ignore_errors=True)
        shutil.rmtree("/etc/systemd/system/rota.service.d", ignore_errors=True)

    def shown(self, name, unit="rota.service"):
        return command("systemctl", "show", "--value", "--property", name, unit).strip()

    def row(self, job):
        return json.loads(command("rota", "job", "--json", str(job)))

    def submit(self, *words):
        return command("rota", "submit", *words).split()[-1]

    def runs(self, job):
        wait_for(lambda: self.row(job)["state"] == "RUNNING", f"the start of job {job}")
        return self.row(job)

    def ends(self, job):
        wait_for(lambda: "end" in self.row(job), f"the end of job {job}")
        return self.row(job)

    def lines(self, *options):
        """What the service has written into the journal during this test: priority and text of each."""
        said = command("journalctl", "--no-pager", "-o", "json", "-t", "rota", "--after-cursor", self.cursor, *options)
        return [(entry["PRIORITY"], entry["MESSAGE"]) for entry in map(json.loads, said.splitlines())]


class Service(Installed):
    def test_it_is_started_once_it_answers_and_says_how_things_are(self):
        command("systemctl", "start", "rota")
        command("rota", "status")  # at once
        self.assertEqual(self.shown("StatusText"), "0 jobs running, 0 waiting, policy easy")
        self.runs(self.submit("--time", "1h", "--", "sleep", "1000"))
        self.submit("--hold", "--", "true")
        wait_for(lambda: self.shown("StatusText") == "1 job running, 1 waiting, policy easy", "another status")

    def test_jobs_go_on_while_it_is_stopped_and_started_again(self):
        command("systemctl", "start", "rota")
        limited = self.submit("--mem", "100M", "--", "sleep", "1000")
        short = self.submit("--", "sh", "-c", "while test ! -e /tmp/go-on; do sleep 0.1; done; echo done > /tmp/out; exit 7")
        self.runs(short)
        self.runs(limited)
        for change in ("restart", "stop"):
            command("systemctl", change, "rota")
        self.assertEqual(self.shown("ActiveState"), "inactive")
        with open("/tmp/go-on", "w"):
            pass
        wait_for(lambda: os.path.exists("/tmp/out"), "what the job writes while no service is there")
        command("systemctl", "start", "rota")
        self.assertEqual(self.row(limited)["state"], "RUNNING")
        self.assertEqual(self.ends(short)["exit_code"], 7)
        command("rota", "cancel", limited)
        self.assertEqual(self.ends(limited)["state"], "CANCELLED")

    def test_killed_it_comes_back_by_itself_and_finds_its_jobs(self):
        command("systemctl", "start", "rota")
        job = self.submit("--mem", "100M", "--", "sleep", "1000")
        self.runs(job)
        before = self.shown("MainPID")
        command("systemctl", "kill", "--signal=KILL", "--kill-who=main", "rota")
        wait_for(lambda: self.shown("MainPID") not in ("0", before) and self.shown("ActiveState") == "active",
                 "its being started again")
        self.assertEqual(self.row(job)["state"], "RUNNING")

    def test_memory_is_limited_and_the_service_goes_on(self):
        command("systemctl", "start", "rota")
        self.assertEqual([text for priority, text in self.lines() if "control group" in text], [])
        job = self.submit("--mem", "40M", "--", "python3", "-c", "x = b'1' * (200 << 20)")
        self.assertEqual(self.ends(job)["state"], "OUT_OF_MEMORY")
        for unit in ("rota.service", "rota-jobs.service"):
            self.assertEqual(self.shown("ActiveState", unit), "active")
        self.assertEqual(self.ends(self.submit("--mem", "40M", "--", "true"))["state"], "COMPLETED")

    def test_the_first_request_starts_it(self):
        command("systemctl", "start", "rota.socket")
        self.assertEqual(self.shown("ActiveState"), "inactive")
        command("rota", "status")
        self.assertEqual(self.shown("ActiveState"), "active")
        ended = self.ends(self.submit("--", "sh", "-c", "rota status"))  # a job finds the way back
        self.assertEqual(ended["state"], "COMPLETED")
        command("systemctl", "stop", "rota.service")
        command("rota", "status")  # which systemd still listens for
        self.assertEqual(self.shown("ActiveState"), "active")

    def test_one_that_hangs_is_ended_and_started_again(self):
        os.makedirs("/etc/systemd/system/rota.service.d")
        with open("/etc/systemd/system/rota.service.d/short.conf", "w") as file:
            file.write("[Service]\nWatchdogSec=10s\n")
        command("systemctl", "daemon-reload")
        command("systemctl", "start", "rota")
        job = self.submit("--", "sleep", "1000")
        self.runs(job)
        told = set()  # when it told systemd that it lives, which it does twice in the time that it has
        wait_for(lambda: told.add(self.shown("WatchdogTimestampMonotonic")) or len(told) > 3, "the watchdog to let a healthy one be")
        self.assertEqual(self.shown("NRestarts"), "0")
        command("systemctl", "kill", "--signal=STOP", "--kill-who=main", "rota")
        wait_for(lambda: self.shown("NRestarts") == "1" and self.shown("ActiveState") == "active", "its being started again")
        self.assertEqual(self.row(job)["state"], "RUNNING")

    def test_its_lines_stand_in_the_journal_with_their_priority(self):
        os.remove("/etc/systemd/system/rota-jobs.service")
        command("systemctl", "daemon-reload")
        command("systemctl", "start", "rota")
        said = self.lines()
        self.assertIn(("6", "rota: ready: 0 jobs running, 0 waiting, policy easy"), said)
        warnings = [(priority, text) for priority, text in said if "warning" in text]
        self.assertEqual({priority for priority, text in warnings}, {"4"})
        self.assertEqual(len([text for priority, text in warnings if "rota-jobs.service" in text]), 1)

    def test_why_it_cannot_be_started_is_said(self):
        os.remove(CONFIGURATION)
        command("systemctl", "start", "rota", code=1)
        wait_for(lambda: self.shown("ActiveState") == "failed", "its giving up")
        status = command("systemctl", "status", "--no-pager", "--lines=50", "rota", code=3)
        sentence = [text for priority, text in self.lines() if priority == "3"][0]
        self.assertIn(CONFIGURATION, sentence)
        self.assertIn(f'Status: "{sentence.removeprefix("rota: ")}"', status)


    def test_rota_stop_leaves_it_to_systemd(self):
        command("systemctl", "start", "rota.service")
        self.assertIn("is run by systemd; `systemctl stop rota", command("rota", "stop", code=1))
        command("systemctl", "stop", "rota.service")
        command("systemctl", "start", "rota.socket")
        self.assertIn("`systemctl stop rota.socket rota.service` stops it.", command("rota", "stop", code=1))


class AsPrinted(Installed):
    def test_the_lines_of_the_documentation_install_it(self):
        shutil.rmtree("/etc/rota")
        for unit in os.listdir(os.path.join(UNITS, "system")):
            os.remove(os.path.join("/etc/systemd/system", unit))
        with open(os.path.join(ROOT, "docs", "serve.md")) as file:
            block = file.read().split("## Under systemd")[1].split("```sh\n")[1].split("```")[0]
        self.assertIn("systemctl enable --now rota.socket rota.service", block)
        os.chdir(ROOT)
        said = command("bash", "-euo", "pipefail", "-c", block)
        self.assertIn("active (running)", said)
        self.addCleanup(command, "systemctl", "disable", "rota.socket", "rota.service")
        os.chdir("/tmp")
        self.assertEqual(command("rota", "submit", "--wait", "-t", "1m", "--", "true"), "Submitted job 1\n")


class OfOneUser(Installed):
    """As ann's own service, without root."""

    def ann(self, *words, **options):
        return command("setpriv", "--reuid", str(ANN), "--regid", str(ANN), "--clear-groups", "env", "-i", "HOME=/srv/ann",
                       "USER=ann", "PATH=/usr/local/bin:/usr/bin:/bin", f"XDG_RUNTIME_DIR=/run/user/{ANN}", *words, **options)

    def setUp(self):
        super().setUp()
        os.chdir("/srv/ann")
        command("loginctl", "enable-linger", "ann")
        wait_for(lambda: os.path.exists(f"/run/user/{ANN}/systemd/private"), "ann's systemd")
        self.ann("mkdir", "-p", "/srv/ann/.config/systemd/user")
        for unit in os.listdir(os.path.join(UNITS, "user")):
            self.ann("cp", os.path.join(UNITS, "user", unit), "/srv/ann/.config/systemd/user")
        self.ann("systemctl", "--user", "daemon-reload")

    def test_a_users_own_service_limits_memory_and_keeps_jobs(self):
        self.ann("systemctl", "--user", "enable", "--now", "rota.socket")
        self.ann("rota", "status")
        job = self.ann("rota", "submit", "--mem", "100M", "--", "sleep", "1000").split()[-1]
        row = lambda of: json.loads(self.ann("rota", "job", "--json", of))  # noqa: E731
        wait_for(lambda: row(job)["state"] == "RUNNING", "its start")
        self.ann("systemctl", "--user", "restart", "rota")
        self.assertEqual(row(job)["state"], "RUNNING")
        self.ann("rota", "cancel", job)  # there is one processor
        greedy = self.ann("rota", "submit", "--mem", "40M", "--", "python3", "-c", "x = b'1' * (200 << 20)").split()[-1]
        wait_for(lambda: "end" in row(greedy), "its end")
        self.assertEqual(row(greedy)["state"], "OUT_OF_MEMORY")
        self.ann("systemctl", "--user", "stop", "rota.socket", "rota")


class SlurmOfRota(slurm_site.SlurmSite):
    """A slurmctld and a slurmd without accounting: the user rota is its SlurmUser, and no operator in a slurmdbd."""
    gpu_nodes = gpus = ()
    partitions = ("PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP",)

    def write_files(self):
        super().write_files()
        with open(self.at("slurm.conf")) as file:
            lines = [line for line in file.read().splitlines() if not line.startswith(("Accounting", "SlurmUser", "Preempt"))]
        self.write("slurm.conf", "\n".join((*lines, "AccountingStorageType=accounting_storage/none", "SlurmUser=rota")) + "\n")
        for name in ("state", "log"):
            shutil.chown(self.at(name), "rota", "rota")

    def start(self):
        self.write_files()
        self.start_munge()
        self.start_controller()
        self.start_nodes()

    def start_controller(self):
        self.begin("slurmctld", "setpriv", "--reuid=rota", "--regid=rota", "--clear-groups", "slurmctld", "-D", "-f",
                   self.at("slurm.conf"))
        self.wait_for(lambda: self.answers("scontrol", "ping"), "slurmctld")


class BesideSlurm(Installed):
    """The units of examples/systemd/slurm, with a Slurm that runs there."""
    units = "slurm"

    def setUp(self):
        with open("/etc/hosts", "w") as hosts, open("/etc/passwd", "a") as users, open("/etc/group", "a") as groups:
            hosts.write("127.0.0.1 localhost computer\n")
            users.write("rota:x:4322:4322::/:/bin/sh\n")
            groups.write("rota:x:4322:\n")
        with socket.socket() as it:  # to getaddrinfo(3) a computer with 127.0.0.1 alone has no IPv4
            another = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("192.0.2.1"))
            fcntl.ioctl(it, 0x8916, another)  # SIOCSIFADDR
        os.makedirs("/srv/slurm")
        os.symlink("/srv/slurm", "/etc/slurm")
        self.slurm = SlurmOfRota("/srv/slurm", ("n1",))
        self.addCleanup(self.slurm.stop)
        self.slurm.start()
        super().setUp()

    def factors(self):
        return [int(word) for word in self.slurm.ask("sprio", "-h", "-o", "%S").split()]

    def test_what_an_ended_service_has_written_is_taken_back_by_the_timer(self):
        units = sorted(os.listdir(os.path.join(UNITS, "slurm")))
        self.assertEqual(command("systemd-analyze", "verify", "--man=no", *(f"/etc/systemd/system/{unit}" for unit in units)), "")
        with open(os.path.join(ROOT, "docs", "slurm-site.md")) as file:
            block = file.read().split("### From observe to order")[1].split("```sh\n")[1].split("```")[0].splitlines()
        enable = next(line for line in block if line.startswith("systemctl"))
        command(*enable.split())
        self.assertEqual(self.shown("User"), "rota")
        for limit in (50, 40, 30, 20):
            self.slurm.ask("sbatch", "-o", "/dev/null", "-n4", f"-t{limit}", "--wrap", "sleep 3000")
        act = next(line for line in block if " act " in line)
        for seconds in (40, 80, 160, 320):  # on a busy computer it may be over before anything is written
            until = int(time.time()) + seconds
            command(*act.replace("friday", f"@{until}").split())
            wait_for(lambda: any(self.factors()) or time.time() > until, "an order of Rota's")
            if any(self.factors()):
                break
        command("systemctl", "stop", "rota")
        wait_for(lambda: len(self.factors()) == 3 and not any(self.factors()), "what the timer has done")
        self.assertEqual(self.shown("Result", "rota-undo.service"), "success")
        self.assertEqual(self.shown("ActiveState", "rota-undo.timer"), "active")
        actions = command("rota", "actions", "--since", "1h")
        self.assertRegex(actions, r"(?m)^\S+ +write +order +main ")
        self.assertRegex(actions, r"(?m)^\S+ +undone +order +main ")
        self.assertEqual({os.stat(path).st_uid for path in ("/var/lib/rota", *map(lambda at: f"/var/lib/rota/mandates/{at}",
                                                            os.listdir("/var/lib/rota/mandates")))}, {4322})
        command("systemctl", "start", "rota")
        self.assertRegex(command("rota", "mode"), r"(?m)^order +main +observe ")


class GoesDown(Installed):
    """The computer goes down in good order under jobs that run: under the service, and under one in a unit in which systemd
    ends jobs, supervisors and service alike."""
    PLAIN = "/tmp/plain"
    JOBS = {"again": ["--requeue"], "once": ["--no-requeue"], "obeys": []}
    # One more in that unit ends by SIGTERM before its supervisor is told to end: systemd stops this unit first.
    EARLY = """[Unit]
After=plain.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=/bin/sh -c 'kill $$(cat /tmp/early.pid); until rota job --json {early} | grep -q \'"end"\'; do sleep 0.1; done'
Environment=ROTA_SOCKET={socket}
"""

    def plain(self, *words):
        return command("env", f"ROTA_SOCKET={self.PLAIN}.socket", "rota", *words)

    def leave_nothing(self):
        pass

    def begin(self):
        """Both services on states that outlive this computer, which go on with what an earlier one had."""
        for of, at in (("service", "/var/lib/rota"), ("plain", self.PLAIN)):
            os.makedirs(f"{KEPT}/{of}", exist_ok=True)
            os.symlink(f"{KEPT}/{of}", at)
        command("systemctl", "start", "rota")
        command("systemd-run", "--unit=plain", "--collect", "rota", "serve", "--state", self.PLAIN, "--config", CONFIGURATION,
                "--socket", f"{self.PLAIN}.socket")
        wait_for(lambda: os.path.exists(f"{self.PLAIN}.socket"), "the service in a unit of its own")

    def test_first(self):
        self.begin()
        trap = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
        for ask in (lambda *words: command("rota", *words), self.plain):
            for name, options in self.JOBS.items():
                script = trap if name == "obeys" else "exec sleep 1000"
                ask("submit", "--name", name, "--folder", "/tmp", "--time", "1h", *options, "--", "sh", "-c", script)
            wait_for(lambda: json.loads(ask("status", "--json"))["running"] == len(self.JOBS), "the start of all jobs")
        early = self.plain("submit", "--folder", "/tmp", "--time", "1h", "--no-requeue", "--", "sh", "-c",
                           "echo $$ > early.new; mv early.new early.pid; exec sleep 1000").split()[-1]
        wait_for(lambda: os.path.exists("/tmp/early.pid"), "the start of one more")
        with open("/etc/systemd/system/early.service", "w") as file:
            file.write(self.EARLY.format(early=early, socket=f"{self.PLAIN}.socket"))
        command("systemctl", "daemon-reload")
        command("systemctl", "start", "early")
        with open(f"{KEPT}/ran", "w"):
            pass
        command("systemctl", "poweroff", "--no-block")
        signal.pause()  # until systemd ends this, too

    def test_then(self):
        self.begin()
        for ask in (lambda *words: command("rota", *words), self.plain):
            jobs = [str(number + 1) for number in range(len(self.JOBS))]
            wait_for(lambda: "CONFIGURING" not in [json.loads(ask("job", "--json", job))["state"] for job in jobs], "the starts")
            rows = [json.loads(ask("job", "--json", job)) for job in jobs]
            told = {row["name"]: (row["state"], row.get("restarts", 0)) for row in rows}
            self.assertEqual(told, {"again": ("RUNNING", 1), "once": ("NODE_FAIL", 0), "obeys": ("COMPLETED", 0)})
        self.assertEqual(json.loads(self.plain("job", "--json", str(len(self.JOBS) + 1)))["state"], "NODE_FAIL")


class OnAComputerOfItsOwn(computer.ComputerCase):
    """Runs tests above there, and takes their outcomes."""
    script = os.path.abspath(__file__)

    def test_the_units(self):
        self.passes(*(sys.argv[1:] or ["Service", "AsPrinted", "OfOneUser"]))

    @unittest.skipUnless(all(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in SLURM), "Slurm is not installed")
    def test_the_units_beside_slurm(self):
        self.passes("BesideSlurm")

    def test_jobs_under_which_the_computer_goes_down_are_lost_with_it(self):
        console = self.starts("GoesDown.test_first", orderly=True)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "kept", "ran")), console[-3000:])
        self.passes("GoesDown.test_then")


if __name__ == "__main__":
    ROTA = os.path.abspath(sys.argv.pop(1))
    if computer.INSIDE in sys.argv:
        sys.argv.remove(computer.INSIDE)
        KEPT = os.path.join(os.path.dirname(ROTA), "kept")
        computer.run_tests(sys.modules[__name__], sys.argv[1:], ROTA)  # inside, the first word is where outcomes go
        sys.exit(0)
    if lack := computer.lacks():
        print(f"skipped: a computer of its own with systemd: {lack}")
        sys.exit(77)
    computer.ComputerCase.rota = ROTA
    unittest.main(argv=sys.argv[:1], defaultTest="OnAComputerOfItsOwn")
