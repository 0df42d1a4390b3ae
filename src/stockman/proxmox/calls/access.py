"""Calls on users, roles, tokens and access rights."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.model.secret import Secret
from stockman.proxmox.access import AccessRole, AccessRule, AccessToken, NewToken, Privileges, User
from stockman.proxmox.calls.base import Calls, Parameters
from stockman.proxmox.rows import UnexpectedAnswer, mapping, read_record, text

_ACCESS = ("access",)
_USER = {"id": "userid", "enabled": "enable", "expires": "expire"}
_ROLE = {"name": "roleid", "privileges": "privs", "is_built_in": "special"}
_TOKEN = {"name": "tokenid", "expires": "expire", "privilege_separation": "privsep"}
_RULE = {"role": "roleid", "kind": "type", "holder": "ugid"}


class AccessCalls(Calls):
    """Access."""

    async def users(self) -> tuple[User, ...]:
        """List the users that the token can see."""
        return await self._rows((*_ACCESS, "users"), lambda row: read_record(User, row, _USER))

    async def create_user(self, user: User) -> None:
        """Create a user without a password; raises `Conflict` if it exists."""
        await self._do(
            "POST",
            (*_ACCESS, "users"),
            {
                "userid": user.id,
                "enable": user.enabled,
                "expire": user.expires,
                "comment": user.comment or None,
                "groups": ",".join(user.groups) or None,
            },
        )

    async def delete_user(self, id: str) -> None:  # noqa: A002  # as the port calls it
        """Delete a user with its tokens and access rules."""
        await self._do("DELETE", (*_ACCESS, "users", id))

    async def roles(self) -> tuple[AccessRole, ...]:
        """List all roles."""
        return await self._rows(
            (*_ACCESS, "roles"), lambda row: read_record(AccessRole, row, _ROLE)
        )

    async def create_role(self, role: AccessRole) -> None:
        """Create a role; raises `Conflict` if it exists."""
        await self._do(
            "POST", (*_ACCESS, "roles"), {"roleid": role.name, "privs": _privileges(role)}
        )

    async def update_role(self, role: AccessRole) -> None:
        """Replace the privileges of a role."""
        await self._do("PUT", (*_ACCESS, "roles", role.name), {"privs": _privileges(role)})

    async def delete_role(self, name: str) -> None:
        """Delete a role."""
        await self._do("DELETE", (*_ACCESS, "roles", name))

    async def tokens(self, user: str) -> tuple[AccessToken, ...]:
        """List the tokens of a user."""
        return await self._rows(
            (*_ACCESS, "users", user, "token"), lambda row: read_record(AccessToken, row, _TOKEN)
        )

    async def create_token(self, user: str, token: AccessToken) -> NewToken:
        """Create a token; raises `Conflict` if it exists."""
        return await self._send(
            "POST",
            (*_ACCESS, "users", user, "token", token.name),
            {
                "comment": token.comment or None,
                "expire": token.expires or None,
                "privsep": token.privilege_separation,
            },
            lambda data: _new_token(mapping(data), f"{user}!{token.name}"),
        )

    async def delete_token(self, user: str, name: str) -> None:
        """Delete a token."""
        await self._do("DELETE", (*_ACCESS, "users", user, "token", name))

    async def access_rules(self) -> tuple[AccessRule, ...]:
        """List the access rules that the token may change."""
        return await self._rows((*_ACCESS, "acl"), lambda row: read_record(AccessRule, row, _RULE))

    async def grant(self, rule: AccessRule) -> None:
        """Grant a role on a path; does nothing if it is already granted."""
        await self._do("PUT", (*_ACCESS, "acl"), _rule(rule))

    async def revoke(self, rule: AccessRule) -> None:
        """Revoke a role on a path."""
        await self._do("PUT", (*_ACCESS, "acl"), {**_rule(rule), "delete": True})

    async def permissions(self, path: str | None = None) -> Privileges:
        """Return the privileges of this token by path: for one path, or for all with rules."""
        return await self._get((*_ACCESS, "permissions"), _by_path, {"path": path})


def _new_token(answer: Mapping[str, object], name: str) -> NewToken:
    value = answer.get("value")
    if not isinstance(value, str) or not value:
        raise UnexpectedAnswer("the response to the creation of a token has no secret")
    return NewToken(id=text(answer.get("full-tokenid", name)), secret=Secret(value, resolved=True))


def _privileges(role: AccessRole) -> str:
    return ",".join(sorted(role.privileges))


def _rule(rule: AccessRule) -> Parameters:
    return {
        "path": rule.path,
        "roles": rule.role,
        f"{rule.kind}s": rule.holder,
        "propagate": rule.propagate,
    }


def _by_path(data: object) -> Mapping[str, frozenset[str]]:
    return {path: frozenset(mapping(held)) for path, held in mapping(data).items()}
