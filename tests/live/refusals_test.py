#!/usr/bin/env python3
"""Every refusal that a document promises comes about, here or in a test that is named.

docs/openapi.json has the statuses of each operation, and sentences of the documents say what is refused: one without a case
fails, and so does a case that nothing promises. Usage: refusals_test.py ROTA
"""
import http.client
import json
import os
import re
import subprocess
import sys
import unittest

from network import NetworkCase
from service import PATIENCE, ServiceCase, UnixConnection

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
OTHER = 54321  # a user of no name

AS_OTHER = """
import http.client, json, socket, sys
c = http.client.HTTPConnection("rota"); c.sock = socket.socket(socket.AF_UNIX); c.sock.connect(sys.argv[1])
c.request(sys.argv[2], sys.argv[3], sys.argv[4] or None)
a = c.getresponse(); print(json.dumps([a.status, json.loads(a.read())["detail"]]))
"""

MACHINE = """name = "small"
[[nodes]]
names = "n[1-2]"
processors = 2
"""
JOB = {"command": ["true"], "folder": "/"}
RESERVATION = {"start": 4e9, "duration": 60, "nodes": "n1"}

CARD = {"address": "127.0.0.1:1", "epoch": "e"}

NO_JOB = '^there is no job "999"\\.$'
NOT_YOURS = "only its user or an operator may see"
FOR_OPERATORS = "^only an operator may "
FOR_ROOT = "^only root and the user of the service may register an accelerator container\\.$"
AT_THE_SOCKET = "^tokens are made, listed and revoked on the computer of the service, and not with a token\\.$"
# (operation, status): what is asked in place of {} in its path, with which body, and what is said. Where it is 403, another
# user asks.
CASES = {
    **{(f"GET /v1/jobs/{{id}}{more}", 404): ("999", None, NO_JOB)
       for more in ("", "/explain", "/script", "/environment", "/output")},
    **{(f"GET /v1/jobs/{{id}}/{more}", 403): ("JOB", None, NOT_YOURS) for more in ("script", "environment", "output")},
    **{(f"POST /v1/jobs/{action}", 404): ("", {"ids": "user=nobody-at-all"}, '^no job is meant by "user=nobody-at-all"\\.$')
       for action in ("cancel", "hold", "release", "requeue", "suspend", "resume", "update")},
    ("POST /v1/jobs", 403): ("", {**JOB, "priority": 1}, "^only an operator may ask for a priority above 0"),
    **{(f"POST /v1/nodes/{action}", 403): ("", {"nodes": "n1"}, FOR_OPERATORS)
       for action in ("drain", "resume", "down", "power-down", "power-up")},
    ("POST /v1/reservations", 403): ("", RESERVATION, FOR_OPERATORS),
    ("DELETE /v1/reservations/{name}", 403): ("course", None, FOR_OPERATORS),
    ("DELETE /v1/reservations/{name}", 404): ("course", None, '^there is no reservation "course": it is over or was never made; '),
    ("PUT /v1/modes/{mechanism}", 403): ("order", {"mode": "off", "partitions": ["main"]}, FOR_OPERATORS),
    ("PUT /v1/policy", 403): ("", {"policy": "fcfs"}, FOR_OPERATORS),
    ("POST /v1/configuration/reload", 403): ("", None, FOR_OPERATORS),
    ("POST /v1/policy/rehearsal", 403): ("", {"policy": "fcfs"}, FOR_OPERATORS),
    ("GET /v1/forecast/{selector}", 404): ("999", None, "^there is no job 999\\.$"),
    ("DELETE /v1/tokens/{id}", 404): ("none", None, "^there is no token "),
    ("GET /v1/accelerators/{node}", 404): ("n1", None, "^no accelerator container serves node n1 now; "),
    ("PUT /v1/accelerators/{node}", 403): ("n1", CARD, FOR_ROOT), ("DELETE /v1/accelerators/{node}", 403): ("n1", None, FOR_ROOT),
    ("PUT /v1/accelerators/{node}", 404): ("n9", CARD, '^there is no node "n9" here; '),
    ("DELETE /v1/accelerators/{node}", 404): ("n1", None, "^node n1 has no container of that `epoch`\\.$"),
}
ELSEWHERE = {  # where these are tried
    ("PUT /v1/accelerators/{node}", 409): ("tests/accel/service_test.py", "test_the_later_one_of_two_of_a_node_stays"),
    ("POST /v1/jobs", 413): ("tests/live/messages_test.py", "test_status_413"),
    ("POST /v1/jobs", 422): ("tests/live/refusals_test.py", "test_a_key_is_for_one_request"),
    ("POST /v1/reservations", 422): ("tests/live/refusals_test.py", "test_a_key_is_for_one_request"),
    **{(operation, 403): ("tests/live/refusals_test.py", "test_tokens_are_asked_for_at_the_socket")
       for operation in ("GET /v1/tokens", "POST /v1/tokens", "DELETE /v1/tokens/{id}")},
    ("POST /v1/page-codes", 403): ("tests/live/page_address_test.py", "test_a_code_is_for_a_session_alone_and_neither_makes_more"),
    ("POST /v1/page-sessions", 403): ("tests/live/page_address_test.py",
                                      "test_a_code_is_for_a_session_alone_and_neither_makes_more"),
}


class Operations(NetworkCase):
    tls = False
    machine = MACHINE

    def documented(self):
        with open(os.path.join(ROOT, "docs", "openapi.json")) as file:
            paths = json.load(file)["paths"]
        return {(f"{method.upper()} {path}", int(status)) for path, operations in paths.items()
                for method, operation in operations.items() if method != "parameters"
                for status in operation["responses"] if status[0] == "4"}

    def said(self, operation, path, body=None, headers=None):
        """The status and the sentence of a refusal."""
        connection = UnixConnection(self.service.socket)
        try:
            connection.request(operation.partition(" ")[0], path, None if body is None else json.dumps(body), headers or {})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        self.assertEqual(answer.getheader("Content-Type"), "application/problem+json", f"{operation} {path}: {text}")
        return answer.status, json.loads(text)["detail"]

    def as_other(self, operation, path, body):
        done = subprocess.run(
            ["/usr/bin/python3", "-c", AS_OTHER, self.service.socket, operation.partition(" ")[0], path,
             "" if body is None else json.dumps(body)],
            user=OTHER, group=OTHER, extra_groups=[], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def path_of(self, operation, what):
        return re.sub("{[^}]*}", what, operation.partition(" ")[2])

    def test_all_that_are_documented_have_a_case(self):
        everywhere = {(operation, status) for operation, status in self.documented() if status in (400, 401)}
        self.assertEqual(set(CASES) | set(ELSEWHERE), self.documented() - everywhere)
        for path, test in ELSEWHERE.values():
            with open(os.path.join(ROOT, path)) as file:
                self.assertIn(f"def {test}(", file.read(), path)

    def test_each_case_comes_about(self):
        job = self.service.submit("true")
        for (operation, status), (what, body, sentence) in sorted(CASES.items(), key=str):
            path = self.path_of(operation, job if what == "JOB" else what)
            if status == 403 and os.geteuid() != 0:
                continue  # another user takes root
            with self.subTest(operation=operation, status=status):
                found, detail = (self.as_other if status == 403 else self.said)(operation, path, body)
                self.assertEqual(found, status, detail)
                self.assertRegex(detail, sentence)

    def test_a_query_with_an_unknown_member_is_refused_everywhere(self):
        for operation, status in sorted(self.documented()):
            if status != 400:
                continue
            with self.subTest(operation=operation):
                found, detail = self.said(operation, self.path_of(operation, "1") + "?colour=red")
                self.assertEqual((found, detail), (400, 'a query has no member "colour" here; docs/api.md lists what there is.'))
        self.assertEqual(self.said("GET", "/v1/jobs?stat=RUNNING"),
                         (400, 'a query has no member "stat" here; did you mean `state`?'))

    def test_what_a_query_may_have_is_in_the_document(self):
        """No parameter that is documented is refused."""
        with open(os.path.join(ROOT, "docs", "openapi.json")) as file:
            paths = json.load(file)["paths"]
        for path, operations in paths.items():
            for method, operation in operations.items():
                for parameter in operation.get("parameters", ()):
                    if parameter["in"] != "query":
                        continue
                    target = f"{re.sub('{[^}]*}', '1', path)}?{parameter['name']}="
                    with self.subTest(target=target):
                        connection = UnixConnection(self.service.socket)
                        connection.request(method.upper(), target)
                        answer = connection.getresponse()
                        if answer.status == 400:
                            self.assertNotIn("a query has no member", answer.read().decode())
                        connection.close()

    def test_no_request_is_let_in_without_a_token(self):
        for operation, status in sorted(self.documented()):
            if status != 401:
                continue
            with self.subTest(operation=operation):
                found, problem, headers = self.ask(operation.partition(" ")[0], self.path_of(operation, "1"))
                self.assertEqual((found, headers["WWW-Authenticate"]), (401, "Bearer"))
                self.assertRegex(problem["detail"], "Authorization: Bearer TOKEN")

    def test_values_that_make_no_sense_are_refused(self):
        self.service.submit("true", held=True)
        no_state = '^"bogus" is no state of a job; write one such as PENDING'
        for target, sentence in (
                ("/v1/jobs?state=bogus", no_state), ("/v1/history?state=F,bogus", no_state),
                ("/v1/jobs?ids=12,state=bogus", no_state), ("/v1/jobs?ids=x", '^no jobs can be meant by "x"'),
                ("/v1/jobs?state=PD&limit=1&state=R", '^the query has "state" twice, and it is not known which of the two counts'),
                ("/v1/jobs/1/output?stream=nonsense", '^`stream` takes output or error, not "nonsense"\\.$'),
                *((f"{path}?{name}=" + "R," * 1001, f"^`{name}` takes 1,000 words at most; ask for the others in a request")
                  for path in ("/v1/jobs", "/v1/history") for name in ("user", "partition", "name", "state")),
                ("/v1/jobs?ended=perhaps", '^`ended` takes yes or no, not "perhaps"\\.$'),
                ("/v1/plan?fold=1", '^`fold` takes yes or no, not "1"\\.$'),
                ("/v1/history?after=12", '^`after` takes the `next` of an earlier answer, not "12"\\.$'),
                ("/v1/history?by=day", "^`by` takes user, partition or month\\.$"),
                ("/v1/jobs?limit=many", '^`limit` takes a whole number, not "many"\\.$'),
                ("/v1/history?ids=1-200000", "^so many jobs are not asked for by number"),
                ("/v1/jobs?ended=yes&ids=1-200000", "^so many jobs are not asked for by number")):
            with self.subTest(target=target):
                status, detail = self.said("GET", target)
                self.assertEqual(status, 400, detail)
                self.assertRegex(detail, sentence)
        self.assertEqual(self.said("POST", "/v1/jobs/cancel", {"ids": "state=bogus"})[0], 400)
        self.assertEqual(self.service.ask("GET", "/v1/jobs?name=" + "a," * 999 + "true")[0], 200)
        many = {"command": ["true"], "folder": "/", "environment": ["A=1"] * 100_001}
        self.assertEqual(self.said("POST", "/v1/jobs", many), (400, "`environment` has more than 100,000 texts; send fewer."))

    def test_a_key_is_for_one_request(self):
        key = {"Idempotency-Key": "k"}
        sentence = "^this `Idempotency-Key` came with another request before, which made "
        made = self.service.ask("POST", "/v1/jobs", JOB, key)
        self.assertEqual(self.service.ask("POST", "/v1/jobs", JOB, key), made)
        status, detail = self.said("POST", "/v1/jobs", {**JOB, "name": "other"}, key)
        self.assertEqual(status, 422)
        self.assertRegex(detail, f"{sentence}job {made[1]['id']}; give each request a key of its own")
        made = self.service.ask("POST", "/v1/reservations", RESERVATION, key)
        self.assertEqual(made[0], 201, "a key of reservations is another one")
        self.assertEqual(self.service.ask("POST", "/v1/reservations", RESERVATION, key)[1]["id"], made[1]["id"])
        status, detail = self.said("POST", "/v1/reservations", {**RESERVATION, "nodes": "n2"}, key)
        self.assertEqual(status, 422)
        self.assertRegex(detail, f"{sentence}reservation {made[1]['id']}; ")
        self.assertEqual(len(self.service.ask("GET", "/v1/reservations")[1]["reservations"]), 1)
        self.service.all_end()
        self.assertEqual(len(self.service.ask("GET", "/v1/history")[1]["jobs"]), 1)

    def test_tokens_are_asked_for_at_the_socket(self):
        token = self.token()
        for method, path in (("GET", "/v1/tokens"), ("POST", "/v1/tokens"), ("DELETE", "/v1/tokens/1")):
            status, problem, _ = self.ask(method, path, token, {} if method == "POST" else None)
            self.assertEqual(status, 403)
            self.assertRegex(problem["detail"], AT_THE_SOCKET)


class Bounds(ServiceCase):
    configuration = MACHINE + "[service]\nmax_jobs = 3\n"

    def test_more_jobs_than_the_service_takes(self):
        self.service.submit("true", array="1-3", held=True)
        status, answer = self.service.ask("POST", "/v1/jobs", JOB)
        self.assertEqual((status, answer["detail"]),
                         (400, "there would be more than 3 jobs, the most that this service takes."))

    def test_a_change_to_what_never_fits(self):
        job = self.service.submit("true", held=True, processors=2)
        status, answer = self.service.act("update", job, processors=99)
        self.assertEqual(status, 207)
        self.assertRegex(answer["jobs"][0]["detail"], "asks for 99 processors")
        self.assertEqual(self.service.job(job)["processors"], 2)

    def test_a_job_that_is_being_cancelled_on_two_nodes_that_go_down_is_told_once(self):
        service = self.service
        job = service.submit("sleep 1000", nodes=2, processors=2)
        service.wait_for(lambda: service.job(job)["state"] == "RUNNING", "its start")
        self.assertEqual(service.ask("POST", "/v1/nodes/down", {"nodes": "n[1-2]", "reason": "smoke"})[0], 200)
        self.assertEqual(service.ends(job)["state"], "CANCELLED")
        self.assertEqual(service.ask("GET", "/v1/status")[1]["refusals"], 0)


class Sentences(unittest.TestCase):
    """What the documents say is refused: a phrase of each such sentence, and where that is tried."""
    DOCUMENTS = ("api.md", "live-commands.md", "serve.md", "reservations.md", "page.md", "forecast.md", "sites.md")
    TRIED = {  # (document, phrase): (file, what stands in it)
        ("api.md", "Unknown members of a request"): ("tests/live/refusals_test.py", "test_a_query_of_what_nobody_knows"),
        ("api.md", "a key that was given already"): ("tests/live/refusals_test.py", "test_a_key_is_for_one_request"),
        ("api.md", "so many tasks that have ended"): (
            "tests/live/selectors_test.py", "test_so_many_tasks_that_have_ended_are_not_looked_up"),
        ("api.md", "than ten users by number"): ("tests/live/selectors_test.py", "test_few_users_are_looked_up_by_number"),
        ("api.md", '"refused_requests", "last_refusal"'): ("tests/live/mishaps_test.py", 'status["refused_requests"]'),
        ("api.md", "the state does not allow"): ("tests/live/mishaps_test.py", 'status["refused_requests"]'),
        ("api.md", "that comes with a token"): ("tests/live/network_test.py", "test_no_run_attaches_over_the_network"),
        ("api.md", "Another letter is refused"): ("tests/live/scripts_test.py", 'nothing stands for "%q"'),
        ("live-commands.md", "which no shell would fill in"): ("tests/live/scripts_test.py", "so that $HOME would stay"),
        ("live-commands.md", "What is none of these is passed over or refused"): (
            "src/cli/live/directives_test.cc", "LinesOfGridEngineArePutIntoRotasOwn"),
        ("live-commands.md", "and 0 is refused"): ("tests/cli/live_submit_test.py", "a limit of 0 would end the job at once"),
        ("live-commands.md", "the job stays as it was"): ("tests/live/refusals_test.py", "test_a_change_to_what_never_fits"),
        ("live-commands.md", "where no node has so many"): ("tests/live/scripts_test.py", "asks for 5 processors on one node"),
        ("live-commands.md", "cannot attach"): ("tests/live/network_test.py", "use `rota submit --wait`."),
        ("live-commands.md", "counts (`a*2`)"): ("src/model/node_wish_test.cc", 'refusal("a*2")'),
        ("live-commands.md", "says where the job may run"): ("tests/live/scripts_test.py", "#SBATCH --nodefile=n2"),
        ("live-commands.md", "with `--no-requeue` is refused"): (
            "tests/live/policies_test.py", "test_a_job_that_may_never_start_over_is_not_taken_under_requeue"),
        ("live-commands.md", "as of `#SBATCH`"): ("src/cli/live/directives_test.cc", "#PBS -l arch=arm"),
        ("serve.md", "A second one is refused"): ("tests/live/restarts_test.py", "test_a_second_service_is_refused"),
        ("serve.md", "else service and commands refuse it"): (
            "tests/live/first_test.py", "test_a_folder_in_tmp_that_is_not_the_users_alone_is_refused_on_both_sides"),
        ("serve.md", "more are refused"): ("tests/live/refusals_test.py", "test_more_jobs_than_the_service_takes"),
        ("serve.md", "their next submission"): ("tests/live/access_test.py", "test_no_user_fills_the_disk_of_the_state"),
        ("serve.md", "from under jobs"): ("tests/live/cluster_test.py", "without_their_nodes_is_refused_with_what_to_do"),
        ("serve.md", "wants TLS"): ("tests/live/network_test.py", "test_an_open_port_is_refused"),
        ("serve.md", "the engine cannot do"): ("tests/live/policies_test.py", "cannot run here: its knob power"),
        ("reservations.md", "does not go with reservations"): (
            "tests/live/reservations_test.py", "test_a_policy_that_does_not_keep_them_is_refused"),
        ("reservations.md", "over, unknown or reserved already"): (
            "tests/live/reservations_test.py", "test_what_cannot_be_reserved_is_refused"),
        ("reservations.md", "before anything is decided"): (
            "tests/live/reservations_test.py", "test_a_policy_that_does_not_keep_them_cannot_begin_with_one"),
        ("reservations.md", "though all its nodes were empty"): (
            "tests/live/reservations_test.py", "the job can never run in reservation"),
        ("reservations.md", "a start that reaches into one"): ("src/plan/referee_reserved_test.cc", "RefereeReservedTest"),
        ("page.md", "a token makes no addresses"): ("tests/live/page_address_test.py", "test_a_token_makes_no_addresses"),
        ("page.md", "in its own words"): ("tests/live/page_test.py", "test_a_refusal_is_told_in_the_services_words"),
        ("sites.md", "stay at their site"): ("tests/sites/sites_test.py", "test_what_cannot_travel_is_refused"),
        ("page.md", "Pages of other sites"): ("tests/live/foreign_test.py", "http://evil.example"),
    }

    def test_each_is_tried(self):
        left = dict(self.TRIED)
        for name in self.DOCUMENTS:
            for sentence in refusing(name):
                phrases = [key for key in self.TRIED if key[0] == name and key[1] in sentence]
                self.assertTrue(phrases, f"docs/{name} says what is refused, and no test is named for it: {sentence}")
                for key in phrases:
                    left.pop(key, None)
        self.assertEqual(left, {}, "nothing of the kind is promised any more")
        for (name, phrase), (path, sample) in self.TRIED.items():
            with open(os.path.join(ROOT, path)) as file:
                self.assertIn(sample, file.read(), f"{path} no longer tries what docs/{name} promises: {phrase}")


def refusing(name):
    """The sentences of a document that say that something is refused, each on one line."""
    with open(os.path.join(ROOT, "docs", name)) as file:
        text = re.sub(r"```.*?```", "", file.read(), flags=re.S)
    for paragraph in re.split(r"\n\s*\n|\n(?=[|*#])", text):
        for sentence in re.split(r"(?<=[.;:|])\s", " ".join(paragraph.split())):
            if re.search(r"\brefuse", sentence, re.I):
                yield sentence


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
