#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Print a segment as lines of text. A second reader, written from docs/segment-format.md alone, so
that the format's description is tested; it knows nothing of pdb's code.

    dump_segment.py FILE             everything
    dump_segment.py --calls FILE     MPI function and number of recorded calls, summed over lanes
    dump_segment.py --evidence FILE  communicators, collectives, requests, operations and ledgers
"""
import os
import struct
import sys

LIVES = {1: "starting", 2: "running", 3: "finalizing", 4: "finalized", 5: "aborted", 6: "stopped"}
CLOCKS = {1: "monotonic", 2: "tsc", 3: "cntvct"}
NO_FRAME = NO_COMM = NO_MEMBERS = 0xFFFFFFFF
ALL_MEMBERS = NO_MEMBERS - 1
NO_BYTES = 0xFFFFFFFFFFFFFFFF
RECENT = 8
PEERS = {-1: "null", -2: "any", -3: "root", -4: "none"}
TAGS = {-1: "any", -2: "many", -3: "post", -4: "complete", -5: "leader", -6: "group"}
COMM_KINDS = {0: "intra", 1: "inter", 2: "window", 3: "file"}
REQUEST_KINDS = {0: "free", 1: "send", 2: "recv", 3: "matched", 4: "collective", 5: "lock",
                 6: "other"}
REQUEST_FLAGS = ["persistent", "active", "partitioned", "neighbours", "cancelled"]
NOTE_KINDS = {1: "gives", 2: "takes", 3: "gives root", 4: "takes root", 5: "gives each",
              6: "takes each", 7: "gives neighbours", 8: "takes neighbours", 9: "error",
              10: "leader"}
OPERATION_KINDS = {0: "other", 1: "send", 2: "recv", 3: "sendrecv", 4: "probe", 5: "wait_all",
                   6: "wait_any", 7: "collective", 8: "lock", 9: "local"}
OPERATION_FLAGS = ["incomplete", "neighbours", "buffered", "synchronous"]
# Which transfers of an operation are its own.
TRANSFERS = {"send": 1, "recv": 1, "sendrecv": 2, "probe": 1, "collective": 1, "lock": 1}


def text(raw):
    return bytes(raw).split(b"\0", 1)[0].decode("utf-8", "replace")


def named(names, value):
    return names.get(value, str(value))


def flags(names, bits):
    words = [name for i, name in enumerate(names) if bits >> i & 1]
    return "+".join(words + (["%#x" % (bits >> len(names))] if bits >> len(names) else [])) or "-"


def number(value):
    return "-" if value in (NO_COMM, NO_BYTES) else str(value)


def read_sparse(path):
    """The whole file; most of it is holes, which need not be read."""
    with open(path, "rb") as file:
        data = bytearray(os.fstat(file.fileno()).st_size)
        at = 0
        while True:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                return data
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            data[at:end] = os.pread(file.fileno(), end - at, at)
            at = end


class Table:
    def __init__(self, data, at, base):
        (offset, self.entry_size, self.capacity, self.count, self.dropped,
         self.allocated) = struct.unpack_from("<QIIIIQ", data, at)
        self.offset = base + offset
        self.data = data

    def entry(self, layout, i):
        return struct.unpack_from(layout, self.data, self.offset + i * self.entry_size)


class Segment:
    def __init__(self, data):
        self.data = data
        if data[:8] != b"PDBSEG\r\n":
            raise SystemExit("not a segment")
        (self.version, self.header_size, self.byte_order, self.features,
         self.file_size) = struct.unpack_from("<IIIIQ", data, 8)
        if self.version != 3 or self.byte_order != 0x01020304:
            raise SystemExit("version or byte order not known")
        (self.pid, self.rank, self.size, self.uid, self.pid_start, life,
         self.thread_level) = struct.unpack_from("<iiiIQIi", data, 32)
        self.life = LIVES.get(life, str(life))
        self.host = text(data[64:128])
        self.job = text(data[128:384])
        self.mpi_library = text(data[384:448])
        self.executable = text(data[448:704])
        (clock, _, self.start_ticks, self.start_mono, self.start_real, self.later_ticks,
         self.later_mono) = struct.unpack_from("<IIQQQQQ", data, 704)
        self.clock = CLOCKS.get(clock, str(clock))
        self.tables = [Table(data, 752 + 32 * t, 0) for t in range(7)]
        (self.lane_offset, self.lane_size, self.num_lanes, self.dropped_lanes, self.full_unwinds,
         self.abandoned) = struct.unpack_from("<QQIIQQ", data, 976)
        self.lanes = [Lane(self, i) for i in range(self.num_lanes)]

    def string(self, offset):
        table = self.tables[0]
        if offset >= table.count:
            raise SystemExit("string out of range")
        start = table.offset + offset
        return text(self.data[start:table.offset + table.count])

    def module(self, i):
        path, id_size, build_id = self.tables[1].entry("<IB32s", i)
        return self.string(path), build_id[:id_size].hex()

    def path(self, frame):
        """Frames, innermost first."""
        frames = []
        while frame != NO_FRAME:
            if frame >= self.tables[2].count:
                raise SystemExit("frame out of range")
            parent, module, offset = self.tables[2].entry("<IIQ", frame)
            if parent != NO_FRAME and parent >= frame:
                raise SystemExit("parent is not below its child")
            if module == NO_FRAME:
                frames.append("..." if offset == 0 else "%#x" % offset)
            else:
                frames.append("%s+%#x" % (self.module(module)[0].rsplit("/", 1)[-1], offset))
            frame = parent
        return frames

    def site(self, i):
        """(name, class, language, innermost frame)"""
        frame, name, class_id, language = self.tables[3].entry("<IIHH", i)
        return self.string(name), class_id, "fortran" if language else "c", frame

    def state(self, state):
        return "%s %s" % ("exit" if state & 1 else "enter", self.site(state // 2)[0])

    def members(self, first, num):
        """World ranks of a group, or ranks of a topology's sources; as text."""
        if first == ALL_MEMBERS:
            return "all"
        if first == NO_MEMBERS:
            return "?"
        if first + num > self.tables[5].count:
            raise SystemExit("members out of range")
        return ",".join(str(self.tables[5].entry("<i", first + i)[0]) for i in range(num))

    def comm(self, i):
        return Comm(self, i)

    def comms(self):
        return [Comm(self, i) for i in range(self.tables[4].count)]

    def requests(self):
        return [Request(self, i) for i in range(self.tables[6].count)]


class Comm:
    def __init__(self, segment, index):
        table = segment.tables[4]
        (self.id, self.parent_id, kind, self.site, self.ordinal, self.rank, self.size, members,
         self.remote_size, remote_members, self.num_sources, sources, name, self.is_freed,
         self.seq, num_destinations, self.collectives) = table.entry("<QQIIIiIIIIIIIIIIQ", index)
        self.index = index
        self.kind = named(COMM_KINDS, kind)
        self.members = segment.members(members, self.size)
        self.remote = segment.members(remote_members, self.remote_size)
        self.sources = segment.members(sources, self.num_sources)
        self.destinations = (segment.members(sources + self.num_sources, num_destinations)
                             if num_destinations else "")
        self.name = segment.string(name)
        self.made_by = segment.site(self.site)[0] if self.site else "-"
        self.recent = []  # (number, function, root, bytes), the latest first
        for n in range(self.collectives, max(0, self.collectives - RECENT), -1):
            started, size, site, root = struct.unpack_from(
                "<QQIi", table.data, table.offset + index * table.entry_size + 80 + n % RECENT * 24)
            if started == n:
                self.recent.append((n, segment.site(site)[0], named(PEERS, root), number(size)))


class Request:
    def __init__(self, segment, index):
        (self.seq, kind, bits, comm, peer, tag, self.ordinal, size, self.site, self.lane,
         self.ticks) = segment.tables[6].entry("<IIIIiiQQIIQ", index)
        self.index = index
        self.kind = named(REQUEST_KINDS, kind)
        self.flags = flags(REQUEST_FLAGS, bits)
        self.comm = number(comm)
        self.peer = named(PEERS, peer)
        self.tag = named(TAGS, tag)
        self.bytes = number(size)
        self.made_by = segment.site(self.site)[0] if self.site else "-"


class Operation:
    def __init__(self, segment, lane, at):
        (self.seq, kind, self.event, bits, self.num_waited,
         self.number) = struct.unpack_from("<IIQIIQ", segment.data, at)
        self.kind = named(OPERATION_KINDS, kind)
        self.flags = flags(OPERATION_FLAGS, bits)
        self.is_valid = (not self.seq & 1 and self.event == lane.events and
                         (not lane.state & 1 or lane.poll_site != 0))
        self.transfers = []  # (comm, peer, tag, ordinal, bytes)
        for i in range(TRANSFERS.get(self.kind, 0)):
            comm, peer, tag, _, ordinal, size = struct.unpack_from("<IiiIQQ", segment.data,
                                                                  at + 32 + 32 * i)
            self.transfers.append((number(comm), named(PEERS, peer), named(TAGS, tag), ordinal,
                                   number(size)))
        self.waited = [lane.waited.entry("<I", i)[0] for i in range(self.num_waited)]


class Lane:
    def __init__(self, segment, index):
        self.segment = segment
        base = segment.lane_offset + index * segment.lane_size
        data = segment.data
        self.use, self.tid, self.is_main, _, self.first_ticks = struct.unpack_from("<IiIIQ", data,
                                                                                    base)
        (self.seq, self.state, self.since, self.events, self.poll_site, self.in_poll, self.polls,
         self.poll_ticks) = struct.unpack_from("<IIQQIIQQ", data, base + 64)
        self.states, self.edges, self.ring, self.ledger, self.waited = (
            Table(data, base + 128 + 32 * t, base) for t in range(5))
        self.operation = Operation(segment, self, base + 288)
        self.base = base
        (self.note_offset, self.note_words, self.note_end,
         self.note_last) = struct.unpack_from("<IIQQ", data, base + 40)

    def state_stats(self, i):
        return self.states.entry("<QQ", i)

    def transitions(self):
        """(from, to, count), with the returns, each behind the first call."""
        into = [self.edges.entry("<IIQ", i) for i in range(self.edges.count)]
        calls, every = {}, []
        for _, to_state, count in into:
            calls[to_state] = calls.get(to_state, 0) + count
        for one in into:
            every.append(one)
            returns = calls.pop(one[1], 0) - (one[1] == self.state)
            if returns > 0:
                every.append((one[1], one[1] + 1, returns))
        return every

    def last_events(self):
        first = max(0, self.events - self.ring.capacity)
        return [self.ring.entry("<QI", i % self.ring.capacity)
                for i in range(first, self.events)]

    def rows(self):
        """(comm, peer, tag, cancelled, sends, sends_done, receives, receives_done, taken)"""
        for i in range(self.ledger.count):
            comm, peer, tag, *counts = self.ledger.entry("<IiiIQQQQQ", i)
            yield (number(comm), named(PEERS, peer), named(TAGS, tag), *counts)

    def notes(self):
        """(comm, number, kind, entries in bytes), the latest first, of the collectives that are
        remembered by the communicators they name."""
        at = self.note_last
        while at and at >= self.note_end - self.note_words:
            start = self.base + self.note_offset + at % self.note_words * 4
            started, comm_id, index, back, kind, num, unit = struct.unpack_from(
                "<QQIIIII", self.segment.data, start)
            at = at - back if back else 0
            comm = self.segment.comm(index)
            if comm.id != comm_id or (NOTE_KINDS[kind] != "leader" and
                                      comm.collectives - started >= RECENT):
                continue
            entries = struct.unpack_from("<%dI" % num, self.segment.data, start + 40)
            yield (index, started, NOTE_KINDS[kind],
                   ",".join("?" if entry >> 31 else str(entry * unit) for entry in entries))


def calls(segment):
    counts = {}
    for lane in segment.lanes:
        for from_state, to_state, count in lane.transitions():
            if not to_state & 1:
                name, _, language, _ = segment.site(to_state // 2)
                counts[name, language] = counts.get((name, language), 0) + count
    return counts


def dump_comms(segment):
    for comm in segment.comms():
        print("comm %d: id %#x parent %#x kind %s by %s ordinal %d rank %d size %d members %s" % (
            comm.index, comm.id, comm.parent_id, comm.kind, comm.made_by, comm.ordinal, comm.rank,
            comm.size, comm.members), end="")
        if comm.kind == "inter":
            print(" remote %d members %s" % (comm.remote_size, comm.remote), end="")
        if comm.num_sources or comm.sources != "?":
            print(" sources %s" % (comm.sources or "none"), end="")
        if comm.destinations:
            print(" destinations %s" % comm.destinations, end="")
        print(" name '%s'%s collectives %d" % (comm.name, " freed" if comm.is_freed else "",
                                              comm.collectives))
        for started, function, root, size in comm.recent:
            print("  collective %d: %s root %s bytes %s" % (started, function, root, size))


def dump_requests(segment):
    for request in segment.requests():
        if request.kind != "free":
            print("request %d: %s flags %s comm %s peer %s tag %s ordinal %d bytes %s by %s "
                  "lane %d" % (request.index, request.kind, request.flags, request.comm,
                               request.peer, request.tag, request.ordinal, request.bytes,
                               request.made_by, request.lane))


def dump_lane_evidence(lane):
    operation = lane.operation
    if operation.is_valid:
        print("  operation: %s flags %s number %d waited %s" % (
            operation.kind, operation.flags,
            operation.number if operation.kind == "collective" else 0,
            ",".join(map(str, operation.waited)) or "-"))
        for transfer in operation.transfers:
            print("    transfer: comm %s peer %s tag %s ordinal %d bytes %s" % transfer)
    else:
        print("  operation: not known")
    for row in lane.rows():
        print("  ledger: comm %s peer %s tag %s cancelled %d sends %d/%d receives %d/%d taken %d" %
              row)
    for note in lane.notes():
        print("  note: comm %d number %d %s %s" % note)
    if lane.ledger.dropped:
        print("  ledger: dropped %d" % lane.ledger.dropped)


def dump_evidence(segment):
    dump_comms(segment)
    dump_requests(segment)
    for i, lane in enumerate(segment.lanes):
        print("lane %d: tid %d state %s events %d" % (i, lane.tid, segment.state(lane.state),
                                                     lane.events))
        dump_lane_evidence(lane)


def dump(segment):
    for key in ("rank", "size", "pid", "life", "thread_level", "host", "job", "mpi_library",
                "executable", "clock", "num_lanes", "dropped_lanes", "full_unwinds", "abandoned"):
        print("%s: %s" % (key, getattr(segment, key)))
    print("dropped:", *(t.dropped for t in segment.tables))
    for i in range(segment.tables[1].count):
        print("module %d: %s %s" % (i, *segment.module(i)))
    for i in range(segment.tables[3].count):
        name, class_id, language, frame = segment.site(i)
        print("site %d: %s class %d %s: %s" % (i, name, class_id, language,
                                              " < ".join(segment.path(frame))))
    dump_comms(segment)
    dump_requests(segment)
    for i, lane in enumerate(segment.lanes):
        print("lane %d: use %d tid %d main %d state %s events %d polls %d at %s in_poll %d" % (
            i, lane.use, lane.tid, lane.is_main, segment.state(lane.state), lane.events,
            lane.polls, segment.site(lane.poll_site)[0] if lane.poll_site else "-",
            lane.in_poll))
        for from_state, to_state, count in lane.transitions():
            print("  %s (%d) -> %s (%d): %d" % (segment.state(from_state), from_state,
                                               segment.state(to_state), to_state, count))
        for state in range(2 * segment.tables[3].count):
            longest, polls = lane.state_stats(state)
            if longest or polls:
                print("  state %d: longest %d polls %d" % (state, longest, polls))
        last = lane.last_events()
        print("  ring: %d events, last %s" % (
            len(last), ", ".join(segment.state(state) for _, state in last[-4:])))
        dump_lane_evidence(lane)


def main():
    words = sys.argv[1:]
    segment = Segment(read_sparse(words[-1]))
    if words[0] == "--calls":
        for (name, language), count in sorted(calls(segment).items()):
            print(name, language, count)
    elif words[0] == "--evidence":
        dump_evidence(segment)
    else:
        dump(segment)


if __name__ == "__main__":
    main()
