#!/usr/bin/env python3
"""A selector means the same jobs in every command: `last`, `me`, states by their letters, those that have ended, and those
that never were. Usage: selectors_test.py ROTA"""
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import unittest

from service import PATIENCE, ServiceCase, named_users

OTHER = named_users()[0].pw_name


class Selectors(ServiceCase):
    configuration = 'name = "one"\n[[nodes]]\nnames = "n1"\nprocessors = 4\n'

    def rota_says(self, *arguments, code=0):
        """What a command writes, and its errors behind that."""
        done = subprocess.run([self.rota, *arguments], capture_output=True, text=True, timeout=PATIENCE, cwd=self.folder,
                              env={"PATH": os.environ["PATH"], "HOME": self.folder, "ROTA_SOCKET": self.service.socket})
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def ids(self, *arguments):
        return self.rota_says("queue", "-r", "--noheader", "-o", "%i", *arguments).partition("rota: no job meets")[0].split()

    def state(self, job):
        return self.service.job(job)["state"]

    def ended(self, ids, **query):
        """The ids of a list with those that have ended."""
        more = "".join(f"&{name}={value}" for name, value in query.items())
        status, answer = self.service.ask("GET", f"/v1/jobs?ended=yes&ids={ids}{more}")
        self.assertEqual(status, 200, answer)
        return [row["id"] for row in answer["jobs"]]

    def test_last_is_the_whole_array_in_every_command(self):
        array = self.service.submit("true", array="1-3", held=True, name="sweep")
        tasks = [f"{array}_{index}" for index in (1, 2, 3)]
        self.assertEqual(self.ids("last"), tasks)
        self.assertEqual(self.service.job("last")["id"], tasks[0])
        self.rota_says("update", "last", "--limit", "10m")
        self.assertEqual({self.service.job(task)["limit"] for task in tasks}, {600.0})
        self.rota_says("release", f"{array}_1")
        self.service.ends(tasks[0])
        self.rota_says("release", "last")
        for task in tasks:
            self.service.ends(task)
        self.assertEqual(sorted(re.findall(r"^\S+", self.rota_says("history", "--noheader", "last"), re.M)), tasks)
        array = self.service.submit("sleep 1000", array="1-3", held=True)
        self.rota_says("release", "last")
        self.service.wait_for(lambda: {self.state(f"{array}_{i}") for i in (1, 2, 3)} == {"RUNNING"}, "all tasks to run")
        self.rota_says("cancel", "last")
        for index in (1, 2, 3):
            self.assertEqual(self.service.ends(f"{array}_{index}")["state"], "CANCELLED")
        self.service.wait_for(lambda: self.service.act("hold", "last")[0] == 207, "the service to forget them")
        self.assertEqual([row["detail"] for row in self.service.act("hold", "last")[1]["jobs"]],
                         [f"job {array} has ended already."])

    def test_what_a_change_of_many_has_done_is_no_mistake(self):
        """More than are changed at once: those of before are forgotten when the last one is changed."""
        array = self.service.submit("true", array="1-2600", held=True)
        status, answer = self.service.act("cancel", f"{array}_[1-1200],{array}_[1300-2600],{array}_9000")
        wrong = [row for row in answer["jobs"] if not row["done"]]
        self.assertEqual(wrong, [{"id": f"{array}_9000", "done": False, "detail": f"there is no job {array}_9000."}])
        self.assertEqual((status, len(answer["jobs"])), (207, 1002))
        self.assertEqual(answer["jobs"][1000]["more"], 1501)

    def test_of_many_jobs_only_some_are_told_one_by_one(self):
        """Jobs that were not changed as well as jobs that were."""
        array = self.service.submit("true", array="1-2200", held=True)
        status, answer = self.service.act("suspend", array)
        self.assertEqual((status, len(answer["jobs"])), (207, 1001))
        self.assertEqual(answer["jobs"][-1], {
            "id": array, "done": False, "more": 1200,
            "detail": f"1,200 more jobs were not changed; of the last of them: job {array}_1 does not run."})
        status, answer = self.service.act("cancel", array)
        self.assertEqual((status, len(answer["jobs"])), (200, 1001))
        self.assertEqual(answer["jobs"][-1], {"id": array, "done": True, "more": 1200})

    def test_so_many_tasks_that_have_ended_are_not_looked_up(self):
        for _ in range(3):
            self.service.submit("true")
        self.service.all_end()
        self.service.stop()
        other = "name, user, user_group, partition, state, reason, nodes, processors, node_count, memory, submitted, " \
            "started, ended, time_limit, waited, exit_code, signal, restarts, uid, backfills, preemptions, asked, cpu_time, " \
            "used_in, peak_memory"
        database = sqlite3.connect(os.path.join(self.service.state, "rota.db"))
        with database:  # job 2 has become an array of very many
            database.execute(f"INSERT OR REPLACE INTO history(job, number, array, array_index, {other}) WITH RECURSIVE n(i) AS "
                             f"(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100002) SELECT i, i + 1, 2, i - 1, {other} "
                             "FROM n, history WHERE number = 1")
        database.close()
        self.service.start()
        said = "so many tasks that have ended are not looked up one by one; name those of one array at a time."
        status, answer = self.service.act("hold", "2_100001,3_1")
        self.assertEqual((status, answer.get("detail")), (400, said))
        status, answer = self.service.ask("GET", "/v1/jobs?ids=2_100001,3_1")
        self.assertEqual((status, answer.get("detail")), (400, said))
        status, answer = self.service.act("hold", "2_100001")
        self.assertEqual([row["detail"] for row in answer["jobs"]], ["job 2_100001 has ended already."])
        status, answer = self.service.act("hold", "2_9,3_1")
        self.assertEqual([row["detail"] for row in answer["jobs"]], ["job 2_9 has ended already.", "there is no job 3_1."])
        self.assertEqual(self.service.job("2_70000")["id"], "2_70000")

    def test_waiting_for_the_last_waits_for_all_of_an_array(self):
        self.rota_says("submit", "--array", "1-3", "--", "sh", "-c", "[ $ROTA_ARRAY_TASK_ID != 1 ] || exit 9")
        self.rota_says("wait", "last", code=9)

    def test_wait_names_jobs_that_did_not_end_well(self):
        self.assertRegex(self.rota_says("submit", "--wait", "-t", "1s", "--wrap", "sleep 100", code=143),
                         r"rota: job \d+ is TIMEOUT\b")
        job = self.service.submit("sleep 100", processors=4)
        following = subprocess.Popen([self.rota, "wait", job], stderr=subprocess.PIPE, text=True,
                                     env={**os.environ, "ROTA_SOCKET": self.service.socket})
        self.service.wait_for(lambda: self.state(job) == "RUNNING", "it to run")
        self.rota_says("cancel", job)
        self.assertIn(f"rota: job {job} is CANCELLED", following.communicate(timeout=PATIENCE)[1])
        self.assertEqual(following.returncode, 143)
        told = json.loads(self.rota_says("submit", "--wait", "--json", "-t", "1h", "--wrap", "exit 3", code=3))
        self.assertEqual([(row["id"], row["exit_code"]) for row in told["ended"]], [(told["id"], 3)])

    def test_what_was_done_is_told_beside_what_was_not(self):
        jobs = [self.service.submit("true", held=True) for _ in range(2)]
        self.assertEqual(self.rota_says("cancel", ",".join([*jobs, "9999"]), code=1),
                         "rota: there is no job 9999.\nrota: Done to the other 2 jobs.\n")

    def test_a_node_that_is_taken_down_tells_what_becomes_of_its_jobs(self):
        ends = self.service.submit("sleep 1000", requeue=False)
        again = self.service.submit("sleep 1000", requeue=True)
        self.service.wait_for(lambda: self.state(ends) == self.state(again) == "RUNNING", "both to run")
        self.assertEqual(self.rota_says("nodes", "down", "all", "--reason", "smoke"),
                         f"rota: What ran there starts over: {again}.\n"
                         f"rota: What ran there and may not start over is ended: {ends}.\n")
        self.assertEqual(self.service.ends(ends)["state"], "CANCELLED")
        self.assertIn("Node n1 was taken down by", self.service.job(ends)["message"])
        self.service.wait_for(lambda: self.state(again) == "PENDING", "the other to wait")
        self.assertEqual(self.rota_says("nodes", "resume", "all"), "")
        self.rota_says("cancel", again)
        self.service.ends(again)

    def test_times_that_may_be_meant_otherwise_are_remarked(self):
        self.assertIn("rota: -t (--limit) 30 is 30 seconds; with a letter behind it, as in 30m, it is minutes.\n",
                      self.rota_says("submit", "-t", "30", "--wrap", "true"))
        self.assertNotIn("seconds", self.rota_says("submit", "-t", "30s", "--wrap", "true"))
        self.assertIn("rota: --begin now-1hour has passed, so that it holds nothing back.\n",
                      self.rota_says("submit", "--begin", "now-1hour", "--wrap", "true"))
        self.service.all_end()

    def test_the_forecast_of_the_last_is_of_all_of_an_array(self):
        self.service.submit("sleep 1000", processors=4, limit=1000)
        self.service.submit("true", array="1-2", limit=60)
        self.assertEqual(len(json.loads(self.rota_says("forecast", "last", "--json"))["jobs"]), 2)

    def test_wait_names_ids_that_no_job_has(self):
        job = self.service.submit("true")
        array = self.service.submit("true", array="1-2")
        self.assertEqual(self.rota_says("wait", job, "99999", code=1), "rota: there is no job 99999.\n")
        self.assertEqual(self.rota_says("wait", f"{array}_2,{array}_7", code=1), f"rota: there is no job {array}_7.\n")
        self.assertEqual(self.rota_says("wait", job, array), "")
        self.rota_says("cancel", f"{array}_2,{array}_7", code=1)
        self.assertEqual({row["id"]: row["detail"] for row in self.service.act("cancel", f"{array}_2,{array}_7")[1]["jobs"]},
                         {f"{array}_2": f"job {array}_2 has ended already.", f"{array}_7": f"there is no job {array}_7."})

    def test_of_tasks_that_have_ended_only_those_that_were_are_told(self):
        array = self.service.submit("true", array="2-6")
        self.service.all_end()
        self.service.wait_for(lambda: [row["id"] for row in self.service.act("hold", array)[1].get("jobs", [])] == [array],
                              "the service to forget them")
        for asked, said in (("3-9", f"job {array}_[3-6] has ended already; there is no job {array}_[7-9]."),
                            ("0-9", f"job {array}_[2-6] has ended already; there is no job {array}_[0-1], {array}_[7-9]."),
                            ("6-7", f"job {array}_6 has ended already; there is no job {array}_7."),
                            ("7-9", f"there is no job {array}_[7-9]."), ("2-6", f"job {array}_[2-6] has ended already.")):
            self.assertEqual(self.rota_says("cancel", f"{array}_[{asked}]", code=1), f"rota: {said}\n")

    def test_a_forecast_tells_unknown_jobs_from_those_that_have_ended_or_run(self):
        array = self.service.submit("true", array="1-2")
        self.service.all_end()
        runs = self.service.submit("sleep 1000")
        self.service.wait_for(lambda: self.state(runs) == "RUNNING", "the job to run")
        for job, said in (("99", "there is no job 99."), (f"{array}_7", f"there is no job {array}_7."),
                          (f"{array}_2", f"job {array}_2 has ended already."), (runs, f"job {runs} has started already.")):
            self.assertEqual(self.rota_says("forecast", job, code=1), f"rota: {said}\n")
        self.assertRegex(self.rota_says("forecast", array, code=1), rf"^rota: job {array}(_1)? has ended already\.$")

    def test_the_history_tells_of_ids_that_no_job_has(self):
        job = self.service.submit("true")
        self.service.all_end()
        said = self.rota_says("history", "--noheader", f"{job},98,99", code=1)
        self.assertRegex(said, rf"^{job} .*\nrota: there is no job 98\.\nrota: there is no job 99\.\n$")
        self.assertIn("there is no partition", self.rota_says("history", "-p", "nosuch", code=1))
        self.rota_says("history", job)
        array = self.service.submit("true", array="1-3")
        self.service.all_end()
        self.assertIn(f"there is no job {array}_[4-5].", self.rota_says("history", f"{array}_[1-5]", code=1))
        for word in ("user=nobody-else", "partition=nosuch"):
            self.assertRegex(self.rota_says("queue", "--noheader", word, code=1), "^rota: .* (knows )?no (user|partition) ")

    def test_jobs_that_have_ended_are_found_by_what_they_are(self):
        well, wrong = self.service.submit("true", name="wide"), self.service.submit("false", name="narrow")
        self.service.all_end()
        waits = self.service.submit("true", name="wide", held=True)
        me = self.service.job(waits)["user"]
        for selector, meant in (("name=wide", [well, waits]), (f"user={me}", [well, wrong, waits]), (f"user={OTHER}", []),
                                ("state=failed", [wrong]), ("state=F,name=wide", []), ("all", [well, wrong, waits]),
                                (f"{well}-{wrong},name=narrow", [wrong])):
            with self.subTest(selector=selector):
                self.assertEqual(self.ended(selector), meant)
                self.assertEqual(self.ids(selector, "-t", "all"), meant)
        self.assertEqual(self.ids("state=F"), [wrong])
        self.assertEqual(self.ended("name=wide", state="CD"), [well])
        self.assertEqual(self.ended("name=wide,name=narrow", name="narrow,none"), [wrong])

    def test_states_are_known_by_letters_and_names(self):
        waits = self.service.submit("true", held=True)
        runs = self.service.submit("sleep 1000")
        self.service.wait_for(lambda: self.state(runs) == "RUNNING", "the job to run")
        for selector in ("state=running", "state=R", "state=r,state=cf"):
            self.assertEqual(self.ids(selector), [runs])
        self.assertIn('"bogus" is no state of a job', self.rota_says("queue", "state=bogus", code=1))
        self.assertEqual([row["id"] for row in self.service.ask("GET", "/v1/jobs?state=pd")[1]["jobs"]], [waits])
        self.rota_says("cancel", "state=PD")
        self.assertEqual(self.state(waits), "CANCELLED")
        self.assertEqual(self.state(runs), "RUNNING")

    def test_me_is_the_caller_and_a_number_is_a_users(self):
        job = self.service.submit("true", held=True)
        for words in (("user=me",), ("-u", "me"), ("--me",), (f"user={os.getuid()}",), ("-u", f"{os.getuid()},{OTHER}")):
            self.assertEqual(self.ids(*words), [job], words)
        self.assertEqual(self.ids("user=65533"), [])
        self.rota_says("cancel", "user=me")
        self.service.ends(job)
        for words in (("user=me",), ("--me",), (f"user={os.getuid()}",)):
            self.assertIn(f"\n{job} ", "\n" + self.rota_says("history", "--noheader", *words), words)

    def test_few_users_are_looked_up_by_number(self):
        job = self.service.submit("true", held=True)
        many = ",".join(str(uid) for uid in range(65000, 65011))
        parts = ",".join(f"user={uid}" for uid in range(65000, 65011))
        for target in (f"/v1/history?user={many}", f"/v1/jobs?user={many}", f"/v1/history?ids={parts}",
                       f"/v1/jobs?ended=yes&ids={parts}"):
            status, answer = self.service.ask("GET", target)
            self.assertEqual((status, answer.get("detail")),
                             (400, "at most 10 users are asked for by number; call them by their names."), target)
        self.assertEqual(self.service.ask("GET", f"/v1/history?user={many[:-6]},65000,me")[0], 200)
        self.assertEqual(self.ids(f"{parts},user={os.getuid()}"), [job], "a job that is known has its user's number")

    def test_the_history_takes_several_users_names_and_partitions(self):
        jobs = [self.service.submit("true", name=name) for name in ("a", "b", "c", "b,c")]
        self.service.all_end()

        def found(*words):
            return sorted(re.findall(r"^\d+", self.rota_says("history", "--noheader", *words), re.M), key=int)
        self.assertEqual(found("--name", "a,b"), jobs[:2])
        self.assertEqual(found("--name", "b,c"), jobs[1:], "a name may have a comma, too")
        me = self.service.job(jobs[0])["user"]
        self.assertEqual(found("-u", f"{me},{OTHER}"), jobs)
        self.assertIn('knows no user "nobody-else"', self.rota_says("history", "--noheader", "-u", f"{OTHER},nobody-else", code=1))
        self.assertEqual(found("user=me", f"user={OTHER}", "name=a", "name=c"), [jobs[0], jobs[2]])
        self.assertEqual(found(f"user={OTHER}", "--me"), [])
        self.assertIn(me, self.rota_says("history", "--by", "user", "--name", "a,b").split())

    def test_a_command_that_follows_a_job_waits_for_a_service_that_is_replaced(self):
        service = self.service

        def begun(*words):
            return subprocess.Popen([self.rota, *words], env=dict(os.environ, ROTA_SOCKET=service.socket),
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        follows = [begun("submit", "--wait", "-t", "1h", "-D", self.folder, "--", "sh", "-c",
                         "echo up; until [ -e go ]; do sleep 0.05; done; echo out; exit 7")]
        service.wait_for(service.live, "the job")
        follows.append(begun("logs", "-f", "1"))
        self.assertEqual(follows[1].stdout.readline(), "up\n")
        service.stop()
        said = follows[0].stderr.readline()
        self.assertRegex(said, "^rota: The service at .* is away; waiting for it.$")
        service.start()
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        ends = [(one.communicate(timeout=PATIENCE), one.returncode) for one in follows]
        self.assertEqual([code for _, code in ends], [7, 0], ends)
        self.assertEqual(ends[1][0][0], "out\n")

    def test_the_history_gives_those_that_ended_last(self):
        slow = self.service.submit("until [ -e go ]; do sleep 0.05; done")
        quick = [self.service.submit("true") for _ in range(3)]
        for job in quick:
            self.service.ends(job)
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.service.ends(slow)
        said = self.rota_says("history", "--limit", "2", "--noheader")
        self.assertEqual(re.findall(r"^\d+", said, re.M)[-1], slow)
        self.assertIn("rota: there are more; these are the latest 2 to end.", said)
        rows, after = [], ""
        while after is not None:
            answer = self.service.ask("GET", f"/v1/history?limit=1{after}")[1]
            rows += [row["id"] for row in answer["jobs"]]
            after = f"&after={answer['next']}" if "next" in answer else None
        self.assertEqual((rows[0], sorted(rows)), (slow, sorted([slow, *quick])))
        self.assertEqual(self.service.ask("GET", "/v1/history?limit=1&ids=user%3Dme")[1]["jobs"][0]["id"], slow)

    def test_a_browser_that_connects_again_goes_on_where_it_was(self):
        self.service.ends(self.service.submit("true"))
        last = self.service.ask("GET", "/v1/plan")[1]["sequence"]
        with socket.socket(socket.AF_UNIX) as stream:
            stream.settimeout(PATIENCE)
            stream.connect(self.service.socket)
            stream.sendall(b"GET /v1/events?after=0 HTTP/1.1\r\nHost: rota\r\nLast-Event-ID: %d\r\n\r\n" % last)
            text = b""
            while b"on\n\n" not in text:
                text += stream.recv(65536)
        self.assertIn(b": from %d on\n\n" % last, text)

    def test_logs_of_what_never_ran_say_so(self):
        job = self.service.submit("true", held=True)
        self.service.act("cancel", job)
        self.assertEqual(self.rota_says("logs", job, code=1),
                         f"rota: job {job} has ended as CANCELLED without ever running, so it has no output.\n")
        failed = self.service.submit("true", folder="/nonexistent")
        self.service.ends(failed)
        for name in (failed, "last"):
            self.assertIn(f'job {failed}, /nonexistent/rota-{failed}.out, cannot be read: No such file or directory. It has ended as '
                          'FAILED: The job\'s working directory "/nonexistent" cannot be entered', self.rota_says("logs", name, code=1))

    def test_logs_says_why_a_job_waits(self):
        job = self.service.submit("echo here", held=True)
        follows = subprocess.Popen([self.rota, "logs", "-f", "last"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env={"PATH": os.environ["PATH"], "ROTA_SOCKET": self.service.socket})
        self.assertEqual(follows.stderr.readline(), f"rota: job {job} waits: Its user holds it; `rota release {job}` lets it go.\n")
        self.rota_says("release", job)
        self.assertEqual(follows.communicate(timeout=PATIENCE), ("here\n", ""))
        self.assertEqual(follows.returncode, 0)

    def test_what_only_the_service_says_is_told_to_be_left_out(self):
        said = self.rota_says("submit", "--export", "ALL,ROTA_X=hello,Y=1", "--", "sh", "-c", "echo ${ROTA_X-none} $Y")
        self.assertIn('"ROTA_X" of --export is left out: only the service says what begins with ROTA_; call it otherwise.', said)
        self.rota_says("wait", "last")
        self.assertEqual(self.rota_says("logs", "last"), "none 1\n")


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
