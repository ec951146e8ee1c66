"""What a PromQL expression names: metrics, the labels that it matches, and those that it groups by.

Reads the part of the language that dashboards and rules use (prometheus.io/docs/prometheus/latest/querying/basics), and
refuses the rest, so that nothing is overlooked."""
import re

TOKEN = re.compile(r"""\s*(?:(?P<string>"(?:\\.|[^"\\])*")|(?P<duration>\[(?:\$__\w+|\d+[smhdwy])+(?::[^\]]*)?\])|
    (?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)|(?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^(){},=<>]))""",
                   re.X)
FUNCTIONS = {"rate", "increase", "irate", "delta", "label_replace", "label_join", "clamp_min", "clamp_max", "vector", "round",
             "histogram_quantile", "absent", "time", "min_over_time", "max_over_time", "avg_over_time"}
AGGREGATIONS = {"sum", "min", "max", "avg", "count", "topk", "bottomk", "group"}
GROUPING = {"by", "without", "on", "ignoring", "group_left", "group_right"}
OPERATORS = {"or", "and", "unless", "bool"}


class Fault(Exception):
    pass


def tokens(text):
    at = 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        if not found:
            raise Fault(f"`{text[at:at + 20]}` is not understood in {text}")
        yield found.lastgroup, found[found.lastgroup]
        at = found.end()


def names(text):
    """(metric → labels that are matched, labels that are grouped by)"""
    metrics, grouped, open_brackets = {}, set(), []
    found = list(tokens(text))
    i = 0

    def word(at):
        return found[at][1] if at < len(found) else ""

    while i < len(found):
        kind, token = found[i]
        if token in GROUPING:
            if word(i + 1) != "(" and not token.startswith("group_"):
                raise Fault(f"{token} without labels in {text}")
            if word(i + 1) == "(":
                end = next(n for n in range(i, len(found)) if found[n][1] == ")")
                grouped |= {name for sort, name in found[i + 2:end] if sort == "name"}
                i = end
        elif kind == "name" and token in FUNCTIONS | AGGREGATIONS:
            if word(i + 1) != "(" and word(i + 1) not in ("by", "without"):
                raise Fault(f"{token} is not called in {text}")
        elif kind == "name" and token not in OPERATORS:
            labels = metrics.setdefault(token, set())
            if word(i + 1) == "{":
                end = next(n for n in range(i, len(found)) if found[n][1] == "}")
                matchers = found[i + 2:end]
                for n in range(0, len(matchers), 4):
                    if [sort for sort, _ in matchers[n:n + 3]] != ["name", "sign", "string"]:
                        raise Fault(f"{token} has a matcher that is none in {text}")
                    labels.add(matchers[n][1])
                i = end
        elif token in "({":
            open_brackets.append(token)
        elif token in ")}" and (not open_brackets or open_brackets.pop() != {")": "(", "}": "{"}[token]):
            raise Fault(f"brackets do not match in {text}")
        i += 1
    if open_brackets:
        raise Fault(f"brackets do not match in {text}")
    return metrics, grouped


def selftest():
    assert names('sum by (a, b) (rate(x_total{c=~"$d", e!="f"}[$__rate_interval])) / 3.6e6') == ({"x_total": {"c", "e"}}, {"a", "b"})
    assert names("count(up == 0) or vector(0)") == ({"up": set()}, set())
    assert names("x * on (i) group_left (s) y")[1] == {"i", "s"}
    for bad in ("sum(x", "sum(x))", "rate", "x{a}", "x & y", "sum by x", 'x{a="b" c="d"}'):
        try:
            names(bad)
        except (Fault, StopIteration):
            continue
        raise AssertionError(bad)


selftest()
