"""Values of the configuration of VMs and containers, in the syntax of Proxmox VE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import quote
from uuid import UUID

from stockman.model.guest import CloudInit, Container, MountPoint
from stockman.model.hardware import DataDisk, Hardware, Nic, PciDevice, StartOrder, UsbDevice
from stockman.model.names import Datastore
from stockman.model.proxmox_values import format_properties
from stockman.model.record import require

SYSTEM_DISK_OPTIONS = "discard=on,ssd=1"
SYSTEM_DISK = "scsi0"
CLOUD_INIT_DRIVE = "ide2"


def hardware_keys(hardware: Hardware) -> dict[str, str]:
    """Return the values of CPU, memory, firmware and devices, without volumes."""
    keys = {
        "agent": _flag(hardware.agent),
        "balloon": str(hardware.balloon),
        "bios": hardware.bios,
        "boot": f"order={';'.join(hardware.boot_order)}",
        "cores": str(hardware.cores),
        "cpu": hardware.cpu_type,
        "machine": hardware.machine,
        "memory": str(hardware.memory),
        "numa": _flag(hardware.numa),
        "onboot": _flag(hardware.onboot),
        "protection": _flag(hardware.protection),
        "scsihw": hardware.scsihw,
        "sockets": str(hardware.sockets),
        "vga": hardware.vga,
    }
    if hardware.serial:
        keys["serial0"] = "socket"
    if hardware.start_order.order is not None:
        # Only if set: the value needs a privilege on the whole cluster.
        keys["startup"] = _startup_value(hardware.start_order)
    keys |= {f"hostpci{number}": text for number, text in enumerate(_pci_value(hardware.pci))}
    return keys | {f"usb{number}": text for number, text in enumerate(_usb_value(hardware.usb))}


def nic_keys(nics: Iterable[Nic]) -> dict[str, str]:
    """Return the values of the network cards of a VM."""
    return {f"net{number}": _nic_value(nic) for number, nic in enumerate(nics)}


def new_volume(storage: Datastore, gib: int) -> str:
    """Return the value of a volume that is created with its guest."""
    return f"{storage}:{gib}"


def empty_system_disk(storage: Datastore, gib: int) -> str:
    """Return the value of a system disk that is created without an image."""
    return f"{new_volume(storage, gib)},{SYSTEM_DISK_OPTIONS}"


def image_volume(storage: Datastore, name: str) -> str:
    """Return the volume of a downloaded image."""
    return f"{storage}:import/{name}"


def imported_disk(storage: Datastore, source: str, options: str) -> str:
    """Return the value of a disk that is copied from an image or another disk."""
    return f"{storage}:0,import-from={source}" + (f",{options}" if options else "")


def data_disk(source: str, serial: str, options: str) -> str:
    """Return the value of a data disk; `source` is an existing or a new volume."""
    return f"{source},serial={serial}" + (f",{options}" if options else "")


def cloud_init_drive(storage: Datastore) -> str:
    """Return the value of a cloud-init drive that Proxmox VE creates."""
    return f"{storage}:cloudinit"


def cdrom_drive(volume: str) -> str:
    """Return the value of a CD drive with an image."""
    return f"{volume},media=cdrom"


def smbios_value(uuid: UUID) -> str:
    """Return the value with the UUID of a VM."""
    return f"uuid={uuid}"


def volume_keys(hardware: Hardware) -> dict[str, str]:
    """Return the values of the EFI and TPM disks, which are created with the VM."""
    keys: dict[str, str] = {}
    if hardware.bios == "ovmf":
        enrolled = _flag(hardware.efi_disk.pre_enrolled_keys)
        volume = new_volume(require(hardware.efi_disk.datastore), 1)
        keys["efidisk0"] = f"{volume},efitype=4m,pre-enrolled-keys={enrolled}"
    if hardware.tpm is not None:
        volume = new_volume(require(hardware.tpm.datastore), 1)
        keys["tpmstate0"] = f"{volume},version={hardware.tpm.version}"
    return keys


def disk_options(disk: DataDisk) -> str:
    """Return the options of a data disk besides its serial number."""
    values = {
        "backup": "" if disk.backup else "0",
        "discard": "on" if disk.discard else "",
        "ssd": "1" if disk.ssd else "",
    }
    return format_properties({key: value for key, value in values.items() if value})


def cloud_init_keys(cloud: CloudInit) -> dict[str, str]:
    """Return the cloud-init values, without the password."""
    address = "ip=dhcp"
    if cloud.address is not None:
        gateway = f"gw={cloud.gateway}," if cloud.gateway is not None else ""
        address = f"{gateway}ip={cloud.address}"
    keys = {"ipconfig0": address}
    if cloud.user is not None:
        keys["ciuser"] = cloud.user
    if cloud.ssh_keys:
        keys["sshkeys"] = quote("\n".join(key.strip() for key in cloud.ssh_keys), safe="")
    if cloud.dns_servers:
        keys["nameserver"] = " ".join(str(server) for server in cloud.dns_servers)
    if cloud.search_domain is not None:
        keys["searchdomain"] = cloud.search_domain
    return keys


def container_keys(container: Container, name: str) -> dict[str, str]:
    """Return the values of a container, without volumes."""
    keys = {
        "cores": str(container.cores),
        "hostname": name,
        "memory": str(container.memory),
        "onboot": _flag(container.onboot),
        "protection": _flag(container.protection),
        "swap": str(container.swap),
    }
    if container.nesting:
        keys["features"] = "nesting=1"
    for number, nic in enumerate(container.nics):
        keys[f"net{number}"] = _container_nic_value(number, nic, container)
    for number, device in enumerate(container.devices):
        keys[f"dev{number}"] = device
    return keys


def container_volumes(container: Container) -> dict[str, str]:
    """Return the values that are only set on creation of a container."""
    keys = {
        "ostemplate": container.template,
        "rootfs": new_volume(container.datastore, container.disk_gb),
        "unprivileged": _flag(container.unprivileged),
    }
    for number, mount in enumerate(container.mounts):
        keys[f"mp{number}"] = mount_value(mount)
    return keys


def mount_value(mount: MountPoint) -> str:
    """Return the value of a mount point."""
    values = {"volume": mount.source, "mp": mount.path, "backup": _flag(mount.backup)}
    if mount.read_only:
        values["ro"] = "1"
    return format_properties(values, default="volume")


def _nic_value(nic: Nic) -> str:
    values = {"bridge": str(nic.bridge)}
    if nic.firewall:
        values["firewall"] = "1"
    if nic.mtu is not None:
        values["mtu"] = str(nic.mtu)
    if nic.queues is not None:
        values["queues"] = str(nic.queues)
    if nic.vlan_id is not None:
        values["tag"] = str(nic.vlan_id)
    return f"{nic.model}={require(nic.mac_addr).upper()},{format_properties(values)}"


def _container_nic_value(number: int, nic: Nic, container: Container) -> str:
    values = {
        "name": f"eth{number}",
        "bridge": str(nic.bridge),
        "hwaddr": require(nic.mac_addr).upper(),
        "ip": "dhcp",
        "type": "veth",
    }
    if number == 0 and container.address is not None:
        values["ip"] = str(container.address)
        if container.gateway is not None:
            values["gw"] = str(container.gateway)
    if nic.firewall:
        values["firewall"] = "1"
    if nic.mtu is not None:
        values["mtu"] = str(nic.mtu)
    if nic.vlan_id is not None:
        values["tag"] = str(nic.vlan_id)
    return format_properties(values)


def _pci_value(devices: Iterable[PciDevice]) -> Iterator[str]:
    for device in devices:
        values = {"mapping": device.mapping or "", "mdev": device.mdev or ""}
        values["pcie"] = "1" if device.pcie else ""
        values["rombar"] = "" if device.rombar else "0"
        values["x-vga"] = "1" if device.primary_gpu else ""
        yield format_properties({key: value for key, value in values.items() if value})


def _usb_value(devices: Iterable[UsbDevice]) -> Iterator[str]:
    for device in devices:
        usb3 = {"usb3": "1"} if device.usb3 else {}
        yield format_properties({"mapping": device.mapping or "", **usb3})


def _startup_value(start: StartOrder) -> str:
    values = {"order": str(start.order), "down": str(start.down_delay)}
    if start.up_delay:
        values["up"] = str(start.up_delay)
    return format_properties(values)


def _flag(value: bool) -> str:
    return "1" if value else "0"
