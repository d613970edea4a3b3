#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Put what share_bench --tree has measured into docs/scale.md (the table) and docs/scale.svg.

    share_bench --tree 1024 16384 131072 1048576 | scale.py docs/scale.md docs/scale.svg
"""
import math
import sys

BEGIN, END = "<!-- begin of the table -->\n", "<!-- end of the table -->\n"
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, GAP = 420, 300, 64, 40, 52, 110
COLORS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7a5195"]


def read(lines):
    """The rows of the output: for each number of ranks, the rows by way."""
    names = ["put", "merge", "get", "judge", "KB", "MB", "root"]
    rows = {}
    for line in lines:
        words = line.split()
        if len(words) == 2 + len(names) and words[0].isdigit():
            values = dict(zip(names, map(float, words[2:])))
            rows.setdefault(int(words[0]), {})[words[1]] = values
    return {ranks: ways for ranks, ways in rows.items() if {"tree", "one"} <= ways.keys()}


def milliseconds(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def table(rows):
    text = ("| ranks | node: put ms | tree: merge ms | get ms | judge ms | first to last, s | one process, s "
            "| KB at the root | root MB | pdb MB | pdb: bytes a rank |\n" + "|--:" * 11 + "|\n")
    for ranks, ways in sorted(rows.items()):
        tree, one = ways["tree"], ways["one"]
        cells = [f"{ranks:,}", *(milliseconds(tree[name]) for name in ("put", "merge", "get", "judge"))]
        for way in (tree, one):
            total = way["put"] + way["merge"] + way["get"] + way["judge"]
            cells.append(f"{total / 1e3:.2f}")
        cells += [f"{tree['KB']:,.0f}", f"{tree['root']:,.0f}", f"{tree['MB']:,.0f}",
                  f"{tree['MB'] * 2**20 / ranks:,.0f}"]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def exponent_label(value):
    for unit, size in (("M", 1 << 20), ("k", 1 << 10)):
        if value >= size:
            return f"{value // size} {unit}"
    return str(value)


class Panel:
    """One diagram, both axes logarithmic."""

    def __init__(self, left, title, ranks, curves):
        values = [v for _, points in curves for v in points if v > 0]
        self.left, self.title, self.ranks, self.curves = left, title, ranks, curves
        self.low = math.floor(math.log10(min(values)))
        self.high = math.ceil(math.log10(max(values)))

    def x(self, ranks):
        first, last = math.log2(self.ranks[0]), math.log2(self.ranks[-1])
        return self.left + (math.log2(ranks) - first) / max(last - first, 1) * WIDTH

    def y(self, value):
        part = (math.log10(value) - self.low) / max(self.high - self.low, 1)
        return TOP + HEIGHT * (1 - part)

    def draw(self):
        yield (f'<text x="{self.left}" y="{TOP - 16}" font-weight="bold">{self.title}</text>')
        for power in range(self.low, self.high + 1):
            y = self.y(10**power)
            label = f"{10**power:,}" if power >= 0 else f"{10**power:g}"
            yield f'<path d="M{self.left} {y:.1f}h{WIDTH}" stroke="#ddd"/>'
            yield f'<text x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
        for ranks in self.ranks:
            x = self.x(ranks)
            yield f'<path d="M{x:.1f} {TOP}v{HEIGHT}" stroke="#eee"/>'
            yield (f'<text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">'
                   f'{exponent_label(ranks)}</text>')
        yield (f'<text x="{self.left + WIDTH / 2}" y="{TOP + HEIGHT + 38}" '
               'text-anchor="middle">ranks</text>')
        for (name, points), color in zip(self.curves, COLORS):
            path = "L".join(f"{self.x(r):.1f} {self.y(v):.1f}"
                            for r, v in zip(self.ranks, points) if v > 0)
            yield f'<path d="M{path}" stroke="{color}" stroke-width="2" fill="none"/>'
            for r, v in zip(self.ranks, points):
                if v > 0:
                    yield f'<circle cx="{self.x(r):.1f}" cy="{self.y(v):.1f}" r="3" fill="{color}"/>'
            yield (f'<text x="{self.left + WIDTH + 8}" y="{self.y(points[-1]) + 4:.1f}" '
                   f'fill="{color}">{name}</text>')


def picture(rows):
    ranks = sorted(rows)
    tree = [rows[r]["tree"] for r in ranks]
    times = [(text, [row[name] for row in tree])
             for name, text in (("merge", "merge"), ("get", "get"), ("judge", "judge"), ("put", "put"))]
    sizes = [("pdb", [row["MB"] for row in tree]), ("root", [row["root"] for row in tree]),
             ("bytes sent", [row["KB"] / 1024 for row in tree])]
    panels = [Panel(LEFT, "Processor time, ms", ranks, times),
              Panel(LEFT + WIDTH + GAP + LEFT, "Memory and bytes at the root, MB", ranks, sizes)]
    width, height = 2 * (LEFT + WIDTH + GAP), TOP + HEIGHT + BOTTOM
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
           f'height="{height}" font-family="sans-serif" font-size="12">')
    yield f'<rect width="{width}" height="{height}" fill="white"/>'
    for panel in panels:
        yield from panel.draw()
    yield "</svg>"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page_path, picture_path = sys.argv[1:]
    rows = read(sys.stdin)
    if not rows:
        sys.exit("scale.py: no row of a tree and of one process")
    with open(page_path, encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    with open(page_path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + table(rows) + END + after)
    with open(picture_path, "w", encoding="utf-8") as file:
        file.write("\n".join(picture(rows)) + "\n")


if __name__ == "__main__":
    main()
