"""Where nodes say that they are, and who told them: cloud controllers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from stockman.app.status import cluster_problems as say
from stockman.app.status.finding import Finding
from stockman.app.status.seen import Seen
from stockman.model.desired import Node
from stockman.model.problem import Problem
from stockman.planning.observed_kubernetes import SeenNode
from stockman.talos.nocloud.meta_data import provider_id

TALOS = "talos-cloud-controller-manager"
PROXMOX = "proxmox-cloud-controller-manager"
_COMPONENTS = {TALOS: "talos-ccm", PROXMOX: "proxmox-ccm"}
_MANY = 3
_LONG = 600


def judged_topology(node: Node, found: SeenNode, seen: Seen) -> Iterator[Finding]:
    """Whether a node waits for a cloud controller, or was told something wrong by one."""
    name = found.name
    if found.is_uninitialized:
        yield Finding(subject=name, problem=_uninitialized(found, seen))
        return
    if node.vm is None:
        return
    if found.provider_id and found.provider_id != provider_id(node.vm):
        wrong = say.provider(name, seen.address_of(name), found.provider_id, provider_id(node.vm))
        yield Finding(subject=name, problem=wrong)
    region, hosts = str(node.vm.region), {str(node.vm.host)}
    proxmox = seen.proxmox(region)
    guest = proxmox.guest(node.vm.vmid) if proxmox is not None else None
    if guest is not None:
        hosts.add(str(guest.host))
    if _is_wrong(found.region, {region}, seen):
        wrong = say.topology(name, "region", found.region, region)
        yield Finding(subject=name, problem=wrong)
    if _is_wrong(found.zone, hosts, seen):
        where = str(guest.host) if guest is not None else str(node.vm.host)
        yield Finding(subject=name, problem=say.topology(name, "zone", found.zone, where))


def _is_wrong(label: str, wanted: set[str], seen: Seen) -> bool:
    """A label that is missing is wrong only where somebody should have set it."""
    return label not in wanted if label else _has_controller(seen)


def _has_controller(seen: Seen) -> bool:
    return any(seen.components.get(one) for one in _COMPONENTS.values())


def _uninitialized(found: SeenNode, seen: Seen) -> Problem:
    running = [one for one in (PROXMOX, TALOS) if one in _controllers(seen)]
    if not running:
        return say.nobody_initializes(found.name)
    how_long = ""
    if found.created is not None:
        how_long = f" since {_span(seen.at - found.created)}"
    return say.uninitialized(found.name, how_long, running[0])


def _span(length: timedelta) -> str:
    seconds = max(int(length.total_seconds()), 0)
    return f"{seconds} s" if seconds < _LONG else f"{seconds // 60} minutes"


def _controllers(seen: Seen) -> set[str]:
    return {name for _, name in seen.workloads} & set(_COMPONENTS)


def judged_controllers(seen: Seen) -> Iterator[Finding]:
    """Whether two cloud controllers work on the same nodes."""
    for why in _fight(seen):
        yield Finding(subject="cloud controllers", problem=say.two_controllers(why))
        return


def _fight(seen: Seen) -> Iterator[str]:
    schemes: dict[str, str] = {}
    for node in seen.nodes.values():
        if node.provider_id:
            schemes.setdefault(node.provider_id.partition("://")[0], node.name)
    if len(schemes) > 1:
        told = ", ".join(f"{scheme}:// on {name}" for scheme, name in sorted(schemes.items()))
        yield f"nodes have identities of different kinds: {told}"
    both = [one.name for one in seen.nodes.values() if {TALOS, PROXMOX} <= set(one.managers)]
    if both:
        more = f" and {len(both) - _MANY} more" if len(both) > _MANY else ""
        yield f"{TALOS} and {PROXMOX} both wrote to {', '.join(both[:_MANY])}{more}"
    running = _controllers(seen)
    unwanted = [one for one in sorted(running) if seen.components.get(_COMPONENTS[one]) is False]
    if len(running) > 1 and unwanted:
        yield f"both run, and {_COMPONENTS[unwanted[0]]} is off in cluster.yaml"
