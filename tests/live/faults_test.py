#!/usr/bin/env python3
"""What breaks below the service: a full disk, writes and syncs that fail, a clock that is set, a restart of the system.
No acknowledged job is lost and none runs twice, and the service says what is wrong in a sentence.

Usage: faults_test.py ROTA [TIMES [SEED]]   How often each thing breaks.

Calls of the service fail, and its clock is wrong, by a library that is loaded before the C library (broken_system.c).
The full disk is a small file system in memory, and the restart of the system another boot id in a mount namespace of the
service's own, when all its processes are gone; for these two it takes root.
"""
import os
import random
import subprocess
import sys
import unittest

from broken import broken_system
from service import PATIENCE, ServiceCase, end
from tokens import Tokens

IO_ERROR = "disk I/O error|Input/output error"  # in the words of SQLite, or of the system
TIMES, SEED = 2, random.SystemRandom().randrange(10**6)


def as_root(function):
    can = os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
    return unittest.skipUnless(can, "it takes a root that may mount")(function)


class Faults(Tokens):
    def setUp(self):
        super().setUp()
        self.dice = random.Random(SEED)
        print(f"seed {SEED}", file=sys.stderr)

    def ended_by_itself(self):
        """What the service said when it had to give up."""
        said = self.service.process.stderr.read()
        code = self.service.process.wait(PATIENCE)
        self.service.process.stderr.close()
        self.assertEqual(code, 1, said)
        return said

    def fails(self, call, error, sentence):
        """The service meets this error at a random call of that name, again and again."""
        for _ in range(TIMES):
            self.service.stop()
            self.service.environment = broken_system(self.folder, BROKEN_CALL=call, BROKEN_ERROR=str(error),
                                                     BROKEN_AFTER=str(self.dice.randrange(100, 400)))
            self.service.start()
            with self.stream():
                said = self.ended_by_itself()
            self.assertRegex(said, sentence)
            self.service.environment = None
            self.service.start()
            print(f"{call} failed: {self.check()}", file=sys.stderr)

    def test_a_request_that_waits_for_a_sync_that_fails_is_answered(self):
        service = self.service
        service.stop()
        service.environment = broken_system(self.folder, BROKEN_CALL="sync", BROKEN_ERROR="5", BROKEN_AFTER="200")
        service.start()
        taken = []
        held = {"command": ["true"], "folder": self.folder, "held": True}
        while (answered := service.ask("POST", "/v1/jobs", held))[0] == 201:
            taken.append(answered[1]["id"])
        self.assertEqual(answered[0], 503, answered)
        self.assertRegex(answered[1]["detail"], IO_ERROR)
        self.assertRegex(self.ended_by_itself(), IO_ERROR)
        service.environment = None
        service.start()
        self.assertLessEqual(set(taken), {job["id"] for job in service.ask("GET", "/v1/jobs?limit=1000")[1]["jobs"]})

    def test_a_request_of_several_jobs_is_kept_whole_with_its_key_or_not_at_all(self):
        service, one = self.service, {"command": ["true"], "folder": self.folder, "held": True}
        request, known = [one, one | {"array": "1-200"}, one], {}

        def submit(key):
            status, answer = service.ask("POST", "/v1/jobs", request, {"Idempotency-Key": key})
            return [job for each in answer for job in each["jobs"]] if status == 201 else answer

        for call in ("pwrite", "sync") * TIMES:
            service.stop()
            service.environment = broken_system(self.folder, BROKEN_CALL=call, BROKEN_ERROR="5",
                                                BROKEN_AFTER=str(self.dice.randrange(200, 500)))
            service.start()
            while isinstance(jobs := submit(f"key {len(known)}"), list):
                known[f"key {len(known)}"] = jobs
            self.assertRegex(str(jobs), IO_ERROR)
            self.assertRegex(self.ended_by_itself(), IO_ERROR)
            service.environment = None
            service.start()
            known[f"key {len(known)}"] = submit(f"key {len(known)}")  # what was answered with an error is there whole, or comes now
            for key, jobs in known.items():
                self.assertEqual((len(jobs), submit(key)), (202, jobs))
            listed, after = [], ""
            while after is not None:
                page = service.ask("GET", f"/v1/jobs?limit=1000&after={after}" if after else "/v1/jobs?limit=1000")[1]
                listed += [job["id"] for job in page["jobs"]]
                after = page.get("next")
            self.assertEqual(sorted(listed), sorted(job for jobs in known.values() for job in jobs))

    def test_a_sync_fails(self):
        self.fails("sync", 5, IO_ERROR)

    def test_a_write_of_the_database_fails(self):
        self.fails("pwrite", 5, IO_ERROR)

    def test_the_disk_is_full_for_the_database_alone(self):
        self.fails("pwrite", 28, "the disk is full")

    @as_root
    def test_the_disk_is_full(self):
        service = self.service
        self.start_on_a_disk_of("24m")
        ballast = os.path.join(service.state, "ballast")
        keyed = {"command": ["true"], "folder": self.folder}, {"Idempotency-Key": "k"}
        before = service.ask("POST", "/v1/jobs", *keyed)[1]["id"]
        with open(ballast, "wb") as file:  # a fiftieth of the disk is kept for the jobs that are here
            disk = os.statvfs(service.state)
            os.posix_fallocate(file.fileno(), 0, disk.f_bfree * disk.f_frsize - (384 << 10))
        status, answer = service.ask("POST", "/v1/jobs", *keyed)  # what was taken in before is known all the same
        self.assertEqual((status, answer["id"]), (201, before))
        status, answer = service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": self.folder})
        self.assertEqual(status, 507, answer)
        self.assertRegex(answer["detail"], "^the disk that holds the service's state has only [0-9.]+K left, so no job is "
                                           "taken in; tell the user who runs the service.$")
        os.remove(ballast)
        for _ in range(TIMES):
            with self.stream() as stream:
                stream.over.wait(0.2 + self.dice.random())
                with open(ballast, "wb", buffering=0) as file:
                    try:
                        while True:
                            file.write(bytes(1024))
                    except OSError as error:
                        self.assertEqual(error.errno, 28)
                stream.over.wait(0.2 + self.dice.random())
                os.remove(ballast)
            if service.process.poll() is not None:
                self.assertIn("the disk is full", self.ended_by_itself())
                service.start()
            service.act("release", "all")  # what could not be launched again and again is held
            print(f"the disk was full: {self.check()}", file=sys.stderr)

    @as_root
    def test_a_service_that_ended_for_a_full_disk_starts_again(self):
        service = self.service
        self.start_on_a_disk_of("96m")
        spare, ballast = (os.path.join(service.state, name) for name in ("spare-room", "ballast"))
        held = service.submit("true", held=True)
        service.wait_for(lambda: os.path.exists(spare) and os.stat(spare).st_blocks > 0, "the spare file")
        with open(ballast, "wb", buffering=0) as file:
            for size in (1 << 16, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    continue
        try:
            while service.process.poll() is None:
                service.ask("POST", "/v1/jobs/update", {"ids": held, "priority": 1})
                service.ask("POST", "/v1/jobs/update", {"ids": held, "priority": 2})
        except OSError:
            pass  # in the middle of an answer
        self.assertIn("the disk is full", self.ended_by_itself())
        service.start()
        self.assertFalse(os.path.exists(spare))
        self.assertEqual(service.act("cancel", held)[0], 200)
        service.ends(held)
        os.remove(ballast)

    def test_the_clock_is_set(self):
        service = self.service
        service.stop()
        wrong = os.path.join(self.folder, "wrong-by")
        with open(wrong, "w") as file:
            file.write("0\n")
        service.environment = broken_system(self.folder, BROKEN_CLOCK=wrong)
        service.start()
        going = service.runs(service.submit("until [ -e go ]; do sleep 0.02; done", limit=1000))
        with self.stream() as stream:
            for _ in range(4 * TIMES):
                stream.over.wait(self.dice.random() * 0.2)
                with open(wrong, "w") as file:
                    file.write(f"{self.dice.choice((-40_000, -3600, -30, 30, 3600, 40_000))}\n")
                stream.over.wait(self.dice.random() * 0.2)
                if self.dice.random() < 0.5:
                    service.kill()
                    service.start()
        self.assertEqual(service.job(going)["state"], "RUNNING", "it has run for seconds, and its limit is 1,000")
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        print(f"the clock was set {4 * TIMES} times: {self.check()}", file=sys.stderr)
        self.assertEqual(service.job(going)["state"], "COMPLETED")
        done = subprocess.run([self.rota, "replay", os.path.join(service.state, "rota.db"), "--check"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_clock_is_set_while_the_service_is_stopped(self):
        service = self.service
        service.stop()
        wrong = os.path.join(self.folder, "wrong-by")
        service.environment = broken_system(self.folder, BROKEN_CLOCK=wrong)
        service.start()
        going = service.runs(service.submit("until [ -e go ]; do sleep 0.02; done", limit=1000))
        for ahead in (3600, -3600):
            service.stop()
            with open(wrong, "w") as file:
                file.write(f"{ahead}\n")
            service.start()
            self.assertLess(service.job(going)["elapsed"], 900, "it has run for seconds")
            self.assertGreaterEqual(service.job(going)["elapsed"], 0)
            self.assertEqual(service.act("update", going, limit=900)[0], 200)
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.assertEqual(service.ends(going)["state"], "COMPLETED")
        service.stop()
        with open(wrong, "w") as file:
            file.write("7200\n")
        service.start()
        self.assertLess(abs(service.ask("GET", "/v1/status")[1]["clock_ahead"]), 5, "nothing runs: it has the time of day")

    @as_root
    def test_the_system_is_restarted(self):
        service = self.service
        service.stop()
        for restart in range(TIMES + 1):
            path = os.path.join(self.folder, f"boot-{restart}")
            with open(path, "w") as file:
                file.write(f"{restart:08x}-0000-4000-8000-{SEED:012x}\n")
            # What comes behind it is executed in a mount namespace of its own, with another boot id.
            service.before = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                              'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"', path]
            service.start()
            if restart == TIMES:
                break
            long = service.submit("echo begun >> begun; sleep 1000", limit=2000, name=f"long-{restart}", priority=1)  # before what is left
            with self.stream() as stream:
                service.wait_for(lambda job=long: service.job(job)["state"] == "RUNNING", "the long job to run")
                stream.over.wait(self.dice.random())
                service.kill()
                while left := self.helpers() + self.jobs():
                    end(left)
            self.acknowledged[f"long-{restart}"] = long
        print(f"restarted {TIMES} times: {self.check()}", file=sys.stderr)
        for restart in range(TIMES):
            self.assertEqual(service.job(self.acknowledged[f"long-{restart}"])["state"], "NODE_FAIL")
        self.assertEqual(service.read("begun").split(), ["begun"] * TIMES)


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1:
        TIMES = int(sys.argv.pop(1))
    if len(sys.argv) > 1:
        SEED = int(sys.argv.pop(1))
    unittest.main()
