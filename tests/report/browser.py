#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Open the pages of a folder in headless Chromium: nothing is complained of, a click on the box of a
group leads to its ranks and stack, graphs grow, stacks fold, and without scripts all is there, too.
usage: browser.py FOLDER. Ends with a line: N passed, N failed."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

PATIENCE = 120  # seconds until a browser that says nothing is given up


class Browser:
    """Chromium, asked over its pipes: messages of JSON that end with a zero byte."""

    def __init__(self, profile):
        to_browser, self.ask_fd = os.pipe()
        self.answer_fd, from_browser = os.pipe()

        def hand_over():
            for fd, number in ((os.dup(to_browser), 3), (os.dup(from_browser), 4)):
                os.dup2(fd, number)

        self.process = subprocess.Popen(
            ["timeout", str(PATIENCE), "chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", "--user-data-dir=" + profile, "about:blank"],
            preexec_fn=hand_over, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.events = 0, b"", []
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.answer_fd, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        os.write(self.ask_fd, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        self.events = []
        self.ask("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        return answer["result"].get("value")

    def complaints(self):
        names = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        return [event for event in self.events if event.get("method") in names]

    def close(self):
        self.process.terminate()
        self.process.wait()


CLICK = """(() => {
    const box = document.querySelector("#progress .graph a");
    box.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
    const group = document.querySelector(":target");
    return Boolean(group) && /rank/.test(group.innerText) && Boolean(group.querySelector(".stack"));
})()"""
GROW = """(() => {
    const svg = document.querySelector("#progress svg"), before = svg.clientWidth;
    document.querySelector("#progress .tools button").click();
    return svg.clientWidth > before;
})()"""
FOLD = """(() => {
    const buttons = document.querySelectorAll("#stacks .tools button");
    buttons[1].click();
    return !document.querySelector("#stacks details[open]");
})()"""
PLAIN = """(() => ["verdict", "progress", "groups", "loops", "waits", "collectives", "stacks", "job"].every(
    (id) => document.getElementById(id).innerText.length > 10) && !document.querySelector(".tools"))()"""


def check_page(browser, path):
    browser.open(path)
    yield "opens without complaints", not browser.complaints()
    yield "a box leads to its group", browser.run(CLICK)
    yield "a graph grows", browser.run(GROW)
    yield "stacks fold", browser.run(FOLD)
    yield "fits a narrow window", browser.run("document.documentElement.scrollWidth <= innerWidth")
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(path)
    browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    yield "is all there without scripts", browser.run(PLAIN)


def main():
    pages = sorted(glob.glob(os.path.join(sys.argv[1], "*.html")))
    profile = tempfile.mkdtemp(prefix="pdb-report.")
    browser = Browser(profile)
    passed = failed = 0
    try:
        for path in pages:
            for name, is_so in check_page(browser, path):
                passed, failed = passed + bool(is_so), failed + (not is_so)
                if not is_so:
                    print("FAILED  %s: %s" % (os.path.basename(path), name))
                    print("    %s" % json.dumps(browser.complaints())[:500])
    finally:
        browser.close()
        shutil.rmtree(profile, ignore_errors=True)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
