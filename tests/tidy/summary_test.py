#!/usr/bin/env python3
"""What tests/summary.py makes of ctest's results."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SUMMARY = Path(__file__).resolve().parents[1] / "summary.py"


def case(name, seconds, status="run", inside="", said=""):
    return f'<testcase name="{name}" time="{seconds}" status="{status}">{inside}<system-out>{said}</system-out></testcase>'


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def summary(self, **results):
        """Its exit code and its lines, of results by the name of their file."""
        for name, cases in results.items():
            (self.folder / f"{name}.xml").write_text(f"<testsuite>{''.join(cases)}</testsuite>")
        done = subprocess.run([sys.executable, SUMMARY, *sorted(self.folder.glob("*.xml"))], capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()

    def test_each_group_is_told_with_its_minutes_and_its_longest(self):
        code, lines = self.summary(asan=[case("unit.Plan.starts", 0.2)],
                                   release=[case("live.truth", 95.4), case("live.jobs", "12.6"), case("cli.page", 60)])
        self.assertEqual((code, lines), (0, ["asan: unit 0.0 min in 1 test, unit.Plan.starts 0 s", "cli 1.0 min in 1 test, cli.page 60 s",
                                             "live 1.8 min in 2 tests, longest live.truth 95 s", "4 passed, 0 failed, 0 skipped"]))

    def test_what_failed_and_what_was_skipped_is_named_with_the_reason(self):
        code, lines = self.summary(release=[
            case("live.jobs", 3, "fail", "<failure/>", "first\nlast"), case("live.gpu", 0, "notrun", "<skipped/>", "skipped: no driver")])
        self.assertEqual((code, lines), (1, [
            "--- live.jobs", "first", "last", "skipped live.gpu: skipped: no driver",
            "live 0.1 min in 2 tests, longest live.jobs 3 s", "failed live.jobs", "0 passed, 1 failed, 1 skipped"]))

    def test_where_nothing_ran_that_is_a_failure(self):
        self.assertEqual(self.summary(), (1, ["0 passed, 0 failed, 0 skipped"]))


if __name__ == "__main__":
    unittest.main()
