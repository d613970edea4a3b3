# SPDX-License-Identifier: BSD-3-Clause
"""Type lines at a program on a pseudo-terminal and look at every byte that reaches it.

usage: terminal.py TYPED LINES PATTERN COMMAND...: TYPED gets the bytes. LINES is a file: each line is
typed when pdb asks for one; "TAB text" types the text and asks what it could become. PATTERN must be in
what was said. Fails with what came that pdb and readline do not say by themselves.
"""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

PATIENCE_S = 30
# What pdb and readline say to a terminal with harmless names, in a terminal of the type below.
TERM = "xterm"
OURS = re.compile(
    rb"\x1b\[0m|\x1b\[1m|\x1b\[1;31m|\r\x1b\[K"  # colours, and an empty line
    rb"|\x1b\[\?2004[hl]|\x1b\[K|\x1b\[J|\x1b\[C|\x1b\[A|\x1b\[\d+[CDP@]"  # readline's
    rb"|[\r\x07\x08]"
)
HIDDEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
PROMPT = re.compile(rb"\(pdb[^()\n]*\) $|\(y/n\) $")
MORE = re.compile(rb"-- more: [^\n]*--$")


# What is ours, but said by a name: all of them have this word in them.
FAKED = re.compile(rb"(\x1b\[1;31m|\r)faked")


def find_foreign(said):
    """The first thing that a terminal would obey, or that hides: a few bytes from there on. None."""
    faked = FAKED.search(said)
    if faked:
        return said[max(0, faked.start() - 40) : faked.end()]
    rest = OURS.sub(lambda match: b" " * len(match.group()), said)
    try:
        text = rest.decode()
    except UnicodeDecodeError as error:
        return said[max(0, error.start - 40) : error.start + 20]
    for at, char in enumerate(text):
        if (ord(char) < 0x20 and char not in "\n\t") or 0x7F <= ord(char) < 0xA0 or HIDDEN.match(char):
            return text[max(0, at - 40) : at + 20].encode()
    return None


class Terminal:
    """A program at a pseudo-terminal, and what it has said."""

    def __init__(self, command):
        self.said = b""
        self.read_from = 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = TERM
            try:
                os.execvp(command[0], command)
            finally:
                os._exit(127)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))

    def read(self, seconds):
        """False: it has ended."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            more = b""
        self.said += more
        return bool(more)

    def wait_for(self, *patterns):
        """The pattern that what was said since the last key ends with; None: it has ended."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            plain = re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]", b"", self.said[self.read_from :])
            for pattern in patterns:
                if pattern.search(plain):
                    return pattern
            if not self.read(until - time.monotonic()):
                return None
        raise TimeoutError(f"waits too long; it says {self.said[-800:]!r}")

    def type(self, keys):
        self.read_from = len(self.said)
        os.write(self.fd, keys)


def type_lines(terminal, lines):
    for line in lines:
        while (found := terminal.wait_for(PROMPT, MORE)) == MORE:
            terminal.type(b"\n")
        if not found:
            return
        if line.startswith(b"TAB "):
            terminal.type(line[4:] + b"\t\t\x15echo of a \"\" completion\n")
            terminal.wait_for(re.compile(rb"\n\r?of a  completion\r?\n(.*\n)*\(pdb[^()\n]*\) $"))
        else:
            terminal.type(line + b"\n")


def main():
    typed, lines, pattern, *command = sys.argv[1:]
    with open(lines, "rb") as file:
        wanted = file.read().splitlines()
    terminal = Terminal([os.fsencode(word) for word in command])
    try:
        type_lines(terminal, wanted)
        while terminal.read(PATIENCE_S):
            pass
    except TimeoutError as error:
        print(error)
        return 1
    finally:
        with open(typed, "wb") as file:
            file.write(terminal.said)
    os.waitpid(terminal.pid, 0)
    if not re.search(os.fsencode(pattern), terminal.said):
        print(f"nothing like {pattern!r} in {terminal.said[-3000:]!r}")
        return 1
    foreign = find_foreign(terminal.said)
    if foreign:
        print(f"a terminal gets {foreign!r}")
        return 1
    return 0


sys.exit(main())
