"""Multus: pods with further network cards, on VLANs of the house."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Sheet
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import crd_condition, daemonset_condition
from stockman.catalog.multus.networks import attachments, network_smoke_test
from stockman.catalog.multus.settings import MultusSettings, check, settings_of
from stockman.catalog.multus.talos import patches
from stockman.catalog.remote import RemoteManifests

_SOURCE = "https://github.com/k8snetworkplumbingwg/multus-cni"
_MANIFEST = "deployments/multus-daemonset-thick.yml"
_IMAGE = "ghcr.io/k8snetworkplumbingwg/multus-cni"


def _apps(scene: ComponentContext) -> Iterator[App]:
    version = (
        f"v{scene.wish.version}" if scene.wish.version is not None else scene.known.app_version
    )
    namespace = scene.namespace
    manifests = RemoteManifests(
        name="multus",
        url=_SOURCE,
        tag=version,
        path="deployments",
        only=_MANIFEST,
        # Upstream's manifest names a tag that moves.
        images={_IMAGE: f"{version}-thick"},
        patches=patches(scene.known.artifacts["install-cni"]),
    )
    yield App(name="multus", namespace=namespace, sheets=manifests.sheets())
    if settings_of(scene).networks:
        sheet = Sheet(name="networks.yaml", objects=attachments(scene))
        yield App(
            name="multus-config",
            namespace=namespace,
            folder="config",
            sheets=(sheet,),
            scattered=True,
        )


COMPONENT = Component(
    name="multus",
    about="Pods get further network cards, for example on VLANs of the house.",
    phase=Phase.PLATFORM,
    apps=_apps,
    settings=MultusSettings,
    check=check,
    ready=(
        daemonset_condition("kube-multus-ds", "kube-system"),
        crd_condition("network-attachment-definitions.k8s.cni.cncf.io"),
    ),
    trial=None,
    trial_of=network_smoke_test,
    troubles=(
        KnownProblem(
            shows="a pod with a second network fails with `failed to find plugin`",
            because="Talos has few CNI plugins, and the others were not copied to the node",
            fix="restart the pod of kube-multus-ds on that node: it copies them when it starts",
        ),
        KnownProblem(
            shows="a pod with a second network stays in ContainerCreating",
            because="the link that its network names is not up on the node",
            fix="list the link under `links:` of the node, and give the VM a card in that VLAN",
        ),
        KnownProblem(
            shows="pods of kube-multus-ds end with OOMKilled",
            because="upstream's limit of 50 MiB is too small while many pods start",
            fix="nothing: stockman raises it",
        ),
    ),
    definitions=("k8s.cni.cncf.io",),
)
