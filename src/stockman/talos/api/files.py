"""Calls on files and META values."""

from __future__ import annotations

from contextlib import aclosing

from stockman.model.errors import Rejected
from stockman.model.names import MachineAddress
from stockman.model.secret import Secret
from stockman.talos.api.calls import MACHINE, Fields, request_for
from stockman.talos.api.refusals import odd_answer
from stockman.talos.api.resources import ResourceCalls
from stockman.talos.api.rows import OddAnswer, Row

_LARGEST = 32 << 20


class FileCalls(ResourceCalls):
    """`ports.talos.files.Files` over a wire."""

    async def read_file(self, node: MachineAddress, path: str) -> bytes:
        return await self._whole(f"{MACHINE}/Read", node, {"path": path}, _LARGEST)

    async def write_meta(self, node: MachineAddress, key: int, value: Secret) -> None:
        secret = value.reveal()
        fields = {"key": key, "value": secret.encode()}
        await self._change(f"{MACHINE}/MetaWrite", node, fields, secrets=(secret,))

    async def delete_meta(self, node: MachineAddress, key: int) -> None:
        await self._change(f"{MACHINE}/MetaDelete", node, {"key": key})

    async def _whole(
        self, method: str, node: MachineAddress, fields: Fields, largest: int
    ) -> bytes:
        """All bytes of a stream, where they are not too many."""
        found = bytearray()
        async with aclosing(self._each(method, node, piece, fields)) as pieces:
            async for one in pieces:
                found += one
                if len(found) > largest:
                    raise self._odd(method, node, f"it is over {largest >> 20} MiB")
        return bytes(found)

    def _odd(self, method: str, node: MachineAddress, why: str) -> Rejected:
        return odd_answer(request_for(method, node), why)


def piece(row: Row) -> bytes:
    """The bytes of one message of a stream; raises `OddAnswer` where it tells of an error."""
    about = row.get("metadata")
    if isinstance(about, dict) and about.get("error"):
        raise OddAnswer(str(about["error"]))
    found = row.get("bytes", b"")
    if not isinstance(found, bytes):
        raise OddAnswer("bytes is not told")
    return found
