#!/usr/bin/env python3
"""Four sites that share jobs over a real etcd, beside the rehearsal of the same jobs: the setting of Baranov 2018 scaled down.
Usage: sites.py [--jobs N] [--mean SECONDS] [--stretch X] [--seed N] [--runs N] [--bids-again PROGRAM] -- ROTA [RULE...]

Jobs of several processors and four priorities go to all sites; each has local jobs at load 0.4 besides. The input of a job for
all sites lies at its home, and takes about as long to another site as the job runs. A RULE is the length of a round in mean run
times (0.3), or `announced` or `start`. Prints for each the mean time from submission to end, by priority, of the rehearsal and of
each live run, how many sites bid, and how many auctions went to another site than the bids say. --stretch: run times and gaps
between jobs are so much longer, and all else stays. Times are real: N jobs take about N * 2 seconds a run.
"""
import argparse
import csv
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("live", "sites"):
    sys.path.insert(0, os.path.join(HERE, "..", "tests", folder))
from etcd import Etcd  # noqa: E402
from service import Service  # noqa: E402

SITES = {"berlin": 1.0, "graz": 1.25, "lyon": 0.8, "turku": 1.0}  # how fast their nodes are
NODES, PROCESSORS = 4, 4  # of each site
BANDWIDTH = 1_000_000  # bytes a second between sites
# Runs for $1 seconds of its own time, which stands still while it is suspended.
WORK = r"""
case $ROTA_JOB_NODELIST in berlin*) f=100;; graz*) f=125;; lyon*) f=80;; *) f=100;; esac
pipe=$(mktemp -u); mkfifo "$pipe"; exec 9<>"$pipe"; rm "$pipe"
left=$(($1 * 100 / f))
while [ $left -gt 0 ]; do
  before=${EPOCHREALTIME/./}
  pause=$((left < 200000 ? left : 200000))
  read -r -t "0.$(printf %06d $pause)" -u 9
  spent=$((${EPOCHREALTIME/./} - before))
  left=$((left - (spent < pause + 100000 ? spent : pause)))
done
"""
FETCH = 'sleep $(cat $(find $ROTA_FROM/$ROTA_NAME -name seconds)); cp -r $ROTA_FROM/$ROTA_NAME/. $ROTA_TO/'


def stream(dice, jobs, mean, stretch):
    """All jobs, as the rehearsal reads them."""
    total = len(SITES) * NODES * PROCESSORS
    sizes = [1, 2, 2, 4, 4, 6, 8]
    work = statistics.mean(sizes) * mean * stretch
    rows, span = [], jobs * work / (0.45 * total)
    for _ in range(jobs):
        rows.append({"submit": dice.uniform(0, span), "site": dice.choice(list(SITES)), "anywhere": "yes",
                     "input": int(dice.uniform(0.05, 1.95) * mean * BANDWIDTH)})
    for site, speed in SITES.items():
        for _ in range(int(0.4 * NODES * PROCESSORS * speed * span / work)):
            rows.append({"submit": dice.uniform(0, span), "site": site, "anywhere": "no"})
    rows.sort(key=lambda row: row["submit"])
    for number, row in enumerate(rows, 1):
        run = round(min(dice.expovariate(1 / (mean * stretch)), 5 * mean * stretch) + 0.2, 2)
        row.update(number=number, submit=round(row["submit"], 2), run_time=run, processors=dice.choice(sizes),
                   limit=int(10 * mean * stretch), priority=dice.randint(1, 4))
    return rows


def policy_of(rule, mean):
    common = f"fcfs-skip+preempt=suspend+overrun=run-on+auction-run-time={mean}s"
    if rule == "announced":
        return f"{common}+auction=announced+auction-round=30s"
    if rule == "start":
        return f"{common}+auction=announced+auction-bid=rate+auction-round={mean}s+auction-margin=1s"
    length = max(1, round(float(rule) * mean))
    return f"{common}+auction=english+auction-round={length}s+auction-look={max(1, round(0.35 * mean))}s"


def cluster(site):
    return (f'[[nodes]]\nnames = "{site}[1-{NODES}]"\n' + (f'site = "{site}"\n' if site else "") +
            f"processors = {PROCESSORS}\ncpu_factor = {SITES[site]}\n")


def rehearsed(rota, folder, rows, policy):
    log, table = os.path.join(folder, "jobs.jsonl"), os.path.join(folder, "jobs.csv")
    with open(log, "w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    sites = "".join(f'[[sites]]\nname = "{site}"\nbandwidth = {BANDWIDTH}\n' for site in SITES)
    path = os.path.join(folder, "all.toml")
    with open(path, "w") as file:
        file.write('name = "all"\n' + sites + "".join(cluster(site) for site in SITES))
    done = subprocess.run([rota, "simulate", log, "--cluster", path, "--policy", policy, "--jobs", table, "--quiet"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(table) as file:
        return {int(row["number"]): float(row["end"]) - float(row["submit"]) for row in csv.DictReader(file)}


class Federation:
    def __init__(self, rota, folder, policy):
        self.etcd = Etcd(3).__enter__()
        self.sites = {}
        for site in SITES:
            place = os.path.join(folder, site)
            os.mkdir(place)
            configuration = (f'name = "{site}"\n' + cluster(site).replace(f'site = "{site}"\n', "") +
                             f'[federation]\nname = "{site}"\nendpoints = ["{self.etcd.endpoints[0]}"]\nroot = true\n'
                             f'max_priority = 9\ndata = "{place}/data"\naddress = "{place}/data/out"\n'
                             f"fetch = '{FETCH}'\nbandwidth = {BANDWIDTH // 1_000_000}\n")
            os.mkdir(os.path.join(place, "data"))
            self.sites[site] = Service(rota, place, configuration, ["--policy", policy])
            self.sites[site].start()
        for site in self.sites.values():
            while sum(row["alive"] and "processors" in row for row in site.ask("GET", "/v1/sites")[1]["sites"]) < len(SITES):
                time.sleep(0.1)

    def run(self, folder, rows):
        """What each job took from its submission to its end, and how it was sold."""
        ids, begin = {}, time.monotonic() + 1
        for row in rows:
            work = os.path.join(folder, "work", str(row["number"]))
            os.makedirs(work)
            if "input" in row:
                with open(os.path.join(work, "seconds"), "w") as file:
                    file.write(str(row["input"] / BANDWIDTH))
        for row in rows:
            time.sleep(max(0, begin + row["submit"] - time.monotonic()))
            body = {"folder": os.path.join(folder, "work", str(row["number"])), "environment": ["PATH=/usr/bin:/bin"],
                    "command": ["bash", "-c", WORK, "work", str(int(row["run_time"] * 1e6))], "output": "/dev/null",
                    "limit": row["limit"], "processors": row["processors"], "priority": row["priority"]}
            if "input" in row:
                body.update(sites="any", stage_in="seconds", stage_bytes=row["input"], output="out")
            status, answer = self.sites[row["site"]].ask("POST", "/v1/jobs", body)
            assert status == 201, answer
            ids[row["number"]] = answer["jobs"][0]
        while any(site.live() for site in self.sites.values()):
            time.sleep(0.5)
        times, auctions = {}, []
        for row in rows:
            job = self.sites[row["site"]].job(ids[row["number"]])
            assert job["state"] == "COMPLETED", job
            times[row["number"]] = (job["end"] - job["submit"])
            auctions += [{**auction, "job": row} for auction in job.get("auction", [])]
        return times, auctions

    def bids_again(self, program, auctions):
        """Each bid with its price as the site's journal has it, and how many of the prices are others than were bid."""
        others = 0
        for site, service in self.sites.items():
            bids = [(auction["job"], bid) for auction in auctions for bid in auction["bids"] if bid["site"] == site]
            asked = "".join(f"{bid['fact']} {job['processors']} {job['priority']}\n" for job, bid in bids)
            done = subprocess.run([program, service.state], input=asked, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            for (job, bid), again in zip(bids, done.stdout.splitlines(), strict=True):
                parts = bid.get("parts")  # a site that could offer nothing any more has none
                if again[0].isdigit() and parts:
                    bid["again"] = round((sum(int(word) for word in again.split()) + parts[2]) / 3)
                else:
                    bid["again"] = bid["price"] if again == "none" and not parts else -math.inf
                others += abs(bid["again"] - bid["price"]) > 2  # each part is rounded
        return others

    def end(self):
        for site in self.sites.values():
            site.stop()
        self.etcd.__exit__()


def winner_of(auction, price="price"):
    """By the bids that stood last: the highest, and of those alike the one of the site that joined the federation first."""
    standing = {}
    for bid in auction["bids"]:
        standing[bid["site"]] = bid[price]
    return max(standing, key=lambda site: standing[site]) if standing else None


def means(rows, times):
    """Of all jobs for all sites, then by priority, the highest first."""
    of = [row for row in rows if "input" in row]
    return [statistics.mean(times[row["number"]] for row in of if p in (0, row["priority"])) for p in (0, 4, 3, 2, 1)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rota")
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--mean", type=int, default=10)
    parser.add_argument("--stretch", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--bids-again", help="the program bids_again of the tests: works bids out again from the sites' journals")
    parser.add_argument("rules", nargs="*", default=["0.3", "announced"])
    flags = parser.parse_args()
    rows = stream(random.Random(flags.seed), flags.jobs, flags.mean, flags.stretch)
    print(f"{flags.jobs} jobs for all sites and {len(rows) - flags.jobs} local ones in {rows[-1]['submit']:.0f} s", flush=True)
    for rule in flags.rules:
        policy = policy_of(rule, flags.mean)
        print(f"{rule}: {policy}", flush=True)
        folder = tempfile.mkdtemp(prefix="rota-sites-")
        print("  rehearsed  " + "".join(f"{m:8.2f}" for m in means(rows, rehearsed(flags.rota, folder, rows, policy))), flush=True)
        for run in range(flags.runs):
            place = os.path.join(folder, str(run))
            os.mkdir(place)
            federation = Federation(flags.rota, place, policy)
            try:
                times, auctions = federation.run(place, rows)
            finally:
                federation.end()
            again = ""
            if "auction=english" in policy and flags.bids_again:
                others = federation.bids_again(flags.bids_again, auctions)
                lost = sum(winner_of(a, "again") not in (None, a["winner"]) for a in auctions)
                again = f"; from the journals {sum(len(a['bids']) for a in auctions)} bids, {others} others, and {lost} other winners"
            bidders = statistics.mean(len({bid["site"] for bid in a["bids"]}) for a in auctions) if auctions else 0
            other = sum(winner_of(a) not in (None, a["winner"]) for a in auctions)
            print("  live       " + "".join(f"{m:8.2f}" for m in means(rows, times)) +
                  f"   {len(auctions)} auctions, {bidders:.2f} sites bid, {other} to another than the highest{again}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
