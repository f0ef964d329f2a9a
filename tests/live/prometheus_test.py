#!/usr/bin/env python3
"""A real Prometheus reads /metrics by TLS and with a token, promtool has nothing against it, and the dashboard asks for
nothing that is not there. Usage: prometheus_test.py ROTA"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

if not shutil.which("prometheus") or not shutil.which("promtool"):
    print("skipped: the Debian package prometheus is not installed")
    sys.exit(77)

from network import NetworkCase
from service import PATIENCE, ServiceCase

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")


class Metrics(NetworkCase):
    machine = ('name = "small"\nlicences = "matlab:2,odd name:1"\n[[nodes]]\nnames = "n[1-2]"\nprocessors = 2\n')

    def setUp(self):
        super().setUp()
        self.read_only = self.token("--read-only")
        self.service.submit("sleep 1000", licence="matlab", licences=1)
        self.service.submit("true", held=True)
        self.service.wait_for(lambda: self.service.job(1)["state"] == "RUNNING", "its start")

    def page(self):
        status, text, headers = self.ask("GET", "/metrics", self.read_only)
        self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4"))
        return text

    def dashboard(self):
        with open(os.path.join(EXAMPLES, "grafana-dashboard.json")) as file:
            return json.load(file)

    def expressions(self):
        return [target["expr"] for panel in self.dashboard()["panels"] for target in panel["targets"]]

    def test_promtool_has_nothing_against_it(self):
        done = subprocess.run(["promtool", "check", "metrics"], input=self.page(), capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        done = subprocess.run(["promtool", "check", "config", "--syntax-only", os.path.join(EXAMPLES, "prometheus.yml")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_dashboard_asks_for_what_there_is(self):
        there = set(re.findall("^# TYPE (rota_[a-z_]+) ", self.page(), re.MULTILINE))
        asked = set(re.findall(r"\brota_[a-z_]+", " ".join(self.expressions())))
        self.assertEqual(asked - there, set())
        self.assertEqual(there - asked, set(), "measured, and shown nowhere")

    def test_a_real_prometheus_reads_it(self):
        prometheus = Prometheus(self, f"127.0.0.1:{self.port}", self.read_only, self.certificate)
        self.service.wait_for(lambda: prometheus.value("up") == 1, f"what Prometheus reads; it says {prometheus.said()}")
        for query, wanted in (('rota_jobs{state="RUNNING"}', 1), ('rota_jobs{state="PENDING"}', 1),
                              ('rota_jobs_pending{reason="JobHeldUser"}', 1), ("rota_processors", 4),
                              ("rota_processors_free", 3), ('rota_nodes{power="on"}', 2), ("rota_plain_mode", 0),
                              ('rota_licences{name="matlab",use="jobs"}', 1)):
            self.assertEqual(prometheus.value(query), wanted, query)
        for expression in self.expressions():
            query = expression.replace("$instance", f"127.0.0.1:{self.port}")
            self.service.wait_for(lambda: prometheus.value(query) is not None, f"an answer to {query}")


class Prometheus:
    """One that reads a service, once a second."""

    def __init__(self, test, target, token, certificate):
        self.folder = os.path.join(test.folder, "prometheus")
        os.mkdir(self.folder)
        self.process = None
        test.addCleanup(self.stop)
        with open(os.path.join(self.folder, "token"), "w") as file:
            file.write(token)
        config = os.path.join(self.folder, "prometheus.yml")
        with open(config, "w") as file:
            json.dump({"scrape_configs": [{
                "job_name": "rota", "scheme": "https", "scrape_interval": "1s", "scrape_timeout": "1s",
                "authorization": {"credentials_file": os.path.join(self.folder, "token")},
                "tls_config": {"ca_file": certificate}, "static_configs": [{"targets": [target]}]}]}, file)
        self.log = open(os.path.join(self.folder, "log"), "w+")
        for _ in range(5):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            if self.listens(config, port):
                return
        raise AssertionError(f"Prometheus does not listen: {self.said()}")

    def listens(self, config, port):
        """False: another process has taken the port meanwhile."""
        self.url = f"http://127.0.0.1:{port}/api/v1/query"
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address=127.0.0.1:{port}"], stdout=self.log, stderr=subprocess.STDOUT, cwd=self.folder)
        while self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=PATIENCE):
                    return True
            except OSError:
                time.sleep(0.05)
        return False

    def value(self, query):
        """The first value that a query gives; nothing: there is none, or no answer yet."""
        if self.process.poll() is not None:
            raise AssertionError(f"Prometheus has ended: {self.said()}")
        try:
            with urllib.request.urlopen(self.url + "?" + urllib.parse.urlencode({"query": query}), timeout=PATIENCE) as answer:
                result = json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it is still starting
                return None
            raise AssertionError(f"{query}: {error.read()}") from error
        except OSError:
            return None
        return float(result[0]["value"][1]) if result else None

    def said(self):
        with open(self.log.name) as file:
            return file.read()[-2000:]

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(PATIENCE)
            self.log.close()


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
