#!/usr/bin/env python3
"""What a service says will come, beside what comes. Usage: forecast_test.py ROTA"""
import json
import os
import select
import subprocess
import sys
import unittest

from service import ServiceCase, UnixConnection


class Forecast(ServiceCase):
    configuration = 'name = "one"\nprocessors = 2\n'

    def command(self, *words):
        return subprocess.run([self.rota, *words, "--socket", self.service.socket], capture_output=True,
                              text=True)

    def forecast(self, job, **query):
        text = "&".join(f"{name}={value}" for name, value in query.items())
        status, answer = self.service.ask("GET", f"/v1/forecast/{job}" + (f"?{text}" if text else ""))
        self.assertEqual(status, 200, answer)
        return answer

    def blocked(self, limit):
        """A job that runs until the file `go` is there, and one that waits behind it."""
        first = self.service.submit("until [ -e go ]; do sleep 0.02; done", processors=2, limit=limit)
        self.service.wait_for(lambda: self.service.job(first)["state"] == "RUNNING", "the first job to run")
        return first, self.service.submit("true", processors=2, limit=limit)

    def test_the_start_lies_between_now_and_the_limits(self):
        first, second = self.blocked(3600)
        third = self.service.submit("true", processors=2, limit=3600)
        answer = self.forecast(second, futures=400)
        self.assertEqual(answer["futures"], 400)
        self.assertEqual((answer["past_jobs"], answer["few_past_jobs"]), (0, True))
        by = answer["jobs"][0]["started_by"]
        began = self.service.job(first)["start"]
        self.assertGreater(by["5"], answer["now"])
        self.assertLess(by["95"], began + 3601)
        self.assertLess(by["25"] + 600, by["75"], "nobody knows how long the first takes")
        behind = self.forecast(third, futures=400)["jobs"][0]["started_by"]
        self.assertGreater(behind["50"], by["50"])
        self.assertEqual([job["id"] for job in self.service.ask("GET", "/v1/forecast")[1]["jobs"]], [second, third])
        # If it is asked again, the answer is the same, from its own now on.
        again = self.forecast(second, futures=400)
        self.assertAlmostEqual(again["jobs"][0]["started_by"]["50"] - began, by["50"] - began, delta=60)
        open(os.path.join(self.folder, "go"), "w").close()
        self.service.all_end()

    def test_jobs_that_never_use_their_limits_are_known_by_that(self):
        for _ in range(12):
            self.service.submit("sleep 0.2", processors=2, limit=3600)
        self.service.all_end()
        first, second = self.blocked(3600)
        third = self.service.submit("true", processors=2, limit=3600)
        answer = self.service.ask("GET", "/v1/forecast")[1]
        self.assertEqual(answer["past_jobs"], 12)
        # Once the one that runs has outlived all that is known anything up to its limit may come of it; but those
        # behind it are known to be short.
        late, behind = ({job["id"]: job["started_by"]["50"] for job in answer["jobs"]}[job] for job in (second, third))
        self.assertLess(behind - late, 300, "the second takes a fraction of its hour, as all before it did")
        open(os.path.join(self.folder, "go"), "w").close()
        self.service.all_end()

    def test_behind_a_job_without_a_limit_no_start_is_told_and_the_reason_is(self):
        service = self.service
        first = service.submit("until [ -e go ]; do sleep 0.02; done")  # on one of two processors
        service.wait_for(lambda: service.job(first)["state"] == "RUNNING", "the first job to run")
        second = service.submit("true", processors=2)
        third = service.submit("true", processors=2, limit=60)
        unknown = f"job {first} has no time limit; "
        for policy in ("easy", "fcfs", "conservative"):
            self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": policy})[0], 200)
            for job in (second, third):
                told = service.ask("GET", f"/v1/jobs/{job}/explain")[1]
                self.assertTrue(told["start_unknown"].startswith(unknown), told)
                self.assertEqual({"promise", "at_the_latest"} & set(told), set(), told)
                self.assertEqual([row for row in told["ahead"] if "expected_start" in row], [], told)
                self.assertEqual({"expected_start", "starts_by"} & set(service.job(job)), set())
                by = self.forecast(job)["jobs"][0]
                self.assertNotIn("promise", by)
                self.assertLess(by["started_by"]["50"], service.ask("GET", "/v1/status")[1]["now"] + 3600, by)
        said = self.command("explain", second).stdout
        self.assertIn(f"When it starts is not known: job {first} has no time limit", said)
        for words in (("explain", third), ("forecast",), ("forecast", second), ("queue", "-o", "%i %S"), ("job", third),
                      ("policy", "set", "--dry-run", "fcfs"), ("submit", "-n", "2", "--test-only", "--socket", service.socket,
                                                                "--", "true")):
            done = self.command(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(done.stdout, r"\b[3-9]\d{3}-\d\d-\d\d", words)
        self.assertIn("when, is not known: job", done.stdout)
        told = service.ask("POST", "/v1/policy/rehearsal", {"policy": "fcfs"})[1]
        self.assertEqual((told["waiting"], told["present"]["started"], told["proposed"]["started"]), (2, 0, 0), told)
        self.assertEqual({"mean_wait"} & (set(told["present"]) | set(told["proposed"])), set())
        self.assertTrue(told["start_unknown"].startswith(unknown), told)
        plan = service.ask("GET", "/v1/plan")[1]["waiting"]
        self.assertEqual([row["id"] for row in plan if {"expected_start", "starts_by"} & set(row)], [])
        self.assertEqual(service.act("update", first, limit=600)[0], 200)
        self.assertNotIn("start_unknown", service.ask("GET", f"/v1/jobs/{second}/explain")[1])
        open(os.path.join(self.folder, "go"), "w").close()
        service.all_end()

    def test_what_stands_still_is_named_where_it_keeps_starts_from_being_known(self):
        service = self.service
        first, second = self.blocked(600)
        self.assertEqual(service.act("suspend", first)[0], 200)
        service.wait_for(lambda: service.job(first)["state"] == "SUSPENDED", "it to stand still")
        told = service.ask("GET", f"/v1/jobs/{second}/explain")[1]
        self.assertIn(f"job {first} is suspended; `rota resume {first}`", told["start_unknown"])
        self.assertEqual(service.act("resume", first)[0], 200)
        open(os.path.join(self.folder, "go"), "w").close()
        service.all_end()

    def test_a_job_that_will_never_run_is_not_forecast(self):
        service = self.service
        first, _ = self.blocked(600)
        lost = service.submit("true", limit=60, after=[f"afternotok:{first}"])
        open(os.path.join(self.folder, "go"), "w").close()
        service.wait_for(lambda: service.job(lost)["reason"] == "DependencyNeverSatisfied", "its wait to be in vain")
        refused = self.command("forecast", lost)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn(f"job {lost} will never run: a job that it waits for has ended otherwise than it needs",
                      refused.stderr)
        service.wait_for(lambda: len(service.live()) == 1, "the others to end")
        self.assertEqual(self.command("forecast").stdout,
                         "No job waits for its turn.\nLeft out: 1 job held, or never to run; `rota queue` says which.\n")

    def test_the_command_tells_it_in_a_sentence_and_in_a_table(self):
        _, second = self.blocked(600)
        one = self.command("forecast", second)
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertRegex(one.stdout, rf"^Job {second} starts by \S+ in half of what may come, and by \S+ in nine")
        self.assertIn("no past jobs are known", one.stdout)
        self.assertIn("Warning: that is too little to draw futures from", one.stdout)
        every = self.command("forecast", "--futures", "50")
        self.assertRegex(every.stdout, r"^JOB +USER +NAME +CPUS")
        self.assertIn("50 futures rehearsed", every.stdout)
        held = self.service.submit("true", limit=60, held=True)
        refused = self.command("forecast", held)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn(f"job {held} is held: it starts when it is released.", refused.stderr)
        missing = self.command("forecast", "99")
        self.assertIn("there is no job 99.", missing.stderr)
        nodes = self.command("nodes", "--forecast", "--hours", "2")
        self.assertEqual(nodes.returncode, 0, nodes.stderr)
        self.assertEqual(len(nodes.stdout.split("\n\n")[0].splitlines()), 3, nodes.stdout)
        self.service.act("release", held)
        open(os.path.join(self.folder, "go"), "w").close()
        self.service.all_end()
        self.assertEqual(self.command("forecast").stdout, "No job waits.\n")

    def test_forecasts_that_came_true_teach_how_to_read_the_next_also_after_a_restart(self):
        go = os.path.join(self.folder, "go")
        for true in range(42):
            _, second = self.blocked(600)
            self.assertEqual(self.forecast(second, futures=20)["learned_from"], true if true >= 40 else 0)
            open(go, "w").close()
            self.service.all_end()
            os.remove(go)
        _, second = self.blocked(600)
        self.assertEqual(self.forecast(second, futures=20)["learned_from"], 42)
        self.service.stop()
        self.service.start()
        self.assertEqual(self.forecast(second, futures=20)["learned_from"], 42)
        open(go, "w").close()
        self.service.all_end()

    def heard_meanwhile(self):
        """Whether others are answered while a forecast is made."""
        connection = UnixConnection(self.service.socket)
        try:
            connection.request("GET", "/v1/forecast?futures=10000")
            for _ in range(3):  # by the second at the latest the service has read what was asked first
                self.assertEqual(self.service.ask("GET", "/healthz")[0], 200)
            meanwhile = not select.select([connection.sock], [], [], 0)[0]
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        self.assertGreater(answer["futures"], 0)
        self.assertEqual(len(answer["jobs"]), 101)
        return meanwhile

    def test_the_service_goes_on_while_futures_are_rehearsed(self):
        _, second = self.blocked(3600)
        for _ in range(100):
            self.service.submit("true", processors=1, limit=600)
        for _ in range(10):  # that this test does not get its turn for as long as a forecast takes happens now and then
            if self.heard_meanwhile():
                break
        else:
            self.fail("others are answered only once a forecast is there")
        open(os.path.join(self.folder, "go"), "w").close()
        self.service.all_end()

    def eight_at_once(self):
        """The statuses of the answers, and what those say that are refused."""
        wires = [UnixConnection(self.service.socket) for _ in range(8)]
        for wire in wires:
            wire.request("GET", "/v1/forecast?futures=10000")
        answers = [wire.getresponse() for wire in wires]
        details = {json.loads(answer.read())["detail"] for answer in answers if answer.status == 503}
        for wire in wires:
            wire.close()
        return {answer.status for answer in answers}, details

    def test_one_user_has_only_so_many_made_at_a_time(self):
        self.blocked(3600)
        for _ in range(20):
            self.service.submit("true", limit=3600)
        for _ in range(10):  # that this test has no turn for as long as four forecasts take happens now and then
            statuses, details = self.eight_at_once()
            if statuses == {200, 503}:
                break
        self.assertEqual(statuses, {200, 503})
        self.assertEqual(details, {"four forecasts are being made for you already; ask again in a moment."})
        self.assertEqual(self.service.ask("GET", "/v1/forecast?futures=1")[0], 200)
        open(os.path.join(self.folder, "go"), "w").close()
        self.service.all_end()


class Power(ServiceCase):
    """Nodes that tell what they draw."""
    configuration = ('name = "four"\n[[nodes]]\nnames = "n[1-4]"\nprocessors = 1\nwatts_idle = 100\n'
                     'watts_busy = 50\n')

    def test_nodes_and_watts_are_told_by_hour(self):
        service = self.service
        job = service.submit("until [ -e go ]; do sleep 0.02; done", processors=2, limit=2 * 3600)
        service.wait_for(lambda: service.job(job)["state"] == "RUNNING", "the job to run")
        status, answer = service.ask("GET", "/v1/forecast/nodes?hours=3&futures=200")
        self.assertEqual(status, 200, answer)
        looks = answer["looks"]
        self.assertEqual(len(looks), 3)
        self.assertEqual(looks[2]["allocated"], {"5": 0, "50": 0, "95": 0}, "the limit is over by then")
        self.assertEqual(looks[0]["nodes_on"]["50"], 4)
        self.assertGreater(looks[0]["watts"]["50"], 400, "four idle nodes draw that, and two work for a while")
        self.assertEqual(looks[2]["watts"]["50"], 400)
        open(os.path.join(self.folder, "go"), "w").close()
        service.all_end()


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
