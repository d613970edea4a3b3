#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Print a segment as lines of text. A second reader, written from docs/segment-format.md alone, so
that the format's description is tested; it knows nothing of pdb's code.

    dump_segment.py FILE          everything
    dump_segment.py --calls FILE  MPI function and number of recorded calls, summed over lanes
"""
import struct
import sys

LIVES = {1: "starting", 2: "running", 3: "finalizing", 4: "finalized", 5: "aborted", 6: "stopped"}
CLOCKS = {1: "monotonic", 2: "tsc", 3: "cntvct"}
NO_FRAME = 0xFFFFFFFF


def text(raw):
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


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
        if self.version != 1 or self.byte_order != 0x01020304:
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
        self.tables = [Table(data, 752 + 32 * t, 0) for t in range(4)]
        (self.lane_offset, self.lane_size, self.num_lanes, self.dropped_lanes, self.full_unwinds,
         self.abandoned) = struct.unpack_from("<QQIIQQ", data, 880)
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


class Lane:
    def __init__(self, segment, index):
        self.segment = segment
        base = segment.lane_offset + index * segment.lane_size
        data = segment.data
        self.use, self.tid, self.is_main, _, self.first_ticks = struct.unpack_from("<IiIIQ", data,
                                                                                    base)
        (self.seq, self.state, self.since, self.events, self.poll_site, self.in_poll, self.polls,
         self.poll_ticks) = struct.unpack_from("<IIQQIIQQ", data, base + 64)
        self.states, self.edges, self.ring = (Table(data, base + 128 + 32 * t, base)
                                              for t in range(3))

    def state_stats(self, i):
        return self.states.entry("<QQ", i)

    def transitions(self):
        return [self.edges.entry("<IIQ", i) for i in range(self.edges.count)]

    def last_events(self):
        first = max(0, self.events - self.ring.capacity)
        return [self.ring.entry("<QI", i % self.ring.capacity)
                for i in range(first, self.events)]


def calls(segment):
    counts = {}
    for lane in segment.lanes:
        for from_state, to_state, count in lane.transitions():
            if not to_state & 1:
                name, _, language, _ = segment.site(to_state // 2)
                counts[name, language] = counts.get((name, language), 0) + count
    return counts


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


def main():
    words = sys.argv[1:]
    only_calls = words[:1] == ["--calls"]
    with open(words[-1], "rb") as file:
        segment = Segment(file.read())
    if only_calls:
        for (name, language), count in sorted(calls(segment).items()):
            print(name, language, count)
    else:
        dump(segment)


if __name__ == "__main__":
    main()
