#!/usr/bin/env python3
"""Why a job waits, or can never run: what is named is what keeps it. Usage: blame_test.py ROTA"""
import os
import subprocess
import sys
import unittest

from service import PATIENCE, ServiceCase


class Blame(ServiceCase):
    """What keeps a job waiting is what is named: not what stands beside it."""
    configuration = """name = "mixed"
[[nodes]]
names = "n[1-2]"
processors = 2
memory = "4G"
[[nodes]]
names = "big"
processors = 4
memory = "16G"
accelerators = 2
[[partitions]]
name = "cpu"
nodes = "n[1-2]"
default = true
max_time = "2h"
[[partitions]]
name = "big"
nodes = "big"
"""

    def rota_says(self, *arguments, code=0):
        done = subprocess.run([self.rota, *arguments], capture_output=True, text=True, timeout=PATIENCE, cwd=self.folder,
                              env={"PATH": os.environ["PATH"], "ROTA_SOCKET": self.service.socket})
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def drain(self, node, reason):
        self.assertEqual(self.service.ask("POST", "/v1/nodes/drain", {"nodes": node, "reason": reason})[0], 200)

    def runs(self, **members):
        job = self.service.submit("sleep 1000", **members)
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "a job to run")
        return job

    def test_the_drained_node_that_a_job_needs_is_named(self):
        self.drain("big", "new memory")
        row = self.service.job(self.service.submit("true", partition="big", memory=8 << 30))
        self.assertEqual(row["reason"], "ReqNodeNotAvail")
        self.assertRegex(row["why"], r"too few of these: big is drained by \S+ \(new memory\)\.$")
        self.service.stop()
        self.service.start()
        self.assertEqual(self.service.job(row["id"])["why"], row["why"], "who drained it outlives the service")

    def test_no_job_is_blamed_that_wants_other_nodes(self):
        self.drain("big", "new memory")
        self.runs(processors=4, limit=600)
        first = self.service.submit("true", partition="big")
        row = self.service.job(self.service.submit("true", processors=2, limit=60))
        self.assertEqual((row["reason"], row["why"]),
                         ("Resources", "It needs 2 processors, no job before it wants the same nodes, and 0 are free now in "
                                       "partition cpu."))
        behind = self.service.job(self.service.submit("true", processors=2, limit=60))
        self.assertEqual((behind["reason"], behind["why"]),
                         ("Priority", f"It needs 2 processors, and others go first: job {row['id']} is the first of those that "
                                      "want the same nodes."))
        self.assertEqual(self.service.job(first)["reason"], "ReqNodeNotAvail")

    def test_what_is_short_is_said(self):
        self.runs(partition="big", memory=12 << 30, accelerators=1, limit=600)
        row = self.service.job(self.service.submit("true", partition="big", memory=8 << 30))
        self.assertEqual(row["why"], "It needs 1 processor, it is first in the queue, and 3 are free now in partition big, but no "
                                     "node has 8G of memory free.")
        self.service.act("cancel", row["id"])
        row = self.service.job(self.service.submit("true", partition="big", accelerators=2))
        self.assertEqual(row["why"], "It needs 1 processor, it is first in the queue, and 3 are free now in partition big, but no "
                                     "node has 2 accelerators free.")

    def test_whole_nodes_are_what_is_short_where_a_job_needs_these(self):
        self.runs(limit=600)
        row = self.service.job(self.service.submit("true", processors=4, nodes=2))
        self.assertEqual(row["why"], "It needs 2 whole nodes, it is first in the queue, and 1 is free now in partition cpu.")

    def test_what_can_never_run_names_the_quantity_and_the_largest(self):
        for members, said in (
                ({"memory": 8 << 30}, "asks for 8G of memory on each of its nodes; the largest node of partition cpu has 4G"),
                ({"processors": 6}, "asks for 6 processors; partition cpu has 4 processors in all, and with 4 it would fit"),
                ({"processors": 3, "nodes": 3}, "asks for 3 nodes; partition cpu has 2"),
                ({"processors": 3, "nodes": 1}, "asks for 3 processors on one node; the largest node of partition cpu has 2"),
                ({"limit": 9000}, "asks for a time limit of 02:30:00; partition cpu allows 02:00:00"),
                ({"partition": "big", "accelerators": 3},
                 "asks for 3 accelerators on each of its nodes; no node of partition big has so many")):
            status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["x"], "folder": "/", **members})
            self.assertEqual((status, answer["detail"]), (400, f"the job can never run here: it {said}."))

    def test_the_queue_knows_the_start_that_explain_knows(self):
        self.runs(processors=4, limit=600)
        for _ in range(2):
            last = self.service.submit("true", processors=4, limit=60)
        later = self.service.submit("true", begin=self.service.ask("GET", "/v1/status")[1]["now"] + 5000)
        rows = self.rota_says("queue", "--start", "--noheader", "-o", "%i %S").splitlines()
        self.assertEqual([row.split()[0] for row in rows], [str(int(last) - 1), last, later])
        self.assertNotIn("N/A", "".join(rows))
        self.assertIn(rows[1].split()[1], self.rota_says("explain", last))

    def test_the_doctor_does_not_call_a_cluster_well_that_starts_nothing(self):
        self.drain("n1", "a fan")
        said = self.rota_says("doctor", code=None)  # which may find fault with this computer
        self.assertRegex(said, r"WARN +nodes +1 of 3 nodes are out of use: n1 \(drained by \S+: a fan\); "
                               "`rota nodes resume` puts nodes back")
        self.drain("n2", "")
        said = self.rota_says("doctor", code=3)
        self.assertRegex(said, "BAD +nodes +No node of partition cpu is in use, and no job can start there; `rota nodes resume`")
        self.drain("big", "")
        self.assertRegex(self.rota_says("doctor", code=3), "BAD +nodes +No node is in use, and no job can start: n1")


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
