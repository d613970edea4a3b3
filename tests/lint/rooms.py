#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where sources do not keep to the rooms of docs/architecture.md.

usage: rooms.py BUILD

Includes: a room includes itself, what its row of the table names, headers of the folder around it, and
what that folder's row names of other folders. A header NAME_private.h is included by its own room only;
the recorder includes formats, what writes and removes them, and nothing else. Calls: no function of a
file leads, over functions of other files of its room, back to that file; BUILD has the objects."""
import collections
import pathlib
import re
import subprocess
import sys

FOLDERS = ("shell", "render", "analysis", "attach", "pmix", "model")
INCLUDE = re.compile(r'^#include "([a-z_0-9/]+/)([a-z_0-9]+\.h)"', re.M)
RECORDER = "model/recorder/"
RECORDER_MAY = ("model/segment/segment.h", "model/segment/segment_sweep.h", "model/trace/trace_format.h",
                "model/trace/trace_writer.h")
ROW = re.compile(r"^\| `([a-z/]+/)` \|[^|]*\| ([^|]*)\|$", re.M)


def read_rooms():
    text = pathlib.Path("docs/architecture.md").read_text()
    return {room: re.findall(r"`([^`]+)`", names) for room, names in ROW.findall(text)}


def is_allowed(rooms, room, folder, header):
    around = room.split("/")[0] + "/"
    if folder in (room, around) or (room == RECORDER and folder + header in RECORDER_MAY):
        return True
    named = rooms[room] + [entry for entry in rooms[around] if not entry.startswith(around)]
    return room != RECORDER and any(folder.startswith(entry) for entry in named)


def check_includes(rooms, sources):
    bad = []
    for path in sources:
        room = str(path.parent) + "/"
        if room not in rooms:
            bad.append(f"{path}: docs/architecture.md has no room {room}")
            continue
        for folder, header in INCLUDE.findall(path.read_text()):
            if folder.split("/")[0] not in FOLDERS:
                continue
            if header.endswith("_private.h") and folder != room:
                bad.append(f"{path}: {folder}{header} is private to {folder}")
            elif not is_allowed(rooms, room, folder, header):
                bad.append(f"{path}: {room} must not include {folder}{header}")
    return bad


def read_symbols(objects):
    """The object that defines each global function, and the names that each object needs."""
    owner, needs = {}, collections.defaultdict(set)
    out = subprocess.run(["nm", "-A", "--format=posix"] + objects, capture_output=True, text=True, check=True)
    for line in out.stdout.splitlines():
        path, name, kind = line.split()[:3]
        path = path.rstrip(":")
        if kind in "TDBRVW":
            owner[name] = path
        elif kind == "U":
            needs[path].add(name)
    return owner, needs


def find_circles(arrows):
    """Strongly connected components of two or more, as Tarjan finds them."""
    number, low, stack, circles = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(arrows[node]):
            if other not in number:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                circles.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(arrows):
        if node not in number:
            visit(node)
    return circles


def check_circles(build, sources):
    objects = [f"{build}/{path.with_suffix('.o')}" for path in sources if path.suffix == ".c"]
    owner, needs = read_symbols([path for path in objects if pathlib.Path(path).exists()])
    arrows = {path: set() for path in objects}
    for path, names in needs.items():
        room = path.rpartition("/")[0]
        arrows[path] = {owner[n] for n in names if n in owner and owner[n] != path
                        and owner[n].rpartition("/")[0] == room}
    bad = []
    for circle in find_circles(arrows):
        bad.append("files call each other in a circle: " + " ".join(circle))
        for path in circle:
            for name in sorted(needs[path]):
                if owner.get(name) in circle and owner[name] != path:
                    bad.append(f"  {path} calls {name}() of {owner[name]}")
    return bad


def main():
    sys.setrecursionlimit(10000)
    rooms = read_rooms()
    sources = sorted(path for folder in FOLDERS for path in pathlib.Path(folder).rglob("*.[ch]"))
    failed = 0
    for bad in (check_includes(rooms, sources), check_circles(sys.argv[1], sources)):
        failed += bool(bad)
        print("\n".join(bad), end="\n" if bad else "", file=sys.stderr)
    print(f"{2 - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
