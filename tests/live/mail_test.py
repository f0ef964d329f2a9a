#!/usr/bin/env python3
"""Mail about jobs, by a command that writes files in place of sending them. Usage: mail_test.py ROTA"""
import os
import subprocess
import sys
import unittest

from service import PATIENCE, ServiceCase, contents, wait_for

COMMAND = r"""printf '%s|%s|%s|%s\\n' "$ROTA_MAIL_TO" "$ROTA_MAIL_TYPE" "$ROTA_MAIL_JOB" "$ROTA_MAIL_SUBJECT" >> {folder}/mails"""
CLUSTER = 'name = "one"\n[[nodes]]\nnames = "n1"\nprocessors = 2\n'


class MailCase(ServiceCase):
    command = COMMAND

    def configured(self):
        command = self.command.format(folder=self.folder)
        return CLUSTER + f"[service]\nmail_command = '''{command}'''\n".replace("\\\\n", "\\n")

    def mails(self):
        try:
            return [line.split("|") for line in self.service.read("mails").splitlines()]
        except FileNotFoundError:
            return []

    def come(self, number):
        self.service.wait_for(lambda: len(self.mails()) >= number, f"{number} mails")
        return self.mails()


class Mails(MailCase):
    def test_begin_end_and_failure_are_mailed_where_asked_for(self):
        good = self.service.submit("true", name="good", mail=["BEGIN", "END"], mail_user="ann@example.org")
        self.assertEqual([mail[:3] for mail in self.come(2)],
                         [["ann@example.org", "BEGIN", good], ["ann@example.org", "END", good]])
        self.assertEqual(self.mails()[1][3], f"one: job {good} (good) has ended: COMPLETED, exit code 0")
        self.service.ends(self.service.submit("exit 3"))  # no mail was asked for
        self.service.ends(self.service.submit("true", mail=["FAIL"], mail_user="ann@example.org"))  # it did not fail
        bad = self.service.submit("exit 3", name="bad", mail=["FAIL"])
        user = self.service.job(bad)["user"]
        self.assertEqual(self.come(3)[2], [user, "FAIL", bad, f"one: job {bad} (bad) has failed: FAILED, exit code 3"])
        ended = self.service.submit("sleep 1000", held=True, mail=["ALL"], name="never")
        self.service.act("cancel", ended)
        self.assertEqual(self.come(4)[3][1:], ["END", ended, f"one: job {ended} (never) has ended: CANCELLED"])

    def test_an_array_is_told_once_and_its_tasks_where_that_is_asked_for(self):
        array = self.service.submit("[ $ROTA_ARRAY_TASK_ID != 2 ]", array="1-5", mail=["BEGIN", "END"], name="sweep")
        self.service.all_end()
        mails = self.come(2)
        self.assertEqual([mail[1:] for mail in mails], [
            ["BEGIN", array, f"one: job {array} (sweep) has begun"],
            ["END", array, f"one: job {array} (sweep) has ended: 4 COMPLETED, 1 FAILED"]])
        tasks = self.service.submit("true", array="1-2", mail=["END", "ARRAY_TASKS"])
        self.assertEqual({mail[2] for mail in self.come(4)[2:]}, {f"{tasks}_1", f"{tasks}_2"})

    def test_a_job_that_cannot_be_launched_has_not_begun(self):
        self.service.ends(self.service.submit("true", mail=["BEGIN"], output="no/such/folder"))
        os.mkdir(os.path.join(self.folder, "2"))  # where the second task of two has its output
        array = self.service.submit("true", array="1-2", mail=["BEGIN", "END"], output="%a/out", name="half")
        self.assertEqual([mail[1:] for mail in self.come(2)], [
            ["BEGIN", array, f"one: job {array} (half) has begun"],
            ["END", array, f"one: job {array} (half) has ended: 1 COMPLETED, 1 FAILED"]])

    def test_a_job_that_began_and_ended_while_no_service_ran_has_begun(self):
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        job = self.service.submit("touch over", output=pipe, mail=["BEGIN"])
        record = os.path.join(self.service.state, "runs", "0.0")
        self.service.wait_for(lambda: b"\npid=" in contents(record), "its process")
        self.service.kill()
        with open(pipe) as output:
            output.read()
        wait_for(lambda: b"phase=ended" in contents(record), "its end")
        self.service.start()
        self.assertEqual([mail[1:3] for mail in self.come(1)], [["BEGIN", job]])

    def test_an_array_that_has_begun_is_not_told_again_after_a_restart(self):
        array = self.service.submit("until [ -e go ]; do sleep 0.02; done", array="1-2%1", mail=["BEGIN", "END"])
        self.come(1)
        self.service.stop()
        self.service.start()
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        self.service.all_end()
        self.assertEqual([mail[1:3] for mail in self.come(2)], [["BEGIN", array], ["END", array]])

    def test_a_job_that_is_queued_again_is_told(self):
        job = self.service.submit("sleep 1000", requeue=True, mail=["REQUEUE"])
        self.service.wait_for(lambda: self.service.job(job)["state"] == "RUNNING", "it to run")
        self.service.act("requeue", job)
        self.assertEqual(self.come(1)[0][1:3], ["REQUEUE", job])

    def test_scripts_and_the_command_line_ask_for_it(self):
        path = os.path.join(self.folder, "job.sh")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n#SBATCH --mail-type=end,TIME_LIMIT_90 --mail-user=bob@example.org\ntrue\n")
        done = subprocess.run([self.rota, "submit", "--socket", self.service.socket, path], capture_output=True, text=True,
                              cwd=self.folder, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Rota sends no mail of TIME_LIMIT_90.", done.stderr)
        self.assertEqual(self.come(1)[0][:2], ["bob@example.org", "END"])

    def test_a_name_of_several_lines_is_one_line_of_a_mail(self):
        job = self.service.submit("true", name="fit\nBcc: eve@example.org", mail=["END"])
        self.assertEqual(self.come(1)[0][3], f"one: job {job} (fit\\x0aBcc: eve@example.org) has ended: COMPLETED, exit code 0")
        self.assertEqual(len(self.mails()), 1)

    def test_what_makes_no_sense_is_refused(self):
        for members, said in (({"mail": ["SOON"]}, 'there is no mail of the type "SOON"; there are BEGIN, END,'),
                              ({"mail_user": "-oQ/tmp"}, '"-oQ/tmp" is no address that mail could go to'),
                              ({"mail_user": "ann; rm x"}, "is no address")):
            status, answer = self.service.ask("POST", "/v1/jobs", {"command": ["x"], "folder": "/", **members})
            self.assertEqual(status, 400)
            self.assertIn(said, answer["detail"])


class Stuck(MailCase):
    """A command that hangs keeps no job waiting."""
    command = "sleep 1000"

    def test_the_service_goes_on(self):
        for _ in range(5):
            self.service.ends(self.service.submit("true", mail=["ALL"]))
        self.assertEqual(self.mails(), [])


class Failing(MailCase):
    command = "echo no route >&2; exit 7"

    def test_what_was_not_sent_is_in_the_log(self):
        job = self.service.submit("true", mail=["END"], mail_user="ann@example.org")
        for line in self.service.process.stderr:
            if "mail" in line:
                break
        self.assertIn(f"the mail to ann@example.org about job {job} was not sent: ended with 7", line)


class Without(ServiceCase):
    configuration = CLUSTER

    def test_a_submission_warns_that_no_mail_is_sent(self):
        done = subprocess.run([self.rota, "submit", "--socket", self.service.socket, "--mail-type", "END", "--", "true"],
                              capture_output=True, text=True, cwd=self.folder, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (0, "Submitted job 1\n"))
        self.assertIn("This service sends no mail: its configuration has no `mail_command`.", done.stderr)


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
