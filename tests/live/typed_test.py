#!/usr/bin/env python3
"""The command that runs is the command that was typed: random words through every door reach the job byte for byte, and so do
its environment and its folder. Usage: typed_test.py ROTA [CASES [SEED]]"""
import json
import os
import pty
import random
import shlex
import subprocess
import sys
import unittest

from service import PATIENCE, ServiceCase

CASES, SEED = 300, random.SystemRandom().randrange(10**6)
PIECES = [b"", b" ", b"\n", b"\t", b"'", b'"', b"\\", b",", b"a,b", b"[1,2,3]", b"[]", b"[", b"]", b"{}", b"{", b"%%", b"%j",
          b"@file", b"-", b"--", b"-x", b"-n4", b"--name=x", b"--help", b"=", b"$HOME", b"*", b"~", b"#", b"!", b"&&", b";",
          b"\xff", b"\xfe\x80", b"\xed\xb2\x80", b"\xc3\xa9", b"\xf0\x9f\x98\x80", b"\xef\xbf\xbf", b"\xc3", b"\\udc80", b"\\u0041",
          b"\r", b"\x01", b"\x7f", b"word", b"64", b"0", b"true", b"null"]
# Writes its own words, environment and folder as the kernel has them.
PROGRAM = b"""#!/bin/sh
cat /proc/$$/cmdline > "$TYPED_OUT-cmdline-$ROTA_ARRAY_TASK_ID"
cat /proc/$$/environ > "$TYPED_OUT-environ-$ROTA_ARRAY_TASK_ID"
ls --zero -l -d --time-style=+ /proc/$$/cwd > "$TYPED_OUT-cwd-$ROTA_ARRAY_TASK_ID"
"""


class Typed(ServiceCase):
    configuration = 'name = "one"\nprocessors = 8\n'

    def setUp(self):
        super().setUp()
        print(f"seed {SEED}", file=sys.stderr)
        self.dice = random.Random(SEED)
        self.program = os.fsencode(self.folder) + b"/program"
        with open(self.program, "wb") as file:
            file.write(PROGRAM)
        os.chmod(self.program, 0o755)

    def text(self):
        made = b"".join(self.dice.choice(PIECES) for _ in range(self.dice.randrange(4)))
        if self.dice.random() < 0.2:
            made += bytes(self.dice.randrange(1, 256) for _ in range(self.dice.randrange(9)))
        return made

    def case(self, number):
        """Words, a variable and a folder, made up."""
        words = [self.text() for _ in range(self.dice.randrange(6))]
        name = self.text().replace(b"/", b"_")[:60]
        folder = os.path.join(os.fsencode(self.folder), b"%d-" % number + name)
        os.mkdir(folder)
        environment = {b"PATH": b"/usr/bin:/bin", b"TYPED": self.text(),
                       b"TYPED_OUT": os.fsencode(f"{self.folder}/out-{number}")}
        return words, environment, folder

    def client(self, words, environment, folder, **more):
        asked = {**environment, b"ROTA_SOCKET": os.fsencode(self.service.socket)}
        done = subprocess.run([os.fsencode(self.rota), *words], env=asked, cwd=folder, capture_output=True, timeout=PATIENCE, **more)
        self.assertEqual(done.returncode, 0, (words, done.stdout, done.stderr))
        return done

    def at_a_terminal(self, words, environment, folder):
        inner, outer = pty.openpty()
        asked = {**environment, b"ROTA_SOCKET": os.fsencode(self.service.socket)}
        with subprocess.Popen([os.fsencode(self.rota), *words], env=asked, cwd=folder, stdin=outer, stdout=outer, stderr=outer) as process:
            os.close(outer)
            try:
                while os.read(inner, 4096):
                    pass
            except OSError:
                pass  # the terminal has no other end any more
            self.assertEqual(process.wait(PATIENCE), 0, words)
        os.close(inner)

    def posted(self, words, environment, folder):
        """As a program in Python does it."""
        text = lambda what: what.decode("utf-8", "surrogateescape")
        job = self.service.submit([text(self.program), *map(text, words)], folder=text(folder),
                                  environment=[f"{text(name)}={text(value)}" for name, value in environment.items()])
        self.service.ends(job)

    def check(self, number, words, environment, folder, begins, index=b""):
        def seen(what):
            with open(os.path.join(self.folder, f"out-{number}-{what}-{index.decode()}"), "rb") as file:
                return file.read()
        found = seen("cmdline").split(b"\0")[:-1]
        self.assertEqual(found[len(begins):], words)
        variables = dict(text.split(b"=", 1) for text in seen("environ").split(b"\0") if text)
        self.assertEqual({name: variables.get(name) for name in environment}, environment)
        self.assertTrue(seen("cwd").endswith(b" -> " + folder + b"\0"), (seen("cwd"), folder))

    def test_what_was_typed_is_what_runs(self):
        submit = [b"submit", b"--wait", b"--parsable", b"-o", b"/dev/null"]
        doors = {
            "submit": lambda w, e, f: self.client([*submit, b"--", self.program, *w], e, f),
            "script": lambda w, e, f: self.client([*submit, self.program, *w], e, f),
            "array": lambda w, e, f: self.client([*submit, b"--array=1-2", b"--", self.program, *w], e, f),
            "wrap": lambda w, e, f: self.client([*submit, b"--wrap=exec " + os.fsencode(shlex.join(
                os.fsdecode(word) for word in [self.program, *w]))], e, f),
            "run": lambda w, e, f: self.client([b"run", b"--", self.program, *w], e, f, stdin=subprocess.DEVNULL),
            "terminal": lambda w, e, f: self.at_a_terminal([b"run", b"--", self.program, *w], e, f),
            "http": self.posted}
        for number in range(CASES):
            door = list(doors)[number % len(doors)]
            with self.subTest(door=door, number=number):
                words, environment, folder = self.case(number)
                doors[door](words, environment, folder)
                for index in (b"1", b"2") if door == "array" else (b"",):
                    self.check(number, words, environment, folder, ["sh", "program"], index)

    def test_what_is_said_of_a_job_is_kept_as_it_was_written(self):
        for number in range(max(20, CASES // 15)):
            comment, name = self.text(), b"n" + self.text().replace(b"\n", b"")[:60]
            with self.subTest(comment=comment, name=name):
                asked = [b"submit", b"--parsable", b"--hold", b"--comment=" + comment, b"-J", name, b"--wrap", b"true"]
                environment = {b"PATH": b"/usr/bin:/bin"}
                job = self.client(asked, environment, os.fsencode(self.folder)).stdout.decode().strip()
                shown = self.client([b"job", job.encode(), b"--json"], environment, os.fsencode(self.folder)).stdout
                found = json.loads(shown)
                as_bytes = lambda text: text.encode("utf-8", "surrogateescape")
                self.assertEqual((as_bytes(found.get("comment", "")), as_bytes(found["name"])), (comment, name))
                for line in (self.client([b"job", job.encode()], environment, os.fsencode(self.folder)).stdout,
                             self.client([b"queue", job.encode()], environment, os.fsencode(self.folder)).stdout):
                    line.decode("utf-8")  # what is shown is text, whatever was typed
                self.service.act("cancel", job)


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        CASES = int(sys.argv.pop(1))
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        SEED = int(sys.argv.pop(1))
    unittest.main()
