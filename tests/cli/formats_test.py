#!/usr/bin/env python3
"""Logs of other batch systems and of Batsim: what becomes of each record, through the whole program. The logs in logs/
are made up, after the documentation of each format.

Usage: formats_test.py ROTA
"""
import csv
import json
import re
from pathlib import Path

from rota_case import DAY, HEAD, RotaCase, main, row

LOGS = Path(__file__).resolve().parent / "logs"


class Formats(RotaCase):
    def converted(self, name, *options):
        """The jobs of a log by number, and what is told of its rows; which must add up."""
        done = self.rota("convert", str(LOGS / name), "--to", "jsonl", *options)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.header, jobs = lines[0], lines[1:]
        told = {match[2]: int(match[1].replace(",", "")) for match in re.finditer(r"^ +([\d,]+)  (.*) \(first in line", done.stderr, re.M)}
        rows, kept = (int(n) for n in re.match(r"(\d+) rows read, (\d+) jobs kept", done.stderr).groups())
        dropped = sum(count for what, count in told.items() if what.endswith((": dropped", ": passed over", "last one",
                      "passed over, for their members have their own", "unknown, dropped")))
        self.assertEqual((rows, kept), (kept + dropped, len(jobs)), done.stderr)
        return {job["number"]: job for job in jobs}, told

    def test_pbs(self):
        jobs, told = self.converted("pbs-day")
        self.assertEqual(sorted(jobs), [100, 101, 104, 105, 106])
        self.assertEqual(self.header["unix_start"], 1709280000)
        scattered = jobs[100]
        self.assertEqual((scattered["submit"], scattered["wait"], scattered["run_time"], scattered["processors"],
                          scattered["nodes"], scattered["memory"], scattered["limit"], scattered["status"]),
                         (0, 10, 3600, 16, 2, 16 << 30, 7200, 1))
        self.assertEqual((scattered["user"], scattered["group"], scattered["partition"]), ("anna", "p 1", "workq"))
        rerun = jobs[101]  # ten of its sixty minutes it was suspended, and fourteen it had run before
        self.assertEqual(rerun["earlier_elapsed"], 840)
        self.assertEqual((rerun["submit"], rerun["wait"], rerun["run_time"], rerun["suspended"], rerun["status"],
                          rerun["accelerators"], rerun["accelerator_type"], rerun["licences"], rerun["nodes"], rerun["memory"]),
                         (300, 61, 3000, 600, 0, 2, "a100", "matlab:3", 1, 8 << 30))
        self.assertNotIn("suspended", scattered)
        torque = jobs[104]
        self.assertEqual((torque["processors"], torque["nodes"], torque["memory"], torque["limit"], torque["run_time"]),
                         (8, 2, 8 << 30, 96 * 3600, 3600))
        for member in (jobs[105], jobs[106]):  # of an array: new numbers, and from when they were eligible
            self.assertEqual((member["submit"], member["wait"], member["user"]), (7500, 60, "carl"))
        for what in ("cancelled before they started: dropped", "still running when the log ends: dropped",
                     "not started when the log ends: dropped", "suspended while they ran: that time is not run time"):
            self.assertEqual(told[what], 1, told)
        self.assertEqual(told["records of whole arrays: passed over, for their members have their own"], 2)
        self.assertEqual(told["deletions of jobs of which nothing else is told: dropped"], 1)
        kept, _ = self.converted("pbs-day", "--keep-cancelled")
        self.assertEqual(kept[103]["requested_processors"], 64)

    def test_lsf(self):
        jobs, told = self.converted("lsb.acct")
        self.assertEqual(sorted(jobs), [200, 201, 204, 205, 206, 207])
        one = jobs[200]
        self.assertEqual((one["submit"], one["wait"], one["run_time"], one["processors"], one["nodes"], one["memory"],
                          one["limit"], one["status"], one["user"], one["group"], one["partition"]),
                         (0, 60, 3600, 8, 1, 4 << 30, 7200, 1, "anna", "p1", "normal"))
        spread = jobs[201]  # with a begin time
        self.assertEqual((spread["submit"], spread["wait"], spread["processors"], spread["nodes"], spread["memory"],
                          spread["accelerators"], spread["status"]), (600, 60, 8, 2, 16 << 30, 2, 0))
        self.assertEqual((jobs[204]["licences"], jobs[204].get("limit"), jobs[204].get("nodes")), ("matlab_lic:2", None, None))
        self.assertEqual((jobs[205]["run_time"], jobs[205]["processors"]), (100, 2))
        self.assertEqual(sorted((jobs[n]["submit"], jobs[n]["run_time"]) for n in (206, 207)), [(100, 201), (130, 300)])
        for what, count in (("cancelled before they started: dropped", 1), ("told again: dropped", 1),
                            ("records of reservations, sizes and other events: passed over", 2),
                            ("other resources (rusage) are asked for: left out", 1),
                            ("memory of rusage[mem=] without a unit: taken as megabytes on each host", 1),
                            ("suspended while they ran: that time is not run time", 1)):
            self.assertEqual(told[what], count, told)

    def test_lines_that_were_searched_out_of_several_files_are_read(self):
        for name in ("pbs-day", "lsb.acct"):
            lines = [line for line in (LOGS / name).read_text().splitlines() if ";E;" in line or line.startswith('"JOB_FINISH" ')]
            self.assertGreater(len(lines), 1)
            self.file("plain", "\n".join(lines) + "\n")
            self.file("searched", "".join(f"logs/2024:03:{n + 1}:{line}\n" for n, line in enumerate(lines)))
            plain, searched = (self.rota("convert", log, "--to", "jsonl").stdout.splitlines()[1:] for log in ("plain", "searched"))
            self.assertEqual(searched, plain)

    def test_pbs_tells_where_a_record_is_wrong_and_a_job_once(self):
        ended = ("03/01/2024 12:00:41;E;1.server;user=anna queue=q ctime=1709294400 start=1709294410 end=1709294500 "
                 "Resource_List.ncpus=2 Exit_status=0\n")
        begun = "03/01/2024 12:00:45;S;2.server;user=anna queue=q ctime=1709294400 Resource_List.ncpus=many\n"
        self.file("twice", ended + ended.replace(":41;E", ":59;E"))
        done = self.rota("convert", "twice", "--to", "jsonl")
        self.assertEqual(done.stdout.count('"number"'), 1)
        self.assertIn("2 rows read, 1 job kept\n", done.stderr)
        self.assertIn("told again: dropped (first in line 2)", done.stderr)
        self.file("wrong", ended + begun)
        self.refused("convert", "wrong", said="wrong:2: Resource_List.ncpus is \"many\"")
        self.assertIn("records that cannot be read: dropped (first in line 2)",
                      self.rota("convert", "wrong", "--skip-bad-rows").stderr)

    def test_pbs_logs_that_overlap_tell_of_a_job_once(self):
        job = "user=anna queue=q ctime={0} qtime={0} etime={0} Resource_List.ncpus=2"
        def queued(n): return f"03/01/2024 12:00:00;Q;{n}.server;{job.format(1709294400)}\n"
        def started(n): return f"03/01/2024 12:01:00;S;{n}.server;{job.format(1709294400)} start=1709294460\n"
        def deleted(n): return f"03/01/2024 12:05:00;D;{n}.server;requestor=anna@login\n"
        def ended(n): return (f"03/01/2024 12:06:00;E;{n}.server;{job.format(1709294400)} start=1709294460 end=1709294760 "
                              "Exit_status=271\n")
        one = queued("1") + started("1") + deleted("1") + queued("2") + deleted("2") + queued("3[7]") + started("3[7]")
        self.file("both", one + ended("1") + deleted("3[7]") + ended("3[7]") + one + deleted("3[7]") + started("4"))
        self.file("again", one + deleted("3[7]") + ended("3[7]") + ended("1") + one.replace("1709294400", "1719294400"))
        for log, kept, dropped in (("both", [(1, 300), (2, None), (3, 300)], (2, 1)), ("again", [(1, 300), (2, None), (3, 300)], (0, 2))):
            done = self.rota("convert", log, "--to", "jsonl", "--keep-cancelled")
            jobs = [json.loads(line) for line in done.stdout.splitlines() if '"number"' in line]
            self.assertEqual(sorted((job["number"], job["run_time"] or None) for job in jobs), kept, done.stderr)
            self.assertEqual({job["number"]: job["status"] for job in jobs}, {1: 5, 2: 5, 3: 5})
            for what, count in zip(("told again: dropped", "still running when the log ends: dropped"), dropped):
                self.assertEqual(f" {count}  {what}" in done.stderr, count > 0, done.stderr)

    def test_pbs_suspensions_end_with_their_job_and_count_once(self):
        stop, go_on = "03/01/2024 12:{0:02}:00;s;1.server;x=1\n".format, "03/01/2024 12:{0:02}:00;z;1.server;x=1\n".format
        begin = "03/01/2024 12:00:00;S;1.server;user=anna queue=q ctime=1709294400 start=1709294400 Resource_List.ncpus=2\n"
        again = begin.replace(";S;", ";R;").replace("12:00:00", "12:20:00")
        end = ("03/01/2024 13:00:00;E;1.server;user=anna queue=q ctime=1709294400 start=1709294400 end=1709298000 "
               "Resource_List.ncpus=2 Exit_status=0\n")
        for minutes, records in ((20, [stop(10), go_on(30)]), (50, [stop(10)]), (40, [stop(10), go_on(30), stop(40)]),
                                 (25, [stop(10), go_on(30), stop(30), go_on(35)]),
                                 (30, [stop(10), go_on(30), stop(50), stop(10), go_on(30), stop(50)]),
                                 (0, [stop(10), again]), (5, [stop(10), again, stop(30), go_on(35)])):
            self.file("log", begin + "".join(records) + end)
            done = self.rota("convert", "log", "--to", "jsonl")
            job = json.loads(done.stdout.splitlines()[-1])
            self.assertEqual((job["run_time"], job.get("suspended", 0)), (3600 - minutes * 60, minutes * 60), records)

    def test_pbs_start_in_vain_that_is_told_twice_counts_once(self):
        started = "03/01/2024 12:{0:02}:00;S;1.server;user=anna queue=q ctime=1709294400 etime={1} Resource_List.ncpus=2\n".format
        again = "03/01/2024 12:11:00;R;1.server;start=1709294460 end=1709295060\n"
        end = ("03/01/2024 12:53:00;E;1.server;user=anna queue=q ctime=1709294400 etime=1709295180 start=1709296380 "
               "end=1709297580 Resource_List.ncpus=2 Exit_status=0\n")
        self.file("log", started(1, 1709294400) + again + again + started(33, 1709295180) + end)
        job = json.loads(self.rota("convert", "log", "--to", "jsonl").stdout.splitlines()[-1])
        self.assertEqual((job["earlier_elapsed"], job["wait"], job["run_time"]), (600, 60 + 22 * 60, 1200))

    def test_pbs_of_cray_knows_only_a_login_node(self):
        self.file("cray", "05/11/2009 10:15:30;E;77.sdb;user=anna group=-default- account=c7 jobname=wave queue=par:n16 "
                          "ctime=1242036000 qtime=1242036000 etime=1242036000 start=1242036030 exec_host=nid00012/9 "
                          "exec_vnode=(login3:ncpus=1) Resource_List.mpparch=XT Resource_List.mppnppn=4 "
                          "Resource_List.mppwidth=62 Resource_List.ncpus=1 Resource_List.nodect=1 Resource_List.place=pack "
                          "Resource_List.select=1 Resource_List.walltime=01:00:00 alt_id=99 end=1242036930 "
                          "Exit_status=0 resources_used.cput=00:00:01 resources_used.ncpus=1 "
                          "resources_used.walltime=00:15:00\n")
        self.rota("convert", "cray", "-o", "cray.jsonl")
        job = json.loads((self.folder / "cray.jsonl").read_text().splitlines()[-1])
        self.assertEqual((job["processors"], job["nodes"], job["limit"], job["run_time"]), (62, 16, 3600, 900))

    def test_pbs_that_tells_no_exit_status_leaves_it_unknown(self):
        end = ("05/11/2009 10:15:30;E;{}.sdb;user=anna queue=batch ctime=1242036000 start=1242036030 "
               "Resource_List.ncpus=1 end=1242036930{}\n")
        self.file("day", end.format(1, "") + end.format(2, " Exit_status=0") + end.format(3, " Exit_status=1"))
        self.rota("convert", "day", "-o", "day.jsonl")
        jobs = [json.loads(line) for line in (self.folder / "day.jsonl").read_text().splitlines()[-3:]]
        self.assertEqual([job.get("status", -1) for job in jobs], [-1, 1, 0])

    # What each host used has six fields, and the run limit comes before the options.
    def test_lsf_tells_the_limit_behind_what_each_host_used(self):
        def record(number, limits, usage="0"):
            return (f'"JOB_FINISH" "9.11" 1400003700 {number} 2001 33882739 8 1400000000 0 0 1400000100 "anna" "regular" '
                    '"span[ptile=4]" "" "" "login1" "/scratch/anna" "" "%J.out" "%J.err" "1400000000.1" 0 2 "4*h0101-ib" '
                    '"4*h0102-ib" 64 60.0 "wave" "#!/bin/sh;#BSUB -W 2:00;#BSUB -R ""span[ptile=4]"";mpirun.lsf wave" 5793.25 '
                    '6.75 966960 0 -1 0 0 3026 0 0 0 0 -1 0 0 0 125 64 -1 "" "p7" 0 8 "" "" 0 10725376 0 "" "" "" "" 0 "" 0 '
                    f'"" -1 "/p7/anna" "" "" "" -1 "" "" 6160 "" 1400000100 "" "" 0 {usage} {limits} "select[type == local] '
                    'order[nidx] rusage[mem=2G] span[ptile=4] " "" -1 "" -1 0 "" 0 0 "" 3600 "/scratch/anna" 1 "1833" 1 ""\n')
        usage = "2 h0101-ib 1306 0 12874 242 0 h0102-ib 1291 0 6437 66 1 \"PGID\" \"1 2 3\""
        self.file("lsb.acct", record(1, "7200 0 8688640", usage) + record(2, "-1 4194304 1024"))
        self.rota("convert", "lsb.acct", "-o", "lsf.jsonl")
        jobs = [json.loads(line) for line in (self.folder / "lsf.jsonl").read_text().splitlines()][-2:]
        self.assertEqual([(j["processors"], j["nodes"], j["memory"], j.get("limit"), j["run_time"]) for j in jobs],
                         [(8, 2, 2 << 30, 7200, 3600), (8, 2, 2 << 30, None, 3600)])

    def test_batsim(self):
        jobs, told = self.converted("batsim.json")
        self.assertEqual(self.header["processors"], 8)
        self.assertEqual({n: (j["submit"], j["run_time"], j["processors"], j.get("limit")) for n, j in jobs.items()},
                         {7: (10.5, 60, 4, 100), 8: (0, 120.5, 1, None), 9: (30, 60, 2, 50)})
        self.assertEqual(told["jobs whose profile is computed on a platform: run time unknown, dropped"], 1)

    def test_batsim_tells_its_parts_in_any_order(self):
        log = json.loads((LOGS / "batsim.json").read_text()) | {"more": [{"jobs": [{"id": 7}], "profiles": {"sixty": {"delay": 1}}}]}
        outputs = set()
        for keys in (["nb_res", "jobs", "profiles", "more"], ["more", "profiles", "jobs", "nb_res"], ["jobs", "more", "nb_res", "profiles"]):
            self.file("log.json", json.dumps({key: log[key] for key in keys}, indent=len(outputs)))
            outputs.add(self.rota("convert", "log.json", "--to", "jsonl").stdout)
        self.assertEqual(len(outputs), 1)
        self.assertEqual(outputs.pop().count('"run_time"'), 3)

    def test_batsim_may_be_one_line_of_any_length(self):
        log = {"nb_res": 8} | json.loads((LOGS / "batsim.json").read_text()) | {"more": ["\u00e9" * 500] * 70_000}
        text = json.dumps(log, ensure_ascii=False)
        self.assertGreater(len(text.encode()), 64 << 20)
        self.file("line.json", text)
        wanted = self.rota("convert", str(LOGS / "batsim.json"), "--to", "jsonl").stdout
        self.assertEqual(self.rota("convert", "line.json", "--to", "jsonl").stdout.splitlines()[1:], wanted.splitlines()[1:])
        self.file("line.json", text[:-1])
        self.refused("convert", "line.json", "--to", "jsonl", said="line.json:1: the JSON ends too early")

    def test_simulate_knows_them_all(self):
        for name, jobs in (("pbs-day", 5), ("lsb.acct", 6), ("batsim.json", 3)):
            with self.subTest(name=name):
                summary = json.loads(self.rota("simulate", str(LOGS / name), "--json").stdout)["rehearsals"][0]
                self.assertEqual(summary["jobs"], jobs)

    def test_of_batsim_an_id_that_stands_twice_is_refused_or_dropped_and_told(self):
        job = '{"id": %s, "subtime": 0, "walltime": 9, "res": 1, "profile": "a"}'
        list_of = lambda *ids: ('{"nb_res": 4, "profiles": {"a": {"type": "delay", "delay": 5}}, "jobs": [' +
                                ", ".join(job % its for its in ids) + "]}")
        self.file("twice.json", list_of("1", '"w0!2"', '"1"'))
        self.refused("simulate", "twice.json", said=('job 3 of the list: job "1" is in the list already', "--skip-bad-rows"))
        done = self.rota("simulate", "twice.json", "--skip-bad-rows", "--json")
        self.assertEqual(json.loads(done.stdout)["rehearsals"][0]["jobs"], 2)
        self.assertIn("jobs that cannot be read: dropped (1 row, in line 3)", done.stderr)
        self.file("said.json", list_of("1").replace('"nb_res": 4', '"nb_res": 4, "nb_res": 8'))
        self.refused("simulate", "said.json", said=('"nb_res" stands twice in one object of its JSON', "Mend the file."))
        self.file("apart.json", list_of('"w0!2"', '"w1!2"'))  # of two workloads: two jobs
        done = self.rota("simulate", "apart.json", "--json")
        self.assertEqual(json.loads(done.stdout)["rehearsals"][0]["jobs"], 2)
        self.assertIn("new ones given", done.stderr)

    def test_a_log_there_and_back_through_batsim(self):
        self.rota("convert", DAY, "-o", "day.json.gz")
        self.assertIn("gz", self.rota("convert", "day.json.gz", "-o", "back.swf.gz") and "gz")
        runs = [json.loads(self.rota("simulate", log, "--json", "--policy", "easy").stdout)["rehearsals"][0]
                for log in (DAY, "day.json.gz", "back.swf.gz")]
        self.assertEqual(len({run["plan_hash"] for run in runs}), 1)

    def test_a_last_record_that_is_cut_off_is_no_job(self):
        finish = next(line for line in (LOGS / "lsb.acct").read_text().splitlines(True) if line.startswith('"JOB_FINISH"'))
        both = finish + finish.replace(" 200 ", " 201 ", 1)
        csv_text = "job_id,submit,start,end,processors,user\n1,0,0,5,1,7\n2,0,0,5,1,7\n"
        self.file("lsf", both[:-1])  # whole, but for the end of its last line
        self.rota("convert", "lsf", "-o", "whole.swf")
        self.file("lsf", both[:both.rindex(' "/work"')])
        self.refused("convert", "lsf", "-o", "cut.swf", said=("lsf:2: ", "no end of line: the log is cut off"))
        self.rota("convert", "lsf", "-o", "cut.swf", "--skip-bad-rows")
        self.file("log.swf", HEAD + row(1) + row(2))
        self.file("jobs.csv", csv_text[:-1])
        self.rota("verify", "log.swf", "jobs.csv", "--policy", "fcfs")
        self.file("jobs.csv", csv_text[:-3])
        self.refused("verify", "log.swf", "jobs.csv", "--policy", "fcfs",
                     said=("jobs.csv:3: ", "5 cells and no end of line: the log is cut off"))
        self.refused("report", "jobs.csv", said=("jobs.csv:3: ", "no end of line: the log is cut off"))

    def test_where_all_rows_are_dropped_it_is_told_why(self):
        self.file("b.json", '{"nb_res": 4, "profiles": {"a": {"type": "parallel"}}, "jobs": [{"id": "1", "subtime": 0, '
                            '"res": 1, "profile": "a"}, {"id": "2", "subtime": 0, "res": 1, "profile": "a"}]}')
        self.file("pbs", "03/01/2024 12:00:00;L;license;x\n03/01/2024 11:01:00;D;103.alpha;requestor=anna@login1\n")
        self.file("log.swf", HEAD + "1 0 -1 0 4 -1 -1 -1 -1 -1 5\n")
        for command in (["convert", "-o", "out.swf"], ["simulate"]):
            self.refused(*command, "b.json", said=("all its rows were dropped (jobs whose profile is computed on a platform",
                                                   ": 2, first in line 1)"))
            self.refused(*command, "pbs", said=("all its records were dropped (", "deletions of jobs", ": 1, first in line 2"))
            self.refused(*command, "log.swf", said=("all its rows were dropped (cancelled before they started: 1, first in "))

    def test_records_that_cannot_be_read(self):
        for name, text, said in (
                ("pbs", (LOGS / "pbs-day").read_text().replace("end=1709283610", "end=soon"), ("pbs:4: end is", "soon")),
                ("pbs", "03/01/2024 12:00:00;E;1.a;user=a\n", ("pbs:1: neither ctime nor qtime",)),
                ("pbs", "03/01/2024 12:00:00;L;license;x\nnonsense\n", ("pbs:2: a record begins with",)),
                ("lsf", '"JOB_FINISH" "10.1" 1 2\n', ("lsf:1: the record breaks off behind 4 fields",)),
                ("lsf", '"JOB_FINISH" "10.1\n', ("lsf:1: the quote before field 2 has no end",)),
                ("lsf", '"JOB_FINISH" "10.1" x\n', ("lsf:1: field 3 (event time)",)),
                ("b.json", '{"nb_res": 4, "jobs": [{"id": "1"}]}', ("b.json: job 1 of the list", "subtime")),
                ("b.json", '{"nb_res": 4, "jobs": [', ("b.json:1: the JSON ends too early",)),
                ("b.json", '{"jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "a"}], "profiles": {}}',
                 ('b.json: job 1 of the list has the profile "a", which is not in `profiles`',)),
                ("b.json", b'{"nb_res": 4,\n"more": "' + b"x" * 200_000 + b'\xff"}', ("b.json:2: byte 200024 of the text",)),
                ("b.json", '{"nb_res": 4,\n"jobs": [x]}', ('b.json:2: from "x]}" on this is no JSON',)),
                ("b.json", '{"nb_res": 4, "jobs": [],\n"profiles": {9: 1}}', ('b.json:2: from "9: 1}}" on this is no JSON',)),
                ("b.json", '{"nb_res": 1e999, "jobs": []}', ("b.json: a number in it is too large",)),
                ("b.json", '{"nb_res": 4, "jobs": ' + "[" * 3_000_000, ("b.json: more than 64 lists and objects",))):
            with self.subTest(said=said):
                self.file(name, text)
                self.refused("simulate", name, said=said)
        self.file("some", (LOGS / "pbs-day").read_text() + "nonsense\n")
        self.assertIn("records that cannot be read: dropped", self.rota("convert", "some", "--skip-bad-rows").stderr)


class WhatIsTold(RotaCase):
    SACCT = ("JobIDRaw|Partition|Submit|Start|End|State|TimelimitRaw|AllocCPUS|NNodes|ReqMem\n"
             "1|big|1709280000|1709280000|1709280600|COMPLETED|20|4|2|8G\n"
             "2|big|1709280000|1709280000|1709280600|COMPLETED|Partition_Limit|4|2|8G\n"
             "3|big|1709283600|1709283600|1709284200|COMPLETED||4|1|\n")

    def test_nodes_and_memory_that_swf_has_no_fields_for(self):
        self.file("sacct.txt", self.SACCT)
        self.assertRegex(self.rota("convert", "sacct.txt", "-o", "out.swf").stderr,
                         r" 3  jobs of which more is known than SWF has fields for: left out")
        told = self.rota("convert", "sacct.txt", "-o", "out2.swf", "--write-attributes", "out.csv").stderr
        self.assertNotIn("SWF has fields for", told)
        self.assertEqual(len((self.folder / "out.csv").read_text().splitlines()), 4)

    def test_on_which_nodes_jobs_really_ran(self):
        self.file("sacct.txt", "JobIDRaw|Submit|Start|End|State|TimelimitRaw|AllocCPUS|NodeList\n"
                  "1|1709280000|1709280000|1709280600|COMPLETED|20|6|n[2-3]\n"
                  "2|1709280000|1709280300|1709280600|COMPLETED|20|2|n1\n"
                  "3|1709280000|1709280600|1709280900|COMPLETED|20|4|n[1,9]\n")
        self.file("nodes.toml", '[[nodes]]\nnames = "n[1-4]"\nprocessors = 4\n')
        self.rota("convert", "sacct.txt", "-o", "jobs.jsonl")
        for log in ("sacct.txt", "jobs.jsonl"):
            self.rota("simulate", log, "--cluster", "nodes.toml", "--policy", "recorded,easy", "--jobs", "out.csv",
                      "--report", "page.html")
            with open(self.folder / "out-recorded.csv", newline="") as file:
                self.assertEqual([(r["nodes"], r["why"]) for r in csv.DictReader(file)], [("n2 n3", ""), ("n1", ""), ("", "")])
            self.assertIn('id="starts-0-0"', (self.folder / "page.html").read_text())
            self.assertNotIn("node_list", self.rota("convert", log, "--to", "jsonl", "--anonymous").stdout)
        self.rota("simulate", "sacct.txt", "--policy", "recorded", "--jobs", "counted.csv")
        self.assertNotIn("nodes", (self.folder / "counted.csv").read_text())

    def test_what_really_happened_tells_partitions_by_their_names(self):
        self.file("sacct.txt", "JobIDRaw|Partition|Submit|Start|End|ElapsedRaw|State|AllocCPUS|NodeList\n" + "".join(
            f"{i}|{name}|1709280000|1709280005|1709280015|10|COMPLETED|1|n{i}\n"
            for i, name in enumerate(("night", "day", "night"), 1)))
        self.file("two.toml", '[[nodes]]\nnames = "n[1-4]"\nprocessors = 4\n[[partitions]]\nname = "day"\nnodes = "n[1-4]"\n'
                  '[[partitions]]\nname = "night"\nnodes = "n[1-4]"\n')
        self.rota("convert", "sacct.txt", "-o", "jobs.jsonl")
        for log in ("sacct.txt", "jobs.jsonl"):
            self.rota("simulate", log, "--cluster", "two.toml", "--policy", "recorded,easy", "--jobs", "out.csv")
            with open(self.folder / "out-recorded.csv", newline="") as file:
                self.assertEqual([r["partition"] for r in csv.DictReader(file)], ["night", "day", "night"])

    def saved_cluster(self):
        (self.folder / "saved").mkdir()
        self.file("saved/config.txt", "ClusterName = kea\nSchedulerType = sched/backfill\nSelectType = select/cons_tres\n"
                  "SelectTypeParameters = CR_CPU\nSLURM_VERSION = 22.05.8\n")
        self.file("saved/nodes.txt", "NodeName=kea2 CPUTot=4 Weight=1\nNodeName=kea1 CPUTot=4 Weight=2\n")
        self.file("saved/partitions.txt", "PartitionName=batch Nodes=kea[1-2] Default=YES MaxTime=60\n")

    def test_an_import_says_which_of_several_partitions_it_guessed(self):
        self.saved_cluster()
        self.file("saved/sacct.txt", "JobIDRaw|Partition|Submit|Start|End|ElapsedRaw|State|ReqCPUS|AllocCPUS\n"
                  "1|batch|1709280000|1709280005|1709280015|10|COMPLETED|4|4\n"
                  "2|batch,long|1709280000|Unknown|1709280015|0|CANCELLED by 7|4|0\n")
        self.rota("import", "slurm", "site", "--from", "saved", "--keep-cancelled")
        told = (self.folder / "site/report.txt").read_text()
        self.assertIn("1 job names several partitions, having started in none: taken as of the first of them", told)

    def test_an_import_tells_on_which_nodes_jobs_ran(self):
        self.saved_cluster()
        job = "|batch|1709280000|1709280005|1709280015|10|COMPLETED|"
        self.file("saved/sacct.txt", "JobIDRaw|Partition|Submit|Start|End|ElapsedRaw|State|AllocCPUS|NodeList\n"
                  f"1{job}4|kea[1-2]\n2{job}2|kea1\n3{job}2|gone7\n")
        for options, nodes in (((), ["kea1 kea2", "kea1", ""]), (("--anonymous",), ["node1 node2", "node2", ""])):
            self.rota("import", "slurm", "site", "--from", "saved", "--overwrite", *options)
            self.rota("simulate", "site/jobs.jsonl.gz", "--cluster", "site/cluster.toml", "--policy", "recorded,easy",
                      "--jobs", "out.csv")
            with open(self.folder / "out-recorded.csv", newline="") as file:
                told = [" ".join(sorted(r["nodes"].split())) for r in csv.DictReader(file)]
            self.assertEqual(told, nodes)
        log = self.rota("convert", "site/jobs.jsonl.gz", "--to", "jsonl").stdout
        self.assertNotIn("kea", log)
        self.assertNotIn("gone7", log)

    def test_which_limit_stands_for_one_that_is_not_told(self):
        self.file("sacct.txt", self.SACCT)
        nodes = '[[nodes]]\nnames = "n[1-4]"\nprocessors = 4\n[[partitions]]\nname = "big"\nnodes = "n[1-4]"\n'
        self.file("plain.toml", nodes)
        self.file("default.toml", nodes + 'default_time = "30m"\n')
        self.file("short.toml", nodes + 'default_time = "5m"\n')
        self.file("most.toml", nodes + 'max_time = "2h"\n')
        run_time = "no requested time: the run time taken as the limit (2 rows, the first in line 3)"
        none = "no requested time, and the partition has no limit: planned as without an end, as Slurm does."
        for cluster, said in (("plain", none), ("short", run_time),
                              ("default", "no requested time: the default_time of the partition taken as the limit (2 jobs)"),
                              ("most", "no requested time: the max_time of the partition taken as the limit (2 jobs)")):
            told = self.rota("simulate", "sacct.txt", "--cluster", f"{cluster}.toml").stderr
            self.assertIn(said, told)
            self.assertEqual(told.count("no requested time"), 1, told)

    def test_a_limit_that_is_not_told_turns_no_job_away(self):
        self.file("log.swf", "; MaxProcs: 2\n1 0 -1 205 1 -1 -1 1 -1\n2 0 -1 30 1 -1 -1 1 60\n")
        nodes = 'processors = 2\n[[partitions]]\nname = "p"\ndefault_time = 60\nmax_time = '
        for most, end, state in (("60", "60", "timed_out"), ("100", "100", "timed_out"), ("1000", "205", "completed")):
            self.file("c.toml", nodes + most + "\n")
            self.rota("simulate", "log.swf", "--cluster", "c.toml", "--policy", "fcfs", "--jobs", "out.csv")
            with open(self.folder / "out.csv") as file:
                row = next(csv.DictReader(file))
            self.assertEqual((row["start"], row["end"], row["state"]), ("0", end, state))

    def test_nothing_is_counted_on_behind_a_job_without_a_limit(self):
        self.file("jobs.txt", "JobIDRaw|Partition|Submit|Start|End|State|TimelimitRaw|AllocCPUS\n"
                              "1|big|1709280000|1709280000|1709283600|COMPLETED|UNLIMITED|12\n"
                              "2|big|1709280001|1709283600|1709284200|COMPLETED|UNLIMITED|16\n"
                              "3|big|1709280002|1709284200|1709291400|COMPLETED|UNLIMITED|4\n")
        nodes = '[[nodes]]\nnames = "n1"\nprocessors = 16\n[[partitions]]\nname = "big"\nnodes = "n1"\n'
        self.file("none.toml", nodes)
        self.file("day.toml", nodes + 'default_time = "2h"\n')
        for cluster, wait in (("none", "28"), ("day", "4198")):  # Slurm's own: what lies beyond its window bars no job
            self.rota("simulate", "jobs.txt", "--cluster", f"{cluster}.toml", "--policy", "slurm", "--jobs", "out.csv")
            with open(self.folder / "out.csv") as file:
                self.assertEqual([row["wait"] for row in csv.DictReader(file)][2], wait, cluster)

    def test_the_comparison_once_more_for_each_party(self):
        self.file("jobs.txt", "JobIDRaw|User|Account|Partition|QOS|Submit|Start|End|State|TimelimitRaw|AllocCPUS\n"
                              "1|anna|phys|big|normal|1709280000|1709280010|1709283600|COMPLETED|60|4\n"
                              "2|bert|phys|long|normal|1709280000|1709280030|1709280600|COMPLETED|60|4\n"
                              "3|bert|phys|big|normal|1709280000|1709280040|1709280600|COMPLETED|60|4\n")
        told = self.rota("simulate", "jobs.txt", "--policy", "recorded,easy", "--by", "user,qos").stdout
        self.assertRegex(told, r"\nuser anna\n[^\n]*\n[^\n]*\nrecorded +1 .* 10 s .*\neasy +1 ")
        self.assertRegex(told, r"\nuser bert\n[^\n]*\n[^\n]*\nrecorded +2 .* 35 s .*\neasy +2 ")
        self.assertRegex(told, r"\nqos normal\n[^\n]*\n[^\n]*\nrecorded +3 ")
        told = json.loads(self.rota("simulate", "jobs.txt", "--policy", "recorded,easy", "--by", "partition", "--json").stdout)
        self.assertEqual([(one["by"], one["party"], [row["policy"] for row in one["rehearsals"]],
                           one["rehearsals"][0]["wait_mean_s"]) for one in told["parties"]],
                         [("partition", "big", ["recorded", "easy"], 25), ("partition", "long", ["recorded", "easy"], 30)])
        told = self.rota("simulate", "jobs.txt", "--policy", "easy", "--by", "qos").stdout
        self.assertRegex(told, r"\nqos normal\n")
        self.assertIn("--by account: ", self.rota("simulate", DAY, "--by", "account").stderr)


class Windows(RotaCase):
    def test_a_window_is_told_for_what_it_leaves_out(self):
        head = "; UnixStartTime: 1709280000\n"
        self.file("short.swf", head + HEAD + row(1) + row(2, submit=1, run=0) + row(3, submit=400))
        told = self.rota("simulate", "short.swf", "--from", "2024-03-01").stderr
        self.assertNotIn("empty cluster", told)  # all are there
        self.assertIn("(1 row, in line ", told)
        told = self.rota("simulate", "short.swf", "--from", "5m").stderr
        self.assertIn("--warm-up would fill it first", told)  # a day would be longer than the log
        self.assertIn("taken as jobs of 1 s (of the whole log: 1 row, in line ", told)
        self.file("long.swf", head + HEAD + "".join(row(n, submit=n * 40_000) for n in range(1, 9)))
        self.assertIn("--warm-up 1d would fill it first", self.rota("simulate", "long.swf", "--from", "50000").stderr)

    def summary(self, *options):
        return json.loads(self.rota("simulate", DAY, "--json", *options).stdout)["rehearsals"][0]

    def test_a_part_of_a_log_is_rehearsed(self):
        with open(DAY) as file:
            submits = [float(line.split()[1]) for line in file if not line.startswith(";")]
        inside = [s for s in submits if 21600 <= s < 43200]
        self.assertEqual(self.summary("--from", "6h", "--until", "12h")["jobs"], len(inside))
        warm = [s for s in inside if s < 25200]
        counted = self.summary("--from", "21600", "--until", "12h", "--warm-up", "1h")
        self.assertEqual((counted["jobs"], counted["warm_up_jobs"]), (len(inside) - len(warm), len(warm)))
        whole = self.summary("--warm-up", "1h")  # the same rehearsal, counted in part
        self.assertEqual(whole["plan_hash"], self.summary()["plan_hash"])

    def test_work_that_the_warm_up_lost_is_not_counted_and_what_nodes_drew_is_said_to_be(self):
        # Job 3 is let pass for half a minute, runs on, and is killed for job 2, which was promised its start.
        self.file("log.swf", HEAD + row(1, run=50, processors=3, limit=50) + row(2, submit=1, processors=4, limit=60) +
                  row(3, submit=2, run=200, limit=30) + row(4, submit=1000))
        self.file("cluster.toml", '[[nodes]]\nnames = "n[1-4]"\nwatts_idle = 100\n')
        summary = lambda *more: json.loads(
            self.rota("simulate", "log.swf", "--policy", "strict", "--json", *more).stdout)["rehearsals"][0]
        self.assertEqual(summary()["lost_work_processor_s"], 48)
        self.assertEqual(summary("--warm-up", "100s")["lost_work_processor_s"], 0)
        text = " ".join(self.rota("simulate", "log.swf", "--cluster", "cluster.toml", "--warm-up", "100s").stdout.split())
        self.assertIn("after a warm-up of 3 jobs that count nowhere but in what nodes did and drew", text)
        self.assertNotIn("drew", self.rota("simulate", "log.swf", "--warm-up", "100s").stdout)

    def test_dates_and_what_is_said(self):
        self.file("dated.swf", "; UnixStartTime: 1709280000\n" + Path(DAY).read_text())
        done = self.rota("simulate", "dated.swf", "--from", "2024-03-01T09:00", "--jobs", "jobs.csv", "--report", "page.html")
        self.assertIn("begins with an empty cluster", done.stderr)
        self.assertIn("submitted before the window: left out", done.stderr)
        with open(self.folder / "jobs.csv", newline="") as file:
            self.assertGreaterEqual(min(float(row["submit"]) for row in csv.DictReader(file)), 3600)
        done = self.rota("simulate", "dated.swf", "--from", "2024-03-01T09:00:00", "--warm-up", "30m", "--report", "page.html")
        self.assertNotIn("empty cluster", done.stderr)
        self.assertIn("after a warm-up of", done.stdout)
        page = (self.folder / "page.html").read_text()
        self.assertIn("--from 2024-03-01T09:00:00 --warm-up 30m", page)
        self.assertIn("after a warm-up of", page)

    def test_a_window_may_begin_at_a_time_with_its_zone(self):
        self.file("log.swf", "; UnixStartTime: 1709280000\n" + HEAD + row(1) + row(2, submit=3600) + row(3, submit=7200))
        for time in ("2024-03-01T09:00", "2024-03-01T09:00Z", "2024-03-01T10:00:00+01:00", "2024-03-01 04:00:00-05:00"):
            done = self.rota("simulate", "log.swf", "--from", time, "--json", "--quiet").stdout
            self.assertEqual(json.loads(done)["rehearsals"][0]["jobs"], 2, time)
        self.refused("simulate", "log.swf", "--from", "2024-03-01T09:00+1", said=("is no time", "2024-03-01T12:00+01:00"))

    def test_windows_that_make_no_sense(self):
        for options, said in ((["--from", "2024-03-01"], "does not say when it began"), (["--from", "soon"], "is no time"),
                              (["--from", "2h", "--until", "1h"], "--until is not after --from"),
                              (["--from", "400d"], "no job was submitted"), (["--warm-up", "400d"], "none is left"),
                              (["--warm-up", "x"], "--warm-up:")):
            with self.subTest(options=options):
                self.refused("simulate", DAY, *options, said=said)


if __name__ == "__main__":
    main()
