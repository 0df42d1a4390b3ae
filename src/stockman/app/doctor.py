"""Run all checks: first those of this machine, then all network queries at once.

A new check is a function in the module of its area, listed in the `CHECKS` at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from stockman.app.secrets.proxmox_tokens import FILE as KEPT
from stockman.app.secrets.proxmox_tokens import with_stored_token
from stockman.assessment.doctor import clock, machine, proxmox, reach, secrets
from stockman.assessment.doctor.check import (
    Check,
    CheckInput,
    CheckResult,
    ConfiguredToken,
    DoctorReport,
    ProxmoxAccess,
    Question,
    skip,
    unknown,
)
from stockman.config.language import Configuration
from stockman.model.component import Component
from stockman.model.desired import Desired
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.secret import Secret
from stockman.ports.environment import Network
from stockman.proxmox.client import ProxmoxClient

if TYPE_CHECKING:
    from stockman.app.secrets.references import ReferenceContext
    from stockman.config.load import LoadedConfig
    from stockman.model.problem import Problem

CHECKS = (
    *machine.CHECKS,
    *secrets.CHECKS,
    *reach.CHECKS,
    *proxmox.CHECKS,
    *clock.CHECKS,
)


TIMEOUT = 5.0
"""Seconds for one query, including everything it needs."""

NamedResults = Sequence[tuple[str, CheckResult | Question]]
"""Results of checks, each with the name of its check."""

ProgressCallback = Callable[[int], None]
"""Called with the number of queries that are about to run."""


def diagnose(
    directory: Path, *, offline: bool = False, listen: ProgressCallback = lambda _: None
) -> DoctorReport:
    """Run every check for a directory."""
    results = run_local_checks(build_check_input(directory), CHECKS)
    if offline:
        return report_offline(results)
    import asyncio

    from stockman.adapters.network import SocketNetwork

    listen(sum(isinstance(item, Question) for _, item in results))
    return asyncio.run(run_network_checks(results, SocketNetwork()))


def build_check_input(directory: Path) -> CheckInput:
    """Build the input of the checks, with the real machine."""
    import os

    from stockman.adapters.git.probe import LocalGitProbe
    from stockman.adapters.system import LocalMachine, SystemClock
    from stockman.app.rendering.validation import validate
    from stockman.config.load import load
    from stockman.model.errors import NotFound, StockmanError

    try:
        validation = validate(directory, os.environ)
        loaded, trouble = validation.loaded, tuple(validation.problems)
    except NotFound:
        raise
    except StockmanError as error:
        loaded, trouble = load({}), (error.problem,)
    return CheckInput(
        directory=directory,
        estate=loaded.configuration,
        secrets=tuple(dict.fromkeys(loaded.secrets)),
        problems=trouble,
        complete=bool(loaded.texts) and loaded.complete,
        machine=LocalMachine(),
        repo=LocalGitProbe(directory),
        clock=SystemClock(),
        **_proxmox(directory, loaded, trouble),
    )


def _proxmox(directory: Path, loaded: LoadedConfig, trouble: Sequence[Problem]) -> dict[str, Any]:
    """Return Proxmox clusters for which the configuration has a token."""
    import os

    from stockman.config.resolve import resolve

    if not has_token(loaded.configuration, directory):
        return {}
    right = not any(problem.is_error for problem in trouble)
    desired = resolve(loaded) if right and loaded.complete else None
    clusters = regions(directory, loaded.configuration, desired, os.environ)
    return {"desired": desired, "regions": clusters}


def run_local_checks(scene: CheckInput, checks: Iterable[Check]) -> NamedResults:
    """Return the results of checks without the network, and the queries they need."""
    return [(check.name, result) for check in checks for result in check.look(scene)]


def report_offline(results: NamedResults) -> DoctorReport:
    """Return the report without the network: one skipped result for each check with queries."""
    findings = (
        replace(finding, check=name)
        for name, items in groupby(results, key=lambda pair: pair[0])
        for finding in _skip_question([item for _, item in items])
    )
    return DoctorReport(findings=tuple(findings))


async def run_network_checks(
    results: NamedResults, network: Network, patience: float = TIMEOUT
) -> DoctorReport:
    """Return the report once every query is answered or timed out."""
    import asyncio

    async with asyncio.TaskGroup() as group:
        tasks = [
            (name, group.create_task(_run_question(item, network, patience)))
            for name, item in results
        ]
    findings = (replace(item, check=name) for name, task in tasks for item in task.result())
    return DoctorReport(findings=tuple(findings))


async def _run_question(
    result: CheckResult | Question, network: Network, patience: float
) -> tuple[CheckResult, ...]:
    import asyncio

    if isinstance(result, CheckResult):
        return (result,)
    try:
        async with asyncio.timeout(patience):
            return tuple(await result.ask(network))
    except TimeoutError:
        return (unknown(result.subject, f"no answer within {patience:g} s", "run it again"),)


def _skip_question(yielded: Sequence[CheckResult | Question]) -> Iterator[CheckResult]:
    yield from (result for result in yielded if isinstance(result, CheckResult))
    subjects = [result.subject for result in yielded if isinstance(result, Question)]
    if subjects:
        yield skip(", ".join(subjects), "not asked")


T = TypeVar("T")
_CONNECT = 2.0
_READ = 4.0
"""Seconds; shorter than the timeout of a query, so that it can explain a failure."""


def has_token(estate: Configuration, directory: Path) -> bool:
    """Whether any Proxmox cluster has an endpoint and a token, configured or stored."""
    kept = (directory / KEPT).is_file()
    return any(
        _has_credentials(cluster) or (kept and _has_address(cluster))
        for cluster in _clusters(estate)
    )


def regions(
    directory: Path, estate: Configuration, desired: Desired | None, environment: Mapping[str, str]
) -> tuple[ProxmoxAccess, ...]:
    """Return every Proxmox cluster with an endpoint and a token, with functions to open clients."""
    from stockman.app.secrets.keyring import find_keyring
    from stockman.app.secrets.references import ReferenceContext

    context = ReferenceContext(
        directory=directory,
        keyring=find_keyring(directory, environment),
        environment=environment,
    )
    connect = estate.proxmox.connect if estate.proxmox is not None else {}
    components = desired.components if desired is not None else {}
    return tuple(
        ProxmoxAccess(
            cluster=cluster,
            open=partial(_open, cluster, connect, directory),
            token=_own_token(cluster, context),
            component_tokens=tuple(_component_tokens(components, cluster, context))
            if number == 0
            else (),
        )
        for number, cluster in enumerate(
            _with_stored_token(cluster, context) for cluster in _clusters(estate)
        )
        if _has_credentials(cluster)
    )


def _clusters(estate: Configuration) -> tuple[ProxmoxCluster, ...]:
    section = estate.proxmox
    return () if section is None else section.clusters or (section,)


def _with_stored_token(cluster: ProxmoxCluster, context: ReferenceContext) -> ProxmoxCluster:
    """Return the cluster with its stored token, or unchanged if there is none."""
    resolved = with_stored_token(cluster, context)
    return resolved if resolved.token_secret is not None else cluster


def _has_credentials(cluster: ProxmoxCluster) -> bool:
    return bool(_has_address(cluster) and cluster.token_id and cluster.token_secret)


def _has_address(cluster: ProxmoxCluster) -> bool:
    return bool(cluster.endpoint or cluster.endpoints)


def _own_token(cluster: ProxmoxCluster, context: ReferenceContext) -> ConfiguredToken:
    resolved, why_not = _resolve_secrets(cluster, context)
    secret = None if why_not else resolved.token_secret
    return ConfiguredToken(
        owner="stockman", id=cluster.token_id or "", secret=secret, reason=why_not
    )


def _component_tokens(
    components: Mapping[str, Component], cluster: ProxmoxCluster, context: ReferenceContext
) -> Iterator[ConfiguredToken]:
    from stockman.catalog.registry import component, names

    for name, settings in components.items():
        access = component(name).proxmox if settings.enabled and name in names() else None
        if access is None:
            continue
        resolved, why_not = _resolve_secrets(settings, context)
        secret = resolved.secrets.get(f"token-{cluster.region}", resolved.token_secret)
        if secret is not None:
            yield ConfiguredToken(
                owner=name,
                id=settings.token_id or f"{access.user}!{access.token}",
                secret=None if why_not else secret,
                reason=why_not,
                options=settings,
            )


def _resolve_secrets(section: T, context: ReferenceContext) -> tuple[T, str]:
    """Return a section with its secrets, and why its token is not available."""
    from stockman.app.secrets.references import resolve_section

    resolved, problems = resolve_section(section, context)
    failed = [f"{problem.what}: {problem.why}" for problem in problems if "token" in problem.what]
    return resolved, failed[0] if failed else ""


def _open(
    cluster: ProxmoxCluster,
    connect: Mapping[str, str],
    directory: Path,
    token_id: str,
    secret: Secret,
) -> AbstractAsyncContextManager[ProxmoxClient]:
    from stockman.adapters.proxmox.endpoint import HttpTimeouts
    from stockman.adapters.system import SystemTimekeeper
    from stockman.app.proxmox import authority_of, open_proxmox, proxmox_endpoints

    timeouts = HttpTimeouts(connect=_CONNECT, read=_READ, write=_READ)
    endpoints = proxmox_endpoints(cluster, connect, authority_of(cluster, directory), timeouts)
    return open_proxmox(endpoints, token_id, secret, SystemTimekeeper())
