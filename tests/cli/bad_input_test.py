#!/usr/bin/env python3
"""Bad input of every kind ends in one sentence and an exit code, never in a crash, and nothing half-written stays.

Usage: bad_input_test.py ROTA
"""
import gzip
import os
import shutil
from pathlib import Path

from rota_case import DAY, HEAD, ROTA, RotaCase, main, row, unprivileged



class Workloads(RotaCase):
    def refuses(self, content, *said, name="log.swf"):
        self.file(name, content)
        self.refused("simulate", name, "--jobs", "jobs.csv", "--report", "report.html", said=said)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), [name])

    def test_cut_off_gzip(self):
        packed = gzip.compress(Path(DAY).read_bytes())
        self.refuses(packed[:3000], "log.swf.gz: the gzip data is cut off", name="log.swf.gz")
        self.refuses(packed[:12], "log.swf.gz", name="log.swf.gz")
        self.refuses(packed[:5000] + b"\0" * 500 + packed[5500:], "log.swf.gz", name="log.swf.gz")

    def test_cut_off_text(self):
        self.refuses(Path(DAY).read_bytes()[:5000], "log.swf:87: the row has", "--skip-bad-rows")

    def test_empty_and_without_jobs(self):
        for content in ("", HEAD, "\n\n", gzip.compress(b"")):
            self.refuses(content, "log.swf: no job can be read")

    def test_binary(self):
        self.refuses(bytes(range(256)) * 40, "log.swf:")
        self.refuses(b"\0" * 5000, "log.swf:1: ")
        self.refuses(ROTA.read_bytes()[:100_000], "log.swf:")

    def test_numbers_out_of_range(self):
        for field, number, why in [("submit", "9" * 23, "too large"), ("submit", "-50", "negative"),
                                   ("run", str(2**63 - 1), "too large"), ("submit", "nan", "not a number"),
                                   ("limit", "inf", "not a number"), ("processors", str(2**40), ""),
                                   ("processors", "-7", "negative"), ("run", "0x10", "not a number"),
                                   ("number", "1e300", "")]:
            with self.subTest(field=field, number=number):
                self.refuses(HEAD + row(**{field: number}), "log.swf:2: ", why)

    def test_text_that_is_not_utf_8(self):
        self.refuses(b"; MaxProcs: 4\n; Note: \xff\xfe\n" + row().encode(), "log.swf:2: ", "UTF-8")
        self.refuses(HEAD.encode() + row().encode().replace(b"9", b"\xff"), "log.swf:2: ")

    def test_control_characters_do_not_reach_the_terminal(self):
        self.refuses(HEAD + row(submit="\x1b[31m5"), "log.swf:2: ")

    def test_control_characters_of_paths_do_not_reach_the_terminal(self):
        self.refuses(HEAD + "1 x\n", "\\x1b[31m", name="\x1b[31m.swf")
        self.refuses(row(), "?[31m: its header", name="\x1b[31m.swf")
        self.file("\a.toml", "processors = 0")
        self.refused("simulate", DAY, "--cluster", "\a.toml", said="\\x07.toml:1: ")

    def test_a_machine_without_a_size(self):
        self.refuses(row(), "MaxProcs", "--processors N")
        for number in ("99999999999999999999", "99999999999"):
            self.refuses(f"; MaxProcs: {number}\n" + row(), "says what cannot be", "MaxProcs")

    def test_bad_rows_can_be_dropped_and_are_counted(self):
        self.file("log.swf", HEAD + row(1) + "2 nonsense\n" + row(3))
        done = self.rota("simulate", "log.swf", "--skip-bad-rows")
        self.assertIn("2 jobs on 4 processors", done.stdout)
        self.assertIn("1 row, in line 3", done.stderr)
        self.assertEqual(self.rota("simulate", "log.swf", "--skip-bad-rows", "--quiet").stderr, "")


class Files(RotaCase):
    def test_inputs_that_cannot_be_read(self):
        self.refused("simulate", "none.swf", said="none.swf: No such file")
        self.refused("simulate", ".", said="is a folder")
        (self.folder / "site").mkdir()
        self.file("site/jobs.jsonl.gz", gzip.compress(b""))
        self.refused("simulate", "site", said=("Cannot read site: it is a folder", "site/jobs.jsonl.gz"))
        self.file("site/cluster.toml", "processors = 4\n")
        self.refused("simulate", "site", said="with --cluster site/cluster.toml.")
        self.refused("simulate", "", said="without a name")
        self.refused("verify", DAY, "none.csv", said="none.csv: No such file")
        self.refused("convert", "none.txt", said="none.txt: No such file")

    def test_permissions(self):
        program = shutil.copy(ROTA, self.folder / "rota")
        os.chmod(self.folder, 0o755)
        self.file("day.swf", Path(DAY).read_bytes())
        os.chmod(self.folder / self.file("secret.swf", HEAD + row()), 0)
        (self.folder / "closed").mkdir(mode=0o555)
        alone = {"program": program} | unprivileged()
        self.refused("simulate", "secret.swf", said="secret.swf: Permission denied", **alone)
        for option, name in (("--jobs", "closed/jobs.csv"), ("--report", "closed/report.html")):
            self.rota("simulate", "day.swf", option, name, code=1, **alone)
        self.refused("generate", "poisson", "-o", "closed/x.swf", said="Permission denied", **alone)
        self.assertEqual(list((self.folder / "closed").iterdir()), [])

    def test_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            for command in (["simulate", DAY], ["simulate", DAY, "--json"], ["generate", "poisson"], ["policies"],
                            ["policies", "--json"], ["convert", DAY], ["completion", "zsh"], ["manual"],
                            ["simulate", "--help"], ["--version"]):
                with self.subTest(command=command):
                    self.refused(*command, said="tandard output", stdout=full)
        self.refused("simulate", DAY, "--jobs", "/dev/full", said="/dev/full: No space left")
        self.refused("convert", DAY, "-o", "/dev/full", said="/dev/full: No space left")
        self.assertIn("No space left", self.rota("simulate", DAY, "--report", "/dev/full", code=1).stderr)

    def test_outputs_that_cannot_be_made(self):
        self.refused("simulate", DAY, "--jobs", "nowhere/x.csv", said="nowhere/x.csv: No such file")
        self.refused("convert", DAY, "-o", ".", said="is a folder")
        self.assertIn("No such file", self.rota("simulate", DAY, "--report", "nowhere/x.html", code=1).stderr)
        self.refused("manual", "--all", "/dev/null", said="Cannot")

    def test_what_was_there_before_stays(self):
        self.file("jobs.csv", "precious")
        self.file("bad.swf", HEAD + row() + "2 nonsense\n")
        self.refused("simulate", "bad.swf", "--jobs", "jobs.csv")
        self.refused("convert", "bad.swf", "-o", "jobs.csv")
        self.assertEqual((self.folder / "jobs.csv").read_text(), "precious")

    def test_two_rehearsals_do_not_write_the_same_file(self):
        self.refused("simulate", DAY, DAY, "--jobs", "x.csv", said="two rehearsals would write")
        self.refused("simulate", DAY, "--policy", "easy,easy", "--jobs", "x.csv", said="two rehearsals would write")


class CommandLines(RotaCase):
    def test_policies_that_there_are_not_name_the_nearest(self):
        for policy, said in [("eazy", "did you mean easy?"), ("easy+dept=1", "did you mean depth?"),
                             ("conservativ", "did you mean conservative?"), ("", "`rota policies` lists them"),
                             ("easy,", "`rota policies` lists them"), ("a\x1bb", "`rota policies` lists them")]:
            with self.subTest(policy=policy):
                self.refused("simulate", DAY, "--policy", policy, said=("there is no policy", said))
        self.refused("policies", "conservativ", said="did you mean conservative?")

    def test_knobs_say_what_they_take(self):
        for knob, said in [("depth=-1", "0 to 100000"), ("depth=x", "0 to 100000"), ("depth=99999999999999999999", "0 to"),
                           ("stretch=99", "1 to 10"), ("stretch=nan", "1 to 10"), ("skip=maybe", "yes or no"),
                           ("order=size", "smallest"), ("overrun=abc", "a time such as 20m"), ("overrun=-5m", "a time"),
                           ("predict=", "tsafrir"), ("bind=gpu", "container, weighted or late"),
                           ("depth", "NAME=VALUE"), ("", "NAME=VALUE"),
                           ("+depth=1", "NAME=VALUE"), ("skip=yes", "would have no effect here: it is for depth=0"),
                           ("depth=0+overrun=grace", "with depth=0 nothing is promised"),
                           ("order=sjf+order=fcfs", "knob order is set twice"),
                           ("preempt=maybe", "suspend, requeue, checkpoint or cancel"), ("checkpoint=5", "would have no effect"),
                           ("preempt=checkpoint+checkpoint=soon", "a time such as"),
                           ("overrun=strict+preempt=suspend", "overrun=kill, run-on, grace or a duration")]:
            with self.subTest(knob=knob):
                self.refused("simulate", DAY, "--policy", "easy+" + knob, said=said)

    def test_preemption_is_refused_under_published_ties(self):
        self.refused("simulate", DAY, "--ties", "submit-first", "--policy", "easy+preempt=suspend",
                     said="no job gives way")

    def test_binding_to_accelerators_needs_accelerators(self):
        self.refused("simulate", DAY, "--policy", "easy+bind=late", said="Give a --cluster file")
        self.file("plain.toml", '[[nodes]]\nnames = "n[1-64]"\nprocessors = 4\n')
        self.refused("simulate", DAY, "--cluster", "plain.toml", "--policy", "easy,easy+bind=node",
                     said="Say in plain.toml which nodes have `accelerators`")
        self.file("gpus.toml", '[[nodes]]\nnames = "n[1-64]"\nprocessors = 4\naccelerators = 1\n')
        done = self.rota("simulate", DAY, "--cluster", "gpus.toml", "--policy", "easy,easy+bind=node")
        self.assertIn("day, easy+bind=node: no job has tasks for accelerators", done.stderr)
        self.file("both.csv", "job,tasks,task_accelerator,accelerators\n1,10,1s,\n2,,,1\n")
        self.refused("simulate", DAY, "--cluster", "gpus.toml", "--attributes", "both.csv", "--policy", "easy+bind=node",
                     said='policy "easy+bind=node" lends the accelerators of a rack to tasks, and in both.csv jobs ask')
        self.rota("simulate", DAY, "--cluster", "gpus.toml", "--attributes", "both.csv", "--policy", "easy")
        self.assertNotIn("easy:", done.stderr)

    def test_tasks_need_nodes(self):
        self.file("a.csv", "job,tasks,task_accelerator\n1,10,1s\n")
        self.refused("simulate", DAY, "--attributes", "a.csv", said="a.csv:2: jobs have tasks, and processors are only")

    def test_json_lines_that_are_wrong_are_refused(self):
        for line, said in {
            '{"number":1,"limti":5}': 'jobs.jsonl:1: there is no field "limti"; did you mean limit?',
            '{"number":1,"number":1}': "number is there twice",
            '{"number":"one"}': "number is a number, and here it is the text",
            '{"number":1,"run_time":1e999}': "a number in the line is too large",
            '{"number":1,"submit":' + "[" * 100_000: "submit is a list",
            '{"number":1,"user":"' + "x" * 5_000_000 + '"': "the object does not end in this line",
            '{\n"number":1}': "the object does not end in this line",
            '[{"number":1}]': "this is a list of JSON",
            '{"number":1,"site":"texel"}': "jobs name a site, and the cluster has none",
            '{"number":1,"restart":"perhaps"}': "restart is checkpoint, from-start, never or once",
            '{"submit":1}': "this line has no number, so it is the header",
        }.items():
            self.file("jobs.jsonl", line + "\n")
            self.refused("simulate", "jobs.jsonl", "--processors", "4", said=said)
        self.file("jobs.jsonl", b'{"number":1,"user":"\xff"}\n')
        self.refused("verify", "jobs.jsonl", self.file("s.csv", "job_id,start\n1,0\n"), said="is not UTF-8 text")
        self.refused("convert", "jobs.jsonl", said="is not UTF-8 text")
        self.file("long.jsonl", b'{"number":1,"user":"' + b"x" * (65 << 20))
        self.refused("convert", "long.jsonl", said="a line is longer than 64 MiB")
        self.file("said.jsonl", '{"number":1,"submit":0,"run_time":5,"processors":1,"priority":3}\n')
        self.file("a.csv", "job,priority\n1,4\n")
        self.refused("simulate", "said.jsonl", "--processors", "4", "--attributes", "a.csv",
                     said="leave --attributes out")

    def test_attributes_that_cannot_be_generated_are_refused(self):
        self.refused("generate", "poisson", "-o", "x.swf", "--write-attributes", "x.csv", "--licence-share", "0.5",
                     said="--licence-names")
        self.refused("generate", "poisson", "-o", "x", "--write-attributes", "x", said="two names")
        self.refused("generate", "poisson", "--task-share", "0.5", code=2, said="--write-attributes")
        self.refused("generate", "poisson", "-o", "x.swf", "--with-attributes", said="SWF has no fields for attributes")
        self.refused("generate", "poisson", "-o", "x.jsonl", "--with-attributes", "--write-attributes", "x.csv",
                     said="give one")

    def test_a_wrong_command_line_is_told_in_a_sentence_with_exit_code_2(self):
        for line, said in [("", "is followed by a command: submit"), ("simulte", "did you mean simulate?"),
                           ("simulate", "lacks its argument"), ("simulate x --polcy y", "did you mean --policy?"),
                           ("simulate x --ties foo", 'takes batch, submit-first or one-by-one, not "foo"'),
                           ("simulate x --threads 0", 'from 1 to 1024, not "0"'),
                           ("simulate x --processors abc", 'a whole number from 1 to'),
                           ("simulate x --processors -5", "a whole number from 1 to"),
                           ("simulate x --processors 99999999999999999999", "a whole number from 1 to"),
                           ("simulate x --processors", "is followed by a value"), ("verify x", "lacks its argument"),
                           ("verify a b c", 'has no use for "c"'), ("generate poison", "did you mean poisson?"),
                           ("generate poisson --load many", "--load takes 0.001 to 1000"),
                           ("completion tcsh", 'takes bash, zsh or fish, not "tcsh"'), ("-x", "has no option"),
                           ("sbatch --wrap x", 'no command "sbatch"; what does that here is `rota submit`'),
                           ("scontrol show job 12", "what does that here is `rota job, nodes, hold"), ("verison", "did you mean version?"),
                           ("cancel --all", "as in `rota cancel all`"), ("stop --all", 'no option "--all". See'), ("simulate x -W", '`rota simulate` has no option "-W". See')]:
            with self.subTest(line=line):
                self.refused(*line.split(), said=(said, "--help`."), code=2)


if __name__ == "__main__":
    main()
