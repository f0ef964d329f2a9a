#!/usr/bin/env python3
"""What the report says of itself: the command on it is pasted, and gives the same figures; files are named by digest.

Usage: page_test.py ROTA
"""
import csv
import hashlib
import html
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree

from rota_case import DAY, HEAD, PATIENCE, ROTA, RotaCase, main, row

CLUSTER = '[[nodes]]\nnames = "n[1-4]"\nprocessors = 8\nmemory = "64G"\n'


class Page(RotaCase):
    def page(self, *arguments):
        self.rota("simulate", *arguments, "--report", "page.html", "--quiet")
        return (self.folder / "page.html").read_text()

    def pasted(self, text):
        """The command on the page, typed into a shell, as JSON."""
        command = html.unescape(re.search(r"Made by <code>(.*?)</code>", text, re.S).group(1))
        programs = self.folder / "bin"
        programs.mkdir(exist_ok=True)
        (programs / "rota").symlink_to(ROTA)
        done = subprocess.run(["sh", "-c", f"{command} --json --quiet"], cwd=self.folder, capture_output=True, timeout=PATIENCE,
                              env={"PATH": f"{programs}:/usr/bin:/bin"})
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr.decode()}")
        return json.loads(done.stdout)["rehearsals"]

    def jobs(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def charts(self, text):
        return json.loads(re.search(r'id="charts-0">(.*?)</script>', text, re.S).group(1))

    def test_the_command_on_the_page_gives_its_figures_when_it_is_pasted(self):
        rows = "".join(row(n, submit=7 * n, run=40 + n % 30, processors=1 + n % 9, limit=100) for n in range(1, 80))
        self.file("it's a log.swf", HEAD + rows)
        self.file("my cluster.toml", CLUSTER)
        self.file("of jobs.csv", "job,memory\n*,2G\n5,60G\n")
        text = self.page("it's a log.swf", "--cluster", "my cluster.toml", "--attributes", "of jobs.csv", "--estimates",
                         "exact", "--policy", "fcfs,easy+order=sjf", "--jobs", "kept.csv")
        figures = [(p["name"], p["meanWait"], p["waitMax"]) for p in self.charts(text)["policies"]]
        again = [(r["policy"], r["wait_mean_s"], r["wait_max_s"]) for r in self.pasted(text)]
        self.assertEqual(figures, again)
        self.assertGreater(figures[0][1], 0)
        for name in ("it's a log.swf", "my cluster.toml", "of jobs.csv"):
            digest = hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
            self.assertIn(f"<th scope=\"row\">{html.escape(name).replace('&#x27;', '&#39;')}</th>", text)
            self.assertIn(digest, text)
        self.assertIn('<th scope="row">--estimates</th><td>exact</td>', text)
        self.assertRegex(text, r'<th scope="row">--ties</th><td>batch <span class="unit">\(default\)')
        self.assertRegex(text, r'<th scope="row">--clamp</th><td>no')

    def test_jobs_name_their_nodes_and_why_they_started(self):
        self.file("log.swf", HEAD + row(1, run=50, processors=32, limit=60) + row(2, submit=1, processors=32) +
                  row(3, submit=2, run=9, processors=3))
        self.file("cluster.toml", CLUSTER)
        text = self.page("log.swf", "--cluster", "cluster.toml", "--jobs", "jobs.csv")
        jobs = self.jobs("jobs.csv")
        self.assertEqual(jobs[0]["nodes"], "n1 n2 n3 n4")
        self.assertEqual(jobs[0]["why"], "it was its turn, and there was room")
        self.assertEqual(len(jobs[2]["nodes"].split()), 1)
        self.assertEqual(self.charts(text)["nodes"], [[f"n{i}", 8] for i in range(1, 5)])

    def test_what_the_job_before_it_lacked_is_told_where_it_was_no_processors(self):
        self.file("log.swf", HEAD + row(1, run=50, limit=60) + row(2, submit=1) + row(3, submit=2, run=200, limit=300))
        self.file("cluster.toml", 'licences = "matlab:1"\n' + CLUSTER)
        self.file("of jobs.csv", "job,licences\n1,matlab:1\n2,matlab:1\n")
        text = self.page("log.swf", "--cluster", "cluster.toml", "--attributes", "of jobs.csv", "--policy", "easy",
                         "--jobs", "jobs.csv")
        lacks = "1 licence of matlab (0 were free)"
        self.assertEqual(self.jobs("jobs.csv")[2]["why"], f"backfilled on what job 2 leaves over, which needs {lacks}")
        lacked = re.search(r'id="lacked-0-0">(.*?)</script>', text, re.S).group(1)
        self.assertEqual(json.loads(lacked), [lacks])

    def test_earlier_runs_are_in_use_when_they_ran(self):
        fields = "{} {} -1 {} 4 -1 -1 4 {} -1 1 1 1 1 1 {} -1 -1\n".format
        self.file("log.swf", HEAD + "; Partition: 1 batch\n; Partition: 2 urgent\n" + fields(1, 0, 10, 20, 1) +
                  fields(2, 4, 5, 5, 2))
        self.file("cluster.toml", 'processors = 4\n[[partitions]]\nname = "batch"\n[[partitions]]\nname = "urgent"\n'
                  "priority = 1\n")
        text = self.page("log.swf", "--cluster", "cluster.toml", "--policy", "fcfs-skip+preempt=suspend,fcfs-skip+preempt=requeue")
        suspended, requeued = self.charts(text)["policies"]
        frame = self.charts(text)["to"]
        at = lambda series, second: series[int(second / frame * len(series))]
        self.assertEqual([at(suspended["busy"], second) for second in (1, 3.5, 6, 12, 14.5)], [4] * 5, "job 1, 2, and 1 again")
        self.assertEqual([at(suspended["waiting"], second) for second in (1, 3.5, 6, 12)], [0, 0, 1, 0])
        self.assertEqual([at(requeued["busy"], second) for second in (1, 6, 12)], [0, 4, 4], "lost work is not used")
        for policy in (suspended, requeued):
            mean = sum(policy["busy"]) / len(policy["busy"]) * frame
            self.assertAlmostEqual(mean, policy["utilization"] * policy["makespan"] * 4, 2)

    def test_copies_give_intervals_and_tell_what_is_noise(self):
        done = self.rota("simulate", DAY, "--policy", "easy,easy+order=sjf,easy", "--copies", "4", "--json", "--quiet")
        first, shortest, same = json.loads(done.stdout)["rehearsals"]
        figure = "wait before the start: mean"
        mean = {r["policy"]: next(f for f in r["intervals"] if f["figure"] == figure) for r in (first, shortest)}
        self.assertEqual(mean["easy"]["copies"], 4)
        self.assertGreater(mean["easy"]["margin"], 0)
        self.assertNotIn("difference", mean["easy"])
        self.assertLess(mean["easy+order=sjf"]["difference"], 0)
        self.assertFalse(mean["easy+order=sjf"]["noise"])
        self.assertTrue(all(f["noise"] and f["difference"] == 0 for f in same["intervals"]), "the same policy again")
        again = self.rota("simulate", DAY, "--policy", "easy,easy+order=sjf,easy", "--copies", "4", "--json", "--quiet")
        alike = [[f for f in r["intervals"]] for r in json.loads(again.stdout)["rehearsals"]]
        self.assertEqual(alike, [r["intervals"] for r in (first, shortest, same)])
        other = self.rota("simulate", DAY, "--copies", "4", "--seed", "9", "--json", "--quiet")
        self.assertNotEqual(json.loads(other.stdout)["rehearsals"][0]["intervals"][3]["mean"], mean["easy"]["mean"])
        table = self.rota("simulate", DAY, "--policy", "easy,easy+order=sjf", "--copies", "3").stdout
        self.assertRegex(table, r"wait before the start: mean +\S.*±.*±.*less\n")
        self.assertRegex(table, r"makespan .*noise\n")
        text = self.page(DAY, "--policy", "easy,easy+order=sjf", "--copies", "3")
        self.assertRegex(text, r'<th scope="row">makespan</th><td>[^<]*±[^<]*</td><td>[^<]*<span class="unit">.noise')
        self.assertNotIn("What is noise", self.page(DAY))

    def test_with_copies_the_verdict_names_no_policy_for_noise(self):
        alike = ("simulate", DAY, "--policy", "conservative,conservative+depth=50")
        alone = self.rota(*alike).stdout
        self.assertIn("Choose conservative:", alone)
        text = self.rota(*alike, "--copies", "5").stdout
        judged = {line.split()[-1] for line in text.splitlines() if line.startswith("  wait before the start") and "±" in line}
        self.assertEqual(judged & {"less", "more"}, set(), text)
        said = " ".join(text.split())
        self.assertIn("All 2 policies come out alike within the noise of 5 copies: jobs waited", said)
        self.assertNotIn("Choose", said)
        apart = " ".join(self.rota("simulate", DAY, "--policy", "fcfs,easy", "--copies", "5").stdout.split())
        self.assertNotIn("chance was not measured", apart)
        self.assertIn("chance was not measured", self.rota("simulate", DAY, "--policy", "fcfs,easy").stdout)
        self.assertRegex(apart, r"Choose easy: jobs waited [^,]* on average over 5 copies, \S+ % less than under fcfs")

    def test_a_journal_tells_the_story_of_one_job(self):
        self.file("log.swf", HEAD + row(1, run=50, processors=3, limit=100) + row(2, submit=1, processors=4, limit=60) +
                  row(3, submit=2, run=9, processors=1, limit=30) + row(4, submit=3, processors=1, limit=300))
        self.rota("simulate", "log.swf", "--policy", "easy", "--journal", "one.journal", "--quiet")
        story = self.rota("explain", "2", "--journal", "one.journal").stdout
        for words in ("submitted: it asks for 4 processors for at most 1 min", "promised a start at day 0, 00:01:40",
                      "job 3 passed it (1 processor for at most 30 s): backfilled: it is expected to end before job 2",
                      "started: ", "50 s earlier than it was promised at first: those that passed it did it no harm."):
            self.assertIn(words, story)
        self.assertNotIn("job 4 passed", story)
        self.refused("explain", "9", "--journal", "one.journal", said="there is no job 9")
        self.refused("explain", "last", "--journal", "one.journal", said="by their numbers")
        self.refused("explain", "9", "--journal", "log.swf", said="log.swf")

    def test_a_story_acquits_only_jobs_that_passed_after_the_first_promise(self):
        self.file("log.swf", HEAD + row(1, run=100, processors=2, limit=100) + row(2, submit=1, run=100, processors=3, limit=100) +
                  row(3, submit=2, run=50, processors=4, limit=50) + row(4, submit=3, run=900, processors=1, limit=1000))
        told = lambda: self.rota("explain", "3", "--journal", "one.journal").stdout.splitlines()[-1]
        self.rota("simulate", "log.swf", "--policy", "easy", "--journal", "one.journal", "--quiet")
        before = "1 job passed it before it was promised anything, and may have put its start off."
        self.assertEqual(told(), "It started 1 min 40 s earlier than it was promised at first. " + before)
        with (self.folder / "log.swf").open("a") as log:
            log.write(row(5, submit=150, run=20, processors=1, limit=30))
        self.rota("simulate", "log.swf", "--policy", "easy", "--journal", "one.journal", "--quiet")
        self.assertEqual(told(), "It started 1 min 40 s earlier than it was promised at first: those that passed it since then "
                                 "did it no harm. " + before)

    def test_a_story_names_what_a_job_waits_for(self):
        self.file("site.toml", """licences = "solver:1"
[[nodes]]
names = "n[1-2]"
processors = 4
[[nodes]]
names = "g1"
processors = 4
accelerators = 1
[[partitions]]
name = "main"
nodes = "n[1-2]"
default = true
[[partitions]]
name = "gpu"
nodes = "g1"
""")
        jobs = [{"processors": 1, "licences": "solver:1"}, {"processors": 1, "licences": "solver:1"},  # 2 waits for 1
                {"processors": 1, "partition": "gpu", "accelerators": 1},
                {"processors": 1, "nodes": 1, "partition": "gpu", "accelerators": 1, "memory": None},  # 4 waits for 3
                {"processors": 2, "partition": "gpu"}] + [{"processors": 1}] * 30
        for n, job in enumerate(jobs, 1):
            job = {key: value for key, value in job.items() if value is not None}
            jobs[n - 1] = {"number": n, "submit": n, "run_time": 10 if n > 4 else 100, "limit": 200, **job}
        self.file("log.jsonl", '{"workload": "day"}\n' + "".join(json.dumps(job) + "\n" for job in jobs))
        self.rota("simulate", "log.jsonl", "--cluster", "site.toml", "--policy", "easy", "--journal", "one.journal",
                  "--jobs", "jobs.csv", "--quiet")
        story = self.rota("explain", "2", "--journal", "one.journal").stdout
        self.assertIn("submitted: it asks for 1 processor in partition main and 1 licence of solver for at most", story)
        self.assertIn("waits (Licenses): It needs 1 of the licence solver, of which 0 are free: job 1 holds 1.", story)
        self.assertNotIn("passed it", story, "nobody else wants the licence")
        story = self.rota("explain", "4", "--journal", "one.journal").stdout
        self.assertIn("it asks for 1 processor on 1 node with 1 accelerator in partition gpu", story)
        self.assertIn("waits (Resources): It needs 1 processor, and 3 are free now in partition gpu, but no node has "
                      "1 accelerator free.", story)
        self.assertEqual(re.findall(r"job (\d+) passed it", story), ["5"], "the others run elsewhere")
        whys = (self.folder / "jobs.csv").read_text()
        self.assertIn("which needs 1 licence of solver (0 were free)", whys)
        self.assertNotRegex(whys, r"which needs 1 \(\d+ were free\)")

    def test_a_story_ends_with_its_job(self):
        rows = [row(1, run=50, processors=3, limit=100), row(2, submit=1, processors=4, limit=60)]
        rows += [row(n, submit=2, run=1, processors=1, limit=2) for n in range(3, 28)]
        rows += [row(28, submit=300, processors=1)]
        self.file("log.swf", HEAD + "".join(rows))
        self.rota("simulate", "log.swf", "--policy", "easy", "--journal", "one.journal", "--quiet")
        lines = self.rota("explain", "2", "--journal", "one.journal").stdout.splitlines()
        told = [line.split("  ", 1)[1] for line in lines if "  " in line]
        self.assertEqual(told[-3], "and 5 more passed it")
        self.assertTrue(told[-2].startswith("started") and told[-1] == "ended", told[-2:])
        times = [line.split("  ", 1)[0] for line in lines[:-1]]
        self.assertEqual(times, sorted(times))

    def test_a_story_for_programs(self):
        self.file("log.swf", HEAD + row(1, run=50, processors=3, limit=100) + row(2, submit=1, processors=4, limit=60))
        self.rota("simulate", "log.swf", "--policy", "easy", "--journal", "one.journal", "--quiet")
        story = json.loads(self.rota("explain", "2", "--journal", "one.journal", "--json").stdout)
        self.assertEqual(story["job"], 2)
        self.assertEqual([line["event"] for line in story["story"]], ["submitted", "promise", "waits", "started", "ended"])
        self.assertEqual([line["at_s"] for line in story["story"]][:2], [1, 1])
        self.assertIn("earlier than it was promised", story["conclusion"])

    def test_a_long_policy_is_called_by_its_first_word(self):
        long = "slurm+bf-interval=5s+bf-resolution=10s+bf-window=2d+batch-sched-delay=2s"
        asked = ("simulate", DAY, "--policy", f"fcfs,{long}", "--quiet")
        said = self.rota(*asked, "--jobs", "jobs.csv").stdout
        self.assertEqual(said.count(long), 1, said)
        self.assertIn(f"\nslurm: {long}\n", said)
        self.assertRegex(said, r"\nslurm +[0-9]")
        self.assertEqual(sorted(path.name for path in self.folder.glob("jobs-*")), ["jobs-fcfs.csv", "jobs-slurm.csv"])
        self.assertEqual([row["policy"] for row in json.loads(self.rota(*asked, "--json").stdout)["rehearsals"]], ["fcfs", long])
        text = self.page(DAY, "--policy", f"fcfs,{long}")
        self.assertEqual([policy["name"] for policy in self.charts(text)["policies"]], ["fcfs", "slurm"])
        self.assertEqual([row["policy"] for row in self.pasted(text)], ["fcfs", long])
        two = self.rota("simulate", DAY, "--policy", f"slurm,{long},{long}+bf-max-job-test=50", "--quiet").stdout
        self.assertIn(f"\nslurm-1: {long}\nslurm-2: {long}+bf-max-job-test=50\n", two)

    def test_the_page_opens_on_what_it_says_to_choose(self):
        charts = self.charts(self.page(DAY, "--policy", "fcfs,easy,fcfs-skip"))
        chosen = re.search("Choose ([^:]*):", self.rota("simulate", DAY, "--policy", "fcfs,easy,fcfs-skip", "--quiet").stdout)
        self.assertEqual(charts["policies"][charts["chosen"]]["name"], chosen.group(1))
        jobs = [{"number": n, "submit": n, "run_time": 50, "processors": 3, "user": name} for n, name in enumerate(("ann", "bob"))]
        self.file("log.jsonl", '{"processors": 4}\n' + "".join(json.dumps(job) + "\n" for job in jobs))
        self.assertEqual(sorted(self.charts(self.page("log.jsonl"))["users"].values()), ["ann", "bob"])

    def test_what_really_happened_is_on_the_page(self):
        rows = [row(n, submit=10 * n).split() for n in range(1, 9)]
        for n, fields in enumerate(rows):
            fields[2], fields[11] = str(5 * n), str(n % 2)
        self.file("log.swf", HEAD + "".join(" ".join(fields) + "\n" for fields in rows))
        text = self.page("log.swf", "--policy", "recorded,easy,fcfs")
        charts = self.charts(text)
        self.assertEqual([p["recorded"] for p in charts["policies"]], [True, False, False])
        self.assertIn("Really they waited 17.5 s on average", text)
        self.assertIn("Beside what really happened to 8 jobs", text)
        users = charts["parties"][0]
        self.assertEqual((users["kind"], users["names"]), ("user", ["user 0", "user 1"]))
        self.assertEqual([users["figures"][u][0]["mean"] for u in (0, 1)], [15, 20])

    def test_figures_stand_alone_as_svg_and_pdf(self):
        self.file("a.swf", HEAD + "".join(row(n, submit=7 * n, run=40 + n % 30, processors=1 + n % 9, limit=100) for n in range(1, 80)))
        self.file("c.toml", CLUSTER)
        self.file("asks.csv", "job,memory\n*,2G\n")
        said = self.rota("simulate", "a.swf", "--cluster", "c.toml", "--attributes", "asks.csv", "--policy", "fcfs,easy", "--plots",
                         "out/plots").stderr
        names = ["memory", "processors", "waiting", "waits"]
        written = sorted(path.name for path in (self.folder / "out" / "plots").iterdir())
        with_pdf = shutil.which("rsvg-convert") is not None
        self.assertEqual(written, sorted(f"{name}.{ending}" for name in names for ending in (["pdf", "svg"] if with_pdf else ["svg"])))
        self.assertIn("plots: 4 figures in out/plots, as SVG", said)
        for name in names:
            figure = xml.etree.ElementTree.parse(self.folder / "out" / "plots" / f"{name}.svg")
            texts = [each.text for each in figure.iter("{http://www.w3.org/2000/svg}text")]
            self.assertTrue({"fcfs", "easy"} <= set(texts), texts)
            if with_pdf:
                self.assertTrue((self.folder / "out" / "plots" / f"{name}.pdf").read_bytes().startswith(b"%PDF"))
        (self.folder / "file").write_text("")
        self.assertIn("file", self.rota("simulate", "a.swf", "--cluster", "c.toml", "--plots", "file/plots", code=1).stderr)


if __name__ == "__main__":
    main()
