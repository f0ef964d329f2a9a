"""A test case that runs the binary: each test in a folder of its own, which must hold no leftovers at its end."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROTA = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
ROOT = Path(__file__).resolve().parents[2]
DAY = str(ROOT / "examples" / "day.swf")
PATIENCE = 600  # seconds after which a command counts as hanging
HEAD = "; MaxProcs: 4\n"  # of a log


def row(number=1, submit=0, run=5, processors=1, limit=9):
    return f"{number} {submit} -1 {run} {processors} -1 -1 {processors} {limit} -1 -1 -1 -1 -1 -1 -1 -1 -1\n"


class RotaCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.addCleanup(self.no_leftovers)

    def no_leftovers(self):
        self.assertEqual([p.name for p in self.folder.rglob("*.tmp")], [], "temporary files were left behind")

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def rota(self, *arguments, code=0, **more):
        """Runs rota in the test's folder and holds it to its exit code; the finished process, with text."""
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
        if "input" in more:
            del more["stdin"]
        more = {"cwd": self.folder, "timeout": PATIENCE} | more
        done = subprocess.run([more.pop("program", ROTA), *arguments], **more)
        done.stdout, done.stderr = (t.decode() if t is not None else "" for t in (done.stdout, done.stderr))
        self.assertEqual(done.returncode, code, f"rota {' '.join(map(str, arguments))}\n{done.stdout}\n{done.stderr}")
        return done

    def refused(self, *arguments, said=(), code=1, **more):
        """The command fails with one sentence on standard error, and with nothing on standard output."""
        done = self.rota(*arguments, code=code, **more)
        sentence = done.stderr
        self.assertTrue(sentence.startswith("rota: "), sentence)
        self.assertEqual(sentence.count("\n"), 1, sentence)
        self.assertRegex(sentence, r"[.?`]\n$")
        self.assertTrue(sentence.isprintable() or sentence[:-1].isprintable(), repr(sentence))
        for words in [said] if isinstance(said, str) else said:
            self.assertIn(words, sentence)
        self.assertEqual(done.stdout, "")
        return sentence


def unprivileged():
    """subprocess options under which files can be unreadable even where the tests run as root."""
    return {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if ROTA is None:
        sys.exit(f"usage: {sys.argv[0]} ROTA")
    unittest.main(argv=sys.argv[:1])
