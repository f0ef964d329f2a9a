"""Random moments at which things die and people interfere while Rota orders the jobs of a real Slurm, and a checker that asks
Slurm alone: no job is lost, delayed for ever or started by Rota, and after Rota is gone no factor is left.

A moment has a backlog that cannot start, Rota as an operator of Slurm in mode `act`, and three actors at once: an operator and
owners of jobs, who change them, and a fault of daemons, nodes or Rota itself. Then Rota ends in one of several ways, the timer
comes, and Slurm drains the backlog. All is drawn by a seed."""
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from service import Service, contents, processes
from slurm_site import SlurmSite

OPERATOR = "daemon"  # a plain user that is an operator of Slurm
AS = ["setpriv", "--reuid=" + OPERATOR, "--regid=" + OPERATOR, "--clear-groups", "--no-new-privs"]
SETTINGS = '[slurm]\npoll = "1s"\ngap = "10ms"\nwrite_gap = "20ms"\n'
ORDERS = ("sjf", "largest", "wfp3", "hrrn", "fair", "sjf+predict=tsafrir")
SAVED_WITHIN = 3  # seconds: what slurmctld was told that long before it last saved its state is in there
SETTLED_AFTER = 62  # seconds: kSavedWithin of take_back.h, and more
ENDED = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL"}


def pause(seconds):
    subprocess.run(["sleep", f"{seconds:.2f}"])


class OrderedSite(SlurmSite):
    """Partitions main and debug, whose nodes can go, come and change size."""
    accounts = (*SlurmSite.accounts, "modify user daemon set AdminLevel=Operator")
    gpu_nodes, gpus = (), ()
    here = ("n1", "n2")  # of main
    large = ()  # nodes with twice as many processors

    def __init__(self, folder):
        super().__init__(folder, nodes=("n1", "n2", "n3"))

    @property
    def partitions(self):
        rest = "MaxTime=1-00:00:00 DefaultTime=10"
        return (f"PartitionName=main Nodes={','.join(self.here)} Default=YES State=UP {rest}",
                f"PartitionName=debug Nodes=n3 State=UP {rest}", f"PartitionName=closed Nodes=n3 State=DOWN {rest}")

    def describe(self, node):
        return f"CPUs={self.cpus * 2 if node in self.large else self.cpus} RealMemory={self.memory}"

    def write_files(self):
        every, self.nodes = self.nodes, (*self.here, "n3")
        super().write_files()
        self.nodes = every

    def take_out(self, name):
        """Kills a daemon with -9."""
        at = next(at for at, (each, _) in enumerate(self.running) if each == name)
        _, process = self.running.pop(at)
        process.kill()
        process.wait()

    def begin_node(self, node):
        self.begin("slurmd-" + node, "slurmd", "-D", "-N", node, "-f", self.at("slurm.conf"))

    def begin_accounting(self):
        self.begin("slurmdbd", "slurmdbd", "-D")
        self.wait_for(lambda: self.answers("sacctmgr", "-n", "show", "cluster"), "slurmdbd")

    # ---- what it says of its jobs

    def batch(self, *options, run="sleep 1", user="nobody"):
        return self.ask("sbatch", "--parsable", "-o", "/dev/null", "-e", "/dev/null", "--uid=" + user, "-Aphysics", *options,
                        "--wrap", run, cwd="/").strip()

    def fill(self):
        """Jobs that have every node to themselves, and run."""
        jobs = [self.batch("-N1", "--exclusive", "-t600", "-w", node, "-p", "debug" if node == "n3" else "main", run="sleep 3600")
                for node in (*self.here, "n3")]
        self.wait_for(lambda: all(self.rows()[job][0] == "RUNNING" for job in jobs), "that the nodes are full")
        return jobs

    def rows(self):
        """By number: state, partition, reason. Tasks of an array stand by themselves."""
        text = self.ask("squeue", "-h", "-a", "-r", "-t", "all", "-o", "%i|%T|%P|%r")
        return {row[0]: row[1:] for row in (line.split("|", 3) for line in text.splitlines())}

    def factors(self):
        text = self.ask("sprio", "-h", "-o", "%i|%S")
        return {job: int(factor) for job, factor in (line.split("|") for line in text.splitlines())}


class Moments:
    """One site, and moments on it one after the other. Fails with an AssertionError that says what Slurm has."""

    def __init__(self, rota, slurm, seed):
        self.rota_path, self.slurm, self.dice = rota, slurm, random.Random(seed)
        self.told = []  # what was done at this moment, in words

    # ---- before

    def one(self):
        self.told = []
        self.killed = []  # slurmctld: when it last saved its state before it was killed
        self.jobs = {}  # that must run to their end: by number, when they were submitted
        self.cancelled, self.kept = set(), {}
        self.log_from = os.path.getsize(self.slurm.at("log", "slurmctld.own"))
        self.lock = threading.Lock()
        try:
            self.fill()
            self.make_service()
            self.interfere()
            self.end_rota()
            self.look()
            self.drain()
        except AssertionError as failure:
            raise AssertionError(f"{failure}\nwhat was done: {'; '.join(self.told)}\n{self.slurm.rows()}\n{self.slurm.factors()}") from failure
        finally:
            if self.rota.process and self.rota.process.poll() is None:
                self.rota.kill()

    def say(self, text):
        self.told.append(text)

    def fill(self):
        slurm = self.slurm
        self.rota = None
        self.blockers = slurm.fill()
        for _ in range(8):
            self.submit()
        self.kept = {"held by an operator": slurm.batch("-n1", "-t5"), "held by its owner": slurm.batch("-n1", "-t5", "-H"),
                     "begins tomorrow": slurm.batch("-n1", "-t5", "--begin=now+1day"),
                     "in a closed partition": slurm.batch("-n1", "-t5", "-pclosed")}
        slurm.ask("scontrol", "hold", self.kept["held by an operator"])
        self.before = {job: self.terms(job) for job in self.kept.values()}
        submitted = time.time()
        saved = slurm.at("state", "job_state")
        slurm.wait_for(lambda: os.path.exists(saved) and os.path.getmtime(saved) > submitted, "that slurmctld saves its state")

    def submit(self):
        kind, when = self.dice.random(), time.time()
        options = ["-n" + str(self.dice.choice((1, 2, 4))), f"-t{self.dice.randint(1, 30)}"]
        with self.lock:
            others = list(self.jobs)
        if kind < 0.15 and others:
            options.append("--dependency=afterany:" + self.dice.choice(others).split("_")[0])
        options.append("--array=1-3" if 0.15 < kind < 0.3 else "-pdebug" if kind > 0.85 else "-pmain")
        number = self.slurm.ask("sbatch", "--parsable", "-o", "/dev/null", "-e", "/dev/null", "--uid=nobody", "-Aphysics", *options,
                                "--wrap", "sleep 0.3", cwd="/", check=False).strip()
        if number:  # else slurmctld was away
            with self.lock:
                self.jobs.update({f"{number}_{task}": when for task in (1, 2, 3)} if "--array=1-3" in options else {number: when})

    def terms(self, job):
        """What no one has changed of a job that no actor touches."""
        words = self.slurm.ask("scontrol", "-o", "show", "job", job).split()
        names = ("JobState", "Nice", "Account", "QOS", "Restarts", "TimeLimit", "Partition", "ReqNodeList", "NumNodes", "NumCPUs",
                 "Dependency", "SubmitTime", "Comment")
        return [word for word in words if word.split("=")[0] in names]

    def make_service(self):
        place = tempfile.mkdtemp(dir=self.slurm.folder)
        os.chmod(place, 0o755)
        shutil.chown(place, OPERATOR)
        self.rota = Service(self.rota_path, place, SETTINGS, ["--engine", "slurm"])
        self.rota.before, self.rota.environment = AS, dict(self.slurm.env)
        self.rota.start()
        self.mode("act", "--order", self.dice.choice(ORDERS))

    # ---- meanwhile

    def mode(self, mode, *more):
        done = subprocess.run([*AS, self.rota_path, "mode", "order", mode, "--partition", "main", *more, "--socket", self.rota.socket],
                              capture_output=True, text=True, env=self.slurm.env)
        self.say(f"mode {mode} {' '.join(more)}")
        assert done.returncode == 0, done.stdout + done.stderr

    def interfere(self):
        pause(self.dice.random() * 1.5)
        faults = self.dice.sample((self.reconfigure, self.kill_controller, self.kill_accounting, self.node_goes_down, self.kill_slurmd,
                                   self.change_nodes, self.kill_rota, self.kill_writer, self.requeue_blocker, self.stop_rota), 2)
        seeds = [self.dice.random() for _ in range(2)]
        people = [threading.Thread(target=self.act, args=(random.Random(seeds[0]), self.by_operator)),
                  threading.Thread(target=self.act, args=(random.Random(seeds[1]), self.by_owner))]
        for person in people:
            person.start()
        try:
            for fault in faults:
                pause(self.dice.random())
                self.say(fault.__name__)
                fault()
        finally:
            for person in people:
                person.join()

    def act(self, dice, deed):
        for _ in range(6):
            pause(dice.random() * 0.8)
            with self.lock:
                job = dice.choice(list(self.jobs))
            deed(dice, job)

    def control(self, *words):
        """What a person asks of slurmctld, which may be away."""
        self.slurm.ask("scontrol", *words, check=False)
        self.say("scontrol " + " ".join(words))

    def by_operator(self, dice, job):
        dice.choice((lambda: self.control("hold", job), lambda: self.control("release", job),
                     lambda: self.control("update", "JobId=" + job, f"TimeLimit={dice.randint(1, 40)}"),
                     lambda: self.control("update", "JobId=" + job, "Nice=50"), lambda: self.control("requeue", job),
                     lambda: self.control("update", "JobId=" + job, "Priority=424242")))()

    def by_owner(self, dice, job):
        deed = dice.random()
        if deed < 0.5:
            self.submit()
        elif deed < 0.75:
            with self.lock:
                self.cancelled.add(job)
            self.slurm.ask("scancel", job, check=False)
            self.say("scancel " + job)
        else:
            self.slurm.ask("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "scontrol",
                           dice.choice(("hold", "release")), job, check=False)

    # ---- faults

    def reconfigure(self):
        self.slurm.ask("scontrol", "reconfigure")

    def kill_controller(self):
        saved = os.path.getmtime(self.slurm.at("state", "job_state"))
        self.slurm.take_out("slurmctld")
        with self.lock:
            self.killed.append(saved)
        pause(self.dice.random() * 2)
        self.slurm.start_controller()

    def kill_accounting(self):
        self.slurm.take_out("slurmdbd")
        pause(self.dice.random() * 2)
        self.slurm.begin_accounting()

    def node_goes_down(self):
        node = self.dice.choice(self.slurm.here)
        self.control("update", "NodeName=" + node, "State=DOWN", "Reason=test")
        pause(self.dice.random())
        self.control("update", "NodeName=" + node, "State=RESUME")

    def kill_slurmd(self):
        node = self.dice.choice(self.slurm.here)
        self.slurm.take_out("slurmd-" + node)
        pause(self.dice.random())
        self.slurm.begin_node(node)

    def change_nodes(self):
        """A node has twice the processors, or half of them; or it goes, or comes back. slurmctld reads that as it starts."""
        if self.dice.random() < 0.5:
            self.slurm.large = () if self.slurm.large else ("n2",)
        else:
            self.slurm.here = ("n1", "n2") if self.slurm.here == ("n1",) else ("n1",)
        self.slurm.write_files()
        self.kill_controller()
        self.slurm.take_out("slurmd-n2")
        self.slurm.begin_node("n2") if "n2" in self.slurm.here else self.slurm.begin("slurmd-n2", "sleep", "infinity")

    def requeue_blocker(self):
        self.control("requeue", self.dice.choice(self.blockers))

    def kill_rota(self):
        self.rota.kill()
        pause(self.dice.random())
        self.slurm.wait_for(lambda: self.slurm.answers("scontrol", "ping"), "slurmctld")
        self.rota.start()

    def stop_rota(self):
        self.rota.process.send_signal(signal.SIGSTOP)
        pause(self.dice.random() * 2)
        self.rota.process.send_signal(signal.SIGCONT)

    def kill_writer(self):
        """What runs for Rota at this moment: a reader, or the command that writes, with flock."""
        parent = str(self.rota.process.pid).encode()
        for _ in range(20):
            children = processes(lambda pid: contents(f"/proc/{pid}/stat").rsplit(b")", 1)[-1].split()[1:2] == [parent])
            for pid in children:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            pause(0.02)

    # ---- the end of Rota

    def end_rota(self):
        how = self.dice.choice((self.end_by_kill, self.end_by_kill, self.end_by_mode, self.end_by_undo, self.end_by_date))
        self.say(how.__name__)
        self.slurm.wait_for(lambda: self.slurm.answers("squeue"), "slurmctld")
        pause(self.dice.random() * 2)
        how()
        if self.rota.process.poll() is None:
            self.rota.kill()
        if self.dice.random() < 0.3:
            self.say("slurmctld killed behind Rota")
            self.kill_controller()
        for _ in range(self.dice.choice((0, 1, 2))):
            self.timer_is_cut_off()
        end = time.monotonic() + 60
        while (done := self.undo("--expired", "--silent", "0s")).returncode != 0:
            assert time.monotonic() < end, "the timer could not take factors back: " + done.stderr
            pause(0.3)

    def undo(self, *how):
        return subprocess.run([*AS, self.rota_path, "undo", *how, "--state", self.rota.state], capture_output=True, text=True,
                              env=self.slurm.env)

    def end_by_kill(self):
        self.rota.kill()

    def end_by_mode(self):
        self.mode(self.dice.choice(("off", "observe")))
        pause(self.dice.random() * 2)

    def end_by_date(self):
        self.mode("act", "--until", "now+1seconds")
        pause(1 + self.dice.random() * 2)

    def end_by_undo(self):
        self.undo("--all")

    def timer_is_cut_off(self):
        """The shell that runs `rota undo` dies, and rota with it or not."""
        words = " ".join([*AS, self.rota_path, "undo --expired --silent 0s --state", self.rota.state])
        shell = subprocess.Popen(["sh", "-c", words + "; true"], env=self.slurm.env, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        pause(self.dice.random() * 0.3)
        if self.dice.random() < 0.5:
            shell.kill()
        else:
            os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()

    # ---- what Slurm says behind

    def look(self):
        """No factor is left, also none that sprio hides: what is held, runs or depends on another one is made to show it."""
        slurm = self.slurm
        for kept, job in self.kept.items():
            assert self.terms(job) == self.before[job], f"the job {kept} changed: {self.terms(job)}, before {self.before[job]}"
        own = [line for line in self.log_lines() if re.search(r"\buid[= ]1\b", line, re.I)]
        assert all("_slurm_rpc_update_job: " in line for line in own), f"Rota did what it may not: {own}"
        for node in slurm.here:
            slurm.ask("scontrol", "update", "NodeName=" + node, "State=RESUME", check=False)
        slurm.ask("scontrol", "update", "PartitionName=main", "State=DOWN")
        self.none_runs_in_main()
        for job, row in slurm.rows().items():
            if row[0] == "PENDING":
                slurm.ask("scontrol", "release", job, check=False)
                slurm.ask("scontrol", "update", "JobId=" + job, "Dependency=", "StartTime=now", check=False)
        if self.left() and self.killed:  # before slurmctld had saved what was taken back: the timer looks at it a minute later
            pause(SETTLED_AFTER)
            self.say("the timer a minute later")
            self.undo("--expired", "--silent", "0s")
        assert not self.left(), f"factors are left: {self.left()}"
        slurm.ask("scontrol", "update", "PartitionName=main", "State=UP")

    def none_runs_in_main(self):
        def goes_back():
            running = [job for job, row in self.slurm.rows().items() if row[1] == "main" and row[0] not in ("PENDING", *ENDED)]
            for job in running:
                self.slurm.ask("scontrol", "requeue", job, check=False)
            return not running
        self.slurm.wait_for(goes_back, "that all wait")

    def left(self):
        return {job: factor for job, factor in self.slurm.factors().items() if factor != 0}

    def log_lines(self):
        with open(self.slurm.at("log", "slurmctld.own"), errors="replace") as file:
            file.seek(self.log_from)
            return file.read().splitlines()

    def drain(self):
        """All that was submitted runs to its end, but what slurmctld had not saved when it was killed."""
        slurm = self.slurm
        slurm.ask("scancel", *self.blockers, self.kept["in a closed partition"], check=False)
        end = time.monotonic() + 120
        while any(row[0] not in ENDED for row in slurm.rows().values()):
            assert time.monotonic() < end, "jobs wait for ever"
            for node in slurm.ask("sinfo", "-h", "-N", "-t", "drain,down", "-o", "%N").split():  # a job began twice there
                slurm.ask("scontrol", "update", "NodeName=" + node, "State=RESUME", check=False)
            for job, row in slurm.rows().items():
                if row[0] == "PENDING" and row[2] not in ("None", "Priority", "Resources"):
                    slurm.ask("scontrol", "release", job, check=False)
                    slurm.ask("scontrol", "update", "JobId=" + job, "StartTime=now", check=False)
            pause(0.2)
        rows = slurm.rows()
        for job, submitted in self.jobs.items():
            unsaved = any(submitted > saved - SAVED_WITHIN for saved in self.killed)
            if job not in rows and (unsaved or job in self.cancelled):  # a task that was cancelled leaves no row
                continue
            assert job in rows, f"job {job} is lost"
            wanted = {"COMPLETED", "CANCELLED"} if job in self.cancelled else {"COMPLETED"}
            assert rows[job][0] in wanted, f"job {job} is {rows[job][0]}"
