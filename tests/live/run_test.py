#!/usr/bin/env python3
"""rota run: a job at a terminal or at pipes, as the processes at both ends of it see it. Usage: run_test.py ROTA"""
import fcntl
import glob
import hashlib
import os
import pty
import random
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import unittest

from service import PATIENCE, ServiceCase

MACHINE = """name = "small"
[[nodes]]
names = "n1"
processors = 4
"""


class AtTerminal:
    """A `rota run` whose three files are a terminal of its own."""

    def __init__(self, test, *words, rows=24, columns=80):
        self.test, self.text = test, b""
        self.here, there = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(there)
        self.there = there
        self.process = subprocess.Popen([test.rota, "run", *words], stdin=there, stdout=there, stderr=there,
                                        cwd=test.folder, env=test.env(), start_new_session=True)
        test.addCleanup(test.leave, self.process)

    def resize(self, rows, columns):
        fcntl.ioctl(self.here, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, wanted):
        """Reads until that has come, and forgets it and what came before."""
        end = time.monotonic() + PATIENCE
        while wanted not in self.text:
            if not select.select([self.here], [], [], end - time.monotonic())[0]:
                raise AssertionError(f"waited in vain for {wanted}; there is {self.text}")
            self.text += os.read(self.here, 65536)
        before, _, self.text = self.text.partition(wanted)
        return before

    def type(self, keys):
        os.write(self.here, keys)

    def ends(self):
        """The exit code, and what else was shown. The terminal is as it was."""
        code = self.process.wait(PATIENCE)
        self.test.assertEqual(termios.tcgetattr(self.there), self.before, "the terminal was not given back as it was")
        os.close(self.there)
        while select.select([self.here], [], [], 0)[0]:
            try:
                self.text += os.read(self.here, 65536)
            except OSError:
                break
        os.close(self.here)
        return code, self.text.decode()


class Runs(ServiceCase):
    configuration = MACHINE

    def env(self):
        return {"PATH": "/usr/bin:/bin", "ROTA_SOCKET": self.service.socket, "HOME": self.folder}

    def start(self, *words, **files):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **files}
        process = subprocess.Popen([self.rota, "run", *words], cwd=self.folder, env=self.env(), **pipes)
        self.addCleanup(self.leave, process)
        return process

    @staticmethod
    def leave(process):
        process.kill()
        process.wait()
        for file in (process.stdin, process.stdout, process.stderr):
            if file:
                file.close()

    def run_of(self, *words, typed=b""):
        process = self.start(*words, stdin=subprocess.PIPE)
        out, err = process.communicate(typed, PATIENCE)
        return process.returncode, out, err.decode()

    # ---- pipes

    def test_input_output_and_errors_are_kept_apart(self):
        self.assertEqual(self.run_of("--", "cat", typed=b"x\n"), (0, b"x\n", ""))
        self.assertEqual(self.run_of("--", "sh", "-c", "echo out; echo err >&2; exit 7"), (7, b"out\n", "err\n"))
        code, out, err = self.run_of("sh", "-c", "kill -9 $$")
        self.assertEqual((code, out), (128 + 9, b""))
        self.assertRegex(err, r"^rota: job \d+ was ended by signal 9 \(SIGKILL\)\.\n$")
        self.assertEqual(self.service.live(), [])

    def test_much_goes_through_unchanged(self):
        data = random.Random(7).randbytes(5_000_000)
        code, out, err = self.run_of("--", "cat", typed=data)
        self.assertEqual((code, err, hashlib.sha256(out).digest()), (0, "", hashlib.sha256(data).digest()))

    def test_files_are_used_where_they_are_asked_for(self):
        with open(os.path.join(self.folder, "in"), "w") as file:
            file.write("from a file\n")
        self.assertEqual(self.run_of("-i", "in", "-o", "all", "--", "sh", "-c", "cat; echo err >&2"), (0, b"", ""))
        self.assertEqual(self.service.read("all"), "from a file\nerr\n")
        self.assertEqual(self.run_of("-e", "errors", "sh", "-c", "cat; echo err >&2", typed=b"in\n"), (0, b"in\n", ""))
        self.assertEqual(self.service.read("errors"), "err\n")
        status, answer = self.service.ask("GET", "/v1/jobs/last/output")
        self.assertEqual((status, answer["detail"]),
                         (404, "job 2 writes to the terminal of who runs it, and to no file."))

    def test_an_output_that_is_not_read_ends_the_job(self):
        process = self.start("--", "sh", "-c", "yes; echo $? > code")
        self.assertEqual(process.stdout.readline(), b"y\n")
        process.stdout.close()
        self.assertEqual(self.service.written("code"), f"{128 + 13}\n")
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_signals_are_passed_on(self):
        process = self.start("--", "sh", "-c", "trap 'echo usr1; exit 5' USR1; echo on; while :; do sleep 0.05; done")
        self.assertEqual(process.stdout.readline(), b"on\n")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual((process.communicate(timeout=PATIENCE)[0], process.returncode), (b"usr1\n", 5))
        process = self.start("--", "sh", "-c", "echo on; exec sleep 1000")
        self.assertEqual(process.stdout.readline(), b"on\n")
        process.terminate()
        self.assertIn(b"was ended by signal 15", process.communicate(timeout=PATIENCE)[1])
        self.assertEqual(process.returncode, 128 + 15)

    def test_a_second_interrupt_cancels(self):
        process = self.start("--", "sh", "-c", "trap 'echo int' INT; echo on; while :; do sleep 0.05; done")
        self.assertEqual(process.stdout.readline(), b"on\n")
        lines = []
        while not lines or b"cancelling" not in lines[-1]:  # a machine that is slow takes more than two
            process.send_signal(signal.SIGINT)
            lines.append(process.stderr.readline())
        self.assertGreaterEqual(len(lines), 2)
        for line in lines[:-1]:
            self.assertIn(b"once more within a second cancels it", line)
        said = process.communicate(timeout=PATIENCE)[1].decode()
        self.assertIn("was cancelled", said)
        self.assertEqual(process.returncode, 128 + 15, self.service.job("last"))

    # ---- a terminal

    def test_a_terminal_has_its_size_and_keys(self):
        run = AtTerminal(self, "--", "sh", "-c", "test -t 0 && test -t 1 && test -t 2 && tty; stty size; "
                         "trap 'stty size; echo resized' WINCH; trap 'echo caught' INT; echo ready; "
                         "while read x; do echo got $x; done; while read x; do echo then $x; done; exit 3", rows=30, columns=100)
        before = run.until(b"ready\r\n")
        self.assertRegex(before.decode(), r"^/dev/pts/\d+\r\n30 100\r\n$")
        self.assertNotIn(os.ttyname(run.there).encode() + b"\r\n", before, "the job has a terminal of its own")
        run.type(b"hello\r")
        run.until(b"got hello\r\n")
        run.resize(10, 50)
        run.process.send_signal(signal.SIGWINCH)
        run.type(b"\r")
        self.assertIn(b"10 50\r\n", run.until(b"resized\r\n"))
        run.type(b"\x03\r")
        run.until(b"caught\r\n")
        run.type(b"\x04\x04\x04")
        self.assertEqual(run.ends()[0], 3)

    def test_tilde_and_dot_cancel(self):
        run = AtTerminal(self, "--", "sh", "-c", "stty -echo; echo ready; while :; do sleep 0.05; done")
        run.until(b"ready\r\n")
        run.type(b"~?")
        run.until(b"~. cancels job")
        run.type(b"~.")
        run.until(b"rota: cancelling job")
        code, said = run.ends()
        self.assertEqual(code, 128 + 15)
        self.assertIn("was cancelled", said)
        self.assertEqual(self.service.job("last")["state"], "CANCELLED")

    def test_a_closed_terminal_ends_the_job(self):
        run = AtTerminal(self, "--", "sh", "-c", "trap 'echo hup > hup; exit' HUP; echo ready; while :; do sleep 0.05; done")
        run.until(b"ready\r\n")
        run.process.kill()
        run.process.wait()
        self.assertEqual(self.service.written("hup"), "hup\n")
        row = self.service.ends("last")
        self.assertEqual((row["state"], row["message"]), ("CANCELLED", "Who waited at its terminal is gone."))
        os.close(run.here)
        os.close(run.there)

    # ---- what else happens to it

    def test_it_says_why_it_waits_and_how_it_ends(self):
        process = self.start("--hold", "--", "echo", "late")
        self.assertRegex(process.stderr.readline().decode(), r"^rota: job \d+ waits: Its user holds it")
        self.service.act("release", "last")
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((out, process.returncode), (b"late\n", 0))
        self.assertRegex(err.decode(), r"rota: job \d+ has started\.\n$")
        # it takes a while to end: of two things that happen at once only the later one is told
        slow = "trap 'until [ -e told ]; do sleep 0.02; done; trap - TERM; kill $$' TERM; echo on; while :; do sleep 0.02; done"
        process = self.start("-t", "1h", "--kill-wait", "1h", "--", "sh", "-c", slow)
        self.assertEqual(process.stdout.readline(), b"on\n")
        self.service.near_limit(self.service.runs(self.service.live()[0]["id"]))
        self.assertRegex(process.stderr.readline().decode(), r"has reached its time limit and is being ended\.\n$")
        open(os.path.join(self.folder, "told"), "w").close()
        self.assertRegex(process.communicate(timeout=PATIENCE)[1].decode(), r"rota: job \d+ was ended at its time limit of [\d:]+\.")
        self.assertEqual(process.returncode, 128 + 15)
        process = self.start("--", "sh", "-c", "echo on; exec sleep 1000")
        self.assertEqual(process.stdout.readline(), b"on\n")
        self.service.act("cancel", "last")
        self.assertRegex(process.communicate(timeout=PATIENCE)[1].decode(), r"rota: job \d+ was cancelled\.\n$")
        code, _, err = self.run_of("/no/such/program")
        self.assertEqual(code, 1)
        self.assertIn('"/no/such/program" cannot be started', err)

    def test_a_signal_while_it_waits_cancels(self):
        process = self.start("--hold", "--", "true")
        self.assertIn(b"waits", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertIn(b"cancelling job", process.communicate(timeout=PATIENCE)[1])
        self.assertEqual(process.returncode, 128 + 2)
        self.assertEqual(self.service.ends("last")["state"], "CANCELLED")

    def test_a_killed_client_ends_the_job_unless_it_is_to_be_kept(self):
        process = self.start("--", "sh", "-c", "trap 'exit 1' PIPE; echo $$; while :; do sleep 0.05; done")
        process.stdout.readline()
        process.kill()
        process.communicate()
        self.assertEqual(self.service.ends("last")["state"], "CANCELLED")
        process = self.start("--keep", "-o", "kept.out", "-e", "kept.err", "--", "true")
        self.assertEqual(process.communicate(timeout=PATIENCE), (b"", b""))
        process = self.start("--keep", "--", "sh", "-c", "echo on; until [ -e go ]; do sleep 0.05; done; "
                             "seq 100000; echo wrong >&2")
        process.stdout.readline()
        job = self.service.live()[0]["id"]
        process.kill()
        process.communicate()
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        text = self.service.read(f"rota-{job}.out")  # where both go into one file, lines of one may stand amid those of the other
        lines = text.replace("wrong\n", "", 1).split("\n")
        self.assertEqual((text.count("wrong\n"), len(lines), lines.count("99999")), (1, 100002 - 1, 1))

    def test_an_output_file_that_cannot_be_one_holds_no_job_up(self):
        process = self.start("--keep", "--", "sh", "-c", "echo on; until [ -e go ]; do sleep 0.05; done; seq 100000")
        process.stdout.readline()
        job = self.service.live()[0]["id"]
        os.mkfifo(os.path.join(self.folder, f"rota-{job}.out"))  # no process will ever read there
        process.kill()
        process.communicate()
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        row = self.service.ends(job)
        self.assertEqual(row["state"], "COMPLETED")
        self.assertIn("could not be opened as a file to write to", row["message"])

    def test_a_process_that_floods_a_supervisor_is_hung_up_on(self):
        job = self.service.submit("echo x > there; exec sleep 1000")
        self.service.written("there")
        names = set()  # of this service alone: others may be tested at the same time
        for record in glob.glob(os.path.join(self.service.state, "runs", "*")):
            with open(record, encoding="latin-1") as file:
                names.update(re.findall(r"\bsocket=(rota-\w+)", file.read()))
        self.assertTrue(names)
        for name in names:
            with socket.socket(socket.AF_UNIX) as stream:
                stream.settimeout(PATIENCE)
                stream.connect("\0" + name)
                with self.assertRaises((BrokenPipeError, ConnectionResetError)):
                    for _ in range(1000):
                        stream.sendall(b"x" * 65536)
        self.service.act("cancel", job)
        self.assertEqual(self.service.ends(job)["state"], "CANCELLED")

    def test_it_outlives_the_service(self):
        process = self.start("--", "sh", "-c", "echo on; read x; echo $x; exit 4", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"on\n")
        self.service.kill()
        self.service.start()
        self.assertEqual(process.communicate(b"typed\n", PATIENCE)[0], b"typed\n")
        self.assertEqual(process.returncode, 4)
        process = self.start("--hold", "--", "echo", "late")
        self.assertIn(b"waits", process.stderr.readline())
        self.service.kill()
        self.assertIn(b"is waited for all the same", process.stderr.readline())
        self.service.start()
        self.service.act("release", "all")
        self.assertEqual(process.communicate(timeout=PATIENCE)[0], b"late\n")

    def test_a_job_that_is_lost_with_its_supervisor_is_told(self):
        process = self.start("--", "sh", "-c", "echo $PPID; exec sleep 1000")
        os.kill(int(process.stdout.readline()), signal.SIGKILL)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((out, process.returncode), (b"", 1))
        self.assertRegex(err.decode(), r"^rota: job \d+ was lost with its node or its supervisor")

    def test_it_tells_of_suspension_and_of_another_turn(self):
        process = self.start("--requeue", "--", "sh", "-c", "echo $ROTA_RESTART_COUNT; [ $ROTA_RESTART_COUNT = 1 ] || "
                             "exec sleep 1000")
        self.assertEqual(process.stdout.readline(), b"0\n")
        job = self.service.live()[0]["id"]
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "the launch to be told")
        self.service.act("suspend", job)
        self.assertIn(b"is suspended", process.stderr.readline())
        self.service.act("resume", job)
        self.assertIn(b"goes on", process.stderr.readline())
        self.service.act("requeue", job)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((out, process.returncode), (b"1\n", 0))
        self.assertIn(b"was stopped and is queued again", err)

    def test_a_job_within_a_job_is_marked_as_itself(self):
        code, out, _ = self.run_of("--", "sh", "-c", f"env; {self.rota} run -- env")
        marks = [line for line in out.decode().splitlines() if line.startswith(("ROTA_RUN=", "ROTA_JOB_ID="))]
        self.assertEqual((code, len(marks), len(set(marks))), (0, 4, 4), marks)

    # ---- which user may

    def test_a_job_does_not_go_to_another_users_process(self):
        if os.geteuid() != 0:
            self.skipTest("another user's process takes root")
        name = "rota-test-" + os.urandom(8).hex()
        code = f"import os,socket; os.setuid(65534); s=socket.socket(socket.AF_UNIX); s.bind('\\0{name}'); " \
               "s.listen(); print('on', flush=True); __import__('sys').stdin.read()"
        other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        other.stdout.readline()
        for socket_name in (name, "rota-nobody-there"):
            job = self.service.submit("echo x > never", attach={"socket": socket_name})
            row = self.service.ends(job)
            self.assertEqual((row["state"], row["message"]),
                             ("FAILED", "The terminal that the job was to run at is gone."))
        other.communicate()
        self.assertFalse(os.path.exists(os.path.join(self.folder, "never")))

    def test_a_stranger_does_not_get_to_the_terminal(self):
        if os.geteuid() != 0:
            self.skipTest("another user's process takes root")
        process = self.start("--hold", "--", "echo", "mine")
        process.stderr.readline()
        names = self.sockets_of(process.pid)
        self.assertTrue(names)
        for name in names:
            code = f"import os,socket; os.setuid(65534); s=socket.socket(socket.AF_UNIX); s.connect('\\0{name}'); " \
                   "s.sendall(b'phase=runs\\n'); s.close()"
            subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, timeout=PATIENCE)
        self.service.act("release", "all")
        self.assertEqual(process.communicate(timeout=PATIENCE)[0], b"mine\n")

    @staticmethod
    def sockets_of(pid):
        """By name, those of this process alone: others may be tested at the same time."""
        own = {os.readlink(path) for path in glob.glob(f"/proc/{pid}/fd/*")}
        with open("/proc/net/unix") as file:
            rows = [line.split() for line in file if "@rota-" in line]
        return {row[7].removeprefix("@") for row in rows if f"socket:[{row[6]}]" in own}

    def test_what_makes_no_sense_is_refused(self):
        for attach in ({}, {"socket": ""}, {"socket": "x" * 200}, {"socket": "x", "rows": -1}, {"socket": "x", "y": 1}, "x"):
            status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": "/", "attach": attach})
            self.assertEqual((status, answer["detail"]),
                             (400, "`attach` takes an object with the name of a socket, `socket`."))
        status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": "/", "array": "1-2",
                                                               "attach": {"socket": "x"}})
        self.assertIn("cannot run at one terminal", answer["detail"])
        self.assertIn("--pty is for a terminal", self.run_of("--pty", "--", "true")[2])


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
