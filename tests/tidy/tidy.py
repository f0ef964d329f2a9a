#!/usr/bin/env python3
"""Holds the repository to the rules of tests/tidy/rules.toml: layers, sizes, names, and what is not to be said.

Usage: tidy.py [ROOT]   Prints one line a finding, then what it measured; fails where there is a finding.
"""
import hashlib
import os
import re
import statistics
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import cpp

RULES = Path(__file__).with_name("rules.toml")
SOURCE_ENDINGS = {".cc", ".h", ".py", ".sh", ".js", ".css", ".cmake"}
SYSTEM = re.compile(r"^(sys|netinet|arpa|linux)/|^(unistd|endian|fcntl|signal|poll|netdb|pthread|dirent|termios|sched|spawn|grp|pwd|malloc|dlfcn|glob)\.h$")


def matches(path, patterns):
    return any(fnmatch(path, pattern) for pattern in patterns)


def concerns(rule, path):
    return matches(path, rule["files"]) and not matches(path, rule.get("except", []))


class Tree:
    """The files of the repository (tracked, or new and not ignored), read once."""

    def __init__(self, root):
        self.root = Path(root)
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"],
            capture_output=True, check=True).stdout.decode()
        self.paths = sorted(path for path in set(listed.split("\0")) if path and (self.root / path).is_file())
        self.bytes = {path: (self.root / path).read_bytes() for path in self.paths}
        self.text = {}
        for path, content in self.bytes.items():
            try:
                if b"\0" not in content:
                    self.text[path] = content.decode()
            except UnicodeDecodeError:
                pass  # not a text
        self.code = {path: self.text[path] for path in self.text if path.endswith((".cc", ".h"))}


class Tidy:
    def __init__(self, root, rules=None):
        self.tree = Tree(root)
        self.rules = rules or tomllib.loads(RULES.read_text())
        self.findings = []

    def find(self, path, line, why):
        self.findings.append(f"{path}:{line}: {why}")

    def run(self):
        for check in (self.rooms, self.includes, self.headers, self.code_words, self.text_words, self.comment_words,
                      self.names, self.sizes, self.functions, self.classes, self.packages, self.shared_files):
            check()
        return self.findings

    # -- layers

    def levels(self):
        return {room: level for level, rooms in enumerate(self.rules["layers"]["order"]) for room in rooms}

    def room(self, path):
        """The room that a path below src/ lies in, or None."""
        return max((room for room in self.levels() if path.startswith(f"src/{room}/")), key=len, default=None)

    def uses(self):
        """What each room's CMakeLists.txt says that it USES."""
        found = {}
        for path, text in self.tree.text.items():
            if not (path.startswith("src/") and path.endswith("CMakeLists.txt")):
                continue
            for match in re.finditer(r"rota_room\(([^)]*)\)", text):
                words = match.group(1).split()
                lists = {"USES": [], "LINKS": [], "PRECOMPILED": []}
                for word in words[1:]:
                    current = lists[word] if word in lists else current.append(word) or current
                found[words[0]] = (path, lists["USES"])
        return found

    def rooms(self):
        levels, uses = self.levels(), self.uses()
        for room, (path, used) in uses.items():
            if room not in levels:
                self.find(path, 1, f"the room '{room}' has no layer in tests/tidy/rules.toml")
                continue
            for other in used:
                if levels.get(other, len(levels)) >= levels[room]:
                    self.find(path, 1, f"the room '{room}' USES '{other}', which is not below it")

    def reach(self, room, uses):
        reached, ahead = set(), [room]
        while ahead:
            room = ahead.pop()
            if room not in reached:
                reached.add(room)
                ahead += uses.get(room, ("", []))[1]
        return reached

    def includes(self):
        uses = self.uses()
        for path, text in self.tree.code.items():
            room = self.room(path)
            if path.startswith("src/") and room is None:
                self.find(path, 1, "this folder is no room that has a layer in tests/tidy/rules.toml")
            reached = self.reach(room, uses) if room else None
            for line, angled, included in cpp.includes(text):
                if angled:
                    self.angled(path, line, included)
                else:
                    self.quoted(path, line, included, room, reached)

    def quoted(self, path, line, included, room, reached):
        other = self.room(f"src/{included}")
        beside = path.startswith("tests/") and any(
            f"{folder}/{included}" in self.tree.bytes for folder in (path.rpartition("/")[0], "tests"))
        if ".." in included.split("/") or (
                other is None and not beside and not matches(included, ["tests/*", "fuzz/*", "bench/*"])):
            self.find(path, line, f'"{included}" is not a path from src/ ("room/file.h")')
        elif other and reached is not None and other not in reached:
            self.find(path, line, f"the room '{room}' includes from '{other}', which its CMakeLists.txt does not USE")
        if room and matches(included, ["tests/*", "fuzz/*", "bench/*"]) and not path.endswith("_test.cc"):
            self.find(path, line, "the product does not include from its tests")

    def angled(self, path, line, included):
        for rule in self.rules["banned_include"]:
            if concerns(rule, path) and matches(included, rule["headers"]) and not path.endswith("_test.cc"):
                self.find(path, line, f"<{included}> is not for this file: {rule['why']}")
        if SYSTEM.match(included) or not re.search(r"[./]", included) or included.startswith("bits/"):
            return
        owners = [rule for rule in self.rules["third_party"] if included.startswith(rule["header"])]
        if not owners:
            self.find(path, line, f"<{included}> has no owner among the third_party rules of tests/tidy/rules.toml")
        elif not any(matches(path, rule["files"]) for rule in owners):
            self.find(path, line, f"<{included}> is for {', '.join(owners[0]['files'])} only")

    # -- words and names

    def headers(self):
        for path, text in self.tree.code.items():
            if not path.endswith(".h"):
                continue
            if not text.startswith("//"):
                self.find(path, 1, "the header does not start with a comment that says what it is")
            if not re.search(r"^#pragma once$", text, re.MULTILINE):
                self.find(path, 1, "the header has no #pragma once")

    def words(self, path, text, rule):
        for match in re.finditer(rule["pattern"], text):
            self.find(path, text.count("\n", 0, match.start()) + 1, f"'{match.group().strip()}': {rule['why']}")

    def code_words(self):
        for path, text in self.tree.code.items():
            code = cpp.blanked(text)
            for rule in self.rules["banned_code"]:
                if concerns(rule, path):
                    self.words(path, code, rule)

    def text_words(self):
        for path, text in self.tree.text.items():
            if path not in ("tests/tidy/rules.toml", "LICENSE"):
                for rule in self.rules["banned_text"]:
                    self.words(path, text, rule)

    def comment_words(self):
        """Words for people in comments, which mostly speak of programs and jobs: so many in a thousand at most."""
        rule, said, words = self.rules["comments"], [], 0
        for path, text in self.tree.code.items():
            for line, comment in cpp.comments(text):
                words += len(comment.split())
                said += [(path, line, match.group()) for match in re.finditer(rule["people"], comment)]
                if match := re.match(rule["beginnings"], comment):
                    self.find(path, line, f"'{match.group().strip()}': {rule['why_beginnings']}")
        self.people = 1000 * len(said) / max(words, 1)
        if len(said) > 20 and self.people > rule["people_in_thousand"]:
            for path, line, word in said:
                self.find(path, line, f"'{word}': {rule['why_people']}")

    def names(self):
        for path in self.tree.paths:
            for rule in self.rules["banned_name"]:
                if re.search(rule["pattern"], path):
                    self.find(path, 1, rule["why"])

    # -- sizes

    def median(self, what, sizes, limit):
        """Medians say something about many files only."""
        if len(sizes) >= 20 and statistics.median(sizes) > limit:
            self.find("src", 1, f"the median {what} has {statistics.median(sizes):g} lines; {limit} at most")

    def sizes(self):
        limits = self.rules["sizes"]
        for path, content in self.tree.bytes.items():
            if len(content) > limits["bytes"]:
                self.find(path, 1, f"{len(content)} bytes; a file here has {limits['bytes']} at most")
        for path, text in self.tree.text.items():
            lines = text.count("\n")
            if (Path(path).suffix in SOURCE_ENDINGS or path == "dev") and lines > limits["file_lines"]:
                self.find(path, 1, f"{lines} lines; a file has {limits['file_lines']} at most: it holds two ideas")
        self.median("file", [text.count("\n") for text in self.tree.code.values()], limits["file_lines_median"])

    def functions(self):
        limits = self.rules["sizes"]
        self.lengths = []
        for path, text in self.tree.code.items():
            for function in cpp.functions(text):
                if function.length:
                    self.lengths.append(function.length)
                if function.length > limits["function_lines"]:
                    self.find(path, function.line, f"{function.name} has {function.length} lines; "
                              f"{limits['function_lines']} at most: name its parts")
                if function.parameters > limits["parameters"]:
                    self.find(path, function.line, f"{function.name} has {function.parameters} parameters; "
                              f"{limits['parameters']} at most: some of them belong together")
        self.median("function", self.lengths, limits["function_lines_median"])

    def homes(self):
        """By room and class: the .cc files that define its functions."""
        found = {}
        for path, text in self.tree.code.items():
            if not path.startswith("src/") or not path.endswith(".cc") or path.endswith("_test.cc"):
                continue
            for function in cpp.functions(text):
                if function.length and (match := re.fullmatch(r"(?:\w+::)*(\w+)::~?\w+", function.name)):
                    found.setdefault((path.rpartition("/")[0], match[1]), set()).add(path)
        return found

    def classes(self):
        """A class has one job. Those that are larger stand in a list, which only shrinks. Records may have any size."""
        rule, homes = self.rules["classes"], self.homes()
        limits, listed = [rule["methods"], rule["fields"], rule["files"]], dict(rule["larger"])
        for path, text in self.tree.code.items():
            if not path.startswith("src/") or re.search(r"_test\.(cc|h)$", path):
                continue
            for one in cpp.classes(text):
                if one.record:
                    continue
                files = () if path.endswith(".cc") else homes.get((path.rpartition("/")[0], one.name), ())
                sizes = [one.methods, one.fields, len(files)]
                known = listed.pop(f"{path}: {one.name}", None)
                if known is None:
                    for size, limit, what in zip(sizes, limits, ("public methods", "fields", ".cc files")):
                        if size > limit:
                            self.find(path, one.line, f"{one.name} has {size} {what}; a class has {limit} at most: {rule['why']}")
                elif any(size > most for size, most in zip(sizes, known)):
                    self.find(path, one.line, f"{one.name} has grown to {sizes}; tests/tidy/rules.toml lets it have {known}: {rule['why']}")
                elif sizes != known:
                    self.find(path, one.line, f"{one.name} has shrunk to {sizes}: write that in place of {known} into "
                              "tests/tidy/rules.toml" + (", or take it out" if all(map(int.__le__, sizes, limits)) else ""))
        for name in listed if "tests/tidy/rules.toml" in self.tree.text else ():
            self.find("tests/tidy/rules.toml", 1, f"there is no class '{name}' any more; take it out of the list")

    # -- what comes from outside

    def packages(self):
        """The tables of docs/dependencies.md are what ./dev installs: well formed, complete for the headers used."""
        path, seen = "docs/dependencies.md", {}
        for number, line in enumerate(self.tree.text.get(path, "").splitlines(), 1):
            cells = [cell.strip() for cell in line.strip("|").split("|")] if re.match(r"\| [a-z]", line) else []
            if not cells or cells[0] == "package":
                continue
            if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", cells[0]) or not all(cells):
                self.find(path, number, f"'{cells[0]}' is not a row of a package's name and its job")
            if cells[0] in seen:
                self.find(path, number, f"{cells[0]} stands on line {seen[cells[0]]} already")
            seen[cells[0]] = number
        for package in sorted({rule["package"] for rule in self.rules["third_party"]} - set(seen)):
            self.find(path, 1, f"{package}, which tests/tidy/rules.toml names, is not listed")

    def shared_files(self):
        """No file that lies in ../shared has been copied here."""
        shared = Path(os.environ.get("ROTA_SHARED", self.tree.root / ".." / "shared"))
        folders = [shared / name for name in ("golden", "traces", "workloads")]
        theirs = {hashlib.sha256(file.read_bytes()).digest(): file.name
                  for folder in folders for file in folder.glob("*") if file.is_file()}
        for path, content in self.tree.bytes.items():
            if name := theirs.get(hashlib.sha256(content).digest()):
                self.find(path, 1, f"this is shared/{name}, which is read where it lies and never committed")


def middle(sizes):
    return f"median {statistics.median(sizes):g}, longest {max(sizes)}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]
    tidy = Tidy(str(root))
    for finding in tidy.run():
        print(finding)
    lines = [text.count("\n") for text in tidy.tree.code.values()] or [0]
    lengths = tidy.lengths or [0]
    print(f"{len(tidy.tree.paths)} files; {len(lines)} of C++ with {sum(lines)} lines, {middle(lines)}; "
          f"{len(lengths)} functions, {middle(lengths)}; {tidy.people:.1f} words for people in 1,000 of comments")
    return 1 if tidy.findings else 0


if __name__ == "__main__":
    sys.exit(main())
