#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong around a job: each trouble is made on purpose, and pdb must say what it is, give
the answer that is still possible, and leave the job alone."""

import argparse
import contextlib
import os
import pwd
import random
import re
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import time

from jobs import process
from jobs.answers import check_first_line, check_status
from jobs.job import Job, JobError, ask, ask_job
from jobs.mpi import find_mpis, find_pdb
from jobs.patience import Patience
from jobs.report import Failure, Report, Skip, check
from jobs.source import build_folder, find_program

SIZE, RANK = 4, 2  # of the job that hangs, and where
SNAPSHOT = os.path.join(os.path.dirname(__file__), "../../docs/snapshots/lammps.pdb")
ACCUSATION = f"Culprit: rank {RANK} of "


class Place:
    """Where and with what the tests run."""

    def __init__(self, build, mpi):
        self.pdb = find_pdb(build)
        self.mpi = mpi
        self.folder = build_folder(build, mpi)
        self.commands = {name: find_program(name + ".c").build(mpi, self.folder)
                         for name in ("nested", "checksum")}

    def start(self, name, *arguments, env=None, preload=True, **options):
        recorder = self.mpi.recorder if preload else None
        command = [*self.mpi.launcher(SIZE, recorder, env), *self.commands[name],
                   *(str(one) for one in arguments)]
        return Job(command, SIZE, self.mpi.environment(), **options)

    def start_hung(self, **options):
        job = self.start("nested", RANK, **options)
        try:
            job.wait_for_line(f"fault: rank {RANK}")
            job.wait_until_quiet()
        except JobError:
            job.end()
            raise
        return job


def check_said(answer, *patterns):
    # Lines are broken at the width of the terminal, anywhere.
    said = " ".join((answer.output + answer.errors).split())
    for pattern in patterns:
        check(re.search(pattern, said),
              f"expected /{pattern}/ in {answer.show()}")


def check_unharmed(job):
    wrong = job.check_unharmed()
    check(not wrong, ", ".join(wrong))


# ---- Pids that are no job --------------------------------------------------------------------


def test_no_such_pid(place):
    child = subprocess.Popen(["true"])
    child.wait()
    answer = ask(place.pdb, ["--pid", str(child.pid), "--batch", "-ex", "lp"])
    check_status(answer, 2)
    check_said(answer, rf"pdb: .*{child.pid}", "no such process|no process|does not exist")


def test_not_a_launcher(place):
    with subprocess.Popen(["sleep", "1000"]) as child:
        try:
            answer = ask(place.pdb, ["--pid", str(child.pid), "--batch", "-ex", "lp"])
        finally:
            child.kill()
    check_status(answer, 2)
    check_said(answer, rf"pdb: .*{child.pid}", "mpirun|launcher")


def test_other_user(place):
    if os.getuid() != 0:
        raise Skip("only root can become another user")
    nobody = pwd.getpwnam("nobody")
    folder = tempfile.mkdtemp(prefix="pdb-test.")
    try:
        os.chmod(folder, 0o755)
        pdb = shutil.copy(place.pdb, folder)
        with place.start_hung() as job:
            answer = ask("/usr/bin/setpriv", [f"--reuid={nobody.pw_uid}",
                                              f"--regid={nobody.pw_gid}", "--clear-groups", pdb,
                                              "--pid", str(job.pid), "--batch", "-ex", "lp"])
            check_unharmed(job)
    finally:
        shutil.rmtree(folder)
    check_status(answer, 2)
    check_said(answer, r"pdb: .*root")


# ---- Jobs that end ---------------------------------------------------------------------------


def test_finished_while_attaching(place):
    """Jobs that end at any moment of an attach: an answer or a refusal, never a crash."""
    generator = random.Random(1)
    for _ in range(8):
        with place.start("checksum", -1, generator.randrange(20, 200)) as job:
            job.find_pids()
            while job.launcher.poll() is None:
                answer = ask_job(place.pdb, job, "lp", "bt all")
                check(answer.status in (0, 1, 2), f"pdb ended badly: {answer.show()}")
                if answer.status == 2:
                    check_said(answer, "pdb: .+")
            check(job.wait_for_end() == 0, f"the job was harmed: {job.output()[-3:]}")
        answer = ask_job(place.pdb, job, "lp")
        check_status(answer, 2)
        check_said(answer, rf"pdb: .*{job.pid}")


def test_rank_vanishes(place):
    """A rank dies under a running shell while the others go on waiting for it. The launcher and its
    helpers stand still meanwhile, or they would end the whole job."""
    with place.start_hung() as job:
        family = process.list_descendants(job.pid)
        helpers = [pid for pid in [job.pid, *family] if any(
            process.read_status(rank).parent == pid for rank in job.pids.values())] + [job.pid]
        with subprocess.Popen([place.pdb, "--pid", str(job.pid)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              bufsize=1) as shell:
            shell.stdin.write("lp\n")
            _read_until(shell, ACCUSATION)
            for pid in helpers:
                os.kill(pid, signal.SIGSTOP)
            try:
                os.kill(job.pids[RANK], signal.SIGKILL)
                while process.is_alive(job.pids[RANK]):
                    time.sleep(0.01)
                output, _ = shell.communicate("refresh\nlp\nbt all\ninfo ranks\nquit\n", 60)
                alive = [rank for rank, pid in job.pids.items() if process.is_alive(pid)]
                check(len(alive) == SIZE - 1, f"only ranks {alive} live on: {output}")
            finally:
                for pid in helpers:
                    os.kill(pid, signal.SIGCONT)
    check(shell.returncode in (0, 1), f"pdb ended with {shell.returncode}: {output}")
    check(re.search(rf"rank {RANK}\b.*(gone|vanished|left|ended)", output),
          f"nothing says that rank {RANK} is gone: {output}")
    check(re.search(r"MPI_Allreduce", output), f"the other ranks have no stacks: {output}")


def _read_until(running, text):
    lines = []
    for line in running.stdout:
        lines.append(line)
        if text in line:
            return
    raise JobError(f"pdb ended without '{text}': {''.join(lines)}")


# ---- Others at work on the job ---------------------------------------------------------------


def test_already_traced(place):
    """Another tracer holds the very rank that loops: no stack, but the models answer."""
    with place.start_hung() as job:
        pid = job.pids[RANK]
        with subprocess.Popen(["strace", "-qq", "-e", "trace=none", "-p", str(pid)],
                              stderr=subprocess.DEVNULL) as tracer:
            try:
                while process.read_value(pid, "TracerPid") in ("", "0"):
                    check(tracer.poll() is None, "strace did not attach")
                    time.sleep(0.01)
                answer = ask_job(place.pdb, job, "lp", "bt all")
                refused = ask_job(place.pdb, job, f"gdb {RANK} -ex bt")
            finally:
                tracer.terminate()
        check_unharmed(job)
    check_first_line(answer, ACCUSATION)
    check_said(answer, rf"rank {RANK}\b.*already traced by pid {tracer.pid} \(strace\)",
               rf"next: rank {RANK} is held by pid {tracer.pid} \(strace\)")
    check_said(refused, rf"rank {RANK}: .*already traced by pid {tracer.pid} \(strace\)")


def test_two_at_once(place):
    """Two pdb on one job: each gets its answer, or says who has a rank at the moment."""
    with place.start_hung() as job:
        for _ in range(5):
            arguments = [place.pdb, "--pid", str(job.pid), "--batch", "-ex", "lp", "-ex", "bt all",
                         "-ex", "lp"]
            pair = [subprocess.Popen(arguments, stdin=subprocess.DEVNULL, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    for _ in range(2)]
            for running in pair:
                output = running.communicate(timeout=60)[0]
                check(running.returncode == 1, f"status {running.returncode}: {output}")
                check(output.count(ACCUSATION) == 2, f"expected '{ACCUSATION}' twice: {output}")
        check_unharmed(job)


# ---- Segments that are not what they should be -----------------------------------------------


def replace(path, data, size=0):
    """Put other contents under a segment's name, as a new file: the rank keeps its own. The file is
    extended to `size` by a hole."""
    with open(path + ".new", "wb") as file:
        file.write(data)
        file.truncate(max(size, len(data)))
    os.chmod(path + ".new", 0o600)
    os.replace(path + ".new", path)


def patch(data, at, layout, *values):
    changed = bytearray(data)
    struct.pack_into("=" + layout, changed, at, *values)
    return bytes(changed)


def read_head(path, size=1 << 20):
    """Its first part: enough for all that is in the tables of these small programs."""
    with open(path, "rb") as file:
        return file.read(size)


def noise(data, seed, start, end, count):
    generator = random.Random(seed)
    changed = bytearray(data)
    for _ in range(count):
        changed[generator.randrange(start, min(end, len(changed)))] = generator.randrange(256)
    return bytes(changed)


BROKEN = {
    "empty": (lambda data: b"", "truncated"),
    "truncated in its header": (lambda data: data[:100], "truncated"),
    "truncated in its tables": (lambda data: data[:8192], "truncated"),
    "of another magic": (lambda data: b"PDBSEG\r\r" + data[8:], "not a segment"),
    "of a later version": (lambda data: patch(data, 8, "I", 99), "version"),
    "of the other byte order": (lambda data: patch(data, 16, "I", 0x04030201), "byte order"),
    "with four billion lanes": (lambda data: patch(data, 992, "I", 0xffffffff), "lane"),
    "with tables beyond its end": (lambda data: patch(data, 752, "QIII", 1 << 62, 8, 1 << 30,
                                                      1 << 30), "corrupt"),
    "of an earlier process with this pid": (lambda data: patch(data, 48, "Q", 12345),
                                            "no recorder"),
}


def test_broken_segment(place, make, reason):
    """One rank's segment is bad: it is named as a hole, and the others answer."""
    victim = 1
    with place.start_hung() as job:
        path = job.segments()[victim].path
        size = 0 if "trunc" in reason else os.stat(path).st_size
        replace(path, make(read_head(path)), size)
        answer = ask_job(place.pdb, job, "lp", "info ranks")
        check_unharmed(job)
    check_first_line(answer, ACCUSATION)
    check_status(answer, 1)
    check_said(answer, rf"rank {victim}\b", reason)


def test_hostile_segments(place):
    """Random bytes all over the headers and tables of all ranks: any answer, but no crash."""
    with place.start_hung() as job:
        paths = [one.path for one in job.segments().values()]
        for pid in job.pids.values():
            process.lower_priority(pid, 15)  # nothing of theirs matters here but that they live
        originals = [read_head(path, 24 << 20) for path in paths]
        for seed in range(25):
            for number, (path, data) in enumerate(zip(paths, originals)):
                end = (4096, 1 << 16, len(data))[seed % 3]
                start = 8 if seed % 2 else 752
                replace(path, noise(data, seed * SIZE + number, start, end, 40),
                        os.stat(path).st_size)
            answer = ask_job(place.pdb, job, "lp", "groups", "graph", "loops", "history 0",
                             "model 0", "info ranks")
            check(answer.status in (0, 1, 2), f"seed {seed}: pdb ended badly: {answer.show()}")
        check_unharmed(job)


def test_left_over_segments(place):
    """Segments of an earlier job with the same name and ranks, but dead processes."""
    with place.start_hung() as job:
        dead = subprocess.Popen(["true"])
        dead.wait()
        left = []
        for one in job.segments().values():
            path = f"{one.path.rpartition('.')[0]}.{dead.pid}"
            if not os.path.exists(path):
                replace(path, patch(read_head(one.path), 32, "i", dead.pid),
                        os.stat(one.path).st_size)
                left.append(path)
        try:
            answer = ask_job(place.pdb, job, "lp")
        finally:
            for path in left:
                os.unlink(path)
    check_first_line(answer, ACCUSATION)
    check_status(answer, 1)


KILLED, AT_ONCE, RANKS = 50, 10, 2  # jobs, and ranks of each


def _list_segments(folder):
    return {name for name in os.listdir(folder) if name.startswith("pdb.")}


def _kill_jobs(place, folder, number):
    """Start so many jobs; kill each with its launcher and all, when each rank has its segment."""
    before = _list_segments(folder)
    command = [*place.mpi.launcher(RANKS, place.mpi.recorder, {"PDB_SEGMENT_DIR": folder}),
               *place.commands["nested"], str(RANK % RANKS)]
    jobs = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env=place.mpi.environment())
            for _ in range(number)]
    patience = Patience(60)
    while len(_list_segments(folder) - before) < number * RANKS and not patience.is_over():
        time.sleep(0.02)
    family = [pid for job in jobs for pid in [job.pid, *process.list_descendants(job.pid)]]
    for pid in family:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for job in jobs:
        job.wait()
    check(all(process.ends_soon(pid) for pid in family), "killed processes live on")
    check(len(_list_segments(folder) - before) == number * RANKS, "some segments are missing")


def _age(folder, mode):
    """As if those with this mode had got it eleven minutes ago."""
    for name in _list_segments(folder):
        path, then = os.path.join(folder, name), time.time() - 660
        if stat.S_IMODE(os.stat(path).st_mode) == mode:
            os.utime(path, (then, then))


def _start_and_end(place, folder):
    with place.start("checksum", -1, 1, env={"PDB_SEGMENT_DIR": folder},
                     segment_dir=folder) as job:
        check(job.wait_for_end() == 0, f"the job failed: {job.output()[-5:]}")


def _sweep(place, folder, names, starts):
    """Start jobs until these segments are gone. Returns how many it took."""
    for number in range(1, starts + 1):
        _start_and_end(place, folder)
        if not names & _list_segments(folder):
            return number
    raise Failure(f"{len(names & _list_segments(folder))} segments of {len(names)} are left "
                  f"after {starts} starts")


def test_killed_jobs(place):
    """What jobs leave that were killed along with their launchers is removed by those that come after,
    a few at a time, and at once by a pdb that leaves; not what belongs to jobs that go on."""
    with Mounted("size=1g") as folder:
        env = {"PDB_SEGMENT_DIR": folder}
        for _ in range(KILLED // AT_ONCE):
            _kill_jobs(place, folder, AT_ONCE)
        dead = _list_segments(folder)
        with place.start("nested", RANK, env=env, segment_dir=folder) as job:
            job.wait_for_line(f"fault: rank {RANK}")
            job.find_pids()
            alive = _list_segments(folder) - dead
            _age(folder, 0o600)  # that does not count
            for _ in range(3):  # they mark what they find
                _start_and_end(place, folder)
            check(dead <= _list_segments(folder), "segments were removed too early")
            ask(place.pdb, ["--load", SNAPSHOT, "--batch", "-ex", "help"], env={**os.environ, **env})
            check(dead <= _list_segments(folder), "pdb removed segments too early")
            _age(folder, 0o400)
            _kill_jobs(place, folder, 1)
            young = _list_segments(folder) - dead - alive
            starts = _sweep(place, folder, dead, 15)
            check(starts > 3, f"all were removed within {starts} starts")
            check(young <= _list_segments(folder), "young segments were removed")
            _kill_jobs(place, folder, AT_ONCE)
            for _ in range(2):
                ask(place.pdb, ["--load", SNAPSHOT, "--batch", "-ex", "help"],
                    env={**os.environ, **env})
                _age(folder, 0o400)
            check(_list_segments(folder) == alive,
                  f"pdb left {_list_segments(folder) - alive}, or took {alive - _list_segments(folder)}")
            answer = ask_job(place.pdb, job, "lp")
            check_first_line(answer, ACCUSATION)
            check_unharmed(job)
    return f"{KILLED} jobs, removed within {starts} starts"


# ---- No room for segments --------------------------------------------------------------------


class Mounted:
    """A tmpfs of its own for segments."""

    def __init__(self, options):
        if os.getuid() != 0:
            raise Skip("only root can mount")
        self.path = tempfile.mkdtemp(prefix="pdb-test.")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.path],
                          check=False, capture_output=True).returncode != 0:
            os.rmdir(self.path)
            raise Skip("mount is not allowed here")

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.path], check=True)
        os.rmdir(self.path)


def outputs(job):
    """What the program printed, without what the recorder may have said."""
    return sorted(line for line in job.output() if line.startswith("step "))


def test_no_segment(place, options):
    """No segment can be made: the program runs as if there were no recorder, one line says why, and
    pdb says that models are missing."""
    with place.start("checksum", -1, 200) as job:
        check(job.wait_for_end() == 0, "the program alone failed")
        expected = outputs(job)
    with Mounted(options) as folder:
        env = {"PDB_SEGMENT_DIR": folder}
        with place.start("checksum", -1, 200, env=env, segment_dir=folder) as job:
            check(job.wait_for_end() == 0, f"the program failed: {job.output()[-5:]}")
            check(outputs(job) == expected, "the program's output differs")
            said = [line for line in job.output() if line.startswith("pdb")]
            check(said, "the recorder did not say that it does not record")
            check(len(said) <= SIZE, f"more than one line for each rank: {said}")
        with place.start("nested", RANK, env=env, segment_dir=folder) as job:
            job.wait_for_line(f"fault: rank {RANK}")
            job.find_pids()
            answer = ask_job(place.pdb, job, "lp", "bt all")
            check_unharmed(job)
    check(answer.status in (0, 1), f"pdb ended badly: {answer.show()}")
    check_said(answer, "[Nn]o rank has the recorder|no recorder|recorder in 0|not recorded")


def test_room_runs_out(place):
    """There is room for the segments at first but not for all that comes: recording ends in some
    rank, the program does not, and pdb still answers."""
    for kib in (300, 600, 900, 1200):
        with Mounted(f"size={kib}k") as folder:
            env = {"PDB_SEGMENT_DIR": folder}
            with place.start("checksum", -1, 200, env=env, segment_dir=folder) as job:
                check(job.wait_for_end() == 0,
                      f"{kib} KiB: the program failed: {job.output()[-5:]}")
            with place.start("nested", RANK, env=env, segment_dir=folder) as job:
                job.wait_for_line(f"fault: rank {RANK}")
                job.find_pids()
                answer = ask_job(place.pdb, job, "lp")
                check(answer.status in (0, 1), f"{kib} KiB: pdb ended badly: {answer.show()}")
                check("corrupt" not in answer.output + answer.errors,
                      f"{kib} KiB: pdb takes it for damage: {answer.show()}")
                check_unharmed(job)


# ---- Limits of the user's shell --------------------------------------------------------------


def ask_limited(place, job, limit, *commands):
    """With `ulimit LIMIT` for pdb."""
    arguments = [part for command in commands for part in ("-ex", command)]
    return ask("/bin/bash", ["-c", f'ulimit {limit} && exec "$@"', "bash", place.pdb, "--pid",
                             str(job.pid), "--batch", *arguments])


def test_few_files(place):
    """So few that it cannot look at all ranks: nobody is said to have ended who lives."""
    with place.start_hung() as job:
        said = ""
        for number in (5, 6, 7, 8, 10, 12, 14, 16):
            answer = ask_limited(place, job, f"-n {number}", "lp", "bt all", "info ranks",
                                 f"gdb {RANK} -ex bt")
            check(answer.status in (0, 1, 2), f"-n {number}: pdb ended badly: {answer.show()}")
            said = " ".join((answer.output + answer.errors).split())
            for wrong in ("ended", "no process ", "No recorder"):
                check(wrong not in said, f"-n {number}: '{wrong}': {answer.show()}")
            if number < 14:
                check_said(answer, 'raise "ulimit -n"')
        check_unharmed(job)


def test_launcher_gone(place):
    """The launcher is killed and its helpers stand still, so the ranks live on: that is said."""
    if place.mpi.suffix != "mpich":
        raise Skip("ranks end with their mpirun, which has started them itself")
    with place.start_hung() as job:
        proxy = process.read_status(job.pids[0]).parent
        with subprocess.Popen([place.pdb, "--pid", str(job.pid)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              bufsize=1) as shell:
            shell.stdin.write("lp\n")
            _read_until(shell, ACCUSATION)
            os.kill(proxy, signal.SIGSTOP)
            try:
                job.launcher.kill()
                job.launcher.wait()
                output, _ = shell.communicate("refresh\nquit\n", 60)
                answer = ask(place.pdb, ["--pid", str(job.pids[0]), "--batch", "-ex", "lp"])
            finally:
                os.kill(proxy, signal.SIGKILL)
    check(re.search(rf"launcher has ended, {SIZE} of its ranks live on here: "
                    rf"pdb --pid {job.pids[0]}", output), f"not told: {output}")
    check_first_line(answer, ACCUSATION)


def test_little_stack(place):
    """8 MB are usual; libdw alone takes 150 KB."""
    if "asan" in subprocess.run(["ldd", place.pdb], capture_output=True, text=True,
                                check=True).stdout:
        raise Skip("AddressSanitizer needs more")
    with place.start_hung() as job:
        for size in (128, 64):
            answer = ask_limited(place, job, f"-s {size}", "lp", "bt all", "order", "loops",
                                 "sample 3 every 10ms", "tree", "info job")
            check_status(answer, 1)
            check_first_line(answer, ACCUSATION)
        check_unharmed(job)


# ---- Commands --------------------------------------------------------------------------------


def test_command_file(place):
    """Garbage in a command file: the message names file and line, and --batch stops there."""
    with place.start_hung() as job, tempfile.NamedTemporaryFile("w", suffix=".pdb") as file:
        file.write("# a comment\ninfo job\nfrobnicate 3\nlp\n")
        file.flush()
        answer = ask(place.pdb, ["--pid", str(job.pid), "--batch", "-x", file.name])
        check_unharmed(job)
    check_status(answer, 2)
    check_said(answer, rf"{re.escape(file.name)}:3:.*frobnicate")
    check("Culprit: " not in answer.output, f"it went on: {answer.show()}")


def test_without_recorder(place):
    """A job started without the recorder: stacks alone, and it is said."""
    with place.start("nested", RANK, preload=False) as job:
        job.wait_for_line(f"fault: rank {RANK}")
        job.find_pids()
        answer = ask_job(place.pdb, job, "info job", "lp", "bt all")
        check_unharmed(job)
    check(answer.status in (0, 1), f"pdb ended badly: {answer.show()}")
    check_said(answer, "No rank has the recorder|no recorder|recorder in 0", "relax")
    if place.mpi.name == "mpich":
        check_said(answer, "only this node's are found")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb and its recorders are")
    parser.add_argument("--mpi", action="append", help="openmpi or mpich (default: all there are)")
    parser.add_argument("--only", help="pattern or words of the names of tests (or $TEST)")
    args = parser.parse_args()
    report = Report(args.only)
    tests = [
        ("no such pid", test_no_such_pid),
        ("not a launcher", test_not_a_launcher),
        ("another user's job", test_other_user),
        ("finished while attaching", test_finished_while_attaching),
        ("a rank vanishes", test_rank_vanishes),
        ("a rank is already traced", test_already_traced),
        ("two pdb on one job", test_two_at_once),
        *((f"a segment {name}", test_broken_segment, make, reason)
          for name, (make, reason) in BROKEN.items()),
        ("hostile segments", test_hostile_segments),
        ("left-over segments", test_left_over_segments),
        ("killed jobs", test_killed_jobs),
        ("segment folder full", test_no_segment, "size=4k"),
        ("segment folder read-only", test_no_segment, "ro"),
        ("segment folder fills up", test_room_runs_out),
        ("little stack", test_little_stack),
        ("few files", test_few_files),
        ("its launcher is gone", test_launcher_gone),
        ("garbage in a command file", test_command_file),
        ("no recorder in the job", test_without_recorder),
    ]
    for mpi in find_mpis(args.build, args.mpi):
        place = Place(args.build, mpi)
        for name, test, *arguments in tests:
            report.add(f"{mpi.name} {name}", test, place, *arguments)
    report.finish()


if __name__ == "__main__":
    main()
