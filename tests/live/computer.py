"""A computer of its own for a test: a Linux kernel that runs as a program (Debian's user-mode-linux), with systemd as its
first process, control groups of version 2 and a journal. It needs no right that a user does not have. Its programs are
this computer's, read through the kernel; what it writes lies in its memory, and is gone with it."""
import glob
import os
import resource
import shutil
import subprocess
import tempfile

PROGRAMS = {"linux.uml": "user-mode-linux", "systemctl": "systemd", "dbus-daemon": "dbus"}
HERE = os.path.dirname(os.path.abspath(__file__))
START = os.path.join(HERE, "computer_start.sh")
KERNEL = ["linux.uml", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "con=null", "con0=fd:0,fd:1", "selinux=0"]
PATIENCE = 1200  # seconds


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
    the command line is done; `orderly`: it shuts itself down, which the command line sees to."""
    with open(os.path.join(folder, "test.service"), "w") as file:
        file.write("[Unit]\nAfter=multi-user.target\n[Service]\nType=oneshot\nTimeoutStartSec=infinity\n"
                   f"StandardOutput=append:/host{folder}/said.txt\nStandardError=inherit\n"
                   f"ExecStart={' '.join(words)}\n")
        if not orderly:
            file.write("ExecStopPost=systemctl poweroff --force --force\n")
    kernel = [*KERNEL, "mem=768M", f"init={START}", "quiet", f"ROTA_FOLDER={folder}", f"ROTA_BINARY={rota}"]
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
