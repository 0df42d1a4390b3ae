"""What a look at the surroundings can tell: this machine, its git repository, the network.

Every probe only looks: nothing is written, nobody is sent a credential.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from stockman.model.record import record


class NoAnswer(Exception):
    """Nothing usable came back; the text says why, as a clause: `no answer within 2 s`."""


class NoAddress(NoAnswer):
    """A name has no address, so there is nothing to dial."""


@record
class ServerAddress:
    """Where to dial, and the name that the certificate behind it has to carry."""

    host: str
    port: int
    name: str = ""
    """Empty: the host."""


@record
class Trust:
    """How a certificate is judged: by its fingerprint, by one CA, or by the CAs of the system."""

    ca: bytes | None = None
    """PEM. None: the CAs of the system."""
    fingerprint: str | None = None
    """SHA-256 in hex, with or without colons; it alone decides then. None: by CA."""


@record
class Certificate:
    """The certificate that a server showed."""

    fingerprint: str
    """SHA-256, upper-case hex with colons, as Proxmox prints it."""
    expires: datetime
    flaw: str
    """Why it is not to be trusted, as a clause. Empty: it is trusted."""


class Network(Protocol):
    """What can be learnt of other machines; each method gives up in time, with `NoAnswer`."""

    async def resolve(self, host: str) -> tuple[str, ...]:
        """The addresses of a name, at least one; an address is its own. Raises `NoAddress`."""
        ...

    async def connect(self, door: ServerAddress) -> None:
        """Return once a TCP connection was taken, and close it."""
        ...

    async def certificate(self, door: ServerAddress, trust: Trust) -> Certificate:
        """The certificate shown in a TLS handshake, judged; a bad one is an answer too."""
        ...

    async def http_clock(self, door: ServerAddress, *, tls: bool) -> float:
        """Seconds that a web server's clock is ahead of ours, to about a second.

        The certificate is not judged: nothing is sent that matters, and a wrong clock of ours
        makes good certificates look bad.
        """
        ...

    async def ntp_clock(self, server: str, port: int = 123) -> float:
        """Seconds that a time server's clock is ahead of ours."""
        ...

    async def name_server(self, server: str, port: int = 53) -> None:
        """Return once a name server answered a question."""
        ...


GitFileState = Literal["tracked", "untracked", "ignored", "outside"]
"""How git sees a file: in the index, neither in it nor ignored, ignored, or in no work tree."""

Exposure = Literal["tracked", "ignored", "outside"]
"""Whether others may come to see a file through git; one that `git add` would take is tracked."""


@record
class Remote:
    """Another copy of the repository."""

    name: str
    url: str
    """May hold a password: never to be shown as it is."""


@record
class WorkTree:
    """The state of a repository."""

    branch: str | None
    """None: no branch is checked out."""
    has_commits: bool
    remotes: tuple[Remote, ...]


class GitProbe(Protocol):
    """Git, as seen from one directory. `NoAnswer` where git exists and cannot tell."""

    def version(self) -> str | None:
        """The version of git; None: git is not installed."""
        ...

    def work_tree(self) -> WorkTree | None:
        """The state of the repository; None: the directory is in no work tree."""
        ...

    def standing(self, path: str) -> GitFileState:
        """How git sees a file, named relative to the directory; the file need not exist."""
        ...

    def exposure(self, name: str) -> Exposure:
        """Whether others may come to see a file; where git cannot tell, they may."""
        ...


@record
class FileStatus:
    """What is known of an existing file without opening it."""

    mode: int
    """Permission bits."""
    is_file: bool
    readable: bool


@record
class DirectorySpace:
    """What a directory has to offer."""

    free: int
    """Bytes that an ordinary user may still fill."""
    writable: bool


class Machine(Protocol):
    """The machine that stockman runs on."""

    def file(self, path: Path) -> FileStatus | None:
        """What is known of a file; None: there is none."""
        ...

    def read(self, path: Path) -> bytes | None:
        """The content of a small file; None: it is not there or cannot be read."""
        ...

    def room(self, directory: Path) -> DirectorySpace | None:
        """What a directory has to offer; None: it cannot be asked."""
        ...

    def temporary(self) -> Path:
        """Where temporary files go."""
        ...

    def variable(self, name: str) -> str:
        """A variable of the environment; empty where it is not set."""
        ...

    def python(self) -> str:
        """The version of Python."""
        ...

    def encoding(self) -> str:
        """The encoding of the terminal, `utf-8` where it takes every character."""
        ...
