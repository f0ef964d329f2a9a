#!/usr/bin/env python3
"""What people do to a service that runs: they lock its database, remove its folder, put an old copy back, stop its jobs,
submit scripts of many megabytes. Usage: mishaps_test.py ROTA
"""
import contextlib
import csv
import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

from service import PATIENCE, ServiceCase
from tokens import Tokens


class Mishaps(Tokens):
    def setUp(self):
        super().setUp()
        self.database = os.path.join(self.service.state, "rota.db")

    def runs(self, job, file):
        """Until the job is told to run and has written something."""
        self.service.written(file)
        self.service.runs(job)

    def test_another_program_keeps_the_database_locked(self):
        held = sqlite3.connect(self.database, isolation_level=None)
        held.execute("BEGIN IMMEDIATE")
        jobs = []
        asks = threading.Thread(target=lambda: jobs.append(self.service.submit("echo ran > ran")))
        asks.start()
        asks.join(6)  # longer than the five seconds in which a moment is over
        self.assertEqual(jobs, [], "it was acknowledged, and cannot be durable")
        self.assertIsNone(self.service.process.poll(), "the service has ended")
        held.execute("ROLLBACK")
        held.close()
        asks.join()
        self.assertEqual(self.service.ends(jobs[0])["state"], "COMPLETED")

    def test_the_state_is_removed(self):
        self.service.ends(self.service.submit("true"))
        os.rename(self.service.state, self.service.state + "-gone")
        try:
            status, _ = self.service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": self.folder})
        except OSError:
            status = 0
        self.assertNotEqual(status, 201, "a job was acknowledged that no state has")
        said = self.service.process.stderr.read()
        self.assertEqual(self.service.process.wait(PATIENCE), 1)
        self.service.process.stderr.close()
        self.assertIn("was removed, or another was put in its place", said)
        shutil.rmtree(self.service.state, ignore_errors=True)
        os.rename(self.service.state + "-gone", self.service.state)
        self.service.start()
        self.assertEqual(self.service.ends(self.service.submit("true"))["state"], "COMPLETED")

    def test_an_old_copy_of_the_database_is_put_back(self):
        service = self.service
        service.ends(service.submit("true"))
        kept = service.submit("echo kept > kept; until [ -e go ]; do sleep 0.02; done")
        self.runs(kept, "kept")
        copy = os.path.join(self.folder, "copy.db")
        with sqlite3.connect(self.database) as source, sqlite3.connect(copy) as target:
            source.backup(target)
        source.close()
        target.close()
        later = service.submit("echo $$ > later; until [ -e go ]; do sleep 0.02; done; echo over > over")
        self.runs(later, "later")
        service.ends(service.submit("true"))
        service.kill()
        for suffix in ("-wal", "-shm"):
            os.remove(self.database + suffix)
        os.replace(copy, self.database)
        service.start()
        warnings = service.ask("GET", "/v1/status")[1]["warnings"]
        self.assertTrue(any("of a later state than the database" in warning for warning in warnings), warnings)
        self.assertFalse(os.path.exists("/proc/" + service.read("later").strip()), "what nobody knows of still runs")
        again = service.submit("echo mine > mine")
        self.assertEqual(again, later, "the id is given again, which is what this is about")
        self.assertEqual(service.ends(again)["state"], "COMPLETED")
        self.assertEqual(service.read("mine"), "mine\n")
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.assertEqual(service.ends(kept)["state"], "COMPLETED", "it was known to run when the copy was made")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "over")))

    def test_the_limit_of_a_suspended_job_does_not_run(self):
        service = self.service
        job = service.submit("i=0; until [ -e go ]; do i=$((i+1)); echo $i >> ticks; sleep 0.2; done", limit=600)
        self.runs(job, "ticks")
        self.assertEqual(service.act("suspend", job)[0], 200)
        service.wait_for(lambda: self.stands(job), "its processes to stop")
        limit = service.near_limit(job, 2)
        ticks = service.read("ticks")
        service.let_pass(5)  # its limit is over by then
        self.assertTrue(self.stands(job))
        self.assertEqual(service.read("ticks"), ticks)
        row = service.job(job)
        self.assertEqual(row["state"], "SUSPENDED")
        self.assertGreater(row["ends_by"], row["start"] + limit + 5)
        self.assertEqual(service.act("update", job, limit=600)[0], 200)
        self.assertEqual(service.act("resume", job)[0], 200)
        service.wait_for(lambda: service.read("ticks") != ticks, "the job to go on")
        open(os.path.join(self.folder, "go"), "w").close()
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        ticks = service.read("ticks").split()
        self.assertEqual(ticks, [str(i + 1) for i in range(len(ticks))])
        service.wait_for(lambda: "elapsed" in service.job(job), "it to leave")
        row = service.job(job)
        self.assertAlmostEqual(self.simulated(job, "recorded"), row["end"] - row["start"], delta=0.01, msg="as it was")
        self.assertAlmostEqual(self.simulated(job, "fcfs"), row["elapsed"], delta=0.01, msg="what it worked")
        self.assertGreater(row["suspended"], 5)

    def simulated(self, job, policy):
        """Seconds from its start to its end, in a rehearsal of what has happened."""
        path = os.path.join(self.folder, f"{policy}.csv")
        subprocess.run([self.rota, "simulate", self.service.state, "--policy", policy, "--jobs", path], check=True,
                       capture_output=True)
        with open(path) as file:
            rows = {row["number"]: row for row in csv.DictReader(file)}
        return float(rows[job]["end"]) - float(rows[job]["start"])

    def test_a_suspended_job_that_its_user_lets_go_on_is_stopped_again(self):
        service = self.service
        job = service.submit("while :; do echo x >> grows; sleep 0.01; done", limit=600)
        self.runs(job, "grows")
        service.act("suspend", job)
        service.wait_for(self.stands, "all processes to stop")
        size = len(service.read("grows"))

        def goes_on():
            for pid in self.jobs():
                try:
                    os.kill(pid, signal.SIGCONT)
                except ProcessLookupError:
                    pass
            return len(service.read("grows")) > size

        service.wait_for(goes_on, "the job to go on")
        service.wait_for(self.stands, "all processes to be stopped again")
        service.act("resume", job)
        service.wait_for(lambda: not self.stands(), "the job to go on")
        service.act("cancel", job)
        self.assertEqual(service.ends(job)["state"], "CANCELLED")

    def test_no_process_of_a_suspended_job_escapes(self):
        service = self.service
        job = service.submit("grow() { while :; do (echo x >> grows); done; }; grow & grow & grow & wait", limit=600)
        self.runs(job, "grows")
        for _ in range(5):
            service.act("suspend", job)
            service.wait_for(lambda: self.stands(job), "all processes to stop")
            size = len(service.read("grows"))
            self.assertEqual(service.ends(service.submit("true"))["state"], "COMPLETED")  # for as long as that takes
            self.assertEqual(len(service.read("grows")), size, "a process of the job goes on")
            service.act("resume", job)
            service.wait_for(lambda: len(service.read("grows")) > size, "the job to go on")
        service.act("cancel", job)
        self.assertEqual(service.ends(job)["state"], "CANCELLED")

    def test_accelerators_of_a_suspended_job_are_its_own_when_it_goes_on(self):
        service = self.service
        service.stop()
        with open(os.path.join(self.folder, "rota.toml"), "w") as file:
            file.write('name = "one"\n[[nodes]]\nnames = "n1"\nprocessors = 4\naccelerators = 2\n')
        service.state += "-2"
        service.arguments += ["--policy", "easy+preempt=suspend"]
        service.start()
        say = "say() { echo $1 $(date +%s.%N) $CUDA_VISIBLE_DEVICES >> told-$ROTA_JOB_NAME; }; "
        low = service.submit(say + "say tick; until [ -e go-low ]; do sleep 0.02; done; say over", name="low",
                             processors=2, accelerators=1, limit=600)
        self.runs(low, "told-low")
        high = {}
        for name in ("first", "second"):
            high[name] = service.submit(say + f"say tick; until [ -e go-{name} ]; do sleep 0.02; done; say over", name=name,
                                        processors=2, accelerators=1, limit=600, priority=5)
            self.runs(high[name], f"told-{name}")
        device = {name: service.read(f"told-{name}").split()[2] for name in ("low", "first", "second")}
        self.assertNotEqual(device["first"], device["low"], "the other one was free")
        self.assertEqual(device["second"], device["low"], "there is none left but that of the job that is stopped")
        open(os.path.join(self.folder, "go-low"), "w").close()
        open(os.path.join(self.folder, "go-first"), "w").close()
        service.ends(high["first"])
        service.let_pass(0.5)  # in which the low job would have gone on beside the second
        open(os.path.join(self.folder, "go-second"), "w").close()
        self.assertEqual(service.ends(high["second"])["state"], "COMPLETED")
        self.assertEqual(service.ends(low)["state"], "COMPLETED")
        over = {name: float(service.read(f"told-{name}").split()[4]) for name in ("low", "second")}
        self.assertLess(over["second"], over["low"], "two jobs have used one accelerator at a time")

    def test_why_a_job_could_not_be_launched_is_known_after_a_restart(self):
        program = os.path.join(self.folder, "busy")
        shutil.copy("/bin/true", program)
        with open(program, "ab"):  # while it is open for writing it cannot be executed
            job = self.service.submit([program])
            self.service.wait_for(lambda: "busy" in self.service.job(job).get("message", ""), "the launch to fail")
            self.service.kill()
            self.service.start()
            self.assertRegex(self.service.job(job)["message"], "cannot be started: Text file busy")
            self.service.act("cancel", job)
            self.service.ends(job)
        with sqlite3.connect(self.database) as database:
            left = database.execute("SELECT name FROM settings WHERE name LIKE 'message%'").fetchall()
        database.close()
        self.assertEqual(left, [])

    def asked_by_twenty(self, path):
        """How many clients are answered, each of which reads only the first words, and how many are refused."""
        wires = [socket.socket(socket.AF_UNIX) for _ in range(20)]
        for wire in wires:
            self.addCleanup(wire.close)
            wire.settimeout(PATIENCE)
            wire.connect(self.service.socket)
            wire.sendall(f"GET {path} HTTP/1.1\r\nHost: rota\r\n\r\n".encode())
        told = [wire.recv(12) for wire in wires]
        for wire in wires:
            wire.close()
        return [told.count(b"HTTP/1.1 " + status) for status in (b"200", b"503")]

    def test_a_user_that_asks_for_large_answers_and_does_not_read_them_is_refused_more(self):
        service = self.service
        job = service.submit(script="#!/bin/sh\n#" + "x" * (15 << 20), held=True)
        seen = []
        while [4, 16] not in seen:  # where all is slow others have the room of those that are let go since they do not read
            self.assertLess(len(seen), 10, seen)
            seen.append(self.asked_by_twenty(f"/v1/jobs/{job}/script"))
        service.wait_for(lambda: service.ask("GET", f"/v1/jobs/{job}/script")[0] == 200, "room for another")

    def test_a_script_of_many_megabytes_is_run(self):
        line = "# " + "x" * 997 + "\n"
        script = "#!/bin/sh\n" + line * 12_000 + "echo done > done\n"
        job = self.service.submit(script=script)
        row = self.service.ends(job)
        self.assertEqual(row["state"], "COMPLETED", row)
        self.assertEqual(self.service.read("done"), "done\n")


class Mistakes(ServiceCase):
    configuration = 'name = "two"\nprocessors = 2\n'

    def raw(self, path, body):
        connection = http.client.HTTPConnection("rota")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(PATIENCE)
        connection.sock.connect(self.service.socket)
        connection.request("POST", path, body)
        answer = connection.getresponse()
        text = json.loads(answer.read())
        connection.close()
        return answer.status, answer.getheader("Content-Type"), text

    def test_what_is_said_twice_is_refused_by_its_name(self):
        twice = ('the member "{}" stands twice in one object, and it is not known which of the two counts; send it once.')
        job = self.service.submit("true", held=True, limit=60)
        for path, body, name in (
                ("/v1/jobs", '{"command": ["true"], "folder": "/", "limit": 5, "limit": 6}', "limit"),
                ("/v1/jobs", '[{"command": ["true"], "folder": "/"}, {"name": "a", "n\\u0061me": "b"}]', "name"),
                ("/v1/jobs", '{"attach": {"socket": "a", "rows": 1, "socket": "b"}}', "socket"),
                ("/v1/jobs/update", f'{{"ids": "{job}", "limit": 5, "ids": "all"}}', "ids"),
                ("/v1/jobs/cancel", f'{{"ids": "{job}", "ids": "{job}"}}', "ids"),
                ("/v1/reservations", '{"start": 1, "start": 2}', "start"),
                ("/v1/policy/rehearsal", '{"policy": "easy", "policy": "fcfs"}', "policy")):
            status, kind, answer = self.raw(path, body)
            self.assertEqual((status, kind, answer["detail"]), (400, "application/problem+json", twice.format(name)), body)
        status, _, answer = self.raw("/v1/jobs", "{" + ",".join(f'"m{i}": 0' for i in range(200)) + "}")
        self.assertEqual(status, 400)
        self.assertIn("has more than 100 members, which nothing here has", answer["detail"])
        self.assertEqual([(row["id"], row["limit"]) for row in self.service.live()], [(job, 60)])

    def test_mistakes_of_users_are_not_counted_as_the_engines(self):
        def counted():
            status = self.service.ask("GET", "/v1/status")[1]
            text = self.service.ask("GET", "/metrics")[1]
            for name, member in (("rota_refusals_total", "refusals"), ("rota_refused_requests_total", "refused_requests")):
                self.assertIn(f"\n{name} {status[member]}\n", text)
            return status["refusals"], status["refused_requests"]

        self.assertEqual(counted(), (0, 0))
        job = self.service.submit("true", held=True, limit=60)
        self.assertEqual(self.service.act("update", job, processors=99)[0], 207)
        self.assertEqual(self.service.act("update", job, processors=98)[0], 207)
        self.assertEqual(counted(), (0, 2))
        self.assertEqual(self.service.ask("PUT", "/v1/policy", {"policy": "conservative"})[0], 200)
        self.assertEqual(self.service.act("update", job, processors=98)[0], 207)
        self.assertEqual(counted(), (0, 3), "also under another policy")
        status = self.service.ask("GET", "/v1/status")[1]
        self.assertNotIn("last_refusal", status)
        said = subprocess.run([self.rota, "status", "--socket", self.service.socket], capture_output=True, text=True)
        self.assertNotIn("refus", said.stdout)


class Leftovers(ServiceCase):
    configuration = 'name = "two"\nprocessors = 2\n\n[service]\nkeep_history = "1s"\n'

    def count(self, what):
        with contextlib.closing(sqlite3.connect(f"file:{self.service.state}/rota.db?mode=ro", uri=True)) as database:
            return database.execute("SELECT count(*) FROM " + what).fetchone()[0]

    def whose(self):
        """Jobs that have a script and are neither known nor in the history, and contents that are counted wrongly."""
        uses = "(SELECT count(*) FROM payloads WHERE script = c.id) + (SELECT count(*) FROM payloads WHERE environment = c.id)"
        return (self.count("payloads WHERE job NOT IN (SELECT job FROM history)") - len(self.service.live()),
                self.count(f"contents c LEFT JOIN uses u ON u.content = c.id WHERE count IS NULL OR count <> {uses} OR count = 0"))

    def send(self, body, path="/v1/jobs"):
        """A request whose answer is not waited for."""
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(self.service.socket)
        text = json.dumps(body).encode()
        stream.sendall(b"POST %s HTTP/1.1\r\nHost: r\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(text)) + text)
        return stream

    def test_no_script_is_left_of_a_job_that_is_not_known(self):
        service = self.service
        def job(**members):
            return {"script": f"#!/bin/sh\n# {members}\n", "folder": self.folder, "environment": ["A=1"], **members}
        bodies = [job(held=True), job(array="1-20%2"), [job(), job(processors=9)],
                  job(after=["afterok:99999"]), job(array="1-3", begin=4e9), job(memory=1 << 60), job(name="gone"),
                  [job(held=True), job(after=["singleton"])]]
        for last in range(4, 44, 4):
            streams = [self.send(bodies[i % len(bodies)]) for i in range(last)]
            streams.append(self.send({"ids": "name=gone,all"}, "/v1/jobs/cancel"))
            if last % 8 == 0:
                streams[last // 2].recv(1)  # the service is somewhere among them
            service.kill()
            for stream in streams:
                stream.close()
            service.start()
            service.wait_for(lambda: self.whose() == (0, 0), f"nothing to be left over after {last} requests")
        service.act("cancel", "all")
        service.all_end()
        service.wait_for(lambda: self.whose() == (0, 0), "nothing to be left over once all have ended")
        end = time.monotonic() + PATIENCE
        while self.count("history") > 0 and time.monotonic() < end:  # a service forgets as it begins
            service.stop()
            service.start()
            self.assertEqual(self.whose(), (0, 0))
        self.assertEqual([self.count(what) for what in ("history", "payloads", "contents")], [0, 0, 0])


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
