#!/usr/bin/env python3
"""What the commands add so that the next step is plain: where a list goes on, which command was meant, whom it is about."""
import os
import pwd
import socket
import threading

from fake_service import job
from live_case import LiveCase
from rota_case import main


class Hints(LiveCase):
    def test_a_script_is_printed_and_its_words_are_arguments(self):
        self.answers("GET", "/v1/jobs/12", (200, job(12, command=["./x", "a"])))
        self.answers("GET", "/v1/jobs/12/script", (200, b"#!/bin/sh\nmake\n"))
        told = self.live("job", "12").stdout
        self.assertIn("arguments   ./x a\n", told)
        self.assertIn("script      `rota job 12 --script` prints it\n", told)
        self.prints("job", "12", "--script", out="#!/bin/sh\nmake\n")
        self.answers("GET", "/v1/jobs/12/script", (200, b""))
        self.says_no("job", "12", "--script", said="job 12 has no script; `rota job 12` tells its command.")

    def test_why_it_ended_before_it_ran(self):
        self.answers("GET", "/v1/jobs/4/explain", (200, {"id": "4", "state": "FAILED"}))
        self.answers("GET", "/v1/jobs/4", (200, job(4, state="FAILED", message="There is no folder /gone.")))
        self.prints("explain", "4", out="Job 4 is FAILED: There is no folder /gone.\n")

    def test_history_says_that_it_goes_on(self):
        self.answers("GET", "/v1/history", (200, {"jobs": [job(5, state="FAILED"), job(4, state="COMPLETED")]}))
        done = self.live("history", "--limit", "1", "--noheader")
        self.assertEqual(done.stdout.split()[0], "5")
        self.assertEqual(done.stderr, "rota: there are more; these are the latest 1. --limit 0 lists all, --from narrows.\n")
        self.assertEqual(self.live("history", "--limit", "2").stderr, "")

    def test_cancelling_what_is_of_a_user(self):
        self.answers("POST", "/v1/jobs/cancel", (200, {"jobs": [{"id": "12", "done": True}]}))
        self.prints("cancel", "-u", "ada", "state=PENDING")
        self.assertEqual(self.last()["body"], {"ids": "state=PENDING,user=ada"})
        self.prints("cancel", "--me")
        self.assertEqual(self.last()["body"], {"ids": "user=" + pwd.getpwuid(os.geteuid()).pw_name})
        self.assertIn("lacks its argument", self.live("cancel", code=2).stderr)

    def test_a_port_that_speaks_tls_and_is_asked_without(self):
        def hang_up(listener):
            for _ in range(2):  # a question is asked twice
                wire, _ = listener.accept()
                wire.recv(65536)
                wire.close()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=hang_up, args=(listener,), daemon=True).start()
            place = f"127.0.0.1:{listener.getsockname()[1]}"
            self.says_no("queue", env=self.env | {"ROTA_URL": f"http://{place}", "ROTA_TOKEN": "rota_1"},
                         said=f"The service at http://{place} broke off before it had answered; if it speaks TLS, name it "
                         f"as https://{place}; else ask it again, or look at its log.")


if __name__ == "__main__":
    main()
