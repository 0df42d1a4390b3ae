"""Rules for the kubelet, KubeSpan, labels and taints, which several documents share."""

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
    """Check that fields of the kubelet configuration that Talos manages are not set."""
    for key, entry in config.entries.items():
        if key in _PROTECTED:
            report.error(
                "machine.kubelet-field",
                entry,
                f"{entry.name} is managed by Talos",
                why="the kubelet would not work on Talos with another value",
                fix="remove it",
            )


def check_node_subnets(report: ValidationReport, subnets: ConfigValue) -> None:
    for subnet in subnets.items:
        if not is_subnet(subnet.text):
            report.error(
                "machine.subnet",
                subnet,
                f"{subnet.text} is not a subnet",
                why=f"{subnet.name} accepts addresses and networks; a leading ! excludes them",
                fix="use a network such as 10.42.0.0/16",
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
                    f"{network.text} is not a network",
                    why=f"{network.name} accepts only networks",
                    fix="use a network such as 10.42.0.0/16",
                )


def check_kubespan_mtu(report: ValidationReport, mtu: ConfigValue) -> None:
    if mtu.present and mtu.number < LEAST_KUBESPAN_MTU:
        report.error(
            "machine.range",
            mtu,
            f"{mtu.name} is {mtu.number}",
            why=f"KubeSpan needs an MTU of at least {LEAST_KUBESPAN_MTU}, for IPv6",
            fix="leave it out: the default is 1420",
        )


def check_kubespan_document(report: ValidationReport, span: ConfigValue) -> None:
    check_kubespan_mtu(report, span["mtu"])
    check_node_subnets(report, span.down("filters.endpoints"))


_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RESERVED = ("talos.dev/owned-labels", "talos.dev/owned-annotations", "talos.dev/owned-taints")
_LONGEST_ANNOTATIONS = 256 * 1024


def check_labels(report: ValidationReport, labels: ConfigValue) -> None:
    for key, entry in labels.entries.items():
        for wrong in (label_key_error(key), label_value_error(entry.text)):
            if wrong:
                _report_label(report, entry, f"the label {key}", wrong)


def check_annotations(report: ValidationReport, annotations: ConfigValue) -> None:
    size = 0
    for key, entry in annotations.entries.items():
        wrong = label_key_error(key)
        if wrong or key in _RESERVED:
            reason = wrong or "it is reserved by Talos"
            _report_label(report, entry, f"the annotation {key}", reason)
        size += len(key.encode()) + len(entry.text.encode())
    if size > _LONGEST_ANNOTATIONS:
        _report_label(
            report,
            annotations,
            annotations.name,
            f"annotations have at most {_LONGEST_ANNOTATIONS} bytes",
        )


def check_taints(report: ValidationReport, taints: ConfigValue) -> None:
    for key, entry in taints.entries.items():
        value, colon, effect = entry.text.partition(":")
        wrong = label_key_error(key)
        if not wrong and (effect if colon else value) not in _EFFECTS:
            wrong = f"its effect must be one of {', '.join(_EFFECTS)}"
        if not wrong and colon:
            wrong = label_value_error(value)
        if wrong:
            _report_label(report, entry, f"the taint {key}", wrong)


def _report_label(report: ValidationReport, field: ConfigValue, what: str, why: str) -> None:
    report.error(
        "machine.label",
        field,
        f"{what} is not valid in Kubernetes",
        why=why,
        fix="use the form of Kubernetes, example.com/rack: a; taints as value:NoSchedule",
    )
