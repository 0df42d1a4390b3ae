"""Roles of the Talos API, as client certificates carry them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.version import Version

_SINCE = Version(1, 13)


class TalosRole(Enum):
    """What the bearer of a client certificate may do."""

    ADMIN = "os:admin"
    """Everything."""
    OPERATOR = "os:operator"
    """Read, and act without seeing secrets: restart, shut down, upgrade."""
    READER = "os:reader"
    """Read what is not secret."""
    ETCD_BACKUP = "os:etcd:backup"
    """Take snapshots of etcd."""
    IMPERSONATOR = "os:impersonator"
    """Speak for others, as nodes do among themselves."""
    IMAGE_VERIFIER = "os:image:verifier"
    """Verify signatures of images; since Talos 1.13."""
    META_WRITER = "os:meta:writer"
    """Write and delete META values; since Talos 1.13."""

    @property
    def since(self) -> Version | None:
        """First Talos line that knows the role. None: every one that is supported."""
        new = (TalosRole.IMAGE_VERIFIER, TalosRole.META_WRITER)
        return _SINCE if self in new else None


def organizations(roles: Iterable[TalosRole], talos: Version) -> tuple[str, ...]:
    """Roles as a certificate for a Talos version names them, sorted; `Refused` if it cannot."""
    wanted = sorted({role.value for role in roles})
    if not wanted:
        raise Refused(
            Problem(
                code="talos.no-role",
                what="a client certificate is asked for without a role",
                why="Talos lets nobody in who has none",
                fix=f"name at least one of {', '.join(role.value for role in TalosRole)}",
            )
        )
    for role in map(TalosRole, wanted):
        if role.since is not None and talos.line < role.since.line:
            raise Refused(
                Problem(
                    code="talos.unknown-role",
                    what=f"Talos {talos} has no role {role.value}",
                    why=f"it came with Talos {role.since}",
                    fix="choose another role, or upgrade Talos first",
                )
            )
    return tuple(wanted)
