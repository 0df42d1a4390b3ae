"""Which Proxmox clusters can be asked: those with an endpoint and a token in the configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from stockman.app.doctor.check import ConfiguredToken, ProxmoxAccess
from stockman.app.secrets.proxmox_tokens import FILE as KEPT
from stockman.app.secrets.proxmox_tokens import with_stored_token
from stockman.config.language.configuration import Configuration
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
"""Seconds; below the patience of a question, so that it can tell what was the matter."""


def has_token(estate: Configuration, directory: Path) -> bool:
    """Whether any Proxmox cluster has an endpoint and a token, in the files or kept beside them."""
    kept = (directory / KEPT).is_file()
    return any(_has_credentials(one) or (kept and _has_address(one)) for one in _clusters(estate))


def regions(
    directory: Path, estate: Configuration, desired: Desired | None, environment: Mapping[str, str]
) -> tuple[ProxmoxAccess, ...]:
    """Every Proxmox cluster with an endpoint and a token, with its doors."""
    from stockman.app.secrets.keyring import find_keyring
    from stockman.app.secrets.references import ReferenceContext

    around = ReferenceContext(
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
            token=_own_token(cluster, around),
            others=tuple(_component_tokens(components, cluster, around)) if number == 0 else (),
        )
        for number, cluster in enumerate(
            _with_stored_token(one, around) for one in _clusters(estate)
        )
        if _has_credentials(cluster)
    )


def _clusters(estate: Configuration) -> tuple[ProxmoxCluster, ...]:
    section = estate.proxmox
    return () if section is None else section.clusters or (section,)


def _with_stored_token(cluster: ProxmoxCluster, around: ReferenceContext) -> ProxmoxCluster:
    """A cluster with the token that is kept for it; without one, as the files have it."""
    found = with_stored_token(cluster, around)
    return found if found.token_secret is not None else cluster


def _has_credentials(cluster: ProxmoxCluster) -> bool:
    return bool(_has_address(cluster) and cluster.token_id and cluster.token_secret)


def _has_address(cluster: ProxmoxCluster) -> bool:
    return bool(cluster.endpoint or cluster.endpoints)


def _own_token(cluster: ProxmoxCluster, around: ReferenceContext) -> ConfiguredToken:
    found, why_not = _resolve_secrets(cluster, around)
    secret = None if why_not else found.token_secret
    return ConfiguredToken(
        whose="stockman", id=cluster.token_id or "", secret=secret, why_not=why_not
    )


def _component_tokens(
    components: Mapping[str, Component], cluster: ProxmoxCluster, around: ReferenceContext
) -> Iterator[ConfiguredToken]:
    from stockman.catalog.registry import component, names

    for name, wish in components.items():
        access = component(name).proxmox if wish.enabled and name in names() else None
        if access is None:
            continue
        found, why_not = _resolve_secrets(wish, around)
        secret = found.secrets.get(f"token-{cluster.region}", found.token_secret)
        if secret is not None:
            yield ConfiguredToken(
                whose=name,
                id=wish.token_id or f"{access.user}!{access.token}",
                secret=None if why_not else secret,
                why_not=why_not,
            )


def _resolve_secrets(section: T, around: ReferenceContext) -> tuple[T, str]:
    """A section with its secrets, and why a token is not among them."""
    from stockman.app.secrets.references import resolve_section

    found, problems = resolve_section(section, around)
    failed = [f"{one.what}: {one.why}" for one in problems if "token" in one.what]
    return found, failed[0] if failed else ""


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
