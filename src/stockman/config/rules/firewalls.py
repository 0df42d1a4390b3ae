"""The firewall: ports exist, rise and do not overlap, and no rule takes a name that is in use."""

from __future__ import annotations

from stockman.config.rules.context import Context
from stockman.model.firewall import FirewallRule

OWN_RULES = (
    "apid-ingress",
    "kubelet-ingress",
    "trustd-ingress",
    "kubernetes-api-ingress",
    "etcd-ingress",
    "cilium-ingress",
    "cilium-tunnel-ingress",
    "kubespan-ingress",
)
"""Names of the rules that stockman makes."""

_LAST = 65_535


def check(context: Context) -> None:
    firewall = context.estate.talos.firewall
    for name, rule in firewall.rules.items():
        if name in OWN_RULES:
            context.problems.error(
                "firewall.rule",
                f"the firewall rule {name} cannot be made",
                why="stockman makes a rule of that name",
                fix="give it another name",
                at=rule.where(),
            )
        _check_ports(context, name, rule)
    if firewall.rules and not firewall.enabled:
        context.problems.warn(
            "firewall.off",
            "the firewall has rules, and is off",
            why="talos.firewall.enabled is false, so that everything is open",
            fix="set `enabled: true`, or remove the rules",
            at=firewall.where("rules"),
        )


def _check_ports(context: Context, name: str, rule: FirewallRule) -> None:
    before = 0
    for low, high, text in sorted(_range(text) for text in rule.ports):
        why = ""
        if not 1 <= low <= high <= _LAST:
            why = f"{text} is not between 1 and {_LAST}, or falls"
        elif low <= before:
            why = f"{text} overlaps another of its ports"
        before = max(before, high)
        if why:
            context.problems.error(
                "firewall.rule",
                f"the firewall rule {name} cannot be made",
                why=why,
                fix="write each port once, ranges as 9100-9110",
                at=rule.where("ports"),
            )


def _range(text: str) -> tuple[int, int, str]:
    low, _, high = text.partition("-")
    return int(low), int(high or low), text
