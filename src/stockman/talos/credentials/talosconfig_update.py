"""The context of a cluster in a talosconfig: kept, renewed, or added under a free name."""

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
"""`updated`: the certificate stays, and something else is new."""


@record
class DesiredContext:
    """The context that should be there."""

    name: str
    wanted: CertificateRequirements
    endpoints: tuple[str, ...]
    nodes: tuple[str, ...]
    renew: bool
    """Whether a certificate that still serves is made anew too."""
    shared: bool
    """Whether the file is not ours alone: a context of the same name may be another cluster's."""


class TalosconfigUpdate(NamedTuple):
    """A talosconfig with the context in it."""

    config: Talosconfig
    name: str
    """What the context is called there."""
    state: UpdateState


def update_talosconfig(
    config: Talosconfig, wish: DesiredContext, now: datetime, make: Callable[[], CertificateAndKey]
) -> TalosconfigUpdate:
    """The file with the context as wished; `make` is called only where it needs a certificate."""
    name = _find_own_context(config, wish)
    old = config.contexts.get(name) if name is not None else None
    if name is None or old is None:
        return _add_context(config, wish, make)
    keep = not wish.renew and is_usable(old.crt, old.key, wish.wanted, now)
    if not keep:
        context = _build_context(wish, make())
        return TalosconfigUpdate(with_context(config, name, context), name, "renewed")
    if (old.endpoints, old.nodes) == (wish.endpoints, wish.nodes) and config.context:
        return TalosconfigUpdate(config, name, "unchanged")
    kept = CertificateAndKey(crt=old.crt, key=old.key) if old.key is not None else make()
    return TalosconfigUpdate(
        with_context(config, name, _build_context(wish, kept)), name, "updated"
    )


def _add_context(
    config: Talosconfig, wish: DesiredContext, make: Callable[[], CertificateAndKey]
) -> TalosconfigUpdate:
    context = _build_context(wish, make())
    if not wish.shared:
        return TalosconfigUpdate(with_context(config, wish.name, context), wish.name, "written")
    other = Talosconfig(context=wish.name, contexts={wish.name: context})
    both, renames = merge_talosconfigs(config, other)
    return TalosconfigUpdate(both, renames[0].after if renames else wish.name, "written")


def _find_own_context(config: Talosconfig, wish: DesiredContext) -> str | None:
    """The context that is this cluster's for these roles; None: there is none."""
    if not wish.shared:
        return wish.name if wish.name in config.contexts else None
    for name, context in config.contexts.items():
        base, _, number = name.rpartition("-")
        is_named_so = name == wish.name or (base == wish.name and number.isdigit())
        if is_named_so and _has_roles(context, wish.wanted):
            return name
    return None


def _has_roles(context: TalosContext, wanted: CertificateRequirements) -> bool:
    if context.ca.strip() != wanted.authority.strip():
        return False
    try:
        return sorted(read_certificate_facts(context.crt).organizations) == sorted(
            wanted.organizations
        )
    except NotPem:
        return False


def _build_context(wish: DesiredContext, client: CertificateAndKey) -> TalosContext:
    return client_context(wish.wanted.authority, client, endpoints=wish.endpoints, nodes=wish.nodes)
