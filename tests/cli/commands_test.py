#!/usr/bin/env python3
"""What the commands print and write, and how they end: tables, JSON, job files, exit codes, signals, terminals.

Usage: commands_test.py ROTA
"""
import csv
import gzip
import json
import os
import pty
import select
import signal
import subprocess
from pathlib import Path

from rota_case import DAY, HEAD, PATIENCE, ROOT, ROTA, RotaCase, main, row


class Simulate(RotaCase):
    def test_the_table_has_a_row_for_each_policy(self):
        table = self.rota("simulate", DAY, "--policy", "fcfs,easy,easy++,conservative").stdout
        for policy in ("fcfs", "easy", "easy++", "conservative"):
            self.assertEqual(len([line for line in table.splitlines() if line.split(" ")[:1] == [policy]]), 2, table)
        self.assertRegex(table, r"\nChoose easy\+\+: jobs waited 14 min 48 s on average, 5\.5 % less than under easy")
        self.assertNotIn("\x1b", table)

    def test_logs_of_one_name_are_never_compared(self):
        (self.folder / "a").mkdir()
        (self.folder / "b").mkdir()
        self.file("a/log.swf", HEAD + row(1, processors=4) + row(2, processors=4))
        self.file("b/log.swf", HEAD + row(1) + row(2))
        table = self.rota("simulate", "a/log.swf", "b/log.swf", "--policy", "easy,fcfs").stdout
        self.assertIn("a/log.swf: 2 jobs", table)
        self.assertIn("b/log.swf: 2 jobs", table)
        self.assertEqual(table.count("All 2 policies come out alike"), 2, table)

    def test_json_is_json(self):
        self.file("other.swf", HEAD + row(1) + row(2, submit=1))
        done = self.rota("simulate", DAY, "other.swf", "--json", "--policy", "easy,fcfs")
        runs = json.loads(done.stdout)["rehearsals"]
        self.assertEqual([(r["workload"], r["policy"], r["jobs"]) for r in runs],
                         [("day", "easy", 1500), ("day", "fcfs", 1500), ("other", "easy", 2), ("other", "fcfs", 2)])

    def recorded_log(self, waits):
        rows = [row(n + 1, submit=10 * n).split() for n in range(len(waits))]
        for fields, wait in zip(rows, waits):
            fields[2] = str(wait)
        return self.file("recorded.swf", HEAD + "".join(" ".join(fields) + "\n" for fields in rows))

    def test_what_really_happened_stands_first_and_is_compared_with(self):
        self.recorded_log([7, 3, -1])
        done = self.rota("simulate", "recorded.swf", "--policy", "easy,recorded,fcfs", "--json", "--jobs", "jobs.csv")
        runs = json.loads(done.stdout)["rehearsals"]
        self.assertEqual([r["policy"] for r in runs], ["recorded", "easy", "fcfs"])
        self.assertEqual((runs[0]["wait_mean_s"], runs[0]["wait_max_s"], runs[0]["unrecorded_jobs"]), (5, 7, 1))
        self.assertEqual((runs[0]["recorded"], runs[0]["killed_dispatches"], runs[0]["jobs"]), (True, None, 3))
        self.assertEqual(runs[1]["beside_recorded"]["jobs"], 2)
        self.assertEqual([r["start"] for r in self.jobs("jobs-recorded.csv")], ["7", "13", ""])
        table = self.rota("simulate", "recorded.swf", "--policy", "recorded,easy").stdout
        self.assertIn("recorded: 1 job without a recorded wait", table)
        self.assertIn("Really they waited 5 s on average", table + self.rota(
            "simulate", "recorded.swf", "--policy", "recorded,easy,fcfs").stdout)
        self.assertIn("Beside what really happened to 2 jobs: easy waits 0 s where 5 s was recorded", table)
        alone = json.loads(self.rota("simulate", "recorded.swf", "--policy", "recorded", "--json").stdout)["rehearsals"]
        self.assertEqual([r["policy"] for r in alone], ["recorded"])

    def test_what_really_happened_tells_how_jobs_ended(self):
        rows = [row(n + 1, submit=10 * n, run=9 if n == 3 else 5).split() for n in range(5)]
        for fields, status in zip(rows, ("1", "0", "5", "0", "-1")):
            fields[2], fields[10] = "0", status
        self.file("recorded.swf", HEAD + "".join(" ".join(fields) + "\n" for fields in rows))
        table = self.rota("simulate", "recorded.swf", "--policy", "recorded", "--jobs", "jobs.csv", "--json").stdout
        self.assertEqual([job["state"] for job in self.jobs("jobs.csv")],
                         ["completed", "failed", "cancelled", "timed_out", "completed"])
        self.assertEqual([job["end"] for job in self.jobs("jobs.csv")], ["5", "15", "25", "39", "45"])
        self.assertEqual(json.loads(table)["rehearsals"][0]["unrecorded_jobs"], 0)
        self.rota("simulate", "recorded.swf", "--policy", "recorded", "--jobs", "jobs.swf")
        status = [line.split()[10] for line in (self.folder / "jobs.swf").read_text().splitlines() if line[0] != ";"]
        self.assertEqual(status, ["1", "0", "5", "0", "1"])

    def test_what_the_site_has_now_is_the_very_policy_that_the_log_names(self):
        self.recorded_log([7, 3, 9])
        log = (self.folder / "recorded.swf").read_text()
        def is_told(name, policy):
            return " ".join(self.rota("simulate", name, "--policy", f"recorded,{policy},easy").stdout.split())
        self.assertNotIn("what the site has now, and", is_told("recorded.swf", "slurm"))
        self.file("old.swf", "; Note: made by: rota import slurm\n" + log)
        self.assertIn("None of these is known to be what the site has now", is_told("old.swf", "slurm"))
        note = "; Note: policy of the site: slurm+bf-interval=60s+bf-resolution=1m\n"
        self.file("imported.swf", "; Note: made by: rota import slurm\n" + note + log)
        self.rota("convert", "imported.swf", "-o", "imported.jsonl")
        for name in ("imported.swf", "imported.jsonl"):
            for other in ("slurm", "slurm+bf-interval=no"):
                self.assertNotIn("what the site has now, and", is_told(name, other))
            for own in ("slurm+bf-resolution=60s+bf-interval=1m", "slurm+bf-interval=60s"):
                self.assertIn(f"{own} rehearses what the site has now, and", is_told(name, own))

    def test_what_a_log_does_not_tell_is_no_row(self):
        self.recorded_log([-1, -1])
        self.refused("simulate", "recorded.swf", "--policy", "recorded,easy", said="does not say how long any job waited")
        self.file("saved.csv", "job_id,start\n1,0\n")
        self.refused("verify", "recorded.swf", "saved.csv", "--policy", "recorded", said="recorded is no policy but what really")
        self.refused("policies", "recorded", said="recorded is no policy but what really happened")

    def test_a_journal_is_of_one_rehearsal(self):
        self.recorded_log([1, 2])
        self.refused("simulate", "recorded.swf", "--policy", "recorded", "--journal", "a.journal", said="and recorded is none")
        self.refused("simulate", "recorded.swf", "--policy", "easy,fcfs", "--journal", "a.journal", said="here are 2 rows")

    def test_rows_of_sacct_tell_what_really_happened(self):
        self.file("sacct.txt", "JobIDRaw|User|Account|QOS|Submit|Start|End|AllocCPUS|State\n"
                  "1|anna|phys|low|2024-05-01T00:00:00|2024-05-01T00:00:30|2024-05-01T01:00:00|4|COMPLETED\n"
                  "2|bert|chem|high|2024-05-01T00:00:10|2024-05-01T01:00:00|2024-05-01T02:00:00|4|COMPLETED\n")
        runs = json.loads(self.rota("simulate", "sacct.txt", "--policy", "recorded,easy", "--json").stdout)["rehearsals"]
        self.assertEqual(runs[0]["wait_mean_s"], (30 + 3590) / 2)
        self.assertAlmostEqual(runs[1]["beside_recorded"]["wait_mean_ratio"], 3560 / 3620)

    def test_jobs_that_are_too_large_are_rejected_by_name_and_counted(self):
        self.file("log.swf", HEAD + row(1) + row(2, processors=5) + row(3, submit=3) + row(4, submit=900, processors=9))
        done = self.rota("simulate", "log.swf", "--json", "--jobs", "jobs.csv")
        run = json.loads(done.stdout)["rehearsals"][0]
        self.assertEqual((run["jobs"], run["rejected_jobs"]), (4, 2))
        self.assertIn("2 jobs were rejected; the first, job 2, asks for ", done.stderr)
        self.assertEqual([r["number"] for r in self.jobs("jobs.csv")], ["1", "2", "3", "4"])
        self.assertEqual(self.rota("verify", "log.swf", "jobs.csv").stdout, "4 of 4 starts identical\n")
        clamped = json.loads(self.rota("simulate", "log.swf", "--json", "--clamp").stdout)["rehearsals"][0]
        self.assertEqual((clamped["jobs"], clamped["rejected_jobs"]), (4, 0))

    def test_says_why_a_job_can_never_run(self):
        self.file("cluster.toml", '[[nodes]]\nnames = "n[1-4]"\nprocessors = 1\n\n'
                                  '[[partitions]]\nname = "short"\nnodes = "n[1-4]"\nmax_time = "60"\n')
        self.file("log.swf", HEAD + row(1, limit=61) + row(2, limit=60))
        done = self.rota("simulate", "log.swf", "--cluster", "cluster.toml")
        self.assertIn("1 job was rejected: job 1, asks for a time limit of 01:01; partition short allows 01:00.\n", done.stderr)
        self.assertIn("1 rejected (the first, job 1, asks for a time limit of 01:01; partition short allows 01:00)", done.stdout)
        self.file("named.jsonl", '{"number":1,"submit":0,"run_time":60,"processors":1,"partition":"shrot"}\n')
        self.refused("simulate", "named.jsonl", "--cluster", "cluster.toml",
                     said='1 job is of partition "shrot", which cluster.toml does not describe; did you mean "short"?')

    def test_tells_what_is_no_job_log(self):
        for name, begin, said in (("README.md", "# Rota\n", "this is no job log"),
                                  ("a.toml", "processors = 4\n", "a cluster file goes to --cluster"),
                                  ("rows.csv", "job,submit\n1,2\n", "parted by blanks"),
                                  ("sacct.txt", "JobID,Submit\n1,2\n", "with sacct -X -P")):
            self.file(name, begin)
            self.refused("simulate", name, said=(f"{name}:1: ", said))
        self.file("log.swf", HEAD + row(1))
        self.rota("simulate", "log.swf", "--journal", "a.journal")
        self.refused("simulate", "a.journal", said="rota replay reads")

    def test_help_is_a_word_too(self):
        self.assertEqual(self.rota("help", "simulate").stdout, self.rota("simulate", "--help").stdout)
        self.assertEqual(self.rota("help").stdout, self.rota("--help").stdout)

    def test_outputs_replace_no_input_and_no_other_output(self):
        self.file("log.swf", HEAD + row(1))
        self.file("a.toml", '[[nodes]]\nnames = "n[1-4]"\nprocessors = 1\n')
        for option in ("--jobs", "--report", "--journal"):
            self.refused("simulate", "log.swf", option, "./log.swf", said="is read by this command")
            self.refused("simulate", "log.swf", "--cluster", "a.toml", option, "a.toml", said="is read by this command")
            self.refused("simulate", "log.swf", option, "-", said="standard output is for the table", code=2)
        for other in ("z", "./z", "../" + self.folder.name + "/z"):
            self.refused("simulate", "log.swf", "--jobs", "z", "--report", other, said="two outputs would be written to")
        self.refused("simulate", "log.swf", "--cluster", str(ROOT / "examples" / "pair.toml"), "--journal", "run.csv",
                     "--jobs", "run-east.csv", said="two outputs would be written to run-east.csv")
        self.refused("convert", "log.swf", "-o", "y.swf", "--write-attributes", "./y.swf", said="to the same place")
        self.assertTrue((self.folder / "log.swf").read_text().startswith(HEAD))
        self.rota("simulate", "log.swf", "--jobs", "/dev/null", "--report", "/dev/null")

    def test_the_report_tells_the_whole_command(self):
        self.file("my log.swf", HEAD + row(1) + row(2, run=90, limit=60) + row(3, limit=60))
        self.rota("simulate", "my log.swf", "--processors", "2", "--clamp", "--policy", "easy,rb-har,strict", "--estimates",
                  "user", "--jobs", "jobs.csv", "--report", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertIn("Made by <code>rota simulate &#39;my log.swf&#39; --processors 2 --policy easy,rb-har,strict "
                      "--estimates user --clamp</code>", page)
        self.assertEqual({row["limit"] for row in self.jobs("jobs-strict.csv") if row["number"] == "2"}, {"60"})

    def jobs(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_job_files_as_csv_and_swf(self):
        self.rota("simulate", DAY, "--policy", "easy,fcfs", "--jobs", "jobs.csv")
        self.assertEqual(len(self.jobs("jobs-easy.csv")), 1500)
        self.assertEqual(len(self.jobs("jobs-fcfs.csv")), 1500)
        self.rota("simulate", DAY, "--jobs", "jobs.swf")
        runs = [json.loads(self.rota("simulate", log, "--json").stdout)["rehearsals"][0] for log in (DAY, "jobs.swf")]
        for run in runs:
            del run["workload"], run["cpu_s"]
        self.assertEqual(*runs)

    def test_jobs_with_tasks_share_accelerators(self):
        self.file("racks.toml", """
            licences = "matlab:8"
            [[nodes]]
            names = "gpu[1-4]"
            processors = 32
            rack = "left"
            accelerators = 2
            accelerator_link = "100M"
            [[nodes]]
            names = "n[1-12]"
            processors = 32
            rack = "left"
            """)
        made = ["generate", "poisson", "--jobs", "300", "--processors", "512", "--estimates", "exact", "--write-attributes",
                "mixed.csv", "--licence-share", "0.1", "--licence-names", "matlab", "--priority-levels", "3",
                "--task-share", "0.5"]
        self.rota(*made, "-o", "mixed.swf")
        sidecar = (self.folder / "mixed.csv").read_text()
        done = self.rota("simulate", "mixed.swf", "--cluster", "racks.toml", "--attributes", "mixed.csv", "--json",
                         "--policy", "easy,easy+bind=node,easy+bind=late+power=demand", "--report", "tasks.html")
        plain, node, late = json.loads(done.stdout)["rehearsals"]
        self.assertNotIn("tasks", plain)
        for run in (node, late):
            tasks = run["tasks"]
            self.assertEqual(tasks["done"],
                             tasks["on_cpus"] + tasks["on_own_accelerators"] + tasks["on_remote_accelerators"])
            self.assertTrue(0 < tasks["accelerator_use"] <= 1 and tasks["bytes_moved"] > 0 and tasks["checks"] > 0)
            self.assertEqual(tasks["accelerators"], 8)
        self.assertEqual(node["tasks"]["on_cpus"], 0)
        self.assertIn("Tasks and accelerators", (self.folder / "tasks.html").read_text())
        self.rota(*made, "-o", "again.swf")
        self.assertEqual((self.folder / "mixed.csv").read_text(), sidecar)

    def test_one_file_of_json_lines_is_a_log_and_its_sidecar(self):
        self.file("racks.toml", """
            licences = "matlab:8"
            [[nodes]]
            names = "gpu[1-4]"
            processors = 128
            rack = "left"
            accelerators = 2
            """)
        model = ["generate", "poisson", "--jobs", "200", "--processors", "512", "--estimates", "factor"]
        attributes = ["--licence-share", "0.1", "--licence-names", "matlab", "--priority-levels", "3"]
        self.rota(*model, *attributes, "-o", "two.swf", "--write-attributes", "two.csv")
        self.rota(*model, *attributes, "-o", "one.jsonl", "--with-attributes")
        self.rota("convert", "one.jsonl", "-o", "back.swf", "--write-attributes", "back.csv")
        self.rota("convert", "two.swf", "--attributes", "two.csv", "-o", "packed.jsonl.gz")
        logs = {"two": ("two.swf", "--attributes", "two.csv"), "one": ("one.jsonl",), "packed": ("packed.jsonl.gz",),
                "back": ("back.swf", "--attributes", "back.csv")}
        for name, log in logs.items():
            self.rota("simulate", *log, "--cluster", "racks.toml", "--policy", "easy+bind=node+preempt=suspend", "--jobs",
                      name + ".jobs", "--quiet")
        self.assertEqual(len({(self.folder / (name + ".jobs")).read_bytes() for name in logs}), 1)

    def test_workloads_from_pipes_and_gzip(self):
        self.file("day.swf.gz", gzip.compress(Path(DAY).read_bytes()))
        plain = self.rota("simulate", DAY, "--json").stdout
        for done in (self.rota("simulate", "day.swf.gz", "--json"),
                     self.rota("simulate", "-", "--json", input=Path(DAY).read_bytes()),
                     self.rota("simulate", "-", "--json", input=gzip.compress(Path(DAY).read_bytes()))):
            hashes = [json.loads(text)["rehearsals"][0]["plan_hash"] for text in (plain, done.stdout)]
            self.assertEqual(*hashes)

    def test_the_report_is_written_whole(self):
        self.rota("simulate", DAY, "--report", "report.html")
        self.assertTrue((self.folder / "report.html").read_text().rstrip().endswith("</html>"))

    def test_several_threads_give_what_one_gives(self):
        tables = []
        for threads in ("1", "4"):
            done = self.rota("simulate", DAY, "--policy", "fcfs,easy,conservative", "--json", "--threads", threads)
            tables.append([r["plan_hash"] for r in json.loads(done.stdout)["rehearsals"]])
        self.assertEqual(*tables)


class Verify(RotaCase):
    def saved(self):
        self.rota("simulate", DAY, "--policy", "easy", "--jobs", "easy.csv")
        with open(self.folder / "easy.csv", newline="") as file:
            return list(csv.DictReader(file))

    def save(self, rows):
        self.file("saved.csv", "job_id,start\n" + "".join(f"{r['number']},{r['start']}\n" for r in rows))

    def last_line(self, code, policy="easy"):
        done = self.rota("verify", DAY, "saved.csv", "--policy", policy, code=code)
        return done.stdout.splitlines()[-1], done.stdout

    def test_identical(self):
        self.save(self.saved())
        self.assertEqual(self.last_line(0)[0], "1500 of 1500 starts identical")

    def test_one_start_differs(self):
        rows = self.saved()
        rows[700]["start"] = str(float(rows[700]["start"]) + 1)
        self.save(rows)
        last, said = self.last_line(3)
        self.assertEqual(last, "1499 of 1500 starts identical")
        self.assertIn(f"first difference: job {rows[700]['number']} ", said)
        self.assertIn("processors busy", said)

    def test_rows_are_missing(self):
        self.save(self.saved()[:-2])
        last, said = self.last_line(3)
        self.assertEqual(last, "1498 of 1500 starts identical")
        self.assertIn("2 jobs of the workload are not in the schedule", said)

    def test_another_policy(self):
        self.save(self.saved())
        self.assertRegex(self.last_line(3, "fcfs")[0], r"^\d+ of 1500 starts identical$")

    def test_schedules_that_cannot_be_read(self):
        for text, said in [("", "empty"), ("a,b\n1,2\n", "job_id and start"), ("job_id,start\n1,x\n", ":2: start"),
                           ("job_id,start\n1,1e300\n", ":2: start"), ("job_id,start\n1,2\n1,3\n", "twice"),
                           ("job_id,start\n1,-5\n", ":2: start: \"-5\" lies before second 0"),
                           ("job_id,start\n1\n", ":2: it has too few")]:
            with self.subTest(text=text):
                self.file("saved.csv", text)
                self.refused("verify", DAY, "saved.csv", said=("saved.csv", said))


class Signals(RotaCase):
    def test_a_reader_that_goes_away_is_no_crash(self):
        for command in ("generate poisson --jobs 1000000", "manual", f"simulate {DAY}"):
            done = subprocess.run(["bash", "-c", f"set -o pipefail; '{ROTA}' {command} | head -1"], cwd=self.folder,
                                  capture_output=True, text=True)
            self.assertIn(done.returncode, (0, 128 + signal.SIGPIPE))
            self.assertEqual(done.stderr, "")

    def test_an_interrupt_leaves_nothing_behind(self):
        running = subprocess.Popen([ROTA, "generate", "poisson", "--jobs", "1000000000", "-o", "big.swf"],
                                   cwd=self.folder, stderr=subprocess.PIPE)
        with running:
            while not self.is_writing(running.pid):
                self.assertIsNone(running.poll(), "it ended by itself")
            running.send_signal(signal.SIGINT)
            self.assertEqual(running.wait(PATIENCE), -signal.SIGINT)
            self.assertEqual(running.stderr.read(), b"")
        self.assertEqual(list(self.folder.iterdir()), [])

    def is_writing(self, pid):
        """Whether the process has put something into a file of this folder."""
        try:
            return any(str(self.folder) in os.readlink(each) and each.stat().st_size > 0
                       for each in Path(f"/proc/{pid}/fd").iterdir())
        except FileNotFoundError:
            return False


class Terminals(RotaCase):
    def on_a_terminal(self, *arguments):
        """What it shows on a terminal, to which both outputs go."""
        ours, theirs = pty.openpty()
        shown = b""
        with subprocess.Popen([ROTA, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs):
            os.close(theirs)
            while select.select([ours], [], [], PATIENCE)[0]:
                try:
                    shown += os.read(ours, 65536)
                except OSError:  # all of it has been read and the other side is closed
                    break
        os.close(ours)
        return shown.decode()

    def test_no_bar_where_it_is_over_at_once(self):
        shown = self.on_a_terminal("simulate", DAY, "--policy", "fcfs")
        self.assertNotIn("\r[", shown)
        self.assertIn("1,500 jobs on 512 processors", shown)

    def test_a_bar_where_it_takes_over_a_second_and_none_in_a_file(self):
        self.rota("generate", "poisson", "--jobs", "400000", "-o", "long.swf")
        policies = ",".join(["easy++"] * 8)
        command = ["simulate", "long.swf", "--threads", "1", "--policy", policies]
        shown = self.on_a_terminal(*command)
        self.assertRegex(shown, r"\r\[#*\.*\] +\d+ %  [\d,]+ of 3,200,000 jobs")
        self.assertIn("\r\x1b[K", shown)  # and it is taken away again
        self.assertNotIn("\r[", self.on_a_terminal(*command, "--quiet"))
        self.assertNotIn("\r", self.rota(*command).stderr)


class Policies(RotaCase):
    def test_every_policy_of_the_list_can_be_rehearsed_and_explained(self):
        listed = json.loads(self.rota("policies", "--json").stdout)
        names = [policy["name"] for policy in listed["policies"]]
        self.assertGreaterEqual(len(names), 8)
        self.file("log.swf", HEAD + row(1) + row(2, submit=1, processors=4) + row(3, submit=2))
        of_one_site = [policy["name"] for policy in listed["policies"] if "auction=" not in policy["stands_for"]]
        self.assertEqual(len(of_one_site), len(names) - 1)
        self.rota("simulate", "log.swf", "--policy", ",".join(of_one_site))
        for policy in listed["policies"]:
            for name in [policy["name"], *policy["aliases"]]:
                self.assertIn(policy["meaning"][:30], self.rota("policies", name).stdout)
            self.assertTrue(policy["source"])
        text = self.rota("policies").stdout
        for knob in listed["knobs"]:
            self.assertTrue(knob["meaning"] and knob["values"] and knob["default"] and knob["source"])
            self.assertIn(knob["name"], text)

    def test_every_word_that_a_knob_lists_is_taken(self):
        self.file("log.swf", HEAD + row(1))
        self.file("gpu.toml", '[[nodes]]\nnames = "n"\naccelerators = 1\n')
        self.file("sites.toml", "".join(f'[[sites]]\nname = "{site}"\nprocessors = 4\n' for site in "ab"))
        self.file("speeds.toml", '[[nodes]]\nnames = "f"\ncpu_factor = 2\n[[nodes]]\nnames = "s"\n')
        for knob in json.loads(self.rota("policies", "--json").stdout)["knobs"]:
            needs = {"bind": "gpu.toml", "migrate": "speeds.toml"}.get(knob["name"])
            if knob["name"].startswith("power"):
                needs = "gpu.toml"
            if knob["name"].startswith("auction"):
                needs = "sites.toml"
            cluster = ["--cluster", needs] if needs else []
            policy = "fcfs" if knob["name"] in ("skip", "planner") else "easy"  # where the knob has an effect
            if knob["name"] in ("bf-interval", "priority", "favor-small", "small-relative-to-time"):
                policy = "slurm" + "+priority=multifactor" * (knob["name"] in ("favor-small", "small-relative-to-time"))
            if knob["name"] == "fair-tree":
                policy = "slurm+priority=multifactor+weight-fairshare=1"
            if knob["name"] == "preempt-by":
                policy = "slurm+preempt=requeue"
            for family, of in (("power", "power"), ("auction", "auction"), ("hrrn", "order")):
                if knob["name"].startswith(family + "-"):
                    policy += f"+{of}=" + knob["meaning"].split(":")[0].split(",")[0]
            for value in knob["values"].split("|"):
                under = "slurm" if (knob["name"], value.strip()) == ("preempt", "cancel") else policy
                if value.strip().replace("-", "").isalnum() and value.strip().islower():
                    self.rota("simulate", "log.swf", "--policy", f"{under}+{knob['name']}={value.strip()}", *cluster)


class Reproduce(RotaCase):
    def test_a_figure_that_is_not_where_it_should_be_is_told_by_the_exit_code(self):
        done = self.rota("reproduce", "grace", "--seeds", "2", "--sizes", "1", code=3)  # one job: none is backfilled
        self.assertIn("MISSED  completion of backfills, strict", done.stdout)

    def test_the_report_draws_the_figures_and_needs_nothing_beside_itself(self):
        self.rota("reproduce", "binding", "--report", "binding.html", code=3)
        page = (self.folder / "binding.html").read_text()
        self.assertEqual(page.count("<svg"), 9)
        self.assertNotIn("<script", page)
        self.refused("reproduce", "binding", "--report", "no/such/folder.html", said="folder.html")


class Help(RotaCase):
    def test_every_command_has_a_help_with_its_options_and_an_example_that_names_it(self):
        for line in ("simulate", "tune", "verify", "convert", "generate", "reproduce", "policies", "completion", "manual", "submit",
                     "run", "queue", "top", "job", "explain", "logs", "wait", "cancel", "hold", "release", "requeue", "suspend",
                     "resume", "update", "nodes", "nodes drain", "partitions", "licences", "sites", "auction", "accel", "accel serve",
                     "accel run", "accel status", "reservations",
                     "reserve", "unreserve",
                     "history", "policy", "policy set", "reload", "status",
                     "doctor"):
            text = self.rota(*line.split(), "--help").stdout
            self.assertTrue(text.startswith(f"Usage: rota {line}"), text)
            self.assertRegex(text, rf"\nExamples:\n(  .*\n)*  .*rota {line}")
            self.assertLessEqual(max(len(l) for l in text.split("\nExamples:")[0].splitlines()), 100)
        self.assertRegex(self.rota("--version").stdout, r"^rota \d+\.\d+\.\d+\n$")
        self.assertEqual(self.rota("version").stdout, self.rota("--version").stdout)


if __name__ == "__main__":
    main()
