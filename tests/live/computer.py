"""A computer of its own for a test: a Linux kernel that runs as a program (Debian's user-mode-linux), with systemd as its
first process, control groups of version 2 and a journal. It needs no right that a user does not have. Its programs are
this computer's, read through the kernel; what it writes lies in its memory, and is gone with it."""
import glob
import json
import os
import resource
import shutil
import subprocess
import tempfile
import unittest

PROGRAMS = {"linux.uml": "user-mode-linux", "systemctl": "systemd", "dbus-daemon": "dbus"}
HERE = os.path.dirname(os.path.abspath(__file__))
START = os.path.join(HERE, "computer_start.sh")
KERNEL = ["linux.uml", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "con=null", "con0=fd:0,fd:1", "selinux=0"]
PATIENCE = 3000  # seconds
INSIDE = "--inside"


def lacks():
    """Why there can be none here; None: there can."""
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if not glob.glob("/usr/lib/*/security/pam_systemd.so"):
        missing.append("libpam-systemd")
    if missing:
        return f"not installed: {', '.join(sorted(missing))}"
    with tempfile.TemporaryDirectory(prefix="rota-computer-") as folder:
        done = subprocess.run([*KERNEL, "mem=64M", "init=/bin/true"], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE, env=environment(folder),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    if b"exitcode=0x00000000" in done.stdout + done.stderr:  # its first program has run, and has ended at once
        return None
    return "user-mode Linux does not start here; it has to be allowed to trace processes (ptrace)"


def environment(folder):
    """For the kernel; with a library that is made in the folder."""
    library = os.path.join(folder, "whole_registers.so")
    if not os.path.exists(library):
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library,
                        os.path.join(HERE, "whole_registers.c")], check=True)
    return {**os.environ, "TMPDIR": folder, "LD_PRELOAD": library}


def run(folder, rota, words, orderly=False):
    """Starts it, with `rota` as its /usr/local/bin/rota, runs a command line in it, as root and with this computer's files
    below /host, and waits until it has gone down; gives what the kernel and the first programs said. It is switched off once
    the command line is done; `orderly`: it shuts itself down, which the command line sees to. Where `rota` is empty there is
    none, and packages can be installed: changes of /usr and of dpkg's database lie in its memory, too."""
    with open(os.path.join(folder, "test.service"), "w") as file:
        file.write("[Unit]\nAfter=multi-user.target\n[Service]\nType=oneshot\nTimeoutStartSec=infinity\n"
                   f"StandardOutput=append:/host{folder}/said.txt\nStandardError=inherit\n"
                   f"ExecStart={' '.join(words)}\n")
        if not orderly:
            file.write("ExecStopPost=systemctl poweroff --force --force\n")
    memory = "768M" if rota else "2560M"  # half of it is its disk, too
    kernel = [*KERNEL, f"mem={memory}", f"init={START}", "quiet", f"ROTA_FOLDER={folder}", f"ROTA_BINARY={rota}"]
    with open(os.path.join(folder, "console.txt"), "wb") as console:
        process = subprocess.Popen(kernel, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT,
                                   env=environment(folder), start_new_session=True)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
    with open(os.path.join(folder, "console.txt"), errors="replace") as console:
        return console.read()


class Outcome(unittest.TextTestResult):
    """Which tests passed, for the process outside that reads it."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.outcomes = {}

    def stopTest(self, test):
        super().stopTest(test)
        told = [*self.failures, *self.errors, *self.skipped]
        wrong = [text for it, text in told if getattr(it, "test_case", it) is test]  # it may be a subtest of it
        self.outcomes[test.id().split(".", 1)[1]] = wrong[0] if wrong else "passed"


def run_tests(module, names, outcomes):
    """Inside: runs tests of a module, and writes into a file how each came out."""
    tests = unittest.defaultTestLoader.loadTestsFromNames(names, module)
    result = unittest.TextTestRunner(resultclass=Outcome, verbosity=2).run(tests)
    with open(outcomes, "w") as file:
        json.dump(result.outcomes, file)


class ComputerCase(unittest.TestCase):
    """Outside: runs tests of `script` there, which is started as `script OUTCOMES --inside NAME...`, and takes their outcomes."""
    script = None
    rota = ""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rota-computer-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def starts(self, *names, orderly=False):
        return run(self.folder, self.rota, ["/usr/bin/python3", "-B", f"/host{self.script}", f"/host{self.folder}/outcomes.json",
                                            INSIDE, *names], orderly)

    def passes(self, *names):
        console = self.starts(*names)
        try:
            with open(os.path.join(self.folder, "outcomes.json")) as file:
                outcomes = json.load(file)
        except FileNotFoundError:
            self.fail(f"it did not come so far as to run a test: {console[-3000:]}")
        self.assertGreater(len(outcomes), 0)
        for name, outcome in outcomes.items():
            with self.subTest(name):
                self.assertTrue(outcome == "passed", outcome)
