"""Talos cloud controller manager: approves kubelet certificates and labels nodes."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import (
    Alert,
    Component,
    ComponentContext,
    KnownProblem,
    Phase,
    TalosAccess,
)
from stockman.catalog.conditions import Condition, SmokeTest, daemonset_condition
from stockman.catalog.objects import chart_sheets, pod_monitor_sheets
from stockman.catalog.talos_ccm.settings import TalosCcmSettings, check, settings_of

_SERVICE_ACCOUNT = "talos-cloud-controller-manager"


def _apps(context: ComponentContext) -> Iterator[App]:
    controllers = ["node-csr-approval"]
    if not context.is_enabled("proxmox-ccm"):
        controllers = ["cloud-node", *controllers]
    values: Object = {
        "fullnameOverride": _SERVICE_ACCOUNT,
        "enabledControllers": controllers,
        # It must run before there is a pod network.
        "daemonSet": {"enabled": True},
    }
    transformations = settings_of(context).transformations
    if transformations:
        values["transformations"] = list(transformations)
    labels = {"app.kubernetes.io/name": _SERVICE_ACCOUNT}
    yield App(
        name="talos-ccm",
        namespace=context.namespace,
        sheets=(
            *chart_sheets(context, values),
            *pod_monitor_sheets(context, labels, https=True),
        ),
    )


COMPONENT = Component(
    name="talos-ccm",
    about="Approves kubelet certificates, and labels nodes from their metadata.",
    phase=Phase.CLOUD,
    apps=_apps,
    settings=TalosCcmSettings,
    check=check,
    talos=TalosAccess(role="os:reader", secret=f"{_SERVICE_ACCOUNT}-talos-secrets"),
    ready=(daemonset_condition(_SERVICE_ACCOUNT, "kube-system"),),
    smoke_test=SmokeTest(
        says="kubelets have certificates of the cluster, and nodes have labels",
        until=(
            Condition(
                kind="certificates.k8s.io/v1 CertificateSigningRequest",
                name="",
                expr="object.spec.signerName != 'kubernetes.io/kubelet-serving'"
                " || (has(object.status.conditions) && object.status.conditions.exists(c,"
                " c.type == 'Approved'))",
                says="no kubelet certificate is pending",
            ),
            Condition(
                kind="v1 Node",
                name="",
                expr="has(object.spec.providerID) && object.spec.providerID != ''",
                says="every node has a provider ID",
            ),
        ),
    ),
    alerts=(
        Alert(
            name="TalosCcmApiErrors",
            expr="sum(rate(talosccm_api_request_errors_total[10m])) > 0.1",
            holds="15m",
            severity="warning",
            summary="The Talos cloud controller manager cannot read from Talos.",
            metrics=("talosccm_api_request_errors_total",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="its pod waits for the Secret `talos-cloud-controller-manager-talos-secrets`",
            cause="the machine configuration of the controllers does not allow its role",
            fix="apply the machine configuration, which allows os:reader",
        ),
        KnownProblem(
            symptom="nodes have no region, zone or instance type",
            cause="neither the machine's meta-data nor a transformation sets them",
            fix="let stockman write the meta-data (platform nocloud), or add transformations",
        ),
    ),
)
