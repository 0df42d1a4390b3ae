"""The files that tell Flux what to apply, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stockman.catalog.app import App, Object, Sheet

_KUSTOMIZATION = "kustomize.toolkit.fluxcd.io/v1"
SOURCE: Object = {"kind": "GitRepository", "name": "flux-system", "namespace": "flux-system"}
SUBSTITUTES: Object = {"substituteFrom": [{"kind": "Secret", "name": "cluster-secrets"}]}


def flux_kustomization(app: App, path: str, after: Iterable[App], *, waited_for: bool) -> Object:
    """The object with which Flux applies an app."""
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
    needs = [{"name": one.name, "namespace": one.namespace} for one in after]
    if needs:
        spec = {"dependsOn": needs, **spec}
    if app.pending:
        spec["suspend"] = True
    return {
        "apiVersion": _KUSTOMIZATION,
        "kind": "Kustomization",
        "metadata": {"name": app.name},
        "spec": spec,
    }


def app_kustomization(app: App) -> Sheet:
    """The kustomize file of an app."""
    content: Object = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": sorted(f"./{sheet.name}" for sheet in app.sheets if sheet.listed),
    }
    for extra in app.extras:
        content |= extra
    return Sheet(name="kustomization.yaml", objects=(content,))


def namespace_sheets(namespace: str, security: str, folders: Iterable[str]) -> tuple[Sheet, ...]:
    """The files of a namespace: itself, and what lives in it."""
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
        "resources": ["./namespace.yaml", *(f"./{one}/ks.yaml" for one in sorted(folders))],
    }
    return (
        Sheet(name="namespace.yaml", objects=(itself,)),
        Sheet(name="kustomization.yaml", objects=(members,)),
    )
