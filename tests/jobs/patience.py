# SPDX-License-Identifier: BSD-3-Clause
"""Waiting that a standstill of the machine does not use up. Virtual machines have been seen to stand
still for minutes: their clocks go on, and what is waited for does not."""

import time

_LOOK_S = 1  # a longer time between two looks was a standstill, or the test itself was busy


class Patience:
    """So many seconds of waiting, as long as is_over() is asked at least once a second."""

    def __init__(self, seconds):
        self.seconds = seconds
        self._left = seconds
        self._looked = time.monotonic()

    def is_over(self):
        now = time.monotonic()
        self._left -= min(now - self._looked, _LOOK_S)
        self._looked = now
        return self._left <= 0
