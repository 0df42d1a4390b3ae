"""Talos cloud controller manager: approves kubelet certificates and labels nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

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
from stockman.model.formats import Example
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record

_SERVICE_ACCOUNT = "talos-cloud-controller-manager"


@record
class TalosCcmSettings(Traced):
    """Sources of node labels, besides the machines' meta-data."""

    transformations: tuple[
        Annotated[object, Example("{name: zone, labels: {topology.kubernetes.io/zone: a}}")], ...
    ] = ()
    """Rules that set labels, annotations or metadata, as described in the documentation of the
    component. Empty: the meta-data of the machines is used."""


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
    transformations = context.settings_as(TalosCcmSettings).transformations
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


def _check(context: ComponentContext, problems: Problems) -> None:
    """Report invalid transformations, and labels that nothing sets."""
    settings = context.settings_as(TalosCcmSettings)
    for index, transformation in enumerate(settings.transformations):
        if not isinstance(transformation, dict) or "name" not in transformation:
            problems.error(
                "component.transformation",
                f"transformation {index + 1} of talos-ccm has no name",
                why="each must be a mapping with a name and what it sets",
                fix="write it as `name: ...` with labels, annotations or platformMetadata",
                at=settings.where(f"transformations[{index}]"),
            )
    alone = not context.is_enabled("proxmox-ccm")
    if alone and not settings.transformations and context.cluster.talos.platform == "metal":
        problems.warn(
            "component.unlabelled",
            "talos-ccm manages the nodes, but nothing sets their region and zone",
            why="metal machines have no meta-data, and there are no transformations",
            fix="use platform nocloud, add transformations, or enable proxmox-ccm",
            at=context.options.where("enabled"),
        )


COMPONENT = Component(
    name="talos-ccm",
    about="Approves kubelet certificates, and labels nodes from their metadata.",
    phase=Phase.CLOUD,
    apps=_apps,
    settings=TalosCcmSettings,
    check=_check,
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
