"""etcd through the machines that it runs on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from typing import Protocol

from stockman.model.names import MachineAddress
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


class Etcd(Protocol):
    """etcd of the cluster."""

    async def bootstrap(
        self, node: MachineAddress, *, recover: bool = False, skip_hash: bool = False
    ) -> bool:
        """Begin etcd on a machine; False: it has data already, and nothing was done.

        With `recover` it begins from a snapshot that was sent before. `Conflict` where it is too
        early.
        """
        ...

    async def etcd_members(self, node: MachineAddress) -> tuple[EtcdMember, ...]:
        """Members as the member on this machine has them."""
        ...

    async def etcd_status(self, node: MachineAddress) -> EtcdStatus:
        """How the member on this machine is."""
        ...

    async def etcd_alarms(self, node: MachineAddress) -> tuple[EtcdAlarm, ...]:
        """Alarms of all members."""
        ...

    async def disarm_etcd(self, node: MachineAddress) -> None:
        """Take all alarms back."""
        ...

    async def defragment_etcd(self, node: MachineAddress) -> None:
        """Make the file of the member smaller; it answers nothing meanwhile."""
        ...

    async def forfeit_etcd_leadership(self, node: MachineAddress) -> str:
        """Let another member lead; returns its name. Empty: this one was not the leader."""
        ...

    async def leave_etcd(self, node: MachineAddress) -> None:
        """Take the member on this machine out, with its data."""
        ...

    async def remove_etcd_member(self, node: MachineAddress, member: int) -> None:
        """Take a member out whose machine is gone. `NotFound` where it is not there."""
        ...

    def etcd_snapshot(self, node: MachineAddress) -> AsyncGenerator[bytes, None]:
        """The database with its checksum, piece by piece, as fast as they are taken.

        It ends without an error only where the checksum is right.
        """
        ...

    async def send_etcd_snapshot(self, node: MachineAddress, pieces: AsyncIterable[bytes]) -> None:
        """Bring a snapshot to a machine, for a bootstrap that recovers from it."""
        ...
