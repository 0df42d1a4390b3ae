"""Since when nobody has heard of the kubelet of a node."""

from __future__ import annotations

from stockman_lab.kube.nodes.host import Hosts


def silent_since(hosts: Hosts, notes: dict[str, str], name: str, now: float) -> float | None:
    """The moment when a kubelet was first missed, noted the first time. None: it can be heard."""
    host = hosts.host(name)
    place = f"silent {name}"
    if host is not None and host.is_alive:
        notes.pop(place, None)
        return None
    return float(notes.setdefault(place, str(now)))
