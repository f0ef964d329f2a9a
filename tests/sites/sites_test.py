#!/usr/bin/env python3
"""Services that share jobs over a real etcd, each a site with an engine of its own.
Usage: sites_test.py ROTA"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from etcd import Etcd  # noqa: E402
from service import PATIENCE, Service  # noqa: E402

ROTA = None
ETCD = None
POLICY = "easy+auction=announced+auction-round=1s+auction-close=unbeatable"


class Sites(unittest.TestCase):
    """Sites by name, gone with all their jobs when a test ends."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rota-sites-")
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.prefix = f"/{self.id()}/"
        self.sites = {}
        self.addCleanup(self.end_all)

    def end_all(self):
        for site in self.sites.values():
            if site.process is None or site.process.poll() is not None:
                site.start()
            site.act("cancel", "all")
            site.wait_for(lambda one=site: not [j for j in one.live() if j["state"] != "PENDING"], "its jobs to end")
            site.stop()

    def endpoints(self):
        """Members of etcd, a site's own first."""
        at = len(self.sites) % len(ETCD.endpoints)
        return ", ".join(f'"{endpoint}"' for endpoint in ETCD.endpoints[at:] + ETCD.endpoints[:at])

    def join(self, name, processors=1, lease="3s", start=True, policy=None, **keys):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        os.chmod(folder, 0o777)
        keys = {"root": "true", **keys}
        more = "".join(f"{key} = {value}\n" for key, value in keys.items())
        site = Service(ROTA, folder, f'name = "{name}"\nprocessors = {processors}\n[federation]\nname = "{name}"\n'
                       f'endpoints = [{self.endpoints()}]\nprefix = "{self.prefix}"\nlease = "{lease}"\n{more}',
                       ["--policy", policy or POLICY])
        self.sites[name] = site
        if start:
            site.start()
        return site

    def known(self, site):
        return {row["name"]: row for row in site.ask("GET", "/v1/sites")[1]["sites"]}

    def until(self, done, what):
        end = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > end:
                states = {name: site.live() for name, site in self.sites.items() if site.process.poll() is None}
                raise AssertionError(f"waited in vain for {what}; jobs: {states}; etcd: {ETCD.records(self.prefix)}")
            time.sleep(0.05)

    def alive(self, site, *names):
        self.until(lambda: {n for n, row in self.known(site).items() if row["alive"]} == set(names), f"{names} alive")

    def submit(self, site, command, **members):
        """A job for all sites, which writes into the folder of the test wherever it runs."""
        return site.submit(command, folder=self.folder, sites=members.pop("sites", "any"), **members)


class Auction(Sites):
    def test_a_job_goes_to_the_site_that_has_room_and_its_home_sees_how_it_ended(self):
        berlin, lyon = self.join("berlin"), self.join("lyon")
        self.alive(berlin, "berlin", "lyon")
        busy = berlin.runs(berlin.submit("sleep 1000"))
        job = self.submit(berlin, "echo $ROTA_JOB_ID > where; exit 3", limit=100)
        row = berlin.ends(job)
        self.assertEqual((row["state"], row["exit_code"], row["site"]), ("FAILED", 3, "lyon"))
        self.assertEqual(row["node_list"], "lyon", "none of berlin's")
        guest = [j for j in lyon.ask("GET", "/v1/history")[1]["jobs"] if j.get("home")]
        self.assertEqual([j["home"] for j in guest], [f"berlin:{job}"])
        self.assertLess(abs(row["start"] - guest[0]["start"]), 2)
        self.assertEqual(berlin.job(busy)["state"], "RUNNING")
        self.until(lambda: not [k for k in ETCD.records(self.prefix) if k.split("/")[2] in ("job", "won", "ended", "bid", "claim")],
                   "nothing of it to be left in etcd")

    def test_how_it_was_sold_is_shown_at_its_home_and_where_it_ran(self):
        berlin, lyon = self.join("berlin"), self.join("lyon")
        self.alive(berlin, "berlin", "lyon")
        self.until(lambda: all("processors" in row for row in self.known(berlin).values()), "their cards")
        berlin.runs(berlin.submit("sleep 1000"))
        job = self.submit(berlin, "true", limit=100)
        berlin.ends(job)
        auctions = berlin.job(job)["auction"]
        self.assertEqual([(a["seller"], a["winner"]) for a in auctions], [("berlin", "lyon")])
        bids = {bid["site"]: bid for bid in auctions[0]["bids"]}
        self.assertIn("lyon", bids)
        if "berlin" in bids:
            self.assertLess(bids["berlin"]["price"], bids["lyon"]["price"], "it is busy")
        guest = [j for j in lyon.ask("GET", "/v1/history")[1]["jobs"] if j.get("home")][0]
        self.assertEqual(lyon.job(int(guest["id"]))["auction"], auctions)
        shown = subprocess.run([ROTA, "auction", str(job), "--socket", berlin.socket], capture_output=True, text=True)
        self.assertIn("to lyon.", shown.stdout, shown.stderr)
        self.assertIn("lyon *", shown.stdout)

    def test_a_job_that_its_home_has_won_is_not_on_its_way_there_any_more(self):
        berlin = self.join("berlin", 2)
        self.alive(berlin, "berlin")
        for _ in range(2):
            job = self.submit(berlin, "true", processors=2, limit=100)
            berlin.ends(job)
        bid = berlin.job(job)["auction"][0]["bids"][-1]
        self.assertEqual((bid["site"], bid["start"]), ("berlin", 0))

    def test_a_job_that_waits_where_it_was_won_moves_to_where_it_starts_sooner(self):
        policy = POLICY + "+auction-second-thoughts=1s+auction-margin=0"
        berlin, lyon = self.join("berlin", policy=policy), self.join("lyon", policy=policy)
        self.alive(berlin, "berlin", "lyon")
        busy = berlin.runs(berlin.submit("sleep 1000", limit=5000))
        lyon.runs(lyon.submit("sleep 1000", limit=3000))
        job = self.submit(berlin, "echo run >> token", limit=100)
        self.until(lambda: lyon.live()[1:], "lyon to have it in its queue")
        berlin.act("cancel", str(busy))
        row = berlin.ends(job)
        self.assertEqual((row["state"], row["site"]), ("COMPLETED", "berlin"))
        moved, = [row for row in lyon.ask("GET", "/v1/history")[1]["jobs"] if row.get("home")]
        self.assertEqual(moved["state"], "CANCELLED")
        self.assertIn("went on to another site", lyon.job(moved["id"])["message"])
        berlin.runs(berlin.submit("sleep 1000", limit=5000))
        away = self.submit(berlin, "echo never >> token", limit=100)
        self.until(lambda: lyon.live()[1:], "lyon to have the next one in its queue")
        lyon.act("cancel", lyon.live()[1]["id"])
        self.assertEqual(berlin.ends(away)["state"], "CANCELLED", "though it was on offer")
        with open(os.path.join(self.folder, "token")) as file:
            self.assertEqual(file.read(), "run\n")
        for site in (berlin, lyon):
            self.assertEqual(site.decides_the_same_again(), "")

    def test_each_of_many_jobs_runs_once_and_both_sites_have_a_share(self):
        berlin, lyon = self.join("berlin", 2), self.join("lyon", 2)
        self.alive(lyon, "berlin", "lyon")
        jobs = [self.submit(site, f"echo {site is berlin} >> done.{site is berlin}.{n}; sleep 0.2", limit=100)
                for n in range(20) for site in (berlin, lyon)]
        self.assertEqual(len(jobs), 40)
        for site in (berlin, lyon):
            self.until(lambda one=site: not one.live(), "all to end")
        for home in (True, False):
            for n in range(20):
                with open(os.path.join(self.folder, f"done.{home}.{n}")) as file:
                    self.assertEqual(file.read(), f"{home}\n")
        ran = {name: {row.get("site") for row in site.ask("GET", "/v1/history")[1]["jobs"] if "home" not in row}
               for name, site in self.sites.items()}
        self.assertLessEqual(ran["berlin"] | ran["lyon"], {"berlin", "lyon"})
        for site in (berlin, lyon):
            self.assertEqual(site.decides_the_same_again(), "")

    def test_the_tasks_of_an_array_go_their_own_ways(self):
        berlin, lyon = self.join("berlin"), self.join("lyon")
        self.alive(berlin, "berlin", "lyon")
        berlin.runs(berlin.submit("sleep 1000"))
        tasks = self.submit(berlin, "echo $ROTA_ARRAY_JOB_ID $ROTA_ARRAY_TASK_ID of $ROTA_ARRAY_TASK_COUNT to $ROTA_ARRAY_TASK_MAX; exit 1",
                            array="3-9:3", limit=100)
        array = tasks.split("_")[0]
        self.until(lambda: len(berlin.live()) == 1, "all tasks to end")
        rows = [row for row in berlin.ask("GET", "/v1/history")[1]["jobs"] if row["id"].startswith(f"{array}_")]
        self.assertEqual({(row["state"], row["site"]) for row in rows}, {("FAILED", "lyon")})
        for index in (3, 6, 9):
            with open(os.path.join(self.folder, f"rota-{array}_{index}.out")) as file:
                self.assertEqual(file.read(), f"{array} {index} of 3 to 9\n")
        guests = [row for row in lyon.ask("GET", "/v1/history")[1]["jobs"] if row.get("home")]
        self.assertEqual({row["id"].split("_")[1] for row in guests}, {"3", "6", "9"})

    def test_a_job_that_has_no_room_at_its_home_runs_where_there_is_some(self):
        berlin, lyon = self.join("berlin", 1), self.join("lyon", 4)
        self.alive(berlin, "berlin", "lyon")
        self.until(lambda: all("processors" in row for row in self.known(berlin).values()), "their cards")
        job = self.submit(berlin, "echo ran >> token", processors=3, limit=100)
        row = berlin.ends(job)
        self.assertEqual((row["state"], row["site"], row["processors"]), ("COMPLETED", "lyon", 3))
        self.assertIn("can never run here", berlin.job(job)["only_elsewhere"])
        lyon.runs(lyon.submit("sleep 1000", processors=4, limit=2000))
        waits = self.submit(berlin, "echo again >> token", processors=4, limit=100)
        self.until(lambda: berlin.job(waits)["reason"] == "AtSite", "lyon to have the next one")
        berlin.kill()
        berlin.start()
        self.assertTrue(berlin.act("cancel", waits)[1]["jobs"][0]["done"])
        self.assertEqual(berlin.ends(waits)["state"], "CANCELLED")
        status, answer = berlin.ask("POST", "/v1/jobs", {"folder": "/tmp", "command": ["true"], "sites": "any",
                                                         "processors": 5})
        self.assertEqual(status, 400)
        self.assertIn("Nor has any other site", answer["detail"])
        with open(os.path.join(self.folder, "token")) as file:
            self.assertEqual(file.read(), "ran\n")
        for site in (berlin, lyon):
            self.assertEqual(site.decides_the_same_again(), "")

    def test_jobs_of_a_site_that_is_killed_go_on_and_come_home(self):
        berlin, lyon = self.join("berlin"), self.join("lyon")
        self.alive(berlin, "berlin", "lyon")
        busy = berlin.runs(berlin.submit("sleep 1000"))
        job = self.submit(berlin, "sleep 1; echo ran >> token", limit=100)
        self.until(lambda: lyon.live(), "lyon to have it")
        berlin.kill()
        lyon.kill()
        lyon.start()
        self.until(lambda: not lyon.live(), "it to end")
        berlin.start()
        self.assertEqual(berlin.ends(job)["state"], "COMPLETED")
        self.assertEqual(berlin.job(busy)["state"], "RUNNING")
        with open(os.path.join(self.folder, "token")) as file:
            self.assertEqual(file.read(), "ran\n")

    def test_a_dead_home_s_jobs_are_sold_by_another_site(self):
        berlin, lyon = self.join("berlin"), self.join("lyon")
        self.alive(berlin, "berlin", "lyon")
        for site in (berlin, lyon):
            site.runs(site.submit("sleep 1000", limit=2000))
        job = self.submit(berlin, "echo ran >> token", limit=100, sites="lyon")
        self.until(lambda: any("/job/" in key for key in ETCD.records(self.prefix)) or lyon.job(2)["state"], "an offer")
        berlin.kill()
        self.alive(lyon, "lyon")
        lyon.act("cancel", "1")
        self.until(lambda: os.path.exists(os.path.join(self.folder, "token")), "it to run")
        berlin.start()
        self.assertEqual(berlin.ends(job)["site"], "lyon")


    def test_sites_go_on_while_etcd_is_away_and_meet_again_when_it_is_back(self):
        berlin, lyon = self.join("berlin"), self.join("lyon")
        self.alive(berlin, "berlin", "lyon")
        busy = berlin.runs(berlin.submit("sleep 1000"))
        first = self.submit(berlin, "until [ -e back ]; do sleep 0.1; done; echo first >> token", limit=600)
        self.until(lambda: [j for j in lyon.live() if j["state"] == "RUNNING"], "lyon to run it")
        ETCD.kill(0)
        second = self.submit(berlin, "echo second >> token", limit=600)
        own = lyon.submit("true")
        self.assertEqual(berlin.job(second)["reason"], "OnOffer")
        with open(os.path.join(self.folder, "back"), "w"):
            pass
        self.assertEqual(lyon.ends(own)["state"], "COMPLETED")
        berlin.kill()
        berlin.start()
        self.assertEqual(berlin.job(busy)["state"], "RUNNING")
        ETCD.start(0)
        for job in (first, second):
            self.assertEqual((berlin.ends(job)["state"], berlin.job(job)["site"]), ("COMPLETED", "lyon"))
        with open(os.path.join(self.folder, "token")) as file:
            self.assertEqual(file.read(), "first\nsecond\n")


class Orders(Sites):
    def test_root_s_jobs_go_where_that_is_allowed(self):
        berlin, lyon = self.join("berlin"), self.join("lyon", root="false")
        self.alive(berlin, "berlin", "lyon")
        if os.geteuid() != 0:
            self.skipTest("the jobs are not root's")
        busy = berlin.runs(berlin.submit("sleep 1000"))
        job = self.submit(berlin, "true", limit=600, sites="lyon")
        self.assertEqual(berlin.act("hold", job)[0], 207)
        self.assertIn("can only be cancelled", str(berlin.act("hold", job)[1]))
        berlin.let_pass(3)
        self.assertEqual(berlin.job(job)["reason"], "OnOffer")
        self.assertEqual(berlin.job(busy)["state"], "RUNNING")

    def test_a_job_on_offer_is_cancelled_at_its_home(self):
        berlin, lyon = self.join("berlin"), self.join("lyon", root="false")
        self.alive(berlin, "berlin", "lyon")
        job = self.submit(berlin, "echo ran > token", limit=100, sites="lyon")
        self.until(lambda: any("/job/" in key for key in ETCD.records(self.prefix)), "its offer")
        self.assertEqual(berlin.job(job)["reason"], "OnOffer")
        self.assertEqual(berlin.act("cancel", job)[1]["jobs"][0]["done"], True)
        self.assertEqual(berlin.ends(job)["state"], "CANCELLED")
        self.until(lambda: not any("/job/" in key for key in ETCD.records(self.prefix)), "no offer")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "token")))
        self.assertEqual(lyon.live(), [])

    def test_a_job_that_another_site_has_is_cancelled_at_its_home(self):
        berlin, lyon = self.join("berlin"), self.join("lyon")
        self.alive(berlin, "berlin", "lyon")
        berlin.runs(berlin.submit("sleep 1000"))
        running = self.submit(berlin, "sleep 1000", limit=2000)
        self.until(lambda: [j for j in lyon.live() if j["state"] == "RUNNING"], "lyon to run it")
        self.until(lambda: berlin.job(running)["reason"] == "RunsAtSite", "its home to know")
        self.assertIn("It runs at lyon since ", berlin.ask("GET", f"/v1/jobs/{running}/explain")[1]["why"])
        waiting = self.submit(berlin, "echo ran > token", limit=2000, sites="lyon")
        self.until(lambda: berlin.job(waiting)["reason"] == "AtSite", "lyon to have the other one, too")
        lyon.kill()
        for job in (waiting, running):
            self.assertTrue(berlin.act("cancel", job)[1]["jobs"][0]["done"])
            self.assertIn("cancels it once it can be reached", berlin.ask("GET", f"/v1/jobs/{job}/explain")[1]["why"])
        berlin.kill()  # the wish is kept
        berlin.start()
        lyon.start()
        for job in (waiting, running):
            row = berlin.ends(job)
            self.assertEqual((row["state"], row["site"]), ("CANCELLED", "lyon"))
        guests = [row for row in lyon.ask("GET", "/v1/history")[1]["jobs"] if row.get("home")]
        self.assertEqual({row["state"] for row in guests}, {"CANCELLED"})  # one of them, or both, had come so far
        self.assertIn("cancelled at its home, berlin", lyon.job(guests[0]["id"])["message"])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "token")))
        self.until(lambda: not [k for k in ETCD.records(self.prefix) if k.split("/")[2] in ("won", "ended", "cancel")],
                   "nothing of it to be left in etcd")

    def test_what_a_dead_site_has_is_forfeited_and_ends_there_when_it_comes_back(self):
        berlin, lyon = self.join("berlin"), self.join("lyon")
        graz = self.join("graz")
        self.alive(berlin, "berlin", "lyon", "graz")
        for site in (berlin, graz):
            site.runs(site.submit("sleep 1000"))
        job = self.submit(berlin, "echo run >> token; while [ ! -e end ]; do sleep 0.1; done; echo end >> token", limit=2000,
                          sites="lyon,graz")
        self.until(lambda: os.path.exists(os.path.join(self.folder, "token")), "lyon to run it")
        own = self.submit(lyon, "sleep 1000", limit=2000, sites="lyon")
        self.until(lambda: lyon.job(own)["reason"] != "OnOffer", "its own one to be its own")
        config = os.path.join(self.folder, "berlin", "rota.toml")
        forfeit = [ROTA, "sites", "forfeit", "lyon", "--config", config]
        refused = subprocess.run(forfeit, capture_output=True, text=True)
        self.assertEqual((refused.returncode, refused.stderr), (1, "rota: site lyon is alive: it ends its jobs itself.\n"))
        lyon.kill()
        self.alive(berlin, "berlin", "graz")
        self.assertIn(berlin.job(job)["reason"], ("AtSite", "RunsAtSite"))
        remove = [word if word != "forfeit" else "remove" for word in forfeit]
        refused = subprocess.run(remove, capture_output=True, text=True)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("2 jobs of the federation are still at site lyon", refused.stderr)
        done = subprocess.run(forfeit, capture_output=True, text=True)
        self.assertEqual(done.stderr, "rota: on offer again: 1 job that lyon had. Its own, which it keeps: 1 job.\n")
        self.until(lambda: berlin.job(job)["reason"] == "OnOffer", "it to be on offer")
        graz.act("cancel", "1")
        self.until(lambda: [j for j in graz.live() if j.get("home")], "graz to have it")
        lyon.start()
        self.until(lambda: not [j for j in lyon.live() if j.get("home")], "lyon to end it")
        guest, = [row for row in lyon.ask("GET", "/v1/history")[1]["jobs"] if row.get("home")]
        self.assertEqual(guest["state"], "CANCELLED")
        self.assertIn("given it to other sites", lyon.job(guest["id"])["message"])
        with open(os.path.join(self.folder, "end"), "w"):
            pass
        row = berlin.ends(job)
        self.assertEqual((row["state"], row["site"]), ("COMPLETED", "graz"))
        with open(os.path.join(self.folder, "token")) as file:
            self.assertEqual(file.read(), "run\nrun\nend\n")
        for site in (berlin, lyon, graz):
            self.assertEqual(site.decides_the_same_again(), "")
        lyon.act("cancel", own)
        self.until(lambda: not lyon.live(), "lyon to have nothing")
        self.until(lambda: not [k for k in ETCD.records(self.prefix) if k.split("/")[2] in ("won", "job")], "nothing on record")
        lyon.kill()
        self.alive(berlin, "berlin", "graz")
        done = subprocess.run(remove, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.split(".")[0]), (0, "rota: lyon is listed no more"))
        self.until(lambda: set(self.known(berlin)) == {"berlin", "graz"}, "lyon to be off the list")
        self.assertIn("has been removed before", subprocess.run(remove, capture_output=True, text=True).stderr)
        lyon.start()
        self.alive(berlin, "berlin", "lyon", "graz")

    def test_what_cannot_travel_is_refused(self):
        berlin = self.join("berlin")
        for members, why in (({"array": "1-3%2"}, "an array with a limit"), ({"after": ["afterok:1"]}, "waits for others"),
                             ({"processors": 99}, "can never run here"), ({"sites": "lyno"}, 'no site of the federation is called "lyno"'), ({"stage_in": "mesh"}, "has no `data`"),
                             ({"stage_in": "../mesh"}, "paths within the job's folder"),
                             ({"sites": "", "stage_out": "x"}, "are for jobs that go to other sites")):
            berlin.submit("true")
            status, answer = berlin.ask("POST", "/v1/jobs", {"folder": "/tmp", "command": ["true"], "sites": "any",
                                                             **members})
            self.assertEqual(status, 400)
            self.assertIn(why, answer["detail"])


class Door(Sites):
    def test_a_second_service_of_one_name_does_not_join(self):
        berlin = self.join("berlin")
        self.alive(berlin, "berlin")
        other = Service(ROTA, os.path.join(self.folder, "berlin"), None, berlin.arguments)
        other.state, other.socket = other.state + "2", other.socket + "2"
        with self.assertRaises(AssertionError) as refused:
            other.start()
        self.assertIn("a service of site berlin is alive already", str(refused.exception))

    def test_a_site_says_which_jobs_of_others_come_and_what_they_may_have(self):
        berlin = self.join("berlin", 2)
        lyon = self.join("lyon", 4, share=50, priorities='["berlin=3"]')
        graz = self.join("graz", 4, users='["berlin:root="]')
        self.alive(berlin, "berlin", "lyon", "graz")
        small = self.submit(berlin, "sleep 1000", priority=7, sites="lyon,graz", limit=2000)
        self.until(lambda: lyon.live(), "lyon to have one")
        guest, = lyon.live()
        large = self.submit(berlin, "true", processors=2, sites="lyon,graz", limit=100)
        self.until(lambda: "None has bid" in berlin.ask("GET", f"/v1/jobs/{large}/explain")[1]["why"], "it to be on offer")
        self.assertEqual((guest["home"], guest["priority"]), (f"berlin:{small}", 3))
        self.assertEqual(graz.live(), [], "berlin's root has no user there")
        reason = berlin.ask("GET", f"/v1/jobs/{large}/explain")[1]
        self.assertEqual(reason["reason"], "OnOffer", "three processors are more than half of lyon")
        lyon.act("cancel", guest["id"])
        self.assertEqual(berlin.ends(large)["site"], "lyon", "it has come into the share")


class Files(Sites):
    """Jobs whose input comes with them, and whose output goes home; sites fetch from each other by rsync."""

    def join_with_files(self, name, **keys):
        data = os.path.join(self.folder, name + "-data")
        os.mkdir(data)
        return self.join(name, data=f'"{data}"', address=f'"{data}/out"', **keys)

    def home_folder(self):
        folder = os.path.join(self.folder, "work")
        os.makedirs(os.path.join(folder, "mesh", "deep"))
        for path, text in {"mesh/a b.msh": "a", "mesh/deep/$x'.msh": "b", "run.inp": "c", "other": "d"}.items():
            with open(os.path.join(folder, path), "w") as file:
                file.write(text)
        return folder

    def test_input_comes_with_a_job_and_output_goes_home(self):
        berlin, lyon = self.join_with_files("berlin"), self.join_with_files("lyon")
        self.alive(berlin, "berlin", "lyon")
        self.until(lambda: all("processors" in row for row in self.known(berlin).values()), "their cards")
        berlin.runs(berlin.submit("sleep 1000"))
        folder = self.home_folder()
        job = berlin.submit("cat mesh/*.msh mesh/deep/* run.inp > result.txt; mkdir out; cp run.inp out/copy; ls; pwd",
                            folder=folder, sites="any", stage_in="mesh,*.inp", stage_out="result.*,out,none.*", limit=100)
        row = berlin.ends(job)
        self.assertEqual((row["state"], row["site"]), ("COMPLETED", "lyon"), row)
        with open(os.path.join(folder, "result.txt")) as file:
            self.assertEqual(file.read(), "abc")
        self.assertTrue(os.path.exists(os.path.join(folder, "out", "copy")))
        with open(os.path.join(folder, f"rota-{job}.out")) as file:
            words = file.read().split("\n")
        self.assertNotIn("other", words, "it was not asked for")
        self.assertIn("lyon-data", words[-2])

    def test_a_job_whose_input_is_not_there_fails_and_says_why(self):
        berlin, lyon = self.join_with_files("berlin"), self.join_with_files("lyon")
        self.alive(berlin, "berlin", "lyon")
        self.until(lambda: all("processors" in row for row in self.known(berlin).values()), "their cards")
        berlin.runs(berlin.submit("sleep 1000"))
        job = berlin.submit("true", folder=self.home_folder(), sites="lyon", stage_in="missing", limit=100)
        self.assertEqual(berlin.ends(job)["state"], "FAILED")
        self.assertIn("cannot stat", berlin.job(job)["message"])
        self.assertIn("missing", berlin.job(job)["message"])

    def test_a_site_that_is_killed_while_it_fetches_begins_again(self):
        slow = '"sleep 2; cp -r $ROTA_FROM/$ROTA_NAME/. $ROTA_TO/"'
        berlin, lyon = self.join_with_files("berlin"), self.join_with_files("lyon", fetch=slow)
        self.alive(berlin, "berlin", "lyon")
        self.until(lambda: all("processors" in row for row in self.known(berlin).values()), "their cards")
        berlin.runs(berlin.submit("sleep 1000"))
        folder = self.home_folder()
        job = berlin.submit("cat run.inp >> once", folder=folder, sites="any", stage_in="run.inp", stage_out="once", limit=100)
        self.until(lambda: os.path.exists(os.path.join(self.folder, "lyon-data", "in", f"berlin-{job}")), "it to fetch")
        lyon.kill()
        lyon.start()
        self.assertEqual(berlin.ends(job)["state"], "COMPLETED", berlin.job(job))
        with open(os.path.join(folder, "once")) as file:
            self.assertEqual(file.read(), "c", "it ran once")

    def test_what_a_job_runs_is_sealed_in_etcd(self):
        secret = os.path.join(self.folder, "secret")
        with open(secret, "w") as file:
            file.write("x" * 40)
        berlin, lyon = (self.join(name, secret=f'"{secret}"') for name in ("berlin", "lyon"))
        graz = self.join("graz")  # without: it does not bid
        self.alive(berlin, "berlin", "lyon", "graz")
        busy = lyon.runs(lyon.submit("sleep 1000"))
        job = self.submit(berlin, "echo a-token-to-find", limit=100, sites="lyon,graz")
        self.until(lambda: ETCD.records(self.prefix + "~payload/"), "what it runs to be in etcd")
        for value in ETCD.records(self.prefix).values():
            self.assertNotIn("a-token-to-find", value)
        lyon.act("cancel", str(busy))
        row = berlin.ends(job)
        self.assertEqual((row["state"], row["site"]), ("COMPLETED", "lyon"))
        self.assertEqual(graz.live(), [])
        self.until(lambda: not ETCD.records(self.prefix + "~payload/"), "it to be gone from etcd")


if __name__ == "__main__":
    ROTA = sys.argv.pop(1)
    if shutil.which("etcd") is None:
        print("skipped: etcd is not installed")
        sys.exit(77)
    with Etcd() as ETCD:
        unittest.main()
