#!/usr/bin/env python3
"""Draws the pictures of docs/concepts.md and of the guides, as SVG, into the folder of this script."""
import pathlib

INK, GREY, GREEN, BLUE, SAND, PALE = "#22302a", "#9aa5a0", "#1f7a4d", "#2f6f9f", "#d9a441", "#eef2ef"


class Picture:
    def __init__(self, name, width, height):
        self.name, self.parts = name, [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
            f'<rect width="{width}" height="{height}" fill="#fff"/>']

    def box(self, x, y, width, height, fill, words="", ink="#fff"):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" fill="{fill}"/>')
        lines = words.split("|") if words else []
        for index, line in enumerate(lines):
            self.text(x + width / 2, y + height / 2 + 4 + 15 * (index - (len(lines) - 1) / 2), line, "middle", ink)

    def text(self, x, y, words, anchor="start", ink=INK, bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{ink}"{weight}>{words}</text>')

    def line(self, *points, ink=INK, width=1.5, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        path = " ".join(f"{x},{y}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{ink}" stroke-width="{width}"{dashes}/>')

    def arrow(self, x1, y1, x2, y2, ink=INK):
        self.line((x1, y1), (x2, y2), ink=ink)
        if abs(x2 - x1) >= abs(y2 - y1):
            step = 6 if x2 < x1 else -6
            points = f"{x2},{y2} {x2 + step},{y2 - 4} {x2 + step},{y2 + 4}"
        else:
            step = 6 if y2 < y1 else -6
            points = f"{x2},{y2} {x2 - 4},{y2 + step} {x2 + 4},{y2 + step}"
        self.parts.append(f'<polygon points="{points}" fill="{ink}"/>')

    def save(self):
        (pathlib.Path(__file__).parent / f"{self.name}.svg").write_text("\n".join([*self.parts, "</svg>"]) + "\n")


def measured_and_attributed():
    p = Picture("measured-and-attributed", 760, 260)
    p.text(8, 20, "measured: the energy of the whole device between two readings of its meter", bold=True)
    heights = (40, 62, 30, 54)
    for index, height in enumerate(heights):
        p.box(90 + 160 * index, 100 - height, 158, height, BLUE, f"{height // 2} J")
    p.text(82, 90, "meter", "end")
    p.text(8, 132, "recorded: what ran, on the same clock", bold=True)
    for begin, width, fill, words in ((90, 110, GREEN, "conv1"), (200, 150, SAND, "conv2"), (350, 100, GREEN, "conv1"),
                                      (450, 160, SAND, "conv2"), (630, 98, GREEN, "conv1")):
        p.box(begin, 142, width, 24, fill, words)
    p.text(82, 158, "trace", "end")
    p.text(620, 184, "idle", "middle", GREY)
    for x in (250, 410, 570):
        p.line((x, 42), (x, 172), ink=GREY, width=1, dash="4 3")
    p.text(8, 206, "derived: each reading divided among what ran meanwhile; the sum stays what was measured", bold=True)
    p.box(90, 216, 240, 26, GREEN, "conv1  41 J")
    p.box(332, 216, 270, 26, SAND, "conv2  47 J")
    p.box(604, 216, 124, 26, PALE, "idle  5 J", INK)
    p.save()


def plan():
    p = Picture("plan", 760, 230)
    p.text(8, 20, "one choice for each region, and conversions where formats differ", bold=True)
    p.text(8, 62, "model")
    for x, words in ((90, "Conv"), (210, "Relu"), (330, "Conv"), (450, "Add"), (570, "Gemm")):
        p.box(x, 44, 90, 28, PALE, words, INK)
    for x in (180, 300, 420, 540):
        p.arrow(x, 58, x + 30, 58)
    p.text(8, 128, "regions")
    p.box(90, 104, 210, 40, GREEN, "Conv + Relu|Winograd, nChw16c")
    p.box(330, 104, 210, 40, GREEN, "Conv + Add|direct, nChw16c")
    p.box(620, 104, 120, 40, GREEN, "Gemm|row-major")
    p.arrow(300, 124, 330, 124)
    p.box(552, 110, 58, 28, SAND, "reorder")
    p.arrow(540, 124, 552, 124)
    p.arrow(610, 124, 620, 124)
    p.text(8, 192, "prices")
    for x, words in ((195, "4.1 mJ  0.9 ms"), (435, "5.0 mJ  1.1 ms"), (581, "0.2 mJ"), (680, "1.3 mJ  0.3 ms")):
        p.text(x, 192, words, "middle")
    p.text(8, 220, "The search finds the choices whose prices, conversions included, have the least sum, and proves it.", ink=INK)
    p.save()


def proof():
    p = Picture("proof", 760, 200)
    p.box(20, 84, 110, 40, PALE, "original|model", INK)
    p.box(200, 30, 190, 40, GREEN, "rewrites, each certified|on random graphs")
    p.box(460, 30, 130, 40, GREEN, "plan on|fast kernels")
    p.box(200, 138, 390, 40, BLUE, "reference kernels: the loops that ONNX defines")
    p.box(640, 84, 100, 40, SAND, "distance of|the outputs")
    p.line((75, 84), (75, 50))
    p.arrow(75, 50, 200, 50)
    p.arrow(390, 50, 460, 50)
    p.line((75, 124), (75, 158))
    p.arrow(75, 158, 200, 158)
    p.line((590, 50), (690, 50))
    p.arrow(690, 50, 690, 84)
    p.line((590, 158), (690, 158))
    p.arrow(690, 158, 690, 124)
    p.text(395, 109, "the same inputs: yours, or random ones", "middle")
    p.save()


def interval():
    p = Picture("interval", 760, 190)
    rows = (("measured, long block", 300, 320, 310, GREEN), ("measured, a few updates of the meter", 260, 380, 312, GREEN),
            ("derived, ran alone for most of its time", 270, 345, 300, BLUE), ("derived, never ran alone", 40, 560, 300, BLUE),
            ("estimated, without a meter", 150, 600, 300, SAND))
    p.line((280, 160), (752, 160), width=1)
    for index, (words, low, high, value, ink) in enumerate(rows):
        y, scale = 24 + 28 * index, 0.7
        p.text(268, y + 4, words, "end")
        p.line((280 + scale * low, y), (280 + scale * high, y), ink=ink, width=5)
        p.parts.append(f'<circle cx="{280 + scale * value}" cy="{y}" r="5" fill="{INK}"/>')
    for joules in range(0, 700, 100):
        p.text(280 + 0.7 * joules, 178, f"{joules // 10}", "middle", GREY)
    p.text(268, 178, "joules", "end", GREY)
    p.save()


def slack():
    p = Picture("slack", 820, 176)
    for top, words, width, fill in ((18, "full clocks", 60, GREEN), (96, "planned", 88, SAND)):
        p.text(8, top + 32, words)
        for rank in range(2):
            y = top + 26 * rank
            p.text(150, y + 15, f"rank {rank}", "end")
            slow = rank == 0
            for unit in range(6):
                begin = 160 + 92 * unit + (0 if slow else 92)
                p.box(begin, y, 88 if slow else width, 20, GREEN if slow else fill, str(unit + 1))
                if not slow and width < 88:
                    p.box(begin + width + 2, y, 26, 20, PALE)
    p.text(160, 168, "Rank 1 waits after each micro-batch (pale). At a lower clock it ends at the same time, with fewer joules.")
    p.save()


if __name__ == "__main__":
    for draw in (measured_and_attributed, plan, proof, interval, slack):
        draw()
