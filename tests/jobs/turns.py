# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that run in turns, a moment each, so that whatever else goes on on the machine is the same for all of
them: what two such jobs take can be compared far better than what they take one after the other, as the
neighbours of a virtual machine come and go within seconds to minutes."""

import os
import select
import signal
import time

from . import process
from .job import JobError

# Long enough that the caches, which each job fills anew, do not matter: 0.5 s gives the same ratios.
TURN_S = 0.1
MAX_S = 600  # of a job


class _Runner:
    def __init__(self, start):
        began = time.monotonic()
        self.job = start()
        self.ended = os.pidfd_open(self.job.launcher.pid)
        self.seconds = 0.0
        self.is_done = False
        self._wait_for_end(began)

    def take_turn(self):
        """What a job waits for without computing, as launchers do when they start and end, goes on in the turns
        of others: so there are as many of these for the last job that is left as for the first that ends."""
        if self.is_done:
            time.sleep(TURN_S)
            return
        began = time.monotonic()
        self._signal(signal.SIGCONT)
        self._wait_for_end(began)

    def _wait_for_end(self, began):
        self.is_done = bool(select.select([self.ended], [], [], TURN_S)[0])
        if not self.is_done:
            self._signal(signal.SIGSTOP)
        self.seconds += time.monotonic() - began

    def _signal(self, number):
        """To the ranks. The launcher only waits; it would hand SIGCONT on to them, some time later."""
        for pid in process.list_descendants(self.job.launcher.pid):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def end(self):
        os.close(self.ended)
        self.job.end()


def run_in_turns(starts):
    """Start these jobs, each by calling a function that returns it, and run them to their ends. Returns the
    seconds that each has had, starting it included."""
    runners = []
    try:
        for start in starts:
            runners.append(_Runner(start))
        while not all(one.is_done for one in runners):
            for one in runners:
                one.take_turn()
                if one.seconds > MAX_S:
                    raise JobError(f"the job did not end in {MAX_S} s")
        for one in runners:
            if one.job.wait_for_end() != 0:
                raise JobError("the job failed: " + " | ".join(one.job.output()[-3:]))
        return [one.seconds for one in runners]
    finally:
        for one in runners:
            one.end()
