"""Fetches images from this machine, and fails in the words of Proxmox VE and its wget."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urljoin

from stockman_lab.images.loopback import NoUrl, Target, target
from stockman_lab.images.opening import OpenUrl, Question, Reply, Trouble, Untrusted, open_loopback

MOST_BYTES = 512 << 20
"""Of one download: far more than images of a lab, and little enough to hold."""
_MOST_REDIRECTS, _MOST_LOOKS = 20, 7
_MOVED = frozenset({301, 302, 303, 307, 308})
_OK = 200
_EXIT_NETWORK, _EXIT_SERVER = 4, 8
_QUOTED_NAME = re.compile(r'filename="([^"]*)"')
_BARE_NAME = re.compile(r"filename=([^;]*)")
_LAST_PART = re.compile(r"[^?]+/([^?/]*)(?:\?.*)?", re.DOTALL)


class FetchFailed(Exception):
    """A download that came to nothing: the text of the error, and what wget printed before it."""

    def __init__(self, text: str, log: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.log = log


class QueryFailed(Exception):
    """Metadata that was not to be had; its text is that of Proxmox VE."""


@dataclass(slots=True)
class Fetched:
    """What came."""

    content: bytes
    log: list[str] = field(default_factory=list)
    """What wget prints about it."""


class Fetcher:
    """Fetches from loopback addresses. No other address is ever dialled."""

    def __init__(self, open_url: OpenUrl = open_loopback, most_bytes: int = MOST_BYTES) -> None:
        self._open_url = open_url
        self._most_bytes = most_bytes

    async def fetch(self, url: str, path: str, moment: datetime, *, verify: bool = True) -> Fetched:
        """The content of a URL; `path` and `moment` are for what wget says about it."""
        wget = _Wget(path, moment)
        try:
            for _ in range(_MOST_REDIRECTS + 1):
                where = wget.asks(url)
                async with self._open_url(Question(target=where, verify=verify)) as reply:
                    wget.connected(where)
                    if reply.status in _MOVED and "location" in reply.headers:
                        url = wget.follows(url, reply)
                        continue
                    return await self._receive(wget, reply)
        except Untrusted as error:
            raise wget.untrusted(where, str(error)) from None
        except Trouble as error:
            raise wget.unreached(where, str(error)) from None
        raise wget.gives_up(f"{_MOST_REDIRECTS} redirections exceeded.")

    async def _receive(self, wget: _Wget, reply: Reply) -> Fetched:
        wget.answered(reply)
        content = bytearray()
        try:
            async for piece in reply.body:
                content += piece
                if len(content) > self._most_bytes:
                    raise wget.full()
        except Trouble:
            raise wget.cut(len(content)) from None
        return Fetched(bytes(content), wget.saved(len(content)))

    async def metadata(self, url: str, *, verify: bool = True) -> dict[str, object]:
        """What a server says of a URL without sending it: filename, size and mimetype."""
        asked = url
        status, reason, headers = 0, "", dict[str, str]()
        for _ in range(_MOST_LOOKS + 1):
            try:
                where = target(asked)
            except NoUrl:
                raise QueryFailed("invalid server response: '400 URL missing'") from None
            question = Question(target=where, method="HEAD", verify=verify, agent="Proxmox VE")
            try:
                async with self._open_url(question) as reply:
                    status, reason, headers = reply.status, reply.reason, reply.headers
            except Trouble as error:
                raise _no_connection(where, error) from None
            if status not in _MOVED or "location" not in headers:
                break
            asked = urljoin(asked, headers["location"])
        if status != _OK:
            raise QueryFailed(f"invalid server response: '{status} {reason}'")
        return _said(url, headers)


def _no_connection(where: Target, error: Trouble) -> QueryFailed:
    if isinstance(error, Untrusted):
        why = "certificate verify failed"
    elif where.is_name and not where.is_local:
        why = "Name or service not known"
    else:
        why = str(error)
    text = f"500 Can't connect to {where.host}:{where.port} ({why})"
    return QueryFailed(f"invalid server response: '{text}'")


def _said(url: str, headers: dict[str, str]) -> dict[str, object]:
    metadata: dict[str, object] = {}
    disposition = headers.get("content-disposition", "")
    named = (
        _QUOTED_NAME.search(disposition)
        or _BARE_NAME.search(disposition)
        or _LAST_PART.fullmatch(url)
    )
    if named and named[1]:
        metadata["filename"] = named[1]
    size = headers.get("content-length", "0")
    if size.isdigit() and int(size):
        metadata["size"] = int(size)
    kind = headers.get("content-type", "").partition(";")[0]
    if kind:
        metadata["mimetype"] = kind
    return metadata


class _Wget:
    """What wget prints. Its last line is the error, unless it is empty: then its exit code is."""

    def __init__(self, path: str, moment: datetime) -> None:
        self._path = path
        self._moment = f"{moment:%Y-%m-%d %H:%M:%S}"
        self._log: list[str] = []

    def asks(self, url: str) -> Target:
        self._log.append(f"--{self._moment}--  {url}")
        try:
            where = target(url)
        except NoUrl:
            raise self.gives_up(f"{url}: Invalid host name.") from None
        if not where.is_name:
            return where
        resolving = f"Resolving {where.host} ({where.host})..."
        if not where.is_local:
            self._log.append(f"{resolving} failed: Name or service not known.")
            raise self.gives_up(f"wget: unable to resolve host address '{where.host}'")
        self._log.append(f"{resolving} {where.address}")
        return where

    def connected(self, where: Target) -> None:
        self._log.append(f"{_connecting(where)}... connected.")

    def follows(self, url: str, reply: Reply) -> str:
        location = reply.headers["location"]
        self._log.append(_awaiting(reply))
        self._log.append(f"Location: {location} [following]")
        return urljoin(url, location)

    def answered(self, reply: Reply) -> None:
        self._log.append(_awaiting(reply))
        if reply.status != _OK:
            self._log.append(f"{self._moment} ERROR {reply.status}: {reply.reason}.")
            raise self.exits(_EXIT_SERVER)
        length = reply.headers.get("content-length", "unspecified")
        kind = reply.headers.get("content-type", "").partition(";")[0]
        self._log.append(f"Length: {length}" + (f" [{kind}]" if kind else ""))
        self._log.append(f"Saving to: '{self._path}'")

    def saved(self, size: int) -> list[str]:
        done = f"{self._moment} (1.00 GB/s) - '{self._path}' saved [{size}/{size}]"
        return [*self._log, "", done, ""]

    def unreached(self, where: Target, why: str) -> FetchFailed:
        return self.gives_up(f"{_connecting(where)}... failed: {why}.")

    def untrusted(self, where: Target, why: str) -> FetchFailed:
        self.connected(where)
        if "match" in why:
            return self.gives_up(f"The certificate's owner does not match hostname '{where.host}'")
        self._log.append(f"ERROR: The certificate of '{where.host}' is not trusted.")
        return self.gives_up(
            f"ERROR: The certificate of '{where.host}' doesn't have a known issuer."
        )

    def cut(self, size: int) -> FetchFailed:
        self._log.append(f"{self._moment} - Connection closed at byte {size}. Giving up.")
        return self.exits(_EXIT_NETWORK)

    def full(self) -> FetchFailed:
        return self.gives_up(f"Cannot write to '{self._path}' (No space left on device).")

    def gives_up(self, last: str) -> FetchFailed:
        return FetchFailed(f"download failed: {last}", tuple(self._log))

    def exits(self, code: int) -> FetchFailed:
        return FetchFailed(f"download failed: exit code {code}", tuple(self._log))


def _connecting(where: Target) -> str:
    if where.is_name:
        return f"Connecting to {where.host} ({where.host})|{where.address}|:{where.port}"
    host = f"[{where.host}]" if ":" in where.host else where.host
    return f"Connecting to {host}:{where.port}"


def _awaiting(reply: Reply) -> str:
    return f"HTTP request sent, awaiting response... {reply.status} {reply.reason}".rstrip()
