#!/usr/bin/env python3
"""What README.md shows as the output of `./dev run` is what the program prints.

Usage: readme_test.py ROTA
"""
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROTA = Path(sys.argv[1]).resolve()


class Readme(unittest.TestCase):
    def test_its_table_is_the_real_one(self):
        command = re.search(r"build/release/rota (simulate .*?) --report", (ROOT / "dev").read_text())[1]
        done = subprocess.run([ROTA, *command.split()], cwd=ROOT, capture_output=True, text=True, check=True)
        printed = [line.rstrip() for line in done.stdout.splitlines()]
        block = re.search(r"```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1].splitlines()
        shown = [line.rstrip() for line in block[:block.index("...")] if line.strip()]
        rows = [line for line in shown if re.match(r"(policy|fcfs|easy|conservative|rb-har) ", line)]
        self.assertGreaterEqual(len(rows), 5, "the table is there")
        for line in shown:
            self.assertIn(line, printed)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
