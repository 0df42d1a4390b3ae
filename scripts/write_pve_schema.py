"""Generate the tables of the Proxmox VE API, one for each release of the lab.

Only facts are kept: calls, names of parameters, kinds, bounds, values, formats and privileges.
Repeated shapes and groups of properties are written once and referenced by number. The argument is
the folder with the API descriptions.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from stockman_lab.pve.schema.shape import KINDS

Json = dict[str, Any]

PLACE = Path(__file__).parents[1] / "lab/src/stockman_lab/pve/schema/tables"
SOURCES = {"8.4": "apidoc-8.4.json", "9.1": "apidoc.json"}

COMPRESSIONS = ["gz", "lzo", "zst", "bz2"]
"""Values of `compression` of download-url, which the description leaves out."""

COUNTS = {
    "acmedomain": 6,
    "dev": 256,
    "hostpci": 16,
    "ide": 4,
    "ipconfig": 32,
    "link": 8,
    "mp": 256,
    "net": 32,
    "numa": 8,
    "parallel": 3,
    "sata": 6,
    "scsi": 31,
    "serial": 4,
    "unused": 256,
    "usb": 14,
    "virtio": 16,
    "virtiofs": 10,
}
"""How many keys `name[n]` stands for; they start at 0."""

DRIVE_WITHOUT_SOURCE = "pve-qm-ide"
"""A named format that is the property string of `ide[n]` without its `import-from`."""

TO_THE_END = {"content/{volume}", "ipset/{name}/{cidr}"}
"""Ends of paths whose last argument takes all that follows, slashes included."""

_LETTERS = {kind: letter for letter, kind in KINDS.items()}
_BOUNDS = {
    "minimum": "least",
    "maximum": "most",
    "minLength": "shortest",
    "maxLength": "longest",
    "requires": "needs",
    "alias": "alias",
    "keyAlias": "kept",
    "type-property": "by",
}
_INLINE = re.compile(r"\(\?\^([a-z]*):")


class Table:
    """Shapes, groups and permissions of one profile, each once."""

    def __init__(self, drive: Json) -> None:
        self._drive = {key: schema for key, schema in drive.items() if key != "import-from"}
        self._rows: dict[str, int] = {}
        self._groups: dict[str, int] = {}
        self._rights: dict[str, int] = {}

    def shape(self, schema: Json) -> int:
        """The number of a schema's shape."""
        row: Json = {"is": _LETTERS[schema.get("type", "")]}
        form = schema.get("format")
        if form == DRIVE_WITHOUT_SOURCE:
            form = self._drive
        if isinstance(form, str):
            row["form"] = form
        elif form:
            row["keys"] = self.group(form)
        if "enum" in schema:
            row["in"] = COMPRESSIONS if schema["enum"] is None else schema["enum"]
        if "pattern" in schema:
            row["like"] = pattern(schema["pattern"])
        row |= {ours: schema[theirs] for theirs, ours in _BOUNDS.items() if theirs in schema}
        row |= {"bare": 1} if schema.get("default_key") else {}
        default = schema.get("default")
        if isinstance(default, int | float) or (isinstance(default, str) and " " not in default):
            row["else"] = default
        return _number(self._rows, row | self._inner(schema))

    def _inner(self, schema: Json) -> Json:
        row: Json = {}
        if "items" in schema:
            row["of"] = self.shape(schema["items"])
        if "properties" in schema:
            row["has"] = self.group(schema["properties"])
        additional = schema.get("additionalProperties", 1)
        if isinstance(additional, dict):
            row["rest"] = self.shape(additional)
        elif not int(additional):
            row["shut"] = 1
        if "oneOf" in schema:
            row["one"] = [[v.get("instance-types", []), self.shape(v)] for v in schema["oneOf"]]
        return row

    def group(self, properties: Json) -> int:
        """The number of a group of named properties."""
        return _number(
            self._groups,
            {_name(key, schema): self.shape(schema) for key, schema in properties.items()},
        )

    def rights(self, permissions: Json | None) -> int:
        """The number of what a caller needs; without any rule only root@pam may call."""
        if permissions is None:
            return _number(self._rights, "")
        return _number(self._rights, permissions.get("user") or permissions["check"])

    def written(self, calls: Json) -> str:
        """The table as text: one row, group or path a line."""
        return (
            "{"
            + ",\n".join(
                [
                    '"shapes":[\n' + ",\n".join(self._rows) + "]",
                    '"groups":[\n' + ",\n".join(self._groups) + "]",
                    '"rights":[\n' + ",\n".join(self._rights) + "]",
                    '"calls":{\n'
                    + ",\n".join(f"{_dumped(p)}:{_dumped(c)}" for p, c in calls.items()),
                ]
            )
            + "}}\n"
        )


def pattern(perl: str) -> str:
    """A regular expression of Perl as one of Python's.

    A separator that may be empty inside of a repetition is made one that may not: the same texts
    match, and Python's matcher is done before the end of time.
    """
    ours = _INLINE.sub(lambda match: f"(?{match[1]}:", perl).replace("|[-]*)", "|[-]+)")
    re.compile(ours)
    return ours


def table(operations: list[Json]) -> str:
    """The table of all calls."""
    table = Table(_drive(operations))
    calls: Json = {}
    for operation in operations:
        calls.setdefault(_path(operation["path"]), {})[operation["method"]] = [
            operation["name"],
            table.shape({"type": "object"} | operation["parameters"]),
            table.shape(operation["returns"]),
            table.rights(operation.get("permissions")),
            _marks(operation),
        ]
    return table.written(calls)


def main(folder: Path) -> None:
    """Write each profile's table."""
    for profile, source in SOURCES.items():
        operations = json.loads((folder / source).read_text("utf-8"))
        (PLACE / f"{profile}.json").write_text(table(operations), "utf-8")


def _drive(operations: list[Json]) -> Json:
    formats: list[Json] = [
        operation["parameters"]["properties"]["ide[n]"]["format"]
        for operation in operations
        if "ide[n]" in operation["parameters"].get("properties", {})
    ]
    return formats[0]


def _path(path: str) -> str:
    if any(path.endswith(end) for end in TO_THE_END):
        return path[:-1] + "*}"
    return path


def _marks(operation: Json) -> str:
    """t: no API token; p: as root; n: on the node of the path; d: may answer with a file."""
    marks = {
        "t": not operation["allowtoken"],
        "p": operation.get("protected"),
        "n": operation.get("proxyto") == "node",
        "d": operation.get("download_allowed"),
    }
    return "".join(letter for letter, holds in marks.items() if holds)


def _name(key: str, part: Json) -> str:
    name = key.removesuffix("[n]")
    counted = "" if name == key else f"*{COUNTS[name]}"
    return name + counted + ("?" if int(part.get("optional", 0)) else "")


def _number(known: dict[str, int], value: object) -> int:
    return known.setdefault(_dumped(value), len(known))


def _dumped(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
