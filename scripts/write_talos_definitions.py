"""Generate the table of Talos resource definitions and the format of their contents.

Only facts are kept: types, names, columns; keys of YAML with numbers of fields; names of enum
values. Arguments: the folder with the descriptions `talos-definitions.json` and
`talos-wire-exact.json`, and a git repository of Talos with the tags below (its `pkg/machinery` has
keys and names).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parents[1] / "lab/src/stockman_lab/talos/cosi/tables.json"
VERSIONS = {"1.11": "1.11.5", "1.12": "1.12.1", "1.13": "1.13.9", "1.14": "1.14.1"}
TAGS = {"1.11": "v1.11.5", "1.12": "v1.12.1", "1.13": "v1.13.9", "1.14": "v1.14.0-rc.1"}
"""Where keys are read from; what a version's own descriptors do not have is left away."""
MINORS = list(VERSIONS)
PREFIX = "talos.resource.definitions."
ENUMS = f"{PREFIX}enums."
UNUSED = ("BGP", "perf.", "NfTables", "containers.", "storage.", "FSScrub")
"""Parts of names of what nothing is filled of."""

SOURCES = ("pkg/machinery/resources", "pkg/machinery/extensions", "pkg/machinery/nethelpers")
MORE_SOURCES = ("pkg/machinery/config/machine",)
STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"^\s*(?:\w+\s+)?([\w.\[\]*]+)\s+`([^`]*)`")
TAG = re.compile(r'(\w+):"([^"]*)"')
TYPE = re.compile(
    r'(\w+)\s*(?:resource\.Type)?\s*=\s*(?:resource\.Type\()?"(\w+\.[\w.]*talos\.dev)"'
)
RESOURCE = re.compile(r"typed\.Resource\[(\w+), (\w+)\]")
WORD = re.compile(
    r"^\s+(\w+)(?:\s+\w+)?(?:\s*=\s*[^/\n]+?)?\s*//\s*(?:nolint.*)?(\S[^\n]*?)\s*$", re.MULTILINE
)
HINTS = {
    "nethelpers.HardwareAddr": "mac",
    "nethelpers.LinkFlags": "NethelpersLinkFlag",
    "nethelpers.AddressFlags": "NethelpersAddressFlag",
    "nethelpers.RouteFlags": "NethelpersRouteFlag",
    "yamlutils.StringBytes": "text",
    "v1alpha1.Base64Bytes": "base64",
    "cel.Expression": "cel",
    "[]byte": "bytes",
}
ADDED: dict[str, dict[str, list[list[Any]]]] = {
    "1.14": {"time.NTPStatusSpec": [["spikeDetected", 1, "", ""], ["consecutiveSpikes", 2, "", ""]]}
}
"""What came after the tag."""
KINDS = {
    "ExtensionStatuses.runtime.talos.dev": "extensions.Layer",
    "NTPStatuses.v1alpha1.talos.dev": "time.NTPStatusSpec",
}
WORDS: dict[str, dict[str, int]] = {
    "MachineType": {"unknown": 0, "init": 1, "controlplane": 2, "worker": 3},
    "NethelpersARPAllTargets": {"any": 0, "all": 1},
    "NethelpersFailOverMAC": {"none": 0, "active": 1, "follow": 2},
    "NethelpersPort": {
        "TwistedPair": 0,
        "AUI": 1,
        "MII": 2,
        "Fibre": 3,
        "BNC": 4,
        "DirectAttach": 5,
        "None": 239,
        "Other": 255,
    },
}
"""Enums whose words do not stand behind their values."""
LINK_FLAGS = """
UP BROADCAST DEBUG LOOPBACK POINTTOPOINT NOTRAILERS RUNNING NOARP PROMISC ALLMULTI MASTER SLAVE
MULTICAST PORTSEL AUTOMEDIA DYNAMIC LOWER_UP DORMANT ECHO
"""
"""From the lowest bit on; no enum of the wire has them."""


class Source:
    """The files of one tag."""

    def __init__(self, repository: str, tag: str) -> None:
        self.repository = repository
        self.tag = tag

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", self.repository, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def files(self, *folders: str) -> list[tuple[str, str]]:
        """Package and text of every file that is no test and was not generated."""
        listed = self.git("ls-tree", "-r", "--name-only", self.tag, *folders).split()
        kept = [
            file
            for file in listed
            if file.endswith(".go") and not file.endswith("_test.go") and "deep_copy" not in file
        ]
        return [(file.split("/")[-2], self.git("show", f"{self.tag}:{file}")) for file in kept]


def shapes_and_kinds(source: Source) -> tuple[dict[str, list[list[Any]]], dict[str, str]]:
    """Fields of all structures, and which structure the contents of a kind are."""
    shapes: dict[str, list[list[Any]]] = {}
    kinds: dict[str, str] = {}
    for package, text in source.files(*SOURCES[:2]):
        types = dict(TYPE.findall(text))
        for name, body in STRUCT.findall(text):
            rows = [row for line in body.split("\n") if (row := _row(line)) is not None]
            if rows:
                shapes[f"{package}.{name}"] = rows
        for spec, extension in RESOURCE.findall(text):
            defined = re.search(
                rf"func \((?:\w+ )?{extension}\) ResourceDefinition\(\).*?Type:\s*(\w+)",
                text,
                re.DOTALL,
            )
            if defined is not None and defined[1] in types:
                kinds[types[defined[1]]] = f"{package}.{spec}"
    return shapes, kinds


def _row(line: str) -> list[Any] | None:
    match = FIELD.match(line)
    if match is None:
        return None
    tags = dict(TAG.findall(match[2]))
    if "protobuf" not in tags:
        return None
    key, *options = tags.get("yaml", "").split(",")
    kind = match[1].removeprefix("[]") if match[1] != "[]byte" else match[1]
    flags = "o" if "omitempty" in options else ""
    if "inline" in options or not key:
        flags += "i"
    if kind.startswith("*"):
        flags += "p"
    if kind.startswith("netip.") and "o" in flags and not match[1].startswith("[]"):
        # The YAML library takes a structure without visible fields for empty.
        flags += "n"
    return [key, int(tags["protobuf"]), flags, HINTS.get(kind.removeprefix("*"), "")]


def words(source: Source, enums: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Words that stand for values of enums in YAML, by the enum's short name."""
    words: dict[str, str] = {}
    for package, text in source.files(*SOURCES, *MORE_SOURCES):
        for block in re.findall(r"^const \(\n(.*?)^\)", text, re.DOTALL | re.MULTILINE):
            for name, word in WORD.findall(block):
                words[f"{package}/{name}".lower()] = word
    result: dict[str, dict[str, int]] = {
        "NethelpersLinkFlag": {flag: 1 << bit for bit, flag in enumerate(LINK_FLAGS.split())}
    }
    for full_name, values in enums.items():
        name = full_name.removeprefix(ENUMS)
        if name in WORDS:
            result[name] = WORDS[name]
            continue
        group = re.match(r"[A-Z][a-z0-9]+", name)
        if group is None:
            continue
        numbers = {
            words[key]: number
            for value, number in values.items()
            if (key := f"{group[0]}/{value.replace('_', '')}".lower()) in words
            and not re.fullmatch(r"table\d+", value.lower())
        }
        if numbers:
            result[name] = numbers
    return result


def spans(minors: list[str]) -> str:
    """`1.12-1.14` for a list of minors; an empty text for all of them."""
    if minors == MINORS:
        return ""
    runs: list[list[str]] = []
    for minor in minors:
        if runs and MINORS.index(minor) == MINORS.index(runs[-1][-1]) + 1:
            runs[-1].append(minor)
        else:
            runs.append([minor])
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}-{run[0]}" for run in runs)


def merged(rows: dict[str, list[list[Any]]]) -> list[list[Any]]:
    """Rows of several minors as one list, in the order of the newest, each with its minors."""
    order: list[list[Any]] = []
    for minor in reversed(MINORS):
        at = 0
        for row in rows.get(minor, []):
            if row in order:
                at = order.index(row) + 1
            else:
                order.insert(at, row)
                at += 1
    return [_with_span(row, [m for m in MINORS if row in rows.get(m, [])]) for row in order]


def _with_span(row: list[Any], minors: list[str]) -> list[Any]:
    span = spans(minors)
    kept = [*row, span] if span else list(row)
    while kept and kept[-1] == "":
        kept.pop()
    return kept


def definition(row: dict[str, Any]) -> list[Any]:
    """Type, display type, aliases, namespace, whether it is sensitive, columns."""
    prefixes = [
        ".".join(row["type"].lower().split(".")[:count])
        for count in range(1, row["type"].count(".") + 1)
    ]
    has_automatic = row["all_aliases"] == [*prefixes, *row["aliases"]]
    if not has_automatic and row["all_aliases"] != row["aliases"]:
        raise SystemExit(f"aliases of {row['type']} follow no rule")
    return [
        row["type"],
        row["display"],
        row["aliases"],
        row["namespace"],
        int(row["sensitivity"] == "sensitive"),
        row["columns"],
        int(has_automatic),
    ]


def main(folder: Path, repository: str) -> None:
    definitions = json.loads((folder / "talos-definitions.json").read_text())
    wire = json.loads((folder / "talos-wire-exact.json").read_text())
    by_shape: dict[str, dict[str, list[list[Any]]]] = {}
    kinds: dict[str, str] = dict(KINDS)
    told: dict[str, dict[str, int]] = {}
    for minor, version in VERSIONS.items():
        source = Source(repository, TAGS[minor])
        shapes, found = shapes_and_kinds(source)
        shapes |= ADDED.get(minor, {})
        kinds |= found | KINDS
        # Some contents had a structure before they had a description on the wire.
        messages = wire[VERSIONS[MINORS[-1]]]["messages"] | wire[version]["messages"]
        for name, rows in shapes.items():
            fields = messages.get(PREFIX + name, {})
            numbers = {row[0] for key, row in fields.items() if key != "#map_entry"}
            kept = [row for row in rows if row[1] in numbers]
            if kept and not any(part in name for part in UNUSED):
                by_shape.setdefault(name, {})[minor] = kept
        enums = {key: one for key, one in wire[version]["enums"].items() if key.startswith(ENUMS)}
        for name, values in words(source, enums).items():
            told.setdefault(name, {}).update(values)
    lines: dict[str, list[list[Any]]] = {
        minor: [definition(row) for row in definitions[version]]
        for minor, version in VERSIONS.items()
    }
    known = {row[0] for rows in lines.values() for row in rows}
    table: dict[str, Any] = {
        "definitions": sorted(merged(lines), key=lambda row: str(row[0])),
        "kinds": {
            key: kinds[key] for key in sorted(kinds) if key in known and kinds[key] in by_shape
        },
        "shapes": {key: merged(by_shape[key]) for key in sorted(by_shape)},
        "words": {key: told[key] for key in sorted(told)},
    }
    parts = []
    for part, content in table.items():
        if isinstance(content, list):
            inner = ",\n".join(json.dumps(one, separators=(",", ":")) for one in content)
            parts.append(f'"{part}":[\n{inner}\n]')
        else:
            inner = ",\n".join(
                f"{json.dumps(key)}:{json.dumps(one, separators=(',', ':'))}"
                for key, one in content.items()
            )
            parts.append(f'"{part}":{{\n{inner}\n}}')
    PLACE.write_text("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
