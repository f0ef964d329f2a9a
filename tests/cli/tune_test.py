#!/usr/bin/env python3
"""What can be carried out: sweeps, knobs that are searched on one part of a log and judged on another, intervals over weeks,
other backfill in the site's own order, and what Slurm can be set to.

Usage: tune_test.py ROTA
"""
import json
import re
import signal
import subprocess
from pathlib import Path

from rota_case import DAY, HEAD, PATIENCE, ROOT, ROTA, RotaCase, main, row


def catches(pid, number):
    """Whether a process has a handler for that signal."""
    masks = re.findall(r"^SigCgt:\s*([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.M)
    return bool(masks) and bool(int(masks[0], 16) >> (number - 1) & 1)


class Sweeps(RotaCase):
    def policies(self, text):
        done = self.rota("simulate", DAY, "--policy", text, "--json", "--quiet")
        return [run["policy"] for run in json.loads(done.stdout)["rehearsals"]]

    def test_a_range_and_a_choice_of_values_are_rows(self):
        self.assertEqual(self.policies("fcfs,easy+depth=1..3"), ["fcfs", "easy+depth=1", "easy+depth=2", "easy+depth=3"])
        self.assertEqual(self.policies("easy+depth=1|all+order=fcfs|sjf"),
                         ["easy+depth=1+order=fcfs", "easy+depth=1+order=sjf", "easy+depth=all+order=fcfs",
                          "easy+depth=all+order=sjf"])
        self.assertEqual(self.policies("easy+stretch=1..1.5..0.25+overrun=1m..3m..2m"),
                         [f"easy+stretch={s}+overrun={o}" for s in ("1", "1.25", "1.5") for o in ("1m", "3m")])

    def test_what_is_no_sweep_is_refused_with_a_sentence(self):
        for policy, said in (("easy+depth=1..1000", "more than 200 policies"),
                             ("easy+depth=1..20+stretch=1..2..0.05", "more than 200 policies"),
                             ("easy+depth=4..1", "ends below its beginning"), ("easy+depth=1..all", "is none"),
                             ("easy+depth=1|x", "policy knob depth is"), ("easy+order=fcfs..sjf", "takes words"),
                             ("easy+overrun=1m..3m", "needs a step"), ("easy+depth=1..9..0", "needs a step"),
                             ("easy+depth=0..1+beside=no", "depth=0+beside=no")):
            with self.subTest(policy=policy):
                self.refused("simulate", DAY, "--policy", policy, said=said)
        schedule = self.file("schedule.csv", "job_id,start\n1,0\n")
        self.refused("verify", DAY, schedule, "--policy", "easy+depth=1|2", said="policy knob depth is")


class Tune(RotaCase):
    def tuned(self, *arguments, log=DAY):
        return json.loads(self.rota("tune", log, "--json", *arguments).stdout)

    def test_what_gains_on_weeks_that_took_no_part_is_worth_changing(self):
        self.rota("generate", "lublin", "--jobs", "4000", "--processors", "64", "--load", "0.8", "--seed", "1", "-o", "log.swf")
        told = self.tuned("--policy", "fcfs", "--knobs", "depth=0|1", "--rule", "mean,p95", log="log.swf")
        self.assertTrue(told["worth_changing"], told["text"])
        now, best = told["settings"][:2]
        self.assertEqual((now["changes"], best["changes"]), ("", "depth=1"))
        self.assertGreater(best["figures"]["mean"]["better_by_low"], 0)
        self.assertLess(best["figures"]["p95"]["judged"], now["figures"]["p95"]["judged"])
        self.assertEqual(told["tried"], 2)
        self.assertTrue(told["text"].startswith("Worth changing: depth=1. On the "), told["text"])
        text = self.rota("tune", "log.swf", "--policy", "fcfs", "--knobs", "depth=0|1").stdout
        self.assertIn("\nThe policy to take: fcfs+depth=1\n", text)
        self.assertEqual(told, self.tuned("--policy", "fcfs", "--knobs", "depth=0|1", "--rule", "mean,p95", "--threads", "1",
                                          log="log.swf"), "the number of threads changes nothing")

    def test_where_nothing_gains_nothing_is_worth_changing(self):
        self.file("idle.swf", HEAD + "".join(row(n + 1, submit=1000 * n) for n in range(200)))
        told = self.tuned("--policy", "slurm", "--knobs", "bf-interval=10s|60s,bf-max-job-test=1|100", log="idle.swf")
        self.assertFalse(told["worth_changing"])
        self.assertEqual(told["slurm_conf"], [])
        self.assertTrue(told["text"].startswith("Nothing is worth changing: no setting of bf-interval, "), told["text"])

    def test_changes_of_slurm_are_lines_of_its_configuration(self):
        self.rota("generate", "lublin", "--jobs", "3000", "--processors", "64", "--load", "0.8", "--seed", "1", "-o", "log.swf")
        policy = "slurm+bf-interval=no+default-queue-depth=50"
        told = self.tuned("--policy", policy, "--knobs", "bf-interval=30s", log="log.swf")
        self.assertTrue(told["worth_changing"], told["text"])
        self.assertEqual(told["slurm_conf"], ["SchedulerParameters=default_queue_depth=50"])
        self.assertIn("  SchedulerParameters=default_queue_depth=50\n",
                      self.rota("tune", "log.swf", "--policy", policy, "--knobs", "bf-interval=30s").stdout)

    def test_an_interrupt_ends_the_search_and_what_was_found_is_judged(self):
        self.rota("generate", "lublin", "--jobs", "4000", "--processors", "64", "--load", "0.8", "--seed", "1", "-o", "log.swf")
        command = [ROTA, "tune", "log.swf", "--policy", "slurm", "--knobs", "bf-max-job-test=1..200,bf-window=1h..200h..1h",
                   "--tries", "100000", "--json"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) as search:
            while not catches(search.pid, signal.SIGINT):
                self.assertIsNone(search.poll())
            search.send_signal(signal.SIGINT)
            told = json.loads(search.communicate(timeout=PATIENCE)[0])
        self.assertEqual(search.returncode, 0)
        self.assertTrue(told["interrupted"])
        self.assertLess(told["tried"], 1000)
        self.assertTrue(told["settings"])

    def test_what_cannot_be_searched_is_refused(self):
        self.file("short.swf", HEAD + row(1) + row(2))
        for arguments, said in ((["--knobs", "deep"], "there is no policy knob"), (["--knobs", "depth=x"], "policy knob depth"),
                                (["--knobs", "depth,depth"], "twice"), (["--policy", "eazy"], "there is no policy")):
            with self.subTest(arguments=arguments):
                self.refused("tune", DAY, *arguments, said=said)
        self.refused("tune", "short.swf", said="all jobs come at once")
        self.refused("tune", DAY, "--rule", "fastest", code=2)


class Weeks(RotaCase):
    def test_weeks_are_drawn_anew_and_copies_say_what_they_are(self):
        self.rota("generate", "lublin", "--jobs", "3000", "--processors", "64", "--load", "0.7", "--seed", "1", "-o", "log.swf")
        text = self.rota("simulate", "log.swf", "--policy", "fcfs,easy", "--weeks").stdout
        self.assertRegex(text, r"\nWhat another such stretch of time might bring: \d+ (weeks|parts of .*) of the log, drawn anew\.\n")
        self.assertRegex(text, r"drawn anew the mean wait is less under easy than under fcfs by .*\(.* to .*\)")
        self.assertNotIn("chance was not measured", " ".join(text.split()))
        rows = json.loads(self.rota("simulate", "log.swf", "--policy", "fcfs,easy", "--weeks", "--json").stdout)["rehearsals"]
        mean = rows[1]["weeks"]["figures"]["mean"]
        self.assertAlmostEqual(mean["value"], rows[1]["wait_mean_s"], places=6)
        self.assertAlmostEqual(mean["better_by"]["value"], rows[0]["wait_mean_s"] - rows[1]["wait_mean_s"], places=6)
        self.assertLessEqual(mean["low"], mean["value"])
        self.assertLessEqual(mean["value"], mean["high"])
        copies = self.rota("simulate", DAY, "--policy", "fcfs,easy", "--copies", "2").stdout
        self.assertIn("not what another\n  month would bring", copies)


    def test_what_nodes_draw_is_metered_by_week(self):
        heron = str(ROOT / "examples" / "heron.toml")
        done = self.rota("simulate", DAY, "--cluster", heron, "--policy", "easy", "--weeks", "--json")
        run = json.loads(done.stdout)["rehearsals"][0]
        self.assertAlmostEqual(run["weeks"]["figures"]["kwh"]["value"], run["power"]["energy_kwh"], places=6)
        self.assertAlmostEqual(run["weeks"]["figures"]["cost"]["value"], run["power"]["cost"], places=6)
        self.refused("simulate", DAY, "--cluster", str(ROOT / "examples" / "wadden.toml"), "--weeks", said="several sites")


class OwnOrder(RotaCase):
    def waits(self, policy, log=DAY):
        runs = json.loads(self.rota("simulate", log, "--policy", policy, "--json").stdout)["rehearsals"]
        return [run["wait_mean_s"] for run in runs]

    def test_the_sites_order_goes_with_other_backfill(self):
        large = "+priority=multifactor+weight-job-size=1000"
        fcfs, easy, conservative = self.waits(f"fcfs{large},easy{large},conservative{large}")
        self.assertLess(easy, fcfs)
        self.assertLess(conservative, fcfs)
        own, alone = self.waits("easy+priority=multifactor,easy")  # no weight: by arrival
        self.assertAlmostEqual(own / alone, 1, delta=0.02)
        small, all_large = self.waits(f"easy{large}+favor-small=yes,easy{large}")
        self.assertNotEqual(small, all_large)

    def test_policies_with_an_order_of_their_own_say_so(self):
        for policy in ("easy-sjbf", "easy++", "fcfs-skip"):
            self.refused("simulate", DAY, "--policy", policy + "+priority=multifactor", said="order of their own")

    def test_slurm_is_told_its_lines_first(self):
        log = "".join(row(n + 1, submit=20 * n, run=100 + n * 37 % 400, processors=1 + n * 7 % 4, limit=600) for n in range(400))
        note = "; Note: policy of the site: slurm+bf-interval=no\n"
        self.file("imported.swf", "; Note: made by: rota import slurm\n" + note + HEAD + log)
        policies = "slurm+bf-interval=no,slurm,easy"
        words = " ".join(self.rota("simulate", "imported.swf", "--policy", policies, "--weeks").stdout.split())
        self.assertIn(" Whom it costs is not known: the log names no users. ", words)
        self.assertRegex(words, r"In slurm\.conf alone: with `SchedulerParameters=` jobs wait .*, \d.* % less than as it is now")


class Shares(RotaCase):
    def test_what_accounts_used_stands_beside_what_they_are_owed(self):
        self.file("c.toml", 'processors = 4\n[[accounts]]\nname = "a"\nshares = 3\n[[accounts]]\nname = "b"\n')
        jobs = [{"number": n + 1, "submit": 0, "run_time": 100, "processors": 4, "limit": 100, "user": group, "group": group}
                for n, group in enumerate("abab")]
        self.file("log.jsonl", "".join(json.dumps(job) + "\n" for job in jobs))
        done = self.rota("simulate", "log.jsonl", "--cluster", "c.toml", "--policy", "fcfs", "--by", "account", "--json")
        parties = {party["party"]: party["rehearsals"][0] for party in json.loads(done.stdout)["parties"]}
        # They take turns. Jobs of a wait until 200, and it had one of two turns; those of b until 300, and it had one of three.
        self.assertAlmostEqual(parties["a"]["share_used"], 1 / 2)
        self.assertAlmostEqual(parties["a"]["share_owed"], 3 / 4)
        self.assertAlmostEqual(parties["b"]["share_used"], 1 / 3)
        self.assertAlmostEqual(parties["b"]["share_owed"], 1 / 4)
        text = self.rota("simulate", "log.jsonl", "--cluster", "c.toml", "--policy", "fcfs", "--by", "account").stdout
        self.assertIn("shares while jobs of it waited: fcfs: used 50.0 %, owed 75.0 %", text)


class Trust(RotaCase):
    def test_it_is_told_by_partition_and_over_time(self):
        rows = [row(n + 1, submit=50 * n, run=100, processors=1 + n % 4, limit=100).split() for n in range(200)]
        for n, fields in enumerate(rows):
            fields[2] = str(n % 50)
            fields[14], fields[15] = "1", str(1 + n % 2)
        note = "; Note: policy of the site: slurm\n"
        log = "".join(" ".join(fields) + "\n" for fields in rows)
        self.file("imported.swf", "; Note: made by: rota import slurm\n" + note + HEAD + log)
        done = self.rota("simulate", "imported.swf", "--policy", "recorded,slurm,easy", "--weeks", "--by", "partition")
        text = " ".join(done.stdout.split())
        self.assertEqual(len(re.findall(r"Beside what really happened to 100 jobs: slurm ", text)), 2, done.stdout)
        self.assertRegex(text, r"Over time: slurm has \S+ times the recorded mean wait in the first half of the log and \S+ times")


if __name__ == "__main__":
    main()
