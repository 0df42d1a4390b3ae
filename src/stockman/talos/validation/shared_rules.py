"""Rules that several documents share: kubelet, KubeSpan, labels, URLs, runtime specification."""

from __future__ import annotations

import json
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from stockman.model.package_file import read_package_text
from stockman.talos.patches.scalars import parse_nanoseconds, parse_url
from stockman.talos.patches.schema import NUMBERS
from stockman.talos.validation.formats import (
    is_network,
    is_subnet,
    label_key_error,
    label_value_error,
    split_host_port,
)
from stockman.talos.validation.report import ConfigValue, Rule

_PROTECTED = (
    *("apiVersion", "authentication", "authorization", "cgroupRoot", "kind", "kubeletCgroups"),
    *("port", "protectKernelDefaults", "resolvConf", "rotateCertificates", "systemCgroups"),
    *("staticPodPath", "seccompDefault"),
)

Environment = Literal["disk", "link", "member", "oom-ranking", "oom-trigger", "volume"]
"""The variables and functions that an expression can use."""


def check_expression(field: ConfigValue, environment: Environment) -> None:
    """Check an expression in the Common Expression Language."""
    # Few configurations have expressions, and the tables of the language are large.
    from stockman.talos.validation.cel.checker import expression_error
    from stockman.talos.validation.cel.types import ENVIRONMENTS

    if wrong := expression_error(field.text, ENVIRONMENTS[environment], field.minor):
        field.error(
            "machine.expression",
            f"{field.name} is not a valid expression",
            why=wrong,
            fix='correct it; an example is disk.transport == "nvme" && disk.size > 100u * GB',
        )


def matches(path: str, environment: Environment, why: str, fix: str = "") -> Rule:
    """Return the rule that an expression at a path is present and valid."""

    def check(document: ConfigValue) -> None:
        field = document.down(path)
        if field.require(why, fix):
            check_expression(field, environment)

    return check


def check_kubelet(kubelet: ConfigValue) -> None:
    check_node_subnets(kubelet.down("nodeIP.validSubnets"))
    check_protected_fields(kubelet["extraConfig"])


def check_protected_fields(config: ConfigValue) -> None:
    """Check that fields of the kubelet configuration that Talos manages are not set."""
    for key, entry in config.entries.items():
        if key in _PROTECTED:
            entry.error(
                "machine.kubelet-field",
                f"{entry.name} is managed by Talos",
                why="the kubelet would not work on Talos with another value",
                fix="remove it",
            )


def check_node_subnets(subnets: ConfigValue) -> None:
    for subnet in subnets.items:
        if not is_subnet(subnet.text):
            subnet.error(
                "machine.subnet",
                f"{subnet.text} is not a subnet",
                why=f"{subnet.name} accepts addresses and networks; a leading ! excludes them",
                fix="use a network such as 10.42.0.0/16",
            )


LEAST_KUBESPAN_MTU = 1280


def check_kubespan(machine: ConfigValue) -> None:
    span = machine.down("network.kubespan")
    if not span["enabled"].flag:
        return
    if span["mtu"].number:
        check_kubespan_mtu(span["mtu"])
    check_node_subnets(span.down("filters.endpoints"))
    networks = span.down("filters.excludeAdvertisedNetworks")
    if machine.minor >= 13:
        for network in networks.items:
            if not is_network(network.text):
                network.error(
                    "machine.subnet",
                    f"{network.text} is not a network",
                    why=f"{network.name} accepts only networks",
                    fix="use a network such as 10.42.0.0/16",
                )


def check_kubespan_mtu(mtu: ConfigValue) -> None:
    if mtu.present and mtu.number < LEAST_KUBESPAN_MTU:
        mtu.error(
            "machine.range",
            f"{mtu.name} is {mtu.number}",
            why=f"KubeSpan needs an MTU of at least {LEAST_KUBESPAN_MTU}, for IPv6",
            fix="leave it out: the default is 1420",
        )


_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RESERVED = ("talos.dev/owned-labels", "talos.dev/owned-annotations", "talos.dev/owned-taints")
_LONGEST_ANNOTATIONS = 256 * 1024


def check_labels(labels: ConfigValue) -> None:
    for key, entry in labels.entries.items():
        for wrong in (label_key_error(key), label_value_error(entry.text)):
            if wrong:
                _report_label(entry, f"the label {key}", wrong)


def check_annotations(annotations: ConfigValue) -> None:
    size = 0
    for key, entry in annotations.entries.items():
        wrong = label_key_error(key)
        if wrong or key in _RESERVED:
            reason = wrong or "it is reserved by Talos"
            _report_label(entry, f"the annotation {key}", reason)
        size += len(key.encode()) + len(entry.text.encode())
    if size > _LONGEST_ANNOTATIONS:
        _report_label(
            annotations, annotations.name, f"annotations have at most {_LONGEST_ANNOTATIONS} bytes"
        )


def check_taints(taints: ConfigValue) -> None:
    for key, entry in taints.entries.items():
        value, colon, effect = entry.text.partition(":")
        wrong = label_key_error(key)
        if not wrong and (effect if colon else value) not in _EFFECTS:
            wrong = f"its effect must be one of {', '.join(_EFFECTS)}"
        if not wrong and colon:
            wrong = label_value_error(value)
        if wrong:
            _report_label(entry, f"the taint {key}", wrong)


def _report_label(field: ConfigValue, what: str, why: str) -> None:
    field.error(
        "machine.label",
        f"{what} is not valid in Kubernetes",
        why=why,
        fix="use the form of Kubernetes, example.com/rack: a; taints as value:NoSchedule",
    )


class UrlForm(NamedTuple):
    """What a URL must look like, and what it is called."""

    what: str
    schemes: tuple[str, ...]
    example: str
    needs_host: bool = False
    needs_port: bool = False
    has_path: bool = True

    def find_error(self, text: str) -> str:
        """Return what is wrong with a URL. Empty: it is valid."""
        url = parse_url(text)
        host, port = split_host_port(url.host)
        if url.scheme not in self.schemes:
            return f"its scheme is neither {' nor '.join(self.schemes)}"
        if self.needs_host and not host:
            return "its host is missing"
        if not self.has_path and url.path not in ("", "/"):
            return "its path is not empty"
        return "its port is missing" if self.needs_port and not port else ""


def check_url(field: ConfigValue, needed: str, form: UrlForm) -> None:
    """Check that a URL is present and has a form; `needed` says what it is for."""
    if not field.present:
        field.missing(needed)
    elif wrong := form.find_error(field.text):
        what = f"{field.name} is not a valid {form.what}"
        field.error("machine.url", what, why=wrong, fix=f"use a URL such as {form.example}")


def valid_url(path: str, needed: str, form: UrlForm) -> Rule:
    """Return the rule that the URL at a path is present and has a form."""
    return lambda document: check_url(document.down(path), needed, form)


def check_least_time(span: ConfigValue, least: int) -> None:
    """Check that a time is zero or at least a number of nanoseconds."""
    nanoseconds = parse_nanoseconds(span.text) if span.text else 0
    if nanoseconds and nanoseconds < least:
        span.error(
            "machine.range",
            f"{span.name} is {span.text}",
            why=f"less than {least // 10**9} s is too often",
            fix=f"use at least {least // 10**9}s",
        )


SpecShape: TypeAlias = "str | dict[str, SpecShape]"
_FLOATS = ("float32", "float64")


@cache
def load_shapes(minor: int) -> dict[str, dict[str, SpecShape]]:
    """Return the structs of a runtime specification, by name."""
    text = read_package_text("stockman.talos.validation.types", f"1.{minor}.json")
    shapes: dict[str, dict[str, SpecShape]] = json.loads(text)["runtime"]
    return shapes


def check_runtime_spec(overrides: ConfigValue) -> None:
    if not overrides.present:
        return
    for field, expected in _find_mismatches(
        load_shapes(overrides.minor), {"struct": "Spec"}, overrides
    ):
        field.error(
            "machine.runtime-spec",
            f"{field.name} is invalid",
            why=f"it must be {expected}",
            fix="use values of the container runtime specification",
        )


def _find_mismatches(
    structs: dict[str, dict[str, SpecShape]], shape: SpecShape, value: ConfigValue
) -> list[tuple[ConfigValue, str]]:
    if not value.present or shape == "any":
        return []
    if isinstance(shape, str):
        return [] if _fits(shape, value) else [(value, _expected_text(shape))]
    ((kind, inner),) = shape.items()
    if kind == "list":
        if inner == "uint8":
            return []
        if not value.is_list:
            return [(value, "a list")]
        return [
            mismatch for item in value.items for mismatch in _find_mismatches(structs, inner, item)
        ]
    if not value.is_mapping:
        return [(value, "a mapping")]
    fields = structs[str(inner)] if kind == "struct" else {}
    lower = {name.lower(): name for name in fields}
    mismatches = []
    for key, entry in value.entries.items():
        name = key if key in fields else lower.get(key.lower(), "")
        if kind == "map":
            mismatches += _find_mismatches(structs, inner, entry)
        elif name:
            mismatches += _find_mismatches(structs, fields[name], entry)
    return mismatches


def _fits(kind: str, field: ConfigValue) -> bool:
    value = field.value
    if kind == "string":
        return isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if kind in _FLOATS:
        return True
    least, greatest = NUMBERS.get(kind, NUMBERS["int64"])
    return float(value).is_integer() and least <= value <= greatest


def _expected_text(kind: str) -> str:
    if kind == "string":
        return "a text"
    return "true or false" if kind == "bool" else "a number"
