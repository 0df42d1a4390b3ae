"""Proxmox cloud controller manager: nodes know their VM, host and region."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import (
    Alert,
    Component,
    ComponentContext,
    KnownProblem,
    Phase,
    ProxmoxAccess,
)
from stockman.catalog.conditions import Condition, SmokeTest, daemonset_condition
from stockman.catalog.objects import chart_sheets, pod_monitor_sheets
from stockman.catalog.proxmox_config import (
    KEY,
    SECRETS,
    check_proxmox,
    config_secret,
    missing_requirements,
    reload_annotations,
    secret_name,
    trust_values,
)

_NAME = "proxmox-cloud-controller-manager"
_ACCESS = ProxmoxAccess(
    user="stockman-ccm@pve",
    token="ccm",
    role="StockmanCCM",
    privileges=("VM.Audit", "Sys.Audit"),
    privileges_from_9=("VM.GuestAgent.Audit",),
)


def _apps(scene: ComponentContext) -> Iterator[App]:
    values: Object = {
        "fullnameOverride": _NAME,
        "enabledControllers": ["cloud-node", "cloud-node-lifecycle"],
        "existingConfigSecret": secret_name(scene),
        "existingConfigSecretKey": KEY,
        # It has to run before there is a network of pods.
        "useDaemonSet": True,
        "nodeSelector": {"node-role.kubernetes.io/control-plane": ""},
        "podAnnotations": reload_annotations(scene),
        **trust_values(scene),
    }
    labels = {"app.kubernetes.io/name": _NAME}
    yield App(
        name="proxmox-ccm",
        namespace=scene.namespace,
        sheets=(
            *chart_sheets(scene, values),
            *config_secret(scene, _ACCESS, {"provider": "default"}),
            *pod_monitor_sheets(scene, labels, https=True),
        ),
        pending=missing_requirements(scene),
    )


COMPONENT = Component(
    name="proxmox-ccm",
    about="Nodes know their VM, host and region; a node whose VM is gone goes too.",
    phase=Phase.CLOUD,
    apps=_apps,
    check=check_proxmox,
    proxmox=_ACCESS,
    secrets=SECRETS,
    ready=(daemonset_condition(_NAME, "kube-system"),),
    trial=SmokeTest(
        says="every node has an identity in Proxmox VE, a region and a zone",
        until=(
            Condition(
                kind="v1 Node",
                name="",
                expr="object.spec.providerID.startsWith('proxmox://')"
                " && 'topology.kubernetes.io/region' in object.metadata.labels"
                " && 'topology.kubernetes.io/zone' in object.metadata.labels",
                says="every node has a provider id, a region and a zone",
            ),
            Condition(
                kind="v1 Node",
                name="",
                expr="!has(object.spec.taints) || !object.spec.taints.exists(t,"
                " t.key == 'node.cloudprovider.kubernetes.io/uninitialized')",
                says="no node waits for its identity",
            ),
        ),
    ),
    alerts=(
        Alert(
            name="ProxmoxApiErrors",
            expr="sum by (request) (rate(proxmox_api_request_errors_total[10m])) > 0.1",
            holds="15m",
            severity="warning",
            summary="Requests of the kind {{ $labels.request }} to Proxmox VE fail.",
            metrics=("proxmox_api_request_errors_total",),
        ),
    ),
    troubles=(
        KnownProblem(
            shows="nodes keep the taint `node.cloudprovider.kubernetes.io/uninitialized`",
            because="the VM's name does not start with the node's name, or its UUID changed",
            fix="give the VM its name and UUID back: both are part of the configuration",
        ),
        KnownProblem(
            shows="`kubectl logs` fails with a certificate error",
            because="this component does not approve certificates of kubelets",
            fix="turn talos-ccm on; with proxmox-ccm it does only that",
        ),
    ),
)
