#!/usr/bin/env python3
"""Every reason, state, status, exit code and command that the documents name comes about here, or in a test that is named.

The tables of docs/serve.md, docs/live-commands.md, docs/api.md and docs/commands.md are read: a row without a case fails, and
so does a case without a row. Usage: messages_test.py ROTA
"""
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import unittest

from service import PATIENCE, Service, ServiceCase, UnixConnection

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
OTHER = 54321  # a user of no name

AS_OTHER = """
import http.client, json, socket, sys
c = http.client.HTTPConnection("rota"); c.sock = socket.socket(socket.AF_UNIX); c.sock.connect(sys.argv[1])
c.request(sys.argv[2], sys.argv[3], sys.argv[4] or None)
a = c.getresponse(); print(json.dumps([a.status, json.loads(a.read())]))
"""


def document(name):
    with open(os.path.join(ROOT, "docs", name)) as file:
        return file.read()


def table(name, head):
    """The first cells of the table under a line that begins so, without their backquotes."""
    lines = document(name).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(head))
    rows = []
    for line in lines[at + 2:]:
        if not line.startswith("|"):
            break
        rows += re.findall(r"`([^`]+)`", line.split("|")[1])
    return rows


def cases_of(test, prefix):
    """What a test class has a case for: the ends of its methods' names."""
    return {name[len(prefix):] for name in dir(test) if name.startswith(prefix)}


class Reasons(ServiceCase):
    """Why a job waits."""
    configuration = """name = "small"
licences = "solver:1"
[[nodes]]
names = "n[1-2]"
processors = 2
"""

    def row_of(self, command="true", **members):
        return self.service.job(self.service.submit(command, **members))

    def reason(self, word, why, command="true", **members):
        row = self.row_of(command, **members)
        self.assertEqual((row["state"], row["reason"]), ("PENDING", word))
        self.assertRegex(row["why"], why)

    def busy(self, processors=4):
        job = self.service.submit("sleep 1000", processors=processors, limit=1000)
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "the first job to run")
        return job

    def as_other(self, method, path, body):
        if os.geteuid() != 0:
            self.skipTest("another user takes root")
        done = subprocess.run(["/usr/bin/python3", "-c", AS_OTHER, self.service.socket, method, path, json.dumps(body)],
                              user=OTHER, group=OTHER, extra_groups=[], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_all_are_documented_and_tried(self):
        documented = set(table("serve.md", "| reason |"))
        tried = cases_of(Reasons, "test_reason_") | cases_of(Waking, "test_reason_") | {"Reservation", "OverLimit"}  # reservations_test.py, limits_test.py
        self.assertEqual(tried, documented)
        for name, line in (("live-commands.md", r"the reason is in brackets: `([^`]+)`"),
                           ("api.md", r"in one word: `([^`]+)`")):
            self.assertEqual(set(re.search(line, document(name)).group(1).split()), documented, name)
        with open(os.path.join(ROOT, "src", "serve", "pending_reason.cc")) as file:
            self.assertLessEqual(documented, set(re.findall(r'"([A-Z][A-Za-z]+)"', file.read())))

    def test_reason_Resources(self):
        self.busy()
        self.reason("Resources", "^It needs 4 processors, it is first in the queue, and 0 are free now.$", processors=4)

    def test_reason_Priority(self):
        self.busy()
        first = self.service.submit("true", processors=4)
        self.reason("Priority", f"and others go first: job {first} is first in the queue", processors=2)

    def test_a_job_that_would_delay_another_names_what_is_free(self):
        self.busy(2)
        first = self.service.submit("true", processors=4, limit=60)
        said = f", but if it started now job {first} or another with an earlier claim would start later"
        self.reason("Priority", "^It needs 1 whole node, and 1 is free now" + said, processors=2, nodes=1, limit=5000)
        self.reason("Priority", "^It needs 2 processors, and 2 are free now" + said, processors=2, limit=5000)

    def test_reason_Dependency(self):
        job = self.busy()
        self.reason("Dependency", f"^It waits for job {job} to end well.$", after=[f"afterok:{job}"])

    def test_a_job_that_waits_for_an_array_names_how_many_of_its_tasks_are_left(self):
        array = self.service.submit("[ $ROTA_ARRAY_TASK_ID = 1 ] || sleep 1000", array="1-40%1")
        row = self.row_of(after=[f"afterok:{array}"])
        self.service.ends(f"{array}_1")
        self.assertEqual(self.service.job(row["id"])["why"], f"It waits for 39 of the 40 tasks of job {array} to end well.")
        self.reason("Dependency", f"^It waits for job {array}_40 to end.$", after=[f"afterany:{array}_40"])

    def test_reason_DependencyNeverSatisfied(self):
        job = self.busy()
        row = self.row_of(after=[f"afterok:{job}"])
        self.service.act("cancel", job)
        self.service.ends(job)
        row = self.service.job(row["id"])
        self.assertEqual((row["reason"], row["why"]),
                         ("DependencyNeverSatisfied", "A job that it waits for has ended otherwise than it needs; it will never run."))

    def test_reason_BeginTime(self):
        now = self.service.ask("GET", "/v1/status")[1]["now"]
        self.reason("BeginTime", r"^Its begin time, \d{4}-\d\d-\d\d \d\d:\d\d, has not come yet\.$", begin=now + 1000)

    def test_reason_JobHeldUser(self):
        self.reason("JobHeldUser", "^Its user holds it; `rota release 1` lets it go.$", held=True)

    def test_reason_JobHeldAdmin(self):
        self.busy()
        status, answer = self.as_other("POST", "/v1/jobs", {"command": ["true"], "folder": "/", "processors": 4})
        self.assertEqual(status, 201, answer)
        job = answer["id"]
        self.assertEqual(self.service.act("hold", job)[0], 200)
        row = self.service.job(job)
        self.assertEqual((row["reason"], row["why"]),
                         ("JobHeldAdmin", "An operator holds it; an operator has to release it."))
        status, answer = self.as_other("POST", "/v1/jobs/release", {"ids": job})
        self.assertEqual((status, answer["jobs"][0]["detail"]),
                         (207, f"job {job} is held by an operator, who has to release it."))

    def test_reason_JobArrayTaskLimit(self):
        array = self.service.submit("sleep 1000", array="1-2%1")
        row = self.service.job(f"{array}_2")
        self.assertEqual((row["reason"], row["why"]),
                         ("JobArrayTaskLimit", "As many tasks of its array are queued or run already as it allows at one time (1)."))

    def test_reason_Licenses(self):
        job = self.service.submit("sleep 1000", licence="solver")
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "the first job to run")
        self.reason("Licenses", f"^It needs 1 of the licence solver, of which 0 are free: job {job} of .* holds 1.$",
                    licence="solver")

    def test_reason_ReqNodeNotAvail(self):
        self.service.ask("POST", "/v1/nodes/drain", {"nodes": "n1", "reason": "a fan"})
        self.reason("ReqNodeNotAvail", r"^It needs 4 processors on nodes that are in service, and there are too few of these: "
                                       r"n1 is drained by \S+ \(a fan\)\.$", processors=4)


class Waking(unittest.TestCase):
    CONFIGURATION = """name = "sleepy"
[[nodes]]
names = "n[1-2]"
processors = 2
boot_time = "1h"
suspend_command = "true"
resume_command = "true"
probe_command = "false"
[service]
policy = "easy+power=demand"
"""

    def test_reason_PowerUp(self):
        """The reason of a job whose node is being woken, where nodes are switched by commands."""
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            service = Service(ServiceCase.rota, folder, self.CONFIGURATION)
            service.start()
            try:
                self.wakes(service)
            finally:
                service.act("cancel", "all")
                service.stop()

    def wakes(self, service):
        def states():
            return {node["state"] for node in service.ask("GET", "/v1/nodes")[1]["nodes"]}
        service.wait_for(lambda: states() == {"sleeping"}, "the nodes to sleep")
        job = service.submit("true", processors=4)
        service.wait_for(lambda: "booting" in states(), "a node to be woken")
        row = service.job(job)
        self.assertEqual(row["reason"], "PowerUp")
        self.assertRegex(row["why"], "are being woken")


class States(ServiceCase):
    """Every state of a job."""
    configuration = 'name = "one"\n[[nodes]]\nnames = "n1"\nprocessors = 2\n'
    ELSEWHERE = {  # where a state is asserted that cannot be made to last here
        "CONFIGURING": ("tests/live/restarts_test.py", "src/serve/job_book.cc"),
        "COMPLETING": ("tests/live/messages_test.py", "src/serve/job_book.cc"),
        "OUT_OF_MEMORY": ("src/engine/local/engine_test.cc", "src/serve/job_book.cc"),
        "NODE_FAIL": ("tests/live/restarts_test.py", "src/serve/job_book.cc"),
    }

    def test_all_are_documented_and_tried(self):
        documented = set(table("live-commands.md", "| state |")) - {
            word for word in re.search(r"in brackets: `([^`]+)`", document("live-commands.md")).group(1).split()}
        self.assertEqual(cases_of(States, "test_state_") | set(self.ELSEWHERE), documented)
        self.assertEqual(set(re.search(r"\| `state` \| `([^`]+)`", document("api.md")).group(1).split()), documented)

    def test_state_PENDING(self):
        self.assertEqual(self.service.job(self.service.submit("true", held=True))["state"], "PENDING")

    def running(self, command="sleep 1000", **members):
        job = self.service.submit(command, **members)
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "the job to run")
        return job

    def test_state_RUNNING(self):
        self.running()

    def test_state_SUSPENDED(self):
        job = self.running()
        self.service.act("suspend", job)
        self.assertEqual(self.service.job(job)["state"], "SUSPENDED")

    def test_state_COMPLETED(self):
        self.assertEqual(self.service.ends(self.service.submit("true"))["state"], "COMPLETED")

    def test_state_FAILED(self):
        self.assertEqual(self.service.ends(self.service.submit("false"))["state"], "FAILED")

    def test_state_CANCELLED(self):
        job = self.running("trap '' TERM; echo on > on; until [ -e go ]; do sleep 0.02; done", kill_wait=600)
        self.service.written("on")
        self.service.act("cancel", job)
        self.assertEqual(self.service.job(job)["state"], "COMPLETING")
        open(os.path.join(self.folder, "go"), "w").close()
        self.assertEqual(self.service.ends(job)["state"], "CANCELLED")

    def test_state_TIMEOUT(self):
        self.assertEqual(self.service.ends(self.service.submit("sleep 1000", limit=1))["state"], "TIMEOUT")


class Statuses(ServiceCase):
    """Every status of an error, as docs/api.md lists them."""
    configuration = 'name = "one"\nprocessors = 2\n[service]\nlisten = "127.0.0.1:0"\n'

    def started(self, said):
        self.url = re.search("answers at (https?://[^ ]+)", said)[1]

    def said(self, status, method, path, body=None, detail=""):
        connection = UnixConnection(self.service.socket)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            problem = json.loads(answer.read())
        finally:
            connection.close()
        self.assertEqual((answer.status, answer.getheader("Content-Type")), (status, "application/problem+json"))
        self.assertEqual((problem["type"], problem["title"], problem["status"]),
                         ("about:blank", http.client.responses[status], status))
        self.assertRegex(problem["detail"], detail)

    def test_all_are_documented_and_tried(self):
        line = re.search(r"a\s+sentence that says what to do\"}`\.(.*?)\n\n", document("api.md"), re.S).group(1)
        documented = set(re.findall(r"\b[45]\d\d\b", line))
        self.assertEqual(cases_of(Statuses, "test_status_"), documented)

    def test_status_400(self):
        self.said(400, "POST", "/v1/jobs", "{", "^the request's body is no JSON.$")
        self.said(400, "POST", "/v1/jobs", '{"comand": ["x"]}', 'there is no member "comand"; did you mean `command`')
        self.said(400, "POST", "/v1/jobs", '{"command": ["x"], "folder": "/", "processors": 3}', "can never run here")

    def test_status_401(self):
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"))
        connection.request("GET", "/v1/jobs")
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.getheader("WWW-Authenticate")), (401, "Bearer"))
        self.assertRegex(json.loads(answer.read())["detail"], "Authorization: Bearer TOKEN.*`rota token create` makes")
        connection.close()

    def test_status_403(self):
        if os.geteuid() != 0:
            self.skipTest("another user takes root")
        done = subprocess.run(["/usr/bin/python3", "-c", AS_OTHER, self.service.socket, "PUT", "/v1/policy", '{"policy": "fcfs"}'],
                              user=OTHER, group=OTHER, extra_groups=[], capture_output=True, text=True, timeout=PATIENCE)
        status, problem = json.loads(done.stdout)
        self.assertEqual((status, problem["detail"]), (403, "only an operator may set the policy."))

    def test_status_404(self):
        self.said(404, "GET", "/v1/jobs/7", detail='^there is no job "7".$')
        self.said(404, "GET", "/nothing", detail='there is nothing at "/nothing"; docs/api.md lists what there is')

    def test_status_405(self):
        self.said(405, "POST", "/v1/status", "{}", "only GET is answered here")

    def test_status_413(self):
        with socket.socket(socket.AF_UNIX) as stream:  # it answers before all of it has come
            stream.settimeout(PATIENCE)
            stream.connect(self.service.socket)
            stream.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: r\r\nContent-Length: 99999999999\r\n\r\n")
            self.assertEqual(stream.recv(100).split()[1], b"413")

    def test_status_422(self):
        """All of them are in refusals_test.py."""
        for name, status in (("one", 201), ("one", 201), ("other", 422)):
            body = {"command": ["true"], "folder": "/", "name": name}
            self.assertEqual(self.service.ask("POST", "/v1/jobs", body, {"Idempotency-Key": "k"})[0], status)

    def test_status_431(self):
        with socket.socket(socket.AF_UNIX) as stream:
            stream.settimeout(PATIENCE)
            stream.connect(self.service.socket)
            stream.sendall(b"GET / HTTP/1.1\r\nX: " + b"y" * 100000 + b"\r\n\r\n")
            self.assertEqual(stream.recv(100).split()[1], b"431")

    def test_status_503(self):
        """A service that cannot write its journal says so, and takes no more jobs in."""
        with open("/proc/self/limits"):  # this test is for a kernel with prlimit
            pass
        import resource
        for _ in range(20):
            size = os.path.getsize(os.path.join(self.service.state, "rota.db-wal"))
            resource.prlimit(self.service.process.pid, resource.RLIMIT_FSIZE, (size + 4096, resource.RLIM_INFINITY))
            try:
                self.service.wait_for(self.refused, "a submission to be refused")
                return
            except (http.client.HTTPException, OSError):
                continue  # it had something of its own to write first, and ended before it heard of this
            finally:
                self.service.process.wait(PATIENCE)
                self.service.process.stderr.close()
                self.service.start()
        self.fail("the service ended each time without an answer")

    def test_status_507(self):
        """A service whose disk is nearly full takes no more jobs in."""
        if os.geteuid() != 0:
            self.skipTest("it takes root to mount")
        state = self.service.state
        self.start_on_a_disk_of("24m")
        with open(os.path.join(state, "ballast"), "wb") as file:
            disk = os.statvfs(state)
            os.posix_fallocate(file.fileno(), 0, disk.f_bfree * disk.f_frsize - (384 << 10))
        self.said(507, "POST", "/v1/jobs", '{"command": ["true"], "folder": "/"}', "^the disk that holds the service's state has only")
        os.remove(os.path.join(state, "ballast"))

    def refused(self):
        status, _ = self.service.ask("POST", "/v1/jobs", {
            "command": ["true"], "folder": self.folder, "held": True, "environment": ["X=" + "y" * 100000]})
        self.assertIn(status, (201, 503))
        return status == 503


class Requests(ServiceCase):
    """Members and actions are those that docs/api.md has."""
    configuration = 'name = "one"\nprocessors = 2\n[[reservations]]\nstart = "1d"\nend = "2d"\nprocessors = 2\n'

    def test_members_of_a_submission_are_those_of_the_page(self):
        documented = set(table("api.md", "| member | type | meaning |"))
        for member in sorted(documented):
            status, answer = self.service.ask("POST", "/v1/jobs", {member: None})
            self.assertEqual((status, answer["detail"].split(" takes ")[0]), (400, f"`{member}`"))

    def test_actions_are_those_of_the_page(self):
        documented = set(table("api.md", "| action | more members |"))
        self.assertEqual(documented, {"cancel", "hold", "release", "requeue", "suspend", "resume", "update"})
        job = self.service.submit("true")
        self.service.ends(job)
        for action in sorted(documented):
            status, answer = self.service.act(action, job)
            self.assertEqual((status, answer), (207, {"jobs": [
                {"id": job, "done": False, "detail": f"job {job} has ended already."}]}), action)
            self.assertEqual(self.service.act(action, "user=nobody-at-all")[0], 404, action)
        self.assertEqual(self.service.act("stop", job)[1]["detail"],
                         "only GET is answered here; docs/api.md lists what there is.")

    def test_what_a_job_that_does_not_run_cannot_have_done_is_said(self):
        job = self.service.submit("true", held=True)
        for action, said in (("suspend", "does not run."), ("resume", "does not run."), ("requeue", "does not run.")):
            self.assertEqual(self.service.act(action, job)[1]["jobs"][0]["detail"], f"job {job} {said}")
        free = self.service.submit("sleep 1000")
        self.service.wait_for(lambda: self.service.job(free)["state"] == "RUNNING", "the job to run")
        for action, more, said in (
                ("release", {}, "is not held."), ("resume", {}, "is not suspended."),
                ("update", {"priority": -1}, "runs already; of what it was started on only its time limit can be changed. "
                                             "Requeue it to change more.")):
            self.assertEqual(self.service.act(action, free, **more)[1]["jobs"][0]["detail"], f"job {free} {said}")

    def test_reservations_that_are_not_kept_are_told(self):
        self.assertIn("the configuration has [[reservations]] that count from second 0 of a log, which a service does not "
                      'keep: give `start` and `end` as dates, such as "2026-12-01T08:00Z"',
                      self.service.ask("GET", "/v1/status")[1]["warnings"])


class Shares(ServiceCase):
    """What the configuration says of users and a service does not know is told where the policy goes by it."""
    configuration = """name = "one"
processors = 2
[[accounts]]
name = "physics"
"""
    arguments = ("--policy", "slurm+priority=multifactor+weight-fairshare=10+weight-qos=10")

    def test_are_told(self):
        warnings = self.service.ask("GET", "/v1/status")[1]["warnings"]
        self.assertEqual([warning for warning in warnings if "control group" not in warning], [  # that is of this computer
            "the policy goes by fair share, and a service does not know of the configuration's [[accounts]]: all users have the "
            "same shares",
            "the policy goes by QOS, and the configuration describes none: weight-qos changes nothing"])


class Commands(ServiceCase):
    """Every command does what it is for, and every one that documents name is there."""
    configuration = 'name = "one"\nlicences = "solver:1"\n[[nodes]]\nnames = "n[1-2]"\nprocessors = 2\n'
    # In this order: a command line, its exit code, and what it says. JOB is one that is held, RUN one that runs.
    CASES = [
        ("submit --hold --name first -- true", 0, "^Submitted job 1$"), ("submit -t 1h -- sleep 1000", 0, "^Submitted job 2$"),
        ("run -- echo here", 0, "^here$"), ("wait 3", 0, "^$"), ("logs 2", 0, "^$"), ("top", 1, "draws on a terminal"),
        ("page", 0, "^http://127.0.0.1:[0-9]+/#code=[0-9a-f]{32}$"),
        ("queue -t PD -o %j --noheader", 0, "^first$"), ("job 1", 0, r"^name +first$"), ("explain 1", 0, r"PENDING \(JobHeldUser\)"),
        ("update 1 --name second", 0, "^$"), ("release 1", 0, "^$"), ("wait 1", 0, "^$"), ("history name=second", 0, r"^1 +second "),
        ("submit --hold -- true", 0, "^Submitted job 4$"), ("forecast 4", 1, "job 4 is held: it starts when it is released"),
        ("mode", 0, "modes are for a service beside Slurm"), ("mode order act --partition main", 1, "beside Slurm"),
        ("actions --state {state}", 0, "^0 jobs with a factor"), ("undo --all --state {state}", 0, "^Nothing was ever written"),
        ("shadow", 0, "^FORETOLD BY"), ("hold 2", 1, "job 2 runs already"), ("suspend 2", 0, "^$"), ("resume 2", 0, "^$"), ("requeue 2", 0, "^$"),
        ("cancel all", 0, "^$"), ("nodes", 0, r"^n1 +idle "), ("partitions", 0, "^[A-Z]+ "), ("licences", 0, r"^solver +1 "),
        ("sites", 1, "is no site of a federation"), ("auction 99", 1, "99"), ("accel", 0, "^NODE +STATE "), ("accel status --at ./none --patience 1", 1, "no container accepts tasks at ./none"),
        ("reserve --start now+1day --duration 1h --nodes n1 --name course", 0, "course"), ("reservations", 0, "course"),
        ("unreserve course", 0, ""), ("policy", 0, "^[a-z]+"), ("reload", 0, "^Nothing is new"), ("status", 0, "0 running"), ("doctor --json", None, '"of": "service"'),
        ("token list", 0, ""), ("serve --state {state} --socket {folder}/other", 1, "process"),
        ("generate lublin --jobs 30 --seed 1 --processors 16 -o w.swf", 0, ""),
        ("simulate w.swf --policy fcfs --jobs jobs.csv --journal w.journal", 0, "^fcfs "),
        ("tune w.swf --policy fcfs --knobs depth=0|1", 0, "^(Nothing is worth|Worth) changing"),
        ("verify w.swf jobs.csv --policy fcfs", 0, "^30 of 30 starts identical$"), ("report jobs.csv", 0, "30 jobs on 16 processors"),
        ("convert w.swf -o w.jsonl", 0, "30 jobs kept"), ("replay --check w.journal", 0, "each plan is the same$"),
        ("import slurm --from nowhere out", 1, "nowhere"), ("reproduce nothing", 2, 'has no command "nothing"'),
        ("policies", 0, "^Policies, for --policy:"), ("completion bash", 0, "^# bash completion"), ("manual simulate", 0, "^.TH ROTA"),
        ("stop", 0, "^Stopped the service at "),
    ]

    def commands(self):
        text = subprocess.run([self.rota, "--help"], capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"^  ([a-z-]+)  ", text, re.M))

    def test_all_are_tried(self):
        self.assertEqual({line.split()[0] for line, _, _ in self.CASES}, self.commands())
        for line, code, says in self.CASES:
            words = line.format(state=self.service.state, folder=self.folder).split()
            if words == ["nodes"]:
                self.service.all_end()
            if words == ["logs", "2"]:
                self.service.runs("2")
            done = subprocess.run([self.rota, *words], capture_output=True, text=True, timeout=PATIENCE, cwd=self.folder,
                                  stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "ROTA_SOCKET": self.service.socket})
            with self.subTest(line=line):
                self.assertIn(done.returncode, (0, 3) if code is None else (code,), done.stderr)
                self.assertRegex(done.stdout + done.stderr, re.compile(says, re.M))

    def test_those_that_documents_name_are_there(self):
        there = self.commands() | {"help"}
        for name in ("live-commands.md", "serve.md", "commands.md"):
            for command in re.findall(r"`rota ([a-z-]+)", document(name)):
                self.assertIn(command, there, f"docs/{name} names a command that is not there")


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
