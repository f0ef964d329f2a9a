"""A stream of submissions, and what must be true of them whatever is killed or breaks meanwhile."""
import http.client
import os
import threading

from service import ServiceCase, contents, processes, words_of

# Each job leaves a token that it could not make a second time. (A shell ends at once where `:` cannot make its file.)
TOKEN = "set -C; true > tokens/$ROTA_JOB_NAME || { echo $ROTA_JOB_NAME >> twice; exit 9; }; sleep 0.0%d"


class Stream(threading.Thread):
    """Submits jobs until it is told to stop; where there is no answer it asks again with the same key."""

    def __init__(self, service, prefix, acknowledged):
        super().__init__()
        self.service, self.prefix, self.acknowledged, self.over = service, prefix, acknowledged, threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()

    def run(self):
        number = 0
        while not self.over.is_set():
            number += 1
            name = f"{self.prefix}-{number}"
            while not self.over.is_set():
                try:
                    status, answer = self.service.ask(
                        "POST", "/v1/jobs", {"command": ["/bin/sh", "-c", TOKEN % (number % 10)], "name": name,
                                             "folder": self.service.folder, "environment": ["PATH=/usr/bin:/bin"]},
                        {"Idempotency-Key": name})
                except (OSError, http.client.HTTPException):
                    self.over.wait(0.01)
                    continue
                if status == 503:
                    self.over.wait(0.01)
                    continue
                if status == 201:
                    self.acknowledged[name] = answer["id"]
                break


class Tokens(ServiceCase):
    """No acknowledged job is lost, and none runs twice."""
    configuration = 'name = "two"\nprocessors = 8\n'

    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "tokens"))
        self.acknowledged = {}  # names of jobs, and their ids
        self.streams = 0

    def stream(self):
        """Submits from here on; it is over when the `with` is."""
        self.streams += 1
        return Stream(self.service, f"token{self.streams}", self.acknowledged)

    def check(self):
        """Once all have ended; says in a few words how."""
        acknowledged = self.acknowledged
        self.assertGreater(len(acknowledged), 0)
        self.service.all_end()
        self.assertFalse(os.path.exists(os.path.join(self.folder, "twice")), "a job ran twice")
        tokens = set(os.listdir(os.path.join(self.folder, "tokens")))
        states = {}
        for name, job in acknowledged.items():
            row = self.service.job(job)
            self.assertEqual(row["name"], name)
            states[row["state"]] = states.get(row["state"], 0) + 1
            if row["state"] == "COMPLETED":
                self.assertIn(name, tokens, f"job {job} is said to have run, and did not")
            elif row.get("signal") != 9:  # it was killed itself, before it was what it should become
                self.assertEqual(row["state"], "NODE_FAIL", row)  # its supervisor was killed: that is the truth
        for name in tokens - acknowledged.keys():
            # submitted, and the answer did not arrive: the service must know of it all the same
            self.assertTrue(self.service.ask("GET", f"/v1/history?name={name}")[1]["jobs"], f"nobody knows {name}")
        return f"{len(acknowledged)} jobs acknowledged, {len(tokens)} ran: {states}"

    def helpers(self):
        """Processes of this service beside itself: spawner and supervisors, and jobs that are about to be."""
        return processes(lambda pid: b"supervise" in words_of(pid) and self.service.state.encode() in words_of(pid))

    def jobs(self):
        """Processes of its jobs."""
        mark = b"ROTA_RUN=" + self.service.state.encode() + b"/"
        return processes(lambda pid: mark in contents(f"/proc/{pid}/environ"))
