"""Write, merge, renew or show the administrator's kubeconfig."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

from stockman.app.client_config import files
from stockman.app.client_config.files import (
    ClientFile,
    ClientFileContext,
    issuer,
    lifetime_below,
    remaining_days,
)
from stockman.app.secrets.bundle import open_bundle
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.credentials.certificates import (
    CLIENT_LIFETIME,
    KUBERNETES_ADMIN,
    KUBERNETES_ADMINS,
    CertificateRequirements,
)
from stockman.talos.credentials.kubeconfig import DesiredAdmin, KubeconfigUpdate, update_kubeconfig

VARIABLE = "KUBECONFIG"
FILE = "kubeconfig"
_PORT = 6443


@record
class KubeconfigOptions:
    """Options of a kubeconfig."""

    directory: Path
    lifetime: timedelta = CLIENT_LIFETIME
    merge: Path | None = None
    """None: the file of the workspace."""
    renew: bool = False


def write_kubeconfig(options: KubeconfigOptions, context: ClientFileContext) -> ClientFile:
    """Update the file; keep valid certificates and all other content."""
    path = options.merge or files.client_file_path(
        options.directory, VARIABLE, context.environment, FILE
    )
    shown = files.shown_name(path, options.directory)
    files.check_not_tracked(path, shown)
    merged = _merge_kubeconfig(shown, files.read_client_file(path, shown), options, context)
    ends, left = remaining_days(merged.crt, context.clock.now())
    closed = False
    if merged.state == "unchanged":
        closed = files.restrict_mode(path, shown)
    else:
        files.write_client_file(path, shown, merged.text, context.entropy)
    return ClientFile(
        file=shown,
        state=merged.state,
        context=merged.name,
        roles=(KUBERNETES_ADMINS,),
        ends=ends,
        days_left=left,
        mode_restricted=closed,
    )


def new_kubeconfig(options: KubeconfigOptions, context: ClientFileContext) -> Secret:
    """Return the text of a new file without writing it."""
    return _merge_kubeconfig(FILE, Secret(""), options, context).text


def _merge_kubeconfig(
    shown: str, old: Secret, options: KubeconfigOptions, context: ClientFileContext
) -> KubeconfigUpdate:
    _, cluster = files.load_cluster(options.directory)
    bundle = open_bundle(options.directory, context.keyring)
    authority = bundle.certs.k8s.crt
    now = context.clock.now()
    lifetime = lifetime_below(authority, "k8s", options.lifetime, now)
    make = partial(issuer(bundle, cluster, context).kubernetes_admin, lifetime)
    admin = DesiredAdmin(
        cluster=cluster.name,
        endpoint=f"https://{cluster.kubernetes.api_addr}:{_PORT}",
        required=CertificateRequirements(
            authority=authority,
            organizations=(KUBERNETES_ADMINS,),
            common_name=KUBERNETES_ADMIN,
        ),
        renew=options.renew,
        shared=options.merge is not None,
    )
    return update_kubeconfig(shown, old, admin, now, make)
