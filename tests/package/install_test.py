#!/usr/bin/env python3
"""`cmake --install` puts every file in its place and leaves the build tree as it is. Usage: install_test.py ROTA, in its build tree"""
import glob
import gzip
import os
import subprocess
import sys
import tempfile
import unittest

PREFIX = "/opt/rota"
FILES = ("bin/rota", "share/man/man1/rota.1.gz", "share/man/man1/rota-submit.1.gz", "share/bash-completion/completions/rota",
         "share/zsh/site-functions/_rota", "share/fish/vendor_completions.d/rota.fish", "share/doc/rota/LICENSE",
         "share/doc/rota/README.md", "share/doc/rota/CHANGELOG.md", "share/doc/rota/docs/serve.md",
         "share/doc/rota/docs/policies/easy.md", "share/doc/rota/examples/day.swf", "share/doc/rota/examples/first-jobs.sh",
         "share/doc/rota/examples/systemd/rota.toml", "share/doc/rota/examples/systemd/one-user.conf",
         *(f"share/doc/rota/examples/systemd/slurm/{unit}" for unit in ("rota.service", "rota-undo.service", "rota-undo.timer")),
         *(f"lib/systemd/{of}/{unit}" for of in ("system", "user") for unit in ("rota.service", "rota.socket", "rota-jobs.service")))


def files_of(tree):
    """Each file with its time of change, but for what ctest itself and the tests beside this one write there."""
    found = {}
    for folder, folders, names in os.walk(tree):
        if folder == tree:
            folders[:] = [name for name in folders if name not in ("Testing", "corpus", "found")]
        for name in names:
            try:
                found[os.path.join(folder, name)] = os.stat(os.path.join(folder, name)).st_mtime_ns
            except FileNotFoundError:
                pass  # of a test that has just ended
    return found


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="rota-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.before = files_of(BUILD)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", PREFIX], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "DESTDIR": folder.name}, umask=0o077)
        cls.root = folder.name + PREFIX

    def read(self, name):
        with open(os.path.join(self.root, name)) as file:
            return file.read()

    def test_each_file_is_in_its_place_and_all_users_may_read_it(self):
        for name in FILES:
            with self.subTest(name):
                self.assertEqual(os.stat(os.path.join(self.root, name)).st_mode & 0o444, 0o444)
        for name in ("bin/rota", "share/doc/rota/examples/first-jobs.sh"):
            self.assertEqual(os.stat(os.path.join(self.root, name)).st_mode & 0o111, 0o111, name)

    def test_the_build_tree_is_left_as_it_is(self):
        now = files_of(BUILD)
        self.assertEqual([name for name in now if self.before.get(name) != now[name]], [])

    def test_units_name_the_program_where_it_is(self):
        for of in ("system", "user"):
            self.assertIn(f"ExecStart={PREFIX}/bin/rota serve", self.read(f"lib/systemd/{of}/rota.service"))

    def test_each_command_has_its_page(self):
        pages = glob.glob(os.path.join(self.root, "share/man/man1/*.gz"))
        self.assertGreater(len(pages), 40)
        for page in pages:
            with gzip.open(page, "rt") as text:
                self.assertTrue(text.readline().startswith(".TH"), page)


if __name__ == "__main__":
    BUILD = os.path.dirname(os.path.abspath(sys.argv.pop(1)))
    unittest.main()
