# SPDX-License-Identifier: BSD-3-Clause
"""Compare the communicators in the segments of a job with what its ranks found by communicating.

Usage: check_comms.py CHECK_DIR SEGMENT...   (the format of CHECK_DIR/truth.RANK: see comms.c)
Ids must be equal in all members, and different for everything else."""
import sys

from dump_segment import Segment

ROOTS = {"-4": "none", "-3": "root", "-1": "null"}


class Checker:
    def __init__(self, directory):
        self.directory = directory
        self.wrong = 0
        self.ids = {}  # name -> id
        self.of_id = {}  # id -> name
        self.groups = {}  # id -> both groups

    def expect(self, where, what, is_, should):
        if is_ != should:
            print("%s: %s is %s, should be %s" % (where, what, is_, should))
            self.wrong += 1

    def one_id(self, where, name, comm):
        """Every rank that has this name has the same id, and no other name has it."""
        if comm.id == 0:
            self.expect(where, "id", 0, "known")
            return
        self.expect(where, "id", comm.id, self.ids.setdefault(name, comm.id))
        self.expect(where, "name of the id", name, self.of_id.setdefault(comm.id, name))

    def comm(self, where, segment, words):
        name, kind, rank, members, remote, known = words
        found = [c for c in segment.comms() if c.name == name and not c.is_freed]
        self.expect(where, "entries", len(found), 1)
        for c in found:
            self.expect(where, "kind", c.kind, kind)
            self.expect(where, "rank", c.rank, int(rank))
            self.expect(where, "members", listed(c.members, c.size), members)
            self.expect(where, "remote", listed(c.remote, c.remote_size), remote)
            if known == "1":
                self.one_id(where, name, c)
            else:
                self.expect(where, "id", c.id, 0)

    def file(self, where, segment, words):
        parent, rank, members = words
        c = file_of(segment, parent)
        self.expect(where, "file", c is not None, True)
        if c:
            self.expect(where, "rank", c.rank, int(rank))
            self.expect(where, "members", listed(c.members, c.size), members)
            self.one_id(where, "file of " + parent, c)

    def sources(self, where, segment, words):
        for c in named(segment, words[0]):
            self.expect(where, "sources", c.sources, words[1])

    def collective(self, where, segment, words):
        name, number, function, root, size = words
        comms = ([file_of(segment, name[len("file-of-"):])] if name.startswith("file-of-")
                 else named(segment, name))
        for c in comms:
            should = (int(number), function, ROOTS.get(root, root), "-" if size == "-1" else size)
            if int(number) > c.collectives - 8:
                found = [tuple(map(str, r)) for r in c.recent if r[0] == int(number)]
                self.expect(where, "collective", found, [tuple(map(str, should))])
            self.expect(where, "so many", c.collectives >= int(number), True)

    def last_collective(self, where, segment, name, number):
        for c in named(segment, name):
            self.expect(where, "collectives", c.collectives, number)

    def rank(self, segment):
        last = {}
        world, own = segment.comms()[:2]
        self.expect("world", "members", (world.members, world.rank), ("all", segment.rank))
        self.one_id("world", "world", world)
        self.expect("self", "members", listed(own.members, 1), str(segment.rank))
        self.one_id("self", "self of %d" % segment.rank, own)
        with open("%s/truth.%d" % (self.directory, segment.rank)) as lines:
            for line in lines:
                kind, *words = line.split()
                where = "rank %d: %s" % (segment.rank, line.strip())
                getattr(self, kind)(where, segment, words)
                if kind == "collective":
                    last[words[0]] = int(words[1])
        for name, number in last.items():
            self.last_collective("rank %d: %s" % (segment.rank, name), segment, name, number)
        self.unnamed(segment)

    def unnamed(self, segment):
        """Also of those that were freed or not named: no id is that of other members."""
        for c in segment.comms():
            groups = sorted([listed(c.members, c.size), listed(c.remote, c.remote_size)])
            if c.id:
                self.expect("rank %d: comm %d" % (segment.rank, c.index), "groups",
                            self.groups.setdefault(c.id, groups), groups)
        ids = [c.id for c in segment.comms() if c.id]
        self.expect("rank %d" % segment.rank, "different ids", len(set(ids)), len(ids))


def listed(members, size):
    return "-" if size == 0 else ",".join(map(str, range(size))) if members == "all" else members


def named(segment, name):
    return [c for c in segment.comms() if c.name == name and not c.is_freed]


def file_of(segment, parent):
    ids = [c.id for c in named(segment, parent)]
    found = [c for c in segment.comms() if c.kind == "file" and c.parent_id in ids and
             not c.is_freed]
    return found[-1] if found else None


def main():
    checker = Checker(sys.argv[1])
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            checker.rank(Segment(file.read()))
    print("%d ids agree, %d wrong" % (len(checker.ids), checker.wrong))
    return checker.wrong != 0 or not checker.ids


if __name__ == "__main__":
    sys.exit(main())
