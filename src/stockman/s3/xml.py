"""Parse XML documents of S3."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from stockman.s3.errors import unexpected_answer

_LARGEST = 32 << 20


class XmlRow(NamedTuple):
    """A row of a list: texts by element name."""

    members: dict[str, str]

    def text(self, name: str) -> str:
        return self.members.get(name, "")


class XmlPage(NamedTuple):
    """A page of a list."""

    rows: list[XmlRow]
    members: dict[str, str]
    """Texts of the other elements."""

    @property
    def is_truncated(self) -> bool:
        return self.members.get("IsTruncated") == "true"


def parse_page(shown: str, body: bytes, root: str, row: str) -> XmlPage:
    """Parse a page; raises `Rejected` for other documents and external references."""
    if len(body) > _LARGEST or b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise unexpected_answer(shown, "its list is too large or contains a DTD")
    try:
        document = ET.fromstring(body)
    except ET.ParseError:
        raise unexpected_answer(shown, "its list is not XML") from None
    if _local_name(document) != root:
        raise unexpected_answer(shown, f"its reply is not a {root}")
    rows = [XmlRow(_child_texts(element)) for element in document if _local_name(element) == row]
    members = {
        _local_name(element): element.text or ""
        for element in document
        if _local_name(element) != row
    }
    return XmlPage(rows, members)


def parse_timestamp(shown: str, text: str) -> datetime:
    """Parse a time; raises `Rejected`."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise unexpected_answer(shown, "its list contains an invalid time") from None
    if time.tzinfo is None:
        raise unexpected_answer(shown, "its list contains a time without a time zone")
    return time


def object_key(row: XmlRow, page: XmlPage) -> str:
    """Return the decoded key of a row."""
    is_encoded = page.members.get("EncodingType") == "url"
    return unquote(row.text("Key")) if is_encoded else row.text("Key")


def _child_texts(element: ET.Element) -> dict[str, str]:
    return {_local_name(child): child.text or "" for child in element}


def _local_name(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]
