#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: run.py BUILD [--number N] [--seed S] [--kind KIND] [--level O2] [--mpi openmpi]
              [--keep DIR]

Generated programs in which a rank parts from the others (generate.py), at several optimization
levels: does `cause` name the line of the branch? Fails if it names another one, or the right one in
less than 80 % of the kinds that can be told."""

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import time

import generate

LEVELS = {"O0": ["-O0"], "O2": ["-O2"], "O3": ["-O3", "-flto"]}
SUFFIX = {"c": "c", "c++": "cc"}


def compile_program(folder, name, made, level, mpi):
    source = os.path.join(folder, f"{name}.{SUFFIX[made.language]}")
    program = os.path.join(folder, name)
    with open(source, "w", encoding="ascii") as file:
        file.write(made.writer.text())
    compiler = ("mpicc." if made.language == "c" else "mpicxx.") + mpi
    subprocess.run([compiler, "-g", "-w", *LEVELS[level], "-o", program, source, "-lm"],
                   check=True)
    return program


def start(program, made, mpi, build, recorder):
    environment = dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1",
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = [f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else []),
               "-n", str(generate.RANKS), program, str(made.bad), str(made.step)]
    if recorder:
        environment["LD_PRELOAD"] = os.path.join(build, f"libpdbrec-{mpi}.so")
        if mpi == "openmpi":
            command[1:1] = ["-x", "LD_PRELOAD"]
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def ask(build, job, question):
    environment = dict(os.environ, COLUMNS="1000", LC_ALL="C.UTF-8")
    return subprocess.run([os.path.join(build, "pdb"), "--nx", "--pid", str(job.pid), "--batch",
                           "--ex", question], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, check=False).stdout


def judge(answer, name, made):
    lines = [(file, int(line)) for file, line in re.findall(r"parted\s+at\s+(\S+?):(\d+)", answer)]
    if not lines:
        return "silent" if made.lines else "right"
    return "right" if all(file.startswith(name + ".") and line in made.lines
                          for file, line in lines) else "wrong"


def try_one(options, folder, seed, kind, level, language):
    made = generate.make(seed, kind, language)
    name = f"part_{kind.replace('-', '_')}_{seed}_{level}"
    program = compile_program(folder, name, made, level, options.mpi)
    job = start(program, made, options.mpi, options.build, options.recorder)
    try:
        if not any("parted" in line for line in job.stderr):
            return name, "no job", ""
        time.sleep(0.5)
        question = f"cause {made.asked}" if options.ask == "rank" else "cause"
        answer = ask(options.build, job, question)
    finally:
        job.terminate()
        job.wait()
    return name, judge(answer, name, made), answer + f"truth: {sorted(made.lines)}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--number", type=int, default=len(generate.KINDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=generate.KINDS)
    parser.add_argument("--level", choices=LEVELS)
    parser.add_argument("--language", choices=SUFFIX)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--ask", choices=("rank", "all"), default="rank")
    parser.add_argument("--recorder", action="store_true")
    parser.add_argument("--keep")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        for i in range(options.number):
            kind = options.kind or generate.KINDS[i % len(generate.KINDS)]
            levels = list(LEVELS)
            level = options.level or levels[(i // len(generate.KINDS)) % len(levels)]
            language = options.language
            if kind in generate.ONLY_CXX or (not language and (options.seed + i) % 4 == 0):
                language = "c++"
            name, result, answer = try_one(options, folder, options.seed + i, kind, level,
                                           language or "c")
            counts[level][result] += 1
            counts[kind][result] += 1
            print(f"{result:7} {name}", flush=True)
            if result == "wrong" or (options.keep and result != "right"):
                print(answer)
    for key, counter in counts.items():
        print(f"{key:12} " + ", ".join(f"{counter[what]} {what}"
                                       for what in ("right", "silent", "wrong", "no job")))
    total = sum((counts[level] for level in LEVELS), collections.Counter())
    told = sum((counts[kind] for kind in generate.KINDS if kind not in generate.SILENT),
               collections.Counter())
    failed = total["wrong"] + total["no job"]
    print(f"{total['right']} right, {total['silent']} silent, {total['wrong']} wrong")
    if told["right"] * 100 < 80 * sum(told.values()):
        print("FAILED right in less than 80 %")
        failed += 1
    print(f"{total['right'] + total['silent']} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
