# SPDX-License-Identifier: BSD-3-Clause
"""What pdb does when it meets an accident, and pdb doing it."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import threading
import time

from jobs import process
from jobs.patience import Patience


BEGIN_S = 30


class Work:
    """Commands of pdb. {file} is one that may be written. It may be typed in a terminal or not."""

    def __init__(self, name, *commands, ends=True, only=None, needs=None, holds=False):
        self.name, self.commands = name, commands
        self.ends = ends    # by itself
        self.only = only    # "terminal": not without one
        self.needs = needs  # "traced", "recorder": only of such jobs
        self.holds = holds  # a rank, for as long as it likes

    def suits(self, kind):
        return (self.needs != "traced" or kind.is_traced) and (
            self.needs != "recorder" or kind.is_recorded)


WORKS = (
    Work("lp", "lp", "groups", "refresh", "lp"),
    Work("sample", "sample 10 every 20ms", "bt all"),
    Work("tree", "tree -full", "classes", "sample 3", "tree"),
    Work("order", "order", "refresh", "order"),
    Work("waits", "waits", "messages", "why 1", "graph", needs="recorder"),
    Work("watch", "watch", ends=False),
    Work("gdb", "gdb 1", ends=False, only="terminal", holds=True),
    Work("gdb -ex", 'gdb 1 -ex "bt 3"', 'gdb 2 -ex "info threads"', holds=True),
    Work("save", "save {file}.pdb", "refresh", "save {file}-2.pdb"),
    Work("report", "report {file}.html", "tree > {file}.json"),
    Work("trace", "trace 0", "similar", "lattice", "save {file}.pdb", needs="traced"),
)


def find_work(name):
    return next(one for one in WORKS if one.name == name)


class Running:
    """A pdb at work on a job, in a session of its own. Its files are in a folder that is the trial's."""

    def __init__(self, pdb, job, work, folder, in_terminal):
        self.job, self.in_terminal = job, in_terminal
        self._pdb = os.path.realpath(pdb)
        self._output, self._is_closed = bytearray(), threading.Event()
        env = {**os.environ, "HOME": folder, "TMPDIR": folder, "TERM": "xterm", "COLUMNS": "120"}
        commands = [one.replace("{file}", os.path.join(folder, "out")) for one in work.commands]
        arguments = [pdb, "--pid", str(job.pid)]
        if in_terminal:
            arguments += ["-ex", "set pager off"]
            self._master, slave = pty.openpty()
        else:
            self._master, slave = os.pipe()
            arguments += ["--batch"]
        for command in commands:
            arguments += ["-ex", command]
        try:
            self.process = subprocess.Popen(
                job.place.command(arguments), stdin=slave if in_terminal else subprocess.DEVNULL,
                stdout=slave, stderr=slave, start_new_session=True, env=env,
                preexec_fn=lambda: _begin(in_terminal))
        finally:
            os.close(slave)
        if in_terminal and work.ends:
            os.write(self._master, b"quit\n")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        # What enters a host takes its time.
        patience = Patience(BEGIN_S)
        while self.pid() is None and self.process.poll() is None and not patience.is_over():
            time.sleep(0.005)
        self.began = time.monotonic()

    def _read(self):
        """Owns the descriptor: one that another thread reads from cannot be closed."""
        while not self._is_closed.is_set():
            if not select.select([self._master], [], [], 0.02)[0]:
                continue
            try:
                data = os.read(self._master, 65536)
            except OSError:  # a terminal that nobody has open any more
                break
            if not data:
                break
            self._output += data
        os.close(self._master)

    def said(self):
        return self._output.decode(errors="replace")

    def pid(self):
        """pdb's own, which may have another process in front of it; None: it is not there (yet)."""
        for pid in [self.process.pid, *process.list_descendants(self.process.pid)]:
            try:
                if os.readlink(f"/proc/{pid}/exe") == self._pdb:
                    return pid
            except OSError:
                pass
        return None

    def wait(self, seconds):
        """False: it has not ended by then."""
        patience = Patience(seconds)
        while self.process.poll() is None:
            if patience.is_over():
                return False
            self._wake_front()
            time.sleep(0.005)
        return True

    def _wake_front(self):
        """What has entered a host stops when that which it has started there is stopped."""
        status = process.read_status(self.process.pid) if self.job.place.names else None
        if status and status.state == "T":
            self.process.send_signal(signal.SIGCONT)

    def signal(self, number):
        pid = self.pid()
        if pid:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def close_output(self):
        """The terminal is closed, or the other end of the pipe."""
        self._is_closed.set()
        self._reader.join()

    def end(self):
        """Also what it has left. Returns the processes that did not end with it."""
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)
            if not self.wait(10):
                self.process.kill()
                self.process.wait()
        left = [pid for pid in process.session_members(self.process.pid) if not process.ends_soon(pid)]
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.close_output()
        return left


def _begin(in_terminal):
    # The trials may have been started by nohup, or in the background of a script.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    if in_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
