#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages in docs/ are what pdb does, and hang together.

- A block behind <!-- transcript: SNAPSHOT --> is what pdb says of that snapshot, word for word: each
  line "(pdb) COMMAND" is carried out on it, in its folder, each line "$ pdb ..." by the shell. docs/
  has no other blocks of such lines. The one behind <!-- make docs-demo --> in
  docs/hunting-a-hang.md is of "make demo" and has the commands of tests/demo/demo.pdb.
- docs/picture/session.svg is what docs/picture/session.py draws.
- Links lead to pages and sections that exist. Pages without a link to them are listed.

usage: check.py BUILD [--write | --demo FILE]
--write makes the transcripts anew, --demo puts what the demo said into docs/hunting-a-hang.md.
Ends with one line: N passed, N failed."""

import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
UNMARKED = re.compile(r"(?<!-->\n)```\n(\(pdb\) [^\n]*)")
MARK = re.compile(r"<!-- transcript: (\S+) -->\n```\n(.*?)```\n", re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
SOURCES = ("model", "attach", "pmix", "analysis", "render", "shell")


class Count:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, problem):
        if not problem:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED  docs: {name}")
        print("".join("    " + line + "\n" for line in problem.splitlines()), end="")


# ---- Transcripts ----


def run(arguments, folder, **more):
    """What a command says, on both outputs."""
    env = dict(os.environ, LC_ALL="C.UTF-8", TERM="dumb", PDB_HISTORY="")
    env["PATH"] = f"{run.build}:{env['PATH']}"
    for name in ("PAGER", "NO_COLOR", "COLUMNS"):
        env.pop(name, None)
    done = subprocess.run(arguments, cwd=folder, env=env, stdin=subprocess.DEVNULL, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    return done.stdout


def replay(snapshot, block):
    """The block as pdb would have it."""
    lines = []
    for line in block.splitlines():
        if line.startswith("(pdb) "):
            said = run(["pdb", "-n", "--load", snapshot.name, "--batch", "-ex", line[len("(pdb) "):]],
                       snapshot.parent)
        elif line.startswith("$ pdb "):
            said = run(line[2:], ROOT, shell=True)
        else:
            continue
        if lines:
            lines.append("")
        lines += [line, *said.rstrip("\n").splitlines()]
    return "\n".join(lines) + "\n"


def check_transcripts(page, count, write):
    text = page.read_text()
    for snapshot, block in MARK.findall(text):
        now = replay(ROOT / snapshot, block)
        if write:
            text = text.replace(f"{snapshot} -->\n```\n{block}```", f"{snapshot} -->\n```\n{now}```")
            continue
        difference = "\n".join(difflib.unified_diff(block.splitlines(), now.splitlines(), "the page",
                                                    "pdb", lineterm="", n=1))
        first = block.split("\n", 1)[0]
        count.check(f"{page.name}: {first}", difference)
    if page.parent == DOCS:
        count.check(f"{page.name}: blocks without a snapshot", "\n".join(UNMARKED.findall(text)))
    if write and text != page.read_text():
        page.write_text(text)


DEMO_PAGE = DOCS / "hunting-a-hang.md"
DEMO = re.compile(r"<!-- make docs-demo -->\n```\n(.*?)```\n", re.S)


def write_demo(said):
    page = DEMO_PAGE
    block = "<!-- make docs-demo -->\n```\n" + said.read_text().rstrip("\n") + "\n```\n"
    page.write_text(DEMO.sub(lambda _: block, page.read_text()))


def check_demo(count):
    """That the page's transcript has the commands of the demo, in their order."""
    block = DEMO.search(DEMO_PAGE.read_text())
    shown = re.findall(r"^\(pdb\) (.*)", block.group(1), re.M) if block else []
    typed = re.findall(r'^echo "\(pdb\) (.*)"', (ROOT / "tests/demo/demo.pdb").read_text(), re.M)
    count.check(f"{DEMO_PAGE.name}: the demo",
                "" if shown == typed else f"{shown}, not {typed}: make docs-demo")


def check_picture(count):
    now = run([sys.executable, "docs/picture/session.py", str(run.build)], ROOT)
    drawn = (DOCS / "picture" / "session.svg").read_text()
    count.check("the picture: make docs-picture", "\n".join(difflib.unified_diff(
        drawn.splitlines(), now.splitlines(), "the picture", "pdb", lineterm="", n=0)))


# ---- Links ----


def anchors(page):
    return {re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
            for line in page.read_text().splitlines() if line.startswith("#")}


def check_links(page, count):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    bad = []
    for target, section in LINK.findall(text):
        if "://" in target:
            continue
        path = (page.parent / target) if target else page
        if not path.exists():
            bad.append(f"no such file: {target}")
        elif section and path.suffix == ".md" and section not in anchors(path):
            bad.append(f"no such section: {target}#{section}")
    count.check(f"{page.name}: links", "\n".join(bad))


def reachable(page, seen=None):
    """The pages that links lead to from this one."""
    seen = seen if seen is not None else set()
    if page in seen or page.suffix != ".md" or not page.exists():
        return seen
    seen.add(page)
    for target, _ in LINK.findall(page.read_text()):
        if target and "://" not in target:
            reachable((page.parent / target).resolve(), seen)
    return seen


def main():
    run.build = Path(sys.argv[1]).resolve()
    write = "--write" in sys.argv[2:]
    if "--demo" in sys.argv[2:]:
        write_demo(Path(sys.argv[sys.argv.index("--demo") + 1]))
        return 0
    count = Count()
    pages = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
    for page in pages:
        check_transcripts(page, count, write)
    if write:
        return 0
    check_demo(count)
    check_picture(count)
    for page in sorted(set(pages) - reachable(ROOT / "README.md")):
        print(f"note: no link from README.md leads to {page.name}")
    for page in pages:
        check_links(page, count)
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
