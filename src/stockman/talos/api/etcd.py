"""Calls about etcd."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing

from stockman.model.errors import Conflict, Locked
from stockman.model.names import MachineAddress
from stockman.talos.api.calls import (
    MACHINE,
    ApiCalls,
    InvalidAnswer,
    Row,
    chunk_bytes,
    encode_data,
    get_flag,
    get_number,
    get_optional_text,
    get_row,
    get_rows,
    get_text,
    get_texts,
    invalid_answer,
    read_answer,
    single_message,
)
from stockman.talos.api.transport import TalosRequest
from stockman.talos.records.machines import EtcdAlarm, EtcdMember, EtcdStatus

_BOOTSTRAP, _SNAPSHOT = f"{MACHINE}/Bootstrap", f"{MACHINE}/EtcdSnapshot"
_RECOVER = f"{MACHINE}/EtcdRecover"
_DATA_DIRECTORY, _ITSELF = "/var/lib/etcd", "."
_DIGEST = 32
_SECTOR = 512
_CHUNK_BYTES = 64 << 10
_DEFRAGMENT_SECONDS, _LEAVE_SECONDS, _RECOVER_SECONDS = 300.0, 360.0, 1800.0
_SNAPSHOT_SECONDS = 60.0
_NO_ALARM = "NONE"


class EtcdCalls(ApiCalls):
    """etcd of the cluster."""

    async def bootstrap(
        self, node: MachineAddress, *, recover: bool = False, skip_hash: bool = False
    ) -> bool:
        """Start a new etcd on a machine; False: it already has data, and nothing changed.

        With `recover` it starts from a snapshot that was sent before. Raises Conflict if the
        machine is not ready yet.
        """
        fields = {"recover_etcd": recover, "recover_skip_hash_check": skip_hash}
        try:
            await self._change(_BOOTSTRAP, node, fields)
        except Conflict as conflict:
            if isinstance(conflict, Locked) or conflict.problem.code != "talos.exists":
                raise
            return False
        return True

    async def has_etcd_data(self, node: MachineAddress) -> bool:
        """Return whether the data directory of etcd on a machine has files.

        Raises Rejected if the directory does not exist, as before its volume is mounted.
        """
        fields = {"root": _DATA_DIRECTORY}
        async with aclosing(self._each(f"{MACHINE}/List", node, _file_name, fields)) as names:
            return any([name != _ITSELF async for name in names])

    async def etcd_members(self, node: MachineAddress) -> tuple[EtcdMember, ...]:
        """Return the members that the member on this machine knows."""
        fields = {"query_local": True}
        return await self._read(f"{MACHINE}/EtcdMemberList", node, _members, fields)

    async def etcd_status(self, node: MachineAddress) -> EtcdStatus:
        """Return the status of the member on this machine."""
        return await self._read(f"{MACHINE}/EtcdStatus", node, _status)

    async def etcd_alarms(self, node: MachineAddress) -> tuple[EtcdAlarm, ...]:
        """Return the alarms of all members."""
        return await self._read(f"{MACHINE}/EtcdAlarmList", node, _alarms)

    async def disarm_etcd(self, node: MachineAddress) -> None:
        """Clear all alarms."""
        await self._change(f"{MACHINE}/EtcdAlarmDisarm", node)

    async def defragment_etcd(self, node: MachineAddress) -> None:
        """Shrink the database file of the member, which does not answer meanwhile."""
        await self._change(f"{MACHINE}/EtcdDefragment", node, seconds=_DEFRAGMENT_SECONDS)

    async def forfeit_etcd_leadership(self, node: MachineAddress) -> str:
        """Let another member lead, and return its name. Empty: this one was not the leader."""
        row = await self._change(f"{MACHINE}/EtcdForfeitLeadership", node)
        return str(row.get("member", ""))

    async def leave_etcd(self, node: MachineAddress) -> None:
        """Remove the member on this machine, with its data."""
        await self._change(f"{MACHINE}/EtcdLeaveCluster", node, seconds=_LEAVE_SECONDS)

    async def remove_etcd_member(self, node: MachineAddress, member: int) -> None:
        """Remove the member of a machine that no longer exists; raises NotFound if it is absent."""
        await self._change(f"{MACHINE}/EtcdRemoveMemberByID", node, {"member_id": member})

    async def etcd_snapshot(self, node: MachineAddress) -> AsyncGenerator[bytes, None]:
        """Yield the database with its checksum, as fast as the chunks are consumed.

        Raises Rejected at the end if the checksum is wrong.
        """
        checksum = _SnapshotChecksum()
        chunks = self._each(_SNAPSHOT, node, chunk_bytes, seconds=_SNAPSHOT_SECONDS)
        async with aclosing(chunks):
            async for chunk in chunks:
                checksum.add(chunk)
                yield chunk
        if flaw := checksum.flaw():
            raise invalid_answer(_SNAPSHOT, node, flaw)

    async def send_etcd_snapshot(self, node: MachineAddress, chunks: AsyncIterable[bytes]) -> None:
        """Upload a snapshot to a machine, for a bootstrap that recovers from it."""
        request = TalosRequest(method=_RECOVER, node=node, is_read=False, seconds=_RECOVER_SECONDS)
        reply = await self._transport.upload(request, _recovery_messages(chunks))
        read_answer(request, reply, single_message)


class _SnapshotChecksum:
    """The checksum of a snapshot: its last bytes are the digest of all bytes before them."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._end = b""
        self._size = 0

    def add(self, chunk: bytes) -> None:
        self._size += len(chunk)
        joined = self._end + chunk
        self._digest.update(joined[:-_DIGEST])
        self._end = joined[-_DIGEST:]

    def flaw(self) -> str:
        """Return why the snapshot is incomplete. Empty: it is complete."""
        if self._size % _SECTOR != _DIGEST:
            return f"the snapshot of {self._size} bytes has no checksum at its end"
        return "" if self._digest.digest() == self._end else "checksum mismatch of the snapshot"


async def _recovery_messages(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        for start in range(0, len(chunk), _CHUNK_BYTES):
            yield encode_data(chunk[start : start + _CHUNK_BYTES])


def _file_name(row: Row) -> str:
    """Return the name of a listed file; raises InvalidAnswer if it could not be listed."""
    if error := get_optional_text(row, "error"):
        raise InvalidAnswer(error)
    return get_text(row, "relative_name")


def _members(row: Row) -> tuple[EtcdMember, ...]:
    members = tuple(_member(member) for member in get_rows(row, "members"))
    if not members:
        raise InvalidAnswer("it lists no member, not even itself")
    return members


def _member(row: Row) -> EtcdMember:
    return EtcdMember(
        id=_id(row, "id"),
        hostname=get_optional_text(row, "hostname"),
        is_learner=get_flag(row, "is_learner"),
        peer_urls=get_texts(row, "peer_urls"),
        client_urls=get_texts(row, "client_urls"),
    )


def _status(row: Row) -> EtcdStatus:
    status = get_row(row, "member_status")
    return EtcdStatus(
        member=_id(status, "member_id"),
        leader=get_number(status, "leader") or None,
        is_learner=get_flag(status, "is_learner"),
        db_size=get_number(status, "db_size"),
        db_in_use=get_number(status, "db_size_in_use"),
        raft_term=get_number(status, "raft_term"),
        raft_index=get_number(status, "raft_index"),
        raft_applied=get_number(status, "raft_applied_index"),
        errors=get_texts(status, "errors"),
        version=get_optional_text(status, "protocol_version"),
        storage_version=get_optional_text(status, "storage_version"),
    )


def _alarms(row: Row) -> tuple[EtcdAlarm, ...]:
    alarms = (
        EtcdAlarm(member=get_number(alarm, "member_id"), alarm=str(alarm.get("alarm", _NO_ALARM)))
        for alarm in get_rows(row, "member_alarms")
    )
    return tuple(alarm for alarm in alarms if alarm.alarm != _NO_ALARM)


def _id(row: Row, name: str) -> int:
    number = get_number(row, name)
    if not number:
        raise InvalidAnswer(f"{name} is missing")
    return number
