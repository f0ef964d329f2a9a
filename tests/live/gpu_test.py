#!/usr/bin/env python3
"""Jobs on real NVIDIA accelerators, by what the driver itself tells their processes (libcuda, no CUDA toolkit needed): a
service without a cluster file counts them, each job has as many as it asked for and none that another has, a job that
asked for none sees none, and one that is stopped or left by its service goes on with what lies in its accelerator's
memory.
Usage: gpu_test.py ROTA"""
import ctypes
import itertools
import os
import re
import sys
import unittest

from service import ServiceCase

# Tells which accelerators it sees. With a file to wait for it has one work until that is there, on memory that it looks
# through in the end; without, for a moment.
WORK = r"""
import ctypes, os, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code: sys.exit(f"{name}: {code}")
def say(what, devices=()):
    with open("told-" + os.environ["ROTA_JOB_NAME"], "a") as file: print(what, time.time(), *devices, file=file)
count = ctypes.c_int(0)
if cuda.cuInit(0) == 0: call("cuDeviceGetCount", ctypes.byref(count))
names = []
for i in range(count.value):
    name = ctypes.create_string_buffer(16)
    call("cuDeviceGetUuid", name, i)
    names.append(name.raw.hex())
if count.value == 0:
    say("none")
    sys.exit(0)
context, memory, words = ctypes.c_void_p(), ctypes.c_uint64(), 1 << 26
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(4 * words))
say("begun", names)
end, value = time.monotonic() + 0.5, 0
while not os.path.exists(sys.argv[1]) if len(sys.argv) > 1 else time.monotonic() < end:
    value += 1
    for _ in range(20): call("cuMemsetD32_v2", memory, ctypes.c_uint(value), ctypes.c_size_t(words))
    call("cuCtxSynchronize")
    with open("turns-" + os.environ["ROTA_JOB_NAME"], "w") as file: print(value, file=file)
found = (ctypes.c_uint * words)()
call("cuMemcpyDtoH_v2", found, memory, ctypes.c_size_t(4 * words))
if set(found) != {value}: sys.exit("something else is in its memory")
say("done")
"""


def accelerators():
    return sum(bool(re.fullmatch(r"nvidia[0-9]+", name)) for name in os.listdir("/dev"))


class OnAccelerators(ServiceCase):
    arguments = ("--policy", "easy+preempt=suspend")

    def prepare(self):
        with open(os.path.join(self.folder, "work.py"), "w") as file:
            file.write(WORK)

    def work(self, name, file="", **members):
        libraries = [f"LD_LIBRARY_PATH={path}" for path in [os.environ.get("LD_LIBRARY_PATH")] if path]
        return self.service.submit([sys.executable, "work.py", *file.split()], name=name, limit=600,
                                   environment=["PATH=/usr/bin:/bin", *libraries], **members)

    def completed(self, job):
        row = self.service.ends(job)
        self.assertEqual(row["state"], "COMPLETED", self.service.read(f"rota-{job}.out"))
        return row

    def told(self, name):
        return [line.split() for line in self.service.read(f"told-{name}").splitlines()]

    def is_at_work(self, name):
        path = os.path.join(self.folder, f"turns-{name}")
        self.service.wait_for(lambda: os.path.exists(path) and self.turns(name) > 0, f"{name} to be at work")

    def turns(self, name):
        return int(self.service.read(f"turns-{name}") or 0)

    def touch(self, name):
        open(os.path.join(self.folder, name), "w").close()

    def test_each_has_its_own_and_a_job_that_asked_for_none_sees_none(self):
        count = accelerators()
        nodes = self.service.ask("GET", "/v1/nodes")[1]["nodes"]
        self.assertEqual([node["accelerators"] for node in nodes], [count])
        names = [f"one-{i}" for i in range(2 * count + 2)]
        jobs = [self.work(name, accelerators=1) for name in names] + [self.work("bare")]
        for job in jobs:
            self.completed(job)
        self.assertEqual([line[0] for line in self.told("bare")], ["none"])
        spans = []
        for name in names:
            (_, begun, *seen), (_, done) = self.told(name)
            self.assertEqual(len(seen), 1, f"{name} asked for one")
            spans.append((seen[0], float(begun), float(done)))
        for one, other in itertools.combinations(sorted(spans), 2):
            self.assertTrue(one[0] != other[0] or one[2] < other[1], f"two jobs at once on one accelerator: {one}, {other}")
        self.assertEqual(len({span[0] for span in spans}), count, "each was used")
        status, answer = self.service.ask("POST", "/v1/jobs", {"folder": self.folder, "environment": [],
                                                               "command": ["true"], "accelerators": count + 1})
        self.assertEqual((status, f"asks for {count + 1} accelerators" in answer["detail"]), (400, True), answer)

    def test_one_that_is_stopped_goes_on_with_its_memory(self):
        low = self.work("low", "go-low", accelerators=accelerators())
        self.is_at_work("low")
        high = self.work("high", "go-high", accelerators=accelerators(), priority=5)
        self.is_at_work("high")
        before = self.turns("low")
        self.touch("go-high")
        self.completed(high)
        self.assertLessEqual(self.turns("low"), before + 1, "it has worked on while it was stopped")
        self.service.wait_for(lambda: self.turns("low") > before + 1, "it to go on")
        self.touch("go-low")
        self.assertEqual(self.completed(low)["state"], "COMPLETED")
        self.assertEqual(self.told("low")[0][2:], self.told("high")[0][2:], "they had the same")

    def test_one_that_its_service_has_left_keeps_its_own(self):
        first = self.work("first", "go-first", accelerators=accelerators())
        self.is_at_work("first")
        self.service.kill()
        self.service.start()
        second = self.work("second", accelerators=1)
        self.assertEqual(self.service.job(second)["state"], "PENDING")
        self.touch("go-first")
        self.completed(first)
        self.completed(second)
        self.assertLess(float(self.told("first")[1][1]), float(self.told("second")[0][1]))


if __name__ == "__main__":
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        print("skipped: there is no driver of NVIDIA's accelerators (libcuda.so.1)")
        sys.exit(77)
    if accelerators() == 0:
        print("skipped: there is no NVIDIA accelerator (/dev/nvidia0)")
        sys.exit(77)
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
