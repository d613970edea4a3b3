# SPDX-License-Identifier: BSD-3-Clause
"""Where a test's job runs: on this machine, or on the hosts that tests/hosts/hosts.sh makes of
it. Those are looked at from outside (hosts.sh -x), where the processes of all of them can be seen,
under other pids than they have on their hosts."""

import dataclasses
import glob
import os
import subprocess
import sys

from . import process, segment

_TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOSTS_SCRIPT = os.path.join(_TESTS, "hosts", "hosts.sh")
_STATE = "/run/hosts"
_CANNOT = 77
# Which job a process belongs to: on other hosts it is no child of the launcher's.
MARK = "PDB_TEST_JOB"
# The same in the words of Open MPI, which hands on no other variables to other hosts.
_NAMESPACE = "PMIX_NAMESPACE"


class Here:
    """This machine."""

    names = ()

    def command(self, command):
        """To be run where the launcher is to run."""
        return command

    def launcher_pid(self, pid):
        """What pdb is told, of a launcher whose command this process was started with. None: it is
        not there yet."""
        return pid

    def list_processes(self, launcher, _mark):
        """Those of the job, the launcher's own not included."""
        return process.list_descendants(launcher)

    def remember(self, _pid, _start):
        """Of a living process, given by pid and start time, what is needed of it when it has ended.
        False: it has ended already."""
        return True

    def find_segments(self, starts, directory):
        """Of processes, given by pid and start time, which were alive when they were remembered."""
        return segment.find_segments(starts, directory)


class Hosts(Here):
    """Hosts; the launchers and pdb run on the first."""

    def __init__(self):
        self._known = {}  # (pid, start) -> (process 1 of its host, pid on it)

    @property
    def names(self):
        return sorted(os.path.basename(path).removesuffix(".pid")
                      for path in glob.glob(f"{_STATE}/*.pid"))

    def command(self, command):
        return ["sh", HOSTS_SCRIPT, "on", "a", *command]

    def launcher_pid(self, pid):
        """What has entered the host is a child of the one that has not."""
        for child in process.list_descendants(pid):
            numbers = process.list_pids(child)
            if len(numbers) > len(process.list_pids(pid)):
                return numbers[-1]
        return None

    def list_processes(self, launcher, mark):
        environments = {pid: process.read_environment(pid) for pid in process.list_all()}
        namespaces = {env.get(_NAMESPACE) for env in environments.values()
                      if env.get(MARK) == mark} - {None}
        return [pid for pid, env in environments.items() if pid != launcher and
                (env.get(MARK) == mark or env.get(_NAMESPACE) in namespaces)]

    def remember(self, pid, start):
        return self._find_host(pid, start)[0] is not None

    def find_segments(self, starts, directory):
        found = []
        for pid, start in starts.items():
            first, number = self._find_host(pid, start)
            if first is None:
                continue
            segments = segment.find_segments({number: start}, f"/proc/{first}/root{directory}")
            found += [dataclasses.replace(one, pid=pid) for one in segments]
        return found

    def _find_host(self, pid, start):
        """Once known, a process' host is known when it has ended, too."""
        if (pid, start) not in self._known:
            numbers, host = process.list_pids(pid), _pid_namespace(pid)
            for path in glob.glob(f"{_STATE}/*.pid"):
                with open(path, encoding="utf-8") as file:
                    first = int(file.read())
                if host and _pid_namespace(first) == host:
                    self._known[pid, start] = first, numbers[-1]
        return self._known.get((pid, start), (None, None))


def spread(hosts, size):
    """How many of so many ranks are on each host: [("a", 2), ("b", 1)]."""
    each, more = divmod(size, len(hosts))
    numbers = [(host, each + (number < more)) for number, host in enumerate(hosts)]
    return [(host, number) for host, number in numbers if number > 0]


def enter_hosts(number):
    """Run this very program outside of so many new hosts, and end as it ends. Returns when it is
    there already."""
    if os.path.exists(f"{_STATE}/ready"):
        return
    status = subprocess.run(["sh", HOSTS_SCRIPT, "-x", str(number), sys.executable, *sys.argv],
                            check=False).returncode
    if status == _CANNOT:
        print("skip  no hosts can be made here\n0 passed, 0 failed")
        status = 0
    sys.exit(status)


def _pid_namespace(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None
