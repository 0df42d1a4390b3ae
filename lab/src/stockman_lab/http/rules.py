"""The rules of a server: what it takes, how much of it, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from stockman.model.record import record

if TYPE_CHECKING:
    from stockman_lab.http.messages import Admission, Request, Response
    from stockman_lab.http.writing import Manner


class Cancellable(Protocol):
    """Something that was going to happen."""

    def cancel(self) -> None:
        """Let it not happen."""
        ...


class Timers(Protocol):
    """Measures how long a connection is silent; every event loop is one."""

    def time(self) -> float:
        """Seconds since some moment."""
        ...

    def call_later(self, delay: float, callback: Callable[[], None], /) -> Cancellable:
        """Call back after so many seconds."""
        ...


def everyone(request: Request) -> None:
    """Lets every request in."""


def nowhere(request: Request) -> bool:
    """No request is an upload."""
    return False


@record
class ServerRules:
    """The rules of one server; the values are those of the API proxy of Proxmox VE."""

    server: str = "pve-api-daemon/3.0"
    methods: frozenset[str] = frozenset({"GET", "POST", "PUT", "DELETE"})
    with_body: frozenset[str] = frozenset({"POST", "PUT"})
    body_bytes: int = 512 * 1024
    requests: int = 100
    """How many requests one connection may carry."""
    silence: float = 5.0
    """After how many seconds without a byte a connection ends."""
    compress_above: int | None = 1024
    """None: nothing is compressed."""
    body_types: frozenset[str] | None = frozenset(
        {"application/x-www-form-urlencoded", "application/json"}
    )
    """What bodies may be. None: anything."""
    takes_chunks: bool = False
    """Whether a body may come in chunks."""
    stays_after_errors: bool = False
    """Whether a connection is kept after an answer with a status from 400 on."""
    says_continue: bool = False
    """Whether who asks first if a body is welcome is told so."""
    asks_for_certificates: bool = False
    """Whether handlers are told which certificates clients show."""
    render: Callable[[Response, Manner], bytes] | None = None
    """How answers are written. None: as the API proxy writes them."""
    redirects_to_tls: bool = True
    """Whether a client that speaks plainly to a server with TLS is sent to the encrypted port."""
    any_method: bool = False
    """Whether methods that nobody knows are taken, too."""
    oversized: Callable[[], Response] | None = None
    """The answer to a body that is too large. None: that of the API proxy."""
    patience: float | None = None
    """After how many seconds a client is given up that does not read what is streamed to it."""
    admit: Admission = everyone
    """Asked before a body is read, as that is when the real server looks at who asks."""
    is_upload: Callable[[Request], bool] = nowhere
    """Whether a body is a file in a form, which may be of any size."""
    spool: Path | None = None
    """Where uploads lie until they are answered; None: where the system keeps such files."""
