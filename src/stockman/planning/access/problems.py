"""What keeps stockman from working in a Proxmox cluster."""

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
    """Guests may be there that whoever looked does not see."""
    why = f"Proxmox VE shows no guest of {region} to whoever may not look at it"
    missing_privilege(problems, "/vms", ("VM.Audit",), why, at)


def token_expires(problems: Problems, token: str, whose: str, end: datetime, now: datetime) -> None:
    """A token that has ended keeps everything from being done; one that ends soon is told."""
    is_over = end <= now
    problem = Problem(
        code="proxmox.token-ends",
        what=f"the token {token} {'has expired' if is_over else 'expires soon'}",
        why=f"{whose} works with it, and it {'ended' if is_over else 'ends'} at"
        f" {end:%Y-%m-%d %H:%M} UTC",
        fix=f"run `stockman secrets rotate proxmox --token {whose} --push` with the token of an"
        " administrator, or give it a later end under Datacenter, Permissions",
        where=token,
        severity=Severity.ERROR if is_over else Severity.WARNING,
    )
    problems.add(problem)


def inactive_user(problems: Problems, user: str, whose: str, why: str) -> None:
    """A user that Proxmox VE lets in with no token at all."""
    problems.error(
        "proxmox.user-off",
        f"the user {user} is switched off",
        why=f"{whose} works with a token of it, and {why}",
        fix="enable it under Datacenter, Permissions, Users, or give it a later end there",
        at=user,
    )


def token_secret_mismatch(problems: Problems, token: str, whose: str) -> None:
    """A token that is there and is not the one that was kept."""
    problems.error(
        "proxmox.other-secret",
        f"the token {token} has another secret than stockman has",
        why="it is there, it and its user are switched on, and Proxmox VE does not let it in",
        fix=f"run `git pull` in case somebody renewed it; otherwise `stockman secrets rotate"
        f" proxmox --token {whose}` with the token of an administrator makes another"
        " and keeps its secret",
        at=token,
    )


def administrator_missing(problems: Problems, region: str) -> None:
    problems.error(
        "proxmox.no-administrator",
        f"tokens of {region} cannot be made without an administrator",
        why="the token of stockman may not make tokens, not even its own",
        fix="give the token or the password of an administrator",
        at=f"Proxmox cluster {region}",
    )


def unknown_token(problems: Problems, name: str, known: Iterable[str]) -> None:
    problems.error(
        "token.unknown",
        f"nobody has a token called {name}",
        why=f"the configuration has {', '.join(known)}",
        fix="name one of these, or none to renew all",
    )


def component_still_in_use(problems: Problems, called: str, component: str) -> None:
    problems.warn(
        "access.still-used",
        f"what {component} may do in Proxmox VE stays for now: {called}",
        why=f"{component} is switched off in the files, and the cluster still has it",
        fix="take its files out with `stockman render --prune`, then `stockman apply --push`",
        at=component,
    )


def foreign_user(problems: Problems, user: str, component: str, tokens: Iterable[str]) -> None:
    problems.warn(
        "access.not-alone",
        f"user {user} stays, though {component} needs it no more",
        why=f"it has tokens that somebody else made: {', '.join(tokens)}",
        fix=f"find out who works with them; then `pveum user delete {user}` on a host",
        at=user,
    )


def token_in_use(token: str, owners: Iterable[str]) -> Problem:
    user, _, name = token.partition("!")
    return Problem(
        code="proxmox.token-shared",
        what=f"the token {token} is there, and its secret is not kept here",
        where=token,
        why=f"a new secret would shut out who works with it: {', '.join(owners)}",
        fix=f"set `proxmox.token_id` to one of its own, such as `{user}!{name}-2`; or write"
        " its secret into `proxmox.token_secret`",
    )
