"""The `sops` entry of a file: recipients, selector and MAC, and its text form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from stockman.crypto.sops import problems
from stockman.crypto.sops.problems import Location
from stockman.crypto.sops.scalars import Timestamp, go_scalar
from stockman.crypto.sops.selectors import DEFAULT_INDENT, SELECTOR_NAMES, Selector, build_selector
from stockman.crypto.sops.tree import (
    METADATA_KEY,
    SopsComment,
    SopsMapping,
    SopsScalar,
    SopsSequence,
)
from stockman.model.pattern import pattern
from stockman.model.record import record

VERSION = "3.13.3"
"""SOPS version whose format is used for new files."""

_FOREIGN_KEY_KINDS = {
    "kms": "kms",
    "gcp_kms": "gcp-kms",
    "hckms": "hckms",
    "azure_kv": "azure-kv",
    "hc_vault": "vault",
    "pgp": "pgp",
}
_VERSION = pattern(r"\d+\.\d+\.\d+(?:[-+].+)?", re.ASCII)
_RFC3339 = pattern(
    r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:[.,]\d+)?(Z|[-+]\d{2}:\d{2})", re.ASCII
)


@record
class AgeKey:
    """The data key, encrypted for one recipient."""

    recipient: str
    enc: str


@record
class Metadata:
    """Encryption metadata of a file."""

    age: tuple[AgeKey, ...]
    lastmodified: str
    mac: str
    selector: Selector
    only_encrypted: bool
    """Whether the MAC covers encrypted values only."""
    version: str = VERSION

    @property
    def recipients(self) -> tuple[str, ...]:
        return tuple(key.recipient for key in self.age)

    @property
    def moment(self) -> str:
        """Time that the MAC is bound to, as SOPS formats it."""
        match = _RFC3339.fullmatch(self.lastmodified)
        if match is None:
            raise ValueError("its `lastmodified` is no time")
        return match[1] + ("Z" if match[2] in ("+00:00", "-00:00") else match[2])


def format_time(moment: datetime) -> str:
    """Format a time as SOPS does."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_metadata(entry: SopsMapping, where: Location) -> Metadata:
    """Parse a `sops` entry; refuses keys other than age."""
    reader = _MetadataReader(entry, where)
    reader.refuse_foreign_keys()
    metadata = Metadata(
        age=tuple(reader.age_keys()),
        lastmodified=reader.text("lastmodified"),
        mac=reader.text("mac"),
        selector=build_selector({name: reader.text(name, "") for name in SELECTOR_NAMES}, where),
        only_encrypted=reader.flag("mac_only_encrypted"),
        version=reader.text("version", ""),
    )
    if not metadata.age:
        raise problems.bad_metadata(where, "it names no recipient")
    if _VERSION.fullmatch(metadata.version) is None:
        # The last line that SOPS writes: what is cut off ends here.
        raise problems.bad_metadata(where, "its `version` is missing or incomplete")
    try:
        _ = metadata.moment
    except ValueError as error:
        raise problems.bad_metadata(where, str(error)) from None
    return metadata


class _MetadataReader:
    def __init__(self, entry: SopsMapping, where: Location) -> None:
        self._entry = entry
        self._where = where

    def refuse_foreign_keys(self) -> None:
        if self._holds("key_groups"):
            raise problems.key_groups(self._where)
        for name, kind in _FOREIGN_KEY_KINDS.items():
            if self._holds(name):
                raise problems.foreign_key(self._where, kind)

    def _holds(self, name: str) -> bool:
        entry = self._entry.entry(name)
        if entry is None or (isinstance(entry.node, SopsScalar) and entry.node.value is None):
            return False
        return isinstance(entry.node, SopsScalar) or any(
            not isinstance(item, SopsComment) for item in entry.node.items
        )

    def age_keys(self) -> Iterator[AgeKey]:
        entry = self._entry.entry("age")
        if entry is None or not isinstance(entry.node, SopsSequence):
            return
        for item in entry.node.items:
            if isinstance(item, SopsMapping):
                reader = _MetadataReader(item, self._where)
                yield AgeKey(recipient=reader.text("recipient"), enc=reader.text("enc"))
            elif not isinstance(item, SopsComment):
                raise problems.bad_metadata(self._where, "an entry of its `age` is no mapping")

    def text(self, name: str, otherwise: str | None = None) -> str:
        entry = self._entry.entry(name)
        if entry is not None and isinstance(entry.node, SopsScalar):
            value = entry.node.value
            if isinstance(value, Timestamp):
                return value.text
            if isinstance(value, str | int | float):
                return str(value)
        if otherwise is None:
            raise problems.bad_metadata(self._where, f"its {name!r} is missing")
        return otherwise

    def flag(self, name: str) -> bool:
        return self.text(name, "false").lower() in ("true", "1")


_HTML_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def render_yaml_entry(metadata: Metadata, indent: int = DEFAULT_INDENT) -> str:
    """Return the lines of the entry for a block mapping without indentation."""
    # The Go library knows indents of 2 to 9 and takes others as 2.
    indent = indent if 2 <= indent <= 9 else 2
    dash, key = 2 * indent, 2 * indent + 2
    content = (key // indent + 1) * indent
    lines = [f"{METADATA_KEY}:", f"{' ' * indent}age:"]
    for key_entry in metadata.age:
        lines.append(f"{' ' * dash}- enc: |" + ("" if key_entry.enc.endswith("\n") else "-"))
        lines += [f"{' ' * content}{line}" for line in key_entry.enc.rstrip("\n").split("\n")]
        lines.append(f"{' ' * key}recipient: {key_entry.recipient}")
    for name, value in _metadata_fields(metadata):
        text = "true" if value is True else go_scalar(str(value))
        lines.append(f"{' ' * indent}{name}: {text}")
    return "\n".join(lines) + "\n"


def render_json_entry(metadata: Metadata, unit: str | None) -> str:
    """Return the entry, `"sops": {...}`, of an object; without `unit` on one line."""
    value = {
        "age": [{"enc": key.enc, "recipient": key.recipient} for key in metadata.age],
        **dict(_metadata_fields(metadata)),
    }
    text = json.dumps(value, ensure_ascii=False, indent=unit).translate(_HTML_ESCAPES)
    if unit is not None:
        text = text.replace("\n", f"\n{unit}")
    return f'"{METADATA_KEY}": {text}'


def _metadata_fields(metadata: Metadata) -> list[tuple[str, str | bool]]:
    fields: dict[str, str | bool] = {
        "lastmodified": metadata.lastmodified,
        "mac": metadata.mac,
        "version": metadata.version,
    }
    if metadata.selector.name:
        fields[metadata.selector.name] = metadata.selector.pattern
    if metadata.only_encrypted:
        fields["mac_only_encrypted"] = True
    return sorted(fields.items())
