# SPDX-License-Identifier: BSD-3-Clause
"""A running MPI job: start it, wait for what happens in it, ask pdb, end it."""

import os
import signal
import subprocess
import threading
import time
import uuid

from . import process, segment
from .patience import Patience
from .place import MARK, Here

DEADLINE_S = 180
ANSWER_S = 180
# pdb calls it a hang when not one stay in a thousand is as long: after ten short ones that is two
# seconds, and five in a place that the rank has never left, if three others have.
QUIET_S = 2.1
QUIET_NEW_S = 5.1
# Before its first communication a rank starts up, which pdb says nothing about for a minute.
QUIET_START_S = 61
# Of ranks that have come to rest, so that what goes on beside them goes first. Not so nice that those
# that poll would seem to have stopped doing so.
_NICE = 5
_RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")


class JobError(Exception):
    """The job, not pdb, did what the test did not expect."""


class Job:
    """Started by a launcher command. Use as a context: at its end no process and no segment of the
    job is left."""

    def __init__(self, command, size, env=None, cwd=None, segment_dir="/dev/shm",
                 stdin=subprocess.DEVNULL, place=Here()):
        self.size = size
        self.segment_dir = segment_dir
        self.place = place
        self._mark = uuid.uuid4().hex
        self._pid = None  # of the launcher, once found
        self.lines = []
        self._changed = threading.Condition()
        self._at_end = False
        self.pids = {}  # rank -> pid, once found
        self._starts = {}  # pid -> start time, of those
        self.launcher = subprocess.Popen(place.command(command), stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, stdin=stdin,
                                         env={**(env or os.environ), MARK: self._mark}, cwd=cwd,
                                         text=True, errors="replace", start_new_session=True)
        threading.Thread(target=self._collect, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    @property
    def pid(self):
        """The launcher's, as pdb knows it."""
        if self._pid is None:
            self.wait_for(self._find_launcher, "the launcher did not start")
        return self._pid

    def _find_launcher(self):
        self._pid = self.place.launcher_pid(self.launcher.pid)
        return self._pid is not None

    def _list_processes(self):
        return self.place.list_processes(self.launcher.pid, self._mark)

    def _collect(self):
        for line in self.launcher.stdout:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._at_end = True
            self._changed.notify_all()

    def say(self, text):
        """To the launcher's standard input, which must be a pipe."""
        self.launcher.stdin.write(text)
        self.launcher.stdin.flush()

    def output(self):
        with self._changed:
            return list(self.lines)

    def wait_for_line(self, text, timeout=DEADLINE_S):
        """Until a line with this text has been printed. Returns it."""
        patience = Patience(timeout)
        with self._changed:
            while True:
                for line in self.lines:
                    if text in line:
                        return line
                if self._at_end:
                    raise JobError("the job ended early: " + " | ".join(self.lines[-5:]))
                if patience.is_over():
                    raise JobError(f"no line '{text}' in {timeout} s")
                self._changed.wait(0.5)

    def wait_for_end(self, timeout=DEADLINE_S):
        """Until the job has ended by itself. Returns its exit status."""
        patience = Patience(timeout)
        while self.launcher.poll() is None:
            if patience.is_over():
                raise JobError(f"the job did not end in {timeout} s")
            time.sleep(0.02)
        with self._changed:
            self._changed.wait_for(lambda: self._at_end, 10)
        return self.launcher.returncode

    def find_pids(self, timeout=DEADLINE_S):
        """Until all ranks are there. The ranks' processes by rank, from their environment: of
        nested processes with one rank (a shell, then the program) the outermost that has an MPI
        library mapped."""
        if len(self.pids) < self.size:
            self.wait_for(lambda: len(self._look_for_ranks()) == self.size, "not all ranks came",
                          timeout)
        return self.pids

    def _look_for_ranks(self):
        pids = {}
        for pid in self._list_processes():
            env = process.read_environment(pid)
            rank = next((env[name] for name in _RANK_VARIABLES if name in env), None)
            status = process.read_status(pid)
            if (rank is not None and int(rank) not in pids and _has_mpi(pid) and status and
                    self.place.remember(pid, status.start)):
                pids[int(rank)] = pid
                self._starts[pid] = status.start
        self.pids = {**self.pids, **pids}  # with those that have ended before the last one came
        return pids

    def wait_for(self, condition, what, timeout=DEADLINE_S):
        """Until the condition holds; `what` says what is wrong if it does not come to."""
        patience = Patience(timeout)
        while not condition():
            if self.launcher.poll() is not None:
                raise JobError("the job ended early: " + " | ".join(self.output()[-5:]))
            if patience.is_over():
                raise JobError(f"{what} in {timeout} s\n{self.describe()}")
            time.sleep(0.02)

    def describe(self):
        """Where its processes are, for a person who looks for the reason."""
        lines = ["| " + line for line in self.output()[-5:]]
        segments = self.segments()
        lines.append(f"launcher: {self.launcher.pid} {process.show_stack(self.launcher.pid)}")
        for rank, pid in sorted(self.pids.items()):
            status, one = process.read_status(pid), segments.get(rank)
            recorded = f"life {one.life}, {one.events} events" if one else "no segment"
            lines.append(f"rank {rank}: {pid} {status.state if status else 'gone'}, {recorded}, "
                         f"{process.show_stack(pid)}")
        return "\n".join("      " + line for line in lines)

    def segments(self):
        """By rank, of the ranks found."""
        return {one.rank: one for one in self.place.find_segments(self._starts,
                                                                 self.segment_dir)}

    def wait_until_recorded(self, events=1, timeout=DEADLINE_S):
        """Until each rank has a segment and has made so many transitions."""
        self.find_pids(timeout)

        def is_there():
            segments = self.segments()
            return len(segments) == self.size and all(
                one.life >= segment.LIFE_RUNNING and one.events >= events
                for one in segments.values())

        self.wait_for(is_there, "not all ranks were recorded", timeout)

    def wait_until_quiet(self, seconds=QUIET_S, ranks=None, timeout=DEADLINE_S):
        """Until none of these ranks (None: of all) has made a transition for so long, though each
        has had the processor (or sleeps, or is stopped)."""
        self.find_pids(timeout)
        ranks = set(range(self.size)) if ranks is None else set(ranks)

        def look():
            return {rank: one.events for rank, one in self.segments().items() if rank in ranks}

        before, since, turns = look(), time.monotonic(), self._turns()

        def is_quiet():
            nonlocal before, since, turns
            now = look()
            if now != before or len(now) < len(ranks):
                before, since, turns = now, time.monotonic(), self._turns()
                return False
            return time.monotonic() - since > seconds and self._have_run(turns)

        try:
            self.wait_for(is_quiet, "the ranks did not come to rest", timeout)
        except JobError as error:
            raise JobError(f"{error}: {now_and_then(before, look(), turns, self._turns())}") from None
        for rank in ranks:
            process.lower_priority(self.pids[rank], _NICE)

    def _turns(self):
        """How often each process was switched out."""
        return {pid: process.count_switches(pid) for pid in self.pids.values()}

    def _have_run(self, turns):
        for pid, count in turns.items():
            status = process.read_status(pid)
            if status and status.state == "R" and process.count_switches(pid) < count + 2:
                return False
        return True

    def wait_until_moving(self, timeout=DEADLINE_S):
        """Until each rank has made more transitions than it had at the call."""
        before = {rank: one.events for rank, one in self.segments().items()}

        def has_moved():
            now = self.segments()
            return len(now) == self.size and all(
                one.events > before.get(rank, 0) for rank, one in now.items())

        self.wait_for(has_moved, "not all ranks moved on", timeout)

    def check_unharmed(self, stopped=(), gone=()):
        """A list of what is wrong with the job's processes: ranks that are gone, stopped or traced,
        those in `stopped` and `gone` apart. Empty: all is well."""
        wrong = []
        if self.launcher.poll() is not None:
            wrong.append("the launcher has ended")
        for rank, pid in self.pids.items():
            if rank in gone:
                continue
            if not process.is_alive(pid):
                wrong.append(f"rank {rank} is gone")
            elif rank not in stopped and process.is_stopped_or_traced(pid):
                wrong.append(f"rank {rank} is stopped or traced")
        return wrong

    def end(self):
        """End the ranks first, since a launcher takes its time to give up on a rank that loops."""
        family = self._list_processes() if self.launcher.poll() is None else []
        owned = {pid: process.read_status(pid) for pid in {*family, *self.pids.values()}}
        for pid in self.pids.values():
            _kill(owned, pid)
        try:
            self.launcher.wait(5)
        except subprocess.TimeoutExpired:
            for pid in family:
                _kill(owned, pid)
            self.launcher.kill()
            self.launcher.wait()
        starts = {pid: status.start for pid, status in owned.items() if status}
        for one in self.place.find_segments({**starts, **self._starts}, self.segment_dir):
            try:
                os.unlink(one.path)
            except FileNotFoundError:
                pass


def _kill(owned, pid):
    """Only while the pid still belongs to the process that was seen to be ours."""
    then, now = owned.get(pid), process.read_status(pid)
    if then and now and then.start == now.start:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _has_mpi(pid):
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            return "libmpi" in file.read()
    except (FileNotFoundError, PermissionError, ProcessLookupError):
        return False


def now_and_then(before, now, turns, turns_now):
    """By rank, for a person who looks for the reason."""
    return (f"events {before}, then {now}; switched out "
            f"{[turns_now[pid] - turns.get(pid, 0) for pid in turns_now]} times meanwhile")


class Answer:
    """What pdb printed, and its exit status."""

    def __init__(self, status, output, errors, seconds):
        self.status, self.output, self.errors, self.seconds = status, output, errors, seconds

    @property
    def first_line(self):
        return self.output.split("\n", 1)[0]

    def show(self):
        text = (self.output + self.errors).rstrip()
        return f"status {self.status}\n" + "\n".join("      | " + line for line in text.split("\n"))


def ask(pdb, arguments, timeout=ANSWER_S, env=None, place=Here()):
    """Run pdb without a terminal. A pdb that does not end is a failure of pdb, so it is killed and
    its answer has status None."""
    began = time.monotonic()
    with subprocess.Popen(place.command([pdb, *arguments]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace",
                          env=env) as running:
        patience, status = Patience(timeout), None
        while not patience.is_over():
            try:
                output, errors = running.communicate(timeout=0.5)
                status = running.returncode
                break
            except subprocess.TimeoutExpired:
                pass
        else:
            running.kill()
            output, errors = running.communicate()
            errors += f"\n(killed after {timeout} s)"
    # A sanitized pdb that found something ends with a status that could be an answer's.
    if "Sanitizer" in errors or "runtime error:" in errors:
        status = None
    return Answer(status, output, errors, time.monotonic() - began)


def ask_job(pdb, job, *commands, timeout=ANSWER_S, env=None):
    """`pdb --pid LAUNCHER --batch -ex COMMAND ...`, where the launcher is"""
    arguments = ["--pid", str(job.pid), "--batch"]
    for command in commands:
        arguments += ["-ex", command]
    return ask(pdb, arguments, timeout, env, job.place)
