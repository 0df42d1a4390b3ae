"""Documents of a storage, read."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from stockman.s3.errors import unexpected_answer

_LARGEST = 32 << 20


class XmlRow(NamedTuple):
    """One row of a list: texts by the names of elements."""

    members: dict[str, str]

    def text(self, name: str) -> str:
        return self.members.get(name, "")


class XmlPage(NamedTuple):
    """One page of a list."""

    rows: list[XmlRow]
    members: dict[str, str]
    """What stands beside the rows."""

    @property
    def is_truncated(self) -> bool:
        return self.members.get("IsTruncated") == "true"


def parse_page(shown: str, body: bytes, root: str, row: str) -> XmlPage:
    """A page out of a document; `Rejected` where it is none, or refers to anything outside."""
    if len(body) > _LARGEST or b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise unexpected_answer(shown, "its list is too large, or more than a list")
    try:
        found = ET.fromstring(body)
    except ET.ParseError:
        raise unexpected_answer(shown, "its list is not XML") from None
    if _local_name(found) != root:
        raise unexpected_answer(shown, f"its answer is no {root}")
    rows = [XmlRow(_child_texts(one)) for one in found if _local_name(one) == row]
    members = {_local_name(one): one.text or "" for one in found if _local_name(one) != row}
    return XmlPage(rows, members)


def parse_timestamp(shown: str, text: str) -> datetime:
    """A moment as documents write it; `Rejected` where it is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise unexpected_answer(shown, "its list tells no time") from None
    if found.tzinfo is None:
        raise unexpected_answer(shown, "its list tells no time zone")
    return found


def object_key(row: XmlRow, listed: XmlPage) -> str:
    """The key of a row, decoded where the storage encoded it."""
    is_encoded = listed.members.get("EncodingType") == "url"
    return unquote(row.text("Key")) if is_encoded else row.text("Key")


def _child_texts(element: ET.Element) -> dict[str, str]:
    return {_local_name(one): one.text or "" for one in element}


def _local_name(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]
