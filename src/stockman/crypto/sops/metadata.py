"""The `sops` entry of a file: for whom it is encrypted, what of it, and its check sum."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from stockman.crypto.sops import problems
from stockman.crypto.sops.problems import Where
from stockman.crypto.sops.scalars import Timestamp
from stockman.crypto.sops.selectors import SELECTORS, Selector, chosen_selector
from stockman.crypto.sops.tree import Branch, Items, Leaf, Note
from stockman.model.pattern import pattern
from stockman.model.record import record

VERSION = "3.13.3"
"""The version of SOPS whose form new files have."""

_FOREIGN = {
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
    """What a file says about its encryption."""

    age: tuple[AgeKey, ...]
    lastmodified: str
    mac: str
    selector: Selector
    only_encrypted: bool
    """Whether the check sum covers encrypted values only."""
    version: str = VERSION

    @property
    def recipients(self) -> tuple[str, ...]:
        return tuple(key.recipient for key in self.age)

    @property
    def moment(self) -> str:
        """What the check sum is bound to: the time as SOPS writes it."""
        match = _RFC3339.fullmatch(self.lastmodified)
        if match is None:
            raise ValueError("its `lastmodified` is no time")
        return match[1] + ("Z" if match[2] in ("+00:00", "-00:00") else match[2])


def moment_text(moment: datetime) -> str:
    """A time as SOPS writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_metadata(entry: Branch, where: Where) -> Metadata:
    """The metadata of a `sops` entry; refuses keys of other kinds than age."""
    reader = _Reader(entry, where)
    reader.refuse_foreign_keys()
    found = Metadata(
        age=tuple(reader.age_keys()),
        lastmodified=reader.text("lastmodified"),
        mac=reader.text("mac"),
        selector=chosen_selector({name: reader.text(name, "") for name in SELECTORS}, where),
        only_encrypted=reader.flag("mac_only_encrypted"),
        version=reader.text("version", ""),
    )
    if not found.age:
        raise problems.bad_metadata(where, "it names no recipient")
    if _VERSION.fullmatch(found.version) is None:
        # The last line that SOPS writes: what is cut off ends here.
        raise problems.bad_metadata(where, "its `version` is missing or incomplete")
    try:
        _ = found.moment
    except ValueError as error:
        raise problems.bad_metadata(where, str(error)) from None
    return found


class _Reader:
    def __init__(self, entry: Branch, where: Where) -> None:
        self._entry = entry
        self._where = where

    def refuse_foreign_keys(self) -> None:
        if self._holds("key_groups"):
            raise problems.key_groups(self._where)
        for name, kind in _FOREIGN.items():
            if self._holds(name):
                raise problems.foreign_key(self._where, kind)

    def _holds(self, name: str) -> bool:
        found = self._entry.entry(name)
        if found is None or (isinstance(found.node, Leaf) and found.node.value is None):
            return False
        return isinstance(found.node, Leaf) or any(
            not isinstance(item, Note) for item in found.node.items
        )

    def age_keys(self) -> Iterator[AgeKey]:
        found = self._entry.entry("age")
        if found is None or not isinstance(found.node, Items):
            return
        for item in found.node.items:
            if isinstance(item, Branch):
                one = _Reader(item, self._where)
                yield AgeKey(recipient=one.text("recipient"), enc=one.text("enc"))
            elif not isinstance(item, Note):
                raise problems.bad_metadata(self._where, "an entry of its `age` is no mapping")

    def text(self, name: str, otherwise: str | None = None) -> str:
        found = self._entry.entry(name)
        if found is not None and isinstance(found.node, Leaf):
            value = found.node.value
            if isinstance(value, Timestamp):
                return value.text
            if isinstance(value, str | int | float):
                return str(value)
        if otherwise is None:
            raise problems.bad_metadata(self._where, f"its {name!r} is missing")
        return otherwise

    def flag(self, name: str) -> bool:
        return self.text(name, "false").lower() in ("true", "1")
