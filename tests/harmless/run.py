#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""pdb killed by SIGKILL at random moments does not harm the job that it looks at: after each kill
every rank runs, untraced, and what the program prints in the end is what it prints without pdb. Other
accidents: some of those of tests/harmless/run_trials.py."""

import argparse
import contextlib
import os
import pty
import random
import signal
import subprocess
import time

from harmless import kinds, trial
from harmless.accidents import list_accidents
from jobs import process
from jobs.job import Job, JobError, ask_job
from jobs.mpi import find_mpis, find_pdb
from jobs.patience import Patience
from jobs.report import Report, check
from jobs.source import build_folder, find_program

SIZE = 4
ACCIDENTS = 4
COMMANDS = ["lp", "groups", "bt all", "lp"]


def start(mpi, command):
    """A job that does not end."""
    return Job([*mpi.launcher(SIZE, mpi.recorder), *command], SIZE, mpi.environment())


def measure(pdb, job):
    """The time of a run of pdb that is not killed."""
    answer = ask_job(pdb, job, *COMMANDS)
    check(answer.status in (0, 1), f"pdb alone failed: {answer.show()}")
    return answer.seconds


def kill_once(pdb, job, delay):
    """None if pdb was still at work when the signal came, else the seconds that its work took."""
    arguments = [pdb, "--pid", str(job.pid), "--batch"]
    for command in COMMANDS:
        arguments += ["-ex", command]
    running = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    began = time.monotonic()
    try:
        running.wait(delay)
        return time.monotonic() - began
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
    wrong = process.wait_until_released(job.pids, 5)
    check(not wrong, f"{', '.join(wrong)} after a kill at {delay * 1000:.1f} ms")
    left = [pid for pid in process.session_members(running.pid) if not process.ends_soon(pid)]
    check(not left, f"processes {left} of a pdb killed at {delay * 1000:.1f} ms live on")
    return None


def test_kills(pdb, kind, kills, seed):
    """All on one job."""
    generator = random.Random(seed)
    at_work = 0
    job = kind.start()
    try:
        duration = measure(pdb, job)
        for _ in range(kills):
            too_late = kill_once(pdb, job, generator.uniform(0, duration))
            # How long pdb works depends on what else the machine does: follow it.
            duration = too_late or duration * 1.1
            at_work += too_late is None
        wrong = kind.check_end(job)
        check(not wrong, f"{'; '.join(wrong)} (seed {seed})")
    finally:
        kind.end(job)
    check(at_work >= kills // 2, f"only {at_work} of {kills} kills met pdb at work")
    return f"the last within {duration * 1000:.0f} ms, {at_work} met pdb at work, seed {seed}"


def _wait_for_state(pid, states, timeout=20):
    patience = Patience(timeout)
    while process.read_status(pid).state not in states:
        check(not patience.is_over(), f"state {process.read_status(pid).state}, not {states}")
        time.sleep(0.01)


def test_stopped_by_user(pdb, mpi, command):
    """A rank that its user has stopped is so after gdb; one that he stops, or lets go on, while gdb is
    on it, is as he wants it."""
    look = "gdb 1 -ex 'bt 1'"
    run = "gdb 1 -ex 'stepi 100'"
    with start(mpi, command) as job:
        job.wait_until_recorded()
        rank_pid = job.pids[1]
        for number, line, after in (
                (signal.SIGSTOP, look, "T"),
                (None, "lp", "T"),  # a sample does not wake it either
                (None, run, "T"),
                (None, f"gdb 1 -ex 'shell kill -CONT {rank_pid}' -ex 'shell sleep 1'", "RSD"),
                (None, f"gdb 1 -ex 'shell kill -STOP {rank_pid}' -ex 'shell sleep 1'", "T"),
                (signal.SIGCONT, look, "RSD")):
            if number:
                os.kill(rank_pid, number)
                _wait_for_state(rank_pid, after)
            answer = ask_job(pdb, job, line)
            check(answer.status in (0, 1), answer.show())
            state = process.read_status(rank_pid).state
            check(state in after, f"state {state}, not {after}, after {line}: {answer.show()}")
        job.wait_until_moving()
        check(not job.check_unharmed(), ", ".join(job.check_unharmed()))


def _gdb_of(pid):
    """The gdb that holds the process; None: none does, or it is pdb, for a sample of its own."""
    tracer = int(process.read_value(pid, "TracerPid") or 0)
    return tracer if tracer and process.read_value(tracer, "Name") == "gdb" else None


def test_kill_in_gdb(pdb, mpi, command, prepare, text,
                     number=signal.SIGKILL, is_busy=False):
    """pdb is killed while gdb, which it started, holds a rank and has printed this. is_busy: so busy
    that it takes no notice."""
    with start(mpi, command) as job:
        job.wait_until_recorded()
        rank_pid = job.pids[1]
        master, slave = pty.openpty()
        # A shell in between, as there is in a terminal: what ends with pdb must be pdb's doing.
        script = prepare + '"$@"; read wait'
        shell = subprocess.Popen(["sh", "-c", script, "sh", pdb, "--pid", str(job.pid)],
                                 stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        try:
            os.write(master, b"gdb 1\n")
            tracer = _wait_for_gdb(master, rank_pid, text)
            pdb_pid = _ancestor(tracer, shell.pid)
            if is_busy:
                os.kill(tracer, signal.SIGSTOP)
            os.kill(pdb_pid, number)
            wrong = process.wait_until_released(job.pids, 10)
            check(not wrong, ", ".join(wrong) + " after pdb was killed under gdb")
            job.wait_until_moving()
            check(not job.check_unharmed(), ", ".join(job.check_unharmed()))
        finally:
            for pid in process.session_members(shell.pid):
                with contextlib.suppress(ProcessLookupError):  # they end by themselves, too
                    os.kill(pid, signal.SIGKILL)
            shell.wait()
            os.close(master)


def _wait_for_gdb(master, rank_pid, text, timeout=60):
    """Until gdb has printed this and holds the rank. Returns gdb's pid."""
    os.set_blocking(master, False)
    output, patience = b"", Patience(timeout)
    while not patience.is_over():
        try:
            output += os.read(master, 65536)
        except (BlockingIOError, OSError):
            time.sleep(0.02)
        gdb = _gdb_of(rank_pid)
        if text in output and gdb:
            return gdb
    raise JobError(f"gdb did not come to hold rank 1: {output[-500:]!r}")


def _ancestor(pid, below):
    """The ancestor of pid that is a child of `below`."""
    while True:
        parent = process.read_status(pid).parent
        if parent == below:
            return pid
        check(parent > 1, "gdb is no descendant of pdb")
        pid = parent


def test_accidents(build, pdb, kind, number, seed):
    """This many of different kinds, on one job."""
    accidents, durations = list_accidents(pdb), trial.Durations()
    job = kind.start()
    try:
        results = [trial.run(build, pdb, job, trial.Trial(seed, one, kind, accidents), durations)
                   for one in range(1, number + 1)]
        for one in results:
            check(not one["wrong"], f"{one['work']}, {one['what']}: {'; '.join(one['wrong'])}")
        wrong = kind.check_end(job)
        check(not wrong, "; ".join(wrong))
    finally:
        left = kind.end(job)
    check(not left, f"the job has left {left}")
    return (f"{sum(one['at_work'] for one in results)} of {number} met pdb at work: " +
            ", ".join(one["accident"] for one in results) + f"; seed {seed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--mpi", action="append", help="openmpi or mpich (default: all there are)")
    parser.add_argument("--only", help="pattern or words of the names of tests (or $TEST)")
    parser.add_argument("--kills", type=int, default=int(os.environ.get("KILLS") or 100))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or 1))
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    report = Report(args.only)
    pdb = find_pdb(args.build)
    program = find_program("checksum.c")
    for mpi in find_mpis(args.build, args.mpi):
        command = program.build(mpi, build_folder(args.build, mpi))
        report.add(f"{mpi.name} ranks that their user stops", test_stopped_by_user, pdb, mpi, command)
        report.add(f"{mpi.name} kill when gdb has just stopped a rank", test_kill_in_gdb, pdb, mpi,
                   command, "", b"")
        report.add(f"{mpi.name} kill while gdb holds a rank", test_kill_in_gdb, pdb, mpi, command,
                   "", b"(gdb)")
        report.add(f"{mpi.name} termination while gdb holds a rank", test_kill_in_gdb, pdb, mpi,
                   command, "", b"(gdb)", signal.SIGTERM)
        for name, number in (("kill", signal.SIGKILL), ("termination", signal.SIGTERM)):
            report.add(f"{mpi.name} {name} while gdb is busy", test_kill_in_gdb, pdb, mpi, command, "",
                       b"", number, True)
        report.add(f"{mpi.name} kill while gdb holds a rank, under nohup", test_kill_in_gdb, pdb,
                   mpi, command, "trap '' HUP; ", b"(gdb)")
    for kind in kinds.list_kinds(args.build, 0, args.mpi):
        if kind.program.name == "checksum" and kind.how == "recorder":
            report.add(f"{kind.mpi.name} {args.kills} kills at random moments", test_kills, pdb, kind,
                       args.kills, args.seed)
        if kind.program.name == "checksum" and not kind.is_traced:
            report.add(f"{kind.name}: {ACCIDENTS} accidents", test_accidents, args.build, pdb, kind,
                       ACCIDENTS, args.seed)
    report.finish()


if __name__ == "__main__":
    main()
