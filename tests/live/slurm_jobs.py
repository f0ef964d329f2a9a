"""Jobs of every kind for a Slurm cluster (slurm_site.py), with a ledger of what each of them was asked for."""

import os

AWKWARD = ["it's \"quoted\"", "a|b|c", "two\nlines", "Größe µ 作业", ",comma;semi", "$(echo no)", "back\\slash",
           "  blanks  ", "JobIDRaw|Submit|Start", "%x {curly} [square]"]


class SlurmJobs:
    def __init__(self, site):
        self.site = site
        self.asked = {}  # by job number: processors, nodes, gpus, gpu_type, licence, licences, memory of a node
        self.submissions = 0

    def batch(self, *options, run="sleep 1", asks=None, tasks=1):
        """Submits one; the number of the job, or of its array. `tasks`: how many jobs it is."""
        number = int(self.site.ask("sbatch", "--parsable", "-o", "/dev/null", "-e", "/dev/null", *options, "--wrap",
                                   run).strip().split(";")[0])
        self.asked[number] = asks or {}
        self.submissions += tasks
        return number

    def control(self, *command, check=True):
        return self.site.ask("scontrol", *command, check=check)

    def state(self, number):
        return self.site.ask("squeue", "-h", "-j", str(number), "-t", "all", "-o", "%T", check=False).strip()

    def await_state(self, number, *states):
        self.site.wait_for(lambda: self.state(number) in states, f"{' or '.join(states)} of job {number}")

    def begin_slow_ones(self):
        """Those that take a minute, because Slurm counts limits in minutes."""
        self.timeouts = [self.batch("-n1", "-t1", "-wn2", run="sleep 500") for _ in range(2)]

    def with_faults(self):
        """Those that something happens to while they run."""
        let_go = os.path.join(self.site.folder, "let-go")
        until_let_go = f"until [ -e {let_go} ]; do sleep 0.2; done"
        victims = [self.batch(f"-w{node}", "-n4", "-t5", "--requeue", asks={"processors": 4},
                              run="[ \"$SLURM_RESTART_COUNT\" ] || sleep 300; sleep 1") for node in ("n3", "n4")]
        resized = self.batch("-N2", "-n2", "-t5", "-wg1,g2", run=until_let_go, asks={"nodes": 2})
        suspended = self.batch("-n2", "-t5", "-wg1", run=until_let_go)
        requeued = [self.batch("-n1", "-t5", "-wg2", "--requeue", run="[ \"$SLURM_RESTART_COUNT\" ] || sleep 300; sleep 1")
                    for _ in range(3)]
        failing = [self.batch("-wn1", "-n1", "-t5", f"--{again}requeue",
                              run="[ \"$SLURM_RESTART_COUNT\" ] || sleep 300; sleep 1") for again in ("", "no-")]
        cancelled = [self.batch("-n1", "-t5", f"-w{node}", run="sleep 300") for node in ("n1", "n2") * 2]
        for number in (resized, suspended, *requeued, *failing, *victims, *cancelled):
            self.await_state(number, "RUNNING")
        self.control("suspend", str(suspended))
        self.control("update", f"JobId={resized}", "NumNodes=1")
        self.control("update", "NodeName=n1", "State=DOWN", "Reason=test")
        for number in requeued:
            self.control("requeue", str(number))
        self.site.ask("scancel", *map(str, cancelled))
        urgent = [self.batch("-purgent", "-n4", "-t5", "-Aphysics", run="sleep 2", asks={"processors": 4})
                  for _ in range(2)]
        self.control("update", "NodeName=n1", "State=RESUME", check=False)  # it may be back already
        self.control("resume", str(suspended))
        open(let_go, "w").close()
        for number in urgent:
            self.await_state(number, "COMPLETED")

    def many(self):
        """Those that ask for all that one can ask for."""
        for at in range(16):
            self.batch(f"-n{at % 4 + 1}", f"-t{at % 3 + 2}", run=f"sleep {at % 4 * 0.5}",
                       asks={"processors": at % 4 + 1})
        self.batch("-n1", "--array=1-40%6", "-t2", run="sleep 1", tasks=40)
        self.batch("-n1", "--array=1-30%4", "-t2", "--uid=daemon", "-Achemistry", run="sleep 1", tasks=30)
        self.batch("-n1", "--array=5,7,11-13", "-t2", "--uid=nobody", run="true", tasks=5)
        for at in range(8):
            gres = ("gpu:1", "gpu:a100:2")[at % 2]
            self.batch("-pgpu", "-n1", "-t2", f"--gres={gres}",
                       asks={"gpus": at % 2 + 1, "gpu_type": "a100" if at % 2 else None, "memory": 700 * (at % 2 + 1) << 20})
        for _ in range(3):
            self.batch("-pgpu", "-N2", "-n2", "-t2", "--gres=gpu:a100:1", asks={"gpus": 1, "gpu_type": "a100", "nodes": 2, "memory": 700 << 20})
        for at in range(10):
            licence, count = (("matlab", 1), ("fluent", 3))[at % 2]
            self.batch("-n1", "-t2", f"-L{licence}:{count}", asks={"licence": licence, "licences": count})
        self.unaccounted = [self.batch("-n1", "-t2", "-Lcomsol:2") for _ in range(2)]
        self.whole = self.batch("-N1", "-n1", "-t2", "--mem=0", asks={"memory": 4000 << 20})
        for refused in (("-n5", "-N1", "-wn1"), ("-N1", "-pgpu", "--gres=gpu:9")):
            self.site.ask("sbatch", *refused, "--wrap", "true", check=False)
        for at in range(6):
            self.batch("-N1", "-n1", "-t2", f"--mem={500 * (at + 1)}", asks={"memory": 500 * (at + 1) << 20})
            self.batch("-N1", "-n2", "-t2", "--mem-per-cpu=300", asks={"memory": 600 << 20, "processors": 2})
        for at in range(3):
            self.batch("--exclusive", "-N1", "-n1", "-t2", asks={"nodes": 1})
            self.batch("-N2", "-n4", "-t2", asks={"nodes": 2, "processors": 4})
        for name in AWKWARD:
            self.batch("-n1", "-t2", f"-J{name}", f"--comment={name}", run="true")
        for at in range(10):
            self.batch("-n1", "-t2", "-qhigh", f"-A{('physics', 'chemistry')[at % 2]}")
            self.batch("-pdebug", "-n2", "-t1", run="exit 3" if at % 2 else "true", asks={"processors": 2})
        self.batch("-n1", run="true")                # as long as the partition says
        self.batch("-pgpu", "-n1", "-tUNLIMITED", run="true")

    def in_order(self):
        """Those that wait for something else than room."""
        first = self.batch("-n1", "-t2", run="sleep 2")
        for kind in ("afterok", "afterany", "after"):
            self.batch("-n1", "-t2", f"-d{kind}:{first}")
        failing = self.batch("-n1", "-t2", run="exit 1")
        self.batch("-n1", "-t2", f"-dafternotok:{failing}")
        self.batch("-n1", "-t2", f"-dafterok:{failing}", "--kill-on-invalid-dep=yes")
        for at in range(4):
            self.batch("-n1", "-t2", f"--begin=now+{at + 3}seconds", run="true")
        held = [self.batch("-n1", "-t2", "-H", run="true") for _ in range(6)]
        self.site.ask("scancel", *map(str, held[4:]))
        tasks = self.batch("-n1", "-t2", "-H", "--array=1-6", tasks=6)
        self.site.ask("scancel", f"{tasks}_[1-3]")
        self.control("release", *map(str, held[:4]))
        self.control("release", str(tasks))
        for size in (1, 2):  # components
            number = int(self.site.ask("sbatch", "--parsable", "-o", "/dev/null", "-n1", "-t2", ":", "-n" + str(size),
                                       "-t2", "--wrap", "sleep 1").strip().split(";")[0])
            self.asked[number] = {"processors": 1}
            self.asked[number + 1] = {"processors": size}
            self.submissions += 2

    def left_over(self):
        """Those that still run or wait when the log is taken."""
        running = [self.batch("-n1", "-t60", run="sleep 1000") for _ in range(2)]
        waiting = [self.batch("-n1", "-H"), self.batch("-n1", "--begin=now+1day"),
                   self.batch("-n1", "-H", "--array=1-10", tasks=10)]
        for number in running:
            self.await_state(number, "RUNNING")
        self.left = {str(number) for number in (*running, *waiting)}

    def unfinished(self):
        """Those that are to end, and have not. Those that were queued again Slurm puts off for two minutes, or holds."""
        lines = self.site.ask("squeue", "-h", "-t", "PD,R,CG,CF,S,RQ", "-o", "%F %T %r").splitlines()
        lines = [line for line in lines if line.split()[0] not in self.left]
        for number, state, reason in (line.split(" ", 2) for line in lines):
            if state == "PENDING" and reason == "BeginTime":
                self.control("update", f"JobId={number}", "StartTime=now", check=False)
            if state == "PENDING" and ("launch" in reason or reason == "JobHeldAdmin"):
                self.control("release", number, check=False)
        return lines

    def run_all(self):
        self.begin_slow_ones()
        self.with_faults()
        self.in_order()
        self.many()
        self.left_over()
        try:
            self.site.wait_for(lambda: not self.unfinished(), "the end of all jobs but a few")
        except AssertionError as error:
            raise AssertionError(f"{self.unfinished()}\n{error}") from error
