"""How a server is: `/livez`, `/readyz` and `/healthz`, with their checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

_HOOKS = (
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "peer-endpoint-reconciler-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "storage-readiness",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kubernetes-service-cidr-controller",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
)
_LAST_HOOKS = ("apiservice-openapi-controller", "apiservice-openapiv3-controller")
_STARTED = (
    *(f"poststarthook/{hook}" for hook in _HOOKS),
    "autoregister-completion",
    *(f"poststarthook/{last_hook}" for last_hook in _LAST_HOOKS),
)
_ALIVE = ("ping", "log", "loopback-serving-certificate", "etcd", *_STARTED)
CHECKS: Mapping[str, tuple[str, ...]] = {
    "livez": _ALIVE,
    "readyz": ("ping", "log", "etcd", "etcd-readiness", "informer-sync", *_STARTED, "shutdown"),
    "healthz": _ALIVE,
}
"""What each of them looks at, in the order in which it is told."""


class Health(NamedTuple):
    """An answer: whether all is well, and the text."""

    passed: bool
    text: str


def health(
    name: str,
    failing: Collection[str] = (),
    *,
    verbose: bool = False,
    excluded: Collection[str] = (),
) -> Health:
    """What `livez`, `readyz` or `healthz` says when some of its checks fail.

    A client is told which fail, never why.
    """
    lines = []
    bad = False
    for check in CHECKS[name]:
        if check in excluded:
            lines.append(f"[+]{check} excluded: ok")
        elif check in failing:
            bad = True
            lines.append(f"[-]{check} failed: reason withheld")
        else:
            lines.append(f"[+]{check} ok")
    unknown = sorted(set(excluded) - set(CHECKS[name]))
    if unknown:
        quoted = ",".join(f'"{one}"' for one in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {quoted}")
    if bad:
        return Health(False, "\n".join([*lines, f"{name} check failed", ""]))
    if verbose:
        return Health(True, "\n".join([*lines, f"{name} check passed", ""]))
    return Health(True, "ok")
