"""Parse addresses of Git repositories into the server and what may be shown."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}
_SCP_LIKE = re.compile(r"(?:[^@/:\s]+@)?(\[[^\]]+\]|[^@/:\s]+):(?!//)(.*)")


class GitAddress(NamedTuple):
    """A repository on a server."""

    host: str
    port: int
    path: str
    """Without leading slash and `.git`."""
    has_password: bool

    def __str__(self) -> str:
        return f"{self.host}/{self.path}"

    def is_same(self, second: GitAddress) -> bool:
        """Whether both name the same repository, whatever the protocol."""
        ours, theirs = ((address.host.lower(), address.path.lower()) for address in (self, second))
        return ours == theirs


def git_address(text: str) -> GitAddress | None:
    """Parse an address. None: it is local, or git does not know its form."""
    if "://" not in text:
        match = _SCP_LIKE.fullmatch(text)
        return match and GitAddress(match[1].strip("[]"), 22, _path(match[2]), False)
    try:
        url = urlsplit(text)
        host, port = url.hostname, url.port or _PORTS.get(url.scheme)
    except ValueError:
        return None
    if not host or port is None:
        return None
    by_web = url.scheme in ("http", "https")
    secret = url.password is not None or (by_web and url.username is not None)
    return GitAddress(host, port, _path(url.path), secret)


def _path(text: str) -> str:
    return text.strip("/").removesuffix(".git")
