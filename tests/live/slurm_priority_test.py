#!/usr/bin/env python3
"""The priorities that a real Slurm with slurmdbd gives to jobs that wait, by partition, QOS, resources, size, age and the
shares of accounts, are those that policy slurm gives them.

Usage: slurm_priority_test.py ROTA SLURM_PRIORITIES [FOLDER]   With FOLDER, what was compared is kept there, without what says
nothing but where it was recorded."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import slurm_site
from slurm_site import SlurmSite

if slurm_site.lacks():
    print(f"skipped: {slurm_site.lacks()}")
    sys.exit(77)

ROTA, COMPARE = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
KEPT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
PARTITIONS = ("main", "fast", "gpu")
USERS = {"plasma": (("daemon", 1), ("bin", 2)), "solid": (("sys", 1), ("games", "parent")),
         "chemistry": (("man", 1), ("lp", 4)), "guests": (("mail", 1), ("news", 30)), "idle": (("uucp", 1), ("proxy", 1))}
# User, account, seconds and options of jobs that have run.
RAN = (("daemon", "plasma", 4, "-n1"), ("bin", "plasma", 2, "-n2"), ("sys", "solid", 2, "-n1 -pfast --mem=1500"),
       ("games", "solid", 3, "-n1"), ("man", "chemistry", 4, "-n2 --qos=low"),
       ("lp", "chemistry", 5, "-n1 -pfast --qos=high --mem-per-cpu=700"), ("mail", "guests", 1, "-n1"),
       ("news", "guests", 6, "-n2 -N2 -pgpu --gres=gpu:2"))
# User, account and options of jobs that wait.
WAIT = (("daemon", "plasma", "-n1 -pmain -t1"), ("bin", "plasma", "-n2 -pfast --qos=high"),
        ("sys", "solid", "-n3 -pmain --qos=low -t5"), ("games", "solid", "-n4 -pmain -N2 -t17"),
        ("man", "chemistry", "-n1 -pfast --mem=1500"), ("lp", "chemistry", "-n2 -N1 -pgpu --gres=gpu:a100:1"),
        ("mail", "guests", "-n2 -pgpu -N2 --gres=gpu:2 --qos=high"), ("news", "guests", "-n1 -pmain --mem-per-cpu=700"),
        ("uucp", "idle", "-n8 -pmain --qos=low"), ("proxy", "idle", "-n1 -pmain"))
COLUMNS = "JobIDRaw,Cluster,User,Account,Partition,QOS,Submit,Start,End,ElapsedRaw,TimelimitRaw,State,AllocCPUS,NNodes,ReqMem,ReqTRES,AllocTRES"
OUTPUTS = (("config.txt", "scontrol show config"), ("nodes.txt", "scontrol -a -o show node"),
           ("partitions.txt", "scontrol -a -o show partition"), ("licences.txt", "scontrol -o show lic"),
           ("qos.txt", "sacctmgr -P show qos format=Name,Priority,UsageFactor"),
           ("assoc.txt", "sacctmgr -P show assoc format=Cluster,Account,User,Partition,ParentName,Share"),
           ("sacct.txt", f"sacct -X -P -D --allusers -S 2020-01-01 -E now -s CD --format={COLUMNS}"),
           ("jobs.txt", "scontrol -o show job"), ("sprio.txt", "sprio -h -o %i|%A|%F|%J|%P|%Q|%T|%Y"))
# What of them is kept.
TELLING = {"config.txt": r"^(ClusterName|SLURM_VERSION|Select\w*|Scheduler(Type|Parameters)|Priority\w*|"
                         r"AccountingStorage(Type|Enforce)) ",
           "nodes.txt": r"^(NodeName|CPUEfctv|CPUTot|RealMemory|Gres|Weight|State)=",
           "jobs.txt": r"^(JobId|UserId|Account|QOS|JobState|SubmitTime|TimeLimit|Partition|TRES)="}
# Recordings of the same jobs, and what stands in slurm.conf for each beside the rest.
RECORDED = {"priorities": (), "priorities-by-time": ("PriorityFlags=SMALL_RELATIVE_TO_TIME",)}


class PrioritySite(SlurmSite):
    priority = ("PriorityWeightAge=86400", "PriorityMaxAge=1-0", "PriorityWeightJobSize=1000",
                "PriorityWeightPartition=10000", "PriorityWeightQOS=20000", "PriorityWeightFairShare=100000",
                "PriorityWeightTRES=CPU=1000,Mem=2000,Node=500,GRES/gpu=3000", "PriorityCalcPeriod=1",
                "PriorityDecayHalfLife=1-0")
    partitions = ("PartitionName=main Nodes=ALL Default=YES MaxTime=60 DefaultTime=10 State=UP PriorityJobFactor=2",
                  "PartitionName=fast Nodes=n[1-2] MaxTime=5 State=UP PriorityJobFactor=10 "
                  "TRESBillingWeights=CPU=0.5,Mem=4.0G",
                  "PartitionName=gpu Nodes=g[1-2] MaxTime=60 State=UP PriorityJobFactor=5 "
                  "TRESBillingWeights=CPU=2.0,GRES/gpu=3.0,Node=1.5")
    accounts = ("add qos high priority=100", "add qos low priority=20 usagefactor=2",
                "add account physics cluster=toy fairshare=30",
                "add account plasma cluster=toy parent=physics fairshare=3",
                "add account solid cluster=toy parent=physics fairshare=1",
                "add account chemistry cluster=toy fairshare=50", "add account guests cluster=toy fairshare=parent",
                "add account idle cluster=toy fairshare=20",
                *(f"add user {user} account={account} fairshare={shares} qos=normal,high,low"
                  for account, users in USERS.items() for user, shares in users))

    def batch(self, user, account, *options, run="sleep 1"):
        self.ask("sbatch", "--parsable", "-o", "/dev/null", "-e", "/dev/null", "-t2", "--uid=" + user, "-A" + account,
                 *options, "--wrap", run)

    def run_some(self):
        for user, account, seconds, options in RAN:
            self.batch(user, account, *options.split(), run=f"sleep {seconds}")
        self.wait_for(lambda: not self.ask("squeue", "-h").strip(), "the end of all jobs")

    def let_some_wait(self):
        for partition in PARTITIONS:
            self.ask("scontrol", "update", "PartitionName=" + partition, "State=DOWN")
        for user, account, options in WAIT:
            self.batch(user, account, *options.split())
            if user == "games":
                time.sleep(2)  # so that not all ages are the same
        # Ages count from when the scheduler has first looked at a job.
        self.wait_for(lambda: "AccrueTime=Unknown" not in self.ask("scontrol", "-o", "show", "job"), "ages of all jobs")

    def cancel_all(self):
        self.ask("scancel", "--quiet", "--state=PENDING", check=False)


class SlurmPriority(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="rota-priority-")
        os.chmod(cls.folder, 0o755)
        for name in ("slurm", *RECORDED):
            os.mkdir(os.path.join(cls.folder, name))
        site = PrioritySite(os.path.join(cls.folder, "slurm"), nodes=("n1", "n2"))
        try:
            site.start()
            site.run_some()
            site.let_some_wait()
            for recording, lines in RECORDED.items():
                cls.record(site, recording, lines)
        except BaseException:
            cls.tearDownClass()
            raise
        finally:
            site.stop()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def record(cls, site, recording, lines):
        site.priority = (*PrioritySite.priority, *lines)
        site.write_files()
        site.restart_controller()  # reckons all priorities anew
        site.wait_for(lambda: len(set(line.split("|")[2] for line in cls.sprio(site))) > 2, "shares of accounts")
        for name, command in OUTPUTS:
            cls.put(recording, name, site.ask(*command.split(" "), env={"TZ": "UTC"}))
        cls.put(recording, "at.txt", f"{int(time.time())}\n")

    @classmethod
    def sprio(cls, site):
        return site.ask("sprio", "-h", "-o", "%i|%A|%F").split()

    @classmethod
    def put(cls, recording, name, text):
        with open(os.path.join(cls.folder, recording, name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_priorities_are_those_of_slurm(self):
        done = subprocess.run([COMPARE, "--gtest_filter=*PrioritiesOfSlurm.*"], capture_output=True, text=True,
                              env=dict(os.environ, ROTA_SLURM_PRIORITIES=self.folder))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"[  PASSED  ] {2 * len(RECORDED)} tests.", done.stdout)
        if KEPT:
            for recording in RECORDED:
                self.keep(recording)

    def test_an_import_reads_them(self):
        site = os.path.join(self.folder, "site")
        done = subprocess.run([ROTA, "import", "slurm", site, "--from", os.path.join(self.folder, "priorities")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("+weight-partition=10000+weight-qos=20000+weight-tres-cpu=1000", done.stdout)
        with open(os.path.join(site, "cluster.toml"), encoding="utf-8") as file:
            cluster = file.read()
        self.assertIn('name = "low"\npriority = 20\nusage_factor = 2.000\n', cluster)
        self.assertIn('name = "solid"\nparent = "physics"\nusers = "games:parent,sys"\n', cluster)
        self.assertIn("billing_processor = 0.500\nbilling_memory = 4.000\n", cluster)
        self.assertIn("billing_processor = 2.000\nbilling_accelerator = 3.000\nbilling_node = 1.500\n", cluster)
        self.assertIn('name = "guests"\ninherits = true\nusers = "mail,news:30"\n', cluster)
        command = done.stdout.splitlines()[-1].split() + ["--quiet"]
        done = subprocess.run([ROTA, *command[1:]], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def keep(self, recording):
        os.makedirs(os.path.join(KEPT, recording), exist_ok=True)
        for name in os.listdir(os.path.join(self.folder, recording)):
            with open(os.path.join(self.folder, recording, name), encoding="utf-8") as file:
                text = file.read()
            telling = TELLING.get(name)
            lines = text.splitlines() if telling else []
            if name == "config.txt":
                text = "".join(line + "\n" for line in lines if re.match(telling, line))
            elif telling:
                text = "".join(" ".join(word for word in line.split() if re.match(telling, word)) + "\n"
                               for line in lines)
            with open(os.path.join(KEPT, recording, name), "w", encoding="utf-8") as file:
                file.write(text)


if __name__ == "__main__":
    unittest.main()
