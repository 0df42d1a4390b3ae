"""How a server is: `/livez`, `/readyz` and `/healthz`, with their checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

_STARTED = ("poststarthook/rbac/bootstrap-roles", "poststarthook/bootstrap-controller")
_ALIVE = ("ping", "log", "etcd", *_STARTED)
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


def health(name: str, failing: Collection[str] = (), *, verbose: bool = False) -> Health:
    """What `livez`, `readyz` or `healthz` says when some of its checks fail.

    A client is told which fail, never why.
    """
    passed = not set(failing) & set(CHECKS[name])
    if passed and not verbose:
        return Health(True, "ok")
    lines = [
        f"[-]{check} failed: reason withheld" if check in failing else f"[+]{check} ok"
        for check in CHECKS[name]
    ]
    return Health(passed, "\n".join([*lines, f"{name} check {'passed' if passed else 'failed'}"]))
