"""What keeps stockman from working in a Proxmox cluster."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from stockman.model.problem import Place, Problem, Problems, Severity


def lacks_privilege(
    problems: Problems, region: str, path: str, lacked: Iterable[str], at: Place
) -> None:
    problems.error(
        "proxmox.lacks-privilege",
        f"the token of stockman lacks {', '.join(sorted(lacked))} on {path}",
        why=f"the machines of the configuration cannot be made in {region} without",
        fix="run `stockman apply --only access` with the token of an administrator, or"
        f" add them to a role that the token and its user have on {path}",
        at=at,
    )


def token_ends(problems: Problems, token: str, whose: str, end: datetime, now: datetime) -> None:
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


def no_administrator(problems: Problems, region: str) -> None:
    problems.error(
        "proxmox.no-administrator",
        f"tokens of {region} cannot be made without an administrator",
        why="the token of stockman may not make tokens, not even its own",
        fix="give the token or the password of an administrator",
        at=f"Proxmox cluster {region}",
    )


def no_such_token(problems: Problems, name: str, known: Iterable[str]) -> None:
    problems.error(
        "token.unknown",
        f"nobody has a token called {name}",
        why=f"the configuration has {', '.join(known)}",
        fix="name one of these, or none to renew all",
    )
