#!/usr/bin/env python3
"""Runs the commands that a document shows, and looks up the files that it links to: what a reader would do.

Usage: document.py DOCUMENT [--programs FOLDER]

Every block fenced as ```sh or ```console is run by bash in one scratch copy of the repository, in order, with FOLDER
first on PATH; in a console block only the lines after "$ " are commands. A block fails the test by its exit code,
unless `<!-- exit code: N -->` before it announces another one. A block after `<!-- with a service -->` finds a fresh
`rota serve` of FOLDER at ROTA_SOCKET, the same for all such blocks of a document. A block after `<!-- as a user -->` finds
none and none is named, as a user who is not root, whose folders are the scratch ones: what it starts is a service of that
user's own. Services that blocks leave behind are ended. Not run, and counted: a block after `<!-- not run: reason -->`, and a block that calls ./dev, which is what runs this test. Other fences are not run.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "live"))
from service import contents, end, processes, words_of  # noqa: E402

USER = 100_000 + os.getpid() if os.geteuid() == 0 else os.geteuid()  # one that no other process is
OF_THE_COMPUTER = ("/run/rota/socket", "/etc/rota/rota.toml")  # beside which a user's own service is not started
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\S*)")
MARK = re.compile(r"^\s*<!--\s*(?:not run:\s*(?P<reason>.*?)|exit code:\s*(?P<code>\d+)|(?P<service>with a service)|(?P<user>as a user))\s*-->\s*$")
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
SECONDS = 600


@dataclass
class Block:
    line: int
    commands: str
    reason: str = ""  # why it is not run
    code: int = 0     # the exit code that the reader is told to expect
    service: bool = False  # it speaks to one
    user: bool = False     # and to one of its own


def console_commands(lines):
    """The lines after "$ " prompts, with the "> " lines that go on with them."""
    commands, inside = [], False
    for line in lines:
        if line.startswith("$ "):
            commands.append(line[2:])
            inside = True
        elif inside and commands[-1].endswith("\\"):
            commands.append(line.removeprefix("> "))
        else:
            inside = False
    return commands


def blocks(text):
    """The runnable blocks of a document, in order."""
    found, mark, fence, body, start = [], None, None, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if fence is None and match:
            fence, body, start = match, [], number
        elif fence is not None and line.strip() == "```":
            if fence["language"] in ("sh", "console"):
                found.append(block(start, fence["language"], body, mark))
            fence, mark = None, None
        elif fence is not None:
            body.append(line.removeprefix(fence["indent"]))
        elif line.strip():
            mark = MARK.match(line)
    return found


def block(line, language, body, mark):
    commands = "\n".join(console_commands(body) if language == "console" else body)
    reason = mark["reason"] or "" if mark else ""
    if mark and mark["user"] and any(map(os.path.exists, OF_THE_COMPUTER)):
        reason = "this computer has a service of Rota"
    if not reason and re.search(r"(^|[\s;&|])\./dev\b", commands, re.MULTILINE):
        reason = "it calls ./dev, which runs this test itself"
    return Block(line, commands, reason, int(mark["code"]) if mark and mark["code"] else 0,
                 bool(mark and mark["service"]), bool(mark and mark["user"]))


def copy_repository(folder):
    """The files of the repository as they are now, in a folder where commands may write."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=True).stdout.decode()
    for path in filter(None, listed.split("\0")):
        if (ROOT / path).is_file():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, folder / path)


class Service:
    """A service for the blocks that speak to one, from the first of them on."""

    def __init__(self, folder, programs):
        self.folder, self.rota = folder, programs / "rota"
        self.socket = folder / "service.socket"
        self.environment = os.environ | {"ROTA_SOCKET": str(self.socket), "HOME": str(folder)}
        self.process = None

    def ask(self, *words):
        return subprocess.run([self.rota, *words], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=SECONDS)

    def start(self):
        """What keeps it from running, or ""."""
        if self.process is not None:
            return ""
        if not self.rota.exists():
            return f"needs a service, and there is no {self.rota}"
        log = self.folder / "service.log"
        with log.open("wb") as told:
            self.process = subprocess.Popen(
                [self.rota, "serve", "--state", self.folder / "service", "--socket", self.socket], cwd=self.folder,
                env=self.environment, stdin=subprocess.DEVNULL, stdout=told, stderr=told)
        until = time.monotonic() + SECONDS
        while self.ask("status").returncode != 0:
            if self.process.poll() is not None or time.monotonic() > until:
                return f"needs a service, and none comes up; it said:\n{log.read_text(errors='replace')}"
        return ""

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.ask("cancel", "all")
            self.process.terminate()
            self.process.wait(SECONDS)


def as_a_user(folder, programs):
    """The variables and the options of a process of a user that owns the folder and can reach the programs."""
    own, runtime = folder / ".programs", folder / ".runtime"
    runtime.mkdir(mode=0o700, exist_ok=True)
    options = {}
    if os.geteuid() == 0:
        own.mkdir(exist_ok=True)
        shutil.copy2(programs / "rota", own)
        subprocess.run(["chown", "-R", f"{USER}:{USER}", folder], check=True)
        options = {"user": USER, "group": USER, "extra_groups": []}
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("ROTA_", "XDG_"))}
    return variables | {"PATH": f"{own}:{programs}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(runtime)}, options


def run(block, folder, programs, service):
    """What is wrong with a block, or ""."""
    if block.service and (wrong := service.start()):
        return wrong
    environment, options = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "ROTA_SOCKET": str(service.socket)}, {}
    if block.user:
        environment, options = as_a_user(folder, programs)
    environment |= {"HOME": str(folder), "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.commands], cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, **options)
    except subprocess.TimeoutExpired:
        return f"went on for more than {SECONDS} seconds"
    if done.returncode != block.code:
        output = done.stdout.decode(errors="replace")[-2000:]
        return f"exit code {done.returncode} instead of {block.code}; it printed:\n{output}"
    return ""


def end_what_was_left(folder):
    """Services whose state is in the folder, and their jobs."""
    inside = os.fsencode(folder) + b"/"

    def is_left(pid):
        words = words_of(pid).split(b"\0")
        served = (b"serve" in words or b"supervise" in words) and any(word.startswith(inside) for word in words)
        return served or b"ROTA_RUN=" + inside in contents(f"/proc/{pid}/environ")
    while left := processes(is_left):
        end(left)
        time.sleep(0.01)


def without_blocks(text):
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)


def places(text):
    """What links name the headings of a document by."""
    headings = re.findall(r"^#+ +(.*)$", without_blocks(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading).lower()).strip().replace(" ", "-") for heading in headings}


def lost_links(document, text):
    """Links to files of the repository that are not there, or to headings that they do not have."""
    for match in LINK.finditer(without_blocks(text)):
        if "://" in match["target"] or match["target"].startswith("mailto:"):
            continue
        target, _, heading = match["target"].partition("#")
        at = document.parent / target if target else document
        if not at.exists() or (heading and at.suffix == ".md" and heading not in places(at.read_text())):
            yield match["target"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("document", type=Path)
    arguments.add_argument("--programs", default="/nonexistent", type=Path)
    options = arguments.parse_args()
    text = options.document.read_text()
    counts = {"ran": 0, "failed": 0, "not run": 0}
    with tempfile.TemporaryDirectory() as scratch:
        copy_repository(Path(scratch))
        service = Service(Path(scratch), options.programs.resolve())
        for each in blocks(text):
            where = f"{options.document}:{each.line}"
            if each.reason:
                print(f"{where}: not run: {each.reason}")
                counts["not run"] += 1
                continue
            wrong = run(each, Path(scratch), options.programs.resolve(), service)
            counts["failed" if wrong else "ran"] += 1
            if wrong:
                print(f"{where}: {wrong}")
        service.stop()
        end_what_was_left(Path(scratch))
    for target in lost_links(options.document, text):
        print(f"{options.document}: the link to '{target}' leads nowhere")
        counts["failed"] += 1
    print(f"{counts['ran']} blocks ran, {counts['failed']} failures, {counts['not run']} not run")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
