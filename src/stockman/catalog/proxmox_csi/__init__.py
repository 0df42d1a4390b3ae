"""Proxmox CSI: volumes of pods as disks of VMs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.catalog.app import App, Object
from stockman.catalog.component import (
    Alert,
    Component,
    ComponentContext,
    KnownProblem,
    Phase,
    ProxmoxAccess,
)
from stockman.catalog.conditions import daemonset_condition, deployment_condition, volume_smoke_test
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
from stockman.catalog.proxmox_csi.classes import (
    PASSPHRASE,
    ProxmoxCsiSettings,
    check,
    encryption_secret,
    is_replicated,
    storage_classes,
)
from stockman.model.component import Component as ComponentOptions

_ACCESS = ProxmoxAccess(
    user="stockman-csi@pve",
    token="csi",
    role="StockmanCSI",
    privileges=(
        "VM.Audit",
        "VM.Config.Disk",
        "Datastore.Allocate",
        "Datastore.AllocateSpace",
        "Datastore.Audit",
    ),
    paths=("/vms", "/storage"),
)
_REPLICATING = replace(
    _ACCESS,
    privileges=(
        *_ACCESS.privileges,
        *("VM.Allocate", "VM.Clone", "VM.Config.CPU", "VM.Config.HWType", "VM.Config.Memory"),
        *("VM.Config.Options", "VM.Migrate", "VM.PowerMgmt"),
    ),
    privileges_from_9=("VM.Replicate",),
)
"""Replicated volumes belong to VMs that the plugin creates and migrates."""
_NAME = "proxmox-csi-plugin"


def _access(options: ComponentOptions) -> ProxmoxAccess:
    return _REPLICATING if is_replicated(options) else _ACCESS


def _apps(context: ComponentContext) -> Iterator[App]:
    settings = context.settings_as(ProxmoxCsiSettings)
    values: Object = {
        "fullnameOverride": _NAME,
        "existingConfigSecret": secret_name(context),
        "existingConfigSecretKey": KEY,
        "storageClass": storage_classes(context),
        "metrics": {"enabled": is_monitoring_on(context)},
        "nodeSelector": {"node-role.kubernetes.io/control-plane": ""},
        "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}],
        "controller": {
            "podAnnotations": reload_annotations(context),
            "snapshotter": {"enabled": settings.snapshots},
        },
        **trust_values(context),
    }
    labels = {"app.kubernetes.io/name": _NAME, "app.kubernetes.io/component": "controller"}
    yield App(
        name="proxmox-csi",
        namespace=context.namespace,
        sheets=(
            *chart_sheets(context, values),
            *config_secret(context, _ACCESS, {}),
            *encryption_secret(context),
            *pod_monitor_sheets(context, labels),
        ),
        pending=missing_requirements(context),
    )


COMPONENT = Component(
    name="proxmox-csi",
    about="Volumes of pods as disks of VMs, created and resized through Proxmox VE.",
    phase=Phase.PLATFORM,
    apps=_apps,
    settings=ProxmoxCsiSettings,
    check=check,
    proxmox=_ACCESS,
    proxmox_for=_access,
    ready=(
        deployment_condition("proxmox-csi-plugin-controller", "csi-proxmox"),
        daemonset_condition("proxmox-csi-plugin-node", "csi-proxmox"),
    ),
    smoke_test=volume_smoke_test("proxmox"),
    smoke_test_for=lambda context: volume_smoke_test(str(storage_classes(context)[0]["name"])),
    secrets=SECRETS | {PASSPHRASE: "passphrase of encrypted volumes"},
    alerts=(
        Alert(
            name="ProxmoxVolumesSlow",
            expr="histogram_quantile(0.9, sum by (le, request)"
            " (rate(proxmox_api_request_duration_seconds_bucket[15m]))) > 60",
            holds="15m",
            severity="warning",
            summary="Proxmox VE takes more than a minute for {{ $labels.request }}.",
            metrics=("proxmox_api_request_duration_seconds_bucket",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="a claim stays Pending with `no topology key found`",
            cause="nodes have no region or zone",
            fix="enable proxmox-ccm, and wait until nodes are labelled",
        ),
        KnownProblem(
            symptom="a pod does not start on another host",
            cause="a volume on local storage stays on the host where it was created",
            fix="use shared storage, or move the volume with `pvecsictl migrate`",
        ),
        KnownProblem(
            symptom="a changed token is not used",
            cause="pods read their config file at startup, and reloader is disabled",
            fix="enable reloader, or restart the deployment of the component",
        ),
    ),
)
