"""The body of an upload: fields first, then the file, and its length known beforehand."""

from __future__ import annotations

from collections.abc import AsyncIterator

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.ports.proxmox.storages import Upload
from stockman.proxmox.wire import Request

BOUNDARY = "stockman-7f3c1d5a9b2e4860"
"""Content that holds it after a line break is refused rather than cut off."""


class Multipart:
    """One upload; the server reads the fields before it reads the file."""

    def __init__(self, request: Request, file: Upload) -> None:
        self._file = file
        fields = "".join(
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in request.pairs
        )
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="filename"; '
            f'filename="{_bare(file.name)}"\r\nContent-Type: application/octet-stream\r\n\r\n'
        )
        self._head = (fields + head).encode()
        self._tail = f"\r\n--{BOUNDARY}--\r\n".encode()

    @property
    def headers(self) -> dict[str, str]:
        length = len(self._head) + self._file.size + len(self._tail)
        return {
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Content-Length": str(length),
        }

    async def body(self) -> AsyncIterator[bytes]:
        yield self._head
        left, end = self._file.size, b""
        async for part in self._file.read():
            left -= len(part)
            if left < 0:
                break
            if f"\r\n--{BOUNDARY}".encode() in end + part:
                raise Refused(_unsendable(self._file, "it holds what marks its end on the wire"))
            end = part[-len(BOUNDARY) - 4 :]
            yield part
        if left:
            raise Refused(_unsendable(self._file, f"it does not have the {self._file.size} bytes"))
        yield self._tail


def _bare(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable() and letter not in '"\\')


def _unsendable(file: Upload, why: str) -> Problem:
    return Problem(
        code="proxmox.upload",
        what=f"{file.name} cannot be sent to Proxmox VE",
        where=file.name,
        why=why,
        fix="run it again when nobody writes the file; or let the host download it",
    )
