#!/usr/bin/env python3
"""Pages of other sites in the browser of a user who has a way to the service open. Usage: foreign_test.py ROTA"""
import http.server
import os
import sys
import threading
import unittest

import browser
from relay import Relay
from service import ServiceCase

ATTACK = """<!doctype html><title>innocent</title><script>
const body = JSON.stringify({ids: '1'});
fetch('%(url)sv1/jobs/cancel', {method: 'POST', mode: 'no-cors', body})
    .then(() => fetch('%(url)sv1/jobs', {mode: 'cors'}).then((a) => a.text(), () => 'nothing'))
    .then((read) => { document.title = `done: ${read}`; });
</script>"""


class Foreign(ServiceCase):
    configuration = 'name = "four"\nprocessors = 4\n'

    def ask_as(self, headers, method="GET", path="/v1/status", body=None):
        return self.service.ask(method, path, body, headers)

    def test_requests_of_other_pages_are_refused(self):
        job = self.service.submit("sleep 1000")
        sentence = "a page of another site asks; only the service's own page may."
        for headers in ({"Host": "localhost:8080", "Origin": "http://evil.example"},
                        {"Host": "localhost:8080", "Origin": "http://localhost:9090"},
                        {"Host": "localhost:8080", "Origin": "null"},
                        {"Host": "localhost:8080", "Sec-Fetch-Site": "cross-site"},
                        {"Host": "localhost:8080", "Sec-Fetch-Site": "same-site"}):
            status, answer = self.ask_as(headers, "POST", "/v1/jobs/cancel", {"ids": job})
            self.assertEqual((status, answer["detail"]), (403, sentence), headers)
        self.assertIn(self.service.job(job)["state"], ("CONFIGURING", "RUNNING"))
        own = {"Host": "localhost:8080", "Origin": "http://localhost:8080", "Sec-Fetch-Site": "same-origin"}
        self.assertEqual(self.ask_as(own, "POST", "/v1/jobs/cancel", {"ids": job})[0], 200)
        # a link on another site may open the page itself: it shows nothing before it has asked
        self.assertEqual(self.ask_as({"Host": "localhost:8080", "Sec-Fetch-Site": "cross-site"}, path="/")[0], 200)

    def test_names_that_a_dns_gives_are_refused(self):
        for host in ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost:80.evil.example", "[::1]evil.example"):
            status, answer = self.ask_as({"Host": host})
            self.assertEqual(status, 403, host)
            self.assertIn("ask for localhost", answer["detail"])
        for host in ("localhost", "localhost:8080", "rota", "127.0.0.1:8080", "[::1]:8080", "box.localhost"):
            self.assertEqual(self.ask_as({"Host": host})[0], 200, host)

    def test_a_page_of_another_origin_reaches_nothing_from_a_real_browser(self):
        if browser.program() is None:
            self.skipTest("chromium is not installed")
        job = self.service.submit("sleep 1000")
        relay = Relay(self.service.socket)
        self.addCleanup(relay.close)

        class Attacker(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write((ATTACK % {"url": relay.url}).encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Attacker)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.Browser()
        self.addCleanup(page.close)
        page.open(f"http://localhost:{server.server_port}/")
        page.wait_for("document.title.startsWith('done')", "the attack to be over")
        self.assertEqual(page.value("document.title"), "done: nothing")
        self.assertIn(self.service.job(job)["state"], ("CONFIGURING", "RUNNING"))
        self.service.act("cancel", job)


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
