"""Problems that keep stockman from working in a Proxmox cluster."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from stockman.model.problem import Problem, ProblemLocation, Problems, Severity


def missing_privilege(
    problems: Problems, path: str, lacked: Iterable[str], why: str, at: ProblemLocation
) -> None:
    lacks = sorted(lacked)
    problems.error(
        "proxmox.lacks-privilege",
        f"the token of stockman lacks {', '.join(lacks)} on {path}",
        why=why,
        fix="run `stockman apply --only access` with the token of an administrator, or add"
        f" {'them' if len(lacks) > 1 else 'it'} to a role that the token and its user have on"
        f" {path}",
        at=at,
    )


def hidden_guests(problems: Problems, region: str, at: ProblemLocation) -> None:
    """Guests may exist that are not visible to the token."""
    why = f"Proxmox VE does not list guests of {region} without this privilege"
    missing_privilege(problems, "/vms", ("VM.Audit",), why, at)


def token_expires(problems: Problems, token: str, owner: str, end: datetime, now: datetime) -> None:
    """An expired token is an error, one that expires soon a warning."""
    is_over = end <= now
    problem = Problem(
        code="proxmox.token-ends",
        what=f"the token {token} {'has expired' if is_over else 'expires soon'}",
        why=f"{owner} uses it, and it {'expired' if is_over else 'expires'} at"
        f" {end:%Y-%m-%d %H:%M} UTC",
        fix=f"run `stockman secrets rotate proxmox --token {owner} --push` with the token of an"
        " administrator, or set a later expiry date under Datacenter, Permissions",
        where=token,
        severity=Severity.ERROR if is_over else Severity.WARNING,
    )
    problems.add(problem)


def inactive_user(problems: Problems, user: str, owner: str, why: str) -> None:
    """Proxmox VE rejects all tokens of such a user."""
    problems.error(
        "proxmox.user-off",
        f"the user {user} is disabled",
        why=f"{owner} uses one of its tokens, and {why}",
        fix="enable it under Datacenter, Permissions, Users, or set a later expiry date there",
        at=user,
    )


def token_secret_mismatch(problems: Problems, token: str, owner: str) -> None:
    """A token exists, but its secret is not the stored one."""
    problems.error(
        "proxmox.other-secret",
        f"the token {token} has a different secret than the stored one",
        why="token and user exist and are enabled, but Proxmox VE rejects the stored secret",
        fix=f"run `git pull` in case somebody renewed it; otherwise create and store a new token"
        f" with `stockman secrets rotate proxmox --token {owner}` as an administrator",
        at=token,
    )


def administrator_missing(problems: Problems, region: str) -> None:
    problems.error(
        "proxmox.no-administrator",
        f"cannot create tokens in {region} without an administrator",
        why="the token of stockman may not create tokens",
        fix="provide the token or the password of an administrator",
        at=f"Proxmox cluster {region}",
    )


def unknown_token(problems: Problems, name: str, known: Iterable[str]) -> None:
    problems.error(
        "token.unknown",
        f"there is no token {name}",
        why=f"the configuration has {', '.join(known)}",
        fix="use one of these, or no name to renew all",
    )


def component_still_in_use(problems: Problems, access: str, component: str) -> None:
    problems.warn(
        "access.still-used",
        f"access of {component} to Proxmox VE is kept for now: {access}",
        why=f"{component} is disabled in the files, but still installed in the cluster",
        fix="remove its files with `stockman render --prune`, then run `stockman apply --push`",
        at=component,
    )


def foreign_user(problems: Problems, user: str, component: str, tokens: Iterable[str]) -> None:
    problems.warn(
        "access.not-alone",
        f"user {user} is kept, although {component} no longer needs it",
        why=f"it has tokens that stockman did not create: {', '.join(tokens)}",
        fix=f"find out what uses them, then run `pveum user delete {user}` on a host",
        at=user,
    )


def token_in_use(token: str, owners: Iterable[str]) -> Problem:
    user, _, name = token.partition("!")
    return Problem(
        code="proxmox.token-shared",
        what=f"the token {token} exists, but its secret is not stored here",
        where=token,
        why=f"a new secret would lock out others that use it: {', '.join(owners)}",
        fix=f"set `proxmox.token_id` to a different token, such as `{user}!{name}-2`; or write"
        " its secret into `proxmox.token_secret`",
    )
