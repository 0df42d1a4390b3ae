"""Query Proxmox clusters with a token and explain failures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from stockman.app.doctor.check import CheckInput, ConfiguredToken, ProxmoxAccess, Question
from stockman.app.doctor.finding import CheckResult, fail, skip, unknown
from stockman.model.errors import Denied, Refused, StockmanError, Unreachable
from stockman.ports.environment import Network
from stockman.proxmox.client import ProxmoxClient

T = TypeVar("T")
_WITH_EVERY_CALL = (
    "proxmox.authentication",
    "proxmox.certificate",
    "proxmox.unreachable",
)
ProxmoxCheck = Callable[
    [CheckInput, ProxmoxAccess, ProxmoxClient], Awaitable[Iterable[CheckResult]]
]


def questions(scene: CheckInput, look: ProxmoxCheck) -> Iterator[Question]:
    """Return one query for every Proxmox cluster with stockman's token."""
    for region in scene.regions:
        yield Question(subject=region.subject, ask=partial(_query_cluster, scene, region, look))


async def _query_cluster(
    scene: CheckInput, region: ProxmoxAccess, look: ProxmoxCheck, network: Network
) -> Iterable[CheckResult]:
    del network
    return await query_with_token(
        region, region.token, region.subject, partial(look, scene, region)
    )


async def query_with_token(
    region: ProxmoxAccess,
    token: ConfiguredToken,
    subject: str,
    look: Callable[[ProxmoxClient], Awaitable[Iterable[CheckResult]]],
) -> Iterable[CheckResult]:
    """Open a client with a token and return the results of a check."""
    if token.secret is None:
        return (skip(subject, f"the token of {token.owner} is not at hand: {token.reason}"),)
    try:
        async with region.open(token.id, token.secret) as pve:
            return tuple(await look(pve))
    except StockmanError as error:
        return (_query_failure(subject, error),)


async def result_or_reason(request: Awaitable[T]) -> T | StockmanError:
    """Return the answer, or why this query failed; raise errors that affect every query."""
    try:
        return await request
    except StockmanError as error:
        if error.problem.code in _WITH_EVERY_CALL:
            raise
        return error


def _query_failure(subject: str, error: StockmanError) -> CheckResult:
    problem = error.problem
    if isinstance(error, Unreachable | Refused):
        return skip(subject, f"{problem.what}: {problem.why}; see `reach.proxmox`")
    if isinstance(error, Denied) and problem.code == "proxmox.authentication":
        return fail(subject, f"{problem.what}: {problem.why}", problem.fix)
    return unknown(subject, f"{problem.what}: {problem.why}", problem.fix)
