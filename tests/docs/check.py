#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages in docs/ are what pdb does, and hang together.

- A block behind <!-- transcript: SNAPSHOT --> is what pdb says of that snapshot, word for word: each
  line "(pdb) COMMAND" is carried out on it, in its folder, each line "$ pdb ..." by the shell. There
  is no other block of such lines in docs/. The one behind <!-- make docs-demo --> in
  docs/hunting-a-hang.md is of "make demo" and has the commands of tests/demo/demo.pdb.
- docs/picture/session.svg is what docs/picture/session.py draws.
- docs/messages.md has every message in the sources.
- Links lead to pages and sections that there are. Told is which pages no link leads to.

usage: check.py BUILD [--write | --messages | --demo FILE]
--write makes the transcripts anew, --messages prints docs/messages.md, --demo puts what the demo said
into docs/hunting-a-hang.md.
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


# ---- Messages ----

CALL = re.compile(r'\b(error_set|error_errno|error_prefix|argp_error|refuse)\s*\(', re.S)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
CODE = re.compile(r"\bERROR_[A-Z]+\b")
FORMAT = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]|PRI\w+")

# What is to be done, where the message does not say so itself: by what it is about.
ADVICE = {
    "ERROR_USAGE": "what was typed is not understood: see `help` of the command",
    "ERROR_PERMISSION": "[permissions](troubleshooting.md#permissions)",
    "ERROR_GONE": "[what has ended](troubleshooting.md#what-has-ended)",
    "ERROR_NOT_FOUND": "[what is not found](troubleshooting.md#what-is-not-found)",
    "ERROR_FORMAT": "[files that cannot be read](troubleshooting.md#files-that-cannot-be-read)",
    "ERROR_UNSUPPORTED": "[what is not there](troubleshooting.md#what-pdb-cannot-do-here)",
    "ERROR_TIMEOUT": "[what does not answer](troubleshooting.md#what-does-not-answer)",
    "ERROR_INTERRUPTED": "Ctrl-C, or a signal; nothing is lost",
    "ERROR_VERSION": "[files that cannot be read](troubleshooting.md#files-that-cannot-be-read)",
    "ERROR_SYSTEM": "[what the system refuses](troubleshooting.md#what-the-system-refuses)",
    "prefix": "the beginning of another message, which follows it",
    "argp_error": "the command line: see `pdb --help`",
}


def take_call(text, start):
    """The arguments of the call whose parenthesis opens before `start`."""
    depth, i, quoted = 1, start, False
    while i < len(text) and depth:
        if text[i] == "\\" and quoted:
            i += 1
        elif text[i] == '"':
            quoted = not quoted
        elif not quoted:
            depth += {"(": 1, ")": -1}.get(text[i], 0)
        i += 1
    return text[start:i - 1]


def first_literal(arguments):
    """The first string of the arguments: pieces that stand side by side, PRI macros between them."""
    match = STRING.search(arguments)
    if not match:
        return None
    pieces, end = [match.group(1)], match.end()
    while True:
        more = re.compile(r'\s*(?:PRI\w+\s*)?"((?:[^"\\]|\\.)*)"').match(arguments, end)
        if not more:
            return "".join(pieces)
        pieces.append(more.group(1))
        end = more.end()


def plain(text):
    """As a person would see it, with ... for what differs."""
    text = text.replace("%%", "%\0")
    text = FORMAT.sub("...", text).replace("%\0", "%").replace("%", "...")
    text = text.replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\")
    return re.sub(r"\s+", " ", text).strip()


def list_messages():
    """{folder: {message: advice}}"""
    folders = {}
    for folder in SOURCES:
        messages = folders.setdefault(folder, {})
        for source in sorted((ROOT / folder).rglob("*.c")):
            if "recorder" in source.parts:
                continue
            text = source.read_text()
            for call in CALL.finditer(text):
                arguments = take_call(text, call.end())
                literal = first_literal(arguments)
                code = CODE.search(arguments)
                kind = {"error_set": code.group(0) if code else "ERROR_SYSTEM",
                        "error_errno": "ERROR_SYSTEM", "error_prefix": "prefix",
                        "argp_error": "argp_error", "refuse": "ERROR_USAGE"}[call.group(1)]
                message = plain(literal) if literal else ""
                # A message that is nothing but another one.
                if len(message.replace(".", "").strip()) > 2:
                    messages.setdefault(message, ADVICE.get(kind, ADVICE["ERROR_SYSTEM"]))
    return folders


def messages_page():
    titles = {"shell": "What was typed, and what pdb does about it", "attach": "Processes, hosts, daemons",
              "pmix": "PMIx", "model": "Files, segments, ranks", "analysis": "Analyses",
              "render": "Pictures"}
    lines = ["# Messages", "",
             "Every message that pdb ends a command with, and what to do where it does not say so itself.",
             "Three dots stand for names and numbers. Made from the sources by `make docs/messages.md`.",
             "How to go on is in [troubleshooting](troubleshooting.md).", ""]
    folders = list_messages()
    for folder in ("shell", "attach", "pmix", "model", "analysis", "render"):
        if not folders.get(folder):
            continue
        lines += [f"## {titles[folder]}", "", "| message | see |", "|---|---|"]
        for message, advice in sorted(folders[folder].items(), key=lambda item: item[0].lower()):
            text = message.replace("|", "\\|")
            # Code may hold anything but its own quotes.
            quote = "``" if "`" in text else "`"
            lines.append(f"| {quote}{text}{quote} | {advice} |")
        lines.append("")
    return "\n".join(lines)


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
    if "--messages" in sys.argv[2:]:
        print(messages_page(), end="")
        return 0
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
    lacking = [message for messages in list_messages().values() for message in messages
               if f"`{message}`" not in (DOCS / "messages.md").read_text().replace("\\|", "|")]
    count.check("messages in the sources that no page has", "\n".join(lacking))
    for page in sorted(set(pages) - reachable(ROOT / "README.md")):
        print(f"note: no link from README.md leads to {page.name}")
    for page in pages:
        check_links(page, count)
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
