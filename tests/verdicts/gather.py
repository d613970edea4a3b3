#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Snapshots of small programs that hang, with all evidence, for the corpus (run.py add): of those in tests/mpi, each
under each MPI, and of sources in another folder whose first lines have `run: mpi=om np=4 wait=10` (o Open MPI, m MPICH;
seconds until it stands still) and `lp-recorder:`, `lp-stacks:` and `never:`, expressions for the answer in one line."""

import argparse
import glob
import json
import os
import re
import subprocess
import tempfile
import time

from jobs.job import QUIET_NEW_S, Job, JobError, ask_job
from jobs.mpi import find_mpis, find_pdb
from jobs.report import Failure
from jobs.run import choose_ranks, start_surely, wait_until_hung
from jobs.source import build_folder, list_programs

_HEAD_LINES = 40


class Gatherer:
    def __init__(self, args):
        self.args = args
        self.pdb = find_pdb(args.build)
        os.makedirs(args.keep, exist_ok=True)

    def keep(self, job, line):
        """One line of raw data, as of a run of the campaign."""
        name = "-".join((line["program"], line["what"], line["mpi"], str(line["ranks"])))
        name = re.sub(r"[^A-Za-z0-9.+-]+", "-", name).replace("tests-mpi", "mpi") + ".pdb"
        path = os.path.join(os.path.abspath(self.args.keep), name)
        if os.path.exists(path):
            os.remove(path)
        answer = ask_job(self.pdb, job, "set evidence all", "refresh", f"save {path}", "lp")
        if not os.path.exists(path):
            raise JobError(answer.show())
        line.update(outcome="hung", version=self.args.version, date=time.strftime("%Y-%m-%d %H:%M"), snapshots=[name])
        with open(self.args.data, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"ok      {name}: {answer.first_line}", flush=True)

    def gather_program(self, mpi, program, size, rank):
        named = program.expected_ranks("lp", size, rank)
        fault = "healthy" if program.is_healthy else "program" if named else "any"
        with start_surely(mpi, build_folder(self.args.build, mpi), program, size,
                          *(() if program.is_healthy else (rank,))) as job:
            if program.is_healthy:
                job.wait_until_recorded(events=20)
            else:
                wait_until_hung(job, program, size, rank)
            self.keep(job, {"program": "tests/mpi", "what": program.label, "mpi": mpi.name, "fault": fault,
                            "ranks": size, "truth": named or []})

    def gather_programs(self, mpi):
        for program in list_programs():
            if not program.runs_with(mpi) or program.expected("kind") == "ended":
                continue
            for size, rank in choose_ranks(mpi, program)[:1]:
                self.attempt(f"{mpi.name} {program.label}", self.gather_program, mpi, program.under(mpi), size, rank)

    def gather_source(self, mpi, path):
        with open(path, encoding="utf-8") as file:
            head = "".join(file.readlines()[:_HEAD_LINES])

        def lines(name):
            return re.findall(rf"^[\s*/!]*{name}: *(.*?)\s*(?:\*/)?$", head, re.MULTILINE)

        how = dict(word.split("=") for word in lines("run")[0].split())
        if mpi.suffix[0] not in how["mpi"]:
            return
        size = int(how["np"])
        with tempfile.TemporaryDirectory() as folder:
            binary = os.path.join(folder, "program")
            built = subprocess.run([*mpi.compiler(path), "-pthread", "-o", binary, path], cwd=folder,
                                   capture_output=True, text=True, check=False)
            if built.returncode:
                raise Failure(built.stderr)
            with Job([*mpi.launcher(size, mpi.recorder), binary], size, mpi.environment(), cwd=folder) as job:
                end = time.monotonic() + float(how["wait"])
                job.wait_for(lambda: time.monotonic() > end, "it did not come to stand still")
                try:  # a busy machine takes longer
                    job.wait_until_quiet(QUIET_NEW_S)
                except JobError as error:
                    print(f"is it a hang that keeps calling MPI? {error}", flush=True)
                words = {by: [one for one in lines(f"lp-{by}") if one != "-"] for by in ("recorder", "stacks")}
                self.keep(job, {"program": "reports", "what": os.path.basename(path), "mpi": mpi.name,
                                "fault": "report", "ranks": size, "truth": [], "words": words,
                                "never": "|".join(lines("never"))})

    @staticmethod
    def attempt(name, gather, *arguments):
        try:
            gather(*arguments)
        except (JobError, Failure) as error:
            print(f"FAILED  {name}: {str(error)[:600]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--mpi", action="append")
    parser.add_argument("--data", required=True, help="file that raw data is added to")
    parser.add_argument("--keep", required=True, metavar="FOLDER", help="for the snapshots")
    parser.add_argument("--version", default="", help="of pdb, to be noted")
    parser.add_argument("--sources", metavar="FOLDER", help="in place of the programs in tests/mpi")
    args = parser.parse_args()
    gatherer = Gatherer(args)
    for mpi in find_mpis(args.build, args.mpi):
        if not args.sources:
            gatherer.gather_programs(mpi)
            continue
        for path in sorted(glob.glob(os.path.join(args.sources, "[0-9]*.*"))):
            gatherer.attempt(f"{mpi.name} {path}", gatherer.gather_source, mpi, path)


if __name__ == "__main__":
    main()
