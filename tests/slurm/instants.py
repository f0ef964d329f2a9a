"""The instants that sacct does not tell, from slurmctld's own log (SlurmctldDebug=debug, DebugFlags=Backfill): parts of seconds, when the
main pass looks at the queue, when the backfill pass comes, when shares are reckoned, and how much longer than a second it is from one look
to the next."""
import datetime
import gzip
import itertools
import json
import math
import os
import re
import statistics

LINE = re.compile(r"\[(\S+)\] (.*)")
JOB = r"JobId=(\d+)(?:_\d+\((\d+)\))?"  # a task of an array has a number of its own in brackets, but for the last one
EVENTS = {"submit": re.compile("_slurm_rpc_submit_batch_job: " + JOB), "end": re.compile("_job_complete: " + JOB + " done"),
          "start": re.compile("(?:sched/backfill: _start_job: Started|sched: Allocate) " + JOB),
          "shares": re.compile("priority/multifactor: _read_last_decay_ran"),
          "main": re.compile("debug:  sched: Running job scheduler"),
          "backfill": re.compile("sched/backfill: _attempt_backfill: beginning")}


def instant(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()


class Instants:
    def __init__(self, log):
        self.jobs = {"submit": {}, "start": {}, "end": {}}
        self.passes = {"shares": [], "main": [], "backfill": []}
        with open(log, encoding="utf-8", errors="replace") as file:
            for at, what in (found.groups() for found in map(LINE.match, file) if found):
                for event, pattern in EVENTS.items():
                    if found := pattern.match(what):
                        self.add(event, instant(at), found)

    def add(self, event, at, found):
        if event in self.passes:
            self.passes[event].append(at)
        else:
            self.jobs[event].setdefault(int(found[2] or found[1]), at)

    def apart(self, kind, about):
        """How far from each other these passes are, which come about so often: the sleep between them, and what is done besides."""
        steps = ((b - a, round((b - a) / about)) for a, b in itertools.pairwise(self.passes[kind]))
        return statistics.median(step / times for step, times in steps if times > 0)

    def tick(self):
        return self.apart("main", 1)

    def first(self, kind):
        """The passes that came once there were jobs."""
        return [at for at in self.passes[kind] if at >= min(self.jobs["submit"].values())]

    def zero(self):
        """Before the first job, and a whole number of looks at the queue before the main passes."""
        tick, (one, *others) = self.tick(), self.first("main")[:20]
        beside = statistics.median((at - one + tick / 2) % tick - tick / 2 for at in (one, *others))
        return one + beside - tick * (1 + math.ceil((one - min(self.jobs["submit"].values())) / tick))


def in_seconds(period):
    """Of a time as a policy has it: 1m, 58s, 90s, 1m30s."""
    return sum(int(number) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit] for number, unit in re.findall(r"(\d+)([smhd])", period))


def with_instants(folder, log, into):
    """Writes the jobs and the cluster of an import with them; the policy that goes with that. Nothing: a job ran more than once."""
    known = Instants(log)
    zero = known.zero()
    with gzip.open(os.path.join(folder, "jobs.jsonl.gz"), "rt", encoding="utf-8") as file:
        head, *jobs = map(json.loads, file)
    for job in jobs:
        submit, start, end = (known.jobs[event].get(job["number"]) for event in ("submit", "start", "end"))
        if not (submit and start and end) or abs(end - start - job["run_time"]) > 1.5:
            return None
        job.update(submit=round(submit - zero, 3), wait=round(start - submit, 3), run_time=round(end - start, 3))
    policy = re.search(r"policy of the site: (\S+)", " ".join(head["notes"]))[1]
    knobs = dict(knob.split("=", 1) for knob in policy.split("+")[1:])
    if "calc-period" in knobs:  # it begins with slurmctld
        knobs["calc-phase"] = f"{round(1000 * ((known.passes['shares'][0] - zero) % in_seconds(knobs['calc-period'])))}ms"
    if knobs.get("bf-interval") != "no":
        knobs["bf-interval"] = f"{round(1000 * known.apart('backfill', in_seconds(knobs.get('bf-interval', '30s'))))}ms"
        knobs["bf-phase"] = f"{round(1000 * (known.first('backfill')[0] - zero))}ms"
        knobs["bf-clock"] = f"{round(1000 * (zero % 86400))}ms"
    knobs["tick"] = f"{round(1000 * known.tick())}ms"
    policy = "+".join(["slurm", *(f"{name}={value}" for name, value in knobs.items())])
    head["notes"] = [f"policy of the site: {policy}"]
    with open(os.path.join(into, "jobs.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in (head, *jobs))
    with open(os.path.join(folder, "cluster.toml"), encoding="utf-8") as file:
        cluster = re.sub(r"(?m)^(start|end) = (\d+)$",
                         lambda found: f'{found[1]} = "{round(1000 * (int(found[2]) + head["unix_start"] - zero))}ms"', file.read())
    with open(os.path.join(into, "cluster.toml"), "w", encoding="utf-8") as file:
        file.write(cluster)
    return policy
