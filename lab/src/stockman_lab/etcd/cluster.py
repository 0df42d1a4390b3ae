"""An etcd cluster: what its members agree on, and what each has on its disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from stockman.etcd.buckets import DatabaseMetadata
from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.keyspace import Keyspace

_BY_TALOS = {"1.11": "3.6.5", "1.12": "3.6.8", "1.13": "3.6.12", "1.14": "3.7.1"}


def etcd_version(talos_minor: str) -> str:
    """The etcd that machines of a minor release of Talos run unless told otherwise."""
    return _BY_TALOS[talos_minor]


def minor_of(version: str) -> str:
    """`3.6.0` of `3.6.12`: how clusters and storages name their version."""
    major, minor, _ = version.split(".", 2)
    return f"{major}.{minor}.0"


def refusal_to_start(beside: DatabaseMetadata, server: str) -> str:
    """Why an etcd of a version does not start on a database; empty: it does."""
    if _version_numbers(beside.storage_version) > _version_numbers(minor_of(server)):
        return f'version "{beside.storage_version}" is not supported'
    if _version_numbers(beside.cluster_version) > _version_numbers(minor_of(server)):
        return "invalid downgrade; server version is lower than determined cluster version"
    return ""


def _version_numbers(version: str) -> tuple[int, ...]:
    """A version as numbers; nothing for one that is empty or no version."""
    texts = version.split(".")
    return tuple(map(int, texts)) if all(section.isdecimal() for section in texts) else ()


QUOTA = 2 << 30
"""Bytes that a database may have unless etcd is told otherwise."""


class AlarmKind(Enum):
    """What a member raises an alarm about."""

    NOSPACE = 1
    CORRUPT = 2


@dataclass
class Alarm:
    """An alarm of one member, which lasts until it is disarmed."""

    member: str
    kind: AlarmKind


@dataclass
class EtcdMember:
    """One member; the name is empty until it has started for the first time."""

    name: str
    peer_urls: list[str]
    client_urls: list[str] = field(default_factory=list)
    is_learner: bool = False
    started: bool = False
    """Whether it ever was, and told its name."""
    in_sync_at: float | None = None
    """When it holds what the leader holds; None: it never started."""
    applied: int = 0
    """Up to which entry of the log it got."""
    has_data: bool = False
    """Whether there is a database on its disk."""
    db_size: int = 0
    """Bytes of that, free pages included."""
    server_version: str = ""


@dataclass
class EtcdCluster:
    """All members with one keyspace. Ids are 16 hexadecimal digits."""

    id: str
    token: str = ""
    """Of Talos it is empty."""
    members: dict[str, EtcdMember] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    leader: str = ""
    """Empty: there is none."""
    term: int = 2
    index: int = 4
    """Of the last entry of the log: the first member, its name, the version, and an empty one."""
    alarms: list[Alarm] = field(default_factory=list)
    quota: int = QUOTA
    cluster_version: str = ""
    storage_version: str = ""
    keyspace: Keyspace = field(default_factory=Keyspace)
    stale_voters: list[str] = field(default_factory=list)
    """Who voted before a restore: databases name them until members change for the first time."""
    kept: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """Users, roles and what else stands in a database, by bucket and key, both in Latin-1."""

    def member(self, member: str) -> EtcdMember:
        """A member by its id."""
        etcd_member = self.members.get(member)
        if etcd_member is None:
            raise EtcdError(Reason.MEMBER_NOT_FOUND)
        return etcd_member

    def named(self, name: str) -> str | None:
        """The id of the member with a name."""
        return next((key for key, member in self.members.items() if member.name == name), None)

    @property
    def voters(self) -> dict[str, EtcdMember]:
        return {key: member for key, member in self.members.items() if not member.is_learner}


def numbered(member: str) -> int:
    """An id as a number."""
    return int(member, 16)
