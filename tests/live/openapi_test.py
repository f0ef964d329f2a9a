#!/usr/bin/env python3
"""The document of the interface against the service itself: every operation is asked, and every answer has the shape that
the document gives it, errors too. Usage: openapi_test.py ROTA"""
import json
import os
import re
import sys
import unittest

try:
    import jsonschema
except ImportError:
    print("skipped: the Debian package python3-jsonschema is not installed")
    sys.exit(77)

from network import NetworkCase
from service import PATIENCE, ServiceCase, UnixConnection

MACHINE = """name = "small"
licences = "matlab:2"
[[nodes]]
names = "n[1-2]"
processors = 2
memory = "4G"
boot_time = "1s"
suspend_command = "true"
resume_command = "true"
[[partitions]]
name = "low"
nodes = "n[1-2]"
default = true
max_time = "1d"
default_time = "1h"
"""


def closed(schema, schemas):
    """The schema, with objects that have no members but those that are named: what is not in the document is found. All
    parts of one that has several (`allOf`, some of them by name among `schemas`) are put together."""
    if isinstance(schema, list):
        return [closed(item, schemas) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "allOf" in schema:
        parts = [schemas[part["$ref"].rpartition("/")[2]] if "$ref" in part else part for part in schema["allOf"]]
        schema = {"type": "object", "required": [name for part in parts for name in part["required"]],
                  "properties": {name: value for part in parts for name, value in part["properties"].items()}}
    out = {name: closed(value, schemas) for name, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        out["additionalProperties"] = False
    return out


class Document(NetworkCase):
    tls = False
    machine = MACHINE
    seen = set()  # (method, path, status) of every answer that was looked at

    def setUp(self):
        super().setUp()
        self.document = self.service.ask("GET", "/v1/openapi.json")[1]
        self.strict = closed(self.document, self.document["components"]["schemas"])

    def template(self, path):
        """The path of the document that a path is one of: the one that says most of it."""
        fits = [p for p in self.document["paths"] if re.fullmatch(re.sub("{[^}]*}", "[^/]+", p), path)]
        return min(fits, key=lambda p: p.count("{"), default=None)

    def check(self, method, path, status, kind, text):
        """That an answer is as the document says; gives what is in it."""
        template = self.template(path.partition("?")[0])
        operation = self.document["paths"].get(template, {}).get(method.lower())
        answer = operation["responses"].get(str(status)) if operation else None
        if answer is None:
            answer = self.document["components"]["responses"].get(str(status))
            self.assertTrue(operation is None and answer, f"{status} of {method} {path} is not in the document: {text}")
        while "$ref" in answer:
            answer = self.document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
        (documented, content), = answer["content"].items()
        self.assertEqual(kind.partition(";")[0], documented, f"{method} {path} {status}")
        self.seen.add((method.lower(), template, str(status)))
        if "json" not in kind:
            return text
        value = json.loads(text)
        resolver = jsonschema.RefResolver("", self.strict)
        strict = closed(content["schema"], self.document["components"]["schemas"])
        jsonschema.Draft202012Validator(strict, resolver=resolver).validate(value)
        return value

    def get(self, path, status=200, method="GET", body=None, headers=None):
        connection = UnixConnection(self.service.socket)
        connection.request(method, path, None if body is None else body if isinstance(body, str) else json.dumps(body),
                           headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        self.assertEqual(answer.status, status, f"{method} {path}: {text}")
        return self.check(method, path, status, answer.getheader("Content-Type"), text)

    def post(self, path, body, status=200, headers=None):
        return self.get(path, status, "POST", body, headers)

    def job(self, command="true", **members):
        return {"command": ["/bin/sh", "-c", command], "folder": self.folder, "environment": ["PATH=/usr/bin:/bin"], **members}

    def sent(self, path, method, body):
        """That a body is as the document says."""
        schema = self.document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.Draft202012Validator(schema, resolver=jsonschema.RefResolver("", self.document)).validate(body)

    def jobs_of_all_kinds(self):
        whole = self.job("echo hello; sleep 1000", name="whole", output="o", error="e", input="/dev/null", append=True, umask=18,
                         processors=2, nodes=1, memory=1 << 20, licence="matlab", licences=1, partition="low", limit=600,
                         priority=1, requeue=True, warning_signal="USR1", warning_time=5, kill_wait=1, comment="all of it",
                         account="physics", qos="high",
                         tasks=2, tasks_per_node=2)
        self.sent("/v1/jobs", "post", whole)
        running = self.post("/v1/jobs", whole, 201)["id"]
        array = self.job(array="1-3%1", processors=4, after=[f"afterany:{running}"])
        more = self.job(held=True, begin=4e9)
        self.sent("/v1/jobs", "post", [array, more])
        several = self.post("/v1/jobs", [array, more], 201, {"Idempotency-Key": "k"})
        self.post("/v1/jobs", self.job(dry_run=True))
        ended = [self.post("/v1/jobs", self.job(c), 201)["id"] for c in ("true", "exit 3", "kill -9 $$")]
        for job in ended:
            self.service.ends(job)
        self.service.wait_for(lambda: self.service.job(running)["state"] == "RUNNING", "its start")
        return running, several[0]["id"], several[1]["id"], ended

    def test_every_operation_answers_as_it_says(self):
        running, array, held, ended = self.jobs_of_all_kinds()
        for job in (running, f"{array}_2", held, *ended, "last"):
            for part in ("", "/explain", "/script", "/environment"):
                self.get(f"/v1/jobs/{job}{part}")
        for path in (f"/v1/jobs/{running}/output", f"/v1/jobs/{ended[0]}/output?from=0&stream=error", "/v1/jobs",
                     "/v1/jobs?ended=yes&limit=2", "/v1/jobs?state=PENDING,RUNNING&partition=low", "/v1/history",
                     "/v1/history?state=FAILED,COMPLETED&limit=1", "/v1/history?by=user", "/v1/history?by=month", "/v1/nodes",
                     "/v1/partitions", "/v1/licences", "/v1/sites", "/v1/reservations", "/v1/policy", "/v1/status", "/v1/openapi.json", "/metrics", "/healthz", "/",
                     "/v1/plan?limit=3&find=whole", "/v1/shadow?since=0", "/v1/modes", "/v1/forecast?futures=3", f"/v1/forecast/{array}_2?futures=3",
                     "/v1/forecast/nodes?hours=2&futures=3"):
            self.get(path)
        for action, body in (("suspend", {}), ("resume", {}), ("hold", {}), ("release", {}), ("requeue", {}),
                             ("cancel", {"signal": "CONT"}), ("update", {"limit": 60, "priority": 0, "throttle": 1, "licence": "matlab", "licences": 1,
                                         "more_licences": [], "name": "other", "processors": 1, "nodes": 1, "memory": 0,
                                         "tasks": 1, "tasks_per_node": 1})):
            body = {"ids": held if action in ("hold", "release", "update") else running, **body}
            self.sent(f"/v1/jobs/{action}", "post", body)
            status, text = self.service.ask("POST", f"/v1/jobs/{action}", body)
            self.check("POST", f"/v1/jobs/{action}", status, "application/json", json.dumps(text))
            self.post(f"/v1/jobs/{action}", {"ids": ended[0]}, 207)
        for action in ("drain", "down", "resume"):
            body = {"nodes": "n2", "reason": "a test"}
            self.sent(f"/v1/nodes/{action}", "post", body)
            self.post(f"/v1/nodes/{action}", body)
            self.get("/v1/nodes")
        self.post("/v1/nodes/power-down", {"nodes": "n2"})
        self.service.wait_for(lambda: self.get("/v1/nodes")["nodes"][1]["power"] == "off", "n2 to sleep")
        self.post("/v1/nodes/power-up", {"nodes": "n2"})
        body = {"start": 4e9, "duration": 3600, "nodes": "n2", "name": "course"}
        self.sent("/v1/reservations", "post", body)
        made = self.post("/v1/reservations", body, 201, {"Idempotency-Key": "r"})
        self.assertEqual(self.post("/v1/reservations", body, 201, {"Idempotency-Key": "r"}), made)
        self.get("/v1/reservations")
        self.get("/v1/reservations/course", method="DELETE")
        card = {"address": "127.0.0.1:1", "epoch": "e", "token": "0123456789abcdef", "weight": 2, "period": 60, "state": {"done": 1}}
        self.sent("/v1/accelerators/{node}", "put", card)
        self.get("/v1/accelerators/n1", method="PUT", body=card)
        self.get("/v1/accelerators")
        self.get("/v1/accelerators/n2")
        self.get("/v1/accelerators/n2?rack=yes")
        self.get("/v1/accelerators/n1?epoch=e", method="DELETE")
        self.post("/v1/policy/rehearsal", {"policy": "conservative"})
        self.get("/v1/configuration/reload", method="POST")
        self.get("/v1/policy", method="PUT", body={"policy": "conservative"})
        self.sent("/v1/policy", "put", {"policy": "easy"})
        self.sent("/v1/tokens", "post", {"read_only": True, "operator": False, "life": 60, "comment": "x"})
        token = self.post("/v1/tokens", {"read_only": True, "comment": "x"}, 201)
        self.get("/v1/tokens")
        self.get(f"/v1/tokens/{token['id']}", method="DELETE")
        self.page_session()
        self.event_stream()
        self.refusals(ended[0])
        asked = {(method, path) for method, path, status in self.seen if status.startswith("2")}
        documented = {(method, path) for path, operations in self.document["paths"].items() for method in operations}
        self.assertEqual(documented - asked, set(), "in the document, and not asked here")
        self.assertEqual(asked - documented, set())

    def page_session(self):
        self.sent("/v1/page-codes", "post", {"operator": True})
        code = self.post("/v1/page-codes", {"operator": True}, 201)["address"].partition("#code=")[2]
        for status in (201, 401):
            answered, answer, headers = self.ask("POST", "/v1/page-sessions", code)
            self.assertEqual(answered, status, answer)
            self.check("POST", "/v1/page-sessions", status, headers["Content-Type"], json.dumps(answer))
        self.get("/v1/page-sessions", 403, "POST")

    def event_stream(self):
        connection = UnixConnection(self.service.socket)
        connection.request("GET", "/v1/events?after=0")
        answer = connection.getresponse()
        self.check("GET", "/v1/events", answer.status, answer.getheader("Content-Type"), answer.readline().decode())
        connection.close()

    def refusals(self, ended):
        """Each kind of error is one of RFC 9457, and in the document."""
        for path in ("/v1/jobs?limit=x", "/v1/jobs?ids=x", "/v1/history?from=x", "/v1/history?by=x", "/v1/events?after=x",
                     f"/v1/jobs/{ended}/output?from=x"):
            self.get(path, 400)
        for path in ("/v1/jobs/999", "/v1/jobs/999/explain", "/v1/jobs/x/script", "/v1/jobs/7_9/environment",
                     "/v1/jobs/999/output", "/nowhere", "/v1", "/v1/jobs/1/2", "/v1/forecast/999"):
            self.get(path, 404)
        for path in ("/v1/jobs", "/v1/jobs/cancel", "/v1/jobs/update", "/v1/nodes/drain", "/v1/tokens",
                     "/v1/reservations", "/v1/page-codes"):
            self.post(path, "{", 400)
            self.post(path, {"odd": 1}, 400)
        self.post("/v1/jobs/cancel", {"ids": "name=nobody"}, 404)
        self.get("/v1/policy", 400, "PUT", {"policy": "odd"})
        self.get("/v1/tokens/1", 404, "DELETE")
        self.get("/v1/reservations/course", 404, "DELETE")
        for method, path in (("PATCH", "/v1/jobs"), ("POST", "/healthz"), ("GET", "/v1/nodes/drain"), ("POST", "/v1/jobs/1")):
            self.get(path, 404 if path == "/v1/nodes/drain" and self.template(path) is None else 405, method)
        for token, method, path, wanted in ((None, "GET", "/v1/jobs", 401), (self.token(), "PUT", "/v1/policy", 403),
                                            (self.token("--read-only"), "POST", "/v1/jobs", 403),
                                            (self.token(), "GET", "/v1/tokens", 403)):
            status, answer, headers = self.ask(method, path, token, {"policy": "fcfs"})
            self.assertEqual(status, wanted, answer)
            self.check(method, path, status, headers["Content-Type"], json.dumps(answer))
        large = {"Content-Length": str(17 << 20)}
        connection = UnixConnection(self.service.socket)
        connection.putrequest("POST", "/v1/jobs")
        connection.putheader("Content-Length", large["Content-Length"])
        connection.endheaders()
        answer = connection.getresponse()
        self.assertEqual(answer.status, 413)
        self.check("POST", "/v1/jobs", 413, answer.getheader("Content-Type"), answer.read().decode())
        connection.close()

    def test_the_document_is_sound(self):
        self.assertEqual(self.document["openapi"], "3.1.0")
        names = set()
        for path, operations in self.document["paths"].items():
            for operation in operations.values():
                self.assertNotIn(operation["operationId"], names)
                names.add(operation["operationId"])
                inside = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
                self.assertEqual(inside, set(re.findall("{([^}]*)}", path)), path)
        for schema in self.document["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
