"""Resources of high availability by name, and where each may run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.storage import Storage

KINDS = {"vm": "qemu", "ct": "lxc"}
_TYPES = {kind: name for name, kind in KINDS.items()}
_NAMED = re.compile(r"(\S+):(\S+)", re.ASCII)


def resource_id(cluster: Cluster, text: str) -> str:
    """The name that is meant; a bare number is that of a guest."""
    if text.isdigit():
        guest = cluster.state.guests.get(int(text))
        if guest is None:
            raise die(f"unable to detect SID from VMID - VM/CT {text} does not exist")
        return name_of(guest)
    if not _NAMED.fullmatch(text):
        raise die(f"unable to parse service id '{text}'")
    return text


def name_of(guest: Guest) -> str:
    """What a guest is called."""
    return f"{_TYPES[guest.kind]}:{guest.vmid}"


def type_of(sid: str) -> str:
    return sid.partition(":")[0]


def desired_state(section: Section) -> str:
    """The state that is asked for, by its present name."""
    state = section.options.get("state", "started")
    return "started" if state == "enabled" else state


def guest_of(cluster: Cluster, sid: str) -> Guest | None:
    """The guest that is meant. None: there is none."""
    kind, _, number = sid.partition(":")
    guest = cluster.state.guests.get(int(number)) if number.isdigit() else None
    return guest if guest is not None and guest.kind == KINDS.get(kind) else None


def require_guest(cluster: Cluster, sid: str) -> None:
    """Refuse a name that no guest has."""
    if guest_of(cluster, sid) is not None:
        return
    kind, _, number = sid.partition(":")
    if not number.isdigit() or number.startswith("0"):
        raise die("invalid VMID")
    if int(number) not in cluster.state.guests:
        raise die(f"resource '{sid}' does not exist in cluster")
    word = "VM" if kind == "vm" else "container"
    raise die(f"resource '{sid}' - guest with ID {number} is not a {word}")


_ANYWHERE = -1
"""The priority of hosts that nobody named."""


def priorities(cluster: Cluster, sid: str) -> dict[str, int]:
    """Hosts that a resource may run on, with the priority of each."""
    named, is_strict = _named_hosts(cluster, sid)
    if not named:
        return dict.fromkeys(cluster.state.hosts, 0)
    fromkeys = {} if is_strict else dict.fromkeys(cluster.state.hosts, _ANYWHERE)
    return fromkeys | named


def together(cluster: Cluster, sid: str) -> list[str]:
    """Resources that have to run on the same host."""
    return _affine(cluster, sid, "positive")


def apart(cluster: Cluster, sid: str) -> list[str]:
    """Resources that have to run on other hosts."""
    return _affine(cluster, sid, "negative")


def best_host(cluster: Cluster, guest: Guest, *, avoid: str = "") -> str:
    """The host that suits a guest best. Empty: there is none."""
    sid = name_of(guest)
    wanted = priorities(cluster, sid)
    taken = set(_hosts_of(cluster, apart(cluster, sid)))
    shared_with = list(_hosts_of(cluster, together(cluster, sid)))
    able = [
        host.name
        for host in cluster.hosts_with_power()
        if host.name in wanted and host.name != avoid and host.name not in taken
    ]

    def worth(name: str) -> tuple[int, int, int, str]:
        return (-wanted[name], -shared_with.count(name), _load(cluster, name), name)

    return min(able, key=worth, default="")


def is_movable(cluster: Cluster, guest: Guest) -> bool:
    """Whether all volumes of a guest are on storages that all hosts share."""
    return all(
        storage.is_shared
        for value in guest.config.values.values()
        if (storage := _storage_in(cluster, guest, value)) is not None
    )


def _storage_in(cluster: Cluster, guest: Guest, value: str) -> Storage | None:
    volid = value.split(",", maxsplit=1)[0].removeprefix("file=").removeprefix("volume=")
    if space.find(cluster, guest.node, volid) is None:
        return None
    return cluster.state.storages[volid.partition(":")[0]]


def _named_hosts(cluster: Cluster, sid: str) -> tuple[dict[str, int], bool]:
    for rule in _rules(cluster, "node-affinity", sid):
        return node_priorities(rule.options["nodes"]), rule.options.get("strict") == "1"
    resource = cluster.state.ha_resources.get(sid)
    group = cluster.state.ha_groups.get(resource.options.get("group", "")) if resource else None
    if group is None:
        return {}, False
    return node_priorities(group.options["nodes"]), group.options.get("restricted") == "1"


def node_priorities(text: str) -> dict[str, int]:
    """Hosts of a list with priorities: `pve1:2,pve2`."""
    parts = (one.partition(":") for one in split_list(text))
    return {name: int(priority or 0) for name, _, priority in parts}


def _rules(cluster: Cluster, kind: str, sid: str) -> Iterator[Section]:
    for rule in cluster.state.ha_rules.values():
        is_on = rule.options.get("disable", "0") != "1"
        if rule.type == kind and is_on and sid in rule.options["resources"].split(","):
            yield rule


def _affine(cluster: Cluster, sid: str, affinity: str) -> list[str]:
    return sorted(
        resource
        for rule in _rules(cluster, "resource-affinity", sid)
        if rule.options.get("affinity") == affinity
        for resource in rule.options["resources"].split(",")
        if resource != sid
    )


def _hosts_of(cluster: Cluster, sids: list[str]) -> Iterator[str]:
    for sid in sids:
        guest = guest_of(cluster, sid)
        if guest is not None:
            yield guest.node


def _load(cluster: Cluster, host: str) -> int:
    guests = (guest_of(cluster, sid) for sid in cluster.state.ha_resources)
    return sum(1 for guest in guests if guest is not None and guest.node == host)
