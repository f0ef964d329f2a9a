"""The instants that sacct does not tell, from slurmctld's own log (SlurmctldDebug=debug, DebugFlags=Backfill): parts of seconds, when the
main pass looks at the queue, when the backfill pass comes, and how much longer than a second it is from one look to the next."""
import datetime
import gzip
import itertools
import json
import os
import re
import statistics

LINE = re.compile(r"\[(\S+)\] (.*)")
JOB = r"JobId=(\d+)(?:_\d+\((\d+)\))?"  # a task of an array has a number of its own in brackets, but for the last one
EVENTS = {"submit": re.compile("_slurm_rpc_submit_batch_job: " + JOB), "end": re.compile("_job_complete: " + JOB + " done"),
          "start": re.compile("(?:sched/backfill: _start_job: Started|sched: Allocate) " + JOB),
          "main": re.compile("debug:  sched: Running job scheduler"),
          "backfill": re.compile("sched/backfill: _attempt_backfill: beginning")}


def instant(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()


class Instants:
    def __init__(self, log):
        self.jobs = {"submit": {}, "start": {}, "end": {}}
        self.passes = {"main": [], "backfill": []}
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

    def tick(self):
        """From one look at the queue to the next: a second of sleep, and what is done besides."""
        passes = self.passes["backfill" if len(self.passes["backfill"]) > 10 else "main"]
        return statistics.median((b - a) / round(b - a) for a, b in itertools.pairwise(passes) if round(b - a) > 0)

    def first(self, kind):
        """The passes that came once there were jobs."""
        return [at for at in self.passes[kind] if at >= min(self.jobs["submit"].values())]

    def zero(self):
        """Shortly before the first job, and a whole number of looks at the queue before the main passes."""
        return min(self.jobs["submit"].values()) // 1 - 1 + statistics.median(at % 1 for at in self.first("main")[:20])


def in_seconds(period):
    """Of a time as a policy has it: 1m, 58s, 90s, 1m30s."""
    return sum(int(number) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit] for number, unit in re.findall(r"(\d+)([smhd])", period))


def with_instants(folder, log, into):
    """Writes the jobs of an import with them; the policy that goes with that. Nothing: a job ran more than once."""
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
    later = min(known.jobs["submit"].values()) // 1 - zero  # than second 0 of this log is that of the import
    if "calc-period" in knobs:
        phase = in_seconds(knobs.get("calc-phase", "0s")) + later
        knobs["calc-phase"] = f"{round(1000 * (phase % in_seconds(knobs['calc-period'])))}ms"
    if knobs.get("bf-interval") != "no":
        knobs["bf-phase"] = f"{round(1000 * (known.first('backfill')[0] - zero))}ms"
        knobs["bf-clock"] = f"{round(1000 * (zero % 86400))}ms"
    knobs["tick"] = f"{round(1000 * known.tick())}ms"
    policy = "+".join(["slurm", *(f"{name}={value}" for name, value in knobs.items())])
    head["notes"] = [f"policy of the site: {policy}"]
    with open(into, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in (head, *jobs))
    return policy
