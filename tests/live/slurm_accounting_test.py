#!/usr/bin/env python3
"""A real Slurm with slurmdbd and MariaDB runs jobs of every kind, and what rota import slurm makes of its accounting is
held against what was submitted and against what sacct says itself. Usage: slurm_accounting_test.py ROTA"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import slurm_site
from slurm_jobs import SlurmJobs
from slurm_site import SlurmSite

if slurm_site.lacks():
    print(f"skipped: {slurm_site.lacks()}")
    sys.exit(77)

ROTA = os.path.abspath(sys.argv.pop(1))
COLUMNS = ("JobIDRaw,JobID,Cluster,User,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,State,"
           "AllocCPUS,ReqCPUS,NNodes,ReqNodes,ReqMem,ReqTRES,AllocTRES,NodeList")
DESCRIBED = (("config.txt", "scontrol show config"), ("nodes.txt", "scontrol -a -o show node"),
             ("partitions.txt", "scontrol -a -o show partition"), ("licences.txt", "scontrol -o show lic"))
LONG_FORM = (("nodes.txt", "scontrol -a show node"), ("partitions.txt", "scontrol -a show partition"),
             ("licences.txt", "scontrol show lic"))
# Where a job was started more than once, sacct's own wait is that of one start, and with -D it says so for each.
STARTED_AGAIN = {"REQUEUED", "PREEMPTED", "NODE_FAIL", "RESIZING"}
SPRING = 1774746000  # 2026-03-29 01:00 UTC: clocks in Berlin go from 2 to 3
AUTUMN = 1792890000  # 2026-10-25 01:00 UTC: and from 3 to 2


class SlurmAccounting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="rota-slurm-")
        os.chmod(cls.folder, 0o755)
        os.mkdir(os.path.join(cls.folder, "slurm"))
        cls.site = SlurmSite(os.path.join(cls.folder, "slurm"))
        try:
            cls.site.start()
            cls.jobs = SlurmJobs(cls.site)
            cls.jobs.run_all()
            cls.save()
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.site.stop()
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def at(cls, *parts):
        return os.path.join(cls.folder, *parts)

    @classmethod
    def save(cls):
        """What an administrator would save."""
        os.mkdir(cls.at("saved"))
        for name, command in DESCRIBED:
            cls.put(("saved", name), cls.site.ask(*command.split()))
        cls.put(("saved", "sacct.txt"), cls.sacct())

    @classmethod
    def put(cls, where, text):
        with open(cls.at(*where), "w") as file:
            file.write(text)

    @classmethod
    def sacct(cls, *options, columns=COLUMNS, since="2020-01-01", until="now", zone="UTC"):
        form = () if "--json" in options else ("-P", "--format=" + columns)
        return cls.site.ask("sacct", "-X", "-D", "--allusers", "-S", since, "-E", until, *form, *options,
                            env={"TZ": zone})

    def rota(self, *arguments, code=0):
        done = subprocess.run([ROTA, *arguments], capture_output=True, text=True, env=self.site.env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def imported(self, name, *options):
        said = self.rota("import", "slurm", self.at(name), *options)
        return said

    def read(self, *where):
        with open(self.at(*where), "rb") as file:
            return file.read()

    def jobs_of(self, name):
        """By number; the header is under None, but for its notes, which speak of how the jobs were exported."""
        lines = [json.loads(line) for line in gzip.decompress(self.read(name, "jobs.jsonl.gz")).splitlines()]
        lines[0].pop("notes", None)
        return {line.get("number"): line for line in lines}

    def rows(self, text):
        """sacct's rows, by their columns."""
        lines = text.rstrip("\n").split("\n")
        names = lines[0].split("|")
        return [dict(zip(names, line.split("|"))) for line in lines[1:]]

    def same_jobs(self, one, other):
        self.assertEqual(self.jobs_of(one), self.jobs_of(other))

    def test_every_row_is_a_job_or_dropped_for_a_reason(self):
        self.imported("whole", "--from", self.at("saved"))
        report = json.loads(self.read("whole", "report.json"))["workload"]
        rows = self.rows(self.sacct())
        self.assertEqual(report["rows"], len(rows))
        self.assertEqual(report["dropped"], sum(row["rows"] for row in report["dropped_rows"]))
        self.assertEqual(report["rows"], report["jobs"] + report["dropped"])
        kept = set(self.jobs_of("whole")) - {None}
        self.assertEqual(len(kept), report["jobs"])
        ended = {int(row["JobIDRaw"]) for row in rows if row["Start"] != "None" and row["End"] != "Unknown"}
        self.assertLessEqual(180, len(kept))  # a few are cancelled before they start, or after, as it happens
        self.assertEqual(kept, ended & kept)
        for row in rows:  # a job that ran to an end is there
            if row["State"].split(" ")[0] in ("COMPLETED", "FAILED", "TIMEOUT") and int(row["ElapsedRaw"]) > 0:
                self.assertIn(int(row["JobIDRaw"]), kept, row)
        running = {int(row["JobIDRaw"]) for row in rows if row["State"] == "RUNNING"}
        self.assertEqual((len(running), running & kept), (2, set()))

    def test_every_kind_is_among_them(self):
        states = {row["State"].split(" ")[0] for row in self.rows(self.sacct())}
        self.assertLessEqual({"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "REQUEUED",
                              "RESIZING", "RUNNING"}, states)

    def test_waits_are_those_of_sacct(self):
        self.imported("waits", "--from", self.at("saved"))
        jobs = self.jobs_of("waits")
        start = jobs[None]["unix_start"]
        text = self.site.ask("sacct", "-X", "-D", "--allusers", "-S", "2020-01-01", "-P",
                             "--format=JobIDRaw,Eligible,Start,End,ElapsedRaw,State,Reserved",
                             env={"SLURM_TIME_FORMAT": "%s"})
        by_job = {}
        for row in self.rows(text):
            by_job.setdefault(int(row["JobIDRaw"]), []).append(row)
        compared = 0
        for number, job in jobs.items():
            if number is None:
                continue
            rows = by_job[number]
            if any(row["State"] in STARTED_AGAIN for row in rows):
                continue
            row, = rows
            self.assertEqual(job["submit"] + start, int(row["Eligible"]), row)
            hours, minutes, seconds = map(int, row["Reserved"].split(":"))
            self.assertEqual(job["wait"], hours * 3600 + minutes * 60 + seconds, row)
            self.assertEqual(job["run_time"], max(1, int(row["ElapsedRaw"])), row)
            compared += 1
        self.assertLessEqual(170, compared)

    def test_requests_are_those_that_were_submitted(self):
        self.imported("requests", "--from", self.at("saved"))
        jobs = self.jobs_of("requests")
        compared = dict.fromkeys(("gpus", "licence", "memory", "nodes", "processors"), 0)
        for number, asked in self.jobs.asked.items():
            job = jobs.get(number)
            if not job:
                continue
            self.assertEqual(job.get("accelerators", 0), asked.get("gpus", 0), (job, asked))
            self.assertEqual(job.get("accelerator_type"), asked.get("gpu_type"), (job, asked))
            licence, _, count = job.get("licences", "").partition(":")
            self.assertEqual((licence, int(count or 1) if licence else 0),
                             (asked.get("licence", ""), asked.get("licences", 0)), (job, asked))
            if "memory" in asked:
                self.assertEqual(job["memory"], asked["memory"], (job, asked))
            for field in ("nodes", "processors"):
                if field in asked:
                    self.assertEqual(job[field], asked[field], (job, asked))
            for kind in compared:
                compared[kind] += kind in asked
        self.assertTrue(all(count >= 5 for count in compared.values()), compared)

    def jobs_of_saved(self):
        if not os.path.exists(self.at("as-saved")):
            self.imported("as-saved", "--from", self.at("saved"))
        return self.jobs_of("as-saved")

    def remarks(self, name, kind="remarks"):
        return {row["what"]: row["rows"] for row in json.loads(self.read(name, "report.json"))["workload"][kind]}

    def test_what_slurm_refused_is_no_job_and_counted(self):
        jobs = self.jobs_of_saved()
        refused = [int(row["JobIDRaw"]) for row in self.rows(self.sacct())
                   if row["State"] == "FAILED" and row["NodeList"] == "None assigned" and row["ElapsedRaw"] == "0"]
        self.assertEqual((len(refused), [number for number in refused if number in jobs]), (2, []))
        told, = (rows for what, rows in self.remarks("as-saved", "dropped_rows").items() if what.startswith("refused"))
        self.assertEqual(told, 2)

    def test_tasks_that_waited_for_their_array_are_told_apart(self):
        self.jobs_of_saved()
        told = {what.split(" ")[1]: rows for what, rows in self.remarks("as-saved").items() if what.startswith("eligible")}
        self.assertLessEqual(30, told["after"])  # of 40 at most 6 at once, and of 30 at most 4
        self.assertLess(told["later"], told["after"])  # some have another reason, more of them on busy processors

    def test_what_slurm_does_not_account_is_told_and_taken_from_submit_line(self):
        self.jobs_of_saved()
        guessed = json.loads(self.read("as-saved", "report.json"))["guessed"]
        self.assertEqual([said.endswith("(comsol)") for said in guessed if "AccountingStorageTRES" in said], [True])
        self.put(("with-lines.txt",), self.sacct(columns=COLUMNS + ",SubmitLine"))
        self.imported("with-lines", "--from", self.at("saved"), "--sacct", self.at("with-lines.txt"))
        jobs = self.jobs_of("with-lines")
        self.assertEqual([jobs[number]["licences"] for number in self.jobs.unaccounted], ["comsol:2", "comsol:2"])
        whole, = (rows for what, rows in self.remarks("with-lines").items() if "--mem=0" in what)
        self.assertEqual(whole, 1)

    def test_the_cluster_is_that_of_slurm(self):
        self.imported("cluster", "--from", self.at("saved"))
        report = json.loads(self.read("cluster", "report.json"))["cluster"]
        self.assertEqual({name: report[name] for name in ("name", "nodes", "processors", "accelerators", "licences",
                                                          "partitions")},
                         {"name": "toy", "nodes": 6, "processors": 24, "accelerators": 4,
                          "licences": {"matlab": 3, "fluent": 12, "comsol": 5}, "partitions": ["main", "debug", "gpu", "urgent"]})
        shutil.copytree(self.at("saved"), self.at("long"))
        for name, command in LONG_FORM:
            self.put(("long", name), self.site.ask(*command.split()))
        self.imported("cluster-long", "--from", self.at("long"))
        self.assertEqual(self.read("cluster-long", "cluster.toml"), self.read("cluster", "cluster.toml"))

    def test_imported_twice_it_is_equal_and_nothing_is_overwritten(self):
        self.imported("twice", "--from", self.at("saved"))
        names = ("cluster.toml", "jobs.jsonl.gz", "report.txt", "report.json")
        before = [self.read("twice", name) for name in names]
        self.assertIn("--overwrite", self.rota("import", "slurm", self.at("twice"), "--from", self.at("saved"), code=1))
        self.imported("twice", "--from", self.at("saved"), "--overwrite")
        self.assertEqual([self.read("twice", name) for name in names], before)
        self.assertEqual(sorted(os.listdir(self.at("twice"))), sorted(names))

    def test_two_overlapping_exports_are_one(self):
        rows = self.rows(self.sacct())
        times = sorted(row["Submit"] for row in rows)
        third, two_thirds = times[len(times) // 3], times[2 * len(times) // 3]
        self.imported("one", "--from", self.at("saved"))
        self.put(("second.txt",), self.sacct(since=third))
        self.put(("first.txt",), self.sacct(until=two_thirds))
        self.imported("two", "--from", self.at("saved"), "--sacct", self.at("second.txt"), "--sacct",
                      self.at("first.txt"), "--sacct", self.at("saved", "sacct.txt"))
        self.same_jobs("one", "two")
        self.assertEqual(self.read("one", "cluster.toml"), self.read("two", "cluster.toml"))

    def test_json_tells_the_same(self):
        # SubmitLine has throttles, as JSON has; what is not accounted and nodes asked for by name JSON of 22.05 has not.
        lines = self.sacct(columns=COLUMNS + ",SubmitLine").replace("-Lcomsol:2 ", "")
        self.put(("lines.txt",), re.sub(r" -w[a-z0-9,]+", "", lines))
        self.imported("text", "--from", self.at("saved"), "--sacct", self.at("lines.txt"))
        self.put(("jobs.json",), self.sacct("--json"))
        self.imported("json", "--from", self.at("saved"), "--sacct", self.at("jobs.json"))
        self.same_jobs("text", "json")
        self.assertEqual({job.get("array_throttle") for job in self.jobs_of("text").values()}, {None, 6, 4})

    def test_it_comes_live_as_well(self):
        said = self.imported("live", "--live", "--since", "2020-01-01")
        self.imported("of-live", "--from", self.at("live", "saved"))
        self.same_jobs("live", "of-live")
        command = said.rstrip("\n").split("\n")[-1].strip()
        self.assertTrue(command.startswith("rota simulate "), said)
        done = subprocess.run(["sh", "-c", command.replace("rota", ROTA, 1)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("conservative", done.stdout)
        self.assertIn("what the site has now", done.stdout)
        left_out = json.loads(self.read("live", "report.json"))["cluster"]["left_out"]
        self.assertEqual([said for said in left_out if "limit" in said], [])
        self.assertIn(b"[[limits]]", self.read("live", "cluster.toml"))

    def test_what_was_fetched_is_kept_where_the_import_fails(self):
        self.site.sql("UPDATE accounting.toy_job_table SET `partition` = 'brief' WHERE `partition` = 'debug'")
        try:
            said = self.rota("import", "slurm", self.at("failed"), "--live", "--since", "2020-01-01", code=1)
        finally:
            self.site.sql("UPDATE accounting.toy_job_table SET `partition` = 'debug' WHERE `partition` = 'brief'")
        self.assertFalse(os.path.exists(self.at("failed")))
        kept = said.split("go on with --from ")[1].split(" ")[0]
        self.imported("of-kept", "--from", kept, "--partition", "brief=debug")
        self.assertEqual(len(self.jobs_of("of-kept")), len(self.jobs_of_saved()))

    def test_a_partition_that_is_not_described_is_told_with_the_nearest_name(self):
        shutil.copytree(self.at("saved"), self.at("renamed"))
        self.put(("renamed", "partitions.txt"),
                 self.read("saved", "partitions.txt").decode().replace("PartitionName=debug", "PartitionName=debugs"))
        said = self.rota("import", "slurm", self.at("lacking"), "--from", self.at("renamed"), code=1)
        self.assertIn('of partition "debug"', said)
        self.assertIn('did you mean "debugs"?', said)
        self.assertFalse(os.path.exists(self.at("lacking")))
        self.imported("mended", "--from", self.at("renamed"), "--partition", "debug=debugs")
        said = self.rota("simulate", self.at("mended", "jobs.jsonl.gz"), "--cluster", self.cluster_file(), code=1)
        self.assertIn('did you mean "debug"?', said)

    def cluster_file(self):
        if not os.path.exists(self.at("as-it-is")):
            self.imported("as-it-is", "--from", self.at("saved"))
        return self.at("as-it-is", "cluster.toml")

    def test_waits_are_right_on_both_sides_of_a_change_of_the_clock(self):
        for change in (SPRING, AUTUMN):
            self.shift_to(change)
            window = {"since": "2026-03-01", "until": "2026-11-10"}
            try:
                self.put(("shifted.txt",), self.sacct(**window))
                self.put(("local.txt",), self.sacct(zone="Europe/Berlin", **window))
            finally:
                self.shift_back()
            for name, options in (("utc", ()), ("local", ("--time-zone", "Europe/Berlin"))):
                source = "shifted.txt" if name == "utc" else "local.txt"
                self.imported(f"{name}-{change}", "--from", self.at("saved"), "--sacct", self.at(source), *options)
            utc, local = (self.jobs_of(f"{name}-{change}") for name in ("utc", "local"))
            across = [n for n, job in utc.items() if n is not None and job["submit"] + utc[None]["unix_start"] < change]
            self.assertTrue(10 < len(across) < len(utc) - 10, len(across))
            if change == SPRING:
                self.assertEqual(utc, local)
                continue
            for number, job in utc.items():  # all was in the hour that comes twice: it is told, and waits are right
                if number is not None:
                    for field in ("run_time", "wait"):
                        self.assertEqual(job[field], local[number][field], job)
                    came = [jobs[number]["submit"] + jobs[None]["unix_start"] for jobs in (utc, local)]
                    self.assertIn(came[0] - came[1], (0, 3600), job)
            self.assertIn("comes twice", self.read(f"local-{change}", "report.txt").decode())

    def shift_to(self, instant):
        """The whole past is moved, so that some of it lies on either side."""
        rows = self.rows(self.site.ask("sacct", "-X", "-D", "--allusers", "-S", "2020-01-01", "-P",
                                       "--format=JobIDRaw,Submit", env={"SLURM_TIME_FORMAT": "%s"}))
        times = sorted(int(row["Submit"]) for row in rows)
        self.shifted = instant - max(set(times), key=lambda at: min(sum(time < at for time in times),
                                                                    sum(time >= at for time in times)))
        self.move(self.shifted)

    def shift_back(self):
        self.move(-self.shifted)

    def move(self, seconds):
        for column in ("time_submit", "time_eligible", "time_start", "time_end"):
            self.site.sql(f"UPDATE accounting.toy_job_table SET {column} = CAST({column} AS SIGNED) + ({seconds}) "
                          f"WHERE {column} > 0 AND {column} < 4000000000")


if __name__ == "__main__":
    unittest.main(verbosity=2)
