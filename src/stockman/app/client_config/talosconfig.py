"""Write, merge, renew or show the talosconfig."""

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
from stockman.config.language import Dialect
from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.credentials.certificates import (
    CLIENT_LIFETIME,
    CertificateRequirements,
    TalosRole,
    organizations,
)
from stockman.talos.credentials.talosconfig import (
    DesiredContext,
    Talosconfig,
    TalosconfigUpdate,
    read_talosconfig,
    talosconfig_text,
    update_talosconfig,
)

VARIABLE = "TALOSCONFIG"
FILES: dict[Dialect, str] = {
    "classic": "talos/clusterconfig/talosconfig",
    "toml": "talos/talosconfig",
}
"""Default path of the file by dialect."""
OLD_FILE = "talosconfig"
"""Path of the file in older repositories."""

Targets = Literal["all", "controllers", "none"]


@record
class TalosconfigOptions:
    """Options of a talosconfig."""

    directory: Path
    roles: tuple[TalosRole, ...] = (TalosRole.ADMIN,)
    lifetime: timedelta = CLIENT_LIFETIME
    targets: Targets = "all"
    """Default target nodes."""
    merge: Path | None = None
    """None: the file of the workspace."""
    renew: bool = False


def write_talosconfig(options: TalosconfigOptions, tools: ClientFileContext) -> ClientFile:
    """Update the file; keep a valid certificate."""
    path = options.merge or files.client_file_path(
        options.directory, VARIABLE, tools.environment, FILES[dialect_of(options.directory)]
    )
    shown = files.shown_name(path, options.directory)
    files.check_not_tracked(path, shown)
    old = _read(path, shown)
    merged = _merge_talosconfig(old, options, tools)
    context = merged.config.contexts[merged.name]
    ends, left = remaining_days(context.crt, tools.clock.now())
    closed = False
    if merged.state == "unchanged":
        closed = files.restrict_mode(path, shown)
    else:
        files.write_client_file(path, shown, talosconfig_text(merged.config), tools.entropy)
    return ClientFile(
        file=shown,
        state=merged.state,
        context=merged.name,
        roles=tuple(sorted(role.value for role in options.roles)),
        ends=ends,
        days_left=left,
        mode_restricted=closed,
    )


def new_talosconfig(options: TalosconfigOptions, context: ClientFileContext) -> Secret:
    """Return the text of a new file without writing it."""
    return talosconfig_text(_merge_talosconfig(Talosconfig(), options, context).config)


def _merge_talosconfig(
    old: Talosconfig, options: TalosconfigOptions, context: ClientFileContext
) -> TalosconfigUpdate:
    desired, cluster = files.load_cluster(options.directory)
    roles = organizations(options.roles, cluster.talos.contract)
    bundle = open_bundle(options.directory, context.keyring)
    authority = bundle.certs.os.crt
    now = context.clock.now()
    lifetime = lifetime_below(authority, "os", options.lifetime, now)
    make = partial(issuer(bundle, cluster, context).talos_client, options.roles, lifetime)
    client = DesiredContext(
        name=cluster.name,
        required=CertificateRequirements(authority=authority, organizations=roles),
        endpoints=_addresses(desired, "controllers"),
        nodes=_addresses(desired, options.targets),
        renew=options.renew,
        shared=options.merge is not None,
    )
    return update_talosconfig(old, client, now, make)


def _addresses(desired: Desired, targets: Targets) -> tuple[str, ...]:
    if targets == "none":
        return ()
    nodes = (node for node in desired.nodes if targets == "all" or node.is_controller)
    return tuple(str(node.address.ip) for node in nodes)


def _read(path: Path, shown: str) -> Talosconfig:
    problems = Problems()
    talosconfig = read_talosconfig(shown, files.read_client_file(path, shown), problems)
    for problem in problems.errors:
        raise Refused(problem)
    return talosconfig or Talosconfig()
