#!/usr/bin/env python3
"""How many jobs sites sell each other over three members of etcd, what that costs there, and what each site receives.
Usage: offers.py ETCD_OFFERS [SITES JOBS WINDOW]...  (without: 3 sites 20,000 jobs, then 20 sites 2,000)"""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "sites"))
from etcd import Etcd  # noqa: E402


def seconds_of(pid):
    """Of processor time."""
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main(program, *numbers):
    rows = [numbers[i:i + 3] for i in range(0, len(numbers), 3)] or [("3", "20000", "200"), ("20", "2000", "5")]
    for sites, jobs, window in rows:
        with Etcd(3) as etcd:
            used = [seconds_of(member.pid) for member in etcd.members]
            begin = time.monotonic()
            subprocess.run([program, sites, jobs, window, *etcd.endpoints], check=True)
            took = time.monotonic() - begin
            spent = sum(seconds_of(member.pid) for member in etcd.members) - sum(used)
            size = int(etcd.ctl("endpoint", "status", "-w", "fields").stdout.split('"DBSize" : ')[1].split()[0])
            print(f"  etcd: {1000 * spent / int(jobs):.2f} ms of its processor time a job (three members), "
                  f"{spent / took:.2f} processors; {size / int(jobs):.0f} bytes of database a job, nothing compacted", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
