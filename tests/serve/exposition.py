"""A strict reader of Prometheus' text format (version 0.0.4) that also holds names against Prometheus' conventions.

Read `families(text)`; it raises Fault with the line's number. Beyond the format it demands: every series has a HELP and a
TYPE before it and stands in one block, no series is there twice, counters end in `_total` and are finite and not negative,
gauges do not, units are base units, and every metric belongs to one prefix."""
import dataclasses
import math
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
NOT_BASE = re.compile(r"_(milli|micro|nano|kilo|mega)|_(ms|us|ns|minutes|hours|kwh|kilowatthours?|percent|usec|msec)(_|$)")


class Fault(Exception):
    pass


@dataclasses.dataclass
class Family:
    name: str
    type: str
    help: str
    series: dict  # sorted pairs of labels → value


def labels_of(text, fault):
    """The labels at the start of `text`, which begins after a brace, and what follows the other brace."""
    labels = {}
    while not text.startswith("}"):
        name = LABEL.match(text)
        if not name or not text[name.end():].startswith('="'):
            fault(f"has no label at `{text[:20]}`")
        text, value = text[name.end() + 2:], ""
        while not text.startswith('"'):
            if text.startswith("\\"):
                if text[1:2] not in ("\\", '"', "n"):
                    fault(f"has an escape `{text[:2]}`")
                value += {"n": "\n"}.get(text[1], text[1])
                text = text[2:]
            elif not text:
                fault("has a label without an end")
            else:
                value, text = value + text[0], text[1:]
        if name[0] in labels:
            fault(f"has the label {name[0]} twice")
        if name[0].startswith("__"):
            fault(f"has the reserved label {name[0]}")
        labels[name[0]] = value
        text = text[1:]
        if text.startswith(","):
            text = text[1:]
        elif not text.startswith("}"):
            fault("has no comma between labels")
    return labels, text[1:]


def check_name(family, prefix, fault):
    if not family.name.startswith(prefix):
        fault(f"is about {family.name}, which does not begin with {prefix}")
    if not family.help or family.help.endswith("."):
        fault(f"has the help `{family.help}`")
    if NOT_BASE.search(family.name):
        fault(f"has the unit of {family.name}, which is not a base unit")
    if (family.type == "counter") != family.name.endswith("_total"):
        fault(f"is about the {family.type} {family.name}: counters, and only they, end in _total")


def families(text, prefix="viridian_"):
    """The families of metrics on a page, by name."""
    if not text.endswith("\n"):
        raise Fault("the last line has no end")
    found, current, helps = {}, None, {}
    for number, line in enumerate(text[:-1].split("\n"), 1):
        def fault(what, number=number, line=line):
            raise Fault(f"line {number} {what}: {line}")
        if line.startswith("# HELP "):
            name, _, about = line[7:].partition(" ")
            if name in helps:
                fault("is a second HELP")
            helps[name] = about
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            if kind not in ("counter", "gauge") or name in found or name not in helps:
                fault("is no TYPE after its HELP")
            current = found[name] = Family(name, kind, helps[name], {})
            check_name(current, prefix, fault)
        elif line.startswith("#"):
            fault("is another comment")
        else:
            name = NAME.match(line)
            if not name or current is None or name[0] != current.name:
                fault("is no series of the family above it")
            rest, labels = line[name.end():], {}
            if rest.startswith("{"):
                labels, rest = labels_of(rest[1:], fault)
            if not re.fullmatch(r" [-+0-9.eE]+", rest):
                fault("has no plain number")
            value, key = float(rest), tuple(sorted(labels.items()))
            if not math.isfinite(value) or value < 0:
                fault("has a number that nothing here may have")
            if key in current.series:
                fault("is there twice")
            if any(set(dict(key)) != set(dict(other)) for other in current.series):
                fault("has other labels than its sisters")
            current.series[key] = value
    empty = [name for name, family in found.items() if not family.series]
    if empty or set(helps) != set(found):
        raise Fault(f"families without series: {empty or set(helps) - set(found)}")
    return found


def selftest():
    good = "# HELP viridian_x_total X\n# TYPE viridian_x_total counter\nviridian_x_total{a=\"1\"} 2\n"
    assert families(good)["viridian_x_total"].series == {(("a", "1"),): 2.0}
    assert families(good.replace('"1"', r'"a\"b\\c\n"'))["viridian_x_total"].series == {(("a", 'a"b\\c\n'),): 2.0}
    for bad in ("", "x", good[:-1], good + good.splitlines()[2] + "\n", good.replace("2", "NaN"), good.replace("2", "-2"),
                good.replace("x_total", "x"), good.replace("counter", "gauge"), good.replace("counter", "histogram"),
                good.replace("x_total", "x_microseconds_total"), good.replace("viridian", "exposer"), good.replace('"1"', '"1'),
                good.replace('"1"', r'"\q"'), good.replace("# HELP viridian_x_total X\n", ""), good.replace(' 2', '  2'),
                good + "viridian_x_total{b=\"1\"} 2\n", good + "viridian_y_total 2\n", good + "\n", good + "# EOF\n",
                good.replace('a="1"', 'a="1" b="2"'), good.replace('a="1"', 'a="1",a="2"'), good.replace("} 2", "} 2 1700000000")):
        try:
            families(bad)
        except (Fault, ValueError):
            continue
        raise AssertionError(f"was taken: {bad!r}")


selftest()
