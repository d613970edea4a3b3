# SPDX-License-Identifier: BSD-3-Clause
"""Running tests and counting them: one line for each, and the sum as the last line."""

import fnmatch
import os
import sys
import time

from .job import JobError


class Failure(Exception):
    """What a test found wrong."""


class Skip(Exception):
    """Why a test cannot be run here."""


def check(condition, message):
    if not condition:
        raise Failure(message)


class Report:
    def __init__(self, only=None, repeat=None):
        self.only = only or os.environ.get("TEST") or "*"
        self.repeat = int(repeat or os.environ.get("REPEAT") or 1)
        self.passed = self.failed = self.skipped = 0

    def is_selected(self, name):
        """A name is selected by a pattern, or by words that are all in it."""
        return fnmatch.fnmatch(name, self.only) or all(
            word in name for word in self.only.split())

    def run(self, name, test, *arguments):
        """One test: a function that raises what is wrong."""
        if not self.is_selected(name):
            return
        began = time.monotonic()
        try:
            test(*arguments)
            self.passed += 1
            print(f"ok    {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Skip as skip:
            self.skipped += 1
            print(f"skip  {name}: {skip}", flush=True)
        except (Failure, JobError) as failure:
            self.fail(name, failure)

    def fail(self, name, why):
        self.failed += 1
        print(f"FAIL  {name}: {why}", flush=True)

    def finish(self):
        """Print the sum and end with the status for make."""
        if self.skipped:
            print(f"({self.skipped} skipped)")
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)
