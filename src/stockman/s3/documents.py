"""Documents of a storage, read."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from stockman.s3.refusals import odd_answer

_LARGEST = 32 << 20


class Row(NamedTuple):
    """One row of a list: texts by the names of elements."""

    members: dict[str, str]

    def text(self, name: str) -> str:
        return self.members.get(name, "")


class Page(NamedTuple):
    """One page of a list."""

    rows: list[Row]
    members: dict[str, str]
    """What stands beside the rows."""

    @property
    def is_truncated(self) -> bool:
        return self.members.get("IsTruncated") == "true"


def page(shown: str, body: bytes, root: str, row: str) -> Page:
    """A page out of a document; `Rejected` where it is none, or refers to anything outside."""
    if len(body) > _LARGEST or b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise odd_answer(shown, "its list is too large, or more than a list")
    try:
        found = ET.fromstring(body)
    except ET.ParseError:
        raise odd_answer(shown, "its list is not XML") from None
    if _name(found) != root:
        raise odd_answer(shown, f"its answer is no {root}")
    rows = [Row(_texts(one)) for one in found if _name(one) == row]
    members = {_name(one): one.text or "" for one in found if _name(one) != row}
    return Page(rows, members)


def moment(shown: str, text: str) -> datetime:
    """A moment as documents write it; `Rejected` where it is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise odd_answer(shown, "its list tells no time") from None
    if found.tzinfo is None:
        raise odd_answer(shown, "its list tells no time zone")
    return found


def key_of(row: Row, listed: Page) -> str:
    """The key of a row, decoded where the storage encoded it."""
    is_encoded = listed.members.get("EncodingType") == "url"
    return unquote(row.text("Key")) if is_encoded else row.text("Key")


def _texts(element: ET.Element) -> dict[str, str]:
    return {_name(one): one.text or "" for one in element}


def _name(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]
