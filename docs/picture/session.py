#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw what pdb says of docs/snapshots/lammps.pdb as a terminal, in SVG. It goes to standard output.

usage: session.py BUILD
"make docs-picture" writes docs/picture/session.svg; "make check-docs" compares that file with this
output. The picture has no fonts or scripts of its own, and colours for light and dark pages."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots"
START = "pdb --load lammps.pdb"
COMMANDS = ("lp", "groups", "graph")
CHAR, LINE, MARGIN, BAR = 7.8, 17, 14, 30  # pixels; a character is as wide as the font has it at 13px
SGR = re.compile(r"\033\[([0-9;]*)m")
CLASSES = {"0": "", "": "", "1": "bold", "1;31": "red"}
STYLE = """\
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace;
  fill: #1f2328; }
.window { fill: #ffffff; stroke: #c4cad1; } .bar { fill: #eaeef2; } .dot { fill: #b3bac2; }
.prompt, .title { fill: #59636e; } .typed { fill: #0550ae; font-weight: bold; }
.bold { font-weight: bold; } .red { fill: #b3151f; font-weight: bold; }
@media (prefers-color-scheme: dark) {
  text { fill: #d5dbe2; }
  .window { fill: #12161c; stroke: #3a424c; } .bar { fill: #242a32; } .dot { fill: #59636e; }
  .prompt, .title { fill: #97a1ac; } .typed { fill: #7db7ff; }
  .red { fill: #ff7b72; }
}"""


def ask(build, command):
    """What pdb says on a terminal with colours: lines of (class, text)."""
    env = dict(os.environ, LC_ALL="C.UTF-8", TERM="dumb", PDB_HISTORY="")
    for name in ("PAGER", "NO_COLOR", "COLUMNS"):
        env.pop(name, None)
    done = subprocess.run([f"{build}/pdb", "-n", "--load", "lammps.pdb", "--batch", "-ex", "set color on",
                           "-ex", command], cwd=SNAPSHOTS, env=env, stdin=subprocess.DEVNULL, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    lines = []
    for line in done.stdout.rstrip("\n").splitlines():
        pieces = SGR.split("\033[0m" + line)[1:]
        lines.append([(CLASSES[code], text) for code, text in zip(pieces[::2], pieces[1::2]) if text])
    return lines


def session(build):
    lines = [[("prompt", "$ "), ("typed", START)]]
    for command in COMMANDS:
        lines += [[("prompt", "(pdb) "), ("typed", command)], *ask(build, command), []]
    return lines[:-1]


def draw_line(line, y):
    """Words that one space parts are one text, stretched to its columns, so that any font will do."""
    column = 0
    for kind, text in line:
        for word in re.finditer(r"\S+(?: \S+)*", text):
            x, width = MARGIN + (column + word.start()) * CHAR, len(word.group()) * CHAR
            mark = f' class="{kind}"' if kind else ""
            yield (f'<text{mark} x="{x:.1f}" y="{y}" textLength="{width:.1f}" '
                   f'lengthAdjust="spacingAndGlyphs">{escape(word.group())}</text>')
        column += len(text)


def draw(lines):
    width = round(2 * MARGIN + CHAR * max(sum(len(text) for _, text in line) for line in lines))
    height = BAR + MARGIN + LINE * len(lines) + 10
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
           f'height="{height}" role="img" aria-labelledby="title">')
    yield f'<title id="title">A terminal with {START} and the commands {", ".join(COMMANDS)}</title>'
    yield f"<style>\n{STYLE}\n</style>"
    yield f'<rect class="window" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>'
    yield f'<path class="bar" d="M1 {BAR}V8q0-7 7-7h{width - 16}q7 0 7 7v{BAR - 8}z"/>'
    for x in (18, 36, 54):
        yield f'<circle class="dot" cx="{x}" cy="{BAR / 2:g}" r="5"/>'
    yield (f'<text class="title" x="{width / 2:g}" y="{BAR / 2 + 4.5:g}" text-anchor="middle">'
           "LAMMPS with 4 ranks hangs: which rank, and where?</text>")
    for i, line in enumerate(lines):
        yield from draw_line(line, BAR + MARGIN + LINE * i + 9)
    yield "</svg>"


if __name__ == "__main__":
    print("\n".join(draw(session(Path(sys.argv[1]).resolve()))))
