#!/usr/bin/env python3
"""What the commands that speak to a service print, and what they say where it does not answer as it should.

Usage: live_client_test.py ROTA
"""
import json
import os
import pty
import select
import signal
import socket
import subprocess
import threading

from fake_service import NOON, job, problem, waiting
from live_case import LiveCase
from rota_case import PATIENCE, ROTA, main, unprivileged

GIB = 1 << 30


class Queue(LiveCase):
    def setUp(self):
        super().setUp()
        self.jobs(job(1), waiting(2))

    def jobs(self, *jobs):
        self.answers("GET", "/v1/jobs", (200, {"jobs": list(jobs)}))

    def test_has_the_columns_of_squeue(self):
        self.prints("queue", out=(
            "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
            "                 1     batch    model      ada  R      12:34      1 n1\n"
            "                 2     batch    model      ada PD       0:00      1 (Resources)\n"))
        self.prints("queue", "-l", "--noheader", out=(
            "                 1     batch    model      ada   RUNNING      12:34    2:00:00 2026-11-29T23:47:26      1 n1\n"
            "                 2     batch    model      ada   PENDING       0:00    2:00:00 2026-11-30T01:00:00      1 (Resources)\n"))
        self.prints("queue", "--start", out=(
            "             JOBID PARTITION     NAME     USER ST          START_TIME  NODES NODELIST(REASON)\n"
            "                 2     batch    model      ada PD 2026-11-30T01:00:00      1 (Resources)\n"))

    def test_jobs_of_an_array_that_wait_are_one_row(self):
        self.jobs(*(waiting(f"7_{index}", array="7", index=index) for index in (1, 2, 3, 5)), job("7_4", array="7", index=4))
        self.prints("queue", "-o", "%i %K %t", "--noheader", out="7_[1-3,5] 1 PD\n7_4 4 R\n")
        self.prints("queue", "-r", "-o", "%i", "--noheader", out="7_1\n7_2\n7_3\n7_5\n7_4\n")

    def test_formats_have_letters_widths_and_sides(self):
        self.jobs(job(1, name="naïve model", memory=4 * GIB, accelerators=2, accelerator_type="a100", licence="matlab",
                      licences=2, more_licences=["simulink:1"], comment="a\nb", restarts=1))
        self.prints("queue", "-o", "%5j|%.8j|%12j|%.12j|%%|%i", out=(
            "NAME |    NAME|NAME        |        NAME|%|JOBID\n"
            "naïve|naïve mo|naïve model | naïve model|%|1\n"))
        self.prints("queue", "-o", "%m %b %W %k %s %C %U %L %e %q", "--noheader",
                    out="4G gpu:a100:2 matlab:2,simulink:1 a?b 1 4 1000 1:47:26 2026-11-30T01:47:26 N/A\n")
        self.says_no("queue", "-o", "%_",
                     said="%_ is no field of a job; `rota queue --help` lists the letters, such as %i, %j and %T.")
        self.says_no("queue", "-o", "a %.9",
                     said='"a %.9" ends in the middle of a field; write a letter behind the %.')

    def test_can_be_sorted(self):
        self.jobs(job(3, priority=1, name="c"), job(10, priority=5, name="a"), job(2, priority=5, name="b"))
        for order, ids in (("i", "2 3 10"), ("-p,i", "2 10 3"), ("+j", "10 2 3")):
            self.assertEqual(self.live("queue", "-S", order, "-o", "%i", "--noheader").stdout.split(), ids.split())
        self.says_no("queue", "-S", "name", said='"name" is no order of jobs; write letters such as -p,i.')

    def test_filters_are_asked_of_the_service(self):
        self.live("queue", "-u", "bob", "-p", "long", "--name", "x y", "-t", "pd,Running", "12", "14_[1-5]")
        self.assertEqual(self.last()["query"], {"user": "bob", "partition": "long", "name": "x y", "limit": "1000",
                                                "state": "PENDING,RUNNING", "ids": "12,14_[1-5]"})
        self.says_no("queue", "-n", "x", code=2, said='--limit: it takes a whole number from 0 to 1,000,000,000, not "x"; '
                     "--name finds jobs by their name. See `rota queue --help`.")
        self.live("queue", "-t", "F")
        self.assertEqual(self.last()["query"], {"state": "FAILED", "ended": "yes", "limit": "1000"})
        self.live("queue", "-t", "all")
        self.assertEqual(self.last()["query"], {"ended": "yes", "limit": "1000"})
        self.says_no("queue", "-t", "odd", said='"odd" is no state of a job; write one such as PENDING, RUNNING, COMPLETED or FAILED, or '
                     'its letters, as PD.')

    def test_pages_are_joined(self):
        self.answers("GET", "/v1/jobs", (200, {"jobs": [job(1)], "next": "a b"}), (200, {"jobs": [job(2)]}))
        self.prints("queue", "-o", "%i", "--noheader", out="1\n2\n")
        self.assertEqual(self.last()["query"], {"after": "a b", "limit": "1000"})
        self.assertEqual(json.loads(self.live("queue", "--json").stdout), {"jobs": [job(2)]})

    def test_text_of_others_drives_no_terminal(self):
        self.jobs(job(1, name="\x1b[2J"), waiting(2, reason="\x07"))
        self.assertNotRegex(self.live("queue").stdout, "[\x00-\x09\x0b-\x1f]")

    def test_is_shown_again_and_again(self):
        again = threading.Event()
        self.answers("GET", "/v1/jobs", (200, {"jobs": []}), lambda _: (again.set(), (200, {"jobs": []}))[1])
        for terminal in (False, True):
            again.clear()
            ours, theirs = pty.openpty() if terminal else os.pipe()
            process = subprocess.Popen([ROTA, "queue", "-i", "1", "-o", "%i"], cwd=self.folder, env=self.env,
                                       stdout=theirs, stdin=subprocess.DEVNULL)
            os.close(theirs)
            self.assertTrue(again.wait(60))
            self.assertTrue(select.select([ours], [], [], 60)[0])
            self.assertEqual(os.read(ours, 100).replace(b"\r", b"").split(b"JOBID")[0],
                             b"\x1b[H\x1b[2J\x1b[3J" if terminal else b"")
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            os.close(ours)


class OneJob(LiveCase):
    def test_all_that_is_known_of_it(self):
        self.answers("GET", "/v1/jobs/12", (200, job(12, memory=4 * GIB, command=["./x", "a"], grace=True, exit_code=0)))
        self.prints("job", "12", out=(
            "id          12\nname        model\nuser        ada\nstate       RUNNING\npartition   batch\nprocessors  4\n"
            "nodes       1\nmemory      4G\nlimit       2:00:00\nsubmit      2026-11-29T23:45:00\n"
            "start       2026-11-29T23:47:26\nelapsed     12:34\ngrace       yes\nnode list   n1\nexit code   0\nuid         1000\n"
            "priority    0\ncommand     ./x a\n"))
        self.assertEqual(json.loads(self.live("job", "12", "--json").stdout)["memory"], 4 * GIB)
        self.answers("GET", "/v1/jobs/14", (200, job(14, memory=4 * GIB, cpu_time=754.5, cpu_time_held=3016.0, peak_memory=GIB)))
        self.assertIn("elapsed      12:34\ncpu time     12:34 of 50:16 (25%)\npeak memory  1G of 4G (25%)\nnode list",
                      self.live("job", "14").stdout)
        self.answers("GET", "/v1/jobs/13", (404, problem(404, "There is no job 13.")))
        self.says_no("job", "13", said="There is no job 13.")
        self.says_no("job", "../x", said="There is no /v1/jobs/..%2Fx here.")

    def test_why_it_waits(self):
        self.answers("GET", "/v1/jobs/12/explain", (200, {
            "id": "12", "state": "PENDING", "reason": "Resources", "why": "All 16 processors are in use.",
            "ahead": [{"id": "3", "user": "bob", "processors": 1, "limit": 6600, "expected_start": NOON}],
            "promise": NOON + 9, "more_ahead": 2, "at_the_latest": NOON + 99, "facts": ["4 processors are free."],
            "would_start": [{"change": {"limit": 6600}, "text": "starts now if it asks for at most 1h50m", "start": NOON}]}))
        self.prints("explain", "12", out="""\
Job 12 is PENDING (Resources): All 16 processors are in use.
It is promised a start at 2026-11-30T00:00:09.

Ahead of it:
  - job 3 of bob, 1 processor for 1h50m, expected at 2026-11-30T00:00:00
  - and 2 more jobs

What would change it, tried on a copy of the state:
  - it starts now if it asks for at most 1h50m (at 2026-11-30T00:00:00)

What this rests on:
  - 4 processors are free.
""")

    def test_why_its_start_is_not_known_and_why_it_goes_on(self):
        self.answers("GET", "/v1/jobs/12/explain", (200, {
            "id": "12", "state": "PENDING", "reason": "Resources", "why": "It waits.", "ahead": [], "more_ahead": 0,
            "start_unknown": "job 1 has no time limit", "facts": [], "would_start": []}))
        self.prints("explain", "12", out="Job 12 is PENDING (Resources): It waits.\n"
                                         "When it starts is not known: job 1 has no time limit.\n")
        self.answers("GET", "/v1/jobs/12/explain", (200, {
            "id": "12", "state": "COMPLETED", "why": "It was let run 00:03 beyond its limit."}))
        self.prints("explain", "12", out="Job 12 is COMPLETED: It was let run 00:03 beyond its limit.\n")

    def test_what_it_writes(self):
        text, asked = b"one\ntwo\n\xff\n", []

        def output(request):
            asked.append(request["query"])
            first = int(request["query"]["from"])
            return 200, text[first:first + 4], {"Rota-Ended": "yes"} if len(asked) > 3 else {}
        self.answers("GET", "/v1/jobs/12/output", output)
        done = subprocess.run([ROTA, "logs", "-f", "12"], env=self.env, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, text, b""))
        self.live("logs", "12", "--error", stdout=subprocess.DEVNULL)
        self.assertEqual(asked[-1]["stream"], "error")
        with open("/dev/full", "wb") as full:
            self.says_no("logs", "12", stdout=full, said="The output cannot be written on: No space left on device.")

    def test_waiting_for_jobs(self):
        ended = [job(12, state="FAILED", exit_code=3), job(13, state="CANCELLED", signal=9)]
        self.answers("GET", "/v1/jobs", (200, {"jobs": [job(12), job(13)]}), (200, {"jobs": ended}))
        self.prints("wait", "12", "13", err="rota: job 13 is CANCELLED.\n", code=137)
        self.assertEqual(self.service.requests[0]["query"], {"ids": "12,13", "ended": "yes", "limit": "1000"})



class Actions(LiveCase):
    def test_each_sends_its_selector(self):
        for action in ("cancel", "hold", "release", "requeue", "suspend", "resume"):
            self.answers("POST", f"/v1/jobs/{action}", (200, {"jobs": [{"id": "12", "done": True}]}))
            self.prints(action, "12", "14_[1-3]")
            self.assertEqual(self.last()["body"], {"ids": "12,14_[1-3]"})
        self.prints("cancel", "-s", "USR1", "12")
        self.assertEqual(self.last()["body"], {"ids": "12", "signal": "USR1"})

    def test_terms_are_changed(self):
        self.answers("POST", "/v1/jobs/update", (200, {"jobs": [{"id": "12", "done": True}]}))
        self.prints("update", "12", "--limit", "2h", "--priority", "-5", "--partition", "long", "--begin",
                    "2026-11-30T12:00", "--throttle", "3")
        self.assertEqual(self.last()["body"], {"ids": "12", "limit": 7200.0, "partition": "long", "begin": NOON + 43200,
                                               "priority": -5, "throttle": 3})
        self.prints("update", "12", "-t", "1h")
        self.assertEqual(self.last()["body"], {"ids": "12", "limit": 3600.0})
        self.prints("update", "12", "--licences", "matlab:2,simulink")
        self.assertEqual(self.last()["body"], {"ids": "12", "licence": "matlab", "licences": 2, "more_licences": ["simulink:1"]})
        self.prints("update", "12", "-L", "none")
        self.assertEqual(self.last()["body"], {"ids": "12", "licence": ""})
        self.prints("update", "12", "-J", "small", "-n", "4", "-c", "2", "-N", "2", "--mem", "1G")
        self.assertEqual(self.last()["body"], {"ids": "12", "name": "small", "processors": 8, "tasks": 4, "nodes": 2,
                                               "memory": 1 << 30})
        self.prints("update", "12", "--mem", "none", "--nodes", "0")
        self.assertEqual(self.last()["body"], {"ids": "12", "memory": 0, "nodes": 0})
        self.says_no("update", "12", said="there is nothing to change; name a new --limit, --priority, --partition, --begin, "
                                          "--licences, --name, --processors, --nodes or --mem.")
        self.says_no("update", "12", "-c", "2", said="-c says how many processors each of -n has; name -n, too.")
        self.prints("update", "12", "-N", "2", "--ntasks-per-node", "3")
        self.assertEqual(self.last()["body"], {"ids": "12", "nodes": 2, "tasks": 6, "tasks_per_node": 3})
        self.says_no("update", "12", "--priority", "high", said='--priority takes a whole number, not "high".')

    def test_what_was_not_done_is_told(self):
        answer = {"jobs": [{"id": "12", "done": True}, {"id": "13", "done": False, "detail": "job 13 has ended already."}]}
        self.answers("POST", "/v1/jobs/cancel", (207, answer))
        self.prints("cancel", "12,13", err="rota: job 13 has ended already.\nrota: Done to the other 1 job.\n", code=1)
        self.assertEqual(json.loads(self.live("cancel", "12,13", "--json", code=1).stdout), answer)
        self.answers("POST", "/v1/jobs/cancel", (403, problem(403, "Job 12 is not yours.")))
        self.says_no("cancel", "12", said="Job 12 is not yours.")


class Operation(LiveCase):
    def test_commands_for_one_job_take_a_selector_that_means_one(self):
        for jobs, which in (([job(12), job(13)], "means 2 jobs"), ([], "names no job")):
            self.answers("GET", "/v1/jobs", (200, {"jobs": jobs}))
            self.answers("GET", "/v1/history", (200, {"jobs": jobs}))
            for command in ("job", "explain", "logs"):
                for selector in ("name=w2", "all", "12,13", "12-13"):
                    self.says_no(command, selector, said=f'"{selector}" {which}, and this command is about one, such as 130 or '
                                 f"last; `rota queue {selector}` lists those that are meant.")
        self.answers("GET", "/v1/jobs", (200, {"jobs": [job(12)]}))
        self.answers("GET", "/v1/jobs/12", (200, job(12)))
        self.assertRegex(self.live("job", "name=w2").stdout, r"id +12\n")
        self.answers("GET", "/v1/jobs/12/output", lambda asked: (200, b"one\n"[int(asked["query"]["from"]):]))
        self.prints("logs", "name=w2", out="one\n")
        self.answers("GET", "/v1/jobs", (200, {"jobs": []}))
        self.answers("GET", "/v1/history", (200, {"jobs": [job(12)]}))
        self.prints("logs", "name=w2", out="one\n")

    def test_history(self):
        jobs = [job(5, state="FAILED", exit_code=3, end=NOON), job(4, state="COMPLETED", exit_code=0, end=NOON - 5)]
        self.answers("GET", "/v1/history", (200, {"jobs": jobs}))
        self.prints("history", "--me", "--from", "2026-11-01", "--limit", "5", out=(
            "JOBID  NAME   USER  PARTITION  CPUS  STATE      EXITCODE  SUBMIT               START                "
            "END                  ELAPSED\n"
            "4      model  ada   batch         4  COMPLETED       0:0  2026-11-29T23:45:00  2026-11-29T23:47:26  "
            "2026-11-29T23:59:55    12:34\n"
            "5      model  ada   batch         4  FAILED          3:0  2026-11-29T23:45:00  2026-11-29T23:47:26  "
            "2026-11-30T00:00:00    12:34\n"))
        query = self.last()["query"]
        self.assertEqual((query["from"], query["limit"], query["user"]), ("1793491200", "6", "me"))  # one more, to see whether there is
        self.answers("GET", "/v1/history", (200, {"jobs": [job(6, memory=4 * GIB), job(
            5, memory=4 * GIB, nodes=2, cpu_time=754.5, cpu_time_held=3016.0, peak_memory=2 * GIB)]}))
        self.prints("history", "-o", "jobid,TotalCPU, cputime,cpueff,maxrss,reqmem,memeff", out=(
            "JOBID  TOTALCPU  CPUTIME  CPUEFF  MAXRSS  REQMEM  MEMEFF\n"
            "5         12:34    50:16     25%      2G      8G     25%\n"
            "6             -        -       -       -      4G       -\n"))
        self.says_no("history", "-o", "jobid,rss", said='"rss" is no column of the history; there are jobid, name, user, '
                     "partition, cpus, state, exitcode, submit, start, end, elapsed, overlimit, totalcpu, cputime, cpueff, maxrss, "
                     "reqmem, memeff, nodelist, accel_tasks, features, required_nodes, excluded_nodes, reservation, account, qos, sites, "
                     "stage_in, stage_out.")
        self.answers("GET", "/v1/history", (200, {"jobs": [job(6), job(5, over_limit=3.01, grace_rule="grace")]}))
        self.prints("history", "-o", "jobid,overlimit", out="JOBID  OVERLIMIT\n5           0:03\n6              -\n")
        self.answers("GET", "/v1/history", (200, {"sums": [
            {"key": "ada", "jobs": 3, "failed": 1, "processor_seconds": 36000, "mean_wait": 61}]}))
        self.prints("history", "--by", "user", out="USER  JOBS  FAILED  CPU_HOURS  MEAN_WAIT\n"
                                                   "ada      3       1       10.0       1:01\n")
        self.assertEqual(self.last()["query"], {"by": "user"})
        self.says_no("history", "--from", "soon", said='"soon" is no time; write it such as now+1hour, 16:00, tomorrow, '
                     "2026-11-30 or 2026-11-30T12:00.")

    def test_history_takes_what_selects_jobs(self):
        self.answers("GET", "/v1/history", (200, {"jobs": []}))
        self.answers("GET", "/v1/jobs", (200, {"jobs": []}))
        for words, asked in ((("name=w2",), {"ids": "name=w2"}), (("all",), {"ids": "all"}), (
                ("user=ann,state=F", "7_[1-3,5]", "9"), {"ids": "user=ann,state=F,7_[1-3,5],9"}), (
                ("name=w2", "--name", "w3,w4", "--me"), {"ids": "name=w2", "name": "w3,w4", "user": "me"})):
            self.live("history", *words)
            query = [request["query"] for request in self.service.requests if "limit" in request["query"] and request["path"] == "/v1/history"][-1]
            self.assertEqual(query, {"limit": "101", **asked})

    def test_a_list_is_cut_and_an_empty_one_says_what_the_filter_left_out(self):
        self.answers("GET", "/v1/status", (200, {"running": 3, "waiting": 1, "held": 0}))
        self.answers("GET", "/v1/jobs", (200, {"jobs": [job(n) for n in (1, 2, 3)]}))
        self.prints("queue", "-n", "2", "-o", "jobid", "--noheader", out="1\n2\n",
                    err="rota: there is 1 row more; --limit 0 lists all.\n")
        self.prints("queue", "-n", "3", "-o", "jobid", "--noheader", out="1\n2\n3\n")
        self.answers("GET", "/v1/jobs", (200, {"jobs": []}))
        self.prints("queue", "--name", "x", "--noheader", err="rota: no job meets the filter; without it there are 4 that wait "
                    "or run. `rota history` lists what has ended.\n")
        self.prints("queue", "--noheader")
        self.answers("GET", "/v1/history", lambda request: (200, {"sums": [{"jobs": 1}]} if "by" in request["query"] else {"jobs": []}))
        self.prints("history", "--name", "x", "--noheader", err="rota: no job meets the filter; without it there is 1 that ended.\n")
        self.prints("history", "--noheader")
        self.answers("GET", "/v1/history", (200, {"jobs": [job(5, end=NOON), job(4, end=NOON), job(3, end=NOON)]}))
        self.assertIn("--limit excludes --by", self.live("history", "--by", "user", "-n", "3", code=2).stderr)
        self.live("history", "-n", "3")
        self.assertEqual(self.last()["query"], {"limit": "4"})


class Tokens(LiveCase):
    def test_are_made_listed_and_revoked(self):
        token = {"id": "3f9c", "user": "ada", "uid": 7, "operator": False, "read_only": True, "made": NOON,
                 "expires": NOON + 3600, "expired": False, "token": "rota_1"}
        self.answers("POST", "/v1/tokens", (201, token))
        self.prints("token", "create", "--user", "ada", "--read-only", "--expires", "1h", "--comment", "x", out="rota_1\n",
                    err="rota: token 3f9c of ada, until 2026-11-30T01:00:00. It is shown this once; keep it where no other "
                        "user can read it.\n")
        self.assertEqual(self.last()["body"], {"operator": False, "read_only": True, "life": 3600, "user": "ada", "comment": "x"})
        self.says_no("token", "create", "--expires", "soon", said='--expires takes a time such as 12h or 90d, not "soon".')
        self.answers("GET", "/v1/tokens", (200, {"tokens": [token, token | {"expired": True, "operator": True, "comment": "y"}]}))
        self.prints("token", "list", out=(
            "TOKEN  USER  MAY             MADE                 EXPIRES              COMMENT\n"
            "3f9c   ada   read            2026-11-30T00:00:00  2026-11-30T01:00:00\n"
            "3f9c   ada   read, operator  2026-11-30T00:00:00  over                 y\n"))
        self.answers("DELETE", "/v1/tokens/3f9c", (200, {}))
        self.prints("token", "revoke", "3f9c")


class Health(LiveCase):
    STATUS = {"version": "0.2.0", "policy": "easy", "plain": False, "machine": "2 nodes", "processors": 16, "busy": 8, "free": 4,
              "out_of_service": 3, "asleep": 1,
              "waiting": 3, "held": 1, "running": 2, "started": NOON - 5400, "now": NOON, "state_folder": "/",
              "pid": 7, "cycles": 12345, "facts": 99, "refusals": 0, "warnings": []}

    def test_status(self):
        self.answers("GET", "/v1/status", (200, self.STATUS | {"warnings": ["Look here."]}))
        self.prints("status", out=(
            "version     0.2.0\npolicy      easy\nmachine     2 nodes\nprocessors  16: 8 busy, 4 free, 3 out of service, 1 asleep\n"
            "jobs        2 running, 3 waiting, 1 held, or that may not start yet\nsince       2026-11-29T22:30:00, for 1h30m\ncycles      12,345 looks at the queue\n"
            "facts       99 changes of the state\nstate in    /\nprocess     7\nwarning     Look here.\n"))
        self.answers("GET", "/v1/status", (200, self.STATUS | {"held": 5, "not_eligible": 4}))
        self.assertIn("jobs        2 running, 3 waiting, 1 held, 4 that may not start yet\n", self.live("status").stdout)

    def findings(self, code, *more):
        found = json.loads(self.live("doctor", "--json", *more, code=code).stdout)["findings"]
        return {each["of"]: (each["good"], each["text"]) for each in found}

    def test_the_doctor_says_what_to_do(self):
        self.answers("GET", "/healthz", (503, problem(503, "The service is stopping; wait for the next one.")))
        self.answers("GET", "/v1/status", (200, self.STATUS | {
            "version": "9.9", "plain": True, "last_refusal": "job 3 twice", "warnings": ["Look."], "state_folder": "/no/where"}))
        found = self.findings(3)
        self.assertEqual(found["socket"], (True, f"{self.socket} is there and may be used."))
        self.assertEqual(found["service"], (False, "It answers, but takes no jobs in: The service is stopping; wait for "
                                                   "the next one."))
        self.assertEqual(found["version"], (False, "The service is of version 9.9, this command of 0.2.0; install the "
                                                   "same version of both."))
        self.assertRegex(found["clock"][1], "^The service's clock and this one are [0-9dhms]+ apart; have both set by ")
        self.assertEqual(found["disk"], (False, "/no/where cannot be looked at from here: No such file or directory; run "
                                                "`rota doctor` as the user who runs the service."))
        self.assertEqual(found["policy"], (False, "easy is not followed since a plan was refused (job 3 twice); jobs start "
                                                  "in order of the queue. Set a policy with `rota policy set`."))
        self.assertEqual(found["warning"], (False, "Look."))
        for ahead, text in ((7200, "The service's clock is 2h ahead: its computer's was set back, "),
                            (-90, "The service's clock is 1m30s behind: its computer's was set forward. Start ")):
            self.answers("GET", "/v1/status", (200, self.STATUS | {"clock_ahead": ahead}))
            self.assertIn(text, self.findings(3)["clock"][1])
        lines = self.live("doctor", code=3).stdout.splitlines()
        self.assertEqual(lines[0], f"good  socket   {self.socket} is there and may be used.")
        self.assertEqual(lines[1][:14], "BAD   service ")

    def test_the_doctor_finds_no_service(self):
        found = self.findings(3, "--socket", "gone")
        self.assertEqual(found["socket"], (False, "gone cannot be found: No such file or directory; start a service with "
                                                  "`rota serve`, or name its socket with --socket or ROTA_SOCKET."))
        self.file("plain", "")
        self.assertEqual(self.findings(3, "--socket", "plain")["socket"],
                         (False, "plain is no socket; name the service's with --socket or ROTA_SOCKET."))

    def test_the_doctor_is_content(self):
        def status(_):
            now = int(subprocess.run(["date", "+%s"], capture_output=True, check=True).stdout)
            return 200, self.STATUS | {"now": now}
        self.answers("GET", "/v1/status", status)
        self.answers("GET", "/healthz", (200, b"ok"))
        found = self.findings(0)
        self.assertEqual({good for good, _ in found.values()}, {True}, found)
        self.STATUS = self.STATUS | {"warnings": ["Look."]}
        self.assertEqual(self.findings(0)["warning"], (False, "Look."))
        found = json.loads(self.live("doctor", "--json").stdout)["findings"]
        self.assertEqual({each["of"]: each["grade"] for each in found if each["grade"] != "good"}, {"warning": "warn"})
        self.assertRegex(self.live("doctor").stdout, r"(?m)^WARN +warning +Look\.$")


class Errors(LiveCase):
    """Every command fails in these ways; one stands for all."""
    NONE = "; start one with `rota serve`, or name another with --socket or ROTA_SOCKET."

    def test_no_service(self):
        self.says_no("queue", "--socket", "gone", said=f"No service answers at gone{self.NONE}")
        refused = str(self.folder / "refused")
        with socket.socket(socket.AF_UNIX) as not_listening:  # bound, but no process listens
            not_listening.bind(refused)
        self.says_no("queue", "--socket", refused, said=f"No service answers at {refused}{self.NONE}")
        root = os.geteuid() == 0  # whose service is the computer's
        own = "; `rota submit` starts one for you, and so does `rota serve`. Another is named by --socket or ROTA_SOCKET."
        place = "/run/rota/socket" if root else f"{self.folder}/rota/socket"
        for variables, said in (({"XDG_RUNTIME_DIR": str(self.folder)}, f"{place}{self.NONE if root else own}"),
                                ({"ROTA_SOCKET": "gone", "XDG_RUNTIME_DIR": "/x"}, f"gone{self.NONE}")):
            self.says_no("queue", env={"PATH": os.environ["PATH"]} | variables, said=f"No service answers at {said}")

    def test_a_service_that_has_too_much_to_do_is_asked_again(self):
        busy = (503, problem(503, "its output could not be read just now; ask again."), {"Retry-After": "1"})
        self.answers("GET", "/v1/jobs/12", (200, job(12)))
        self.answers("GET", "/v1/jobs/12/output", busy, busy, lambda request: (
            200, b"hello\n"[int(request["query"]["from"]):], {"Rota-Size": "6", "Rota-Ended": "yes"}))
        self.prints("logs", "12", out="hello\n")
        self.answers("POST", "/v1/jobs/cancel", busy, (200, {"jobs": []}))
        self.says_no("cancel", "12", said="its output could not be read just now; ask again.")
        self.assertEqual([each["path"] for each in self.service.requests].count("/v1/jobs/cancel"), 1)
        self.answers("GET", "/v1/jobs/12/output", (503, problem(503, "its file system does not answer.")))
        self.says_no("logs", "12", said="its file system does not answer.")  # that may last

    def test_a_service_that_is_being_started_again_is_waited_for(self):
        path = str(self.folder / "again")
        with socket.socket(socket.AF_UNIX) as service:
            service.bind(path)  # no process listens yet
            with subprocess.Popen([ROTA, "policy", "--socket", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, env=self.env) as command:
                self.assertEqual(select.select([command.stderr], [], [], 1)[0], [], "it has given up")
                service.listen()
                wire, _ = service.accept()
                with wire:
                    wire.recv(65536)
                    wire.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{"policy": "easy"}')
                    self.assertEqual(command.communicate(), ("easy\n", ""))

    def test_addresses_that_are_none(self):
        def no(said, *arguments, **variables):
            self.says_no("queue", *arguments, said=said, env=self.env | variables)
        no('"box:8443" is no address of a service; write it as https://HOST:PORT.', "--url", "box:8443", ROTA_TOKEN="t")
        no("With http:// others on the network could read the token on its way to box; write https://box:80.", ROTA_URL="http://box:80")
        no("Over the network a service is asked with a token; put it into ROTA_TOKEN, or its file into --token-file or "
           "ROTA_TOKEN_FILE. `rota token create` makes one, on the computer of the service.", ROTA_URL="https://box")
        no("--socket and --url are two services; name one of them.", "--url", "https://box", "--socket", "s")
        with socket.socket() as not_listening:  # bound, so that no other process has it, but none listens
            not_listening.bind(("127.0.0.1", 0))
            port = not_listening.getsockname()[1]
            no(f"No service answers at https://127.0.0.1:{port}; start one with `rota serve`, or name another with --url or "
               "ROTA_URL.", ROTA_URL=f"https://127.0.0.1:{port}", ROTA_TOKEN="t")

    def test_a_socket_that_is_not_for_all_users(self):
        if os.geteuid() != 0:
            self.skipTest("only root can ask as somebody else")
        os.chmod(self.folder, 0o755)
        os.chmod(self.socket, 0o600)
        self.says_no("queue", said=f"The socket {self.socket} may not be used by you; ask the user who runs the service.",
                     program=ROTA, **unprivileged())

    def test_a_path_that_is_too_long(self):
        path = "/tmp/" + "x" * 200
        self.says_no("queue", "--socket", path, said=f"The path of the socket, {path}, has 205 bytes; a socket's has 107 at "
                     "most. Name a shorter one with --socket or ROTA_SOCKET.")

    def test_answers_that_are_cut_off_or_make_no_sense(self):
        head = f"The service at {self.socket} "
        version = "; `rota doctor` says whether it is of this version."
        for answer, said in ((b"", "broke off before it had answered; ask it again, or look at its log."),
                             (b"HTTP/1.1 200 OK\r\nContent-Le", "broke off before it had answered; ask it again, or look at its log."),
                             (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "broke off before it had answered; ask it again, or look at its log."),
                             (b"SSH-2.0-x\r\n\r\n", "does not speak HTTP (bad version); name Rota's socket with --socket or ROTA_SOCKET."),
                             (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{x}", "answered with what is no JSON" + version),
                             (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n12", "answered with JSON that is no object" + version),
                             (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "answered with no list of jobs" + version),
                             (b"HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n{}", "answered with HTTP status 500 and no reason" + version)):
            self.service.raw = [answer] * 200  # it is asked again for three seconds
            self.says_no("queue", said=head + said)

    def test_members_of_other_kinds_are_taken_for_missing(self):
        odd = {name: [{}] for name in job(1)}
        self.answers("GET", "/v1/jobs", (200, {"jobs": [odd, 5, None, "x"]}))
        self.live("queue", "-l")
        self.answers("GET", "/v1/jobs/1", (200, odd))
        self.live("job", "1")
        self.answers("GET", "/v1/jobs/1/explain", (200, {"ahead": [1], "would_start": ["x"], "facts": [{}], "why": 7}))
        self.live("explain", "1")
        self.answers("GET", "/v1/status", (200, {"warnings": 7, "now": "x"}))
        self.live("status")
        self.live("doctor", code=3)
        for path, command in (("nodes", "nodes"), ("partitions", "partitions"), ("history", "history")):
            self.answers("GET", f"/v1/{path}", (200, {"nodes": [7], "partitions": [None], "jobs": ["x"]}))
            self.live(command)


if __name__ == "__main__":
    main()
