"""Read records from a tree: the type of a field determines how its text is parsed.

Every error is reported with its position, and reading continues: an invalid field keeps its
default, and a record without a required field is omitted.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, fields
from enum import Enum
from functools import cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import (
    Annotated,
    Any,
    Literal,
    NewType,
    NoReturn,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)
from uuid import UUID

from stockman.config.former_keys import (
    MAX_UNKNOWN_KEYS,
    advise_on_key,
    report_more_unknown_keys,
)
from stockman.config.hints import type_hints
from stockman.config.nearest import nearest_name
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    to_plain_data,
)
from stockman.model.formats import Between, Example, KeepPositions, NonEmpty, Required, TextFormat
from stockman.model.origin import Origin, Position, Traced
from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.model.secret import Secret, SecretForm, is_encrypted, secret_form
from stockman.model.version import Version

T = TypeVar("T")
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


def _report_invalid_value(
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


def _report_wrong_type(
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
        fix=f"see `stockman explain {_strip_indexes(location.path)}`",
        at=location.at,
    )
    raise InvalidValue


def _report_unknown_key(
    name: str,
    entry: MappingEntry,
    location: KeyLocation,
    known: Iterable[str],
    reading: ReadContext,
) -> None:
    """Report an unknown key, and suggest the nearest one."""
    advice = advise_on_key(name, known)
    parent = location.path or "the file"
    reading.problems.error(
        "config.unknown-key",
        f"{entry.name or name} is not a key of {parent}",
        why=f"{parent} knows no {name!r}" + (f"; {advice.reason}" if advice.reason else ""),
        fix=advice.fix or f"remove it, or see `stockman explain {_strip_indexes(location.path)}`",
        at=entry.key.at,
    )


def _report_missing_key(name: str, location: KeyLocation, reading: ReadContext) -> None:
    """Report a missing required key."""
    path = f"{location.path}.{name}" if location.path else name
    reading.problems.error(
        "config.missing-key",
        f"{path} is missing",
        why=f"{location.path or 'the file'} cannot do without it",
        fix=f"add `{name}:`; see `stockman explain {_strip_indexes(path)}`",
        at=location.at,
    )


def _strip_indexes(path: str) -> str:
    """Return a path without list indexes, as used by `stockman explain`."""
    return re.sub(r"\[\d+\]", "", path)


_INTEGER = pattern(r"-?(0|[1-9][0-9]{0,18})")


def read_text(node: TreeNode, location: KeyLocation, reading: ReadContext) -> str:
    """Return the text of a value; an encrypted value is recorded."""
    if not isinstance(node, ScalarNode):
        _report_wrong_type(node, location, reading, "a single value")
    if is_encrypted(node.text):
        reading.encrypted.append(location.origin)
        raise InvalidValue
    return node.text


_GIBIBYTES = pattern(r"(\d{1,6}) ?G(?:i?B)?i?")
_IN_MEBIBYTES = ("memory", "balloon", "swap")


def _read_integer(node: TreeNode, location: KeyLocation, reading: ReadContext) -> int:
    text = read_text(node, location, reading)
    if _INTEGER.fullmatch(text) is None:
        expected = "a whole number of at most 19 digits" if text.isdecimal() else "a whole number"
        size = _GIBIBYTES.fullmatch(text) if location.path.endswith(_IN_MEBIBYTES) else None
        if size is not None:
            expected = "a number of MiB without a unit"
        example = str(int(size[1]) * 1024) if size is not None else "4"
        _report_invalid_value(location, reading, text, expected, example)
    return int(text)


def _read_flag(node: TreeNode, location: KeyLocation, reading: ReadContext) -> bool:
    text = read_text(node, location, reading)
    if text not in ("true", "false", "True", "False", "TRUE", "FALSE"):
        _report_invalid_value(location, reading, text, "true or false", "true")
    return text.lower() == "true"


def _read_secret(node: TreeNode, location: KeyLocation, reading: ReadContext) -> Secret:
    if not isinstance(node, ScalarNode):
        _report_wrong_type(node, location, reading, "a single value")
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
        _report_invalid_value(location, reading, text, "an IPv4 network", "127.66.0.0/24")
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
            _report_invalid_value(location, reading, text, says, example)

    return read


_SCALAR_READERS: dict[Any, NodeReader] = {
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


def read_record(cls: type[T], tree: MappingNode, reading: ReadContext, path: str = "") -> T | None:
    """Read a record from a mapping; None: a required key is missing or invalid."""
    try:
        return cast("T", _read_fields(cls, tree, KeyLocation(path, tree.at), reading))
    except InvalidValue:
        return None


class _FieldReader:
    """Reads one field of a record class."""

    __slots__ = ("_hint", "_reader", "default", "field", "free", "name", "named", "required")

    def __init__(self, field: Field[Any], hint: object) -> None:
        self.field = field
        self.name = field.name.rstrip("_")
        self.required = any(isinstance(marker, Required) for marker in _markers(hint))
        self.default = field.default is not MISSING or field.default_factory is not MISSING
        self.free = hint == dict[str, object]
        self.named = get_origin(hint) is dict and not self.free
        """Whether a user names the entries."""
        self._hint = hint
        self._reader: NodeReader | None = None
        """None: no file has this field so far."""

    @property
    def reader(self) -> NodeReader:
        if self._reader is None:
            self._reader = _build_reader(self._hint)
        return self._reader


@cache
def _field_readers(cls: type) -> dict[str, _FieldReader]:
    hints = type_hints(cls)
    keys = (
        _FieldReader(field, hints[field.name])
        for field in fields(cls)
        if field.metadata.get("shown", True)
    )
    return {key.name: key for key in keys}


def _read_fields(cls: type, node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
    if not isinstance(node, MappingNode):
        _report_wrong_type(node, location, reading, "a mapping (`key: value` lines)")
    keys = _field_readers(cls)
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {"": location.origin}
    known: set[str] = set()
    unknown = 0
    lacking = False
    for name, entry in node.entries.items():
        key = keys.get(name)
        if key is None:
            unknown += 1
            if unknown <= MAX_UNKNOWN_KEYS:
                _report_unknown_key(name, entry, location, keys, reading)
            elif unknown == MAX_UNKNOWN_KEYS + 1:
                total = sum(other not in keys for other in node.entries)
                parent = location.path or "the file"
                report_more_unknown_keys(reading.problems, parent, total, entry.key.at)
            continue
        inner = _child_location(location, name, entry)
        value = entry.value
        if isinstance(value, ScalarNode) and value.is_null:
            continue
        known.add(name)
        origins[key.field.name] = inner.origin
        try:
            values[key.field.name] = key.reader(value, inner, reading)
        except InvalidValue:
            lacking = lacking or not key.default
            continue
        if isinstance(value, SequenceNode):
            for index, item in enumerate(value.items):
                name = f"{inner.path}[{index}]"
                origins[f"{key.field.name}[{index}]"] = Origin(item.at, name, inner.via)
            for index, (path, at, via) in enumerate(value.names):
                name = f"{path or inner.path}[{at}]"
                origins[f"{key.field.name}[{index}]"] = Origin(value.items[index].at, name, via)
        elif key.named and isinstance(value, MappingNode):
            for named, member in value.entries.items():
                origins[f"{key.field.name}.{named}"] = Origin(
                    member.key.at, f"{inner.path}.{named}", member.via or inner.via
                )
        elif key.free and isinstance(value, MappingNode):
            origins |= _nested_origins(value, key.field.name, inner)
    for key in keys.values():
        if key.name in known or (key.default and not key.required):
            continue
        lacking = lacking or not key.default
        if not reading.partial:
            _report_missing_key(key.name, location, reading)
    if lacking:
        raise InvalidValue
    return cls(origins=origins, **values) if issubclass(cls, Traced) else cls(**values)


def _nested_origins(tree: MappingNode, name: str, location: KeyLocation) -> dict[str, Origin]:
    """Return the origins of keys in a free-form mapping, so that its owner can report positions."""
    origins = {}
    for key, entry in tree.entries.items():
        inner = _child_location(location, key, entry)
        origins[f"{name}.{key}"] = inner.origin
        if isinstance(entry.value, MappingNode):
            origins |= _nested_origins(entry.value, f"{name}.{key}", inner)
    return origins


def _child_location(parent: KeyLocation, name: str, entry: MappingEntry) -> KeyLocation:
    path = entry.name or (f"{parent.path}.{name}" if parent.path else name)
    return KeyLocation(path, entry.value.at, entry.via or parent.via)


@cache
def _build_reader(hint: object) -> NodeReader:
    origin = get_origin(hint)
    if origin is Annotated:
        return _build_annotated_reader(hint)
    if origin in (Union, types.UnionType):
        inner = [argument for argument in get_args(hint) if argument is not type(None)]
        if len(inner) != 1:
            raise TypeError(f"{hint} is not a type of the language")
        return _build_reader(inner[0])
    if origin is tuple:
        return _list_reader(_build_reader(get_args(hint)[0]))
    if origin is dict:
        key, value = get_args(hint)
        return _mapping_reader(key, _build_reader(value))
    if origin is Literal:
        return _choice_reader(get_args(hint))
    if isinstance(hint, NewType):
        return _build_reader(hint.__supertype__)
    if hint is object:
        return _read_untyped_value
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice_reader(tuple(member.value for member in hint), hint)
    if hint in _SCALAR_READERS:
        return _SCALAR_READERS[hint]
    if isinstance(hint, type) and issubclass(hint, Traced):
        return lambda node, location, reading: _read_fields(hint, node, location, reading)
    raise TypeError(f"{hint} is not a type of the language")


def _read_untyped_value(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
    """Read any value; encrypted values inside are recorded."""
    for inner, where in _walk_scalars(node, location):
        if is_encrypted(inner.text):
            reading.encrypted.append(where.origin)
    return to_plain_data(node)


def _walk_scalars(
    node: TreeNode, location: KeyLocation
) -> Iterator[tuple[ScalarNode, KeyLocation]]:
    if isinstance(node, ScalarNode):
        yield node, location
    elif isinstance(node, MappingNode):
        for name, entry in node.entries.items():
            yield from _walk_scalars(entry.value, _child_location(location, name, entry))
    else:
        for index, item in enumerate(node.items):
            inner = KeyLocation(f"{location.path}[{index}]", item.at, location.via)
            yield from _walk_scalars(item, inner)


def _markers(hint: object) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _build_annotated_reader(hint: object) -> NodeReader:
    base, *markers = get_args(hint)
    reader = _build_reader(base)
    examples = [marker.value for marker in markers if isinstance(marker, Example)]
    for marker in markers:
        if isinstance(marker, TextFormat):
            shape = marker._replace(example=examples[0]) if examples else marker
            reader = _format_reader(reader, shape)
        elif isinstance(marker, Between):
            reader = _range_reader(reader, marker)
        elif isinstance(marker, NonEmpty):
            reader = _non_empty_reader(reader)
        elif isinstance(marker, KeepPositions):
            reader = _position_keeper(reader)
    return reader


def _position_keeper(reader: NodeReader) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        reading.kept_nodes[node.at] = node
        return reader(node, location, reading)

    return read


def _format_reader(reader: NodeReader, shape: TextFormat) -> NodeReader:
    form = pattern(shape.pattern, re.ASCII)

    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        text = reader(node, location, reading)
        folded = text.lower() if shape.lower_case else text
        if len(folded) > shape.max_length or form.fullmatch(folded) is None:
            _report_invalid_value(location, reading, text, shape.description, shape.example)
        return folded

    return read


def _range_reader(reader: NodeReader, limits: Between) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        number = reader(node, location, reading)
        if not limits.low <= number <= limits.high:
            unit = f" {limits.unit}" if limits.unit else ""
            reading.problems.error(
                "config.range",
                f"{location.path} is out of range",
                why=f"{number} is not between {limits.low} and {limits.high}{unit}",
                fix=f"write a number from {limits.low} to {limits.high}",
                at=location.at,
            )
            raise InvalidValue
        return number

    return read


def _non_empty_reader(reader: NodeReader) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        items = reader(node, location, reading)
        if not items:
            reading.problems.error(
                "config.empty",
                f"{location.path} is empty",
                why="at least one item is needed",
                fix="add an item, or remove the key",
                at=location.at,
            )
            raise InvalidValue
        return items

    return read


def _list_reader(reader: NodeReader) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        if not isinstance(node, SequenceNode):
            _report_wrong_type(node, location, reading, "a list (`- item` lines or `[a, b]`)")
        items = []
        for index, item in enumerate(node.items):
            try:
                inner = KeyLocation(f"{location.path}[{index}]", item.at, location.via)
                items.append(reader(item, inner, reading))
            except InvalidValue:
                continue
        return tuple(items)

    return read


def _mapping_reader(key_hint: object, reader: NodeReader) -> NodeReader:
    shapes = [marker for marker in _markers(key_hint) if isinstance(marker, TextFormat)]

    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        if not isinstance(node, MappingNode):
            _report_wrong_type(node, location, reading, "a mapping (`key: value` lines)")
        items = {}
        for name, entry in node.entries.items():
            inner = _child_location(location, name, entry)
            try:
                for shape in shapes:
                    _check_key(name, shape, entry.key.at, location, reading)
                items[name] = reader(entry.value, inner, reading)
            except InvalidValue:
                continue
        return items

    return read


def _check_key(
    name: str, shape: TextFormat, at: Position, location: KeyLocation, reading: ReadContext
) -> None:
    if re.fullmatch(shape.pattern, name, re.ASCII) is None:
        reading.problems.error(
            "config.value",
            f"{location.path} has a name that does not fit",
            why=f"{name!r} is not {shape.description}",
            fix=f"name it for example {shape.example}",
            at=at,
        )
        raise InvalidValue


def _choice_reader(
    choices: tuple[Any, ...], make: Callable[[Any], Any] | None = None
) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        text = read_text(node, location, reading)
        if text in choices:
            return make(text) if make is not None else text
        near = nearest_name(text, choices)
        reading.problems.error(
            "config.choice",
            f"{location.path} has a value that does not exist",
            why=f"{text!r} is none of {', '.join(choices)}",
            fix=f"write {near or ' or '.join(choices)}",
            at=location.at,
        )
        raise InvalidValue

    return read
