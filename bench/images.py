#!/usr/bin/env python3
"""The paper's application with accelerator containers: features of images (colour, LBP) as the map, k-means of them as the reduce.
Usage: images.py ROTA [--images N] [--jpeg]

50,000 images of 128 by 128 pixels in 32 classes, made by a seed, in batches of 100. Computed by the backend `images` in this process, on one
core and without a container; then by one and by three containers of this computer, over their sockets. Prints the seconds of both parts, what
the containers computed, and the purity of the clusters (the part of the images whose cluster is mostly of their class), and fails where labels differ. --jpeg: the images are sent as JPEG files, and unpacked by the backend.
"""
import argparse
import contextlib
import ctypes
import os
import struct
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed (python3-numpy)")
    sys.exit(77)

SIDE, CLASSES, BATCH, FLOATS = 128, 32, 100, 104
SEED, ROUNDS = 7, 10


def images_of(count):
    """Colours in eight kinds and patterns in four, with noise; and the class of each."""
    dice = numpy.random.default_rng(SEED)
    y, x = numpy.mgrid[:SIDE, :SIDE]
    patterns = numpy.stack([0 * x, y // 4 % 2, x // 4 % 2, (x // 6 + y // 6) % 2])
    colours = dice.integers(20, 140, (8, 3))
    models = (colours[:, None, None, None] + 60 * patterns[None, :, :, :, None]).reshape(CLASSES, SIDE, SIDE, 3).astype("uint8")
    classes = dice.integers(0, CLASSES, count)
    images = numpy.empty((count, SIDE, SIDE, 3), "uint8")
    for at in range(0, count, BATCH):
        of = classes[at:at + BATCH]
        images[at:at + BATCH] = models[of] + dice.integers(0, 50, (len(of), SIDE, SIDE, 3), "uint8")
    return images, classes


def task_of(batch):
    """Parameters and payload."""
    if isinstance(batch, list):
        return (0, 0, len(batch)), numpy.frombuffer(struct.pack(f"<{len(batch)}I", *map(len, batch)) + b"".join(batch), "uint8")
    return (SIDE, SIDE, len(batch)), batch


class Header(ctypes.Structure):  # of src/accel/backend_abi.h, as what follows
    _fields_ = [("operation", ctypes.c_char * 32), ("parameters", ctypes.c_int64 * 6), ("payload_bytes", ctypes.c_uint64)]


class Plan(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("buffer_bytes", "result_offset", "result_bytes", "scratch_bytes")]


CANCELLED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Run(ctypes.Structure):
    _fields_ = [("header", Header), ("plan", Plan), ("buffer", ctypes.c_void_p), ("scratch", ctypes.c_void_p), ("cancelled", CANCELLED),
                ("context", ctypes.c_void_p)]


def function(*arguments):
    return ctypes.CFUNCTYPE(ctypes.c_int, *arguments)


class Backend(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_int), ("name", ctypes.c_char_p), ("operations", ctypes.c_void_p),
                ("open", function(ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_size_t)), ("describe", ctypes.c_void_p),
                ("plan", function(ctypes.c_void_p, ctypes.POINTER(Header), ctypes.POINTER(Plan), ctypes.c_char_p, ctypes.c_size_t)),
                ("run", function(ctypes.c_void_p, ctypes.POINTER(Run), ctypes.c_char_p, ctypes.c_size_t))]


class InThisProcess:
    """The backend without a container."""

    def __init__(self, rota):
        library = ctypes.CDLL(os.path.join(os.path.dirname(rota), "librota-accel-images.so"))
        library.rota_accel_backend_entry.restype = ctypes.POINTER(Backend)
        self.backend, self.device = library.rota_accel_backend_entry().contents, ctypes.c_void_p()
        assert self.backend.open(b"", ctypes.byref(self.device), None, 0) == 0
        self.buffer = numpy.zeros(0, "uint8")  # used again, as a container does

    def compute(self, operation, parameters, payload):
        header, plan = Header(operation.encode(), (ctypes.c_int64 * 6)(*parameters), payload.nbytes), Plan()
        assert self.backend.plan(self.device, ctypes.byref(header), ctypes.byref(plan), None, 0) == 0
        if len(self.buffer) < plan.buffer_bytes:
            self.buffer = numpy.zeros(plan.buffer_bytes + 4096, "uint8")
        buffer, scratch = self.buffer[-self.buffer.ctypes.data % 64:], numpy.empty(plan.scratch_bytes + 1, "uint8")
        buffer[:payload.nbytes] = payload.reshape(-1).view("uint8")
        run = Run(header, plan, buffer.ctypes.data, scratch.ctypes.data, CANCELLED(lambda _: 0), None)
        assert self.backend.run(self.device, ctypes.byref(run), None, 0) == 0
        return buffer[plan.result_offset:plan.result_offset + plan.result_bytes].copy()

    def features(self, batches):
        return [self.compute("features", *task_of(batch)).view("float32").reshape(-1, FLOATS) for batch in batches]

    def labels(self, points):
        return self.compute("kmeans", (*points.shape, CLASSES, SEED, ROUNDS), points)[4 * CLASSES * FLOATS:].view("int32")

    def computed(self):
        return time.process_time()


class InContainers:
    def __init__(self, rota, count, stack):
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rota-accel-"))
        self.clients = []
        for number in range(count):
            at = os.path.join(folder, str(number))
            process = stack.enter_context(subprocess.Popen([rota, "accel", "serve", "--socket", at, "--backend", "images"], stderr=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            process.stderr.readline()  # it listens
            self.clients.append(stack.enter_context(rota_accel.Client(at)))

    def features(self, batches):
        tasks = []
        for number, batch in enumerate(batches):
            parameters, payload = task_of(batch)
            tasks.append(self.clients[number % len(self.clients)].submit("features", *parameters, payload=payload))
        return [numpy.frombuffer(task.result(), "float32").reshape(-1, FLOATS) for task in tasks]

    def labels(self, points):
        return self.clients[0].kmeans(points, CLASSES, SEED, ROUNDS)[1]

    def computed(self):
        return sum(client.state()["computed_us"] for client in self.clients) / 1e6


def purity(labels, classes):
    return sum(numpy.bincount(classes[labels == cluster]).max() for cluster in set(labels)) / len(labels)


def measure(name, by, images, classes):
    batches = [images[at:at + BATCH] for at in range(0, len(images), BATCH)]
    before, begun = by.computed(), time.monotonic()
    points = numpy.concatenate(by.features(batches))
    mapped, computed = time.monotonic() - begun, by.computed() - before
    begun = time.monotonic()
    labels = numpy.array(by.labels(points))
    print(f"{name:<28} map {mapped:7.2f} s, of which computed {computed:7.2f} s; reduce {time.monotonic() - begun:6.2f} s; purity {purity(labels, classes):.3f}")
    return labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rota", type=os.path.abspath)
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--jpeg", action="store_true")
    arguments = parser.parse_args()
    global rota_accel
    sys.path.insert(0, os.path.dirname(arguments.rota))
    import rota_accel
    images, classes = images_of(arguments.images)
    if arguments.jpeg:
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "accel"))
        from turbo_jpeg import TurboJpeg
        turbo = TurboJpeg()
        images = [turbo.file_of(image) for image in images]
        print(f"JPEG files: {sum(map(len, images)) / 1e6:.0f} MB")
    alone = measure("one core, without containers", InThisProcess(arguments.rota), images, classes)
    for count in (1, 3):
        with contextlib.ExitStack() as stack:
            labels = measure(f"containers: {count}", InContainers(arguments.rota, count, stack), images, classes)
            assert (labels == alone).all(), "the labels differ"
    return 0


if __name__ == "__main__":
    sys.exit(main())
