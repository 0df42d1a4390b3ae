"""What a user has to be allowed for a change; `root@pam` itself needs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from stockman_lab.pve.errors import ApiError, bad_parameters, die


@dataclass(frozen=True, slots=True)
class Need:
    """Privileges on a path."""

    path: str
    privileges: tuple[str, ...]
    any_of: bool = False
    """One of them is enough."""
    on_guest: bool = False
    """For a new guest, having them on its pool is enough."""
    moot_with: tuple[str, str] | None = None
    """Path and privilege that make the question needless."""
    said: str = ""
    """What the refusal says in its brackets, if not path and privileges."""


@dataclass(frozen=True, slots=True)
class OnlyRoot:
    """Something that nobody but `root@pam` may do, with the refusal of others."""

    status: int
    message: str
    parameter: str = ""
    moot_with: tuple[str, str] | None = None

    @property
    def error(self) -> ApiError:
        """The refusal."""
        if self.parameter:
            return bad_parameters({self.parameter: self.message})
        return ApiError(self.status, self.message) if self.status != 500 else die(self.message)


Asked: TypeAlias = Need | OnlyRoot


def on_guest(vmid: int, *privileges: str, any_of: bool = False) -> Need:
    """Privileges on one guest."""
    return Need(f"/vms/{vmid}", privileges, any_of=any_of, on_guest=True)


def forbidden(why: str) -> OnlyRoot:
    """A refusal that looks like a missing privilege."""
    return OnlyRoot(403, f"Permission check failed ({why})")


def gives_up(why: str) -> OnlyRoot:
    """A refusal in the middle of the work."""
    return OnlyRoot(500, why)
