"""A Slurm cluster of its own, with accounting: munge, MariaDB, slurmdbd, slurmctld and a slurmd for each node, all on
loopback, in one folder, started and stopped by process id. Needs root, for slurmd starts jobs as other users."""
import os
import random
import shutil
import socket
import subprocess
import time

NEEDS = ("slurmctld", "slurmdbd", "slurmd", "sbatch", "sacct", "sacctmgr", "scontrol", "munged", "mariadbd",
         "mariadb-install-db")
PATIENCE = 600


def lacks():
    """Why there can be none here; None: there can."""
    if os.geteuid() != 0:
        return "a Slurm cluster of its own needs root"
    missing = [name for name in NEEDS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    return f"not installed: {', '.join(missing)}" if missing else None


def own_range():
    """Ports below those that the system gives to processes that connect, and what keeps other clusters off them while it
    is open."""
    for first in range(15000, 32000, 500):
        kept = socket.socket(socket.AF_UNIX)
        try:
            kept.bind(f"\0rota-test-ports-{first}")
            return range(first, first + 500), kept
        except OSError:
            kept.close()
    raise AssertionError("no ports are left for another Slurm cluster")


def free_ports(names, among):
    """One for each, of a range that is one's own until they are used."""
    ports = {}
    for port in random.sample(among, len(among)):
        if len(ports) == len(names):
            break
        with socket.socket() as it:
            try:
                it.bind(("127.0.0.1", port))
            except OSError:
                continue
            ports[names[len(ports)]] = port
    return ports


class SlurmSite:
    cpus, memory = 4, 4000
    gpu_nodes = ("g1", "g2")
    gpus = (("g[1-2]", "a100", 2),)  # nodes, the type, and how many each has
    select = "CR_CPU_Memory"
    licences = "matlab:3,fluent:12,comsol:5"
    tres = "gres/gpu,gres/gpu:a100,license/matlab,license/fluent"
    scheduler_type = "sched/backfill"
    lines = ()  # more of slurm.conf
    users = ("root", "daemon", "nobody")
    scheduler = "bf_interval=2,sched_min_interval=0,batch_sched_delay=0,permit_job_expansion"
    priority = ("PriorityWeightAge=1000", "PriorityWeightQOS=2000", "PriorityDecayHalfLife=7-0",
                "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE")
    partitions = (
        "PartitionName=main Nodes=ALL Default=YES MaxTime=1-00:00:00 DefaultTime=10 State=UP PriorityTier=10",
        "PartitionName=debug Nodes=n[1-2] MaxTime=5 MaxNodes=1 State=UP PriorityTier=10",
        "PartitionName=gpu Nodes=g[1-2] MaxTime=UNLIMITED DefaultTime=30 State=UP PriorityTier=10 MinNodes=0 DefMemPerGPU=700",
        "PartitionName=urgent Nodes=n[3-4] MaxTime=60 State=UP PriorityTier=20 AllowAccounts=physics")
    accounts = ("add qos high priority=100 MaxJobsPerUser=50", "add account physics cluster=toy",
                "add account chemistry cluster=toy", "add user root account=physics qos=normal,high",
                "add user root account=chemistry qos=normal,high",
                "add user daemon account=chemistry qos=normal,high",
                "add user nobody account=physics qos=normal,high")

    def __init__(self, folder, nodes=("n1", "n2", "n3", "n4")):
        self.folder, self.nodes = folder, nodes
        self.running = []  # (name, Popen), in the order in which they were started
        among, self.kept = own_range()
        self.ports = free_ports(("db", "dbd", "ctld", *nodes, *self.gpu_nodes), among)
        self.env = dict(os.environ, SLURM_CONF=self.at("slurm.conf"), TZ="UTC", LC_ALL="C.UTF-8",
                        PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
        for name in ("SLURM_TIME_FORMAT", "SACCT_FORMAT"):
            self.env.pop(name, None)
        os.chmod(folder, 0o755)
        for name in ("state", "spool", "log", "db", "gpu"):
            os.mkdir(self.at(name), 0o755)

    def at(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, text, mode=0o644):
        with open(self.at(name), "w") as file:
            file.write(text)
        os.chmod(self.at(name), mode)

    def ask(self, *command, check=True, env=None, **others):
        done = subprocess.run(command, env=dict(self.env, **(env or {})), capture_output=True, text=True, **others)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}{self.last_words()}")
        return done.stdout

    def last_words(self):
        words = ""
        for name in sorted(os.listdir(self.at("log"))):
            if name.endswith(".own"):  # says the same
                continue
            with open(self.at("log", name), errors="replace") as file:
                words += f"\n--- {name}\n" + "".join(file.readlines()[-3:])
        return words

    def begin(self, name, *command, env=None):
        log = open(self.at("log", name), "ab")
        self.running.append((name, subprocess.Popen(command, env=dict(self.env, **(env or {})), stdin=subprocess.DEVNULL,
                                                    stdout=log, stderr=log, start_new_session=True)))
        log.close()

    def wait_for(self, holds, what, patience=PATIENCE, pause=0.1):
        end = time.monotonic() + patience
        while not holds():
            for name, process in self.running:
                assert process.poll() is None, f"{name} ended while {what} was awaited{self.last_words()}"
            assert time.monotonic() < end, f"{what} did not come about{self.last_words()}"
            subprocess.run(["sleep", str(pause)])  # the programs of Slurm can only be asked

    def start_munge(self):
        with open(self.at("munge.key"), "wb") as key:
            key.write(os.urandom(128))
        os.chmod(self.at("munge.key"), 0o400)
        self.begin("munged", "munged", "--foreground", "--force", "--key-file=" + self.at("munge.key"),
                   "--socket=" + self.at("munge.sock"), "--pid-file=" + self.at("munged.pid"),
                   "--log-file=" + self.at("log", "munged.own"), "--seed-file=" + self.at("munged.seed"))
        self.wait_for(lambda: os.path.exists(self.at("munge.sock")), "munge's socket")

    def start(self):
        self.write_files()
        self.start_munge()
        self.start_database()
        self.begin("slurmdbd", "slurmdbd", "-D")
        self.wait_for(lambda: self.answers("sacctmgr", "-n", "show", "cluster"), "slurmdbd")
        self.make_accounts()
        self.start_controller()
        self.start_nodes()

    def start_nodes(self):
        for node in (*self.nodes, *self.gpu_nodes):
            os.mkdir(self.at("spool", node))
            self.begin("slurmd-" + node, "slurmd", "-D", "-N", node, "-f", self.at("slurm.conf"))
        self.wait_for(self.all_idle, "nodes")

    def start_controller(self):
        self.begin("slurmctld", "slurmctld", "-D", "-f", self.at("slurm.conf"))
        self.wait_for(lambda: self.answers("scontrol", "ping"), "slurmctld")

    def restart_controller(self):
        at = next(at for at, (name, _) in enumerate(self.running) if name == "slurmctld")
        _, process = self.running.pop(at)
        process.terminate()
        process.wait(PATIENCE)
        self.start_controller()

    def answers(self, *command):
        return subprocess.run(command, env=self.env, capture_output=True).returncode == 0

    def all_idle(self):
        return set(self.ask("sinfo", "-h", "-N", "-o", "%T").split()) == {"idle"}

    def start_database(self):
        subprocess.run(["mariadb-install-db", "--no-defaults", "--user=root", "--datadir=" + self.at("db"),
                        "--skip-test-db"], check=True, capture_output=True,
                       env=dict(os.environ, TMPDIR=self.folder))  # two at once must not share their temporary tables
        self.write("first.sql", "CREATE USER 'slurm'@'127.0.0.1' IDENTIFIED BY 'secret';\n"
                                "GRANT ALL ON *.* TO 'slurm'@'127.0.0.1';\nFLUSH PRIVILEGES;\n")
        self.begin("mariadbd", "mariadbd", "--no-defaults", "--user=root", "--datadir=" + self.at("db"),
                   "--socket=" + self.at("db.sock"), "--bind-address=127.0.0.1", f"--port={self.ports['db']}",
                   "--pid-file=" + self.at("db.pid"), "--skip-name-resolve", "--innodb-buffer-pool-size=64M",
                   "--innodb-lock-wait-timeout=900", "--innodb-flush-log-at-trx-commit=0",
                   "--init-file=" + self.at("first.sql"))
        self.wait_for(lambda: self.sql("SELECT 1", check=False).strip() == "1", "MariaDB")

    def sql(self, text, check=True):
        return self.ask("mariadb", "--no-defaults", "-h127.0.0.1", f"-P{self.ports['db']}", "-uslurm", "-psecret", "-N",
                        "-e", text, check=check)

    def write_files(self):
        host = socket.gethostname().split(".")[0]
        for at in range(max((count for _, _, count in self.gpus), default=0)):
            if not os.path.exists(self.at("gpu", f"fake{at}")):
                os.mknod(self.at("gpu", f"fake{at}"), 0o20666, os.makedev(1, 3))
        fakes = [f"NodeName={nodes} Name=gpu Type={kind} File={self.at('gpu')}/fake[0-{count - 1}]\n"
                 for nodes, kind, count in self.gpus if self.gpu_nodes]
        self.write("gres.conf", "".join(fakes))
        self.write("cgroup.conf", "CgroupPlugin=cgroup/v1\n")  # it makes none, and starts where no control groups are mounted
        self.write("slurmdbd.conf", "\n".join((
            "DbdHost=localhost", "DbdAddr=127.0.0.1", f"DbdPort={self.ports['dbd']}", "SlurmUser=root",
            "AuthType=auth/munge", f"AuthInfo=socket={self.at('munge.sock')}", "StorageType=accounting_storage/mysql",
            "StorageHost=127.0.0.1", f"StoragePort={self.ports['db']}", "StorageUser=slurm", "StoragePass=secret",
            "StorageLoc=accounting", f"LogFile={self.at('log', 'slurmdbd.own')}",
            f"PidFile={self.at('slurmdbd.pid')}", "DebugLevel=info")) + "\n", 0o600)
        lines = [
            "ClusterName=toy", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root",
            f"SlurmctldPort={self.ports['ctld']}", "AuthType=auth/munge",
            f"AuthInfo=socket={self.at('munge.sock')}", "CredType=cred/munge",
            "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny", f"StateSaveLocation={self.at('state')}",
            f"SlurmdSpoolDir={self.at('spool')}/%n", f"SlurmctldPidFile={self.at('slurmctld.pid')}",
            f"SlurmdPidFile={self.at('slurmd-%n.pid')}", f"SlurmctldLogFile={self.at('log', 'slurmctld.own')}",
            f"SlurmdLogFile={self.at('log', 'slurmd-%n.own')}", "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=127.0.0.1",
            f"AccountingStoragePort={self.ports['dbd']}", f"AccountingStoragePass={self.at('munge.sock')}",
            "AccountingStorageTRES=" + self.tres,
            "AccountingStorageEnforce=associations,qos,limits", "SelectType=select/cons_tres",
            "SelectTypeParameters=" + self.select, "SlurmdParameters=config_overrides", "PropagateResourceLimits=NONE",
            "ReturnToService=2", "MpiDefault=none", "DefMemPerCPU=100", "GresTypes=gpu",
            "Licenses=" + self.licences, "SchedulerType=" + self.scheduler_type,
            "SchedulerParameters=" + self.scheduler,
            "PriorityType=priority/multifactor", *self.priority, "KillWait=2", "MinJobAge=3600", "OverTimeLimit=0", "InactiveLimit=0",
            "PropagatePrioProcess=0", *self.lines]
        for node in (*self.nodes, *self.gpu_nodes):
            lines.append(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={self.ports[node]} "
                         f"State=UNKNOWN {self.describe(node)}")
        self.write("slurm.conf", "\n".join((*lines, *self.partitions)) + "\n")

    def describe(self, node):
        """What stands in slurm.conf of a node beside how it is reached."""
        extra = "Feature=gpu Weight=10 Gres=gpu:a100:2" if node in self.gpu_nodes else "Feature=cpu,intel Weight=1"
        return f"CPUs={self.cpus} RealMemory={self.memory} {extra}"

    def make_accounts(self):
        for command in ("add cluster toy", *self.accounts):
            done = subprocess.run(["sacctmgr", "-i", *command.split()], env=self.env, capture_output=True, text=True)
            nothing_new = "Nothing new added" in done.stdout + done.stderr or "already exists" in done.stdout
            assert done.returncode == 0 or nothing_new, f"{command}: {done.stdout}{done.stderr}{self.last_words()}"

    def stop(self):
        if any(name == "slurmctld" and process.poll() is None for name, process in self.running):
            self.cancel_all()
        for name, process in reversed(self.running):
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.running = []
        self.kept.close()

    def cancel_all(self):
        """Jobs end before their daemons, or what runs them would outlive these."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            left = self.ask("squeue", "-h", "-t", "R,S,CG,CF,PD", "-o", "%i", check=False).split()
            if not left:
                return
            for user in self.users:
                subprocess.run(["scancel", "--quiet", "--user=" + user], env=self.env, capture_output=True)
            subprocess.run(["sleep", "0.2"])
