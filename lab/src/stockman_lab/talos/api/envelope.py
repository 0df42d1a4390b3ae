"""The envelope of replies: most are a list of one message for each machine that answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Refusal

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from stockman.talos.wire.schema import ApiMethod, ApiSchema

_MESSAGES = "messages"
_TOO_LARGE = 32 * 1024 * 1024


def wrapped(
    wire: ApiSchema, method: ApiMethod, fields: Mapping[str, object]
) -> Mapping[str, object]:
    """A reply in its envelope, where a method has one."""
    if method.server_stream or not has_envelope(wire, method):
        return fields
    return {_MESSAGES: [fields]}


def has_envelope(wire: ApiSchema, method: ApiMethod) -> bool:
    """Whether replies of a method are lists."""
    return [field.name for field in wire.message(method.response).DESCRIPTOR.fields] == [_MESSAGES]


def encoded(wire: ApiSchema, method: ApiMethod, fields: Mapping[str, object]) -> bytes:
    """A reply as it goes over the wire."""
    from stockman.talos.wire.values import new_message

    message = new_message(wire, method.response, wrapped(wire, method, fields))
    text = message.SerializeToString()
    if len(text) > _TOO_LARGE:
        raise Refusal(
            GrpcCode.RESOURCE_EXHAUSTED,
            f"grpc: received message larger than max ({len(text)} vs. {_TOO_LARGE})",
        )
    return text


def decoded(wire: ApiSchema, method: ApiMethod, piece: bytes) -> Message:
    """What a caller sent; fields that nobody knows are kept aside."""
    from google.protobuf.message import DecodeError

    try:
        return wire.message(method.request).FromString(piece)
    except DecodeError:
        raise Refusal(
            GrpcCode.INTERNAL,
            "grpc: error unmarshalling request: proto: cannot parse invalid wire-format data",
        ) from None
