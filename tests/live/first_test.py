#!/usr/bin/env python3
"""The first commands of a user: a service that starts by itself, in the background, and is stopped; where it is found; what
a configuration may leave out. As root the tests run in a mount namespace of their own, with a user of their own, and see
no other service. Usage: first_test.py ROTA"""
import json
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

from service import PATIENCE, contents, end, processes, words_of

ROOT = os.geteuid() == 0
APART = "ROTA_TEST_APART"  # set in the namespace
USER = 100_000 + os.getpid() if ROOT else os.geteuid()
IN_TEMPORARY = f"/tmp/rota-{USER}"
MACHINE = "/etc/rota/rota.toml"
STARTED = "rota: started a service for you (state ~/.local/state/rota, log ~/.local/state/rota/service.log); `rota stop` ends it.\n"


def step_apart():
    """Once more, where /run and /etc are this test's own."""
    words = [sys.executable, "-B", os.path.abspath(__file__), *sys.argv[1:]]
    os.execvpe("unshare", ["unshare", "--mount", "--propagation", "private", *words], os.environ | {APART: "1"})


def prepare():
    """In the namespace: nothing of the computer's services, and a user whose home is known."""
    with tempfile.TemporaryDirectory(prefix="rota-etc-") as folder:
        subprocess.run(["cp", "-a", "/etc", folder], check=True)
        shutil.rmtree(f"{folder}/etc/rota", ignore_errors=True)
        with open(f"{folder}/etc/passwd", "a") as file:
            file.write(f"first:x:{USER}:{USER}::/run/home:/bin/sh\n")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
        shutil.copytree(f"{folder}/etc", "/run/etc", symlinks=True)
    subprocess.run(["mount", "--bind", "/run/etc", "/etc"], check=True)


class First(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rota-first-")
        self.addCleanup(self.leave_nothing)
        os.chmod(self.folder, 0o755)
        self.home = self.owned(f"{self.folder}/home")
        self.runtime = self.owned(f"{self.folder}/runtime")
        self.state = f"{self.home}/.local/state/rota"
        self.socket = f"{self.runtime}/rota/socket"

    def owned(self, path, user=USER, mode=0o700):
        os.mkdir(path, mode)
        os.chown(path, user, user if ROOT else -1)
        return path

    def leave_nothing(self):
        while left := processes(self.is_ours):
            end(left)
            time.sleep(0.01)
        shutil.rmtree(self.folder, ignore_errors=True)
        if ROOT:
            for path in (IN_TEMPORARY, "/etc/rota", "/run/rota", "/run/user", "/run/home"):
                shutil.rmtree(path, ignore_errors=True)

    def is_ours(self, pid):
        inside = self.folder.encode() + b"/"
        words = words_of(pid).split(b"\0")
        if b"serve" not in words and b"supervise" not in words and b"ROTA_RUN=" not in contents(f"/proc/{pid}/environ"):
            return False
        try:
            own = ROOT and os.stat(f"/proc/{pid}").st_uid == USER
        except FileNotFoundError:
            return False
        return own or any(word.startswith(inside) for word in words) or b"ROTA_RUN=" + inside in contents(f"/proc/{pid}/environ")

    def environment(self, **more):
        """None takes a variable away."""
        all_of = {"PATH": "/usr/bin:/bin", "HOME": self.home, "XDG_RUNTIME_DIR": self.runtime} | more
        return {name: value for name, value in all_of.items() if value is not None}

    def begin(self, *words, user=USER, **more):
        whose = {"user": user, "group": user, "extra_groups": []} if ROOT else {}
        options = {name: more.pop(name) for name in list(more) if name in ("umask", "pass_fds", "start_new_session", "cwd")}
        return subprocess.Popen([ROTA, *words], env=self.environment(**more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **{"cwd": self.home} | whose | options)

    def rota(self, *words, code=0, **more):
        """What it prints, and what it remarks."""
        process = self.begin(*words, **more)
        out, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, code, f"{words}: {out}{error}")
        return out, error

    def says_no(self, *words, **more):
        out, error = self.rota(*words, code=1, **more)
        self.assertEqual(out, "")
        self.assertEqual(error.count("\n"), 1, error)
        return error.removeprefix("rota: ").removesuffix("\n")

    def serves(self, **more):
        """The process of the service, by its own word; None: there is none."""
        process = self.begin("status", "--json", **more)
        out, _ = process.communicate(timeout=PATIENCE)
        return json.loads(out)["pid"] if process.returncode == 0 else None

    def services(self):
        return processes(lambda pid: self.is_ours(pid) and b"serve" in words_of(pid).split(b"\0"))


class Places(First):
    """Where a service is found that was not named."""

    def place(self, **variables):
        """The socket of a service that starts under these variables; commands find it under them."""
        self.rota("serve", "--background", "--state", f"{self.home}/state", **variables)
        socket = words_of(self.serves(**variables)).split(b"\0")[5].decode()
        self.assertEqual(self.rota("queue", **variables)[1], "")
        return socket

    def test_in_the_folder_for_what_runs(self):
        self.assertEqual(self.place(), self.socket)

    @unittest.skipUnless(ROOT, "only root can become a user without such a folder")
    def test_without_it_in_a_folder_of_the_users_own_in_tmp(self):
        self.assertEqual(self.place(XDG_RUNTIME_DIR=None), f"{IN_TEMPORARY}/socket")
        self.assertEqual(stat.S_IMODE(os.stat(IN_TEMPORARY).st_mode), 0o700)
        self.assertIsNotNone(self.serves())  # also from where there is such a folder
        self.assertIn("Stopped", self.rota("stop")[0])

    @unittest.skipUnless(ROOT, "only root can become a user without such a folder")
    def test_as_su_leaves_it_another_users_folder_is_none(self):
        other = self.owned(f"{self.folder}/other", user=0, mode=0o755)
        self.assertEqual(self.place(XDG_RUNTIME_DIR=other), f"{IN_TEMPORARY}/socket")

    @unittest.skipUnless(ROOT, "only root can make that folder")
    def test_what_the_login_has_made_is_found_without_the_variable(self):
        os.mkdir("/run/user")
        self.owned(f"/run/user/{USER}")
        self.assertEqual(self.place(XDG_RUNTIME_DIR=None), f"/run/user/{USER}/rota/socket")
        self.assertIsNotNone(self.serves())

    @unittest.skipUnless(ROOT, "only root can become a user without a home")
    def test_without_a_home_the_list_of_users_says_where_the_state_is(self):
        self.owned("/run/home")
        self.rota("submit", "--wait", "--output", "/dev/null", "--", "true", HOME=None, XDG_RUNTIME_DIR=None, cwd="/tmp")
        self.assertTrue(os.path.exists("/run/home/.local/state/rota/rota.db"))

    @unittest.skipUnless(ROOT, "only root can make a folder that is another user's")
    def test_a_folder_in_tmp_that_is_not_the_users_alone_is_refused_on_both_sides(self):
        for user, mode, why in ((0, 0o700, "is not your folder"), (USER, 0o755, "is open to others")):
            self.owned(IN_TEMPORARY, user, mode)
            for words in (("serve", "--background"), ("serve",), ("queue",), ("submit", "--", "true")):
                self.assertIn(f"{IN_TEMPORARY}, where your service would answer, {why}", self.says_no(*words, XDG_RUNTIME_DIR=None))
            out = self.rota("doctor", XDG_RUNTIME_DIR=None, code=3)[0]
            self.assertIn(f"BAD   service  {IN_TEMPORARY}, where your service would answer, {why}", out.splitlines()[0])
            os.rmdir(IN_TEMPORARY)
        self.assertEqual(self.services(), [])

    @unittest.skipUnless(ROOT, "only root's service is the computer's")
    def test_the_computers_service_is_used_where_the_user_has_none(self):
        self.rota("serve", "--background", "--state", f"{self.folder}/root", user=0)
        self.assertEqual(self.rota("submit", "--wait", "-t", "1h", "--", "true"), ("Submitted job 1\n", ""))
        self.assertIn("only", self.says_no("stop"))
        self.rota("serve", "--background")  # one's own goes first
        self.assertEqual(self.rota("submit", "--hold", "--", "true")[0], "Submitted job 1\n")
        self.assertEqual(self.rota("stop")[0].split("\n")[1], "1 job waits; the next service finds it.")
        self.rota("stop", user=0)
        self.assertEqual(self.services(), [])

    def test_a_socket_comes_back_with_its_folder(self):
        pid = self.place() and self.serves()
        shutil.rmtree(f"{self.runtime}/rota")
        until = time.monotonic() + PATIENCE
        while self.serves() is None:
            self.assertLess(time.monotonic(), until)
        self.assertEqual(self.serves(), pid)
        self.rota("stop")
        self.assertFalse(os.path.exists(self.socket))


class Background(First):
    def test_it_returns_once_the_service_answers_and_leaves_nothing_of_its_caller_to_it(self):
        with open(f"{self.home}/open", "w") as stray:
            out, error = self.rota("serve", "--background", "--policy", "fcfs", umask=0o077, pass_fds=[stray.fileno()], SECRET="x",
                                   ROTA_TOKEN="y")
        self.assertEqual(out, "")
        self.assertEqual(error.splitlines()[0], f"rota: the service answers at {self.socket} (state ~/.local/state/rota, log "
                                                "~/.local/state/rota/service.log); `rota stop` ends it.")
        pid = self.serves()
        proc = f"/proc/{pid}"
        self.assertEqual(os.readlink(f"{proc}/cwd"), "/")
        self.assertEqual([os.readlink(f"{proc}/fd/{file}") for file in range(3)],
                         ["/dev/null", "/dev/null", f"{self.state}/service.log"])
        opened = [os.readlink(f"{proc}/fd/{file}") for file in os.listdir(f"{proc}/fd")]
        self.assertNotIn(f"{self.home}/open", opened)
        self.assertIn("Umask:\t0022", contents(f"{proc}/status").decode())
        self.assertEqual(contents(f"{proc}/stat").split()[4:7], [str(pid).encode(), str(pid).encode(), b"0"])  # no terminal
        for name in (b"SECRET", b"ROTA_TOKEN"):
            self.assertNotIn(name, contents(f"{proc}/environ"))
        self.assertEqual(contents(f"{proc}/comm"), os.path.basename(ROTA).encode() + b"\n")
        self.assertEqual(json.loads(self.rota("status", "--json")[0])["policy"], "fcfs")
        self.assertIn("ready: ", open(f"{self.state}/service.log").read())

    def test_the_first_on_a_state_says_what_is_next(self):
        at = ("--state", "queue", "--socket", "queue.socket")
        error = self.rota("serve", "--background", *at)[1].splitlines()
        self.assertEqual(error[1:], ["rota: submit a job:  rota submit --socket queue.socket --wrap 'echo hello'",
                                     "rota: see what runs and waits:  rota queue --socket queue.socket",
                                     "rota: see it in a browser, at the address that this prints:  rota page --socket queue.socket"])
        self.rota(*error[1].split(":  rota ")[1].replace("'", "").split(" ", 4))
        self.rota("stop", "--socket", "queue.socket")
        self.assertEqual(len(self.rota("serve", "--background", *at)[1].splitlines()), 1)
        self.rota("stop", "--socket", "queue.socket")
        with self.begin("serve", "--state", "another") as process:
            said = [process.stderr.readline()]
            while "rota page" not in said[-1]:
                said.append(process.stderr.readline())
            self.rota("stop")
            self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(said[-3:], ["rota: submit a job:  rota submit --wrap 'echo hello'\n",
                                     "rota: see what runs and waits:  rota queue\n",
                                     "rota: see it in a browser, at the address that this prints:  rota page\n"])

    def test_what_keeps_it_from_answering_is_said(self):
        with open(f"{self.home}/bad.toml", "w") as file:
            file.write("[service]\npolcy = 1\n")
        self.assertRegex(self.says_no("serve", "--background", "--config", "bad.toml"), r"bad.toml:2: .*did you mean `policy`\?$")
        self.assertEqual(self.services(), [])
        self.rota("serve", "--background")
        self.assertEqual(self.says_no("serve", "--background"), f"another service answers at {self.socket}; `rota stop` ends it.")
        self.assertRegex(self.says_no("serve", "--background", "--socket", "other"),
                         f"is in use by a service that runs already, process {self.services()[0]}; `rota stop` ends it, with --socket ")
        self.assertEqual(len(self.services()), 1)

    @unittest.skipUnless(ROOT, "other users take root")
    def test_a_state_that_another_user_could_write_is_not_opened(self):
        os.chmod(self.owned(f"{self.home}/open"), 0o777)
        self.owned(f"{self.home}/anothers", user=0, mode=0o755)
        for folder, why in (("open", "can be written by all users"), ("anothers", "belongs to another user")):
            self.assertIn(why, self.says_no("serve", "--background", "--state", folder))
            self.assertEqual(os.listdir(f"{self.home}/{folder}"), [])
        os.chmod(self.home, 0o500)
        self.assertIn(f"{self.home}/.local cannot be made: Permission denied. Set HOME or XDG_STATE_HOME", self.says_no("submit", "--", "true"))

    def test_its_log_stays_small(self):
        self.rota("serve", "--background")
        log = f"{self.state}/service.log"
        with open(log, "a") as file:
            file.write("x" * (1 << 20))
        self.rota("stop")  # which it says
        self.assertLess(os.path.getsize(log), 1000)
        self.assertGreater(os.path.getsize(f"{log}.1"), 1 << 20)

    def test_it_outlives_the_terminal_that_it_was_started_at(self):
        words = " ".join([ROTA, "submit", "--hold", "--", "true"])
        whose = {"user": USER, "group": USER, "extra_groups": []} if ROOT else {}
        subprocess.run(["script", "-qec", words, "/dev/null"], env=self.environment(), cwd=self.home, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **whose)
        self.assertIn("1", self.rota("queue")[0])


class Submit(First):
    def test_the_first_starts_a_service_and_says_so_once(self):
        self.assertIn("`rota submit` starts one for you", self.says_no("queue"))
        self.assertEqual(self.services(), [])
        out, error = self.rota("submit", "--wait", "-t", "1h", "--output", "out", "--wrap", "echo hello")
        self.assertEqual((out, error), ("Submitted job 1\n", STARTED))
        self.assertEqual(open(f"{self.home}/out").read(), "hello\n")
        self.assertEqual(self.rota("run", "--", "echo", "here"), ("here\n", ""))
        self.assertEqual(self.rota("stop"), (f"Stopped the service at {self.socket}.\n", ""))
        self.assertEqual(self.services(), [])
        self.assertEqual(self.rota("run", "--", "echo", "again"), ("again\n", STARTED))

    def test_that_a_job_has_no_time_limit_is_said_once_by_each_command(self):
        self.rota("serve", "--background")
        said = ("rota: Job 1 has no time limit, and no start behind it can be planned; `-t` gives it one, `default_time` of its "
                "partition all jobs that ask for none.\n")
        self.assertEqual(self.rota("submit", "--parsable", "--hold", "--array", "1-3", "--wrap", "true"), ("1\n", said))
        self.assertEqual(self.rota("submit", "--hold", "-t", "1h", "--wrap", "true")[1], "")
        self.assertEqual(self.rota("run", "--", "true")[1], "")

    def test_what_a_job_finds_is_its_submitters(self):
        self.rota("submit", "--wait", "--", "true", COLOUR="red")
        self.rota("run", "--", "sh", "-c", 'test "$COLOUR" = blue', COLOUR="blue")
        self.rota("run", "--", "sh", "-c", 'test -z "$COLOUR$ROTA_TELLS"')

    def test_jobs_run_on_without_it_and_the_next_one_finds_them(self):
        self.rota("submit", "--", "sh", "-c", "while ! test -e go; do sleep 0.1; done")
        while json.loads(self.rota("job", "1", "--json")[0])["state"] != "RUNNING":
            pass
        self.rota("submit", "--hold", "--", "true")
        self.assertEqual(self.rota("stop")[0].splitlines()[1], "1 job runs on, 1 job waits; the next service finds them.")
        self.assertEqual(self.rota("submit", "--hold", "-t", "1h", "--", "true"), ("Submitted job 3\n", STARTED))
        self.assertEqual(json.loads(self.rota("job", "1", "--json")[0])["state"], "RUNNING")
        open(f"{self.home}/go", "w").close()
        self.rota("wait", "1")

    def test_of_many_at_once_one_starts_it_and_all_are_taken(self):
        all_of = [self.begin("submit", "--hold", "-t", "1h", "--", "true") for _ in range(8)]
        said = [each.communicate(timeout=PATIENCE) for each in all_of]
        self.assertEqual([each.returncode for each in all_of], [0] * 8, said)
        self.assertEqual([error for _, error in said if error], [STARTED])
        self.assertEqual(sorted(out for out, _ in said), [f"Submitted job {number}\n" for number in range(1, 9)])
        self.assertEqual(len(self.services()), 1)

    def test_none_is_started_where_one_is_named_or_it_is_not_wished(self):
        for words, variables in ((("--socket", "gone"), {}), ((), {"ROTA_SOCKET": "gone"}), ((), {"ROTA_START": "no"}),
                                 (("--url", "http://localhost:9"), {"ROTA_TOKEN": "t"}),
                                 ((), {"ROTA_URL": "http://localhost:9", "ROTA_TOKEN": "t"})):
            self.assertIn("start one with `rota serve`", self.says_no("submit", *words, "--", "true", **variables))
        self.says_no("submit", "no-such-script")
        self.says_no("submit", "--test-only", "--", "true")
        for words in (("stop",), ("status",), ("history",), ("cancel", "all"), ("wait", "1")):
            self.assertIn(f"No service answers at {self.socket}; `rota submit` starts one for you", self.says_no(*words))
        self.assertEqual(self.services(), [])
        self.assertEqual(os.listdir(self.home), [])

    @unittest.skipUnless(ROOT, "only root can configure the computer's")
    def test_none_is_started_beside_the_computers(self):
        os.mkdir("/etc/rota")
        open(MACHINE, "w").close()
        for words in (("submit", "--", "true"), ("run", "--", "true"), ("queue",)):
            self.assertEqual(self.says_no(*words), f"No service answers at {self.socket}; this computer's service, which {MACHINE} "
                                                   "describes, is started by root with `systemctl start rota`.")
        self.assertEqual(self.services(), [])

    @unittest.skipUnless(ROOT, "only root is root")
    def test_root_gets_none_by_itself(self):
        self.assertEqual(self.says_no("submit", "--", "true", user=0), "No service answers at /run/rota/socket; start one with "
                                                                       "`rota serve`, or name another with --socket or ROTA_SOCKET.")

    def test_why_none_could_be_started_is_said_and_nothing_is_submitted(self):
        os.makedirs(self.state)
        for path in (f"{self.home}/.local", f"{self.home}/.local/state", self.state):
            os.chown(path, USER, -1)
        with open(f"{self.state}/rota.db", "w") as file:
            file.write("no database " * 1000)
        os.chown(f"{self.state}/rota.db", USER, -1)
        sentence = self.says_no("submit", "--", "true")
        self.assertTrue(sentence.startswith(f"Your service does not answer at {self.socket}, and none could be started: "), sentence)
        self.assertIn(f"{self.state}/rota.db", sentence)
        self.assertIn(sentence.split("none could be started: ")[1], open(f"{self.state}/service.log").read())
        self.assertEqual(self.services(), [])

    @unittest.skipUnless(ROOT, "root may do everything, and others nothing to each other")
    def test_only_its_user_and_root_stop_it(self):
        self.rota("submit", "--hold", "--", "true")
        os.chmod(self.runtime, 0o755)
        os.chmod(f"{self.runtime}/rota", 0o755)
        os.chmod(self.socket, 0o666)
        self.assertIn("is run by first, and stopped by that user or root only", self.says_no("stop", "--socket", self.socket, user=USER + 1))
        self.rota("stop", "--socket", self.socket, user=0)
        self.assertEqual(self.services(), [])


class Partly(First):
    """A configuration that leaves out what the service finds."""

    def machine(self, configuration):
        at = ("--socket", f"{self.home}/partly.socket")
        with open(f"{self.home}/partly.toml", "w") as file:
            file.write(configuration)
        shutil.rmtree(f"{self.home}/partly", ignore_errors=True)
        self.rota("serve", "--background", "--state", "partly", *at, "--config", "partly.toml")
        status = json.loads(self.rota("status", "--json", *at)[0])
        nodes = [{name: value for name, value in node.items() if name in ("name", "processors", "memory", "accelerators")}
                 for node in json.loads(self.rota("nodes", "--json", *at)[0])["nodes"]]
        self.rota("stop", *at)
        self.rota("serve", "--background", "--state", "partly", *at)  # by the copy that the state keeps
        self.assertEqual(json.loads(self.rota("status", "--json", *at)[0])["machine"], status["machine"])
        self.rota("stop", *at)
        return status["machine"], status["policy"], nodes

    def test_processors_and_memory_are_this_computers_unless_the_file_says_them(self):
        self.rota("serve", "--background")
        machine = json.loads(self.rota("status", "--json")[0])["machine"]
        nodes = [{name: value for name, value in node.items() if name in ("name", "processors", "memory", "accelerators")}
                 for node in json.loads(self.rota("nodes", "--json")[0])["nodes"]]
        self.assertEqual(nodes[0]["processors"], len(os.sched_getaffinity(0)))
        self.assertEqual(self.machine('[service]\npolicy = "fcfs"\n'), (machine, "fcfs", nodes))
        self.assertEqual(self.machine('name = "desk"'), ("desk", "easy", nodes))
        self.assertEqual(self.machine('licences = "matlab:2"\n[service]\n'), (machine, "easy", nodes))
        self.assertEqual([node["processors"] for node in self.machine("processors = 3\n")[2]], [3])


if __name__ == "__main__":
    ROTA = os.path.abspath(sys.argv[1])
    if ROOT and APART not in os.environ:
        step_apart()
    if ROOT:
        prepare()
        del os.environ[APART]
    elif os.path.exists("/run/rota/socket") or os.path.exists(MACHINE):
        print("skipped: this computer has a service of Rota, beside which a user's own is not started")
        sys.exit(77)
    del sys.argv[1]
    unittest.main()
