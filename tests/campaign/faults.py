# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of fault that a campaign makes in running ranks, and the truth about each that was made."""

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass, field

from jobs.job import JobError

from .places import find_places

LOOKS = 12  # at most, at stacks, until functions have been found
TRIES = 6  # functions at most, until one is called
ROUNDS = 2  # of looks and tries
CALL_S = 10  # in which a function must be called
LINE_S = 60  # in which a fault of communication must come
SECOND_S = 10  # and of two ranks' the second

# Verdicts of pdb that are right about each kind (see verdict.py); any, if none is given.
KINDS = {
    "loop": ("computation",),
    "sleep": ("computation",),
    "stop": ("stopped",),
    # Who waits for a message and sends the next one after it closes a circle: that is both.
    "lost": ("lost", "deadlock", "likely"),
    "collective": ("mismatch", "deadlock", "likely"),
    "deadlock": ("deadlock", "likely"),
    "branch": (),
    "slow": (),
    "healthy": (),
}
FAULTS = tuple(KINDS)
IN_CODE = ("loop", "sleep", "branch")
# Of communication, made by the library in tests/fault, which only these jobs have.
_SIGNALS = {"lost": signal.SIGUSR1, "collective": signal.SIGUSR2,
            "deadlock": signal.SIGRTMIN + 2, "slow": signal.SIGRTMIN + 3}
OF_LIBRARY = tuple(_SIGNALS)


class NotInjected(Exception):
    """The fault could not be made, and the job is as it was."""


@dataclass
class Truth:
    """What the injector did."""

    ranks: list
    what: str
    tried: list = field(default_factory=list)  # what was not called, or could not be changed
    since: float = field(default_factory=time.monotonic)  # when it took effect


def _look_for_places(job, rank, generator, modules, tried):
    """Places in random order that have not been tried. Other ranks are looked at, too: where they are
    this one will come."""
    seen = []
    for number in range(LOOKS):
        who = rank if number % 2 == 0 else generator.randrange(job.size)
        places = find_places(job.pids[who], modules)
        # The outermost is main(), which will not be called again.
        seen += [place for place in places[:max(1, len(places) - 1)]
                 if place not in seen and place not in tried]
        if len(seen) >= 2 * TRIES:
            break
    generator.shuffle(seen)
    return seen[:TRIES]


def _inject_in_code(tool, job, fault, rank, generator, modules):
    options = {"loop": [], "sleep": ["--sleep"],
               "branch": ["--turn", str(generator.randrange(6))]}[fault]
    skip = str(generator.choice((0, 0, 1, 3, 10)))
    tried = {}
    for _ in range(ROUNDS):
        for place in _look_for_places(job, rank, generator, modules, tried):
            command = [tool, *options, "--around", "--skip", skip, "--timeout", str(CALL_S),
                       str(job.pids[rank]), str(place)]
            result = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                    check=False)
            if result.returncode == 0:
                name, address = result.stdout.split()[-2:]
                what = f"{name} {address} skip {skip} {' '.join(options)}".rstrip()
                return Truth([rank], what, [f"{one}: {why}" for one, why in tried.items()])
            tried[place] = result.stderr.strip()
    raise NotInjected("; ".join(f"{one}: {why}" for one, why in tried.items()) or
                      "no place in the program's code was seen")


def _fault_lines(job, ranks):
    """What the library has said, by rank."""
    said = {}
    for line in job.output():
        match = re.search(r"fault: rank (\d+) (.*)", line)
        if match and int(match.group(1)) in ranks:
            said[int(match.group(1))] = f"rank {match.group(1)} {match.group(2)}"
    return said


def _inject_by_signal(job, fault, ranks):
    for rank in ranks:
        os.kill(job.pids[rank], _SIGNALS[fault])
    if fault == "slow":
        return Truth(ranks, "ten times slower")
    try:
        job.wait_for(lambda: _fault_lines(job, ranks), "no call that the fault is of", LINE_S)
    except JobError as error:
        raise NotInjected(str(error).split("\n", 1)[0]) from None
    since = time.monotonic()
    try:
        # Of a deadlock's two ranks one may already wait for the other without a call of its own.
        job.wait_for(lambda: len(_fault_lines(job, ranks)) == len(ranks), "one rank only", SECOND_S)
    except JobError:
        pass
    said = _fault_lines(job, ranks)
    return Truth(ranks, "; ".join(said[rank] for rank in sorted(said)), since=since)


def inject(tool, job, fault, ranks, generator, modules):
    """Until it is in effect. Returns the truth."""
    if fault == "healthy":
        return Truth([], "")
    if fault == "stop":
        os.kill(job.pids[ranks[0]], signal.SIGSTOP)
        return Truth(ranks, "SIGSTOP")
    if fault in IN_CODE:
        return _inject_in_code(tool, job, fault, ranks[0], generator, modules)
    return _inject_by_signal(job, fault, ranks)


def wait_a_while(job, seconds):
    """The random moment of a fault."""
    end = time.monotonic() + seconds
    job.wait_for(lambda: time.monotonic() > end, "the moment did not come")
