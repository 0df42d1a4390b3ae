"""Parts of the control plane as a server sees them: `ComponentStatus`, which nobody stores."""

from __future__ import annotations

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.listing import Page
from stockman_lab.kube.failures import not_found
from stockman_lab.kube.store.entries import Entry


def component(call: Call, names: tuple[str, ...]) -> Entry:
    """One part; raises `Failure`."""
    if call.name not in names:
        raise not_found(call.named, call.name)
    return _entry(call.name)


def components(names: tuple[str, ...]) -> Page:
    """All of them."""
    return Page([_entry(name) for name in names], {})


def _entry(name: str) -> Entry:
    healthy = {"type": "Healthy", "status": "True", "message": "ok"}
    content = {
        "kind": "ComponentStatus",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "conditions": [healthy],
    }
    return Entry(ObjectKey("componentstatuses", name).key, 0, 0, content)
