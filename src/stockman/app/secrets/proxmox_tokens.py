"""Proxmox tokens that stockman created; their secrets are stored encrypted next to the bundle.

Proxmox VE shows the secret of a token only once. A secret in the configuration (`token_secret`)
takes precedence over a stored one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stockman.app.secrets.reading import read_secret_file
from stockman.app.secrets.references import ReferenceContext
from stockman.app.workspace.secret_names import TOKENS_FILE
from stockman.catalog.registry import component, names
from stockman.config.source.tree import to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.crypto.sops.paths import ValuePath, format_path
from stockman.model.component import Component
from stockman.model.desired import Desired
from stockman.model.proxmox import OWN_TOKEN, ProxmoxCluster
from stockman.model.secret import Secret, SecretForm

FILE = TOKENS_FILE
_TOP = "tokens"


def token_path(region: str, token_id: str) -> ValuePath:
    """Return the path of a token's secret in the file."""
    return (_TOP, region, token_id)


def token_reference(region: str, token_id: str) -> Secret:
    """Return the reference of a token's secret as in the configuration."""
    return Secret(f"sops:{FILE}#{format_path(token_path(region, token_id))}")


def with_stored_tokens(desired: Desired, context: ReferenceContext) -> Desired:
    """Return the desired state with references to stored tokens where no secret is configured."""
    kept = _list_stored(context)
    return replace(
        desired,
        proxmox=tuple(
            _own_token(section, kept, context.environment) for section in desired.proxmox
        ),
        components={
            name: _component_tokens(name, section, desired, kept)
            for name, section in desired.components.items()
        },
    )


def with_stored_token(cluster: ProxmoxCluster, context: ReferenceContext) -> ProxmoxCluster:
    """Return a cluster with a reference to stockman's own token if no secret is configured."""
    return _own_token(cluster, _list_stored(context), context.environment)


def _list_stored(context: ReferenceContext) -> frozenset[tuple[str, str]]:
    """Return regions and token IDs with a stored secret; names are readable without a key."""
    content = read_secret_file(context.directory, FILE)
    if content is None:
        return frozenset()
    read = to_plain_data(read_yaml(FILE, content.decode(errors="replace")))
    tokens = read.get(_TOP) if isinstance(read, Mapping) else None
    if not isinstance(tokens, Mapping):
        return frozenset()
    return frozenset(
        (str(region), str(token))
        for region, entries in tokens.items()
        if isinstance(entries, Mapping)
        for token, value in entries.items()
        if value
    )


def _own_token(
    cluster: ProxmoxCluster, kept: frozenset[tuple[str, str]], environment: Mapping[str, str]
) -> ProxmoxCluster:
    """Return our own token; an unset variable counts as no secret."""
    configured = cluster.token_secret
    is_given = configured is not None and not (
        configured.form is SecretForm.ENVIRONMENT
        and not environment.get(configured.reference[2:-1])
    )
    if is_given:
        return cluster
    token_id = cluster.token_id or OWN_TOKEN
    region = str(cluster.region)
    secret = token_reference(region, token_id) if (region, token_id) in kept else None
    return replace(cluster, token_id=token_id, token_secret=secret)


def _component_tokens(
    name: str, settings: Component, desired: Desired, kept: frozenset[tuple[str, str]]
) -> Component:
    if not settings.enabled or name not in names():
        return settings
    access = component(name).proxmox
    if access is None:
        return settings
    token_id = settings.token_id or f"{access.user}!{access.token}"
    secrets = dict(settings.secrets)
    for number, cluster in enumerate(desired.proxmox):
        region = str(cluster.region)
        key = f"token-{region}"
        is_given = key in secrets or (number == 0 and settings.token_secret is not None)
        if not is_given and (region, token_id) in kept:
            secrets[key] = token_reference(region, token_id)
    return replace(settings, secrets=secrets) if secrets != settings.secrets else settings
