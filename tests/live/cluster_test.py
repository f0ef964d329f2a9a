#!/usr/bin/env python3
"""A cluster file that is changed under a state: what is taken, and what is refused with what to do instead.
Usage: cluster_test.py ROTA"""
import os
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
                (TWO.replace("processors = 2", "processors = 1"), "node n1 has 1 processor instead of 2: what runs, or ran, may hold "
                                                                  "more than that"),
                (TWO.replace('"n[1-2]"', '"n[0-2]"'), "node n1 stands in another place: keep the order, and put new nodes behind "
                                                      "the others"),
                (TWO.replace('licences = "solver:1"\n', ""), "licence solver is gone or stands in another place"),
                (TWO.replace("memory", "#"), "node n1 tells its memory where it did not, or no longer does")):
            told = self.refused(text)
            self.assertIn(said, told)
            self.assertIn("Nothing was changed; mend the file, or begin with another folder by --state.", told)
            self.assertEqual(self.service.job(running)["state"], "RUNNING")

    def test_what_that_sentence_says_to_do_is_enough(self):
        running, waits = self.full()
        self.service.ask("POST", "/v1/nodes/down", {"nodes": "n2", "reason": "gone"})
        self.assertEqual(self.service.ends(running)["state"], "CANCELLED")
        self.assertEqual(self.service.ends(waits)["state"], "COMPLETED")
        self.again(TWO)
        nodes = {node["name"]: (node["state"], node.get("reason")) for node in self.service.ask("GET", "/v1/nodes")[1]["nodes"]}
        self.assertEqual(nodes, {"n1": ("idle", None), "n2": ("down", "gone")})


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
