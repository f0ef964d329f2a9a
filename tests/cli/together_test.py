#!/usr/bin/env python3
"""All mechanisms together on a hundred thousand jobs of two sites with two racks each: the referee has nothing to say,
every job comes to its end, and the same seed gives the same plans. Usage: together_test.py ROTA
"""
import json
import os

from rota_case import ROOT, RotaCase, main

CHAINS = [
    "easy+grace+preempt=requeue+migrate=gain+power=demand+bind=late+auction=announced",
    "easy+grace+preempt=checkpoint+migrate=gain+power=load-factor+bind=container+auction=english",
]


class Together(RotaCase):
    def generate(self, load):
        self.rota("generate", "poisson", "--jobs", "100000", "--processors", "2048", "--load", load, "--estimates", "factor",
                  "--write-attributes", "mix.csv", "--licence-share", "0.1", "--licence-names", "matlab,fluent",
                  "--priority-levels", "3", "--task-share", "0.1", "--tasks-max", "64", "--input-share", "0.3",
                  "-o", "mix.swf")

    def rehearse(self, chain):
        before = os.times()
        done = self.rota("simulate", "mix.swf", "--cluster", str(ROOT / "examples" / "pair.toml"), "--attributes",
                        "mix.csv", "--policy", chain, "--json", "--quiet")
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return json.loads(done.stdout)["rehearsals"][0], cpu

    def test_every_mechanism_acts_and_the_referee_is_content(self):
        for load in ("0.8", "1.05"):
            self.generate(load)
            for chain in CHAINS:
                with self.subTest(load=load, chain=chain):
                    its, cpu = self.rehearse(chain)
                    print(f"load {load}, {chain}: {cpu:.2f} s of CPU, {its['referee_checks']} checks", flush=True)
                    self.assertEqual(its["jobs"], 100_000)
                    self.assertEqual(its["unfinished_jobs"] + its["rejected_jobs"], 0)
                    for what in ("preempted_dispatches", "migrations", "moved_jobs", "referee_checks"):
                        self.assertGreater(its[what], 100, what)
                    self.assertGreater(its["power"]["off_share"], 0.001)
                    self.assertGreater(its["tasks"]["done"], 100_000)
                    self.assertGreater(its["tasks"]["on_remote_accelerators"], 1000)
                    again, _ = self.rehearse(chain)
                    self.assertEqual(its["plan_hash"], again["plan_hash"])


if __name__ == "__main__":
    main()
