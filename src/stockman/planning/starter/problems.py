"""Problems that prevent first files for a Proxmox cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network

from stockman.model.problem import Problem

IMAGE_ROOM = 8
"""Approximate GiB of the images of two versions."""


def no_host(away: Iterable[tuple[str, str]]) -> Problem:
    reasons = "; ".join(f"{name}: {why}" for name, why in away)
    return Problem(
        code="init.no-host",
        what="no host of the Proxmox cluster can run machines",
        where="GET /cluster/resources",
        why=reasons or "the list of hosts is empty",
        fix="bring a host online: `pvecm status` on a host lists the members",
    )


def missing_resources(privilege: str, path: str, unseen: str) -> Problem:
    return Problem(
        code="init.unseen",
        what=f"the token lacks {privilege} on {path}",
        where=path,
        why=f"without it, Proxmox VE does not show {unseen}",
        fix=f"give the token, and its user, a role with {privilege} on {path}; PVEAuditor on /"
        " includes everything that is read here",
    )


def no_disk_storage(hosts: Sequence[str], storages: str, need: str) -> Problem:
    return Problem(
        code="init.no-storage",
        what=f"no storage can hold machine disks on {', '.join(hosts)}",
        where="GET /cluster/resources",
        why=f"{need}; the storages are: {storages}",
        fix="add Disk image to the content of a storage of each, and free space on it: Datacenter,"
        " Storage, Edit, or `pvesm set STORAGE --content images,rootdir`",
    )


def no_import_storage(
    hosts: Sequence[str], storages: str, switch: tuple[str, str] | None
) -> Problem:
    """`switch` is a storage that could hold images, and its content types for that."""
    if switch is None:
        fix = (
            "free space, or add a directory with the content type Import to all of them:"
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
        what=f"no storage can hold boot images on {', '.join(hosts)}",
        where="GET /cluster/resources",
        why=f"no common storage allows `import` and has {IMAGE_ROOM} GiB free; the storages are:"
        f" {storages}",
        fix=fix,
    )


def no_bridge(hosts: Sequence[str], bridges: str) -> Problem:
    return Problem(
        code="init.no-bridge",
        what=f"no bridge is up on all of {', '.join(hosts)}",
        where="GET /nodes/HOST/network",
        why=f"the bridges are: {bridges}",
        fix="create a bridge with the same name on each host, and apply the configuration: the"
        " host, System, Network",
    )


def no_network(bridge: str) -> Problem:
    return Problem(
        code="init.no-network",
        what=f"the network of {bridge} is unknown",
        where=bridge,
        why="no host has an address on it",
        fix="set the network of the machines with `--network` and its gateway with `--gateway`",
    )


def small_network(network: IPv4Network, needed: int) -> Problem:
    return Problem(
        code="init.no-network",
        what=f"{network} is too small for the machines",
        where=str(network),
        why=f"{needed} free addresses are needed besides the gateway and the Proxmox hosts",
        fix="set a larger network with `--network`, or select a smaller `--preset`",
    )


def gateway_outside(gateway: IPv4Address, network: IPv4Network) -> Problem:
    return Problem(
        code="init.no-network",
        what=f"the gateway {gateway} is outside of the network of the machines",
        where=str(gateway),
        why=f"the network is {network}",
        fix="set a gateway in that network with `--gateway`, or another network with `--network`",
    )


def no_free_vmids(tried: int, count: int) -> Problem:
    return Problem(
        code="init.no-vmids",
        what=f"no {count} consecutive free VM ids were found",
        where="GET /cluster/nextid",
        why=f"{tried} ranges were tried, and each contained a guest",
        fix="see which ids are in use (Datacenter, Search), and set free ones in nodes.yaml of"
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
