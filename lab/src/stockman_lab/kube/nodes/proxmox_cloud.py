"""The cloud controller of Proxmox VE: it asks with the token of its configuration, and only so."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from stockman_lab.kube.nodes.host import CloudWord
from stockman_lab.kube.objects import Object, entries_of, part_of

if TYPE_CHECKING:
    from stockman_lab.pve.access.state import AccessState
    from stockman_lab.pve.guest import Guest
    from stockman_lab.talos.machine import Machine

PURPOSE = "proxmox-cloud"
_KEY = "config.yaml"
_MIB_PER_GIB = 1024


def secret_names(pod: Object) -> Iterator[str]:
    """Secrets that a pod mounts."""
    for volume in entries_of(pod, "spec", "volumes"):
        name = part_of(volume, "secret").get("secretName")
        if name:
            yield str(name)


def configuration(secret: Object) -> str:
    """The configuration file that a Secret holds. Empty: none."""
    content = part_of(secret, "data").get(_KEY, "")
    return base64.b64decode(str(content)).decode(errors="replace")


def word_of(machine: Machine, text: str) -> CloudWord | None:
    """What the controller finds out about a machine. None: it is not let in, or misled."""
    guest = machine.land.guest(machine)
    cluster = machine.land.proxmox(machine)
    if guest is None or cluster is None or not _is_named(guest, machine):
        return None
    for one in _clusters(text):
        if _is_let_in(cluster.state.access, one):
            region = str(one.get("region", ""))
            values = guest.config.values
            memory = int(values.get("memory", "512").partition(",")[0]) // _MIB_PER_GIB
            return CloudWord(
                provider_id=f"proxmox://{region}/{machine.state.vmid}",
                region=region,
                zone=guest.node,
                instance_type=f"{values.get('cores', '1')}VCPU-{memory}GB",
            )
    return None


def _is_named(guest: Guest, machine: Machine) -> bool:
    """Whether the name of a VM begins with that of its node; else the controller finds none."""
    return guest.config.values.get("name", "").startswith(machine.hostname)


def _clusters(text: str) -> Iterator[Mapping[str, object]]:
    import yaml

    try:
        read = yaml.safe_load(text)
    except yaml.YAMLError:
        return
    clusters = read.get("clusters") if isinstance(read, dict) else None
    for cluster in clusters if isinstance(clusters, list) else ():
        if isinstance(cluster, dict):
            yield cluster


def _is_let_in(access: AccessState, one: Mapping[str, object]) -> bool:
    user, _, name = str(one.get("token_id", "")).partition("!")
    known = access.users.get(user)
    token = known.tokens.get(name) if known is not None else None
    return token is not None and token.secret == one.get("token_secret")
