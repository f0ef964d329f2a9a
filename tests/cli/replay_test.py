#!/usr/bin/env python3
"""Journals on the command line: kept by rota simulate, folded, decided again and rehearsed by rota replay; bad ones end in
a sentence. Usage: replay_test.py ROTA
"""
import csv
import json
import os
import resource
import shutil
import signal
import sqlite3
import struct
import zlib

from rota_case import ROOT, ROTA, RotaCase, main, unprivileged

DAY = str(ROOT / "examples" / "day.swf")


def cluster(name):
    return str(ROOT / "examples" / (name + ".toml"))


def batches(journal):
    """The version of a journal, its head and the facts of its batches, read as docs/journal.md has it."""
    start, head, rest = journal.split(b"\n", 2)
    name, version, _ = start.split(b" ", 2)
    assert name == b"rota-journal"
    found = []
    while rest:
        length, = struct.unpack("<I", rest[:4])
        found.append(rest[12:12 + length])
        rest = rest[12 + length:]
    return int(version), head.decode(), found


class Replay(RotaCase):
    def as_database(self, journal, name):
        """A database with the facts of a journal, made as docs/journal.md has it; the connection that writes it."""
        version, head, facts = batches((self.folder / journal).read_bytes())
        database = sqlite3.connect(self.folder / name, isolation_level=None)
        self.addCleanup(database.close)
        database.executescript("""
            PRAGMA journal_mode = WAL; PRAGMA application_id = 0x526f7461; PRAGMA user_version = 1;
            CREATE TABLE head(one INTEGER PRIMARY KEY, text TEXT, first_batch INTEGER);
            CREATE TABLE batches(number INTEGER PRIMARY KEY, version INTEGER, crc INTEGER, facts BLOB);""")
        database.execute("INSERT INTO head VALUES(1, ?, 5)", [head])
        for number, batch in enumerate(facts, 5):
            crc = zlib.crc32(struct.pack("<Q", number) + batch)
            database.execute("INSERT INTO batches VALUES(?, ?, ?, ?)", [number, version, crc, batch])
        return database

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

    def test_jobs_run_in_what_is_reserved_for_them(self):
        self.file("c.toml", """[[nodes]]
names = "n[1-4]"
processors = 4
[[reservations]]
start = 100
end = 200
nodes = "n[2-3]"
name = "course"
""")
        job = '{{"number": {}, "submit": {}, "run_time": {}, "limit": {}, "processors": {}{}}}'
        course = ', "reservation": "course"'
        self.file("jobs.jsonl", "\n".join([
            job.format(1, 0, 50, 50, 16, ""), job.format(2, 10, 40, 40, 8, course), job.format(3, 20, 30, 30, 8, course),
            job.format(4, 60, 20, 150, 4, course), job.format(5, 120, 500, 500, 8, "")]) + "\n")
        for policy in ("fcfs", "fcfs-skip", "easy", "easy++", "easy+depth=3", "conservative", "slurm"):
            with self.subTest(policy=policy):
                self.rota("simulate", "jobs.jsonl", "--policy", policy, "--cluster", "c.toml", "--jobs", "table.csv",
                          "--journal", "within.journal", "--clamp")
                with open(self.folder / "table.csv") as table:
                    starts = {row["number"]: float(row["start"]) for row in csv.DictReader(table)}
                self.assertEqual([starts[each] for each in "1235"], [0, 100, 140, 120])
                if policy == "slurm":
                    self.assertEqual(starts["4"], 170)
                else:
                    self.assertGreaterEqual(starts["4"], 200)  # it could have outlasted the course
                self.assertIn("each plan is the same", self.rota("replay", "within.journal", "--check").stdout)
        with open(self.folder / "c.toml", "a") as cluster:
            cluster.write("[[limits]]\nprocessors = 4\n")
        self.file("limited.jsonl", "\n".join(job.format(n, 10, 30, 30, 4, course) for n in (1, 2)) + "\n")
        for policy in ("easy", "slurm"):  # the second keeps to limits when it starts jobs
            self.rota("simulate", "limited.jsonl", "--policy", policy, "--cluster", "c.toml", "--jobs", "table.csv")
            with open(self.folder / "table.csv") as table:
                self.assertEqual([float(row["start"]) for row in csv.DictReader(table)], [100, 130], policy)
        self.file("other.jsonl", job.format(1, 0, 5, 5, 4, ', "reservation": "cours"') + "\n")
        said = self.rota("simulate", "other.jsonl", "--cluster", "c.toml", code=1).stderr
        self.assertIn('the cluster has no reservation named "cours"', said)

    def test_refuses_policies_that_do_not_keep_what_is_reserved(self):
        self.file("c.toml", 'processors = 8\n[[reservations]]\nstart = 10\nend = 20\nprocessors = 6\n')
        said = self.rota("simulate", DAY, "--cluster", "c.toml", "--policy", "strict", code=1).stderr
        self.assertIn('policy "strict" does not go with reservations, because', said)
        said = self.rota("simulate", DAY, "--cluster", "c.toml", "--ties", "submit-first", code=1).stderr
        self.assertIn("--ties submit-first is for published schedules, in which nothing is reserved", said)

    def keep_shares(self, *knobs):
        """400 jobs of six users in three accounts and one that the cluster does not have."""
        self.file("shares.toml", """processors = 16
[[qos]]
name = "normal"
priority = 10
[[qos]]
name = "low"
usage_factor = 2
[[accounts]]
name = "physics"
shares = 5
users = "anna:2,bob"
[[accounts]]
name = "plasma"
parent = "physics"
users = "eve,idle"
[[accounts]]
name = "chemistry"
users = "joe:3,kim:0"
""")
        of = [("anna", "physics"), ("bob", "physics"), ("eve", "plasma"), ("joe", "chemistry"), ("kim", "chemistry"),
              ("mia", "plasma"), ("mia", "art")]
        rows = []
        for number in range(1, 401):
            user, group = of[number * 5 % 7]
            run = 20 + number * 37 % 200
            rows.append({"number": number, "submit": number * 9, "run_time": run, "limit": run + 60, "user": user,
                         "group": group, "processors": 1 + number * 13 % 9,
                         "queue": ("low", "normal", "other")[number % 3]})
        self.file("shares.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        policy = "+".join(("slurm", "batch-sched-delay=0", "priority=multifactor", *knobs))
        done = self.rota("simulate", "shares.jsonl", "--cluster", "shares.toml", "--policy", policy,
                         "--journal", "shares.journal", "--json", "--quiet")
        return policy, json.loads(done.stdout)["rehearsals"][0]

    def test_keeps_the_shares_that_jobs_use(self):
        self.keep_shares("weight-fairshare=1000", "weight-qos=10")
        self.assertIn("each plan is the same", self.rota("replay", "shares.journal", "--check").stdout)

    def test_rehearses_shares_and_qos_of_a_journal(self):
        by_arrival, arrival = self.keep_shares("weight-age=1")
        for knobs in (("weight-fairshare=1000",), ("weight-qos=10",)):
            policy, kept = self.keep_shares(*knobs)
            self.assertNotEqual(kept["plan_hash"], arrival["plan_hash"])
            self.keep_shares("weight-age=1")
            self.assertEqual(kept["plan_hash"], self.again("shares.journal", policy)["plan_hash"])

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

    def test_rehearses_the_tasks_of_a_journal(self):
        # the third job's tasks do not say what one takes on a CPU: as long as makes it run 900 s there
        self.file("racks.toml",
                   '[[nodes]]\nnames = "g1"\nprocessors = 4\nrack = "left"\naccelerators = 1\n'
                   '[[nodes]]\nnames = "n[1-2]"\nprocessors = 4\nrack = "left"\n')
        self.file("tasks.jsonl", "".join(json.dumps(job) + "\n" for job in (
            {"number": 1, "submit": 0, "run_time": 300, "limit": 900, "processors": 8, "nodes": 2,
             "tasks": 12, "task_accelerator": "5s", "task_cpu": "50s"},
            {"number": 2, "submit": 10, "run_time": 200, "limit": 400, "processors": 4},
            {"number": 3, "submit": 20, "run_time": 900, "limit": 1800, "processors": 8, "nodes": 2,
             "tasks": 20, "task_accelerator": "8s"})))
        for policy in ("easy+bind=container", "easy+bind=node"):
            with self.subTest(policy=policy):
                done = self.rota("simulate", "tasks.jsonl", "--cluster", "racks.toml", "--policy", policy,
                                 "--journal", "tasks.journal", "--json", "--quiet")
                kept = json.loads(done.stdout)["rehearsals"][0]
                again = self.again("tasks.journal", policy)
                self.assertGreater(kept["tasks"]["on_remote_accelerators"], 0)
                for figure in ("jobs", "plan_hash", "makespan_s", "tasks"):
                    self.assertEqual(kept[figure], again[figure], figure)

    def test_reads_a_database_while_it_is_written(self):
        kept = self.keep("--policy", "conservative")
        writer = self.as_database("day.journal", "state.db")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM batches")
        self.assertIn("each plan is the same", self.rota("replay", "state.db", "--check").stdout)
        again = self.again("state.db", "conservative")
        self.assertEqual(kept["plan_hash"], again["plan_hash"])
        for journal in ("day.journal", "state.db"):
            self.rota("replay", journal, "--facts", journal + ".jsonl")
        self.assertEqual(*((self.folder / (journal + ".jsonl")).read_bytes() for journal in ("day.journal", "state.db")))
        self.refused("replay", "state.db", "--facts", "state.db", said="cannot be written over")

    def test_reads_a_database_in_a_folder_that_it_may_not_write(self):
        program = shutil.copy(ROTA, self.folder / "rota")
        os.chmod(self.folder, 0o755)
        self.keep("--policy", "easy")
        (self.folder / "closed").mkdir(mode=0o755)
        self.as_database("day.journal", "closed/state.db").close()
        alone = {"program": program} | unprivileged()
        os.chmod(self.folder / "closed", 0o555)
        self.assertIn("each plan is the same", self.rota("replay", "closed/state.db", "--check", **alone).stdout)
        self.assertEqual([path.name for path in (self.folder / "closed").iterdir()], ["state.db"])
        os.chmod(self.folder / "closed/state.db", 0)
        self.refused("replay", "closed/state.db", said="Permission denied", **alone)
        os.chmod(self.folder / "closed", 0o755)

    def test_says_what_is_wrong_with_a_database(self):
        self.keep("--policy", "easy")
        writer = self.as_database("day.journal", "state.db")
        writer.execute("UPDATE batches SET facts = facts || x'00' WHERE number = 6")
        self.refused("replay", "state.db", said="Batch 6 of the database state.db is damaged")
        writer.execute("DELETE FROM batches WHERE number = 5")
        self.refused("replay", "state.db", said="Batch 5 of the database state.db is missing")
        writer.execute("PRAGMA user_version = 7")
        self.refused("replay", "state.db", said="version 7")
        writer.execute("PRAGMA application_id = 0")
        self.refused("replay", "state.db", said="of another program")
        self.file("no.db", b"SQLite format 3\0" + b"x" * 5000)
        self.refused("replay", "no.db", said="no database")

    def test_writes_facts_as_lines_of_json(self):
        self.keep("--policy", "easy")
        self.rota("replay", "day.journal", "--facts", "facts.jsonl")
        with open(self.folder / "facts.jsonl", encoding="utf-8") as file:
            facts = [json.loads(line) for line in file]
        self.assertEqual([fact["sequence"] for fact in facts], list(range(1, len(facts) + 1)))
        kinds = {kind: sum(fact["kind"] == kind for fact in facts) for kind in ("submitted", "started", "finished")}
        self.assertEqual(set(kinds.values()), {1500})

    def test_leaves_no_journal_behind_that_could_not_be_written(self):
        def with_little_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        said = self.refused("simulate", DAY, "--journal", "day.journal", "--quiet", preexec_fn=with_little_room)
        self.assertIn("Cannot write the journal day.journal: File too large.", said)
        self.refused("simulate", DAY, "--cluster", cluster("wadden"), "--policy", "easy+auction=announced",
                     "--journal", "day.journal", "--quiet", preexec_fn=with_little_room)
        self.assertEqual(list(self.folder.iterdir()), [])

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
        self.assertIn("left out", self.rota("replay", "cut", "--check", code=3).stderr)
        self.assertIn("left out", self.rota("replay", "cut", "--facts", "facts.jsonl").stderr)
        broken = bytearray(whole)
        broken[len(whole) // 3] ^= 1
        (self.folder / "broken").write_bytes(broken)
        self.assertRegex(self.rota("replay", "broken", code=1).stderr, "byte [0-9]+")

    def test_refuses_policies_that_make_no_sense_there(self):
        self.keep("--policy", "easy")
        for policy, way_out in (("easy+power=demand", "leave"), ("easy+migrate=gain", "leave"),
                                ("easy+auction=announced", "take a policy that does not")):
            self.assertIn(way_out, self.rota("replay", "day.journal", "--policy", policy, code=1).stderr)
        two = self.rota("simulate", DAY, "--policy", "easy,fcfs", "--journal", "two", code=1).stderr
        self.assertIn("keeps one rehearsal", two)


if __name__ == "__main__":
    main()
