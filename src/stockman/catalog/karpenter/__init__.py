"""Karpenter for Proxmox: adds nodes for pending pods, and removes empty ones."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import (
    Alert,
    Component,
    ComponentContext,
    KnownProblem,
    Phase,
    ProxmoxAccess,
)
from stockman.catalog.conditions import (
    SmokeTest,
    crd_condition,
    deployment_condition,
    object_condition,
)
from stockman.catalog.karpenter.machines import machine_secret, machines
from stockman.catalog.karpenter.settings import KarpenterSettings, check
from stockman.catalog.objects import chart_sheets, is_monitoring_on, pod_monitor_sheets
from stockman.catalog.proxmox_config import (
    KEY,
    SECRETS,
    config_secret,
    missing_requirements,
    reload_annotations,
    secret_name,
    trust_values,
)

_NAME = "karpenter-provider-proxmox"
_ACCESS = ProxmoxAccess(
    user="stockman-karpenter@pve",
    token="karpenter",
    role="StockmanKarpenter",
    privileges=(
        "Datastore.Allocate",
        "Datastore.AllocateSpace",
        "Datastore.AllocateTemplate",
        "Datastore.Audit",
        "Mapping.Audit",
        "Mapping.Use",
        "Sys.Audit",
        "Sys.AccessNetwork",
        "SDN.Audit",
        "SDN.Use",
        "VM.Audit",
        "VM.Allocate",
        "VM.Clone",
        "VM.Config.CDROM",
        "VM.Config.CPU",
        "VM.Config.Memory",
        "VM.Config.Disk",
        "VM.Config.Network",
        "VM.Config.HWType",
        "VM.Config.Cloudinit",
        "VM.Config.Options",
        "VM.PowerMgmt",
    ),
)


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {
        "fullnameOverride": _NAME,
        "existingConfigSecret": secret_name(context),
        "existingConfigSecretKey": KEY,
        "metrics": {"enabled": is_monitoring_on(context)},
        "nodeSelector": {"node-role.kubernetes.io/control-plane": ""},
        "podAnnotations": reload_annotations(context),
        **trust_values(context),
    }
    labels = {"app.kubernetes.io/name": _NAME}
    namespace, waits = context.namespace, missing_requirements(context)
    yield App(
        name="karpenter",
        namespace=namespace,
        sheets=(
            *chart_sheets(context, values),
            *config_secret(context, _ACCESS, {}),
            *pod_monitor_sheets(context, labels),
        ),
        pending=waits,
    )
    secrets = machine_secret(context)
    yield App(
        name="karpenter-config",
        namespace=namespace,
        folder="config",
        sheets=(Sheet(name="machines.yaml", objects=machines(context)), *secrets),
        pending=waits or ("" if secrets else "the secrets bundle of the cluster"),
    )


COMPONENT = Component(
    name="karpenter",
    about="Adds nodes when pods are pending, and removes them when they are empty.",
    phase=Phase.PLATFORM,
    apps=_apps,
    settings=KarpenterSettings,
    check=check,
    proxmox=_ACCESS,
    secrets=SECRETS,
    ready=(
        deployment_condition(_NAME, "kube-system"),
        crd_condition("proxmoxnodeclasses.karpenter.proxmox.sinextra.dev"),
        crd_condition("nodepools.karpenter.sh"),
    ),
    smoke_test=SmokeTest(
        says="the node class is ready",
        until=(
            object_condition(
                "karpenter.proxmox.sinextra.dev/v1alpha1 ProxmoxNodeClass",
                "default",
                "its template, image and metadata exist",
            ),
            object_condition("karpenter.sh/v1 NodePool", "default", "the node pool is ready"),
        ),
        seconds=900,
    ),
    alerts=(
        Alert(
            name="NodePoolNearLimit",
            expr="max by (nodepool, resource_type) (karpenter_nodepools_usage)"
            " / max by (nodepool, resource_type) (karpenter_nodepools_limit) > 0.9",
            holds="30m",
            severity="warning",
            summary="Nodes of {{ $labels.nodepool }} use 90 % of the limit for "
            "{{ $labels.resource_type }}.",
            metrics=("karpenter_nodepools_limit", "karpenter_nodepools_usage"),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="nodes are created but never join the cluster",
            cause="the machine configuration in the Secret is outdated",
            fix="render again; changing the Secret does not replace existing nodes",
        ),
        KnownProblem(
            symptom="there are VMs that are in no configuration file",
            cause="Karpenter created them; they have the tag karpenter",
            fix="none needed: delete a NodeClaim to remove its VM, never the VM itself",
        ),
    ),
    definitions=("karpenter.proxmox.sinextra.dev", "karpenter.sh"),
)
