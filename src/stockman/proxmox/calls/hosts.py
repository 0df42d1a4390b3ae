"""Calls on hosts."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman.model.names import HostName
from stockman.proxmox.calls.base import Calls
from stockman.proxmox.errors import unexpected_answer
from stockman.proxmox.hosts import (
    HostCertificate,
    HostInterface,
    HostNetwork,
    HostPciDevice,
    HostUsbDevice,
)
from stockman.proxmox.rows import UnexpectedAnswer, mapping, number, read_record, row_list, text
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


class HostCalls(Calls):
    """Hosts."""

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

    async def any_bridges(self, host: HostName) -> tuple[str, ...]:
        """List the bridges that a VM on a host can use, including VNets of SDN."""
        return await self._rows(
            ("nodes", host, "network"),
            lambda row: text(row.get("iface", "")),
            {"type": "any_bridge"},
        )

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
