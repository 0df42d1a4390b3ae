"""What keeps first files from being made for a Proxmox cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network

from stockman.model.problem import Problem

IMAGE_ROOM = 8
"""GiB that images of two versions take, roughly."""


def no_host(away: Iterable[tuple[str, str]]) -> Problem:
    told = "; ".join(f"{name}: {why}" for name, why in away)
    return Problem(
        code="init.no-host",
        what="no host of the Proxmox cluster can take machines",
        where="GET /cluster/resources",
        why=told or "the list of hosts is empty",
        fix="bring a host back into the cluster: `pvecm status` on a host tells who is there",
    )


def missing_resources(privilege: str, path: str, unseen: str) -> Problem:
    return Problem(
        code="init.unseen",
        what=f"the token lacks {privilege} on {path}",
        where=path,
        why=f"without it, Proxmox VE does not show {unseen}",
        fix=f"give the token, and its user, a role with {privilege} on {path}; PVEAuditor on / has"
        " all that is read here",
    )


def no_disk_storage(hosts: Sequence[str], seen: str, need: str) -> Problem:
    return Problem(
        code="init.no-storage",
        what=f"no storage takes the disks of machines on {', '.join(hosts)}",
        where="GET /cluster/resources",
        why=f"{need}; seen were {seen}",
        fix="add Disk image to the content of a storage of each, and make room in it: Datacenter,"
        " Storage, Edit, or `pvesm set STORAGE --content images,rootdir`",
    )


def no_import_storage(hosts: Sequence[str], seen: str, switch: tuple[str, str] | None) -> Problem:
    """`switch` is a storage that could take images, and the content it would have then."""
    if switch is None:
        fix = (
            "make room, or add a directory to all of them, with Import among its content:"
            " Datacenter, Storage, Add, Directory, or"
            " `pvesm add dir images --path /var/lib/images --content import`"
        )
    else:
        name, content = switch
        fix = (
            f"add Import to the content of {name}: Datacenter, Storage, {name}, Edit, or"
            f" `pvesm set {name} --content {content}` on a host"
        )
    return Problem(
        code="init.no-storage",
        what=f"no storage takes boot images on {', '.join(hosts)}",
        where="GET /cluster/resources",
        why=f"none that all of them have is for `import` with {IMAGE_ROOM} GiB free; seen were"
        f" {seen}",
        fix=fix,
    )


def no_bridge(hosts: Sequence[str], seen: str) -> Problem:
    return Problem(
        code="init.no-bridge",
        what=f"there is no bridge that is up on all of {', '.join(hosts)}",
        where="GET /nodes/HOST/network",
        why=f"seen were {seen}",
        fix="make a bridge of the same name on each host, and apply the configuration: the host,"
        " System, Network",
    )


def no_network(bridge: str) -> Problem:
    return Problem(
        code="init.no-network",
        what=f"nobody says which network {bridge} leads to",
        where=bridge,
        why="no host has an address on it",
        fix="give the network of the machines with `--network`, and its router with `--gateway`",
    )


def small_network(network: IPv4Network, needed: int) -> Problem:
    return Problem(
        code="init.no-network",
        what=f"{network} is too small for the machines",
        where=str(network),
        why=f"{needed} free addresses are needed beside the router and the Proxmox hosts",
        fix="give a larger network with `--network`, or choose a smaller `--preset`",
    )


def gateway_outside(gateway: IPv4Address, network: IPv4Network) -> Problem:
    return Problem(
        code="init.no-network",
        what=f"the router {gateway} is outside of the network of the machines",
        where=str(gateway),
        why=f"the network is {network}",
        fix="give a router of that network with `--gateway`, or another network with `--network`",
    )


def no_free_vmids(tried: int, count: int) -> Problem:
    return Problem(
        code="init.no-vmids",
        what=f"no {count} free VM ids in a row were found",
        where="GET /cluster/nextid",
        why=f"{tried} places were tried, and each held a guest",
        fix="see which ids are in use: Datacenter, Search; then write free ones into nodes.yaml of"
        " a preset",
    )


def version_too_old(version: str, why: str) -> Problem:
    return Problem(
        code="proxmox.unsupported",
        what=f"Proxmox VE {version} is not supported",
        where="GET /version",
        why=why,
        fix="upgrade the hosts to a version that `stockman versions proxmox` lists",
    )
