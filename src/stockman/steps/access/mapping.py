"""Mappings of host devices, which a token may assign to guests."""

from __future__ import annotations

from typing import ClassVar, Literal

from stockman.model.errors import Refused
from stockman.model.names import HostName
from stockman.model.problem import Problem
from stockman.model.proxmox_values import format_properties, parse_properties
from stockman.model.record import record
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.pools import DeviceMapping
from stockman.steps.access.admin import admin_client
from stockman.steps.ports import Ports
from stockman.steps.retry import RetryingAction


@record
class MappedDevice:
    """One device of one host."""

    host: HostName
    place: str
    """PCI address; of USB `vendor:product` or `bus-port`."""
    id: str = ""
    """The required `vendor:device`. Empty: any."""


@record
class MapDevices(RetryingAction):
    """Create or update a mapping of these devices; entries of other devices are kept."""

    kind: ClassVar[str] = "access.mapping"
    cluster: str
    name: str
    bus: Literal["pci", "usb"]
    devices: tuple[MappedDevice, ...]
    description: str = ""

    @property
    def summary(self) -> str:
        addresses = ", ".join(f"{device.place} of {device.host}" for device in self.devices)
        return f"map {addresses} as {self.name}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"mapping/{self.cluster}/{self.bus}/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        mapping = await self._find_mapping(ports)
        return mapping is not None and all(is_mapped(mapping, device) for device in self.devices)

    async def attempt(self, ports: Ports) -> None:
        pve, mapping = admin_client(ports, self.cluster), await self._find_mapping(ports)
        kept = tuple(
            entry for entry in (mapping.entries if mapping else ()) if not self._is_replaced(entry)
        )
        own = tuple([await self._build_entry(pve, device) for device in self.devices])
        desired = DeviceMapping(
            name=self.name,
            kind=self.bus,
            entries=(*kept, *own),
            description=self.description,
            digest=mapping.digest if mapping else "",
        )
        if mapping is None:
            await pve.create_mapping(desired)
        elif desired.entries != mapping.entries:
            await pve.update_mapping(desired)

    def _is_replaced(self, entry: str) -> bool:
        """Whether an entry makes way for one of the devices."""
        values = parse_properties(entry)
        # PVE::QemuServer::USB refuses a mapping with two devices of one host.
        return any(
            values.get("node") == device.host
            and (self.bus == "usb" or _is_same_address(values.get("path", ""), device.place))
            for device in self.devices
        )

    async def _find_mapping(self, ports: Ports) -> DeviceMapping | None:
        mappings = await admin_client(ports, self.cluster).mappings(self.bus)
        return next((mapping for mapping in mappings if mapping.name == self.name), None)

    async def _build_entry(self, pve: ProxmoxClient, device: MappedDevice) -> str:
        return await (_pci(pve, device) if self.bus == "pci" else _usb(pve, device))


def is_mapped(mapping: DeviceMapping, device: MappedDevice) -> bool:
    """Return whether a mapping contains a device of its host with the required id."""
    for entry in mapping.entries:
        values = parse_properties(entry)
        addresses = (values.get("path", ""), values.get("id", ""))
        has_address = any(_is_same_address(address, device.place) for address in addresses)
        if values.get("node") == device.host and has_address:
            return not device.id or device.id.lower() == _normalize_id(values.get("id", ""))
    return False


def _is_same_address(observed: str, desired: str) -> bool:
    return bool(observed) and (
        observed == desired or observed == f"{desired}.0" or f"{observed}.0" == desired
    )


async def _pci(pve: ProxmoxClient, device: MappedDevice) -> str:
    for pci_device in await pve.pci_devices(device.host):
        if not _is_same_address(pci_device.address, device.place):
            continue
        name = f"{_normalize_id(pci_device.vendor)}:{_normalize_id(pci_device.device)}"
        if device.id and device.id.lower() != name:
            raise Refused(device_mismatch(device, name))
        values = {"node": str(device.host), "path": device.place, "id": name}
        if pci_device.iommu_group is not None and pci_device.iommu_group >= 0:
            values["iommugroup"] = str(pci_device.iommu_group)
        if pci_device.subsystem_vendor and pci_device.subsystem_device:
            pair = (
                _normalize_id(pci_device.subsystem_vendor),
                _normalize_id(pci_device.subsystem_device),
            )
            values["subsystem-id"] = ":".join(pair)
        return format_properties(values)
    raise Refused(missing_device(device, "pci"))


async def _usb(pve: ProxmoxClient, device: MappedDevice) -> str:
    by_id = ":" in device.place
    for usb_device in await pve.usb_devices(device.host):
        name = f"{_normalize_id(usb_device.vendor)}:{_normalize_id(usb_device.product)}"
        port = f"{usb_device.bus}-{usb_device.port}"
        if device.place in (name, port):
            values = {"node": str(device.host), "id": name}
            return format_properties(values if by_id else {**values, "path": device.place})
    raise Refused(missing_device(device, "usb"))


def _normalize_id(text: str) -> str:
    return text.lower().removeprefix("0x")


def device_mismatch(device: MappedDevice, observed: str) -> Problem:
    return Problem(
        code="proxmox.device",
        what=f"{device.host} has a different device at {device.place} than configured",
        where=f"Proxmox host {device.host}",
        why=f"it is {observed}, expected {device.id}",
        fix=_correct(device, "pci"),
    )


def missing_device(device: MappedDevice, bus: str) -> Problem:
    return Problem(
        code="proxmox.device",
        what=f"{device.host} has no {bus.upper()} device at {device.place}",
        where=f"Proxmox host {device.host}",
        why="it is configured for machines, but the host does not list it",
        fix=_correct(device, bus),
    )


def _correct(device: MappedDevice, bus: str) -> str:
    return (
        f"correct it under hosts.{device.host}.passthrough.{bus};"
        f" `pvesh get /nodes/{device.host}/hardware/{bus}` lists the existing devices"
    )
