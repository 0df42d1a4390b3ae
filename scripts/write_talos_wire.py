"""Generate the table of messages, enums and services of the Talos API.

Only facts are kept: names, numbers, types, and the release lines that have them. The argument is
the folder with the descriptions `talos-wire-exact.json` (one part for each version) and
`talos-wire.json` (the only one with the resource service).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parents[1] / "src/stockman/talos/wire/tables.json"
VERSIONS = {"1.11": "1.11.5", "1.12": "1.12.1", "1.13": "1.13.9", "1.14": "1.14.1"}
MINORS = list(VERSIONS)

OPAQUE: dict[str, dict[str, list[Any]]] = {"google.api.expr.v1alpha1.CheckedExpr": {}}
"""Messages that are carried along as they are, without a look inside."""
STATUS = {
    "google.rpc.Status": {
        "code": [1, "int32", ""],
        "message": [2, "string", ""],
        "details": [3, "google.protobuf.Any", "repeated"],
    }
}

Rows = dict[str, dict[str, list[Any]]]


def exact(found: dict[str, Any]) -> tuple[Rows, Rows, Rows]:
    """Messages, enums and services of one version, each as name -> name -> row."""
    messages: Rows = {}
    maps: dict[str, str] = {}
    for name, fields in found["messages"].items():
        if fields.get("#map_entry"):
            maps[name] = f"{fields['key'][1]},{fields['value'][1]}"
    for name, fields in found["messages"].items():
        if name not in maps:
            messages[name] = {one: _field(row, maps) for one, row in fields.items()}
    enums = {
        name: {one: [number] for one, number in values.items()}
        for name, values in found["enums"].items()
    }
    services = {
        name: {one: [row[0], row[1], _streams(row[2])] for one, row in methods.items()}
        for name, methods in found["services"].items()
    }
    return messages, enums, services


def _field(row: list[Any], maps: dict[str, str]) -> list[Any]:
    number, kind = row[0], str(row[1])
    label = str(row[2]) if len(row) > 2 else ""
    repeated, plain = kind.startswith("repeated "), kind.removeprefix("repeated ")
    if plain in maps:
        return [number, maps[plain], "map"]
    return [number, plain, "repeated" if repeated else label]


def _streams(text: str) -> str:
    return "".join(
        letter for letter, word in (("c", "client_stream"), ("s", "server_stream")) if word in text
    )


def resources(found: dict[str, Any], minor: str) -> tuple[Rows, Rows, Rows]:
    """What a minor has of the service of resources."""
    messages: Rows = {}
    for name, message in found["messages"].items():
        if not name.startswith("cosi."):
            continue
        messages[name] = {
            one: _resource_field(number, kind, label)
            for one, number, kind, label, *more in message["fields"]
            if _holds(more[0] if more else {}, minor)
        }
    enums = {
        name: {one: [number] for one, number, *_ in enum["values"]}
        for name, enum in found["enums"].items()
        if name.startswith("cosi.")
    }
    services = {
        name: {
            one: [row["req"], row["res"], "s" if row["server_stream"] else ""]
            for one, row in methods.items()
            if _holds(row, minor)
        }
        for name, methods in found["services"].items()
        if name.startswith("cosi.")
    }
    return messages, enums, services


def _resource_field(number: int, kind: str, label: str) -> list[Any]:
    if kind.startswith("map<"):
        return [number, kind.removeprefix("map<").removesuffix(">"), "map"]
    return [number, kind, label]


def _holds(bounds: dict[str, Any], minor: str) -> bool:
    position = MINORS.index(minor)
    since, until = bounds.get("since", MINORS[0]), bounds.get("until", MINORS[-1])
    return MINORS.index(since) <= position <= MINORS.index(until)


def spans(minors: list[str]) -> list[str]:
    """Stretches of minors without a gap: `1.12-1.14`; all of them are an empty text."""
    runs: list[list[str]] = []
    for minor in sorted(minors, key=MINORS.index):
        if runs and MINORS.index(runs[-1][-1]) + 1 == MINORS.index(minor):
            runs[-1].append(minor)
        else:
            runs.append([minor])
    return ["" if run == MINORS else f"{run[0]}-{run[-1]}" for run in runs]


def merged(by_minor: dict[str, Rows]) -> dict[str, Any]:
    """Rows of all minors: name -> [span, rows], a row being [name, *facts, span]."""
    table: dict[str, Any] = {}
    for name in sorted({one for rows in by_minor.values() for one in rows}):
        holders = [minor for minor in MINORS if name in by_minor[minor]]
        facts: dict[str, list[str]] = {}
        for minor in holders:
            for one, row in by_minor[minor][name].items():
                facts.setdefault(json.dumps([one, *row]), []).append(minor)
        rows = [
            [*json.loads(fact), *([] if span in ("", whole) else [span])]
            for fact, minors in facts.items()
            for span in spans(minors)
            for whole in ["-".join((holders[0], holders[-1]))]
        ]
        table[name] = [" ".join(spans(holders)), sorted(rows, key=_order)]
    return table


def _order(row: list[Any]) -> tuple[bool, int, str]:
    # An enum begins with 0, also where it has negative numbers.
    return (row[1] != 0, row[1], row[0]) if isinstance(row[1], int) else (False, 0, row[0])


def package_of(name: str, messages: set[str]) -> str:
    """The package of a message, an enum or a service; messages may be inside of others."""
    while True:
        name = name.rpartition(".")[0]
        if name not in messages:
            return name


def main(folder: Path) -> None:
    """Write the table."""
    versions = json.loads((folder / "talos-wire-exact.json").read_text("utf-8"))
    resources_by_version = json.loads((folder / "talos-wire.json").read_text("utf-8"))
    kinds: tuple[dict[str, Rows], ...] = ({}, {}, {})
    for minor, version in VERSIONS.items():
        parts = zip(
            kinds, exact(versions[version]), resources(resources_by_version, minor), strict=True
        )
        for kind, one, more in parts:
            kind[minor] = one | more
        kinds[0][minor] |= STATUS | OPAQUE
    names = {name for rows in kinds[0].values() for name in rows}
    packages: dict[str, dict[str, Any]] = {}
    for word, kind in zip(("messages", "enums", "services"), kinds, strict=True):
        for name, row in merged(kind).items():
            package = packages.setdefault(package_of(name, names), {})
            package.setdefault(word, {})[name] = row
    lines = ",\n".join(
        f"{json.dumps(name)}:{json.dumps(packages[name], separators=(',', ':'))}"
        for name in sorted(packages)
    )
    PLACE.write_text(f"{{\n{lines}\n}}\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
