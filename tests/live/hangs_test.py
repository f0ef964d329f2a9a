#!/usr/bin/env python3
"""A file that never answers, as of a server that is gone: only its client waits. Usage: hangs_test.py ROTA

A process that opens it hangs, by a library that is loaded before the C library (broken_system.c).
"""
import contextlib
import os
import select
import signal
import socket
import sys
import unittest

from broken import broken_system
from service import PATIENCE, ServiceCase

AT_A_TIME = 16  # readings of one job


class Hangs(ServiceCase):
    configuration = 'name = "hangs"\nprocessors = 4\n'

    def setUp(self):
        super().setUp()
        self.service.stop()
        self.service.environment = broken_system(self.folder, BROKEN_FILE=os.path.join(self.folder, "silent"))
        self.service.start()
        self.silent = self.service.submit("echo silent", output="silent")
        self.other = self.service.submit("echo other", output="other")
        self.service.all_end()

    @contextlib.contextmanager
    def asked(self):
        """A connection on which the output that hangs was asked for."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(self.service.socket)
            connection.sendall(f"GET /v1/jobs/{self.silent}/output HTTP/1.1\r\nHost: rota\r\n\r\n".encode())
            self.service.wait_for(lambda: os.path.exists(os.path.join(self.folder, "silent.hangs")), "a reader that hangs")
            yield connection

    def output_of(self, job):
        return self.service.ask("GET", f"/v1/jobs/{job}/output")

    def test_others_are_answered_and_the_caller_is_told(self):
        with self.asked() as connection:
            self.assertEqual(self.output_of(self.other), (200, "other\n"))
            answer = connection.recv(4096).decode()
        self.assertIn(" 503 ", answer)
        self.assertIn("could not be read in 10 seconds: its file system does not answer. Ask again later.", answer)
        self.assertEqual(self.output_of(self.other), (200, "other\n"))

    def test_so_many_hang_at_most(self):
        with contextlib.ExitStack() as asked:
            connections = [asked.enter_context(self.asked()) for _ in range(AT_A_TIME + 1)]
            refused = select.select(connections, [], [], PATIENCE)[0]
            self.assertEqual(len(refused), 1)
            self.assertIn("is being read by too many already; ask again in a moment.", refused[0].recv(4096).decode())
            self.assertEqual(self.output_of(self.other), (200, "other\n"))

    def test_a_job_that_hangs_in_its_launch_can_only_be_cancelled(self):
        service = self.service
        os.mkfifo(os.path.join(self.folder, "pipe"))  # no process reads
        job = service.submit("true", output="pipe")
        service.wait_for(lambda: service.job(job)["state"] == "CONFIGURING", "its launch")
        for action in ("requeue", "suspend"):
            status, answer = service.act(action, job)
            self.assertEqual(status, 207, answer)
            self.assertEqual(answer["jobs"][0]["detail"],
                             f"job {job} is just being started; try again once it runs. Whether its folder, input and output "
                             "can be opened is known within a minute; it can be cancelled at once.")
        self.assertEqual(service.act("cancel", job)[0], 200)
        self.assertEqual(service.ends(job)["state"], "CANCELLED")

    def test_the_service_ends_all_the_same(self):
        with self.asked():
            self.service.process.send_signal(signal.SIGTERM)
            self.assertEqual(self.service.process.wait(PATIENCE), 0)
            self.assertIn("stopped:", self.service.process.stderr.read())
            self.service.process.stderr.close()
            self.service.start()
            self.assertEqual(self.output_of(self.other), (200, "other\n"))


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
