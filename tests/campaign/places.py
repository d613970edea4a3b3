# SPDX-License-Identifier: BSD-3-Clause
"""Where a program really is: places in its own code, found by looking at the stacks of its ranks."""

import os
import re
import subprocess
from dataclasses import dataclass

from jobs.job import JobError

# Not the program's own: MPI and what is below it, libc, language runtimes, mathematics, and ours.
_OTHERS = re.compile(
    r"^(libmpi|libmpich|libopen-|libpmix|libpmi|libevent|libhwloc|libuc[pstm]|libfabric|libpsm|librdma|libib"
    r"|mca_|libc[.-]|libm[.-]|libmvec|ld-linux|libpthread|libdl|librt|libgcc|libgomp|libstdc|libgfortran"
    r"|libquadmath|libblas|liblapack|libopenblas|libatlas|libblis|libfftw|libscalapack|libpdbrec|libfault|libunwind"
    r"|liblzma|libz[.-]|MPI\.)|^\[")
_FRAME = re.compile(r"^#\d+ +0x([0-9a-f]+)")
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Place:
    """An instruction that is being executed or will be returned to, as inject takes it."""

    module: str
    offset: int

    def __str__(self):
        return f"{self.module}+0x{self.offset:x}"


def _read_modules(pid):
    """[(start, end, name)] of mapped files, and {name: lowest address}."""
    ranges, bases = [], {}
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            lines = list(file)
    except (FileNotFoundError, ProcessLookupError):
        raise JobError("the job ended before the fault") from None
    for line in lines:
        fields = line.split(maxsplit=5)
        if len(fields) == 6:
            start, end = (int(part, 16) for part in fields[0].split("-"))
            name = os.path.basename(fields[5].strip())
            bases.setdefault(name, start)
            ranges.append((start, end, name))
    return ranges, bases


def _read_stack(pid):
    """The addresses in the frames of the main thread, the innermost first."""
    try:
        text = subprocess.run(["eu-stack", "-1", "-n", "64", "-p", str(pid)], text=True,
                              capture_output=True, errors="replace", timeout=_TIMEOUT_S).stdout
    except subprocess.TimeoutExpired:
        return []
    addresses = [int(match.group(1), 16) for match in map(_FRAME.match, text.splitlines()) if match]
    # All but the first are where a call returns to, which may be behind its function.
    return [address - (number > 0) for number, address in enumerate(addresses)]


def find_places(pid, wanted=None):
    """In the program's own code (`wanted`: a pattern of the modules that count as that), of one look
    at this process, the innermost first. Empty if it is elsewhere."""
    ranges, bases = _read_modules(pid)
    places = []
    for address in _read_stack(pid):
        name = next((name for start, end, name in ranges if start <= address < end), None)
        if name is None or not (re.search(wanted, name) if wanted else not _OTHERS.match(name)):
            continue
        places.append(Place(name, address - bases[name]))
    return places
