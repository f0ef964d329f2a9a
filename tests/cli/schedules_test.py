#!/usr/bin/env python3
"""Schedules as files: in the columns of Batsim, summed up and drawn by `rota report`, and the table that a rehearsal wrote
once more, with the figures of that rehearsal.

Usage: schedules_test.py ROTA
"""
import csv
import json
import re

from rota_case import DAY, HEAD, RotaCase, main, row


class Schedules(RotaCase):
    def test_what_batsim_draws(self):
        self.rota("simulate", DAY, "--policy", "easy,fcfs", "--jobs", "out_jobs.csv", "--quiet")
        with open(self.folder / "out_jobs-easy.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 1500)
        self.assertEqual(rows[0]["workload_name"], "day")
        self.assertTrue(all(r["success"] in ("0", "1") and re.fullmatch(r"[\d -]+", r["allocated_resources"]) for r in rows))
        self.assertEqual(self.rota("verify", DAY, "out_jobs-easy.csv").stdout, "1500 of 1500 starts identical\n")

    def test_foreign_schedules_are_summed_up_and_drawn(self):
        real = self.rota("simulate", DAY, "--policy", "easy", "--jobs", "ours.csv", "--json", "--quiet").stdout
        self.rota("simulate", DAY, "--policy", "easy", "--jobs", "theirs_jobs.csv", "--quiet")
        wanted = json.loads(real)["rehearsals"][0]
        done = self.rota("report", "ours.csv", "theirs_jobs.csv", "--processors", "512", "--json", "--report", "page.html")
        for row, name in zip(json.loads(done.stdout)["rehearsals"], ("ours", "theirs_jobs"), strict=True):
            self.assertEqual(row["policy"], name)
            for figure in ("jobs", "makespan_s", "utilization", "wait_mean_s", "wait_p95_s", "wait_max_s",
                           "bounded_slowdown_mean", "timed_out_jobs"):
                self.assertAlmostEqual(row[figure], wanted[figure], 9, figure)
        page = (self.folder / "page.html").read_text()
        self.assertIn("theirs_jobs", page)
        self.assertIn("rota report ours.csv theirs_jobs.csv --processors 512", page)
        self.assertIn("--processors would say it", self.rota("report", "ours.csv").stderr)
        may = self.file("may.csv", "number,submit,start,end,processors\n1,0,0,9,4\n2,1,9,18,4\n")
        june = self.file("june.csv", "number,submit,start,end,processors\n1,0,0,9,1\n2,1,1,10,1\n")
        done = self.rota("report", may, june, "--processors", "4")
        self.assertIn("schedule of june: 2 jobs", done.stdout)
        self.assertNotIn("Choose", done.stdout)
        self.assertIn("june: not the same jobs as those of may, so that the two are not compared", done.stderr)
        rounded = self.file("rounded.csv", "number,submit,start,end,processors\n2,0,0,10,4\n1,1,1,10,4\n")
        done = self.rota("report", may, rounded, "--processors", "8", "--report", "rounded.html")
        self.assertIn("Choose", done.stdout)
        page = (self.folder / "rounded.html").read_text()
        for told in (" ".join(done.stdout.split()), page):
            self.assertIn("chance was not measured.", told)
            self.assertNotIn("--copies", told, "nobody can rehearse a schedule again")
        self.assertEqual(page.count('<section class="workload"'), 1)
        self.assertIn('"drawn":2', page)
        apart = self.rota("report", may, june, rounded, "--processors", "8").stdout
        self.assertEqual((apart.count(": 2 jobs"), apart.count("Choose")), (2, 1), "the first and the last are compared")
        self.refused("report", "ours.csv", "--processors", "8", said="in use at once")
        self.refused("report", self.file("bad.csv", "number,submit\n1,0\n"), said=("bad.csv:1: ", "start"))
        self.refused("report", self.file("bad.csv", "number,submit,start,end,processors\n1,5,9,7,1\n"), said="bad.csv:2: the job ends")


class ThereAndBack(RotaCase):
    FIGURES = ("jobs", "makespan_s", "utilization", "wait_mean_s", "wait_median_s", "wait_p95_s", "wait_max_s",
               "bounded_slowdown_mean", "response_ratio_mean", "timed_out_jobs")

    def same_figures(self, *arguments, processors):
        done = self.rota("simulate", *arguments, "--jobs", "jobs.csv", "--json", "--quiet").stdout
        wanted = json.loads(done)["rehearsals"][0]
        again = json.loads(self.rota("report", "jobs.csv", "--processors", processors, "--json").stdout)["rehearsals"][0]
        for figure in self.FIGURES:
            if wanted[figure] is None and figure == "timed_out_jobs":  # no log tells it of what really happened
                continue
            self.assertAlmostEqual(again[figure], wanted[figure], 9, figure)
        with open(self.folder / "jobs.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_recorded_jobs_that_were_queued_again_and_suspended(self):
        times = lambda submit, start, end: "|".join(str(1709280000 + second) for second in (submit, start, end))
        self.file("sacct.txt", "JobIDRaw|Submit|Start|End|ElapsedRaw|State|TimelimitRaw|AllocCPUS\n"
                  f"1|{times(0, 30, 90)}|60|REQUEUED|60|8\n1|{times(90, 200, 560)}|360|COMPLETED|60|8\n"
                  f"2|{times(10, 60, 700)}|400|COMPLETED|60|4\n3|{times(20, 300, 900)}|600|TIMEOUT|10|4\n")
        rows = self.same_figures("sacct.txt", "--processors", "16", "--policy", "recorded", processors="16")
        self.assertEqual([r["wait"] for r in rows], ["140", "50", "280"])
        self.assertEqual([r["suspended"] for r in rows], ["0", "240", "0"])

    def test_jobs_that_gave_way(self):
        fields = "{} {} -1 {} 4 -1 -1 4 {} -1 1 1 1 1 1 {} -1 -1\n".format
        self.file("log.swf", HEAD + "; Partition: 1 batch\n; Partition: 2 urgent\n" + fields(1, 0, 10, 20, 1) +
                  fields(2, 4, 5, 5, 2))
        self.file("cluster.toml", 'processors = 4\n[[partitions]]\nname = "batch"\n[[partitions]]\nname = "urgent"\n'
                  "priority = 1\n")
        for how, wait in (("suspend", "5"), ("requeue", "9"), ("checkpoint+checkpoint=2s", "7")):
            rows = self.same_figures("log.swf", "--cluster", "cluster.toml", "--policy", f"fcfs-skip+preempt={how}",
                                     processors="4")
            self.assertEqual(rows[0]["wait"], wait, how)

    def test_jobs_whose_waits_are_not_told(self):
        text = HEAD + "".join(line.replace(" -1 ", f" {wait} ", 1)
                              for line, wait in ((row(1), 7), (row(2, submit=10), 3), (row(3, submit=20), -1)))
        self.file("log.swf", text)
        rows = self.same_figures("log.swf", "--policy", "recorded", processors="4")
        self.assertEqual([r["state"] for r in rows], ["completed"] * 3)
        self.assertEqual([r["start"] for r in rows], ["7", "13", ""])


if __name__ == "__main__":
    main()
