"""Slurm sites of a dozen kinds, drawn by a seed: what stands in slurm.conf and in the accounting, and a backlog of jobs
that sleep. A kind says what its sites have to do with; how much of it, and all that is beside the point, is drawn."""
import os
import random
import sys
from typing import NamedTuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from slurm_site import SlurmSite  # noqa: E402  of tests/live

USERS = ("daemon", "bin", "sys", "games", "man", "lp", "mail", "news")


class Job(NamedTuple):
    size: int  # processors
    sleep: float  # seconds
    user: str
    options: tuple  # of sbatch
    tasks: int = 1
    pause: float = 0  # seconds after the one before


class DrawnSite(SlurmSite):
    """Eight users of one account on a few nodes, first in, first out; kinds change what they are about."""
    gpu_nodes = gpus = ()
    licences = "matlab:3"
    tres = "gres/gpu,license/matlab"
    users = USERS
    pressure = 2.5  # jobs come so many times as fast as they can run
    sizes = ((1, 2, 3, 4, 6, 8, 12, 16), (26, 20, 8, 16, 8, 10, 4, 6))  # processors, and how often

    def __init__(self, folder, seed):
        self.dice = random.Random(f"{type(self).__name__} {seed}")
        self.cpus, self.memory, self.seconds = self.dice.choice((8, 16)), 16000, self.dice.choice((20, 25, 30))
        # Jobs are a hundred times shorter than those of a site, and so are the pauses between looks at the queue.
        self.scheduler = "bf_interval={},bf_resolution={},batch_sched_delay={},bf_yield_interval=5000000".format(
            self.dice.choice((2, 3, 5, 10)), self.dice.choice((10, 30, 60)), self.dice.choice((0, 1)))
        self.priority = ("PriorityWeightAge=1000", "PriorityMaxAge=0-01:00:00", "PriorityCalcPeriod=1")
        self.partitions = ("PartitionName=main Nodes=ALL Default=YES MaxTime=60 DefaultTime=10 State=UP",)
        self.accounts = ("add account all cluster=toy", *(f"add user {user} account=all" for user in USERS))
        self.draw()
        super().__init__(folder, self.node_names())

    def node_names(self):
        return tuple(f"n{at + 1}" for at in range(64 // self.cpus))

    def describe(self, node):
        return f"CPUs={self.cpus} RealMemory={self.memory}"

    def draw(self):
        """Changes what the kind is about."""

    def processors(self):
        return self.cpus * len(self.nodes)

    def wants(self, size, sleep):
        """The user, and options of sbatch beside how many processors; or None, for any user."""
        return self.dice.choice(USERS), ()

    def length(self):
        return round(min(2 + self.dice.expovariate(1 / (self.seconds - 2)), 4 * self.seconds), 1)

    def draw_job(self):
        size, sleep = min(self.dice.choices(*self.sizes)[0], self.processors()), self.length()
        limit = 1 + int(sleep * self.dice.choice((1, 1, 1.5, 3, 5)) / 60)
        user, options = self.wants(size, sleep)
        return Job(size, sleep, user, (f"-t{limit}", *options))

    def backlog(self, jobs):
        drawn = self.with_arrays([self.draw_job() for _ in range(jobs)])
        work = sum(job.size * job.sleep * job.tasks for job in drawn)
        rate = self.pressure * len(drawn) * self.processors() / work
        return [job._replace(pause=self.dice.expovariate(rate)) for job in drawn]

    def with_arrays(self, jobs):
        return jobs

    def meanwhile(self):
        """Done once the site has started, before the first job."""


class Shares(DrawnSite):
    """Fair share alone: a few users with long jobs, others with short ones."""

    def draw(self):
        self.priority = ("PriorityWeightFairShare=100000", "PriorityCalcPeriod=1",
                         f"PriorityDecayHalfLife={self.dice.choice(('0-00:30:00', '7-0'))}")
        self.accounts = ("add account all cluster=toy",
                         *(f"add user {user} account=all fairshare={self.dice.choice((1, 1, 1, 2))}" for user in USERS[:4]))

    def wants(self, size, sleep):
        return USERS[0] if sleep > 1.6 * self.seconds else self.dice.choice(USERS[1:4]), ()


class Accounts(DrawnSite):
    """A tree of accounts and three QOS: shares, ages, sizes, partitions."""

    def draw(self):
        weights = {name: self.dice.choice((1000, 5000, 20000)) for name in ("Age", "JobSize", "QOS", "Partition")}
        self.priority = (*(f"PriorityWeight{name}={weight}" for name, weight in weights.items()),
                         "PriorityWeightFairShare=20000", "PriorityMaxAge=0-00:10:00", "PriorityCalcPeriod=1",
                         "PriorityDecayHalfLife=0-01:00:00", f"PriorityFavorSmall={self.dice.choice(('YES', 'NO'))}")
        self.partitions = ("PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP",
                           "PartitionName=quick Nodes=ALL MaxTime=60 State=UP PriorityJobFactor=10")
        self.of = {user: account for account, users in
                   (("plasma", USERS[:2]), ("solid", USERS[2:4]), ("chemistry", USERS[4:6]), ("guests", USERS[6:]))
                   for user in users}
        shares = lambda: self.dice.choice((1, 2, 5))  # noqa: E731
        self.accounts = ("add qos high priority=100", "add qos low priority=10 usagefactor=0.5",
                         f"add account physics cluster=toy fairshare={shares()}",
                         f"add account plasma cluster=toy parent=physics fairshare={shares()}",
                         f"add account solid cluster=toy parent=physics fairshare={shares()}",
                         f"add account chemistry cluster=toy fairshare={shares()}",
                         f"add account guests cluster=toy fairshare={shares()}",
                         *(f"add user {user} account={account} fairshare={shares()} qos=normal,high,low"
                           for user, account in self.of.items()))

    def wants(self, size, sleep):
        user = self.dice.choice(USERS[:5] + USERS[:2])
        qos = self.dice.choice(("normal", "normal", "low", "high"))
        return user, ("-A" + self.of[user], "--qos=" + qos, "-p" + self.dice.choice(("main", "main", "quick")))


class Tiers(DrawnSite):
    """Three partitions of three tiers over overlapping nodes, features, nodes by name."""

    def draw(self):
        self.cpus = 8
        self.partitions = ("PartitionName=main Nodes=n[1-8] Default=YES MaxTime=60 State=UP PriorityTier=10",
                           "PartitionName=fast Nodes=n[1-4] MaxTime=10 State=UP PriorityTier=30",
                           "PartitionName=spare Nodes=n[3-8] MaxTime=60 State=UP PriorityTier=1")
        self.features = {f"n{at + 1}": ",".join(name for name, chance in (("avx", 0.6), ("ib", 0.4), ("big", 0.3))
                                                if self.dice.random() < chance or at == 3) for at in range(8)}

    def describe(self, node):
        features = self.features[node]
        return f"{super().describe(node)} Weight={1 + int(node[1:]) // 4}" + (f" Feature={features}" if features else "")

    def wants(self, size, sleep):
        user, partition = self.dice.choice(USERS), self.dice.choice(("main", "main", "fast", "spare"))
        kind = self.dice.random()
        if kind < 0.25 and size <= self.cpus:
            return user, ("-p" + partition, "-C" + self.dice.choice(("avx", "ib", "big", "avx|ib", "avx&ib")))
        if kind < 0.35 and size <= self.cpus and partition == "main":
            return user, ("-p" + partition, "-N1", "-w" + self.dice.choice(tuple(self.features)))
        return user, ("-p" + partition,)


class Gpus(DrawnSite):
    """GPUs of two types in nodes of two weights; jobs that name a type and jobs that do not."""
    gpu_nodes = ("g1", "g2", "h1")
    sizes = ((1, 2, 3, 4, 6, 8), (30, 22, 8, 16, 8, 8))
    tres = "gres/gpu,gres/gpu:a100,gres/gpu:v100,license/matlab"

    def draw(self):
        self.gpus = (("g[1-2]", "v100", 4), ("h1", "a100", self.dice.choice((2, 4))))
        self.cpus = 8
        self.partitions = (
            "PartitionName=main Nodes=n[1-2],g[1-2],h1 Default=YES MaxTime=60 State=UP",
            f"PartitionName=gpu Nodes=g[1-2],h1 MaxTime=60 State=UP DefMemPerGPU=1000 DefCpuPerGPU={self.dice.choice((1, 2))}")
        self.lines = ("DefMemPerCPU=500",)
        self.weights = self.dice.sample((1, 5, 10), 3)

    def node_names(self):
        return ("n1", "n2")

    def processors(self):
        return self.cpus * 5

    def describe(self, node):
        extra = {"n": f"Weight={self.weights[0]}", "g": f"Weight={self.weights[1]} Gres=gpu:v100:4",
                 "h": f"Weight={self.weights[2]} Gres=gpu:a100:{self.gpus[1][2]}"}[node[0]]
        return f"CPUs={self.cpus} RealMemory={self.memory} {extra}"

    def wants(self, size, sleep):
        user = self.dice.choice(USERS)
        if self.dice.random() < 0.35:
            return user, ("-pmain",)
        kind = self.dice.choice(("", "", "v100:", "a100:"))
        gpus = self.dice.choice((1, 1, 2))
        return user, ("-pgpu", "-N1", f"--gres=gpu:{kind}{gpus}")


class Limits(DrawnSite):
    """Limits of users, accounts, QOS and a partition."""

    def draw(self):
        low, high = self.dice.choice((3, 4)), self.dice.choice((16, 24))
        self.partitions = ("PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP",
                           "PartitionName=few Nodes=ALL MaxTime=60 State=UP QOS=ofpart")
        self.accounts = (f"add qos high priority=100 MaxTRESPerUser=cpu={high} MaxJobsPerUser={low + 2}",
                         f"add qos ofpart GrpTRES=cpu={high}",
                         f"add account physics cluster=toy GrpTRES=cpu={high + 12}",
                         f"add account plasma cluster=toy parent=physics GrpJobs={low + 1}",
                         "add account chemistry cluster=toy",
                         *(f"add user {user} account={account} qos=normal,high MaxJobs={low}" for user, account in
                           (("daemon", "physics"), ("bin", "plasma"), ("sys", "plasma"), ("games", "chemistry"),
                            ("daemon", "plasma"))),
                         *(f"add user {user} account=chemistry qos=normal,high" for user in ("man", "lp", "mail", "news")))

    def wants(self, size, sleep):
        user, account = self.dice.choice((("daemon", "physics"), ("bin", "plasma"), ("sys", "plasma"), ("games", "chemistry"),
                                          ("daemon", "plasma"), ("man", "chemistry"), ("lp", "chemistry"), ("mail", "chemistry")))
        return user, ("-A" + account, "--qos=" + self.dice.choice(("normal", "normal", "high")),
                      "-p" + self.dice.choice(("main", "main", "few")))


class Arrays(DrawnSite):
    """Arrays with throttles among single jobs."""
    pressure = 8

    def with_arrays(self, jobs):
        kept, tasks = [], 0
        for at, job in enumerate(jobs):
            if tasks + at >= len(jobs):
                break
            if at % 6 == 3:
                count, throttle = self.dice.choice((8, 12, 16)), self.dice.choice((2, 3, 4))
                job = job._replace(size=2, options=(*job.options, f"--array=1-{count}%{throttle}"), tasks=count)
                tasks += count - 1
            kept.append(job)
        return kept


class Preemption(DrawnSite):
    """Jobs of one QOS take processors from jobs of another."""

    def draw(self):
        how = self.dice.choice(("REQUEUE", "CANCEL"))
        self.priority = (*self.priority, "PriorityWeightQOS=10000", "PreemptType=preempt/qos", "PreemptMode=" + how)
        self.accounts = ("add qos scavenger priority=0", "add qos urgent priority=100 preempt=scavenger",
                         "add account all cluster=toy",
                         *(f"add user {user} account=all qos=normal,scavenger,urgent" for user in USERS))

    def wants(self, size, sleep):
        return self.dice.choice(USERS), ("--qos=" + self.dice.choice(("normal", "scavenger", "urgent")), "--requeue")


class Reserved(DrawnSite):
    """Maintenance of some nodes, and a reservation of others for one user."""

    def meanwhile(self):
        half = len(self.nodes) // 2
        self.ask("scontrol", "create", "reservation", "ReservationName=upkeep", "Users=root", "Flags=MAINT",
                 f"StartTime=now+{self.dice.choice((60, 90))}", "Duration=1", f"Nodes=n[1-{half}]")
        self.ask("scontrol", "create", "reservation", "ReservationName=course", "Users=" + USERS[0], "StartTime=now+20",
                 "Duration=2", f"Nodes=n{half + 1}")

    def wants(self, size, sleep):
        user = self.dice.choice(USERS)
        return user, ("--reservation=course",) if user == USERS[0] and size <= self.cpus and sleep < 30 else ()


class Threads(DrawnSite):
    """Whole cores of two hyperthreads, and memory beside processors."""
    select = "CR_Core_Memory"

    def draw(self):
        self.cpus = 8
        self.partitions = (f"PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP MaxMemPerCPU={self.dice.choice((600, 1000))}",)
        self.lines = ("DefMemPerCPU=300",)

    def describe(self, node):
        return f"CPUs=8 Sockets=1 CoresPerSocket=4 ThreadsPerCore=2 RealMemory={self.memory}"

    def wants(self, size, sleep):
        memory = self.dice.choice(((), (), ("--mem-per-cpu=500",), ("--mem=1500", "-N1"), ("--hint=nomultithread",)))
        return self.dice.choice(USERS), memory if size <= self.cpus or "-N1" not in memory else ()


class Builtin(DrawnSite):
    """No backfill, and licences."""
    scheduler_type = "sched/builtin"

    def draw(self):
        self.licences = f"matlab:{self.dice.choice((3, 5))}"

    def wants(self, size, sleep):
        return self.dice.choice(USERS), ("-Lmatlab:1",) if self.dice.random() < 0.15 else ()


class Wide(DrawnSite):
    """Jobs as wide as the whole site among small ones."""

    def draw(self):
        self.seconds = 14
        self.sizes = ((1, 2, 4, 8, 16, 48, 64), (26, 22, 18, 14, 6, 2, self.dice.choice((1, 2))))


class Minutes(DrawnSite):
    """Limits of minutes of processors, that run at one time and in all, and a usage factor."""

    def draw(self):
        self.priority = ("PriorityWeightFairShare=10000", "PriorityWeightAge=1000", "PriorityCalcPeriod=1",
                         "PriorityDecayHalfLife=0-00:10:00")
        self.accounts = ("add qos cheap usagefactor=0.2",
                         f"add account physics cluster=toy GrpTRESRunMins=cpu={self.dice.choice((160, 200))}",
                         "add account chemistry cluster=toy GrpTRESMins=cpu=100000",
                         *(f"add user {user} account={account} qos=normal,cheap" for account, users in
                           (("physics", USERS[:3]), ("chemistry", USERS[3:6])) for user in users))

    def wants(self, size, sleep):
        user = self.dice.choice(USERS[:6])
        return user, ("--qos=" + self.dice.choice(("normal", "cheap")),)


KINDS = {kind.__name__.lower(): kind for kind in (Shares, Accounts, Tiers, Gpus, Limits, Arrays, Preemption, Reserved,
                                                   Threads, Builtin, Wide, Minutes)}
