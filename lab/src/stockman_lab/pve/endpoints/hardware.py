"""`/nodes/NODE/hardware` and `disks`: devices, disks and ZFS pools of a host."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import Host, PciDevice, PhysicalDisk, Pool, UsbDevice
from stockman_lab.pve.releases import release_of
from stockman_lab.pve.storage import Storage, Volume

_PATH = "/nodes/{node}/hardware"
_HIDDEN = "05;06;0b"
"""Memory controllers, bridges and processors."""


@endpoint("GET", f"{_PATH}/pci")
def pci(call: Call) -> object:
    hidden = split_list(call.text("pci-class-blacklist", _HIDDEN))
    verbose = call.flag("verbose", default=True)
    return [
        _pci_row(device, verbose=verbose)
        for device in sorted(call.node.pci, key=lambda one: one.id)
        if not any(device.device_class.startswith(f"0x{prefix}") for prefix in hidden)
    ]


@endpoint("GET", f"{_PATH}/usb")
def usb(call: Call) -> object:
    return [_usb_row(device) for device in call.node.usb]


def _pci_row(device: PciDevice, *, verbose: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "id": device.id,
        "vendor": device.vendor,
        "device": device.device,
        "class": device.device_class,
        "iommugroup": device.iommugroup,
    }
    if device.mdev:
        row["mdev"] = 1
    if not verbose:
        return row
    names = {
        "vendor_name": device.vendor_name,
        "device_name": device.device_name,
        "subsystem_vendor": device.subsystem_vendor,
        "subsystem_device": device.subsystem_device,
    }
    return row | {key: value for key, value in names.items() if value}


def _usb_row(device: UsbDevice) -> dict[str, object]:
    row: dict[str, object] = {
        "busnum": device.busnum,
        "devnum": device.devnum,
        "class": device.device_class,
        "level": device.level,
        "port": device.port,
        "usbpath": device.usbpath.rpartition("-")[2],
        "vendid": device.vendid.removeprefix("0x"),
        "prodid": device.prodid.removeprefix("0x"),
        "speed": device.speed,
    }
    names = {
        "manufacturer": device.manufacturer,
        "product": device.product,
        "serial": device.serial,
    }
    return row | {key: value for key, value in names.items() if value}


_CAPABILITIES = "/nodes/{node}/capabilities"
_CPU_MODELS = {
    "default": ("kvm32", "kvm64", "max", "qemu32", "qemu64", "x86-64-v2", "x86-64-v2-AES",
                "x86-64-v3", "x86-64-v4", "host"),
    "GenuineIntel": ("486", "Broadwell", "Broadwell-IBRS", "Cascadelake-Server", "Conroe",
                     "Cooperlake", "Haswell", "Haswell-noTSX", "Icelake-Server", "IvyBridge",
                     "Nehalem", "Penryn", "SandyBridge", "SapphireRapids", "Skylake-Client",
                     "Skylake-Server", "Westmere", "core2duo", "coreduo", "pentium", "pentium2",
                     "pentium3"),
    "AuthenticAMD": ("EPYC", "EPYC-Genoa", "EPYC-IBPB", "EPYC-Milan", "EPYC-Rome", "Opteron_G1",
                     "Opteron_G2", "Opteron_G3", "Opteron_G4", "Opteron_G5", "athlon", "phenom"),
}  # fmt: skip
_OLDEST = (2, 4)
_MINORS = {2: 12, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2}


@endpoint("GET", f"{_CAPABILITIES}/qemu/cpu")
def processors(call: Call) -> object:
    del call
    return [
        {"name": name, "vendor": vendor, "custom": 0}
        for vendor, names in _CPU_MODELS.items()
        for name in names
    ]


@endpoint("GET", f"{_CAPABILITIES}/qemu/machines")
def machine_types(call: Call) -> object:
    """Kinds of machines, the newest first, back to the oldest that is supported."""
    newest = release_of(call.cluster.state.profile).qemu.split(".")[:2]
    last = (int(newest[0]), int(newest[1]))
    versions = [
        (major, minor)
        for major in range(_OLDEST[0], last[0] + 1)
        for minor in range(_MINORS.get(major, last[1]) + 1)
        if _OLDEST <= (major, minor) <= last
    ]
    return [
        {"id": f"pc-{kind}-{major}.{minor}", "type": kind, "version": f"{major}.{minor}"}
        for kind in ("i440fx", "q35")
        for major, minor in reversed(versions)
    ]


def pools_like(host: Host, prefix: str) -> Iterator[tuple[str, Pool]]:
    """Pools of one kind, each with its name without that prefix."""
    for name, pool in sorted(host.pools.items()):
        if name.startswith(prefix):
            yield name.removeprefix(prefix), pool


def storages_in(cluster: Cluster, host: Host, pool: Pool) -> list[Storage]:
    """Storages whose volumes on a host are in a pool."""
    state = cluster.state
    known = (*state.storages.values(), *state.removed_storages.values())
    return [one for one in known if space.pool_of(cluster, one, host) is pool]


def volumes_in(cluster: Cluster, host: Host, pool: Pool) -> list[Volume]:
    """Volumes of a host that are in a pool."""
    names = {storage.id for storage in storages_in(cluster, host, pool)}
    return [
        volume
        for volume in cluster.state.volumes.values()
        if volume.storage in names and volume.host == host.name
    ]


def used_in(cluster: Cluster, host: Host, pool: Pool) -> int:
    """Bytes of a pool that are taken."""
    return pool.other + sum(volume.used for volume in volumes_in(cluster, host, pool))


_FLASH = frozenset({"ssd", "nvme"})


def disk_row(disk: PhysicalDisk, *, skip_health: bool) -> dict[str, object]:
    """A disk as lists show it."""
    row: dict[str, object] = {
        "devpath": disk.devpath,
        "size": disk.size,
        "vendor": disk.vendor,
        "model": disk.model or "unknown",
        "serial": disk.serial or "unknown",
        "wwn": disk.wwn or "unknown",
        "type": "nvme" if "nvme" in disk.devpath else disk.kind,
        "rpm": disk.rpm,
        "gpt": int(disk.gpt or bool(disk.used)),
        "mounted": int(is_mounted(disk)),
        "health": "UNKNOWN" if skip_health else disk.health,
        "wearout": 100 if disk.kind in _FLASH and not skip_health else "N/A",
        "osdid": -1,
        "osdid-list": [],
    }
    if disk.serial:
        name = f"{disk.model}_{disk.serial}".replace(" ", "_")
        row["by_id_link"] = f"/dev/disk/by-id/ata-{name}"
    if disk.used:
        row["used"] = disk.used
    return row


def is_mounted(disk: PhysicalDisk) -> bool:
    """Whether a file system of it is in use."""
    return disk.used in ("mounted", "ext4", "xfs", "BIOS boot", "EFI")


@endpoint("GET", "/nodes/{node}/disks/list")
def disks(call: Call) -> object:
    kind = call.text("type")
    return [
        disk_row(disk, skip_health=call.flag("skipsmart"))
        for disk in sorted(call.node.disks, key=lambda one: one.devpath)
        if kind == ""
        or not disk.used
        or (kind == "journal_disks" and disk.used in ("partitions", "LVM"))
    ]


_DISKS = "/nodes/{node}/disks"


@endpoint("GET", f"{_DISKS}/zfs")
def zfs_pools(call: Call) -> object:
    rows: list[dict[str, object]] = []
    for name, pool in pools_like(call.node, "zfs:"):
        taken = used_in(call.cluster, call.node, pool)
        rows.append(
            {
                "name": name,
                "size": pool.size,
                "alloc": taken,
                "free": pool.size - taken,
                "frag": 0,
                "dedup": 1,
                "health": "ONLINE",
            }
        )
    return rows


@endpoint("GET", f"{_DISKS}/zfs/{{name}}")
def zfs_pool(call: Call) -> object:
    name = call.text("name")
    pool = call.node.pools.get(f"zfs:{name}")
    if pool is None:
        raise die(f"command '/sbin/zpool status -P {name}' failed: exit code 1")
    leaves: list[dict[str, object]] = [{**_device(path), "leaf": 1} for path in pool.disks]
    if pool.form not in ("", "single"):
        group = "mirror-0" if pool.form in ("mirror", "raid10") else f"{pool.form}-0"
        leaves = [{**_device(group), "children": leaves, "leaf": 0}]
    root = {**_device(name), "children": leaves, "leaf": 0}
    return {
        "name": name,
        "state": "ONLINE",
        "errors": "No known data errors",
        "children": [root],
        "leaf": 0,
    }


def _device(name: str) -> dict[str, object]:
    return {"name": name, "msg": "", "state": "ONLINE", "read": 0, "write": 0, "cksum": 0}
