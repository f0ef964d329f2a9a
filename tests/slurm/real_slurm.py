"""A real Slurm cluster of several nodes on this computer, for as long as a test needs it.

Debian's slurmctld, slurmd and munge, as root, in a folder of their own and on loopback alone. Nothing outside the folder
is written, and each process is ended by its own number.
"""
import datetime
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

NEEDED = ("slurmctld", "slurmd", "munged", "sbatch", "scontrol", "squeue")


def missing():
    """What of Slurm is not installed here, or why it cannot be started; empty: nothing."""
    if os.geteuid() != 0:
        return "only root can start slurmd"
    gone = [name for name in NEEDED if not shutil.which(name)]
    return "" if not gone else f"{', '.join(gone)} not found (Debian: slurmctld slurmd slurm-client munge slurm-wlm-basic-plugins)"


def wait_until(true, what, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen within {seconds} s")
        time.sleep(0.1)


class Slurm:
    """So many nodes of so many CPUs, with these lines in slurm.conf."""

    def __init__(self, nodes, cpus, lines, port):
        self.folder = tempfile.mkdtemp(prefix="slurm-")
        os.chmod(self.folder, 0o755)
        self.nodes = [f"n{number + 1}" for number in range(nodes)]
        self.environment = dict(os.environ, SLURM_CONF=self.path("slurm.conf"))
        for name in ("log", "state", "spool"):
            os.mkdir(self.path(name))
        with open(self.path("munge.key"), "wb") as key:
            os.chmod(key.name, 0o600)
            key.write(os.urandom(128))
        with open(self.path("slurm.conf"), "w", encoding="utf-8") as file:
            file.write("\n".join(self.configuration(cpus, lines, port)) + "\n")

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def configuration(self, cpus, lines, port):
        host = socket.gethostname().split(".")[0]
        yield from (
            "ClusterName=calibration", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root", f"SlurmctldPort={port}",
            "AuthType=auth/munge", f"AuthInfo=socket={self.path('munge.sock')}", "CredType=cred/munge",
            "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny", f"StateSaveLocation={self.path('state')}",
            f"SlurmdSpoolDir={self.path('spool')}/%n", f"SlurmctldPidFile={self.path('slurmctld.pid')}",
            f"SlurmdPidFile={self.path('slurmd-%n.pid')}", f"SlurmctldLogFile={self.path('log/slurmctld.log')}",
            f"SlurmdLogFile={self.path('log/slurmd-%n.log')}", "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none", "JobCompType=jobcomp/filetxt",
            f"JobCompLoc={self.path('ended.txt')}", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
            "SlurmdParameters=config_overrides", "PropagateResourceLimits=NONE", "ReturnToService=2", "MpiDefault=none")
        yield from lines
        for number, name in enumerate(self.nodes):
            yield (f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port + 101 + number} CPUs={cpus} "
                   "State=UNKNOWN")
        yield "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 State=UP OverSubscribe=NO"

    def run(self, *command):
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    def __enter__(self):
        subprocess.run(["munged", "--force", f"--key-file={self.path('munge.key')}",
                        f"--socket={self.path('munge.sock')}", f"--pid-file={self.path('munged.pid')}",
                        f"--log-file={self.path('log/munged.log')}", f"--seed-file={self.path('munged.seed')}"],
                       check=True)
        self.run("slurmctld", "-f", self.path("slurm.conf"))
        for name in self.nodes:
            os.mkdir(self.path("spool", name))
            self.run("slurmd", "-N", name, "-f", self.path("slurm.conf"))
        wait_until(self.all_are_idle, "that all nodes are idle")
        return self

    def all_are_idle(self):
        found = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], env=self.environment, capture_output=True, text=True,
                               check=False)
        return found.returncode == 0 and found.stdout.split() == ["idle"] * len(self.nodes)

    def __exit__(self, *_):
        subprocess.run(["scancel", "--user=root"], env=self.environment, check=False)
        try:
            wait_until(lambda: not self.run("squeue", "-h", "-t", "R,S,CG", "-o", "%i").split(), "that no job runs", 30)
        finally:
            for name in ("slurmctld", *(f"slurmd-{node}" for node in self.nodes), "munged"):
                self.end(self.path(f"{name}.pid"))
            shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def end(pid_file):
        try:
            with open(pid_file, encoding="utf-8") as file:
                number = int(file.read())
            os.kill(number, signal.SIGTERM)
        except (FileNotFoundError, ProcessLookupError, ValueError):
            return
        wait_until(lambda: not os.path.exists(f"/proc/{number}"), f"the end of process {number}", 60)

    def ended(self):
        """What Slurm says of the jobs that have ended: a row of named values for each."""
        try:
            with open(self.path("ended.txt"), encoding="utf-8") as file:
                return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in file]
        except FileNotFoundError:
            return []

    def moments(self, what):
        """When slurmctld's log says this of each job, which is the number that `what` finds, in seconds."""
        found = {}
        with open(self.path("log/slurmctld.log"), encoding="utf-8", errors="replace") as file:
            for line in file:
                if job := re.search(what, line):
                    when = datetime.datetime.fromisoformat(line[1:].partition("]")[0])
                    found[int(job[1])] = when.replace(tzinfo=datetime.timezone.utc).timestamp()
        return found
