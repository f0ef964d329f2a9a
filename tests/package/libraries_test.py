#!/usr/bin/env python3
"""The program needs the C library and nothing else, and none newer than Debian 12's. Usage: libraries_test.py ROTA"""
import re
import subprocess
import sys
import unittest

NEEDED = {"libc.so.6", "libm.so.6"}  # beside the loader, which has another name on each architecture
GLIBC = (2, 36)


def said(option):
    return subprocess.run(["objdump", option, ROTA], capture_output=True, text=True, check=True).stdout


class Libraries(unittest.TestCase):
    def test_the_c_library_alone_is_needed(self):
        needed = re.findall(r"NEEDED +(\S+)", said("-p"))
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual({name for name in needed if not name.startswith("ld-linux")}, NEEDED)

    def test_it_is_no_newer_than_debian_12s(self):
        versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", said("-T"))}
        self.assertGreater(len(versions), 1)
        self.assertLessEqual(max(versions), GLIBC)


if __name__ == "__main__":
    ROTA = sys.argv.pop(1)
    unittest.main()
