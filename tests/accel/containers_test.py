#!/usr/bin/env python3
"""Containers as processes, with clients over the Python module: kills, hangs, slow clients, hostile bytes, drain.
Usage: containers_test.py ROTA FAULTY_BACKEND"""
import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
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
from turbo_jpeg import TurboJpeg  # noqa: E402

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

    def jpeg(self):
        try:
            import numpy
            return numpy, TurboJpeg()
        except (ImportError, OSError) as lacking:
            self.skipTest(str(lacking))

    def test_features_of_jpeg_files_are_those_of_their_pixels(self):
        numpy, turbo = self.jpeg()
        self.start("--backend", "images")
        client = self.client()
        dice = numpy.random.default_rng(4)
        files, pixels = [], []
        for n in range(500):
            image = numpy.kron(dice.integers(0, 256, (6, 8, 3), "uint8"), numpy.ones((8, 8, 1), "uint8"))
            files.append(turbo.file_of(image, quality=50 + n % 50, flags=16384 * (n % 2)))  # every other one is progressive
            pixels.append(turbo.pixels_of(files[-1], image.shape))
        for operation, floats in (("features", 104), ("colour", 45), ("lbp", 59)):
            of_pixels = client.features(numpy.frombuffer(b"".join(pixels), "uint8").reshape(500, 48, 64, 3), operation, PATIENCE)
            of_files = client.features(files, operation, PATIENCE)
            self.assertEqual(of_files.shape, (500, floats))
            self.assertTrue((of_files == of_pixels).all())
        sizes = [(3, 3), (100, 7), (480, 640)]
        mixed = [turbo.file_of(dice.integers(0, 256, (*size, 3), "uint8")) for size in sizes]
        self.assertEqual(client.features(mixed, timeout=PATIENCE).shape, (3, 104))
        self.assertEqual(client.features([memoryview(files[0])], timeout=PATIENCE).shape, (1, 104))

        def written(name, content):
            Path(self.folder, name).write_bytes(content)
            return os.path.join(self.folder, name)

        jpegs = [written(f"{n}.jpg", file) for n, file in enumerate(files[:3])]
        ppms = [written(f"{n}.ppm", b"P6\n# of a test\n64 48 255\n" + image) for n, image in enumerate(pixels[:3])]
        out = os.path.join(self.folder, "out")
        for paths in (jpegs, ppms):
            self.assertIn("1 task done", self.rota("run", "features", "-o", out, "--images", *paths))
            self.assertEqual(Path(out).read_bytes(), client.features(files[:3], timeout=PATIENCE).tobytes())
        self.assertIn("tasks of their own", self.rota("run", "features", "--images", jpegs[0], ppms[0], code=1))
        for content, why in ((b"GIF89a", "neither a JPEG file nor a PPM file"), (b"P6 64 48 255\nshort", "no whole PPM file"),
                             (b"P6 9999999999999999999 4 255\n", "no whole PPM file"), (b"P6", "no whole PPM file")):
            self.assertIn(why, self.rota("run", "features", "--images", written("wrong", content), code=1))
        self.assertIn("of one size", self.rota("run", "lbp", "--images", ppms[0], written("small.ppm", b"P6 3 3 255\n" + bytes(27)), code=1))

    def test_jpeg_files_that_are_wrong_end_as_bad_tasks(self):
        numpy, turbo = self.jpeg()
        self.start("--backend", "images")
        client = self.client()
        good = turbo.file_of(numpy.random.default_rng(5).integers(0, 256, (40, 50, 3), "uint8"))
        frame = good.index(b"\xff\xc0") + 5  # height, then width, of two bytes each

        def sized(height, width):
            return good[:frame] + struct.pack(">HH", height, width) + good[frame + 4:]

        def sent(*files, lengths=None):
            table = struct.pack(f"<{len(files)}I", *(lengths or map(len, files)))
            return client.submit("features", 0, 0, len(files), payload=table + b"".join(files))

        for file, why in ((good[:len(good) // 2], "JPEG file 2: Premature end"), (good[:30], "JPEG file 2: "), (b"", "JPEG file 2: "),
                          (b"\xff\xd8\xff\xd9", "JPEG file 2: "), (random.Random(6).randbytes(5000), "JPEG file 2: "),
                          (sized(65500, 65500), "of 65500 by 65500 pixels"), (sized(2, 50), "of 50 by 2 pixels"), (sized(4000, 4000), "JPEG file 2: ")):
            self.assertIn(why, self.ends_as("bad-task", sent(good, file, good)))
        for lengths in ((len(good), len(good) - 1), (len(good), len(good) + 1), (2 ** 32 - 1, 1), (0, 2 * len(good))):
            self.ends_as("bad-task", sent(good, good, lengths=lengths))
        dice = random.Random(8)
        for _ in range(300):
            spoilt = bytearray(good)
            for _ in range(dice.randrange(1, 20)):
                spoilt[dice.randrange(2, len(spoilt))] = dice.randrange(256)
            try:
                sent(spoilt).result(PATIENCE)
            except rota_accel.Failed as failed:
                self.assertEqual(failed.outcome, "bad-task", failed)
        for wrong in ((0, 0, 0), (0, 0, -1), (0, 0, 3), (0, 9, 1)):
            self.ends_as("bad-task", client.submit("features", *wrong, payload=b"12345678"))
        self.assertEqual(client.features([good], timeout=PATIENCE).shape, (1, 104))
        state = client.state(PATIENCE)
        self.assertEqual((state["devices"][1]["crashes"], state["memory_used"]), (0, 0))
        [_, backend] = self.backends()
        most = int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{backend}/status").read_text())[1])
        self.assertLess(most, 400_000, "KiB: an image of 4096 by 4096 pixels, as it is decoded, is the largest thing")

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
