"""Hosts as a look finds them, each as plain as can be."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface

from stockman.model.names import HostName
from stockman.model.version import Version
from stockman.planning.starter.observed import (
    GIB,
    StarterBridge,
    StarterCluster,
    StarterHost,
    StarterStorage,
)


def storage(
    name: str = "local-lvm",
    *content: str,
    shared: bool = False,
    free: int | None = 500,
    kind: str = "lvmthin",
) -> StarterStorage:
    """A storage with so many GiB free, for disks unless something else is named."""
    return StarterStorage(
        name=name,
        kind=kind,
        content=frozenset(content or ("images",)),
        shared=shared,
        available=True,
        free=None if free is None else free * GIB,
    )


def files(name: str = "local", *content: str, free: int = 90) -> StarterStorage:
    return storage(name, *(content or ("iso", "import")), kind="dir", free=free)


def bridge(
    name: str = "vmbr0", address: str = "", gateway: str = "", *, active: bool = True
) -> StarterBridge:
    return StarterBridge(
        name=name,
        active=active,
        vlan_aware=True,
        address=IPv4Interface(address) if address else None,
        gateway=IPv4Address(gateway) if gateway else None,
    )


def host(
    name: str,
    *,
    memory: int = 64,
    promised: int = 0,
    storages: tuple[StarterStorage, ...] | None = None,
    bridges: tuple[StarterBridge, ...] | None = None,
) -> StarterHost:
    """A host with so many GiB of memory."""
    number = int(name[-1])
    own = (bridge(address=f"127.66.0.{number}/24", gateway="127.66.0.254"),)
    return StarterHost(
        name=HostName(name),
        address=f"127.66.0.{number}",
        is_local=number == 1,
        cores=16,
        memory=memory * 1024,
        promised=promised * 1024,
        storages=storages if storages is not None else (files(), storage()),
        bridges=bridges if bridges is not None else own,
    )


def found(*hosts: StarterHost, version: str = "9.1.9") -> StarterCluster:
    return StarterCluster(
        version=Version.parse(version),
        cluster="lab",
        hosts=hosts,
        away=(),
        guests=frozenset(),
    )
