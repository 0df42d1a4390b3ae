"""One request on its way through the API, whatever door it comes through, and its reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from stockman_lab.pve import workers
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.host import Host


@dataclass(slots=True)
class Upload:
    """A file that came with a request."""

    filename: str
    content: bytes


@dataclass(slots=True)
class Deferred:
    """An answer that takes its time: known so many seconds of the world later."""

    seconds: float
    answer: Callable[[], object]


@dataclass(slots=True)
class Awaited:
    """An answer that comes from outside of the world; `begin` is given who wants it."""

    begin: Callable[[Callable[[object], None]], None]


@dataclass(slots=True)
class Answer:
    """An answer with more beside `data`."""

    data: object
    total: int | None = None
    changes: str | None = None


@dataclass(slots=True)
class Call:
    """A permitted and verified request."""

    cluster: Cluster
    host: Host
    """That got it."""
    caller: Caller
    authority: Authority
    params: dict[str, object]
    """Of path, query and body, typed as the schema says."""
    upload: Upload | None = None

    @property
    def node(self) -> Host:
        """The host that the path names."""
        return self.cluster.host(self.text("node"))

    @property
    def vmid(self) -> int:
        return self.number("vmid")

    @property
    def now(self) -> float:
        return self.cluster.now

    def has(self, name: str) -> bool:
        return name in self.params

    def text(self, name: str, default: str = "") -> str:
        param = self.params.get(name)
        return default if param is None else str(param)

    def number(self, name: str, default: int = 0) -> int:
        param = self.params.get(name)
        return default if param is None else int(str(param))

    def flag(self, name: str, *, default: bool = False) -> bool:
        param = self.params.get(name)
        return default if param is None else bool(param)

    def guest(self, kind: str = "qemu") -> Guest:
        """The guest that the path names."""
        return self.cluster.guest(self.text("node"), self.vmid, kind)

    def check(self, path: str, *privileges: str, any_of: bool = False) -> None:
        """Refuse where the caller lacks privileges on a path."""
        self.authority.check(self.caller, path, *privileges, any_of=any_of)

    def may(self, path: str, *privileges: str, any_of: bool = False) -> bool:
        """Whether the caller has privileges on a path."""
        return self.authority.allowed(self.caller, path, *privileges, any_of=any_of)

    def start(
        self, task_type: str, task_id: str, work: str, arguments: Mapping[str, object]
    ) -> str:
        """Start a worker on the host that the path names; returns its UPID."""
        asked = workers.Asked(task_type, task_id, self.caller.authid, work, arguments)
        return workers.start(self.cluster, self.node if self.has("node") else self.host, asked)


class Outcome(Enum):
    """What becomes of a connection."""

    ANSWER = auto()
    HANG = auto()
    CUT = auto()
    CORRUPT = auto()


@dataclass(slots=True)
class ApiRequest:
    """What somebody wants of the API."""

    method: str
    path: str
    """Below the format: `/nodes/pve1/qemu`, percent-decoded."""
    params: dict[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in small letters."""
    upload: Upload | None = None
    caller: Caller | None = None
    """Who is known already. None: the headers have to say."""


@dataclass(slots=True)
class ApiReply:
    """What the API answers."""

    status: int
    reason: str
    body: dict[str, object] | None = None
    """None: nothing at all."""
    wait: float = 0.0
    """Seconds of the world to let pass before it is sent."""
    outcome: Outcome = Outcome.ANSWER


@dataclass(slots=True)
class Later:
    """A reply that is not known yet."""

    seconds: float | None
    """When it is: so many seconds of the world from now. None: when it comes from outside."""
    begin: Callable[[Callable[[object], None]], None] | None
    conclude: Callable[[object], ApiReply]


Outgoing: TypeAlias = ApiReply | Later
