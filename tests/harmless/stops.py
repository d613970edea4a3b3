# SPDX-License-Identifier: BSD-3-Clause
"""How long ranks stand still, as tests/harmless/stops.c measures it."""

import os
import subprocess


class Stops:
    """From its making until end()."""

    def __init__(self, build, pids):
        program = os.path.join(build, "tests", "harmless", "stops")
        self._process = subprocess.Popen([program, *map(str, pids)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        self._process.stdout.readline()

    def end(self):
        """How many stops were seen, and the longest one's least and most length in milliseconds."""
        output, _ = self._process.communicate()
        number, at_least, at_most = map(int, output.split())
        return number, at_least / 1000, at_most / 1000
