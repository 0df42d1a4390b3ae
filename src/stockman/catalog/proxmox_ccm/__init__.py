"""Proxmox cloud controller manager: VM, host and region of nodes."""

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


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {
        "fullnameOverride": _NAME,
        "enabledControllers": ["cloud-node", "cloud-node-lifecycle"],
        "existingConfigSecret": secret_name(context),
        "existingConfigSecretKey": KEY,
        # It must run before there is a pod network.
        "useDaemonSet": True,
        "nodeSelector": {"node-role.kubernetes.io/control-plane": ""},
        "podAnnotations": reload_annotations(context),
        **trust_values(context),
    }
    labels = {"app.kubernetes.io/name": _NAME}
    yield App(
        name="proxmox-ccm",
        namespace=context.namespace,
        sheets=(
            *chart_sheets(context, values),
            *config_secret(context, _ACCESS, {"provider": "default"}),
            *pod_monitor_sheets(context, labels, https=True),
        ),
        pending=missing_requirements(context),
    )


COMPONENT = Component(
    name="proxmox-ccm",
    about="Labels nodes with VM, host and region; removes nodes whose VM was deleted.",
    phase=Phase.CLOUD,
    apps=_apps,
    check=check_proxmox,
    proxmox=_ACCESS,
    secrets=SECRETS,
    ready=(daemonset_condition(_NAME, "kube-system"),),
    smoke_test=SmokeTest(
        says="every node has an identity in Proxmox VE, a region and a zone",
        until=(
            Condition(
                kind="v1 Node",
                name="",
                expr="object.spec.providerID.startsWith('proxmox://')"
                " && 'topology.kubernetes.io/region' in object.metadata.labels"
                " && 'topology.kubernetes.io/zone' in object.metadata.labels",
                says="every node has a provider ID, a region and a zone",
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
            summary="Requests of the type {{ $labels.request }} to Proxmox VE fail.",
            metrics=("proxmox_api_request_errors_total",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="nodes keep the taint `node.cloudprovider.kubernetes.io/uninitialized`",
            cause="the VM's name does not start with the node's name, or its UUID changed",
            fix="restore the VM's name and UUID: both are part of the configuration",
        ),
        KnownProblem(
            symptom="`kubectl logs` fails with a certificate error",
            cause="this component does not approve kubelet certificates",
            fix="enable talos-ccm; together with proxmox-ccm it only approves certificates",
        ),
    ),
)
