# SPDX-License-Identifier: BSD-3-Clause
"""Running tests and counting them: one line for each, and the sum as the last line."""

import concurrent.futures
import fnmatch
import os
import sys
import threading
import time

from .job import JobError

# A job that hangs is waited for most of the time, so that some can be had at once.
WORKERS = 2 * (os.cpu_count() or 1)


class Failure(Exception):
    """What a test found wrong."""


class Skip(Exception):
    """Why a test cannot be run here."""


def check(condition, message):
    if not condition:
        raise Failure(message)


class Report:
    """Tests are added and run when the report is finished, several at once, then those that are to
    run alone."""

    def __init__(self, only=None, repeat=None, workers=None):
        self.only = only or os.environ.get("TEST") or "*"
        self.repeat = int(repeat or os.environ.get("REPEAT") or 1)
        self.workers = int(os.environ.get("WORKERS") or workers or WORKERS)
        self.passed = self.failed = self.skipped = 0
        self._tests, self._alone = [], []
        self._lock = threading.Lock()

    def is_selected(self, name):
        """A name is selected by a pattern, or by words that are all in it."""
        return fnmatch.fnmatch(name, self.only) or all(
            word in name for word in self.only.split())

    def add(self, name, test, *arguments, is_alone=False):
        """A function that raises what is wrong, and returns what is to be said of a success or
        None. It shares nothing with other tests that it changes. is_alone: nor the machine."""
        if self.is_selected(name):
            (self._alone if is_alone else self._tests).append((name, test, arguments))

    def _run(self, name, test, arguments):
        began = time.monotonic()
        try:
            said = test(*arguments)
            self._count("passed", f"ok    {name} ({time.monotonic() - began:.1f} s)", said)
        except Skip as skip:
            self._count("skipped", f"skip  {name}: {skip}")
        except (Failure, JobError) as failure:
            self._count("failed", f"FAILED  {name}", failure)
        except Exception as error:  # of the test itself: the other tests are to go on
            self._count("failed", f"FAILED  {name}", f"{type(error).__name__}: {error}")

    def _count(self, outcome, line, said=None):
        with self._lock:
            setattr(self, outcome, getattr(self, outcome) + 1)
            print(line + (f"\n      {said}" if said else ""), flush=True)

    def finish(self):
        """Run the tests, print the sum and end with the status for make."""
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            for _ in range(self.repeat):
                for name, test, arguments in self._tests:
                    pool.submit(self._run, name, test, arguments)
        for _ in range(self.repeat):
            for name, test, arguments in self._alone:
                self._run(name, test, arguments)
        if self.skipped:
            print(f"({self.skipped} skipped)")
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)
