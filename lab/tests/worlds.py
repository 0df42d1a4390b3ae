"""Worlds for tests: three hosts with everything that a small cluster has."""

from __future__ import annotations

from stockman_lab.guest.network import Pool as AddressPool
from stockman_lab.pve.access.state import Profile, fresh_access
from stockman_lab.pve.cluster_state import ClusterState
from stockman_lab.pve.host import GIB, Host, PciDevice, PhysicalDisk, Pool, UsbDevice
from stockman_lab.pve.storage import Storage
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.world.world import World

TIB = 1024 * GIB
NAME = "meadow"


def small_world(profile: str = "9.1", hosts: int = 3, seed: int = 1) -> World:
    """A cluster of hosts pve1, pve2 ... with local, ZFS, thin and shared storage."""
    world = World.new(seed=seed)
    state = ClusterState(
        name=NAME,
        profile=profile,
        access=fresh_access(Profile(profile), world.state.dice.random_bytes),
        is_clustered=hosts > 1,
        pools={"rbd:10.0.0.1/vms": Pool("rbd:10.0.0.1/vms", 20 * TIB)},
        storages={
            one.id: one
            for one in (
                Storage(
                    "local",
                    "dir",
                    {
                        "path": "/var/lib/vz",
                        "content": "iso,vztmpl,backup,import,snippets",
                    },
                ),
                Storage(
                    "local-zfs",
                    "zfspool",
                    {
                        "pool": "rpool/data",
                        "content": "images,rootdir",
                        "sparse": "1",
                    },
                ),
                Storage(
                    "thin",
                    "lvmthin",
                    {
                        "vgname": "pve",
                        "thinpool": "data",
                        "content": "images,rootdir",
                    },
                ),
                Storage(
                    "files",
                    "dir",
                    {
                        "path": "/srv/files",
                        "content": "images,rootdir,iso,import",
                    },
                ),
                Storage(
                    "ceph",
                    "rbd",
                    {
                        "monhost": "10.0.0.1",
                        "pool": "vms",
                        "content": "images,rootdir",
                    },
                ),
            )
        },
    )
    for number in range(1, hosts + 1):
        state.hosts[f"pve{number}"] = _host(number, world.now)
    world.state.network.pools.append(
        AddressPool(bridge="vmbr0", first="127.66.1.100/16", count=100)
    )
    world.state.network.pools.append(
        AddressPool(bridge="vmbr0", first="fd66::1:0/64", count=50, announced=True)
    )
    world.add_cluster(state)
    return world


def _host(number: int, now: float) -> Host:
    return Host(
        name=f"pve{number}",
        address=f"127.66.0.{10 + number}",
        nodeid=number,
        booted_at=now - 86_400,
        pools={
            "fs:/": Pool("fs:/", 100 * GIB, 5 * GIB),
            "zfs:rpool": Pool("zfs:rpool", 2 * TIB),
            "lvmthin:pve/data": Pool("lvmthin:pve/data", TIB),
            "fs:/srv/files": Pool("fs:/srv/files", 500 * GIB),
        },
        disks=[
            PhysicalDisk("/dev/nvme0n1", 2 * TIB, model="Samsung SSD 990 PRO", used="ZFS"),
            PhysicalDisk("/dev/sda", 4 * TIB, model="WDC WD40EFRX", kind="hdd", rpm=5400),
        ],
        pci=[
            PciDevice(
                "0000:01:00.0",
                "0x10de",
                "0x1eb8",
                "NVIDIA Corporation",
                "TU104GL [T4]",
                iommugroup=1,
            ),
        ],
        usb=[UsbDevice(1, 2, "1-2", "0x1a86", "0x7523", "QinHeng", "CH340 serial converter")],
        interfaces={
            "eno1": {"type": "eth", "method": "manual", "exists": "1"},
            "vmbr0": {
                "type": "bridge",
                "method": "static",
                "cidr": f"127.66.0.{10 + number}/16",
                "gateway": "127.66.0.1",
                "bridge_ports": "eno1",
                "bridge_vlan_aware": "1",
                "autostart": "1",
            },
        },
    )


def door(world: World | None = None) -> MemoryClient:
    """The API of the cluster for root."""
    return MemoryClient(world or small_world(), NAME)
