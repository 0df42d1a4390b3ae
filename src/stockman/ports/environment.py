"""Probes of the environment: the local machine, its git repository, the network.

Probes write nothing and send no credentials.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from stockman.model.record import record


class NoAnswer(Exception):
    """A probe or program gave no usable answer; the text is the reason: `no answer within 2 s`."""


class NoAddress(NoAnswer):
    """A name has no address."""


@record
class ServerAddress:
    """A server address, and the name that its certificate must contain."""

    host: str
    port: int
    name: str = ""
    """Empty: the host."""


@record
class Trust:
    """How a certificate is verified: by its fingerprint, a CA, or the CAs of the system."""

    ca: bytes | None = None
    """PEM. None: the CAs of the system."""
    fingerprint: str | None = None
    """SHA-256 in hex, with or without colons; the CA is then ignored. None: verify by CA."""
    further: tuple[str, ...] = ()
    """Fingerprints that are also accepted: those of the other endpoints."""


@record
class Certificate:
    """The certificate that a server presented."""

    fingerprint: str
    """SHA-256, upper-case hex with colons, as Proxmox prints it."""
    expires: datetime
    flaw: str
    """Why it is not trusted, as a clause. Empty: it is trusted."""


class Network(Protocol):
    """Probes of other machines; each method raises `NoAnswer` after its timeout."""

    async def resolve(self, host: str) -> tuple[str, ...]:
        """Resolve a name to at least one address; raises `NoAddress`."""
        ...

    async def connect(self, address: ServerAddress) -> None:
        """Open and close a TCP connection."""
        ...

    async def certificate(self, address: ServerAddress, trust: Trust) -> Certificate:
        """Return the verified certificate of a TLS handshake; an untrusted one is returned too."""
        ...

    async def http_clock(self, address: ServerAddress, *, tls: bool) -> float:
        """Return how far the clock of a web server is ahead, to about a second.

        The certificate is not verified: nothing confidential is sent, and a wrong local clock
        makes valid certificates look invalid.
        """
        ...

    async def ntp_clock(self, server: str, port: int = 123) -> float:
        """Return how far the clock of a time server is ahead, in seconds."""
        ...

    async def name_server(self, server: str, port: int = 53) -> None:
        """Check that a name server answers a query."""
        ...


GitFileState = Literal["tracked", "untracked", "ignored", "outside"]
"""State of a file in git: in the index, not in the index, ignored, or outside of a work tree."""

Exposure = Literal["tracked", "ignored", "outside"]
"""Whether others may see a file through git; a file that `git add` would add is `tracked`."""


@record
class Remote:
    """A remote of a repository."""

    name: str
    url: str
    """May contain a password: must not be shown unmasked."""


@record
class WorkTree:
    """The state of a work tree."""

    branch: str | None
    """None: no branch is checked out."""
    has_commits: bool
    remotes: tuple[Remote, ...]


class GitProbe(Protocol):
    """Git state of a directory. Methods raise `NoAnswer` if git fails."""

    def version(self) -> str | None:
        """Return the version of git; None: git is not installed."""
        ...

    def work_tree(self) -> WorkTree | None:
        """Return the state of the work tree; None: the directory is not in a work tree."""
        ...

    def file_state(self, path: str) -> GitFileState:
        """Return the state of a file, relative to the directory; it need not exist."""
        ...

    def exposure(self, name: str) -> Exposure:
        """Return whether others may see a file; `tracked` if git fails."""
        ...


@record
class FileStatus:
    """Mode and type of an existing file."""

    mode: int
    """Permission bits."""
    is_file: bool
    readable: bool


@record
class DirectorySpace:
    """Free space of a directory."""

    free: int
    """Bytes available to an unprivileged user."""
    writable: bool


class Machine(Protocol):
    """The local machine."""

    def file(self, path: Path) -> FileStatus | None:
        """Return the status of a file; None if it does not exist."""
        ...

    def read(self, path: Path) -> bytes | None:
        """Return the content of a small file; None if it cannot be read."""
        ...

    def space(self, directory: Path) -> DirectorySpace | None:
        """Return the free space of a directory; None if it is unknown."""
        ...

    def temporary(self) -> Path:
        """Return the directory of temporary files."""
        ...

    def variable(self, name: str) -> str:
        """Return an environment variable; empty if it is not set."""
        ...

    def python(self) -> str:
        """Return the version of Python."""
        ...

    def encoding(self) -> str:
        """Return the encoding of the terminal."""
        ...
