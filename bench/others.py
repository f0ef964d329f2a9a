#!/usr/bin/env python3
"""`true` jobs started and finished a second: the service beside a loop of posix_spawn, task-spooler, nq, GNU parallel and a
Slurm of one node, all in one run. Usage: others.py ROTA [JOBS]

With as many slots as processors each start waits for a decision; 64 slots show what the scheduler itself can do.
task-spooler (`tsp`), nq (one job at a time: it has no slots), GNU parallel (reads commands, keeps no queue) and Slurm
(slurmctld, slurmd, slurm-client, munge, slurm-wlm-basic-plugins; as root) are compared where they are installed. Slurm is
tuned: it decides as soon as it can, and keeps no accounts.
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))
from service import Service  # noqa: E402

SLOTS = 64
SLURM = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo"]
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def seconds(call):
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


def spawned(jobs):
    for _ in range(jobs):
        os.waitpid(os.posix_spawn("/bin/true", ["true"], ENVIRONMENT), 0)


def through_rota(rota, folder, jobs, slots):
    service = Service(rota, tempfile.mkdtemp(dir=folder), f'name = "bench"\nprocessors = {slots}\n')
    service.start()

    def run():
        job = {"command": ["/bin/true"], "folder": folder, "environment": ["PATH=/usr/bin:/bin"], "output": "/dev/null"}
        for first in range(0, jobs, 10_000):
            status, answer = service.ask("POST", "/v1/jobs", {**job, "array": f"1-{min(jobs - first, 10_000)}"})
            assert status == 201, answer
        while service.ask("GET", "/v1/jobs?limit=1")[1]["jobs"]:
            time.sleep(0.02)

    try:
        return jobs / seconds(run)
    finally:
        service.stop()


def through_task_spooler(folder, jobs, slots):
    environment = {**ENVIRONMENT, "TS_SOCKET": os.path.join(folder, f"tsp-{slots}"), "TMPDIR": folder}

    def tell(*words):
        subprocess.run(["tsp", *words], env=environment, check=True, stdout=subprocess.DEVNULL)

    def run():
        for _ in range(jobs):
            tell("-n", "true")
        while b"queued" in (left := subprocess.run(["tsp"], env=environment, capture_output=True).stdout) \
                or b"running" in left:
            time.sleep(0.02)

    tell("-S", str(slots))
    environment["TS_MAXFINISHED"] = "10"
    try:
        return jobs / seconds(run)
    finally:
        tell("-K")


def through_nq(folder, jobs):
    environment = {**ENVIRONMENT, "NQDIR": os.path.join(folder, "nq")}

    def run():
        for _ in range(jobs):
            subprocess.run(["nq", "-q", "true"], env=environment, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["nq", "-w"], env=environment, check=True)

    return jobs / seconds(run)


def through_parallel(folder, jobs, slots):
    environment = {**ENVIRONMENT, "HOME": folder, "PARALLEL_HOME": os.path.join(folder, "parallel")}
    commands = b"true\n" * jobs
    return jobs / seconds(lambda: subprocess.run(["parallel", "--will-cite", f"-j{slots}"], input=commands, env=environment, check=True,
                                                 stderr=subprocess.DEVNULL))


class Slurm:
    """One node that says it has so many processors, in a folder of its own; gone at the end."""

    def __init__(self, folder, slots):
        self.folder = os.path.join(folder, "slurm")
        os.makedirs(os.path.join(self.folder, "spool"))
        os.chmod(folder, 0o755)
        self.processes = []
        self.environment = {**ENVIRONMENT, "SLURM_CONF": os.path.join(self.folder, "slurm.conf")}
        with open(self.environment["SLURM_CONF"], "w") as file:
            file.write(self.configuration(slots))

    def configuration(self, slots):
        host, free = socket.gethostname().split(".")[0], []
        for _ in range(2):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                free.append(probe.getsockname()[1])
        of = self.folder
        return f"""ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={of}/munge.sock
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={of}/state
SlurmdSpoolDir={of}/spool
SlurmctldPidFile={of}/slurmctld.pid
SlurmdPidFile={of}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
MpiDefault=none
MaxJobCount=100000
MaxArraySize=100001
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,defer_batch,sched_max_job_start=0
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 Port={free[1]} CPUs={slots} RealMemory=2000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 State=UP OverSubscribe=NO
"""

    def begin(self, *words):
        log = open(os.path.join(self.folder, words[0] + ".log"), "wb")
        self.processes.append(subprocess.Popen(words, env=self.environment, stdout=log, stderr=log))

    def ask(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True)

    def wait(self, done, what):
        end = time.monotonic() + 240
        while not done():
            assert time.monotonic() < end, f"Slurm: {what}; see the logs in {self.folder}"
            time.sleep(0.02)

    def start(self):
        os.makedirs(os.path.join(self.folder, "state"))
        key = os.path.join(self.folder, "munge.key")
        with open(key, "wb") as file:
            os.chmod(key, 0o600)
            file.write(os.urandom(128))
        at = os.path.join(self.folder, "munge.")
        self.begin("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={at}sock", f"--pid-file={at}pid",
                   f"--log-file={at}log", f"--seed-file={at}seed")
        self.wait(lambda: os.path.exists(at + "sock"), "no munged")
        self.begin("slurmctld", "-D", "-f", self.environment["SLURM_CONF"])
        self.begin("slurmd", "-D", "-N", "node", "-f", self.environment["SLURM_CONF"])
        self.wait(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T").stdout, "its node does not come up")

    def run(self, jobs):
        done = self.ask("sbatch", "--array", f"1-{jobs}", "-o", "/dev/null", "-D", "/", "--wrap", "true")
        assert done.returncode == 0, done.stderr
        self.wait(lambda: not self.ask("squeue", "-h", "-o", "%i").stdout.strip(), "jobs do not end")

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(60)


def through_slurm(folder, jobs, slots):
    slurm = Slurm(folder, slots)
    try:
        slurm.start()
        return jobs / seconds(lambda: slurm.run(jobs))
    finally:
        slurm.stop()


def main(rota, jobs):
    folder = tempfile.mkdtemp(prefix="rota-bench-", dir=os.environ.get("ROTA_BENCH_FOLDER"))
    few = os.cpu_count()
    rows = {}
    try:
        bare = jobs / seconds(lambda: spawned(jobs))
        for slots in (few, SLOTS):
            rows[f"rota, {slots} slots"] = through_rota(rota, folder, jobs, slots)
        bare = (bare + jobs / seconds(lambda: spawned(jobs))) / 2
        if shutil.which("tsp"):
            for slots in (few, SLOTS):
                rows[f"task-spooler, {slots} slots"] = through_task_spooler(folder, min(jobs, 500), slots)
        if shutil.which("nq"):
            rows["nq, one at a time"] = through_nq(folder, min(jobs, 500))
        if shutil.which("parallel"):
            for slots in (few, SLOTS):
                rows[f"GNU parallel, {slots} slots"] = through_parallel(folder, min(jobs, 500), slots)
        if os.geteuid() == 0 and all(shutil.which(word, path=ENVIRONMENT["PATH"]) for word in SLURM):
            rows[f"Slurm, {SLOTS} slots"] = through_slurm(folder, min(jobs, 500), SLOTS)
        print(f"a loop of posix_spawn: {bare:.0f} a second")
        for name, rate in rows.items():
            print(f"{name}: {rate:.1f} a second, {rate / bare:.2f} of the loop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4_000)
