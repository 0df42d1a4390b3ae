"""Write, merge, renew or show the talosconfig."""

from __future__ import annotations

from functools import partial
from typing import Literal

from stockman.app.client_config import files
from stockman.app.client_config.files import (
    ClientFile,
    ClientFileContext,
    ClientFileOptions,
    MergedFile,
    issuer,
    lifetime_below,
    update_client_file,
)
from stockman.app.secrets.bundle import open_bundle
from stockman.app.workspace.secret_names import dialect_of
from stockman.config.language import Dialect
from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.credentials.certificates import CertificateRequirements
from stockman.talos.credentials.roles import TalosRole, organizations
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
class TalosconfigOptions(ClientFileOptions):
    """Options of a talosconfig."""

    roles: tuple[TalosRole, ...] = (TalosRole.ADMIN,)
    targets: Targets = "all"
    """Default target nodes."""


def write_talosconfig(options: TalosconfigOptions, tools: ClientFileContext) -> ClientFile:
    """Update the file; keep a valid certificate."""
    path = options.merge or files.client_file_path(
        options.directory, VARIABLE, tools.environment, FILES[dialect_of(options.directory)]
    )

    def merge(shown: str, old: Secret) -> MergedFile:
        merged = _merge_talosconfig(_read(shown, old), options, tools)
        return MergedFile(
            text=talosconfig_text(merged.config),
            state=merged.state,
            context=merged.name,
            crt=merged.config.contexts[merged.name].crt,
        )

    roles = tuple(sorted(role.value for role in options.roles))
    return update_client_file(path, options, merge, roles, tools)


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


def _read(shown: str, text: Secret) -> Talosconfig:
    problems = Problems()
    talosconfig = read_talosconfig(shown, text, problems)
    for problem in problems.errors:
        raise Refused(problem)
    return talosconfig or Talosconfig()
