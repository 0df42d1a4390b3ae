"""Update the context of a cluster in a talosconfig: keep, renew, or add it under a free name."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Literal, NamedTuple

from stockman.crypto.certificates import read_certificate_facts
from stockman.crypto.pem import CertificateAndKey, NotPem
from stockman.model.record import record
from stockman.talos.credentials.certificates import CertificateRequirements, is_usable
from stockman.talos.credentials.talosconfig import (
    Talosconfig,
    TalosContext,
    client_context,
    merge_talosconfigs,
    with_context,
)

UpdateState = Literal["written", "renewed", "updated", "unchanged"]
"""`updated`: the certificate is kept, and something else changed."""


@record
class DesiredContext:
    """The desired context."""

    name: str
    required: CertificateRequirements
    endpoints: tuple[str, ...]
    nodes: tuple[str, ...]
    renew: bool
    """Whether to renew a certificate that is still usable."""
    shared: bool
    """Whether a context of the same name may belong to another cluster."""


class TalosconfigUpdate(NamedTuple):
    """A talosconfig that contains the desired context."""

    config: Talosconfig
    name: str
    """Name of the context."""
    state: UpdateState


def update_talosconfig(
    config: Talosconfig,
    desired: DesiredContext,
    now: datetime,
    make: Callable[[], CertificateAndKey],
) -> TalosconfigUpdate:
    """Update the desired context; `make` is called only if a new certificate is needed."""
    name = _find_own_context(config, desired)
    old = config.contexts.get(name) if name is not None else None
    if name is None or old is None:
        return _add_context(config, desired, make)
    keep = not desired.renew and is_usable(old.crt, old.key, desired.required, now)
    if not keep:
        context = _build_context(desired, make())
        return TalosconfigUpdate(with_context(config, name, context), name, "renewed")
    if (old.endpoints, old.nodes) == (desired.endpoints, desired.nodes) and config.context:
        return TalosconfigUpdate(config, name, "unchanged")
    kept = CertificateAndKey(crt=old.crt, key=old.key) if old.key is not None else make()
    return TalosconfigUpdate(
        with_context(config, name, _build_context(desired, kept)), name, "updated"
    )


def _add_context(
    config: Talosconfig, desired: DesiredContext, make: Callable[[], CertificateAndKey]
) -> TalosconfigUpdate:
    context = _build_context(desired, make())
    if not desired.shared:
        return TalosconfigUpdate(
            with_context(config, desired.name, context), desired.name, "written"
        )
    added = Talosconfig(context=desired.name, contexts={desired.name: context})
    both, renames = merge_talosconfigs(config, added)
    return TalosconfigUpdate(both, renames[0].after if renames else desired.name, "written")


def _find_own_context(config: Talosconfig, desired: DesiredContext) -> str | None:
    """Return the name of this cluster's context for these roles; None: there is none."""
    if not desired.shared:
        return desired.name if desired.name in config.contexts else None
    for name, context in config.contexts.items():
        base, _, number = name.rpartition("-")
        has_name = name == desired.name or (base == desired.name and number.isdigit())
        if has_name and _has_roles(context, desired.required):
            return name
    return None


def _has_roles(context: TalosContext, required: CertificateRequirements) -> bool:
    if context.ca.strip() != required.authority.strip():
        return False
    try:
        return sorted(read_certificate_facts(context.crt).organizations) == sorted(
            required.organizations
        )
    except NotPem:
        return False


def _build_context(desired: DesiredContext, client: CertificateAndKey) -> TalosContext:
    return client_context(
        desired.required.authority, client, endpoints=desired.endpoints, nodes=desired.nodes
    )
