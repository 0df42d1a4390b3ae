"""Asking a Proxmox cluster with a token, and what it means when that does not work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from stockman.app.doctor.check import Question, Scene
from stockman.app.doctor.finding import Finding, fail, skip, unknown
from stockman.app.doctor.region import HeldToken, Region
from stockman.model.errors import Denied, Refused, StockmanError, Unreachable
from stockman.ports.probe import Network
from stockman.ports.proxmox import Proxmox

T = TypeVar("T")
_WITH_EVERY_CALL = (
    "proxmox.authentication",
    "proxmox.certificate",
    "proxmox.unreachable",
)
Look = Callable[[Scene, Region, Proxmox], Awaitable[Iterable[Finding]]]


def questions(scene: Scene, look: Look) -> Iterator[Question]:
    """One question to every Proxmox cluster, asked with stockman's token."""
    for region in scene.regions:
        yield Question(subject=region.subject, ask=partial(_asked, scene, region, look))


async def _asked(scene: Scene, region: Region, look: Look, network: Network) -> Iterable[Finding]:
    del network
    return await with_token(region, region.token, region.subject, partial(look, scene, region))


async def with_token(
    region: Region,
    token: HeldToken,
    subject: str,
    look: Callable[[Proxmox], Awaitable[Iterable[Finding]]],
) -> Iterable[Finding]:
    """What a look through a door comes to that is opened with a token."""
    if token.secret is None:
        return (skip(subject, f"the token of {token.whose} is not at hand: {token.why_not}"),)
    try:
        async with region.open(token.id, token.secret) as pve:
            return tuple(await look(pve))
    except StockmanError as error:
        return (_trouble(subject, error),)


async def or_trouble(asked: Awaitable[T]) -> T | StockmanError:
    """What was asked, or why it alone is not told; trouble with every call is raised."""
    try:
        return await asked
    except StockmanError as error:
        if error.problem.code in _WITH_EVERY_CALL:
            raise
        return error


def _trouble(subject: str, error: StockmanError) -> Finding:
    problem = error.problem
    if isinstance(error, Unreachable | Refused):
        return skip(subject, f"{problem.what}: {problem.why}; see `reach.proxmox`")
    if isinstance(error, Denied) and problem.code == "proxmox.authentication":
        return fail(subject, f"{problem.what}: {problem.why}", problem.fix)
    return unknown(subject, f"{problem.what}: {problem.why}", problem.fix)
