#!/usr/bin/env python3
"""What the configuration reserves by date is kept free. Usage: reservations_test.py ROTA"""
import datetime
import os
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

    def test_who_asks_is_told_what_is_reserved_and_where(self):
        self.reserve(reservation(1000, 5000, 'nodes = "n[1-2]"'), reservation(-100, 500, 'nodes = "n2"'))
        first, second = self.service.ask("GET", "/v1/reservations")[1]["reservations"]
        self.assertEqual((first["active"], first["nodes"], first["processors"]), (True, "n2", 2))
        self.assertEqual((second["active"], second["nodes"], second["processors"]), (False, "n[1-2]", 4))
        self.assertEqual(second["end"] - second["start"], 4000)
        n1, n2 = self.service.ask("GET", "/v1/nodes")[1]["nodes"]
        self.assertEqual((n1["state"], n1["reserved"]["id"]), ("idle", second["id"]))
        self.assertEqual((n2["state"], n2["reserved"]["id"]), ("reserved", first["id"]))
        lines = self.rota_says("reservations").splitlines()
        self.assertEqual(lines[0].split(), ["ID", "STATE", "START", "END", "DURATION", "CPUS", "NODELIST"])
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


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
