#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs in which ranks part, with known truth.

generate(seed, kind, language) returns the source, the lines of the deciding branch, and the rank
that parts. Each program has a loop of steps with collectives; around it and in it are random
statements, branches that all ranks take alike, and inner loops, so that places and compilers' code
differ. From some step on the rank goes another way, and the job hangs."""

import random

KINDS = (
    "if-else",       # two collectives in the two sides
    "skip",          # a collective is left out
    "loop-value",    # a loop ends by a value that differs
    "loop-count",    # a loop has other bounds
    "early-return",  # a function returns before its collective
    "switch",        # cases of a switch
    "pointer",       # a call through a pointer
    "trap",          # it does not come back from a function that the others do not call
    "receive",       # it receives what nobody sends
    "lost",          # it does not send: who waits for that has not parted by a branch
    "stuck",         # it does not come back from a function that all call
    "virtual",       # a virtual function
    "exception",     # an exception is thrown
    "slip",          # a collective is left out, and the next one takes its place
    "rows",          # stuck; others of its row wait for it, the rest has gone on: no branch parted
    "behind",        # stuck in a loop that the others have left as it would: no branch parted them
)
ONLY_CXX = ("virtual", "exception")
# Values are gone, or no branch is to blame: most often nothing is said.
SILENT = ("trap", "receive", "stuck", "exception", "slip", "rows", "behind")
RANKS = 4
CALLS = ("MPI_Allreduce", "MPI_Barrier", "MPI_Allgather")


class Writer:
    def __init__(self):
        self.lines = []

    def add(self, text, indent=1):
        """Returns the line's number."""
        self.lines.append("\t" * indent + text)
        return len(self.lines)

    def text(self):
        return "\n".join(self.lines) + "\n"


class Maker:
    """One program."""

    def __init__(self, seed, kind, language):
        self.random = random.Random(f"{seed} {kind} {language}")
        self.kind = kind
        self.language = language
        self.bad = self.random.randrange(RANKS)
        self.step = self.random.randrange(3, 12)
        self.writer = Writer()
        self.lines = set()
        self.call = self.random.choice(CALLS)
        self.number = 0
        self.asked = self.bad  # the rank that cause is asked for

    def collective(self, indent, which=None):
        which = which or self.random.choice(CALLS)
        text = {
            "MPI_Barrier": "MPI_Barrier(comms[0]);",
            "MPI_Allreduce": "MPI_Allreduce(MPI_IN_PLACE, shared, 2, MPI_DOUBLE, MPI_SUM, "
                             "comms[1]);",
            "MPI_Allgather": "MPI_Allgather(&g.rank, 1, MPI_INT, all, 1, MPI_INT, comms[2]);",
        }[which]
        self.writer.add(text, indent)

    def noise(self, indent, names):
        """Something that all ranks do alike."""
        w, r = self.writer, self.random
        for _ in range(r.randrange(0, 3)):
            self.number += 1
            n = self.number
            name = r.choice(names)
            what = r.randrange(8)
            if what == 0:
                w.add(f"data[{r.randrange(64)}] += {name} * 0.5;", indent)
            elif what == 1:
                w.add(f"for (int i{n} = 0; i{n} < {r.randrange(2, 60)}; i{n}++)", indent)
                w.add(f"data[i{n}] = data[i{n}] * 0.25 + {name};", indent + 1)
            elif what == 2:
                w.add(f"if ({name} > {r.randrange(1000, 9000)})", indent)
                w.add(f"data[{r.randrange(64)}] = work({name});", indent + 1)
            elif what == 3:
                w.add(f"data[{r.randrange(64)}] += work({name} + {n});", indent)
            elif what == 4:
                w.add(f"if (g.rank == {r.randrange(RANKS)})", indent)
                w.add(f"data[{r.randrange(64)}] += work({n});", indent + 1)
            elif what == 5:
                w.add(f"for (int i{n} = 0; i{n} < g.rank * 3; i{n}++)", indent)
                w.add(f"data[i{n}] += work(i{n});", indent + 1)
            elif what == 6:
                w.add("if (g.rank % 2) {", indent)
                w.add(f"data[{r.randrange(64)}] += work({n});", indent + 1)
                w.add("} else {", indent)
                w.add(f"data[{r.randrange(64)}] += 0.5 * work({n} + step);", indent + 1)
                w.add("}", indent)
            else:
                w.add(f"if ({name} % {r.randrange(2, 5)} == 0)", indent)
                w.add(f"data[{r.randrange(64)}] -= {n}.5;", indent + 1)
                w.add("else", indent)
                w.add(f"data[{r.randrange(64)}] *= 0.5;", indent + 1)

    def head(self):
        w = self.writer
        for line in (
            "#include <math.h>", "#include <mpi.h>", "#include <stdio.h>", "#include <stdlib.h>",
            "#include <unistd.h>",
        ):
            w.add(line, 0)
        w.add("struct state { int rank, size, bad, when, limit; double tol, res; int mode; };", 0)
        w.add("static struct state g;", 0)
        w.add("double data[64], shared[2];", 0)
        w.add("int all[64];", 0)
        # Collectives that do not match must not take each other's messages.
        w.add("static MPI_Comm comms[3], row;", 0)
        w.add("__attribute__((noinline)) double work(int n)", 0)
        w.add("{", 0)
        w.add("double sum = 0;")
        w.add("for (int i = 0; i < n % 50; i++)")
        w.add("sum += data[i & 63] / (i + 1.0);", 2)
        w.add("return sum;")
        w.add("}", 0)
        # What is different from some step on, without a branch.
        w.add("__attribute__((noinline)) int odd(int rank, int step)", 0)
        w.add("{", 0)
        w.add("if (rank != g.bad || step < g.when)")
        w.add("return 0;", 2)
        w.add("if (step < g.when + 2 && write(2, \"parted\\n\", 7) < 0)")
        w.add("exit(1);", 2)
        w.add("return 1;")
        w.add("}", 0)

        w.add("__attribute__((noinline)) double fall(int sweeps, int is_odd)", 0)
        w.add("{", 0)
        w.add("return sweeps < 5 || is_odd ? 1.0 : 1e-9;")
        w.add("}", 0)

    def inline(self):
        return self.random.choice(("static ", "__attribute__((noinline)) static ",
                                   "__attribute__((noinline)) "))

    def differing(self):
        """Adds statements; returns a condition on what they set, which differs in the bad rank."""
        before, condition = self.random.choice((
            (["int flag = odd(g.rank, step);"], "flag"),
            (["int flag = odd(g.rank, step);"], "flag == 1"),
            (["double res = 1.0 - odd(g.rank, step);"], "res < g.tol"),
            (["double err = -0.5 + 0.5 * odd(g.rank, step);"], "fabs(err) < 1e-8"),
            (["g.res = 2.0 - odd(g.rank, step);"], "g.res < 1.5"),
            (["int count = 5 + 7 * odd(g.rank, step);"], "count > 9"),
            (["g.mode = odd(g.rank, step);"], "g.mode"),
            (["struct state *s = &g;", "s->mode = 3 + odd(g.rank, step);"], "s->mode == 4"),
            (["unsigned bits = 6u + odd(g.rank, step);"], "bits & 1"),
            (["long left = 100 - 60 * odd(g.rank, step);"], "left <= 50"),
        ))
        for line in before:
            self.writer.add(line)
        return condition

    def other(self):
        return self.random.choice([c for c in CALLS if c != self.call])

    def wrap(self):
        """Blocks around the body, which all ranks are in. Returns how many."""
        w, r = self.writer, self.random
        num = r.randrange(3)
        for i in range(num):
            w.add(r.choice((
                "if (g.size > 1) {",
                f"if (data[{r.randrange(64)}] < 1e30) {{",
                f"for (int turn{i} = 0; turn{i} < {r.randrange(1, 4)}; turn{i}++) {{",
                "if (g.rank >= 0 && step < 5000) {",
            )))
            self.noise(1, ["step"])
        return num

    def body_trap(self):
        w = self.writer
        condition = self.differing()
        self.noise(1, ["step"])
        self.lines.add(w.add(f"if ({condition})"))
        w.add("spin(step);", 2)
        self.noise(1, ["step"])
        self.collective(1, self.call)

    def body_stuck(self):
        w = self.writer
        self.noise(1, ["step"])
        w.add("spin_if(odd(g.rank, step));")
        self.noise(1, ["step"])
        self.collective(1, self.call)

    def body_slip(self):
        w, r = self.writer, self.random
        first = r.choice(("MPI_Allreduce", "MPI_Allgather"))
        condition = self.differing()
        self.lines.add(w.add(f"if (!({condition})) {{"))
        self.collective(2, first)
        w.add("}")
        self.noise(1, ["step"])
        w.add(f"if (data[{r.randrange(64)}] < 1e30) {{")
        self.collective(2, first)
        w.add("}")
        self.noise(1, ["step"])
        self.collective(1, "MPI_Barrier")

    def body_rows(self):
        w, r = self.writer, self.random
        w.add("spin_if(odd(g.rank, step));")
        self.noise(1, ["step"])
        w.add(r.choice((f"if (data[{r.randrange(64)}] < 1e30)", "if (step < g.when + 5000)",
                        "for (int once = 0; once < g.size / 4; once++)")))
        w.add(r.choice(("MPI_Barrier(row);",
                        "MPI_Allreduce(MPI_IN_PLACE, shared, 2, MPI_DOUBLE, MPI_SUM, row);")), 2)
        self.noise(1, ["step"])
        self.collective(1, self.call)
        self.asked = self.bad ^ 1

    def body_behind(self):
        w, r = self.writer, self.random
        w.add("double res = 1;")
        w.add("int sweeps = 0;")
        w.add("do {")
        w.add("res = fall(sweeps, 0);", 2)
        self.noise(2, ["step"])
        w.add(f"spin_if(odd(g.rank, step) * (sweeps / {r.randrange(1, 5)}));", 2)
        w.add("sweeps++;", 2)
        w.add("} while (res > g.tol);")
        self.noise(1, ["step"])
        self.collective(1, self.call)

    def body_receive(self):
        w = self.writer
        condition = self.differing()
        self.noise(1, ["step"])
        self.lines.add(w.add(f"if ({condition}) {{"))
        self.noise(2, ["step"])
        w.add("MPI_Recv(shared, 1, MPI_DOUBLE, (g.rank + 1) % g.size, 77, MPI_COMM_WORLD, "
              "MPI_STATUS_IGNORE);", 2)
        w.add("data[7] += shared[0];", 2)
        w.add("}")
        self.noise(1, ["step"])
        self.collective(1, self.call)

    def body_lost(self):
        w = self.writer
        condition = self.differing()
        w.add(f"if (!({condition}))")
        w.add("MPI_Send(&data[60], 1, MPI_DOUBLE, (g.rank + 1) % g.size, 5, MPI_COMM_WORLD);", 2)
        self.noise(1, ["step"])
        if self.random.randrange(2):
            w.add("if (g.rank >= 0)")
        w.add("MPI_Recv(&data[61], 1, MPI_DOUBLE, (g.rank + g.size - 1) % g.size, 5, "
              "MPI_COMM_WORLD, MPI_STATUS_IGNORE);", 2)
        self.noise(1, ["step"])
        self.collective(1, self.call)
        self.asked = (self.bad + 1) % RANKS

    def body_virtual(self):
        w = self.writer
        w.add("Kernel *k = kernels[odd(g.rank, step)];")
        self.noise(1, ["step"])
        self.lines.add(w.add("k->run(step);"))
        w.add("data[1] += step;")

    def body_exception(self):
        w = self.writer
        w.add("try {")
        w.add("check(odd(g.rank, step));", 2)
        self.noise(2, ["step"])
        self.collective(2, self.call)
        w.add("} catch (int problem) {")
        w.add("data[3] += problem;", 2)
        w.add("}")
        self.collective(1, self.other())

    def kernel(self, name, call):
        """The body of one."""
        self.writer.add("{", 0)
        self.noise(1, ["step"])
        self.collective(1, call)
        self.writer.add(f"data[{len(name)}] += step;")
        self.writer.add("}", 0)

    def classes(self):
        w = self.writer
        w.add("struct Kernel { virtual ~Kernel() {} virtual void run(int step) = 0; };", 0)
        calls = self.random.sample(CALLS, 2)
        for name, call in zip(("Red", "Blue"), calls):
            w.add(f"struct {name} : Kernel {{ void run(int step) override; }};", 0)
            w.add(f"void {name}::run(int step)", 0)
            self.kernel(name, call)
        w.add("static Kernel *kernels[2] = {new Red, new Blue};", 0)

    def helpers(self):
        w = self.writer
        w.add("static volatile int forever = 1;", 0)
        w.add("__attribute__((noinline)) void spin(int n)", 0)
        w.add("{", 0)
        w.add("while (forever)")
        w.add("data[n & 63] += 1e-9;", 2)
        w.add("}", 0)
        w.add("__attribute__((noinline)) void spin_if(int is_odd)", 0)
        w.add("{", 0)
        w.add("double x = is_odd;")
        line = w.add("while (x > 0.5 && forever)")
        w.add("x = 1.0 + x * 1e-9;", 2)
        w.add("data[5] += x;")
        w.add("}", 0)
        if self.kind in ("stuck", "rows", "behind"):
            self.lines.add(line)
        if self.language == "c++":
            w.add("__attribute__((noinline)) void check(int is_odd)", 0)
            w.add("{", 0)
            line = w.add("if (is_odd)")
            w.add("throw 5;", 2)
            w.add("}", 0)
            if self.kind == "exception":
                self.lines.add(line)

    def body_if_else(self):
        w = self.writer
        condition = self.differing()
        first, second = self.random.sample(CALLS, 2)
        self.noise(1, ["step"])
        self.lines.add(w.add(f"if ({condition}) {{"))
        self.noise(2, ["step"])
        self.collective(2, first)
        w.add("} else {")
        self.noise(2, ["step"])
        self.collective(2, second)
        w.add("}")

    def body_skip(self):
        w = self.writer
        condition = self.differing()
        self.noise(1, ["step"])
        self.lines.add(w.add(f"if (!({condition})) {{"))
        self.noise(2, ["step"])
        self.collective(2, self.call)
        w.add("}")
        self.noise(1, ["step"])
        self.collective(1, self.other())

    def body_loop_value(self):
        w, r = self.writer, self.random
        w.add("double res = 1;")
        w.add("int sweeps = 0;")
        shape = r.randrange(3)
        if shape == 0:
            self.lines.add(w.add("while (res > g.tol && sweeps < 50) {"))
        elif shape == 1:
            w.add("for (sweeps = 0; sweeps < 50; sweeps++) {")
        else:
            w.add("do {")
        self.noise(2, ["step", "sweeps"])
        self.collective(2, self.call)
        w.add("res = fall(sweeps, odd(g.rank, step));", 2)
        if shape == 1:
            self.lines.add(w.add("if (res < g.tol)", 2))
            w.add("break;", 3)
        elif shape == 0:
            w.add("sweeps++;", 2)
        self.noise(2, ["step"])
        if shape == 2:
            w.add("sweeps++;", 2)
            self.lines.add(w.add("} while (res >= g.tol && sweeps < 50);"))
        else:
            w.add("}")
        w.add("data[3] += sweeps;")
        self.collective(1, self.other())

    def body_loop_count(self):
        w, r = self.writer, self.random
        how = r.choice(("int most = 4 + odd(g.rank, step);", "g.limit = 6 - odd(g.rank, step);"))
        bound = "most" if "most" in how else "g.limit"
        w.add(how)
        self.noise(1, ["step"])
        self.lines.add(w.add(f"for (int sweep = 0; sweep < {bound}; sweep++) {{"))
        self.noise(2, ["step", "sweep"])
        self.collective(2, self.call)
        self.noise(2, ["step", "sweep"])
        w.add("}")
        self.collective(1, self.other())

    def body_early_return(self):
        w = self.writer
        condition = self.differing()
        self.noise(1, ["step"])
        self.lines.add(w.add(f"if ({condition})"))
        w.add("return;", 2)
        self.noise(1, ["step"])
        self.collective(1, self.call)
        self.noise(1, ["step"])

    def body_switch(self):
        w, r = self.writer, self.random
        num = r.randrange(4, 9)
        chosen, other = r.sample(range(num), 2)
        calls = r.sample(CALLS, 2)
        w.add(f"int mode = {chosen} + {other - chosen} * odd(g.rank, step);")
        self.noise(1, ["step"])
        self.lines.add(w.add("switch (mode) {"))
        for case in range(num):
            w.add(f"case {case}:")
            self.noise(2, ["step"])
            if case == chosen:
                self.collective(2, calls[0])
            elif case == other:
                self.collective(2, calls[1])
            else:
                w.add(f"data[{case}] = work(step + {case});", 2)
            w.add("break;", 2)
        w.add("}")

    def body_pointer(self):
        w = self.writer
        w.add("struct kernel *k = &kernels[odd(g.rank, step)];")
        self.noise(1, ["step"])
        self.lines.add(w.add("k->run(step);"))
        w.add("data[1] += step;")

    def kernels(self):
        w = self.writer
        w.add("struct kernel { int id; void (*run)(int); };", 0)
        calls = self.random.sample(CALLS, 2)
        for name, call in zip(("red", "blue"), calls):
            w.add(f"__attribute__((noinline)) static void run_{name}(int step)", 0)
            self.kernel(name, call)
        w.add("static struct kernel kernels[2] = {{0, run_red}, {1, run_blue}};", 0)

    def make(self):
        w, r = self.writer, self.random
        self.head()
        self.helpers()
        if self.kind == "pointer":
            self.kernels()
        if self.kind == "virtual":
            self.classes()
        w.add(self.inline() + "void advance(int step)", 0)
        w.add("{", 0)
        self.noise(1, ["step"])
        num = self.wrap()
        getattr(self, "body_" + self.kind.replace("-", "_"))()
        w.add("}" * num)
        w.add("}", 0)
        depth = r.randrange(3)
        for i in range(depth):
            w.add(self.inline() + f"void level{i}(int step)", 0)
            w.add("{", 0)
            self.noise(1, ["step"])
            w.add(f"level{i - 1}(step);" if i else "advance(step);")
            self.noise(1, ["step"])
            w.add("}", 0)
        w.add("int main(int argc, char **argv)", 0)
        w.add("{", 0)
        w.add("MPI_Init(&argc, &argv);")
        w.add("MPI_Comm_rank(MPI_COMM_WORLD, &g.rank);")
        w.add("MPI_Comm_size(MPI_COMM_WORLD, &g.size);")
        w.add("for (int i = 0; i < 3; i++)")
        w.add("MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);", 2)
        w.add("MPI_Comm_split(MPI_COMM_WORLD, g.rank / 2, g.rank, &row);")
        w.add("g.bad = atoi(argv[1]);")
        w.add("g.when = atoi(argv[2]);")
        w.add("g.tol = 1e-8;")
        loop = r.choice(("for (int step = 0; step < 1000; step++) {",
                         "for (int step = 1; step <= 500; step += 1) {"))
        w.add(loop)
        self.noise(2, ["step"])
        if r.randrange(2):
            self.collective(2)
        w.add(f"level{depth - 1}(step);" if depth else "advance(step);", 2)
        self.noise(2, ["step"])
        if r.randrange(2) or self.kind in ("early-return", "trap", "stuck", "rows"):
            self.collective(2, self.other())
        w.add("usleep(2000);", 2)
        w.add("}")
        w.add('printf("%g %g %d\\n", data[0], shared[0], all[0]);')
        w.add("return MPI_Finalize();")
        w.add("}", 0)
        return self


def make(seed, kind, language="c"):
    return Maker(seed, kind, language).make()
