#!/usr/bin/env python3
"""What an operator of a federation does at its etcd: certificates and rights for each site, and a copy that is restored.
Usage: rights_test.py ROTA"""
import os
import shutil
import sys
import unittest

import sites_test
from etcd import Etcd


class Restored(sites_test.Sites):
    def test_an_etcd_that_is_restored_from_a_copy_loses_no_job_and_runs_none_again(self):
        with Etcd() as own:
            before = sites_test.ETCD
            sites_test.ETCD = own
            self.addCleanup(setattr, sites_test, "ETCD", before)
            berlin, lyon = self.join("berlin"), self.join("lyon")
            self.alive(berlin, "berlin", "lyon")
            for site in (berlin, lyon):
                site.runs(site.submit("sleep 1000", limit=5000))
            over = self.submit(berlin, "echo over >> token", sites="lyon", limit=100)
            self.until(lambda: any("/job/" in key for key in own.records(self.prefix)), "its offer")
            copy = os.path.join(self.folder, "copy")
            own.save(copy)
            lyon.act("cancel", "1")
            self.assertEqual(berlin.ends(over)["state"], "COMPLETED")
            lyon.runs(lyon.submit("sleep 1000", limit=5000))
            forgotten = self.submit(berlin, "echo forgotten >> token", sites="lyon", limit=100)
            self.until(lambda: any("/job/" in key for key in own.records(self.prefix)), "the next offer")
            for site in (berlin, lyon):
                site.kill()
            own.restore(copy)
            for site in (berlin, lyon):
                site.start()
            self.until(lambda: berlin.job(forgotten)["reason"] not in ("OnOffer", "AtSite"), "it to come home")
            self.until(lambda: not any("/job/" in key for key in own.records(self.prefix)), "the other to be off sale")
            lyon.act("cancel", "all")
            later = self.submit(berlin, "echo later >> token", sites="lyon", limit=100)
            self.assertEqual(berlin.ends(later)["site"], "lyon")
            berlin.act("cancel", "1")
            self.assertEqual(berlin.ends(forgotten)["state"], "COMPLETED")
            with open(os.path.join(self.folder, "token")) as file:
                self.assertEqual(file.read(), "over\nlater\nforgotten\n")
            self.end_all()
            self.sites = {}


class Rights(sites_test.Sites):
    """Sites with certificates and rights of their own, as `rota sites init` makes them."""

    def setUp(self):
        super().setUp()
        self.before, self.prefix = sites_test.ETCD, "/rota/"
        sites_test.ETCD = self.etcd = Etcd(tls=[sites_test.ROTA, "berlin", "lyon"]).__enter__()

    def tearDown(self):
        self.end_all()
        self.sites = {}
        self.etcd.__exit__()
        sites_test.ETCD = self.before

    def join_as(self, name, **more):
        return self.join(name, authority=f'"{self.etcd.file("ca.crt")}"', certificate=f'"{self.etcd.file(name + ".crt")}"',
                         key=f'"{self.etcd.file(name + ".key")}"', **more)

    def test_sites_meet_over_tls_and_no_other_certificate_is_accepted(self):
        berlin, lyon = self.join_as("berlin"), self.join_as("lyon", max_priority=1)
        self.alive(berlin, "berlin", "lyon")
        berlin.runs(berlin.submit("sleep 1000"))
        job = self.submit(berlin, "sleep 1000", limit=6000, priority=4)
        self.until(lambda: [j for j in lyon.live() if j["state"] == "RUNNING"], "lyon to run it")
        self.assertEqual(lyon.live()[0]["priority"], 1, "whatever its home gave it")
        self.assertTrue(berlin.act("cancel", job)[1]["jobs"][0]["done"])
        self.assertEqual(berlin.ends(job)["state"], "CANCELLED")
        row = berlin.ends(self.submit(berlin, "true", limit=600))
        self.assertEqual((row["state"], row["site"]), ("COMPLETED", "lyon"))
        self.until(lambda: not [k for k in self.etcd.records("/rota/") if k.split("/")[2] in
                                ("job", "won", "ended", "bid", "claim", "cancel", "~payload")], "nothing of it to be left in etcd")
        with self.assertRaises(AssertionError) as refused:
            self.join("graz", authority=f'"{self.etcd.file("ca.crt")}"')
        self.assertIn("cannot be asked, as it has to be when a site joins for the first time", str(refused.exception))
        del self.sites["graz"]

    def test_a_site_writes_its_own_records_alone(self):
        for key in ("site/berlin", "epoch/berlin", "card/berlin", "last/berlin", "bid/berlin/1", "won/berlin/1", "cancel/berlin/1",
                    "~payload/berlin/1"):
            self.assertEqual(self.etcd.ctl("put", "/rota/" + key, "x", user="berlin").returncode, 0, key)
            for words in (["put", "/rota/" + key, "x"], ["del", "/rota/" + key]):
                done = self.etcd.ctl(*words, user="lyon")
                self.assertIn("permission denied", done.stderr, key)
        self.assertIn("permission denied", self.etcd.ctl("user", "list", user="lyon").stderr)

    def test_an_offer_in_another_s_name_runs_nowhere(self):
        """lyon may write `job/` and `claim/`, as each site may: it offers berlin a job in graz's name, and has it win."""
        berlin = self.join_as("berlin")
        self.alive(berlin, "berlin")
        for key, value in (("number/000007", "graz"), ("number/000008", "../../tmp/evil")):
            self.assertIn("permission denied", self.etcd.ctl("put", "/rota/" + key, value, user="lyon").stderr)
            self.assertEqual(self.etcd.ctl("put", "/rota/" + key, value, user="root").returncode, 0)
        request = '{"user": "root", "sealed": false, "run_bytes": 9, "request": {"sites": "any", "folder": "/tmp", "limit": 60}}'
        for home in (7, 8):
            number = (home << 40) | 1
            self.assertEqual(self.etcd.ctl("put", f"/rota/job/{number}", f"{home}.1.1 -1 0 {home} {home} 1700000000000 1\n{request}",
                                           user="lyon").returncode, 0)
        self.until(lambda: sum("what it runs is not in etcd" in text for text in self.etcd.records("/rota/ended/").values()) == 2,
                   "berlin to refuse what it has won")
        berlin.let_pass(3)
        self.assertEqual([row for row in berlin.ask("GET", "/v1/history")[1]["jobs"]], [])
        self.assertEqual(berlin.live(), [])
        self.assertNotIn("evil", str(self.known(berlin)))
        self.etcd.ctl("del", "--prefix", "/rota/")


if __name__ == "__main__":
    sites_test.ROTA = sys.argv.pop(1)
    if shutil.which("etcd") is None:
        print("skipped: etcd is not installed")
        sys.exit(77)
    unittest.main()
