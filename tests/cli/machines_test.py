#!/usr/bin/env python3
"""What is told of clusters that are more than processors: of several sites, and of nodes that draw power.

Usage: machines_test.py ROTA
"""
import csv
import json

from rota_case import DAY, HEAD, ROOT, RotaCase, main, row


class Sites(RotaCase):
    WADDEN = str(ROOT / "examples" / "wadden.toml")
    SIDECAR = "job,input,site\n*,2G,\n7,40G,ameland\n"
    POLICIES = ("easy,easy+auction=announced,easy+auction=english,easy+auction=least-loaded,easy+auction=race,"
                "grace+power=demand+auction=announced")

    def simulate(self, *more, **how):
        self.file("jobs-of-day.csv", self.SIDECAR)
        return self.rota("simulate", DAY, "--cluster", self.WADDEN, "--attributes", "jobs-of-day.csv", *more, **how)

    def runs(self, *more):
        return json.loads(self.simulate("--json", *more).stdout)["rehearsals"]

    def test_json_lines_bring_their_input_and_sites(self):
        self.file("jobs-of-day.csv", self.SIDECAR)
        self.rota("convert", DAY, "--attributes", "jobs-of-day.csv", "-o", "day.jsonl")
        policy = ["--policy", "easy+auction=announced", "--quiet", "--jobs"]
        self.simulate(*policy, "two.csv")
        self.rota("simulate", "day.jsonl", "--cluster", self.WADDEN, *policy, "one.csv")
        self.assertEqual((self.folder / "one.csv").read_text(), (self.folder / "two.csv").read_text())

    def test_each_site_has_a_row_below_its_policy(self):
        table = self.simulate("--policy", "easy,easy+auction=announced").stdout
        rows = [line.split()[0] for line in table[table.index("jobs that moved"):].split("\n\n")[0].splitlines()[2:]]
        self.assertEqual(rows, ["easy", "texel", "ameland", "easy+auction=announced", "texel", "ameland"], table)

    def test_every_job_ends_at_one_site_and_the_sums_agree(self):
        for run in self.runs("--policy", self.POLICIES):
            with self.subTest(policy=run["policy"]):
                sites = run["sites"]
                self.assertEqual([site["site"] for site in sites], ["texel", "ameland"])
                self.assertEqual(sum(site["jobs"] for site in sites), 1500)
                self.assertEqual(run["unfinished_jobs"], 0)
                self.assertEqual(sum(site["jobs_in"] for site in sites), sum(site["jobs_out"] for site in sites))
                self.assertEqual(run["moved_bytes"], sum(site["bytes_in"] for site in sites))
                self.assertEqual(run["moved_jobs"] == 0, "auction" not in run["policy"])
                self.assertAlmostEqual(run["power"]["energy_kwh"], sum(s["power"]["energy_kwh"] for s in sites))

    def test_job_files_name_the_site(self):
        self.simulate("--policy", "easy", "--jobs", "jobs.csv")
        with open(self.folder / "jobs.csv", newline="") as file:
            rows = {row["number"]: row for row in csv.DictReader(file)}
        self.assertEqual(rows["7"]["site"], "ameland")
        self.assertEqual({row["site"] for row in rows.values()}, {"texel", "ameland"})
        self.assertEqual({row["site"] for row in rows.values() if int(row["processors"]) > 192}, {"texel"})

    def test_the_same_again_is_the_same(self):
        hashes = [[(run["plan_hash"], [site["plan_hash"] for site in run["sites"]])
                   for run in self.runs("--policy", self.POLICIES, "--threads", threads)] for threads in ("1", "4")]
        self.assertEqual(*hashes)
        self.assertEqual(len({total for total, _ in hashes[0]}), len(hashes[0]), "policies differ")

    def test_one_site_is_the_cluster_that_it_is(self):
        nodes = 'names = "n[01-32]"\nprocessors = 16\nwatts_idle = 128\n'
        self.file("plain.toml", "[[nodes]]\n" + nodes)
        self.file("one.toml", '[[sites]]\nname = "heron"\n[[nodes]]\nsite = "heron"\n' + nodes)
        for policy in ("easy", "easy++", "conservative", "easy+power=demand"):
            self.rota("simulate", DAY, "--cluster", "plain.toml", "--policy", policy, "--jobs", "plain.csv")
            for auction in ("none", "announced", "english", "race"):
                self.rota("simulate", DAY, "--cluster", "one.toml", "--policy", f"{policy}+auction={auction}", "--jobs",
                          "one.csv")
                self.assertEqual((self.folder / "plain.csv").read_bytes(), (self.folder / "one.csv").read_bytes())

    def test_tasks_are_finished_at_the_site_where_their_job_runs(self):
        site = '[[sites]]\nname = "{0}"\n[[nodes]]\nsite = "{0}"\nnames = "{0}[1-2]"\nprocessors = 2\naccelerators = 1\n'
        self.file("gpus.toml", site.format("a") + site.format("b"))
        self.file("log.swf", "".join(row(n, submit=n, run=100, processors=4, limit=900) for n in range(1, 5)))
        self.file("tasks.csv", "job,tasks,task_accelerator,site\n*,10,5s,a\n")
        options = ["simulate", "log.swf", "--cluster", "gpus.toml", "--attributes", "tasks.csv", "--json", "--policy"]
        stay, move = (json.loads(self.rota(*options, f"easy+bind=container{more}").stdout)["rehearsals"][0]
                      for more in ("", "+auction=announced"))
        for run in (stay, move):
            self.assertEqual((run["tasks"]["jobs"], run["tasks"]["done"], run["tasks"]["accelerators"]), (4, 40, 4))
        self.assertEqual([site["jobs"] for site in stay["sites"]], [4, 0])
        self.assertGreater(move["sites"][1]["jobs"], 0)
        self.assertLess(move["makespan_s"], stay["makespan_s"])

    def test_what_does_not_go_with_sites_is_refused(self):
        self.refused("simulate", DAY, "--policy", "easy+auction=english",
                     said="chooses a site for each job, and here there is one. Give a --cluster file with [[sites]]")
        self.file("two.toml", '[[sites]]\nname = "a"\nprocessors = 9\n[[sites]]\nname = "b"\nprocessors = 9\n')
        self.refused("simulate", DAY, "--cluster", "two.toml", "--ties", "submit-first", said="are of one site")
        self.file("closed.swf", "; QueueFloor: 5\n" + row(1))
        self.refused("simulate", "closed.swf", "--cluster", "two.toml", said="QueueFloor")


class Power(RotaCase):
    CLUSTER = 'electricity_price = 0.5\nco2 = 400\n[[nodes]]\nnames = "n[1-4]"\nwatts_idle = 100\nboot_time = "1m"\n'

    def test_energy_stands_in_the_table_and_in_json_where_the_cluster_tells_watts(self):
        self.file("log.swf", HEAD + row(1) + row(2, submit=36000))
        self.file("watts.toml", self.CLUSTER)
        options = ["simulate", "log.swf", "--cluster", "watts.toml", "--policy", "easy,easy+power=demand"]
        self.assertIn("saved kWh", self.rota(*options).stdout)
        always, demand = (r["power"] for r in json.loads(self.rota(*options, "--json").stdout)["rehearsals"])
        self.assertEqual(always["saved_kwh"], 0)
        self.assertEqual(always["off_share"], 0)
        self.assertAlmostEqual(always["cost"], always["energy_kwh"] * 0.5)
        self.assertAlmostEqual(always["co2_kg"], always["energy_kwh"] * 0.4)
        self.assertGreater(demand["off_share"], 0.9)
        self.assertAlmostEqual(demand["energy_kwh"] + demand["saved_kwh"], demand["always_on_kwh"])

    def test_the_cost_goes_by_the_time_of_day(self):
        hours = lambda n: n * 3600
        self.file("log.swf", "; UnixStartTime: 1296756000\n" + HEAD  # 18:00 UTC
                  + row(1, run=hours(4), limit=hours(5)) + row(2, submit=hours(24), run=hours(1), limit=hours(2)))
        prices = 'electricity_prices = "08:00=0.40, 20:00=0.10"\n'
        self.file("watts.toml", prices + '[[nodes]]\nnames = "n[1-4]"\nwatts_idle = 100\nwatts_busy = 50\n')
        options = ["simulate", "log.swf", "--cluster", "watts.toml", "--json"]
        easy = json.loads(self.rota(*options, "--jobs", "jobs.csv").stdout)["rehearsals"][0]["power"]
        day = 0.4 * (12 * 0.40 + 12 * 0.10)
        jobs = [0.15 * (2 * 0.40 + 2 * 0.10), 0.15 * 0.40]
        busy = sum(jobs) * 0.05 / 0.15
        self.assertAlmostEqual(easy["cost"], day + 0.4 * 0.40 + busy)
        self.assertEqual(easy["saved_cost"], 0)
        rows = (self.folder / "jobs.csv").read_text().splitlines()
        self.assertTrue(rows[0].endswith(",energy_j,cost,partition,nodes,why"))
        self.assertEqual([float(line.split(",")[13]) for line in rows[1:]], [round(cost, 6) for cost in jobs])

        sleepy = json.loads(self.rota(*options, "--policy", "easy+power=demand").stdout)["rehearsals"][0]["power"]
        self.assertAlmostEqual(sleepy["always_on_cost"], easy["cost"] + 0.4 * 0.40 * 300 / 3600)  # it waits for a boot
        self.assertAlmostEqual(sleepy["cost"] + sleepy["saved_cost"], sleepy["always_on_cost"])
        self.assertGreater(sleepy["saved_cost"], 0.5 * day)

        self.assertEqual(self.rota(*options, "--policy", "easy,fcfs").stderr, "")
        self.file("undated.swf", HEAD + row(1))
        said = self.rota("simulate", "undated.swf", *options[2:], "--policy", "easy,fcfs").stderr
        self.assertEqual(said.count("undated: what time it begins is not known"), 1)

        self.file("watts.toml", (self.folder / "watts.toml").read_text().replace(prices, prices + "electricity_price = 1\n"))
        self.refused(*options, said="watts.toml:1: `electricity_prices` go by the time of day")

    def test_a_row_for_each_node_adds_up_to_the_table(self):
        self.file("log.swf", HEAD + row(1) + row(2, submit=36000, processors=2))
        self.file("watts.toml", self.CLUSTER)
        options = ["simulate", "log.swf", "--cluster", "watts.toml", "--policy", "easy,easy+power=demand", "--json"]
        runs = json.loads(self.rota(*options, "--node-table", "nodes.csv").stdout)["rehearsals"]
        for run in runs:
            with open(self.folder / f"nodes-{run['policy']}.csv", encoding="utf-8") as file:
                nodes = list(csv.DictReader(file))
            self.assertEqual([node["node"] for node in nodes], ["n1", "n2", "n3", "n4"])
            total = lambda column: sum(float(node[column]) for node in nodes)
            power = run["power"]
            self.assertAlmostEqual(total("energy_j"), power["energy_kwh"] * 3.6e6, places=2)
            self.assertAlmostEqual(total("cost"), power["cost"], places=5)
            time = total("work_s") + total("idle_s") + total("off_s")
            self.assertAlmostEqual(total("off_s") / time, power["off_share"])
            self.assertAlmostEqual(total("work_s") / time, power["work_share"])
        self.assertGreater(total("cycles"), 0)

    def test_the_rows_of_nodes_name_their_sites(self):
        wadden = str(ROOT / "examples" / "wadden.toml")
        run = json.loads(self.rota("simulate", DAY, "--cluster", wadden, "--policy", "easy+auction=announced", "--json",
                                   "--node-table", "nodes.csv").stdout)["rehearsals"][0]
        with open(self.folder / "nodes.csv", encoding="utf-8") as file:
            nodes = list(csv.DictReader(file))
        for site in run["sites"]:
            drawn = sum(float(node["energy_j"]) for node in nodes if node["site"] == site["site"])
            self.assertAlmostEqual(drawn, site["power"]["energy_kwh"] * 3.6e6, places=2)

    def test_nodes_that_are_not_metered_have_no_rows(self):
        self.file("log.swf", HEAD + row(1))
        said = self.rota("simulate", "log.swf", "--node-table", "nodes.csv", code=1).stderr
        self.assertIn("Give a --cluster file with `watts_idle`, or a policy with power=.", said)
        self.assertFalse((self.folder / "nodes.csv").exists())

    def test_power_on_counted_processors_is_refused(self):
        self.file("log.swf", HEAD + row(1))
        said = self.rota("simulate", "log.swf", "--policy", "easy+power=demand", code=1).stderr
        self.assertIn("Give a --cluster file with [[nodes]]", said)

    def test_a_knob_of_another_rule_is_refused(self):
        self.file("log.swf", HEAD + row(1))
        said = self.rota("simulate", "log.swf", "--policy", "easy+power=demand+power-interval=1h", code=1).stderr
        self.assertIn("it is for power=load-factor", said)


class Priorities(RotaCase):
    """What partitions, QOS and resources weigh under policy slurm: jobs of one instant, one after the other."""

    CLUSTER = """
[[nodes]]
names = "n[1-2]"
processors = 4
memory = "8G"
accelerators = 2
[[partitions]]
name = "main"
default = true
[[partitions]]
name = "fast"
job_factor = 10
[[partitions]]
name = "slow"
job_factor = 5
[[qos]]
name = "normal"
[[qos]]
name = "low"
priority = 20
usage_factor = 3
[[qos]]
name = "high"
priority = 100
[[accounts]]
name = "physics"
users = "anna,bob"
"""

    def order(self, jobs, knobs):
        """The jobs but the first, which keeps the others waiting, by their starts."""
        self.file("cluster.toml", self.CLUSTER)
        rows = [{"number": 1, "submit": 0, "run_time": 100, "limit": 100, "processors": 8, **jobs[0]}]
        rows += [{"number": number, "submit": 50, "run_time": 100, "limit": 100, "processors": 8, **job}
                 for number, job in enumerate(jobs[1:], 2)]
        self.file("jobs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        policy = "slurm+batch-sched-delay=0+priority=multifactor+" + knobs
        done = self.rota("simulate", "jobs.jsonl", "--cluster", "cluster.toml", "--policy", policy, "--jobs", "out.csv")
        self.told = done.stderr
        with open(self.folder / "out.csv", newline="") as file:
            starts = {int(row["number"]): float(row["start"]) for row in csv.DictReader(file)}
        return sorted(list(starts)[1:], key=starts.get)

    def test_partitions_by_their_job_factor(self):
        jobs = [{}, {"partition": "main"}, {"partition": "slow"}, {"partition": "fast"}]
        self.assertEqual(self.order(jobs, "weight-partition=100"), [4, 3, 2])

    def test_qos_by_their_priority(self):
        jobs = [{}, {}, {"queue": "normal"}, {"queue": "low"}, {"queue": "unknown"}, {"queue": "high"}]
        self.assertEqual(self.order(jobs, "weight-qos=100"), [6, 4, 2, 3, 5])

    def test_resources_by_what_part_of_the_partition_is_asked_for(self):
        jobs = [{}, {"processors": 2, "nodes": 2}, {"processors": 8, "nodes": 2, "memory": "5G"},
                {"processors": 8, "nodes": 2, "accelerators": 2}, {"processors": 8, "nodes": 2, "memory": "6G"}]
        self.assertEqual(self.order(jobs, "weight-tres-cpu=100"), [3, 4, 5, 2])
        self.assertEqual(self.order(jobs, "weight-tres-mem=100"), [5, 3, 2, 4])
        self.assertEqual(self.order(jobs, "weight-tres-gpu=100")[0], 4)
        self.assertEqual(self.order([{}, {"processors": 4, "nodes": 1}, {"nodes": 2}], "weight-tres-node=9"), [3, 2])

    def test_a_job_that_names_its_nodes_keeps_the_main_pass_from_these_alone(self):
        self.file("site.toml", '[[nodes]]\nnames = "n[1-2]"\nprocessors = 4\n')
        jobs = [{"submit": 0, "run_time": 20, "on_nodes": "n1"}, {"submit": 1, "run_time": 5, "on_nodes": "n1"},
                {"submit": 2, "run_time": 5}]
        rows = [{"number": number, "processors": 4, "nodes": 1, "limit": 60, **job} for number, job in enumerate(jobs, 1)]
        self.file("jobs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        self.rota("simulate", "jobs.jsonl", "--cluster", "site.toml", "--policy", "slurm+batch-sched-delay=0+bf-interval=no", "--jobs",
                  "out.csv", "--quiet")
        with open(self.folder / "out.csv", newline="") as file:
            self.assertEqual([float(row["start"]) for row in csv.DictReader(file)], [0, 20, 2])

    def test_it_is_the_turn_of_a_job_that_passes_none_in_the_order_of_priority(self):
        self.file("site.toml", 'licences = "solver:1"\n[[nodes]]\nnames = "n1"\nprocessors = 4\n')
        jobs = [{"submit": 0, "processors": 4, "run_time": 10}, {"submit": 1, "processors": 3},
                {"submit": 2, "processors": 1, "licences": "solver:1"}, {"submit": 3, "processors": 1, "licences": "solver:1"},
                {"submit": 600, "processors": 1, "licences": "solver:1"}, {"submit": 601, "processors": 3}]
        rows = [{"number": number, "run_time": 500, "limit": 1000, **job} for number, job in enumerate(jobs, 1)]
        self.file("jobs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        policy = "slurm+batch-sched-delay=0+priority=multifactor+weight-job-size=100+favor-small=yes"
        self.rota("simulate", "jobs.jsonl", "--cluster", "site.toml", "--policy", policy, "--jobs", "out.csv", "--quiet")
        with open(self.folder / "out.csv", newline="") as file:
            told = [(float(row["start"]), row["why"]) for row in csv.DictReader(file)]
        turn = "it was its turn, and there was room"
        passed = "there was room for it and not for those before it, to whom nothing was promised"
        # the second is larger than the fourth, which waits for a licence, and the sixth than the fifth
        self.assertEqual(told[:4], [(0, turn), (10, passed), (10, turn), (510, turn)])
        self.assertEqual(told[5], (601, passed))

    def test_use_counts_by_the_factor_of_its_qos(self):
        of = {"group": "physics"}
        first = {"processors": 4, "user": "anna", "queue": "low", **of}
        other = {"processors": 4, "user": "bob", "run_time": 101, "limit": 101, **of}
        jobs = [first, {"submit": 0, **other}, {"user": "anna", **of}, {"user": "bob", **of}]
        self.assertEqual(self.order(jobs, "weight-fairshare=100+calc-period=1s"), [2, 4, 3])
        jobs[0]["queue"] = "normal"
        self.assertEqual(self.order(jobs, "weight-fairshare=100+calc-period=1s"), [2, 3, 4])

    def test_use_counts_by_no_factor_under_other_policies(self):
        self.file("cluster.toml", self.CLUSTER)
        jobs = [{"number": number, "submit": submit, "run_time": 100 + number, "limit": 200, "processors": processors,
                 "user": user, "queue": "low" if number == 1 else "normal"}
                for number, submit, processors, user in ((1, 0, 4, "anna"), (2, 0, 4, "bob"), (3, 9, 8, "bob"), (4, 9, 8, "anna"))]
        self.file("jobs.jsonl", "".join(json.dumps(row) + "\n" for row in jobs))
        self.rota("simulate", "jobs.jsonl", "--cluster", "cluster.toml", "--policy", "easy+order=fair", "--quiet", "--jobs", "out.csv")
        with open(self.folder / "out.csv", newline="") as file:
            starts = {int(row["number"]): float(row["start"]) for row in csv.DictReader(file)}
        self.assertLess(starts[4], starts[3])  # anna has used a little less, whatever the factor of her QOS

    def test_qos_without_names_are_their_numbers(self):
        self.file("cluster.toml", 'processors = 8\n[[qos]]\nname = "300"\npriority = 10\n')
        rows = [(1, 0, 100), (2, 1, 3), (3, 1, 300)]  # number, submit time, queue
        self.file("jobs.swf", "; MaxProcs: 8\n" + "".join(
            f"{number} {submit} -1 100 8 -1 -1 8 100 -1 1 1 1 -1 {queue} -1 -1 -1\n" for number, submit, queue in rows))
        policy = "slurm+batch-sched-delay=0+priority=multifactor+weight-qos=100"
        self.rota("simulate", "jobs.swf", "--cluster", "cluster.toml", "--policy", policy, "--quiet", "--jobs", "out.csv")
        with open(self.folder / "out.csv", newline="") as file:
            starts = {int(row["number"]): float(row["start"]) for row in csv.DictReader(file)}
        self.assertLess(starts[3], starts[2])

    def test_qos_that_are_too_many_are_told(self):
        jobs = [{"queue": "q1"}] + [{"run_time": 1, "queue": f"q{number}"} for number in range(2, 256)]
        jobs += [{"queue": "normal"}, {"queue": "high"}]
        self.order(jobs, "weight-qos=100")
        self.assertIn("of a queue (QOS) behind the first 255 of the log: taken as of none (2 rows", self.told)

    def test_what_log_and_cluster_do_not_tell_each_other_is_told(self):
        of = {"queue": "high", "group": "physics", "user": "anna"}
        self.order([of, of], "weight-qos=1+weight-fairshare=1+weight-partition=1+weight-tres-mem=1+weight-tres-gpu=1")
        self.assertNotIn("slurm", self.told)
        self.order([of, {**of, "group": "physcis"}, {**of, "queue": "hihg"}, {**of, "queue": "hihg"}],
                   "weight-qos=1+weight-fairshare=1")
        self.assertIn('2 jobs are of a QOS (queue) such as "hihg", which the cluster file does not have: they count as of none',
                      self.told)
        self.assertIn('1 job is of an account (group) such as "physcis", which the cluster file does not have: they stand at '
                      'the top, with 1 share for each user', self.told)
        self.CLUSTER = "processors = 8\n"
        self.order([of, of], "weight-qos=1+weight-partition=1+weight-tres-mem=1+weight-tres-gpu=1")
        for name in ("weight-qos", "weight-partition", "weight-tres-mem", "weight-tres-gpu"):
            self.assertIn(name + " changes nothing here, for ", self.told)


if __name__ == "__main__":
    main()
