"""A computer of its own for a test: a Linux kernel that runs as a program (Debian's user-mode-linux), with systemd as its
first process, control groups of version 2 and a journal. It needs no right that a user does not have. Its programs are
this computer's, read through the kernel; what it writes lies in its memory, and is gone with it."""
import glob
import os
import resource
import shutil
import subprocess

PROGRAMS = {"linux.uml": "user-mode-linux", "systemctl": "systemd", "dbus-daemon": "dbus"}
START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "computer_start.sh")
KERNEL = ["linux.uml", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "con=null", "con0=fd:0,fd:1", "selinux=0"]
PATIENCE = 1200  # seconds


def lacks():
    """Why there can be none here; None: there can."""
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if not glob.glob("/usr/lib/*/security/pam_systemd.so"):
        missing.append("libpam-systemd")
    if missing:
        return f"not installed: {', '.join(sorted(missing))}"
    done = subprocess.run([*KERNEL, "mem=64M", "init=/bin/true"], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=PATIENCE, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    if b"Attempted to kill init" in done.stdout + done.stderr:  # it came as far as its first program, which ends at once
        return None
    return "user-mode Linux does not start here; it has to be allowed to trace processes (ptrace)"


def run(folder, rota, words):
    """Starts it, with `rota` as its /usr/local/bin/rota, runs a command line in it, as root and with this computer's files
    below /host, and waits until it has gone down; gives what the kernel and the first programs said."""
    with open(os.path.join(folder, "test.service"), "w") as file:
        file.write("[Unit]\nAfter=multi-user.target\n[Service]\nType=oneshot\nTimeoutStartSec=infinity\n"
                   f"StandardOutput=append:/host{folder}/said.txt\nStandardError=inherit\n"
                   f"ExecStart={' '.join(words)}\nExecStopPost=systemctl poweroff --force --force\n")
    kernel = [*KERNEL, "mem=768M", f"init={START}", "quiet", f"ROTA_FOLDER={folder}", f"ROTA_BINARY={rota}"]
    with open(os.path.join(folder, "console.txt"), "wb") as console:
        process = subprocess.Popen(kernel, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT,
                                   env=dict(os.environ, TMPDIR=folder), start_new_session=True)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
    with open(os.path.join(folder, "console.txt"), errors="replace") as console:
        return console.read()
