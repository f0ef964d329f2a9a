#!/usr/bin/env python3
"""Slots of jobs, each bound by itself to a node with containers. Usage: slots_test.py ROTA"""
import os
import subprocess
import sys
import unittest

from service_test import BESIDE, PATIENCE, ROTA, Bound, contents
from service import wait_for


class OfSlots(Bound):
    def slots(self):
        """By job and node: how many slots each container has there."""
        found = {}
        for host, row in self.containers().items():
            for one in row["slots"]:
                found.setdefault((one["job"], one["node"]), {})[host] = one["slots"]
        return found

    def by_host(self):
        return [sum(by.get(host, 0) for by in self.slots().values()) for host in ("a1", "a2")]

    def hosts(self, job, node="n3", count=4):
        return [self.service.ask("GET", f"/v1/accelerators/{node}?slot={job}.{slot}")[1].get("container") for slot in range(count)]


class Slots(OfSlots):
    configuration = Bound.configuration.replace('"n[1-4]"\nprocessors = 1', '"n[1-4]"\nprocessors = 4')

    def four(self, count=10, micros=1000):
        """A job with four slots, each of which has its tasks done by a process of its own; it ends once the test wants it."""
        code = "rota_slot() { env ROTA_ACCEL=$(echo $ROTA_ACCEL | sed \"s/[.]0:/.$1:/\") " + sys.executable + \
            f" work.py {count} {micros} 64 > slot-$1; }}; echo $ROTA_ACCEL; for n in 0 1 2 3; do rota_slot $n & done; wait; until test -e over; do sleep 0.1; done"
        return self.service.submit(code, accel_tasks="slot", required_nodes="n3", processors=4,
                                   environment=["PATH=/usr/bin:/bin", f"PYTHONPATH={BESIDE}"])

    def done_of(self, slot):
        return contents(os.path.join(self.folder, f"slot-{slot}")).decode().splitlines()

    def all_done(self, job, count):
        with open(os.path.join(self.folder, "over"), "w"):
            pass
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED", self.service.read(f"rota-{job}.out"))
        for slot in range(4):
            self.assertEqual([line.split()[:2] for line in self.done_of(slot)], [[str(n), "right"] for n in range(count)])

    def test_slots_are_shared_out_and_each_has_its_container(self):
        self.container("a1")
        self.container("a2")
        job = self.four(150, 10_000)
        self.service.wait_for(lambda: all(len(self.done_of(slot)) > 3 for slot in range(4)), "tasks of all slots")
        self.assertEqual(self.slots(), {(str(job), "n3"): {"a1": 2, "a2": 2}})
        self.assertEqual(self.hosts(job), ["a1", "a1", "a2", "a2"])
        out = subprocess.run([ROTA, "accel", "--socket", self.service.socket], capture_output=True, text=True, check=True).stdout
        self.assertRegex(out, rf"(?m)^a1 .*, 2 slots of {job} on n3$")
        self.all_done(job, 150)
        self.assertEqual(self.service.read(f"rota-{job}.out"), f"slot:{job}.0:n3@{self.service.socket}\n")
        self.service.wait_for(lambda: [row["state"]["done"] for row in self.containers().values()] == [300, 300], "all counts")
        self.service.wait_for(lambda: self.slots() == {}, "slots to end with their job")
        self.assertEqual(self.hosts(job), [None] * 4)
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_slots_of_a_container_that_drains_or_is_killed_go_to_the_other_one_and_back(self):
        leaving = self.container("a1")
        self.container("a2")
        job = self.four(150, 10_000)
        self.service.wait_for(lambda: all(len(self.done_of(slot)) > 3 for slot in range(4)), "tasks of all slots")
        leaving.terminate()
        self.assertEqual(leaving.wait(PATIENCE), 0)
        self.running.pop("a1").stderr.close()
        self.assertEqual(self.slots(), {(str(job), "n3"): {"a2": 4}})
        self.container("a1")
        self.assertEqual(self.slots(), {(str(job), "n3"): {"a1": 2, "a2": 2}})
        self.kill("a2")
        self.service.wait_for(lambda: self.hosts(job) == ["a1"] * 4, "the container to be lost")
        self.all_done(job, 150)
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_slots_of_a_job_that_is_suspended_stay_and_of_one_that_is_requeued_begin_anew(self):
        self.container("a1")
        job = self.four(10, 60_000_000)
        self.service.wait_for(lambda: self.slots() == {(str(job), "n3"): {"a1": 4}}, "slots")
        self.service.runs(job)
        self.assertEqual(self.service.act("suspend", job)[0], 200)
        self.container("a2")
        self.assertEqual(self.slots(), {(str(job), "n3"): {"a1": 2, "a2": 2}})
        self.assertEqual(self.service.act("resume", job)[0], 200)
        self.assertEqual(self.service.act("requeue", job)[0], 200)
        self.service.wait_for(lambda: self.service.job(job).get("restarts") == 1 and self.hosts(job) == ["a1", "a1", "a2", "a2"],
                              "the slots of the second start")
        self.service.act("cancel", job)
        self.service.wait_for(lambda: self.slots() == {}, "slots to end with their job")
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_slots_wait_for_a_container_and_stay_where_they_are_over_a_restart(self):
        job = self.four(100, 20_000)
        self.service.runs(job)
        status, answer = self.service.ask("GET", f"/v1/accelerators/n3?slot={job}.1")
        self.assertEqual((status, answer["detail"]),
                         (404, f"no accelerator container serves slot {job}.1 on node n3 now; `rota accel` lists those that there are."))
        self.container("a1")
        self.container("a2")
        before = self.hosts(job)
        self.assertEqual(sorted(before), ["a1", "a1", "a2", "a2"])
        self.service.wait_for(lambda: all(len(self.done_of(slot)) > 3 for slot in range(4)), "tasks of all slots")
        for stop in (self.service.kill, self.service.stop):
            stop()
            self.service.start()
            self.service.wait_for(lambda: self.hosts(job) == before, "the same bindings")
            self.service.wait_for(lambda: self.slots() == {(str(job), "n3"): {"a1": 2, "a2": 2}}, "the same counts")
        self.all_done(job, 100)
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_slots_of_several_nodes_share_a_node_and_its_containers(self):
        for device in ("0", "1"):
            self.running["a1-" + device] = process = self.begin("a1", "--device", device, "--listen", "127.0.0.1:0")
            self.says(process, "the service has the container of node a1")
        job = self.service.submit("until test -e over; do sleep 0.1; done", accel_tasks="slot", required_nodes="n1,n2", nodes=2, processors=4)
        own = self.service.submit("until test -e over; do sleep 0.1; done", accel_tasks="slot", required_nodes="a1")
        self.service.wait_for(lambda: self.slots() == {(str(job), "n1"): {"a1": 2}, (str(job), "n2"): {"a1": 2}, (str(own), "a1"): {"a1": 1}},
                              "slots on all three nodes")
        for node in ("n1", "n2"):
            addresses = [self.service.ask("GET", f"/v1/accelerators/{node}?slot={job}.{slot}")[1]["address"] for slot in (0, 1)]
            self.assertEqual(len(set(addresses)), 2, "each of the two containers has one")
            self.assertEqual(self.hosts(job, node, 3), ["a1", "a1", None])
        self.assertEqual(self.hosts(job, "n3", 1), [None])
        self.container("a2")
        self.assertEqual(sorted(sum(by.values()) for by in self.slots().values()), [1, 2, 2])
        self.assertEqual(sorted(self.by_host()), [2, 3])
        with open(os.path.join(self.folder, "over"), "w"):
            pass
        self.service.ends(job)
        self.service.ends(own)
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_slots_are_evened_out_when_jobs_have_ended_without_the_service(self):
        self.container("a1")
        self.container("a2")
        jobs = [self.service.submit("until test -e over-$ROTA_JOB_ID; do sleep 0.1; done; touch gone-$ROTA_JOB_ID", accel_tasks="slot",
                                    required_nodes=f"n{n}") for n in (1, 1, 1, 2, 2, 2)]
        self.service.wait_for(lambda: self.by_host() == [3, 3], "all slots to be bound")
        ended = [job for job in jobs if any("a1" in by for (of, _), by in self.slots().items() if of == str(job))][:2]
        for job in jobs:
            self.service.runs(job)
        self.service.kill()
        for job in ended:
            with open(os.path.join(self.folder, f"over-{job}"), "w"):
                pass
        wait_for(lambda: all(os.path.exists(os.path.join(self.folder, f"gone-{job}")) for job in ended), "two jobs to end")
        self.service.start()
        self.service.wait_for(lambda: self.by_host() == [2, 2], "equal stacks")
        for job in jobs:
            self.service.act("cancel", job)
        self.service.all_end()
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_a_command_in_a_job_with_slots_needs_no_option(self):
        self.container("a1", "--listen", "127.0.0.1:0")
        subprocess.run([ROTA, "submit", "--socket", self.service.socket, "--wait", "--accel-tasks-slot", "-t", "60m", "-n", "4", "-w", "n3", "-o", "out",
                        "--", ROTA, "accel", "run", "lu", "--n", "100", "--seeded", "1", "--tasks", "5"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        self.assertIn("5 tasks done", self.service.read("out"))

    def test_a_slot_that_makes_no_sense_is_answered_by_a_sentence(self):
        self.container("a1")
        for slot in ("1", "1.x", "x.1", ".1", "1."):
            status, answer = self.service.ask("GET", f"/v1/accelerators/n3?slot={slot}")
            self.assertEqual((status, answer["detail"]), (400, f'`slot` is a job and a number, as 12.0, not "{slot}".'))
        for slot in ("99.0", "99.-1"):
            self.assertEqual(self.service.ask("GET", f"/v1/accelerators/n3?slot={slot}")[0], 404)
        for address in ("slot:1:n3@/x", "slot:1.:n3@/x", "slot:.1:n3@/x"):
            done = subprocess.run([ROTA, "accel", "status", "--at", address, "--patience", "1"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("a slot is a job and a number, as in slot:12.0:n1@", done.stderr)


class Moves(OfSlots):
    configuration = """
[[nodes]]
names = "a1,slow"
processors = 1
[[nodes]]
names = "fast"
processors = 1
cpu_factor = 2.0
"""
    arguments = ("--policy", "easy+migrate=gain")

    def test_slots_of_a_job_that_moves_are_those_of_its_new_node(self):
        self.container("a1")
        first = self.service.submit("until test -e over; do sleep 0.1; done", required_nodes="fast", limit=3600)
        self.service.runs(first)
        job = self.service.submit("echo $ROTA_ACCEL >> where; exec sleep 1000",
                                  accel_tasks="slot", excluded_nodes="a1", checkpoint="true", limit=3600)
        self.service.wait_for(lambda: contents(os.path.join(self.folder, "where")), "the job to be at work")
        self.assertEqual(self.slots(), {(str(job), "slow"): {"a1": 1}})
        with open(os.path.join(self.folder, "over"), "w"):
            pass
        self.service.wait_for(lambda: self.slots() == {(str(job), "fast"): {"a1": 1}}, "the slots to move")
        self.service.wait_for(lambda: contents(os.path.join(self.folder, "where")).count(b"\n") == 2, "the job to begin again")
        self.assertEqual(self.service.read("where").splitlines(),
                         [f"slot:{job}.0:{node}@{self.service.socket}" for node in ("slow", "fast")])
        self.assertEqual((self.hosts(job, "slow", 1), self.hosts(job, "fast", 1)), ([None], ["a1"]))
        self.service.act("cancel", job)
        self.service.wait_for(lambda: self.slots() == {}, "slots to end with their job")
        self.assertEqual(self.service.decides_the_same_again(), "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
