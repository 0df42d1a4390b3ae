"""Proxmox clusters that can be queried: those with an endpoint and a token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from stockman.app.doctor.check import ConfiguredToken, ProxmoxAccess
from stockman.app.secrets.proxmox_tokens import FILE as KEPT
from stockman.app.secrets.proxmox_tokens import with_stored_token
from stockman.config.language import Configuration
from stockman.model.component import Component
from stockman.model.desired import Desired
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.secret import Secret
from stockman.proxmox.client import ProxmoxClient

if TYPE_CHECKING:
    from stockman.app.secrets.references import ReferenceContext

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
    from stockman.app.proxmox.connections import authority_of, open_proxmox, proxmox_endpoints

    timeouts = HttpTimeouts(connect=_CONNECT, read=_READ, write=_READ)
    endpoints = proxmox_endpoints(cluster, connect, authority_of(cluster, directory), timeouts)
    return open_proxmox(endpoints, token_id, secret, SystemTimekeeper())
