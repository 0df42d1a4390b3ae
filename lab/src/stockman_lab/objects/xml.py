"""Answers and requests of S3 as XML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from stockman_lab.objects.refusals import ObjectsError, invalid

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
_LARGEST = 1 << 20
Member: TypeAlias = tuple[str, "str | int | bool | Iterable[Member]"]


def document(name: str, members: Iterable[Member]) -> bytes:
    """A document with a root of S3's namespace."""
    inner = "".join(_written(member) for member in members)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<{name} xmlns="{NAMESPACE}">{inner}</{name}>'.encode()


def error_document(error: ObjectsError, resource: str, request: str) -> bytes:
    """A refusal."""
    members: tuple[Member, ...] = (
        ("Code", error.code),
        ("Message", error.text),
        *error.more.items(),
        ("Resource", resource),
        ("RequestId", request),
    )
    inner = "".join(_written(member) for member in members)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{inner}</Error>'.encode()


def _written(member: Member) -> str:
    name, value = member
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, str | int):
        text = escape(str(value))
    else:
        text = "".join(_written(one) for one in value)
    return f"<{name}>{text}</{name}>"


def read(body: bytes, root: str) -> list[ET.Element]:
    """The elements inside a document; refused where it is none, or refers to anything outside."""
    if len(body) > _LARGEST or b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise malformed()
    try:
        fromstring = ET.fromstring(body)
    except ET.ParseError:
        raise malformed() from None
    if _local(fromstring.tag) != root:
        raise malformed()
    return list(fromstring)


def malformed() -> ObjectsError:
    """No document that is known."""
    return invalid(
        "The XML you provided was not well-formed or did not validate against our published"
        " schema.",
        "MalformedXML",
    )


def texts(element: ET.Element) -> dict[str, str]:
    """Texts of the elements inside one, by their names."""
    return {_local(one.tag): one.text or "" for one in element}


def local_name(element: ET.Element) -> str:
    return _local(element.tag)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
