# SPDX-License-Identifier: BSD-3-Clause
"""What may happen to pdb in the middle of its work. An accident is prepared before pdb starts, and
happens at its moment; what it does is random, but only by the trial's own generator."""

import os
import resource
import signal
import subprocess
import time

from jobs import process
from jobs.place import HOSTS_SCRIPT

KIB = 1024


class Accident:
    """By default it ends pdb."""

    is_deadly = True
    only = None  # "terminal", "files" (work that writes some), "hosts", "daemons"

    def __init__(self, name):
        self.name = name

    def suits(self, work, in_terminal, kind):
        return (self.only is None or self.only == "terminal" and in_terminal or
                self.only == "files" and any("{file}" in one for one in work.commands) and
                not kind.place.names or self.only == "hosts" and bool(kind.place.names))

    def prepare(self, folder, generator):
        """Before pdb starts, whose files are in this folder."""

    def happen(self, running, generator):
        """Returns what was done, in words."""
        raise NotImplementedError

    def clear(self, folder):
        """When pdb has ended, or is to end by itself."""


class Signal(Accident):
    def __init__(self, number, is_deadly=True):
        super().__init__(signal.Signals(number).name)
        self.number, self.is_deadly = number, is_deadly

    def happen(self, running, generator):
        running.signal(self.number)
        return self.name


class Group(Signal):
    """To pdb and all that it has started."""

    def __init__(self, number, is_deadly=True):
        super().__init__(number, is_deadly)
        self.name += " to its group"

    def suits(self, work, in_terminal, kind):
        return not kind.place.names  # where it would not be of pdb's group who asks for it

    def happen(self, running, generator):
        try:
            os.killpg(running.process.pid, self.number)
        except ProcessLookupError:
            pass
        return self.name


class StandStill(Accident):
    """Stopped, by SIGSTOP or as with Ctrl-Z, and some time later killed or not."""

    def __init__(self, then, stop=signal.SIGSTOP):
        super().__init__(f"{stop.name}, then {then.name}")
        self.stop, self.then = stop, then
        self.is_deadly = then == signal.SIGKILL

    def happen(self, running, generator):
        seconds = generator.uniform(0.02, 0.3)
        running.signal(self.stop)
        time.sleep(seconds)
        running.signal(self.then)
        return f"{self.name} after {seconds * 1000:.0f} ms"


class Closed(Accident):
    only = "terminal"

    def __init__(self):
        super().__init__("terminal closed")

    def happen(self, running, generator):
        running.close_output()
        return self.name


class PipeClosed(Accident):
    """What reads pdb's output ends."""

    is_deadly = False

    def __init__(self):
        super().__init__("output closed")

    def suits(self, work, in_terminal, kind):
        return not in_terminal

    def happen(self, running, generator):
        running.close_output()
        return self.name


class Limit(Accident):
    """From now on pdb gets no more of something than it has, or little more."""

    is_deadly = False

    def __init__(self, name, number, now, more):
        super().__init__(name)
        self.number, self.now, self.more = number, now, more

    def happen(self, running, generator):
        pid, more = running.pid(), generator.randrange(self.more)
        if pid is None:
            return "pdb had not begun"
        try:
            value = self.now(pid) + more
            hard = resource.prlimit(pid, self.number)[1]
            resource.prlimit(pid, self.number, (value, hard))
        except (OSError, ValueError) as error:
            return f"no limit: {error}"
        return f"{self.name} {value}"


def _memory_of(pid):
    return int(process.read_value(pid, "VmSize").split()[0]) * KIB


def _descriptors_of(pid):
    return max(map(int, os.listdir(f"/proc/{pid}/fd"))) + 1


class DiskFull(Accident):
    """The file system with pdb's files, temporary ones among them, has so little room from the start."""

    is_deadly = False
    only = "files"

    def __init__(self):
        super().__init__("disk full")
        self.size = 0

    def suits(self, work, in_terminal, kind):
        return os.getuid() == 0 and super().suits(work, in_terminal, kind)

    def prepare(self, folder, generator):
        self.size = generator.randrange(4, 1024)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size}k", "tmpfs", folder], check=True)

    def happen(self, running, generator):
        return f"disk full at {self.size} KiB"

    def clear(self, folder):
        subprocess.run(["umount", "-l", folder], check=True)


class Cut(Accident):
    """The cable of the other host is pulled, and plugged in again some time later."""

    is_deadly = False
    only = "hosts"

    def __init__(self):
        super().__init__("network cut")

    def happen(self, running, generator):
        seconds = generator.uniform(0.1, 3)
        subprocess.run(["sh", HOSTS_SCRIPT, "cut", "b"], check=True)
        try:
            time.sleep(seconds)
        finally:
            subprocess.run(["sh", HOSTS_SCRIPT, "join", "b"], check=True)
        return f"network cut for {seconds:.1f} s"


def list_daemons(pdb):
    """The processes of this pdb's daemons, wherever they run."""
    folder, found = os.path.dirname(os.path.realpath(pdb)), []
    for pid in process.list_all():
        try:
            if os.readlink(f"/proc/{pid}/exe").startswith(os.path.join(folder, "pdbd-")):
                found.append(pid)
        except OSError:
            pass
    return found


class Daemon(Accident):
    """A process of pdb's daemons gets the signal, any of them."""

    is_deadly = False
    only = "hosts"

    def __init__(self, pdb, number):
        super().__init__(f"{signal.Signals(number).name} to a daemon")
        self.pdb, self.number = pdb, number

    def happen(self, running, generator):
        daemons = sorted(pid for pid in list_daemons(self.pdb) if process.is_alive(pid))
        if not daemons:
            return "no daemon was there"
        try:
            os.kill(generator.choice(daemons), self.number)
        except ProcessLookupError:
            pass
        return f"{self.name}, one of {len(daemons)}"


def list_accidents(pdb):
    return (
        *(Signal(number) for number in (
            signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL, signal.SIGSEGV,
            signal.SIGABRT, signal.SIGBUS)),
        *(Signal(number, False) for number in (
            signal.SIGINT, signal.SIGPIPE, signal.SIGUSR1, signal.SIGWINCH, signal.SIGXFSZ)),
        Group(signal.SIGKILL), Group(signal.SIGTERM), Group(signal.SIGINT, False),
        StandStill(signal.SIGKILL), StandStill(signal.SIGCONT),
        StandStill(signal.SIGCONT, signal.SIGTSTP), Closed(), PipeClosed(),
        Limit("memory", resource.RLIMIT_AS, _memory_of, 8 << 20),
        Limit("descriptors", resource.RLIMIT_NOFILE, _descriptors_of, 6),
        Limit("file size", resource.RLIMIT_FSIZE, lambda _pid: 0, 64 * KIB),
        Limit("processor time", resource.RLIMIT_CPU, lambda _pid: 0, 2),
        DiskFull(), Cut(), Daemon(pdb, signal.SIGKILL), Daemon(pdb, signal.SIGTERM),
        Daemon(pdb, signal.SIGSTOP),
    )
