"""Messages of the API: encoded from plain values, and read as plain values.

What is asked and answered here is the same in every minor that there is, so the newest tables
serve all of them, and later ones: fields that they do not know are left aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman.talos.api.rows import OddAnswer, Row, part, parts, text_or_none
from stockman.talos.wire.tables import MINORS

if TYPE_CHECKING:
    from stockman.talos.wire.wire import Method, Wire

NEWEST = MINORS[-1]
DATA = "common.Data"


def encoded(method: str, fields: Mapping[str, object]) -> bytes:
    """The request of a method."""
    from stockman.talos.wire.filling import new_message

    return new_message(_wire(), _method(method).request, fields).SerializeToString()


def encoded_data(piece: bytes) -> bytes:
    """A piece of something that is sent as a stream of bytes."""
    from stockman.talos.wire.filling import new_message

    return new_message(_wire(), DATA, {"bytes": piece}).SerializeToString()


def decoded(method: str, message: bytes) -> Row:
    """What a reply of a method holds; raises `OddAnswer`."""
    return decoded_as(_method(method).response, message)


def decoded_as(name: str, message: bytes) -> Row:
    """What a message holds; raises `OddAnswer`."""
    from google.protobuf.message import DecodeError

    from stockman.talos.wire.reading import values_of

    wire = _wire()
    try:
        return values_of(wire, wire.message(name).FromString(message))
    except DecodeError:
        raise OddAnswer("its message cannot be read") from None


def only(row: Row) -> Row:
    """The one message in an envelope; raises `OddAnswer` where there are none or several."""
    found = parts(row, "messages")
    if len(found) != 1:
        raise OddAnswer(f"{len(found)} machines answer where one was asked")
    if "metadata" in found[0] and (trouble := text_or_none(part(found[0], "metadata"), "error")):
        raise OddAnswer(trouble)
    return found[0]


def _method(method: str) -> Method:
    service, _, name = method.rpartition("/")
    return _wire().method(service, name)


def _wire() -> Wire:
    # Described when it is first needed: the library behind it takes a while to load.
    from stockman.talos.wire.wire import wire_of

    return wire_of(NEWEST)
