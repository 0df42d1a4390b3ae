"""What the kubelet of a machine may be told."""

from __future__ import annotations

from stockman.talos.validation.part import Part
from stockman.talos.validation.places import is_subnet
from stockman.talos.validation.report import Report

_PROTECTED = (
    "apiVersion",
    "authentication",
    "authorization",
    "cgroupRoot",
    "kind",
    "kubeletCgroups",
    "port",
    "protectKernelDefaults",
    "resolvConf",
    "rotateCertificates",
    "systemCgroups",
    "staticPodPath",
    "seccompDefault",
)


def check_kubelet(report: Report, kubelet: Part) -> None:
    check_subnets(report, kubelet.down("nodeIP.validSubnets"))
    check_protected(report, kubelet["extraConfig"])


def check_protected(report: Report, config: Part) -> None:
    """Fields of the kubelet's configuration that are Talos' own."""
    for key, entry in config.entries.items():
        if key in _PROTECTED:
            report.error(
                "machine.kubelet-field",
                entry,
                f"{entry.name} is Talos' own",
                why="the kubelet would not work on Talos with another value",
                fix="remove it",
            )


def check_subnets(report: Report, subnets: Part) -> None:
    for subnet in subnets.items:
        if not is_subnet(subnet.text):
            report.error(
                "machine.subnet",
                subnet,
                f"{subnet.text} is no subnet",
                why=f"{subnet.name} takes addresses and networks, after a ! those to leave out",
                fix="write a network such as 10.42.0.0/16",
            )
