"""Violins as SVG, one row for each operator: how many of its configurations take how long. Needs nothing beyond Python."""
import html
import math

WIDTH, LEFT, ROW, TOP = 900, 250, 26, 56


def density(values, at, spread):
    return sum(math.exp(-0.5 * ((value - at) / spread) ** 2) for value in values) / len(values)


def violin(values, low, high, middle):
    """A closed path around the row's middle whose height is the density of `values` on the axis from `low` to `high`."""
    spread = (high - low) / 60
    points = [low + (high - low) * k / 150 for k in range(151)]
    heights = [density(values, point, spread) for point in points]
    most = max(heights)
    x = lambda point: LEFT + (WIDTH - LEFT - 20) * (point - low) / (high - low)
    half = [(x(point), 0.45 * ROW * height / most) for point, height in zip(points, heights) if height / most > 0.003]
    upper = [f"{px:.1f},{middle - py:.1f}" for px, py in half]
    lower = [f"{px:.1f},{middle + py:.1f}" for px, py in reversed(half)]
    return "M" + " L".join(upper + lower) + " Z"


def violins(title, axis, rows, ticks, scale=float):
    """`rows` are (label, values, marked value); `ticks` are (value, label). `scale` goes from a value to its place on the axis."""
    low, high = scale(ticks[0][0]), scale(ticks[-1][0])
    place = lambda value: LEFT + (WIDTH - LEFT - 20) * (min(max(scale(value), low), high) - low) / (high - low)
    height = TOP + ROW * len(rows) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           f'<text x="10" y="22" font-size="15">{html.escape(title)}</text><text x="{LEFT}" y="42">{html.escape(axis)}</text>']
    bottom = TOP + ROW * len(rows)
    for value, label in ticks:
        out.append(f'<line x1="{place(value):.1f}" x2="{place(value):.1f}" y1="{TOP}" y2="{bottom}" stroke="#ddd"/>'
                   f'<text x="{place(value):.1f}" y="{bottom + 16}" text-anchor="middle">{html.escape(label)}</text>')
    for number, (label, values, marked) in enumerate(rows):
        middle = TOP + ROW * (number + 0.5)
        scaled = [min(max(scale(value), low), high) for value in values]
        out.append(f'<text x="{LEFT - 10}" y="{middle + 4:.1f}" text-anchor="end">{html.escape(label)} ({len(values)})</text>'
                   f'<path d="{violin(scaled, low, high, middle)}" fill="#8fb8de" stroke="#3b6ea5"/>'
                   f'<circle cx="{place(marked):.1f}" cy="{middle:.1f}" r="3.5" fill="#b03030"/>')
    return "\n".join(out + ["</svg>", ""])
