#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is each page of the command line complete in itself, small and well formed? Elements are closed in
order, ids are there once, links lead to them, nothing is loaded, and only one script is there, by the
policy's nonce. Status 1 and why if not."""
import html.parser
import re
import sys

VOID = {"meta", "link", "br", "img", "input"}
MOST_BYTES = 2000000


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.faults, self.ids, self.links = [], [], [], []
        self.policy, self.nonces, self.scripts, self.headings = "", [], 0, 0

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.scripts += tag == "script"
        self.headings += tag == "h1"
        if tag in ("img", "iframe", "object", "embed", "link", "base", "form"):
            self.faults.append("element " + tag)
        for name, value in attrs.items():
            if name.startswith("on") or name in ("src", "style", "srcdoc"):
                self.faults.append("%s has %s" % (tag, name))
            if name in ("href", "xlink:href"):
                self.links.append(value)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if "nonce" in attrs:
            self.nonces.append(attrs["nonce"])
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append("</%s> closes %s" % (tag, self.open[-1:]))
        else:
            self.open.pop()


def check(path):
    with open(path, "rb") as file:
        text = file.read()
    page = Page()
    page.feed(text.decode("utf-8"))
    page.close()
    faults = page.faults
    if page.open:
        faults.append("left open: %s" % page.open)
    if len(text) > MOST_BYTES:
        faults.append("%d bytes" % len(text))
    # Graphviz numbers the parts of each of its graphs anew; nothing leads there.
    ids = [name for name in page.ids if not re.fullmatch(r"(a_)?(graph|node|edge)\d+|a_(node|edge)\d+.*", name)]
    if len(ids) != len(set(ids)):
        faults.append("ids are there twice")
    faults += ["%s leads nowhere" % link for link in set(page.links) if link[0] != "#" or link[1:] not in ids]
    if page.scripts != 1 or len(set(page.nonces)) != 1 or len(page.nonces) != 2:
        faults.append("%d scripts, nonces %s" % (page.scripts, page.nonces))
    elif "default-src 'none'" not in page.policy or "unsafe" in page.policy or page.nonces[0] not in page.policy:
        faults.append("policy: " + page.policy)
    if page.headings != 1:
        faults.append("%d titles" % page.headings)
    return faults


def main():
    failed = 0
    for path in sys.argv[1:]:
        for fault in check(path)[:10]:
            print("%s: %s" % (path, fault))
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
