"""tuppr: upgrades Talos and Kubernetes from inside of the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import (
    Alert,
    Component,
    ComponentContext,
    KnownProblem,
    Phase,
    TalosAccess,
)
from stockman.catalog.conditions import Condition, SmokeTest, crd_condition, deployment_condition
from stockman.catalog.objects import chart_sheets
from stockman.catalog.tuppr.upgrades import TupprSettings, check, upgrades


def _apps(context: ComponentContext) -> Iterator[App]:
    monitored = context.is_enabled("prometheus-operator-crds")
    values: Object = {
        "monitoring": {
            "serviceMonitor": {"enabled": monitored},
            "prometheusRule": {"enabled": monitored},
        }
    }
    namespace = context.namespace
    yield App(name="tuppr", namespace=namespace, sheets=chart_sheets(context, values))
    yield App(
        name="tuppr-config",
        namespace=namespace,
        folder="config",
        sheets=(Sheet(name="upgrades.yaml", objects=upgrades(context)),),
    )


COMPONENT = Component(
    name="tuppr",
    about=(
        "Upgrades Talos and Kubernetes from inside of the cluster when versions in the "
        "repository change."
    ),
    phase=Phase.PLATFORM,
    apps=_apps,
    settings=TupprSettings,
    check=check,
    talos=TalosAccess(role="os:admin", secret="tuppr-talosconfig"),
    ready=(
        deployment_condition("tuppr", "system-upgrade"),
        crd_condition("talosupgrades.tuppr.home-operations.com"),
        crd_condition("kubernetesupgrades.tuppr.home-operations.com"),
    ),
    smoke_test=SmokeTest(
        says="it has access to Talos, and no upgrade failed",
        until=(
            Condition(
                kind="talos.dev/v1alpha1 ServiceAccount",
                name="tuppr-talosconfig",
                expr="!has(object.status) || !has(object.status.failureReason)"
                " || object.status.failureReason == ''",
                says="it has access to the Talos API",
                namespace="system-upgrade",
            ),
            Condition(
                kind="tuppr.home-operations.com/v1alpha1 TalosUpgrade",
                name="",
                expr="object.status.phase != 'Failed'",
                says="no upgrade failed",
            ),
        ),
        seconds=120,
    ),
    alerts=(
        Alert(
            name="UpgradeFailed",
            expr='max by (name) (tuppr_talos_upgrade_phase{phase="Failed"}) == 1',
            holds="1m",
            severity="critical",
            summary="The Talos upgrade {{ $labels.name }} failed and needs attention.",
            metrics=("tuppr_talos_upgrade_phase",),
        ),
        Alert(
            name="KubernetesUpgradeFailed",
            expr='max by (name) (tuppr_kubernetes_upgrade_phase{phase="Failed"}) == 1',
            holds="1m",
            severity="critical",
            summary="The Kubernetes upgrade {{ $labels.name }} failed and needs attention.",
            metrics=("tuppr_kubernetes_upgrade_phase",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="an upgrade stays Failed after its cause was fixed",
            cause="a failed upgrade is not retried until its object changes",
            fix="change the annotation tuppr.home-operations.com/reset of the object",
        ),
        KnownProblem(
            symptom="the install image of nodes differs from that in their machine configuration",
            cause="tuppr writes the installed image to the machine configuration",
            fix="none needed: tuppr manages the field while it is enabled",
        ),
    ),
    definitions=("tuppr.home-operations.com",),
)
