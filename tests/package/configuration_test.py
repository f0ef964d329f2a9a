#!/usr/bin/env python3
"""The configuration that is installed, examples/systemd/rota.toml: it has every key that a service goes by, each commented out,
with what the documents say of it, and a service starts with it as it is and with each key switched on.
Usage: configuration_test.py ROTA"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "live"))
from service import Service  # noqa: E402

# What a service does not go by, or not together with [[nodes]].
REHEARSED = {("", "processors"), ("", "boot_seed"), ("nodes", "site"), ("nodes", "boot_fails"), ("reservations", "processors"),
             ("reservations", "name")}
KEY = re.compile(r"#(\w+) = ")
TABLE = re.compile(r"#?\[+(\w+)\]+$")
# Which others are switched on with a key.
SWITCHES = {"suspend_command", "resume_command"}
BESIDE = {"tls_certificate": {"listen", "tls_key"}, "tls_key": {"listen", "tls_certificate"}, "licence_command": {"licences"},
          **dict.fromkeys(("suspend_command", "resume_command", "probe_command", "power_timeout", "power_tries"), SWITCHES),
          **dict.fromkeys(("accelerator_type", "accelerator_speed", "accelerator_link", "watts_accelerator"), {"accelerators"}),
          "electricity_zone": {"electricity_prices"}}
# Tables that a key names, above its own.
NAMED = {"parent": ("#[[accounts]]", '[[accounts]]\nname = "science"\n'), "preempts": ("#[[qos]]", '[[qos]]\nname = "spare"\n')}


def text_of(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


def documented():
    """Table, key: what the documents say of it, as a comment has it; only what a service goes by."""
    found = {}
    for page, mark, table in (("cluster-file.md", "keys", ""), ("serve.md", "keys of [service]", "service")):
        for line in text_of("docs", page).split(f"<!-- from the code: {mark} -->")[1].split("<!-- end -->")[0].splitlines():
            if heading := re.match(r"### In each `\[\[(\w+)\]\]`", line):
                table = heading[1]
            if line.startswith("| `") and table not in ("sites", "limits"):
                name, _, without, meaning = line[2:-2].split(" | ")
                without = "must be there" if without.startswith("must be there") else without
                said = f"{meaning[0].upper()}{meaning[1:]} ({without}).".replace("`", "")
                found[table, name.strip("`")] = "\n".join(textwrap.wrap(said, 116, break_long_words=False, break_on_hyphens=False))
    return {key: said for key, said in found.items() if key not in REHEARSED}


def shipped():
    """Table, key: the line on which it stands, and the comment above it."""
    found, table, comment = {}, "", []
    for number, line in enumerate(text_of("examples", "systemd", "rota.toml").splitlines()):
        if heading := TABLE.match(line):
            table = heading[1]
        if key := KEY.match(line):
            found[table, key[1]] = (number, "\n".join(comment))
        comment = [*comment, line[2:]] if line.startswith("# ") else []
    return found


class Configuration(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rota-configuration-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def test_it_has_each_key_with_what_the_documents_say(self):
        self.assertEqual({key: comment for key, (_, comment) in shipped().items()}, documented())

    def starts_with(self, lines):
        folder = tempfile.mkdtemp(dir=self.folder)
        service = Service(ROTA, folder, "\n".join(lines))
        service.start()
        service.stop()

    def test_the_package_has_the_programs_version(self):
        version = subprocess.run([ROTA, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        self.assertTrue(text_of("packaging", "debian", "changelog").startswith(f"rota ({version}-1) "))

    def test_a_service_starts_with_it_as_it_is(self):
        lines = text_of("examples", "systemd", "rota.toml").splitlines()
        self.assertEqual([line for line in lines if line and not line.startswith("#")], ["[service]"])
        self.starts_with(lines)

    def test_a_service_starts_with_each_key_switched_on(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=box", "-keyout",
                        f"{self.folder}/box.key", "-out", f"{self.folder}/box.pem"], check=True, capture_output=True)
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            port = listening.getsockname()[1]
        text = text_of("examples", "systemd", "rota.toml").replace("/etc/rota/", f"{self.folder}/").replace(":8443", f":{port}")
        where = shipped()
        for table, key in where:
            lines = text.splitlines()
            for number in switched_on(lines, table, key):
                heading, named = NAMED.get(key, ("", ""))
                lines[number] = (named if lines[number] == heading else "") + lines[number].removeprefix("#")
            with self.subTest(table=table, key=key):
                self.assertRegex(lines[where[table, key][0]], f"^{key} = ")
                self.starts_with(lines)


def switched_on(lines, table, key):
    """The numbers of the lines on which that key stands, what it needs, and, but for keys of no table, the nodes."""
    inside, tables = "", set() if table in ("", "service") else {table, "nodes"}
    for number, line in enumerate(lines):
        if heading := TABLE.match(line):
            inside = heading[1]
        name = KEY.match(line)
        needed = inside in tables and (heading or name and lines[number - 1].endswith("(must be there)."))
        if needed or name and (inside, name[1]) == (table, key) or name and name[1] in BESIDE.get(key, ()):
            yield number


if __name__ == "__main__":
    ROTA = os.path.abspath(sys.argv.pop(1))
    unittest.main()
