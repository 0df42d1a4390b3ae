"""Names of what high availability looks after: `vm:100`, `ct:200`."""

from __future__ import annotations

import re

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest import Guest

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
