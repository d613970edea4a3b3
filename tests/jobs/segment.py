# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of model segments, written from docs/segment-format.md alone, and only as much
as the tests need to wait for events: whose a segment is and how far its threads have come."""

import os
import struct
from dataclasses import dataclass

MAGIC = b"PDBSEG\r\n"
LIFE_RUNNING = 2

# Offsets in the header and in a lane.
_HEADER = struct.Struct("=8sIIIIQiiiIQIi")  # magic ... thread_level
_LANES = struct.Struct("=QQI")  # lane_offset, lane_size, num_lanes
_LANES_AT = 976
_LANE = struct.Struct("=IiI")  # use, tid, is_main
_CURRENT = struct.Struct("=IIQQIIQQ")  # seq, state, since, events, poll_site, in_poll, polls, ...
_CURRENT_AT = 64


@dataclass
class Lane:
    tid: int
    is_main: bool
    state: int
    events: int
    polls: int

    @property
    def is_in_mpi(self):
        return self.state % 2 == 0


@dataclass
class Segment:
    path: str
    pid: int
    start: int  # of the process, as in /proc/PID/stat
    rank: int
    size: int
    life: int
    lanes: list

    @property
    def events(self):
        return sum(lane.events for lane in self.lanes)


def read_segment(path):
    """The segment in this file, or None if it is not (yet) one."""
    try:
        with open(path, "rb") as file:
            return _read(path, file)
    except (FileNotFoundError, struct.error):
        return None


def _read(path, file):
    header = file.read(4096)
    fields = _HEADER.unpack_from(header)
    if fields[0] != MAGIC:
        return None
    _, _, _, _, _, _, pid, rank, size, _, start, life, _ = fields
    offset, lane_size, num_lanes = _LANES.unpack_from(header, _LANES_AT)
    lanes = []
    for number in range(num_lanes):
        data = os.pread(file.fileno(), 512, offset + number * lane_size)
        _, tid, is_main = _LANE.unpack_from(data)
        _, state, _, events, _, _, polls, _ = _CURRENT.unpack_from(data, _CURRENT_AT)
        lanes.append(Lane(tid, bool(is_main), state, events, polls))
    return Segment(path, pid, start, rank, size, life, lanes)


def find_segments(starts, directory="/dev/shm"):
    """The segments of processes, given by pid and start time: a pid alone may also be that of an
    earlier process, which has left a segment behind."""
    found = []
    for name in os.listdir(directory):
        suffix = name.rpartition(".")[2]
        if name.startswith("pdb.") and suffix.isdigit() and int(suffix) in starts:
            one = read_segment(os.path.join(directory, name))
            if one and one.start == starts[int(suffix)]:
                found.append(one)
    return found
