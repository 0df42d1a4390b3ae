"""Who may do what: users, roles, tokens and the list of access rights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from stockman.model.record import record
from stockman.model.secret import Secret

Holder = Literal["user", "group", "token"]

Privileges = Mapping[str, frozenset[str]]
"""Privileges by path."""


@record
class User:
    """A user."""

    id: str
    """`name@realm`."""
    enabled: bool = True
    expires: int = 0
    """Seconds since 1970; 0: never."""
    comment: str = ""
    groups: tuple[str, ...] = ()


@record
class AccessRole:
    """A named set of privileges."""

    name: str
    privileges: frozenset[str] = frozenset()
    is_built_in: bool = False


@record
class AccessToken:
    """A token of a user, without its secret."""

    name: str
    comment: str = ""
    expires: int = 0
    privilege_separation: bool = True
    """Whether it has rights of its own, at most those of its user."""


@record
class NewToken:
    """A token that was just made; its secret is never told again."""

    id: str
    """`name@realm!token`."""
    secret: Secret


@record
class AccessRule:
    """A role that somebody has on a path."""

    path: str
    role: str
    kind: Holder
    holder: str
    propagate: bool = True
    """Whether it holds below the path too."""


class Access(Protocol):
    """Who may do what."""

    async def users(self) -> tuple[User, ...]:
        """Users that the token may see."""
        ...

    async def create_user(self, user: User) -> None:
        """Make a user without a password. `Conflict` where there is one."""
        ...

    async def delete_user(self, id: str) -> None:  # noqa: A002  # its name in the API
        """Delete a user with its tokens and rights."""
        ...

    async def roles(self) -> tuple[AccessRole, ...]:
        """All roles."""
        ...

    async def create_role(self, role: AccessRole) -> None:
        """Make a role. `Conflict` where there is one."""
        ...

    async def update_role(self, role: AccessRole) -> None:
        """Give a role exactly these privileges."""
        ...

    async def delete_role(self, name: str) -> None:
        """Delete a role."""
        ...

    async def tokens(self, user: str) -> tuple[AccessToken, ...]:
        """Tokens of a user."""
        ...

    async def create_token(self, user: str, token: AccessToken) -> NewToken:
        """Make a token. `Conflict` where there is one."""
        ...

    async def delete_token(self, user: str, name: str) -> None:
        """Delete a token."""
        ...

    async def access_rules(self) -> tuple[AccessRule, ...]:
        """Who has which role where, as far as the token may change it."""
        ...

    async def grant(self, rule: AccessRule) -> None:
        """Give a role on a path; fine where it is given already."""
        ...

    async def revoke(self, rule: AccessRule) -> None:
        """Take a role on a path away."""
        ...

    async def permissions(self, path: str | None = None) -> Privileges:
        """What this token may do, on one path or on all that rules speak of."""
        ...
