#!/usr/bin/env python3
"""Completion in real shells, and manual pages as man and mandoc read them.

Usage: completion_test.py ROTA
"""
import shutil
import subprocess
import unittest

from rota_case import PATIENCE, ROTA, RotaCase, main


def needs(program):
    """Skips a test where a program is not installed."""
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Shell(RotaCase):
    def setUp(self):
        super().setUp()
        for name in ("log.swf", "other.txt"):
            self.file(name, "")
        (self.folder / "place").mkdir()

    def script(self, shell):
        self.file("script", self.rota("completion", shell).stdout)

    def ran(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE,
                              env={"PATH": f"{ROTA.parent}:/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout


class Bash(Shell):
    def offered(self, *words):
        """What bash would offer for these words, the last of which is being typed, and how (compopt)."""
        self.script("bash")
        out = self.ran("bash", "-c", 'source ./script; compopt() { how+="$*"; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                       '_rota; printf "%s\\n" "$how" "${COMPREPLY[@]}"', "-", *words)
        how, *offered = out.splitlines()
        return [each for each in offered if each], how

    def offers(self, *words, exactly=None, among=(), how=""):
        offered, told = self.offered(*words)
        if exactly is not None:
            self.assertEqual(offered, exactly)
        for word in among:
            self.assertIn(word, offered)
        self.assertEqual(told, how)

    def test_commands(self):
        self.offers("rota", "sim", exactly=["simulate"])
        self.offers("rota", "nodes", "d", exactly=["drain", "down"])
        self.offers("rota", "generate", "", exactly=["lublin", "poisson", "hpl-mix", "x64-blades"])
        self.offers("rota", "manual", "co", exactly=["convert", "completion"])
        self.offers("rota", "nonsense", "x", exactly=[])

    def test_options_and_their_values(self):
        self.offers("rota", "simulate", "--est", exactly=["--estimates"])
        self.offers("rota", "simulate", "log.swf", "--estimates", "", exactly=["user", "exact"])
        self.offers("rota", "simulate", "--ties", "=", "s", exactly=["submit-first"])
        self.offers("rota", "simulate", "--processors", "", exactly=[])
        self.offers("rota", "generate", "lublin", "--estimates", "m", exactly=["modal"])
        self.offers("rota", "completion", "", exactly=["bash", "zsh", "fish"])

    def test_policies_and_knobs(self):
        go_on = "-o nospace"
        self.offers("rota", "simulate", "--policy", "cons", exactly=["conservative"], how=go_on)
        self.offers("rota", "simulate", "--policy", "fcfs,ea", exactly=["fcfs,easy", "fcfs,easy-sjbf", "fcfs,easy++"], how=go_on)
        self.offers("rota", "simulate", "--policy", "=", "fcfs,easy+dep", exactly=["fcfs,easy+depth="], how=go_on)
        self.offers("rota", "simulate", "--policy", "easy+", among=["easy++", "easy+depth=", "easy+overrun="], how=go_on)
        self.offers("rota", "simulate", "--policy", "easy+++dep", exactly=["easy+++depth="], how=go_on)
        self.offers("rota", "simulate", "--policy", "easy+order", "=", "s", exactly=["sjf", "smallest"], how=go_on)
        self.offers("rota", "verify", "--policy", "fcfs,ea", exactly=[], how=go_on)  # it takes one

    def test_files_and_folders(self):
        self.offers("rota", "simulate", "lo", exactly=[], how="-o default")  # readline itself completes files
        self.offers("rota", "simulate", "--report", "=", "x", exactly=[], how="-o default")
        self.offers("rota", "verify", "log.swf", "o", exactly=[], how="-o default")
        self.offers("rota", "verify", "log.swf", "other.txt", "", exactly=[])  # no third
        self.offers("rota", "manual", "--all", "p", exactly=["place"], how="-o filenames")


class Others(Shell):
    @needs("fish")
    def test_fish(self):
        self.script("fish")
        lines = {"rota sim": ["simulate"], "rota simulate --policy fcfs,easy+d": ["fcfs,easy+depth="],
                 "rota simulate --ties=s": ["--ties=submit-first"], "rota simulate lo": ["log.swf"],
                 "rota simulate --jobs=lo": ["--jobs=log.swf"], "rota manual --all p": ["place/"]}
        for line, offered in lines.items():
            out = self.ran("fish", "--no-config", "-c", f"source ./script; complete -C '{line}'")
            self.assertEqual([each.split("\t")[0] for each in out.splitlines()], offered, line)

    @needs("zsh")
    def test_zsh(self):
        self.script("zsh")
        self.ran("zsh", "-n", "script")
        stub = ("compdef() {}; source ./script; compadd() { print -l -- $found }; compset() { print -- $* }; "
                "_files() { print files $* }; words=(%s); CURRENT=$#words; _rota")
        for words, offered in {"rota si": "simulate", "rota simulate --policy fcfs,easy+d": "fcfs,easy+depth=",
                               "rota simulate lo": "files", "rota simulate --jobs=lo": "-P *=\nfiles",
                               "rota manual --all p": "files -/", "rota simulate --ties=s": "--ties=submit-first"}.items():
            self.assertEqual(self.ran("zsh", "-fc", stub % words), offered + "\n", words)


class Manual(Shell):
    def pages(self):
        self.rota("manual", "--all", "man1")
        return sorted(p.name for p in (self.folder / "man1").iterdir())

    def test_there_is_a_page_for_every_command_with_every_section(self):
        pages = self.pages()
        for command in ("rota", "rota-simulate", "rota-generate-lublin", "rota-reproduce", "rota-reproduce-all"):
            self.assertIn(command + ".1", pages)
        for name in pages:
            text = (self.folder / "man1" / name).read_text()
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "FILES", "SEE ALSO"):
                self.assertIn(f".SH {section}\n", text, name)
        self.assertEqual(self.rota("manual", "generate", "lublin").stdout,
                         (self.folder / "man1/rota-generate-lublin.1").read_text())
        self.assertIn(".SH EXAMPLES\n", self.rota("manual").stdout)
        self.assertIn("easy\\-sjbf", self.rota("manual", "policies").stdout)

    def test_a_page_for_what_is_no_command(self):
        self.refused("manual", "simulat", said="did you mean simulate?")
        self.refused("manual", "generate", "lubin", said="did you mean lublin?")

    @needs("groff")
    def test_groff_has_nothing_to_remark(self):
        for name in self.pages():
            text = self.ran("groff", "-man", "-Tutf8", "-ww", f"man1/{name}")
            self.assertIn("rota", text)

    @needs("mandoc")
    def test_mandoc_has_nothing_to_remark_but_the_date(self):
        for name in self.pages():
            done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", f"man1/{name}"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual([l for l in done.stdout.splitlines() if "missing date" not in l], [])


if __name__ == "__main__":
    main()
