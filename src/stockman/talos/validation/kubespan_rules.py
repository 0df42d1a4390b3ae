"""KubeSpan, in the oldest document and in its own."""

from __future__ import annotations

from stockman.talos.validation.kubelet_rules import check_subnets
from stockman.talos.validation.part import Part
from stockman.talos.validation.places import is_network
from stockman.talos.validation.report import Report

LEAST_KUBESPAN_MTU = 1280


def check_kubespan(report: Report, machine: Part) -> None:
    span = machine.down("network.kubespan")
    if not span["enabled"].flag:
        return
    if span["mtu"].number:
        check_mtu(report, span["mtu"])
    check_subnets(report, span.down("filters.endpoints"))
    networks = span.down("filters.excludeAdvertisedNetworks")
    if report.minor >= 13:
        for network in networks.items:
            if not is_network(network.text):
                report.error(
                    "machine.subnet",
                    network,
                    f"{network.text} is no network",
                    why=f"{network.name} takes networks only",
                    fix="write a network such as 10.42.0.0/16",
                )


def check_mtu(report: Report, mtu: Part) -> None:
    if mtu.present and mtu.number < LEAST_KUBESPAN_MTU:
        report.error(
            "machine.range",
            mtu,
            f"{mtu.name} is {mtu.number}",
            why=f"KubeSpan needs an MTU of {LEAST_KUBESPAN_MTU} at least, for IPv6",
            fix="leave it out: Talos takes 1420",
        )


def check_kubespan_document(report: Report, span: Part) -> None:
    check_mtu(report, span["mtu"])
    check_subnets(report, span.down("filters.endpoints"))
