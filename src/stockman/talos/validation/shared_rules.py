"""What the kubelet of a machine may be told."""

from __future__ import annotations

from stockman.talos.validation.formats import (
    is_network,
    is_subnet,
    label_key_error,
    label_value_error,
)
from stockman.talos.validation.report import ConfigValue, ValidationReport

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


def check_kubelet(report: ValidationReport, kubelet: ConfigValue) -> None:
    check_node_subnets(report, kubelet.down("nodeIP.validSubnets"))
    check_protected_fields(report, kubelet["extraConfig"])


def check_protected_fields(report: ValidationReport, config: ConfigValue) -> None:
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


def check_node_subnets(report: ValidationReport, subnets: ConfigValue) -> None:
    for subnet in subnets.items:
        if not is_subnet(subnet.text):
            report.error(
                "machine.subnet",
                subnet,
                f"{subnet.text} is no subnet",
                why=f"{subnet.name} takes addresses and networks, after a ! those to leave out",
                fix="write a network such as 10.42.0.0/16",
            )


LEAST_KUBESPAN_MTU = 1280


def check_kubespan(report: ValidationReport, machine: ConfigValue) -> None:
    span = machine.down("network.kubespan")
    if not span["enabled"].flag:
        return
    if span["mtu"].number:
        check_kubespan_mtu(report, span["mtu"])
    check_node_subnets(report, span.down("filters.endpoints"))
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


def check_kubespan_mtu(report: ValidationReport, mtu: ConfigValue) -> None:
    if mtu.present and mtu.number < LEAST_KUBESPAN_MTU:
        report.error(
            "machine.range",
            mtu,
            f"{mtu.name} is {mtu.number}",
            why=f"KubeSpan needs an MTU of {LEAST_KUBESPAN_MTU} at least, for IPv6",
            fix="leave it out: Talos takes 1420",
        )


def check_kubespan_document(report: ValidationReport, span: ConfigValue) -> None:
    check_kubespan_mtu(report, span["mtu"])
    check_node_subnets(report, span.down("filters.endpoints"))


_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RESERVED = ("talos.dev/owned-labels", "talos.dev/owned-annotations", "talos.dev/owned-taints")
_LONGEST_ANNOTATIONS = 256 * 1024


def check_labels(report: ValidationReport, part: ConfigValue) -> None:
    for key, entry in part.entries.items():
        for wrong in (label_key_error(key), label_value_error(entry.text)):
            if wrong:
                _report_label(report, entry, f"the label {key}", wrong)


def check_annotations(report: ValidationReport, part: ConfigValue) -> None:
    size = 0
    for key, entry in part.entries.items():
        wrong = label_key_error(key)
        if wrong or key in _RESERVED:
            reason = wrong or "Talos keeps its own notes there"
            _report_label(report, entry, f"the annotation {key}", reason)
        size += len(key.encode()) + len(entry.text.encode())
    if size > _LONGEST_ANNOTATIONS:
        _report_label(
            report, part, part.name, f"annotations have {_LONGEST_ANNOTATIONS} bytes at most"
        )


def check_taints(report: ValidationReport, part: ConfigValue) -> None:
    for key, entry in part.entries.items():
        value, colon, effect = entry.text.partition(":")
        wrong = label_key_error(key)
        if not wrong and (effect if colon else value) not in _EFFECTS:
            wrong = f"its effect is none of {', '.join(_EFFECTS)}"
        if not wrong and colon:
            wrong = label_value_error(value)
        if wrong:
            _report_label(report, entry, f"the taint {key}", wrong)


def _report_label(report: ValidationReport, part: ConfigValue, what: str, why: str) -> None:
    report.error(
        "machine.label",
        part,
        f"{what} does not have the form that Kubernetes takes",
        why=why,
        fix="write it as Kubernetes does, example.com/rack: a; taints as value:NoSchedule",
    )
