"""Calls on names, addresses, links and disks."""

from __future__ import annotations

from stockman.model.errors import NotFound
from stockman.model.names import Mac, MachineAddress
from stockman.ports.talos.disks import Disk
from stockman.ports.talos.maintenance import Stranger
from stockman.ports.talos.network import Link, LinkAddress
from stockman.talos.api.resources import Kind, ResourceCalls
from stockman.talos.api.rows import Row, number, part, text, text_or_none, told_yes, yes

_HOSTNAME = Kind(namespace="network", type="HostnameStatuses.net.talos.dev")
_ADDRESSES = Kind(namespace="network", type="AddressStatuses.net.talos.dev")
_LINKS = Kind(namespace="network", type="LinkStatuses.net.talos.dev")
_DISKS = Kind(namespace="runtime", type="Disks.block.talos.dev")
_SYSTEM_DISK = Kind(namespace="runtime", type="SystemDisks.block.talos.dev")


class NetworkCalls(ResourceCalls):
    """`ports.talos.network.Networks` over a wire."""

    async def hostname(self, node: MachineAddress) -> str:
        return await self._resource(node, _HOSTNAME, "hostname", lambda row: text(row, "hostname"))

    async def addresses(self, node: MachineAddress) -> tuple[LinkAddress, ...]:
        return await self._resources(node, _ADDRESSES, _address)

    async def links(self, node: MachineAddress) -> tuple[Link, ...]:
        return await self._links(node)

    async def _links(self, at: MachineAddress | Stranger) -> tuple[Link, ...]:
        return await self._resources(at, _LINKS, _link)


class DiskCalls(ResourceCalls):
    """`ports.talos.disks.Disks` over a wire."""

    async def disks(self, node: MachineAddress) -> tuple[Disk, ...]:
        return await self._disks(node)

    async def system_disk(self, node: MachineAddress) -> str | None:
        try:
            return await self._resource(
                node, _SYSTEM_DISK, "system-disk", lambda row: text(row, "devPath")
            )
        except NotFound:
            return None

    async def _disks(self, at: MachineAddress | Stranger) -> tuple[Disk, ...]:
        return await self._resources(at, _DISKS, _disk)


def _address(name: str, row: Row) -> LinkAddress:
    del name
    return LinkAddress(address=text(row, "address"), link=text(row, "linkName"))


def _link(name: str, row: Row) -> Link:
    return Link(
        name=name,
        kind=text_or_none(row, "kind"),
        type=text(row, "type"),
        mac=Mac(_own_mac(row).lower()),
        mtu=number(row, "mtu"),
        state=text(row, "operationalState"),
        has_carrier=told_yes(row, "linkState"),
        bus_path=text_or_none(row, "busPath"),
        driver=text_or_none(row, "driver"),
        vlan=number(part(row, "vlan"), "vlanID") if row.get("vlan") else None,
    )


def _own_mac(row: Row) -> str:
    """The address that a card was made with; in a bond all cards show one and the same."""
    shown, own = text_or_none(row, "hardwareAddr"), text_or_none(row, "permanentAddr")
    is_card = not text_or_none(row, "kind")
    return own if is_card and own.strip("0:") else shown


def _disk(name: str, row: Row) -> Disk:
    del name
    return Disk(
        path=text(row, "dev_path"),
        size=number(row, "size"),
        model=text_or_none(row, "model"),
        serial=text_or_none(row, "serial"),
        wwid=text_or_none(row, "wwid"),
        transport=text_or_none(row, "transport"),
        read_only=yes(row, "readonly"),
        is_cdrom=yes(row, "cdrom"),
    )
