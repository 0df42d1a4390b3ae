"""The talosconfig of a workspace's cluster: written, merged, renewed, or only shown."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Literal

from stockman.app import client_files
from stockman.app.bundles import open_bundle
from stockman.app.client_certificates import days_left, issuer, lifetime_below
from stockman.app.client_files import ClientFile, Doors
from stockman.app.secret_names import dialect_of
from stockman.config.presets import Dialect
from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.clients import CLIENT_LIFETIME
from stockman.talos.roles import TalosRole, organizations
from stockman.talos.talosconfig import Talosconfig, read_talosconfig, talosconfig_text
from stockman.talos.talosconfig_placing import ClientWish, Placed, placed
from stockman.talos.usable import Wanted

VARIABLE = "TALOSCONFIG"
PLACES: dict[Dialect, str] = {
    "classic": "talos/clusterconfig/talosconfig",
    "toml": "talos/talosconfig",
}
"""Where users of a dialect expect the file."""
OLD_PLACE = "talosconfig"
"""Where earlier repositories keep it."""

Targets = Literal["all", "controllers", "none"]


@record
class TalosconfigWish:
    """What a talosconfig should be."""

    directory: Path
    roles: tuple[TalosRole, ...] = (TalosRole.ADMIN,)
    lifetime: timedelta = CLIENT_LIFETIME
    targets: Targets = "all"
    """Nodes that commands act on that name none."""
    merge: Path | None = None
    """None: the file of the workspace."""
    renew: bool = False


def write_talosconfig(wish: TalosconfigWish, doors: Doors) -> ClientFile:
    """Bring the file up to date; a certificate that still serves stays."""
    path = wish.merge or client_files.place(
        wish.directory, VARIABLE, doors.environment, PLACES[dialect_of(wish.directory)]
    )
    shown = client_files.shown_name(path, wish.directory)
    client_files.refuse_exposed(path, shown)
    old = _read(path, shown)
    made = _placed(old, wish, doors)
    context = made.config.contexts[made.name]
    ends, left = days_left(context.crt, doors.clock.now())
    closed = False
    if made.state == "unchanged":
        closed = client_files.close(path, shown)
    else:
        client_files.write(path, shown, talosconfig_text(made.config), doors.entropy)
    return ClientFile(
        file=shown,
        state=made.state,
        context=made.name,
        roles=tuple(sorted(role.value for role in wish.roles)),
        ends=ends,
        days_left=left,
        closed=closed,
    )


def new_talosconfig(wish: TalosconfigWish, doors: Doors) -> Secret:
    """The text of a new file, which is written nowhere."""
    return talosconfig_text(_placed(Talosconfig(), wish, doors).config)


def _placed(old: Talosconfig, wish: TalosconfigWish, doors: Doors) -> Placed:
    wanted, cluster = client_files.wanted_cluster(wish.directory)
    roles = organizations(wish.roles, cluster.talos.contract)
    bundle = open_bundle(wish.directory, doors.keyring)
    authority = bundle.certs.os.crt
    now = doors.clock.now()
    lifetime = lifetime_below(authority, "os", wish.lifetime, now)
    make = partial(issuer(bundle, cluster, doors).talos_client, wish.roles, lifetime)
    client = ClientWish(
        name=cluster.name,
        wanted=Wanted(authority=authority, organizations=roles),
        endpoints=_addresses(wanted, "controllers"),
        nodes=_addresses(wanted, wish.targets),
        renew=wish.renew,
        shared=wish.merge is not None,
    )
    return placed(old, client, now, make)


def _addresses(wanted: Desired, targets: Targets) -> tuple[str, ...]:
    if targets == "none":
        return ()
    nodes = (node for node in wanted.nodes if targets == "all" or node.is_controller)
    return tuple(str(node.address.ip) for node in nodes)


def _read(path: Path, shown: str) -> Talosconfig:
    problems = Problems()
    found = read_talosconfig(shown, client_files.read(path, shown), problems)
    for problem in problems.errors:
        raise Refused(problem)
    return found or Talosconfig()
