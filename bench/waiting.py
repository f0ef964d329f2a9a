#!/usr/bin/env python3
"""What the service costs while so many jobs wait. Usage: waiting.py ROTA [WAITING...]

Half of them are tasks of arrays, half single jobs, of all sizes and limits. A job that holds nearly all of the cluster
lets none of them start. Then, for each number of waiting jobs:

  one more    a submission that joins the queue: from request to answer, durable
  started     one that goes past the queue: from the request until it has ended
  CPU         of the service alone, for each of these
  bytes       resident, and in the database, for each waiting job
  restart     from the start of the process until it answers

Times are medians; a busy computer shows in all of them but the CPU time.
"""
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))
from service import Service, UnixConnection  # noqa: E402

NUMBERS = [10, 1_000, 100_000, 1_000_000]
PROCESSORS, LOOKS, BATCH, TASKS = 64, 200, 2_000, 10_000
ENVIRONMENT = [f"{name}={value}" for name, value in os.environ.items()]


class Waiting:
    def __init__(self, rota, folder):
        self.service = Service(rota, folder, f'name = "bench"\nprocessors = {PROCESSORS}\n')
        self.service.start()
        self.connect()
        self.random = random.Random(1)
        self.count = 0

    def connect(self):
        self.connection = UnixConnection(self.service.socket)

    def post(self, what):
        self.connection.request("POST", "/v1/jobs", json.dumps(what))
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status == 201, text
        return json.loads(text)

    def job(self, command=("/bin/true",), **more):
        return {"command": list(command), "folder": self.service.folder, "environment": ENVIRONMENT,
                "output": "/dev/null", **more}

    def waiting_job(self, **more):
        return self.job(processors=self.random.randint(2, PROCESSORS), limit=60 * self.random.randint(1, 1_000), **more)

    def hold(self):
        """All but one processor."""
        self.post(self.job(["/bin/sleep", "1000000"], processors=PROCESSORS - 1, limit=1_000_000))
        self.post(self.job(processors=PROCESSORS, limit=60))
        self.service.wait_for(lambda: any(j["state"] == "RUNNING" for j in self.service.live()), "the first job")

    def fill(self, number):
        while self.count < number // 2:
            tasks = min(TASKS, number // 2 - self.count)
            self.post(self.waiting_job(array=f"1-{tasks}"))
            self.count += tasks
        while self.count < number:
            batch = min(BATCH, number - self.count)
            self.post([self.waiting_job(name=f"job {self.count + i}", comment="with a name and words of its own",
                                        output=f"/dev/null/{self.count + i}") for i in range(batch)])
            self.count += batch

    def cpu(self):
        """Nanoseconds that the service has computed."""
        with open(f"/proc/{self.service.process.pid}/schedstat") as file:
            return int(file.read().split()[0])

    def resident(self):
        with open(f"/proc/{self.service.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))

    def median(self, call):
        """Milliseconds that it takes, and of the service's CPU."""
        times = []
        cpu = self.cpu()
        for _ in range(LOOKS):
            begun = time.monotonic()
            call()
            times.append(time.monotonic() - begun)
        return 1e3 * statistics.median(times), (self.cpu() - cpu) / 1e6 / LOOKS

    def join(self):
        self.post(self.waiting_job())
        self.count += 1

    def go_past(self):
        done = self.service.folder + "/done"
        if not os.path.exists(done):
            os.mkfifo(done)
        self.post(self.job(["/bin/sh", "-c", f"exec 3>{done}"], processors=1, limit=60))
        with open(done) as file:
            file.read()

    def release(self):
        """The job that holds all ends, and the service."""
        self.service.act("cancel", "1")
        self.service.ends(1)
        self.service.kill()

    def restart(self):
        self.connection.close()
        self.service.kill()
        begun = time.monotonic()
        self.service.start()
        status, _ = self.service.ask("GET", "/v1/jobs/1")
        assert status == 200
        self.connect()
        return time.monotonic() - begun

    def size(self):
        return sum(os.path.getsize(os.path.join(self.service.state, name)) for name in os.listdir(self.service.state)
                   if name.startswith("rota.db"))


def measure(rota, number):
    folder = tempfile.mkdtemp(prefix="rota-bench-", dir=os.environ.get("ROTA_BENCH_FOLDER"))
    waiting = Waiting(rota, folder)
    try:
        waiting.hold()
        before = waiting.resident()
        begun = time.monotonic()
        waiting.fill(number)
        filled = time.monotonic() - begun
        resident = waiting.resident()
        joined, joined_cpu = waiting.median(waiting.join)
        past, past_cpu = waiting.median(waiting.go_past)
        restarted = waiting.restart()
        again = waiting.resident()
        joined_again, _ = waiting.median(waiting.join)
        print(f"{number:>9,} waiting: one more {joined:.2f} ms (CPU {joined_cpu:.3f}), started {past:.2f} ms "
              f"(CPU {past_cpu:.3f}); after a restart in {restarted:.2f} s one more {joined_again:.2f} ms; bytes a job: "
              f"{(resident - before) / number:.0f} resident, {(again - before) / number:.0f} after the restart, "
              f"{waiting.size() / number:.0f} in the database; filled in {filled:.1f} s", flush=True)
    finally:
        waiting.release()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    for count in [int(word) for word in sys.argv[2:]] or NUMBERS:
        measure(os.path.abspath(sys.argv[1]), count)
