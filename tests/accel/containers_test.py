#!/usr/bin/env python3
"""Containers as processes, with clients over the Python module: kills, hangs, slow clients, hostile bytes, drain.
Usage: containers_test.py ROTA FAULTY_BACKEND"""
import glob
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

ROTA, FAULTY = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, os.path.dirname(ROTA))
import rota_accel  # noqa: E402

PATIENCE = 240


class Containers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rota-accel-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.at = os.path.join(self.folder, "socket")
        self.process = None
        self.addCleanup(self.kill)

    def start(self, *more, at=None):
        self.process = subprocess.Popen([ROTA, "accel", "serve", *(at or ("--socket", self.at)), "--backend", "openblas=1", *more],
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.assertIn("the container listens at ", line)
        return line.split()[-1]

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.send_signal(signal.SIGCONT)
        if self.process:
            self.process.wait()
            self.process.stderr.close()
            self.process = None

    def client(self, **options):
        client = rota_accel.Client(self.at, **options)
        self.addCleanup(client.close)
        return client

    def until(self, holds, what):
        end = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), end, f"waited in vain for {what}")
            time.sleep(0.01)

    def ends_as(self, outcome, task):
        with self.assertRaises(rota_accel.Failed) as failed:
            task.result(PATIENCE)
        self.assertEqual(failed.exception.outcome, outcome)
        return str(failed.exception)

    def rota(self, *words, code=0):
        done = subprocess.run([ROTA, "accel", *words, "--at", self.at], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr


class Results(Containers):
    def test_factorizations_are_right(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        self.start()
        client = self.client()
        a = numpy.random.default_rng(1).uniform(-1, 1, (300, 300))
        factors, pivots = client.lu(a, PATIENCE)
        made = (numpy.tril(factors, -1) + numpy.eye(300)) @ numpy.triu(factors)
        for row in range(299, -1, -1):
            made[[row, pivots[row] - 1]] = made[[pivots[row] - 1, row]]
        self.assertLess(abs(made - a).max(), 1e-11)
        spd = a @ a.T + 300 * numpy.eye(300)
        lower = client.cholesky(spd, PATIENCE)
        self.assertLess(abs(lower @ lower.T - spd).max(), 1e-10)
        self.assertLess(abs(abs(numpy.triu(client.qr(a, PATIENCE)[0])) - abs(numpy.linalg.qr(a)[1])).max(), 1e-10)
        self.assertLess(abs(client.gemm(a, spd, PATIENCE) - a @ spd).max(), 1e-9)
        with self.assertRaises(rota_accel.Failed) as failed:
            client.cholesky(-spd, PATIENCE)
        self.assertEqual(failed.exception.outcome, "numeric")

    def test_features_of_images_and_their_clusters(self):
        """Against definitions written anew; and the images of a class come together."""
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        self.start("--backend", "images")
        client = self.client()
        dice = numpy.random.default_rng(3)
        images = dice.integers(0, 256, (5, 12, 17, 3), "uint8")
        got = client.features(images, timeout=PATIENCE)
        self.assertEqual(got.shape, (5, 104))
        for image, row in zip(images, got):
            grey = (image.astype(int) @ [77, 150, 29]) // 256
            around = [grey[1 + dy:11 + dy, 1 + dx:16 + dx] >= grey[1:11, 1:16]
                      for dy, dx in ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))]
            circle = numpy.stack(around, -1).reshape(-1, 8)
            changes = (circle != numpy.roll(circle, -1, 1)).sum(1)
            self.assertAlmostEqual(float(row[-1]), float((changes > 2).mean()), places=5)
            ones = ((changes == 0) & circle.all(1)).mean()
            self.assertAlmostEqual(float(row[45 + 57]), float(ones), places=5, msg="all neighbours are brighter: the last uniform pattern")
            high, low = image.max(2).astype(int), image.min(2).astype(int)
            self.assertAlmostEqual(float(row[:9].sum()), float((high - low < 24).mean()), places=5, msg="no hue")
            self.assertAlmostEqual(float(row[:45].sum()), 1, places=5)
            self.assertAlmostEqual(float(row[45:].sum()), 1, places=5)
        self.assertTrue((client.features(images, "colour", PATIENCE) == got[:, :45]).all())
        self.assertTrue((client.features(images, "lbp", PATIENCE) == got[:, 45:]).all())
        points = numpy.concatenate([dice.normal(10 * n, 0.1, (30, 6)) for n in range(4)]).astype("float32")
        centres, labels = client.kmeans(points, 4, seed=5, timeout=PATIENCE)
        self.assertEqual([len(set(labels[30 * n:30 * n + 30])) for n in range(4)], [1] * 4)
        self.assertEqual(len(set(labels)), 4)
        self.assertLess(abs(centres[labels] - points).max(), 1)
        for wrong in (("features", 2, 9, 1), ("features", 9, 9, 1), ("kmeans", 3, 2, 4, 1, 9), ("kmeans", 3, 2, 2, 1, 0)):
            with self.assertRaises(rota_accel.Failed) as failed:
                client.submit(*wrong, payload=b"12345678").result(PATIENCE)
            self.assertEqual(failed.exception.outcome, "bad-task")

    def test_payloads_come_back_whatever_holds_them(self):
        self.start()
        client = self.client()
        payload = random.Random(1).randbytes(3_000_001)
        for held in (payload, bytearray(payload), memoryview(payload), b""):
            self.assertEqual(bytes(client.submit("noop", payload=held).result(PATIENCE)), bytes(held))

    def test_the_module_does_without_numpy(self):
        code = "import sys; sys.modules['numpy'] = None; import rota_accel; print(rota_accel.OUTCOMES[0])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=os.path.dirname(ROTA), check=True)
        self.assertEqual(done.stdout, "done\n")

    def test_commands_run_tasks_and_show_the_state(self):
        self.start()
        out = os.path.join(self.folder, "out")
        self.assertIn("1 task done", self.rota("run", "lu", "--n", "100", "--seeded", "1", "--answer", "80400", "-o", out))
        self.assertEqual(os.path.getsize(out), 80400)
        self.assertIn("100 tasks done", self.rota("run", "noop", "--payload", "64", "--tasks", "100"))
        self.assertIn("1 task failed, the first because: matrices of this order are sent as 80000 bytes",
                      self.rota("run", "lu", "--n", "100", code=1))
        state = json.loads(self.rota("status", "--json"))
        self.assertEqual((state["done"], state["failed"], state["memory_used"]), (101, 1, 0))
        self.assertIn("openblas", self.rota("status"))

    def test_two_clients_at_once_have_their_own_tasks(self):
        self.start()
        wrong = []

        def many(letter):
            with rota_accel.Client(self.at) as client:
                tasks = [client.submit("noop", payload=letter * (n * 5000)) for n in range(60)]
                wrong.extend(n for n, task in enumerate(tasks) if bytes(task.result(PATIENCE)) != letter * (n * 5000))

        threads = [threading.Thread(target=many, args=(letter,)) for letter in (b"a", b"b")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_cancel_and_limit(self):
        self.start()
        client = self.client()
        tasks = [client.submit("noop", 3_000_000_000) for _ in range(20)]
        self.until(lambda: client.state()["computing"] > 0, "a task to compute")
        for task in tasks:
            task.cancel()
        for task in tasks:
            with self.assertRaises(rota_accel.Failed) as failed:
                task.result(PATIENCE)
            self.assertEqual(failed.exception.outcome, "cancelled")
        with self.assertRaises(rota_accel.Failed) as failed:
            client.submit("noop", 3_000_000_000, limit=0.05).result(PATIENCE)
        self.assertEqual(failed.exception.outcome, "time-limit")

    def test_tcp_needs_a_token_that_is_right(self):
        token = os.path.join(self.folder, "token")
        with open(token, "w") as file:
            file.write("0123456789abcdef\n")
        wrong_token = token + "-wrong"
        with open(wrong_token, "w") as file:
            file.write("0123456789abcdee\n")
        self.at = self.start("--token-file", token, at=("--listen", "127.0.0.1:0"))
        for wrong, why in (("0123456789abcdee", "the container has another token"), (None, "this container asks for a token")):
            self.assertIn(why, self.ends_as("bad-task", self.client(token=wrong).submit("noop")))
        self.assertIn("another token", self.rota("status", "--token-file", wrong_token, code=1))
        self.assertIn("1 task done", self.rota("run", "noop", "--payload", "3M", "--token-file", token))
        self.assertEqual(bytes(self.client(token="0123456789abcdef").submit("noop", payload=b"x").result(PATIENCE)), b"x")
        done = subprocess.run([ROTA, "accel", "serve", "--listen", "0.0.0.0:0"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("give a token with --token-file", done.stderr)


class Faults(Containers):
    def all_once(self, tasks, payload):
        for task in tasks:
            self.assertEqual(bytes(task.result(PATIENCE)), payload)

    def test_a_container_that_is_killed_and_started_again_has_all_tasks_done(self):
        self.start()
        client = self.client()
        payload = os.urandom(200_000)
        for _ in range(3):
            self.all_once([client.submit("noop", 10_000, payload=payload) for _ in range(5)], payload)
            kept = client.submit("noop", 3_000_000_000)
            self.until(lambda: client.state(PATIENCE)["computing"] > 0, "a task to compute")
            behind = [client.submit("noop", 10_000, payload=payload) for _ in range(15)]
            self.kill()
            self.start()
            self.until(lambda: client.state(PATIENCE)["computing"] > 0, "a task to be run again")
            kept.cancel()
            self.ends_as("cancelled", kept)
            self.assertEqual(kept.runs, 2)
            self.all_once(behind, payload)
            self.until(lambda: client.state(PATIENCE)["done"] == 15, "no more than those behind it")

    def test_a_container_that_stands_still_is_left_and_found_again(self):
        self.start()
        client = self.client(patience=0.3)
        tasks = [client.submit("noop", 5_000, payload=b"p" * 100_000) for _ in range(60)]
        tasks[10].result(PATIENCE)
        self.process.send_signal(signal.SIGSTOP)
        end = time.monotonic() + 1
        self.until(lambda: time.monotonic() > end, "the client to lose patience")
        self.process.send_signal(signal.SIGCONT)
        self.all_once(tasks, b"p" * 100_000)
        self.until(lambda: client.state(PATIENCE)["memory_used"] == 0, "all memory")

    def backends(self):
        """Process ids of the container's backends."""
        return [int(pid) for path in glob.glob(f"/proc/{self.process.pid}/task/*/children") for pid in self.text_of(path).split()]

    def text_of(self, path):
        try:
            return Path(path).read_text()
        except (FileNotFoundError, ProcessLookupError):  # a thread or process that ends meanwhile
            return ""

    def is_dead(self, pid):
        """All of its threads have ended, though it may not be waited for yet."""
        return all(self.text_of(path).rpartition(")")[2].split()[:1] in ([], ["Z"], ["X"])
                   for path in glob.glob(f"/proc/{pid}/task/*/stat"))

    def test_a_task_that_crashes_its_backend_ends_alone(self):
        self.start("--backend", FAULTY)
        client = self.client()
        before = [client.submit("next", payload=b"a" * 100_000) for _ in range(5)]
        crash = client.submit("crash", payload=b"x")
        after = [client.submit("next", payload=b"a" * 100_000) for _ in range(5)]
        self.assertIn("ended by signal 11", self.ends_as("device-lost", crash))
        self.all_once(before + after, b"b" * 100_000)
        self.assertIn("exit code 3", self.ends_as("device-lost", client.submit("leave")))
        self.until(lambda: [(device["state"], device["crashes"]) for device in client.state(PATIENCE)["devices"]] == [("up", 0), ("up", 2)],
                   "the backend to be started anew")
        self.assertEqual(client.state(PATIENCE)["memory_used"], 0)

    def test_a_backend_that_crashes_again_and_again_rests_and_the_others_go_on(self):
        self.start("--backend", FAULTY)
        client = self.client()
        for _ in range(6):
            self.ends_as("device-lost", client.submit("crash"))
        self.assertIn("5 times in a minute", self.ends_as("device-lost", client.submit("next", payload=b"a")))
        self.assertEqual(bytes(client.submit("noop", payload=b"x").result(PATIENCE)), b"x")
        self.assertEqual(client.state(PATIENCE)["devices"][1]["state"], "lost")

    def test_a_container_answers_while_a_backend_does_not_open(self):
        shut = os.path.join(self.folder, "shut")
        self.start("--backend", f"{FAULTY}={shut}")
        client, other = self.client(), self.client()
        Path(shut).touch()
        self.ends_as("device-lost", client.submit("crash"))
        task, unwanted = client.submit("next", payload=b"a"), client.submit("next", payload=b"aa")
        self.until(lambda: client.state(PATIENCE)["devices"][1] | {"crashes": 1, "state": "lost"} == client.state(PATIENCE)["devices"][1],
                   "the backend to be missed")
        unwanted.cancel()
        self.ends_as("cancelled", unwanted)
        self.assertEqual(other.state(PATIENCE)["waiting"], 1)
        os.unlink(shut)
        self.assertEqual(bytes(task.result(PATIENCE)), b"b")
        self.until(lambda: client.state(PATIENCE)["devices"][1]["state"] == "up", "the backend")

    def test_a_container_ends_while_a_backend_does_not_open(self):
        shut = os.path.join(self.folder, "shut")
        self.start("--backend", f"{FAULTY}={shut}")
        client = self.client(give_up=0.2)
        Path(shut).touch()
        self.ends_as("device-lost", client.submit("crash"))
        task = client.submit("next", payload=b"a")
        self.until(lambda: client.state(PATIENCE)["waiting"] == 1, "the task")
        self.process.terminate()
        self.assertEqual(self.process.wait(PATIENCE), 0)
        self.ends_as("leaving", task)

    def test_a_backend_that_stands_still_is_started_anew(self):
        self.start("--backend", FAULTY)
        client = self.client()
        [_, backend] = self.backends()
        os.kill(backend, signal.SIGSTOP)
        task = client.submit("next", payload=b"a")
        client.state(PATIENCE)
        self.assertEqual(bytes(task.result(PATIENCE)), b"b")
        self.assertEqual(client.state(PATIENCE)["devices"][1]["crashes"], 1)

    def test_a_task_that_does_not_stop_is_ended_with_its_backend(self):
        self.start("--backend", FAULTY, "--grace", "0.2s")
        client = self.client()
        task = client.submit("loop")
        self.until(lambda: client.state(PATIENCE)["computing"] > 0, "a task to compute")
        task.cancel()
        self.ends_as("cancelled", task)
        self.ends_as("time-limit", client.submit("loop", limit=0.05))
        self.assertEqual(bytes(client.submit("next", payload=b"a").result(PATIENCE)), b"b")

    def test_a_backend_that_is_killed_between_tasks_is_missed_by_none(self):
        self.start()
        client = self.client()
        for _ in range(3):
            [backend] = self.backends()
            os.kill(backend, signal.SIGKILL)
            # With all of its threads: until then what they have open counts as open. Or it is missed already.
            self.until(lambda: backend not in self.backends() or self.is_dead(backend), "the backend to end")
            self.assertEqual(bytes(client.submit("noop", payload=b"x").result(PATIENCE)), b"x")

    def test_backends_end_with_their_container(self):
        self.start()
        [backend] = self.backends()
        self.kill()
        self.until(lambda: not os.path.exists(f"/proc/{backend}"), "the backend to end")

    def test_clients_that_are_killed_leave_nothing_behind(self):
        self.start()
        code = ("import rota_accel, sys; c = rota_accel.Client(sys.argv[1]); t = [c.submit('noop', 20000, payload=b'p' * 2000000) "
                "for _ in range(50)]; t[0].result(); print('one', flush=True); t[-1].result()")
        for _ in range(3):
            child = subprocess.Popen([sys.executable, "-c", code, self.at], stdout=subprocess.PIPE, cwd=os.path.dirname(ROTA))
            child.stdout.readline()
            child.kill()
            child.communicate()
        client = self.client()
        self.until(lambda: client.state(PATIENCE)["clients"] == 1, "the others to be dropped")
        self.until(lambda: client.state(PATIENCE)["memory_used"] == 0, "all memory")

    def test_drain_ends_what_has_begun(self):
        self.start()
        client, late = self.client(), self.client(give_up=0.2)
        tasks = [client.submit("noop", 100_000, payload=b"x") for _ in range(5)]
        # A question for the state overtakes tasks, and what still waits for memory is refused.
        self.until(lambda: [client.state(PATIENCE)[name] for name in ("submitted", "waiting")] == [5, 0], "all tasks to be accepted")
        self.process.terminate()
        self.assertIn("accepts no more tasks", self.process.stderr.readline())
        with self.assertRaises(rota_accel.Failed) as failed:
            late.submit("noop").result(PATIENCE)
        self.assertEqual(failed.exception.outcome, "leaving")
        self.all_once(tasks, b"x")
        self.assertEqual(self.process.wait(PATIENCE), 0)
        self.assertFalse(os.path.exists(self.at))

    def test_random_bytes_end_their_connection_alone(self):
        self.start()
        client = self.client()
        task = client.submit("noop", 500_000, payload=b"x")
        dice = random.Random(7)
        for _ in range(1000):
            with socket.socket(socket.AF_UNIX) as raw:
                raw.connect(self.at)
                raw.send(dice.randbytes(dice.randrange(1, 400)))
        self.assertEqual(bytes(task.result(PATIENCE)), b"x")
        self.until(lambda: client.state(PATIENCE)["clients"] == 1, "the others to be dropped")
        self.assertIsNone(self.process.poll())
        self.assertEqual(client.state(PATIENCE)["memory_used"], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
