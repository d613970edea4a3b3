#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random accidents of pdb beside jobs: signals, a terminal that is closed, no more memory, descriptors
or room on the disk, a network that is cut, each at a random moment of a random work. After each every
rank runs, untraced, no process or file of pdb is left, and in the end each job has printed what it
always prints. A line of JSON is added to a file for each trial; trials that are in it are not made
again, so that it can be ended and gone on with at any time. Trial N of a seed is always the same."""

import argparse
import concurrent.futures
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time

from harmless import kinds, trial
from harmless.accidents import list_accidents
from jobs.job import JobError
from jobs.mpi import find_pdb
from jobs.place import HOSTS_SCRIPT, Hosts

JOB_SECONDS = 20
PART = 16  # trials that are made one after the other
NUM_HOSTS = 2
# Of so many trials the last two are on several hosts.
TURN = 9
ON_HOSTS = (7, 8)
_CANNOT = 77


_ending = threading.Event()  # the campaign is to end now


class Sitting:
    """Some trials on jobs of one kind, several on each job, one after the other."""

    def __init__(self, build, pdb, kind, note):
        self.build, self.pdb, self.kind, self.note = build, pdb, kind, note
        self._durations = trial.Durations()

    def run(self, trials):
        """Each result is handed to note() when its job has ended, too."""
        trials = list(trials)
        while trials and not _ending.is_set():
            job, results = self.kind.start(), []
            try:
                while trials and job.launcher.poll() is None and not _ending.is_set():
                    results.append(trial.run(self.build, self.pdb, job, trials.pop(0),
                                             self._durations))
                wrong = [] if _ending.is_set() else self.kind.check_end(job)
            except JobError as error:
                wrong = [f"{error}"[:1000]]
            left = self.kind.end(job)
            if _ending.is_set():
                return  # how the job would have ended is not known
            if left:
                wrong.append(f"the job has left {left}")
            for result in results:
                result["job"] = wrong
                self.note(result)


class Log:
    """The file of the results, and what is said of them."""

    def __init__(self, path):
        self.path = path
        self.failed = self.passed = 0
        self._lock = threading.Lock()

    def read(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                return [json.loads(line) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def add(self, result):
        with self._lock:
            if self.path:
                with open(self.path, "ab") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)
                    file.write(json.dumps(result).encode() + b"\n")
            is_bad = result["wrong"] or result["job"]
            self.failed += bool(is_bad)
            self.passed += not is_bad
            print(f"{'FAILED ' if is_bad else 'ok     '} trial {result['trial']} of seed "
                  f"{result['seed']}: {result['kind']}; {result['work']}; {result['what']} at "
                  f"{result['delay_ms']} ms{'' if result['at_work'] else ' (it had ended)'}; longest stop "
                  f"{result['longest_ms']} ms", flush=True)
            if is_bad:
                print(f"      {'; '.join(result['wrong'] + result['job'])}", flush=True)


def make_trials(args, here):
    """Of the kinds that are here: by kind, those that are wanted and not yet in the file."""
    done = {(one["seed"], one["trial"]) for one in Log(args.data).read()} if not args.trial else set()
    accidents = list_accidents(find_pdb(args.build))
    found = {kind.name: (kind, []) for kind in here}
    for number in [args.trial] if args.trial is not None else range(1, args.trials + 1):
        place = number % TURN
        if (args.seed, number) in done or (place in ON_HOSTS) != args.on_hosts:
            continue
        # Local kinds turn about by themselves, whatever number of them there is here.
        turn = place - ON_HOSTS[0] if args.on_hosts else number // TURN * ON_HOSTS[0] + place
        kind = here[turn % len(here)]
        one = trial.Trial(args.seed, number, kind, accidents)
        if args.accident in one.accident.name:
            found[kind.name][1].append(one)
    return [(kind, trials) for kind, trials in found.values() if trials]


def run_all(args):
    os.makedirs(os.path.join(args.build, "tests", "harmless"), exist_ok=True)
    log = Log(args.data)
    here = kinds.list_kinds(args.build, JOB_SECONDS, args.mpi, NUM_HOSTS if args.on_hosts else 0)
    with concurrent.futures.ThreadPoolExecutor(1 if args.on_hosts else args.workers) as pool:
        began = time.monotonic()
        parts = []
        for kind, trials in make_trials(args, here):
            sitting = Sitting(args.build, find_pdb(args.build), kind, log.add)
            parts += [(sitting, trials[at:at + PART]) for at in range(0, len(trials), PART)]
        # All kinds in turn, so that one that is ended early has had some of each.
        parts.sort(key=lambda part: part[1][0].number)
        sittings = [pool.submit(sitting.run, trials) for sitting, trials in parts]
        try:
            for one in sittings:
                one.result()
        finally:
            _ending.set()
    print(f"({time.monotonic() - began:.0f} s)")
    return log


def tell(results):
    """A table of all that is in the file, and the longest stops."""
    rows = {}
    for one in results:
        row = rows.setdefault(one["accident"], [0, 0, 0])
        row[0] += 1
        row[1] += one["at_work"]
        row[2] += not one["wrong"] and not one["job"]
    print("| accident | trials | met pdb at work | job unharmed |\n|---|---:|---:|---:|")
    for name, row in sorted(rows.items()):
        print(f"| {name} | {row[0]} | {row[1]} | {row[2]} |")
    print(f"| all | {len(results)} | {sum(row[1] for row in rows.values())} | "
          f"{sum(row[2] for row in rows.values())} |")
    for what, pick in (
            ("gdb, in work that was not ended", lambda one: _has_gdb(one) and not one["deadly"]),
            ("gdb, after pdb's end", _has_gdb),
            ("pdb itself was stopped", lambda one: "STP" in one["accident"] or "STOP" in one["accident"]),
            ("else", lambda one: True)):
        chosen = [one for one in results if pick(one)]
        results = [one for one in results if not pick(one)]
        if chosen:
            longest = max(chosen, key=lambda one: one["longest_ms"])
            print(f"{what}: {len(chosen)} trials, {sum(one['stops'] for one in chosen)} stops seen, the "
                  f"longest {longest['longest_ms']} ms, in trial {longest['trial']}")


def _has_gdb(result):
    return result["work"].startswith("gdb")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--mpi", action="append", help="openmpi or mpich (default: all there are)")
    parser.add_argument("--data", help="file of the results (BUILD/harmless/trials.jsonl)")
    parser.add_argument("--trials", type=int, default=int(os.environ.get("TRIALS") or 1000))
    parser.add_argument("--trial", type=int, default=int(os.environ.get("TRIAL") or 0) or None,
                        help="only this one, also if it has been made")
    parser.add_argument("--accident", default=os.environ.get("ACCIDENT") or "", help="only those whose name has this word")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or 1))
    parser.add_argument("--workers", type=int, default=int(os.environ.get("WORKERS") or 2),
                        help="so many jobs at once (2)")
    parser.add_argument("--on-hosts", action="store_true", help="only those on several hosts")
    parser.add_argument("--here", action="store_true", help="not those on several hosts")
    parser.add_argument("--tell", action="store_true", help="only tell what is in the file")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    args.data = os.path.abspath(args.data or os.path.join(args.build, "harmless", "trials.jsonl"))
    os.makedirs(os.path.dirname(args.data), exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if args.tell:
        tell(Log(args.data).read())
        return
    if args.on_hosts and not Hosts().names:
        status = subprocess.run(["sh", HOSTS_SCRIPT, "-x", str(NUM_HOSTS), sys.executable, *sys.argv],
                                check=False).returncode
        sys.exit(0 if status == _CANNOT else status)
    log = run_all(args)
    status = log.failed > 0
    if not args.on_hosts:
        if not args.here:
            status |= subprocess.run([sys.executable, *sys.argv, "--on-hosts"], check=False).returncode
        tell(Log(args.data).read())
    sys.exit(status)


if __name__ == "__main__":
    main()
