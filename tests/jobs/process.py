# SPDX-License-Identifier: BSD-3-Clause
"""What /proc says of processes."""

import os
import subprocess
import time
from dataclasses import dataclass

from .patience import Patience


@dataclass
class Status:
    pid: int
    parent: int
    state: str  # one letter, as in /proc/PID/stat
    start: int  # field 22: tells apart processes that had the same pid


def read_status(pid):
    """None if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Status(pid, int(fields[1]), fields[0], int(fields[19]))


def read_value(pid, name):
    """A line of /proc/PID/status, "" if it or the process is not there."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return line.partition(":")[2].strip()
    except (FileNotFoundError, ProcessLookupError):
        pass
    return ""


def read_environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            entries = file.read().decode(errors="replace").split("\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return {}
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def list_pids(pid):
    """What it is called in the pid namespaces that it is in, the innermost last."""
    return [int(number) for number in read_value(pid, "NSpid").split()]


def is_alive(pid):
    status = read_status(pid)
    return status is not None and status.state not in "ZX"


def list_tasks(pid):
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except FileNotFoundError:
        return []


def count_switches(pid):
    """How often the threads of a process have been switched out: it grows as long as one of them
    gets to run."""
    total = 0
    for tid in list_tasks(pid):
        try:
            with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8") as file:
                total += sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return total


def list_all():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def list_descendants(pid):
    """Of the process, itself not included."""
    children = {}
    for one in list_all():
        status = read_status(one)
        if status:
            children.setdefault(status.parent, []).append(status.pid)
    found, pending = [], [pid]
    while pending:
        new = children.get(pending.pop(), [])
        found += new
        pending += new
    return found


def is_stopped_or_traced(pid):
    """By a look at each of its threads."""
    for tid in list_tasks(pid):
        try:
            with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[0] in "Tt":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            pass
    return read_value(pid, "TracerPid") not in ("", "0")


def session_members(session):
    """The living processes of the session."""
    members = []
    for pid in list_all():
        try:
            if os.getsid(pid) == session and is_alive(pid):
                members.append(pid)
        except ProcessLookupError:
            pass
    return members


def ends_soon(pid, timeout=10):
    patience = Patience(timeout)
    while is_alive(pid) and not patience.is_over():
        time.sleep(0.02)
    return not is_alive(pid)


def wait_until_released(pids, timeout):
    """Of ranks, by their numbers: those that pdb has stopped are released when the kernel is done with
    the killed tracer, which has no fixed time. Returns what is wrong in the end, in words."""
    patience = Patience(timeout)
    while True:
        held = {rank: pid for rank, pid in pids.items() if is_alive(pid) and is_stopped_or_traced(pid)}
        if not held:
            return []
        if patience.is_over():
            return [f"rank {rank} is stopped or traced ({_describe(pid)})" for rank, pid in held.items()]
        time.sleep(0.005)


def _describe(pid):
    """The process's state and its tracer's."""
    tracer = read_value(pid, "TracerPid")
    return (f"{read_value(pid, 'State')}; traced by {tracer} {read_value(tracer, 'Name')}, "
            f"{read_value(tracer, 'State')}")


def lower_priority(pid, nice):
    """Below ours, if it is not yet, of all threads, and of the group that the kernel may have made of
    the session."""
    for tid in list_tasks(pid):
        try:
            os.setpriority(os.PRIO_PROCESS, tid, max(os.getpriority(os.PRIO_PROCESS, tid),
                                                     min(os.nice(0) + nice, 19)))
        except (ProcessLookupError, PermissionError):
            pass
    try:
        with open(f"/proc/{pid}/autogroup", "w", encoding="utf-8") as file:
            file.write(str(nice))
    except OSError:
        pass


def show_stack(pid, frames=16):
    """Of the main thread, the names of functions from the innermost on, in one line."""
    try:
        text = subprocess.run(["eu-stack", "-1", "-n", str(frames), "-p", str(pid)], timeout=20,
                              capture_output=True, text=True, errors="replace").stdout
    except subprocess.TimeoutExpired:
        return "(no stack: it cannot be stopped)"
    names = [line.split()[2] for line in text.splitlines() if line.startswith("#")
             and len(line.split()) > 2]
    return " < ".join(names) or "(no stack)"
