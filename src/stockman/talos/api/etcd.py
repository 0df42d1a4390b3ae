"""Calls on etcd."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing

from stockman.model.errors import Conflict, Locked
from stockman.model.names import MachineAddress
from stockman.talos.api.calls import (
    MACHINE,
    InvalidAnswer,
    Row,
    encode_data,
    get_flag,
    get_number,
    get_optional_text,
    get_row,
    get_rows,
    get_texts,
    read_answer,
    single_message,
)
from stockman.talos.api.resources import FileCalls, chunk_bytes
from stockman.talos.api.transport import TalosRequest
from stockman.talos.records.etcd import EtcdAlarm, EtcdMember, EtcdStatus

_BOOTSTRAP, _SNAPSHOT = f"{MACHINE}/Bootstrap", f"{MACHINE}/EtcdSnapshot"
_RECOVER = f"{MACHINE}/EtcdRecover"
_DIGEST = 32
_SECTOR = 512
_CHUNK_BYTES = 64 << 10
_DEFRAGMENT_SECONDS, _LEAVE_SECONDS, _RECOVER_SECONDS = 300.0, 360.0, 1800.0
_SNAPSHOT_SECONDS = 60.0
_NO_ALARM = "NONE"


class EtcdCalls(FileCalls):
    """etcd of the cluster."""

    async def bootstrap(
        self, node: MachineAddress, *, recover: bool = False, skip_hash: bool = False
    ) -> bool:
        """Begin etcd on a machine; False: it has data already, and nothing was done.

        With `recover` it begins from a snapshot that was sent before. `Conflict` where it is too
        early.
        """
        fields = {"recover_etcd": recover, "recover_skip_hash_check": skip_hash}
        try:
            await self._change(_BOOTSTRAP, node, fields)
        except Conflict as conflict:
            if isinstance(conflict, Locked) or conflict.problem.code != "talos.exists":
                raise
            return False
        return True

    async def etcd_members(self, node: MachineAddress) -> tuple[EtcdMember, ...]:
        """Members as the member on this machine has them."""
        fields = {"query_local": True}
        return await self._read(f"{MACHINE}/EtcdMemberList", node, _members, fields)

    async def etcd_status(self, node: MachineAddress) -> EtcdStatus:
        """How the member on this machine is."""
        return await self._read(f"{MACHINE}/EtcdStatus", node, _status)

    async def etcd_alarms(self, node: MachineAddress) -> tuple[EtcdAlarm, ...]:
        """Alarms of all members."""
        return await self._read(f"{MACHINE}/EtcdAlarmList", node, _alarms)

    async def disarm_etcd(self, node: MachineAddress) -> None:
        """Take all alarms back."""
        await self._change(f"{MACHINE}/EtcdAlarmDisarm", node)

    async def defragment_etcd(self, node: MachineAddress) -> None:
        """Make the file of the member smaller; it answers nothing meanwhile."""
        await self._change(f"{MACHINE}/EtcdDefragment", node, seconds=_DEFRAGMENT_SECONDS)

    async def forfeit_etcd_leadership(self, node: MachineAddress) -> str:
        """Let another member lead; returns its name. Empty: this one was not the leader."""
        row = await self._change(f"{MACHINE}/EtcdForfeitLeadership", node)
        return str(row.get("member", ""))

    async def leave_etcd(self, node: MachineAddress) -> None:
        """Take the member on this machine out, with its data."""
        await self._change(f"{MACHINE}/EtcdLeaveCluster", node, seconds=_LEAVE_SECONDS)

    async def remove_etcd_member(self, node: MachineAddress, member: int) -> None:
        """Take a member out whose machine is gone. `NotFound` where it is not there."""
        await self._change(f"{MACHINE}/EtcdRemoveMemberByID", node, {"member_id": member})

    async def etcd_snapshot(self, node: MachineAddress) -> AsyncGenerator[bytes, None]:
        """The database with its checksum, piece by piece, as fast as they are taken.

        It ends without an error only where the checksum is right.
        """
        summing = _SnapshotChecksum()
        pieces = self._each(_SNAPSHOT, node, chunk_bytes, seconds=_SNAPSHOT_SECONDS)
        async with aclosing(pieces):
            async for found in pieces:
                summing.add(found)
                yield found
        flaw = summing.flaw()
        if flaw:
            raise self._odd(_SNAPSHOT, node, flaw)

    async def send_etcd_snapshot(self, node: MachineAddress, pieces: AsyncIterable[bytes]) -> None:
        """Bring a snapshot to a machine, for a bootstrap that recovers from it."""
        request = TalosRequest(method=_RECOVER, node=node, is_read=False, seconds=_RECOVER_SECONDS)
        answer = await self._wire.upload(request, _recovery_messages(pieces))
        read_answer(request, answer, single_message)


class _SnapshotChecksum:
    """The checksum of a snapshot: its last bytes are that of all before them."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._end = b""
        self._size = 0

    def add(self, found: bytes) -> None:
        self._size += len(found)
        joined = self._end + found
        self._digest.update(joined[:-_DIGEST])
        self._end = joined[-_DIGEST:]

    def flaw(self) -> str:
        """Why it is not whole, as a clause. Empty: it is."""
        if self._size % _SECTOR != _DIGEST:
            return f"the snapshot of {self._size} bytes has no checksum at its end"
        if self._digest.digest() != self._end:
            return "the checksum of the snapshot is that of something else"
        return ""


async def _recovery_messages(pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    async for one in pieces:
        for start in range(0, len(one), _CHUNK_BYTES):
            yield encode_data(one[start : start + _CHUNK_BYTES])


def _members(row: Row) -> tuple[EtcdMember, ...]:
    found = tuple(_member(one) for one in get_rows(row, "members"))
    if not found:
        raise InvalidAnswer("it names no member, not even itself")
    return found


def _member(row: Row) -> EtcdMember:
    return EtcdMember(
        id=_id(row, "id"),
        hostname=get_optional_text(row, "hostname"),
        is_learner=get_flag(row, "is_learner"),
        peer_urls=get_texts(row, "peer_urls"),
        client_urls=get_texts(row, "client_urls"),
    )


def _status(row: Row) -> EtcdStatus:
    found = get_row(row, "member_status")
    return EtcdStatus(
        member=_id(found, "member_id"),
        leader=get_number(found, "leader") or None,
        is_learner=get_flag(found, "is_learner"),
        db_size=get_number(found, "db_size"),
        db_in_use=get_number(found, "db_size_in_use"),
        raft_term=get_number(found, "raft_term"),
        raft_index=get_number(found, "raft_index"),
        raft_applied=get_number(found, "raft_applied_index"),
        errors=get_texts(found, "errors"),
        version=get_optional_text(found, "protocol_version"),
        storage_version=get_optional_text(found, "storage_version"),
    )


def _alarms(row: Row) -> tuple[EtcdAlarm, ...]:
    found = (
        EtcdAlarm(member=get_number(one, "member_id"), alarm=str(one.get("alarm", _NO_ALARM)))
        for one in get_rows(row, "member_alarms")
    )
    return tuple(one for one in found if one.alarm != _NO_ALARM)


def _id(row: Row, name: str) -> int:
    found = get_number(row, name)
    if not found:
        raise InvalidAnswer(f"{name} is not told")
    return found
