"""What a call consists of, whatever carries it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal, Protocol
from urllib.parse import quote

from stockman.model.errors import Rejected
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.proxmox.storages import Upload

Method = Literal["GET", "POST", "PUT", "DELETE"]
Value = str | int | float | bool | Secret | Sequence[str] | None
"""A parameter; a sequence is sent as several of one name, None is not sent."""


@record
class Request:
    """One call of the API."""

    method: Method
    segments: tuple[str, ...]
    """The path, part by part, as it is meant and not as it is quoted."""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    upload: Upload | None = None
    """A file that goes along. None: none."""

    @property
    def is_read(self) -> bool:
        return self.method == "GET"

    @property
    def path(self) -> str:
        """The path for people."""
        return "/" + "/".join(self.segments)

    @property
    def shown(self) -> str:
        """The call without its parameters, which may be confidential."""
        return f"{self.method} {self.path}"

    @property
    def quoted(self) -> str:
        """The path for the wire. `Rejected` where a part would lead elsewhere."""
        for segment in self.segments:
            if segment in ("", ".", ".."):
                raise Rejected(_segment_problem(self, segment))
        return "/" + "/".join(quote(segment, safe=":") for segment in self.segments)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Parameters as texts, in the order given."""
        return [
            (name, _text(one)) for name, value in self.parameters.items() for one in _values(value)
        ]

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that nobody may see."""
        values = self.parameters.values()
        return tuple(value.reveal() for value in values if isinstance(value, Secret))


@record
class Reply:
    """What came back."""

    data: object
    total: int | None = None
    """Rows that there are. None: not told."""
    changes: str = ""
    """What waits for being applied, as a diff. Empty: nothing."""


class Transport(Protocol):
    """Carries calls. A call that is refused raises what `refusals.refusal` makes of it."""

    async def call(self, request: Request) -> Reply:
        """Make one call."""
        ...


def _values(value: Value) -> Sequence[object]:
    if value is None:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return value.reveal() if isinstance(value, Secret) else str(value)


def _segment_problem(request: Request, segment: str) -> Problem:
    return Problem(
        code="proxmox.parameters",
        what="Proxmox VE cannot be asked for a thing without a proper name",
        where=request.shown,
        why=f"{segment!r} is not a name",
        fix="give it the name that Proxmox VE shows",
    )
