"""Devices of hosts under a name, which is how a token may give them to guests."""

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
    """`vendor:device` that it has to be. Empty: whatever is there."""


@record
class MapDevices(RetryingAction):
    """Have a mapping that names these devices; those of other hosts stay."""

    kind: ClassVar[str] = "access.mapping"
    cluster: str
    name: str
    bus: Literal["pci", "usb"]
    devices: tuple[MappedDevice, ...]
    description: str = ""

    @property
    def summary(self) -> str:
        places = ", ".join(f"{one.place} of {one.host}" for one in self.devices)
        return f"map {places} as {self.name}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"mapping/{self.cluster}/{self.bus}/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        found = await self._found(ports)
        return found is not None and all(is_mapped(found, one) for one in self.devices)

    async def attempt(self, ports: Ports) -> None:
        pve, found = admin_client(ports, self.cluster), await self._found(ports)
        hosts = {one.host for one in self.devices}
        others = tuple(
            entry for entry in (found.entries if found else ()) if _host(entry) not in hosts
        )
        own = tuple([await self._entry(pve, one) for one in self.devices])
        wanted = DeviceMapping(
            name=self.name,
            kind=self.bus,
            entries=(*others, *own),
            description=self.description,
            digest=found.digest if found else "",
        )
        if found is None:
            await pve.create_mapping(wanted)
        elif wanted.entries != found.entries:
            await pve.update_mapping(wanted)

    async def _found(self, ports: Ports) -> DeviceMapping | None:
        known = await admin_client(ports, self.cluster).mappings(self.bus)
        return next((one for one in known if one.name == self.name), None)

    async def _entry(self, pve: ProxmoxClient, one: MappedDevice) -> str:
        return await (_pci(pve, one) if self.bus == "pci" else _usb(pve, one))


def is_mapped(mapping: DeviceMapping, device: MappedDevice) -> bool:
    """Whether a mapping names a device on its host, and for what it has to be."""
    for entry in mapping.entries:
        values = parse_properties(entry)
        places = (values.get("path", ""), values.get("id", ""))
        is_there = any(_is_same_address(place, device.place) for place in places)
        if values.get("node") == device.host and is_there:
            return not device.id or device.id.lower() == _normalize_id(values.get("id", ""))
    return False


def _is_same_address(found: str, wanted: str) -> bool:
    return bool(found) and (found == wanted or found == f"{wanted}.0" or f"{found}.0" == wanted)


def _host(entry: str) -> str:
    return parse_properties(entry).get("node", "")


async def _pci(pve: ProxmoxClient, one: MappedDevice) -> str:
    for found in await pve.pci_devices(one.host):
        if not _is_same_address(found.address, one.place):
            continue
        name = f"{_normalize_id(found.vendor)}:{_normalize_id(found.device)}"
        if one.id and one.id.lower() != name:
            raise Refused(device_mismatch(one, name))
        values = {"node": str(one.host), "path": one.place, "id": name}
        if found.iommu_group is not None and found.iommu_group >= 0:
            values["iommugroup"] = str(found.iommu_group)
        if found.subsystem_vendor and found.subsystem_device:
            pair = (_normalize_id(found.subsystem_vendor), _normalize_id(found.subsystem_device))
            values["subsystem-id"] = ":".join(pair)
        return format_properties(values)
    raise Refused(missing_device(one, "pci"))


async def _usb(pve: ProxmoxClient, one: MappedDevice) -> str:
    by_id = ":" in one.place
    for found in await pve.usb_devices(one.host):
        name = f"{_normalize_id(found.vendor)}:{_normalize_id(found.product)}"
        place = f"{found.bus}-{found.port}"
        if one.place in (name, place):
            values = {"node": str(one.host), "id": name}
            return format_properties(values if by_id else {**values, "path": one.place})
    raise Refused(missing_device(one, "usb"))


def _normalize_id(text: str) -> str:
    return text.lower().removeprefix("0x")


def device_mismatch(wanted: MappedDevice, found: str) -> Problem:
    return Problem(
        code="proxmox.device",
        what=f"{wanted.host} has another device at {wanted.place} than the configuration says",
        where=f"Proxmox host {wanted.host}",
        why=f"it is {found}, and {wanted.id} is wanted",
        fix=_correct(wanted, "pci"),
    )


def missing_device(wanted: MappedDevice, bus: str) -> Problem:
    return Problem(
        code="proxmox.device",
        what=f"{wanted.host} has no {bus.upper()} device at {wanted.place}",
        where=f"Proxmox host {wanted.host}",
        why="the configuration gives it to machines, and the host does not list it",
        fix=_correct(wanted, bus),
    )


def _correct(wanted: MappedDevice, bus: str) -> str:
    return (
        f"correct it under hosts.{wanted.host}.passthrough.{bus};"
        f" `pvesh get /nodes/{wanted.host}/hardware/{bus}` lists what is there"
    )
