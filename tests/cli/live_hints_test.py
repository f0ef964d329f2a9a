#!/usr/bin/env python3
"""What the commands add so that the next step is plain: where a list goes on, which command was meant, and for which user."""
import os
import socket
import threading
import time

from fake_service import NOON, job, waiting
from live_case import LiveCase
from rota_case import main


class Hints(LiveCase):
    def test_a_script_is_printed_and_its_words_are_arguments(self):
        self.answers("GET", "/v1/jobs/12", (200, job(12, command=["./x", "a"])))
        self.answers("GET", "/v1/jobs/12/script", (200, b"#!/bin/sh\nmake\n"))
        told = self.live("job", "12").stdout
        self.assertIn("arguments   ./x a\n", told)
        self.assertIn("script      `rota job 12 --script` prints it\n", told)
        self.prints("job", "12", "--script", out="#!/bin/sh\nmake\n")
        self.answers("GET", "/v1/jobs/12/script", (200, b""))
        self.says_no("job", "12", "--script", said="job 12 has no script; `rota job 12` tells its command.")

    def test_why_it_ended_before_it_ran(self):
        self.answers("GET", "/v1/jobs/4/explain", (200, {"id": "4", "state": "FAILED"}))
        self.answers("GET", "/v1/jobs/4", (200, job(4, state="FAILED", message="There is no folder /gone.")))
        self.prints("explain", "4", out="Job 4 is FAILED: There is no folder /gone.\n")

    def test_history_says_that_it_goes_on(self):
        self.answers("GET", "/v1/history", (200, {"jobs": [job(5, state="FAILED"), job(4, state="COMPLETED")]}))
        done = self.live("history", "--limit", "1", "--noheader")
        self.assertEqual(done.stdout.split()[0], "5")
        self.assertEqual(done.stderr, "rota: there are more; these are the latest 1 to end. --limit 0 lists all, --from narrows.\n")
        self.assertEqual(self.live("history", "--limit", "2").stderr, "")

    def test_cancelling_what_is_of_a_user(self):
        self.answers("POST", "/v1/jobs/cancel", (200, {"jobs": [{"id": "12", "done": True}]}))
        self.prints("cancel", "-u", "ada", "state=PENDING")
        self.assertEqual(self.last()["body"], {"ids": "state=PENDING,user=ada"})
        self.prints("cancel", "--me")
        self.assertEqual(self.last()["body"], {"ids": "user=me"})
        self.assertIn("lacks its argument", self.live("cancel", code=2).stderr)

    def test_a_port_that_speaks_tls_and_is_asked_without(self):
        def hang_up(listener):
            while True:  # a question is asked again for three seconds
                try:
                    wire, _ = listener.accept()
                except OSError:
                    return
                wire.recv(65536)
                wire.close()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=hang_up, args=(listener,), daemon=True).start()
            place = f"127.0.0.1:{listener.getsockname()[1]}"
            self.says_no("queue", env=self.env | {"ROTA_URL": f"http://{place}", "ROTA_TOKEN": "rota_1"},
                         said=f"The service at http://{place} broke off before it had answered; if it speaks TLS, name it "
                         f"as https://{place}; else ask it again, or look at its log.")

    def test_where_nothing_is_written_it_is_said_why(self):
        self.answers("GET", "/v1/jobs/12/output", (200, b"", {"Rota-Ended": "yes"}))
        self.answers("GET", "/v1/jobs/12", (200, job(12, state="COMPLETED", exit_code=0)))
        self.prints("logs", "12")
        self.answers("GET", "/v1/jobs/12", (200, job(12, state="FAILED", message="There is no such program.")))
        self.prints("logs", "-f", "12", err="rota: job 12 is FAILED: There is no such program.\n")
        self.answers("GET", "/v1/jobs/12/output", (200, b""))
        self.answers("GET", "/v1/jobs/12", (200, waiting(12)))
        self.prints("logs", "12", err="rota: job 12 has not started; `rota explain 12` tells why.\n")
        self.answers("GET", "/v1/jobs/12", (200, job(12)))
        self.prints("logs", "12")

    def test_logs_says_once_that_a_job_waits(self):
        nothing = (200, b"")
        self.answers("GET", "/v1/jobs/12", (200, waiting(12, why="Its user holds it.")))
        self.answers("GET", "/v1/jobs/12/output", *[nothing] * 6, (200, b"hello\n"),
                     (200, b"", {"Rota-Ended": "yes"}))
        self.prints("logs", "-f", "12", out="hello\n", err="rota: job 12 waits: Its user holds it.\n")

    def test_waiting_for_jobs_that_have_just_ended(self):
        self.answers("GET", "/v1/jobs", (200, {"jobs": []}))
        self.prints("wait", "all")
        self.answers("GET", "/v1/history", (200, {"jobs": []}))
        self.says_no("wait", "name=x", said='"name=x" names no job that waits, runs or ended within the last hour; `rota '
                                            'queue` and `rota history` list them.')
        self.assertEqual(self.service.requests[-2]["query"], {"ids": "name=x", "limit": "1000"})
        since = self.last()["query"].pop("from")
        self.assertAlmostEqual(float(since), time.time() - 3600, delta=600)
        self.assertEqual(self.last()["query"], {"ids": "name=x", "limit": "1000"})
        ended = [job(12, state="COMPLETED"), job(13, state="FAILED", exit_code=3)]
        self.answers("GET", "/v1/jobs", (200, {"jobs": [job(12)]}), (200, {"jobs": ended}))
        self.answers("GET", "/v1/history", (200, {"jobs": ended}))
        self.prints("wait", "name=x", code=3)
        self.assertEqual(self.last()["query"], {"ids": "12,13", "ended": "yes", "limit": "1000"})

    def test_a_job_that_never_was_a_process_has_no_exit_code_in_the_history(self):
        for status, shown in (({}, "-"), ({"exit_code": 0}, "0:0"), ({"exit_code": 0, "signal": 9}, "0:9")):
            self.answers("GET", "/v1/history", (200, {"jobs": [job(5, state="FAILED", end=NOON, **status)]}))
            self.assertEqual(self.live("history", "--noheader").stdout.split()[6], shown)

    def test_what_update_cannot_change_is_said(self):
        for words, option in ((("-o", "out"), "-o"), (("--mem-per-cpu=1G",), "--mem-per-cpu")):
            self.says_no("update", "12", *words, code=2, said=f"`rota update` does not change {option}, which is said when a "
                         "job is submitted; cancel the job and submit it anew with it. See `rota update --help`.")
        self.assertIn("did you mean --priority?", self.live("update", "12", "--priorty", "4", code=2).stderr)

    def test_an_option_that_is_given_twice_is_said(self):
        for command, option, words in (("update", "--limit", ("-t", "1h", "--time", "2h")),
                                       ("update", "--priority", ("--priority", "4", "--priority=4")),
                                       ("update", "--processors", ("-n", "4", "--ntasks=5")),
                                       ("update", "--nodes", ("-N", "1", "-N", "2")),
                                       ("update", "--name", ("-J", "a", "--job-name", "b")),
                                       ("cancel", "--signal", ("-s", "USR1", "-s", "USR2")),
                                       ("cancel", "--user", ("-u", "ada", "--user", "bob"))):
            self.says_no(command, "12", *words, code=2,
                         said=f"{option} is given more than once. See `rota {command} --help`.")

    def test_ids_that_no_job_has_are_told_and_the_others_are_waited_for(self):
        ended = [job(12, state="FAILED", exit_code=3)]
        self.answers("GET", "/v1/jobs", lambda request: (200, {"jobs": ended} | (
            {} if request["query"].get("ended") else {"unknown": ["99999", "14_7"]})))
        self.prints("wait", "12", "99999,14_7", code=3, err="rota: there is no job 99999.\nrota: there is no job 14_7.\n")
        ended[0] |= {"state": "COMPLETED", "exit_code": 0}
        self.prints("wait", "12", "99999,14_7", code=1, err="rota: there is no job 99999.\nrota: there is no job 14_7.\n")

    def test_the_queue_and_the_history_name_unknown_jobs_and_users(self):
        self.answers("GET", "/v1/jobs", (200, {"jobs": [job(12)], "unknown": ["99999", "14_7"]}))
        self.prints("queue", "12,99999,14_7", "-o", "%i", "--noheader", out="12\n", code=1,
                    err="rota: there is no job 99999.\nrota: there is no job 14_7.\n")
        self.answers("GET", "/v1/history", (200, {"jobs": []}))
        said = 'rota: this computer knows no user "nosuch".\n'
        self.prints("history", "-u", "nosuch", "-o", "jobid", out="JOBID\n", err=said, code=1)
        self.answers("GET", "/v1/history", (200, {"sums": []}))
        self.prints("history", "-u", "nosuch", "--by", "user", "--noheader", err=said, code=1)
        self.prints("history", "99999", "--by", "user", "--noheader", code=1,
                    err="rota: there is no job 99999.\nrota: there is no job 14_7.\n")

    def test_the_queue_shows_columns_by_their_names(self):
        self.answers("GET", "/v1/jobs", (200, {"jobs": [job(12), waiting(113, expected_start=NOON)]}))
        self.prints("queue", "-o", "jobid, Name,cpus,start", out=(
            "JOBID  NAME   CPUS  START_TIME\n"
            "12     model     4  2026-11-29T23:47:26\n"
            "113    model     4  2026-11-30T00:00:00\n"))
        done = self.live("queue", "-o", "jobid,nam", code=1)
        self.assertRegex(done.stderr, r'^rota: "nam" is no column of the queue; there are jobid, .*state, .*, or letters as in "%i %j"\.\n$')

    def test_a_begin_time_is_the_start_of_a_job_that_waits_for_nothing_else(self):
        jobs = [waiting(job, expected_start=None, begin=NOON, reason=reason)
                for job, reason in ((12, "Dependency"), (13, "JobHeldUser"), (14, "BeginTime"))]
        self.answers("GET", "/v1/jobs", (200, {"jobs": jobs}))
        self.prints("queue", "--start", "-o", "%i %S", "--noheader", out="14 2026-11-30T00:00:00\n12 N/A\n13 N/A\n")

    def test_a_queue_with_an_array_and_a_throttle_begins_with_its_first_start(self):
        tasks = [waiting(f"7_{i}", array="7", index=i, throttle=2, expected_start=start)
                 for i, start in ((3, None), (1, NOON + 60), (2, NOON + 90))]
        self.answers("GET", "/v1/jobs", (200, {"jobs": [*tasks, waiting(12, expected_start=NOON)]}))
        self.prints("queue", "--start", "-o", "%i %S", "--noheader",
                    out="12 2026-11-30T00:00:00\n7_[1-3%2] 2026-11-30T00:01:00\n")

    def test_the_queue_asks_for_starts_where_they_are_shown_or_sorted_by(self):
        jobs = [waiting(12, expected_start=None, starts_by=NOON + 60), waiting(13, expected_start=None, starts_by=NOON)]
        self.answers("GET", "/v1/jobs", lambda request: (200, {"jobs": jobs if "starts" in request["query"] else [
            {name: value for name, value in each.items() if name != "starts_by"} for each in jobs]}))
        self.prints("queue", "-S", "S", "-o", "%i", "--noheader", out="13\n12\n")
        self.prints("queue", "-S", "-e", "-o", "%i", "--noheader", out="12\n13\n")
        self.prints("queue", "-o", "%i %e", "--noheader", out="12 2026-11-30T02:01:00\n13 2026-11-30T02:00:00\n")

    def test_a_job_without_a_limit_is_unlimited(self):
        free = job(12)
        del free["limit"]
        self.answers("GET", "/v1/jobs", (200, {"jobs": [free, job(13)]}))
        self.prints("queue", "-S", "L", "-o", "%i %l %L", "--noheader", out="13 2:00:00 1:47:26\n12 UNLIMITED UNLIMITED\n")

    def test_update_knows_the_short_letters_of_submit(self):
        self.answers("POST", "/v1/jobs/update", (200, {"jobs": [{"id": "12", "done": True}]}))
        self.prints("update", "12", "-p", "long", "-b", "2026-11-30T12:00")
        self.assertEqual(self.last()["body"], {"ids": "12", "partition": "long", "begin": NOON + 43200})
        done = self.live("update", "12", "-a", "1-9", code=2)
        self.assertIn("`rota update` does not change -a, which is said when a job is submitted", done.stderr)

    def test_options_of_slurm_are_told_what_stands_for_them(self):
        nodes = "-w names the nodes themselves"
        for words, option, said in (
                (("queue", "-j", "2"), "-j", "name jobs without it, as in `rota queue 2,3`"),
                (("queue", "-j2"), "-j2", "name jobs without it, as in `rota queue 2,3`"),
                (("history", "--jobs=15"), "--jobs", "name jobs without it, as in `rota history 2,3`"),
                (("cancel", "-t", "PD"), "-t", "say it in place of a job's id, as in `rota cancel state=PD`"),
                (("cancel", "-n", "x"), "-n", "say it in place of a job's id, as in `rota cancel name=sweep`"),
                (("submit", "--nodefile=n1", "x.sh"), "--nodefile", nodes), (("run", "-F", "n1", "--", "x"), "-F", nodes),
                (("queue", "-A", "x"), "-A", "`rota queue -o jobid,account` prints the account of each job"),
                (("queue", "-q", "x"), "-q", "`rota queue -o jobid,qos` prints the QOS of each job"),
                (("submit", "--dry-run", "--", "x"), "--dry-run", "--test-only submits nothing, and says when it would start")):
            self.says_no(*words, code=2, said=f'`rota {words[0]}` has no option "{option}": {said}. See `rota {words[0]} --help`.')
        self.assertIn("has no option \"-j\". See", self.live("nodes", "-j", code=2).stderr)
        self.file("job.sh", "#!/bin/sh\n#ROTA --nodefile=n1\n")
        self.says_no("submit", "job.sh", said=f'line 2 of job.sh: "--nodefile=n1" is no option of `rota submit`: {nodes}.')

    def test_lists_of_users_partitions_and_names_are_asked_at_once(self):
        self.answers("GET", "/v1/jobs", (200, {"jobs": [job(12), job(11)]}))
        self.prints("queue", "-u", "ada,bob", "-o", "%i", "--noheader", out="12\n11\n")
        self.assertEqual([request["query"]["user"] for request in self.service.requests], ["ada,bob"])
        self.live("queue", "state=R,state=F")
        self.assertEqual(self.last()["query"], {"ids": "state=R,state=F", "ended": "yes", "limit": "1000"})
        self.answers("GET", "/v1/jobs", (200, {"jobs": []}))
        self.answers("GET", "/v1/partitions", (200, {"partitions": [{"name": "long"}]}))
        self.prints("queue", "-p", "long", "-o", "%i", "--noheader")
        self.prints("queue", "-u", "no.such-user", "-p", "long,lung", "-o", "%i", "--noheader", code=1,
                    err='rota: this computer knows no user "no.such-user".\nrota: there is no partition "lung"; `rota '
                        'partitions` lists them.\n')
        self.prints("queue", "user=me", "-u", "me,1000", "-o", "%i", "--noheader")


if __name__ == "__main__":
    main()
