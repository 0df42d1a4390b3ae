"""Volumes: what was wanted, what became of it, and where it is mounted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.facts import is_configured, pretty_size
from stockman_lab.talos.cosi.layout import Partition, made_uuid, partition_name, partitions
from stockman_lab.talos.cosi.registry import Content, Contents, kind
from stockman_lab.talos.disk import EPHEMERAL, META, STATE
from stockman_lab.talos.disks import names, symlinks_of

if TYPE_CHECKING:
    from stockman_lab.guest.view import DiskView
    from stockman_lab.talos.config.node_setting import VolumeSetting
    from stockman_lab.talos.machine import Machine

_SECTOR = 512
_PCI = "/pci0000:00/0000:00"
_FILESYSTEM_BLOCK = 4096


def system_disk(machine: Machine) -> str:
    """The name of the disk that Talos is on, `sda`. Empty: there is none."""
    return names(machine.view).get(machine.state.system_disk, "")


def _disks(machine: Machine) -> dict[str, DiskView]:
    view = machine.view
    disks = {name: view.disk(slot) for slot, name in names(view).items()}
    return {name: one for name, one in sorted(disks.items()) if one is not None}


def _bus_path(name: str, number: int) -> str:
    if name.startswith("vd"):
        return f"{_PCI}:{10 + number:02x}.0/virtio{number + 2}"
    if name.startswith("sr"):
        return f"{_PCI}:01.1/ata2/host1/target1:0:{number}/1:0:{number}:0"
    return f"{_PCI}:05.0/0000:01:01.0/virtio3/host2/target2:0:0/2:0:0:{number}"


@kind("Disks.block.talos.dev", "block.DisksController")
def disks(machine: Machine) -> Contents:
    contents: dict[str, dict[str, object]] = {}
    for place, (name, disk) in enumerate(_disks(machine).items()):
        is_virtio = name.startswith("vd")
        spec = contents[name] = {
            "dev_path": f"/dev/{name}",
            "size": disk.size,
            "pretty_size": pretty_size(disk.size),
            "io_size": _SECTOR,
            "sector_size": _SECTOR,
            "readonly": disk.is_cdrom,
            "cdrom": disk.is_cdrom,
            "serial": disk.serial,
            "bus_path": _bus_path(name, place),
            "sub_system": "/sys/class/block",
            "transport": "virtio",
            "rotational": not is_virtio and not disk.is_cdrom,
            "symlinks": sorted(symlinks_of(disk)),
        }
        if is_virtio:
            spec["modalias"] = "virtio:d00000002v00001AF4"
        elif disk.is_cdrom:
            spec |= {"model": "QEMU DVD-ROM", "modalias": "scsi:t-0x05", "transport": "ata"}
        else:
            spec |= {"model": "QEMU HARDDISK", "modalias": "scsi:t-0x00"}
            if disk.serial:
                spec["wwid"] = f"t10.QEMU    QEMU HARDDISK   {disk.serial}"
    return contents


@kind("SystemDisks.block.talos.dev", "block.SystemDiskController")
def system_disks(machine: Machine) -> Contents:
    name = system_disk(machine)
    return {"system-disk": {"diskID": name, "devPath": f"/dev/{name}"}} if name else {}


@kind("DiscoveredVolumes.block.talos.dev", "block.DiscoveryController")
def discovered_volumes(machine: Machine) -> Contents:
    own = system_disk(machine)
    contents: dict[str, dict[str, object]] = {}
    for place, (name, disk) in enumerate(_disks(machine).items()):
        path = f"{_bus_path(name, place)}/block/{name}"
        is_own = name == own and bool(partitions(machine))
        contents[name] = {
            "dev_path": f"/dev/{name}",
            "type": "disk",
            "device_path": path,
            "size": disk.size,
            "pretty_size": pretty_size(disk.size),
            "sector_size": _SECTOR,
            "io_size": _SECTOR,
            "name": "gpt" if is_own else ("iso9660" if disk.is_cdrom and disk.size else ""),
        }
        for partition in partitions(machine) if is_own else []:
            contents[partition_name(name, partition.number)] = _partition(name, path, partition)
    return contents


def _partition(disk: str, path: str, one: Partition) -> dict[str, object]:
    name = partition_name(disk, one.number)
    partition: dict[str, object] = {
        "dev_path": f"/dev/{name}",
        "type": "partition",
        "device_path": f"{path}/{name}",
        "parent": disk,
        "parent_dev_path": f"/dev/{disk}",
        "offset": one.offset,
        "size": one.size,
        "pretty_size": pretty_size(one.size),
        "sector_size": _SECTOR,
        "io_size": _SECTOR,
        "name": one.filesystem,
        "uuid": one.filesystem_uuid,
        "partition_uuid": one.uuid,
        "partition_type": one.kind,
        "partition_label": one.label,
        "partition_index": one.number,
    }
    if one.filesystem in ("xfs", "vfat"):
        partition["label"] = one.label
    if one.filesystem == "xfs":
        sizes = {"block_size": _SECTOR, "filesystem_block_size": _FILESYSTEM_BLOCK}
        partition |= {**sizes, "probed_size": one.size}
    return partition


_SYSTEM = {"talos.dev/system-volume": ""}
_USER = {"talos.dev/user-volume": ""}
_LABEL = "system_u:object_r:ephemeral_t:s0"
_STATE_LABEL = "system_u:object_r:system_state_t:s0"
_USER_LEAST = 104857600
_SIZE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([KMGTP]?i?B?)\s*$", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_PREFIXES = {"user": "u-", "raw": "r-", "swap": "s-", "existing": "e-", "external": "x-"}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a volume is."""

    disk: str
    number: int
    size: int
    filesystem: str
    uuid: str
    partition_uuid: str

    @property
    def location(self) -> str:
        return (
            f"/dev/{partition_name(self.disk, self.number)}" if self.number else f"/dev/{self.disk}"
        )


def _mount(name: str, path: str) -> dict[str, object]:
    if name == STATE:
        return {"targetPath": "/system/state", "selinuxLabel": _STATE_LABEL, "fileMode": 0o700}
    return {
        "targetPath": path,
        "selinuxLabel": _LABEL,
        "projectQuotaSupport": False,
        "fileMode": 0o755,
    }


def _encryption(machine: Machine, name: str) -> tuple[str, ...]:
    config = machine.config
    setting = config.volume(name) if config is not None else None
    return setting.encryption if setting is not None else ()


def _user_volumes(machine: Machine) -> list[VolumeSetting]:
    config = machine.config
    return (
        [volume for volume in config.volumes if volume.kind in _PREFIXES]
        if config is not None
        else []
    )


def _id(setting: VolumeSetting) -> str:
    return _PREFIXES[setting.kind] + setting.name


def _user_place(machine: Machine, setting: VolumeSetting, place: int) -> _Place:
    """Where a user's volume is: on a disk of its own where there is one."""
    own, view = system_disk(machine), machine.view
    sizes = {name: one.size for slot, name in names(view).items() if (one := view.disk(slot))}
    others = [name for name in sorted(sizes) if name != own and not name.startswith("sr")]
    disk = others[0] if others else own
    size = _bytes_of(setting.max_size) or _bytes_of(setting.min_size) or _USER_LEAST
    number = 0 if setting.volume_type == "disk" else 1 + place
    if disk == own:
        number = len(partitions(machine)) + 1 + place
    name = _id(setting)
    return _Place(
        disk,
        number,
        min(size, sizes.get(disk, size)),
        setting.filesystem or ("none" if setting.kind == "raw" else "xfs"),
        made_uuid(machine, f"filesystem/{name}"),
        made_uuid(machine, f"partition/{name}"),
    )


@kind("VolumeStatuses.block.talos.dev", "block.VolumeManagerController")
def volume_statuses(machine: Machine) -> Contents:
    by_name = {partition.label: partition for partition in partitions(machine)}
    wanted = [META, STATE, EPHEMERAL] if is_configured(machine) else [META, STATE]
    contents: dict[str, Content] = {}
    for name in wanted:
        one = by_name.get(name)
        spec = _missing(machine) if one is None else _ready(machine, name, one)
        contents[name] = Content(spec, _SYSTEM)
    is_made = EPHEMERAL in by_name
    for place, setting in enumerate(_user_volumes(machine)):
        where = _user_place(machine, setting, place)
        user = _status(where, f"/var/mnt/{setting.name}") if is_made else _missing(machine)
        if setting.volume_type == "directory":
            user = {"phase": "ready", "type": "directory", "mountSpec": _mount("", setting.name)}
        contents[_id(setting)] = Content(user, _USER)
    return contents


def _missing(machine: Machine) -> dict[str, object]:
    return {"phase": "waiting" if is_configured(machine) else "missing", "type": "partition"}


def _ready(machine: Machine, name: str, partition: Partition) -> dict[str, object]:
    filesystem = partition.filesystem if partition.filesystem in ("xfs", "vfat") else "none"
    place = _Place(
        system_disk(machine),
        partition.number,
        partition.size,
        filesystem,
        partition.filesystem_uuid,
        partition.uuid,
    )
    status = _status(place, "/var")
    keys = _encryption(machine, name)
    if keys:
        status |= {
            "mountLocation": f"/dev/mapper/luks2-{name}",
            "encryptionProvider": "luks2",
            "configuredEncryptionKeys": list(keys),
        }
    if name == META:
        status.pop("mountSpec")
    elif name == STATE:
        status["mountSpec"] = _mount(STATE, "")
    return status


def _status(place: _Place, path: str) -> dict[str, object]:
    return {
        "phase": "ready",
        "type": "partition" if place.number else "disk",
        "location": place.location,
        "mountLocation": place.location,
        "partitionIndex": place.number,
        "parentLocation": f"/dev/{place.disk}" if place.number else "",
        "uuid": place.uuid,
        "partitionUUID": place.partition_uuid if place.number else "",
        "size": place.size,
        "prettySize": pretty_size(place.size),
        "filesystem": place.filesystem,
        "mountSpec": _mount("", path),
    }


@kind("MountStatuses.block.talos.dev", "block.MountController")
def mount_statuses(machine: Machine) -> Contents:
    if not is_configured(machine):
        return {}
    targets = {STATE: "/system/state", EPHEMERAL: "/var"}
    contents: dict[str, dict[str, object]] = {}
    for partition in partitions(machine):
        if partition.label in targets:
            source = f"/dev/{partition_name(system_disk(machine), partition.number)}"
            provider = "luks2" if _encryption(machine, partition.label) else "none"
            contents[partition.label] = {
                "spec": {"volumeID": partition.label, "requesters": ["sequencer"]},
                "source": source,
                "target": targets[partition.label],
                "filesystem": partition.filesystem,
                "encryptionProvider": provider,
            }
    return contents


def _bytes_of(text: str) -> int:
    """Bytes of `10GiB` or `10GB`. 0: there is no size."""
    match = _SIZE.match(text)
    if match is None:
        return 0
    unit = match[2].lower()
    base = 1024 if "i" in unit else 1000
    return int(float(match[1]) * base ** _POWERS[unit.replace("i", "").replace("b", "")])
