#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""pdb for long beside a job of many ranks: one pdb watches it, another one is given commands at random.
Every answer must be the right one, which the job itself tells (tests/load/late.c), and neither pdb may
take more and more memory or descriptors, nor the job more and more room for its segments. Figures go
into a file, a line of JSON for each look, and a table of them is printed at the end."""

import argparse
import json
import os
import pty
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from jobs import process
from jobs.answers import NONE, NOT_SURE
from jobs.job import Job
from jobs.mpi import find_mpis, find_pdb

ANSWER_S = 300
LOOK_S = 10
SETTLE_S = 7      # from a rank's announcement until all others wait for it
HISTORY = 3       # steps of the job before it is watched
WARM = 0.25       # of the time, after which nothing may grow any more
MAX_GROWTH = 1.1
SLACK_KIB = 2048
START_S = 600     # of so many ranks
LATE = "Culprit: rank {} of "
# Who has been as late before, or while others move, is no news, but must be named.
SLOW = "ranks wait for rank {}, which is outside MPI. rank {}: here for "
UNFINALIZED = 'called "init", but exited without calling "finalize"'
MOVES = re.compile(r"[1-9]\d* of \d+ ranks move\.")
COMMANDS = ("groups", "waits", "collectives", "messages", "loops", "progress", "graph", "why {rank}",
            "history {rank}", "model {rank}", "requests {rank}", "bt {rank}", "bt all", "tree", "classes",
            "order", "sample 3", "info ranks", "info overhead", "save {file}.pdb",
            "report {file}.html", "refresh", "lp --json")


class Shell:
    """A pdb in a terminal, which is given commands, one after the other."""

    def __init__(self, pdb, job):
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen([pdb, "--nx", "-ex", "set pager off", "--pid", str(job.pid)],
                                        stdin=slave, stdout=slave, stderr=slave,
                                        env={**os.environ, "TERM": "dumb", "COLUMNS": "1000"},
                                        start_new_session=True)
        os.close(slave)
        self._output = open(self._master, "r", encoding="utf-8", errors="replace")
        self._lines = queue.Queue()
        self._asked = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for line in self._output:
                self._lines.put(line)
        except OSError:  # nobody has the terminal open any more
            pass
        self._lines.put(None)

    def ask(self, *commands):
        """The lines of the answer; None: there is none."""
        self._asked += 1
        mark = f"asked {self._asked}"
        os.write(self._master, "".join(one + "\n" for one in (*commands, f"echo {mark}")).encode())
        said = []
        while True:
            try:
                line = self._lines.get(timeout=ANSWER_S)
            except queue.Empty:
                return None
            if line is None:
                return None
            if line.strip() == mark:
                return said
            said.append(line.strip())

    def end(self):
        os.write(self._master, b"quit\n")
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None


class Watcher:
    """pdb watch, whose events are counted."""

    def __init__(self, pdb, job, errors):
        self.events = []
        self.process = subprocess.Popen([pdb, "watch", "--pid", str(job.pid), "--json"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=errors, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.events.append(json.loads(line))

    def names(self):
        return [event["event"] for event in self.events.copy()]


class Late:
    """Which rank is late, as the job says."""

    def __init__(self, job):
        self.job, self._seen = job, 0
        self.rank, self.since, self.step = None, 0, 0
        self.turns = {}  # how often each rank has been late

    def look(self):
        lines = self.job.output()
        for line in lines[self._seen:]:
            match = re.match(r"(late|comes): rank (\d+)", line)
            if match:
                self.rank = int(match.group(2)) if match.group(1) == "late" else None
                self.since = time.monotonic()
                self.step += 1
                if self.rank is not None:
                    self.turns[self.rank] = self.turns.get(self.rank, 0) + 1
        self._seen = len(lines)
        return self.step, self.rank, self.since


def count_descriptors(pid):
    """But for programs and libraries: each is opened when something of it is looked up for the first time,
    once or twice, as is its debug information."""
    folder, links = f"/proc/{pid}/fd", []
    for name in os.listdir(folder):
        try:
            links.append(os.readlink(os.path.join(folder, name)))
        except FileNotFoundError:
            pass
    files = {link for link in links if link.startswith("/") and not link.startswith(("/dev/", "/proc/"))}
    return sum(max(0, links.count(link) - 2) if link in files else links.count(link) for link in set(links))


def figures(pid):
    """KiB of memory and number of descriptors; None: it has ended."""
    resident = process.read_value(pid, "VmRSS").split()
    try:
        return {"kib": int(resident[0]), "fds": count_descriptors(pid)} if resident else None
    except FileNotFoundError:
        return None


def room(folder):
    """KiB of the segments, and how many there are."""
    sizes = []
    for name in os.listdir(folder):
        try:
            sizes.append(os.stat(os.path.join(folder, name)).st_blocks // 2)
        except FileNotFoundError:
            pass
    return {"kib": sum(sizes), "number": len(sizes)}


class Run:
    def __init__(self, args, job, folder, errors):
        self.args, self.job, self.folder = args, job, folder
        self.generator = random.Random(args.seed)
        self.pdb = find_pdb(args.build)
        self.late = Late(job)
        self.shell = Shell(self.pdb, job)
        self.watcher = Watcher(self.pdb, job, errors)
        self.looks, self.wrong = [], []
        self.asked = self.right = self.slow = self.others = 0

    def go(self):
        """Until the job has ended, or pdb has."""
        self.shell.ask("refresh", "lp")
        self.job.wait_for(lambda: "begin" in self.watcher.names(), "pdb watch did not begin", ANSWER_S)
        began = looked = time.monotonic()
        self._note(began)
        while self.job.launcher.poll() is None and self.shell.process.poll() is None:
            self._command() if self.generator.random() < 0.6 else self._judge()
            if time.monotonic() - looked > LOOK_S:
                looked = time.monotonic()
                self._note(began)
            if "hang" in self.watcher.names():
                self.wrong.append(f"a hang was told: {self.watcher.events[-3:]}")
                break
            time.sleep(self.generator.uniform(0, 1))

    def _command(self):
        text = self.generator.choice(COMMANDS).format(
            rank=self.generator.randrange(self.args.ranks), file=os.path.join(self.folder, "out"))
        answer = self.shell.ask(text)
        self.asked += 1
        if answer is None and self.job.launcher.poll() is None:
            self.wrong.append(f"{text}: no answer, status {self.shell.process.poll()}")
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))

    def _judge(self):
        """The job is well at any time, so no answer may be sure of a hang. What was asked and answered while
        one rank was late, and all others waited for it, must name it: as the culprit or, if it has
        been as late before or others move, as the one that all wait for."""
        step, rank, since = self.late.look()
        is_late = rank is not None and time.monotonic() - since > SETTLE_S
        answer = self.shell.ask("refresh", "lp")
        self.asked += 1
        if answer is None or self.late.look()[0] != step:
            return
        said = " ".join(" ".join(answer).split())
        if NOT_SURE not in said and not any(one in said for one in NONE):
            self.wrong.append(f"lp is sure of a hang: {said}")
        elif not is_late:
            self.others += 1
        elif LATE.format(rank) in said:
            self.right += 1
        elif (self.late.turns[rank] > 1 or MOVES.search(said)) and SLOW.format(rank, rank) in said:
            self.slow += 1
        else:
            self.wrong.append(f"rank {rank} is late, lp says: {said}")

    def _note(self, began):
        look = {"s": round(time.monotonic() - began, 1), "shell": figures(self.shell.process.pid),
                "watch": figures(self.watcher.process.pid), "segments": room(self.job.segment_dir),
                "load": os.getloadavg()[0], "asked": self.asked,
                "right": self.right, "slow": self.slow}
        if look["shell"] and look["watch"]:
            self.looks.append(look)
            with open(self.args.data, "a", encoding="utf-8") as file:
                file.write(json.dumps(look) + "\n")

    def end(self):
        status = self.shell.end()
        if status not in (0, 1):
            self.wrong.append(f"the pdb with commands ended with {status}")
        try:
            self.watcher.process.wait(60)
        except subprocess.TimeoutExpired:
            self.wrong.append("pdb watch did not end with the job")
            self.watcher.process.kill()

    def check_growth(self):
        """In the last part of the time nothing may be always more than the most it was in the first one."""
        whole = self.looks[-1]["s"]
        warm = [one for one in self.looks if one["s"] <= WARM * whole]
        late = [one for one in self.looks if one["s"] >= (1 - WARM) * whole]
        print("| | start | warm | least at last | most |\n|---|---:|---:|---:|---:|")
        for name, unit, slack in (("shell", "kib", SLACK_KIB), ("shell", "fds", 0),
                                  ("watch", "kib", SLACK_KIB), ("watch", "fds", 0),
                                  ("segments", "kib", SLACK_KIB), ("segments", "number", 0)):
            values = [one[name][unit] for one in self.looks]
            limit = max(one[name][unit] for one in warm)
            least = min(one[name][unit] for one in late)
            print(f"| {name}, {unit} | {values[0]} | {limit} | {least} | {max(values)} |")
            if unit == "kib":
                limit *= MAX_GROWTH
            if least > limit + slack:
                self.wrong.append(f"{name}: {least} {unit} at last")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--ranks", type=int, default=int(os.environ.get("RANKS") or 256))
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("MINUTES") or 60))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or 1))
    parser.add_argument("--data", help="file of the figures (BUILD/load/figures.jsonl)")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    args.data = args.data or os.path.join(args.build, "load", "figures.jsonl")
    os.makedirs(os.path.dirname(args.data), exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    mpi = find_mpis(args.build, [args.mpi])[0]
    segments, folder = tempfile.mkdtemp(prefix="pdb-test.", dir="/dev/shm"), tempfile.mkdtemp(prefix="pdb-test.")
    program = os.path.join(args.build, "tests", "load", f"late-{mpi.suffix}")
    command = mpi.launcher(args.ranks, mpi.recorder, {"PDB_SEGMENT_DIR": segments})
    try:
        with (open(os.path.join(args.build, "load", "errors"), "w", encoding="utf-8") as errors,
              Job([*command, program, str(args.minutes), str(args.seed)], args.ranks,
                  mpi.environment(), segment_dir=segments) as job):
            job.find_pids(START_S)
            job.wait_for(lambda: sum("comes" in line for line in job.output()) >= HISTORY,
                         "the job did not begin", START_S)
            run = Run(args, job, folder, errors)
            run.go()
            status = job.wait_for_end(120) if not run.wrong else 0
            run.end()
            over = sum(line.startswith("over: ") for line in job.output())
            if over < args.ranks and not run.wrong:
                run.wrong.append(f"only {over} ranks came to their end: {job.output()[-30:]}")
            # mpirun of Open MPI 4 takes some of 256 that end at once for ranks that did not finalize.
            is_known = status == 1 and any(UNFINALIZED in line for line in job.output())
            if status and not is_known:
                run.wrong.append(f"the job ended with {status}: {job.output()[-30:]}")
        left = os.listdir(segments)
        if left and not status and not run.wrong:
            run.wrong.append(f"segments are left: {left[:3]}")
    finally:
        shutil.rmtree(segments)
        shutil.rmtree(folder)
    run.check_growth()
    told = run.watcher.names()
    print(f"{args.ranks} ranks, {run.looks[-1]['s'] / 60:.0f} minutes, {run.late.look()[0] // 2} steps; "
          f"{run.asked} commands; lp named the late rank {run.right} times as behind and {run.slow} times as slow, "
          f"and {run.others} times there was none; pdb watch told " +
          (", ".join(f"{name} {told.count(name)}" for name in sorted(set(told))) or "nothing"))
    for one in run.wrong:
        print(f"WRONG  {one}")
    print(f"{run.right + run.slow + run.others} passed, {len(run.wrong)} failed")
    sys.exit(1 if run.wrong or not run.right else 0)


if __name__ == "__main__":
    main()
