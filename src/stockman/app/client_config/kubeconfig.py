"""The administrator's kubeconfig of a workspace's cluster: written, merged, renewed, or shown."""

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
    """What a kubeconfig should be."""

    directory: Path
    lifetime: timedelta = CLIENT_LIFETIME
    merge: Path | None = None
    """None: the file of the workspace."""
    renew: bool = False


def write_kubeconfig(wish: KubeconfigOptions, doors: ClientFileContext) -> ClientFile:
    """Bring the file up to date; a certificate that still serves stays, as all else does."""
    path = wish.merge or files.client_file_path(wish.directory, VARIABLE, doors.environment, FILE)
    shown = files.shown_name(path, wish.directory)
    files.refuse_exposed(path, shown)
    made = _merge_kubeconfig(shown, files.read_client_file(path, shown), wish, doors)
    ends, left = remaining_days(made.crt, doors.clock.now())
    closed = False
    if made.state == "unchanged":
        closed = files.restrict_mode(path, shown)
    else:
        files.write_client_file(path, shown, made.text, doors.entropy)
    return ClientFile(
        file=shown,
        state=made.state,
        context=made.name,
        roles=(KUBERNETES_ADMINS,),
        ends=ends,
        days_left=left,
        closed=closed,
    )


def new_kubeconfig(wish: KubeconfigOptions, doors: ClientFileContext) -> Secret:
    """The text of a new file, which is written nowhere."""
    return _merge_kubeconfig(FILE, Secret(""), wish, doors).text


def _merge_kubeconfig(
    shown: str, old: Secret, wish: KubeconfigOptions, doors: ClientFileContext
) -> KubeconfigUpdate:
    _, cluster = files.desired_cluster(wish.directory)
    bundle = open_bundle(wish.directory, doors.keyring)
    authority = bundle.certs.k8s.crt
    now = doors.clock.now()
    lifetime = lifetime_below(authority, "k8s", wish.lifetime, now)
    make = partial(issuer(bundle, cluster, doors).kubernetes_admin, lifetime)
    admin = DesiredAdmin(
        cluster=cluster.name,
        endpoint=f"https://{cluster.kubernetes.api_addr}:{_PORT}",
        required=CertificateRequirements(
            authority=authority,
            organizations=(KUBERNETES_ADMINS,),
            common_name=KUBERNETES_ADMIN,
        ),
        renew=wish.renew,
        shared=wish.merge is not None,
    )
    return update_kubeconfig(shown, old, admin, now, make)
