#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each command costs on a large snapshot: pdb is started, loads it, carries out the command and
ends. Beside it a command that looks at nothing, so what starting and loading takes."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from jobs.mpi import find_pdb

COMMANDS = ("show", "lp", "why 100", "groups", "progress", "graph", "waits", "loops", "collectives",
            "messages", "requests 7", "history 7", "model 7", "info job", "lp --json", "groups --json",
            "graph > {folder}/graph.svg", "report {folder}/report.html", "save {folder}/again.pdb")


def run_once(command):
    """Seconds, seconds of processor time, MB at the peak."""
    began = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as running:
        said = running.stderr.read()
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in (0, 1):
        sys.exit(f"{command}: status {running.returncode}: {said}")
    return (time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="where pdb is")
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    pdb = find_pdb(args.build)
    with tempfile.TemporaryDirectory(prefix="pdb-bench.") as folder:
        snapshot = os.path.join(folder, "job.pdb")
        subprocess.run([os.path.join(args.build, "tests/bench/write_job"), str(args.ranks), snapshot],
                       check=True)
        print(f"commands on a snapshot of {args.ranks} ranks, {os.stat(snapshot).st_size / 1e6:.1f} MB, "
              f"median of {args.rounds}:\n{'':<16} {'s':>8} {'s of processor':>15} {'MB':>8}")
        for command in COMMANDS:
            rounds = [run_once([pdb, "-n", "--load", snapshot, "--batch", "-ex",
                                command.format(folder=folder)]) for _ in range(args.rounds)]
            seconds, processor, megabytes = (statistics.median(column) for column in zip(*rounds))
            print(f"{command.replace('{folder}/', ''):<22} {seconds:8.3f} {processor:8.3f} {megabytes:8.1f}",
                  flush=True)


if __name__ == "__main__":
    main()
