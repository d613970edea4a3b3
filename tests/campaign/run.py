#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The fault campaign: real programs from Debian's packages, each run with one fault at a random place
and moment in a random rank (or with none), and what pdb says of it, with the recorder and by stacks
alone. A line of JSON is added to a file for each run; runs that are in it are not made again, so a
campaign can be ended and gone on with at any time. Run N of a seed, a program, an MPI and a fault is
always the same."""

import argparse
import fcntl
import json
import os
import platform
import random
import shutil
import signal
import sys
import tempfile
import time

from campaign import faults, verdict, watching
from campaign.programs import PROGRAMS
from jobs.answers import NOT_SURE
from jobs.job import QUIET_NEW_S, JobError, ask_job
from jobs.mpi import find_mpis, find_pdb

QUIET_TIMEOUT_S = 90
# Most branches can be turned without harm, and then a job that computes for long is no hang.
BRANCH_TIMEOUT_S, BRANCH_QUIET_S = 40, 5
MOMENT_S = (1, 6)
WATCHED_MOMENT_S = (5, 25)  # with pdb watch, which learns how the job is
WATCH_S = 330  # for a hang to be told: what there is nothing to compare with takes 300 s
HEALTHY_LOOKS = 5
# Faults that often do no harm: then a job that computed for long goes on after all.
OFTEN_HARMLESS = ("branch", "lost", "collective")
AGAIN_S = 10
HARMLESS_S = 40  # after which one that still moves has done none
MAX_REASON = 1000  # characters
SURE_LOOKS = 3  # on a loaded machine a place may have taken long before, too


class Case:
    """One run. All that is random in it comes from its key."""

    def __init__(self, seed, number, program, mpi, fault, sizes, watch):
        self.seed, self.number, self.program, self.mpi, self.fault = seed, number, program, mpi, fault
        self.watch = watch
        self.generator = random.Random(" ".join(map(str, self.key)))
        self.size = self.generator.choice([size for size in sizes if program.takes(size)])
        number = 2 if fault == "deadlock" else 1
        self.ranks = sorted(self.generator.sample(range(self.size), number))
        self.moment_s = self.generator.uniform(*(WATCHED_MOMENT_S if watch else MOMENT_S))

    @property
    def key(self):
        return self.seed, self.number, self.program.name, self.mpi.name, self.fault, self.watch

    def title(self):
        return (f"run {self.number} of seed {self.seed}: {self.program.name}, {self.size} ranks, "
                f"{self.mpi.name}, {self.fault}" + (f", watched by {self.watch}" if self.watch else ""))

    def repeat(self, sizes):
        """The command that makes it again."""
        return (f"PYTHONPATH=tests python3 tests/campaign/run.py --seed {self.seed} --runs {self.number} "
                f"--program '{self.program.name}' --fault {self.fault} --mpi {self.mpi.name} "
                f"--sizes {','.join(map(str, sizes))}" +
                (f" --watch {self.watch}" if self.watch else ""))


class Looks:
    """Asks pdb about a job, and keeps what it says."""

    def __init__(self, pdb, job, case):
        self.pdb, self.job, self.case = pdb, job, case
        self.lines = []

    def ask(self, by, until_sure=True):
        for number in range(SURE_LOOKS if until_sure else 1):
            if number:
                self.job.wait_until_quiet(QUIET_NEW_S)
            answer = ask_job(self.pdb, self.job, "lp")
            # Of a hang that is a second old something may have taken as long before.
            if NOT_SURE not in answer.output and verdict.parse(answer.output)["ranks"]:
                break
        self.lines.append({"by": by, "status": answer.status, "seconds": round(answer.seconds, 3),
                           "looks": number + 1, "text": answer.output.rstrip(),
                           "errors": answer.errors.strip()})

    def ask_by_stacks(self, until_sure=True):
        """With the segments out of sight, as if the job had been started without the recorder. Ranks
        go on writing to them."""
        hidden = self.job.segment_dir + ".hidden"
        os.rename(self.job.segment_dir, hidden)
        try:
            self.ask("stacks", until_sure=False)
        finally:
            os.rename(hidden, self.job.segment_dir)


def snapshot_path(args, case, *more):
    """Of a file that is not there yet."""
    name = "-".join(map(str, [*case.key, *more])).replace(" ", "_").replace("--", "-").rstrip("-")
    path = os.path.join(args.keep, name + ".pdb")
    if os.path.exists(path):
        os.remove(path)
    return path


def keep_evidence(args, case, job, line, *more):
    """A snapshot of all that an answer could go by, with the recorder or without (check-verdicts)."""
    path = snapshot_path(args, case, *more)
    ask_job(args.pdb, job, "set evidence all", "refresh", f"save {path}")
    if os.path.exists(path):
        line.setdefault("snapshots", []).append(os.path.basename(path))


def look_at_healthy(args, case, job, looks, line):
    for number in range(HEALTHY_LOOKS):
        looks.ask("recorder", until_sure=False)
        looks.ask_by_stacks()
        keep_evidence(args, case, job, line, number)
        faults.wait_a_while(job, case.generator.uniform(0, 1))
        job.wait_until_moving()


def wait_until_hung(job, fault):
    """"hung", or what the job did instead."""
    try:
        if fault == "slow":
            faults.wait_a_while(job, 5)
            job.wait_until_moving()
            return "slow"
        if fault == "branch":
            job.wait_until_quiet(BRANCH_QUIET_S, timeout=BRANCH_TIMEOUT_S)
        else:
            job.wait_until_quiet(timeout=QUIET_TIMEOUT_S)
        return "hung"
    except JobError as error:
        return "ended" if job.launcher.poll() is not None else "moving: " + str(error).split("\n", 1)[0]


def count_events(job):
    return {rank: one.events for rank, one in job.segments().items()}


def moves_on(job, before):
    """Has anybody made a transition since then, or does in the next seconds?"""
    try:
        job.wait_for(lambda: count_events(job) != before, "nobody moved", AGAIN_S)
    except JobError:
        return False
    return True


def hide_segments(job):
    """pdb goes by stacks, the harness by what is still written."""
    os.rename(job.segment_dir, job.segment_dir + ".hidden")
    job.segment_dir += ".hidden"


def show_segments(job):
    shown = job.segment_dir.removesuffix(".hidden")
    os.rename(job.segment_dir, shown)
    job.segment_dir = shown


def wait_until_told(watcher, job, fault):
    """Of a hang. Returns "told", or what the job does instead, or did."""
    if not watcher.wait_for_hang(HARMLESS_S):
        if fault in OFTEN_HARMLESS and moves_on(job, count_events(job)):
            return "not told, moving"
        watcher.wait_for_hang(WATCH_S - HARMLESS_S)
    return "told" if watcher.hang() else "not told, " + wait_until_hung(job, fault)


def look_at_told(args, case, job, line):
    """The same job is asked about as one that is not watched is."""
    looks = Looks(args.pdb, job, case)
    before = count_events(job)
    looks.ask("recorder")
    looks.ask_by_stacks()
    line["looks"] = looks.lines
    if case.fault in OFTEN_HARMLESS and moves_on(job, before):
        line["outcome"] = verdict.MOVED_ON


def run_watched(args, case, job, line):
    """With pdb watch from before the fault on."""
    if case.watch == "stacks":
        hide_segments(job)
    path = snapshot_path(args, case)
    with watching.Watcher(args.pdb, job, path) as watcher:
        faults.wait_a_while(job, case.moment_s)
        truth = faults.Truth([], "told before the fault was made", since=None)
        if not watcher.hang():
            truth = inject_fault(args, case, job, line)
            if truth is None:
                return
        if case.fault in ("healthy", "slow"):
            line["outcome"] = "told" if watcher.wait_for_hang(args.healthy_s) else "not told"
        else:
            line["outcome"] = wait_until_told(watcher, job, case.fault)
        line["watch"] = watcher.report(case.watch, truth.since)
    if case.watch == "stacks":
        show_segments(job)
    if truth.since is None:
        line.update(truth=truth.ranks, what=truth.what)
    elif case.fault not in ("healthy", "slow") and line["outcome"] in ("told", "not told, hung"):
        look_at_told(args, case, job, line)
    answers = [verdict.judge_line(line, verdict.parse(look["text"])) for look in line.get("looks", [])
               if look["by"] == "recorder"]
    if os.path.exists(path) and {watching.judge(line), *answers} == {"right"}:
        os.remove(path)
    note_harm(case, job, line, truth)


def inject_fault(args, case, job, line):
    """The truth, which is noted, too; None if nothing could be injected."""
    began = time.monotonic()
    try:
        truth = faults.inject(args.inject, job, case.fault, case.ranks, case.generator,
                              case.program.modules)
    except faults.NotInjected as error:
        line["outcome"] = f"not injected: {error}"
        return None
    line.update(truth=truth.ranks, what=truth.what, tried=truth.tried,
                injecting_s=round(time.monotonic() - began, 1))
    return truth


def note_harm(case, job, line, truth):
    stopped = truth.ranks if case.fault == "stop" else ()
    has_ended = job.launcher.poll() is not None
    line["harm"] = [] if has_ended else job.check_unharmed(stopped=stopped)


def run_job(args, case, job, line):
    case.program.wait_until_working(job)
    if case.watch:
        run_watched(args, case, job, line)
        return
    faults.wait_a_while(job, case.moment_s)
    truth = inject_fault(args, case, job, line)
    if truth is None:
        return
    looks = Looks(args.pdb, job, case)
    line["looks"] = looks.lines
    if case.fault == "healthy":
        line["outcome"] = "healthy"
        look_at_healthy(args, case, job, looks, line)
    else:
        began = time.monotonic()
        line["outcome"] = wait_until_hung(job, case.fault)
        line["waited_s"] = round(time.monotonic() - began, 1)
        if line["outcome"] in ("hung", "slow"):
            before = count_events(job)
            looks.ask("recorder", until_sure=line["outcome"] == "hung")
            looks.ask_by_stacks()
            keep_evidence(args, case, job, line)
            if line["outcome"] == "hung" and case.fault in OFTEN_HARMLESS and moves_on(job, before):
                line["outcome"] = verdict.MOVED_ON
    note_harm(case, job, line, truth)


def run_case(args, case):
    """One line of raw data."""
    line = {"seed": case.seed, "run": case.number, "program": case.program.name,
            "mpi": case.mpi.name, "fault": case.fault, "watched": case.watch, "ranks": case.size,
            "machine": f"{platform.machine()}, {os.cpu_count()} cores", "load": os.getloadavg()[0],
            "date": time.strftime("%Y-%m-%d %H:%M"), "version": args.version,
            "repeat": case.repeat(args.sizes)}
    segments = tempfile.mkdtemp(prefix="pdb-campaign.", dir="/dev/shm")
    library = args.libraries(case.mpi) if case.fault in faults.OF_LIBRARY else None
    env = {"PDB_SEGMENT_DIR": segments}
    if case.fault == "deadlock":
        env["PDB_FAULT_PAIR"] = ",".join(map(str, case.ranks))
    try:
        with case.program.start(case.mpi, case.size, True, is_endless=True, fault=library, env=env,
                                segment_dir=segments) as job:
            run_job(args, case, job, line)
    except JobError as error:
        reason = str(error)[:MAX_REASON]  # it may hold the job's output
        if "outcome" in line:
            line["error"] = reason
        else:
            line["outcome"] = f"failed: {reason}"
    finally:
        for folder in (segments, segments + ".hidden"):
            shutil.rmtree(folder, ignore_errors=True)
    return line


def describe(line):
    """For who watches."""
    said = [f"{line['outcome'].split(chr(10))[0][:160]}"]
    if "what" in line:
        said.append(f"truth {line['truth']} {line['what']}")
    for look in line.get("looks", []):
        answer = verdict.parse(look["text"])
        said.append(f"{look['by']}: {verdict.judge_line(line, answer)}, "
                    f"{answer['kind']} {answer['ranks']}{'' if answer['sure'] else ' (not sure)'}, "
                    f"{look['seconds']:.2f} s")
    if line.get("watch"):
        report = line["watch"]
        said.append(f"watch by {report['by']}: {watching.judge(line)}, after {report['delay_s']} s: "
                    f"{report['event']}")
    if line.get("harm"):
        said.append("HARM: " + ", ".join(line["harm"]))
    if line.get("error"):
        said.append("then: " + line["error"].split("\n")[0])
    return "\n      ".join(said)


def is_wrong(line):
    """What somebody should look at."""
    if line.get("harm"):
        return True
    if line.get("watch"):
        judged = watching.judge(line)
        if judged in ("false alarm", "wrong") or judged == "missed" and "hung" in line["outcome"]:
            return True
    return any(look["by"] == "recorder" and
               verdict.judge_line(line, verdict.parse(look["text"])) == "wrong"
               for look in line.get("looks", []))


def read_done(path):
    """The keys of the runs that are in the file."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(text) for text in file if text.endswith("\n")]
    except FileNotFoundError:
        return set()
    return {(one["seed"], one["run"], one["program"], one["mpi"], one["fault"], one["watched"])
            for one in lines}


def add_line(path, line):
    """Whole, also if several campaigns add to the file."""
    with open(path, "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        end = file.seek(0, os.SEEK_END)
        if end and os.pread(file.fileno(), 1, end - 1) != b"\n":
            file.write(b"\n")  # after a line that was cut off when the machine went down
        file.write(json.dumps(line).encode() + b"\n")


def parse_numbers(text):
    numbers = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def list_cases(args):
    """Run N is of the next program, and after all programs of the next fault; under each MPI that
    the program is there for, in turn."""
    programs = [one for one in PROGRAMS if not args.program or one.name in args.program]
    kinds = [fault for fault in faults.FAULTS if not args.fault or fault in args.fault]
    mpis = find_mpis(args.build, args.mpi)
    if not programs:
        sys.exit("no such program; there are " + ", ".join(one.name for one in PROGRAMS))
    if not kinds:
        sys.exit("no such fault; there are " + ", ".join(faults.FAULTS))
    for number in args.runs:
        program, turn = programs[number % len(programs)], number // len(programs)
        if kinds[turn % len(kinds)] == "collective" and not program.has_collectives:
            continue  # its main part has none
        there = [mpi for mpi in mpis if program.is_there(mpi)]
        if not there:
            print(f"skip  run {number}: {program.name} is not installed here", flush=True)
            continue
        yield Case(args.seed, number, program, there[turn // len(kinds) % len(there)],
                   kinds[turn % len(kinds)], args.sizes, args.watch)


def read_arguments():
    def names(text):
        return [one.strip() for one in text.split(",") if one.strip()]

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb, inject and the libraries are")
    parser.add_argument("--data", help="file of the raw data (BUILD/campaign/runs.jsonl)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=parse_numbers, default=parse_numbers("0-179"),
                        help="numbers of runs: 0-499 or 3,17")
    parser.add_argument("--sizes", type=parse_numbers, default=[4, 8], help="of jobs: 4,8,16,32")
    parser.add_argument("--program", type=names, help="only these")
    parser.add_argument("--fault", type=names, help="only these: " + ", ".join(faults.FAULTS))
    parser.add_argument("--mpi", type=names, help="only these: openmpi, mpich")
    parser.add_argument("--watch", choices=("recorder", "stacks"), default="",
                        help="let pdb watch find the hangs, with the recorder or without")
    parser.add_argument("--healthy-s", type=float, default=60,
                        help="how long a healthy job is watched (60)")
    parser.add_argument("--version", default="", help="of pdb, to be noted")
    parser.add_argument("--keep", metavar="FOLDER",
                        help="for a snapshot of each run, which make check-verdicts can replay, or, if it "
                        "was watched, of one that was not answered rightly (BUILD/campaign/snapshots)")
    parser.add_argument("--again", action="store_true", help="also runs that have been made")
    parser.add_argument("--strict", action="store_true",
                        help="status 1 if an answer is wrong or a run could not be made")
    parser.add_argument("--list", action="store_true", help="say which programs are here")
    args = parser.parse_args()
    args.data = args.data or os.path.join(args.build, "campaign", "runs.jsonl")
    args.keep = os.path.abspath(args.keep or os.path.join(args.build, "campaign", "snapshots"))
    args.pdb = find_pdb(args.build)
    args.inject = os.path.abspath(os.path.join(args.build, "inject"))
    args.libraries = lambda mpi: os.path.abspath(
        os.path.join(args.build, f"libfault-{mpi.suffix}.so"))
    return args


def main():
    args = read_arguments()
    # Ended by a signal, the job that runs is ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if args.list:
        for program in PROGRAMS:
            there = [mpi.name for mpi in find_mpis(args.build, args.mpi) if program.is_there(mpi)]
            print(f"{program.name}: {', '.join(there) or 'not installed'}")
        return
    os.makedirs(os.path.dirname(os.path.abspath(args.data)), exist_ok=True)
    os.makedirs(args.keep, exist_ok=True)
    done, counts = set() if args.again else read_done(args.data), {"passed": 0, "failed": 0}
    for case in list_cases(args):
        if case.key in done:
            continue
        line = run_case(args, case)
        add_line(args.data, line)
        has_failed = is_wrong(line) or not (line.get("looks") or line.get("watch"))
        counts["failed" if has_failed else "passed"] += 1
        mark = "WRONG" if is_wrong(line) else "none " if has_failed else "ok   "
        print(f"{mark} {case.title()}\n      {describe(line)}", flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    sys.exit(1 if args.strict and (counts["failed"] or not counts["passed"]) else 0)


if __name__ == "__main__":
    main()
