"""What a user has to be allowed to change each key of a virtual machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stockman_lab.pve.formats.drive import Drive, is_drive, is_unused, parse_drive, readable_drive
from stockman_lab.pve.formats.hardware import (
    RNG,
    VIRTIOFS,
    custom_cpu_model,
    is_socket,
    parse_pci,
    parse_usb,
)
from stockman_lab.pve.formats.nic import parse_nic
from stockman_lab.pve.formats.property_string import parse
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest_config.change import ConfigChange
from stockman_lab.pve.guest_config.keys import CLOUD_INIT, is_indexed
from stockman_lab.pve.guest_config.needs import (
    ALLOCATE_SPACE,
    Asked,
    Guest,
    Need,
    OnlyRoot,
    bridge_needs,
    gives_up,
    on_guest,
    tag_needs,
    volume_needs,
)


def _each(privilege: str, keys: str) -> dict[str, str]:
    return dict.fromkeys(keys.split(), privilege)


PRIVILEGES = {
    **_each("VM.Config.CPU", "cores cpu cpulimit cpuunits numa runningcpu smp sockets vcpus"),
    **_each("VM.Config.Memory", "memory balloon shares allow-ksm"),
    **_each(
        "VM.Config.HWType",
        "acpi hotplug kvm machine runningmachine scsihw smbios1 tablet vga watchdog audio0 rng0",
    ),
    **_each(
        "VM.Config.Options",
        "agent autostart bios description keyboard localtime migrate_downtime migrate_speed "
        "name onboot ostype protection reboot startdate startup tdf template",
    ),
    **_each("VM.PowerMgmt", "freeze"),
    **_each("VM.Config.Disk", "boot bootdisk vmstatestorage"),
    **_each("VM.Config.Network", "running-nets-host-mtu"),
}
"""Keys that take one privilege on the guest, whatever their value."""

_BY_VALUE = ("serial", "usb", "hostpci", "virtiofs")


def machine_update_needs(
    values: Mapping[str, str], pending: Mapping[str, str], change: ConfigChange, guest: Guest
) -> list[Asked]:
    """Everything that a change takes, in the order in which the real one asks."""
    sets = change.sets
    held = {**pending, **values}
    back = {key: values[key] for key in change.reverts if key in values}
    dropped = [key for key in change.reverts if key in pending and key not in values]
    return [
        *(need for key in change.deletes for need in key_needs(guest, key)),
        *(need for key in sorted(sets) for need in key_needs(guest, key)),
        *storage_needs(guest, sets),
        *_bridges(guest, sets),
        *_cpu_needs(sets.get("cpu"), values.get("cpu")),
        *(
            need
            for key in (*change.deletes, *dropped)
            for need in _delete_needs(guest, key, held, change)
        ),
        *storage_needs(guest, {key: value for key, value in back.items() if is_drive(key)}),
        *(
            need
            for key, value in sorted({**sets, **back}.items())
            for need in _replace_needs(guest, key, values.get(key), value)
        ),
    ]


def machine_create_needs(sets: Mapping[str, str], guest: Guest) -> list[Asked]:
    """Everything that values of a new machine take, in the order in which the real one asks."""
    keys = sorted(sets)
    return [
        *storage_needs(guest, sets),
        *(need for key in keys for need in key_needs(guest, key)),
        *(
            need
            for prefix in ("serial", "usb", "hostpci", "rng", "virtiofs")
            for key in keys
            if is_indexed(key, prefix)
            for need in _device_needs(guest, key, sets[key])
        ),
        *_bridges(guest, sets),
        *_cpu_needs(sets.get("cpu"), None),
    ]


def key_needs(guest: Guest, key: str) -> list[Asked]:
    """What a key takes whatever its value; nothing for those whose value decides."""
    if is_drive(key) or is_unused(key) or key in ("cdrom", "tags") or is_indexed(key, *_BY_VALUE):
        return []
    if key == "startup":
        return [on_guest(guest.vmid, "VM.Config.Options"), Need("/", ("Sys.Modify",))]
    if key in PRIVILEGES:
        return [on_guest(guest.vmid, PRIVILEGES[key])]
    if is_indexed(key, "numa"):
        return [on_guest(guest.vmid, "VM.Config.CPU")]
    if is_indexed(key, "net"):
        return [on_guest(guest.vmid, "VM.Config.Network")]
    if key in CLOUD_INIT:
        return [on_guest(guest.vmid, "VM.Config.Cloudinit", "VM.Config.Network", any_of=True)]
    if key == "vmstate":
        return [on_guest(guest.vmid, "VM.Config.Disk", "VM.PowerMgmt")]
    return [gives_up(f"only root can set '{key}' config")]


def storage_needs(guest: Guest, sets: Mapping[str, str]) -> list[Asked]:
    """What drives take from storages."""
    needs: list[Asked] = []
    for key in sorted(sets):
        drive = readable_drive(key, sets[key]) if is_drive(key) else None
        if drive:
            needs.extend(_drive_needs(guest, drive))
    for key in sorted(sets):
        if is_unused(key):
            needs.extend(volume_needs(guest, parse_drive(key, sets[key]).file))
    if "vmstatestorage" in sets:
        needs.append(Need(f"/storage/{sets['vmstatestorage']}", (ALLOCATE_SPACE,)))
    return needs


def _drive_needs(guest: Guest, drive: Drive) -> list[Asked]:
    needs: list[Asked] = []
    new = drive.new_disk
    if drive.file == "none" or drive.new_cloud_init:
        pass
    elif drive.is_cdrom and drive.file == "cdrom":
        needs.append(Need("/", ("Sys.Console",)))
    elif new and not drive.is_cdrom:
        needs.append(Need(f"/storage/{new[0]}", (ALLOCATE_SPACE,)))
    else:
        needs.extend(volume_needs(guest, drive.file))
    if drive.import_from:
        needs.extend(_import_needs(guest, drive.import_from))
    return needs


def _import_needs(guest: Guest, source: str) -> list[Asked]:
    storage = storage_of(source)
    if not storage:
        return volume_needs(guest, source)
    name = guest.name_of(source)
    extracted: list[Asked] = []
    if name.format.startswith("ova+"):
        extracted = [Need(f"/storage/{storage}", (ALLOCATE_SPACE,))]
    if name.owner:
        return [*extracted, Need(f"/vms/{name.owner}", ("VM.Clone",))]
    return [*extracted, *volume_needs(guest, source)]


def _bridges(guest: Guest, sets: Mapping[str, str]) -> Iterable[Asked]:
    for key in sorted(sets):
        if is_indexed(key, "net"):
            yield from bridge_needs(guest, parse_nic(sets[key]).options)


def _cpu_needs(new: str | None, old: str | None) -> list[Asked]:
    model = custom_cpu_model(new or "")
    if not model or custom_cpu_model(old or "") == model:
        return []
    return [Need(f"/mapping/cpu/{model}", ("Mapping.Use",))]


def drive_kind_needs(guest: Guest, drive: Drive) -> list[Asked]:
    """What touching a drive of an existing machine takes."""
    if drive.is_cloud_init:
        return [on_guest(guest.vmid, "VM.Config.Cloudinit", "VM.Config.CDROM")]
    if drive.is_plain_cdrom:
        return [on_guest(guest.vmid, "VM.Config.CDROM")]
    return [on_guest(guest.vmid, "VM.Config.Disk")]


def _delete_needs(
    guest: Guest, key: str, held: Mapping[str, str], change: ConfigChange
) -> list[Asked]:
    value = held.get(key)
    if value is None:
        return []
    if is_unused(key):
        return [on_guest(guest.vmid, "VM.Config.Disk"), *_freeing(guest, value)]
    if is_drive(key):
        drive = parse_drive(key, value)
        needed = drive_kind_needs(guest, drive)
        if change.force:
            needed.append(on_guest(guest.vmid, "VM.Config.Disk"))
            needed += _freeing(guest, drive.file) if not drive.is_plain_cdrom else []
        return needed
    if is_indexed(key, "serial") and not is_socket(value):
        return [gives_up(f"only root can delete '{key}' config for real devices")]
    if is_indexed(key, "net"):
        return bridge_needs(guest, parse_nic(value).options)
    if key == "tags":
        return tag_needs(guest, value, "")
    return _device_needs(guest, key, value)


def _freeing(guest: Guest, volume: str) -> list[Asked]:
    storage = storage_of(volume)
    if not storage or guest.name_of(volume).owner != guest.vmid:
        return []
    return [Need(f"/storage/{storage}", (ALLOCATE_SPACE,))]


def _replace_needs(guest: Guest, key: str, old: str | None, new: str) -> list[Asked]:
    if is_drive(key):
        drives = [parse_drive(key, new)]
        if old is not None:
            drives.insert(0, parse_drive(key, old))
        return [need for drive in drives for need in drive_kind_needs(guest, drive)]
    if is_indexed(key, "serial"):
        if is_socket(new) and is_socket(old or "socket"):
            return [on_guest(guest.vmid, "VM.Config.HWType")]
        return [gives_up(f"only root can modify '{key}' config for real devices")]
    if is_indexed(key, "net"):
        return bridge_needs(guest, parse_nic(old).options) if old else []
    if key == "tags":
        return tag_needs(guest, old or "", new)
    before = _device_needs(guest, key, old) if old else []
    return [*before, *_device_needs(guest, key, new)]


def _device_needs(guest: Guest, key: str, value: str) -> list[Asked]:
    hardware = on_guest(guest.vmid, "VM.Config.HWType")
    if is_indexed(key, "serial"):
        real = gives_up(f"only root can set '{key}' config for real devices")
        return [hardware] if is_socket(value) else [real]
    if is_indexed(key, "usb"):
        return [hardware, *_usb_needs(key, value)]
    if is_indexed(key, "hostpci"):
        return _pci_needs(key, value, hardware)
    if is_indexed(key, "rng"):
        is_hardware = parse(RNG, value)["source"] == "/dev/hwrng"
        mapping = [Need("/mapping/hwrng", ("Mapping.Use",))] if is_hardware else []
        return [hardware, *mapping]
    if is_indexed(key, "virtiofs"):
        directory = parse(VIRTIOFS, value)["dirid"]
        disk = on_guest(guest.vmid, "VM.Config.Disk")
        return [disk, Need(f"/mapping/dir/{directory}", ("Mapping.Use",))]
    return []


def _usb_needs(key: str, value: str) -> list[Asked]:
    device = parse_usb(value)
    if device.is_spice:
        return []
    if device.host:
        return [gives_up(f"only root can set '{key}' config for real devices")]
    if device.mapping:
        return [Need(f"/mapping/usb/{device.mapping}", ("Mapping.Use",))]
    return [gives_up("either 'host' or 'mapping' must be set.")]


def _pci_needs(key: str, value: str, hardware: Need) -> list[Asked]:
    device = parse_pci(value)
    if device.addresses:
        return [gives_up(f"only root can set '{key}' config for non-mapped devices")]
    if not device.mapping:
        return [gives_up("either 'host' or 'mapping' must be set.")]
    needs: list[Asked] = [Need(f"/mapping/pci/{device.mapping}", ("Mapping.Use",)), hardware]
    if device.rom_file:
        needs.append(OnlyRoot(400, "only root@pam can set 'romfile' option", parameter=key))
    return needs
