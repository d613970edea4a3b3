# SPDX-License-Identifier: BSD-3-Clause
""""pdb watch" beside a job: when it tells of a hang, and what it says."""

import json
import signal
import subprocess
import threading
import time

from jobs.job import JobError
from jobs.patience import Patience

from . import verdict

BEGIN_S = 60
# pdb's words for kinds, in those of verdict.py.
_KINDS = {"lost message": "lost", "communication": "likely"}


class Watcher:
    """A context; at its end the watching has ended."""

    def __init__(self, pdb, job, snapshot=None):
        self.job = job
        self.began = time.monotonic()
        self.ended = None
        self.lines = []
        command = [pdb, "watch", "--pid", str(job.pid), "--json"]
        if snapshot:
            command += ["--save", snapshot]
        self.running = subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        errors="replace")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.running.stdout:
            self.lines.append(line.rstrip("\n"))
            if self.hang() and self.ended is None:
                self.ended = time.monotonic()

    def __enter__(self):
        self.job.wait_for(lambda: self.lines or self.running.poll() is not None,
                          "pdb watch has not begun", BEGIN_S)
        if not self._find("begin"):
            self.__exit__()
            raise JobError("pdb watch cannot watch: " + " | ".join(self.lines))
        return self

    def __exit__(self, *_):
        if self.running.poll() is None:
            self.running.send_signal(signal.SIGINT)
        try:
            self.running.wait(10)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()
        self._reader.join(5)

    def _find(self, name):
        """The event of this name, or None."""
        for line in self.lines.copy():
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if event.get("event") == name:
                return event
        return None

    def hang(self):
        return self._find("hang")

    def wait_for_hang(self, seconds):
        """Until it is told, or the watching has ended, or for so long."""
        patience = Patience(seconds)
        while not self.hang() and self.running.poll() is None and not patience.is_over():
            time.sleep(0.05)
        return self.hang()

    def report(self, by, since):
        """For the raw data. `since`: when the fault was made; None: never."""
        event = self.hang()
        return {"by": by, "event": event, "status": self.running.poll(),
                "watched_s": round((self.ended or time.monotonic()) - self.began, 1),
                "delay_s": round(self.ended - since, 1) if self.ended and since else None,
                "output": self.lines[-5:]}


def answer_of(event):
    """As verdict.parse() has it of lp's text."""
    kind = event["kind"]
    return {"ranks": verdict.parse_ranks(event["ranks"]) if event["ranks"] else [],
            "kind": _KINDS.get(kind, kind), "undecided": False, "sure": event.get("certain", True)}


def judge(line):
    """Of a run's raw data: "right", "wrong", "missed" or a "false alarm"."""
    event = line["watch"]["event"]
    if line["fault"] in ("healthy", "slow"):
        return "false alarm" if event else "right"
    if not event:
        return "missed"
    if line["watch"]["delay_s"] is None or line["outcome"] == verdict.MOVED_ON:
        return "false alarm"
    return verdict.judge(line["fault"], line["truth"], answer_of(event))
