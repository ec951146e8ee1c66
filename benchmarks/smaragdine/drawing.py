"""Plain SVG: bars with whiskers, lines, tables of colours, boxes in boxes."""
import html

GREENS = ["#1b7f5c", "#6fc3a1", "#c9e7da"]


def text(x, y, words, anchor="start", size=11):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{html.escape(str(words))}</text>'


def svg(width, height, parts):
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" font-family="sans-serif" fill="currentColor">{"".join(parts)}</svg>'


def bars(rows, unit):
    """rows: (name, [(value, colour), ... stacked], whisker). Horizontal, names above, as in the paper's Figure 5."""
    most = max(sum(v for v, _ in stack) + whisker for _, stack, whisker in rows) or 1
    parts, y = [], 0
    for name, stack, whisker in rows:
        parts.append(text(0, y + 11, name))
        x, total = 0.0, sum(v for v, _ in stack)
        for value, colour in stack:
            width = 440 * value / most
            parts.append(f'<rect x="{x:.1f}" y="{y + 15}" width="{width:.1f}" height="14" fill="{colour}"/>')
            x += width
        reach = 440 * whisker / most
        parts.append(f'<path d="M{x - reach:.1f} {y + 22}H{x + reach:.1f}" stroke="currentColor"/>')
        parts.append(text(x + reach + 8, y + 26, f"{total:.4g} ± {whisker:.2g} {unit}"))
        y += 36
    return svg(740, y, parts)


def lines(series, xs, unit):
    """series: {name: (values, colour)} over the labels xs."""
    values = [v for points, _ in series.values() for v in points]
    low, high = min(values), max(values)
    low, high = (low - 0.05, high + 0.05) if high - low < 1e-9 else (low, high)
    x = lambda i: 90 + 450 * i / max(1, len(xs) - 1)  # noqa: E731
    y = lambda v: 180 - 160 * (v - low) / (high - low)  # noqa: E731
    parts = [text(84, y(low), f"{low:.4g}", "end"), text(84, y(high) + 8, f"{high:.4g} {unit}", "end")]
    parts += [text(x(i), 200, label, "middle") for i, label in enumerate(xs) if len(xs) < 12 or i % 5 == 0]
    for row, (name, (points, colour)) in enumerate(series.items()):
        path = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(i):.1f}" cy="{y(v):.1f}" r="2.5" fill="{colour}"/>' for i, v in enumerate(points)]
        parts.append(f'<rect x="560" y="{20 + 18 * row}" width="10" height="10" fill="{colour}"/>' + text(575, 29 + 18 * row, name))
    return svg(720, 210, parts)


def heat(labels, values, form="{:.3f}", signed=False):
    most = max((abs(v) for row in values for v in row if v == v), default=1) or 1
    least = 0 if signed else min((v for row in values for v in row if v == v), default=0)
    parts = []
    for i, row in enumerate(values):
        parts.append(text(18, 43 + 26 * i, labels[i], "end"))
        parts.append(text(50 + 54 * i, 18, labels[i], "middle"))
        for j, v in enumerate(row):
            part = abs(v) / most if signed else (v - least) / (most - least or 1)
            colour = "#b03a2e" if signed and v > 0 else "#2e5cb0" if signed else GREENS[0]
            parts.append(f'<rect x="{24 + 54 * j}" y="{26 + 26 * i}" width="52" height="24" fill="{colour}" fill-opacity="{0.08 + 0.6 * part:.2f}"/>')
            parts.append(text(50 + 54 * j, 42 + 26 * i, form.format(v), "middle", 10))
    return svg(40 + 54 * len(labels), 36 + 26 * len(labels), parts)


def boxes(title, shares):
    """An EDD's level: one box per part, shaded by its share; rounded ones hold more."""
    parts, y = [text(0, 12, title, size=12)], 20
    most = max((v for v, _, _ in shares), default=1) or 1
    for value, name, composite in shares:
        name = name.rpartition("evaluate_function: ")[2]
        parts.append(f'<rect x="0" y="{y}" width="230" height="24" rx="{9 if composite else 0}" fill="{GREENS[0]}" '
                     f'fill-opacity="{0.06 + 0.6 * value / most:.2f}" stroke="currentColor" stroke-opacity=".4"/>')
        parts.append(text(8, y + 16, name) + text(222, y + 16, f"{value:.2f} %", "end"))
        y += 28
    return svg(240, y, parts)


def page(title, sections):
    body = "".join(f"<h2>{html.escape(head)}</h2><p>{html.escape(words)}</p>{drawing}" for head, words, drawing in sections)
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(title)}</title><style>:root{{color-scheme:light dark}}body{{font:15px/1.5 sans-serif;max-width:760px;"
            f"margin:2em auto;padding:0 1em}}svg{{max-width:100%;height:auto;margin:.4em 1em .4em 0}}h2{{font-size:1.05em;margin-top:2em}}</style>"
            f"<h1>{html.escape(title)}</h1>{body}</html>\n")
