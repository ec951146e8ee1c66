"""Adds what the ranks of one training wrote."""
from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Iterable

from .accounting import Account, read
from .errors import InputError


def merge(accounts: str | os.PathLike[str] | Iterable[Account | str | os.PathLike[str]]) -> Account:
    """Adds the accounts of the ranks of one training: a folder with one file for each rank, as the callbacks of
    `viridian.hf` and `viridian.lightning` write them, or a list of files or accounts. Modules and operators of the same
    name are one row; devices have their rank behind their name. Steps are those of one rank."""
    if isinstance(accounts, (str, os.PathLike)):
        folder = pathlib.Path(accounts)
        accounts = sorted(folder.glob("energy.rank*.json"), key=lambda one: (len(one.name), one.name))
        if not accounts:
            raise InputError("file_not_found", f"the folder `{folder}` has no file energy.rank*.json",
                             "give the folder that the callback wrote to, or a list of files")
    found = [one if isinstance(one, Account) else read(one) for one in accounts]
    if not found:
        raise InputError("invalid_argument", "there is no account to merge", "give the file of at least one rank")
    ranks = [one.json.get("training", {}).get("rank", place) for place, one in enumerate(found)]
    if len(set(ranks)) != len(ranks):
        raise InputError("invalid_argument", f"several of these accounts are of the same rank: {', '.join(map(str, ranks))}",
                         "give the files of one training, each once")
    return Account(json.dumps(_merged([one.json for one in found], ranks)))


def _merged(parts: list[dict[str, Any]], ranks: list[int]) -> dict[str, Any]:
    methods = {one["method"] for one in parts if one["devices"]}
    whole: dict[str, Any] = {"schema": parts[0]["schema"], "trace": f"{len(parts)} ranks", "power": f"{len(parts)} ranks",
                             "sharing": parts[0]["sharing"], "events": sum(one["events"] for one in parts), "operations": [],
                             "devices": [], "warnings": [], "method": methods.pop() if len(methods) == 1 else "several"}
    modules: dict[str, dict[str, Any]] = {}
    edges: dict[tuple[str, str], int] = {}
    for part, rank in zip(parts, ranks):
        for key in ("operations", "devices"):
            name = "device" if key == "operations" else "name"
            whole[key] += [{**one, name: f"{one[name]} of rank {rank}"} for one in part[key]]
        whole["warnings"] += [f"rank {rank}: {one}" for one in part["warnings"]]
        for one in part["modules"]:
            known = modules.setdefault(one["name"], {**one, "calls": 0, "recomputed": 0})
            known["calls"] += one["calls"]
            known["recomputed"] += one["recomputed"]
        for one in part["edges"]:
            edges[one["from"], one["to"]] = edges.get((one["from"], one["to"]), 0) + one["count"]
    whole["operations"].sort(key=lambda one: -(one["joules"] or {"value": -1})["value"])
    whole["modules"] = list(modules.values())
    whole["edges"] = [{"from": before, "to": after, "count": count} for (before, after), count in edges.items()]
    steps = {one.get("steps") for one in parts}
    whole["steps"] = steps.pop() if len(steps) == 1 else None
    if steps:
        whole["warnings"].append("the ranks recorded different numbers of steps: joules are not told by step")
    if all("training" in one for one in parts):
        whole["training"] = _merged_trainings([one["training"] for one in parts])
    return whole


def _merged_trainings(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The ranks of one machine read the same meters, so that one of them speaks for the machine."""
    hosts = list({one["host"]: one for one in sorted(parts, key=lambda one: -one["rank"])}.values())
    return {"ranks": len(parts), "hosts": len(hosts), "steps": parts[0]["steps"], "seconds": max(one["seconds"] for one in hosts),
            **{key: added([one[key] for one in hosts]) for key in ("energy", "evaluation", "accounting")},
            "epochs": [{"epoch": many[0]["epoch"], "steps": many[0]["steps"], "seconds": max(one["seconds"] for one in many),
                        "energy": added([one["energy"] for one in many])} for many in zip(*(one["epochs"] for one in hosts))]}


def added(energies: list[dict[str, Any] | None]) -> dict[str, Any] | None:
    """The sum of energies in the form of a result; None if one of them is not known."""
    known = [one for one in energies if one is not None]
    if not known or len(known) < len(energies):
        return None
    return {**{key: sum(one[key] for one in known) for key in ("value", "low", "high")},
            "provenance": ", ".join(sorted({one["provenance"] for one in known}))}
