"""Helm releases, as they are stored in the cluster."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import SECRETS, Object, Selection
from stockman.model.record import record
from stockman.steps.kubernetes.objects import mapping_at, object_name, object_uid, text_at

BY_HELM = "owner=helm"
"""Label of the Secrets in which Helm stores releases."""


@record
class HelmRelease:
    """One revision of a release."""

    name: str
    namespace: str
    revision: int
    status: str
    """`deployed`, `failed`, `pending-install`, `superseded`."""
    secret: str
    """Name of the Secret that contains it."""
    uid: str

    @property
    def is_pending(self) -> bool:
        return self.status.startswith("pending-")


def parse_release(secret: Object) -> HelmRelease | None:
    """Return the release in a Secret, from its labels alone. None: it contains no release."""
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
    """Return the latest revision. None: there is none."""
    return max(releases, key=lambda release: release.revision, default=None)


async def find_release(
    kubernetes: KubernetesClient, name: str, namespace: str
) -> HelmRelease | None:
    """Return the latest revision of a release. None: it is not installed."""
    selection = Selection(namespace=namespace, labels=f"{BY_HELM},name={name}")
    secrets = (await kubernetes.objects(SECRETS, selection)).items
    return latest_revision(release for release in map(parse_release, secrets) if release)
