#!/usr/bin/env python3
"""A rehearsal of jobs that really ran tells what really happened, under each policy: same order, same starts.

Usage: truth_test.py ROTA [JOBS [CASE...]]   With JOBS it is the long form, which `./dev truth` runs: so many real jobs
for each case, and a verdict in the end: whose starts are within 50 ms + 1 % of the time since the first submission.

The jobs are such that no decision hangs on milliseconds: all that start at one time have limits that are seconds apart, and
no job comes to drive others out while one of them is about to end. Ties and such races are left out.

How far the starts are from the rehearsal by the jobs' own clocks is printed, and asserted in the long form only. What is
always asserted is the order of the decisions, as far as the rehearsal puts them so far apart that a busy computer cannot turn
them round, and that no process ran before its start was decided or after its end was known.
"""
import csv
import itertools
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

from service import ServiceCase

JOBS, SEED = 12, 11
NEAR, SHARE = 0.05, 0.01  # of the verdict: seconds, and of the time since the first submission
VERDICTS = []

# Each dispatch writes a line when it begins and one when it has done its work: its clock, and the nodes that it was
# told. Most sleep; some compute for as long.
PROGRAM = "say() {{ echo $1 $(date +%s.%N) $ROTA_JOB_NODELIST >> told-$ROTA_JOB_ID; }}; say begun; {0}; say done"
SLEEP = "sleep {0}"
COMPUTE = "python3 -c 'import time\nend = time.monotonic() + {0}\nwhile time.monotonic() < end: sum(range(500))'"
STEPS = "i=0; while [ $i -lt {0} ]; do sleep 0.05; i=$((i + 1)); done"


class Told:
    """What the processes of a job have written."""

    def __init__(self, text):
        rows = [line.split() for line in text.splitlines()]
        self.begun = [float(row[1]) for row in rows if row[0] == "begun"]
        self.done = [float(row[1]) for row in rows if row[0] == "done"]
        self.nodes = rows[-1][2]


class Truth(ServiceCase):
    """Jobs under one policy. Each case says what is special about it."""
    configuration = 'name = "wide"\nprocessors = 8\n'
    policy = "easy"
    pause = 0.1        # seconds from one submission to the next, at most
    apart = 1.5        # seconds between starts that nothing can turn round
    moment = "start"   # or the end, where the latest start is that of no process

    def setUp(self):
        self.arguments = ("--policy", self.policy)
        self.dice = random.Random(SEED)
        super().setUp()

    def limit(self, number):
        """All that start at one time have limits that are seconds apart: by which of them a promise is made, or which
        job may go ahead of it, would be decided by milliseconds, where they are alike."""
        return 20 + number * 7 % 60

    def members(self, number):
        """Members of a job, beside its command."""
        return {"processors": self.dice.choice((1, 2, 3, 8)), "limit": self.limit(number)}

    def submit(self, number, **more):
        length = round(self.dice.choice((1, 2, 3, 5, 8)) * 0.25 + self.dice.random() * 0.2, 3)
        members = {**self.members(number), **more}
        return self.service.submit(PROGRAM.format(self.work(number, length)), name=f"job-{number}", **members)

    def work(self, number, length):
        return (COMPUTE if number % 8 == 7 else SLEEP).format(length)

    def submit_all(self):
        wait = threading.Event()
        for number in range(JOBS):
            self.before(number)
            self.submit(number)
            wait.wait(self.dice.random() * self.pause)

    def before(self, number):
        """What is waited for before a job is submitted."""

    def told(self):
        """What each job told, by number, once all have ended."""
        self.submit_all()
        self.service.all_end()
        return {name[5:]: Told(self.service.read(name)) for name in os.listdir(self.folder) if name.startswith("told-")}

    def rehearsed(self):
        path = os.path.join(self.folder, "rehearsed.csv")
        done = subprocess.run([self.rota, "simulate", self.service.state, "--policy", self.policy, "--jobs", path],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("recorded", done.stdout)
        self.assertNotIn("left out", done.stderr)
        with open(path) as file:
            return {row["number"]: row for row in csv.DictReader(file)}

    def decided(self):
        """Starts and ends by Rota's own word, by number, and what its rehearsals count from."""
        with sqlite3.connect(os.path.join(self.service.state, "rota.db")) as database:
            zero = database.execute("SELECT json_extract(text, '$.unix_start') FROM head").fetchone()[0]
            rows = database.execute("SELECT number, started, ended FROM history").fetchall()
        database.close()
        return {str(row[0]): zero + row[1] / 1000 for row in rows}, {str(row[0]): zero + row[2] / 1000 for row in rows}, zero

    def test_what_really_happened_is_what_the_rehearsal_tells(self):
        told = self.told()
        self.assertGreaterEqual(len(told), JOBS)
        rehearsed = self.rehearsed()
        self.assertEqual(told.keys(), rehearsed.keys())
        starts, ends, zero = self.decided()
        decided = starts if self.moment == "start" else ends
        expected = {job: zero + float(row[self.moment]) for job, row in rehearsed.items()}
        own = {job: (lines.begun if self.moment == "start" else lines.done)[-1] for job, lines in told.items()}
        first = zero + min(float(row["submit"]) for row in rehearsed.values())
        self.tell(own, decided, expected, first)
        for one, other in itertools.product(own, own):
            if expected[one] + self.apart < expected[other]:
                self.assertLess(decided[one], decided[other], f"job {one} and job {other}")
        for job, lines in told.items():
            if self.moment == "start":
                self.assertLess(starts[job], lines.begun[-1] + NEAR, f"job {job} began before it was started")
            self.assertLess(max(lines.begun + lines.done), ends[job] + NEAR, f"job {job} went on after its end")
        self.also(told, starts)

    def also(self, told, starts):
        """What else the processes must have seen; `starts` are decided."""

    def tell(self, own, decided, expected, first):
        def apart(clock):
            off = sorted(abs(clock[job] - expected[job]) * 1000 for job in expected)
            return f"{off[len(off) // 2]:.0f} ms at the median, {off[-1]:.0f} ms at most"
        inside = sum(abs(own[job] - expected[job]) <= NEAR + SHARE * (expected[job] - first) for job in expected)
        name = type(self).__name__
        print(f"{name} ({self.policy}): {inside} of {len(own)} jobs within {NEAR * 1000:.0f} ms + {SHARE * 100:.0f} % "
              f"of the rehearsal; by their own clocks {apart(own)}; as decided {apart(decided)}", file=sys.stderr)
        VERDICTS.append((name, len(own), inside))

    def assert_never_more(self, spans, most, what):
        """Spans of (from, until, weight), which never weigh more than that at one time."""
        for begin, _, _ in spans:
            held = sum(weight for other, until, weight in spans if other <= begin < until)
            self.assertLessEqual(held, most, what)


class Easy(Truth):
    pass


class Conservative(Truth):
    policy = "conservative"


class DrivenOut(Truth):
    """Jobs of higher priority come meanwhile, while a job runs, and none is about to end: whether a job is driven out or
    has just ended would be decided by what starts take, a few milliseconds each. They add up while there are jobs all
    the time: the jobs of a rehearsal are as much ahead as a hundredth of that."""
    apart = 3
    alone = 0  # when there was no job last

    @property
    def pause(self):
        return 1 if JOBS > 20 else 0.4

    def about(self):
        """Seconds in which two ends may change places."""
        return max(0.3, SHARE * (time.monotonic() - self.alone))

    def is_clear(self):
        """In the short form it is enough that a job is left to be driven out."""
        if not self.service.live():
            self.alone = time.monotonic()
            return True
        rows = self.service.ask("GET", "/v1/jobs?state=RUNNING")[1]["jobs"]  # where none runs, one is about to start
        return bool(rows) and (JOBS <= 20 or not any(map(self.about_to_end, rows)))

    def before(self, number):
        self.alone = self.alone or time.monotonic()
        if number % 6 == 5:
            self.service.wait_for(self.is_clear, "a time at which nobody is about to end")


class Requeue(DrivenOut):
    """Those that are driven out begin anew. In order of the queue: where jobs are backfilled, the few milliseconds that
    processes need to leave decide which job slips in."""
    policy = "fcfs+preempt=requeue"

    def about_to_end(self, row):
        """Steps take longer than they sleep, and it is not known by how much."""
        return self.lengths[row["id"]] - self.about() < row["elapsed"] + self.kept(row)

    def kept(self, _row):
        """What is kept of the work that it did before it was driven out."""
        return 0

    def work(self, number, length):
        self.lengths = {**getattr(self, "lengths", {}), str(number + 1): length}
        return super().work(number, length)

    def members(self, number):
        members = {**super().members(number), "requeue": True}
        return {**members, "priority": 5, "processors": 8} if number % 6 == 5 else members

    def also(self, told, starts):
        again = sum(len(lines.begun) - 1 for lines in told.values())
        self.assertGreater(again, 0, "nobody was driven out")
        print(f"{again} dispatches were driven out, and began anew", file=sys.stderr)


class RequeueEasy(Requeue):
    """Requeue where jobs are backfilled. They are so many processors wide that which job slips in does not hang on a few
    milliseconds: no job fits beside another but one that fits beside any."""
    policy = "easy+preempt=requeue"

    def members(self, number):
        members = super().members(number)
        return {**members, "processors": 8 if number % 6 == 5 else self.dice.choice((2, 6))}


class Suspend(Requeue):
    """As Requeue, but they go on where they were stopped: what tells of that is when they end. They work in steps, since
    the time to sleep goes on while a process is stopped."""
    policy = "fcfs+preempt=suspend"
    moment = "end"

    def kept(self, row):
        return row.get("earlier_elapsed", 0)

    def work(self, number, length):
        super().work(number, length)
        return STEPS.format(round(length / 0.05))

    def also(self, told, starts):
        for job, lines in told.items():
            self.assertEqual((len(lines.begun), len(lines.done)), (1, 1), f"job {job} is one process from end to end")


class SuspendEasy(Suspend, RequeueEasy):
    """As they were, where jobs are backfilled."""
    policy = "easy+preempt=suspend"


# A job that counts its steps, and writes down how far it is when it is told to; while it does that it does no step.
COUNTED = ("rm -f saving-$ROTA_JOB_ID; n=$(cat saved-$ROTA_JOB_ID 2> /dev/null || echo 0); while [ $n -lt {0} ]; do "
           "[ ! -e saving-$ROTA_JOB_ID ] || sleep 9; sleep 0.05; n=$((n + 1)); echo $n > next-$ROTA_JOB_ID; "
           "mv next-$ROTA_JOB_ID now-$ROTA_JOB_ID; done; echo step $n - >> steps-$ROTA_JOB_ID")
SAVES = "echo > saving-$ROTA_JOB_ID; [ ! -e now-$ROTA_JOB_ID ] || cat now-$ROTA_JOB_ID > saved-$ROTA_JOB_ID"


class Counting(Truth):
    """Jobs that keep what they have done by a checkpoint: each does all its steps, and none of them twice but those
    that were not written down."""

    def work(self, number, length):
        steps = round(length / 0.05)
        self.steps = {**getattr(self, "steps", {}), str(number + 1): steps}
        return COUNTED.format(steps)

    def also(self, told, starts):
        for job, steps in self.steps.items():
            self.assertEqual(self.service.read(f"steps-{job}").split(), ["step", str(steps), "-"], f"steps of job {job}")
        again = sum(len(lines.begun) - 1 for lines in told.values())
        kept = sum(os.path.exists(os.path.join(self.folder, f"saved-{job}")) for job in self.steps)
        self.assertGreater(min(again, kept), 0, f"{again} went on from a checkpoint, and {kept} have kept something")
        print(f"{again} dispatches went on from {kept} checkpoints", file=sys.stderr)


class Checkpoint(Counting, DrivenOut):
    """A job that is driven out writes a checkpoint first, which takes as long as the rehearsal is told."""
    policy = "fcfs+preempt=checkpoint+checkpoint=1"

    def about_to_end(self, row):
        """Or has only just begun, and would not see yet that it is to write down how far it is."""
        path = f"now-{row['id']}"
        done = self.service.read(path) if os.path.exists(os.path.join(self.folder, path)) else ""
        return row["elapsed"] < 0.3 or self.steps[row["id"]] - int(done or 0) < 4 + self.about() / 0.05

    def members(self, number):
        members = {**super().members(number), "limit": self.limit(number) + 60, "checkpoint": SAVES + "; sleep 0.995"}
        return {**members, "priority": 5, "processors": 8} if number % 6 == 5 else members


class Moves(Counting):
    """Two nodes of which one is a little faster, as far as the policy knows: a job that runs on the other one moves there
    once it is free, with what it has done so far. The real ones are alike, and what a move costs is the few
    milliseconds that it takes."""
    configuration = ('name = "pair"\n[[nodes]]\nnames = "slow"\nprocessors = 1\n'
                     '[[nodes]]\nnames = "fast"\nprocessors = 1\ncpu_factor = 1.001\n')
    policy = "fcfs+migrate=gain"
    moment = "end"
    pause = 2  # so that the fast node is free at times while a job runs on the other
    apart = 3

    def work(self, number, length):
        return super().work(number, {JOBS - 2: 2, JOBS - 1: 5}.get(number, length))

    def before(self, number):
        """The last two are alone in the end: the one on the fast node makes room for the other one."""
        if number == JOBS - 2:
            self.service.all_end()

    def members(self, number):
        # A move has to gain two minutes by what is expected: a thousandth of so long a limit.
        return {"processors": 1, "limit": 200_000, "checkpoint": SAVES}

    def also(self, told, starts):
        super().also(told, starts)
        spans = {"slow": [], "fast": []}
        for lines in told.values():
            spans[lines.nodes].append((lines.begun[-1], lines.done[-1], 1))
        for node, held in spans.items():
            self.assert_never_more(held, 1, f"jobs on {node}")


# A node of these is on while its file is there; the cluster file says how long it takes to come and to go.
SWITCH = """#!/bin/sh
cd "$(dirname "$0")" || exit 1
echo "$1 $ROTA_NODE" >> asked
if [ "$1" = on ]; then : > on-$ROTA_NODE; else rm -f on-$ROTA_NODE; fi
"""


class Power(Truth):
    """Nodes that no job uses are put to sleep, and woken by commands that take their time. Jobs come twice, with a rest
    between them in which all nodes sleep."""
    configuration = """name = "plugs"
[[nodes]]
names = "n[1-3]"
processors = 2
boot_time = "2s"
shutdown_time = "1s"
power_timeout = "1h"
suspend_command = "{0}/switch.sh off"
resume_command = "{0}/switch.sh on"
"""
    policy = "easy+power=idle-timeout+power-idle=2"
    apart = 8

    def prepare(self):
        with open(os.path.join(self.folder, "switch.sh"), "w") as file:
            file.write(SWITCH)
            os.chmod(file.fileno(), 0o755)
        for node in ("n1", "n2", "n3"):
            with open(os.path.join(self.folder, f"on-{node}"), "w"):
                pass

    def configured(self):
        return self.configuration.format(self.folder)

    def members(self, number):
        return {"processors": self.dice.choice((1, 2)), "nodes": 1, "limit": self.limit(number)}

    def work(self, number, length):
        look = "[ -e on-$ROTA_JOB_NODELIST ] || echo $ROTA_JOB_ID >> dark"
        return f"{look}; {super().work(number, length)}; {look}"

    def before(self, number):
        if number == JOBS // 2:
            self.service.all_end()
            nodes = lambda: self.service.ask("GET", "/v1/nodes")[1]["nodes"]
            self.service.wait_for(lambda: {node["power"] for node in nodes()} == {"off"}, "all nodes to sleep")

    def also(self, told, starts):
        self.assertFalse(os.path.exists(os.path.join(self.folder, "dark")), "a job was on a node that was off")
        asked = self.service.read("asked").splitlines()
        woken = sum(line.startswith("on ") for line in asked)
        self.assertGreater(woken, 0, "nobody was woken")
        print(f"nodes were woken {woken} times, and put to sleep {len(asked) - woken} times", file=sys.stderr)


class Grace(Truth):
    """Limits are short; a job that harms no other goes on, and one that stands in the way is ended."""
    policy = "grace"

    def members(self, _number):
        return {"processors": self.dice.choice((1, 2, 3)), "limit": 1}


class Arrays(Truth):
    """Arrays of which so many tasks run at a time, among other jobs."""

    def submit_all(self):
        self.arrays = {}
        for number in range(0, JOBS, 5):
            most = self.dice.choice((1, 2, 3))
            first = int(self.submit(number, array=f"0-4%{most}", processors=self.dice.choice((1, 2))))
            self.arrays[first] = most

    def also(self, told, starts):
        for first, most in self.arrays.items():
            tasks = [told[str(first + i)] for i in range(5)]
            self.assert_never_more([(task.begun[0], task.done[0], 1) for task in tasks], most, f"array {first}")


class Dependencies(Truth):
    """Each third job waits for one before it, in one way or another; the next one for a time."""
    WAYS = ("afterok", "afterany", "after")

    def submit_all(self):
        self.waits = []
        ids = []
        for number in range(JOBS):
            more = {}
            if number % 3 == 2:
                way, on = self.WAYS[number // 3 % 3], self.dice.choice(ids)
                more = {"after": [f"{way}:{on}"]}
                self.waits.append((way, on, str(number + 1)))
            ids.append(self.submit(number, **more))

    def also(self, told, starts):
        for way, on, job in self.waits:
            before = starts[on] - NEAR if way == "after" else told[on].done[0]
            self.assertLess(before, told[job].begun[0], f"job {job} waits {way} {on}")


class Licences(Truth):
    configuration = ('name = "four"\nlicences = "solver:2"\n'
                     '[[nodes]]\nnames = "n1"\nprocessors = 8\n')

    def members(self, number):
        more = {"licence": "solver", "licences": self.dice.choice((1, 2))} if number % 3 < 2 else {}
        self.held = {**getattr(self, "held", {}), str(number + 1): more.get("licences", 0)}
        return {"processors": self.dice.choice((1, 2, 3)), "limit": self.limit(number), **more}

    def also(self, told, starts):
        self.assert_never_more([(lines.begun[0], lines.done[0], self.held[job]) for job, lines in told.items()], 2,
                               "licences")


class Nodes(Truth):
    """Four nodes, of which jobs ask for processors, memory and a spread."""
    configuration = 'name = "split"\n[[nodes]]\nnames = "n[1-4]"\nprocessors = 2\nmemory = "64M"\n'
    SHAPES = ({"processors": 1, "memory": 16 << 20}, {"processors": 2, "memory": 48 << 20},
              {"processors": 2, "nodes": 2, "memory": 32 << 20}, {"processors": 8, "nodes": 4},
              {"processors": 1, "memory": 40 << 20})

    def members(self, number):
        shape = self.dice.choice(self.SHAPES)
        self.shapes = {**getattr(self, "shapes", {}), str(number + 1): shape}
        return {**shape, "limit": self.limit(number)}

    def also(self, told, starts):
        for node in ("n1", "n2", "n3", "n4"):
            processors, memory = [], []
            for job, lines in told.items():
                names = expanded(lines.nodes)
                shape = self.shapes[job]
                if node in names:
                    span = (lines.begun[0], lines.done[0])
                    processors.append((*span, shape["processors"] // len(names)))
                    memory.append((*span, shape.get("memory", 0)))
            self.assert_never_more(processors, 2, f"processors of {node}")
            self.assert_never_more(memory, 64 << 20, f"memory of {node}")
            self.assertTrue(processors, f"nobody ran on {node}")


def expanded(hosts):
    """"n[1-2,4]" as names."""
    if "[" not in hosts:
        return [hosts]
    prefix, inside = hosts.rstrip("]").split("[")
    names = []
    for piece in inside.split(","):
        first, _, last = piece.partition("-")
        names += [f"{prefix}{i}" for i in range(int(first), int(last or first) + 1)]
    return names


CASES = [Easy, Conservative, Requeue, RequeueEasy, Suspend, SuspendEasy, Checkpoint, Moves, Power, Grace, Arrays,
         Dependencies, Licences, Nodes]


def load_tests(loader, _tests, _pattern):
    wanted = [case for case in CASES if not sys.argv[1:] or case.__name__ in sys.argv[1:]]
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in wanted)


def main():
    """The long form has the last word about how near the starts are."""
    global JOBS
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    is_long = len(sys.argv) > 1
    if is_long:
        JOBS = int(sys.argv.pop(1))
    well = unittest.TextTestRunner(verbosity=2 if is_long else 1).run(load_tests(unittest.TestLoader(), None, None)).wasSuccessful()
    far = [name for name, jobs, inside in VERDICTS if inside < jobs]
    if is_long and VERDICTS:
        print("all starts are those of the rehearsal" if not far else "starts are too far off in " + ", ".join(far))
    sys.exit(0 if well and not (is_long and far) else 1)


if __name__ == "__main__":
    main()
