"""Records of etcd: revisions with the keys and values that they put or delete."""

from __future__ import annotations

import struct
from typing import NamedTuple

from stockman.etcd.errors import BrokenDatabase
from stockman.etcd.protobuf import bytes_field, fields, number_field, read_varint, to_signed

_REVISION = struct.Struct(">QcQ")
_SEPARATOR = b"_"
_TOMBSTONE = b"t"
_MORE = 0x80
_KEY_TAG = 0x0A
_TAGS = (_KEY_TAG, 0x2A, 0x10, 0x18, 0x20, 0x30)
"""What each field of a `KeyValue` begins with: number and kind."""
_BYTES_TAGS = _TAGS[:2]
_NUMBER_TAGS = _TAGS[2:]
_EMPTY = (b"", b"", 0, 0, 0, 0)


class Revision(NamedTuple):
    """The number of a transaction, and of a change in it."""

    main: int
    sub: int = 0
    is_tombstone: bool = False

    @property
    def key(self) -> bytes:
        """The encoded form in the bucket `key`."""
        packed = _REVISION.pack(self.main, _SEPARATOR, self.sub)
        return packed + _TOMBSTONE if self.is_tombstone else packed


class KeyValue(NamedTuple):
    """A key with its value and history."""

    key: bytes
    value: bytes = b""
    create_revision: int = 0
    mod_revision: int = 0
    version: int = 0
    lease: int = 0

    @property
    def encoded(self) -> bytes:
        """The encoding of etcd: fields in order, without empty ones."""
        return (
            bytes_field(1, self.key)
            + number_field(2, self.create_revision)
            + number_field(3, self.mod_revision)
            + number_field(4, self.version)
            + bytes_field(5, self.value)
            + number_field(6, self.lease)
        )


class Record(NamedTuple):
    """One entry of the bucket `key`; of a tombstone, only the key is known."""

    revision: Revision
    content: KeyValue


def read_revision(key: bytes) -> Revision:
    """Parse a key of the bucket `key`; raises `BrokenDatabase`."""
    size = len(key)
    is_tombstone = size == _REVISION.size + 1 and key.endswith(_TOMBSTONE)
    if size != _REVISION.size and not is_tombstone:
        raise BrokenDatabase(f"a key of {size} bytes is no revision")
    main, separator, sub = _REVISION.unpack_from(key)
    if separator != _SEPARATOR:
        raise BrokenDatabase("a key without its separator is no revision")
    return Revision(main, sub, is_tombstone)


def read_key_value(message: bytes) -> KeyValue:
    """Parse a value of the bucket `key`; raises `BrokenDatabase`."""
    values: dict[int, bytes | int] = {}
    position, end = 0, len(message)
    while position < end:
        tag = message[position]
        number, position = _number(message, position + 1)
        if tag in _BYTES_TAGS:
            behind = position + number
            if not position <= behind <= end:
                raise BrokenDatabase("a record is cut")
            values[tag] = message[position:behind]
            position = behind
        elif tag in _NUMBER_TAGS:
            values[tag] = number
        else:
            return _read_any_order(message)
    return KeyValue(*map(values.get, _TAGS, _EMPTY))  # type: ignore[arg-type]


def _number(message: bytes, position: int) -> tuple[int, int]:
    """Return a number, which usually has one byte, and the position after it."""
    octet = message[position] if position < len(message) else _MORE
    if octet < _MORE:
        return octet, position + 1
    number, position = read_varint(message, position)
    return to_signed(number), position


def _read_any_order(message: bytes) -> KeyValue:
    """Parse a record whose fields are in another order than etcd writes them."""
    texts = {1: b"", 5: b""}
    numbers = {2: 0, 3: 0, 4: 0, 6: 0}
    for number, value in fields(message):
        if isinstance(value, bytes):
            if number in numbers:
                raise BrokenDatabase("a record has bytes where a number belongs")
            texts[number] = value
        else:
            if number in texts:
                raise BrokenDatabase("a record has a number where bytes belong")
            numbers[number] = to_signed(value)
    return KeyValue(texts[1], texts[5], numbers[2], numbers[3], numbers[4], numbers[6])


def read_user_key(message: bytes) -> bytes:
    """Return only the key in a value of the bucket `key`."""
    if message[:1] == bytes([_KEY_TAG]):
        length, begin = read_varint(message, 1)
        if begin + length <= len(message):
            return message[begin : begin + length]
    return read_key_value(message).key


def read_record(key: bytes, value: bytes) -> Record:
    """Parse an entry of the bucket `key`; raises `BrokenDatabase`."""
    return Record(read_revision(key), read_key_value(value))
