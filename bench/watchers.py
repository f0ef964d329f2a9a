#!/usr/bin/env python3
"""What it costs that so many follow the events. Usage: watchers.py ROTA [WATCHERS]

They are connected, as many as the limits of descriptors allow; one in a hundred never reads. Meanwhile jobs are submitted
one by one. Told are the memory of the service for each watcher, how long a submission takes with and without them, and how
long it takes until all that read have heard of the last.
"""
import json
import os
import resource
import selectors
import shutil
import socket
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from waiting import Waiting  # noqa: E402

SPARE, LOOKS = 200, 100


class Watchers:
    def __init__(self, path, count):
        self.readers = selectors.DefaultSelector()
        self.sockets = []
        self.heard = {}
        for number in range(count):
            stream = socket.socket(socket.AF_UNIX)
            stream.connect(path)
            stream.sendall(b"GET /v1/events HTTP/1.1\r\nHost: rota\r\n\r\n")
            stream.setblocking(False)
            self.sockets.append(stream)
            if number % 100 != 99:
                self.readers.register(stream, selectors.EVENT_READ)
                self.heard[stream] = b""

    def until_all(self, word):
        """Until each has heard this word; seconds."""
        begun = time.monotonic()
        missing = {stream for stream, text in self.heard.items() if word not in text}
        while missing:
            assert time.monotonic() - begun < 240, f"{len(missing)} have not heard {word}"
            for key, _ in self.readers.select(10):
                text = self.heard[key.fileobj] + key.fileobj.recv(1 << 16)
                if word in text:
                    missing.discard(key.fileobj)
                self.heard[key.fileobj] = text[-200:]
        return time.monotonic() - begun


def main(rota, asked):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count = min(asked, most - SPARE)
    folder = tempfile.mkdtemp(prefix="rota-bench-", dir=os.environ.get("ROTA_BENCH_FOLDER"))
    waiting = Waiting(rota, folder)
    try:
        waiting.hold()
        waiting.fill(100)
        alone, _ = waiting.median(waiting.join)
        before = waiting.resident()
        watchers = Watchers(waiting.service.socket, count)
        watchers.until_all(b": from ")
        each = (waiting.resident() - before) / count
        times = []
        for _ in range(LOOKS):
            begun = time.monotonic()
            job = waiting.post(waiting.waiting_job())
            times.append(time.monotonic() - begun)
        told = watchers.until_all(f'"job":{int(job["id"]) - 1}'.encode())
        print(f"{count:,} watchers: {each:.0f} bytes of memory each; a submission takes {1e3 * statistics.median(times):.2f} ms "
              f"at the median and {1e3 * max(times):.1f} ms at most, {alone:.2f} ms without them; {told:.2f} s after the last "
              f"of {LOOKS} all have heard of it")
        for stream in watchers.sockets:
            stream.close()
    finally:
        waiting.release()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
