"""Calls on hosts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

from stockman.model.names import HostName
from stockman.proxmox.calls.base import Calls
from stockman.proxmox.errors import unexpected_answer
from stockman.proxmox.hosts import (
    HostCertificate,
    HostDisk,
    HostInterface,
    HostNetwork,
    HostPciDevice,
    HostStatus,
    HostUsbDevice,
    ZfsPool,
)
from stockman.proxmox.rows import UnexpectedAnswer, mapping, number, read_record, row_list
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.transport import Request

_INTERFACE = {
    "name": "iface",
    "kind": "type",
    "ports": "bridge_ports",
    "vlan_aware": "bridge_vlan_aware",
    "vlan_ids": "bridge_vids",
    "comment": "comments",
}
_PCI = {
    "address": "id",
    "device_class": "class",
    "iommu_group": "iommugroup",
    "has_mediated": "mdev",
}
_USB = {
    "vendor": "vendid",
    "product": "prodid",
    "vendor_name": "manufacturer",
    "product_name": "product",
    "port": "usbpath",
    "bus": "busnum",
}
_DISK = {"path": "devpath", "kind": "type", "by_id": "by_id_link"}


class HostCalls(Calls):
    """Hosts."""

    async def host_status(self, host: HostName) -> HostStatus:
        """The status of a host."""
        return await self._get(("nodes", host, "status"), _status)

    async def host_time(self, host: HostName) -> datetime:
        """Return the time of a host, to the second."""
        return await self._get(("nodes", host, "time"), _time)

    async def host_network(self, host: HostName) -> HostNetwork:
        """Return the network configuration of a host, with pending changes."""
        request = Request(method="GET", segments=("nodes", host, "network"))
        reply = await self._transport.call(request)
        try:
            interfaces = tuple(
                read_record(HostInterface, row, _INTERFACE) for row in row_list(reply.data)
            )
        except UnexpectedAnswer as error:
            raise unexpected_answer(request, str(error)) from None
        return HostNetwork(interfaces=interfaces, unapplied=reply.changes)

    async def create_interface(
        self, host: HostName, name: str, settings: Mapping[str, str]
    ) -> None:
        """Add an interface to the configuration; it takes effect after `apply_network`."""
        await self._do("POST", ("nodes", host, "network"), {"iface": name, **settings})

    async def update_interface(
        self, host: HostName, name: str, settings: Mapping[str, str]
    ) -> None:
        """Replace the configuration of an interface; omitted settings are removed."""
        await self._do("PUT", ("nodes", host, "network", name), settings)

    async def delete_interface(self, host: HostName, name: str) -> None:
        """Remove an interface from the configuration."""
        await self._do("DELETE", ("nodes", host, "network", name))

    async def apply_network(self, host: HostName) -> TaskRef:
        """Apply pending changes of the network configuration."""
        return await self._start("PUT", ("nodes", host, "network"))

    async def revert_network(self, host: HostName) -> None:
        """Discard pending changes of the network configuration."""
        await self._do("DELETE", ("nodes", host, "network"))

    async def pci_devices(self, host: HostName) -> tuple[HostPciDevice, ...]:
        """List the PCI devices that can be passed through to guests."""
        return await self._rows(
            ("nodes", host, "hardware", "pci"),
            lambda row: _pci(read_record(HostPciDevice, row, _PCI)),
        )

    async def usb_devices(self, host: HostName) -> tuple[HostUsbDevice, ...]:
        """List the connected USB devices."""
        return await self._rows(
            ("nodes", host, "hardware", "usb"), lambda row: read_record(HostUsbDevice, row, _USB)
        )

    async def host_certificates(self, host: HostName) -> tuple[HostCertificate, ...]:
        """List the certificates of a host and its cluster; needs no privilege."""
        return await self._rows(
            ("nodes", host, "certificates", "info"), lambda row: read_record(HostCertificate, row)
        )

    async def disks(self, host: HostName) -> tuple[HostDisk, ...]:
        """List the physical disks."""
        return await self._rows(
            ("nodes", host, "disks", "list"), lambda row: read_record(HostDisk, row, _DISK)
        )

    async def zfs_pools(self, host: HostName) -> tuple[ZfsPool, ...]:
        """List the ZFS pools."""
        return await self._rows(
            ("nodes", host, "disks", "zfs"), lambda row: read_record(ZfsPool, row)
        )

    async def power_host(self, host: HostName, command: Literal["reboot", "shutdown"]) -> None:
        """Reboot or shut down a host; returns when the host has accepted the request."""
        await self._do("POST", ("nodes", host, "status"), {"command": command})


def _pci(device: HostPciDevice) -> HostPciDevice:
    """Return the device without a group number of -1, which means no group."""
    from dataclasses import replace

    has_no_group = device.iommu_group is not None and device.iommu_group < 0
    return replace(device, iommu_group=None) if has_no_group else device


def _time(data: object) -> datetime:
    seconds = number(mapping(data).get("time"))
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise UnexpectedAnswer("time: it is not a valid time") from None


def _status(data: object) -> HostStatus:
    row = mapping(data)
    cpu, memory = _part(row, "cpuinfo"), _part(row, "memory")
    kernel, boot, root = _part(row, "current-kernel"), _part(row, "boot-info"), _part(row, "rootfs")
    flat = {
        "version": row.get("pveversion"),
        "kernel": kernel.get("release", row.get("kversion")),
        "boot_mode": boot.get("mode"),
        "secure_boot": boot.get("secureboot"),
        "cpu_model": cpu.get("model"),
        "cores": cpu.get("cpus"),
        "sockets": cpu.get("sockets"),
        "memory": memory.get("total"),
        "memory_used": memory.get("used"),
        "root_size": root.get("total"),
        "root_free": root.get("avail", root.get("free")),
        "uptime": row.get("uptime"),
    }
    return read_record(HostStatus, flat)


def _part(row: Mapping[str, object], name: str) -> Mapping[str, object]:
    return mapping(row.get(name, {}))
