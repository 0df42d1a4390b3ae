"""Readers of single values: the text of the file becomes the type of the field."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any
from uuid import UUID

from stockman.config.reading import Place, Reader, Reading, Unfit, unfit, wrong_kind
from stockman.config.source.tree import Node, Scalar
from stockman.model.secret import Secret, SecretForm, is_encrypted, secret_form
from stockman.model.version import Version

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")


def text_of(node: Node, place: Place, reading: Reading) -> str:
    """The text of a value; an encrypted one is set aside."""
    if not isinstance(node, Scalar):
        wrong_kind(node, place, reading, "a single value")
    if is_encrypted(node.text):
        reading.opaque.append(place.origin)
        raise Unfit
    return node.text


def _whole(node: Node, place: Place, reading: Reading) -> int:
    text = text_of(node, place, reading)
    if _WHOLE.fullmatch(text) is None:
        wanted = "a whole number of at most 19 digits" if text.isdecimal() else "a whole number"
        unfit(place, reading, text, wanted, "4")
    return int(text)


def _flag(node: Node, place: Place, reading: Reading) -> bool:
    text = text_of(node, place, reading)
    if text not in ("true", "false", "True", "False", "TRUE", "FALSE"):
        unfit(place, reading, text, "true or false", "true")
    return text.lower() == "true"


def _secret(node: Node, place: Place, reading: Reading) -> Secret:
    if not isinstance(node, Scalar):
        wrong_kind(node, place, reading, "a single value")
    if secret_form(node.text) is SecretForm.LITERAL and node.text:
        reading.literals.append(place.origin)
    secret = Secret(node.text)
    reading.secrets.append(secret)
    return secret


def _network(node: Node, place: Place, reading: Reading) -> IPv4Network:
    text = text_of(node, place, reading)
    try:
        return IPv4Network(text)
    except ValueError:
        pass
    try:
        loose = IPv4Network(text, strict=False)
    except ValueError:
        unfit(place, reading, text, "an IPv4 network", "127.66.0.0/24")
    reading.problems.error(
        "config.host-bits",
        f"{place.path} names an address, not a network",
        why=f"{text} has bits set behind its prefix; the network is {loose}",
        fix=f"write {loose}",
        at=place.at,
    )
    raise Unfit


def _parsed(make: Callable[[str], Any], says: str, example: str) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> object:
        text = text_of(node, place, reading)
        try:
            return make(text)
        except ValueError:
            unfit(place, reading, text, says, example)

    return read


SCALARS: dict[Any, Reader] = {
    str: text_of,
    int: _whole,
    bool: _flag,
    Secret: _secret,
    IPv4Network: _network,
    IPv4Address: _parsed(IPv4Address, "an IPv4 address", "127.66.0.10"),
    IPv4Interface: _parsed(
        lambda text: IPv4Interface(text) if "/" in text else IPv4Interface("no prefix"),
        "an IPv4 address with prefix",
        "127.66.0.10/24",
    ),
    UUID: _parsed(UUID, "a UUID", "6f2d1c3e-0000-4000-8000-000000000001"),
    Version: _parsed(Version.parse, "a version", "1.12.1"),
}
