"""The entry that Flux is pointed at, and the secrets that all namespaces share."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import Object, Sheet
from stockman.catalog.objects import secret
from stockman.config.yaml_writer import dump
from stockman.model.desired import Cluster
from stockman.model.secret import Secret
from stockman.rendering.flux import SOURCE
from stockman.rendering.sheets import rendered_sheet
from stockman.rendering.tree import REPOSITORY, RenderedFile

_SOPS = "kubernetes/components/sops"
_ENTRY = "kubernetes/flux/cluster/ks.yaml"
_FLUX = "kustomize.toolkit.fluxcd.io/v1"
_PRIVATE = "home.arpa"
"""Reserved for networks at home (RFC 8375): where nothing is published, names still need an end."""

_RELEASES: Object = {
    "apiVersion": "helm.toolkit.fluxcd.io/v2",
    "kind": "HelmRelease",
    "metadata": {"name": "_"},
    "spec": {
        "install": {"crds": "CreateReplace", "strategy": {"name": "RetryOnFailure"}},
        "rollback": {"cleanupOnFail": True, "recreate": True},
        "upgrade": {
            "cleanupOnFail": True,
            "crds": "CreateReplace",
            "strategy": {"name": "RemediateOnFailure"},
            "remediation": {"remediateLastFailure": True, "retries": 2},
        },
    },
}
"""What every release has in common."""
_CHILDREN: Object = {
    "apiVersion": _FLUX,
    "kind": "Kustomization",
    "metadata": {"name": "_"},
    "spec": {
        "decryption": {"provider": "sops"},
        "deletionPolicy": "WaitForTermination",
    },
}
"""What every Flux Kustomization below this one has in common."""


def cluster_files(cluster: Cluster) -> Iterator[RenderedFile]:
    """Files that do not belong to one component."""
    yield rendered_sheet(_ENTRY, REPOSITORY, Sheet(name="ks.yaml", objects=(_entry(),)))
    component: Object = {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": ["./cluster-secrets.sops.yaml"],
    }
    sheet = Sheet(name="kustomization.yaml", objects=(component,))
    yield rendered_sheet(f"{_SOPS}/kustomization.yaml", REPOSITORY, sheet)
    shared = secret(
        "cluster-secrets",
        {"SECRET_DOMAIN": Secret(cluster.edge.domain or f"{cluster.name}.{_PRIVATE}")},
        file="cluster-secrets.sops.yaml",
    )
    yield rendered_sheet(f"{_SOPS}/{shared.name}", REPOSITORY, shared)


def _entry() -> Object:
    patches = [
        {
            "patch": dump(_with_patch(_CHILDREN)),
            "target": {"group": "kustomize.toolkit.fluxcd.io", "kind": "Kustomization"},
        },
    ]
    return {
        "apiVersion": _FLUX,
        "kind": "Kustomization",
        "metadata": {"name": "cluster-apps", "namespace": "flux-system"},
        "spec": {
            "decryption": {"provider": "sops"},
            "deletionPolicy": "WaitForTermination",
            "interval": "1h",
            "patches": patches,
            "path": "./kubernetes/apps",
            "prune": True,
            "sourceRef": SOURCE,
            "wait": False,
        },
    }


def _with_patch(children: Object) -> Object:
    spec = children["spec"]
    if not isinstance(spec, dict):
        raise TypeError("a spec is a mapping")
    inner = [
        {
            "patch": dump(_RELEASES),
            "target": {"group": "helm.toolkit.fluxcd.io", "kind": "HelmRelease"},
        }
    ]
    return {**children, "spec": {**spec, "patches": inner}}
