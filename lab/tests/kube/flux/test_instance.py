"""FluxInstances become Flux, while the flux-operator runs."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.flux.instance_objects import NotBuilt, matched

from lab.tests.kube.flux.fluxed import INSTANCES, Fluxed, condition
from lab.tests.kube.helm.installing import Installing

SYNC = (
    *("--set", "instance.sync.kind=GitRepository"),
    *("--set", "instance.sync.url=https://git.example/wool.git"),
    *("--set", "instance.sync.ref=refs/heads/main"),
    *("--set", "instance.sync.path=kubernetes/flux/cluster"),
)
SPACE = "/namespaces/flux-system"


def instance(flux: Installing) -> Any:
    return flux.ask("GET", f"{INSTANCES}/flux")


def seen(flux: Installing, path: str) -> None:
    """What a controller of Flux would say of an object."""
    ready = {"type": "Ready", "status": "True", "reason": "Succeeded", "message": "fine"}
    status = {"observedGeneration": 1, "conditions": [ready]}
    flux.ask("PATCH", f"{path}/status", {"status": status})


def test_an_instance_brings_controllers_and_definitions() -> None:
    flux = Fluxed("n1")
    result = instance(flux)
    assert condition(result, "Ready")[:2] == ("True", "ReconciliationSucceeded")
    assert result["status"]["lastAppliedRevision"].startswith("v2.9.4@sha256:")
    names = flux.named(f"/apis/apps/v1{SPACE}/deployments")
    assert names == [
        "flux-operator",
        "helm-controller",
        "kustomize-controller",
        "notification-controller",
        "source-controller",
    ]
    controller = flux.ask("GET", f"/apis/apps/v1{SPACE}/deployments/source-controller")
    image = controller["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image.startswith("ghcr.io/fluxcd/source-controller:v1.9.4@sha256:8a8ed0a5")
    assert controller["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "flux-operator"
    definitions = flux.named("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    assert {"helmreleases.helm.toolkit.fluxcd.io", "receivers.notification.toolkit.fluxcd.io"} <= {
        *definitions
    }


def test_what_is_synced_is_waited_for() -> None:
    flux = Fluxed("n1", values=SYNC)
    assert condition(instance(flux), "Ready")[:2] == ("Unknown", "Progressing")
    source = f"/apis/source.toolkit.fluxcd.io/v1{SPACE}/gitrepositories/flux-system"
    applied = f"/apis/kustomize.toolkit.fluxcd.io/v1{SPACE}/kustomizations/flux-system"
    assert flux.ask("GET", source)["spec"] == {
        "interval": "1m0s",
        "ref": {"name": "refs/heads/main"},
        "url": "https://git.example/wool.git",
    }
    assert flux.ask("GET", applied)["spec"] == {
        "interval": "10m0s",
        "path": "kubernetes/flux/cluster",
        "prune": True,
        "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
    }
    seen(flux, source)
    seen(flux, applied)
    flux.settle()
    assert condition(instance(flux), "Ready")[0] == "True"


def test_what_is_not_synced_in_time_is_told() -> None:
    flux = Fluxed("n1", values=SYNC)
    flux.advance(310.0)
    _, reason, text = condition(instance(flux), "Ready")
    assert reason == "ReconciliationFailed"
    assert "GitRepository/flux-system/flux-system status: 'InProgress'" in text


def test_an_instance_that_is_held_is_left_alone() -> None:
    flux = Fluxed("n1")
    marks = {"fluxcd.controlplane.io/reconcile": "disabled"}
    flux.ask("PATCH", f"{INSTANCES}/flux", {"metadata": {"annotations": marks}})
    flux.settle()
    parts = {"components": ["source-controller", "helm-controller"]}
    flux.ask("PATCH", f"{INSTANCES}/flux", {"spec": parts})
    flux.settle()
    key = f"/apis/apps/v1{SPACE}/deployments"
    assert "kustomize-controller" in flux.named(key)
    marks = {"fluxcd.controlplane.io/reconcile": "enabled"}
    flux.ask("PATCH", f"{INSTANCES}/flux", {"metadata": {"annotations": marks}})
    flux.settle()
    assert flux.named(key) == ["flux-operator", "helm-controller", "source-controller"]


def test_a_version_that_there_is_not_stalls() -> None:
    flux = Fluxed("n1")
    change = {"spec": {"distribution": {"version": "3.x"}}}
    flux.ask("PATCH", f"{INSTANCES}/flux", change)
    flux.settle()
    text = "build failed: no match found for semver: 3.x"
    assert condition(instance(flux), "Stalled") == ("True", "BuildFailed", text)


def test_versions_are_matched() -> None:
    assert matched("2.x") == "v2.9.4"
    assert matched("2.8.x") == "v2.8.8"
    assert matched("v2.7.5") == "v2.7.5"
    with pytest.raises(NotBuilt, match="no match found"):
        matched("2.99.x")
