#!/usr/bin/env python3
"""Every metric and label that the Grafana dashboard, the rules and the documents name is in a scrape of the real program."""
import json
import pathlib
import re
import sys

import promql
try:
    import grpc  # noqa: F401
except ImportError:
    print("skipped: python3-grpcio is missing (tools/install_packages test)")
    sys.exit(77)
import scrape

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FROM_PROMETHEUS = {"instance", "job"}  # labels that Prometheus adds itself
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def check_expression(expression, page, where):
    """Metrics are there; labels are those of the metrics."""
    try:
        metrics, grouped = promql.names(expression)
    except (promql.Fault, StopIteration) as fault:
        return failures.append(f"{where}: {fault}")
    known = set(FROM_PROMETHEUS)
    for metric, labels in metrics.items():
        if metric not in page:
            failures.append(f"{where}: no scrape has {metric}")
            continue
        own = {name for key in page[metric].series for name, _ in key} | FROM_PROMETHEUS
        check(labels <= own, f"{where}: {metric} has no label {labels - own}, only {own}")
        known |= own
        counter = page[metric].type == "counter"
        check(not counter or re.search(rf"(rate|increase)\({metric}|count\({metric}", expression),
              f"{where}: {metric} is a counter and wants rate or increase")
    check(grouped <= known, f"{where}: groups by {grouped - known}, which no metric in it has")
    return grouped


def check_dashboard(page):
    board = json.loads((ROOT / "deploy/grafana/viridian.json").read_text())
    variables = {one["name"] for one in board["templating"]["list"]}
    used, places = set(), set()
    for panel in board["panels"]:
        where = f"panel `{panel['title']}`"
        check(panel["description"] and panel["datasource"]["uid"] == "${datasource}", f"{where} lacks a description or datasource")
        spot = panel["gridPos"]
        cells = {(x, y) for x in range(spot["x"], spot["x"] + spot["w"]) for y in range(spot["y"], spot["y"] + spot["h"])}
        check(not cells & places and spot["x"] + spot["w"] <= 24, f"{where} lies on another")
        places |= cells
        check(len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) > 0, f"{where}: refIds")
        for target in panel["targets"]:
            grouped = check_expression(target["expr"], page, where)
            metrics = promql.names(target["expr"])[0]
            used |= set(metrics)
            shown = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
            check(shown <= (grouped or set()), f"{where}: the legend shows {shown - (grouped or set())}, which is not grouped by")
            unknown = set(re.findall(r"\$(\w+)", target["expr"])) - variables - {"__rate_interval", "__range"}
            check(not unknown, f"{where}: no variable {unknown}")
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["definition"])
            check(found and variable["query"]["query"] == variable["definition"], f"variable {variable['name']}")
            check_expression(f"sum by ({found[2]}) (rate({found[1]}[5m]))", page, f"variable {variable['name']}")
    check(len(used) >= 10, f"the dashboard uses {len(used)} metrics")


def check_rules(page):
    """Alerts and recording rules: `expr:` lines, in one line each."""
    expressions = re.findall(r"^\s+expr: (.*)$", (ROOT / "deploy/prometheus/viridian.rules.yaml").read_text(), re.M)
    check(len(expressions) >= 3, "the rules have expressions")
    for expression in expressions:
        check_expression(expression.strip("'"), page, "rules")


def check_documents(page):
    """docs/fleet.md lists every metric, with its labels, and no other."""
    text = (ROOT / "docs/fleet.md").read_text()
    rows = dict(re.findall(r"^\| `(viridian_\w+)` \|([^|]*)\|", text, re.M))
    rows |= {name.replace("_joules", f"_{end}_joules").replace("_grams", f"_{end}_grams"): labels
             for name, labels in rows.items() for end in ("low", "high")
             if re.fullmatch(r"viridian_(energy|session_energy|container_energy)_joules_total|viridian_carbon_grams_total", name)}
    check(set(rows) == set(page), f"docs/fleet.md and the scrape differ in {sorted(set(rows) ^ set(page))}")
    for name in set(rows) & set(page):
        labels = {label for key in page[name].series for label, _ in key}
        check(set(re.findall(r"`(\w+)`", rows[name])) == labels, f"docs/fleet.md: {name} has the labels {labels}")


def check_numbers(page):
    """The recorded machine drew 220 J, of which the containers' CPU time took 60 and 20 %."""
    def total(name, **labels):
        return sum(value for key, value in page[name].series.items() if labels.items() <= dict(key).items())
    check(abs(total("viridian_energy_joules_total") - 220) < 1e-6, f"220 J, not {total('viridian_energy_joules_total')}")
    # A reading of ours may fall between two of the files that the test writes, so these are not exact.
    first, second = (total("viridian_container_energy_joules_total", container_id=one) for one in scrape.CONTAINERS)
    check(0 < second < first <= 0.6 * 220 + 1e-6, f"the containers have {first} and {second} J of 132 and 44")
    check(total("viridian_container_energy_joules_total", pod_uid="12345678-9abc-4def-8123-456789abcdef") > 0, "the pod")
    check(abs(total("viridian_carbon_grams_total") - 220 * 1e-4 * 1.2) < 1e-9, "grams")
    check(abs(total("viridian_session_energy_joules_total", session="train") - 220) < 1e-6, "joules of the session")
    check(total("viridian_session_epochs_total", session="train") == 2, "its epochs")


def main():
    page = scrape.families(sys.argv[1])
    check_numbers(page)
    check_dashboard(page)
    check_rules(page)
    check_documents(page)
    print(*(f"FAILED: {one}" for one in failures), sep="\n")
    return 1 if failures else 0


sys.exit(main())
