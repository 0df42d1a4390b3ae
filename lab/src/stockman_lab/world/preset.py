"""Worlds made of presets: the hosts, storages and bridges that a preset's machines need.

A preset is the same text that `stockman init` writes, so what is described there fits here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network
from typing import Any

from stockman.model.package_file import read_package_bytes
from stockman_lab.core.state import state
from stockman_lab.guest.network import Pool as AddressPool
from stockman_lab.pve.access.state import Profile, fresh_access
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import ClusterState
from stockman_lab.pve.host import GIB, Host, PciDevice, PhysicalDisk, Pool, UsbDevice
from stockman_lab.pve.storage import Storage
from stockman_lab.world.world import World

_VENDORS = {
    "0x10de": ("NVIDIA Corporation", "0x2571", "GA106 [RTX A2000 12GB]"),
    "0x1002": ("Advanced Micro Devices, Inc. [AMD/ATI]", "0x73ff", "Navi 23 [Radeon RX 6600]"),
    "0x8086": ("Intel Corporation", "0x4680", "AlderLake-S GT1"),
}


def built_in_pci() -> list[PciDevice]:
    """What every host has on its board."""
    intel = "Intel Corporation"
    return [
        PciDevice("0000:00:00.0", "0x8086", "0x4668", intel, "12th Gen Core Processor Host Bridge",
                  device_class="0x060000", iommugroup=100),
        PciDevice("0000:00:14.0", "0x8086", "0x7ae0", intel, "Alder Lake-S PCH USB 3.2 Controller",
                  device_class="0x0c0330", iommugroup=101),
        PciDevice("0000:00:17.0", "0x8086", "0x7ae2", intel, "Alder Lake-S PCH SATA Controller",
                  device_class="0x010601", iommugroup=102),
        PciDevice("0000:00:1f.6", "0x8086", "0x1a1d", intel, "Ethernet Connection (17) I219-V",
                  device_class="0x020000", iommugroup=103),
    ]  # fmt: skip


def pci_device(entry: dict[str, Any], group: int) -> PciDevice:
    """The device of a PCI mapping; its maker is told by the name where no id is given."""
    vendor, _, device = entry["id"].partition(":")
    maker = f"0x{vendor}" if vendor else _maker(entry)
    name, usual, usual_name = _VENDORS.get(maker, ("", "0x0000", ""))
    address = entry["address"]
    return PciDevice(
        id=address if "." in address else f"{address}.0",
        vendor=maker,
        device=f"0x{device}" if device else usual,
        vendor_name=name,
        device_name=usual_name,
        iommugroup=group if entry["iommu"] else -1,
    )


def usb_device(entry: dict[str, Any], number: int) -> UsbDevice:
    """The device of a USB mapping."""
    vendor, _, product = entry["id"].partition(":")
    return UsbDevice(
        busnum=1,
        devnum=number + 1,
        usbpath=f"{number}",
        vendid=f"0x{vendor}",
        prodid=f"0x{product}",
        product=entry["description"],
        port=number,
    )


def _maker(entry: dict[str, Any]) -> str:
    said = f"{entry['name']} {entry['description']}".lower()
    if "amd" in said or "radeon" in said:
        return "0x1002"
    return "0x8086" if "intel" in said else "0x10de"


_GUESTS = "images,rootdir"
_FILES = "iso,vztmpl,backup,import,snippets"


def storages_of_names(names: Iterable[str], image_storage: str = "local") -> Iterator[Storage]:
    """Entries for names: what is called `ceph...` is Ceph, `...zfs` is ZFS, and so on.

    `local` is always among them, as every host has it.
    """
    fromkeys = dict.fromkeys(("local", *names, image_storage))
    for name in fromkeys:
        found = _storage_named(name)
        if name == image_storage and "import" not in found.content:
            content = ",".join(sorted({*found.content, "import", "iso"}))
            found.options["content"] = content if found.is_files else found.options["content"]
        yield found


def _storage_named(name: str) -> Storage:
    lowered = name.lower()
    if name == "local":
        return Storage(name, "dir", {"path": "/var/lib/vz", "content": _FILES})
    if "cephfs" in lowered:
        return Storage(name, "cephfs", {"content": _FILES, "monhost": "ceph"})
    if "ceph" in lowered or "rbd" in lowered:
        options = {"content": _GUESTS, "monhost": "ceph", "pool": name, "krbd": "0"}
        return Storage(name, "rbd", options)
    if "nfs" in lowered or "nas" in lowered:
        options = {"content": f"{_GUESTS},{_FILES}", "server": "nas", "export": f"/{name}"}
        return Storage(name, "nfs", options)
    if "pbs" in lowered or "backup" in lowered:
        options = {"content": "backup", "server": "pbs", "datastore": name}
        return Storage(name, "pbs", options)
    if "lvm" in lowered:
        options = {"content": _GUESTS, "vgname": "pve", "thinpool": "data"}
        return Storage(name, "lvmthin", options)
    if "dir" in lowered or "file" in lowered:
        options = {"content": f"{_GUESTS},{_FILES}", "path": f"/srv/{name}"}
        return Storage(name, "dir", options)
    pool = "rpool/data" if name == "local-zfs" else name
    return Storage(name, "zfspool", {"content": _GUESTS, "pool": pool, "sparse": "1"})


EMPTY = "empty"
"""The preset of a single host with nothing on it."""
_EMPTY: dict[str, Any] = {
    "name": "pve",
    "hosts": {"pve1": 4},
    "storages": [],
    "bridges": ["vmbr0"],
    "vlans": None,
    "image_storage": "local",
    "devices": [],
    "reservations": [],
    "schematics": {},
    "images": [],
    "guests": [],
}
_TIB = 1024 * GIB
_SMALL_LINUX = 3 * GIB
"""Bytes of a disk that cloud images are made with."""
_OBJECTS = 2
"""Place of object storage in the network."""
_IMAGES = 3
"""Place of Image Factory and registry in the network."""


@state
class PresetOptions:
    """Which world is wanted."""

    preset: str
    network: IPv4Network
    profile: str = "9.1"
    seed: int = 1
    now: float = 1_767_225_600.0


def preset_world(options: PresetOptions) -> World:
    """A world of one preset: hosts, storages, bridges, devices, and guests it only looks at."""
    world = World.new(seed=options.seed, now=options.now)
    world.state.images_address = str(options.network.network_address + _IMAGES)
    world.state.objects_address = str(options.network.network_address + _OBJECTS)
    table = json.loads(read_package_bytes("stockman_lab.world", "presets.json"))
    for told in [_EMPTY] if options.preset == EMPTY else table[options.preset]:
        _add(world, options, told)
    return world


def _add(world: World, options: PresetOptions, cluster_preset: dict[str, Any]) -> None:
    state = ClusterState(
        name=cluster_preset["name"],
        profile=options.profile,
        access=fresh_access(Profile(options.profile), world.state.dice.random_bytes),
        is_clustered=len(cluster_preset["hosts"]) > 1,
    )
    for entry in storages_of_names(cluster_preset["storages"], cluster_preset["image_storage"]):
        state.storages[entry.id] = entry
        if entry.is_shared:
            state.pools[entry.pool] = Pool(entry.pool, 20 * _TIB)
    for number, (name, place) in enumerate(cluster_preset["hosts"].items(), start=1):
        address = str(options.network.network_address + place)
        host = state.hosts[name] = _host(name, address, number, world.now)
        _connect(host, options.network, cluster_preset["bridges"])
        _fit_pools(host, state.storages.values())
    _add_devices(state, cluster_preset["devices"])
    world.add_cluster(state)
    _add_addresses(world, options.network, cluster_preset["bridges"], cluster_preset["vlans"])
    _reserve(world, options.network, cluster_preset["reservations"])
    world.factory.schematics |= cluster_preset["schematics"]
    for image in cluster_preset["images"]:
        _bring_image(world.clusters[state.name], image["host"], image["volume"])
    if cluster_preset["guests"]:
        from stockman_lab.world.residents import bring_residents

        bring_residents(world, world.clusters[state.name], cluster_preset["guests"])


def _host(name: str, address: str, number: int, now: float) -> Host:
    return Host(
        name=name,
        address=address,
        nodeid=number,
        cores=16,
        memory=128 * GIB,
        booted_at=now - 86_400.0 * (3 + number),
        pools={"fs:/": Pool("fs:/", 100 * GIB, 6 * GIB)},
        pci=built_in_pci(),
        disks=[
            PhysicalDisk(
                "/dev/nvme0n1",
                2 * _TIB,
                model="SAMSUNG MZVL22T0HBLB",
                serial=f"S676NF0R{number:06}",
                kind="nvme",
                used="ZFS",
            )
        ],
        hosts_file=f"127.0.0.1 localhost\n{address} {name}.lab.home.arpa {name}\n",
    )


def _connect(host: Host, network: IPv4Network, bridges: Iterable[str]) -> None:
    """Give a host its cards, and bridges of which the first has its address."""
    gateway = str(network.network_address + 1)
    host.dns = {"search": "lab.home.arpa", "dns1": gateway}
    for card in ("eno1", "eno2", "eno3"):
        host.interfaces[card] = {"type": "eth", "method": "manual", "exists": "1", "active": "1"}
    for number, bridge in enumerate(bridges):
        options = {
            "type": "bridge",
            "method": "manual",
            "autostart": "1",
            "active": "1",
            "bridge_ports": "none",
            "bridge_vlan_aware": "1",
            "bridge_vids": "2-4094",
        }
        if number == 0:
            options |= {
                "method": "static",
                "bridge_ports": "eno1",
                "cidr": f"{host.address}/{network.prefixlen}",
                "gateway": gateway,
            }
        host.interfaces[bridge] = options


def _fit_pools(host: Host, entries: Iterable[Storage]) -> None:
    for entry in entries:
        if entry.is_shared or entry.is_files:
            continue
        if entry.is_on(host.name) and entry.pool not in host.pools:
            host.pools[entry.pool] = Pool(entry.pool, 2 * _TIB)


def _add_devices(state: ClusterState, devices: Iterable[dict[str, Any]]) -> None:
    """Devices that mappings of the preset name; the mappings are left to whoever wants them."""
    for device in devices:
        host = state.hosts.get(device["host"])
        if host is None:
            continue
        if device["kind"] == "pci":
            host.pci.append(pci_device(device, len(host.pci) + 1))
        else:
            host.usb.append(usb_device(device, len(host.usb) + 1))


def _add_addresses(
    world: World,
    network: IPv4Network,
    bridges: Iterable[str],
    vlans: dict[str, list[int]] | None,
) -> None:
    """On every bridge a DHCP server with the upper addresses of the network, and a router.

    The router announces an IPv6 network: clients that wait for an address that is more than this
    machine's own take one of those.
    """
    size = network.num_addresses
    first = network.network_address + max(size - 64, size // 2)
    for bridge in bridges:
        if not any(pool.bridge == bridge for pool in world.state.network.pools):
            world.state.network.pools.append(
                AddressPool(
                    bridge=bridge,
                    first=f"{first}/{network.prefixlen}",
                    count=min(50, size // 2 - 2),
                    trunks=None if vlans is None else vlans.get(bridge, []),
                )
            )
            world.state.network.pools.append(
                AddressPool(bridge=bridge, first="fd66::1:0/64", count=50, announced=True)
            )


def _reserve(world: World, network: IPv4Network, reservations: Iterable[dict[str, Any]]) -> None:
    """Have DHCP servers keep addresses for the cards that the preset names."""
    for reservation in reservations:
        for pool in world.state.network.pools:
            if (pool.bridge, pool.vlan, pool.version) == (
                reservation["bridge"],
                reservation["vlan"],
                4,
            ):
                pool.reserved[reservation["mac"]] = str(
                    network.network_address + reservation["place"]
                )


def _bring_image(cluster: Cluster, host: str, volume: str) -> None:
    """Have a host hold the image of some Linux, as its owner brought it there."""
    from stockman_lab.images.facts import ImageFacts
    from stockman_lab.images.image import Form
    from stockman_lab.images.making import disk_image
    from stockman_lab.pve.storages.receiving import ReceivedFile, put_file

    storage, _, name = volume.partition(":")
    content, _, filename = name.partition("/")
    facts = ImageFacts(platform="linux", virtual_size=_SMALL_LINUX)
    file = ReceivedFile(content, filename, disk_image(facts, Form.QCOW2))
    put_file(cluster, cluster.state.storages[storage], cluster.state.hosts[host], file)
