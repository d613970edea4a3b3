# SPDX-License-Identifier: BSD-3-Clause
"""One trial: pdb is at work on a job, something happens to it, and then the job must be as if nothing
had been."""

import os
import random
import shutil
import signal
import tempfile
import time

from jobs import process
from jobs.patience import Patience

from .accidents import list_daemons
from .stops import Stops
from .work import WORKS, Running

RELEASE_S = 5     # for a rank to run again
LONGEST_MS = 1000 # that a rank may stand still but for gdb, pdb's own stops of up to 300 included
DEADLY_S = 15     # for pdb to end of what ends it
ANSWER_S = 90     # for all of its work, with little memory or a host cut off
DAEMONS_S = 60    # for the daemons to end: of a host that was cut off, or stopped ones
_WANTED = ("out.pdb", "out-2.pdb", "out.html", "out.json", ".pdb_history")
WATCHED_S = 1     # of work without an end, after an accident that does not end it


class Trial:
    """All that is random in it comes from its seed and number, and from the kind of job."""

    def __init__(self, seed, number, kind, accidents):
        self.seed, self.number, self.kind = seed, number, kind
        self.generator = random.Random(f"{seed} {number}")
        self.work = self.generator.choice([one for one in WORKS if one.suits(kind)])
        self.in_terminal = self.work.only == "terminal" or self.generator.random() < 0.4
        self.accident = self.generator.choice(
            [one for one in accidents if one.suits(self.work, self.in_terminal, kind)])
        self.moment = self.generator.random()  # of the time that the work takes

    def title(self):
        return (f"trial {self.number} of seed {self.seed}: {self.kind.name}; {self.work.name}"
                f"{' in a terminal' if self.in_terminal else ''}; {self.accident.name}")


class Durations:
    """How long pdb takes for its work depends on what else the machine does: it is followed."""

    def __init__(self):
        self._seconds = {}

    def get(self, trial):
        return self._seconds.get(self._key(trial), 1.0 if trial.work.ends else 2.0)

    def learn(self, trial, ended_after, delay):
        """ended_after: seconds; None: it had not ended after this delay."""
        now = self.get(trial)
        if ended_after is not None:
            self._seconds[self._key(trial)] = max(0.05, ended_after)
        elif trial.work.ends and delay > 0.8 * now:
            self._seconds[self._key(trial)] = 1.1 * now

    @staticmethod
    def _key(trial):
        return trial.kind.name, trial.work.name, trial.in_terminal


def run(build, pdb, job, trial, durations):
    """A dictionary of what was seen, with a list of what is wrong. The job goes on."""
    # Of all hosts, if there are several.
    folder = tempfile.mkdtemp(prefix="accident.", dir=os.path.join(build, "tests", "harmless"))
    trial.accident.prepare(folder, trial.generator)
    try:
        return _run(build, pdb, job, trial, durations, folder)
    finally:
        trial.accident.clear(folder)
        shutil.rmtree(folder)


def _run(build, pdb, job, trial, durations, folder):
    stops = None if trial.work.holds else Stops(build, job.pids.values())
    running = Running(pdb, job, trial.work, folder, trial.in_terminal)
    delay = trial.moment * durations.get(trial)
    is_at_work = not running.wait(delay)
    durations.learn(trial, None if is_at_work else time.monotonic() - running.began, delay)
    what = trial.accident.happen(running, trial.generator)
    stops = stops or Stops(build, job.pids.values())
    wrong = _wait_for_end(running, trial)
    status = running.process.poll()
    left = running.end()
    began = time.monotonic()
    if left:
        wrong.append(f"processes {left} live on")
    held = process.wait_until_released(job.pids, RELEASE_S)
    if held:
        for pid in job.pids.values():
            os.kill(pid, signal.SIGCONT)  # for the trials that come
    wrong += held
    released_ms = (time.monotonic() - began) * 1000
    number, at_least_ms, at_most_ms = stops.end()
    if at_least_ms > LONGEST_MS and not trial.work.holds:
        wrong.append(f"a rank stood still for {at_least_ms} ms")
    if trial.kind.place.names:
        wrong += _wait_for_daemons(pdb)
    wrong += _stale_files(job, folder)
    return {"seed": trial.seed, "trial": trial.number, "kind": trial.kind.name,
            "work": trial.work.name, "terminal": trial.in_terminal, "accident": trial.accident.name,
            "deadly": trial.accident.is_deadly, "what": what, "delay_ms": round(delay * 1000, 1), "at_work": is_at_work, "status": status,
            "released_ms": round(released_ms, 1), "stops": number, "longest_ms": at_most_ms,
            "longest_seen_ms": at_least_ms, "wrong": wrong,
            "said": running.said()[-2000:] if wrong or status and status < 0 else ""}


def _wait_for_end(running, trial):
    # What is typed for gdb, as Ctrl-C and Ctrl-\ are, does not end pdb.
    if trial.accident.is_deadly and not (trial.work.holds and "SIGQUIT" in trial.accident.name):
        return [] if running.wait(DEADLY_S) else [f"pdb does not end: {running.said()[-300:]!r}"]
    if trial.work.ends:
        if running.wait(ANSWER_S):
            return []
        return [f"pdb has not ended after {ANSWER_S} s: {running.said()[-300:]!r}"]
    if running.wait(WATCHED_S):
        return []
    if trial.in_terminal:
        running.close_output()
    else:
        running.signal(signal.SIGTERM)
    return [] if running.wait(DEADLY_S) else [f"pdb does not end at last: {running.said()[-300:]!r}"]


def _wait_for_daemons(pdb):
    patience = Patience(DAEMONS_S)
    while True:
        left = [pid for pid in list_daemons(pdb) if process.is_alive(pid)]
        if not left:
            return []
        if patience.is_over():
            return [f"daemons {left} live on"]
        time.sleep(0.05)


def _stale_files(job, folder):
    """Temporary ones of pdb's, and segments of nobody."""
    wrong = [f"a file {name} is left" for name in sorted(os.listdir(folder))
             if name not in _WANTED]
    if job.segment_dir != "/dev/shm":
        wrong += [f"a segment {name} of nobody" for name in os.listdir(job.segment_dir)
                  if int(name.rpartition(".")[2]) not in job.pids.values()]
    return wrong
