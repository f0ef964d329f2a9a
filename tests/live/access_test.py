#!/usr/bin/env python3
"""Which user may see and do what, with real users. Usage: access_test.py ROTA"""
import ctypes
import json
import os
import re
import sqlite3
import stat
import subprocess
import sys
import unittest

from service import ServiceCase

ANN, BEN = 54321, 54322  # users of no name: nothing on this computer is theirs

# Asks as another user: METHOD PATH, and a body that it reads; prints the status and the answer.
ASK = """
import http.client, json, socket, sys
c = http.client.HTTPConnection("rota"); c.sock = socket.socket(socket.AF_UNIX); c.sock.connect(sys.argv[1])
c.request(sys.argv[2], sys.argv[3], sys.stdin.read() or None)
a = c.getresponse(); print(json.dumps([a.status, a.read().decode()]))
"""


class UsersCase(ServiceCase):
    configuration = 'name = "four"\nprocessors = 4\n'

    def as_user(self, uid, method, path, body=None):
        done = subprocess.run(["/usr/bin/python3", "-c", ASK, self.service.socket, method, path],
                              input="" if body is None else json.dumps(body), user=uid, group=uid, extra_groups=[], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        status, text = json.loads(done.stdout)
        try:
            return status, json.loads(text)
        except json.JSONDecodeError:
            return status, text

    def submit_as(self, uid, command, **members):
        folder = os.path.join(self.folder, str(uid))
        if not os.path.isdir(folder):
            os.mkdir(folder)
            os.chown(folder, uid, uid)
            os.chmod(folder, 0o700)
        status, answer = self.as_user(uid, "POST", "/v1/jobs", {
            **({"command": ["/bin/sh", "-c", command]} if command else {}), "folder": folder,
            "environment": ["PATH=/usr/bin:/bin", f"SECRET=of {uid}"], **members})
        self.assertEqual(status, 201, answer)
        return answer["id"]

    def submit_script_as(self, uid, script, **members):
        return self.submit_as(uid, None, script=script, **members)


class Access(UsersCase):
    def test_of_many_jobs_of_others_only_some_are_told_one_by_one(self):
        status, answer = self.as_user(ANN, "POST", "/v1/jobs", {
            "folder": "/tmp", "command": ["true"], "environment": [], "array": "1-1200", "held": True})
        self.assertEqual(status, 201, answer)
        status, answer = self.as_user(BEN, "POST", "/v1/jobs/cancel", {"ids": "1-4000000000"})
        self.assertEqual((status, len(answer["jobs"])), (207, 1001))
        self.assertEqual({row["done"] for row in answer["jobs"]}, {False})
        self.assertEqual(answer["jobs"][-1], {
            "id": "1-4000000000", "done": False, "more": 200,
            "detail": "200 more jobs of others cannot be changed by you; only their users or an operator may do that."})
        status, answer = self.as_user(ANN, "POST", "/v1/jobs/cancel", {"ids": "1-4000000000"})
        self.assertEqual((status, len(answer["jobs"])), (200, 1001))

    def test_all_and_a_job_of_another_user_are_both_meant_also_once_they_have_ended(self):
        one, other, own = self.submit_as(ANN, "true", held=True), self.submit_as(ANN, "true", held=True), self.submit_as(
            BEN, "true", held=True)

        def listed(selector):
            return [row["id"] for row in self.as_user(BEN, "GET", f"/v1/jobs?ended=yes&ids={selector}")[1]["jobs"]]

        def history(**query):
            words = "&".join(f"{name}={value}" for name, value in query.items())
            return sorted(row["id"] for row in self.as_user(BEN, "GET", f"/v1/history?{words}")[1]["jobs"])
        self.assertEqual(listed(f"all,{one}"), [one, own])
        self.service.act("cancel", ",".join([one, other, own]))
        self.assertEqual(listed(f"all,{one}"), [one, own])
        self.assertEqual(listed("all"), [own])
        self.assertEqual(listed(f"all,{one},user={ANN}"), [one])
        self.assertEqual(history(ids=f"all,{one}"), [one, own])
        self.assertEqual(history(ids=f"all,{one}", user=ANN), [one])
        sums = self.as_user(BEN, "GET", f"/v1/history?by=user&ids=all,{one}")[1]["sums"]
        self.assertEqual({row["key"]: row["jobs"] for row in sums}, {str(ANN): 1, str(BEN): 1})

    def test_a_forecast_is_of_all_that_wait_whosever_they_are(self):
        blocker = self.submit_as(ANN, "sleep 1000", processors=4, limit=600)
        waits = self.submit_as(ANN, "true", processors=4, limit=60)
        status, answer = self.as_user(BEN, "GET", "/v1/forecast")
        self.assertEqual((status, [(job["id"], job["user"]) for job in answer["jobs"]]), (200, [(waits, str(ANN))]))
        held = self.submit_as(ANN, "true", processors=1, limit=60, held=True)
        self.assertEqual(self.as_user(BEN, "GET", "/v1/forecast")[1]["left_out"], 1)
        self.service.act("cancel", ",".join([blocker, waits, held]))

    def test_a_job_runs_as_its_user_and_as_no_other(self):
        job = self.submit_as(ANN, "id -u; id -g; id -G; cat /proc/self/status", output="who.out")
        row = self.service.ends(job)
        self.assertEqual((row["state"], row["user"]), ("COMPLETED", str(ANN)))
        path = os.path.join(self.folder, str(ANN), "who.out")
        with open(path) as file:
            text = file.read()
        self.assertEqual(text.splitlines()[:3], [str(ANN)] * 3)
        self.assertIn("NoNewPrivs:\t1", text)
        self.assertIn("CapEff:\t0000000000000000", text)
        self.assertIn("CapPrm:\t0000000000000000", text)
        self.assertEqual(os.stat(path).st_uid, ANN)

    def test_no_job_has_the_keys_of_the_service_or_of_anothers_job(self):
        numbers = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(os.uname().machine)
        if numbers is None:
            self.skipTest("how this machine calls add_key and keyctl is not known here")
        add, control = numbers
        if ctypes.CDLL(None).syscall(control, 0, -3, 0) < 0:
            self.skipTest("there are no keys here")
        self.service.stop()
        login = (f"import ctypes, os, sys; call = ctypes.CDLL(None).syscall; call({control}, 1, None); "
                 f"call({add}, b'user', b'rota-of-root', b'secret', 6, -3); os.execvp(sys.argv[1], sys.argv[1:])")
        self.service.before = [sys.executable, "-c", login]
        self.service.start()
        put = f"ctypes.CDLL(None).syscall({add}, b'user', b'rota-of-ann', b'secret', 6, -3)"
        get = "; ".join(f"print(ctypes.CDLL(None).syscall({control}, 10, -3, b'user', b'rota-of-{who}', 0) > 0)"
                        for who in ("root", "ann"))
        self.submit_as(ANN, f'/usr/bin/python3 -c "import ctypes; {put}; {get}" > keys')
        self.service.all_end()
        self.submit_as(BEN, f'/usr/bin/python3 -c "import ctypes; {get}" > keys')
        self.service.all_end()
        self.assertEqual(self.service.read(f"{ANN}/keys").split(), ["False", "True"])
        self.assertEqual(self.service.read(f"{BEN}/keys").split(), ["False", "False"])

    def test_one_user_sees_nothing_inside_anothers_job(self):
        job = self.submit_as(ANN, "echo secret output; sleep 1000")
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "its start")
        for what in ("script", "environment", "output"):
            status, answer = self.as_user(BEN, "GET", f"/v1/jobs/{job}/{what}")
            self.assertEqual(status, 403, answer)
            self.assertNotIn("of 54321", str(answer))
        status, row = self.as_user(BEN, "GET", f"/v1/jobs/{job}")
        self.assertEqual(status, 200)
        self.assertFalse({"command", "folder", "output"} & set(row), row)
        self.assertEqual(self.as_user(ANN, "GET", f"/v1/jobs/{job}/environment")[1],
                         "PATH=/usr/bin:/bin\nSECRET=of 54321\n")
        for action in ("cancel", "hold", "requeue", "suspend"):
            status, answer = self.as_user(BEN, "POST", f"/v1/jobs/{action}", {"ids": job})
            self.assertEqual(status, 207, answer)
            self.assertIn("only its user or an operator", answer["jobs"][0]["detail"])
        self.assertEqual(self.service.job(job)["state"], "RUNNING")
        self.assertEqual(self.as_user(ANN, "POST", "/v1/jobs/cancel", {"ids": job})[0], 200)
        self.assertEqual(self.service.ends(job)["state"], "CANCELLED")

    def test_what_operators_may_do_other_users_may_not(self):
        cases = [("POST", "/v1/nodes/drain", {"nodes": "four"}), ("PUT", "/v1/policy", {"policy": "fcfs"}),
                 ("POST", "/v1/reservations", {"duration": 60, "nodes": "four"}), ("DELETE", "/v1/reservations/1", None),
                 ("POST", "/v1/jobs", {"command": ["true"], "folder": "/", "priority": 1})]
        for method, path, body in cases:
            self.assertEqual(self.as_user(ANN, method, path, body)[0], 403, path)
        self.assertEqual(self.service.ask("PUT", "/v1/policy", {"policy": "fcfs"})[0], 200)

    def test_users_can_only_lower_a_priority(self):
        job = self.submit_as(ANN, "true", held=True)
        change = lambda uid, priority: self.as_user(uid, "POST", "/v1/jobs/update", {"ids": job, "priority": priority})
        self.assertEqual(change(ANN, -5)[0], 200)
        status, answer = change(ANN, 0)
        self.assertEqual(status, 207, answer)
        self.assertIn("only an operator may raise a priority; that of job " + job + " is -5.", answer["jobs"][0]["detail"])
        self.assertEqual(self.service.act("update", job, priority=3)[0], 200)
        for priority in (-2**31, 1_000_001):
            status, answer = change(ANN, priority)
            self.assertEqual(status, 400, answer)
            self.assertIn("a whole number from -1000000 to 1000000", answer["detail"])

    def test_all_and_last_mean_ones_own(self):
        ann = self.submit_as(ANN, "sleep 1000")
        ben = self.submit_as(BEN, "sleep 1000")
        self.assertEqual(self.as_user(ANN, "GET", "/v1/jobs/last")[1]["id"], ann)
        status, answer = self.as_user(ANN, "POST", "/v1/jobs/cancel", {"ids": "all"})
        self.assertEqual((status, [row["id"] for row in answer["jobs"]]), (200, [ann]))
        self.service.ends(ann)
        self.assertIn(self.service.job(ben)["state"], ("CONFIGURING", "RUNNING"))

    def test_files_are_opened_with_the_users_rights(self):
        forbidden = os.path.join(self.folder, "roots")
        with open(forbidden, "w") as file:
            file.write("root's own\n")
        os.chmod(forbidden, 0o640)
        for pattern in (forbidden, "../roots", "x/../../roots"):
            row = self.service.ends(self.submit_as(ANN, "echo overwritten", output=pattern))
            self.assertNotEqual(row["state"], "COMPLETED", pattern)
            status, answer = self.as_user(ANN, "GET", f"/v1/jobs/{row['id']}/output")
            self.assertEqual(status, 404, answer)
        row = self.service.ends(self.submit_as(ANN, "cat", input=forbidden))
        self.assertNotEqual(row["state"], "COMPLETED")
        with open(forbidden) as file:
            self.assertEqual(file.read(), "root's own\n")

    def test_a_name_cannot_lead_out_of_its_folder(self):
        row = self.service.ends(self.submit_as(ANN, "echo here", name="../../up", output="%x.out"))
        self.assertEqual(row["state"], "COMPLETED")
        self.assertEqual(os.listdir(os.path.join(self.folder, str(ANN))), [".._.._up.out"])

    def test_jobs_reach_nothing_of_the_services(self):
        state = self.service.state
        job = self.submit_as(ANN, f"ls {state}; cat {state}/rota.db; cat {state}/runs/*/*; ls {state}/runs", error="e.out")
        self.service.ends(job)
        with open(os.path.join(self.folder, str(ANN), f"rota-{job}.out")) as file:
            self.assertEqual(file.read(), "")
        self.assertFalse(stat.S_IMODE(os.stat(os.path.join(state, "rota.db")).st_mode) & 0o077)

    def test_no_user_fills_the_disk_of_the_state(self):
        service = self.service
        self.start_on_a_disk_of("96m")

        def left():
            disk = os.statvfs(service.state)
            return disk.f_bfree * disk.f_frsize

        def waiting_ones_say(sentence):
            return any(sentence in service.job(job["id"]).get("message", "") for job in service.live())

        def large(uid):
            script = f"#!/bin/sh\nexec sleep 1000\n#{os.urandom(1 << 20).hex()}"
            return self.as_user(uid, "POST", "/v1/jobs", {"script": script, "folder": "/", "output": "/dev/null", "held": True})

        def until_refused(uid):
            taken = []
            while (answered := large(uid))[0] == 201:
                taken.append(answered[1]["id"])
            self.assertEqual(answered[0], 507, answered)
            return taken, answered[1]["detail"]

        kept = (96 << 20) // 50
        running = self.submit_as(ANN, "exec sleep 1000")
        taken, why = until_refused(ANN)
        self.assertRegex(why, "^what is kept of your jobs, their scripts and environments and the history, takes [0-9.]+M, and [0-9.]+M are left for others on the disk ")
        self.assertGreater(len(taken), 5)
        self.assertGreater(left(), 4 * kept, "most of one user")
        self.assertEqual(large(BEN)[0], 201)
        # What was cancelled makes room where it is asked for; that of jobs which have not ended stays.
        self.assertEqual(self.as_user(ANN, "POST", "/v1/jobs/cancel", {"ids": ",".join(taken[:-1])})[0], 200)
        self.assertEqual(self.as_user(ANN, "GET", f"/v1/jobs/{taken[0]}/script")[0], 200, "somebody may look at it yet")
        self.assertEqual(large(ANN)[0], 201)
        self.assertEqual(self.as_user(ANN, "GET", f"/v1/jobs/{taken[0]}/script")[0], 404)
        self.assertEqual(self.as_user(ANN, "GET", f"/v1/jobs/{taken[-1]}/script")[0], 200)
        service.stop()
        service.start()
        self.assertEqual(until_refused(ANN)[1][:26], "what is kept of your jobs,", "what was there before counts")
        # Others fill it: to what is kept from users, and for operators.
        with open(os.path.join(service.state, "ballast"), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, left() - 3 * kept // 2)
        until_refused(BEN)
        self.assertGreater(left(), kept)
        self.assertEqual(service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": "/", "output": "/dev/null"})[0], 201)
        self.as_user(ANN, "POST", "/v1/jobs/release", {"ids": "all"})
        service.wait_for(lambda: waiting_ones_say("no script is put there") or len(service.live()) <= 4, "the end of the room")
        self.assertGreater(left(), kept // 4)
        with open(os.path.join(service.state, "more-ballast"), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, left() - kept // 4)
        status, answer = self.as_user(ANN, "POST", "/v1/jobs/cancel", {"ids": running, "signal": "STOP"})
        self.assertIn("so that jobs can only be cancelled, or changed by an operator; tell the user who runs the service.", json.dumps(answer))
        self.assertNotEqual(status, 200)
        self.assertEqual(self.as_user(ANN, "POST", "/v1/jobs/cancel", {"ids": running, "signal": "WINCH"})[0], 200)
        self.assertEqual(self.as_user(ANN, "POST", "/v1/jobs/cancel", {"ids": "all"})[0], 200)
        service.act("cancel", "all")
        service.all_end()

    def test_what_is_kept_of_each_task_is_bounded(self):
        def asks(word, array, count):
            task = {"command": ["true", word], "folder": "/tmp", "array": array}
            return self.as_user(ANN, "POST", "/v1/jobs", [task] * count if count > 1 else task)
        # As it is kept: a control character takes six bytes. And in all that one request brings.
        for word, array, count in (("x" * 100_000, "1-1000", 1), ("\x01" * 6000, "1-10000", 1), ("x" * 100_000, "1-100", 10)):
            status, answer = asks(word, array, count)
            self.assertEqual(status, 400, answer)
            self.assertRegex(answer["detail"], "the command and all else that is kept of each of these tasks take [0-9.]+M in all, and 64M is "
                                               "the most; put the command into a script, which is kept once, or submit fewer tasks at a time.$")
        status, answer = self.as_user(ANN, "POST", "/v1/jobs", {"command": ["true"], "folder": "/tmp", "after": ["afterany:" + "0" * 1000 + "1"]})
        self.assertEqual(status, 400)
        self.assertIn("which is no job; name one by its id", answer["detail"])

    def test_a_script_that_runs_cannot_be_written_by_its_user(self):
        """A user that could would write the disk of the state full."""
        script = '#!/bin/bash\nchmod u+w "$0"; echo more >> "$0"; ls -l "$0"; cat "$0" > copy\n'
        job = self.submit_script_as(ANN, script)
        row = self.service.ends(job)
        self.assertEqual((row["state"], row["exit_code"]), ("COMPLETED", 0))
        with open(os.path.join(self.folder, str(ANN), "copy")) as file:
            self.assertEqual(file.read(), script, "it can be read")
        with open(os.path.join(self.folder, str(ANN), f"rota-{job}.out")) as file:
            self.assertIn(" root ", file.read())

    def test_no_content_of_one_user_counts_for_another(self):
        script = f"#!/bin/sh\n#{'x' * (1 << 20)}\ntrue\n"
        jobs = {uid: self.submit_script_as(uid, script, held=True) for uid in (ANN, BEN)}
        stored = dict(sqlite3.connect(f"file:{self.service.state}/rota.db?mode=ro", uri=True).execute("SELECT owner, bytes FROM stored"))
        self.assertGreater(min(stored[ANN], stored[BEN]), 1 << 20)
        for uid, job in jobs.items():
            self.assertEqual(self.as_user(uid, "POST", "/v1/jobs/cancel", {"ids": job})[0], 200)
            self.service.ends(job)

    def test_what_cannot_be_given_to_a_program_is_refused(self):
        for asked, said in (({"command": ["true", "x" * (128 << 10)]}, "more than 128 KiB"),
                            ({"command": ["true"] + ["x" * 100_000] * 65}, "more than 6 MiB"),
                            ({"command": ["true"], "environment": ["A=" + "x" * (128 << 10)]}, "more than 128 KiB")):
            status, answer = self.as_user(ANN, "POST", "/v1/jobs", {"folder": "/tmp", **asked})
            self.assertEqual(status, 400)
            self.assertIn(said, answer["detail"])
        status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": "/tmp"}, {"Idempotency-Key": "k" * 300})
        self.assertEqual((status, answer["detail"]), (422, "an `Idempotency-Key` has 255 bytes at most."))

    def test_one_user_waits_for_so_many_jobs_in_all(self):
        array = self.as_user(ANN, "POST", "/v1/jobs", {"command": ["true"], "folder": "/tmp", "array": "1-10000", "held": True})[1]["id"]
        waits = {"command": ["true"], "folder": "/", "output": "/dev/null", "after": [f"afterany:{array}"]}
        for _ in range(5):
            self.assertEqual(self.as_user(ANN, "POST", "/v1/jobs", [waits] * 10)[0], 201)
        status, answer = self.as_user(ANN, "POST", "/v1/jobs", waits)
        self.assertEqual((status, answer["detail"]), (400, "your jobs would wait for more than 500,000 jobs in all, one by one; let one job in "
                                                      "between wait for all of them."))
        self.service.kill()
        self.service.start()
        self.assertEqual(self.as_user(ANN, "POST", "/v1/jobs", waits)[0], 400, "those of before count, too")
        self.as_user(ANN, "POST", "/v1/jobs/cancel", {"ids": "all"})
        self.service.all_end()
        self.assertEqual(self.as_user(ANN, "POST", "/v1/jobs", {**waits, "after": []})[0], 201)
        self.service.all_end()


class Scripts(UsersCase):
    """Scripts of jobs that run, on the disk of the state."""
    configuration = 'name = "wide"\nprocessors = 64\n'

    def test_they_leave_the_room_that_the_history_of_those_that_wait_will_take(self):
        service = self.service
        self.start_on_a_disk_of("96m")
        large = self.submit_script_as(ANN, f"#!/bin/sh\n#{'x' * 1_400_000}\nexec sleep 1000\n", held=True, array="1-60")
        waiting = {"command": ["true"], "folder": "/tmp", "array": "1-4000", "held": True, "name": "n" * 60}
        while (answered := self.as_user(ANN, "POST", "/v1/jobs", waiting))[0] == 201:
            pass
        self.assertEqual(answered[0], 507, answered)
        self.assertEqual(self.as_user(ANN, "POST", "/v1/jobs/release", {"ids": large})[0], 200)
        said = "the scripts of your jobs that run take [0-9.]+M of the disk that holds the service's state, and no more than that is left for others there; "
        service.wait_for(lambda: re.search(said, service.job(f"{large}_60").get("message", "")), "the end of the room")
        self.assertRegex(service.job(f"{large}_60")["why"], "^It could not be started: " + said + ".* It is tried again at [0-9]{4}-[0-9]{2}-")

        def states():
            return [service.job(f"{large}_{task}")["state"] for task in range(1, 61)]
        service.wait_for(lambda: "CONFIGURING" not in states() and "RUNNING" in states(), "those that have room to run")
        self.assertLess(states().count("RUNNING"), 30)
        self.assertEqual(self.as_user(ANN, "POST", "/v1/jobs/cancel", {"ids": "state=PENDING"})[0], 200)
        self.assertEqual(self.as_user(BEN, "POST", "/v1/jobs", {"command": ["true"], "folder": "/tmp", "output": "/dev/null"})[0], 201)
        self.assertEqual(self.as_user(ANN, "POST", "/v1/jobs/cancel", {"ids": "all"})[0], 200)
        service.all_end()

    def test_one_that_is_kept_open_takes_no_room_once_its_job_is_over(self):
        job = self.submit_script_as(ANN, f"#!/bin/sh\n#{'x' * 100_000}\necho $0 > where\nexec sleep 1000\n")
        path = self.service.written(f"{ANN}/where").strip()
        with open(path) as script:
            self.assertGreater(os.fstat(script.fileno()).st_size, 100_000)
            self.service.act("cancel", job)
            self.service.wait_for(lambda: not os.path.exists(path), "its script to go")
            self.assertEqual(os.fstat(script.fileno()).st_size, 0)


class Accounts(UsersCase):
    configuration = (f'name = "four"\nprocessors = 4\n[[accounts]]\nname = "physics"\nusers = "{ANN}:2"\n'
                     f'[[accounts]]\nname = "all"\n[[qos]]\nname = "urgent"\nusers = "{BEN}"\n[[qos]]\nname = "normal"\n')

    def asks(self, uid, **members):
        status, answer = self.as_user(uid, "POST", "/v1/jobs", {
            "folder": "/tmp", "command": ["true"], "environment": [], "held": True, **members})
        return "" if status == 201 else answer["detail"]

    def test_they_and_qos_are_for_the_users_that_the_file_names(self):
        self.assertEqual(self.asks(ANN, account="physics", qos="normal"), "")
        self.assertEqual(self.asks(BEN, account="all", qos="urgent"), "")
        self.assertEqual(self.asks(BEN), "", "the account of those that name none is their group")
        self.assertEqual(self.asks(BEN, account="physics"),
                         f'account "physics" is for users that the configuration names, and {BEN} is none of them.')
        self.assertEqual(self.asks(ANN, qos="urgent"),
                         f'QOS "urgent" is for users that the configuration names, and {ANN} is none of them.')
        self.assertEqual(self.asks(ANN, account="chemistry"), 'there is no account "chemistry".')


class Shares(UsersCase):
    """How many jobs one user may have."""
    configuration = 'name = "four"\nprocessors = 4\n[service]\nmax_jobs = 20\nmax_jobs_of_user = 5\n'

    def held(self, uid, array):
        status, answer = self.as_user(uid, "POST", "/v1/jobs", {
            "folder": "/tmp", "command": ["true"], "environment": [], "array": array, "held": True})
        return status, answer.get("detail")

    def test_one_user_leaves_room_for_others(self):
        said = "you would have more than 5 jobs, the most that this service takes of one user; submit more once some have ended."
        self.assertEqual(self.held(ANN, "1-4"), (201, None))
        self.assertEqual(self.held(ANN, "1-2"), (400, said))
        self.assertEqual(self.held(BEN, "1-5"), (201, None))
        self.service.stop()
        self.service.start()
        self.assertEqual(self.held(ANN, "1-2"), (400, said), "those of before count, too")
        self.service.act("cancel", "1_1")
        self.service.wait_for(lambda: len(self.service.live()) == 8, "a job to end")
        self.service.submit("true", array="1-11", held=True)  # an operator's
        self.assertEqual(self.service.ask("POST", "/v1/jobs", {"folder": "/", "command": ["true"], "array": "1-9"})[1]["detail"],
                         "there would be more than 20 jobs, the most that this service takes.")



if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: only root can act as several users")
        sys.exit(77)
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
