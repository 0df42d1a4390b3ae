"""Rules of the v1alpha1 document, with the sections `machine` and `cluster`."""

from __future__ import annotations

from stockman.talos.validation.cluster_section import check_cluster, check_cni
from stockman.talos.validation.interfaces import check_interfaces, virtual_addresses
from stockman.talos.validation.machine_section import (
    WORKER,
    check_machine,
    is_control_plane,
    machine_type,
)
from stockman.talos.validation.report import ConfigValue, ValidationReport


def check_v1alpha1(report: ValidationReport, config: ConfigValue) -> None:
    machine, cluster = config["machine"], config["cluster"]
    if not machine.present:
        report.error(
            "machine.section",
            machine,
            "the section machine is missing",
            why="it defines the type of the machine",
            fix="use it from the configuration of another machine of the cluster",
        )
        return
    kind = machine_type(machine)
    controls = is_control_plane(kind)
    check_cluster(report, cluster, controls=controls)
    if controls:
        check_cni(report, cluster)
    check_machine(report, machine)
    check_interfaces(report, machine)
    if kind == WORKER:
        _check_shared_addresses(report, machine)
    if report.minor < 14 and machine.down("network.kubespan.enabled").flag:
        _check_kubespan_identity(report, cluster)
    persist = config["persist"]
    if persist.present and not persist.flag:
        report.error(
            "machine.section",
            persist,
            "persist is false",
            why="the machine would lose its configuration at every start",
            fix="set `persist: true`, or remove the key",
        )


def _check_shared_addresses(report: ValidationReport, machine: ConfigValue) -> None:
    for shared in virtual_addresses(machine):
        report.error(
            "machine.worker-vip",
            shared,
            f"{shared.name} is a virtual IP of control planes",
            why="this machine is a worker without a Kubernetes API",
            fix="remove it from workers",
        )


def _check_kubespan_identity(report: ValidationReport, cluster: ConfigValue) -> None:
    """Check the settings of the cluster that KubeSpan needs to find its peers."""
    discovery = cluster.down("discovery.enabled")
    if not discovery.flag:
        report.error(
            "machine.discovery",
            discovery,
            "KubeSpan is enabled, but cluster.discovery is disabled",
            why="KubeSpan peers find each other by discovery",
            fix="set `discovery: {enabled: true}` in the section cluster",
        )
    for key in ("id", "secret"):
        if not cluster[key].text:
            report.error(
                "machine.discovery",
                cluster[key],
                f"KubeSpan is enabled, but cluster.{key} is missing",
                why="KubeSpan peers find each other by discovery, which needs it",
                fix=f"use `cluster.{key}` of the secrets bundle",
            )
