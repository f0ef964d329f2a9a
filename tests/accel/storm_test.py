#!/usr/bin/env python3
"""Faults in turn under load, below a service with two containers, one of them over TCP with a token: after each of them
every job goes on, and at the end each task was answered once, and right, or with an error that says why, and no memory is
held. Usage: storm_test.py ROTA FAULTY_BACKEND [FAULTS]"""
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import unittest

ROTA, FAULTY = map(os.path.abspath, sys.argv[1:3])
FAULTS = int(sys.argv[3]) if len(sys.argv) > 3 else 18
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from service_test import BESIDE, PATIENCE, Bound, contents  # noqa: E402

sys.path.insert(0, BESIDE)
import rota_accel  # noqa: E402

# Has tasks done until a file says that it is enough, and counts in a file of its own those that were right.
ON_AND_ON = r"""
import collections, os, rota_accel
done, under_way = 0, collections.deque()
with rota_accel.Client(patience=1) as client:
    while under_way or not os.path.exists("enough"):
        while len(under_way) < 30 and not os.path.exists("enough"):
            payload = os.urandom(50_000)
            under_way.append((client.submit("noop", 3_000, payload=payload), payload))
        task, payload = under_way.popleft()
        assert bytes(task.result()) == payload, "another task's result"
        done += 1
        with open("done-" + os.environ["ROTA_JOB_ID"], "w") as file:
            print(done, file=file)
"""

# Is killed with tasks in each place of a container.
SHORT_LIVED = r"""
import sys, rota_accel
client = rota_accel.Client(sys.argv[1], token=sys.argv[2] or None)
tasks = [client.submit("noop", 20_000, payload=b"p" * 1_000_000) for _ in range(50)]
tasks[0].result()
print("one", flush=True)
tasks[-1].result()
"""
TOKEN = "0123456789abcdef"


class Cut:
    """A way to a container that can be cut: all of its connections at once."""

    def __init__(self, to):
        self.to, self.ends = to, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return  # it is closed
            self.ends.append(near)
            far = socket.create_connection(self.to)
            self.ends.append(far)
            for source, to in ((near, far), (far, near)):
                threading.Thread(target=self.pass_on, args=(source, to), daemon=True).start()

    @staticmethod
    def pass_on(source, to):
        try:
            while piece := source.recv(65536):
                to.sendall(piece)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def cut(self):
        for end in self.ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has gone already

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for end in (self.listener, *self.ends):
            end.close()


class Storm(Bound):
    def prepare(self):
        super().prepare()
        with open(os.path.join(self.folder, "on.py"), "w") as file:
            file.write(ON_AND_ON)
        self.token = os.path.join(self.folder, "token")
        with open(self.token, "w") as file:
            file.write(TOKEN + "\n")

    def serve(self, node):
        way = ("--listen", "127.0.0.1:0", "--token-file", self.token) if node == "a2" else ()
        self.container(node, "--backend", FAULTY, *way)

    def done(self, job):
        return int(contents(os.path.join(self.folder, f"done-{job}")) or 0)

    def all_go_on(self, jobs):
        before = {job: self.done(job) for job in jobs}
        self.service.wait_for(lambda: all(self.done(job) > before[job] + 5 for job in jobs), "all jobs to go on")

    def way_to(self, node):
        self.service.wait_for(lambda: node in self.containers(), "the container")
        return self.containers()[node]["address"], TOKEN if node == "a2" else ""

    # The faults: each leaves things as they were.

    def kill_one(self, node):
        """With tasks in its queues."""
        self.kill(node)
        self.serve(node)

    def stop_one(self, node):
        process = self.running[node]
        process.send_signal(signal.SIGSTOP)
        self.service.wait_for(lambda: node not in self.containers(), "it to be lost")
        process.send_signal(signal.SIGCONT)
        self.service.wait_for(lambda: node in self.containers(), "it to be back")

    def drain_one(self, node):
        process = self.running.pop(node)
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 0)
        process.stderr.close()
        self.serve(node)

    def restart_service(self, _):
        self.service.kill()
        self.service.start()

    def lose_a_node(self, node):
        """And its container; others have its nodes until it is back."""
        self.kill(node)
        self.assertEqual(self.service.ask("POST", "/v1/nodes/down", {"nodes": node, "reason": "gone"})[0], 200)
        self.service.wait_for(lambda: node not in self.containers(), "it to be lost")
        self.all_go_on(self.jobs)
        self.assertEqual(self.service.ask("POST", "/v1/nodes/resume", {"nodes": node})[0], 200)
        self.serve(node)

    def kill_a_client(self, node):
        child = subprocess.Popen([sys.executable, "-c", SHORT_LIVED, *self.way_to(node)], stdout=subprocess.PIPE, cwd=BESIDE)
        child.stdout.readline()
        dropped = self.containers()[node]["state"]["dropped"]
        child.kill()
        child.communicate()
        self.service.wait_for(lambda: self.containers()[node]["state"]["dropped"] > dropped, "its tasks to be dropped")

    def crash_a_backend(self, node):
        address, token = self.way_to(node)
        with rota_accel.Client(address, token=token or None) as client:
            beside = [client.submit("next", payload=b"a" * 100_000) for _ in range(4)]
            crash = client.submit("crash")
            for task in beside:
                self.assertEqual(bytes(task.result(PATIENCE)), b"b" * 100_000)
            with self.assertRaises(rota_accel.Failed) as failed:
                crash.result(PATIENCE)
            self.assertIn("ended by signal 11", str(failed.exception))

    def cut_connections(self, _):
        """Of a client with tasks, three times, while they are under way."""
        address, token = self.way_to("a2")
        host, _, port = address.rpartition(":")
        way = Cut((host, int(port)))
        try:
            with rota_accel.Client(way.address, token=token) as client:
                payloads = [os.urandom(200_000) for _ in range(30)]
                tasks = [client.submit("noop", 2_000, payload=payload) for payload in payloads]
                for some in (3, 10, 20):
                    tasks[some].result(PATIENCE)
                    way.cut()
                for task, payload in zip(tasks, payloads):
                    self.assertEqual(bytes(task.result(PATIENCE)), payload)
                self.assertGreater(sum(task.runs for task in tasks), len(tasks))
        finally:
            way.close()

    def test_faults_in_turn_under_load(self):
        dice = random.Random(11)
        for node in ("a1", "a2"):
            self.serve(node)
        self.jobs = [self.service.submit([sys.executable, "on.py"], accel_tasks=way, required_nodes=f"n{n}",
                                         environment=["PATH=/usr/bin:/bin", f"PYTHONPATH={BESIDE}"])
                     for n, way in ((1, "node"), (2, "late"), (3, "node"), (4, "late"))]
        faults = [self.kill_one, self.crash_a_backend, self.stop_one, self.cut_connections, self.drain_one, self.kill_a_client,
                  self.restart_service, self.lose_a_node]
        for fault in range(FAULTS):
            self.all_go_on(self.jobs)
            with self.subTest(fault=fault, what=faults[fault % len(faults)].__name__):
                faults[fault % len(faults)](dice.choice(("a1", "a2")))
        with open(os.path.join(self.folder, "enough"), "w"):
            pass
        for job in self.jobs:
            self.assertEqual(self.service.ends(job)["state"], "COMPLETED", self.service.read(f"rota-{job}.out"))
        states = lambda: [row["state"] for row in self.containers().values()]  # noqa: E731
        self.service.wait_for(lambda: all((state["memory_used"], state["clients"]) == (0, 0) for state in states()), "all memory")
        print(f"{FAULTS} faults; {sum(map(self.done, self.jobs))} tasks of jobs, each right and once", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
