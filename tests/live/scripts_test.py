#!/usr/bin/env python3
"""Scripts that were written for other systems: what they ask for is had, told or refused. Usage: scripts_test.py ROTA"""
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import unittest

from screen import Screen
from service import PATIENCE, ServiceCase


class Submitting(ServiceCase):
    def says(self, *arguments, code=0, cwd=None):
        done = subprocess.run([self.rota, *arguments], capture_output=True, text=True, timeout=PATIENCE, cwd=cwd or self.folder,
                              env={"PATH": os.environ["PATH"], "ROTA_SOCKET": self.service.socket})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def script(self, text):
        with open(os.path.join(self.folder, "job.sh"), "w", newline="") as file:
            file.write(text)
        return "job.sh"

    def variables(self, *arguments, cwd=None):
        """What a job finds in its environment."""
        done = self.says("submit", "--wait", "--parsable", "-o", os.path.join(self.folder, "out"), *arguments, cwd=cwd)
        lines = self.service.read("out").splitlines()
        os.unlink(os.path.join(self.folder, "out"))
        return done, dict(line.split("=", 1) for line in lines if "=" in line)


class Scripts(Submitting):
    configuration = """name = "two"
[[nodes]]
names = "n[1-2]"
processors = 4
memory = "8G"
[service]
slurm_variables = true
"""

    def test_a_script_for_pbs_has_what_it_asks_for(self):
        script = self.script("#!/bin/sh\n#PBS -N fit -j oe\n#PBS -l nodes=2:ppn=3,walltime=01:30:00\n#PBS -l mem=2gb\n"
                             "#PBS -J 4-5 -A project\ncd $PBS_O_WORKDIR && env > out-$PBS_ARRAY_INDEX && "
                             "cat $PBS_NODEFILE > nodes-$PBS_ARRAY_INDEX && stat -c %a $PBS_NODEFILE >> nodes-$PBS_ARRAY_INDEX\n")
        done = self.says("submit", "--wait", "--parsable", script)
        array = done.stdout.strip()
        row = self.service.job(f"{array}_4")
        self.assertEqual(row["account"], "project")
        self.assertEqual((row["name"], row["processors"], row["limit"], row["memory"]), ("fit", 6, 5400, 1 << 30))
        found = dict(line.split("=", 1) for line in self.service.read("out-4").splitlines() if "=" in line)
        self.assertEqual({name: found.get(name) for name in ("PBS_JOBID", "PBS_JOBNAME", "PBS_O_WORKDIR", "PBS_ENVIRONMENT")},
                         {"PBS_JOBID": f"{array}_4", "PBS_JOBNAME": "fit", "PBS_O_WORKDIR": self.folder,
                          "PBS_ENVIRONMENT": "PBS_BATCH"})
        self.assertEqual([found.get(f"PBS_{name}") for name in ("NP", "NUM_NODES", "NUM_PPN")], ["6", "2", "3"])
        self.assertEqual(self.service.read("out-5").count("PBS_ARRAY_INDEX=5"), 1)
        self.assertEqual(self.service.read("nodes-4").split(), ["n1"] * 3 + ["n2"] * 3 + ["400"])
        self.service.wait_for(lambda: not os.path.exists(found["PBS_NODEFILE"]), "the file of nodes to go")

    def test_names_that_no_job_could_open_are_refused(self):
        os.mkdir(os.path.join(self.folder, "logs"))
        for line, said in (("#SBATCH -o logs/", '"logs/" is a folder; name a file in it, such as "logs/rota-%j.out".'),
                           ("#SBATCH -o logs", '"logs" is a folder; name a file in it, such as "logs/rota-%j.out".'),
                           ("#SBATCH -o gone/%j", "is not there, and a job's files are opened before it starts; make it first."),
                           ("#PBS -o $HOME/x", "so that $HOME would stay as it stands; write the path out"),
                           ("#SBATCH -o ~/x", "so that ~ would stay as it stands; write the path out"),
                           ("#SBATCH -o x.%q", 'nothing stands for "%q" of the file name "x.%q"'),
                           ("#SBATCH -e %", 'nothing stands for "%" of the file name "%"')):
            said_of = self.says("submit", self.script(f"#!/bin/sh\n{line}\ntrue\n"), code=1).stderr
            self.assertIn(said, said_of)
        self.assertEqual(self.service.live(), [])
        self.says("submit", "--wait", self.script("#!/bin/sh\n#PBS -o logs/ -j oe\necho here\n"))
        self.assertEqual([self.service.read(f"logs/{name}") for name in os.listdir(os.path.join(self.folder, "logs"))], ["here\n"])

    def test_tasks_do_not_write_over_each_others_file(self):
        self.says("submit", "--wait", "--array=1-5", "-o", "all.%x", "-J", "x", "--wrap", "echo $ROTA_ARRAY_TASK_ID")
        self.assertEqual(sorted(self.service.read("all.x").split()), ["1", "2", "3", "4", "5"])
        self.says("submit", "--wait", "--array=1-3", "-o", "%A.%3b", "--wrap", "echo $ROTA_ARRAY_TASK_ID")

    def test_one_file_by_two_names_has_output_and_errors(self):
        for error in ("./one", os.path.join(self.folder, "one"), "link"):
            if error == "link":
                os.symlink("one", os.path.join(self.folder, "link"))
            self.says("submit", "--wait", "-o", "one", "-e", error, "--wrap", "echo out; echo err >&2; echo more")
            self.assertEqual(self.service.read("one"), "out\nerr\nmore\n", error)

    def test_a_script_on_standard_input(self):
        with open(os.path.join(self.folder, self.script("#!/bin/sh\n#SBATCH -J fromstdin -o out\necho $SLURM_JOB_NAME\n"))) as file:
            subprocess.run([self.rota, "submit", "--wait"], cwd=self.folder, stdin=file, check=True, stdout=subprocess.DEVNULL,
                           env={"PATH": os.environ["PATH"], "ROTA_SOCKET": self.service.socket})
        self.assertEqual(self.service.read("out"), "fromstdin\n")

    def test_all_memory_and_ranges_of_nodes(self):
        for line, wanted in (("--mem=0", {"memory": 8 << 30, "nodes": 1}), ("--nodes=1-1 -n 2", {"nodes": 1, "processors": 2}),
                             ("--nodes=1-2 -n 6", {"nodes": 2, "processors": 6}), ("--nodes=1-2 -n 4", {"nodes": 1}),
                             ("--gres=none --gpus=0", {"processors": 1}), ("--tres-per-task=cpu:3 -n 2", {"processors": 6})):
            job = self.says("submit", "--parsable", "--hold", self.script(f"#!/bin/sh\n#SBATCH {line}\ntrue\n")).stdout.strip()
            row = self.service.job(job)
            self.assertEqual({name: row.get(name, 1) for name in wanted}, wanted, line)
        self.service.act("cancel", "all")

    def test_one_of_several_may_be_waited_for_and_minutes_after_a_start(self):
        first, second = (self.service.submit(f"until [ -e go-{n} ]; do sleep 0.02; done", limit=60) for n in (1, 2))
        job = self.says("submit", "--parsable", "-t", "1m", "-d", f"afterok:{first}?afterok:{second}", "--", "true").stdout.strip()
        self.assertEqual(self.service.job(job)["why"], f"It waits for job {first} to end well or job {second} to end well.")
        self.service.runs(second)
        begun = self.service.job(second)["start"]
        late = self.says("submit", "--parsable", "-t", "1m", "-d", f"after:{second}+5", "--", "true").stdout.strip()
        held = self.service.submit("true", limit=60, held=True)
        later = self.says("submit", "--parsable", "-t", "1m", "-d", f"after:{held}+5", "--", "true").stdout.strip()
        self.assertAlmostEqual(self.service.job(late)["begin"], begun + 300, delta=0.01)
        self.assertEqual(self.service.job(late)["reason"], "BeginTime")
        self.service.kill()
        self.service.start()
        open(os.path.join(self.folder, "go-2"), "w").close()
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertEqual(self.service.job(first)["state"], "RUNNING")
        self.service.act("release", held)
        start = self.service.ends(held)["start"]
        self.service.wait_for(lambda: self.service.job(later)["reason"] == "BeginTime", "the start to be seen")
        self.assertAlmostEqual(self.service.job(later)["begin"], start + 300, delta=0.01)
        self.assertEqual(self.service.decides_the_same_again(), "")
        open(os.path.join(self.folder, "go-1"), "w").close()
        self.service.act("cancel", "all")

    def test_the_script_alone_is_warned(self):
        inner = "trap 'echo inner >> warned' USR1; touch inner-$1; while :; do sleep 0.05; done"
        for before, wanted in (("B:", ["script"]), ("", ["inner", "script"])):
            with open(os.path.join(self.folder, "warned"), "w"):
                pass
            job = self.says("submit", "--parsable", "-t", "1h", "--signal", f"{before}USR1@3590", "--kill-wait", "0", self.script(
                f"#!/bin/bash\ntrap 'echo script >> warned' USR1\nbash -c \"{inner}\" inner {before or 'all'} &\nwait\nwait\n")).stdout.strip()
            self.service.wait_for(lambda: len(self.service.read("warned").split()) >= len(wanted), "the signal")
            self.assertEqual(sorted(self.service.read("warned").split()), wanted)
            self.service.act("cancel", job)
            self.service.ends(job)

    def test_a_job_that_another_one_submits_has_nothing_of_it(self):
        outer = self.script("#!/bin/sh\n#SBATCH -n 3 -J outer\n"
                            "SLURM_CONF=/etc/x rota submit --wait --parsable -o inner --wrap 'env | sort'\n")
        environment = {"PATH": os.path.dirname(self.rota) + ":" + os.environ["PATH"], "ROTA_SOCKET": self.service.socket,
                       "SLURM_JOB_ID": "77", "SLURM_NTASKS": "9", "SLURMD_NODENAME": "far", "PBS_JOBID": "5.x", "SLURM_FOO": "1"}
        subprocess.run([self.rota, "submit", "--wait", outer], cwd=self.folder, check=True, stdout=subprocess.DEVNULL, env=environment)
        found = dict(line.split("=", 1) for line in self.service.read("inner").splitlines() if "=" in line)
        self.assertEqual((found["SLURM_JOB_ID"], found["SLURM_NTASKS"]), (found["ROTA_JOB_ID"], "1"))
        self.assertEqual(found["SLURM_CONF"], "/etc/x")
        self.assertEqual([name for name in ("PBS_JOBID", "SLURM_FOO") if name in found], [])
        self.assertIn(found["SLURMD_NODENAME"], ("n1", "n2"))

    def test_what_a_job_must_not_run_without_is_refused(self):
        for line, what in (("#SBATCH --nodefile=n2", "--nodefile=n2"), ("#SBATCH --tmp 1G", "--tmp 1G"),
                           ("#PBS -l nodes=n1+n2:ppn=2", "-l nodes=n1+n2:ppn=2")):
            script = self.script(f"#!/bin/sh\n{line}\ntrue\n")
            said = self.says("submit", script, code=1).stderr
            self.assertIn(f'line 2 of job.sh: Rota has nothing like "{what}" of #{line[1:].split()[0]}', said)
            self.assertIn("The job might run where it must not, so that nothing was submitted; take the line out, or submit "
                          "it with --anyway.", said)
            self.assertEqual(self.service.live(), [])
        done = self.says("submit", "--anyway", "--hold", script)
        self.assertIn("Submitted anyway.", done.stderr)
        self.assertEqual(len(self.service.live()), 1)

    def test_whole_nodes_and_accelerators_for_tasks_are_equals(self):
        script = self.script("#!/bin/sh\n#SBATCH -n 5 --exclusive -H\ntrue\n")
        row = self.service.job(self.says("submit", "--parsable", script).stdout.strip())
        self.assertEqual((row["processors"], row["nodes"]), (8, 2), "two nodes of four for five tasks")
        said = self.says("submit", "-n", "2", "--gpus-per-task", "1", "--hold", "--", "true", code=1).stderr
        self.assertIn("asks for 2 accelerators on each of its nodes; no node of the cluster has so many", said)

    def test_the_processors_of_one_task_are_on_one_node(self):
        self.service.submit("sleep 1000", processors=2, nodes=2)
        row = self.service.job(self.says("submit", "--parsable", "-c", "4", "--", "true").stdout.strip())
        self.assertEqual((row["nodes"], row["state"]), (1, "PENDING"), "three processors are free on each of two nodes")
        script = self.script("#!/bin/sh\n#SBATCH --cpus-per-task=5\ntrue\n")
        for arguments in ((script,), ("-c", "5", "--exclusive", "--", "true"), ("-n", "5", "-N", "1", "--exclusive", "--", "true")):
            said = self.says("submit", *arguments, code=1).stderr
            self.assertIn("asks for 5 processors on one node; the largest node of the cluster has 4", said)
        row = self.service.job(self.says("submit", "--parsable", "-n", "2", "-c", "3", "--", "true").stdout.strip())
        self.assertNotEqual(row.get("nodes"), 1)

    def asked(self, job):
        """All that the service knows of the size that was asked for a job."""
        with contextlib.closing(sqlite3.connect(f"file:{self.service.state}/rota.db?mode=ro", uri=True)) as database:
            about = json.loads(database.execute("SELECT about FROM payloads WHERE job = ?", (int(job) - 1,)).fetchone()[0])
        kept = {name: about[name] for name in ("processors", "nodes", "tasks", "tasks_per_node", "exclusive") if name in about}
        row = self.service.job(job)
        return kept | {"gets": [row.get(name) for name in ("processors", "nodes", "exclusive")]}

    def held(self, options):
        return self.says("submit", "--hold", "--parsable", *options.split(), "--", "true").stdout.strip()

    def test_an_update_gives_what_a_fresh_submission_would(self):
        for first, updates, fresh in (
                ("-c 4", ("-n 2 -c 4",), "-n 2 -c 4"), ("-c 4", ("-n 2",), "-n 2 -c 4"), ("-n 2 -c 4", ("-n 1",), "-c 4"),
                ("-N 1 -c 4", ("-n 2 -c 2",), "-N 1 -n 2 -c 2"), ("-n 1", ("-n 1 -c 4",), "-c 4"), ("-c 4", ("-N 1", "-N 0"), "-c 4"),
                ("", ("-N 2",), "-N 2"), ("-c 3", ("-N 2",), "-N 2 -c 3"), ("-N 1 -c 3", ("-N 2",), "-N 2 -c 3"),
                ("-N 2 --ntasks-per-node 3", ("-N 1",), "-N 1 --ntasks-per-node 3"),
                ("-N 1", ("-N 2 --ntasks-per-node 3",), "-N 2 --ntasks-per-node 3"),
                ("-N 2 -n 2", ("-n 1", "-n 4"), "-N 2 -n 4"), ("-N 2", ("-n 8",), "-N 2 -n 8"), ("-n 8", ("-N 2",), "-N 2 -n 8"),
                ("--exclusive", ("-N 2",), "-N 2 --exclusive"), ("-N 2 --exclusive", ("-N 1",), "-N 1 --exclusive"),
                ("-n 5 --exclusive", ("-n 3",), "-n 3 --exclusive"), ("-n 3 --exclusive", ("-N 2", "-J name"), "-N 2 -n 3 --exclusive"),
                ("-c 3 --exclusive", ("-n 2",), "-n 2 -c 3 --exclusive")):
            job = self.held(first)
            for update in updates:
                self.says("update", job, *update.split())
            self.assertEqual(self.asked(job), self.asked(self.held(fresh)), (first, updates))

    def test_named_nodes_have_a_task_each(self):
        said = self.says("submit", "-w", "n[1-2]", "-n", "1", "--", "true", code=1).stderr
        self.assertIn("--nodelist names 2 nodes, and --processors asks for 1 task; ask for one on each at least, or name fewer nodes.", said)
        job = self.held("-w n[1-2] -n 2")
        said = self.says("update", job, "-n", "1", code=1).stderr
        self.assertIn(f"job {job} names 2 nodes, and 1 processor is too few: each gives one at least.", said)
        said = self.says("update", job, "-N", "1", code=1).stderr
        self.assertIn("the job asks for 1 node and names n[1-2]; it gets all that it names, and no others.", said)

    def test_whole_nodes_stay_whole_and_are_told(self):
        job = self.held("--exclusive")
        self.says("update", job, "-N", "2")
        self.service.kill()
        self.service.start()
        self.assertEqual([self.service.job(job)[name] for name in ("processors", "nodes", "exclusive")], [8, 2, True])
        self.assertIn("exclusive", self.says("job", job).stdout)
        said = self.says("update", job, "-n", "5", "-N", "1", code=1).stderr
        self.assertIn("asks for 5 processors on one node; the largest node of the cluster has 4", said)
        self.says("update", job, "-n", "1", "-N", "1")
        self.says("release", job)
        self.assertEqual(self.service.ends(job)["exclusive"], True)
        self.service.all_end()
        self.service.wait_for(lambda: "elapsed" in self.service.job(job), "it to leave")
        row = self.service.job(job)
        self.assertEqual((row["processors"], row["nodes"], row["exclusive"]), (4, 1, True))

    def test_line_ends_of_windows_are_mended_and_told(self):
        script = self.script("#!/bin/sh\r\n#ROTA --name dos\r\necho fine\r\n")
        done = self.says("submit", "--wait", "--parsable", script)
        self.assertIn("has the line ends of Windows; it was submitted with those of Unix.", done.stderr)
        self.assertEqual(self.says("logs", done.stdout.strip()).stdout, "fine\n")
        status, answer = self.service.ask("POST", "/v1/jobs", {"script": "#!/bin/sh\r\ntrue\r\n", "folder": "/"})
        self.assertEqual(status, 400)
        self.assertIn("the line ends of Windows (CR LF)", answer["detail"])

    def test_a_hybrid_job_knows_its_tasks_and_its_processors(self):
        inside = os.path.join(self.folder, "inside")
        os.mkdir(inside)
        done, found = self.variables("-N", "2", "--ntasks-per-node", "1", "-c", "3", "-D", inside, "--", "env")
        wanted = {"NTASKS": "2", "CPUS_PER_TASK": "3", "JOB_NUM_NODES": "2", "NNODES": "2", "JOB_NODELIST": "n[1-2]",
                  "NODELIST": "n[1-2]", "TASKS_PER_NODE": "1(x2)", "JOB_CPUS_PER_NODE": "3(x2)", "SUBMIT_DIR": self.folder,
                  "JOBID": done.stdout.strip(), "JOB_ID": done.stdout.strip(), "PROCID": "0", "CPUS_ON_NODE": "3"}
        self.assertEqual({name: found.get(f"SLURM_{name}") for name in wanted}, wanted)
        self.assertEqual((found["ROTA_PROCESSORS"], found["ROTA_NTASKS"], found["ROTA_CPUS_PER_TASK"]), ("6", "2", "3"))
        _, found = self.variables("-n", "4", "--", "env")
        self.assertEqual((found["SLURM_NTASKS"], found["SLURM_CPUS_PER_TASK"], found["SLURM_SUBMIT_DIR"]),
                         ("4", "1", self.folder))

    def test_whole_nodes_do_not_make_it_more_tasks(self):
        for options, tasks, each, on in (("-n 3", 3, 1, "3"), ("-n 2 -c 2", 2, 2, "2"), ("-c 2", 1, 2, "1"), ("", 1, 1, "1"),
                                         ("-N 2 -n 4", 4, 1, "2(x2)"), ("-N 2", 2, 1, "1(x2)")):
            _, found = self.variables(*options.split(), "--exclusive", "--", "env")
            names = ("SLURM_NTASKS", "SLURM_NPROCS", "SLURM_CPUS_PER_TASK", "SLURM_TASKS_PER_NODE", "ROTA_NTASKS", "ROTA_CPUS_PER_TASK")
            self.assertEqual([found.get(name) for name in names], [str(tasks), str(tasks), str(each), on, str(tasks), str(each)], options)
            self.assertEqual(found["ROTA_PROCESSORS"], "8" if "-N" in options else "4", options)

    def test_a_task_knows_its_array(self):
        array = self.service.submit("env > env-$ROTA_ARRAY_TASK_ID", array="2-10:4%2")
        self.service.all_end()
        found = dict(line.split("=", 1) for line in self.service.read("env-6").splitlines())
        for name, value in (("JOB_ID", array), ("TASK_ID", "6"), ("TASK_COUNT", "3"), ("TASK_MIN", "2"), ("TASK_MAX", "10"),
                            ("TASK_STEP", "4")):
            self.assertEqual((found[f"SLURM_ARRAY_{name}"], found[f"ROTA_ARRAY_{name}"]), (value, value), name)

    def test_the_last_job_may_be_waited_for(self):
        first = self.service.submit("sleep 1000")
        done = self.says("submit", "--parsable", "-d", "afterok:last", "--", "true")
        self.assertEqual(self.service.job(done.stdout.strip())["why"], f"It waits for job {first} to end well.")
        array = self.service.submit("true", array="1-3", held=True)
        done = self.says("submit", "--parsable", "-d", "afterany:last,singleton", "--", "true")
        self.assertEqual(self.service.job(done.stdout.strip())["after"], [f"afterany:{array}", "singleton"])

    def test_tilde_and_dot_end_a_shell_at_once(self):
        """An interactive shell ignores SIGTERM; it must not take the whole time of grace."""
        screen = Screen([self.rota, "run", "--socket", self.service.socket, "--kill-wait", "1h", "--", "bash", "--norc", "--noediting",
                         "-i"])
        self.addCleanup(screen.close)
        self.service.wait_for(lambda: any(job["state"] == "RUNNING" for job in self.service.live()), "the shell to run")
        screen.type("echo $((6 * 7))\r")
        screen.wait_for("42")
        screen.type("\r~.")
        self.service.all_end()
        self.assertEqual(self.service.job("1")["state"], "CANCELLED")

    def test_a_token_that_others_can_read_is_told(self):
        path = os.path.join(self.folder, "token")
        with open(path, "w") as file:
            file.write("rota_x")
        for mode, told in ((0o644, True), (0o600, False)):
            os.chmod(path, mode)
            done = subprocess.run([self.rota, "queue", "--url", "http://127.0.0.1:1", "--token-file", path], capture_output=True,
                                  text=True, timeout=PATIENCE)
            self.assertEqual("can be read by others" in done.stderr, told, done.stderr)


class OneDialect(Submitting):
    """Where the service says nothing of it."""
    configuration = 'name = "one"\n[[nodes]]\nnames = "n1"\nprocessors = 4\n'

    def test_a_script_with_lines_for_slurm_finds_its_variables_and_no_other_does(self):
        self.script("#!/bin/sh\n#SBATCH --array=7\necho $SLURM_ARRAY_TASK_ID $SLURM_NTASKS $SLURM_SUBMIT_DIR $ROTA_SBATCH\n")
        done = self.says("submit", "--wait", "--parsable", "-o", "out", "job.sh")
        self.assertEqual(self.service.read("out"), f"7 1 {self.folder}\n", done.stderr)
        _, found = self.variables("--", "env")
        self.assertEqual([name for name in found if name.startswith(("SLURM_", "ROTA_SBATCH"))], [])


class OnTwoNodesWithAccelerators(Submitting):
    configuration = ('name = "gpus"\n[[nodes]]\nnames = "n[1-2]"\nprocessors = 4\naccelerators = 2\naccelerator_type = "a100"\n')

    def test_a_script_counts_the_accelerators_of_its_node(self):
        script = self.script("#!/bin/sh\n#SBATCH --gpus=4 --gpus-per-node=2\necho $SLURM_NNODES $SLURM_NTASKS $SLURM_GPUS_ON_NODE "
                             "$SLURM_JOB_GPUS $CUDA_VISIBLE_DEVICES ${SLURM_GPUS_PER_NODE}\n")
        self.says("submit", "--wait", "-o", "out", script)
        self.assertEqual(self.service.read("out"), "2 2 2 0,1,2,3 0,1,2,3 2\n")


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
