#!/usr/bin/env python3
"""Requests and their answers: keys, all or none, selectors, sums, events, what happens in one turn. Usage: requests_test.py ROTA"""
import http.client
import json
import os
import socket
import sys
import threading
import unittest

from service import PATIENCE, ServiceCase

MACHINE = """name = "small"
[[nodes]]
names = "n[1-2]"
processors = 1

[[partitions]]
name = "low"
nodes = "n[1-2]"
default = true

[[partitions]]
name = "high"
nodes = "n[1-2]"
priority = 10
"""


class Requests(ServiceCase):
    configuration = MACHINE

    def body(self, command="true", **members):
        return {"command": ["/bin/sh", "-c", command], "folder": self.folder, "environment": ["PATH=/usr/bin:/bin"],
                **members}

    def test_a_key_gives_the_same_jobs_again(self):
        ask = self.service.ask
        first = ask("POST", "/v1/jobs", self.body(array="1-3"), {"Idempotency-Key": "k"})
        again = ask("POST", "/v1/jobs", self.body(array="1-3"), {"Idempotency-Key": "k"})
        self.assertEqual(first, again)
        said = (422, f"this `Idempotency-Key` came with another request before, which made job {first[1]['id']}; give each "
                     "request a key of its own, and send only the very same one again with it.")
        other = ask("POST", "/v1/jobs", self.body(array="1-4"), {"Idempotency-Key": "k"})
        self.assertEqual((other[0], other[1]["detail"]), said)
        self.service.all_end()
        self.service.stop()
        self.service.start()
        jobs = ask("GET", "/v1/history")[1]["jobs"]
        self.assertEqual(len(jobs), 3)
        status, answer = ask("POST", "/v1/jobs", self.body(array="1-3"), {"Idempotency-Key": "k"})
        self.assertEqual((status, answer["id"]), (201, first[1]["id"]))
        other = ask("POST", "/v1/jobs", self.body("false"), {"Idempotency-Key": "k"})
        self.assertEqual((other[0], other[1]["detail"]), said)
        self.assertEqual(len(ask("GET", "/v1/history")[1]["jobs"]), 3)

    def test_a_key_of_a_large_body_is_for_that_one(self):
        def ask(script):
            body = {"script": script, "folder": self.folder, "environment": ["PATH=/usr/bin:/bin"], "held": True}
            return self.service.ask("POST", "/v1/jobs", body, {"Idempotency-Key": "k"})
        large = "#!/bin/sh\n#" + "x" * (2 << 20)
        first = ask(large)
        self.assertEqual(first[0], 201, first)
        self.assertEqual(ask(large), first)
        self.assertEqual(ask(large + "y")[0], 422)
        self.assertEqual(len(self.service.ask("GET", "/v1/jobs")[1]["jobs"]), 1)

    def test_several_are_submitted_all_or_none(self):
        ask = self.service.ask
        status, answer = ask("POST", "/v1/jobs", [self.body(), self.body(processors=99)])
        self.assertEqual(status, 400, answer)
        self.assertRegex(answer["detail"], "^submission 2: the job can never run here: ")
        self.assertEqual(ask("GET", "/v1/history")[1]["jobs"] + self.service.live(), [])
        status, answer = ask("POST", "/v1/jobs", [self.body(), self.body(array="1-2")])
        self.assertEqual((status, [len(one["jobs"]) for one in answer]), (201, [1, 2]))

    def test_one_request_cannot_ask_for_everything(self):
        ask = self.service.ask
        status, answer = ask("POST", "/v1/jobs", [self.body(array="1-10000", held=True)] * 11)
        self.assertEqual(status, 400)
        self.assertIn("too many jobs at once", answer["detail"])
        status, answer = ask("POST", "/v1/jobs", self.body(array="1-10001"))
        self.assertIn("more than 10,000 tasks", answer["detail"])
        self.assertEqual(ask("GET", "/v1/jobs/1_4000000000")[0], 404)

    def test_no_short_request_stands_for_endless_work(self):
        service, ask = self.service, self.service.ask
        array = service.submit("true", array="0-9999", held=True)
        names = ":".join([array] * 3000)
        for after in ([f"afterany:{names}"], [f"afterany:{array}"] * 1001, [f"aftercorr:{names}"], ["singleton"] * 1001):
            for more in ({"dry_run": True}, {}):
                status, answer = ask("POST", "/v1/jobs", self.body(after=after, **more))
                self.assertEqual(status, 400, answer)
                self.assertIn("waits for 1,000 names at most", answer["detail"])
        wide = ":".join(str(int(array) + i) for i in range(20))
        self.assertEqual(ask("POST", "/v1/jobs", self.body(after=[f"afterany:{array}:{wide}"], dry_run=True))[0], 200)
        status, answer = ask("POST", "/v1/jobs", self.body(after=[f"afterany:{array}"], array="1-11", held=True))
        self.assertEqual(status, 400, answer)
        self.assertIn("more than 100,000 jobs in all", answer["detail"])
        for part in (array, "1-999", f"{array}_1"):
            for path, times in (("/v1/jobs", 10000), ("/v1/jobs", 9000), ("/v1/history", 2000)):
                status, answer = ask("GET", f"{path}?ids=" + ",".join([part] * times))
                self.assertIn(status, (400, 431), answer)
                if status == 400:
                    self.assertIn("in 1,000 parts at most", answer["detail"])
            for path in ("/v1/jobs", "/v1/history", "/v1/jobs?ended=yes"):
                glue = "&" if "?" in path else "?"
                self.assertEqual(ask("GET", f"{path}{glue}ids=" + ",".join([part] * 1000))[0], 200)
        overlapping = ",".join(f"{i}-{i + 20000}" for i in range(1, 1000))
        self.assertEqual(len(ask("GET", f"/v1/jobs?ids={overlapping}")[1]["jobs"]), 1000)
        self.assertEqual(ask("GET", f"/v1/history?ids={overlapping}")[0], 200)
        status, answer = ask("GET", "/v1/history?ids=1-60000,70000-120000")
        self.assertEqual(status, 400, answer)
        self.assertIn("give a window of time", answer["detail"])

    def test_all_tasks_count_that_are_looked_at_for_one_of_them(self):
        array = self.service.submit("true", array="0-9999", held=True)
        few = [self.body(after=[f"aftercorr:{array}"], array="1-1", held=True)]
        status, answer = self.service.ask("POST", "/v1/jobs", few * 120)
        self.assertEqual((status, answer["detail"] if status == 400 else ""),
                         (400, "these wait for too many jobs at once; submit them in several requests."))
        by_name = [self.body(after=[f"afterok:{array}_{i}"], held=True) for i in range(200)]
        self.assertEqual(self.service.ask("POST", "/v1/jobs", by_name)[0], 201, "of a task that is named no other is looked at")
        self.assertEqual(self.service.ask("POST", "/v1/jobs", few * 50)[0], 201)

    def test_ended_tasks_are_asked_for_once(self):
        service, ask = self.service, self.service.ask
        array = service.submit("true", array="0-299", held=True)
        behind = service.submit("true", held=True)
        self.assertEqual(service.act("cancel", f"{array}_[0-9,20-299]")[0], 200)
        service.wait_for(lambda: len(ask("GET", "/v1/history")[1]["jobs"]) == 290, "the end of most tasks")
        rows = ask("GET", "/v1/history?ids=" + ",".join([array, f"{array}_3", f"{array}_[2-4]"] * 300))[1]["jobs"]
        self.assertEqual(len(rows), 290)
        self.assertEqual({row["id"] for row in ask("GET", f"/v1/history?ids={array}_4,{array}_[3,4],{behind}")[1]["jobs"]},
                         {f"{array}_3", f"{array}_4"})
        waits = service.submit("true", after=[f"afterany:{array}:{array}_15", f"afternotok:{array}_3"])
        self.assertEqual(service.act("cancel", f"{array}_[10-19]")[0], 200)
        self.assertEqual(service.ends(waits)["state"], "COMPLETED")
        status, answer = ask("POST", "/v1/jobs", self.body(after=[f"afterok:{array}_3"]))
        self.assertEqual((status, "can never be met" in answer["detail"]), (400, True), answer)

    def test_dependencies_count_tasks_that_have_ended(self):
        service = self.service
        array = service.submit("[ $ROTA_ARRAY_TASK_ID != 1 ] || exit 1; while [ ! -e go ]; do sleep 0.02; done", array="1-2")
        service.ends(f"{array}_1")
        service.wait_for(lambda: service.job(f"{array}_2")["state"] == "RUNNING", "the other task to run")
        status, answer = service.ask("POST", "/v1/jobs", self.body(after=[f"afterok:{array}"]))
        self.assertEqual(status, 400)
        self.assertIn("can never be met", answer["detail"])
        then = service.submit("echo then > then", after=[f"afterany:{array}"])
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.assertEqual(service.ends(then)["state"], "COMPLETED")

    def test_a_task_that_an_array_never_had_is_told_so(self):
        service = self.service
        array = service.submit("true", array="2-6:2", held=True)
        for body, task in ((self.body(after=[f"afterok:{array}_9"]), 9), (self.body(after=[f"afterok:{array}_3"]), 3),
                           (self.body(after=[f"aftercorr:{array}"], array="2,7"), 7)):
            status, answer = service.ask("POST", "/v1/jobs", body)
            self.assertEqual(status, 400)
            self.assertIn(f"array {array} has no task {task},", answer["detail"])
        service.act("release", array)

    def test_a_job_that_never_runs_names_the_job_that_ended_otherwise(self):
        service = self.service
        bad = service.submit("while [ ! -e go ]; do sleep 0.02; done; exit 1")
        good = service.submit("while [ ! -e go ]; do sleep 0.02; done", array="4")
        needs = service.submit("true", after=[f"afterok:{bad}", f"afternotok:{good}_4"])
        hopes = service.submit("true", after=[f"afternotok:{good}"])
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        service.ends(bad)
        service.ends(f"{good}_4")
        why = service.ask("GET", f"/v1/jobs/{needs}/explain")[1]["why"]
        self.assertIn(f"Job {bad} was to end well (afterok), and has ended as FAILED.", why)
        self.assertIn(f"Job {good}_4 was to fail (afternotok), and has ended as COMPLETED.", why)
        why = service.ask("GET", f"/v1/jobs/{hopes}/explain")[1]["why"]
        self.assertIn(f"A task of array {good} was to fail (afternotok), and none has.", why)
        service.act("cancel", f"{needs},{hopes}")

    def test_a_singleton_waits_for_its_name_alone(self):
        service = self.service
        first = service.submit("while [ ! -e go ]; do sleep 0.02; done", name="one")
        other = service.submit("true", name="two", after=["singleton"])
        second = service.submit("true", name="one", after=["singleton"])
        self.assertEqual(service.ends(other)["state"], "COMPLETED")
        self.assertEqual(service.job(second)["reason"], "Dependency")
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        service.ends(first)
        self.assertEqual(service.ends(second)["state"], "COMPLETED")

    def test_tasks_of_a_singleton_run_one_after_the_other(self):
        array = self.service.submit("mkdir one || exit 9; sleep 0.05; rmdir one", name="row", array="1-4", after=["singleton"])
        behind = self.service.submit("mkdir one || exit 9; rmdir one", name="row", after=["singleton"])
        for job in [f"{array}_{i}" for i in range(1, 5)] + [behind]:
            self.assertEqual(self.service.ends(job)["state"], "COMPLETED", self.service.job(job))

    def test_a_singleton_stands_behind_those_before_one_that_is_cancelled(self):
        service = self.service
        first = service.submit("while [ ! -e go ]; do sleep 0.02; done", name="row")
        second, third = (service.submit("true", name="row", after=["singleton"]) for _ in range(2))
        service.act("cancel", second)
        service.ends(second)
        service.kill()
        service.start()
        self.assertEqual((service.job(third)["reason"], service.job(third)["state"]), ("Dependency", "PENDING"))
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        for job in (first, third):
            self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(service.decides_the_same_again(), "")

    def test_a_long_row_of_singletons_costs_no_more_than_as_many_jobs(self):
        service, row = self.service, 5000
        body = self.body(name="row", after=["singleton"])
        gate = service.submit("true", name="row", held=True)
        self.assertEqual(service.ask("POST", "/v1/jobs", [body] * row)[0], 201)
        tasks = [self.body(name="wide", array="1-200", held=True), self.body(name="wide", array="1-1000", after=["singleton"])]
        self.assertEqual(service.ask("POST", "/v1/jobs", tasks)[0], 201)
        kept = sum(os.path.getsize(os.path.join(service.state, name)) for name in ("rota.db", "rota.db-wal"))
        self.assertLess(kept, 8000 * (row + 1200))
        self.assertEqual(service.job(str(int(gate) + row))["reason"], "Dependency")
        self.assertEqual(service.act("cancel", "all")[0], 200)
        service.all_end()

    def test_a_partitions_priority_counts(self):
        service = self.service
        block = service.submit("while [ ! -e go ]; do sleep 0.02; done", processors=2)
        low = service.submit("echo low >> order", processors=2)
        high = service.submit("echo high >> order", processors=2, partition="high")
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        for job in (block, low, high):
            service.ends(job)
        self.assertEqual(service.read("order"), "high\nlow\n")

    def test_sums_tell_failures_apart(self):
        service = self.service
        for command in ("true", "true", "exit 1"):
            service.submit(command)
        service.act("cancel", service.submit("true", held=True))
        service.all_end()
        (row,) = service.ask("GET", "/v1/history?by=user")[1]["sums"]
        self.assertEqual((row["jobs"], row["failed"]), (4, 1))

    def test_many_sums_at_once_are_made_or_refused(self):
        service = self.service
        service.ends(service.submit("true"))
        wires = []
        for _ in range(60):
            wires.append(socket.socket(socket.AF_UNIX))
            wires[-1].settimeout(PATIENCE)
            wires[-1].connect(service.socket)
            wires[-1].sendall(b"GET /v1/history?by=month HTTP/1.1\r\nHost: rota\r\n\r\n")
        self.assertEqual(service.ask("GET", "/healthz")[0], 200)
        for wire in wires:
            self.assertRegex(wire.recv(4096), rb"^HTTP/1.1 (200|503[\s\S]* are being made for you already; ask again in a moment\.)")
            wire.close()
        self.assertEqual(service.ask("GET", "/v1/history?by=month")[1]["sums"][0]["jobs"], 1)

    def test_last_is_the_last_even_if_it_has_ended(self):
        service = self.service
        long = service.submit("sleep 1000")
        last = service.submit("true")
        service.ends(last)
        status, answer = service.act("cancel", "last")
        self.assertEqual((status, answer["jobs"][0]["detail"]), (207, f"job {last} has ended already."))
        self.assertIn(service.job(long)["state"], ("RUNNING", "CONFIGURING"))

    def pages(self, path):
        """The ids of a list, page by page."""
        pages, after = [], ""
        while after is not None:
            status, answer = self.service.ask("GET", path + after)
            self.assertEqual(status, 200, answer)
            pages.append([job["id"] for job in answer["jobs"]])
            after = f"&after={answer['next']}" if "next" in answer else None
        return pages

    def test_lists_of_ended_jobs_go_on_page_by_page(self):
        service = self.service
        array = service.submit("true", array="1-1200", held=True)
        self.assertEqual(service.act("cancel", array)[0], 200)
        service.all_end()
        failed = service.submit("exit 1")
        service.ends(failed)
        waits = service.submit("true", held=True)
        tasks = [f"{array}_{index}" for index in range(1, 1201)]
        whole = self.pages("/v1/jobs?ended=yes")
        self.assertEqual([len(page) for page in whole], [1000, 202])
        self.assertEqual(sum(whole, []), tasks + [failed, waits])
        self.assertEqual(sum(self.pages("/v1/jobs?ended=yes&limit=300"), []), tasks + [failed, waits])
        left = sum(self.pages("/v1/history?limit=500"), [])
        self.assertEqual((left[0], sorted(left)), (failed, sorted([failed] + tasks)))
        self.assertEqual(self.pages("/v1/jobs?ended=yes&state=FAILED,PENDING"), [[failed, waits]])
        self.assertEqual(len(sum(self.pages("/v1/history?state=FAILED,CANCELLED&limit=999"), [])), 1201)
        self.assertEqual(self.pages("/v1/history?state=FAILED,TIMEOUT"), [[failed]])
        self.assertEqual(self.pages(f"/v1/jobs?ended=yes&ids={array}_[1-3],{waits}"), [tasks[:3] + [waits]])

    def test_a_selector_of_several_sorts_narrows(self):
        service = self.service
        runs = service.submit("sleep 1000", name="a")
        service.wait_for(lambda: service.job(runs)["state"] == "RUNNING", "its start")
        one, two, other = (service.submit("true", name=name, held=True) for name in ("a", "b", "c"))

        def meant(selector):
            return [row["id"] for row in service.ask("GET", f"/v1/jobs?ids={selector}")[1]["jobs"]]
        self.assertEqual(meant("name=a,state=PENDING"), [one])
        self.assertEqual(meant("name=a,name=b"), [runs, one, two])
        self.assertEqual(meant(f"{runs},{two},name=b,name=c"), [two])
        self.assertEqual(meant("all,state=PENDING,partition=low,name=c"), [other])
        self.assertEqual(meant("name=a,state=FAILED"), [])
        status, answer = service.act("cancel", "state=PENDING,name=a")
        self.assertEqual((status, [row["id"] for row in answer["jobs"]]), (200, [one]))
        self.assertEqual(service.job(runs)["state"], "RUNNING")

    def test_policies_change_in_the_middle_of_submissions(self):
        service, over, submitted = self.service, threading.Event(), []

        def stream():
            while not over.is_set():
                submitted.append(service.submit("true"))
        thread = threading.Thread(target=stream)
        thread.start()
        try:
            for policy in ("easy", "conservative", "fcfs", "easy+order=fair") * 5:
                self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": policy})[0], 200)
        finally:
            over.set()
            thread.join()
        service.all_end()
        states = {service.job(job)["state"] for job in submitted}
        self.assertEqual(states, {"COMPLETED"})

    def test_what_another_job_left_in_the_environment_is_not_this_ones(self):
        service = self.service
        job = service.submit("echo $ROTA_ARRAY_TASK_ID-$ROTA_RESTART-$ROTA_JOB_ID", output="e.out",
                             environment=["PATH=/bin", "ROTA_ARRAY_TASK_ID=7", "ROTA_RESTART=1", "ROTA_JOB_ID=99"])
        service.ends(job)
        self.assertEqual(service.read("e.out"), f"--{job}\n")

    def test_a_node_that_goes_down_loses_its_jobs(self):
        service = self.service
        again = service.submit("echo $ROTA_JOB_NODELIST >> places; [ -e go ] || sleep 1000", requeue=True)
        places = os.path.join(self.folder, "places")
        service.wait_for(lambda: os.path.exists(places) and service.job(again)["state"] == "RUNNING", "its first run")
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        first = service.job(again)["node_list"]
        self.assertEqual(service.ask("POST", "/v1/nodes/down", {"nodes": first, "reason": "smoke"})[0], 200)
        self.assertEqual(service.ends(again)["state"], "COMPLETED")
        self.assertEqual(len(set(service.read("places").split())), 2)

    def test_a_job_lost_with_a_node_that_goes_down_names_the_operator_and_the_reason(self):
        service = self.service
        for reason, said in (("dead", r"^Node n[12] was taken down by \S+: dead\.$"), ("", r"^Node n[12] was taken down by \S+\.$")):
            job = service.submit("sleep 1000")
            service.wait_for(lambda: service.job(job)["state"] == "RUNNING", "its start")
            node = service.job(job)["node_list"]
            self.assertEqual(service.ask("POST", "/v1/nodes/down", {"nodes": node, "reason": reason})[0], 200)
            row = service.ends(job)
            self.assertEqual(row["state"], "CANCELLED")
            self.assertRegex(row["message"], said)
            self.assertEqual(service.ask("POST", "/v1/nodes/resume", {"nodes": node})[0], 200)

    def test_a_node_that_goes_down_does_not_end_a_job_that_is_leaving_it(self):
        service = self.service
        script = "echo $ROTA_JOB_NODELIST >> places; [ -e go ] && exit; trap 'touch told; until [ -e go ]; do sleep 0.02; done; exit' TERM; while :; do sleep 0.02; done"
        job = service.submit(script, requeue=True, kill_wait=300)
        service.wait_for(lambda: os.path.exists(os.path.join(self.folder, "places")) and service.job(job)["state"] == "RUNNING",
                         "its first run")
        first = service.job(job)["node_list"]
        service.act("requeue", job)
        service.wait_for(lambda: os.path.exists(os.path.join(self.folder, "told")), "the order to end")
        self.assertEqual(service.ask("POST", "/v1/nodes/down", {"nodes": first, "reason": "smoke"})[0], 200)
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(len(set(service.read("places").split())), 2)

    def test_a_node_that_goes_down_is_left_by_a_job_that_waits_there_to_start(self):
        service = self.service
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)  # no process reads
        starts = lambda job: service.job(job)["state"] == "CONFIGURING"
        for again in (True, False):
            job = service.submit("true", output=pipe, requeue=again)
            service.wait_for(lambda: starts(job), "its launch")
            node = service.job(job)["node_list"]
            self.assertEqual(service.ask("POST", "/v1/nodes/down", {"nodes": node, "reason": "smoke"})[0], 200)
            if again:
                service.wait_for(lambda: starts(job) and service.job(job)["node_list"] != node, "its launch elsewhere")
                service.act("cancel", job)
            self.assertEqual(service.ends(job)["state"], "CANCELLED")
            self.assertEqual(service.ask("POST", "/v1/nodes/resume", {"nodes": node})[0], 200)

    def test_events_can_be_taken_up_again(self):
        service = self.service
        events = Events(service, "/v1/events")
        job = int(service.submit("true"))
        kinds = []
        while "finished" not in kinds:
            sequence, kind, line = events.next()
            kinds.append(kind)
            if kind == "submitted":
                submitted = sequence
                self.assertEqual(line["spec"]["number"], job)
        self.assertLess(kinds.index("submitted"), kinds.index("started"))
        events.close()
        again = Events(service, "/v1/events", {"Last-Event-ID": str(submitted - 1)})
        self.assertEqual(again.next()[:2], (submitted, "submitted"))
        again.close()
        service.stop()
        service.start()
        later = Events(service, f"/v1/events?after={submitted}")
        self.assertEqual(later.next()[1], "reset")
        later.close()

    def test_what_is_no_request_is_told_so(self):
        for text, status in ((b"nonsense\r\n\r\n", 400), (b"GET /v1/jobs%zz HTTP/1.1\r\nHost: r\r\n\r\n", 400),
                             (b"GET /v2 HTTP/1.1\r\nHost: r\r\n\r\n", 404), (b"DELETE /v1/jobs HTTP/1.1\r\nHost: r\r\n\r\n", 405),
                             (b"GET / HTTP/1.1\r\nX: " + b"y" * 100000 + b"\r\n\r\n", 431)):
            with socket.socket(socket.AF_UNIX) as stream:
                stream.settimeout(PATIENCE)
                stream.connect(self.service.socket)
                stream.sendall(text)
                self.assertEqual(stream.recv(100).split()[1], str(status).encode(), text[:40])
        for body in ("[" * 100000, '{"command": 7}', '{"limit": 1e400}', "null", '{"processors": -1, "command": ["x"]}', "\xff"):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(PATIENCE)
            connection.connect(self.service.socket)
            data = body.encode("latin-1")
            connection.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: r\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
            self.assertEqual(connection.recv(100).split()[1], b"400", body[:40])
            connection.close()

    def test_a_text_that_is_too_long_is_told_how_long_it_may_be(self):
        status, answer = self.service.ask("PUT", "/v1/policy", {"policy": "x" * 5000})
        self.assertEqual((status, answer["detail"]), (400, "`policy` takes a text of 4,096 bytes at most."))

    def test_a_large_body_of_little_values_takes_no_memory(self):
        service = self.service
        most = 16 << 20
        for body, said in (("[" * most, "nested"), ("[" + "0," * (most // 2 - 2) + "0]", "values"),
                           ('{"name": ' * (most // 10), "nested"), ('["\\"", ' + "{}," * (most // 3 - 10) + "{}]", "values")):
            connection = http.client.HTTPConnection("rota")
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(PATIENCE)
            connection.sock.connect(service.socket)
            connection.request("POST", "/v1/jobs", body)
            answer = connection.getresponse()
            detail = json.loads(answer.read())["detail"]
            connection.close()
            self.assertEqual(answer.status, 400, body[:20])
            self.assertIn(said, detail)
        with open(f"/proc/{service.process.pid}/status") as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        self.assertLess(peak, 300_000, "kB")
        deep = self.body(name="[[[[[[[[[[{{{{\\\"[[[", environment=["PATH=/bin", "X=" + "[,{" * 40_000])
        self.assertEqual(service.ask("POST", "/v1/jobs", [deep])[0], 201, "brackets in texts are none")


class Events:
    """A stream of server-sent events."""

    def __init__(self, service, path, headers=None):
        self.stream = socket.socket(socket.AF_UNIX)
        self.stream.settimeout(PATIENCE)
        self.stream.connect(service.socket)
        lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        self.stream.sendall(f"GET {path} HTTP/1.1\r\nHost: rota\r\n{lines}\r\n".encode())
        self.file = self.stream.makefile("r")
        while self.file.readline().strip():
            pass

    def next(self):
        """Number, kind and data of the next event."""
        event = {}
        while True:
            line = self.file.readline()
            assert line, "the stream has ended"
            line = line.rstrip("\n")
            if not line and "event" in event:
                return int(event.get("id", 0)), event["event"], json.loads(event["data"])
            if ":" in line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                event[name] = value

    def close(self):
        self.file.close()
        self.stream.close()


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
