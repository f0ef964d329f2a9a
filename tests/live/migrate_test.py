#!/usr/bin/env python3
"""Running jobs move to a faster node, or give way behind a checkpoint. Usage: migrate_test.py ROTA [SEED]

A seed is printed; the same gives the same moments. What happened is what the jobs saw: on which node and which cores they ran, and that no other job was there. A lock that
the kernel holds for as long as any process of a copy is alive tells if two copies of a job run at one time, or two jobs
on one processor.
"""
import os
import random
import subprocess
import sys
import threading
import time
import unittest

from service import PATIENCE, ServiceCase

MOVES, SEED = 6, random.SystemRandom().randrange(10**6)

# A job counts on from what was saved. It says where it is as it begins, and how far it is as it ends.
COUNTS = """exec 8> copy-$ROTA_JOB_ID 9> node-$ROTA_JOB_NODELIST
flock -n 8 || echo two copies >> wrong
flock -n 9 || echo two jobs on $ROTA_JOB_NODELIST >> wrong
{trap}
n=$(cat saved-$ROTA_JOB_ID 2> /dev/null || echo 0)
echo begin $ROTA_JOB_NODELIST ${{ROTA_RESTART:-0}} $ROTA_RESTART_COUNT $n \
  $(sed -n 's/Cpus_allowed_list:\t//p' /proc/self/status) >> log-$ROTA_JOB_ID
until [ -e finish-$ROTA_JOB_ID ]; do n=$((n+1)); echo $n > next-$ROTA_JOB_ID; mv next-$ROTA_JOB_ID now-$ROTA_JOB_ID
  sleep 0.02; done
echo end $ROTA_JOB_NODELIST $n >> log-$ROTA_JOB_ID"""

# Not by cp, which refuses a file that is replaced just then.
SAVES = "kill -0 $ROTA_JOB_PID && cat now-$ROTA_JOB_ID > saved-$ROTA_JOB_ID && echo saved >> log-$ROTA_JOB_ID"
OBEYS = "trap 'cp now-$ROTA_JOB_ID saved-$ROTA_JOB_ID; echo saved >> log-$ROTA_JOB_ID; exit 0' USR1"
LINGERS = "trap 'touch told; until [ -e leave ]; do sleep 0.02; done; exit 0' TERM"


class MoveCase(ServiceCase):
    configuration = """name = "pair"
[[nodes]]
names = "slow"
processors = 1
[[nodes]]
names = "fast"
processors = 1
cpu_factor = 2.0
"""
    arguments = ("--policy", "easy+migrate=gain")

    def touch(self, name):
        with open(os.path.join(self.folder, name), "w"):
            pass

    def there(self, name):
        return os.path.exists(os.path.join(self.folder, name))

    def counting(self, trap="", **members):
        job = self.service.submit(COUNTS.format(trap=trap), limit=3600, **members)
        self.service.wait_for(lambda: self.there(f"now-{job}") and self.service.job(job)["state"] == "RUNNING",
                              f"job {job} to run")
        return job

    def log(self, job):
        return [line.split() for line in self.service.read(f"log-{job}").splitlines()]

    def begun(self, job):
        return [line for line in self.log(job) if line[0] == "begin"]

    def finish(self, job):
        self.touch(f"finish-{job}")
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED", self.service.job(job))

    def on_the_slow_node(self, **members):
        """A job there, and one on the fast node that ends when it is told to."""
        first = self.counting()
        job = self.counting(**members)
        self.assertEqual([self.begun(first)[0][1], self.begun(job)[0][1]], ["fast", "slow"])
        return first, job

    def moves(self, job):
        self.service.wait_for(lambda: len(self.begun(job)) == 2, "the job to move")

    def tearDown(self):
        self.touch("leave")
        wrong = self.service.read("wrong") if self.there("wrong") else ""
        super().tearDown()
        self.assertEqual(wrong, "")


class Moves(MoveCase):
    def check_moved(self, job, keeps):
        self.moves(job)
        first, second = self.begun(job)
        self.assertEqual(first[1:5], ["slow", "0", "0", "0"])
        self.assertEqual(second[1:4], ["fast", "1", "1"])
        if keeps:
            self.assertGreater(int(second[4]), 0, "nothing of what it had counted was kept")
        pinned = not any("not pinned" in text for text in self.service.ask("GET", "/v1/status")[1]["warnings"])
        if pinned:
            self.assertEqual((len(first), len(second)), (6, 6), self.log(job))
            self.assertNotEqual(first[5], second[5], "both nodes have the same cores")
        self.finish(job)
        self.assertEqual([line[0] for line in self.log(job)],
                         ["begin", "saved", "begin", "end"] if keeps else ["begin", "begin", "end"])
        self.assertEqual(self.service.job(job)["node_list"], "fast")
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_by_a_checkpoint_command(self):
        first, job = self.on_the_slow_node(checkpoint=SAVES)
        self.finish(first)
        self.check_moved(job, True)

    def test_a_suspended_job_stays_where_it_is_until_it_goes_on(self):
        first, job = self.on_the_slow_node(requeue=True)
        self.assertEqual(self.service.act("suspend", job)[0], 200)
        self.finish(first)
        self.service.ends(first)
        self.service.stop()
        self.service.start()
        self.assertEqual(self.service.job(job)["state"], "SUSPENDED")
        self.assertEqual(self.service.job(job)["node_list"], "slow")
        self.assertEqual(self.service.act("resume", job)[0], 200)
        self.moves(job)
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "it to run there")
        self.finish(job)

    def test_by_a_checkpoint_signal(self):
        first, job = self.on_the_slow_node(trap=OBEYS, checkpoint_signal="USR1")
        self.finish(first)
        self.check_moved(job, True)

    def test_a_job_that_may_run_again_begins_anew(self):
        first, job = self.on_the_slow_node(requeue=True)
        self.finish(first)
        self.check_moved(job, False)

    def test_a_job_at_a_terminal_is_attached_to_again_where_it_goes_on(self):
        first = self.counting()
        words = "n=$(cat saved-$ROTA_JOB_ID 2> /dev/null || echo 0); echo on $ROTA_JOB_NODELIST $n; " \
                "n=$((n+1)); echo $n > now-$ROTA_JOB_ID; until [ -e finish-run ]; do sleep 0.02; done; exit 7"
        process = subprocess.Popen([self.rota, "run", "-t", "1h", "--checkpoint", "cat now-$ROTA_JOB_ID > saved-$ROTA_JOB_ID",
                                    "--", "/bin/sh", "-c", words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={"PATH": "/usr/bin:/bin", "ROTA_SOCKET": self.service.socket})
        try:
            self.assertEqual(process.stdout.readline(), "on slow 0\n")
            job = next(row["id"] for row in self.service.live() if row["id"] != first)
            self.service.wait_for(lambda: self.there(f"now-{job}"), "the job to count")
            self.finish(first)
            self.assertEqual(process.stdout.readline(), "on fast 1\n")
            self.touch("finish-run")
            said = process.communicate(timeout=PATIENCE)[1]
        finally:
            process.kill()
        self.assertEqual(process.returncode, 7, said)
        self.assertIn(f"rota: job {job} moves to another node", said)

    def test_what_would_keep_its_place_for_days_is_refused(self):
        for member in ("checkpoint_time", "kill_wait"):
            status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": self.folder,
                                                                   "checkpoint": SAVES, member: 3601})
            self.assertEqual(status, 400, answer)
            self.assertIn(f"`{member}` is at most 01:00:00", answer["detail"])

    def test_a_job_that_cannot_be_stopped_stays(self):
        first, job = self.on_the_slow_node()
        self.finish(first)
        other = self.counting()
        self.assertEqual(self.begun(other)[0][1], "fast")
        self.finish(other)
        self.finish(job)
        self.assertEqual(len(self.begun(job)), 1)

    def test_without_the_checkpoint_that_it_promised_it_is_queued_again(self):
        first, job = self.on_the_slow_node(checkpoint="echo asked >> log-$ROTA_JOB_ID; exit 3")
        self.finish(first)
        self.moves(job)
        self.assertEqual(self.begun(job)[1][1:4], ["fast", "1", "2"])  # moved, and queued again
        self.assertIn("checkpoint command ended with 3", str(self.service.job(job)))
        self.finish(job)

    def test_a_job_that_starts_where_another_was_waits_until_it_has_left(self):
        first, job = self.on_the_slow_node(trap=LINGERS, requeue=True, kill_wait=200)
        self.finish(first)
        self.service.wait_for(lambda: self.there("told"), "the job to be told to move")
        other = self.service.submit(COUNTS.format(trap=""), limit=3600)
        self.service.wait_for(lambda: self.service.job(other)["state"] != "PENDING", "the other one to be started")
        self.assertFalse(self.there(f"log-{other}"), "it began before the place was left")
        self.touch("leave")
        self.moves(job)
        self.service.wait_for(lambda: self.there(f"log-{other}"), "the other one to begin")
        self.assertEqual(self.begun(other)[0][1], "slow")
        self.finish(other)
        self.finish(job)

    def test_a_job_that_is_cancelled_on_its_way_does_not_begin_again(self):
        first, job = self.on_the_slow_node(trap=LINGERS, requeue=True, kill_wait=200)
        self.finish(first)
        self.service.wait_for(lambda: self.there("told"), "the job to be told to move")
        self.service.act("cancel", job)
        self.touch("leave")
        self.assertEqual(self.service.ends(job)["state"], "CANCELLED")
        self.assertEqual(len(self.begun(job)), 1)


class Sleepers(MoveCase):
    def configured(self):
        return self.configuration.replace("processors = 1\n", f"""processors = 1
boot_time = 1
suspend_command = "echo off >> {self.folder}/$ROTA_NODE-switched"
resume_command = "true"
""")

    def test_a_node_is_not_switched_off_before_the_job_has_left_it(self):
        looks = LINGERS.replace("exit 0", "[ -e slow-switched ] && echo switched off under a job >> wrong; exit 0")
        first, job = self.on_the_slow_node(trap=looks, requeue=True, kill_wait=200)
        policy = {"policy": "easy+migrate=gain+power=idle-timeout+power-idle=1"}
        self.assertEqual(self.service.ask("PUT", "/v1/policy", policy)[0], 200)
        self.finish(first)
        self.service.wait_for(lambda: self.there("told"), "the job to be told to move")
        slow = lambda: next(n for n in self.service.ask("GET", "/v1/nodes")[1]["nodes"] if n["name"] == "slow")
        self.service.wait_for(lambda: slow()["power"] == "shutting_down", "the node to be told to sleep")
        self.service.next_event()
        self.touch("leave")
        self.service.wait_for(lambda: slow()["power"] == "off", "the node to sleep")
        self.moves(job)
        self.finish(job)


class Polls(MoveCase):
    arguments = ("--policy", "easy+migrate=cpu-factor+poll=1+threshold=1")

    def test_the_published_rule_moves_a_job_at_a_poll(self):
        first, job = self.on_the_slow_node(checkpoint=SAVES)
        self.finish(first)
        self.moves(job)
        self.assertEqual(self.begun(job)[1][1:4], ["fast", "1", "1"])
        self.finish(job)


class Killed(MoveCase):
    """The service is killed while a job is on its way."""

    def test_while_it_writes_its_checkpoint(self):
        waits = "touch asked; until [ -e go ]; do sleep 0.02; done; " + SAVES
        first, job = self.on_the_slow_node(checkpoint=waits)
        self.finish(first)
        self.service.wait_for(lambda: self.there("asked"), "the checkpoint to begin")
        self.service.kill()
        self.service.start()
        self.touch("go")
        self.moves(job)
        self.assertEqual([line[0] for line in self.log(job)], ["begin", "saved", "begin"])
        self.finish(job)

    def test_while_it_leaves_and_it_has_left_meanwhile(self):
        first, job = self.on_the_slow_node(trap=LINGERS, requeue=True, kill_wait=200)
        self.finish(first)
        self.service.wait_for(lambda: self.there("told"), "the job to be told to move")
        self.service.kill()
        self.touch("leave")
        self.service.start()
        self.moves(job)
        self.assertEqual(self.begun(job)[1][1:4], ["fast", "1", "1"])
        self.finish(job)

    def test_as_soon_as_it_has_begun_elsewhere(self):
        first, job = self.on_the_slow_node(checkpoint=SAVES)
        self.finish(first)
        path = os.path.join(self.folder, f"log-{job}")
        until = time.monotonic() + PATIENCE
        while self.service.read(path).count("begin") < 2:  # without asking the service
            self.assertLess(time.monotonic(), until, "the job does not begin elsewhere")
        self.service.kill()
        self.service.start()
        self.assertEqual(self.service.job(job)["state"], "RUNNING")
        self.finish(job)
        self.assertEqual(len(self.begun(job)), 2)


    def test_at_random_moments(self):
        print(f"seed {SEED}", file=sys.stderr)
        dice = random.Random(SEED)
        for _ in range(MOVES):
            first, job = self.on_the_slow_node(checkpoint=SAVES)
            self.touch(f"finish-{first}")
            threading.Event().wait(dice.random() * 0.5)
            self.service.kill()
            self.service.start()
            self.moves(job)
            self.assertEqual([line[0] for line in self.log(job)], ["begin", "saved", "begin"])
            self.finish(job)


class GivesWay(MoveCase):
    configuration = 'name = "one"\nprocessors = 1\n'
    arguments = ("--policy", "easy+preempt=checkpoint")

    def overtaken(self, **members):
        low = self.counting(**members)
        high = self.service.submit(f"exec 9> node-one; flock -n 9 || echo two jobs >> wrong; cp log-{low} seen",
                                   limit=60, priority=5)
        self.assertEqual(self.service.ends(high)["state"], "COMPLETED")
        self.service.wait_for(lambda: len(self.begun(low)) == 2, "the low job to go on")
        self.finish(low)
        self.assertNotIn("end", self.service.read("seen"))
        return [line[0] for line in self.log(low)], int(self.begun(low)[1][4])

    def test_a_job_saves_what_it_has_done_before_it_gives_way(self):
        words, kept = self.overtaken(checkpoint=SAVES)
        self.assertEqual(words, ["begin", "saved", "begin", "end"])
        self.assertGreater(kept, 0)

    def test_one_that_cannot_begins_anew(self):
        words, kept = self.overtaken(requeue=True)
        self.assertEqual((words, kept), (["begin", "begin", "end"], 0))


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        SEED = int(sys.argv.pop(1))
    unittest.main()
