#!/usr/bin/env python3
"""Small things by which trust is lost or kept: what is written where, what is read as what, and what an exit code means.

Usage: trust_test.py ROTA
"""
import csv
import gzip
import io
import json
import lzma
import os
import resource
import subprocess

from rota_case import DAY, HEAD, ROTA, RotaCase, main, row


class Places(RotaCase):
    def test_a_closed_standard_output_is_told_and_no_file_gets_what_was_meant_for_it(self):
        done = subprocess.run(["bash", "-c", f"'{ROTA}' simulate '{DAY}' --jobs jobs.csv --report page.html >&-"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output could not be written to", done.stderr)
        self.assertTrue((self.folder / "jobs.csv").read_text().startswith("number,submit,"))
        self.assertFalse((self.folder / "page.html").exists())
        done = subprocess.run(["bash", "-c", f"'{ROTA}' convert '{DAY}' -o log.jsonl 2>&-"], cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertTrue((self.folder / "log.jsonl").read_text().startswith("{"))

    def test_no_command_writes_over_what_it_reads(self):
        self.file("log.swf", HEAD + row(1))
        self.file("more.csv", "job,priority\n1,5\n")
        os.symlink("log.swf", self.folder / "link.swf")
        for arguments in (["convert", "log.swf", "-o", "log.swf"], ["convert", "log.swf", "-o", "./link.swf"],
                          ["convert", "log.swf", "-o", "new.swf", "--write-attributes", "log.swf"],
                          ["convert", "log.swf", "--attributes", "more.csv", "-o", "more.csv", "--to", "jsonl"]):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, said="is read by this command and would be written over", code=2)
        self.assertEqual((self.folder / "log.swf").read_text(), HEAD + row(1))
        self.assertTrue((self.folder / "link.swf").is_symlink())
        self.rota("simulate", "log.swf", "--policy", "easy,fcfs", "--jobs", "log.swf")  # log-easy.swf, log-fcfs.swf
        self.assertEqual((self.folder / "log.swf").read_text(), HEAD + row(1))

    def test_a_file_without_a_name_is_told(self):
        self.file("log.swf", HEAD + row(1))
        for arguments in (["simulate", "log.swf", "--cluster", ""], ["simulate", "log.swf", "--attributes", ""],
                          ["convert", "log.swf", "--write-attributes", ""], ["reproduce", "binding", "--report", ""],
                          ["generate", "poisson", "-o", ""]):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, said="takes the name of a file", code=2)

    def test_words_behind_two_dashes_are_no_options(self):
        self.assertNotIn("did you mean", self.refused("simulate", "--", "--quiet", said="Cannot read --quiet"))
        self.assertNotIn("option", self.refused("convert", DAY, "--", "--to", code=2, said="has no use for"))

    def test_names_of_policies_and_workloads_lead_to_no_other_folder(self):
        (self.folder / "a").mkdir()
        self.file("a/log.swf", HEAD + row(1))
        self.rota("simulate", "a/log.swf", DAY, "--jobs", "out.csv")
        self.assertEqual(sorted(p.name for p in self.folder.glob("out*")), ["out-day.csv", "out-log.csv"])


class Packed(RotaCase):
    def test_outputs_are_packed_as_their_names_say_and_read_whatever_they_are_called(self):
        self.rota("simulate", DAY, "--jobs", "plain.csv", "--quiet")
        plain = (self.folder / "plain.csv").read_bytes()
        self.rota("simulate", DAY, "--jobs", "jobs.csv.gz", "--quiet")
        self.assertEqual(gzip.decompress((self.folder / "jobs.csv.gz").read_bytes()), plain)
        self.rota("simulate", DAY, "--jobs", "jobs.csv.xz", "--quiet")
        self.assertEqual(lzma.decompress((self.folder / "jobs.csv.xz").read_bytes()), plain)
        self.rota("simulate", DAY, "--jobs", "jobs.csv.zst", "--quiet")
        for name in ("jobs.csv.gz", "jobs.csv.xz", "jobs.csv.zst"):
            moved = (self.folder / name).rename(self.folder / "schedule")
            self.assertEqual(self.rota("verify", DAY, str(moved)).stdout, "1500 of 1500 starts identical\n")

    def test_logs_of_every_packing(self):
        for ending in ("gz", "zst", "xz"):
            self.rota("convert", DAY, "-o", f"day.jsonl.{ending}")
            self.rota("generate", "poisson", "--jobs", "10", "-o", f"made.swf.{ending}")
            self.assertEqual(self.rota("simulate", f"made.swf.{ending}").stdout.split(":")[0], "made")
            runs = [json.loads(self.rota("simulate", log, "--json").stdout)["rehearsals"][0]
                    for log in (DAY, f"day.jsonl.{ending}")]
            for run in runs:
                del run["cpu_s"]
            self.assertEqual(*runs)
            packed = (self.folder / f"day.jsonl.{ending}").read_bytes()
            for cut in (packed[:len(packed) // 2], packed[:-3], packed[:200] + b"\0\0\0" + packed[203:]):
                self.refused("simulate", self.file("cut", cut), said="data is cut off or damaged")
        self.rota("simulate", DAY, "--jobs", "log.swf.gz", "--quiet")
        self.assertTrue(gzip.decompress((self.folder / "log.swf.gz").read_bytes()).startswith(b"; Version: 2.2\n"))

    def test_a_packed_file_takes_no_more_memory_than_is_bounded(self):
        text = io.BytesIO()
        with gzip.GzipFile(fileobj=text, mode="wb", compresslevel=1) as out:
            for _ in range(800):
                out.write(b";" + b"x" * 999_998 + b"\n")
            out.write((HEAD + row(1)).encode())
        self.file("bomb.swf.gz", text.getvalue())
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (640 << 20, 640 << 20))
        self.assertIn("1 job on 4", self.rota("simulate", "bomb.swf.gz", "--threads", "1", preexec_fn=limit).stdout)


class Readings(RotaCase):
    def test_csv_with_quotes_and_a_byte_order_mark(self):
        self.file("log.swf", HEAD + row(1) + row(2, submit=1))
        self.file("c.toml", '[[nodes]]\nnames = "n[1-4]"\nprocessors = 1\n')
        self.file("more.csv", '\ufeff"job", "priority",restart\r\n"2","7","never"\r\n')
        self.rota("simulate", "log.swf", "--cluster", "c.toml", "--attributes", "more.csv", "--jobs", "jobs.csv")
        self.file("saved.csv", '\ufeffjob_id,"a ""name"", and more",start\n1,"x, ""y""",0\n"2",,"1"\n')
        self.assertEqual(self.rota("verify", "log.swf", "saved.csv").stdout, "2 of 2 starts identical\n")
        self.refused("verify", "log.swf", self.file("bad.csv", 'job_id,start\n"1,0\n'), said=("bad.csv:2: ", "no quote"))
        self.file("marked.swf", "\ufeff" + HEAD + row(1))
        self.assertIn("1 job on 4", self.rota("simulate", "marked.swf").stdout)

    def test_numbers_in_headers(self):
        for text, processors in (("1,024", "1,024"), ("1024 (of 2,000)", "1,024"), ("1,024,000 nodes", "1,024,000"),
                                 ("12,3", None), ("1.5", None), ("80+8", None), ("0x10", None)):
            with self.subTest(text=text):
                self.file("log.swf", f"; MaxProcs: {text}\n" + row(1))
                if processors:
                    self.assertIn(f"1 job on {processors} processors", self.rota("simulate", "log.swf").stdout)
                else:
                    self.refused("simulate", "log.swf", said="MaxProcs")

    def test_jobs_that_ended_at_once_keep_their_limit(self):
        self.file("log.swf", HEAD + row(1, run=0, limit=600))
        for ties, limit in (("batch", "600"), ("submit-first", "1")):
            self.rota("simulate", "log.swf", "--ties", ties, "--jobs", "jobs.csv")
            with open(self.folder / "jobs.csv", newline="") as file:
                self.assertEqual([job["limit"] for job in csv.DictReader(file)], [limit])


class Codes(RotaCase):
    def test_an_answer_that_is_no_is_not_a_failure(self):
        self.rota("simulate", DAY, "--jobs", "easy.csv")
        self.rota("verify", DAY, "easy.csv")
        self.rota("verify", DAY, "easy.csv", "--policy", "fcfs", code=3)
        self.rota("verify", DAY, "none.csv", code=1)
        self.rota("verify", DAY, "easy.csv", "--policy", "none", code=1)
        self.rota("verify", DAY, code=2)

    def test_units_of_knobs_are_units(self):
        knobs = {knob["name"]: knob for knob in json.loads(self.rota("policies", "--json").stdout)["knobs"]}
        self.assertEqual(knobs["checkpoint"]["unit"], "s")
        self.assertIn("10m", knobs["checkpoint"]["examples"])
        self.assertEqual(knobs["depth"]["unit"], "jobs")
        self.assertNotIn("examples", knobs["depth"])

    def test_figures_of_studies_are_json(self):
        study = json.loads(self.rota("reproduce", "binding", "--json", code=3).stdout)
        self.assertEqual(study["study"], "binding")
        self.assertTrue(study["rows"])
        self.assertEqual([cell["ok"] for cell in study["cells"]].count(False), 1, "which docs/reproduce.md shows")


if __name__ == "__main__":
    main()
