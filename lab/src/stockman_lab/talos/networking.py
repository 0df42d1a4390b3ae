"""The network of a machine: what its platform and its configuration make of its cards."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stockman_lab.core.faults import Effect, Point
from stockman_lab.talos.state import AddressState, LinkState, NetworkState, RouteState

if TYPE_CHECKING:
    from stockman_lab.guest.network import Network, NicView
    from stockman_lab.talos.config.applied import AppliedLink, AppliedNetwork
    from stockman_lab.talos.config.nocloud import PlatformData
    from stockman_lab.talos.machine import Machine


_NETWORK_FILES = ("meta-data", "network-config")


class Leases:
    """The networks behind a machine's bridges, with what goes wrong there."""

    def __init__(self, machine: Machine, network: Network) -> None:
        self._machine = machine
        self._network = network

    def lease(self, nic: NicView, version: int) -> str | None:
        """The address that a card gets."""
        fault = self._machine.fault(Point.LEASE, {"mac": nic.mac.lower()})
        if fault is None:
            return self._network.lease(nic, version)
        if fault.effect is Effect.LIE:
            self._network.lease(nic, version)  # its own is kept for it
            return self._network.lease(replace(nic, mac=f"fe:{nic.mac[3:]}"), version)
        return None

    def prefix(self, nic: NicView) -> str | None:
        """The network that a router announces."""
        return self._network.prefix(nic)

    def is_home(self, address: str, nic: NicView) -> bool:
        """Whether a card is where an address belongs."""
        return self._network.is_home(address, nic)


def ask_platform(machine: Machine) -> PlatformData:
    """What the platform says of a machine; it is kept for who asks the machine for it.

    Talos stores it in STATE, and uses that where the platform has no network configuration
    (`PlatformConfigStoreController`, and `NetworkConfiguration` of its nocloud platform).
    """
    from stockman_lab.talos.config.nocloud import platform_data

    state, view, disk = machine.state, machine.view, machine.disk
    files = view.cloud_init or {}
    if state.platform == "nocloud" and disk is not None and state.slot and disk.config:
        if "network-config" in files:
            disk.network = {name: files[name] for name in _NETWORK_FILES if name in files}
        else:
            view = replace(view, cloud_init={**files, **disk.network})
    platform = platform_data(view, state.cmdline, state.platform)
    state.platform_config = {"platform": state.platform, **platform.metadata}
    return platform


def set_up(machine: Machine, platform: PlatformData) -> None:
    """Set links and addresses up; the shared address is taken when somebody holds none."""
    applied = applied_to(machine, platform)
    before = machine.state.network
    held = [one for one in before.addresses if one.is_vip]
    machine.state.network = _state(applied)
    machine.state.network.addresses += [
        one for one in held if one.address.partition("/")[0] == machine.state.network.vip
    ]
    machine.state.network.is_astray = _is_astray(machine)
    if before.hostname != machine.state.network.hostname:
        machine.note(f'setting hostname "{machine.hostname}"')
    for address in machine.state.network.addresses:
        if address.address not in [known.address for known in before.addresses]:
            machine.note(f"assigned address {address.address} on {address.link}")
    _tell(machine)


def _is_astray(machine: Machine) -> bool:
    """Whether the card behind the machine's address is not where the address's network is."""
    network, address = machine.state.network, machine.address
    found = next((one for one in network.addresses if _bare(one.address) == address), None)
    link = next((one for one in network.links if found and one.name == found.link), None)
    if link is None:
        return False
    tag = link.vlan or None
    while link is not None and link.nic < 0:
        under = link.parent or next(
            (one.name for one in network.links if one.master == link.name), ""
        )
        link = next((one for one in network.links if one.name == under), None)
    view = machine.view
    card = next((nic for nic in view.nics if link is not None and nic.number == link.nic), None)
    return card is not None and not view.network.is_home(
        address, replace(card, vlan=card.vlan or tag)
    )


def _bare(address: str) -> str:
    return address.partition("/")[0]


def applied_to(machine: Machine, platform: PlatformData) -> AppliedNetwork:
    """The network that follows from all that is said."""
    from stockman_lab.talos.config.applied import MachineNetwork
    from stockman_lab.talos.config.applied_network import applied_network

    view = machine.view
    machine_network = MachineNetwork(
        minor=machine.minor,
        nics=tuple(view.nics),
        network=Leases(machine, view.network),
        node_id=node_id(machine),
    )
    return applied_network(machine_network, platform, machine.config)


def node_id(machine: Machine) -> str:
    """Who the machine is for those who discover it; kept on its disk."""
    disk = machine.disk
    if disk is None or not machine.state.slot:
        return ""
    if not disk.node_identity:
        disk.node_identity = _new_identity(machine)
    return disk.node_identity


_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_IDENTITY_DIGITS = 44


def _new_identity(machine: Machine) -> str:
    number = int.from_bytes(machine.land.around.dice.random_bytes(33), "big")
    digits = []
    for _ in range(_IDENTITY_DIGITS):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(digits)


def _state(applied: AppliedNetwork) -> NetworkState:
    vip = next(iter(applied.vips.items()), ("", ""))
    return NetworkState(
        hostname=applied.hostname,
        domain=applied.domain,
        links=[_link(link) for link in applied.links],
        addresses=[
            AddressState(address.address, address.link, address.layer.value, address.scope)
            for address in applied.addresses
        ],
        routes=[
            RouteState(
                route.destination, route.gateway, route.link, route.metric, route.layer.value
            )
            for route in applied.routes
        ],
        resolvers=list(applied.resolvers),
        search_domains=list(applied.search_domains),
        time_servers=list(applied.time_servers),
        vip=vip[0],
        vip_link=vip[1],
    )


def _link(applied_link: AppliedLink) -> LinkState:
    return LinkState(
        name=applied_link.name,
        index=applied_link.index,
        kind="" if applied_link.kind in ("physical", "loopback") else applied_link.kind,
        mac=applied_link.mac,
        permanent_mac=applied_link.permanent_mac,
        mtu=applied_link.mtu,
        is_up=applied_link.up and applied_link.carrier,
        parent=applied_link.parent,
        vlan=applied_link.vlan,
        master=applied_link.master,
        driver=applied_link.driver,
        bus_path=applied_link.bus_path,
        nic=-1 if applied_link.nic is None else applied_link.nic,
        bond_mode=applied_link.bond_mode,
    )


def _tell(machine: Machine) -> None:
    content: dict[str, object] = {"hostname": machine.hostname, "addresses": machine.addresses}
    last = next(
        (event for event in reversed(machine.state.events) if event.kind == "machine.AddressEvent"),
        None,
    )
    if last is None or last.content != content:
        machine.tell("AddressEvent", content)


def hardware_changed(machine: Machine) -> None:
    """Cards or disks came, went, or lost their cable."""
    view = machine.view
    machine.state.cores, machine.state.memory = view.cores, view.memory
    if machine.state.network.links:
        set_up(machine, ask_platform(machine))
