"""The administrator's kubeconfig of a workspace's cluster: written, merged, renewed, or shown."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

from stockman.app import client_files
from stockman.app.bundles import open_bundle
from stockman.app.client_certificates import days_left, issuer, lifetime_below
from stockman.app.client_files import ClientFile, Doors
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.clients import CLIENT_LIFETIME, KUBERNETES_ADMIN, KUBERNETES_ADMINS
from stockman.talos.kubeconfig_placing import AdminWish, PlacedAdmin, placed_admin
from stockman.talos.usable import Wanted

VARIABLE = "KUBECONFIG"
PLACE = "kubeconfig"
_PORT = 6443


@record
class KubeconfigWish:
    """What a kubeconfig should be."""

    directory: Path
    lifetime: timedelta = CLIENT_LIFETIME
    merge: Path | None = None
    """None: the file of the workspace."""
    renew: bool = False


def write_kubeconfig(wish: KubeconfigWish, doors: Doors) -> ClientFile:
    """Bring the file up to date; a certificate that still serves stays, as all else does."""
    path = wish.merge or client_files.place(wish.directory, VARIABLE, doors.environment, PLACE)
    shown = client_files.shown_name(path, wish.directory)
    client_files.refuse_exposed(path, shown)
    made = _placed(shown, client_files.read(path, shown), wish, doors)
    ends, left = days_left(made.crt, doors.clock.now())
    closed = False
    if made.state == "unchanged":
        closed = client_files.close(path, shown)
    else:
        client_files.write(path, shown, made.text, doors.entropy)
    return ClientFile(
        file=shown,
        state=made.state,
        context=made.name,
        roles=(KUBERNETES_ADMINS,),
        ends=ends,
        days_left=left,
        closed=closed,
    )


def new_kubeconfig(wish: KubeconfigWish, doors: Doors) -> Secret:
    """The text of a new file, which is written nowhere."""
    return _placed(PLACE, Secret(""), wish, doors).text


def _placed(shown: str, old: Secret, wish: KubeconfigWish, doors: Doors) -> PlacedAdmin:
    _, cluster = client_files.wanted_cluster(wish.directory)
    bundle = open_bundle(wish.directory, doors.keyring)
    authority = bundle.certs.k8s.crt
    now = doors.clock.now()
    lifetime = lifetime_below(authority, "k8s", wish.lifetime, now)
    make = partial(issuer(bundle, cluster, doors).kubernetes_admin, lifetime)
    admin = AdminWish(
        cluster=cluster.name,
        endpoint=f"https://{cluster.kubernetes.api_addr}:{_PORT}",
        wanted=Wanted(
            authority=authority,
            organizations=(KUBERNETES_ADMINS,),
            common_name=KUBERNETES_ADMIN,
        ),
        renew=wish.renew,
        shared=wish.merge is not None,
    )
    return placed_admin(shown, old, admin, now, make)
