#!/usr/bin/env python3
"""A cluster file that is changed under a state: what is taken, and what is refused with what to do instead.
Usage: cluster_test.py ROTA"""
import contextlib
import json
import os
import sqlite3
import sys
import unittest

from service import ServiceCase

TWO = 'name = "box"\nlicences = "solver:1"\n[[nodes]]\nnames = "n[1-2]"\nprocessors = 2\nmemory = "4G"\n'


class Kept(ServiceCase):
    """The state keeps a copy of the configuration, which holds where none is named."""
    configuration = 'name = "kept"\n[[nodes]]\nnames = "n[1-3]"\nprocessors = 1\n'

    def test_a_start_that_names_no_configuration_says_which_one_holds(self):
        service = self.service
        service.stop()
        self.assertNotIn("no --config was given", service.start())
        service.stop()
        service.arguments = []
        self.assertRegex(service.start(), r"no --config was given: the configuration kept in \S+rota\.db\S* holds")
        self.assertEqual(len(service.ask("GET", "/v1/nodes")[1]["nodes"]), 3)


class Cluster(ServiceCase):
    configuration = TWO

    def describe(self, text):
        with open(os.path.join(self.folder, "rota.toml"), "w") as file:
            file.write(text)

    def again(self, text):
        """Stopped, and started with this file; gives what it said."""
        self.service.stop()
        self.describe(text)
        return self.service.start()

    def refused(self, text):
        self.service.stop()
        self.describe(text)
        with self.assertRaises(AssertionError) as told:
            self.service.start()
        self.describe(TWO)
        self.service.start()
        return str(told.exception)

    def full(self):
        """Both nodes busy, and one that waits for more than both have left."""
        running = self.service.submit("sleep 1000", processors=4, licence="solver")
        self.service.wait_for(lambda: self.service.job(running)["state"] == "RUNNING", "the first job to run")
        waits = self.service.submit("echo $ROTA_JOB_NODELIST > where", processors=2)
        self.assertEqual(self.service.job(waits)["state"], "PENDING")
        return running, waits

    def test_new_nodes_appear_and_are_used_while_jobs_run(self):
        running, waits = self.full()
        said = self.again(TWO.replace("solver:1", "solver:2, mesher:1") + '[[nodes]]\nnames = "n[3-4]"\nprocessors = 2\n'
                          'memory = "4G"\n')
        self.assertIn("describes another cluster than before: n[3-4] are new, licence mesher is new, licence solver has 2 "
                      "instead of 1.", said)
        self.assertEqual(self.service.ends(waits)["state"], "COMPLETED")
        self.assertIn(self.service.read("where").strip(), ("n3", "n4"))
        self.assertEqual(self.service.job(running)["state"], "RUNNING")
        self.assertEqual(self.service.ask("GET", "/v1/status")[1]["processors"], 8)
        second = self.service.submit("sleep 1000", licence="solver")
        self.service.wait_for(lambda: self.service.job(second)["state"] == "RUNNING", "one with the new licence to run")
        self.assertEqual(self.service.decides_the_same_again(), "")
        self.again(self.read_file())  # and once more, as it is now
        self.assertEqual(self.service.job(running)["state"], "RUNNING")

    def test_a_limit_that_is_too_tight_for_what_was_taken_is_told_with_what_to_do(self):
        partition = '[[partitions]]\nname = "day"\nnodes = "n[1-2]"\nmax_time = "1h"\n'
        self.again(TWO + partition)
        job = self.service.submit("sleep 1000", limit=3000)
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "it to run")
        self.service.stop()
        self.describe(TWO + partition.replace("1h", "1m"))
        with self.assertRaises(AssertionError) as told:
            self.service.start()
        self.assertIn("give back what that job needs, let it end, and change the file then.", str(told.exception))
        self.describe(TWO + partition)
        self.service.start()
        self.assertEqual(self.service.job(job)["state"], "RUNNING")

    def test_what_has_ended_keeps_no_limit_from_becoming_tighter(self):
        partition = '[[partitions]]\nname = "day"\nnodes = "n[1-2]"\nmax_time = "2h"\n'
        self.again(TWO + partition)
        self.assertEqual(self.service.ends(self.service.submit("true", limit=7000))["state"], "COMPLETED")
        self.service.all_end()
        runs = self.service.submit("sleep 1000", limit=3000)
        self.service.wait_for(lambda: self.service.job(runs)["state"] == "RUNNING", "it to run")
        self.again(TWO + partition.replace("2h", "1h"))
        self.assertEqual(self.service.job(runs)["state"], "RUNNING")
        self.assertEqual(self.service.decides_the_same_again(), "")

    def read_file(self):
        with open(os.path.join(self.folder, "rota.toml")) as file:
            return file.read()

    def test_nodes_may_grow(self):
        running, waits = self.full()
        said = self.again(TWO.replace("processors = 2", "processors = 4").replace("4G", "8G"))
        self.assertIn("node n1 has 4 processors instead of 2, node n1 has 8G of memory instead of 4G", said)
        self.assertEqual(self.service.ends(waits)["state"], "COMPLETED")
        self.assertEqual(self.service.job(running)["state"], "RUNNING")

    def test_what_would_leave_jobs_without_their_nodes_is_refused_with_what_to_do(self):
        running, _ = self.full()
        for text, said in (
                (TWO.replace("n[1-2]", "n1"), "node n2 is gone: leave it in the file and take it out of use by `rota nodes down n2 "
                                              "--reason gone`"),
                (TWO.replace("processors = 2", "processors = 1"), "node n1 has 1 processor instead of 2: what runs there holds more "
                                                                  "than that"),
                (TWO.replace('licences = "solver:1"\n', ""), "licence solver is gone or stands in another place"),
                (TWO.replace("memory", "#"), "node n1 tells its memory where it did not, or no longer does")):
            told = self.refused(text)
            self.assertIn(said, told)
            self.assertIn("Nothing was changed; mend the file, or begin with another folder by --state.", told)
            self.assertEqual(self.service.job(running)["state"], "RUNNING")
            self.describe(text)
            self.assertEqual(self.reload(), (400, told[told.index(f"{self.service.state} holds"):].strip()), "a reload says the same")
            self.assertEqual(self.service.ask("GET", "/v1/status")[1]["processors"], 4)
            self.describe(TWO)

    def reload(self):
        """The status, and what is new or why not."""
        status, answer = self.service.ask("POST", "/v1/configuration/reload")
        return status, answer.get("taken") if status == 200 else answer["detail"]

    def nodes(self):
        return {node["name"]: node["state"] for node in self.service.ask("GET", "/v1/nodes")[1]["nodes"]}

    def test_a_node_comes_and_goes_while_the_service_and_its_jobs_go_on(self):
        running, waits = self.full()
        self.describe(TWO.replace('"n[1-2]"', '"n[0-2]"'))
        self.assertEqual(self.reload(), (200, "n0 is new"))
        self.assertEqual(self.service.ends(waits)["state"], "COMPLETED")
        self.assertEqual(self.service.read("where").strip(), "n0", "only there was room")
        self.assertEqual(self.service.job(running)["state"], "RUNNING")
        self.assertEqual(self.reload(), (200, None), "nothing is new")
        there = self.service.submit("echo $ROTA_JOB_NODELIST > there; exec sleep 1000", processors=2)
        self.service.runs(there)
        self.assertEqual(self.service.decides_the_same_again(), "")
        self.service.kill()
        self.service.start()
        self.assertEqual({job["id"]: job["state"] for job in self.service.live()}, {running: "RUNNING", there: "RUNNING"})
        self.assertEqual(self.service.written("there").strip(), "n0")
        self.assertEqual(self.service.ask("GET", "/v1/status")[1]["processors"], 6)
        self.describe(TWO)
        status, said = self.reload()
        self.assertEqual(status, 400)
        self.assertIn("node n0 is gone: leave it in the file and take it out of use by `rota nodes down n0 --reason gone`", said)
        self.service.act("cancel", there)
        self.service.ends(there)
        self.assertEqual(self.reload(), (200, "n0 is gone"))
        self.assertEqual(set(self.nodes()), {"n1", "n2"})
        self.assertEqual(self.service.ask("GET", "/v1/status")[1]["processors"], 4)
        self.assertEqual(self.service.ask("POST", "/v1/nodes/drain", {"nodes": "n0", "reason": "x"})[0], 400)
        self.service.kill()
        self.service.start()
        self.assertEqual(set(self.nodes()), {"n1", "n2"})
        self.assertEqual(self.service.job(running)["state"], "RUNNING")
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_a_start_without_the_file_knows_what_a_reload_took(self):
        self.describe(TWO + '[[nodes]]\nnames = "m1"\nprocessors = 2\nmemory = "4G"\n')
        self.assertEqual(self.reload(), (200, "m1 is new"))
        self.describe(TWO.replace("n[1-2]", "n2") + '[[nodes]]\nnames = "m1"\nprocessors = 4\nmemory = "4G"\n')
        self.assertEqual(self.reload(), (200, "node m1 has 4 processors instead of 2, n1 is gone"))
        self.service.kill()
        self.service.arguments = []
        self.service.start()
        self.assertEqual(self.nodes(), {"n2": "idle", "m1": "idle"})
        status, answer = self.service.ask("POST", "/v1/configuration/reload")
        self.assertEqual(status, 400)
        self.assertIn("was started without --config", answer["detail"])

    def test_what_a_service_had_yet_to_say_of_nodes_when_it_was_killed_the_next_one_does(self):
        """It has begun its journal anew under the file, and no node was described yet."""
        running, _ = self.full()
        self.describe(TWO + '[[nodes]]\nnames = "m1"\nprocessors = 2\nmemory = "4G"\n')
        self.assertEqual(self.reload(), (200, "m1 is new"))
        self.service.wait_for(lambda: [job["id"] for job in self.service.live()] == [running], "the other one to end")
        self.service.stop()
        text = '[[nodes]]\nnames = "k[1-2]"\nprocessors = 3\nmemory = "4G"\n'
        text = TWO.replace("[[nodes]]", text + "[[nodes]]")
        with contextlib.closing(sqlite3.connect(os.path.join(self.service.state, "rota.db"))) as database, database:
            head = json.loads(database.execute("SELECT text FROM head").fetchone()[0])
            database.execute("UPDATE head SET text = ?", (json.dumps(head | {"cluster": text, "processors": 10}),))
        self.describe(text)
        self.assertIn("describes another cluster than before: m1 is gone, k[1-2] are new.", self.service.start())
        self.assertEqual(set(self.nodes()), {"n1", "n2", "k1", "k2"})
        self.assertEqual(self.service.job(running)["state"], "RUNNING")
        self.service.ends(self.service.submit("true", processors=3, nodes=1))
        self.assertEqual(self.service.decides_the_same_again(), "")
        self.assertNotIn("another cluster", self.again(text))

    def test_a_file_that_cannot_be_read_changes_nothing(self):
        self.describe(TWO + "[[nodes]]\nnames = 3\n")
        status, said = self.reload()
        self.assertEqual(status, 400)
        self.assertRegex(said, r"rota\.toml:8: ")
        self.assertEqual(set(self.nodes()), {"n1", "n2"})

    def test_what_that_sentence_says_to_do_is_enough(self):
        running, waits = self.full()
        self.service.ask("POST", "/v1/nodes/down", {"nodes": "n2", "reason": "gone"})
        self.assertEqual(self.service.ends(running)["state"], "CANCELLED")
        self.assertEqual(self.service.ends(waits)["state"], "COMPLETED")
        self.again(TWO)
        nodes = {node["name"]: (node["state"], node.get("reason")) for node in self.service.ask("GET", "/v1/nodes")[1]["nodes"]}
        self.assertEqual(nodes, {"n1": ("idle", None), "n2": ("down", "gone")})


class Listed(Cluster):
    """Under a policy that knows which processors each job has, and promises starts."""
    arguments = ("--policy", "rb-har")

    def test_a_node_goes_though_a_start_was_promised_there(self):
        four = TWO.replace("n[1-2]", "n[1-4]")
        self.describe(four)
        self.assertEqual(self.reload(), (200, "n[3-4] are new"))
        running = self.service.submit("sleep 1000", processors=2, limit=3000)
        self.service.runs(running)
        where = self.service.job(running)["node_list"]
        wide = self.service.submit("echo > wide", processors=6, nodes=3, limit=3000, after=[])
        self.assertEqual(self.service.ends(wide)["state"], "COMPLETED")
        other = self.service.submit("sleep 1000", processors=2, limit=3000)
        self.service.runs(other)
        waits = self.service.submit("echo > waits", processors=6, nodes=3, limit=3000)
        self.service.wait_for(lambda: self.service.ask("GET", f"/v1/jobs/{waits}/explain")[1].get("promise"), "its promise")
        used = {where, self.service.job(other)["node_list"]}
        goes = min({"n1", "n2", "n3", "n4"} - used)
        self.describe(four.replace("n[1-4]", ",".join(sorted({"n1", "n2", "n3", "n4"} - {goes}))))
        for _ in range(2):
            status, said = self.reload()
            self.assertEqual(status, 200, said)
            self.assertEqual(set(self.nodes()), {"n1", "n2", "n3", "n4"} - {goes})
            self.assertEqual(self.service.job(running)["state"], "RUNNING")
            self.assertEqual(self.service.decides_the_same_again(), "")
            self.service.kill()
            self.service.start()
        self.service.act("cancel", running)
        self.service.act("cancel", other)
        self.assertEqual(self.service.ends(waits)["state"], "COMPLETED")


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
