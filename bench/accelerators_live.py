#!/usr/bin/env python3
"""The paper's experiment with accelerator containers, live beside its rehearsal. Usage: accelerators_live.py ROTA MODELLED_BACKEND [--short]
[--scale N] [--only APPLICATION]

100 tasks of LU, QR and Cholesky on four nodes, of which 0, 2, 3 or 4 have an accelerator: a service that binds nodes, a
container for each accelerator behind a link of 117 MB/s each way, encrypted, a client for each node. What a task computes
is modelled by its time, in which the container waits: what the paper measured, divided by --scale (100); payloads are
divided likewise, so that the link is as large a part of it as there. Without accelerators each node has a container for its
CPU; with a limit a task that such a container has not finished by then is begun again on another node, before new ones.
`late` adds the CPUs' containers to those of three accelerators. --short: sixteen small tasks, and only counts are looked at.
"""
import argparse
import collections
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))
from service import Service  # noqa: E402

APPLICATIONS = {"LU": (55.0, 6.2), "QR": (384.1, 23.2), "Cholesky": (60.5, 7.6), "images": (5.0, 0.625)}  # seconds on a CPU and on a GPU
NODES = ["n1", "n2", "n3", "n4"]
RATE = 117e6  # bytes a second, each way
LIMIT = 400   # seconds, of a task on a CPU, where there is one
CPU, GPU = 0, 1  # the parameter of a task with its time there
TOKEN = "0123456789abcdef0123456789abcdef"

Case = collections.namedtuple("Case", "application way gpus intensity megabytes limit", defaults=(1, 1, None))


class Bucket:
    """So many bytes a second, with 2 ms in advance at most."""

    def __init__(self):
        self.lock, self.next = threading.Lock(), 0.0

    def take(self, size):
        with self.lock:
            self.next = max(self.next, time.monotonic() - 0.002) + size / RATE
            wait = self.next - time.monotonic()
        if wait > 0:
            time.sleep(wait)


def pass_on(source, to, bucket):
    try:
        while piece := source.recv(65536):
            bucket.take(len(piece))
            to.sendall(piece)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side has gone


def serve_link(port):
    """A process of its own: prints where it listens, and ends with what it reads from."""
    sys.setswitchinterval(0.0005)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    out, back = Bucket(), Bucket()
    while True:
        near, far = listener.accept()[0], socket.create_connection(("127.0.0.1", port))
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, to, bucket in ((near, far, out), (far, near, back)):
            threading.Thread(target=pass_on, args=(source, to, bucket), daemon=True).start()


class Cluster:
    """Four nodes of a service, the first of which have accelerators; `cpus`: each has a container for its CPU as well."""

    def __init__(self, rota, backend, application, gpus, cpus):
        self.folder = tempfile.mkdtemp(prefix="rota-accel-", dir=os.environ.get("ROTA_BENCH_FOLDER"))
        self.rota, self.backend, self.processes = rota, backend, []
        with open(os.path.join(self.folder, "token"), "w") as file:
            file.write(TOKEN + "\n")
        self.service = Service(rota, self.folder, '[[nodes]]\nnames = "n[1-4]"\nprocessors = 1\n')
        self.service.start()
        cpu, gpu = APPLICATIONS[application]
        for node in NODES[:gpus]:
            self.add(node, 0, round(100 * cpu / gpu), GPU)
        for number, node in enumerate(NODES if cpus else []):
            self.add(node, 1 if number < gpus else 0, 100, CPU)

    def begin(self, words, stream):
        process = subprocess.Popen(words, stdin=subprocess.PIPE, text=True, **{stream: subprocess.PIPE})
        self.processes.append(process)
        return getattr(process, stream).readline().split()[-1]

    def add(self, node, device, weight, kind):
        address = self.begin([self.rota, "accel", "serve", "--listen", "127.0.0.1:0", "--backend", f"{self.backend}={kind}",
                              "--token-file", os.path.join(self.folder, "token")], "stderr")
        if kind == GPU:
            address = "127.0.0.1:" + self.begin([sys.executable, __file__, "--link", address.rpartition(":")[2]], "stdout")
        status, answer = self.service.ask("PUT", f"/v1/accelerators/{node}", {
            "device": device, "address": address, "token": TOKEN, "epoch": "1", "weight": weight, "period": 3600})
        assert status == 200, answer

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        self.service.stop()
        shutil.rmtree(self.folder)

    def done(self):
        """Tasks that each accelerator has done, in order of the nodes."""
        counts = []
        rows = {row["node"]: row["address"] for row in self.service.ask("GET", "/v1/accelerators")[1]["containers"]}
        for node in NODES:
            if node in rows:
                with rota_accel.Client(rows[node], token=TOKEN) as client:
                    counts.append(client.state()["done"])
        return counts


class Live:
    """One application on one cluster."""

    def __init__(self, cluster, tasks, scale):
        self.cluster, self.tasks, self.scale = cluster, tasks, scale

    def seconds(self, case):
        """From the first task to the last result, which are all right."""
        late = case.way in ("container", "late")
        clients = [rota_accel.Client(f"{way}@{self.cluster.service.socket}", give_up=600) for way in (["late:n1"] if late else NODES)]
        for client in clients:  # which is connected then
            client.submit("model", payload=b"there").result()
        times = [int(each * case.intensity / self.scale * 1e6) for each in APPLICATIONS[case.application]]
        payload = os.urandom(max(1, int(case.megabytes * 1e6 / self.scale)))
        begun = time.monotonic()
        if case.limit:
            self.with_limit(clients, times, payload, case.limit / self.scale)
        else:
            under_way = [client.submit("model", *times, payload=payload) for _ in range(self.tasks // len(clients)) for client in clients]
            assert all(task.result() == payload for task in under_way)
        took = time.monotonic() - begun
        for client in clients:
            client.close()
        return took

    def with_limit(self, clients, times, payload, limit):
        """One task at a time on each node; what the limit ends is begun again on another node, before new ones."""
        changed, again, left = threading.Condition(), collections.deque(), [self.tasks]

        def next_task(node, new):
            """Where it was begun before, or None: a new one. Nothing: all have ended."""
            while left[0] > 0:
                other = next((origin for origin in again if origin != node), None)
                if other is not None:
                    again.remove(other)
                if other is not None or new > 0:
                    return other, True
                changed.wait()
            return None, False

        def work(node):
            new = self.tasks // len(clients)
            while True:
                with changed:
                    origin, found = next_task(node, new)
                if not found:
                    return
                new -= origin is None
                task = clients[node].submit("model", *times, payload=payload, limit=limit if origin is None else None)
                try:
                    task.result()
                except rota_accel.Failed as failed:
                    assert failed.outcome == "time-limit" and origin is None, failed
                with changed:
                    if task.outcome == "done":
                        left[0] -= 1
                    else:
                        again.append(node)
                    changed.notify_all()

        threads = [threading.Thread(target=work, args=(node,)) for node in range(len(clients))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class Rehearsed:
    """Seconds of the same by `rota simulate`, in the times of the paper."""

    def __init__(self, rota, folder, tasks):
        self.rota, self.folder, self.tasks = rota, folder, tasks

    def seconds(self, case):
        gpus = case.gpus or 1  # a policy that binds nothing asks for none, and the cluster file for one kind of nodes
        cluster, log = os.path.join(self.folder, "cluster.toml"), os.path.join(self.folder, "log.jsonl")
        with open(cluster, "w") as file:
            file.write(f'[[nodes]]\nnames = "gpu[1-{gpus}]"\naccelerators = 1\naccelerator_link = {int(RATE)}\n')
            if gpus < len(NODES):
                file.write(f'[[nodes]]\nnames = "n[{gpus + 1}-{len(NODES)}]"\n')
        cpu, gpu = APPLICATIONS[case.application]
        job = {"number": 1, "submit": 0, "run_time": 10**8, "processors": len(NODES), "tasks": self.tasks,
               "task_cpu": cpu * case.intensity, "task_accelerator": gpu * case.intensity,
               "task_transfer": str(int(case.megabytes * 1e6)), **({"task_limit": case.limit} if case.limit else {})}
        with open(log, "w") as file:
            file.write(json.dumps(job) + "\n")
        bind = {"cpu": "no"}.get(case.way, case.way)
        out = subprocess.run([self.rota, "simulate", log, "--cluster", cluster, "--container-copies", "all", "--policy",
                              f"fcfs+bind={bind}", "--json"], capture_output=True, text=True, check=True).stdout
        return json.loads(out)["rehearsals"][0]["makespan_s"]


def cases_of(application, short):
    """By cluster: what is measured there one after the other."""
    if application == "images":  # the map of 50,000 by 500, as docs/reproduce.md assumes it
        for gpus in (0, 2, 3, 4):
            yield gpus, gpus == 0, [Case(application, "node", gpus, 1, 50) if gpus else Case(application, "cpu", 0)]
        return
    intensities = [1] if short else [1, 2, 4, 8]
    cpu = [Case(application, "cpu", 0, intensity) for intensity in intensities]
    if short or application != "QR":  # of which a task of intensity 2 is beyond any limit that LU knows
        cpu.append(Case(application, "cpu", 0, intensities[-1] if not short else 8, limit=LIMIT))
    for case in cpu:
        yield 0, True, [case]
    for gpus in (2, 3, 4):
        bound = [Case(application, "node", gpus, intensity) for intensity in intensities]
        bound += [Case(application, "node", gpus, 1, megabytes) for megabytes in ([] if short else [5, 10, 20, 50])]
        if gpus == 3:
            bound.append(Case(application, "container", 3))
        yield gpus, False, bound
    yield 3, True, [Case(application, "late", 3)]


def main():
    if sys.argv[1] == "--link":
        return serve_link(int(sys.argv[2]))
    parser = argparse.ArgumentParser()
    parser.add_argument("rota", type=os.path.abspath)
    parser.add_argument("backend", type=os.path.abspath)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--scale", type=float, default=100)
    parser.add_argument("--only", choices=APPLICATIONS)
    arguments = parser.parse_args()
    global rota_accel
    sys.path.insert(0, os.path.dirname(arguments.rota))
    import rota_accel
    tasks, scale = (16, 20_000) if arguments.short else (100, arguments.scale)
    names = [arguments.only] if arguments.only else ["LU"] if arguments.short else list(APPLICATIONS)
    live, counts, wrong = {}, {}, []

    def measure(application, gpus, cpus, cases):
        try:
            cluster = Cluster(arguments.rota, arguments.backend, application, gpus, cpus)
            try:
                for case in cases:
                    live[case] = Live(cluster, tasks, scale).seconds(case)
                    counts[case] = cluster.done()
            finally:
                cluster.close()
        except BaseException as error:
            wrong.append(error)
            raise

    def measure_all(clusters):
        for cluster in clusters:
            measure(*cluster)

    lines = []  # of clusters, one after the other, beside each other
    for name in names:
        clusters = [(name, *of) for of in cases_of(name, arguments.short)]
        lines += [[cluster] for cluster in clusters if cluster[1] == 0] + [[cluster for cluster in clusters if cluster[1] > 0]]
    threads = [threading.Thread(target=measure_all, args=(line,)) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        return 1
    folder = tempfile.mkdtemp(prefix="rota-accel-")
    rehearsed = {case: Rehearsed(arguments.rota, folder, tasks).seconds(case) for case in live}
    shutil.rmtree(folder)
    if arguments.short:  # two accelerators of three have a node each, and the third one two: as many tasks as it has of two
        assert sorted(counts[Case("LU", "node", 3)]) == [5, 5, 10], counts
        assert sorted(counts[Case("LU", "node", 2)]) == [10, 10], counts
        assert rehearsed[Case("LU", "node", 3)] == rehearsed[Case("LU", "node", 2)], rehearsed
        return 0
    print(f"{tasks} tasks, live at 1/{scale:g} of the time: seconds of 4-0 in the paper's time, and speed-ups over them\n")
    print("application  cluster  way        intensity   MB         live    rehearsed  differ by")
    order = list(APPLICATIONS)
    for case in sorted(live, key=lambda of: (order.index(of.application), of.gpus, of.way != "node", of.intensity, of.megabytes, of.limit or 0)):
        print(*lines_of(case, live, rehearsed, scale), sep="\n")
    return 0


def lines_of(case, live, rehearsed, scale):
    head = f"{case.application:<12} 4-{case.gpus}      {case.way:<10} {case.intensity:>9} {case.megabytes:>4}"
    if case.way == "cpu":
        yield line(head, live[case] * scale, rehearsed[case], " s", case.limit)
    for limit in (None, LIMIT):
        base = Case(case.application, "cpu", 0, case.intensity, limit=limit)
        if case.way != "cpu" and base in live:
            yield line(head, live[base] / live[case], rehearsed[base] / rehearsed[case], "", limit)


def line(head, mine, expected, unit, limit):
    places = 0 if unit else 2
    beside = f"  over 4-0 with a limit of {limit} s" if limit and not unit else f"  with a limit of {limit} s" if limit else ""
    return f"{head}  {mine:>11.{places}f}{unit:<2}  {expected:>8.{places}f}{unit:<2}  {100 * (mine / expected - 1):>+7.1f} %{beside}"


if __name__ == "__main__":
    sys.exit(main())
