"""Read single values of a tree, and report values that are invalid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any, NoReturn
from uuid import UUID

from stockman.config.nearest import nearest_name
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
)
from stockman.model.origin import Origin, Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.model.secret import Secret, SecretForm, is_encrypted, secret_form
from stockman.model.version import Version

_MAX_QUOTED = 60


class ReadContext:
    """Problems and secrets collected while a tree is read."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.plain_secrets: list[Origin] = []
        """Unencrypted secrets."""
        self.secrets: list[Secret] = []
        """All secrets, in any form."""
        self.encrypted: list[Origin] = []
        """Encrypted values of keys that are not secrets: present, but unknown."""
        self.kept_nodes: dict[Position, TreeNode] = {}
        """Values whose nested positions are needed later, by their position."""
        self.partial = False
        """Whether required keys may be missing, because another mapping provides them."""


class InvalidValue(Exception):
    """The value cannot be read; it is already reported, or encrypted."""


class KeyLocation:
    """Path of a value as the user wrote it, and its position."""

    __slots__ = ("at", "path", "via")

    def __init__(self, path: str, at: Position, via: str = "") -> None:
        self.path = path
        self.at = at
        self.via = via

    @property
    def origin(self) -> Origin:
        return Origin(self.at, self.path, self.via)


NodeReader = Callable[[TreeNode, KeyLocation, ReadContext], Any]


def report_invalid_value(
    location: KeyLocation, reading: ReadContext, text: str, says: str, example: str
) -> NoReturn:
    """Report a text that does not have the format of its key."""
    shown = text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 3]}..."
    reading.problems.error(
        "config.value",
        f"{location.path} has a value that does not fit",
        why=f"{shown!r} is not {says}",
        fix=f"write for example {example}",
        at=location.at,
    )
    raise InvalidValue


def report_wrong_type(
    node: TreeNode, location: KeyLocation, reading: ReadContext, expected: str
) -> NoReturn:
    """Report a mapping, list or value where another of the three is expected."""
    if isinstance(node, ScalarNode) and is_encrypted(node.text):
        reading.encrypted.append(location.origin)
        raise InvalidValue
    actual = {MappingNode: "a mapping", SequenceNode: "a list", ScalarNode: "a single value"}[
        type(node)
    ]
    reading.problems.error(
        "config.type",
        f"{location.path or 'the file'} has the wrong form",
        why=f"it is {actual}; {expected} is needed",
        fix=f"see `stockman explain {strip_indexes(location.path)}`",
        at=location.at,
    )
    raise InvalidValue


def report_unknown_key(
    name: str,
    entry: MappingEntry,
    location: KeyLocation,
    known: Iterable[str],
    reading: ReadContext,
) -> None:
    """Report an unknown key, and suggest the nearest one."""
    near = nearest_name(name, known)
    parent = location.path or "the file"
    reading.problems.error(
        "config.unknown-key",
        f"{entry.name or name} is not a key of {parent}",
        why=f"{parent} knows no {name!r}" + (f"; {near} is the nearest" if near else ""),
        fix=f"write {near}"
        if near
        else f"remove it, or see `stockman explain {strip_indexes(location.path)}`",
        at=entry.key.at,
    )


def report_missing_key(name: str, location: KeyLocation, reading: ReadContext) -> None:
    """Report a missing required key."""
    path = f"{location.path}.{name}" if location.path else name
    reading.problems.error(
        "config.missing-key",
        f"{path} is missing",
        why=f"{location.path or 'the file'} cannot do without it",
        fix=f"add `{name}:`; see `stockman explain {strip_indexes(path)}`",
        at=location.at,
    )


def strip_indexes(path: str) -> str:
    """Return a path without list indexes, as used by `stockman explain`."""
    return re.sub(r"\[\d+\]", "", path)


_INTEGER = pattern(r"-?(0|[1-9][0-9]{0,18})")


def read_text(node: TreeNode, location: KeyLocation, reading: ReadContext) -> str:
    """Return the text of a value; an encrypted value is recorded."""
    if not isinstance(node, ScalarNode):
        report_wrong_type(node, location, reading, "a single value")
    if is_encrypted(node.text):
        reading.encrypted.append(location.origin)
        raise InvalidValue
    return node.text


def _read_integer(node: TreeNode, location: KeyLocation, reading: ReadContext) -> int:
    text = read_text(node, location, reading)
    if _INTEGER.fullmatch(text) is None:
        expected = "a whole number of at most 19 digits" if text.isdecimal() else "a whole number"
        report_invalid_value(location, reading, text, expected, "4")
    return int(text)


def _read_flag(node: TreeNode, location: KeyLocation, reading: ReadContext) -> bool:
    text = read_text(node, location, reading)
    if text not in ("true", "false", "True", "False", "TRUE", "FALSE"):
        report_invalid_value(location, reading, text, "true or false", "true")
    return text.lower() == "true"


def _read_secret(node: TreeNode, location: KeyLocation, reading: ReadContext) -> Secret:
    if not isinstance(node, ScalarNode):
        report_wrong_type(node, location, reading, "a single value")
    if secret_form(node.text) is SecretForm.LITERAL and node.text:
        reading.plain_secrets.append(location.origin)
    secret = Secret(node.text)
    reading.secrets.append(secret)
    return secret


def _read_network(node: TreeNode, location: KeyLocation, reading: ReadContext) -> IPv4Network:
    text = read_text(node, location, reading)
    try:
        return IPv4Network(text)
    except ValueError:
        pass
    try:
        loose = IPv4Network(text, strict=False)
    except ValueError:
        report_invalid_value(location, reading, text, "an IPv4 network", "127.66.0.0/24")
    reading.problems.error(
        "config.host-bits",
        f"{location.path} names an address, not a network",
        why=f"{text} has bits set behind its prefix; the network is {loose}",
        fix=f"write {loose}",
        at=location.at,
    )
    raise InvalidValue


def _build_parser(make: Callable[[str], Any], says: str, example: str) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        text = read_text(node, location, reading)
        try:
            return make(text)
        except ValueError:
            report_invalid_value(location, reading, text, says, example)

    return read


SCALAR_READERS: dict[Any, NodeReader] = {
    str: read_text,
    int: _read_integer,
    bool: _read_flag,
    Secret: _read_secret,
    IPv4Network: _read_network,
    IPv4Address: _build_parser(IPv4Address, "an IPv4 address", "127.66.0.10"),
    IPv4Interface: _build_parser(
        lambda text: IPv4Interface(text) if "/" in text else IPv4Interface("no prefix"),
        "an IPv4 address with prefix",
        "127.66.0.10/24",
    ),
    UUID: _build_parser(UUID, "a UUID", "6f2d1c3e-0000-4000-8000-000000000001"),
    Version: _build_parser(Version.parse, "a version", "1.12.1"),
}
