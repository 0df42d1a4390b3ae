"""etcd through the machines that it runs on."""

from __future__ import annotations

from stockman.model.record import record


@record
class EtcdMember:
    """A member of etcd."""

    id: int
    hostname: str
    """Empty: it has not started yet."""
    is_learner: bool
    peer_urls: tuple[str, ...] = ()
    client_urls: tuple[str, ...] = ()

    @property
    def hex(self) -> str:
        """The id as people know it."""
        return f"{self.id:016x}"


@record
class EtcdStatus:
    """How one member is."""

    member: int
    leader: int | None
    """None: there is none, so nothing can be written."""
    is_learner: bool
    db_size: int
    """Bytes."""
    db_in_use: int
    """Bytes of it that hold something."""
    raft_term: int
    raft_index: int
    raft_applied: int
    errors: tuple[str, ...] = ()
    version: str = ""
    storage_version: str = ""

    @property
    def is_leader(self) -> bool:
        return self.leader == self.member


@record
class EtcdAlarm:
    """An alarm that a member raised."""

    member: int
    alarm: str
    """`NOSPACE`, `CORRUPT`."""
