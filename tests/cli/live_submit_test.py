#!/usr/bin/env python3
"""Jobs are submitted as they were asked for: options, directives, environment, waiting, exit codes.

Usage: live_submit_test.py ROTA
"""
import json
import os
import signal
import subprocess
import threading

from fake_service import NOON, job, problem, waiting
from live_case import LiveCase
from rota_case import PATIENCE, ROTA, main

SUBMITTED = (201, {"id": "12", "jobs": ["12"]})


class Submit(LiveCase):
    def setUp(self):
        super().setUp()
        self.answers("POST", "/v1/jobs", SUBMITTED)

    def test_prints_the_id(self):
        self.file("job.sh", "#!/bin/sh\ntrue\n")
        self.prints("submit", "job.sh", out="Submitted job 12\n")
        self.prints("submit", "job.sh", "--parsable", out="Submitted job 12\n")  # the script's own word
        self.prints("submit", "--parsable", "job.sh", out="12\n")
        self.assertEqual(json.loads(self.live("submit", "--json", "job.sh").stdout), SUBMITTED[1])

    def test_a_job_has_its_folder_environment_and_umask(self):
        self.live("submit", "--", "./sweep", env=self.env | {"COLOUR": "blue"}, umask=0o27)
        body = self.last()["body"]
        self.assertEqual((body["folder"], body["umask"], body["name"]), (os.path.realpath(self.folder), 0o27, "sweep"))
        self.assertIn("COLOUR=blue", body["environment"])
        self.assertIn(f"PATH={self.env['PATH']}", body["environment"])
        self.live("submit", "-D", "below/here", "--", "x")
        self.assertEqual(self.last()["body"]["folder"], os.path.realpath(self.folder) + "/below/here")

    def test_the_environment_can_be_chosen(self):
        def environment(export):
            self.live("submit", "--export", export, "--", "x", env=self.env | {"A": "1", "B": "2", "HOME": "/h"})
            return {name: value for name, value in (v.split("=", 1) for v in self.last()["body"]["environment"])}
        self.assertNotIn("A", environment("NONE"))
        self.assertEqual(environment("NONE")["HOME"], "/h")
        chosen = environment("A,C=3")
        self.assertEqual((chosen["A"], chosen["C"], "B" in chosen), ("1", "3", False))
        chosen = environment("ALL,A=9")
        self.assertEqual((chosen["A"], chosen["B"]), ("9", "2"))

    def test_what_is_no_utf_8_is_sent_as_python_reads_it(self):
        self.live("submit", "--", "x", b"\xff", env={os.fsencode(k): os.fsencode(v) for k, v in self.env.items()} | {b"ODD": b"\xff"})
        self.assertIn("ODD=\udcff", self.last()["body"]["environment"])
        self.assertEqual(self.last()["body"]["command"], ["x", "\udcff"])

    def test_every_option_has_its_member(self):
        self.assertEqual(self.sent("submit", "-n", "4", "-c", "2", "-N", "2", "--mem", "4G", "-t", "1h30m", "-p", "long",
                                   "-o", "out-%j", "-e", "err", "-i", "in", "--open-mode", "append", "-H", "--requeue",
                                   "--", "x", "-n", "--mem"),
                         {"command": ["x", "-n", "--mem"], "processors": 8, "tasks": 4, "nodes": 2, "memory": 4 << 30,
                          "limit": 5400.0, "partition": "long", "output": "out-%j", "error": "err", "input": "in",
                          "append": True, "held": True, "requeue": True})
        self.assertEqual(self.sent("submit", "-a", "1-100%10", "-d", "afterok:1:2,singleton", "--nice", "5", "-L",
                                   "matlab:2,simulink,fluent:3", "--signal", "B:SIGUSR1@300", "--kill-wait", "10s", "--comment", "hi",
                                   "--no-requeue", "-b", "2026-11-30T12:00", "--gres", "gpu:a100:2", "--", "x"),
                         {"command": ["x"], "array": "1-100%10", "after": ["afterok:1", "afterok:2", "singleton"],
                          "priority": -5, "licence": "matlab", "licences": 2, "more_licences": ["simulink:1", "fluent:3"],
                          "warning_signal": "USR1", "warning_to_script": True,
                          "warning_time": 300.0, "kill_wait": 10.0, "comment": "hi", "requeue": False,
                          "begin": NOON + 43200, "accelerators": 2, "accelerator_type": "a100"})
        self.assertEqual(self.sent("submit", "-N", "4", "--ntasks-per-node", "3", "--mem-per-cpu", "2G", "-G", "8",
                                   "--signal", "10", "--wrap", "a && b"),
                         {"script": "#!/bin/sh\na && b\n", "processors": 12, "nodes": 4, "tasks_per_node": 3, "memory": 6 << 30,
                          "accelerators": 2, "warning_signal": "USR1", "warning_time": 60.0})

    def test_nodes_that_are_named_are_counted(self):
        self.assertEqual(self.sent("submit", "-w", "n[1-4]", "-n", "8", "--mem-per-cpu", "1G", "-G", "4", "--wrap", "a"),
                         {"script": "#!/bin/sh\na\n", "processors": 8, "nodes": 4, "memory": 2 << 30, "accelerators": 1,
                          "required_nodes": "n[1-4]"})
        self.says_no("submit", "-C", "", "--wrap", "a", said="--constraint is given without a value; give one, or leave it out.")

    def test_directives_ask_and_the_command_line_goes_before_them(self):
        self.file("job.sh", "#!/bin/bash\n# a comment\n#ROTA -n 4 --name 'a b' # four\n\n#ROTA --mem=2G\n"
                            "#SBATCH --time=90 --mem=100 --nice\n#SBATCH -J other\necho\n")
        self.assertEqual(self.sent("submit", "-n", "8", "job.sh", "x", "-y"),
                         {"script": (self.folder / "job.sh").read_text(), "command": ["x", "-y"], "processors": 8,
                          "memory": 2 << 30, "limit": 5400.0, "priority": -100})
        self.assertEqual(self.last()["body"]["name"], "a b")

    def test_directives_that_are_not_taken_are_told(self):
        self.file("job.sh", "#!/bin/sh\n#SBATCH --wckey=END -A physics --hint=compute_bound\necho\n#SBATCH -n 4\n#ROTA -n 5\n")
        self.prints("submit", "job.sh", out="Submitted job 12\n", err=(
            'rota: line 2 of job.sh: Rota has nothing like "--wckey=END" of #SBATCH and goes on without it.\n'
            'rota: line 2 of job.sh: Rota has nothing like "--hint=compute_bound" of #SBATCH (what it has are whole processors) and goes on without it.\n'
            'rota: line 4 of job.sh: "#SBATCH -n 4" stands behind the first command and is not read.\n'
            'rota: line 5 of job.sh: "#ROTA -n 5" stands behind the first command and is not read.\n'))
        self.assertNotIn("processors", self.last()["body"])
        self.assertEqual(self.last()["body"]["account"], "physics")

    def test_directives_that_make_no_sense_are_refused(self):
        for line, said in (("#ROTA --ntask 4", '"--ntask" is no option of `rota submit`; did you mean --ntasks?'),
                           ("#ROTA -n", "-n is followed by a value: -n N."),
                           ("#ROTA -J 'a", "a quote is not closed."),
                           ("#ROTA --hold=yes", "--hold takes no value."),
                           ("#SBATCH -n four", '-n takes a whole number from 1 to 1,000,000,000, not "four".'),
                           ("#ROTA --mem=4000", '--mem takes a size with its unit, such as 500M or 4G, not "4000".')):
            self.file("job.sh", f"#!/bin/sh\n{line}\n")
            self.says_no("submit", "job.sh", said=f"line 2 of job.sh: {said}")

    def test_a_script_can_come_from_standard_input(self):
        self.prints("submit", "-", input=b"#!/bin/sh\n#ROTA -n 3\necho\n", out="Submitted job 12\n")
        body = self.last()["body"]
        self.assertEqual((body["processors"], body["name"], body["script"][:9]), (3, "stdin", "#!/bin/sh"))
        self.says_no("submit", "-", input=b"echo\n", said="What came on standard input is no script: its first line does "
                     "not begin with #!. Put #!/bin/sh there, or submit a program as `rota submit -- PROGRAM`.")

    def test_what_is_wrong_is_told_before_anything_is_sent(self):
        for arguments, said in ((["-n", "0"], '--processors takes a whole number from 1 to 1,000,000,000, not "0".'),
                                (["--mem", "4000"], '--mem takes a size with its unit, such as 500M or 4G, not "4000".'),
                                (["-t", "soon"], '-t (--limit): "soon" is not a duration; write it such as 90, 90s, 1.5h, '
                                                 '2d12h, 30:00 or 1-12:00:00.'),
                                (["-t", "0"], "-t (--limit): a limit of 0 would end the job at once; write `unlimited` for no limit."),
                                (["-b", "soon"], '--begin: "soon" is no time; write it such as now+1hour, 16:00, tomorrow, '
                                                 '2026-11-30 or 2026-11-30T12:00.'),
                                (["-d", "later:1"], '--dependency takes what it waits for, such as afterok:12:13,singleton, '
                                                    'not "later:1".'),
                                (["-d", "afterok:x"], '--dependency takes ids of jobs behind afterok: and its kin, such as '
                                                      'afterok:12:13, not "afterok:x".'),
                                (["--gres", "disk:2"], '--gres takes accelerators such as gpu:2 or gpu:a100:2, not "disk:2".'),
                                (["-N", "2", "-G", "3"], '--gpus takes a number that 2 nodes can share evenly, not "3".'),
                                (["-L", "a,b:0"], '--licences: licences are names, each alone or with how many, such as '
                                                  'matlab:4,simulink, not "a,b:0".'),
                                (["-L", "a:1,a"], '--licences: the licence "a" is there twice in "a:1,a".'),
                                (["--signal", "@"], '--signal takes a signal and how long before the limit, such as USR1@300, '
                                                    'not "@".'),
                                (["--open-mode", "x"], '--open-mode takes append or truncate, not "x".')):
            self.says_no("submit", *arguments, "--", "x", said=said)
        self.says_no("submit", "gone.sh", said="Cannot read gone.sh: No such file or directory. Check the spelling of the path.")
        self.says_no("submit", "sleep", "10", said="There is no script sleep in this folder. Two dashes go before a program: "
                     "`rota submit -- sleep 10`.")
        self.file("zero.sh", b"#!/bin/sh\n# \0\n")
        self.says_no("submit", "zero.sh", said="zero.sh is no script: it has a byte of zero in it.")
        self.says_no("submit", said="There is nothing to submit: no script is named, and standard input has none.")
        self.says_no("submit", "--wrap", "x", "y", said="--wrap is in place of a script or a command; give one of them.")
        lacking = "`rota submit` lacks its argument: rota submit [OPTION]... SCRIPT [ARG]... or -- PROGRAM [ARG]... " \
                  "See `rota submit --help`."
        self.says_no("submit", "--", said=lacking, code=2)
        self.assertEqual(self.service.requests, [])

    def test_a_refusal_is_shown_as_it_is(self):
        self.answers("POST", "/v1/jobs", (409, problem(409, "Partition short allows 1 h; ask for less.")))
        self.says_no("submit", "--", "x", said="Partition short allows 1 h; ask for less.")

    def test_a_trial_submits_nothing(self):
        self.answers("POST", "/v1/jobs", (200, {"jobs": [], "expected_start": NOON}), (200, {"jobs": []}))
        self.prints("submit", "--test-only", "--", "x",
                    out="Nothing was submitted. The job could run; as things stand it would start at 2026-11-30T00:00:00.\n")
        self.assertTrue(self.last()["body"]["dry_run"])
        self.prints("submit", "--test-only", "--", "x",
                    out="Nothing was submitted. The job could run; when, is not known.\n")
        self.answers("POST", "/v1/jobs", (200, {"jobs": [], "at_the_latest": NOON}),
                     (200, {"jobs": [], "reason": "JobHeldUser", "why": "It would be held."}))
        self.prints("submit", "--test-only", "--", "x",
                    out="Nothing was submitted. The job could run; as things stand it would start at 2026-11-30T00:00:00 at the "
                        "latest.\n")
        self.prints("submit", "--test-only", "--hold", "--", "x",
                    out="Nothing was submitted. The job could run; when, is not known. It would be held.\n")

    def test_a_request_whose_answer_is_lost_is_sent_again_under_its_key(self):
        broken = b"HTTP/1.1 201 Crea"
        self.service.raw = [broken]
        self.prints("submit", "--", "x", out="Submitted job 12\n")
        first, second = (request["headers"]["Idempotency-Key"] for request in self.service.requests)
        self.assertEqual(first, second)
        before = len(self.service.requests)
        self.service.raw = [broken] * 200
        self.says_no("submit", "--", "x", said=f"The service at {self.socket} broke off before it had answered. It may "
                     "have done what was asked all the same: look with `rota queue` and `rota history` before you ask again.")
        keys = {request["headers"]["Idempotency-Key"] for request in self.service.requests[before:]}
        self.assertEqual(len(keys), 1)
        self.assertNotIn(first, keys)
        self.service.raw = []

    def test_waiting_gives_the_jobs_own_exit_code(self):
        for ended, code in (({"state": "COMPLETED", "exit_code": 0}, 0), ({"state": "CANCELLED", "signal": 15}, 143),
                            ({"state": "NODE_FAIL"}, 1), ({"state": "TIMEOUT", "exit_code": 0}, 1),
                            ({"state": "FAILED", "exit_code": 3}, 3)):
            self.answers("GET", "/v1/jobs", (200, {"jobs": [waiting(12)]}), (200, {"jobs": [job(12)]}),
                         (200, {"jobs": [job(12, **ended)]}))
            told = "" if ended["state"] in ("COMPLETED", "FAILED") else f"rota: job 12 is {ended['state']}.\n"
            self.prints("submit", "--wait", "--", "x", out="Submitted job 12\n", err=told, code=code)
        asked = [request["query"] for request in self.service.requests if request["query"].get("ids")]
        self.assertEqual(asked[-1], {"ids": "12", "ended": "yes", "limit": "1000"})

    def test_waiting_in_json_tells_how_it_ended_or_what_was_submitted(self):
        ended = job(12, state="TIMEOUT", exit_code=0)
        self.answers("GET", "/v1/jobs", (200, {"jobs": [waiting(12)]}), (200, {"jobs": [ended]}))
        told = json.loads(self.live("submit", "--wait", "--json", "--", "x", code=1).stdout)
        self.assertEqual((told["id"], [row["state"] for row in told["ended"]]), ("12", ["TIMEOUT"]))
        self.answers("GET", "/v1/jobs", (200, {"jobs": []}))
        done = self.live("submit", "--wait", "--json", "--", "x", code=1)
        self.assertEqual(json.loads(done.stdout)["id"], "12", "it was submitted all the same")
        self.assertIn("The service no longer knows 1 job", done.stderr)

    def test_waiting_tells_why_a_job_could_not_be_started(self):
        failed = job(12, state="FAILED")
        self.answers("GET", "/v1/jobs", (200, {"jobs": [failed]}))
        self.answers("GET", "/v1/jobs/12", (200, failed | {"message": "The folder /gone is not there."}))
        self.prints("submit", "--wait", "--", "x", out="Submitted job 12\n", code=1,
                    err="rota: job 12 is FAILED: The folder /gone is not there.\n")

    def test_what_can_never_start_is_not_waited_for(self):
        never = {"reason": "DependencyNeverSatisfied"}
        said = ("can never start: what must come first has ended otherwise; `rota explain 12` says what, `rota cancel` takes "
                "it from the queue.\n")
        self.answers("GET", "/v1/jobs", (200, {"jobs": [waiting(12, **never)]}))
        self.prints("submit", "--wait", "--", "x", out="Submitted job 12\n", code=1, err="rota: Job 12 " + said)
        self.prints("wait", "12", code=1, err="rota: Job 12 " + said)
        both = {"jobs": [waiting(12, **never), waiting(13, **never)]}
        self.answers("GET", "/v1/jobs", (200, both))
        self.prints("wait", "12", "13", code=1, err="rota: Job 12 and 1 more job " + said)

    def test_of_an_array_it_gives_the_largest(self):
        self.answers("POST", "/v1/jobs", (201, {"id": "7", "jobs": ["7_1", "7_2"]}))
        self.answers("GET", "/v1/jobs", (200, {"jobs": [job("7_1", state="FAILED", exit_code=4), job("7_2")]}),
                     (200, {"jobs": [job("7_2", state="COMPLETED", exit_code=0)]}))
        self.prints("submit", "--wait", "-a", "1-2", "--", "x", out="Submitted job 7\n", code=4)
        self.answers("GET", "/v1/jobs", (200, {"jobs": []}))
        self.prints("submit", "--wait", "-a", "1-2", "--", "x", out="Submitted job 7\n", code=1,
                    err="rota: The service no longer knows 2 jobs of those waited for; `rota history` tells what became "
                        "of them.\n")


class Run(LiveCase):
    """What rota run asks and says. How it runs a job at a terminal, tests/live/run_test.py has."""

    def setUp(self):
        super().setUp()
        self.answers("POST", "/v1/jobs", SUBMITTED)

    def test_says_why_the_job_waits_and_exits_as_it_does(self):
        self.answers("GET", "/v1/jobs/12", (200, waiting(12)), (200, waiting(12)),
                     (200, job(12, state="FAILED", exit_code=7)))
        self.prints("run", "-n", "2", "--", "./x", "-n", code=7,
                    err="rota: job 12 waits: All 16 processors are in use.\n")
        body = self.service.requests[0]["body"]
        self.assertEqual(body["command"], ["./x", "-n"])
        self.assertEqual({name: body["attach"][name] for name in ("terminal", "error_apart", "keep")},
                         {"terminal": False, "error_apart": True, "keep": False})
        self.assertTrue(body["attach"]["socket"].startswith("rota-"))

    def test_needs_no_dashes_and_tells_an_end_of_another_kind(self):
        for state, said in (({"state": "TIMEOUT", "signal": 15, "limit": 90}, "was ended at its time limit of 1:30."),
                            ({"state": "CANCELLED", "signal": 15}, "was cancelled."),
                            ({"state": "FAILED", "signal": 15}, "was ended by signal 15 (SIGTERM).")):
            self.answers("GET", "/v1/jobs/12", (200, job(12, **state)))
            self.prints("run", "./x", "--y", code=143, err=f"rota: job 12 {said}\n")
        for state, said in (({"state": "FAILED", "message": "no such program"}, "has failed: no such program"),
                            ({"state": "NODE_FAIL"}, "was lost with its node or its supervisor."),
                            ({"state": "OUT_OF_MEMORY"}, "was ended because it took more memory than it had asked for.")):
            self.answers("GET", "/v1/jobs/12", (200, {"id": "12", **state}))
            self.prints("run", "./x", code=1, err=f"rota: job 12 {said}\n")

    def test_what_cannot_be_is_refused(self):
        self.says_no("run", "-a", "1-3", "--", "x", code=2, said='`rota run` has no option "-a": the tasks of an array cannot run '
                     "at one terminal; `rota submit --wait` runs them. See `rota run --help`.")
        self.says_no("run", "--pty", "--", "x",
                     said="--pty is for a terminal, and input and output here are none; leave it out.")
        self.says_no("run", "--pty", "-o", "x", "--", "x",
                     said="--pty is for a job whose input and output are this terminal; leave -i and -o out.")

    def test_a_signal_cancels_a_job_that_waits(self):
        looked = threading.Event()

        def look(_):
            looked.set()
            return 200, waiting(12)
        self.answers("GET", "/v1/jobs/12", look)
        self.answers("POST", "/v1/jobs/cancel", (200, {"jobs": [{"id": "12", "done": True}]}))
        process = subprocess.Popen([ROTA, "run", "--", "x"], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(looked.wait(PATIENCE))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.assertIn("rota: cancelling job 12.\n", said.decode())
        self.assertEqual([r["body"] for r in self.service.requests if r["path"] == "/v1/jobs/cancel"], [{"ids": "12"}])


if __name__ == "__main__":
    main()
