#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""print against gdb: expressions by chance, of ranks that stand still in a hang.

usage: against_gdb.py [--num N] [--seed N] [--stop SECONDS] [-v] BUILD PROGRAM...

Each program is started with two ranks, under the MPI that its name tells; it prints "ready" when
what it has is there. With --stop, ranks that never do are stopped after that time, wherever they
are. gdb makes N expressions for all programs together, and pdb prints them. A value is equal, or
refused with a reason; else it is different, and the check fails."""
import argparse
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
NUMBER = re.compile(r"-?(?:nan|inf|[0-9][0-9.]*(?:e[+-]?[0-9]+)?)")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


class Different(Exception):
    pass


def unquote(text):
    letters = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
    return re.sub(r"\\([0-7]{3}|.)", lambda match: chr(int(match[1], 8)) if len(match[1]) == 3 else
                  chr(letters[match[1]]) if match[1] in letters else match[1], text[1:-1])


def real_of(text):
    """gdb writes "nan(0x8000000000000)"."""
    return float(text.split("(")[0])


class Comparison:
    """Does pdb's text say what gdb's tree does? "..." stands for what pdb leaves out."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def take(self, part):
        if self.text.startswith(part, self.at):
            self.at += len(part)
            return True
        return False

    def need(self, part):
        if not self.take(part):
            raise Different(f"no {part!r} at {self.text[self.at:self.at + 30]!r}")

    def pattern(self, pattern):
        match = pattern.match(self.text, self.at)
        if not match:
            raise Different(f"at {self.text[self.at:self.at + 30]!r}")
        self.at = match.end()
        return match[0]

    def number(self, expected, digits=None):
        got = float(self.pattern(NUMBER))
        close = math.isclose(got, expected, rel_tol=10.0 ** -(digits or 14))
        if not close and not (math.isnan(got) and math.isnan(expected)):
            raise Different(f"{got} and {expected}")

    def string(self, expected):
        # Up to a zero, and at most 200 characters.
        whole = expected.split("\0")[0]
        got = unquote(self.pattern(QUOTED))
        is_cut = self.take("...")
        # JSON has no bytes that are no text.
        got, whole = (re.sub("[^\\x00-\\x7f]+", "?", text) for text in (got, whole))
        if got != whole and not (is_cut and whole.startswith(got)):
            raise Different(f"{got!r} and {whole!r}")

    def leaf(self, tree):
        if "number" in tree and "enum" not in tree:
            text = self.pattern(NUMBER)
            if int(text) != tree["number"]:
                raise Different(f"{text} and {tree['number']}")
        elif "float" in tree:
            self.number(real_of(tree["float"]), 6 if tree["size"] == 4 else None)
        elif "bool" in tree:
            self.need("true" if tree["bool"] else "false")
        elif "char" in tree:
            self.need(f"{tree['char']} '")
            self.at = self.text.index("'", self.at + (2 if self.take("\\") else 1)) + 1
        elif "enum" in tree:
            name = tree["enum"].split("::")[-1]
            if not self.take(name) and not self.take(str(tree["number"])):
                raise Different(f"not {name}")
        elif "text" in tree and "pointer" not in tree:
            self.string(tree["text"])
        elif "pointer" in tree:
            if tree["text"] is not None and self.text.startswith('"', self.at):
                self.string(tree["text"])
            else:
                self.need(f"{tree['pointer']:#x}")
        elif "other" in tree:
            if self.take("("):
                for part in re.findall(r"-?[0-9.]+(?:e[+-]?[0-9]+)?|nan|inf", tree["other"]):
                    self.number(float(part), 6)
                    self.take(", ")
                self.need(")")
            else:
                raise Different("of another kind")

    def numbers_in(self, tree):
        """Those of the leaves of nested arrays; None: there are others."""
        if "array" not in tree:
            for kind in ("number", "float"):
                if kind in tree:
                    return [real_of(str(tree[kind]))]
            return [float(tree["bool"])] if "bool" in tree else None
        parts = [self.numbers_in(child) for child in tree["array"]]
        return None if any(part is None for part in parts) else sum(parts, [])

    def statistics(self, tree):
        numbers = self.numbers_in(tree) or []
        match = re.compile(r"\{(?:the first (\d+) of )?(\d+) elements").match(self.text, self.at)
        if not match or int(match[2]) != len(numbers):
            raise Different(f"{len(numbers)} elements")
        self.at = match.end()
        if match[1]:
            numbers = numbers[:int(match[1])]
        real = sorted(number for number in numbers if not math.isnan(number))
        if self.take(": all "):
            self.number(real[0], 5)
            if real[0] != real[-1]:
                raise Different("not all are equal")
        elif self.take(": min "):
            self.number(real[0], 5)
            self.need(", median ")
            self.number(real[len(real) // 2], 5)
            self.need(", max ")
            self.number(real[-1], 5)
        num_nan = len(numbers) - len(real)
        if num_nan:
            self.need(f", {num_nan} NaN")
        num_infinite = sum(map(math.isinf, real))
        if num_infinite:
            self.need(f", {num_infinite} infinite")
        self.need("}")

    def array(self, tree):
        elements = tree["array"]
        if elements and "char" in elements[0]:
            return self.string("".join(chr(element["char"]) for element in elements))
        if re.compile(r"\{(the first \d+ of )?\d+ elements").match(self.text, self.at):
            return self.statistics(tree)
        self.need("{")
        for i, element in enumerate(elements):
            if self.take("..."):
                break
            self.value(element)
            if i + 1 < len(elements):
                self.need(", ")
        self.need("}")
        return None

    def struct(self, tree):
        name = tree["name"]
        if "basic_string<" in name and self.text.startswith('"', self.at):
            fields = dict(tree["struct"])
            pointer = dict(fields["_M_dataplus"]["struct"])["_M_p"]
            return self.string(pointer["text"])
        match = re.compile(r"\{(\d+) elements?\}").match(self.text, self.at)
        if match and name.startswith("std::"):
            self.at = match.end()
            return None
        self.need("{")
        is_first = True
        for field, child in tree["struct"]:
            before = self.at
            try:
                if not is_first:
                    self.need(", ")
                if field:
                    self.need(f"{field} = ")
                self.value(child)
                is_first = False
            except Different:
                if "..." not in self.text[before:]:
                    raise
                # One that pdb leaves out.
                self.at = before
        self.take(", ")
        self.take("...")
        self.need("}")
        return None

    def value(self, tree):
        if self.take("{...}"):
            return
        if "struct" in tree:
            self.struct(tree)
        elif "array" in tree:
            self.array(tree)
        else:
            self.leaf(tree)

    def whole(self, tree):
        self.value(tree)
        if self.at != len(self.text):
            raise Different(f"more: {self.text[self.at:]!r}")


class Job:
    def __init__(self, program, work):
        mpi = "mpich" if "mpich" in program.name else "openmpi"
        starter = ["mpirun.openmpi", "--oversubscribe"] if mpi == "openmpi" else ["mpiexec.mpich"]
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")
        self.output = work / "output"
        with open(self.output, "w") as output:
            self.process = subprocess.Popen(starter + ["-n", "2", str(program)], env=environment,
                                            stdout=output, stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL, start_new_session=True)

    def is_ready(self):
        return "ready" in self.output.read_text()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            sys.exit("it is not ready after a minute")
        time.sleep(0.05)


def ask(build, job, commands):
    """What it says of errors. Without a PATH it does not find gdb, which would tell it what it
    cannot read."""
    said = ""
    for first in range(0, len(commands), 200):
        words = [word for command in commands[first:first + 200] for word in ("-ex", command)]
        said += subprocess.run([build / "pdb", "--nx", "--pid", str(job.process.pid)] + words,
                               stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               check=False, env=dict(os.environ, PATH="/nonexistent")).stderr
    return said


def result_of(path):
    return json.loads(path.read_text())["result"] if path.exists() else None


def make_expressions(program, pid, num, seed, work):
    path = work / "expressions"
    environment = dict(os.environ, EXPRESSIONS_SEED=str(seed), EXPRESSIONS_NUM=str(num),
                       EXPRESSIONS_FILE=str(path), EXPRESSIONS_PROGRAM=str(program),
                       DEBUGINFOD_URLS="")
    words = ["gdb", "-nx", "-batch", "-p", str(pid), "-x", HERE / "expressions_gdb.py"]
    out = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if not path.exists():
        sys.exit(f"gdb made no expressions:\n{out.stdout[-2000:]}{out.stderr[-2000:]}")
    return json.loads(path.read_text())


def judge(entry, answer):
    """(word, what there is to say)"""
    if answer is None:
        return "refused", "no answer"
    if not answer["values"]:
        reason = answer["missing"][0]["reason"] if answer["missing"] else "nothing"
        return ("agreed" if "reason" in entry else "refused"), reason
    text = answer["values"][0]["value"]
    if "reason" in entry:
        return "more", f"pdb: {text}; gdb: {entry['reason']}"
    try:
        Comparison(text).whole(entry["tree"])
    except (Different, ValueError, KeyError, IndexError) as error:
        return "different", f"pdb: {text}; gdb: {json.dumps(entry['tree'])[:300]}; {error}"
    return "equal", text


def stop(pid):
    """Until it stands still: gdb lets it go on."""
    os.kill(pid, signal.SIGSTOP)
    status = pathlib.Path(f"/proc/{pid}/stat")
    wait_for(lambda: status.read_text().rpartition(")")[2].split()[0] == "T")


def check_program(build, program, num, seed, seconds, work):
    job = Job(program, work)
    try:
        if seconds:
            time.sleep(seconds)
        else:
            wait_for(job.is_ready)
        wait_for(lambda: ask(build, job, [f"info ranks > {work}/ranks.json"]) is not None and
                 (work / "ranks.json").exists())
        ranks = {entry["rank"]: entry["pid"] for entry in result_of(work / "ranks.json")["ranks"]}
        results = []
        for pid in ranks.values() if seconds else ():
            stop(pid)
        for rank in (0, 1):
            entries = make_expressions(program, ranks[rank], num // 2, seed + rank, work)
            if seconds:
                stop(ranks[rank])
            commands = [f"print {entry['function'] or ''} \"{entry['expression']}\" {rank} "
                        f"> {work}/{i}.json" for i, entry in enumerate(entries)]
            for path in work.glob("[0-9]*.json"):
                path.unlink()
            said = ask(build, job, commands)
            for i, entry in enumerate(entries):
                word, why = judge(entry, result_of(work / f"{i}.json"))
                if why == "no answer":
                    name = entry["expression"].split("(")[0].split("[")[0]
                    why += ": " + " ".join(line for line in said.splitlines() if name in line)[:200]
                results.append((word, rank, entry, why))
        return results
    finally:
        job.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(10 ** 6))
    parser.add_argument("--stop", type=float)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    totals = {}
    print(f"seed {args.seed}")
    for program in args.programs:
        with tempfile.TemporaryDirectory() as work:
            results = check_program(args.build.resolve(), program.resolve(),
                                    args.num // len(args.programs), args.seed, args.stop,
                                    pathlib.Path(work))
        counts = {}
        for word, rank, entry, why in results:
            counts[word] = counts.get(word, 0) + 1
            totals[word] = totals.get(word, 0) + 1
            if word in ("different", "more") or (args.v and word == "refused"):
                print(f"  {word}: rank {rank}, {entry['function']}: {entry['expression']}: {why}")
        print(f"{program.name}: " + ", ".join(f"{counts[word]} {word}" for word in sorted(counts)))
    print("all: " + ", ".join(f"{totals[word]} {word}" for word in sorted(totals)))
    sys.exit(1 if totals.get("different") or not totals.get("equal") else 0)


main()
