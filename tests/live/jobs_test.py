#!/usr/bin/env python3
"""What a job sees and how it ends: the words are those of the processes themselves. Usage: jobs_test.py ROTA"""
import csv
import json
import os
import sqlite3
import subprocess
import sys
import time
import unittest

from service import ServiceCase

MACHINE = """name = "small"
[[nodes]]
names = "n[1-2]"
processors = 2
memory = "1G"

[[partitions]]
name = "day"
nodes = "n[1-2]"
default = true

[[partitions]]
name = "short"
nodes = "n1"
max_time = "10m"
default_time = "5m"
"""


class Jobs(ServiceCase):
    configuration = MACHINE

    def test_a_job_finds_its_folder_environment_and_files(self):
        service = self.service
        with open(os.path.join(self.folder, "in.txt"), "w") as file:
            file.write("from a file\n")
        job = service.submit("pwd; umask; echo $ROTA_JOB_ID $ROTA_JOB_NAME $ROTA_JOB_NODELIST $ROTA_PROCESSORS; "
                             "echo $FRUIT; cat; echo wrong >&2", name="fruit", environment=["PATH=/bin", "FRUIT=a pear"],
                             umask=0o027, input="in.txt", output="%x-%4j.out", error="%u.err", processors=2,
                             partition="short")
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(service.read(f"{service.job(job)['user']}.err"), "wrong\n")
        self.assertEqual(service.read(f"fruit-{int(job):04}.out"),
                         f"{self.folder}\n0027\n{job} fruit n1 2\na pear\nfrom a file\n")

    def test_it_may_have_as_many_files_open_as_the_service_was_started_with(self):
        service = self.service
        service.stop()
        service.before = ["/bin/sh", "-c", 'ulimit -Sn 500; exec "$@"', "sh"]
        service.start()
        self.assertEqual(service.ends(service.submit("ulimit -Sn > files"))["state"], "COMPLETED")
        self.assertEqual(service.read("files"), "500\n")

    def test_how_it_ended_is_told_apart(self):
        service = self.service
        cases = [("exit 0", "COMPLETED", 0, None), ("exit 3", "FAILED", 3, None), ("kill -9 $$", "FAILED", 0, 9),
                 ("kill -TERM $$", "FAILED", 0, 15)]
        for command, state, code, number in cases:
            row = service.ends(service.submit(command))
            self.assertEqual((row["state"], row["exit_code"], row.get("signal")), (state, code, number), command)

    def rota_says(self, *words):
        done = subprocess.run([self.rota, *words, "--socket", self.service.socket], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_what_a_job_has_used_is_told(self):
        service = self.service
        burns = "import time\nheld = b'x' * 50_000_000\nwhile time.process_time() < 0.5: pass"
        job = service.submit([sys.executable, "-c", burns], processors=2)
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        service.wait_for(lambda: "elapsed" in service.job(job), "it to leave")
        for row in (service.job(job), service.ask("GET", "/v1/history")[1]["jobs"][0]):
            self.assertTrue(0.5 <= row["cpu_time"] < 5, row)
            self.assertLessEqual(row["cpu_time"], row["cpu_time_held"] + 0.1)
            self.assertLessEqual(row["cpu_time_held"], 2 * row["elapsed"] + 1)
            self.assertTrue(50_000_000 <= row["peak_memory"] < 150_000_000, row)
        told = self.rota_says("job", job)
        self.assertRegex(told, r"cpu time +0:0\d of [\d:]+ \(\d+%\)\n")
        self.assertRegex(told, r"peak memory +\d+(\.\d)?M\n")
        columns = self.rota_says("history", "-o", "jobid,totalcpu,cpueff,maxrss,memeff").split("\n")
        self.assertEqual(columns[0].split(), ["JOBID", "TOTALCPU", "CPUEFF", "MAXRSS", "MEMEFF"])
        self.assertRegex(columns[1], rf"^{job} +0:0\d +\d+% +\d+(\.\d)?M +-$")

    def test_of_a_job_that_was_queued_again_the_last_run_is_told(self):
        service = self.service
        burns = "import time\nwhile time.process_time() < 1: pass\nopen('burnt', 'w').close()\ntime.sleep(1000)"
        job = service.submit(f"[ $ROTA_RESTART_COUNT = 1 ] || exec {sys.executable} -c \"{burns}\"")
        service.wait_for(lambda: os.path.exists(os.path.join(self.folder, "burnt")), "its first run to burn time")
        service.runs(job)
        self.assertEqual(service.act("requeue", job)[0], 200)
        row = service.ends(job)
        self.assertEqual(row["state"], "COMPLETED")
        self.assertLess(row["cpu_time"], 1)

    def test_what_never_ran_or_ended_unseen_has_used_nothing(self):
        service = self.service
        never = service.ends(service.submit(["/no/such/program"]))
        held = service.submit("true", held=True)
        service.act("cancel", held)
        for row in (never, service.ends(held)):
            self.assertFalse({"cpu_time", "cpu_time_held", "peak_memory"} & set(row), row)

    def test_a_limit_is_kept_with_warning_and_grace(self):
        service = self.service
        job = service.submit("trap 'echo warned >> w.txt' USR1; trap 'echo asked >> w.txt; exit' TERM; echo on > w.txt; "
                             "while :; do sleep 0.1; done", limit=600, warning_signal="USR1", warning_time=1, kill_wait=600)
        service.written("w.txt")
        service.near_limit(service.runs(job), 2)
        self.assertEqual(service.ends(job)["state"], "TIMEOUT")
        self.assertEqual(service.read("w.txt"), "on\nwarned\nasked\n")

    def test_a_job_that_does_not_end_at_its_limit_is_killed_after_its_grace(self):
        service = self.service
        job = service.submit("trap 'echo asked > asked' TERM; echo on > on; while :; do sleep 0.1; done", limit=600, kill_wait=2)
        service.written("on")
        service.near_limit(service.runs(job))
        row = service.ends(job)
        self.assertEqual((row["state"], row["signal"]), ("TIMEOUT", 9), row)

    def test_what_cannot_be_launched_says_why(self):
        service = self.service
        job = service.submit(["/no/such/program"])
        row = service.ends(job)
        self.assertEqual(row["state"], "FAILED")
        self.assertIn("/no/such/program", row["message"])
        self.assertNotIn("exit_code", row, "it was no process")
        row = service.ends(service.submit("true", folder="/no/such/folder"))
        self.assertEqual(row["state"], "FAILED")
        self.assertIn("/no/such/folder", row["message"])

    def test_scripts_run_as_their_first_line_says(self):
        service = self.service
        job = service.submit(script="#!/bin/sh\necho \"$0\" | grep -c . ; echo $1-$2\n", output="s.out",
                             command=["a", "b c"])
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(service.read("s.out"), "1\na-b c\n")
        self.assertEqual(service.ask("GET", f"/v1/jobs/{job}/script")[1][:9], "#!/bin/sh")

    def test_account_and_qos_stay_with_a_job_and_its_history(self):
        service = self.service
        job = service.submit("true", account="physics", qos="high", held=True)
        service.act("update", job, account="chemistry")
        service.stop()
        service.start()
        self.assertEqual(service.job(job)["account"], "chemistry")
        service.act("release", job)
        service.ends(job)
        row, = service.ask("GET", f"/v1/history?ids={job}")[1]["jobs"]
        self.assertEqual((row["account"], row["qos"]), ("chemistry", "high"))

    def test_arrays_have_a_task_for_each_index(self):
        service = self.service
        array = service.submit("echo $ROTA_ARRAY_JOB_ID $ROTA_ARRAY_TASK_ID $ROTA_JOB_ID", array="1,3-7:2%2",
                               output="t-%A_%a.out")
        service.all_end()
        for place, index in enumerate((1, 3, 5, 7)):
            self.assertEqual(service.read(f"t-{array}_{index}.out"), f"{array} {index} {int(array) + place}\n")
            self.assertEqual(service.job(f"{array}_{index}")["state"], "COMPLETED")

    def test_an_array_keeps_to_its_throttle(self):
        service = self.service
        service.submit("mkdir one || exit 9; sleep 0.2; rmdir one", array="1-4%1")
        service.all_end()
        rows = service.ask("GET", "/v1/history")[1]["jobs"]
        self.assertEqual({row["state"] for row in rows}, {"COMPLETED"})

    def test_dependencies(self):
        service = self.service
        first = service.submit("until [ -e go ]; do sleep 0.02; done; echo first >> order.txt")
        bad = service.submit("exit 1", after=[f"afterok:{first}"])
        then = service.submit("echo then >> order.txt", after=[f"afterok:{first}", f"afternotok:{bad}"])
        never = service.submit("echo never >> order.txt", after=[f"afterok:{bad}"])
        self.assertEqual(service.job(then)["reason"], "Dependency")
        open(os.path.join(self.folder, "go"), "w").close()
        self.assertEqual(service.ends(then)["state"], "COMPLETED")
        self.assertEqual(service.job(never)["reason"], "DependencyNeverSatisfied")
        self.assertEqual(service.read("order.txt"), "first\nthen\n")
        status, answer = service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": self.folder,
                                                          "after": [f"afterok:{bad}"]})
        self.assertEqual((status, answer["detail"]),
                         (400, f"the dependency on job {bad} can never be met: it has ended as FAILED."))
        service.act("cancel", never)

    def test_hold_release_and_cancel(self):
        service = self.service
        job = service.submit("echo ran > ran.txt", held=True)
        self.assertEqual(service.job(job)["reason"], "JobHeldUser")
        self.assertEqual(service.act("release", job)[0], 200)
        service.ends(job)
        self.assertEqual(service.read("ran.txt"), "ran\n")
        job = service.submit("sleep 1000 & echo $! > child; wait")
        child = int(service.written("child"))
        self.assertEqual(service.act("cancel", job)[0], 200)
        self.assertEqual(service.ends(job)["state"], "CANCELLED")
        self.assertFalse(os.path.exists(f"/proc/{child}"), "a process that the job has left behind")
        status, answer = service.act("cancel", f"{job},999")
        self.assertEqual(status, 207)
        self.assertEqual([row["detail"] for row in answer["jobs"]],
                         [f"job {job} has ended already.", "there is no job 999."])

    def test_when_it_was_released_is_known_after_a_restart(self):
        service = self.service
        first = service.submit("until [ -e go ]; do sleep 0.02; done", processors=4, limit=600)
        job = service.submit("true", held=True)
        self.assertEqual(service.act("release", job)[0], 200)
        service.stop()
        service.start()
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.assertEqual(service.ends(first)["state"], "COMPLETED")
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        service.stop()
        database = sqlite3.connect(f"file:{service.state}/rota.db?mode=ro", uri=True)
        asked = database.execute("SELECT asked FROM history WHERE number = ?", (int(job),)).fetchone()[0]
        self.assertGreater(json.loads(asked)["not_before"], 0)
        self.assertEqual(database.execute("SELECT name FROM settings WHERE name LIKE 'released %'").fetchall(), [])
        database.close()
        service.start()

    def rehearsed(self):
        """The jobs of the state, rehearsed under easy, by number."""
        jobs = os.path.join(self.folder, "rehearsed.csv")
        done = subprocess.run([self.rota, "simulate", self.service.state, "--quiet", "--policy", "easy", "--jobs", jobs],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(jobs) as file:
            return {row["number"]: row for row in csv.DictReader(file)}

    def test_a_job_that_was_stopped_at_its_limit_is_stopped_in_a_rehearsal_too(self):
        service = self.service
        job = service.submit(["sleep", "1000"], limit=1)
        self.assertEqual(service.ends(job)["state"], "TIMEOUT")
        service.stop()
        with sqlite3.connect(os.path.join(service.state, "rota.db")) as database:  # it ended at once
            database.execute("UPDATE history SET ended = started + 1000")
        database.close()
        self.assertEqual(self.rehearsed()[job]["state"], "timed_out")
        service.start()

    def test_a_singleton_waits_in_a_rehearsal_for_each_of_its_name_that_ran_when_it_came(self):
        service = self.service
        long = service.submit("while [ ! -e go ]; do sleep 0.02; done", name="one")
        service.ends(service.submit("true", name="one"))
        last = service.submit("true", name="one", after=["singleton"])
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        for job in (long, last):
            self.assertEqual(service.ends(job)["state"], "COMPLETED")
        service.stop()
        rows = self.rehearsed()
        self.assertGreaterEqual(float(rows[last]["start"]), float(rows[long]["end"]))
        service.start()

    def test_a_begin_time_counts_in_a_rehearsal_as_it_last_was(self):
        service = self.service
        ended = []
        for restarts in (False, True):
            job = service.submit("true", held=True, begin=time.time() + 3600)
            self.assertEqual(service.act("release", job)[0], 200)
            if restarts:
                service.stop()
                service.start()
            self.assertEqual(service.job(job)["reason"], "BeginTime")
            self.assertEqual(service.act("update", job, begin=time.time())[0], 200)
            self.assertEqual(service.ends(job)["state"], "COMPLETED")
            ended.append(job)
        waits = {number: float(row["wait"]) for number, row in self.rehearsed().items()}
        for job in ended:
            self.assertLess(waits[job], 1800, waits)

    def tried(self, **members):
        status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": self.folder, "limit": 60,
                                                               "dry_run": True, **members})
        self.assertEqual(status, 200, answer)
        return answer

    def test_a_trial_tells_what_would_keep_the_job_from_starting(self):
        service = self.service
        begin = int(time.time()) + 7200
        tried = self.tried(begin=begin)
        self.assertEqual((tried["reason"], tried["expected_start"]), ("BeginTime", begin), tried)
        tried = self.tried(held=True)
        self.assertEqual((tried["reason"], "expected_start" in tried), ("JobHeldUser", False), tried)
        runs = service.submit("sleep 600", processors=4, limit=600, name="once")
        tried = self.tried(after=[f"afterany:{runs}"])
        self.assertEqual((tried["reason"], tried["why"]), ("Dependency", f"It would wait for job {runs} to end."), tried)
        self.assertEqual(self.tried(after=["singleton"], name="once")["why"], f"It would wait for job {runs} to end.")
        promised = service.submit("true", processors=4, limit=100)
        tried = self.tried(processors=4)
        self.assertNotIn("expected_start", tried, "easy promises only the first a start")
        self.assertAlmostEqual(tried["at_the_latest"], service.job(runs)["start"] + 700, delta=1)
        service.act("cancel", f"{runs},{promised}")

    def test_suspend_and_resume(self):
        service = self.service
        job = service.submit("while :; do echo x >> ticks; sleep 0.02; done")
        ticks = os.path.join(self.folder, "ticks")
        service.wait_for(lambda: os.path.exists(ticks), "the first tick")
        service.wait_for(lambda: service.job(job)["state"] == "RUNNING", "the launch to be told")
        self.assertEqual(service.act("suspend", job)[0], 200)
        self.assertEqual(service.job(job)["state"], "SUSPENDED")
        service.wait_for(lambda: self.stands(job), "its processes to stop")
        self.assertEqual(service.act("resume", job)[0], 200)
        size = os.path.getsize(ticks)
        service.wait_for(lambda: os.path.getsize(ticks) > size, "another tick")
        service.act("cancel", job)

    def test_requeue_runs_it_again(self):
        service = self.service
        job = service.submit("echo $ROTA_RESTART_COUNT >> runs; [ $ROTA_RESTART_COUNT = 1 ] || sleep 1000")
        service.written("runs")
        service.runs(job)
        self.assertEqual(service.act("requeue", job)[0], 200)
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(service.read("runs"), "0\n1\n")

    def test_a_job_that_ran_and_was_cancelled_while_it_waited_again_counts_as_having_run(self):
        job = self.service.submit("sleep 1000", processors=2, limit=1000)
        self.service.runs(job)
        self.service.wait_for(lambda: self.service.job(job)["elapsed"] > 1.1, "it to have run for a second")
        self.assertEqual(self.service.ask("POST", "/v1/nodes/drain", {"nodes": "n[1-2]", "reason": "x"})[0], 200)
        self.assertEqual(self.service.act("requeue", job)[0], 200)
        self.service.wait_for(lambda: self.service.job(job)["state"] == "PENDING", "it to wait again")
        self.service.act("cancel", job)
        self.service.wait_for(lambda: "elapsed" in self.service.job(job), "it to leave")
        row = self.service.job(job)
        self.assertEqual((row["state"], row["restarts"], "exit_code" in row), ("CANCELLED", 1, False), row)
        self.assertTrue(1 < row["elapsed"] < row["end"] - row["submit"] + 0.001, row)
        self.assertTrue(row["node_list"], row)
        self.assertEqual([each["id"] for each in self.service.ask("GET", "/v1/history?ran=yes")[1]["jobs"]], [job])
        sums = self.service.ask("GET", "/v1/history?by=user")[1]["sums"]
        self.assertAlmostEqual(sums[0]["processor_seconds"], 2 * row["elapsed"], delta=0.01)
        rehearsed = subprocess.run([self.rota, "simulate", self.service.state, "--quiet", "--policy", "recorded", "--jobs",
                                    os.path.join(self.folder, "jobs.csv")], capture_output=True, text=True)
        self.assertEqual(rehearsed.returncode, 0, rehearsed.stderr)
        with open(os.path.join(self.folder, "jobs.csv")) as file:
            self.assertEqual(file.read().splitlines()[1].split(",")[11], "cancelled")
        own = self.service.ask("GET", "/v1/status")[1]["policy"]
        told = subprocess.run([self.rota, "simulate", self.service.state, "--policy", f"slurm,{own}"], capture_output=True,
                              text=True).stdout
        told = " ".join(told.split())  # lines are broken anywhere
        self.assertIn(f"{own} rehearses what the site has now", told)
        self.assertNotIn("slurm rehearses what the site has now", told)

    def test_where_it_ran_is_told_alike_before_and_after_a_restart(self):
        told = []
        for restarts in (False, True):
            self.service.ask("POST", "/v1/nodes/resume", {"nodes": "n[1-2]"})
            job = self.service.submit("sleep 1000", processors=4, nodes=2, limit=1000)
            self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "its start")
            self.service.ask("POST", "/v1/nodes/drain", {"nodes": "n[1-2]", "reason": "x"})
            self.assertEqual(self.service.act("requeue", job)[0], 200)
            self.service.wait_for(lambda: self.service.job(job)["state"] == "PENDING", "it to wait again")
            if restarts:
                self.service.kill()
                self.service.start()
            self.service.act("cancel", job)
            self.service.wait_for(lambda: "elapsed" in self.service.job(job), "it to leave")
            told.append(self.service.job(job)["node_list"])
        self.assertEqual(told, ["n[1-2]"] * 2)

    def test_what_ran_before_a_requeue_counts_in_sums(self):
        job = self.service.submit("[ $ROTA_RESTART_COUNT = 1 ] || sleep 1000", processors=2, limit=1000)
        self.service.runs(job)
        self.service.wait_for(lambda: self.service.job(job)["elapsed"] > 1.1, "it to have run for a second")
        self.service.act("requeue", job)
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.service.wait_for(lambda: "earlier_elapsed" in self.service.job(job), "it to leave")
        row = self.service.job(job)
        self.assertGreater(row["earlier_elapsed"], 1)
        sums = self.service.ask("GET", "/v1/history?by=user")[1]["sums"]
        self.assertAlmostEqual(sums[0]["processor_seconds"], 2 * (row["elapsed"] + row["earlier_elapsed"]), delta=0.01)
        jobs = os.path.join(self.folder, "jobs.csv")
        told = subprocess.run([self.rota, "simulate", self.service.state, "--policy", "recorded", "--json", "--jobs", jobs],
                              capture_output=True, text=True)
        self.assertEqual(told.returncode, 0, told.stderr)
        with open(jobs) as file:
            recorded = next(csv.DictReader(file))
        before = float(recorded["start"]) - float(recorded["submit"])
        self.assertAlmostEqual(float(recorded["wait"]), before - row["earlier_elapsed"], delta=0.01,
                               msg="while it ran it did not wait")
        self.assertAlmostEqual(before, row["start"] - row["submit"], delta=0.01)

    def test_policies_change_while_jobs_run(self):
        service = self.service
        job = service.submit("sleep 0.5; echo done > p.txt")
        self.assertEqual(service.ask("PUT", "/v1/policy", {"policy": "conservative"}), (200, {"policy": "conservative"}))
        status, answer = service.ask("PUT", "/v1/policy", {"policy": "esay"})
        self.assertEqual(status, 400)
        self.assertIn("easy", answer["detail"])
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        self.assertEqual(service.read("p.txt"), "done\n")

    def test_nodes_drain_and_come_back(self):
        service = self.service
        self.assertEqual(service.ask("POST", "/v1/nodes/drain", {"nodes": "n[1-2]", "reason": "a fan"})[0], 200)
        job = service.submit("true")
        self.assertEqual(service.job(job)["reason"], "ReqNodeNotAvail")
        self.assertEqual(service.ask("GET", "/v1/nodes")[1]["nodes"][0]["reason"], "a fan")
        self.assertEqual(service.ask("POST", "/v1/nodes/resume", {"nodes": "n2"})[0], 200)
        self.assertEqual(service.ends(job)["node_list"], "n2")

    def test_explain_tries_what_would_start_sooner(self):
        service = self.service
        # n1 and n2 are half taken; the head needs all of both
        running = [service.submit("sleep 1000", processors=1, nodes=1, limit=7200) for _ in range(2)]
        service.wait_for(lambda: all(service.job(job)["state"] == "RUNNING" for job in running), "both to run")
        head = service.submit("true", processors=4, limit=60)
        job = service.submit("true", processors=1, limit=20000)
        told = service.ask("GET", f"/v1/jobs/{job}/explain")[1]
        self.assertEqual([row["id"] for row in told["ahead"]], [head])
        texts = [row["text"] for row in told["would_start"]]
        self.assertTrue(any(text.startswith("starts now if it asks for at most") for text in texts), told)
        limit = next(row["change"]["limit"] for row in told["would_start"] if "limit" in row["change"])
        self.assertEqual(service.act("update", job, limit=limit)[0], 200)
        self.assertEqual(service.ends(job)["state"], "COMPLETED")
        service.act("cancel", ",".join([*running, head]))


class Shortest(ServiceCase):
    configuration = MACHINE
    arguments = ("--policy", "easy+order=sjf")

    def test_a_job_and_the_plan_tell_the_same_latest_start(self):
        service = self.service
        running = service.submit("sleep 1000", processors=4, limit=7200)
        service.wait_for(lambda: service.job(running)["state"] == "RUNNING", "it to run")
        waiting = [service.submit("true", processors=4, limit=limit) for limit in (60, 5000, 600)]
        plan = {row["id"]: row for row in service.ask("GET", "/v1/plan")[1]["waiting"]}
        told = {job: service.ask("GET", f"/v1/jobs/{job}/explain")[1]["at_the_latest"] for job in waiting}
        for job in waiting[1:]:
            self.assertAlmostEqual(told[job], plan[job]["starts_by"], delta=1)
        self.assertAlmostEqual(told[waiting[1]] - told[waiting[2]], 600, delta=1)
        service.act("cancel", ",".join([running, *waiting]))


class Interpreter(ServiceCase):
    def test_which_program_a_script_wants_is_told_where_it_is_not_there(self):
        row = self.service.ends(self.service.submit(script="#!/no/such/shell -e\ntrue\n"))
        self.assertEqual((row["state"], row["message"]), (
            "FAILED", 'The job cannot be executed, as the script, whose first line is "#!/no/such/shell -e", cannot be started: '
                      'No such file or directory.'))


class Journal(ServiceCase):
    configuration = 'name = "wide"\nprocessors = 8\n'

    def test_the_journal_decides_the_same_again(self):
        service = self.service
        for number in range(10):
            service.submit(f"sleep 0.0{number}", processors=1 + number % 8, limit=60)
        service.act("hold", service.submit("true", processors=8))
        service.act("release", "last")
        service.all_end()
        self.assertEqual(service.decides_the_same_again(), "")


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
