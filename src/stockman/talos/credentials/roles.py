"""Roles of the Talos API, stored as organizations of client certificates."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.version import Version

_SINCE = Version(1, 13)


class TalosRole(Enum):
    """What a client certificate permits."""

    ADMIN = "os:admin"
    """Full access."""
    OPERATOR = "os:operator"
    """Read, and operate without access to secrets: restart, shut down, upgrade."""
    READER = "os:reader"
    """Read everything that is not secret."""
    ETCD_BACKUP = "os:etcd:backup"
    """Take snapshots of etcd."""
    IMPERSONATOR = "os:impersonator"
    """Impersonate other roles, as nodes do among themselves."""
    IMAGE_VERIFIER = "os:image:verifier"
    """Verify image signatures; since Talos 1.13."""
    META_WRITER = "os:meta:writer"
    """Write and delete META values; since Talos 1.13."""

    @property
    def since(self) -> Version | None:
        """First Talos line with this role. None: all supported lines."""
        new = (TalosRole.IMAGE_VERIFIER, TalosRole.META_WRITER)
        return _SINCE if self in new else None


def organizations(roles: Iterable[TalosRole], talos: Version) -> tuple[str, ...]:
    """Return roles as sorted organizations of a certificate; raises Refused for unknown roles."""
    names = sorted({role.value for role in roles})
    if not names:
        raise Refused(
            Problem(
                code="talos.no-role",
                what="a client certificate needs at least one role",
                why="Talos rejects clients without a role",
                fix=f"use at least one of {', '.join(role.value for role in TalosRole)}",
            )
        )
    for role in map(TalosRole, names):
        if role.since is not None and talos.line < role.since.line:
            raise Refused(
                Problem(
                    code="talos.unknown-role",
                    what=f"Talos {talos} has no role {role.value}",
                    why=f"it was added in Talos {role.since}",
                    fix="choose another role, or upgrade Talos first",
                )
            )
    return tuple(names)
