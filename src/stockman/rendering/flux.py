"""Files for Flux: its entry, Kustomizations, namespaces, and Secrets that all namespaces share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stockman.catalog.app import App, Object, Sheet, manifest
from stockman.catalog.objects import secret
from stockman.config.writers.yaml_writer import render_yaml
from stockman.model.desired import Cluster
from stockman.model.secret import Secret
from stockman.rendering.tree import REPOSITORY, RenderedFile, render_sheet

_FLUX = "kustomize.toolkit.fluxcd.io/v1"
SOURCE: Object = {"kind": "GitRepository", "name": "flux-system", "namespace": "flux-system"}
SUBSTITUTES: Object = {"substituteFrom": [{"kind": "Secret", "name": "cluster-secrets"}]}


def flux_kustomization(app: App, path: str, after: Iterable[App], *, waited_for: bool) -> Object:
    """Return the Flux Kustomization that applies an app."""
    spec: Object = {
        "interval": "1h",
        "path": f"./{path}",
        "postBuild": SUBSTITUTES,
        "prune": True,
        "sourceRef": SOURCE,
        "targetNamespace": app.namespace,
        "wait": waited_for,
    }
    if app.scattered:
        del spec["targetNamespace"]
    needs = [{"name": dependency.name, "namespace": dependency.namespace} for dependency in after]
    if needs:
        spec = {"dependsOn": needs, **spec}
    if app.pending:
        spec["suspend"] = True
    return manifest(_FLUX, "Kustomization", app.name, **spec)


def app_kustomization(app: App) -> Sheet:
    """Return the kustomization file of an app."""
    content: Object = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": sorted(f"./{sheet.name}" for sheet in app.sheets if sheet.listed),
    }
    for extra in app.extras:
        content |= extra
    return Sheet(name="kustomization.yaml", objects=(content,))


def namespace_sheets(namespace: str, security: str, folders: Iterable[str]) -> tuple[Sheet, ...]:
    """Return the files of a namespace: the namespace and its contents."""
    labels: Mapping[str, object] = (
        {"labels": {"pod-security.kubernetes.io/enforce": security}}
        if security == "privileged"
        else {}
    )
    itself: Object = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": namespace,
            "annotations": {"kustomize.toolkit.fluxcd.io/prune": "disabled"},
            **labels,
        },
    }
    members: Object = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": namespace,
        "components": ["../../components/sops"],
        "resources": ["./namespace.yaml", *(f"./{folder}/ks.yaml" for folder in sorted(folders))],
    }
    return (
        Sheet(name="namespace.yaml", objects=(itself,)),
        Sheet(name="kustomization.yaml", objects=(members,)),
    )


_SOPS = "kubernetes/components/sops"
_ENTRY = "kubernetes/flux/cluster/ks.yaml"
_PRIVATE = "home.arpa"
"""Reserved for home networks (RFC 8375): names need a domain even if nothing is published."""

_RELEASES = manifest(
    "helm.toolkit.fluxcd.io/v2",
    "HelmRelease",
    "_",
    install={"crds": "CreateReplace", "strategy": {"name": "RetryOnFailure"}},
    rollback={"cleanupOnFail": True, "recreate": True},
    upgrade={
        "cleanupOnFail": True,
        "crds": "CreateReplace",
        "strategy": {"name": "RemediateOnFailure"},
        "remediation": {"remediateLastFailure": True, "retries": 2},
    },
)
"""Settings that all releases share."""
_DECRYPTION: Object = {
    "decryption": {"provider": "sops"},
    "deletionPolicy": "WaitForTermination",
}
"""Settings that all Flux Kustomizations share."""


def cluster_files(cluster: Cluster) -> Iterator[RenderedFile]:
    """Return the files that do not belong to a component."""
    yield render_sheet(_ENTRY, REPOSITORY, Sheet(name="ks.yaml", objects=(_entry(),)))
    component: Object = {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": ["./cluster-secrets.sops.yaml"],
    }
    sheet = Sheet(name="kustomization.yaml", objects=(component,))
    yield render_sheet(f"{_SOPS}/kustomization.yaml", REPOSITORY, sheet)
    shared = secret(
        "cluster-secrets",
        {"SECRET_DOMAIN": Secret(cluster.edge.domain or f"{cluster.name}.{_PRIVATE}")},
        file="cluster-secrets.sops.yaml",
    )
    yield render_sheet(f"{_SOPS}/{shared.name}", REPOSITORY, shared)


def _entry() -> Object:
    """Return the Kustomization of all apps, which patches those of apps and their releases."""
    releases = {
        "patch": render_yaml(_RELEASES),
        "target": {"group": "helm.toolkit.fluxcd.io", "kind": "HelmRelease"},
    }
    children = manifest(_FLUX, "Kustomization", "_", **_DECRYPTION, patches=[releases])
    patch = {
        "patch": render_yaml(children),
        "target": {"group": "kustomize.toolkit.fluxcd.io", "kind": "Kustomization"},
    }
    entry = manifest(
        _FLUX,
        "Kustomization",
        "cluster-apps",
        **_DECRYPTION,
        interval="1h",
        patches=[patch],
        path="./kubernetes/apps",
        prune=True,
        sourceRef=SOURCE,
        wait=False,
    )
    return {**entry, "metadata": {"name": "cluster-apps", "namespace": "flux-system"}}
