"""The context of a cluster in a talosconfig: kept, renewed, or added under a free name."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Literal, NamedTuple

from stockman.crypto.certificate_pair import CertificateAndKey
from stockman.crypto.certificates import facts
from stockman.crypto.pem import NotPem
from stockman.model.record import record
from stockman.talos.talosconfig import Context, Talosconfig, client_context, merged, with_context
from stockman.talos.usable import Wanted, still_serves

State = Literal["written", "renewed", "updated", "unchanged"]
"""`updated`: the certificate stays, and something else is new."""


@record
class ClientWish:
    """The context that should be there."""

    name: str
    wanted: Wanted
    endpoints: tuple[str, ...]
    nodes: tuple[str, ...]
    renew: bool
    """Whether a certificate that still serves is made anew too."""
    shared: bool
    """Whether the file is not ours alone: a context of the same name may be another cluster's."""


class Placed(NamedTuple):
    """A talosconfig with the context in it."""

    config: Talosconfig
    name: str
    """What the context is called there."""
    state: State


def placed(
    config: Talosconfig, wish: ClientWish, now: datetime, make: Callable[[], CertificateAndKey]
) -> Placed:
    """The file with the context as wished; `make` is called only where it needs a certificate."""
    name = _own_name(config, wish)
    old = config.contexts.get(name) if name is not None else None
    if name is None or old is None:
        return _added(config, wish, make)
    keep = not wish.renew and still_serves(old.crt, old.key, wish.wanted, now)
    if not keep:
        context = _context(wish, make())
        return Placed(with_context(config, name, context), name, "renewed")
    if (old.endpoints, old.nodes) == (wish.endpoints, wish.nodes) and config.context:
        return Placed(config, name, "unchanged")
    kept = CertificateAndKey(crt=old.crt, key=old.key) if old.key is not None else make()
    return Placed(with_context(config, name, _context(wish, kept)), name, "updated")


def _added(config: Talosconfig, wish: ClientWish, make: Callable[[], CertificateAndKey]) -> Placed:
    context = _context(wish, make())
    if not wish.shared:
        return Placed(with_context(config, wish.name, context), wish.name, "written")
    other = Talosconfig(context=wish.name, contexts={wish.name: context})
    both, renames = merged(config, other)
    return Placed(both, renames[0].after if renames else wish.name, "written")


def _own_name(config: Talosconfig, wish: ClientWish) -> str | None:
    """The context that is this cluster's for these roles; None: there is none."""
    if not wish.shared:
        return wish.name if wish.name in config.contexts else None
    for name, context in config.contexts.items():
        base, _, number = name.rpartition("-")
        is_named_so = name == wish.name or (base == wish.name and number.isdigit())
        if is_named_so and _is_for(context, wish.wanted):
            return name
    return None


def _is_for(context: Context, wanted: Wanted) -> bool:
    if context.ca.strip() != wanted.authority.strip():
        return False
    try:
        return sorted(facts(context.crt).organizations) == sorted(wanted.organizations)
    except NotPem:
        return False


def _context(wish: ClientWish, client: CertificateAndKey) -> Context:
    return client_context(wish.wanted.authority, client, endpoints=wish.endpoints, nodes=wish.nodes)
