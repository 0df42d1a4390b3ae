"""Releases of Helm, as they are written down in the cluster."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import SECRETS, Object, Selection
from stockman.model.record import record
from stockman.steps.kubernetes.objects import mapping_at, object_name, object_uid, text_at

BY_HELM = "owner=helm"
"""Label of Secrets in which Helm keeps releases."""


@record
class HelmRelease:
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


def parse_release(secret: Object) -> HelmRelease | None:
    """The release that a Secret is about, told by its labels alone; None: it is about none."""
    labels = mapping_at(secret, "metadata", "labels")
    if labels.get("owner") != "helm":
        return None
    revision = str(labels.get("version", ""))
    return HelmRelease(
        name=str(labels.get("name", "")),
        namespace=text_at(secret, "metadata", "namespace"),
        revision=int(revision) if revision.isdigit() else 0,
        status=str(labels.get("status", "")),
        secret=object_name(secret),
        uid=object_uid(secret),
    )


def latest_revision(releases: Iterable[HelmRelease]) -> HelmRelease | None:
    """The last revision; None: there is none."""
    return max(releases, key=lambda one: one.revision, default=None)


async def find_release(
    kubernetes: KubernetesClient, name: str, namespace: str
) -> HelmRelease | None:
    """The last revision of a release; None: it was never installed."""
    selection = Selection(namespace=namespace, labels=f"{BY_HELM},name={name}")
    found = (await kubernetes.objects(SECRETS, selection)).items
    return latest_revision(one for one in map(parse_release, found) if one is not None)
