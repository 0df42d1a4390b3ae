"""Calls on names, addresses, links and disks."""

from __future__ import annotations

from stockman.model.errors import NotFound
from stockman.model.names import Mac, MachineAddress
from stockman.talos.api.calls import (
    AnyMachine,
    Row,
    get_flag,
    get_number,
    get_optional_text,
    get_required_flag,
    get_row,
    get_text,
)
from stockman.talos.api.resources import ResourceCalls, ResourceKind
from stockman.talos.records.machines import Disk, Link, LinkAddress

_HOSTNAME = ResourceKind(namespace="network", type="HostnameStatuses.net.talos.dev")
_ADDRESSES = ResourceKind(namespace="network", type="AddressStatuses.net.talos.dev")
_LINKS = ResourceKind(namespace="network", type="LinkStatuses.net.talos.dev")
_DISKS = ResourceKind(namespace="runtime", type="Disks.block.talos.dev")
_SYSTEM_DISK = ResourceKind(namespace="runtime", type="SystemDisks.block.talos.dev")


class NetworkCalls(ResourceCalls):
    """The network of a machine."""

    async def hostname(self, node: MachineAddress) -> str:
        """The name that the machine gives itself."""
        return await self._resource(
            node, _HOSTNAME, "hostname", lambda row: get_text(row, "hostname")
        )

    async def addresses(self, node: MachineAddress) -> tuple[LinkAddress, ...]:
        """All addresses, a shared one too where the machine holds it."""
        return await self._resources(node, _ADDRESSES, _address)

    async def links(self, at: AnyMachine) -> tuple[Link, ...]:
        """All links, by name."""
        return await self._resources(at, _LINKS, _link)


class DiskCalls(ResourceCalls):
    """The disks of a machine."""

    async def disks(self, at: AnyMachine) -> tuple[Disk, ...]:
        """All disks and drives, by path."""
        return await self._resources(at, _DISKS, _disk)

    async def system_disk(self, node: MachineAddress) -> str | None:
        """Where Talos is installed, `/dev/sda`. None: nowhere, it runs in memory."""
        try:
            return await self._resource(
                node, _SYSTEM_DISK, "system-disk", lambda row: get_text(row, "devPath")
            )
        except NotFound:
            return None


def _address(name: str, row: Row) -> LinkAddress:
    del name
    return LinkAddress(address=get_text(row, "address"), link=get_text(row, "linkName"))


def _link(name: str, row: Row) -> Link:
    return Link(
        name=name,
        kind=get_optional_text(row, "kind"),
        type=get_text(row, "type"),
        mac=Mac(_own_mac(row).lower()),
        mtu=get_number(row, "mtu"),
        state=get_text(row, "operationalState"),
        has_carrier=get_required_flag(row, "linkState"),
        bus_path=get_optional_text(row, "busPath"),
        driver=get_optional_text(row, "driver"),
        vlan=get_number(get_row(row, "vlan"), "vlanID") if row.get("vlan") else None,
    )


def _own_mac(row: Row) -> str:
    """The address that a card was made with; in a bond all cards show one and the same."""
    shown, own = get_optional_text(row, "hardwareAddr"), get_optional_text(row, "permanentAddr")
    is_card = not get_optional_text(row, "kind")
    return own if is_card and own.strip("0:") else shown


def _disk(name: str, row: Row) -> Disk:
    del name
    return Disk(
        path=get_text(row, "dev_path"),
        size=get_number(row, "size"),
        model=get_optional_text(row, "model"),
        serial=get_optional_text(row, "serial"),
        wwid=get_optional_text(row, "wwid"),
        transport=get_optional_text(row, "transport"),
        read_only=get_flag(row, "readonly"),
        is_cdrom=get_flag(row, "cdrom"),
    )
