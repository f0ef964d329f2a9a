#!/usr/bin/env python3
"""What the configuration reserves by date, and what operators reserve, is kept free. Usage: reservations_test.py ROTA"""
import datetime
import os
import pwd
import subprocess
import sys
import time
import unittest

from service import ServiceCase

NODES = """name = "two"
[[nodes]]
names = "n[1-2]"
processors = 2
"""


def date(after):
    """As the file tells it: so many seconds from now, by the clock of Kathmandu."""
    zone = datetime.timezone(datetime.timedelta(hours=5, minutes=45))
    return datetime.datetime.fromtimestamp(int(time.time()) + after, zone).isoformat(timespec="seconds")


def reservation(start, end, what):
    return f'[[reservations]]\nstart = "{date(start)}"\nend = "{date(end)}"\n{what}\n'


class Nodes(ServiceCase):
    configuration = NODES

    def serve_anew(self, text, kill=False):
        self.service.kill() if kill else self.service.stop()
        with open(os.path.join(self.folder, "rota.toml"), "w") as file:
            file.write(text)
        self.service.start()

    def reserve(self, *reservations, kill=False):
        self.serve_anew(NODES + "".join(reservations), kill)

    def where(self, job):
        return self.service.job(job)["node_list"]

    def reserved(self):
        """The nodes of each, and whether an operator made it."""
        rows = self.service.ask("GET", "/v1/reservations")[1]["reservations"]
        return [(row["nodes"], "by" in row) for row in rows]

    def test_a_job_that_would_run_into_one_waits_and_is_told_why(self):
        self.reserve(reservation(1000, 5000, 'nodes = "n[1-2]"'))
        short = self.service.submit("true", processors=4, limit=100)
        self.assertEqual(self.service.ends(short)["state"], "COMPLETED")
        long = self.service.submit("true", processors=4, limit=2000)
        row = self.service.job(long)
        self.assertEqual((row["state"], row["reason"]), ("PENDING", "Reservation"))
        self.assertRegex(row["why"], r"^Nodes n\[1-2\] are reserved from 20..-..-.. ..:.. to 20..-..-.. ..:.., "
                                     r"before it would be over\.$")
        told = self.service.ask("GET", f"/v1/jobs/{long}/explain")[1]
        self.assertEqual(told["reason"], "Reservation")
        self.assertTrue(any(each["text"].startswith("starts now if it asks for at most") for each in told["would_start"]),
                        told)
        self.service.kill()
        self.service.start()
        self.assertEqual(self.service.job(long)["reason"], "Reservation")
        self.serve_anew(NODES)  # it is no longer in the file
        self.assertEqual(self.service.ends(long)["state"], "COMPLETED")
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_a_reservation_is_told_beside_whatever_else_a_job_waits_for(self):
        self.reserve(reservation(1000, 5000, 'nodes = "n[1-2]"'))
        runs = [self.service.submit("sleep 1000", processors=2, nodes=1, limit=100) for _ in range(2)]
        job = self.service.submit("true", nodes=1, processors=2, limit=2000)
        told = self.service.ask("GET", f"/v1/jobs/{job}/explain")[1]
        self.assertEqual(told["reason"], "Resources")
        self.assertRegex(" ".join(told["facts"]), r"Nodes n\[1-2\] are reserved from 20..-..-.. ..:.. to ")
        for each in [job, *runs]:
            self.service.act("cancel", each)
        self.service.all_end()

    def test_jobs_find_themselves_beside_what_is_reserved_and_there_once_it_is_over(self):
        until = int(time.time()) + 15
        self.reserve(reservation(-100, 15, 'nodes = "n1"'))
        beside = self.service.submit("echo $ROTA_JOB_NODELIST > beside", processors=2, limit=1000)
        whole = self.service.submit("date +%s > whole", processors=4, limit=1000)
        self.assertEqual(self.service.ends(beside)["state"], "COMPLETED")
        self.assertEqual(self.service.read("beside"), "n2\n")
        row = self.service.job(whole)
        if row["state"] == "PENDING":
            self.assertEqual(row["reason"], "Reservation")
            self.assertRegex(row["why"], "^Node n1 is reserved until ")
        self.assertEqual(self.service.ends(whole)["state"], "COMPLETED")
        self.assertGreaterEqual(int(self.service.read("whole")), until, "as the job's own clock has it")

    def test_answers_name_what_is_reserved_and_where(self):
        self.reserve(reservation(1000, 5000, 'nodes = "n[1-2]"'), reservation(-100, 500, 'nodes = "n2"'))
        first, second = self.service.ask("GET", "/v1/reservations")[1]["reservations"]
        self.assertEqual((first["active"], first["nodes"], first["processors"]), (True, "n2", 2))
        self.assertEqual((second["active"], second["nodes"], second["processors"]), (False, "n[1-2]", 4))
        self.assertEqual(second["end"] - second["start"], 4000)
        n1, n2 = self.service.ask("GET", "/v1/nodes")[1]["nodes"]
        self.assertEqual((n1["state"], n1["reserved"]["id"]), ("idle", second["id"]))
        self.assertEqual((n2["state"], n2["reserved"]["id"]), ("reserved", first["id"]))
        lines = self.rota_says("reservations").splitlines()
        self.assertEqual(lines[0].split(), ["ID", "STATE", "START", "END", "DURATION", "CPUS", "NODELIST", "NAME", "BY", "USERS"])
        self.assertEqual([line.split()[1] for line in lines[1:]], ["ACTIVE", "INACTIVE"])
        self.assertRegex(self.rota_says("nodes", "n1"), r"\nn1 +idle .* from 20\d\d-")
        self.assertRegex(self.rota_says("nodes", "-t", "reserved"), r"\nn2 +reserved .* until 20\d\d-")

    def rota_says(self, *words):
        environment = {**os.environ, "ROTA_SOCKET": self.service.socket}
        return subprocess.run([self.rota, *words], env=environment, check=True, capture_output=True, text=True).stdout

    def test_a_policy_that_does_not_keep_them_is_refused(self):
        self.reserve(reservation(1000, 5000, 'nodes = "n1"'))
        status, answer = self.service.ask("PUT", "/v1/policy", {"policy": "grace"})
        self.assertEqual(status, 400)
        self.assertIn('policy "grace" does not go with reservations', answer["detail"])


    def make(self, status=201, **body):
        told, answer = self.service.ask("POST", "/v1/reservations", body)
        self.assertEqual(told, status, answer)
        return answer if status == 201 else answer["detail"]

    def runs(self, **members):
        job = self.service.submit("until [ -e go ]; do sleep 0.02; done", **members)
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", f"the start of job {job}")
        return job

    def go(self):
        with open(os.path.join(self.folder, "go"), "w"):
            pass

    def test_an_operator_reserves_and_jobs_go_around_it_until_it_is_ended(self):
        there = self.runs(processors=2, limit=2000)
        node = self.where(there)
        made = self.make(start=int(time.time()) + 1000, duration=4000, nodes="n[1-2]", name="course")
        self.assertEqual((made["running_into"], made["jobs"], made["name"], made["nodes"], made["processors"]),
                         (1, [there], "course", "n[1-2]", 4))
        self.assertEqual(made["end"] - made["start"], 4000)
        short = self.service.submit("true", processors=2, limit=100)
        self.assertEqual(self.service.ends(short)["state"], "COMPLETED")
        long = self.service.submit("true", processors=2, limit=2000)
        self.assertEqual((self.service.job(long)["state"], self.service.job(long)["reason"]), ("PENDING", "Reservation"))
        self.service.kill()
        self.service.start()
        (kept,) = self.service.ask("GET", "/v1/reservations")[1]["reservations"]
        self.assertEqual({name: made[name] for name in kept}, kept)
        self.assertEqual(self.service.job(long)["reason"], "Reservation")
        self.assertEqual((self.service.job(there)["state"], self.where(there)), ("RUNNING", node))
        self.assertEqual(self.service.ask("DELETE", "/v1/reservations/course"), (200, {}))
        self.assertEqual(self.service.ends(long)["state"], "COMPLETED")
        self.assertEqual(self.service.ask("GET", "/v1/reservations")[1], {"reservations": []})
        self.go()
        self.assertEqual(self.service.ends(there)["state"], "COMPLETED")
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_one_from_now_on_is_over_by_itself_and_its_name_is_free_again(self):
        duration, reason = 2, None
        while reason != "Reservation":  # on a computer that is so slow it is over before
            made = self.make(duration=duration, nodes="all", name="short")
            self.assertTrue(made["active"])
            job = self.service.submit("date +%s.%N > began", limit=1000)
            reason, duration = self.service.job(job).get("reason"), 2 * duration
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertGreaterEqual(float(self.service.read("began")), made["end"] - 0.05, "as the job's own clock has it")
        again = self.make(duration=1000, nodes="n1", name="short")
        self.assertEqual(again["id"], made["id"] + 1)
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_a_key_gives_the_same_reservation_again(self):
        def ask(key, **changes):
            return self.service.ask("POST", "/v1/reservations", {"duration": 1000, "nodes": "n1", "name": "mine", **changes},
                                    {"Idempotency-Key": key})
        status, made = ask("k")
        self.assertEqual(status, 201, made)
        self.assertEqual(ask("k"), (201, made))
        self.service.kill()
        self.service.start()
        self.assertEqual(ask("k"), (201, made))
        self.assertEqual(len(self.service.ask("GET", "/v1/reservations")[1]["reservations"]), 1)
        status, other = ask("other", nodes="n2", name="two")
        self.assertEqual((status, other["id"]), (201, made["id"] + 1), "another key is another request")
        jobs = [self.service.ask("POST", "/v1/jobs", {"folder": self.folder, "environment": [], "command": ["/bin/true"]},
                                 {"Idempotency-Key": "k"})[1]["id"] for _ in range(2)]
        self.assertEqual(len(set(jobs)), 1, "a job's key is its own")
        self.assertEqual(self.service.ask("DELETE", "/v1/reservations/mine"), (200, {}))
        status, refused = ask("k")
        self.assertEqual(status, 400)
        self.assertIn("that this `Idempotency-Key` stands for is over, or was ended", refused["detail"])

    def test_the_file_takes_back_its_own_and_no_others(self):
        start = int(time.time()) + 1000
        self.make(start=start, duration=1000, nodes="n1", name="mine")
        self.reserve(reservation(1000, 5000, 'nodes = "n2"'))
        rows = self.service.ask("GET", "/v1/reservations")[1]["reservations"]
        self.assertEqual(self.reserved(), [("n1", True), ("n2", False)])
        status, answer = self.service.ask("DELETE", f"/v1/reservations/{rows[1]['id']}")
        self.assertEqual(status, 400)
        self.assertIn("is the configuration's: take it out of the file", answer["detail"])
        self.reserve(reservation(1500, 5000, 'nodes = "n[1-2]"'))  # around what an operator has there already
        self.assertEqual(self.reserved(), [("n1", True), ("n2", False), ("n[1-2]", False)])
        first, *parts = self.service.ask("GET", "/v1/reservations")[1]["reservations"]
        self.assertEqual([parts[0]["end"], parts[1]["start"]], [first["end"]] * 2)
        self.reserve(reservation(1500, 6000, 'nodes = "n[1-2]"'))  # which the file has changed
        self.assertEqual(self.reserved(), [("n1", True), ("n2", False), ("n[1-2]", False)])
        self.assertEqual(self.service.ask("DELETE", "/v1/reservations/mine")[0], 200)
        self.assertEqual(self.reserved(), [("n[1-2]", False)])
        self.serve_anew(NODES)
        self.assertEqual(self.reserved(), [])
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_what_cannot_be_reserved_is_refused(self):
        soon = int(time.time()) + 1000
        self.make(start=soon, duration=1000, nodes="n1", name="mine")
        for said, body in (("would have begun in the past", {"start": soon - 2000, "duration": 5000, "nodes": "n2"}),
                           ("would end before it begins", {"start": soon, "end": soon, "nodes": "n2"}),
                           ("the reservation ends before it begins", {"start": soon, "duration": 0, "nodes": "n2"}),
                           ("`end` or `duration` is missing", {"start": soon, "nodes": "n2"}),
                           ("do not go together", {"start": soon, "end": soon + 1, "duration": 1, "nodes": "n2"}),
                           ('there is no node "n3"', {"start": soon, "duration": 10, "nodes": "n[1-3]"}),
                           ("the reservation reserves nothing; name its nodes", {"start": soon, "duration": 10}),
                           ("here nodes are described; name the nodes", {"start": soon, "duration": 10, "processors": 1}),
                           ("the reservation names node n1, which reservation 0 (mine) has for a part of that time; take another "
                            "node or another time. `rota reservations` lists what is reserved, and when.",
                            {"start": soon + 500, "duration": 1000, "nodes": "n[1-2]"}),
                           ('there is a reservation "mine" already', {"start": soon, "duration": 1, "nodes": "n2", "name": "mine"}),
                           ("is no number", {"start": soon, "duration": 1, "nodes": "n2", "name": "12"}),
                           ("is no number", {"start": soon, "duration": 1, "nodes": "n2", "name": "a b"}),
                           ("is no number", {"start": soon, "duration": 1, "nodes": "n2", "name": "a" * 65})):
            self.assertIn(said, self.make(400, **body))
        for which in ("other", "6"):
            status, answer = self.service.ask("DELETE", f"/v1/reservations/{which}")
            self.assertEqual((status, answer["detail"]),
                             (404, f'there is no reservation "{which}": it is over or was never made; those there are: 0 (mine); '
                                   "`rota reservations` lists them."))
        self.assertEqual(len(self.service.ask("GET", "/v1/reservations")[1]["reservations"]), 1)

    def test_jobs_of_its_users_run_in_it_and_nowhere_else(self):
        user = pwd.getpwuid(os.getuid()).pw_name
        self.make(start=int(time.time()) + 1000, duration=2000, nodes="n2", name="later", users=user)
        self.make(duration=3000, nodes="n1", name="course", users=f"another,{user}")
        first = self.service.submit("sleep 1000", processors=2, limit=2000, reservation="course")
        self.service.wait_for(lambda: self.service.job(first)["state"] == "RUNNING", "its start")
        self.assertEqual(self.where(first), "n1")
        second = self.service.submit("true", processors=1, limit=2000, reservation="course")
        row = self.service.job(second)
        self.assertEqual((row["state"], row["reason"], row["reservation"]), ("PENDING", "Resources", "course"))
        self.assertEqual(row["why"], "It needs 1 processor, and other jobs of its reservation 1 (course) run there or come first.")
        long = self.service.submit("true", processors=1, limit=5000, reservation="course")
        self.assertEqual(self.service.job(long)["reason"], "Reservation")
        self.assertIn("and its reservation 1 (course) is over at ", self.service.job(long)["why"])
        later = self.service.submit("true", processors=1, limit=100, reservation="later")
        self.assertRegex(self.service.job(later)["why"], r"^Its reservation 0 \(later\) begins at 20")
        other = self.service.submit("true", processors=1, limit=100)
        self.assertEqual(self.service.ends(other)["state"], "COMPLETED")  # on n2: those above are in the way of no job
        self.service.kill()
        self.service.start()
        self.assertEqual([self.service.job(each)["state"] for each in (first, second, long, later)],
                         ["RUNNING", "PENDING", "PENDING", "PENDING"])
        self.service.act("cancel", first)
        self.assertEqual(self.service.ends(second)["state"], "COMPLETED")
        self.assertEqual(self.service.job(long)["state"], "PENDING")
        self.assertEqual(self.service.ask("DELETE", "/v1/reservations/course"), (200, {}))
        self.assertEqual(self.service.ends(long)["state"], "COMPLETED")  # it waits like all others now
        self.service.act("cancel", later)
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_which_jobs_may_run_in_one(self):
        soon = int(time.time()) + 1000
        self.make(start=soon, duration=1000, nodes="n1", name="upkeep")
        self.make(start=soon, duration=1000, nodes="n2", name="course", users="alice,bob")
        for which, said in (("upkeep", "no job runs in reservation 0 (upkeep): it keeps nodes free"),
                            ("course", "reservation 1 (course) is for jobs of alice,bob; an operator can make one for you"),
                            ("cours", 'there is no reservation "cours"')):
            status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": self.folder, "reservation": which})
            self.assertEqual(status, 400)
            self.assertIn(said, answer["detail"])
        for said, body in (("`users` goes with a `name`", {"nodes": "n1", "users": "alice"}),
                           ("is a list of names with commas", {"nodes": "n1", "users": "alice, bob", "name": "x"}),
                           ("where processors are only counted", {"users": "alice", "name": "x", "processors": 1})):
            self.assertIn(said, self.make(400, start=soon + 5000, duration=10, **body))

    def test_a_job_that_never_has_room_in_one_is_refused(self):
        me = pwd.getpwuid(os.geteuid()).pw_name
        self.make(duration=1000, nodes="n2", name="course", users=me)
        for members in ({"nodes": 2, "processors": 2}, {"excluded_nodes": "n2"}, {"required_nodes": "n1"}):
            status, answer = self.service.ask("POST", "/v1/jobs", {
                "command": ["true"], "folder": self.folder, "reservation": "course", **members})
            self.assertEqual(status, 400, answer)
            self.assertRegex(answer["detail"], r"^the job can never run in reservation \d+ \(course\): it needs .*, and that has nodes n2\.$")

    def test_a_policy_that_does_not_keep_them_cannot_begin_with_one(self):
        self.make(duration=1000, nodes="n1")
        self.service.stop()
        self.service.arguments += ["--policy", "grace"]
        with self.assertRaisesRegex(AssertionError, 'policy "grace" does not go with reservations'):
            self.service.start()
        self.service.arguments[-1] = "easy"
        self.service.start()
        self.assertEqual(len(self.service.ask("GET", "/v1/reservations")[1]["reservations"]), 1)

    def test_by_commands(self):
        job = self.runs(processors=2, limit=30000)
        said = self.rota_says("reserve", "--start", "now+1hour", "--duration", "2h", "--nodes", "all", "--name", "memory")
        self.assertRegex(said, r"^Made reservation 0 \(memory\): n\[1-2\] from 20\S+ to 20\S+\.\n"
                               rf"1 job that runs now may last into it by its limit, and is not stopped: {job}\.\n$")
        lines = self.rota_says("reservations").splitlines()
        self.assertEqual(lines[1].split()[-4:-2], ["n[1-2]", "memory"])
        self.assertEqual(self.rota_says("unreserve", "memory"), "")
        self.assertEqual(len(self.rota_says("reservations").splitlines()), 1)
        self.go()


class Counted(ServiceCase):
    configuration = 'name = "four"\nprocessors = 4\n'

    def test_processors_are_kept_free(self):
        self.service.stop()
        with open(os.path.join(self.folder, "rota.toml"), "a") as file:
            file.write(reservation(1000, 5000, "processors = 3"))
        self.service.start()
        small = self.service.submit("true", limit=2000)
        self.assertEqual(self.service.ends(small)["state"], "COMPLETED")
        long = self.service.submit("true", processors=2, limit=2000)
        row = self.service.job(long)
        self.assertEqual((row["state"], row["reason"]), ("PENDING", "Reservation"))
        self.assertRegex(row["why"], "^3 processors are reserved from .* before it would be over.$")
        (kept,) = self.service.ask("GET", "/v1/reservations")[1]["reservations"]
        self.assertEqual((kept["active"], kept["nodes"], kept["processors"]), (False, "", 3))

    def test_an_operator_reserves_processors(self):
        body = {"start": int(time.time()) + 1000, "duration": 1000, "processors": 2}
        first = self.service.submit("sleep 1000", processors=2, limit=3000)
        self.service.wait_for(lambda: self.service.job(first)["state"] == "RUNNING", "its start")
        beside = self.service.ask("POST", "/v1/reservations", body)[1]
        self.assertEqual((beside["running_into"], beside["jobs"]), (0, []), "there is room beside the job")
        status, into = self.service.ask("POST", "/v1/reservations", {**body, "start": body["start"] + 1000, "processors": 3})
        self.assertEqual((status, into["running_into"], into["jobs"]), (201, 1, [first]))
        status, refused = self.service.ask("POST", "/v1/reservations", {**body, "processors": 3})
        self.assertEqual(status, 400)
        self.assertEqual(refused["detail"], "the reservation asks for 3 processors when 2 are reserved already, and the cluster has "
                         "4; reserve fewer. `rota reservations` lists what is reserved, and when.")


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
