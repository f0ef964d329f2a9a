#!/usr/bin/env python3
"""Containers that a service knows: nodes are bound to them, jobs find theirs, and go on when it is killed, drained or
stands still, or the service is started again. Usage: service_test.py ROTA"""
import json
import os
import random
import signal
import subprocess
import sys
import unittest

ROTA = os.path.abspath(sys.argv[1])
BESIDE = os.path.dirname(ROTA)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from service import PATIENCE, ServiceCase, contents, end  # noqa: E402

# Has many tasks done, each of which gives back what it was sent, and prints how each ended: once, or it would not end.
WORK = r"""
import os, sys, rota_accel
count, micros, size = map(int, sys.argv[1:])
with rota_accel.Client() as client:
    tasks = [client.submit("noop", micros, payload=b"%08d" % n * (size // 8)) for n in range(count)]
    for n, task in enumerate(tasks):
        print(n, "right" if bytes(task.result()) == b"%08d" % n * (size // 8) else "wrong", task.runs, flush=True)
"""

class Bound(ServiceCase):
    rota = ROTA
    configuration = """
[[nodes]]
names = "a[1-2]"
processors = 1
[[nodes]]
names = "n[1-4]"
processors = 1
"""

    def prepare(self):
        with open(os.path.join(self.folder, "work.py"), "w") as file:
            file.write(WORK)
        self.running = {}
        self.addCleanup(self.end_containers)

    def end_containers(self):
        for process in self.running.values():
            end([process.pid])
            process.wait()
            process.stderr.close()

    def begin(self, node, *more):
        """A container that is to register; the lines that it prints are in its stderr."""
        words = more if "--listen" in more else ("--socket", os.path.join(self.folder, f"{node}.socket"), *more)
        words = words if "--weight" in words else ("--weight", "100", *words)
        return subprocess.Popen([ROTA, "accel", "serve", "--node", node, "--service", self.service.socket, "--heartbeat", "0.2s",
                                 "--backend", "openblas=1", *words], stderr=subprocess.PIPE, text=True)

    def container(self, node, *more):
        process = self.running[node] = self.begin(node, *more)
        self.says(process, "the service has the container of node " + node)
        return process

    def says(self, process, sentence):
        for line in process.stderr:
            if sentence in line:
                return
        self.fail(f"the container never says: {sentence}")

    def kill(self, node):
        process = self.running.pop(node)
        end([process.pid])
        process.wait()
        process.stderr.close()

    def containers(self):
        return {row["node"]: row for row in self.service.ask("GET", "/v1/accelerators")[1]["containers"]}

    def bound(self):
        return {node: row["bound"] for node, row in self.containers().items()}

    def all_bound(self, nodes=6):
        return sum(1 + len(nodes) for nodes in self.bound().values()) == nodes

    def work(self, node, count=10, micros=1000, size=64, way="node"):
        return self.service.submit([sys.executable, "work.py", *map(str, (count, micros, size))], name=f"on-{node}", accel_tasks=way,
                                   required_nodes=node, environment=["PATH=/usr/bin:/bin", f"PYTHONPATH={BESIDE}"])

    def lines(self, job):
        return [line.split() for line in self.service.read(f"rota-{job}.out").splitlines()]

    def all_right(self, job, count):
        row = self.service.ends(job)
        self.assertEqual(row["state"], "COMPLETED", self.service.read(f"rota-{job}.out"))
        self.assertEqual([line[:2] for line in self.lines(job)], [[str(n), "right"] for n in range(count)])
        return sum(int(line[2]) - 1 for line in self.lines(job))

    def at_work(self, job):
        self.service.wait_for(lambda: os.path.exists(os.path.join(self.folder, f"rota-{job}.out")) and len(self.lines(job)) > 3,
                              "tasks that are done")


class Life(Bound):
    def test_nodes_are_bound_evenly_and_jobs_find_their_container(self):
        unserved = self.service.ask("GET", "/v1/accelerators/n1")
        self.assertEqual((unserved[0], unserved[1]["detail"]),
                         (404, "no accelerator container serves node n1 now; `rota accel` lists those that there are."))
        self.container("a1")
        self.assertEqual(self.bound(), {"a1": ["a2", "n1", "n2", "n3", "n4"]})
        self.container("a2")
        self.assertEqual(sorted(map(len, self.bound().values())), [2, 2])
        jobs = [self.work(node) for node in ("a1", "n1", "n2", "n3", "n4")]
        for job in jobs:
            self.assertEqual(self.all_right(job, 10), 0)
        self.service.wait_for(lambda: sum(row["state"]["done"] for row in self.containers().values()) == 50, "all counts")
        self.assertTrue(all(row["state"]["done"] in (20, 30) for row in self.containers().values()))
        out = subprocess.run([ROTA, "accel", "--socket", self.service.socket], capture_output=True, text=True, check=True).stdout
        self.assertRegex(out, r"(?m)^a1 +0 +up +100 +0 +[23]0 ")
        metrics = self.service.ask("GET", "/metrics")[1]
        self.assertIn('rota_accelerator_nodes{served="yes"} 6', metrics)
        job = self.service.submit('echo "$ROTA_ACCEL"', name="without")
        self.service.ends(job)
        self.assertEqual(self.service.read(f"rota-{job}.out"), "\n", "what it did not ask for")

    def test_a_node_may_have_a_container_for_each_device(self):
        """Its nodes are shared out among them by weight, and go to the one that stays."""
        self.container("a2")
        for device, weight in (("0", "100"), ("1", "200")):
            self.running["a1-" + device] = process = self.begin("a1", "--device", device, "--weight", weight, "--listen", "127.0.0.1:0")
            self.says(process, "the service has the container of node a1")
        rows = {(row["node"], row["device"]): row["bound"] for row in self.service.ask("GET", "/v1/accelerators")[1]["containers"]}
        self.assertEqual(set(rows), {("a1", 0), ("a1", 1), ("a2", 0)})
        self.assertEqual(sorted(sum(rows.values(), [])), ["n1", "n2", "n3", "n4"])
        self.assertGreaterEqual(len(rows["a1", 1]), len(rows["a1", 0]))
        self.assertGreater(len(rows["a1", 1]), len(rows["a2", 0]))
        jobs = [self.work(f"n{n}") for n in range(1, 5)] + [self.work("n1", 200, 5_000, 64, "late")]
        for job, count in zip(jobs, (10, 10, 10, 10, 200)):
            self.assertEqual(self.all_right(job, count), 0)
        leaving = self.running.pop("a1-1")
        leaving.terminate()
        self.assertEqual(leaving.wait(PATIENCE), 0)
        leaving.stderr.close()
        self.assertTrue(self.all_bound())
        for job in [self.work(f"n{n}") for n in range(1, 5)]:
            self.all_right(job, 10)

    def test_a_command_in_a_job_needs_no_option(self):
        self.container("a1", "--listen", "127.0.0.1:0")
        job = self.service.submit([ROTA, "accel", "run", "lu", "--n", "100", "--seeded", "1", "--tasks", "5"], accel_tasks="node",
                                  required_nodes="n3")
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertIn("5 tasks done", self.service.read(f"rota-{job}.out"))

    def test_a_token_comes_from_the_service(self):
        token = os.path.join(self.folder, "token")
        with open(token, "w") as file:
            file.write("0123456789abcdef\n")
        self.container("a1", "--listen", "0.0.0.0:0", "--token-file", token)
        self.assertEqual(self.all_right(self.work("n2"), 10), 0)
        self.assertNotIn("0123456789abcdef", json.dumps(self.service.ask("GET", "/v1/accelerators")[1]))

    def test_a_container_that_drains_leaves_and_ends_what_it_has(self):
        leaving = self.container("a1")
        self.container("a2")
        jobs = [self.work(f"n{n}", 100, 20_000) for n in range(1, 5)]
        for job in jobs:
            self.at_work(job)
        leaving.terminate()
        self.assertEqual(leaving.wait(PATIENCE), 0)
        self.running.pop("a1").stderr.close()
        self.assertEqual(list(self.bound()), ["a2"])
        self.assertTrue(self.all_bound())
        for job in jobs:
            self.all_right(job, 100)
        self.assertEqual(self.containers()["a2"]["state"]["failed"], 0)

    def test_a_node_that_is_down_is_bound_to_none(self):
        self.container("a1")
        self.container("a2")
        with_two = self.bound()["a1"]
        self.service.ask("POST", "/v1/nodes/down", {"nodes": ",".join(with_two), "reason": "a test"})
        self.service.wait_for(lambda: sorted(map(len, self.bound().values())) == [1, 1], "the others to be shared")
        self.service.ask("POST", "/v1/nodes/resume", {"nodes": ",".join(with_two)})
        self.service.wait_for(lambda: sorted(map(len, self.bound().values())) == [2, 2], "all to be bound")

    def test_the_later_one_of_two_of_a_node_stays(self):
        first = self.container("a1")
        second = self.begin("a1", "--listen", "127.0.0.1:0")
        self.says(second, "the service has the container")
        self.says(first, "another container of node a1 has registered since")
        self.assertEqual(first.wait(PATIENCE), 0)
        first.stderr.close()
        self.running["a1"] = second
        self.assertEqual(self.all_right(self.work("n1"), 10), 0)

    def test_what_makes_no_sense_is_answered_by_a_sentence(self):
        done = self.begin("b9")
        said = done.communicate(timeout=PATIENCE)[1]
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no node \"b9\" here", said)
        card = {"address": "h:1", "epoch": "e"}
        for wrong, detail in (({"weight": 0}, "`weight` takes"), ({"period": 0}, "`period` takes"), ({"token": 'a"b'}, "`token` takes"),
                              ({"address": "a b:1"}, "`address` takes"), ({"state": []}, "`state` takes"),
                              ({"epoch": ""}, "a container has `epoch`"), ({"colour": 1}, "colour")):
            status, answer = self.service.ask("PUT", "/v1/accelerators/a1", {**card, **wrong})
            self.assertEqual(status, 400, answer)
            self.assertIn(detail, answer["detail"])
        self.assertEqual(self.service.ask("DELETE", "/v1/accelerators/a1?epoch=e")[0], 404)
        status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": "/", "accel_tasks": "yes"})
        self.assertEqual(status, 400, answer)
        self.assertIn("`accel_tasks` is `node`, `slot` or `late`", answer["detail"])
        self.assertEqual(self.containers(), {})

    @unittest.skipUnless(os.getuid() == 0, "root alone can be another user")
    def test_a_stranger_registers_no_container(self):
        code = ("import http.client, socket, sys\nc = http.client.HTTPConnection('rota')\nc.sock = socket.socket(socket.AF_UNIX)\n"
                "c.sock.connect(sys.argv[1])\nc.request(sys.argv[2], '/v1/accelerators/a1' + sys.argv[3], "
                "'{\"address\": \"evil:1\", \"epoch\": \"e\"}')\na = c.getresponse()\nprint(a.status, a.read().decode())")
        self.container("a1")
        epoch = self.containers()["a1"]["state"]["epoch"]
        for method, query in (("PUT", ""), ("DELETE", "?epoch=" + epoch)):
            done = subprocess.run(["/usr/bin/python3", "-c", code, self.service.socket, method, query], capture_output=True, text=True,
                                  user=65534, group=65534, extra_groups=[], check=True)
            self.assertIn("403 ", done.stdout)
            self.assertIn("only root and the user of the service", done.stdout)
        self.assertNotIn("evil", self.containers()["a1"]["address"])


class Late(Bound):
    def done(self):
        return {node: row["state"]["done"] for node, row in self.containers().items()}

    def test_each_task_goes_to_the_container_that_has_it_done_first(self):
        self.container("a1")
        self.container("a2", "--weight", "25")
        self.assertEqual(self.all_right(self.work("n1", 200, 5_000, 10_000, "late"), 200), 0)
        self.service.wait_for(lambda: sum(self.done().values()) == 200, "all counts")
        self.assertTrue(all(done >= 20 for done in self.done().values()), self.done())

    def test_what_a_container_that_is_killed_has_not_answered_another_does(self):
        self.container("a1")
        self.container("a2")
        jobs = [self.work(f"n{n}", 150, 10_000, 100_000, "late") for n in range(1, 5)]
        for job in jobs:
            self.at_work(job)
        self.kill("a1")
        self.assertGreater(sum(self.all_right(job, 150) for job in jobs), 0)
        self.container("a1")
        self.assertEqual(self.all_right(self.work("n1", 100, 5_000, 64, "late"), 100), 0)
        self.service.wait_for(lambda: self.done()["a1"] > 0, "the new one to have had some")


class Faults(Bound):
    def test_all_tasks_are_answered_once_when_a_container_is_killed_under_load(self):
        self.container("a1")
        self.container("a2")
        before = self.bound()
        jobs = [self.work(f"n{n}", 150, 10_000, 100_000) for n in range(1, 5)]
        for job in jobs:
            self.at_work(job)
        self.kill("a1")
        self.service.wait_for(lambda: "a1" not in self.containers(), "the container to be lost")
        after = self.bound()
        self.assertTrue(self.all_bound())
        self.assertLessEqual(set(before["a2"]), set(after["a2"]))
        again = sum(self.all_right(job, 150) for job in jobs)
        self.assertGreater(again, 0, "some were under way")
        self.container("a1")
        self.assertEqual(sorted(map(len, self.bound().values())), [2, 2])
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_a_container_that_stands_still_is_lost_and_comes_back(self):
        stands = self.container("a1")
        self.container("a2")
        node = next(node for node in self.bound()["a1"] if node.startswith("n"))
        job = self.work(node, 100, 20_000)
        self.at_work(job)
        stands.send_signal(signal.SIGSTOP)
        self.service.wait_for(lambda: "a1" not in self.containers(), "the container to be lost")
        self.all_right(job, 100)
        stands.send_signal(signal.SIGCONT)
        self.service.wait_for(lambda: "a1" in self.containers(), "the container to be back")
        self.assertEqual(sorted(map(len, self.bound().values())), [2, 2])

    def test_bindings_outlive_the_service(self):
        self.container("a1")
        self.container("a2")
        before = self.bound()
        jobs = [self.work(f"n{n}", 100, 20_000) for n in range(1, 5)]
        for job in jobs:
            self.at_work(job)
        for stop in (self.service.kill, self.service.stop):
            stop()
            self.service.start()
            self.service.wait_for(lambda: self.bound() == before, "the same bindings")
        for job in jobs:
            self.assertEqual(self.all_right(job, 100), 0)

    def test_a_container_that_went_with_the_service_is_waited_for_a_while_alone(self):
        self.container("a1")
        self.container("a2")
        self.service.kill()
        self.kill("a1")
        self.service.start()
        self.service.wait_for(lambda: self.bound().get("a2", []) and self.all_bound(), "all nodes to be bound to the other one")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
