"""Calls that follow what happens on a machine."""

from __future__ import annotations

import codecs
from collections.abc import AsyncGenerator
from contextlib import aclosing

from stockman.model.names import MachineAddress
from stockman.talos.api.calls import MACHINE, READ_SECONDS, InvalidAnswer, Row, get_optional_text
from stockman.talos.api.resources import FileCalls, chunk_bytes
from stockman.talos.records.machines import Event, EventsRequest, ServiceLogRequest

_EVENTS, _LOGS, _DMESG = f"{MACHINE}/Events", f"{MACHINE}/Logs", f"{MACHINE}/Dmesg"
_FOLLOW_SECONDS = 300.0
"""Silence after which a stream is given up: a machine that died does not say so."""
_PREFIX = "talos/runtime/machine."


class EventCalls(FileCalls):
    """Events and logs of a machine, as they happen."""

    async def events(
        self, node: MachineAddress, wish: EventsRequest | None = None
    ) -> AsyncGenerator[Event, None]:
        """Events; after the greeting nothing is missed. It ends when the machine goes down."""
        wanted = wish or EventsRequest()
        fields = {
            "tail_events": wanted.last,
            "tail_id": wanted.after,
            "with_actor_id": wanted.actor,
        }
        found = self._each(_EVENTS, node, _event, fields, seconds=_FOLLOW_SECONDS)
        async with aclosing(found):
            async for event in found:
                yield event

    async def service_log(
        self, node: MachineAddress, wish: ServiceLogRequest
    ) -> AsyncGenerator[str, None]:
        """Lines of the log of a service."""
        fields = {
            "namespace": "system",
            "id": wish.service,
            "follow": wish.follow,
            "tail_lines": wish.last,
        }
        seconds = _FOLLOW_SECONDS if wish.follow else READ_SECONDS
        lines = self._lines(_LOGS, node, fields, seconds)
        async with aclosing(lines):
            async for line in lines:
                yield line

    async def kernel_log(
        self, node: MachineAddress, *, follow: bool = False
    ) -> AsyncGenerator[str, None]:
        """Lines of the log of the kernel."""
        seconds = _FOLLOW_SECONDS if follow else READ_SECONDS
        lines = self._lines(_DMESG, node, {"follow": follow}, seconds)
        async with aclosing(lines):
            async for line in lines:
                yield line

    async def _lines(
        self, method: str, node: MachineAddress, fields: dict[str, object], seconds: float
    ) -> AsyncGenerator[str, None]:
        """Lines of a stream of bytes; one that does not end comes last."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        left = ""
        pieces = self._each(method, node, chunk_bytes, fields, seconds=seconds)
        async with aclosing(pieces):
            async for found in pieces:
                *whole, left = (left + decoder.decode(found)).split("\n")
                for line in whole:
                    yield line
        if left:
            yield left


def _event(row: Row) -> Event:
    found = row.get("data")
    kind, content = found if isinstance(found, tuple) else ("", {})
    if not isinstance(kind, str) or not isinstance(content, dict):
        raise InvalidAnswer("data is not an event")
    return Event(
        id=get_optional_text(row, "id"),
        actor=get_optional_text(row, "actor_id"),
        kind=kind.removeprefix(_PREFIX),
        content=content,
    )
