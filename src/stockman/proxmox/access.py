"""Users, roles, API tokens and access control lists of Proxmox VE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

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
    """Unix time; 0: never."""
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
    """Whether the token has its own permissions, limited to those of its user."""


@record
class NewToken:
    """A newly created token; the server shows its secret only once."""

    id: str
    """`name@realm!token`."""
    secret: Secret


@record
class AccessRule:
    """An entry of the access control list: a role granted on a path."""

    path: str
    role: str
    kind: Holder
    holder: str
    propagate: bool = True
    """Whether it also applies to paths below."""
