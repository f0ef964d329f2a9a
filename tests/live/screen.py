"""A program on a terminal of its own, and what its screen shows: as much of a terminal as `rota top` uses."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

PATIENCE = 600  # seconds after which what was waited for counts as never coming
SEQUENCE = re.compile(rb"\x1b\[([?0-9;]*)([A-Za-z])")


def own_terminal():
    """Makes standard input the terminal that signals of its size and of its keys come from."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Screen:
    """Keys go in, lines come out. `alternate` and `cursor` tell how the terminal is left."""

    def __init__(self, command, columns=100, lines=24, environment=None):
        self.columns, self.lines = columns, lines
        self.master, slave = pty.openpty()
        self.bytes = b""
        self.resize(columns, lines)
        self.pictures = 2  # there was no other size
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.alternate, self.cursor = False, True
        zone = {"TZ": os.environ["TZ"]} if "TZ" in os.environ else {}  # so that it and the test tell times alike
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, preexec_fn=own_terminal,
                                        env={"TERM": "xterm", "PATH": os.environ["PATH"], **zone, **(environment or {})})

    def resize(self, columns, lines):
        """What is drawn by then is drawn for the old size, and one picture that comes later may be."""
        while self.read(0):
            pass
        self.columns, self.lines = columns, lines
        self.cells = [[" "] * columns for _ in range(lines)]
        self.row = self.column = 0
        self.pictures, self.ignored = 0, False  # that have begun in this size; whether what comes is of the old one
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def modes(self):
        """How the terminal treats what is typed."""
        return termios.tcgetattr(self.slave)[:4]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def type(self, text):
        os.write(self.master, text.encode())

    def read(self, seconds):
        """What comes within that time, drawn. False: nothing."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        self.bytes += os.read(self.master, 65536)
        self.draw()
        return True

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)

    def wait_for(self, words, gone=False):
        """Until the screen shows these words, or shows them no more."""
        end = time.monotonic() + PATIENCE
        while (words in self.text()) == gone:
            assert time.monotonic() < end, f"waited in vain for {words!r} {'to go' if gone else ''}; the screen:\n{self.text()}"
            self.read(0.5)

    def ended(self):
        """Its exit code, once all it wrote is drawn."""
        code = self.process.wait(PATIENCE)
        while self.read(0):
            pass
        return code

    def draw(self):
        at = 0
        while at < len(self.bytes):
            match = SEQUENCE.match(self.bytes, at)
            if match:
                self.obey(match[1].decode(), match[2].decode())
                at = match.end()
            elif self.bytes[at] == 0x1b:
                break  # its rest comes later
            else:
                size = next(n for bits, n in ((0x80, 1), (0xE0, 2), (0xF0, 3), (0xF8, 4))
                            if self.bytes[at] < bits or n == 4)
                if at + size > len(self.bytes):
                    break
                self.put(self.bytes[at:at + size].decode(errors="replace"))
                at += size
        self.bytes = self.bytes[at:]

    def put(self, letter):
        if self.ignored:
            return
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self.row += 1
        else:
            assert letter >= " ", f"a control character: {letter!r}"
            if self.row >= self.lines or self.column >= self.columns:
                assert self.pictures <= 1, f"{letter!r} beyond the screen's edge"
                self.obey("2", "J")
                self.ignored = True
                return
            self.cells[self.row][self.column] = letter
            self.column += 1

    def obey(self, numbers, letter):
        if letter == "H":
            self.row = self.column = 0
            self.pictures += 1
            self.ignored = False
        elif self.ignored and letter == "J":
            return
        elif letter == "J" and numbers == "2":
            self.cells = [[" "] * self.columns for _ in range(self.lines)]
        elif letter == "J":
            self.cells[self.row][self.column:] = [" "] * (self.columns - self.column)
            for row in range(self.row + 1, self.lines):
                self.cells[row] = [" "] * self.columns
        elif letter in "hl" and numbers == "?1049":
            self.alternate = letter == "h"
        elif letter in "hl" and numbers == "?25":
            self.cursor = letter == "h"
        else:
            assert letter == "m", f"a sequence that this terminal does not know: {numbers}{letter}"
