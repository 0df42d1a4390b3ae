"""Releases of Helm, as they are written down in the cluster."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.model.record import record
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.kubernetes.kinds import SECRETS
from stockman.ports.kubernetes.objects import Object, Selection
from stockman.steps.kube_reading import name_of, part, text, uid_of

BY_HELM = "owner=helm"
"""Label of Secrets in which Helm keeps releases."""


@record
class Release:
    """One revision of a release."""

    name: str
    namespace: str
    revision: int
    status: str
    """`deployed`, `failed`, `pending-install`, `superseded`."""
    secret: str
    """Name of the Secret that it is kept in."""
    uid: str

    @property
    def is_pending(self) -> bool:
        return self.status.startswith("pending-")


def release_in(secret: Object) -> Release | None:
    """The release that a Secret is about, told by its labels alone; None: it is about none."""
    labels = part(secret, "metadata", "labels")
    if labels.get("owner") != "helm":
        return None
    revision = str(labels.get("version", ""))
    return Release(
        name=str(labels.get("name", "")),
        namespace=text(secret, "metadata", "namespace"),
        revision=int(revision) if revision.isdigit() else 0,
        status=str(labels.get("status", "")),
        secret=name_of(secret),
        uid=uid_of(secret),
    )


def newest(releases: Iterable[Release]) -> Release | None:
    """The last revision; None: there is none."""
    return max(releases, key=lambda one: one.revision, default=None)


async def release(kubernetes: Kubernetes, name: str, namespace: str) -> Release | None:
    """The last revision of a release; None: it was never installed."""
    selection = Selection(namespace=namespace, labels=f"{BY_HELM},name={name}")
    found = (await kubernetes.objects(SECRETS, selection)).items
    return newest(one for one in map(release_in, found) if one is not None)
