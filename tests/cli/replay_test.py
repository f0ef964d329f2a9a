#!/usr/bin/env python3
"""Journals on the command line: kept by rota simulate, folded, decided again and rehearsed by rota replay; bad ones end in
a sentence. Usage: replay_test.py ROTA
"""
import json

from rota_case import ROOT, RotaCase, main

DAY = str(ROOT / "examples" / "day.swf")


def cluster(name):
    return str(ROOT / "examples" / (name + ".toml"))


class Replay(RotaCase):
    def keep(self, *arguments):
        done = self.rota("simulate", DAY, *arguments, "--journal", "day.journal", "--json", "--quiet")
        return json.loads(done.stdout)["rehearsals"][0]

    def again(self, journal, policy):
        return json.loads(self.rota("replay", journal, "--policy", policy, "--json").stdout)["rehearsals"][0]

    def test_decides_the_same_again(self):
        for policy, machine in (("conservative", None), ("rb-har", None), ("easy+predict=tsafrir", None),
                                ("easy+power=demand", "heron"), ("easy+order=wfp3", "kea")):
            with self.subTest(policy=policy):
                self.keep("--policy", policy, *(["--cluster", cluster(machine)] if machine else []))
                said = self.rota("replay", "day.journal", "--check").stdout
                self.assertIn("each plan is the same", said)
                self.assertIn("0 jobs wait, 0 run", said)

    def test_keeps_what_is_reserved(self):
        for name, machine, reserved in (("counted", 'processors = 8', 'processors = 6'),
                                        ("nodes", '[[nodes]]\nnames = "n[1-4]"\nprocessors = 4', 'nodes = "n[2-3]"')):
            text = f'{machine}\n[[reservations]]\nstart = "1h"\nend = "2h"\n{reserved}\n'
            self.file(f"{name}.toml", text)
            for policy in ("fcfs", "fcfs-skip", "easy", "easy++", "easy+depth=3", "conservative"):
                with self.subTest(name=name, policy=policy):
                    kept = self.keep("--policy", policy, "--cluster", f"{name}.toml", "--clamp")
                    self.assertIn("each plan is the same", self.rota("replay", "day.journal", "--check").stdout)
                    again = self.again("day.journal", policy)
                    for figure in ("jobs", "plan_hash", "wait_mean_s", "makespan_s"):
                        self.assertEqual(kept[figure], again[figure], figure)

    def test_refuses_policies_that_do_not_keep_what_is_reserved(self):
        self.file("c.toml", 'processors = 8\n[[reservations]]\nstart = 10\nend = 20\nprocessors = 6\n')
        said = self.rota("simulate", DAY, "--cluster", "c.toml", "--policy", "strict", code=1).stderr
        self.assertIn('policy "strict" does not go with reservations, because', said)
        said = self.rota("simulate", DAY, "--cluster", "c.toml", "--ties", "submit-first", code=1).stderr
        self.assertIn("--ties submit-first is for published schedules, in which nothing is reserved", said)

    def test_keeps_a_journal_for_each_site(self):
        self.keep("--policy", "easy+auction=announced", "--cluster", cluster("wadden"))
        for site in ("texel", "ameland"):
            self.assertIn("each plan is the same", self.rota("replay", f"day-{site}.journal", "--check").stdout)
            self.assertGreater(self.again(f"day-{site}.journal", "easy")["jobs"], 100)

    def test_the_jobs_of_a_journal_under_the_same_policy_give_the_same_plans(self):
        for machine in (None, "heron", "kea"):
            with self.subTest(machine=machine):
                kept = self.keep("--policy", "easy", *(["--cluster", cluster(machine)] if machine else []))
                again = self.again("day.journal", "easy")
                for figure in ("jobs", "plan_hash", "wait_mean_s", "makespan_s"):
                    self.assertEqual(kept[figure], again[figure], figure)

    def test_writes_facts_as_lines_of_json(self):
        self.keep("--policy", "easy")
        self.rota("replay", "day.journal", "--facts", "facts.jsonl")
        with open(self.folder / "facts.jsonl", encoding="utf-8") as file:
            facts = [json.loads(line) for line in file]
        self.assertEqual([fact["sequence"] for fact in facts], list(range(1, len(facts) + 1)))
        kinds = {kind: sum(fact["kind"] == kind for fact in facts) for kind in ("submitted", "started", "finished")}
        self.assertEqual(set(kinds.values()), {1500})

    def test_replaces_nothing_but_journals(self):
        self.file("notes", "what I must not forget")
        said = self.rota("simulate", DAY, "--journal", "notes", code=1).stderr
        self.assertIn("is no journal", said)
        self.assertEqual((self.folder / "notes").read_text(encoding="utf-8"), "what I must not forget")
        self.keep("--policy", "easy")
        self.assertIn("cannot be written over", self.rota("replay", "day.journal", "--facts", "day.journal", code=1).stderr)
        self.rota("replay", "day.journal", "--check")

    def test_says_what_is_wrong_with_a_journal(self):
        self.keep("--policy", "easy")
        whole = (self.folder / "day.journal").read_bytes()
        self.assertIn("journal", self.rota("replay", DAY, code=1).stderr)
        self.assertIn("Cannot", self.rota("replay", "nowhere", code=1).stderr)
        (self.folder / "cut").write_bytes(whole[:len(whole) // 2])
        self.assertIn("left out", self.rota("replay", "cut").stderr)
        self.assertIn("left out", self.rota("replay", "cut", "--check", code=1).stderr)
        self.assertIn("left out", self.rota("replay", "cut", "--facts", "facts.jsonl").stderr)
        broken = bytearray(whole)
        broken[len(whole) // 3] ^= 1
        (self.folder / "broken").write_bytes(broken)
        self.assertRegex(self.rota("replay", "broken", code=1).stderr, "byte [0-9]+")

    def test_refuses_policies_that_make_no_sense_there(self):
        self.keep("--policy", "easy")
        for policy in ("easy+power=demand", "easy+migrate=gain", "easy+auction=announced"):
            self.assertIn("leave", self.rota("replay", "day.journal", "--policy", policy, code=1).stderr)
        two = self.rota("simulate", DAY, "--policy", "easy,fcfs", "--journal", "two", code=1).stderr
        self.assertIn("keeps one rehearsal", two)


if __name__ == "__main__":
    main()
