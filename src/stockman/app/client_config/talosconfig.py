"""The talosconfig of a workspace's cluster: written, merged, renewed, or only shown."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Literal

from stockman.app.client_config import files
from stockman.app.client_config.files import (
    ClientFile,
    ClientFileContext,
    issuer,
    lifetime_below,
    remaining_days,
)
from stockman.app.secrets.bundle import open_bundle
from stockman.app.workspace.secret_names import dialect_of
from stockman.config.presets import Dialect
from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.credentials.certificates import CLIENT_LIFETIME, CertificateRequirements
from stockman.talos.credentials.roles import TalosRole, organizations
from stockman.talos.credentials.talosconfig import Talosconfig, read_talosconfig, talosconfig_text
from stockman.talos.credentials.talosconfig_update import (
    DesiredContext,
    TalosconfigUpdate,
    update_talosconfig,
)

VARIABLE = "TALOSCONFIG"
FILES: dict[Dialect, str] = {
    "classic": "talos/clusterconfig/talosconfig",
    "toml": "talos/talosconfig",
}
"""Where users of a dialect expect the file."""
OLD_FILE = "talosconfig"
"""Where earlier repositories keep it."""

Targets = Literal["all", "controllers", "none"]


@record
class TalosconfigOptions:
    """What a talosconfig should be."""

    directory: Path
    roles: tuple[TalosRole, ...] = (TalosRole.ADMIN,)
    lifetime: timedelta = CLIENT_LIFETIME
    targets: Targets = "all"
    """Nodes that commands act on that name none."""
    merge: Path | None = None
    """None: the file of the workspace."""
    renew: bool = False


def write_talosconfig(wish: TalosconfigOptions, doors: ClientFileContext) -> ClientFile:
    """Bring the file up to date; a certificate that still serves stays."""
    path = wish.merge or files.client_file_path(
        wish.directory, VARIABLE, doors.environment, FILES[dialect_of(wish.directory)]
    )
    shown = files.shown_name(path, wish.directory)
    files.refuse_exposed(path, shown)
    old = _read(path, shown)
    made = _merge_talosconfig(old, wish, doors)
    context = made.config.contexts[made.name]
    ends, left = remaining_days(context.crt, doors.clock.now())
    closed = False
    if made.state == "unchanged":
        closed = files.restrict_mode(path, shown)
    else:
        files.write_client_file(path, shown, talosconfig_text(made.config), doors.entropy)
    return ClientFile(
        file=shown,
        state=made.state,
        context=made.name,
        roles=tuple(sorted(role.value for role in wish.roles)),
        ends=ends,
        days_left=left,
        closed=closed,
    )


def new_talosconfig(wish: TalosconfigOptions, doors: ClientFileContext) -> Secret:
    """The text of a new file, which is written nowhere."""
    return talosconfig_text(_merge_talosconfig(Talosconfig(), wish, doors).config)


def _merge_talosconfig(
    old: Talosconfig, wish: TalosconfigOptions, doors: ClientFileContext
) -> TalosconfigUpdate:
    wanted, cluster = files.desired_cluster(wish.directory)
    roles = organizations(wish.roles, cluster.talos.contract)
    bundle = open_bundle(wish.directory, doors.keyring)
    authority = bundle.certs.os.crt
    now = doors.clock.now()
    lifetime = lifetime_below(authority, "os", wish.lifetime, now)
    make = partial(issuer(bundle, cluster, doors).talos_client, wish.roles, lifetime)
    client = DesiredContext(
        name=cluster.name,
        required=CertificateRequirements(authority=authority, organizations=roles),
        endpoints=_addresses(wanted, "controllers"),
        nodes=_addresses(wanted, wish.targets),
        renew=wish.renew,
        shared=wish.merge is not None,
    )
    return update_talosconfig(old, client, now, make)


def _addresses(wanted: Desired, targets: Targets) -> tuple[str, ...]:
    if targets == "none":
        return ()
    nodes = (node for node in wanted.nodes if targets == "all" or node.is_controller)
    return tuple(str(node.address.ip) for node in nodes)


def _read(path: Path, shown: str) -> Talosconfig:
    problems = Problems()
    found = read_talosconfig(shown, files.read_client_file(path, shown), problems)
    for problem in problems.errors:
        raise Refused(problem)
    return found or Talosconfig()
