#!/usr/bin/env python3
"""The addresses that `rota page` prints: a real browser opens them, once and in time, and others have nothing of them.
Usage: page_address_test.py ROTA"""
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import unittest

import browser
from broken import broken_system
from page_test import ANN, MACHINE, PageCase
from screen import Screen
from service import PATIENCE, ServiceCase

TOO_LATE = "This address was used already or is older than 60 s; type rota page again."
NOTE = "document.getElementById('token').open && document.querySelector('#token .note').innerText"
LIVE = "document.getElementById('link') && document.getElementById('link').dataset.state === 'live'"


class AddressCase(ServiceCase):
    configuration = MACHINE

    def page(self, *arguments, code=0, program=None, environment=None, **more):
        done = subprocess.run([program or self.rota, "page", *arguments], capture_output=True, text=True, timeout=PATIENCE,
                              env={"PATH": os.environ["PATH"], "ROTA_SOCKET": self.service.socket, **(environment or {})},
                              **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def address(self, *arguments):
        """A new one, which the command prints alone."""
        done = self.page(*arguments)
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"\Ahttp://[0-9.]+:[0-9]+/#code=[0-9a-f]{32}\n\Z")
        return done.stdout.strip()

    def ask(self, address, method, path, shown=None, host=None, body=None, **more):
        """The status and what is said, at the port of an address."""
        place = re.match("http://([^/]+)/", address)[1]
        connection = http.client.HTTPConnection(place, timeout=PATIENCE)
        headers = {"Host": host or place, **({"Authorization": f"Bearer {shown}"} if shown else {}), **more}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        is_json = "json" in answer.getheader("Content-Type")
        return answer.status, json.loads(text) if is_json else text

    def session(self, address):
        status, answer = self.ask(address, "POST", "/v1/page-sessions", code_of(address))
        self.assertEqual(status, 201, answer)
        return answer["token"]


def code_of(address):
    return address.partition("#code=")[2]


class BrowserCase(AddressCase):
    shows, stand_on = PageCase.shows, PageCase.stand_on

    def setUp(self):
        if browser.program() is None:
            self.skipTest("chromium is not installed (Debian package chromium), so no address can be opened")
        super().setUp()
        self.browser = browser.Browser()
        self.addCleanup(self.browser.close)
        self.browser.size(1280, 900)

    def opens(self, address):
        self.browser.open(address)
        self.browser.wait_for(LIVE, "the page to be live")

    def is_refused(self, address, sentence):
        self.browser.open(address)
        self.browser.wait_for(f"{NOTE} === {json.dumps(sentence)}", sentence)


class InABrowser(BrowserCase):
    def test_an_address_opens_the_page_once_and_for_as_long_as_its_tab_is_open(self):
        job = self.service.submit("sleep 1000", name="seen", limit=600)
        address = self.address()
        self.opens(address)
        self.shows(job, "runs")
        self.assertEqual(self.browser.value("location.href"), address.partition("#")[0])
        self.stand_on(job)
        self.browser.press("c")
        self.browser.wait_for("document.getElementById('question').open", "the question")
        self.browser.value("document.querySelector('#question [value=yes]').focus()")
        self.browser.press("Enter")
        self.assertEqual(self.service.ends(job)["state"], "CANCELLED")
        self.browser.reload()
        self.browser.wait_for(LIVE, "the page to be live again")
        self.assertFalse(self.browser.value("document.getElementById('token').open"))
        self.assertEqual(self.browser.complaints, [])
        self.is_refused(address, TOO_LATE)
        another = self.address()
        self.opens(another)  # in the same tab: only what is behind the # is new
        said = self.service.stop()
        self.assertIn(f"answers at {address.partition('/#')[0]} too", said)
        self.browser.wait_for("document.getElementById('link').innerText.includes('if the service was started again, "
                              "type rota page')", "what to do")
        kept = [os.path.join(path, name) for path, _, names in os.walk(self.service.state) for name in names]
        for text in (said.encode(), *(open(path, "rb").read() for path in kept)):
            for code in (code_of(address), code_of(another)):
                self.assertNotIn(code.encode(), text)

    def test_an_address_is_over_after_a_minute_and_a_session_after_twelve_hours(self):
        self.service.stop()
        slept = os.path.join(self.folder, "slept")
        self.service.environment = broken_system(self.folder, BROKEN_SLEEP=slept)
        self.service.start()
        address = self.address()
        write(slept, "60")
        self.is_refused(address, TOO_LATE)
        self.opens(self.address())
        write(slept, str(60 + 12 * 3600))
        self.service.submit("true", name="something-happens", held=True)
        self.browser.wait_for(f"{NOTE} === 'This session is over: it ends with the service, and after 12 hours. "
                              "Type rota page again.'", "the end of the session")
        self.opens(self.address())


class Listening(BrowserCase):
    """A service that listens anyway: its addresses are of there."""

    def configured(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        return MACHINE + f'[service]\nlisten = "127.0.0.1:{self.port}"\n'

    def test_a_session_ends_with_the_service_and_the_page_says_so(self):
        address = self.address()
        self.assertTrue(address.startswith(f"http://127.0.0.1:{self.port}/#code="))
        self.opens(address)
        self.assertNotIn("too", self.service.stop())
        self.service.start()
        self.browser.wait_for(f"({NOTE} || '').startsWith('This session is over')", "the end of the session")


class Others(AddressCase):
    def test_without_a_code_or_a_token_there_is_the_empty_page_and_nothing_else(self):
        self.service.submit("sleep 1000", name="secret-name")
        address = self.address()
        status, page = self.ask(address, "GET", "/")
        self.assertEqual(status, 200)
        self.assertNotIn("secret-name", page)
        code = code_of(address)
        for shown in (None, code[:-1], "0" * 32, "rota_" + "0" * 64):
            for method, path in (("GET", "/v1/jobs"), ("POST", "/v1/page-sessions"), ("POST", "/v1/page-codes")):
                self.assertEqual(self.ask(address, method, path, shown)[0], 401, (path, shown))
        session = self.session(address)
        self.assertEqual(self.ask(address, "POST", "/v1/page-sessions", code)[0], 401)
        self.assertEqual(self.ask(address, "GET", "/v1/jobs", session)[1]["jobs"][0]["name"], "secret-name")
        for host in ("evil.example", "box", "127.0.0.1.evil.example:80", "localhost:x"):
            self.assertEqual(self.ask(address, "GET", "/", host=host)[0], 403, host)
            self.assertEqual(self.ask(address, "GET", "/v1/jobs", session, host)[0], 403, host)
        for host in ("localhost:8080", "[::1]:8080", "127.0.0.1"):
            self.assertEqual(self.ask(address, "GET", "/v1/jobs", session, host)[0], 200, host)

    def test_a_code_is_for_a_session_alone_and_neither_makes_more(self):
        address = self.address()
        status, answer = self.ask(address, "GET", "/v1/jobs", code_of(address))
        self.assertEqual((status, answer["detail"]), (403, "the code of an address is for `POST /v1/page-sessions` alone."))
        session = self.session(address)  # which has not been spent by that
        for path in ("/v1/page-codes", "/v1/page-sessions", "/v1/tokens"):
            self.assertEqual(self.ask(address, "POST", path, session, body="{}")[0], 403, path)

    def test_a_page_of_another_site_does_nothing_with_a_code_or_a_session(self):
        address = self.address()
        own = address.partition("/#")[0]
        for foreign in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                        {"Origin": own, "Sec-Fetch-Site": "same-site"}):
            status, answer = self.ask(address, "POST", "/v1/page-sessions", code_of(address), **foreign)
            self.assertEqual((status, answer["detail"]), (403, "a page of another site asks; only the service's own page may."))
        session = self.session(address)
        self.assertEqual(self.ask(address, "GET", "/v1/jobs", session, Origin="http://evil.example")[0], 403)
        self.assertEqual(self.ask(address, "GET", "/v1/jobs", session, Origin=own, **{"Sec-Fetch-Site": "same-origin"})[0], 200)

    @unittest.skipIf(os.geteuid() != 0, "only root can act as several users")
    def test_a_session_with_many_streams_locks_only_its_user_out_and_spends_no_code(self):
        address, second = self.address(), self.address()
        session = self.session(address)
        place = re.match("http://([^/:]+):([0-9]+)/", address)
        streams = []
        while len(streams) < 300:
            streams.append(socket.create_connection((place[1], int(place[2])), timeout=PATIENCE))
            streams[-1].sendall(f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {session}\r\n\r\n".encode())
            if b" 200 " not in streams[-1].recv(64):
                break
        self.assertEqual(len(streams), 257)
        self.assertEqual(self.ask(second, "POST", "/v1/page-sessions", code_of(second))[0], 503)
        program = shutil.copy(self.rota, os.path.join(self.folder, "rota"))
        anns = self.page(program=program, user=ANN, group=ANN, extra_groups=[], cwd="/").stdout.strip()
        self.assertEqual(self.ask(anns, "GET", "/v1/status", self.session(anns))[0], 200)
        for stream in streams:
            stream.close()
        self.service.wait_for(lambda: self.ask(second, "POST", "/v1/page-sessions", code_of(second))[0] == 201, "the code to count still")

    def test_a_user_has_so_many_addresses_and_one_more_ends_the_oldest(self):
        first, second, *_ = [self.address() for _ in range(9)]
        self.assertEqual(self.ask(first, "POST", "/v1/page-sessions", code_of(first))[0], 401)
        self.session(second)

    def test_an_operators_page_is_an_operators_only_if_it_was_asked_for(self):
        for arguments, operates in (((), False), (("--operator",), True)):
            address = self.address(*arguments)
            status = self.ask(address, "GET", "/v1/status", self.session(address))[1]
            self.assertEqual(status["operator"], operates)
            self.assertEqual("state_folder" in status, operates)

    @unittest.skipIf(os.geteuid() != 0, "only root can act as several users")
    def test_a_page_is_that_of_the_user_who_asked(self):
        job = self.service.submit("sleep 1000")
        program = shutil.copy(self.rota, os.path.join(self.folder, "rota"))
        as_ann = {"program": program, "user": ANN, "group": ANN, "extra_groups": [], "cwd": "/"}
        self.assertIn(f'"{ANN}" is no operator', self.page("--operator", code=1, **as_ann).stderr)
        address = self.page(**as_ann).stdout.strip()
        session = self.session(address)
        status = self.ask(address, "GET", "/v1/status", session)[1]
        self.assertEqual((status["user"], status["uid"], status["operator"]), (str(ANN), ANN, False))
        _, answer = self.ask(address, "POST", "/v1/jobs/cancel", session, body=json.dumps({"ids": job}))
        self.assertIn("only its user or an operator", answer["jobs"][0]["detail"])

    def test_a_token_makes_no_addresses(self):
        token = subprocess.run([self.rota, "token", "create", "--socket", self.service.socket], capture_output=True, text=True,
                               check=True).stdout.strip()
        url = self.address().partition("/#")[0]
        done = self.page(code=1, environment={"ROTA_URL": url, "ROTA_TOKEN": token})
        self.assertIn("is made on the computer of the service, and not with a token", done.stderr)


class Command(AddressCase):
    def test_over_ssh_it_says_what_to_type_at_home(self):
        over = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}
        done = self.page(environment=over)
        port = re.match(r"http://127\.0\.0\.1:(\d+)/#code=", done.stdout)[1]
        self.assertEqual(done.stderr.splitlines()[1:], [f"ssh -L {port}:127.0.0.1:{port} {socket.gethostname()}"])
        self.assertEqual(self.page(environment={**over, "DISPLAY": ":0"}).stderr, "")
        told = json.loads(self.page("--json", environment=over).stdout)
        self.assertEqual(sorted(told), ["address", "expires", "operator", "user"])

    def on_a_terminal(self, *arguments, **more):
        """What the terminal shows once the command is over, which is told where its browser writes what it is to open."""
        program = os.path.join(self.folder, "opens")
        write(program, f'#!/bin/sh\necho "$1" > {self.folder}/new && mv {self.folder}/new {self.folder}/opened\n')
        os.chmod(program, 0o755)
        runtime = os.path.join(self.folder, "runtime")
        os.makedirs(runtime, exist_ok=True)
        screen = Screen([self.rota, "page", *arguments], columns=200, environment={
            "ROTA_SOCKET": self.service.socket, "DISPLAY": ":9", "BROWSER": program, "XDG_RUNTIME_DIR": runtime, **more})
        self.addCleanup(screen.close)
        self.assertEqual(screen.process.wait(PATIENCE), 0)
        while screen.read(0):
            pass
        return screen.text().strip()

    def test_where_there_is_a_display_a_browser_is_led_there_by_a_file_of_its_users(self):
        self.assertNotIn("\n", self.on_a_terminal("--no-open"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "opened")))
        shown = self.on_a_terminal()
        self.service.wait_for(lambda: os.path.exists(os.path.join(self.folder, "opened")), "the browser")
        way = self.service.read("opened").strip()
        self.assertEqual(way, os.path.join(self.folder, "runtime", "rota", "page.html"))
        self.assertEqual(os.stat(way).st_mode & 0o777, 0o600)
        with open(way) as file:
            self.assertIn(f'content="0; url={shown}"', file.read())
        self.assertIn("/nowhere cannot be started (No such file or directory)", self.on_a_terminal(BROWSER="/nowhere"))
        self.assertIn("XDG_RUNTIME_DIR names no folder", self.on_a_terminal(XDG_RUNTIME_DIR=""))


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
